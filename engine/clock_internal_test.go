package engine

import (
	"testing"
	"time"
	"unsafe"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// stepped is t on a wall clock that was set forward by d, by the same monotonic
// clock: time offers no way to make one.
func stepped(t time.Time, d time.Duration) time.Time {
	if d%time.Second != 0 {
		panic("whole seconds only")
	}
	parts := (*struct {
		wall uint64 // 1 bit: has a monotonic reading, 33 bits: seconds, 30 bits: nanoseconds
		ext  int64
		loc  *time.Location
	})(unsafe.Pointer(&t))
	parts.wall += uint64(int64(d/time.Second) << 30)
	return t
}

var steps = []time.Duration{0, time.Hour, -time.Hour, 24 * time.Hour, -31 * time.Second, 121 * time.Second}

func TestStepped(t *testing.T) {
	now := time.Now()
	for _, d := range steps {
		later := stepped(now.Add(3*time.Second), d)
		if got := later.Sub(now); got != 3*time.Second {
			t.Errorf("by the monotonic clock %v have passed, want 3s", got)
		}
		if got := later.Round(0).Sub(now.Round(0)); got != 3*time.Second+d {
			t.Errorf("by the wall clock %v have passed, want %v", got, 3*time.Second+d)
		}
	}
}

// Whatever the wall clock is set to, times that went through an atomic are as far
// apart as they were.
func TestStampsSurviveAClockStep(t *testing.T) {
	e := &Engine{born: time.Now()}
	for _, d := range steps {
		at := e.born.Add(time.Minute)
		now := stepped(at.Add(29*time.Second), d)
		if got := now.Sub(e.moment(e.stamp(at))); got != 29*time.Second {
			t.Errorf("step %v: %v have passed since the stamp, want 29s", d, got)
		}
		if got := e.stamp(now) - e.stamp(at); got != int64(29*time.Second) {
			t.Errorf("step %v: stamps are %v apart, want 29s", d, time.Duration(got))
		}
	}
	if e.stamp(e.born) == 0 {
		t.Error("the stamp of the beginning is 0, which means none")
	}
}

// A lock neither expires nor lasts longer, and a queue is not judged idle,
// because the wall clock was set.
func TestNothingExpiresByTheWallClock(t *testing.T) {
	e := &Engine{born: time.Now()}
	e.o.MessageModel = protocol.Clustering
	for _, d := range steps {
		asked := e.born.Add(10 * time.Second)
		q := &queue{e: e, clustering: true}
		q.lockedUntil.Store(e.stamp(asked.Add(core.LockMaxLive)))
		if !q.mayRun(stepped(asked.Add(29*time.Second), d)) || core.LockExpired(asked, stepped(asked.Add(29*time.Second), d)) {
			t.Errorf("step %v: the lock has expired after 29 s", d)
		}
		if q.mayRun(stepped(asked.Add(31*time.Second), d)) || !core.LockExpired(asked, stepped(asked.Add(31*time.Second), d)) {
			t.Errorf("step %v: the lock is believed in after 31 s", d)
		}
		mq := MessageQueue{Topic: "T", BrokerName: "b"}
		held := []core.Holding{{MQ: mq, LastPull: e.moment(e.stamp(asked))}}
		if plan := core.PlanRebalance(held, []MessageQueue{mq}, stepped(asked.Add(15*time.Second), d)); len(plan.Drop) != 0 {
			t.Errorf("step %v: a queue pulled 15 s ago is dropped: %+v", d, plan)
		}
		e.asked.Store(e.stamp(asked))
		if !e.watched(stepped(asked.Add(time.Second), d)) || e.watched(stepped(asked.Add(6*time.Second), d)) {
			t.Errorf("step %v: wrong about whether somebody looks", d)
		}
	}
}

// A clock that was set is told, with how far, and brokers are asked at once.
func TestClockStepIsTold(t *testing.T) {
	for _, d := range []time.Duration{time.Hour, -time.Hour} {
		e := &Engine{born: time.Now(), inbox: newMailbox[command]()}
		sub := e.Subscribe(16)
		c := &coordinator{e: e}
		c.nextHeartbeat = e.born.Add(time.Minute)
		now := e.born.Add(20 * time.Second)
		c.checkClock(now)
		c.checkClock(now.Add(5 * time.Second))
		if !c.nextHeartbeat.Equal(e.born.Add(time.Minute)) {
			t.Fatal("a clock that goes right counts as set")
		}
		now = stepped(now.Add(10*time.Second), d)
		c.checkClock(now)
		c.checkClock(now.Add(time.Second)) // told once
		events, _, err := sub.Next(t.Context())
		if err != nil || len(events) != 1 {
			t.Fatalf("events = %+v, %v, want one", events, err)
		}
		if ev, ok := events[0].(ClockStepped); !ok || ev.ByMS != d.Milliseconds() {
			t.Errorf("event = %+v, want clock_stepped by %v", events[0], d)
		}
		if c.nextHeartbeat != now || c.nextRenewal != now {
			t.Error("brokers are not asked at once")
		}
	}
}
