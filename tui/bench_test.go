package tui

import (
	"io"
	"runtime"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"eyeq/engine"
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
