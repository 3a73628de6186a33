package page

import (
	"context"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
)

// Cluster is what the pages of any group need of a cluster. *inspect.Inspector is
// one. Each call takes as long as its slowest answer, bounded by the inspector's
// deadline for one question, and is made by commands only.
type Cluster interface {
	Groups(ctx context.Context) (inspect.GroupList, error)
	// GroupRows gives the details of groups, in their order; one that cannot be read
	// has its problems in its row.
	GroupRows(ctx context.Context, groups []string) []inspect.GroupRow
	Group(ctx context.Context, group string) (inspect.GroupDetail, error)
	Members(ctx context.Context, group string) (inspect.Members, error)
	// Others is Members without one, a consumer of this process.
	Others(ctx context.Context, group, self string) (inspect.Members, error)
	Lag(ctx context.Context, group string) (inspect.GroupLag, error)
	Live(ctx context.Context, group string) (inspect.Live, error)
	Doctor(ctx context.Context, group string) (inspect.Report, error)
	// Stack asks one member what its threads do, which costs it something.
	Stack(ctx context.Context, group, clientID string) (inspect.Stack, error)

	Topics(ctx context.Context) (inspect.TopicList, error)
	TopicRows(ctx context.Context, topics []string) []inspect.TopicRow
	Topic(ctx context.Context, topic string) (inspect.TopicDetail, error)
	Brokers(ctx context.Context) (inspect.Brokers, error)

	PlanReset(ctx context.Context, r inspect.ResetRequest) (inspect.ResetPlan, error)
	// ApplyReset carries out a plan after comparing it with what is there now.
	ApplyReset(ctx context.Context, p inspect.ResetPlan) (inspect.ResetResult, error)
	PlanPause(ctx context.Context, r inspect.PauseRequest) (inspect.PausePlan, error)
	ApplyPause(ctx context.Context, p inspect.PausePlan) (inspect.PauseResult, error)

	// Head reads one message by its place.
	Head(ctx context.Context, mq engine.MessageQueue, offset int64) (engine.Message, error)
	Find(ctx context.Context, r inspect.FindRequest) (inspect.FindResult, error)
	Tracks(ctx context.Context, m *engine.Message) ([]inspect.Track, error)
	// Levels are a broker's delays by level.
	Levels(ctx context.Context, brokerName string) ([]time.Duration, error)
	PlanResend(ctx context.Context, group string, messages []engine.Message) (inspect.ResendPlan, error)
	ApplyResend(ctx context.Context, p inspect.ResendPlan) (inspect.ResendPlan, error)
	PlanDirect(ctx context.Context, r inspect.DirectRequest) (inspect.DirectPlan, error)
	ApplyDirect(ctx context.Context, p inspect.DirectPlan) (inspect.DirectResult, error)
}

// TailRequest says what a Tail reads.
type TailRequest struct {
	Topic  string
	Queues []engine.MessageQueue // none: all, and those that come
	From   TailPosition
	Filter message.Filter
}

// TailPosition is where reading starts; the zero value is the end: only what comes.
type TailPosition struct {
	Earliest bool
	Time     time.Time // not zero: the first message stored at or after it
	Offset   int64     // with ByOffset
	ByOffset bool
}

// TailBatch is what came since the last one.
type TailBatch struct {
	Messages []engine.Message // that passed one filter, in about the order in which they were stored
	Unread   []string         // records that could not be read, each as a line
	// Filter is the number of the filter that Messages passed: see SetFilter. Of what was
	// read it has looked at Looked messages, of which Matched passed.
	Filter          int
	Looked, Matched int64
	// Seen counts what was read since the tail began, Missed what filters before this one
	// let pass by: it is not looked at again. Behind is what is left until the end of all
	// queues, unknown when negative.
	Seen, Missed, Behind int64
	// Mute are the queues that cannot be read now. Behind is not known as long as there are any.
	Mute   []MuteQueue
	Notice string // a queue that fails, a filter that takes too long
}

// MuteQueue is a queue that cannot be read since a time, tried again and again. The queue
// is zero as long as not even the queues of the topic are known.
type MuteQueue struct {
	Queue engine.MessageQueue
	Since time.Time
	Why   string
}

// Tail is a reading of a topic without any group. Close ends it and waits.
type Tail interface {
	// Next waits for the next batch. A reader that does not come in time makes the
	// tail pull less, nothing is lost.
	Next(ctx context.Context) (TailBatch, error)
	// SetFilter takes effect for what is read from now on; number tells it from the ones
	// before, of which the request's is 0. What is on its way has passed an older one.
	SetFilter(number int, f message.Filter) error
	Close()
}

// OpenTail begins a Tail. It returns at once; what cannot be reached is told by Next.
type OpenTail func(ctx context.Context, r TailRequest) (Tail, error)
