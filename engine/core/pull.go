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
	// FlowQuiet is how long a cause must not be hit before its flow control has ended.
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
	OffsetKnown bool // orderly: the start offset was read again since the lock was gained
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
	Limit  int64         // with PullFlow: the limit that was passed
	Value  int64         // with PullFlow: by what
}

// DecidePull applies the pre-checks in the Java client's order
// (spec/consumer-pull.md 3). Each limit is strictly greater, and the size is in
// whole MiB, so 100.9 MiB passes a limit of 100.
func DecidePull(s PullState, l Limits) PullDecision { panic("todo") }

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
	Correct   bool          // CacheEmpty: store Next as the committed offset, increase only
	Illegal   bool          // the broker corrected the offset: reset the queue to Next
	Regressed bool          // Next is below what was asked for
	After     time.Duration // wait before the next pull
	Cause     FlowCause     // FlowBroker with code 215
	// Heartbeat: the broker does not know our subscription (24, 25, 27, 28): send one.
	Heartbeat bool
	// RefreshRoute: the broker is not the right one any more (17, closed connection).
	RefreshRoute bool
}

// ApplyPull says what an answer means (spec/consumer-pull.md 5).
func ApplyPull(a PullAnswer) PullAction { panic("todo") }

// FlowTracker turns single hits of a limit into conditions with a beginning and
// an end. The zero value is ready; one queue has one.
type FlowTracker struct{}

// FlowCondition is a flow control in force or ended.
type FlowCondition struct {
	Cause        FlowCause
	Limit, Value int64 // Value is the highest seen
	Times        int64
	Since        time.Time
	Last         time.Time // last hit
}

// Hit notes that a pre-check failed (or a broker answered 215). began is set
// when a condition begins; ended when a condition of another cause ended by it.
func (f *FlowTracker) Hit(now time.Time, cause FlowCause, limit, value int64) (began, ended *FlowCondition) {
	panic("todo")
}

// Tick ends a condition that was not hit for FlowQuiet.
func (f *FlowTracker) Tick(now time.Time) (ended *FlowCondition) { panic("todo") }

// Current is the condition in force; ok is false when there is none.
func (f *FlowTracker) Current() (FlowCondition, bool) { panic("todo") }

// EndsAt is when Tick has to be called next; zero when nothing is in force.
func (f *FlowTracker) EndsAt() time.Time { panic("todo") }
