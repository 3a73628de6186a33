package core

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The checks of lite pull in their order (docs/conformance/control.md 8): each case
// fails its check and all later ones.
func TestDecidePullMode(t *testing.T) {
	limits := PullModeLimits{All: 10000, Limits: Limits{Count: 1000, SizeMiB: 100, Span: 2000}}
	over := CacheStats{Count: 1001, PinnedBytes: 101 << 20, Span: 2001}
	tests := map[string]struct {
		s    PullModeState
		want PullDecision
	}{
		"paused":  {PullModeState{Paused: true, Dropped: true, All: 10001, Cache: over}, PullDecision{Reason: PullPaused, After: time.Second}},
		"dropped": {PullModeState{Dropped: true, All: 10001, Cache: over}, PullDecision{Reason: PullDropped}},
		"all": {PullModeState{All: 10001, Cache: over},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowCount, Limit: 10000, Value: 10001}},
		"count": {PullModeState{All: 10000, Cache: over},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowCount, Limit: 1000, Value: 1001}},
		"size": {PullModeState{Cache: CacheStats{Count: 1000, PinnedBytes: 101 << 20, Span: 2001}},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowSize, Limit: 100, Value: 101}},
		"span": {PullModeState{Cache: CacheStats{PinnedBytes: 101<<20 - 1, Span: 2001}},
			PullDecision{Reason: PullFlow, After: 50 * time.Millisecond, Cause: FlowSpan, Limit: 2000, Value: 2001}},
		"none": {PullModeState{All: 10000, Cache: CacheStats{Count: 1000, Span: 2000}}, PullDecision{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, DecidePullMode(tt.s, limits)); diff != "" {
				t.Errorf("DecidePullMode(%+v) (-want +got):\n%s", tt.s, diff)
			}
		})
	}
}

// Whatever the guess, the first offset that is not before the time is found, and
// near a good guess with few looks.
func TestFirstAtOrAfter(t *testing.T) {
	for _, bounds := range [][2]int64{{0, 0}, {0, 1}, {5, 5}, {5, 12}, {0, 1000}, {1 << 40, 1<<40 + 64}} {
		lo, hi := bounds[0], bounds[1]
		for want := lo; want <= hi; want += max(1, (hi-lo)/23) {
			for guess := lo - 3; guess <= hi+3; guess += max(1, (hi-lo)/17) {
				looks := 0
				got, err := FirstAtOrAfter(lo, hi, guess, func(offset int64) (bool, error) {
					if looks++; offset < lo || offset >= hi {
						t.Fatalf("%d to %d: looked at %d", lo, hi, offset)
					}
					return offset < want, nil
				})
				if err != nil || got != want {
					t.Errorf("%d to %d, guess %d: got %d, %v, want %d", lo, hi, guess, got, err, want)
				}
				if near := max(guess-want, want-guess) <= 1; near && looks > 4 || looks > 22 {
					t.Errorf("%d to %d, guess %d, want %d: %d looks", lo, hi, guess, want, looks)
				}
			}
		}
	}
	broken := errors.New("no")
	if _, err := FirstAtOrAfter(0, 9, 4, func(int64) (bool, error) { return false, broken }); !errors.Is(err, broken) {
		t.Errorf("error = %v, want that of the look", err)
	}
}
