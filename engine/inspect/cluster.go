package inspect

import (
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// TopicName is one topic of the list.
type TopicName struct {
	Topic  string
	System bool
	Retry  bool // %RETRY%…
	Dead   bool // %DLQ%…
}

// TopicList are the names of all topics, sorted.
type TopicList struct {
	At       time.Time
	Topics   []TopicName
	Problems []Problem
}

// TopicRow is one row of the list of topics.
type TopicRow struct {
	TopicName
	At         time.Time
	Type       string // NORMAL, FIFO, DELAY, TRANSACTION, LITE, …; "" when the broker does not say
	Static     bool   // clients see other queues than the brokers', with offsets of their own
	Brokers    []string
	Queues     int // that can be read
	Perm       string
	Stored     Number // messages that are kept: the sum of max − min
	LastStored time.Time
	Problems   []Problem
}

// TypeText is the type as people read it, and that the topic is a static one; "" when
// neither is known.
func (r *TopicRow) TypeText() string {
	switch {
	case !r.Static:
		return r.Type
	case r.Type == "":
		return "static"
	}
	return r.Type + ", static"
}

// Whose says what the topic is for where it is none of an application's own; else "".
func (r *TopicRow) Whose() string {
	switch {
	case r.System:
		return "a topic of RocketMQ itself"
	case r.Retry:
		return "retries of group " + strings.TrimPrefix(r.Topic, protocol.RetryTopicPrefix)
	case r.Dead:
		return "dead letters of group " + strings.TrimPrefix(r.Topic, protocol.DLQTopicPrefix)
	}
	return ""
}

// TopicQueue is one queue of a topic; of a static topic one that a broker keeps.
type TopicQueue struct {
	protocol.MessageQueue
	Min, Max    Number
	LastStored  time.Time
	FirstStored time.Time
	Perm        int32
	Closed      string // why nobody can read it; "" when it can be read
}

// TopicDetail is everything about one topic.
type TopicDetail struct {
	Row        TopicRow
	Queues     []TopicQueue
	Groups     []string // that consume it; the topic's own name, which 5.3.3 answers, is left out
	GroupsWhy  Reason
	Paused     map[string]Pause // those of the groups that are paused, wholly or in part
	Attributes map[string]string
	// Route are the brokers with their queue counts and permissions.
	Route []TopicRouteRow
}

// TopicRouteRow is a topic at one broker.
type TopicRouteRow struct {
	Broker       string
	Addrs        map[int64]string // by broker id
	Read, Write  int32
	Perm         int32
	TopicSysFlag int32
}

// BrokerRow is one broker process.
type BrokerRow struct {
	Cluster   string
	Broker    string
	ID        int64  // 0: the master
	Address   string // as it is announced
	Dialled   string // where it is dialled, when that is another address; else ""
	Version   string
	Role      string // "MASTER", "SLAVE", …
	Reachable bool
	Why       Reason
	RTT       time.Duration
	InTPS     float64
	OutTPS    float64
	Disk      float64 // used part of the commit log's disk, 0 … 1; negative: unknown
	// PullWait is how long the oldest pull waits for a thread, SendWait the oldest send.
	PullWait, SendWait time.Duration
	PageCacheLock      time.Duration // how long the write under way has taken
	PutFailed          Number        // messages that it could not store since its start
	Started            time.Time
	Clock              time.Duration // its clock minus ours, as far as its answers tell; 0: unknown
	ClockKnown         bool
	Perm               Number // what clients may do there (brokerPermission): protocol.PermRead, protocol.PermWrite
	Limits             BrokerLimits
	NoMaster           bool              // a slave's: no name server announces its master
	Behind             Number            // a slave's: bytes of the commit log that its master has and it has not
	Info               map[string]string // 28, as the broker says it
}

// BrokerLimits are the settings of a broker (26) beyond which it does no more what it
// should. What it does not say is what a broker has by default.
type BrokerLimits struct {
	// The used parts of a disk from which a broker deletes what is over its time at any
	// hour of the day, from which it deletes what is not over it, and from which it takes
	// no messages any more.
	DiskTidy, DiskClean, DiskRefuse float64
	// How long a send or a pull may wait for a thread, and a write may take, before
	// requests are answered that the broker is busy.
	SendWait, PullWait, PageCacheLock time.Duration
	Behind                            int64 // bytes from which a slave is not counted on
}

// NamesrvRow is one name server.
type NamesrvRow struct {
	Address   string
	Dialled   string // where it is dialled, when that is another address; else ""
	Reachable bool
	Current   bool // the one that is asked first
	RTT       time.Duration
	Why       Reason
	// Differs names brokers that it announces otherwise than the first does.
	Differs []string
}

// Brokers are all brokers and name servers of a cluster.
type Brokers struct {
	At       time.Time
	Brokers  []BrokerRow
	Namesrv  []NamesrvRow
	Problems []Problem
}
