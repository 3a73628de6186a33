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
	Kind   ResetKind
	Time   time.Time // ResetTime
	Offset int64     // ResetOffset: the offset; ResetShift: by how much
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
// does and to how many messages.
func PlanReset(b ResetBounds, t ResetTarget) (after int64, effect ResetEffect, count int64) {
	panic("todo")
}
