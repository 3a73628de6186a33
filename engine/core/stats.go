package core

import "time"

// Window is one statistic as the reference keeps it (spec/consumer-control.md 9):
// cumulative times and values, sampled. The zero value is ready.
type Window struct{}

// Add counts one occasion with a value.
func (w *Window) Add(value int64) { panic("todo") }

// AddN counts several occasions at once.
func (w *Window) AddN(times, value int64) { panic("todo") }

// Sample takes a sample; called every 10 s. It keeps the minute's and, every
// 10 minutes, the hour's samples.
func (w *Window) Sample(now time.Time) { panic("todo") }

// Figures are what a window says.
type Figures struct {
	Sum int64
	TPS float64 // sum a second
	Avg float64 // sum an occasion
}

// Minute covers the last minute's samples; an unsampled window is all zero.
func (w *Window) Minute() Figures { panic("todo") }

// Hour covers the last hour's.
func (w *Window) Hour() Figures { panic("todo") }
