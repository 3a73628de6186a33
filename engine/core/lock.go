package core

import "time"

// The times of the broker's queue lock (docs/conformance/orderly.md 2).
const (
	LockMaxLive = 30 * time.Second // client side: an older lock counts as lost
	LockRenewal = 20 * time.Second
	LockFirst   = time.Second // after the start
	LockRetry   = 3 * time.Second
)

// LockExpired reports whether a lock last granted at t has expired at now.
func LockExpired(t, now time.Time) bool { return now.Sub(t) > LockMaxLive }

// OrderlyState is what DecideOrderly looks at before each run of an orderly queue.
type OrderlyState struct {
	Dropped, Clustering, Locked bool
	LockedAt, Now               time.Time
}

// OrderlyDecision says how an orderly queue goes on.
type OrderlyDecision uint8

// The decisions.
const (
	OrderlyTake   OrderlyDecision = iota + 1
	OrderlyStop                   // dropped
	OrderlyRelock                 // not locked, or expired: ask for the lock, then go on
)

// DecideOrderly applies docs/conformance/orderly.md 3, steps 4a to 4c. Step 4d, that
// a queue gives its worker up after 60 s, is not needed: a run is at most a few
// milliseconds or one listener call long, and the next one waits behind the other
// queues' runs.
func DecideOrderly(s OrderlyState) OrderlyDecision {
	switch {
	case s.Dropped:
		return OrderlyStop
	case s.Clustering && (!s.Locked || LockExpired(s.LockedAt, s.Now)):
		return OrderlyRelock
	}
	return OrderlyTake
}

// OrderlyVerdict is a listener's status for ApplyOrderly.
type OrderlyVerdict uint8

// The verdicts.
const (
	OrderlySuccess OrderlyVerdict = iota + 1
	OrderlyCommit
	OrderlyRollback
	OrderlySuspend
)

// OrderlyAction is what a verdict means.
type OrderlyAction struct {
	Commit   bool // free the consuming part and store its offset
	Rollback bool // put all of it back
	Again    bool // put this batch back
	Suspend  bool // wait before going on
	Continue bool // take the next batch
	OK       bool // count as consumed; else, when Failed, as failed
	Failed   bool
}

// ApplyOrderly applies docs/conformance/orderly.md 5. exhausted: each message of the
// suspended batch has been sent away because its retries are used up. Such a
// batch is committed without auto-commit too, and with it what was taken before:
// Java leaves it stuck in the consuming part (trap T28). A verdict that is none
// is a suspension.
func ApplyOrderly(v OrderlyVerdict, autoCommit, exhausted bool) OrderlyAction {
	if autoCommit && (v == OrderlyCommit || v == OrderlyRollback) {
		v = OrderlySuccess // Java warns and takes it as acknowledged
	}
	switch v {
	case OrderlySuccess:
		return OrderlyAction{Commit: autoCommit, Continue: true, OK: true}
	case OrderlyCommit: // Java does not count it, so that a group that commits by itself shows no progress
		return OrderlyAction{Commit: true, Continue: true, OK: true}
	case OrderlyRollback:
		return OrderlyAction{Rollback: true, Suspend: true}
	}
	if exhausted {
		return OrderlyAction{Commit: true, Continue: true, Failed: true}
	}
	return OrderlyAction{Again: true, Suspend: true, Failed: true}
}
