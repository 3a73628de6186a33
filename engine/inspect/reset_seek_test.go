package inspect

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// Wherever the broker's own search ends, the first message at the time is found,
// within a batch of one store time too, and the end for a later time.
func TestSeekTime(t *testing.T) {
	base := time.UnixMilli(1_800_000_000_000)
	// Offsets 5 … 44: two messages a second, then 32 of one batch, then one each second.
	const lo, hi = 5, 45
	seconds := make(map[int64]int64)
	for o := int64(lo); o < hi; o++ {
		switch {
		case o < 9:
			seconds[o] = (o - lo) / 2
		case o < 41:
			seconds[o] = 10
		default:
			seconds[o] = o
		}
	}
	stored := func(o int64) (time.Time, error) {
		s, ok := seconds[o]
		if !ok {
			return time.Time{}, fmt.Errorf("offset %d is not in the queue", o)
		}
		return base.Add(time.Duration(s) * time.Second), nil
	}
	want := func(at time.Time) int64 {
		for o := int64(lo); o < hi; o++ {
			if s, _ := stored(o); !s.Before(at) {
				return o
			}
		}
		return hi
	}
	for _, s := range []int64{-5, 0, 1, 2, 9, 10, 11, 40, 41, 44, 45, 3600} {
		at := base.Add(time.Duration(s) * time.Second)
		for guess := int64(-1); guess <= hi+1; guess++ {
			got, err := seekTime(guess, lo, hi, at, stored)
			if err != nil || got != want(at) {
				t.Fatalf("second %d from guess %d: %d (%v), want %d", s, guess, got, err, want(at))
			}
		}
	}
}

// A good guess costs two looks, an empty queue none, and a failed look is told.
func TestSeekTimeAsksLittle(t *testing.T) {
	base := time.UnixMilli(1_800_000_000_000)
	looks := 0
	stored := func(o int64) (time.Time, error) {
		looks++
		return base.Add(time.Duration(o) * time.Second), nil
	}
	got, err := seekTime(700_000, 0, 1_000_000, base.Add(700_000*time.Second), stored)
	if got != 700_000 || err != nil || looks > 2 {
		t.Errorf("offset %d after %d looks (%v), want 700000 after 2", got, looks, err)
	}
	looks = 0
	if got, _ := seekTime(0, 0, 1_000_000, base.Add(999_000*time.Second), stored); got != 999_000 || looks > 45 {
		t.Errorf("offset %d after %d looks, want 999000 after 45 at most", got, looks)
	}
	looks = 0
	if got, _ := seekTime(48, 48, 48, base, stored); got != 48 || looks > 0 {
		t.Errorf("an empty queue: offset %d after %d looks, want 48 after none", got, looks)
	}
	broken := errors.New("gone")
	if _, err := seekTime(3, 0, 9, base, func(int64) (time.Time, error) { return time.Time{}, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v, want the one of the look", err)
	}
}
