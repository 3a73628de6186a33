package tui

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

func crowd(t testing.TB) *driver {
	color := lipgloss.NewRenderer(io.Discard)
	color.SetColorProfile(termenv.ANSI)
	d := driveOn(t, 120, 36, defaultOptions(), nil, color)
	for _, s := range fixtures(40) {
		d.send(snapshotsMsg{snapshots: []*engine.Snapshot{s}})
	}
	d.send(eventsMsg{events: fixtureEvents()})
	d.send(snapshotsMsg{snapshots: []*engine.Snapshot{manyQueues(1000)}})
	return d
}

// BenchmarkView draws the live view of 1,000 queues at 120x36 anew; the budget is 2 ms
// and 200 kB.
func BenchmarkView(b *testing.B) {
	d := crowd(b)
	b.ReportAllocs()
	for b.Loop() {
		d.a.cache.valid = false
		_ = d.a.View()
	}
}

// BenchmarkViewUnchanged is what a message costs that changes nothing.
func BenchmarkViewUnchanged(b *testing.B) {
	d := crowd(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = d.a.View()
	}
}

// BenchmarkTick takes a new snapshot of 1,000 queues in and draws it: a quarter of a
// second's work.
func BenchmarkTick(b *testing.B) {
	d := crowd(b)
	snapshots := []*engine.Snapshot{manyQueues(1000), manyQueues(1000)}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		s := *snapshots[i%2]
		i++
		d.a.Update(snapshotsMsg{snapshots: []*engine.Snapshot{&s}})
		_ = d.a.View()
	}
}

// BenchmarkEvents takes a full batch of events in.
func BenchmarkEvents(b *testing.B) {
	d := crowd(b)
	events := make([]engine.Event, 512)
	for i := range events {
		events[i] = allEvents(at(0, mq("orders-paid", "broker-a", i%8)))[i%40]
	}
	b.ReportAllocs()
	for b.Loop() {
		d.a.Update(eventsMsg{events: events})
	}
}

func TestAFrameStaysWithinItsMemory(t *testing.T) {
	d := crowd(t)
	const frames = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range frames {
		d.a.cache.valid = false
		_ = d.a.View()
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / frames; got > 200_000 {
		t.Errorf("a frame of 1,000 queues at 120x36 allocates %d bytes, the budget is 200,000", got)
	}
}

// manyWatched is a picture of a group with n queues, of which three members tell.
func manyWatched(n int) inspect.Live {
	l := fixtureLive(0)
	s := manyQueues(n)
	infos := map[string]*protocol.ConsumerRunningInfo{}
	for i := range l.Members.Members {
		infos[l.Members.Members[i].ClientID] = l.Members.Members[i].Info
	}
	like := l.Queues[0]
	l.Queues, l.Lag.Queues, l.Topics[0].Queues = nil, nil, n
	for i := range s.Queues {
		q := like
		q.MessageQueue, q.Owner, q.Expected, q.Owners = s.Queues[i].MessageQueue, s.Queues[i].Owner, s.Queues[i].Owner, []string{s.Queues[i].Owner}
		q.Max = inspect.Exact(like.Max.Value + int64(i*37%5000))
		q.Lag = inspect.Exact(q.Max.Value - q.Committed.Value)
		info := *like.Info
		info.CachedMsgCount = int32(i % 1200)
		q.Info = &info
		infos[q.Owner].MQTable[q.MessageQueue] = info
		l.Queues = append(l.Queues, q)
	}
	return l
}

// BenchmarkWatchedView draws the live view of a watched group of 1,000 queues anew.
func BenchmarkWatchedView(b *testing.B) {
	d := watching(b, 120, 36, defaultOptions(), manyWatched(1000))
	b.ReportAllocs()
	for b.Loop() {
		d.a.cache.valid = false
		_ = d.a.View()
	}
}

// BenchmarkWatchedPicture takes a new picture of 1,000 queues in and draws it: two
// seconds' work.
func BenchmarkWatchedPicture(b *testing.B) {
	d := watching(b, 120, 36, defaultOptions(), manyWatched(1000))
	l := manyWatched(1000)
	b.ReportAllocs()
	for b.Loop() {
		w := d.a.watchedNow()
		w.Asking = true
		l.At = l.At.Add(2 * time.Second)
		next := l
		d.a.Update(page.AnswerMsg{Ticket: w.Ticket, Raw: next})
		_ = d.a.View()
	}
}

func TestAFrameOfAWatchedGroupStaysWithinItsMemory(t *testing.T) {
	d := watching(t, 120, 36, defaultOptions(), manyWatched(1000))
	const frames = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range frames {
		d.a.cache.valid = false
		_ = d.a.View()
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / frames; got > 200_000 {
		t.Errorf("a frame of a watched group of 1,000 queues at 120x36 allocates %d bytes, the budget is 200,000", got)
	}
}

// BenchmarkKeyAmongTopics presses a key in a list of 900 topics while their details
// come in, and draws the frame: nothing in it may wait for the network.
func BenchmarkKeyAmongTopics(b *testing.B) {
	f := &fakeCluster{topics: func() (l inspect.TopicList, err error) {
		for i := range 900 {
			l.Topics = append(l.Topics, inspect.TopicName{Topic: fmt.Sprintf("com.example.orders.topic-%04d", i)})
		}
		return l, nil
	}}
	f.topicRows = func(topics []string) []inspect.TopicRow {
		rows := make([]inspect.TopicRow, len(topics))
		for i, t := range topics {
			rows[i] = inspect.TopicRow{TopicName: inspect.TopicName{Topic: t}, Stored: inspect.Exact(int64(i)), Queues: 1}
		}
		return rows
	}
	d := driveCluster(b, 120, 36, defaultOptions(), f).keys("5", "s", "s")
	b.ReportAllocs()
	for b.Loop() {
		d.keys("ctrl+r", "j")
		if len(d.a.View()) == 0 {
			b.Fatal("no frame")
		}
	}
}

// longStack is the page of a stack of 5,000 frames.
func longStack(t testing.TB) *driver {
	f := fixtureCluster()
	f.stack = func(client string) (inspect.Stack, error) {
		s := fixtureStack(client)
		for i := range 5000 * len(s.Threads) {
			t := &s.Threads[i%len(s.Threads)]
			t.Frames = append(t.Frames, "com.example.orders.settle.SettlementService.settleWithARatherLongNameOfItsMethod(SettlementService.java:1181)")
		}
		return s, nil
	}
	return driveCluster(t, 120, 36, defaultOptions(), f).keys(":").typing("stack " + memberB).keys("enter").see("J/K")
}

// longFindings is the page of findings with 5,000 lines of evidence.
func longFindings(t testing.TB) *driver {
	f := fixtureCluster()
	f.doctor = func(string) (inspect.Report, error) {
		r := fixtureReport()
		for i := range 5000 * len(r.Findings) {
			x := &r.Findings[i%len(r.Findings)]
			x.Evidence = append(x.Evidence, fmt.Sprintf("orders-paid broker-a/%d: committed at 97, newest 8,106, nothing was committed for 17m04s, held by %s", i, memberB))
		}
		return r, nil
	}
	return driveCluster(t, 120, 36, defaultOptions(), f).keys(":").typing("findings order-settle").keys("enter").see("J/K")
}

// BenchmarkKeyInStack scrolls a long text by a line and draws the frame.
func BenchmarkKeyInStack(b *testing.B) { benchmarkScroll(b, longStack(b)) }

func BenchmarkKeyInFindings(b *testing.B) { benchmarkScroll(b, longFindings(b)) }

func benchmarkScroll(b *testing.B, d *driver) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		d.a.Update(keyMsg([]string{"J", "K"}[i/100%2]))
		_ = d.a.View()
	}
}

// A key costs what is seen, however long the text is.
func TestScrollingLaysNothingOutAgain(t *testing.T) {
	for name, d := range map[string]*driver{"stack": longStack(t), "findings": longFindings(t)} {
		before := d.keys("J").frame()
		if n := testing.AllocsPerRun(10, func() { d.a.Update(keyMsg("J")); _ = d.a.View() }); n > 1000 {
			t.Errorf("%s: a key allocates %v times", name, n)
		}
		if d.keys("J").frame() == before {
			t.Errorf("%s: it does not scroll", name)
		}
		before = d.keys("g").frame()
		if d.keys("j").frame() == before {
			t.Errorf("%s: another row has the same text", name)
		}
		d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		d.lines()
	}
}

// New findings are laid out, though the row is the same.
func TestNewEvidenceIsShown(t *testing.T) {
	f := fixtureCluster()
	evidence := "what was seen first"
	f.doctor = func(string) (inspect.Report, error) {
		r := fixtureReport()
		for i := range r.Findings {
			r.Findings[i].Evidence = []string{evidence}
		}
		return r, nil
	}
	d := driveCluster(t, 120, 36, defaultOptions(), f).keys(":").typing("findings order-settle").keys("enter").see(evidence)
	evidence = "what was seen then"
	d.keys("ctrl+r").see(evidence)
}
