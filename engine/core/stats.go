package core

import "time"

// Span is one of the stretches of time that statistics look back over
// (docs/conformance/control.md 9).
type Span uint8

// The spans. Each keeps its samples and the one before them.
const (
	Minute Span = iota // every 10 s, 7 samples
	Hour               // every 10 min, 7 samples
	Day                // every hour, 25 samples
	spans
)

// Period is how often a span is sampled.
func (s Span) Period() time.Duration {
	return [...]time.Duration{10 * time.Second, 10 * time.Minute, time.Hour}[s]
}

func (s Span) kept() int { return [...]int{7, 7, 25}[s] }

// Window is one statistic as the reference keeps it: cumulative times and
// values, sampled. The zero value is ready. As in the reference it begins with
// its first occasion: what is sampled before is no sample.
type Window struct {
	times, value int64 // cumulative
	samples      [spans][]sample
}

// sample is one look at a window's sums, at milliseconds since 1970: the
// reference divides by these.
type sample struct{ at, times, value int64 }

// Add counts one occasion with a value.
func (w *Window) Add(value int64) { w.AddN(1, value) }

// AddN counts several occasions at once; value is their sum.
func (w *Window) AddN(times, value int64) {
	w.times += times
	w.value += value
}

// Sample takes a sample of one span, which is due every Period. One that comes
// late makes the figures' divisor larger, not their sum. The first is preceded
// by a sample of zero, one period earlier.
func (w *Window) Sample(s Span, now time.Time) {
	if w.times == 0 {
		return
	}
	at, kept := now.UnixMilli(), w.samples[s]
	if len(kept) == 0 {
		kept = append(make([]sample, 0, s.kept()), sample{at: at - s.Period().Milliseconds()})
	}
	if len(kept) == s.kept() {
		kept = kept[:copy(kept, kept[1:])]
	}
	w.samples[s] = append(kept, sample{at, w.times, w.value})
}

// Figures are what a window says.
type Figures struct {
	Sum int64
	TPS float64 // sum a second
	Avg float64 // sum an occasion
}

// Figures covers the samples of one span; without any, all is zero.
func (w *Window) Figures(s Span) Figures {
	kept := w.samples[s]
	if len(kept) == 0 {
		return Figures{}
	}
	first, last := kept[0], kept[len(kept)-1]
	f := Figures{Sum: last.value - first.value}
	if d := last.at - first.at; d > 0 { // a clock may have been set back: Java answers a negative rate then
		f.TPS = float64(f.Sum) * 1000 / float64(d)
	}
	if times := last.times - first.times; times > 0 {
		f.Avg = float64(f.Sum) / float64(times)
	}
	return f
}
