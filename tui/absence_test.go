package tui

import (
	"math"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/live"
)

// The lag is that of the group's own topics, as `group lag` has it; what waits in the
// retry topic is said apart.
func TestTheLagIsWithoutTheRetryTopic(t *testing.T) {
	s := fixture(0)
	retry := ownQueue(mq("%RETRY%order-settle", "broker-a", 0), 100, 63, 0, 0)
	retry.Retry = true
	s.Queues = append(s.Queues, retry)
	s.Topics = append(s.Topics, engine.TopicSnapshot{Topic: retry.Topic, Retry: true, Members: s.Topics[0].Members, MembersAt: s.At, Queues: 1, Brokers: []string{"broker-a"}})
	withSnapshot(t, 120, 36, s).see(" lag    128,412 ").see("retry 63")
	withSnapshot(t, 80, 24, s).see("retry 63")

	l := fixtureLive(0)
	x := l.Queues[0]
	x.MessageQueue, x.Retry, x.Lag = mq("%RETRY%order-settle", "broker-a", 0), true, inspect.Exact(63)
	l.Queues, l.Lag.RetryLag = append(l.Queues, x), inspect.Exact(63)
	watching(t, 120, 36, defaultOptions(), l).see(" lag    128,412 ").see("retry 63 · dlq 3")
}

// Rates of members are averages of a minute, and called so.
func TestRatesOfMembersAreCalledAverages(t *testing.T) {
	watching(t, 120, 36, defaultOptions(), lives(2)...).see("pull 1m  4,812/s").see("consume 1m  4,656/s")
	watching(t, 80, 24, defaultOptions(), lives(2)...).see(" 1m pull 4.8k/s")
	withSnapshot(t, 120, 36, fixture(0)).miss(" 1m ")
}

// What differs between two pictures with a long time between happened at some time in it.
func TestWhatHappenedWhileNobodyLooked(t *testing.T) {
	before, now := fixtureLive(17*60+7), fixtureLive(0)
	leave(&now, memberC)
	give(&now, memberC, memberB)
	d := watching(t, 120, 36, defaultOptions(), before, now).see("queues moved 0s to 17m07s ago").see("within 17m07s")
	d.miss("for 17m") // flow control that is seen at both ends need not have lasted

	near := lives(2)
	leave(&near[1], memberC)
	give(&near[1], memberC, memberB)
	watching(t, 120, 36, defaultOptions(), near...).see("queues moved 0s ago (#1)")
}

// A trend line has a gap where nobody looked, and no rate or slope reaches across.
func TestATrendLineLeavesAGap(t *testing.T) {
	h := &live.History{Every: 2 * time.Second}
	at := fixtureNow
	for i := range 10 {
		if at = at.Add(2 * time.Second); i == 5 {
			at = at.Add(17 * time.Minute)
		}
		s := fixture(0)
		s.At, s.Totals.Pulled = at, uint64(i*100)
		h.Add(s)
		if _, ok := h.Rate(live.Pulled, live.RateWindow); i == 5 && ok {
			t.Error("a rate over 17 minutes")
		}
		if _, ok := h.LagSlope(); i == 5 && ok {
			t.Error("a slope over 17 minutes")
		}
	}
	var cells [9]float64
	for _, line := range [][]float64{h.Rates(cells[:], live.Pulled), h.Lags(make([]float64, 9))} {
		for i, v := range line {
			if got := math.IsNaN(v); got != (i == 4) {
				t.Errorf("cell %d is %v", i, v)
			}
		}
	}
}
