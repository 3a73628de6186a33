package engine

import (
	"time"

	"eyeq/engine/core"
)

// FlowCause says which limit stops the pulling of a queue.
type FlowCause = core.FlowCause

// ServiceState is the state of the consumer (docs/conformance/client.md 2.2).
type ServiceState uint8

// The service states.
const (
	CreateJust ServiceState = iota + 1
	StartFailed
	Running
	ShuttingDown
	ShutdownAlready
)

// String gives RocketMQ's name.
func (s ServiceState) String() string {
	switch s {
	case CreateJust:
		return "CREATE_JUST"
	case StartFailed:
		return "START_FAILED"
	case Running:
		return "RUNNING"
	case ShuttingDown:
		return "SHUTTING_DOWN"
	case ShutdownAlready:
		return "SHUTDOWN_ALREADY"
	}
	return "UNKNOWN"
}

// Snapshot is what the engine looked like a moment ago. It is immutable and may
// be kept. It is consistent a queue, not across queues. Counters only grow:
// rates come from the difference of two snapshots.
type Snapshot struct {
	At         time.Time
	Started    time.Time
	State      ServiceState
	StateCause string

	Group    string
	ClientID string
	Model    MessageModel
	Orderly  bool
	From     ConsumeFromWhere
	Strategy string
	Topics   []TopicSnapshot // subscribed topics in order, the retry topic last

	Namesrv        []string
	NamesrvCurrent string // the one that answered last
	NamesrvError   string // why none answers; "" while one does
	Brokers        []BrokerSnapshot

	Pause         *PauseState // of the whole consumer
	RebalanceSeq  int64
	LastRebalance time.Time
	NextRebalance time.Time
	LastPersist   time.Time
	PersistEvery  time.Duration
	// PersistError says why committed offsets of own queues cannot be made durable
	// since PersistErrorSince; "" when they can.
	PersistError      string
	PersistErrorSince time.Time

	// Queues are all queues of the subscribed topics, ours and others', sorted.
	Queues []QueueSnapshot
	Totals Totals
	Limits core.Limits
	// Threads is the size of the worker pool, ThreadsBusy how many run a listener.
	Threads, ThreadsBusy int
	// LastOperator is the last pause, resume or reset as a sentence, with its time.
	LastOperator   string
	LastOperatorAt time.Time
	// LastError is the last thing that went wrong, as a sentence.
	LastError   string
	LastErrorAt time.Time
}

// Totals are counters since the start of the engine.
type Totals struct {
	Pulled, PulledBytes                                     uint64 // messages handed to the ProcessQueues
	Pulls                                                   uint64 // pull answers of any status
	Consumed, Failed                                        uint64 // messages, by their listener's verdict
	SentBack, DeadLettered, LocalRetries                    uint64
	FlowCount, FlowSize, FlowSpan, FlowUnlocked, FlowBroker uint64 // pre-checks that failed
	EventsDropped                                           uint64
	// RT is the histogram of listener calls: RT[i] counts calls below RTBounds[i],
	// the last one those above all.
	RT [len(RTBounds) + 1]uint64
}

// RTBounds are the upper bounds of the buckets of Totals.RT.
var RTBounds = [...]time.Duration{
	50 * time.Microsecond, 100 * time.Microsecond, 250 * time.Microsecond, 500 * time.Microsecond,
	time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond, 5 * time.Millisecond, 7 * time.Millisecond,
	10 * time.Millisecond, 15 * time.Millisecond, 20 * time.Millisecond, 30 * time.Millisecond, 50 * time.Millisecond,
	75 * time.Millisecond, 100 * time.Millisecond, 150 * time.Millisecond, 200 * time.Millisecond, 300 * time.Millisecond,
	500 * time.Millisecond, 750 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 30 * time.Second, time.Minute,
}

// TopicSnapshot is one subscribed topic and who holds what of it.
type TopicSnapshot struct {
	Topic      string
	Expression string
	SubVersion int64
	Retry      bool // the group's retry topic
	// Missing says why the topic has no queues ("no route at any name server"); ""
	// when it has.
	Missing string
	// Members are the group's members in allocation order. Their queues are what the
	// strategy gives them; for this client, Held says what it really has.
	Members      []MemberSnapshot
	MembersFrom  string    // the broker address that named them
	MembersAt    time.Time // when
	MembersError string
	Queues       int
	Brokers      []string
}

// MemberSnapshot is one member of the group.
type MemberSnapshot struct {
	ClientID string
	Self     bool
	Since    time.Time      // when this engine first saw it
	Queues   []MessageQueue // by the strategy
	Unknown  bool           // which queues it has is its own business: the strategy is CONFIG
	Held     int            // this client only: queues really held
}

// BrokerSnapshot is one broker address.
type BrokerSnapshot struct {
	Name          string
	ID            int64
	Address       string
	Version       int32
	Connected     bool
	LastHeartbeat time.Time // answered
	RTT           time.Duration
	Error         string // of the last try; "" when it was answered
	ErrorSince    time.Time
	Waiting       time.Time // since when an answer is awaited; zero: none is
	Gone          bool      // no route names it any more
}

// PauseState is a pause in force.
type PauseState struct {
	By       string
	Reason   string
	Since    time.Time
	ResumeAt time.Time // zero: not by itself
}

// QueueState says in one word what a queue does.
type QueueState uint8

// The queue states, in the order in which they win.
const (
	QueueOther     QueueState = iota // another member's, or nobody's
	QueueTaking                      // ours by allocation, not yet taken (lock, offset)
	QueueRun                         // pulling and consuming
	QueueIdle                        // caught up: the broker holds the pull
	QueueFlow                        // a limit stops the pulling
	QueuePaused                      // by an operator
	QueueUnlocked                    // orderly, without the broker's lock
	QueueSuspended                   // orderly, waiting to retry its head
	QueueError                       // pulls fail
	QueueResetting                   // a reset is under way
	QueueDropping                    // being given away
)

// String gives the word that the screen shows.
func (s QueueState) String() string {
	return [...]string{"other", "taking", "run", "idle", "FLOW", "PAUSED", "UNLOCKED", "SUSPENDED", "ERROR", "RESET", "dropping"}[s]
}

// Unknown marks an offset that is not known.
const Unknown int64 = -1

// QueueSnapshot is one queue. Offsets that are not known are Unknown.
type QueueSnapshot struct {
	MessageQueue
	Retry bool
	// Owner is the client id that the strategy gives the queue to; "" when unknown.
	Owner string
	Own   bool
	State QueueState
	// Detail is the state in a few words: "span 2,001 > 2,000", "lock refused", an error.
	Detail     string
	StateSince time.Time

	MinOffset, MaxOffset int64 // the broker's, as last heard
	OffsetsAt            time.Time
	OffsetsFrom          int64 // the broker id that said them
	// CommittedOffset is for our own queues the value in memory, for others the broker's.
	CommittedOffset int64
	PersistedOffset int64
	PersistedAt     time.Time
	NextOffset      int64 // of the next pull
	// LastConsumedStored is when the last committed message was stored (others only).
	LastConsumedStored time.Time

	// Of the ProcessQueue (ours only).
	CachedMin, CachedMax int64 // smallest and largest cached offset; Unknown when empty
	CachedCount          int64 // cached and not done
	CachedDone           int64 // done, waiting behind an unfinished message
	InProcess            int64 // in a listener now
	CachedBytes          int64 // pinned memory, as flow control counts it
	BodyBytes            int64 // as Java counts it
	Span                 int64
	// Consuming is the part of an orderly queue that was taken and not committed.
	Consuming, ConsumingMin, ConsumingMax int64
	LocalRetry                            int64     // waiting to be handed to the listener again
	HeadStored                            time.Time // when the smallest cached message was stored
	HeadStarted                           time.Time // when its listener was called; zero: not yet
	HeadMessageID                         string
	// Held counts the messages that wait for an operator's decision; HeldFirst and
	// HeldLast are the ends of their offsets, HeadHeld since when the smallest cached
	// one is among them (zero: it is not).
	Held, HeldFirst, HeldLast int64
	HeadHeld                  time.Time

	Flow      FlowCause // in force; FlowNone otherwise
	FlowLimit int64
	FlowValue int64
	FlowSince time.Time
	FlowTimes int64

	// TakenAt is when this member took the queue: its lock and start offset were there.
	TakenAt     time.Time
	Locked      bool
	LockedAt    time.Time
	Pause       *PauseState
	LastPull    time.Time
	PullRTT     time.Duration
	LastStatus  string // of the last pull answer: FOUND, NO_NEW_MSG, …
	LastConsume time.Time
	LastError   string
	LastErrorAt time.Time
	BrokerID    int64 // pulled from
	Generation  uint64

	Pulled, Consumed, Failed, SentBack uint64
}

// Lag is max − committed; ok is false when either is unknown.
func (q *QueueSnapshot) Lag() (lag int64, ok bool) {
	if q.MaxOffset == Unknown || q.CommittedOffset == Unknown {
		return 0, false
	}
	return q.MaxOffset - q.CommittedOffset, true
}
