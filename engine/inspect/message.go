package inspect

import (
	"time"

	"eyeq/remoting/protocol"
)

// FindRequest looks for messages of a topic. At most one of Key, UniqueKey and
// OffsetID is given, or a queue with an offset; with none of them it is a span of time,
// whose both ends belong to it. Only OffsetID needs no topic.
type FindRequest struct {
	Topic     string
	Key       string
	UniqueKey string
	OffsetID  string
	Queue     *protocol.MessageQueue
	Offset    int64
	From, To  time.Time // zero: no bound
	Max       int       // 0: 64
}

// FindResult are the messages found, in the order in which they were stored: the
// newest of a key or id, the oldest of a span of time.
type FindResult struct {
	Messages  []protocol.MessageExt
	Truncated bool // there are more, or may be
	// Also are topics that were searched besides: the retry and dead-letter topics.
	Also     []string
	Problems []Problem
}

// TrackState says what a group did with a message, as far as offsets, copies and members
// tell. Screens, tables, JSON and documentation use these words.
type TrackState string

// The states. All are inferred: a commit beyond a message says that it was passed,
// not that it was processed.
const (
	// It is done: the commit passed it or its last retry, or a member has finished it and
	// cannot commit that yet.
	TrackConsumed TrackState = "consumed"
	TrackFinished TrackState = "consumed, not committed"
	// A member has it, and has not finished it as far as is known.
	TrackFetched TrackState = "fetched"
	// It waits for a member; offline: there is none.
	TrackNotYet  TrackState = "not consumed yet"
	TrackOffline TrackState = "offline"
	// The group has refused it.
	TrackRetry TrackState = "to be retried"
	TrackDead  TrackState = "dead letter"
	// Nothing can be told by commits: the group's tags leave it out, each member has its own
	// offset, it pulls as it likes, or those who know do not say.
	TrackFiltered     TrackState = "filtered"
	TrackBroadcasting TrackState = "broadcasting"
	TrackPull         TrackState = "pull"
	TrackUnknown      TrackState = "unknown"
)

// Track is one group's view of a message.
type Track struct {
	Group     string
	State     TrackState
	Inferred  bool
	Committed bool   // the group has committed an offset of the message's queue
	Passed    bool   // and it is beyond the message
	Behind    int64  // messages that wait up to and with it for a commit; 0: passed, or unknown
	Detail    string // "in the retry topic, attempt 3", "in the dead letters", a SQL filter that was not evaluated
	Why       Reason
}

// TraceRow is one record of RocketMQ's own message trace.
type TraceRow struct {
	Kind    string // Pub, SubBefore, SubAfter, …
	At      time.Time
	Group   string
	Client  string // the address that the record was sent from
	Cost    time.Duration
	Success bool
	Attempt int    // of a consumption, from 1; 0: it does not say
	Detail  string // foreign text

	request string // joins the end of a consumption with its beginning
}

// ResendPlan is what sending dead letters back would do. It was made by reading only.
type ResendPlan struct {
	Group  string
	Source string // %DLQ%GROUP
	Target string // %RETRY%GROUP: only this group gets them again
	Rows   []ResendRow
	Why    string // why it is not possible, and the way out; "" when it is
	Note   string // what there is to know before, such as that nobody is online
	// Buries are the brokers that made a dead letter of a copy: nothing more is sent to them.
	// Of a result, for the plan of what is left.
	Buries []string
}

// ResendRow is one message of a ResendPlan, and later of its result.
type ResendRow struct {
	Message  protocol.MessageExt
	ID       string // the unique id that the copy keeps
	Queue    protocol.MessageQueue
	Offset   int64  // in the queue
	Original string // topic
	Attempts int32
	// SentBefore is when a copy was sent to the retry topic after the message had died;
	// zero: not that the brokers know.
	SentBefore time.Time
	// SentBeforeWhy is why that is not known, since not all brokers told; none where one was found.
	SentBeforeWhy Reason

	// Skip leaves it out when the plan is carried out; see ResendPlan.LeaveOut.
	Skip bool

	// The result.
	Tried    bool
	Unknown  bool   // nobody has said whether it was sent
	NewID    string // the copy's offset id
	Verified bool   // the copy was read back from the target
	Error    string
}
