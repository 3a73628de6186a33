package core

import "time"

// Window is one statistic as the reference keeps it (spec/consumer-control.md 9):
// cumulative times and values, sampled. The zero value is ready.
type Window struct {
	times, value int64 // cumulative
	minute, hour samples
}

// windowSize is how many samples a window keeps: six periods and their beginning.
const windowSize = 7

const (
	minutePeriod = 10 * time.Second
	hourPeriod   = 10 * time.Minute
)

type sample struct {
	at           time.Time
	times, value int64
}

// samples are the newest windowSize samples, oldest first.
type samples struct {
	n int
	s [windowSize]sample
}

func (w *samples) add(s sample, period time.Duration) {
	if w.n == 0 {
		w.s[0], w.n = sample{at: s.at.Add(-period)}, 1
	}
	if w.n == windowSize {
		copy(w.s[:], w.s[1:])
		w.n--
	}
	w.s[w.n] = s
	w.n++
}

func (w *samples) figures() Figures {
	if w.n == 0 {
		return Figures{}
	}
	first, last := w.s[0], w.s[w.n-1]
	f := Figures{Sum: last.value - first.value}
	if d := last.at.Sub(first.at); d > 0 {
		f.TPS = float64(f.Sum) / d.Seconds()
	}
	if times := last.times - first.times; times > 0 {
		f.Avg = float64(f.Sum) / float64(times)
	}
	return f
}

// Add counts one occasion with a value.
func (w *Window) Add(value int64) { w.AddN(1, value) }

// AddN counts several occasions at once; value is their sum.
func (w *Window) AddN(times, value int64) {
	w.times += times
	w.value += value
}

// Sample takes a sample; called every 10 s. It keeps the minute's and, every
// 10 minutes (and at the first call), the hour's samples.
func (w *Window) Sample(now time.Time) {
	s := sample{now, w.times, w.value}
	w.minute.add(s, minutePeriod)
	// Half a tick of tolerance: a tick that comes early must not cost ten seconds.
	if w.hour.n == 0 || now.Sub(w.hour.s[w.hour.n-1].at) >= hourPeriod-minutePeriod/2 {
		w.hour.add(s, hourPeriod)
	}
}

// Figures are what a window says.
type Figures struct {
	Sum int64
	TPS float64 // sum a second
	Avg float64 // sum an occasion
}

// Minute covers the last minute's samples; an unsampled window is all zero.
func (w *Window) Minute() Figures { return w.minute.figures() }

// Hour covers the last hour's samples: its newest is up to ten minutes old.
func (w *Window) Hour() Figures { return w.hour.figures() }
