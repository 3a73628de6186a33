package engine

import (
	"sync/atomic"
	"time"

	"eyeq/engine/core"
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

// topicStats are one topic's statistics (spec/consumer-control.md 9). The
// adders touch only the atomic sums; the coordinator turns them into samples.
type topicStats struct {
	pullRT, consumeRT              sums // milliseconds an occasion
	pulled, ok, failed             sums // messages an occasion
	wPullRT, wConsumeRT            core.Window
	wPulled, wOK, wFailed          core.Window
	lastRT, lastCRT                sumsRead
	lastPulled, lastOK, lastFailed sumsRead
}

type sums struct{ times, value atomic.Int64 }

type sumsRead struct{ times, value int64 }

func (s *sums) add(times, value int64) {
	s.times.Add(times)
	s.value.Add(value)
}

// sample moves what was added since the last sample into the windows.
func (t *topicStats) sample(now time.Time) {
	move := func(s *sums, last *sumsRead, w *core.Window) {
		at := sumsRead{s.times.Load(), s.value.Load()}
		w.AddN(at.times-last.times, at.value-last.value)
		*last = at
		w.Sample(now)
	}
	move(&t.pullRT, &t.lastRT, &t.wPullRT)
	move(&t.consumeRT, &t.lastCRT, &t.wConsumeRT)
	move(&t.pulled, &t.lastPulled, &t.wPulled)
	move(&t.ok, &t.lastOK, &t.wOK)
	move(&t.failed, &t.lastFailed, &t.wFailed)
}
