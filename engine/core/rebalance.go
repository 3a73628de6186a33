package core

import (
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// PullExpired is how long a queue may go without a pull attempt (Java: PULL_MAX_IDLE_TIME).
const PullExpired = 120 * time.Second

// Holding is a queue that the engine has.
type Holding struct {
	MQ       protocol.MessageQueue
	Dropped  bool      // being given away
	LastPull time.Time // last pull attempt; zero: none was due yet
}

// DropCause says why a queue is given away.
type DropCause uint8

// The causes.
const (
	DropUnassigned DropCause = iota + 1
	DropPullExpired
	DropUnsubscribed
	DropShutdown
)

// String gives the name used in events.
func (c DropCause) String() string {
	return [...]string{"none", "unassigned", "pull_expired", "unsubscribed", "shutdown"}[c]
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
// kept queue whose pull has expired is dropped and waited for: taken anew beside
// its old self, it would run two listeners at once. A queue may occur in have twice, being given away and held anew.
func PlanRebalance(have []Holding, want []protocol.MessageQueue, now time.Time) RebalancePlan {
	wanted := make(map[protocol.MessageQueue]bool, len(want))
	for _, mq := range want {
		wanted[mq] = true
	}
	held := make(map[protocol.MessageQueue]bool, len(have))
	var p RebalancePlan
	for _, h := range have {
		if h.Dropped || held[h.MQ] {
			continue
		}
		held[h.MQ] = true
		switch {
		case !wanted[h.MQ]:
			p.Drop = append(p.Drop, Drop{h.MQ, DropUnassigned})
		case !h.LastPull.IsZero() && now.Sub(h.LastPull) > PullExpired:
			p.Drop = append(p.Drop, Drop{h.MQ, DropPullExpired})
			p.Wait = append(p.Wait, h.MQ)
		default:
			p.Keep = append(p.Keep, h.MQ)
		}
	}
	leaving := make(map[protocol.MessageQueue]bool)
	for _, h := range have {
		if h.Dropped {
			leaving[h.MQ] = true
		}
	}
	for mq := range wanted {
		switch {
		case held[mq]:
		case leaving[mq]:
			p.Wait = append(p.Wait, mq)
		default:
			p.Add = append(p.Add, mq)
		}
	}
	slices.SortFunc(p.Add, protocol.CompareMessageQueues)
	slices.SortFunc(p.Keep, protocol.CompareMessageQueues)
	slices.SortFunc(p.Wait, protocol.CompareMessageQueues)
	slices.SortFunc(p.Drop, func(a, b Drop) int { return protocol.CompareMessageQueues(a.MQ, b.MQ) })
	return p
}

// MembersView decides whether to believe a member list (trap T40): a list without
// ourselves is believed only the second time in a row.
// The zero value is ready; one topic has one.
type MembersView struct {
	missing bool // self was missing from the last list
}

// RestartGrace is how long a broker that was away gets until its members, which dial
// it again after up to 5 s, have sent it a heartbeat.
const RestartGrace = 8 * time.Second

// Returning reports whether a broker that has come back so long ago may still miss
// members: some of the last list have not come back to it yet. To take over their
// queues would give each queue two owners for a moment, and start it from offsets
// that a killed broker has forgotten. A list with somebody new is from a broker that
// has gone on while this client was away: who is missing in it has left.
func Returning(last, members []string, back time.Duration) bool {
	return back < RestartGrace && lacks(members, last) && !lacks(last, members)
}

// lacks reports whether a list does not have all that another one names.
func lacks(list, named []string) bool {
	return slices.ContainsFunc(named, func(m string) bool { return !slices.Contains(list, m) })
}

// Believe returns whether to allocate by members. self missing for the first time:
// false, and the caller heartbeats and asks again soon.
func (v *MembersView) Believe(members []string, self string) bool {
	before := v.missing
	v.missing = !slices.Contains(members, self)
	return !v.missing || before
}
