package inspect

import (
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// GroupName is a group that somebody knows of.
type GroupName struct {
	Group  string
	System bool // RocketMQ's own (CID_RMQ_SYS_…, TOOLS_CONSUMER, …)
	// Seen says where it is known from: configurations (201), retry topics, offsets.
	Configured, RetryTopic, Offsets bool
	Paused                          Pause
}

// GroupList are the names of all groups, sorted; what could not be asked is in Problems.
type GroupList struct {
	At       time.Time
	Groups   []GroupName
	Problems []Problem
}

// Pause says how far a group is paused on its brokers.
type Pause struct {
	Brokers []string            // where consumeEnable is false
	Of      int                 // of so many brokers that answered
	Topics  map[string][]string // 5.x: topics that the group must not read, with the brokers that say so
}

// All reports whether no broker lets the group consume.
func (p Pause) All() bool { return p.Of > 0 && len(p.Brokers) == p.Of }

// Refuses reports whether a broker refuses the group's pulls from a topic.
func (p Pause) Refuses(topic, broker string) bool {
	return slices.Contains(p.Brokers, broker) || slices.Contains(p.Topics[topic], broker)
}

// Any reports whether anything of the group is paused.
func (p Pause) Any() bool { return len(p.Brokers) > 0 || len(p.Topics) > 0 }

// GroupKind says how a group consumes.
type GroupKind string

// The kinds of groups.
const (
	KindUnknown GroupKind = "unknown" // offline, and nothing tells
	KindPush    GroupKind = "push"
	KindPull    GroupKind = "pull"
	KindPop     GroupKind = "pop"
	KindProxy   GroupKind = "proxy" // members are connected by a 5.x proxy
)

// GroupRow is one row of the list of groups.
type GroupRow struct {
	GroupName
	At            time.Time
	Kind          GroupKind
	Model         protocol.MessageModel // zero: unknown
	Orderly       bool
	Members       Number
	Versions      []string // of the members, sorted, each once
	Lag           Number   // without retry and dead letters
	RetryLag      Number
	DeadLetters   Number
	UnknownQueues int
	ConsumeTPS    float64
	Topics        []string
	Type          protocol.ConsumeType // as the brokers tell it; zero: offline
	Modes         []RequestMode        // what 5.x brokers were told, by topic and broker
	// State is the one word for the list: "online", "offline", "paused", "broadcasting",
	// "behind a proxy", "denied", …
	State    string
	Problems []Problem
}

// GroupConfig is a group's configuration at one broker (201, 352), every field as
// the broker says it, so that a change can write all others back as they were.
type GroupConfig struct {
	Broker string
	Addr   string
	// Fields are the JSON members by name, in the broker's own spelling and text.
	Fields map[string]string
	Why    Reason // there is none, because
	Queues int    // that the group has at the broker
}

// GroupDetail is everything about one group that is not about its queues.
type GroupDetail struct {
	Row           GroupRow
	Configs       []GroupConfig // by broker, sorted
	Differences   []string      // names of fields in which brokers differ; one without queues of the group needs no configuration
	Subscriptions SubscriptionMatrix
}

// SubscriptionMatrix is who subscribes to what.
type SubscriptionMatrix struct {
	Members []string // client ids, the columns
	Rows    []SubscriptionRow
	// Agree: all members that answered subscribe to the same.
	Agree   bool
	Unknown map[string]Reason // members that did not say
}

// SubscriptionRow is one topic of the matrix.
type SubscriptionRow struct {
	Topic  string
	Type   string   // TAG, SQL92
	Cells  []string // the expression by member; "" where it is not subscribed
	Types  []string // the expression's type by member
	Same   bool     // a broker filters by all of them alike
	Broker string   // the expression that the broker holds (203), which wins for filtering
}

// Member is one member of a group.
type Member struct {
	ClientID  string
	Addresses []string // it is connected from; more than one: two processes share the id
	Language  string
	Version   string                        // "V5_3_3"
	Brokers   []string                      // that know it
	Missing   []string                      // brokers of the group that do not know it
	Info      *protocol.ConsumerRunningInfo // nil: see Why
	Why       Reason
	InfoAt    time.Time
	Proxy     string // the 5.x proxy that it is connected by, of which brokers know nothing
	// Assigned is what a broker gives to a member that lets it allocate (400), by topic;
	// nil: the member allocates itself, or has not said. Of what is missing AssignedWhy
	// says why.
	Assigned    []protocol.Assigned
	AssignedWhy Reason
	// Held are the queues, with their offsets, that a member without running info is
	// known to read all the same (223): it may read more.
	Held map[protocol.MessageQueue]int64
}

// Members are the members of a group.
type Members struct {
	Group    string
	At       time.Time
	Kind     GroupKind
	Type     protocol.ConsumeType
	Model    protocol.MessageModel
	From     protocol.ConsumeFromWhere
	Members  []Member      // by client id
	Modes    []RequestMode // what 5.x brokers were told, by topic and broker
	Problems []Problem
}

// QueueLag is one queue of a group.
type QueueLag struct {
	protocol.MessageQueue
	Retry     bool
	Pop       bool // members get its messages by POP: several may, and Lag is what nobody has popped yet
	Min, Max  Number
	Committed Number // unknown with ReasonNoCommit when nothing was committed
	Pulled    Number // 5.x
	// Lag is max − committed, negative when the group is ahead of the queue's end;
	// where nothing is committed, or messages have expired, it counts from Min.
	Lag      Number
	Inflight Number // given out and not committed
	// Expired is how many messages before Min were never consumed.
	Expired int64
	// StandsSince is since when the commit has been seen where it is with messages waiting:
	// it may have stood there for longer. Zero: none wait, or it is not known.
	StandsSince  time.Time
	LastConsumed time.Time // when the last consumed message was stored; zero: unknown
	NextStored   time.Time // when the next message to be consumed was stored; zero: none, or unknown
	NextWhy      Reason    // why NextStored is not known
	ExpiresAt    time.Time // about when it will be deleted; zero: unknown
	ExpiresWhy   Reason    // why ExpiresAt is not known, where NextStored is
	Owners       []string  // client ids that say they hold it
	OwnersWhy    Reason    // why that is not known for sure
}

// UnreadableQueue is a queue of one of a group's topics that no member may pull from: its
// broker reads fewer queues than it writes to, or permits no reading.
type UnreadableQueue struct {
	protocol.MessageQueue
	Min, Max    Number
	Read, Write int32 // queues of the topic there that are read, and written to
	Perm        int32 // of the topic there, as far as the broker's own permission leaves it
}

// GroupLag is how far a group is behind.
type GroupLag struct {
	Group         string
	At            time.Time
	State         string
	Model         protocol.MessageModel
	Pause         Pause
	Members       Number
	Queues        []QueueLag // sorted by topic, broker, id; the retry topic last
	Lag           Number
	RetryLag      Number
	DeadLetters   Number
	UnknownQueues int
	UnknownTopics []string
	Ahead         int64 // sum of the negative lags, as a positive number; not in Lag
	ConsumeTPS    float64
	// Filtered: members read only some tags, so the lag counts others' messages too.
	Filtered bool
	Pop      *PopLag // nil: nothing is got by POP
	// Unreadable are queues that nobody can read now, sorted. Those that the group has not
	// committed on are not among Queues, and nothing of them is in Lag.
	Unreadable []UnreadableQueue
	Problems   []Problem
}

// LiveQueue is one queue of a group as brokers and members see it.
type LiveQueue struct {
	QueueLag
	// Expected is the member that the strategy gives the queue to; "" when unknown.
	Expected string
	Owner    string                     // the one that holds it; "" when nobody is known to
	Info     *protocol.ProcessQueueInfo // the owner's; nil when it does not say
	InfoAt   time.Time
	// Idle is for how long at least the owner has finished nothing of the queue, by its own
	// clock alone; 0: it does not say, or has nothing cached.
	Idle time.Duration
	// The owner's, by which alone its queues are judged.
	Limits   MemberLimits
	Orderly  bool // it takes the brokers' locks
	BrokerID int64
	Closed   string // why nobody may pull from it; "" when members may
	// Popped is what the member says that popped last; nil unless one does.
	Popped *protocol.PopProcessQueueInfo
}

// LiveTopic is one topic of a Live.
type LiveTopic struct {
	Topic      string
	Expression string
	Retry      bool
	Queues     int
	Brokers    []string
	Pop        bool // members pop: nobody holds a queue for itself
	// Strategy is the allocation that explains what members hold: "AVG", …; "" when
	// none does, then Differ says who holds what it should not.
	Strategy string
	Differ   []string
	Expected map[string][]protocol.MessageQueue // by client id
}

// Live is a group as it looked at one moment: what a live screen needs.
type Live struct {
	Group    string
	At       time.Time
	Members  Members
	Lag      GroupLag
	Topics   []LiveTopic
	Queues   []LiveQueue // sorted as in Lag
	Orderly  bool        // a member takes the brokers' locks
	Problems []Problem
	// LimitsDiffer names the properties that bound members and in which they differ,
	// SubscriptionsDiffer the topics that members filter differently or not all read.
	LimitsDiffer, SubscriptionsDiffer []string
}
