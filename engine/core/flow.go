package core

import "time"

// FlowTracker turns single hits of a limit into conditions with a beginning and
// an end. The zero value is ready; one queue has one.
type FlowTracker struct {
	current FlowCondition // Cause is FlowNone when none is in force
}

// FlowCondition is a flow control in force or ended.
type FlowCondition struct {
	Cause        FlowCause
	Limit, Value int64 // Value is the highest seen
	Times        int64
	Since        time.Time
	Last         time.Time // last hit
}

// Hit notes that a pre-check failed (or a broker answered 215). began is set
// when a condition begins; ended when a condition ended by it: one of another
// cause, or the same one after a quiet time that no Tick has noticed.
func (f *FlowTracker) Hit(now time.Time, cause FlowCause, limit, value int64) (began, ended *FlowCondition) {
	ended = f.Tick(now)
	if c := f.current; ended == nil && c.Cause != FlowNone && c.Cause != cause {
		ended = &c
	}
	if f.current.Cause != cause {
		f.current = FlowCondition{Cause: cause, Limit: limit, Value: value, Times: 1, Since: now, Last: now}
		c := f.current
		return &c, ended
	}
	f.current.Limit, f.current.Value = limit, max(f.current.Value, value)
	f.current.Times++
	f.current.Last = now
	return nil, ended
}

// Tick ends a condition that was not hit for its quiet time (see EndsAt).
func (f *FlowTracker) Tick(now time.Time) (ended *FlowCondition) {
	if f.current.Cause == FlowNone || now.Before(f.EndsAt()) {
		return nil
	}
	c := f.current
	f.current = FlowCondition{}
	return &c
}

// Current is the condition in force; ok is false when there is none.
func (f *FlowTracker) Current() (FlowCondition, bool) { return f.current, f.current.Cause != FlowNone }

// EndsAt is when Tick has to be called next; zero when nothing is in force.
func (f *FlowTracker) EndsAt() time.Time {
	switch f.current.Cause {
	case FlowNone:
		return time.Time{}
	case FlowOrderlyUnlocked:
		// It is looked at once a second only: without the addition it would seem to
		// end before each second look.
		return f.current.Last.Add(PullDelayException + FlowQuiet)
	}
	return f.current.Last.Add(FlowQuiet)
}
