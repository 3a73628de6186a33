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

// at has run called at t, on the loop's goroutine. All alarms' times come from
// loop.now, so that they compare by one clock.
func (a *alarms) at(t time.Time, run func()) {
	a.set++
	heap.Push(&a.queue, alarm{at: t, seq: a.set, run: run})
	if a.queue[0].seq == a.set {
		a.timer.Reset(time.Until(t))
	}
}

// ring runs everything that is due by now, which is what those that run take for
// the time too: an alarm that finds itself early sets itself anew, and would do so
// for ever if the clock went on meanwhile.
func (a *alarms) ring(now time.Time) {
	for len(a.queue) > 0 {
		if next := a.queue[0].at; next.After(now) {
			a.timer.Reset(time.Until(next))
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
