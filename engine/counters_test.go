package engine

import (
	"slices"
	"testing"
	"time"

	"eyeq/engine/core"
)

// Spans are sampled at a fixed rate from the start on, however late one comes;
// ticks that were slept through are not made up for.
func TestSamplerKeepsItsRate(t *testing.T) {
	start := time.UnixMilli(1_000_000_000)
	var s sampler
	s.begin(start)
	for _, tt := range []struct {
		after time.Duration
		want  []core.Span
	}{
		{9 * time.Second, nil},
		{10 * time.Second, []core.Span{core.Minute}},
		{10 * time.Second, nil},
		{23 * time.Second, []core.Span{core.Minute}}, // three seconds late
		{29 * time.Second, nil},
		{30 * time.Second, []core.Span{core.Minute}}, // not at 33
		{10*time.Minute + time.Second, []core.Span{core.Minute, core.Hour}},
		{10*time.Minute + 5*time.Second, nil}, // one for those that were missed
		{10*time.Minute + 10*time.Second, []core.Span{core.Minute}},
		{3 * time.Hour, []core.Span{core.Minute, core.Hour, core.Day}},
		{3*time.Hour + 9*time.Second, nil},
		{3*time.Hour + 10*time.Second, []core.Span{core.Minute}},
		{3*time.Hour + 10*time.Minute, []core.Span{core.Minute, core.Hour}},
		{4 * time.Hour, []core.Span{core.Minute, core.Hour, core.Day}},
	} {
		if got := s.due(start.Add(tt.after)); !slices.Equal(got, tt.want) {
			t.Errorf("due %v after the start: %v, want %v", tt.after, got, tt.want)
		}
	}
}
