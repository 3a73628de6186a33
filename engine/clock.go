package engine

import "time"

// A wall clock may be set at any time, by hand or by NTP, forwards or backwards.
// What the engine waits for and measures goes by the monotonic clock, which every
// time.Time carries that comes from time.Now. An integer of unix nanoseconds does
// not: hence stamps for what is kept in atomics.

// stamp is a time as nanoseconds since the engine was made, by the monotonic
// clock. It is never 0, which stands for "none".
func (e *Engine) stamp(t time.Time) int64 { return max(int64(t.Sub(e.born)), 1) }

// moment is the time of a stamp.
func (e *Engine) moment(stamp int64) time.Time { return e.born.Add(time.Duration(stamp)) }

// clockSlack is by how much the wall clock may part from the monotonic one between
// two looks before it counts as set; NTP slews it by less.
const clockSlack = time.Second

// checkClock notices that the wall clock was set. Nothing here goes by it, so it
// is only told, but the host may have slept meanwhile, which no monotonic clock
// counts: brokers are asked at once whether this client is still a member and
// has its locks.
func (c *coordinator) checkClock(now time.Time) {
	born := c.e.born
	ahead := now.Round(0).Sub(born.Round(0)) - now.Sub(born)
	step := ahead - c.ahead
	c.ahead = ahead
	if step.Abs() < clockSlack {
		return
	}
	c.e.events.publish(ClockStepped{At{Time: now}, step.Milliseconds()})
	c.nextHeartbeat, c.nextRenewal = now, now
}
