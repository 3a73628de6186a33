package core

import (
	"time"

	"eyeq/remoting/protocol"
)

// FlowCause says which limit stops pulling.
type FlowCause uint8

// The causes.
const (
	FlowNone FlowCause = iota
	FlowCount
	FlowSize
	FlowSpan
	FlowOrderlyUnlocked
	FlowBroker
)

// String gives the name used in events.
func (c FlowCause) String() string {
	return [...]string{"none", "count", "size", "span", "orderly_unlocked", "broker"}[c]
}

// MarshalText gives the name used in events.
func (c FlowCause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// The delays before a pull is tried again (spec/consumer-pull.md 3).
const (
	PullDelayFlowControl       = 50 * time.Millisecond
	PullDelayBrokerFlowControl = 20 * time.Millisecond
	PullDelaySuspend           = time.Second
	PullDelayException         = time.Second
	// FlowQuiet is how long a cause must not be hit, beyond its own delay where that
	// is longer than 50 ms, before its flow control has ended.
	FlowQuiet = time.Second
)

// Limits are the thresholds of flow control.
type Limits struct {
	Count   int64 // messages
	SizeMiB int64
	Span    int64 // offsets, concurrent only
}

// PullState is what DecidePull looks at.
type PullState struct {
	Dropped     bool
	Running     bool // the consumer's state
	Paused      bool // consumer or queue
	Orderly     bool
	Clustering  bool
	Locked      bool // orderly: by the broker, and not expired
	OffsetKnown bool // orderly, both models: the start offset was read again since the lock was gained
	Subscribed  bool
	Cache       CacheStats
}

// PullReason says why a pull was not made.
type PullReason uint8

// The reasons, in the order of the pre-checks.
const (
	PullNow PullReason = iota
	PullDropped
	PullNotRunning
	PullPaused
	PullFlow       // see Cause
	PullReadOffset // orderly: read the start offset first
	PullNoSubscription
)

// PullDecision says what to do next for a queue.
type PullDecision struct {
	Reason PullReason
	After  time.Duration // ask again after this; 0 with PullNow, PullReadOffset and PullDropped
	Cause  FlowCause     // with PullFlow
	Limit  int64         // with PullFlow: the limit that was passed (size: MiB)
	Value  int64         // with PullFlow: by what, in the limit's unit
}

// DecidePull applies the pre-checks in the Java client's order
// (spec/consumer-pull.md 3). Each limit is strictly greater, and the size is in
// whole MiB, so 100.9 MiB passes a limit of 100. The size is the larger of what
// the messages pin and their bodies.
func DecidePull(s PullState, l Limits) PullDecision {
	switch {
	case s.Dropped:
		return PullDecision{Reason: PullDropped}
	case !s.Running:
		return PullDecision{Reason: PullNotRunning, After: PullDelayException}
	case s.Paused:
		return PullDecision{Reason: PullPaused, After: PullDelaySuspend}
	}
	sizeMiB := max(s.Cache.PinnedBytes, s.Cache.BodyBytes) >> 20
	switch {
	case s.Cache.Count > l.Count:
		return flowControl(FlowCount, PullDelayFlowControl, l.Count, s.Cache.Count)
	case sizeMiB > l.SizeMiB:
		return flowControl(FlowSize, PullDelayFlowControl, l.SizeMiB, sizeMiB)
	case !s.Orderly && s.Cache.Span > l.Span:
		return flowControl(FlowSpan, PullDelayFlowControl, l.Span, s.Cache.Span)
	case s.Orderly && s.Clustering && !s.Locked: // broadcasting locks nothing (trap T31)
		return flowControl(FlowOrderlyUnlocked, PullDelayException, 0, 0)
	case s.Orderly && !s.OffsetKnown:
		return PullDecision{Reason: PullReadOffset}
	case !s.Subscribed:
		return PullDecision{Reason: PullNoSubscription, After: PullDelayException}
	}
	return PullDecision{Reason: PullNow}
}

func flowControl(cause FlowCause, after time.Duration, limit, value int64) PullDecision {
	return PullDecision{Reason: PullFlow, After: after, Cause: cause, Limit: limit, Value: value}
}

// PullAnswer is an answer as ApplyPull looks at it.
type PullAnswer struct {
	Err          bool // transport error or broken answer
	Code         protocol.ResponseCode
	Requested    int64 // the offset that was pulled at
	Next         int64
	Min, Max     int64
	Messages     int // after the client-side tag filter
	CacheEmpty   bool
	PullInterval time.Duration
}

// PullAction is what an answer means.
type PullAction struct {
	Put       bool          // put the messages
	Next      int64         // the next offset to pull at
	Correct   bool          // the cache is empty: store Next as the committed offset, increase only
	Illegal   bool          // the broker corrected the offset: reset the queue to Next
	Regressed bool          // Next is below what was asked for
	After     time.Duration // wait before the next pull
	Cause     FlowCause     // FlowBroker with code 215
	// Heartbeat: the broker does not know our subscription (24, 25, 27, 28): send one.
	Heartbeat bool
	// RefreshRoute: the broker is not the right one any more (17, closed connection).
	RefreshRoute bool
}

// ApplyPull says what an answer means (spec/consumer-pull.md 5). An answer that
// moves nothing has Next as it was requested.
func ApplyPull(a PullAnswer) PullAction {
	failed := PullAction{Next: a.Requested, After: PullDelayException}
	if a.Err {
		failed.RefreshRoute = true
		return failed
	}
	moved := PullAction{Next: a.Next, Regressed: a.Next < a.Requested}
	switch a.Code {
	case protocol.Success, protocol.PullNotFound, protocol.PullRetryImmediately, protocol.PullOffsetMoved:
		if a.Next < 0 {
			return failed // no offset; a broken broker
		}
	}
	switch a.Code {
	case protocol.Success:
		if a.Messages > 0 {
			moved.Put, moved.After = true, a.PullInterval
			return moved
		}
		moved.Correct = a.CacheEmpty // trap T20: Java leaves the committed offset behind
		return moved
	case protocol.PullNotFound, protocol.PullRetryImmediately:
		moved.Correct = a.CacheEmpty
		return moved
	case protocol.PullOffsetMoved:
		moved.Illegal = true
		return moved
	case protocol.FlowControl:
		failed.After, failed.Cause = PullDelayBrokerFlowControl, FlowBroker
	case protocol.SubscriptionNotExist, protocol.SubscriptionNotLatest,
		protocol.FilterDataNotExist, protocol.FilterDataNotLatest:
		failed.Heartbeat = true
	case protocol.TopicNotExist:
		failed.RefreshRoute = true
	}
	return failed
}
