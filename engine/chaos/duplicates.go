package main

import (
	"fmt"
	"time"
)

// Duplicate is a copy that came again.
type Duplicate struct {
	Before Delivery `json:"before"`
	Again  Delivery `json:"again"`
	Cause  string   `json:"cause"`
}

func (d Duplicate) String() string {
	return fmt.Sprintf("queue %d, offset %d: to %s at %.3f s, again to %s at %.3f s", d.Again.Queue, d.Again.Offset,
		d.Before.Member, d.Before.At.Seconds(), d.Again.Member, d.Again.At.Seconds())
}

// unexplained is the cause of a duplicate that has none.
const unexplained = "UNEXPLAINED"

// What may be lost with a process: commits are written every five seconds, by the
// broker to its file too. margin is for what takes a moment on a busy machine.
const (
	persistPeriod = 5 * time.Second
	flushPeriod   = 5 * time.Second
	margin        = 2 * time.Second
	// A Java member writes no commit in the first ten seconds of its life.
	javaFirstPersist = 10 * time.Second
	// A member that was cut off, or whose broker was away, tries each second to be one
	// again. A Java member may wait for its next heartbeat (30 s), and for its next
	// rebalance (20 s) to see others come back.
	comeback     = 15 * time.Second
	javaComeback = 50 * time.Second
)

// settled is how long after an event the group has found itself again.
func settled(l *Ledger) time.Duration {
	for _, r := range l.Plan.Roles {
		if r.Java {
			return javaComeback
		}
	}
	return comeback
}

// duplicates finds copies that came again and says why.
func duplicates(l *Ledger, g Group, ds []Delivery, happenings []Happening) (found []Duplicate) {
	earlier := map[place][]Delivery{}
	last := map[int32]map[string]Delivery{} // of each member, by queue
	for _, d := range ds {
		if d.Topic != "" {
			// Sent back to the broker by somebody whose listener accepts everything.
			found = append(found, Duplicate{d, d, unexplained})
			continue
		}
		at := place{d.Queue, d.Offset}
		before := earlier[at]
		earlier[at] = append(before, d)
		if last[d.Queue] == nil {
			last[d.Queue] = map[string]Delivery{}
		}
		if len(before) > 0 {
			dup := Duplicate{before[len(before)-1], d, unexplained}
			for i := len(before) - 1; i >= 0; i-- {
				open := last[d.Queue][before[i].Member] == before[i]
				if cause := explain(l, g, before[i], d, open, happenings); cause != unexplained {
					dup.Before, dup.Cause = before[i], cause
					break
				}
			}
			found = append(found, dup)
		}
		last[d.Queue][d.Member] = d
	}
	return found
}

// explain finds the event because of which a copy that was delivered before came
// again. An event explains it only when it touches one of the two members, or the
// broker, and lies where it can have lost the commit or doubled the owner.
//
// Two duplicates need no violent event, only a queue that changes hands, and both
// are the Java client's. A concurrent one does not wait for its running listeners
// when it gives a queue away, nor for the commit of the one whose queue it takes.
// An orderly one waits, but does not commit what the call it has waited for has
// done: open says that it was the last one that the member got from the queue. The
// next owner may be itself again.
func explain(l *Ledger, g Group, before, again Delivery, open bool, happenings []Happening) string {
	java := func(d Delivery) bool { return l.Plan.Roles[d.Member].Java }
	handover, broker := false, false
	after := settled(l)
	for _, h := range happenings {
		// Not one that was later than both, nor one after which every queue has had an
		// owner for long: what that had not seen as committed it has delivered.
		if again.At+skew < h.Began || again.At > h.Ended+after+ownedWithin[g] {
			continue
		}
		switch h.Event.Kind {
		case Kill:
			if h.Event.Member == before.Member && before.At+unpersisted(l, before.Member, h.Began, happenings) >= h.Began {
				return "killed before it had committed"
			}
		case Freeze, Cut, Stall:
			if why := parted(before, again, h, h.Ended+after); why != "" {
				return why
			}
		case BrokerKill:
			broker = broker || before.At+persistPeriod+flushPeriod+margin >= h.Began && before.At <= h.Ended+after
		}
		if before.At <= h.Ended+after && h.Event.Kind != Freeze && h.Event.Kind != Stall {
			handover = true
		}
	}
	switch { // what touches one of the two goes before what touches everybody
	case broker:
		return "the broker was killed before it had saved commits"
	case handover && g == Concurrent && (java(before) || java(again)):
		return "handed over by or to a Java member"
	case handover && g == Orderly && java(before) && open:
		return "given away by a Java member during its last call"
	}
	return unexplained
}

// unpersisted is how old a delivery may be that a member had not committed when
// it was killed.
func unpersisted(l *Ledger, member string, killed time.Duration, happenings []Happening) time.Duration {
	if l.Plan.Roles[member].Java {
		for _, h := range happenings {
			if h.Event.Kind == Join && h.Event.Member == member && killed-h.Began < javaFirstPersist+persistPeriod {
				return javaFirstPersist + margin
			}
		}
	}
	return persistPeriod + margin
}

// parted explains a duplicate by one of the two members having been apart from
// the others: what it had not committed before goes to the next owner, and what
// it had cached it delivers too, until it knows. over is when it is one of them again.
func parted(before, again Delivery, h Happening, over time.Duration) string {
	words := map[Kind]string{Freeze: "frozen", Cut: "cut off", Stall: "cut off"}[h.Event.Kind]
	switch {
	case h.Event.Member == before.Member && before.At+persistPeriod+margin >= h.Began && before.At <= over:
		return words + " before it had committed"
	case h.Event.Member == again.Member && before.At+margin >= h.Began && again.At <= over:
		return words + ", delivered what another had taken over"
	}
	return ""
}
