package live

import (
	"math"
	"time"

	"eyeq/engine"
	"eyeq/tui/page"
)

// sample is what is kept of a snapshot for rates and trends.
type sample struct {
	at      time.Time
	totals  engine.Totals
	lag     int64
	unknown int // queues whose lag is not known
	queues  int
}

const (
	// sampleEvery is one cell of a trend line.
	sampleEvery = time.Second
	keepSamples = 256
	// RateWindow is what a rate is averaged over; trendWindow likewise for slopes,
	// flow counters and response times.
	RateWindow  = 3 * time.Second
	TrendWindow = 10 * time.Second
	// minWindow is the least distance of two samples that give a rate.
	minWindow = 900 * time.Millisecond
)

// History keeps samples a second apart, and the newest one whenever it was taken.
type History struct {
	Every  time.Duration // between two samples; 0: sampleEvery
	ring   [keepSamples]sample
	n      int // how many were ever added
	latest sample
}

// Add takes the figures of a snapshot.
func (h *History) Add(s *engine.Snapshot) {
	x := sample{at: s.At, totals: s.Totals, queues: len(s.Queues)}
	for i := range s.Queues {
		if s.Queues[i].Retry { // what waits for another try is told apart
			x.queues--
		} else if lag, ok := LagOf(&s.Queues[i]); ok {
			x.lag += lag
		} else {
			x.unknown++
		}
	}
	h.latest = x
	// Ticks jitter: a snapshot a few milliseconds early still closes its second.
	if h.n > 0 && x.at.Sub(h.at(0).at) < sampleEvery-50*time.Millisecond {
		return
	}
	h.ring[h.n%keepSamples] = x
	h.n++
}

func (h *History) len() int { return min(h.n, keepSamples) }

// at is the i-th sample back in time, 0 the last one that was kept.
func (h *History) at(i int) *sample { return &h.ring[(h.n-1-i)%keepSamples] }

// before finds the sample to compare the latest one with: the oldest within the
// window.
func (h *History) before(window time.Duration) (*sample, bool) {
	var found *sample
	for i := range h.len() {
		s := h.at(i)
		d := h.latest.at.Sub(s.at)
		if found != nil && d > window+sampleEvery/2 {
			break
		}
		if d >= minWindow {
			found = s
		}
	}
	if found != nil && h.latest.at.Sub(found.at) > window+h.gap() {
		return nil, false // nobody looked meanwhile
	}
	return found, found != nil
}

// gap is from which distance on two samples do not belong together: between them nobody
// looked.
func (h *History) gap() time.Duration { return 3*max(h.Every, sampleEvery) + 5*time.Second }

// counter reads one counter.
type counter func(t *engine.Totals) uint64

// Grown is how much a counter grew within the window, and in which time.
func (h *History) Grown(c counter, window time.Duration) (n uint64, over time.Duration, ok bool) {
	s, ok := h.before(window)
	if !ok {
		return 0, 0, false
	}
	return diff(c(&h.latest.totals), c(&s.totals)), h.latest.at.Sub(s.at), true
}

func diff(now, before uint64) uint64 {
	if now < before {
		return 0
	}
	return now - before
}

// Rate is a counter's growth a second.
func (h *History) Rate(c counter, window time.Duration) (float64, bool) {
	n, over, ok := h.Grown(c, window)
	if !ok {
		return 0, false
	}
	return float64(n) / over.Seconds(), true
}

// trend fills cells with a value for each of the last samples, NaN where there is
// none, and once for a time in which nobody looked.
func (h *History) trend(cells []float64, value func(now, before *sample) float64) []float64 {
	for i := range cells {
		back := len(cells) - 1 - i
		if back+1 >= h.len() {
			cells[i] = math.NaN()
			continue
		}
		now, before := h.at(back), h.at(back+1)
		if cells[i] = math.NaN(); now.at.Sub(before.at) <= h.gap() {
			cells[i] = value(now, before)
		}
	}
	return cells
}

// Rates is trend for a counter.
func (h *History) Rates(cells []float64, c counter) []float64 {
	return h.trend(cells, func(now, before *sample) float64 {
		over := now.at.Sub(before.at).Seconds()
		if over <= 0 {
			return math.NaN()
		}
		return float64(diff(c(&now.totals), c(&before.totals))) / over
	})
}

// Lags is trend for the lag; blank where not as many queues were known as now: an
// outage must not look like a falling lag.
func (h *History) Lags(cells []float64) []float64 {
	return h.trend(cells, func(now, _ *sample) float64 {
		if now.unknown == now.queues || now.unknown != h.latest.unknown {
			return math.NaN()
		}
		return float64(now.lag)
	})
}

// LagSlope is the lag's change a second; not known while the set of known queues
// changes within the window, nor before every member had to commit.
func (h *History) LagSlope() (float64, bool) {
	s, ok := h.before(TrendWindow)
	if !ok || h.latest.at.Sub(s.at) < page.CommitWindow || s.unknown != h.latest.unknown || s.queues != h.latest.queues || s.unknown == s.queues {
		return 0, false
	}
	return float64(h.latest.lag-s.lag) / h.latest.at.Sub(s.at).Seconds(), true
}

// ResponseTime is a quantile of the listener calls within the window as the bound
// it lies below; above is set when it lies above the last bound instead.
func (h *History) ResponseTime(q float64, window time.Duration) (bound time.Duration, above, ok bool) {
	s, ok := h.before(window)
	if !ok {
		return 0, false, false
	}
	return quantile(&h.latest.totals, &s.totals, q)
}

func quantile(now, before *engine.Totals, q float64) (bound time.Duration, above, ok bool) {
	var total uint64
	for i := range now.RT {
		total += diff(now.RT[i], before.RT[i])
	}
	if total == 0 {
		return 0, false, false
	}
	rank := uint64(math.Ceil(q * float64(total)))
	var seen uint64
	for i := range now.RT {
		seen += diff(now.RT[i], before.RT[i])
		if seen >= rank && i < len(engine.RTBounds) {
			return engine.RTBounds[i], false, true
		}
	}
	return engine.RTBounds[len(engine.RTBounds)-1], true, true
}

// responseTimes is trend for a quantile, in steps of the histogram's buckets.
func (h *History) responseTimes(cells []float64, q float64) []float64 {
	return h.trend(cells, func(now, before *sample) float64 {
		bound, above, ok := quantile(&now.totals, &before.totals, q)
		switch {
		case !ok:
			return math.NaN()
		case above:
			return float64(2 * bound)
		}
		return float64(bound)
	})
}

// The counters that are shown.
func Pulled(t *engine.Totals) uint64 { return t.Pulled }

// Consumed counts the messages that were consumed.
func Consumed(t *engine.Totals) uint64     { return t.Consumed }
func failed(t *engine.Totals) uint64       { return t.Failed }
func flowCount(t *engine.Totals) uint64    { return t.FlowCount }
func flowSize(t *engine.Totals) uint64     { return t.FlowSize }
func flowSpan(t *engine.Totals) uint64     { return t.FlowSpan }
func flowUnlocked(t *engine.Totals) uint64 { return t.FlowUnlocked }
func flowBroker(t *engine.Totals) uint64   { return t.FlowBroker }
func flowAll(t *engine.Totals) uint64 {
	return t.FlowCount + t.FlowSize + t.FlowSpan + t.FlowUnlocked + t.FlowBroker
}
