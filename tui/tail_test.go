package tui

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

// fakeTail is a Tail that nobody reads: tests hand batches to the view.
type fakeTail struct {
	filters []message.Filter
	refuse  error
	closed  int
}

func (f *fakeTail) Next(context.Context) (page.TailBatch, error) { return page.TailBatch{}, nil }

func (f *fakeTail) SetFilter(_ int, x message.Filter) error {
	f.filters = append(f.filters, x)
	return f.refuse
}

func (f *fakeTail) Close() { f.closed++ }

// tailRecord is a message of the fixture's topic.
func tailRecord(t testing.TB, change func(r *protocol.Record)) engine.Message {
	t.Helper()
	r := protocol.Record{QueueID: 3, QueueOffset: 18_263_872, CommitLogOffset: 991_234_567, Born: fixtureNow.Add(-3 * time.Second), Stored: fixtureNow.Add(-3*time.Second + 13*time.Millisecond),
		BornHost: netip.MustParseAddrPort("10.0.9.7:51234"), StoreHost: netip.MustParseAddrPort("10.0.4.1:10911"), Body: []byte(`{"名称":"退款","id":7781216,"amount":1299.00,"cur":"CNY","items":[{"sku":"A-1","n":2},{"sku":"B-9","n":1}],"note":"` + "\\u001b[31mred" + `"}`),
		Topic: "orders-paid", Properties: []protocol.Property{{Name: "UNIQ_KEY", Value: "0A000415000078D9F3C1"}, {Name: "TAGS", Value: "refund"}, {Name: "KEYS", Value: "订单-99"}, {Name: "TRACE_ON", Value: "true"}}}
	if change != nil {
		change(&r)
	}
	raw, err := protocol.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := protocol.AppendMessages(nil, raw, &protocol.MessageSource{BrokerName: "broker-a"})
	if err != nil {
		t.Fatal(err)
	}
	return messages[0]
}

// tailFixture is a batch of all sorts.
func tailFixture(t testing.TB) *page.TailBatch {
	b := &page.TailBatch{Seen: 84_120, Looked: 84_120, Matched: 1204, Behind: 312}
	for i := range 30 {
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
			r.QueueID, r.QueueOffset = int32(i%8), 18_249_000+int64(i)
			r.Born = fixtureNow.Add(time.Duration(i-30) * 137 * time.Millisecond)
			r.Stored = r.Born.Add(13 * time.Millisecond)
			r.Body = fmt.Appendf(nil, `{"id":77812%02d,"amount":%d.00,"cur":"CNY"}`, i, 900+i*10)
			r.Properties[2].Value = fmt.Sprintf("o-77812%02d", i)
			switch i {
			case 7:
				r.Body = []byte{0, 1, 2, 0xfe, 0xff, 0x80, 3}
			case 9:
				r.SysFlag, r.Body = protocol.SysFlagCompressed, []byte("no zlib at all")
			case 11:
				r.ReconsumeTimes = 3
			case 13:
				r.Body = []byte("[YELLOW] to [GREEN] [[x]] \x1b[2J\x1b]52;c;aGk=\a end")
			}
		}))
	}
	b.Messages = append(b.Messages, tailRecord(t, nil))
	b.Unread = []string{"orders-paid broker-b/7: the record at offset 17,931,400 cannot be read: overruns the answer by 12 bytes"}
	return b
}

// tailing opens the tail of a topic with a batch in it.
func tailing(t testing.TB, w, h int, o page.Options, topic string, f *fakeCluster, b *page.TailBatch) (*driver, *fakeTail) {
	t.Helper()
	fake := &fakeTail{}
	o.OpenTail = func(context.Context, page.TailRequest) (page.Tail, error) { return fake, nil }
	if f == nil {
		f = fixtureCluster()
	}
	d := driveCluster(t, w, h, o, f)
	d.keys(":").typing("tail " + topic).keys("enter")
	v := d.tail()
	d.send(tail.OpenedMsg{Ticket: v.Ticket, Tail: fake})
	if b != nil {
		d.batch(b)
	}
	return d, fake
}

// tail is the tail view as it is.
func (d *driver) tail() *tail.View {
	v := d.a.pages[page.ViewTail].(tail.View)
	return &v
}

// batch hands a batch to the tail view.
func (d *driver) batch(b *page.TailBatch) *driver {
	d.send(tail.BatchMsg{Ticket: d.tail().Ticket, Rows: tail.Rows(b), Counts: *b, Notice: b.Notice})
	return d
}

// Groups that brokers would not name are told beside those that they did.
func TestWhoReadItIsNotAll(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	d.later(time.Second).keys("k")
	d.send(tail.TracksMsg{Ticket: d.tail().Ticket, Seq: d.tail().Current().Seq, Err: "whether other groups consume orders-paid is not known",
		Tracks: []inspect.Track{{Group: "order-settle", State: inspect.TrackConsumed, Inferred: true}}})
	for _, want := range []string{"order-settle", "?: whether other groups consume orders-paid is not k…"} {
		if view := d.a.View(); !strings.Contains(view, want) {
			t.Errorf("the view does not say %q:\n%s", want, view)
		}
	}
}

func TestGoldenTail(t *testing.T) {
	tracks := []inspect.Track{{Group: "order-settle", State: inspect.TrackConsumed, Inferred: true}, {Group: "audit-copy", State: inspect.TrackNotYet, Inferred: true, Behind: 312},
		{Group: "billing", State: inspect.TrackFinished, Inferred: true, Behind: 2001, Detail: "c-1 has finished it, its commit waits for the message at offset 5"}, {Group: "mail", State: inspect.TrackDead, Inferred: true, Detail: "in the dead letters"}}
	states := map[string]func(t *testing.T, w, h int) *driver{
		"tail": func(t *testing.T, w, h int) *driver {
			d, _ := tailing(t, w, h, defaultOptions(), "orders-paid", nil, tailFixture(t))
			d.later(time.Second).keys("k")
			d.send(tail.TracksMsg{Ticket: d.tail().Ticket, Seq: d.tail().Current().Seq, Tracks: tracks})
			more := tailFixture(t)
			more.Messages, more.Seen, more.Looked, more.Matched = more.Messages[:12], 84_900, 84_900, 1216
			return d.batch(more)
		},
		"tail-empty": func(t *testing.T, w, h int) *driver {
			d, _ := tailing(t, w, h, defaultOptions(), "orders-paid", nil, nil)
			return d
		},
		"tail-error": func(t *testing.T, w, h int) *driver {
			d, _ := tailing(t, w, h, defaultOptions(), "orders", nil, nil)
			d.send(tail.BatchMsg{Ticket: d.tail().Ticket, Err: "topic orders does not exist: no name server knows it"})
			return d
		},
		"tail-filter": func(t *testing.T, w, h int) *driver {
			d, _ := tailing(t, w, h, defaultOptions(), "orders-paid", nil, tailFixture(t))
			d.keys("/").typing("amount\":11").keys("enter").later(time.Second)
			return d.batch(&page.TailBatch{Filter: 1, Looked: 680, Seen: 84_800, Missed: 82_916}).keys("k")
		},
		"tail-bad": func(t *testing.T, w, h int) *driver {
			d, _ := tailing(t, w, h, defaultOptions(), "orders-paid", nil, tailFixture(t))
			return d.keys("E", "E")
		},
		"tail-hex": func(t *testing.T, w, h int) *driver {
			d, _ := tailing(t, w, h, defaultOptions(), "orders-paid", nil, tailFixture(t))
			return d.keys("k", "x", "z")
		},
		"tail-dead": func(t *testing.T, w, h int) *driver {
			b := &page.TailBatch{Seen: 3, Looked: 3, Matched: 3}
			for i := range 3 {
				b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
					r.Topic, r.QueueID, r.QueueOffset = "%DLQ%order-settle", 0, int64(40+i)
				}))
			}
			d, _ := tailing(t, w, h, defaultOptions(), "%DLQ%order-settle @first", nil, b)
			d.keys("g", "v", "v")
			d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: inspect.ResendPlan{Group: "order-settle", Source: "%DLQ%order-settle", Target: "%RETRY%order-settle",
				Rows: []inspect.ResendRow{{ID: "0A000415000078D9F3C1", Original: "orders-paid", Attempts: 16}, {ID: "0A000415000078D9F3C2", Original: "orders-paid", Attempts: 16}}}})
			return d.keys("tab").typing("bad batch 7781").keys("tab").typing("order-set")
		},
	}
	for name, start := range states {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, size := range sizes {
				d := start(t, size[0], size[1])
				fmt.Fprintf(&got, "== %dx%d\n%s\n", size[0], size[1], trimLines(d.frame()))
			}
			compareGolden(t, name, got.String())
		})
	}
}

func TestTailSeeksWithTheWordsOfTheCommand(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	for text, want := range map[string]string{"earliest": "from the first message", "first": "from the first message", "latest": "from the end", "now": "from the end",
		" offset:7 ": "from offset 7", "-15m": "from " + d.a.env.Clock(fixtureNow.Add(-15*time.Minute), words.ClockSeconds)} {
		d.keys("T").typing(text).keys("enter").see(want + " · all queues")
	}
	d.keys("T").typing("soon").keys("enter").see(`"soon" is no time`).see("SEEK")
}

func TestTailOfAGroupWithoutDeadLetters(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "%DLQ%order-settle @first", nil, &page.TailBatch{})
	d.see("group order-settle has no dead letters").see("one that comes is shown")
}

func TestTailKeepsItsBounds(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, nil)
	total := 0
	for range 120 {
		b := &page.TailBatch{}
		for i := range 60 {
			b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) { r.QueueOffset = int64(total + i) }))
		}
		total += 60
		b.Seen, b.Matched = int64(total), int64(total)
		d.batch(b)
	}
	v := d.tail()
	if len(v.Ring.Rows) != tail.KeepRows || v.Ring.Dropped != int64(total-tail.KeepRows) {
		t.Errorf("%d rows are kept and %d dropped of %d", len(v.Ring.Rows), v.Ring.Dropped, total)
	}
	d.see("kept 5,000/5,000").see("oldest 2,200 dropped").see(words.Grouped(int64(total - 1)))
	big := &page.TailBatch{}
	for i := range 30 {
		big.Messages = append(big.Messages, tailRecord(t, func(r *protocol.Record) { r.Body, r.QueueOffset = make([]byte, 4<<20), int64(i) }))
	}
	d.batch(big)
	if v := d.tail(); v.Ring.Bytes > tail.KeepBytes {
		t.Errorf("%d bytes are kept, the bound is %d", v.Ring.Bytes, tail.KeepBytes)
	}
}

func TestTailStandsWhenScrolledAndCountsWhatIsNew(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	d.keys("k", "k")
	before := d.tail().Current()
	for range 100 { // more than the ring holds
		b := &page.TailBatch{}
		for i := range 60 {
			b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) { r.QueueOffset = int64(30_000_000 + i) }))
		}
		d.batch(b)
	}
	if now := d.tail().Current(); now != before {
		t.Errorf("the cursor is on %v, it stood on %v", now, before)
	}
	d.see("6,000 new").miss("30,000,059")
	d.keys("G").see("30,000,059").miss("new, f follow")
}

func TestTailFilters(t *testing.T) {
	d, fake := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	d.keys("/").typing("7781205")
	if len(fake.filters) != 0 {
		t.Errorf("the filter came into force while it was typed: %+v", fake.filters)
	}
	d.keys("enter").later(time.Second)
	if n := d.tail().List.Len(); n != 2 { // the message, and the record that nobody can read
		t.Errorf("%d of the kept messages pass, want 2", n)
	}
	if len(fake.filters) != 1 || fake.filters[0].Grep != "(?i)7781205" {
		t.Errorf("the tail filters by %+v", fake.filters)
	}
	for _, text := range []string{"[", "~(", "~*", "~a\\", ".[", "jq:", "jq:error(", "prop:", "prop:=x", "!x", ">lag 3"} {
		d.keys("/", "ctrl+u").typing(text)
		_, wrong := tail.ParseTailFilter(text)
		if text == "[" { // a text, not a regular expression
			if wrong != nil {
				t.Errorf("%q: %v", text, wrong)
			}
		} else if wrong == nil && text != "jq:" {
			t.Errorf("%q is taken", text)
		}
		d.lines()
		d.keys("enter", "esc")
	}
	if d.tail().Err != "" {
		t.Errorf("a bad filter ended the tail: %s", d.tail().Err)
	}
}

// keyed is a batch of messages with these keys that passed a filter on their way.
func keyed(t testing.TB, filter int, keys ...string) *page.TailBatch {
	b := &page.TailBatch{Filter: filter}
	for _, key := range keys {
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) { r.Properties[2].Value = key }))
	}
	return b
}

// keys are those of the listed messages.
func tailKeys(v *tail.View) (keys []string) {
	for i := range v.List.Len() {
		keys = append(keys, v.Row(v.List.Key(i)).Key)
	}
	return keys
}

// What was on its way when a filter came into force has passed another one: it is looked
// at before it is shown, and what the filter never saw is said.
func TestTailShowsNoStranger(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, keyed(t, 0, "a", "b"))
	d.keys("/").typing("key:a").keys("enter").later(time.Second)
	v := d.tail()
	v.Take(tail.BatchMsg{Rows: tail.Rows(keyed(t, 0, "b", "a"))})
	if diff := cmp.Diff(tailKeys(v), []string{"a"}); diff != "" {
		t.Errorf("before anybody has looked (-got +want):\n%s", diff)
	}
	d.batch(keyed(t, 0, "b", "a")).batch(keyed(t, 1, "a")).batch(keyed(t, 0, "b"))
	if diff := cmp.Diff(tailKeys(d.tail()), []string{"a", "a", "a"}); diff != "" {
		t.Errorf("listed (-got +want):\n%s", diff)
	}
	d.keys("k").batch(keyed(t, 0, "a")).later(time.Second)
	if diff := cmp.Diff(tailKeys(d.tail()), []string{"a", "a", "a"}); diff != "" {
		t.Errorf("a list that stands (-got +want):\n%s", diff)
	}
	d.keys("f", "/", "ctrl+u").typing("key:b").keys("enter").later(time.Second).batch(keyed(t, 1, "a"))
	if diff := cmp.Diff(tailKeys(d.tail()), []string{"b", "b", "b"}); diff != "" {
		t.Errorf("by the next filter (-got +want):\n%s", diff)
	}
	d.keys("esc").later(time.Second)
	if n := d.tail().List.Len(); n != 8 {
		t.Errorf("%d messages without a filter, want all 8", n)
	}
}

// Whatever comes in which order, through which filter, and however often another is
// typed: unless the screen says that the filter is only typed, all that it lists passes it.
func TestTailListsWhatItsFilterLets(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 10509))
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, nil)
	key := func() string { return string(rune('a' + rnd.IntN(3))) }
	listed := 0
	for step := range 400 {
		switch rnd.IntN(4) {
		case 0:
			d.keys("/", "ctrl+u").typing("key:" + key()).keys("enter")
		case 1:
			d.keys([]string{"k", "f", "esc", "space"}[rnd.IntN(4)])
			if d.a.shown != page.ViewTail {
				d.keys("3")
			}
		default:
			b := keyed(t, rnd.IntN(d.tail().Sieves+1), key(), key(), key())
			if b.Filter > 0 { // what comes through a filter has passed it
				b.Filter = d.tail().Sieve.Number
				if k := d.tail().Sieve.Filter.Key; k != "" {
					b = keyed(t, b.Filter, k, k)
				}
			}
			d.batch(b)
		}
		if rnd.IntN(2) == 0 {
			d.later(400 * time.Millisecond)
		}
		v := d.tail()
		if want := v.Want.Key; want != "" && !strings.Contains(d.a.View(), "(typed)") {
			for _, k := range tailKeys(v) {
				if listed++; k != want {
					t.Fatalf("step %d: the filter key:%s lists %q", step, want, tailKeys(v))
				}
			}
		}
	}
	if listed < 1000 {
		t.Errorf("only %d rows were looked at", listed)
	}
}

// That no message matches is said of those that the filter has looked at, with how many
// it has not, and why.
func TestTailSaysWhatItsFilterHasNotLookedAt(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, nil)
	full := keyed(t, 0, strings.Split(strings.Repeat("a ", tail.KeepRows), " ")[:tail.KeepRows]...)
	full.Seen, full.Looked, full.Matched = tail.KeepRows, tail.KeepRows, tail.KeepRows
	d.batch(full)
	more := keyed(t, 0, "a", "a", "a")
	more.Seen, more.Looked, more.Matched = tail.KeepRows+3, tail.KeepRows+3, tail.KeepRows+3
	d.batch(more).keys("/").typing("key:b").keys("enter").later(time.Second)
	d.see("No message of the 5,000 looked at matches  /key:b").see("3 messages not looked at: 3 are kept no more").see("3 not looked at · kept 5,000/5,000")
	d.batch(&page.TailBatch{Filter: 1, Seen: tail.KeepRows + 10, Looked: 7}).see("of the 5,007 looked at")
	d.keys("/", "ctrl+u").typing("key:c").see("looking for  /key:c …").keys("enter").later(time.Second).batch(&page.TailBatch{Filter: 2, Seen: tail.KeepRows + 10, Missed: 7})
	d.see("10 messages not looked at: 3 are kept no more").see("7 did not pass the filter before")
	d.keys("esc").later(time.Second).batch(&page.TailBatch{Filter: 3, Seen: tail.KeepRows + 10, Missed: 7}).see("7 left out by filters · kept 5,000/5,000")
}

// A charset is for all that is shown of bodies, also of those that are there already,
// and for the filter.
func TestTailReadsInACharset(t *testing.T) {
	b := &page.TailBatch{Messages: []engine.Message{tailRecord(t, func(r *protocol.Record) { r.Body = []byte("\xcd\xcb\xbf\xee") })}}
	d, fake := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, b)
	d.see("‹hex 4 B›")
	d.keys(":").typing("set charset GB2312").keys("enter").see("bodies are read in gbk").later(time.Second).see("text in gbk").see("退款").miss("‹hex")
	d.keys("/").typing("款").keys("enter").later(time.Second)
	if n := d.tail().List.Len(); n != 1 {
		t.Errorf("%d messages pass, want 1", n)
	}
	d.keys(":").typing("set charset utf-8").keys("enter").later(time.Second)
	if n := d.tail().List.Len(); n != 0 {
		t.Errorf("%d messages pass in UTF-8, want none", n)
	}
	if n := len(fake.filters); n != 2 || fake.filters[0].Charset != "gbk" || fake.filters[1].Charset != "" {
		t.Errorf("the tail filters by %+v", fake.filters)
	}
	d.keys(":").typing("set charset klingon").keys("enter").see("is no charset that is known")
}

// A filter that a seek puts in force before it was sieved by is for the charset too.
func TestTailSeeksInACharset(t *testing.T) {
	d, fake := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	d.keys(":").typing("set charset gbk").keys("enter")
	d.keys("/").typing("first").keys("enter").later(time.Second)
	d.keys("/", "ctrl+u").typing("second").keys("enter", "O").typing("5").keys("enter")
	d.send(tail.OpenedMsg{Ticket: d.tail().Ticket, Tail: fake})
	d.later(time.Second)
	if f := d.tail().Request.Filter; f.Grep != "(?i)second" || f.Charset != "gbk" {
		t.Errorf("the tail was opened again with %+v", f)
	}
}

func TestTailFilterWords(t *testing.T) {
	f, err := tail.ParseTailFilter(`tag:paid||refund key:o-1 prop:region=eu .amount > 1000 and .cur == "CNY"`)
	if err != nil {
		t.Fatal(err)
	}
	if f.Tags != "paid||refund" || f.Key != "o-1" || f.Properties["region"] != "eu" || f.JQ != `.amount > 1000 and .cur == "CNY"` || f.Grep != "" {
		t.Errorf("got %+v", f)
	}
}

func TestTailSeeksAndChoosesQueues(t *testing.T) {
	f := fixtureCluster()
	f.topic = func(topic string) (inspect.TopicDetail, error) {
		d := inspect.TopicDetail{}
		for i := range 3 {
			d.Queues = append(d.Queues, inspect.TopicQueue{MessageQueue: mq(topic, "broker-a", i)})
		}
		return d, nil
	}
	d, fake := tailing(t, 120, 36, defaultOptions(), "orders-paid", f, tailFixture(t))
	d.keys("T").typing("-15m").keys("enter")
	if got := d.tail().Request.From.Time; !got.Equal(fixtureNow.Add(-15 * time.Minute)) {
		t.Errorf("it reads from %v", got)
	}
	if fake.closed != 1 || len(d.tail().Ring.Rows) != 0 {
		t.Errorf("the old tail was closed %d times, %d messages are kept", fake.closed, len(d.tail().Ring.Rows))
	}
	d.keys("O", "ctrl+u").typing("12,000").keys("enter")
	if got := d.tail().Request.From; !got.ByOffset || got.Offset != 12_000 {
		t.Errorf("it reads from %+v", got)
	}
	d.keys("T").typing("tomorrow").keys("enter").see("is no time").keys("esc")
	d.keys("Q").see("3 of 3").keys(" ", "enter")
	if got := d.tail().Request.Queues; len(got) != 2 || got[0].QueueID != 1 {
		t.Errorf("it reads %v", got)
	}
}

func TestTailSavesTrueBytesAndNeverOverUnasked(t *testing.T) {
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	dir := t.TempDir()
	path := filepath.Join(dir, "body.bin")
	d.keys("k", "o", "ctrl+u").typing(path).keys("enter")
	want, _ := d.tail().Current().Message.Body()
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Fatalf("saved %q (%v), want %q", got, err, want)
	}
	d.see("saved the body")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.keys("o", "ctrl+u").typing(path).keys("enter").see("exists already").keys("enter")
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the file was written over: %q", got)
	}
	d.keys("o", "ctrl+u").typing(path).keys("enter", "tab", "enter")
	if got, _ := os.ReadFile(path); string(got) != string(want) {
		t.Errorf("it was not written over when asked to: %q", got)
	}
	csv := filepath.Join(dir, "rows.csv")
	d.keys("o", "ctrl+u").typing(csv).keys("enter")
	got, err := os.ReadFile(csv)
	if err != nil || !strings.HasPrefix(string(got), "born,stored,topic,") || strings.Count(string(got), "\n") < 30 {
		t.Errorf("CSV: %v, %.200s", err, got)
	}
	d.keys("o", "ctrl+u").typing(filepath.Join(dir, "no", "such", "dir")).keys("enter")
	if d.a.note.sev != words.Failure || !strings.Contains(d.a.note.text, "no such file") {
		t.Errorf("the screen says %q", d.a.note.text)
	}
}

func TestSendingDeadLettersBackIsNoted(t *testing.T) {
	o := defaultOptions()
	var entries []audit.Entry
	var ends []error
	o.Audit = func(e audit.Entry) (audit.Record, error) {
		if len(entries) > 0 {
			return audit.Record{}, errors.New("the disk is full")
		}
		entries = append(entries, e)
		return audit.Record{Done: func(_ any, err error) error { ends = append(ends, err); return nil }}, nil
	}
	f := fixtureCluster()
	d, _ := tailing(t, 120, 36, o, "%DLQ%order-settle", f, &page.TailBatch{Messages: []engine.Message{tailRecord(t, func(r *protocol.Record) { r.Topic = "%DLQ%order-settle" })}})
	plan := inspect.ResendPlan{Group: "order-settle", Source: "%DLQ%order-settle", Target: "%RETRY%order-settle", Note: "nobody of the group is online",
		Rows: []inspect.ResendRow{{ID: "0A000415000078D9F3C1", Error: "it is of another topic"}, {ID: "0A000415000078D9F3C2", SentBefore: d.now},
			{ID: "0A000415000078D9F3C3", SentBeforeWhy: inspect.Reason{Kind: inspect.ReasonFailed, Text: "not now\x1b"}}}}
	for range 2 { // the second time it cannot be noted
		d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: plan})
		d.see("left out: sent already, ").see("sent already? not known: not now").see("nobody of the group is online")
		d.keys("tab", "tab").typing("order-settle").keys("tab", "enter")
		if n := strings.Count(strings.Join(f.asked, "\n"), "apply resend"); n != 1 {
			t.Fatalf("applied %d times, want once: %v", n, f.asked)
		}
		if len(d.a.dialogs) > 0 && len(entries) == 1 && len(ends) == 1 {
			d.keys("enter")
		}
	}
	if len(entries) != 1 || entries[0].Command != "message resend" || entries[0].Group != "order-settle" || len(ends) != 1 || ends[0] == nil {
		t.Errorf("audit: %+v, ends %v: one line before, one after that says what failed", entries, ends)
	}
	if d.a.note.sev != words.Failure || !strings.Contains(d.a.note.text, "the disk is full") {
		t.Errorf("the screen says %q", d.a.note.text)
	}
}

func TestDeadLettersAreSentBackByName(t *testing.T) {
	f := fixtureCluster()
	d, _ := tailing(t, 120, 36, defaultOptions(), "%DLQ%order-settle", f, &page.TailBatch{Messages: []engine.Message{tailRecord(t, func(r *protocol.Record) { r.Topic = "%DLQ%order-settle" })}})
	plan := inspect.ResendPlan{Group: "order-settle", Target: "%RETRY%order-settle", Rows: []inspect.ResendRow{{ID: "0A000415000078D9F3C1"}}}
	d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: plan})
	applied := func() int { return strings.Count(strings.Join(f.asked, "\n"), "apply resend") }
	d.keys("enter") // the focus starts on Cancel
	if len(d.a.dialogs) != 0 || applied() != 0 {
		t.Fatalf("enter at first: %d dialogs, %v", len(d.a.dialogs), f.asked)
	}
	d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: plan})
	d.keys("tab").typing("fixed in 2.4.1").keys("enter").typing("order-settl").keys("tab", "enter").see("the group's name is not typed").see("[fixed in 2.4.1")
	// A paste confirms nothing, whatever it ends with.
	d.keys("shift+tab")
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("e\nyes\n"), Paste: true})
	if applied() != 0 {
		t.Errorf("a paste has applied it")
	}
	typed := func() string {
		dialog := d.a.dialogs[0].(tail.ResendDialog)
		return dialog.Form.Name.Value()
	}
	for typed() != "" {
		d.keys("backspace")
	}
	d.typing("order-settle")
	d.keys("tab", "enter")
	if applied() != 1 {
		t.Errorf("applied %d times, want once: %v", applied(), f.asked)
	}
	o := defaultOptions()
	o.Mode = "read-only"
	d, _ = tailing(t, 120, 36, o, "%DLQ%order-settle", nil, tailFixture(t))
	d.keys("R").see("read-only, nothing sent")
	d, _ = tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	d.keys("R").see("is no topic of dead letters")
}

func TestTailFindsWhatTheFilterSays(t *testing.T) {
	b := &page.TailBatch{Messages: []engine.Message{
		tailRecord(t, func(r *protocol.Record) { r.Body = []byte("a needle\n" + strings.Repeat("hay\n", 50) + "needle here") }),
		tailRecord(t, func(r *protocol.Record) { r.Body, r.QueueOffset = []byte("needle"), 18_263_873 }),
	}}
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, b)
	d.keys("n").see("sets one").keys("/").typing("needle").keys("enter").later(time.Second).keys("g", "n").see("needle here").keys("n")
	if got := d.tail().Current().Offset; got != 18_263_873 {
		t.Errorf("the next match is at %d", got)
	}
	d.keys("N")
	if got := d.tail().Current().Offset; got != 18_263_872 {
		t.Errorf("the match before is at %d", got)
	}
}

func TestWhoReadItIsAskedForAMessageAtRest(t *testing.T) {
	f := fixtureCluster()
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", f, tailFixture(t))
	tracks := func() int { return strings.Count(strings.Join(f.asked, "\n"), "tracks") }
	d.later(5 * time.Second)
	if tracks() != 0 {
		t.Error("groups are asked while the tail follows")
	}
	d.keys("k").later(100 * time.Millisecond)
	if tracks() != 0 {
		t.Error("groups are asked although the cursor has only just moved")
	}
	d.later(2 * time.Second).later(2 * time.Second)
	if tracks() != 1 {
		t.Errorf("groups are asked %d times, want once", tracks())
	}
	d.see("inferred from offsets and members")
}

// When a message that a broker holds back is due that broker's own levels say, or nobody.
func TestDueTimes(t *testing.T) {
	level := tailRecord(t, func(r *protocol.Record) {
		r.Topic, r.QueueID, r.Properties = "SCHEDULE_TOPIC_XXXX", 3, []protocol.Property{{Name: "DELAY", Value: "4"}, {Name: "REAL_TOPIC", Value: "orders"}}
	})
	timer := tailRecord(t, func(r *protocol.Record) {
		r.Topic, r.Properties = "rmq_sys_wheel_timer", []protocol.Property{{Name: "TIMER_OUT_MS", Value: fmt.Sprint(fixtureNow.Add(time.Hour).UnixMilli())}}
	})
	plain := tailRecord(t, func(r *protocol.Record) { r.Properties = []protocol.Property{{Name: "DELAY", Value: "4"}} })
	if d := tail.ParkedOf(&timer); d == nil || !d.Due.Equal(fixtureNow.Add(time.Hour)) {
		t.Errorf("the timer's is due %+v", d)
	}
	if d := tail.ParkedOf(&plain); d != nil {
		t.Errorf("one that was delivered is due %+v", d)
	}
	batch := &page.TailBatch{Messages: []engine.Message{level}, Seen: 1, Looked: 1, Matched: 1}
	for _, w := range []int{80, 120} { // nothing else may push it out of the pane
		f := fixtureCluster()
		f.levels = []time.Duration{time.Second, time.Second, time.Second, 42 * time.Minute}
		d, _ := tailing(t, w, 36, defaultOptions(), "SCHEDULE_TOPIC_XXXX", f, batch)
		d.see("due     15:14:04 (in 41m").see(" in orders").see("due 15:14:0")
		f.levels, f.levelsErr = nil, errors.New("no permission")
		d, _ = tailing(t, w, 36, defaultOptions(), "SCHEDULE_TOPIC_XXXX", f, batch)
		d.see("due ? · ").see("due     ? failed: the delay levels of broker-a are")
		if n := strings.Count(strings.Join(f.asked, " "), "levels"); n != 2 {
			t.Errorf("levels are asked for %d times by two tails, want twice", n)
		}
	}
}

// A dump is laid out for the pane: lines of 16 bytes would be torn apart in one of 80
// cells.
func TestDumpsFitTheirPane(t *testing.T) {
	m := tailRecord(t, func(r *protocol.Record) { r.Body = []byte("0123456789abcdefXYZ|") })
	row := tail.NewRow(&m)
	for width, want := range map[int][]string{
		100: {"00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|", "00000010  58 59 5a 7c                                       |XYZ||"},
		47: {"00000000  30 31 32 33 34 35 36 37  |01234567|", "00000008  38 39 61 62 63 64 65 66  |89abcdef|",
			"00000010  58 59 5a 7c              |XYZ||"},
	} {
		if diff := cmp.Diff(want, tail.ReadBody(row, tail.BodyKey{Decoder: message.DecoderHex, Width: width, Wrap: true}).Lines); diff != "" {
			t.Errorf("%d cells (-want +got):\n%s", width, diff)
		}
	}
	empty := tailRecord(t, func(r *protocol.Record) { r.Body = nil })
	if got := tail.ReadBody(tail.NewRow(&empty), tail.BodyKey{Decoder: message.DecoderHex, Width: 47, Wrap: true}).Lines; len(got) != 1 || got[0] != "" {
		t.Errorf("an empty body: %q", got)
	}
}

// Of a huge body the beginning is laid out; reading on and searching lay out more.
func TestMoreOfAHugeBodyIsShown(t *testing.T) {
	var text strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&text, "line %d of many\n", i)
	}
	text.WriteString("the needle")
	d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, &page.TailBatch{Messages: []engine.Message{
		tailRecord(t, func(r *protocol.Record) { r.Body = []byte(text.String()) })}})
	d.later(time.Second).see("cut: J more")
	laidOut := func() int { v := d.tail(); return len(v.ShownBody(v.Current()).Lines) }
	first := laidOut()
	d.keys("z", "G").later(time.Second)
	if more := laidOut(); more < first*3/2 {
		t.Errorf("%d lines at first, %d after the end was reached", first, more)
	}
	d.keys("ctrl+b", "g").see("    1 line 0 of many")
	d.keys("z", "/").typing("needle").keys("enter").later(time.Second).keys("n")
	for range 10 {
		d.later(time.Second)
	}
	d.see("60,001 the needle").see("line 60,001-60,001 of 60")
	if n := len(d.tail().Bodies); n != 1 {
		t.Errorf("%d bodies of megabytes are kept, want the one on the screen", n)
	}
	// The longest text that is laid out is the end of it, for a search too.
	v := *d.tail()
	r := v.Current()
	v.MoreOf, v.More, v.Top = r.Seq, message.MaxDoublings, 0
	v.Bodies = append(v.Bodies, tail.BodyMsg{Key: v.BodyKey(r), Body: tail.Body{Cut: true, Lines: []string{"1", "2"}}})
	v.Scroll("bottom")
	p, _ := v.FindMatch(1)
	if v := p.(tail.View); v.More != message.MaxDoublings || v.Hunt != 0 {
		t.Errorf("looks for more of the longest text: doubled %d times, hunting by %d", v.More, v.Hunt)
	}
}

func TestOnlyTheOpenTailIsHeard(t *testing.T) {
	d, first := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	old := d.tail().Ticket
	d.keys(":").typing("tail other").keys("enter")
	if first.closed != 1 {
		t.Errorf("the tail before was closed %d times", first.closed)
	}
	d.send(tail.BatchMsg{Ticket: old, Rows: tail.Rows(tailFixture(t))})
	if n := len(d.tail().Ring.Rows); n != 0 {
		t.Errorf("%d messages of the tail before are kept", n)
	}
	late := &fakeTail{}
	d.send(tail.OpenedMsg{Ticket: old, Tail: late})
	if late.closed != 1 {
		t.Error("a tail that nobody wants any more stays open")
	}
}

func TestTailErrors(t *testing.T) {
	d, fake := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
	fake.refuse = errors.New("the tail has ended")
	d.keys("/").typing("x").keys("enter").later(time.Second).see("the tail has ended")
	d.batch(&page.TailBatch{Notice: "broker-b: connection refused; trying again"}).see("trying again")
}

// Of many dead letters those are left out that were sent back before; those that are all
// marked again are sent again.
func TestWhatWasSentBackIsLeftOut(t *testing.T) {
	before := time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC)
	sent, fresh := inspect.ResendRow{SentBefore: before}, inspect.ResendRow{}
	d, _ := tailing(t, 120, 36, defaultOptions(), "%DLQ%order-settle", fixtureCluster(), &page.TailBatch{Messages: []engine.Message{tailRecord(t, func(r *protocol.Record) { r.Topic = "%DLQ%order-settle" })}})
	d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: inspect.ResendPlan{Group: "order-settle", Target: "%RETRY%order-settle", Rows: []inspect.ResendRow{sent, fresh}}})
	d.see("left out: sent already, 11-30 22:00").keys("esc")
	d.send(tail.ResendPlanMsg{Ticket: d.tail().Ticket, Plan: inspect.ResendPlan{Group: "order-settle", Target: "%RETRY%order-settle", Rows: []inspect.ResendRow{sent, sent}}})
	d.see("a copy was sent already, at 11-30 22:00").miss("left out")
}

// A tail that has stopped does not say that it follows, at any size.
func TestAStoppedTailDoesNotFollow(t *testing.T) {
	for _, size := range sizes[1:] {
		d, _ := tailing(t, size[0], size[1], defaultOptions(), "orders-paid", nil, tailFixture(t))
		d.see("follow ─╮")
		d.send(tail.BatchMsg{Ticket: d.tail().Ticket, Err: "topic orders-paid is gone from broker-a"})
		d.see("stopped, ctrl-r again ─╮").miss("follow ─╮")
	}
}

// A pattern that is not whole yet keeps what is shown, and says so beside the prompt.
func TestAnUnfinishedPatternKeepsTheTail(t *testing.T) {
	d, _ := tailing(t, 80, 24, defaultOptions(), "orders-paid", nil, tailFixture(t))
	rows := d.tail().List.Len()
	for typed, want := range map[string]string{"~foo(": "✗ not whole: missing closing ) · rows as before", "~[": "✗ not whole: missing closing ] · rows as before", `~a\\`[:3]: "✗ not whole: trailing backslash", "~**": "✗ missing argument to repetition operator: * · rows as before"} {
		d.keys("/")
		d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(typed), Paste: true})
		d.see(want).keys("enter").see("FILTER")
		if n := d.tail().List.Len(); n != rows || d.tail().Filter != "" {
			t.Errorf("%q: %d rows of %d, filter %q", typed, n, rows, d.tail().Filter)
		}
		d.keys("esc")
	}
}

// Queues that cannot be read take the green away, for as long as they cannot, and what is
// left to read is not known.
func TestATailOfMuteQueuesIsNotGreen(t *testing.T) {
	queue := func(broker string, id int32) page.MuteQueue {
		return page.MuteQueue{Queue: engine.MessageQueue{Topic: "orders-paid", BrokerName: broker, QueueID: id}, Since: fixtureNow.Add(-12 * time.Second),
			Why: "read orders-paid broker-a/3 at 5: PULL_MESSAGE to 10.0.4.1:10911: connect to 10.0.4.1:10911: connection refused"}
	}
	for name, tt := range map[string]struct {
		mute []page.MuteQueue
		want string
	}{
		"a queue":   {[]page.MuteQueue{queue("broker-a", 3)}, "✗ broker-a/3 cannot be read since "},
		"a broker":  {[]page.MuteQueue{queue("broker-a", 3), queue("broker-a", 4)}, "✗ broker-a cannot be read since "},
		"brokers":   {[]page.MuteQueue{queue("broker-a", 3), queue("broker-b", 3)}, "✗ 2 brokers cannot be read, the first since "},
		"the topic": {[]page.MuteQueue{{Since: fixtureNow.Add(-12 * time.Second), Why: "ask: connection refused"}}, "✗ the topic's queues are not known since "},
	} {
		for _, size := range [][2]int{{80, 24}, {120, 36}} {
			t.Run(fmt.Sprintf("%s %d", name, size[0]), func(t *testing.T) {
				d, _ := tailing(t, size[0], size[1], defaultOptions(), "orders-paid", nil, &page.TailBatch{Behind: 0})
				d.see("✓ buffer")
				d.batch(&page.TailBatch{Behind: -1, Mute: tt.mute}).later(page.NoteFor + time.Second).see(tt.want).miss("✓ ").miss("0 behind").miss("● follow")
				d.see("no message was read: ")
				d.batch(&page.TailBatch{Behind: 0}).see("✓ buffer")
			})
		}
	}
}

// The key freezes a list that stands since its cursor was moved as well as one that
// follows; the key again follows.
func TestTheTailFreezesWhereItStands(t *testing.T) {
	for _, before := range []string{"", "k"} {
		d, _ := tailing(t, 120, 36, defaultOptions(), "orders-paid", nil, tailFixture(t))
		if before != "" {
			d.keys(before)
		}
		d.keys("space").see("FROZEN").see("stands").miss("● follow")
		d.keys("space").miss("FROZEN").see("● follow")
	}
}
