package core

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// docs/conformance/control.md 9.
func TestWindow(t *testing.T) {
	t0 := time.UnixMilli(1_000_000_000)
	var w Window
	w.Sample(Minute, t0.Add(-time.Minute)) // before its first occasion
	w.Add(5)
	if got := w.Figures(Minute); got != (Figures{}) {
		t.Errorf("unsampled minute = %+v, want zeros", got)
	}
	w.AddN(3, 25)
	w.Sample(Minute, t0) // preceded by a zero sample ten seconds before
	w.Sample(Hour, t0)   // … ten minutes before
	w.Sample(Day, t0)    // … an hour before
	for span, tps := range map[Span]float64{Minute: 3, Hour: 0.05, Day: 30.0 / 3600} {
		if diff := cmp.Diff(Figures{Sum: 30, TPS: tps, Avg: 7.5}, w.Figures(span)); diff != "" {
			t.Errorf("first sample of span %d (-want +got):\n%s", span, diff)
		}
	}
	// Six more samples: the first sixty seconds have left the minute by then.
	for i := 1; i <= 6; i++ {
		w.AddN(1, 10)
		w.Sample(Minute, t0.Add(time.Duration(i)*10*time.Second))
	}
	if diff := cmp.Diff(Figures{Sum: 60, TPS: 1, Avg: 10}, w.Figures(Minute)); diff != "" {
		t.Errorf("after a minute (-want +got):\n%s", diff)
	}
	// A late sample makes the divisor larger.
	w.Sample(Minute, t0.Add(2*time.Minute))
	if diff := cmp.Diff(Figures{Sum: 50, TPS: 50.0 / 110, Avg: 10}, w.Figures(Minute)); diff != "" {
		t.Errorf("after a late sample (-want +got):\n%s", diff)
	}
	for i := range 7 {
		w.Sample(Minute, t0.Add(2*time.Minute+time.Duration(i+1)*10*time.Second))
	}
	if diff := cmp.Diff(Figures{}, w.Figures(Minute)); diff != "" {
		t.Errorf("idle minute (-want +got):\n%s", diff)
	}
	if got := w.Figures(Hour).Sum; got != 30 {
		t.Errorf("hour = %d, want the 30 of its only sample", got)
	}
}

// The day keeps 25 samples: the last one covers 24 hours.
func TestWindowDay(t *testing.T) {
	now := time.UnixMilli(1_000_000_000)
	var w Window
	for range 40 {
		w.Add(3600)
		w.Sample(Day, now)
		now = now.Add(time.Hour)
	}
	if diff := cmp.Diff(Figures{Sum: 24 * 3600, TPS: 1, Avg: 3600}, w.Figures(Day)); diff != "" {
		t.Errorf("day (-want +got):\n%s", diff)
	}
}

// A clock that was set back gives no rate; Java's is negative.
func TestWindowClockSetBack(t *testing.T) {
	now := time.UnixMilli(1_000_000_000)
	var w Window
	w.Add(10)
	w.Sample(Minute, now)
	w.Add(10)
	w.Sample(Minute, now.Add(-time.Hour))
	if diff := cmp.Diff(Figures{Sum: 20, Avg: 10}, w.Figures(Minute)); diff != "" {
		t.Errorf("after the clock was set back (-want +got):\n%s", diff)
	}
}

// What the Java client's statistics say; testdata/stats.md tells how it was recorded.
func TestWindowLikeJava(t *testing.T) {
	file, err := os.Open("testdata/stats.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	histories, samples := 0, 0
	for lines.Scan() {
		var steps []struct {
			At, Value, Times int64
			Sample           Span
			Says             [][3]float64
		}
		if err := json.Unmarshal(lines.Bytes(), &steps); err != nil {
			t.Fatal(err)
		}
		var w Window
		for i, s := range steps {
			if s.Says == nil {
				w.AddN(s.Times, s.Value)
				continue
			}
			w.Sample(s.Sample, time.UnixMilli(s.At))
			var got [][3]float64
			for _, span := range []Span{Minute, Hour, Day} {
				f := w.Figures(span)
				got = append(got, [3]float64{float64(f.Sum), f.TPS, f.Avg})
			}
			if fmt.Sprint(got) != fmt.Sprint(s.Says) {
				t.Fatalf("history %d, step %d: got %v, want %v", histories+1, i+1, got, s.Says)
			}
			samples++
		}
		histories++
	}
	if lines.Err() != nil || histories != 48 || samples < 500 {
		t.Errorf("%d histories with %d samples, %v; want 48 with more than 500", histories, samples, lines.Err())
	}
}
