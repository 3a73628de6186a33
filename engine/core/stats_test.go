package core

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// spec/consumer-control.md 9.
func TestWindow(t *testing.T) {
	t0 := time.UnixMilli(1_000_000_000)
	var w Window
	w.Add(5)
	if got := w.Minute(); got != (Figures{}) {
		t.Errorf("unsampled Minute() = %+v, want zeros", got)
	}
	w.AddN(3, 25)
	w.Sample(t0) // preceded by a zero sample ten seconds before
	if diff := cmp.Diff(Figures{Sum: 30, TPS: 3, Avg: 7.5}, w.Minute()); diff != "" {
		t.Errorf("first Minute() (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Figures{Sum: 30, TPS: 0.05, Avg: 7.5}, w.Hour()); diff != "" {
		t.Errorf("first Hour() (-want +got):\n%s", diff)
	}
	// Six more samples: the first sixty seconds have left the minute by then.
	for i := 1; i <= 6; i++ {
		w.AddN(1, 10)
		w.Sample(t0.Add(time.Duration(i) * 10 * time.Second))
	}
	if diff := cmp.Diff(Figures{Sum: 60, TPS: 1, Avg: 10}, w.Minute()); diff != "" {
		t.Errorf("Minute() after a minute (-want +got):\n%s", diff)
	}
	// A late sample makes the divisor larger.
	w.Sample(t0.Add(2 * time.Minute))
	if diff := cmp.Diff(Figures{Sum: 50, TPS: 50.0 / 110, Avg: 10}, w.Minute()); diff != "" {
		t.Errorf("Minute() after a late sample (-want +got):\n%s", diff)
	}
	for i := range 7 {
		w.Sample(t0.Add(2*time.Minute + time.Duration(i+1)*10*time.Second))
	}
	if diff := cmp.Diff(Figures{}, w.Minute()); diff != "" {
		t.Errorf("idle Minute() (-want +got):\n%s", diff)
	}
}

func TestWindowHour(t *testing.T) {
	now := time.UnixMilli(1_000_000_000)
	var w Window
	for range 90 * 6 { // ninety minutes of ticks that jitter by a second
		w.Add(1)
		w.Sample(now)
		now = now.Add(10 * time.Second)
		if w.times%2 == 0 {
			now = now.Add(-time.Second)
		} else {
			now = now.Add(time.Second)
		}
	}
	got := w.Hour()
	if got.Sum < 355 || got.Sum > 365 || got.TPS < 0.098 || got.TPS > 0.102 || got.Avg != 1 {
		t.Errorf("Hour() = %+v, want some 360 at 0.1 a second", got)
	}
}
