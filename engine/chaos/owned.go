package main

import (
	"fmt"
	"strings"
	"time"
)

// Window is the time after an event in which no other began.
type Window struct {
	After Event         `json:"after"`
	From  time.Duration `json:"from"`
	To    time.Duration `json:"to"`
	// Owned is how long after From the last queue had an owner again, Queue which;
	// Open says that it had none when the window ended.
	Owned time.Duration `json:"owned"`
	Queue int32         `json:"queue"`
	Open  bool          `json:"open,omitempty"`
	// Late is the queue that had no owner for longest beyond what is allowed; nil:
	// none had. A window that ended before proves nothing.
	Late *LateQueue `json:"late,omitempty"`
}

// LateQueue is a queue that got its owner too late.
type LateQueue struct {
	Queue          int32
	Owned, Allowed time.Duration
}

func (w Window) String() string {
	return fmt.Sprintf("%v (%.1f s to %.1f s)", w.After, w.From.Seconds(), w.To.Seconds())
}

// silence is how long a queue that messages are sent to all the time is silent
// when it has no owner. It has to be above the gap between its messages by far.
const silence = 3 * time.Second

// windows looks at each time without events: how long it took until each queue
// had an owner again, which is the end of its last silence. Messages are sent to
// every queue all the time until the end of the plan.
func windows(l *Ledger, g Group, ds []Delivery, happenings []Happening) (all []Window) {
	byQueue := map[int32][]Delivery{}
	for _, d := range ds {
		if d.Topic == "" {
			byQueue[d.Queue] = append(byQueue[d.Queue], d)
		}
	}
	for i, h := range happenings {
		w := Window{After: h.Event, From: h.Ended, To: l.Plan.Length}
		for j, other := range happenings {
			if i != j && other.Ended > w.From || other.Ended == w.From && j > i { // it lasts longer, or comes later
				w.To = min(w.To, max(other.Began, w.From))
			}
		}
		if w.To-w.From < silence {
			continue
		}
		for q := range l.Queues {
			owned, by, open := ownedAt(byQueue[q], w.From, w.To)
			if owned > w.Owned || open && !w.Open {
				w.Owned, w.Queue, w.Open = owned, q, open
			}
			allowed := allowedFor(l, g, by)
			if late := owned - allowed; late > 0 && (w.Late == nil || late > w.Late.Owned-w.Late.Allowed) {
				w.Late = &LateQueue{q, owned, allowed}
			}
		}
		all = append(all, w)
	}
	return all
}

// allowedFor is how long a queue may be without an owner that by gets then. A Java
// client of 4.9 asks for a lock that it was refused with its next rebalance only.
func allowedFor(l *Ledger, g Group, by string) time.Duration {
	if g == Orderly && l.Plan.Roles[by].Java && strings.HasPrefix(l.Version, "4.") {
		return ownedWithin[g] + javaRebalance
	}
	return ownedWithin[g]
}

// ownedAt is the end of the last silence that touches a window, counted from the
// window's begin, and who ended it; open when it lasts until the window's end.
func ownedAt(ds []Delivery, from, to time.Duration) (owned time.Duration, by string, open bool) {
	last := time.Duration(0)
	for _, d := range ds {
		if d.At >= to {
			break
		}
		if d.At > from && d.At-last >= silence {
			owned, by = d.At-from, d.Member
		}
		last = d.At
	}
	if to-max(last, 0) >= silence {
		return to - from, "", true
	}
	return owned, by, false
}
