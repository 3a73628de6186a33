package tui

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/tail"
)

// spoil puts text into every text of v, at any depth and as a key of a map too.
func spoil(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		if !v.IsNil() {
			spoil(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).CanSet() {
				spoil(v.Field(i), text)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i), text)
		}
	case reflect.Map:
		if v.IsNil() {
			return
		}
		m, n := reflect.MakeMap(v.Type()), 0
		for entries := v.MapRange(); entries.Next(); n++ {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(entries.Key())
			value.Set(entries.Value())
			spoil(key, text)
			if key.Kind() == reflect.Pointer || value.Kind() != reflect.Pointer {
				spoil(value, text)
			}
			m.SetMapIndex(key, value)
		}
		v.Set(m)
	}
}

func hostile() []string {
	return []string{
		"", "orders", "\x1b]52;c;aGk=\a", "\x1b[r\x1b[?1003l\x1b(B\x1b[1;24r", "\x1b]0;title\x07\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\", "\x1bP1$r\x1b\\", "\x9b31m\xc2\x9b31m", "\u202eabc\u2066",
		"订单订单订单订单订单订单订单订单", "\xff\xc3", strings.Repeat("é", 300), "e" + strings.Repeat("\u0301", 5000), "a\tb\nc\r\nd", "🇩🇪🇩", "\u0e33\u0d4e", "👨‍👩‍👧‍👦👍🏽", "\U0001FAE1⭐❤️",
		"%s%d%!", "[YELLOW] to [GREEN] [[x]]", "\u1100\u1161\u11a8", "مرحبا שלום", strings.Repeat("x", 70_000), "\x00\x7f\x08\x0b",
	}
}

func colours() *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.ANSI)
	return r
}

// foreign opens a screen on a cluster in which everything is called text.
func foreign(t testing.TB, text string, w, h int) *driver {
	t.Helper()
	f := fixtureCluster()
	n := 0
	f.live = func(string) (inspect.Live, error) {
		list := inTrouble()
		l := list[19]
		if n++; n%4 == 3 {
			return inspect.Live{}, errors.New(text)
		}
		if n%4 == 2 {
			silence(&l, memberB, watchSilent)
		}
		spoil(reflect.ValueOf(&l), text)
		for i := range l.Queues { // queues must differ
			l.Queues[i].MessageQueue = engine.MessageQueue{Topic: text, BrokerName: text, QueueID: int32(i)}
		}
		l.At = fixtureNow.Add(time.Duration(n) * 2 * time.Second)
		return l, nil
	}
	f.doctor = func(string) (inspect.Report, error) {
		r := fixtureReport()
		spoil(reflect.ValueOf(&r), text)
		return r, nil
	}
	f.stack = func(client string) (inspect.Stack, error) {
		n++
		s := fixtureStack(client)
		s.Why.Text = text
		switch n % 3 {
		case 0:
			s.Threads = nil
			s.Text = text + "\n" + text
		case 1:
			s.Why.Kind, s.Threads, s.Text = inspect.ReasonUnsupported, nil, ""
		default:
			spoil(reflect.ValueOf(&s.Threads), text)
		}
		return s, nil
	}
	o := defaultOptions()
	o.Cluster, o.ASCII = text, len(text)%7 == 0
	o.OpenTail = nil
	o.Inspect, o.Engines = f, []page.NamedEngine{}
	return driveOn(t, w, h, o, nil, colours())
}

// strangers goes through the views of other people's groups and messages and checks
// each frame.
func strangers(t testing.TB, text string, w, h int) {
	t.Helper()
	d := foreign(t, text, w, h)
	look := func(keys ...string) {
		d.keys(keys...)
		if d.a.w > 0 && d.a.h > 0 {
			d.lines()
		}
		if t.Failed() { // one report is enough
			t.FailNow()
		}
	}
	d.run(d.a.openWatch(text))
	for range 4 {
		d.later(2 * time.Second)
		look()
	}
	look("tab", "z")
	look("z", "enter")
	d.send(live.HeadMsg{MQ: d.a.queue.MQ, Offset: 0, Err: draw.SafeText(text)})
	look("q", "7")
	look("G", "enter")
	look("esc", "q")
	d.run(d.a.openDoctor(text))
	look("j", "J")
	for range 3 {
		d.run(d.a.openStack(text, text))
		look("J")
		look("G", "J")
		look("esc")
	}
	v := tail.NewView(d.a.env, d.a.cmds, page.TailRequest{Topic: text})
	d.a.setPage(page.ViewTail, v)
	d.run(d.a.goTo(page.ViewTail))
	b := &page.TailBatch{Seen: 3, Matched: 3, Unread: []string{text}, Notice: text}
	for i := range 3 {
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
			r.QueueOffset, r.Body = int64(i), []byte(text)
			name := strings.Map(func(c rune) rune { // the wire's own separators cannot be in a property
				if c == 1 || c == 2 {
					return -1
				}
				return c
			}, text)
			name = name[:min(len(name), 6_000)]
			r.Properties = []protocol.Property{{Name: "UNIQ_KEY", Value: name}, {Name: "TAGS", Value: name}, {Name: "KEYS", Value: name}, {Name: "p" + name, Value: name}}
			r.SysFlag = protocol.SysFlag(i & 1)
		}))
	}
	d.batch(b)
	d.send(tail.TracksMsg{Ticket: d.tail().Ticket, Seq: 1, Tracks: page.CleanCopy([]inspect.Track{{Group: text, State: inspect.TrackState(text), Detail: text, Why: inspect.Reason{Kind: inspect.ReasonFailed, Text: text}}}), Err: draw.SafeText(text)})
	look("k")
	look("x", "g")
	look("d", "w", "z")
	look("J", "esc")
	look("/")
	for _, r := range text[:min(len(text), 40)] {
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
	}
	look("enter")
	d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: inspect.ResendPlan{Group: text, Target: text, Why: text, Rows: []inspect.ResendRow{{ID: text, Original: text, Error: text, Tried: true, NewID: text}}}})
	look("tab")
	look("esc")
	d.send(tail.QueuesMsg{Ticket: d.tail().Ticket, Queues: []engine.MessageQueue{{Topic: text, BrokerName: text}}})
	look("j")
}

// Whatever is in names, bodies, keys, properties and
// remarks, it reaches the terminal as printable cells only, in frames of the exact size.
func TestForeignTextIsPrintableCellsOnly(t *testing.T) {
	for i, text := range hostile() {
		at := sizes[:4]
		if len(text) > 1000 { // it is cut at every size, and takes a second to measure
			at = sizes[3:4]
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			for _, size := range at {
				strangers(t, text, size[0], size[1])
			}
		})
	}
}

// FuzzStrangers does the same with random bytes and sizes.
func FuzzStrangers(f *testing.F) {
	for _, s := range hostile() {
		if len(s) < 1000 {
			f.Add(s, uint8(120), uint8(36))
		}
	}
	f.Fuzz(func(t *testing.T, text string, w, h uint8) { strangers(t, text, int(w%200), int(h%60)) })
}

// FuzzWatchedKeys presses random keys on the views of other people's groups while
// pictures of all sorts come in, and resizes.
func FuzzWatchedKeys(f *testing.F) {
	f.Add([]byte("jjjvV/a\rsSzznN\t\t t7G1fq4:live order-settle\r"), uint64(1))
	f.Add([]byte("3TfxwdJKnN/x\roy\x1bQ R"), uint64(2))
	names := []string{"enter", "esc", "tab", "up", "down", "ctrl+d", "ctrl+u", "end", "home", "pgdown", "ctrl+t", "ctrl+r"}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		if len(data) > 200 {
			data = data[:200]
		}
		rnd := rand.New(rand.NewPCG(seed, 1))
		lives := append(inTrouble(), offlineLive(), broadcastLive(), inspect.Live{Group: "order-settle"})
		d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
		d.a.env.Options.Inspect.(*fakeCluster).live = func(string) (inspect.Live, error) {
			l := lives[rnd.IntN(len(lives))]
			l.At = d.now
			return l, nil
		}
		d.keys(":").typing("live order-settle").keys("enter")
		for _, c := range data {
			switch {
			case c >= 0xf0:
				d.send(tea.WindowSizeMsg{Width: rnd.IntN(200), Height: rnd.IntN(60)})
			case c >= 0xe0:
				d.later(time.Duration(c) * 20 * time.Millisecond)
			case c >= 0xd0:
				d.batch(tailFixture(t))
			case c >= 0x80:
				d.keys(names[int(c)%len(names)])
			case c == '\r':
				d.keys("enter")
			case c == '\t':
				d.keys("tab")
			case c == 0x1b:
				d.keys("esc")
			case c >= ' ' && c < 0x7f && c != 'o': // which saves a file
				d.keys(string(rune(c)))
			}
			if d.a.w > 0 && d.a.h > 0 {
				d.lines()
			}
			if d.quit {
				return
			}
		}
	})
}

// A screen that was scrolled and resized shows what a fresh one shows.
func TestAScrolledTailEqualsAFreshOne(t *testing.T) {
	b := &page.TailBatch{}
	for i := range 200 {
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
			r.QueueOffset, r.Properties[2].Value = int64(i), strings.Repeat("订单", 1+i%9)+"a"[:i%2]
			r.Body = []byte(strings.Repeat("退款👩‍👩‍👧", 1+i%7))
		}))
	}
	at := func(d *driver) string { return d.keys("g").keys("ctrl+d", "ctrl+d", "j").frame() }
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, b)
	for range 100 {
		d.keys("k")
	}
	for _, size := range [][2]int{{10, 5}, {1, 1}, {80, 5}, {200, 60}, {120, 36}} {
		d.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		d.lines()
	}
	fresh, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, b)
	if got, want := at(d), at(fresh); got != want {
		t.Errorf("after scrolling and resizing:\n%s\na fresh screen:\n%s", got, want)
	}
}

// Columns begin in the same place in each row, whatever the rows hold.
func TestColumnsStayAlignedUnderWideText(t *testing.T) {
	b := &page.TailBatch{}
	for i, text := range hostile() {
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
			r.QueueOffset, r.Properties[2].Value, r.Body = int64(i), strings.Map(noSeparator, text[:min(len(text), 500)]), []byte("BODY")
		}))
	}
	d, _ := tailing(t, 80, 60, defaultOptions(), "orders-paid", nil, b)
	places := map[int]int{}
	for _, l := range d.lines() {
		if before, _, found := strings.Cut(l, "BODY "); found && strings.Contains(before, "a/3") {
			places[table.Width(ansi.Strip(before))]++
		}
	}
	if len(places) != 1 {
		t.Errorf("the body begins in these columns: %v\n%s", places, d.frame())
	}
}

func noSeparator(r rune) rune {
	if r == 1 || r == 2 {
		return -1
	}
	return r
}

// Megabytes in one line are laid out once, off the screen's loop, and the
// screen says that it shows the beginning.
func TestHugeBodies(t *testing.T) {
	var b page.TailBatch
	for i := range 30 {
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
			r.QueueOffset, r.Body = int64(i), []byte(`{"text":"`+strings.Repeat("订单 needle ", 4<<20/14)+`"}`)
		}))
	}
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, &b)
	d.keys("k").see("cut: J more")
	if n := d.tail().Ring.Bytes; n > tail.KeepBytes {
		t.Errorf("%d bytes are kept", n)
	}
	body := d.tail().Body(d.tail().BodyKey(d.tail().Current()))
	if body == nil || len(body.Lines) < 1000 {
		t.Fatalf("the body was not laid out")
	}
	for _, l := range body.Lines {
		if w := table.Width(l); w > d.tail().BodyWidth() {
			t.Fatalf("a line is %d wide: %.60q", w, l)
		}
	}
	d.keys("/").typing("needle").keys("enter").later(time.Second).keys("n", "n", "J", "J").lines()
}

// A million properties' worth of noise costs a line.
func TestNoiseOfProperties(t *testing.T) {
	m := tailRecord(t, func(r *protocol.Record) {
		r.Properties = nil
		for i := range 4000 { // what fits into the 32 KiB of a record's properties
			r.Properties = append(r.Properties, protocol.Property{Name: fmt.Sprint(i), Value: "\x1b"})
		}
	})
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, &page.TailBatch{Messages: []engine.Message{m}})
	d.keys("k").see("(4000)").lines()
}

// A paste of 10,000 characters is one edit, and a newline in it presses
// nothing.
func TestPaste(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), lives(2)...)
	d.keys("/")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("x", 10_000)), Paste: true})
	d.lines()
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("group-x\nyes\n"), Paste: true})
	if len(d.a.dialogs) != 1 {
		t.Errorf("a pasted newline closed the filter bar: %d dialogs", len(d.a.dialogs))
	}
	d.keys("esc")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("R\nq\n:q\n"), Paste: true})
	if len(d.a.dialogs) != 0 || d.quit {
		t.Errorf("a paste into the view pressed keys: %d dialogs, left %v", len(d.a.dialogs), d.quit)
	}
}

// A scan of a million messages costs the screen a few updates a second, since a
// batch is asked for only when the one before was shown; the way out works at once.
func TestAScanDoesNotFloodTheScreen(t *testing.T) {
	d, tail := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, nil)
	for seen := int64(0); seen < 1_000_000; seen += 50_000 {
		before := d.tail().Ticket
		d.batch(&page.TailBatch{Seen: seen, Behind: 1_000_000 - seen})
		if d.tail().Ticket != before {
			t.Fatal("a batch opened another tail")
		}
		if !d.tail().Reading {
			t.Fatal("the next batch is not asked for")
		}
		d.later(100 * time.Millisecond)
	}
	d.see("seen 950,000 · match 0").see("no message yet")
	d.keys(":").typing("tail other").keys("enter")
	if tail.closed != 1 {
		t.Error("the scan goes on although another topic was asked for")
	}
}

// A screen of any height, and none.
func TestTinyScreensOfOtherGroups(t *testing.T) {
	for name, start := range watchStates() {
		for _, size := range [][2]int{{80, 5}, {80, 1}, {1, 1}, {0, 0}, {20, 60}, {59, 15}} {
			d := start(t, size[0], size[1])
			if size[0] > 0 && size[1] > 0 {
				d.lines()
			}
			if d.quit {
				t.Errorf("%s at %v: it has ended", name, size)
			}
		}
	}
}
