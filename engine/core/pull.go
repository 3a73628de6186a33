package core

import (
	"fmt"
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

// The delays before a pull is tried again (docs/conformance/pull.md 3).
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
// (docs/conformance/pull.md 3). Each limit is strictly greater, and the size is in
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
	First, Last  int64 // smallest and largest offset of the messages as they came; First > Last: there are none
	Messages     int   // after the client-side filter
	CacheEmpty   bool
	Unfiltered   bool // every message of the queue was asked for
	TooSmall     bool // with code 21: what was asked for is below the queue's smallest offset
	PullInterval time.Duration
}

// PullAction is what an answer means.
type PullAction struct {
	Put       bool          // put the messages
	Next      int64         // the next offset to pull at
	Correct   bool          // the cache is empty: store Next as the committed offset, increase only
	Illegal   bool          // the broker corrected the offset: reset the queue to Next
	Regressed bool          // Next, or the first message, is below what was asked for
	ExpiredTo int64         // no message came, those from what was asked for up to before this are gone; 0: none are
	Broken    string        // why the answer contradicts itself: it moves nothing, and its connection is not to be trusted
	After     time.Duration // wait before the next pull
	Cause     FlowCause     // FlowBroker with code 215
	// Heartbeat: the broker does not know our subscription (24, 25, 27, 28): send one.
	Heartbeat bool
	// RefreshRoute: the broker is not the right one any more (17, closed connection).
	RefreshRoute bool
}

// farBeyond is how far beyond a queue's end an answer may send us. Brokers say the
// end as it was when they began to read, and 4.9 sends over a missing file of the
// consume queue, which holds 300,000 places.
const farBeyond = 1 << 20

// ApplyPull says what an answer means (docs/conformance/pull.md 5). An answer that
// moves nothing has Next as it was requested.
func ApplyPull(a PullAnswer) PullAction {
	failed := PullAction{Next: a.Requested, After: PullDelayException}
	if a.Err {
		failed.RefreshRoute = true
		return failed
	}
	switch a.Code {
	case protocol.Success, protocol.PullNotFound, protocol.PullRetryImmediately, protocol.PullOffsetMoved:
		if failed.Broken = a.contradiction(); failed.Broken != "" {
			return failed
		}
		return a.moved()
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

// contradiction says what in an answer cannot be; "" when it may be true.
func (a *PullAnswer) contradiction() string {
	found := a.Code == protocol.Success
	switch some := a.First <= a.Last; {
	case a.Next < 0:
		return fmt.Sprintf("the next offset is %d", a.Next)
	case a.Next > max(a.Requested, a.Max, a.Last)+farBeyond:
		return fmt.Sprintf("the next offset is %d, where the queue ends at %d", a.Next, a.Max)
	case found && !some:
		return "it is FOUND and has no message"
	case found && a.First < 0:
		return fmt.Sprintf("a message has the offset %d", a.First)
	case found && a.Last >= a.Next:
		return fmt.Sprintf("a message has the offset %d, where the next one is said to have %d", a.Last, a.Next)
	}
	return ""
}

// moved is what an answer means that carries a pull status.
func (a *PullAnswer) moved() PullAction {
	m := PullAction{Next: a.Next, Regressed: a.Next < a.Requested}
	switch a.Code {
	case protocol.PullOffsetMoved:
		// What has expired lies behind what is cached, which is as good as ever: Java
		// drops it with the queue, and nobody gets it.
		if a.TooSmall && !a.CacheEmpty && a.Next > a.Requested {
			m.ExpiredTo = a.Next
			return m
		}
		m.Illegal = true
		return m
	case protocol.Success:
		m.Regressed = m.Regressed || a.First < a.Requested
		m.Put = a.Messages > 0
		m.Correct = !m.Put && a.CacheEmpty // trap T20: Java leaves the committed offset behind
		if m.Put {
			m.After = a.PullInterval
		}
	case protocol.PullRetryImmediately:
		if a.Unfiltered && a.Next > a.Requested {
			m.ExpiredTo = a.Next // nothing else leaves out what matches everything
		}
		if a.Next <= a.Requested {
			// A slave that is behind says so; the reference asks it again without a pause.
			m.After = PullDelayException
		}
		m.Correct = a.CacheEmpty
	default:
		m.Correct = a.CacheEmpty
	}
	if m.Regressed {
		m.After = PullDelayException // the same again and again would be a hot loop
	}
	return m
}

// Gap is offsets that no message has: From … To-1.
type Gap struct{ From, To int64 }

// Gaps are what an answer to a pull at asked leaves out up to next, where every
// message was asked for: they have expired. The messages ascend.
func Gaps(asked, next int64, messages []protocol.MessageExt) (gaps []Gap) {
	n := int64(len(messages))
	if n > 0 && messages[0].QueueOffset() <= asked && messages[n-1].QueueOffset()-messages[0].QueueOffset() == n-1 && next == messages[n-1].QueueOffset()+1 {
		return nil // the rule: nothing is missing
	}
	for i := range messages {
		if o := messages[i].QueueOffset(); o >= asked {
			if o > asked {
				gaps = append(gaps, Gap{asked, o})
			}
			asked = o + 1
		}
	}
	if next > asked {
		gaps = append(gaps, Gap{asked, next})
	}
	return gaps
}
