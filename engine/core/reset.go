package core

import "time"

// ResetKind says what a reset's target is measured by.
type ResetKind uint8

// The kinds.
const (
	ResetEarliest ResetKind = iota + 1
	ResetLatest
	ResetTime
	ResetOffset
	ResetShift
)

// ResetTarget is where a reset goes to.
type ResetTarget struct {
	Kind ResetKind
	Time time.Time // ResetTime
	// Offset is the offset of ResetOffset, or by how much ResetShift moves the
	// committed offset (the minimum, when nothing is committed).
	Offset int64
}

// ResetEffect says what a reset does to a queue's messages.
type ResetEffect uint8

// The effects.
const (
	EffectNone   ResetEffect = iota + 1
	EffectReplay             // delivered again
	EffectSkip               // never delivered to this group
	EffectGone               // the committed offset is below the minimum: already expired
)

// String gives the name used in JSON; the screen shows SKIP and GONE in capitals.
func (e ResetEffect) String() string { return [...]string{"", "none", "replay", "skip", "gone"}[e] }

// ResetBounds are what is known of a queue before its reset. Committed is -1
// when nothing is committed; ByTime is the offset the broker found for the target time.
type ResetBounds struct{ Committed, Min, Max, ByTime int64 }

// PlanReset gives the offset a queue goes to, always within Min … Max, what that
// does and to how many messages that are still stored (offsets; gone: that were).
// With nothing committed it is what it does to a group that has read nothing:
// going beyond the minimum skips.
func PlanReset(b ResetBounds, t ResetTarget) (after int64, effect ResetEffect, count int64) {
	before := b.Committed
	if before < 0 {
		before = b.Min
	}
	switch t.Kind {
	case ResetEarliest:
		after = b.Min
	case ResetLatest:
		after = b.Max
	case ResetTime:
		after = b.ByTime
	case ResetOffset:
		after = t.Offset
	case ResetShift:
		after = before + t.Offset
		if t.Offset > 0 && after < before { // overflow
			after = b.Max
		}
	default:
		after = before
	}
	after = max(b.Min, min(after, b.Max))
	switch {
	case after < before:
		if count = min(before, b.Max) - after; count > 0 {
			return after, EffectReplay, count
		}
		return after, EffectNone, 0 // the committed offset was beyond the end
	case after > max(before, b.Min):
		return after, EffectSkip, after - max(before, b.Min)
	case after > before:
		return after, EffectGone, after - before
	}
	return after, EffectNone, 0
}
