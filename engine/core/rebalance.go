package core

import (
	"time"

	"eyeq/remoting/protocol"
)

// PullExpired is how long a queue may go without a pull attempt (Java: PULL_MAX_IDLE_TIME).
const PullExpired = 120 * time.Second

// Holding is a queue that the engine has.
type Holding struct {
	MQ       protocol.MessageQueue
	Dropped  bool // being given away
	LastPull time.Time
}

// DropCause says why a queue is given away.
type DropCause uint8

// The causes.
const (
	DropUnassigned DropCause = iota + 1
	DropPullExpired
	DropUnsubscribed
	DropOffsetIllegal
	DropReset
	DropShutdown
)

// String gives the name used in events.
func (c DropCause) String() string {
	return [...]string{"none", "unassigned", "pull_expired", "unsubscribed", "offset_illegal", "reset", "shutdown"}[c]
}

// Drop is one queue to give away.
type Drop struct {
	MQ    protocol.MessageQueue
	Cause DropCause
}

// RebalancePlan is what a new allocation asks for. Queues are sorted.
type RebalancePlan struct {
	Add  []protocol.MessageQueue
	Drop []Drop
	Keep []protocol.MessageQueue
	// Wait are wanted queues still being given away: they are taken when that is
	// finished (trap T05).
	Wait []protocol.MessageQueue
}

// Changed reports whether the plan does anything.
func (p *RebalancePlan) Changed() bool { return len(p.Add)+len(p.Drop) > 0 }

// PlanRebalance compares what the engine has of one topic with what it wants. A
// kept queue whose pull has expired is dropped and added again.
func PlanRebalance(have []Holding, want []protocol.MessageQueue, now time.Time) RebalancePlan {
	panic("todo")
}

// MembersView decides whether to believe a member list (trap T40): a list without
// ourselves is believed only the second time in a row.
type MembersView struct{}

// Believe returns whether to allocate by members. self missing for the first time:
// false, and the caller heartbeats and asks again soon.
func (v *MembersView) Believe(members []string, self string) bool { panic("todo") }
