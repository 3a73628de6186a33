package inspect

import (
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// ResetRequest asks for a reset of any group.
type ResetRequest struct {
	Group  string
	Topics []string                // none: all of the group but the retry topic
	Queues []protocol.MessageQueue // only these of them; none: all
	Retry  bool                    // the retry topic too
	Target core.ResetTarget
	Exact  map[protocol.MessageQueue]int64 // a saved file's offsets, instead of Target
	// Exclude are queues that are left out, because they could not be read.
	Exclude []protocol.MessageQueue
}

// ResetMethod says how a reset is carried out.
type ResetMethod string

// The methods.
const (
	MethodCommit ResetMethod = "commit"       // offsets are written directly (15): nobody is connected
	MethodServer ResetMethod = "server"       // the 5.x broker moves them and tells members at their next pull (222)
	MethodPush   ResetMethod = "push"         // the 4.9 broker tells the members, who move them (222 → 220)
	MethodNone   ResetMethod = "not possible" // Why says so, and the way out
)

// ResetRow is one queue of a plan, and later of its result. Offsets that are not
// known are -1.
type ResetRow struct {
	protocol.MessageQueue
	Min, Max    int64
	Before      int64 // committed; -1: nothing was
	After       int64 // where it is to go
	Effect      core.ResetEffect
	Count       int64     // messages replayed, skipped or gone
	FirstStored time.Time // when the first message at After was stored; zero: end of the queue
	Owner       string    // client id; several, of a queue that more than one holds, are joined by ", "
	Why         string    // it cannot be read, or cannot be reset, or not quite as asked for, because
	Unknown     bool      // blocks the plan until it is excluded
	Method      ResetMethod

	// The result.
	Tried    bool
	ReadBack int64 // -1: not read
	Verified bool
	Lost     string // why its broker could not be asked any more while members were watched
	Obeyed   string // what its member does with it: "goes on from there", "overwrote it at …", "cannot be told"
	Error    string
	unsure   string // why nobody has said whether it was done; what is committed decides
}

// ResetPlan is what a reset would do. It was made by reading only.
type ResetPlan struct {
	Request       ResetRequest
	At            time.Time
	Online        bool
	Members       []MemberEffect
	Method        ResetMethod
	Why           string // the method, or why there is none and the way out, in words
	Rows          []ResetRow
	Before, After Number // the lag of the queues in Rows
	Problems      []Problem
	System        bool // RocketMQ's own group: a second confirmation is wanted

	places []resetPlace // how it is carried out
	owners owners
}

// MemberEffect is what a change means for one member.
type MemberEffect struct {
	ClientID string
	Language string
	Version  string
	Effect   string // "will move at its next pull", "ignores a reset: restart it", …
	Obeys    bool
}

// ResetResult is what a reset came to, queue by queue.
type ResetResult struct {
	Plan    ResetPlan
	Rows    []ResetRow
	SavedTo string
	Done    int // verified queues
}

// PauseRequest pauses or resumes a whole group on its brokers.
type PauseRequest struct {
	Group  string
	Topic  string // 5.x: one topic of the group; "" the whole group
	Resume bool
}

// PausePlan is what a pause would do. It was made by reading only.
type PausePlan struct {
	Request PauseRequest
	At      time.Time
	Brokers []PauseRow
	Members []MemberEffect
	Why     string // why it is not possible, and the way out; "" when it is
	System  bool   // RocketMQ's own group: a second confirmation is wanted
}

// PauseRow is one broker of a pause.
type PauseRow struct {
	Broker, Addr string
	Before       bool // paused before
	After        bool // to be paused
	Verified     bool // read back, with all other fields as they were
	Error        string
	Changed      []string // other fields that differ after the write: must be none
	// Missing: the broker has no configuration of the group, so there is nothing to pause.
	Missing bool

	config string // as the plan found it
}

// PauseResult is what a pause came to, with the proof.
type PauseResult struct {
	Plan PausePlan
	Rows []PauseRow
	// Proof says in words what was seen of the members' pulls: "no queue was pulled
	// since 14:02:07, 8 of 8".
	Proof  string
	Proved bool
}

// ClonePlan copies a group's offsets of a topic to another group.
type ClonePlan struct {
	Source, Target, Topic string
	At                    time.Time
	Online                bool       // the target has members, who would overwrite the copy
	Rows                  []ResetRow // of the target
	Why                   string
	System                bool // the target is RocketMQ's own: a second confirmation is wanted

	brokers map[string]broker
}
