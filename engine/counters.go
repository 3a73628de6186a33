package engine

import (
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// counters are the engine's totals. Queue goroutines and workers add to them,
// Snapshot reads them.
type counters struct {
	pulled, pulledBytes, pulls         atomic.Uint64
	consumed, failed                   atomic.Uint64
	sentBack, deadLettered, localRetry atomic.Uint64
	flow                               [core.FlowBroker + 1]atomic.Uint64
	rt                                 [len(RTBounds) + 1]atomic.Uint64
}

func (c *counters) totals() Totals {
	t := Totals{
		Pulled: c.pulled.Load(), PulledBytes: c.pulledBytes.Load(), Pulls: c.pulls.Load(),
		Consumed: c.consumed.Load(), Failed: c.failed.Load(),
		SentBack: c.sentBack.Load(), DeadLettered: c.deadLettered.Load(), LocalRetries: c.localRetry.Load(),
		FlowCount: c.flow[core.FlowCount].Load(), FlowSize: c.flow[core.FlowSize].Load(),
		FlowSpan: c.flow[core.FlowSpan].Load(), FlowUnlocked: c.flow[core.FlowOrderlyUnlocked].Load(),
		FlowBroker: c.flow[core.FlowBroker].Load(),
	}
	for i := range c.rt {
		t.RT[i] = c.rt[i].Load()
	}
	return t
}

// rtBucket is the index of the histogram bucket of d.
func rtBucket(d time.Duration) int {
	for i, b := range RTBounds {
		if d < b {
			return i
		}
	}
	return len(RTBounds)
}

// topicStats are one topic's statistics (docs/conformance/control.md 9). The
// adders touch only the atomic sums; the coordinator turns them into samples and
// publishes what they say.
type topicStats struct {
	pullRT, consumeRT  sums // microseconds an occasion
	pulled, ok, failed sums // messages an occasion

	status atomic.Pointer[protocol.ConsumeStatus] // nil before the first sample
}

// sums are cumulative; the window beside them is the coordinator's.
type sums struct {
	times, value atomic.Int64

	window core.Window
	last   struct{ times, value int64 } // what the window has seen
}

func (s *sums) add(times, value int64) {
	s.times.Add(times)
	s.value.Add(value)
}

// sample moves what was added since the last time into the window.
func (s *sums) sample(due []core.Span, now time.Time) {
	times, value := s.times.Load(), s.value.Load()
	s.window.AddN(times-s.last.times, value-s.last.value)
	s.last.times, s.last.value = times, value
	for _, span := range due {
		s.window.Sample(span, now)
	}
}

// sample takes the samples that are due.
func (t *topicStats) sample(due []core.Span, now time.Time) {
	for _, s := range []*sums{&t.pullRT, &t.consumeRT, &t.pulled, &t.ok, &t.failed} {
		s.sample(due, now)
	}
	rt := t.consumeRT.window.Figures(core.Minute)
	if rt.Sum == 0 {
		rt = t.consumeRT.window.Figures(core.Hour)
	}
	t.status.Store(&protocol.ConsumeStatus{
		PullRT:       t.pullRT.window.Figures(core.Minute).Avg / 1000,
		PullTPS:      t.pulled.window.Figures(core.Minute).TPS,
		ConsumeRT:    rt.Avg / 1000,
		ConsumeOKTPS: t.ok.window.Figures(core.Minute).TPS, ConsumeFailedTPS: t.failed.window.Figures(core.Minute).TPS,
		ConsumeFailedMsgs: t.failed.window.Figures(core.Hour).Sum,
	})
}

// rates are the figures of the last samples.
func (t *topicStats) rates() protocol.ConsumeStatus {
	if s := t.status.Load(); s != nil {
		return *s
	}
	return protocol.ConsumeStatus{}
}

// sampler knows which spans are due. Like the reference it samples all at the
// start and then at a fixed rate; ticks that were missed (the machine slept) are
// not made up for, since samples of one instant would push out those that say
// something.
type sampler struct{ next [3]time.Time }

func (s *sampler) begin(now time.Time) {
	for _, span := range []core.Span{core.Minute, core.Hour, core.Day} {
		s.next[span] = now.Add(span.Period())
	}
}

// due lists the spans whose time has come; more often than every 10 s there is none.
func (s *sampler) due(now time.Time) (due []core.Span) {
	for _, span := range []core.Span{core.Minute, core.Hour, core.Day} {
		if now.Before(s.next[span]) {
			continue
		}
		due = append(due, span)
		late := now.Sub(s.next[span])
		s.next[span] = s.next[span].Add(late - late%span.Period() + span.Period())
	}
	return due
}
