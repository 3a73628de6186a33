package inspect

import (
	"testing"
	"time"
)

func TestTrendOf(t *testing.T) {
	at := func(second int, committed, end int64) LagSample {
		return LagSample{At: time.Unix(int64(second), 0), Committed: committed, Max: end, Lag: max(end-committed, 0), Queues: 4}
	}
	tests := map[string]struct {
		samples []LagSample
		word    string
		catchUp time.Duration
	}{
		"nothing seen":           {nil, "not known yet", 0},
		"one look":               {[]LagSample{at(0, 0, 100)}, "not known yet", 0},
		"between two commits":    {[]LagSample{at(0, 0, 100), at(4, 0, 100)}, "not known yet", 0},
		"nobody consumes":        {[]LagSample{at(0, 0, 100), at(10, 0, 200)}, "not moving", 0},
		"nothing comes":          {[]LagSample{at(0, 0, 1000), at(10, 100, 1000)}, "catching up", 90 * time.Second},
		"faster than it comes":   {[]LagSample{at(0, 0, 1000), at(10, 200, 1100)}, "catching up", 90 * time.Second},
		"slower than it comes":   {[]LagSample{at(0, 0, 1000), at(10, 100, 1200)}, "falling behind", 0},
		"as fast as it comes":    {[]LagSample{at(0, 0, 1000), at(10, 1000, 2001)}, "steady", 0},
		"nothing waits":          {[]LagSample{at(0, 90, 100), at(10, 150, 150)}, "caught up", 0},
		"nothing waits or moves": {[]LagSample{at(0, 100, 100), at(10, 100, 100)}, "caught up", 0},
		"reset to the beginning": {[]LagSample{at(0, 900, 1000), at(10, 0, 1000)}, "set back", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := TrendOf(tt.samples)
			if got.Word != tt.word || got.CatchUp != tt.catchUp {
				t.Errorf("TrendOf = %q, %v, want %q, %v", got.Word, got.CatchUp, tt.word, tt.catchUp)
			}
		})
	}
}

// Sums over different queues say nothing of what moved.
func TestKeepSamples(t *testing.T) {
	at := func(second, queues int) LagSample { return LagSample{At: time.Unix(int64(second), 0), Queues: queues} }
	tests := map[string]struct {
		samples []LagSample
		first   int // second of the first that is kept
		n       int
	}{
		"all":               {[]LagSample{at(0, 4), at(2, 4), at(4, 4)}, 0, 3},
		"too old":           {[]LagSample{at(0, 4), at(2, 4), at(302, 4)}, 2, 2},
		"a queue came":      {[]LagSample{at(0, 4), at(2, 4), at(4, 5), at(6, 5)}, 4, 2},
		"one was away once": {[]LagSample{at(0, 4), at(2, 3), at(4, 4)}, 4, 1},
		"the last is new":   {[]LagSample{at(0, 4), at(2, 3)}, 2, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := KeepSamples(tt.samples)
			if len(got) != tt.n || got[0].At.Unix() != int64(tt.first) {
				t.Errorf("KeepSamples kept %d from %v, want %d from second %d", len(got), got[0].At, tt.n, tt.first)
			}
		})
	}
	if got := KeepSamples(nil); len(got) != 0 {
		t.Errorf("KeepSamples of nothing = %v", got)
	}
}
