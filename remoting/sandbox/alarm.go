package sandbox

import (
	"container/heap"
	"time"
)

// alarms is what is due later, earliest first; of the same time, in the order in
// which they were set. One timer serves them all, and none runs while there are
// none. An alarm cannot be taken back: what it runs looks whether it still
// applies.
type alarms struct {
	queue alarmQueue
	timer *time.Timer
	set   uint64
}

type alarm struct {
	at  time.Time
	seq uint64
	run func()
}

func newAlarms() *alarms {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &alarms{timer: t}
}

// at has run called at t, on the loop's goroutine.
func (a *alarms) at(t time.Time, run func()) {
	a.set++
	heap.Push(&a.queue, alarm{at: t, seq: a.set, run: run})
	if a.queue[0].seq == a.set {
		a.timer.Reset(time.Until(t))
	}
}

// ring runs everything that is due and sets the timer for the rest.
func (a *alarms) ring() {
	for len(a.queue) > 0 {
		if wait := time.Until(a.queue[0].at); wait > 0 {
			a.timer.Reset(wait)
			return
		}
		heap.Pop(&a.queue).(alarm).run()
	}
}

type alarmQueue []alarm

func (q alarmQueue) Len() int { return len(q) }
func (q alarmQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}
func (q alarmQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *alarmQueue) Push(x any)   { *q = append(*q, x.(alarm)) }
func (q *alarmQueue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = alarm{}
	*q = old[:len(old)-1]
	return last
}
