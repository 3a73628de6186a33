package main

import (
	"fmt"
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
}

func (w Window) String() string {
	return fmt.Sprintf("%v (%.1f s to %.1f s)", w.After, w.From.Seconds(), w.To.Seconds())
}

// Late reports whether a queue was without an owner for longer than allowed. A
// window that ended before proves nothing.
func (w Window) Late(allowed time.Duration) bool { return w.Owned > allowed }

// silence is how long a queue that messages are sent to all the time is silent
// when it has no owner. It has to be above the gap between its messages by far.
const silence = 3 * time.Second

// windows looks at each time without events: how long it took until each queue
// had an owner again, which is the end of its last silence. Messages are sent to
// every queue all the time until the end of the plan.
func windows(l *Ledger, g Group, ds []Delivery, happenings []Happening) (all []Window) {
	byQueue := map[int32][]time.Duration{}
	for _, d := range ds {
		if d.Topic == "" {
			byQueue[d.Queue] = append(byQueue[d.Queue], d.At)
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
			owned, open := ownedAt(byQueue[q], w.From, w.To)
			if owned > w.Owned || open && !w.Open {
				w.Owned, w.Queue, w.Open = owned, q, open
			}
		}
		all = append(all, w)
	}
	return all
}

// ownedAt is the end of the last silence that touches a window, counted from the
// window's begin; open when it lasts until the window's end.
func ownedAt(at []time.Duration, from, to time.Duration) (owned time.Duration, open bool) {
	last := time.Duration(0)
	for _, t := range at {
		if t >= to {
			break
		}
		if t > from && t-last >= silence {
			owned = t - from
		}
		last = t
	}
	if to-max(last, 0) >= silence {
		return to - from, true
	}
	return owned, false
}
