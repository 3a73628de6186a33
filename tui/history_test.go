package tui

import (
	"math"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/pages"
	"eyeq/tui/words"
)

func TestRatesComeFromDifferences(t *testing.T) {
	var h live.History
	if _, ok := h.Rate(live.Pulled, live.RateWindow); ok {
		t.Error("without snapshots there is a rate")
	}
	give := func(at time.Duration, total uint64, lag int64) {
		h.Add(&engine.Snapshot{At: fixtureNow.Add(at), Totals: engine.Totals{Pulled: total}, Queues: []engine.QueueSnapshot{{MaxOffset: lag}}})
	}
	give(0, 1000, 500)
	give(250*time.Millisecond, 1100, 500)
	if _, ok := h.Rate(live.Pulled, live.RateWindow); ok {
		t.Error("a quarter of a second is too short for a rate")
	}
	give(2*time.Second, 1000, 500)
	give(4*time.Second, 1000, 500)
	if got, ok := h.LagSlope(); ok {
		t.Errorf("slope = %v within 4 s, in which no member had to commit", got)
	}
	h = live.History{}
	for i := 1; i <= 20; i++ {
		give(time.Duration(i)*time.Second, 1000+uint64(i)*400, 500-int64(i)*10)
	}
	if got, ok := h.Rate(live.Pulled, live.RateWindow); !ok || got != 400 {
		t.Errorf("rate = %v, %v", got, ok)
	}
	if got, ok := h.LagSlope(); !ok || got != -10 {
		t.Errorf("slope = %v, %v", got, ok)
	}
	if n, over, ok := h.Grown(live.Pulled, live.TrendWindow); !ok || n != 4000 || over != 10*time.Second {
		t.Errorf("grown = %v in %v, %v", n, over, ok)
	}
	trend := h.Rates(make([]float64, 24), live.Pulled)
	if !math.IsNaN(trend[0]) || trend[23] != 400 {
		t.Errorf("trend = %v", trend)
	}
}

func TestAnEngineThatStartsAnewGivesNoNegativeRate(t *testing.T) {
	var h live.History
	for i, total := range []uint64{9000, 10, 500} {
		h.Add(&engine.Snapshot{At: fixtureNow.Add(time.Duration(i) * time.Second), Totals: engine.Totals{Pulled: total}})
	}
	if got, _ := h.Rate(live.Pulled, live.RateWindow); got < 0 {
		t.Errorf("rate = %v", got)
	}
}

func TestTheSlopeIsUnknownWhileQueuesAreBecomingKnown(t *testing.T) {
	var h live.History
	for i := range 8 {
		s := &engine.Snapshot{At: fixtureNow.Add(time.Duration(i) * time.Second), Queues: make([]engine.QueueSnapshot, 2)}
		s.Queues[0].MaxOffset = 100
		s.Queues[1].MaxOffset = engine.Unknown
		if i == 7 {
			s.Queues[1].MaxOffset = 5000
		}
		h.Add(s)
	}
	if got, ok := h.LagSlope(); ok {
		t.Errorf("slope = %v, though a queue has only now become known", got)
	}
}

func TestResponseTimesAreBoundsOfTheDifference(t *testing.T) {
	var h live.History
	s := &engine.Snapshot{At: fixtureNow}
	s.Totals.RT[26] = 1_000_000 // long ago
	h.Add(s)
	next := *s
	next.At = fixtureNow.Add(2 * time.Second)
	next.Totals.RT[6] += 98 // below 3 ms
	next.Totals.RT[13] += 1 // below 50 ms
	next.Totals.RT[len(engine.RTBounds)] += 1
	h.Add(&next)
	for q, want := range map[float64]time.Duration{0.5: 3 * time.Millisecond, 0.98: 3 * time.Millisecond, 0.99: 50 * time.Millisecond} {
		if got, above, ok := h.ResponseTime(q, live.TrendWindow); !ok || above || got != want {
			t.Errorf("quantile %v = %v, %v, %v", q, got, above, ok)
		}
	}
	if got, above, ok := h.ResponseTime(1, live.TrendWindow); !ok || !above || got != time.Minute {
		t.Errorf("the slowest = %v, %v, %v, want above a minute", got, above, ok)
	}
}

func TestSparklines(t *testing.T) {
	g, a := draw.NewGlyphs(false), draw.NewGlyphs(true)
	nan := math.NaN()
	tests := map[string]struct {
		values   []float64
		fromZero bool
		want     string
		ascii    string
	}{
		"from zero":        {[]float64{0, 1, 50, 100}, true, "▁▂▅█", " .=#"},
		"gaps":             {[]float64{nan, 0, nan, 8}, true, " ▁ █", "   #"},
		"nothing happened": {[]float64{0, 0}, true, "▁▁", "  "},
		"nothing known":    {[]float64{nan, nan}, true, "  ", "  "},
		"a level":          {[]float64{1000, 1001, 1000}, false, "▄▅▄", "-=-"},
		"a rise":           {[]float64{1000, 1100, 1200}, false, "▁▅█", " =#"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := g.Sparkline(tt.values, tt.fromZero); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := a.Sparkline(tt.values, tt.fromZero); got != tt.ascii {
				t.Errorf("ASCII: got %q, want %q", got, tt.ascii)
			}
		})
	}
}

func TestMeters(t *testing.T) {
	g, a := draw.NewGlyphs(false), draw.NewGlyphs(true)
	for share, want := range map[float64]string{0: "····", 0.001: "▏···", 0.5: "██··", 0.55: "██▎·", 1: "████", 7: "████", -1: "····"} {
		if got := g.Meter(4, share); got != want {
			t.Errorf("meter(%v) = %q, want %q", share, got, want)
		}
	}
	if got := a.Meter(4, 0.55); got != "##.." {
		t.Errorf("ASCII: %q", got)
	}
}

func TestSpanBars(t *testing.T) {
	g := draw.NewGlyphs(false)
	tests := map[string]struct {
		todo, done, span int64
		want             string
	}{
		"empty":                     {0, 0, 0, "········"},
		"one message is seen":       {1, 0, 0, "█·······"},
		"done and waiting":          {500, 1000, 1500, "██▒▒▒▒··"},
		"full by span":              {612, 1390, 2001, "██▒▒▒▒▒▒"},
		"over the limit":            {3000, 0, 2999, "████████"},
		"done is seen when full":    {2400, 3, 2500, "███████▒"},
		"offsets that are not ours": {250, 250, 2000, "█▒░░░░░░"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := g.SpanBar(8, tt.todo, tt.done, tt.span, 2000); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for f, want := range map[float64]string{0: "0", 3.25: "3.2", 9.97: "10", 312: "312", 999.6: "1.0k", 4812: "4.8k", 128_412: "128k", 999_600: "1.0M", 3.2e6: "3.2M", 7e12: "7.0T", 7e16: "70000T"} {
		if got := words.Short(f); got != want {
			t.Errorf("short(%v) = %q, want %q", f, got, want)
		}
	}
	if got := words.NewShortener([]string{"broker-a", "broker-b"}).Name("broker-a"); got != "a" {
		t.Errorf("short name = %q", got)
	}
	for _, names := range [][]string{{"broker-"}, {"a", "b"}, {"broker-a", "broker-"}, nil} {
		if got := words.NewShortener(names).Name("broker-a"); got != "broker-a" {
			t.Errorf("among %v broker-a is called %q", names, got)
		}
	}
}

// commit adds what brokers say of one queue of 1,000 messages so long after the start.
func lagCommit(h *pages.LagHistory, at time.Duration, committed int64) {
	h.Add(fixtureNow.Add(at), &inspect.GroupLag{Lag: inspect.Exact(1000 - committed),
		Queues: []inspect.QueueLag{{Committed: inspect.Exact(committed), Max: inspect.Exact(1000)}}})
}

// A page that has looked on for less than the 5 s between two commits of a member
// does not say that nobody consumes.
func TestLagPageWaitsForCommits(t *testing.T) {
	var h pages.LagHistory
	lagCommit(&h, 0, 500)
	lagCommit(&h, 2*time.Second, 500)
	lagCommit(&h, 4*time.Second, 500)
	if got, ok := h.Consumed(); ok {
		t.Errorf("consumed = %v after 4 s, want not known", got)
	}
	lagCommit(&h, 6*time.Second, 620)
	if got, ok := h.Consumed(); !ok || got != 20 {
		t.Errorf("consumed = %v, %v after 6 s, want 20", got, ok)
	}
}

// A reset moves commits back: nothing was consumed the other way round.
func TestLagPageTakesNoResetForARate(t *testing.T) {
	var h pages.LagHistory
	lagCommit(&h, 0, 960)
	lagCommit(&h, 6*time.Second, 960)
	lagCommit(&h, 8*time.Second, 0)
	lagCommit(&h, 10*time.Second, 0)
	if got, ok := h.Consumed(); ok {
		t.Errorf("consumed = %v 2 s after a reset, want not known", got)
	}
	lagCommit(&h, 14*time.Second, 60)
	if got, ok := h.Consumed(); !ok || got != 10 {
		t.Errorf("consumed = %v, %v 6 s after a reset, want 10", got, ok)
	}
}
