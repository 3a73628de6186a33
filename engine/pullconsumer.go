package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// ToolsGroup is the brokers' own group for tools: pulling as this group registers
// nothing and, without a commit, moves no offset.
const ToolsGroup = "TOOLS_CONSUMER"

// PullOptions configure a PullConsumer. DefaultPullOptions has the defaults of
// RocketMQ's lite pull (docs/conformance/control.md 8).
type PullOptions struct {
	// Group is whom the pulls are made for, and whose offsets Commit writes.
	Group string
	// Expression filters all queues; see Subscription.
	Expression, ExpressionType string
	// From says where a queue without seek and without stored offset starts.
	From      ConsumeFromWhere
	Timestamp time.Time

	PullBatchSize int
	// BrokerSuspend is how long a broker may hold a pull at the end of its queue.
	BrokerSuspend             time.Duration
	PullThresholdForAll       int64 // messages not yet polled, of all queues
	PullThresholdForQueue     int64 // of one
	PullThresholdSizeForQueue int64 // MiB
	ConsumeMaxSpan            int64
	// TopicCheckInterval is how often watched topics are looked at.
	TopicCheckInterval time.Duration
	// CallTimeout bounds a call, and a pull beyond what it is held.
	CallTimeout time.Duration
}

// DefaultPullOptions are RocketMQ's defaults. The group is the brokers' own, so
// that nothing of a pull is left behind.
func DefaultPullOptions() PullOptions {
	return PullOptions{
		Group: ToolsGroup, From: protocol.ConsumeFromLastOffset, PullBatchSize: 10, BrokerSuspend: 20 * time.Second,
		PullThresholdForAll: 10000, PullThresholdForQueue: 1000, PullThresholdSizeForQueue: 100, ConsumeMaxSpan: 2000,
		TopicCheckInterval: 30 * time.Second, CallTimeout: 3 * time.Second,
	}
}

// Validate returns the first violation as a *ConfigError.
func (o *PullOptions) Validate() error {
	bad := func(property string, value any, rule string) error { return &ConfigError{property, value, rule} }
	switch {
	case o.Group == "" || len(o.Group) > 255 || !legalName.MatchString(o.Group):
		return bad("consumerGroup", o.Group, "must be 1 to 255 of letters, digits, %, |, - and _")
	case o.From < protocol.ConsumeFromLastOffset || o.From > protocol.ConsumeFromTimestamp:
		return bad("consumeFromWhere", o.From, "must be last, first or a time")
	case o.From == protocol.ConsumeFromTimestamp && o.Timestamp.IsZero():
		return bad("consumeTimestamp", "none", "must be given to start from a time")
	}
	if _, err := protocol.ParseSubscription("t", o.ExpressionType, o.Expression); err != nil {
		return bad("subscription", o.Expression, err.Error())
	}
	for _, c := range []struct {
		property      string
		value, lo, hi int64
	}{
		{"pullBatchSize", int64(o.PullBatchSize), 1, 1024},
		{"brokerSuspendMaxTimeMillis", o.BrokerSuspend.Milliseconds(), 0, 30000},
		{"pullThresholdForAll", o.PullThresholdForAll, 1, 1 << 30},
		{"pullThresholdForQueue", o.PullThresholdForQueue, 1, 65535},
		{"pullThresholdSizeForQueue", o.PullThresholdSizeForQueue, 1, 1024},
		{"consumeMaxSpan", o.ConsumeMaxSpan, 1, 65535},
		{"topicMetadataCheckIntervalMillis", o.TopicCheckInterval.Milliseconds(), 1000, 3600000},
		{"mqClientApiTimeout", o.CallTimeout.Milliseconds(), 1, 3600000},
	} {
		if c.value < c.lo || c.value > c.hi {
			return bad(c.property, c.value, fmt.Sprintf("must be %d to %d", c.lo, c.hi))
		}
	}
	return nil
}

// PullDeps are what a PullConsumer works with.
type PullDeps struct {
	Client *remoting.Client // not closed by the PullConsumer
	// Store is for Commit, Committed and where a queue without seek starts; nil: it
	// starts where PullOptions.From says.
	Store OffsetStore
	Log   *slog.Logger // nil discards
}

// Polled is one answer of Poll: messages of one queue, or something to be told
// about it, in the order in which it happened to the queue.
type Polled struct {
	Queue    MessageQueue // zero for Topic
	Messages []Message    // of one pull; none when all were filtered out: that is progress too
	Next     int64        // where the queue goes on
	Min, Max int64        // the queue's bounds as the broker said last; Unknown
	// AtEnd: the queue had nothing more when the broker answered. It is told once each
	// time the end is reached.
	AtEnd bool
	// Err is why a pull failed; it is tried again. Since is when the queue began to
	// fail.
	Err   error
	Since time.Time
	// Event is OffsetIllegal, MessagesExpired, PullRegressed, MessageUndecodable
	// (that record is passed over) or PullRecovered; nil otherwise.
	Event Event
	// Topic is a watched topic whose queues are not what they were.
	Topic          string
	Added, Removed []MessageQueue
}

// PullConsumer reads queues that its caller chooses: no group is joined, no
// heartbeat sent, and nothing committed unless Commit is called (Java:
// DefaultLitePullConsumer with assign). Each queue is pulled ahead by a goroutine
// of its own, up to the limits of the options; Poll hands the answers out. All
// methods may be called from any goroutine.
type PullConsumer struct {
	o            PullOptions
	client       *remoting.Client
	store        OffsetStore
	log          *slog.Logger
	sub          SubscriptionData
	tags         map[string]bool
	decompressor protocol.Decompressor

	inbox *mailbox[func(ctx context.Context)]
	wake  chan struct{} // capacity 1: Poll has something to look at
	ended chan struct{}

	mu     sync.Mutex // guards what follows, and the upper part of each pullQueue
	queues map[MessageQueue]*pullQueue
	ready  []readyItem
	cached int64 // messages in ready
	topics map[string][]MessageQueue
	ran    bool

	cancel context.CancelCauseFunc // set by Run
	wg     sync.WaitGroup
}

// readyItem waits for Poll.
type readyItem struct {
	q *pullQueue // nil: about a topic
	Polled
	bytes int64
}

// NewPullConsumer checks the options; nothing is sent.
func NewPullConsumer(o PullOptions, d PullDeps) (*PullConsumer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if d.Client == nil {
		return nil, errors.New("a pull consumer needs a client")
	}
	sub, err := protocol.ParseSubscription("t", o.ExpressionType, o.Expression)
	if err != nil {
		return nil, err
	}
	c := &PullConsumer{o: o, client: d.Client, store: d.Store, log: d.Log, sub: sub,
		inbox: newMailbox[func(context.Context)](), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		queues: map[MessageQueue]*pullQueue{}, topics: map[string][]MessageQueue{}}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	for _, t := range sub.TagsSet {
		if c.tags == nil {
			c.tags = map[string]bool{}
		}
		c.tags[t] = true
	}
	return c, nil
}

// Run pulls until ctx ends. It may be called once, and returns nil, or a
// *PanicError after a panic of one of its goroutines.
func (c *PullConsumer) Run(ctx context.Context) error {
	c.mu.Lock()
	again := c.ran
	c.ran = true
	c.mu.Unlock()
	if again {
		return errors.New("the pull consumer was started before")
	}
	own, cancel := context.WithCancelCause(ctx)
	c.cancel = cancel
	check := time.NewTicker(c.o.TopicCheckInterval)
	defer check.Stop()
	for running := true; running; {
		select {
		case <-c.inbox.wake:
			for _, f := range c.inbox.all() {
				f(own)
			}
		case <-check.C:
			c.start(func() { c.checkTopics(own) })
		case <-own.Done():
			running = false
		}
	}
	cause := context.Cause(own)
	cancel(nil)
	c.wg.Wait()
	close(c.ended)
	if p, ok := errors.AsType[*PanicError](cause); ok {
		return p
	}
	return nil
}

// start runs f on a goroutine that Run waits for.
func (c *PullConsumer) start(f func()) {
	c.wg.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				c.cancel(&PanicError{v, debug.Stack()})
			}
		}()
		f()
	})
}

// Assign replaces the queues that are read: those that are new begin at their
// stored offset or where PullOptions.From says, those that are left out end, and
// what was pulled of them is dropped.
func (c *PullConsumer) Assign(mqs ...MessageQueue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for mq, q := range c.queues {
		if !slices.Contains(mqs, mq) {
			c.drop(q)
		}
	}
	for _, mq := range mqs {
		if c.queues[mq] == nil {
			c.add(mq, Unknown)
		}
	}
}

// AssignAt adds one queue that begins at offset. A queue that is there already
// begins there anew. Nobody is asked whether the offset is one of the queue's.
func (c *PullConsumer) AssignAt(mq MessageQueue, offset int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if q := c.queues[mq]; q != nil {
		c.drop(q)
	}
	c.add(mq, offset)
}

// Unassign ends the reading of queues.
func (c *PullConsumer) Unassign(mqs ...MessageQueue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, mq := range mqs {
		if q := c.queues[mq]; q != nil {
			c.drop(q)
		}
	}
}

// Assignment is what is read, sorted.
func (c *PullConsumer) Assignment() []MessageQueue {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Keys(c.queues), protocol.CompareMessageQueues)
}

// add and drop are called under mu.
func (c *PullConsumer) add(mq MessageQueue, offset int64) {
	q := &pullQueue{c: c, mq: mq, wake: make(chan struct{}, 1), next: offset, position: offset, min: Unknown, max: Unknown,
		reader: newPullReader(mq, &c.decompressor), doubted: Unknown}
	c.queues[mq] = q
	c.inbox.put(func(ctx context.Context) { c.start(func() { q.run(ctx) }) })
}

func (c *PullConsumer) drop(q *pullQueue) {
	q.dropped = true
	delete(c.queues, q.mq)
	c.renew(q)
}

// renew voids what was pulled of a queue and what is under way. Under mu.
func (c *PullConsumer) renew(q *pullQueue) {
	q.epoch++
	q.atEnd, q.retryAt = false, time.Time{}
	c.ready = slices.DeleteFunc(c.ready, func(r readyItem) bool {
		if r.q == q {
			c.release(&r)
		}
		return r.q == q
	})
	q.failingTold = false
	if q.interrupt != nil {
		q.interrupt()
	}
	q.signal()
}

// release takes an item out of the figures. Under mu.
func (c *PullConsumer) release(r *readyItem) {
	n := int64(len(r.Messages))
	c.cached -= n
	r.q.count -= n
	r.q.bytes -= r.bytes
	if n > 0 {
		r.q.first = r.Next // the next one held, if any, begins there or later
	}
}

// Poll waits for what comes next of any queue and takes it: from then on the
// queue's position is behind it. It returns ErrEnded when Run has ended.
func (c *PullConsumer) Poll(ctx context.Context) (Polled, error) {
	for {
		if p, ok := c.take(); ok {
			return p, nil
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return Polled{}, context.Cause(ctx)
		case <-c.ended:
			return Polled{}, ErrEnded
		}
	}
}

func (c *PullConsumer) take() (Polled, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ready) == 0 {
		return Polled{}, false
	}
	r := c.ready[0]
	c.ready[0] = readyItem{}
	c.ready = c.ready[1:]
	if len(c.ready) > 0 {
		c.signal() // for another goroutine that polls
	}
	if r.q == nil {
		return r.Polled, true
	}
	full := c.cached > c.o.PullThresholdForAll
	c.release(&r)
	r.q.position = max(r.q.position, r.Next)
	if r.Event != nil {
		r.q.position = r.Next // a correction may go back
	}
	r.q.failingTold = r.q.failingTold && r.Err == nil
	r.q.signal()
	if full && c.cached <= c.o.PullThresholdForAll {
		for _, q := range c.queues {
			q.signal()
		}
	}
	return r.Polled, true
}

func (c *PullConsumer) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// give appends an item for Poll. Under mu.
func (c *PullConsumer) give(r readyItem) {
	n := int64(len(r.Messages))
	if r.q != nil && n > 0 {
		if r.q.count == 0 {
			r.q.first = r.Messages[0].QueueOffset()
		}
		r.q.last = r.Messages[n-1].QueueOffset()
		r.q.count += n
		r.q.bytes += r.bytes
		c.cached += n
	}
	c.ready = append(c.ready, r)
	c.signal()
}

// Pause stops the pulling of queues; what was pulled is still polled. A queue
// that is not assigned is passed over.
func (c *PullConsumer) Pause(mqs ...MessageQueue) { c.setPaused(mqs, true) }

// Resume ends a Pause at once.
func (c *PullConsumer) Resume(mqs ...MessageQueue) { c.setPaused(mqs, false) }

func (c *PullConsumer) setPaused(mqs []MessageQueue, paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, mq := range mqs {
		if q := c.queues[mq]; q != nil {
			q.paused = paused
			q.signal()
		}
	}
}

// Paused reports whether a queue is not pulled: by Pause, or because it is not
// assigned.
func (c *PullConsumer) Paused(mq MessageQueue) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[mq]
	return q == nil || q.paused
}

// Recheck has queues that a broker holds at their end asked again at once.
func (c *PullConsumer) Recheck(mqs ...MessageQueue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, mq := range mqs {
		if q := c.queues[mq]; q != nil && q.atEnd {
			q.atEnd = false
			if q.interrupt != nil {
				q.interrupt()
			}
			q.signal()
		}
	}
}

// Position is the offset behind what was polled; ok is false for a queue that is
// not assigned or has not begun.
func (c *PullConsumer) Position(mq MessageQueue) (offset int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[mq]
	if q == nil || q.position == Unknown {
		return 0, false
	}
	return q.position, true
}

// Committed is the group's stored offset; found is false when there is none.
func (c *PullConsumer) Committed(ctx context.Context, mq MessageQueue) (offset int64, found bool, err error) {
	if c.store == nil {
		return 0, false, errNoStore
	}
	return c.store.Load(ctx, mq)
}

// Commit stores the positions of the queues, all when none is named, and returns
// when they are durable; what failed is joined in the error.
func (c *PullConsumer) Commit(ctx context.Context, mqs ...MessageQueue) error {
	if c.store == nil {
		return errNoStore
	}
	if len(mqs) == 0 {
		mqs = c.Assignment()
	}
	offsets := map[MessageQueue]int64{}
	for _, mq := range mqs {
		if o, ok := c.Position(mq); ok {
			offsets[mq] = o
		}
	}
	var all error
	for mq, err := range c.store.Save(ctx, offsets) {
		all = errors.Join(all, fmt.Errorf("commit %v: %w", mq, err))
	}
	return all
}

var errNoStore = errors.New("the pull consumer has no offset store")

// Watch has Poll tell when the queues of a topic are no longer those of have.
func (c *PullConsumer) Watch(topic string, have []MessageQueue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.topics[topic] = slices.Clone(have)
}

// checkTopics asks for the routes of the watched topics. A topic that cannot be
// asked for keeps its queues.
func (c *PullConsumer) checkTopics(ctx context.Context) {
	c.mu.Lock()
	topics := slices.Sorted(maps.Keys(c.topics))
	c.mu.Unlock()
	for _, topic := range topics {
		cctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
		route, _, err := c.client.RefreshRoute(cctx, topic)
		cancel()
		if err == nil {
			c.compare(topic, route.Queues)
		}
	}
}

func (c *PullConsumer) compare(topic string, now []MessageQueue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := Polled{Topic: topic, Added: missingFrom(c.topics[topic], now), Removed: missingFrom(now, c.topics[topic])}
	if len(p.Added)+len(p.Removed) > 0 {
		c.topics[topic] = slices.Clone(now)
		c.give(readyItem{Polled: p})
	}
}

// missingFrom are those of b that a does not have.
func missingFrom(a, b []MessageQueue) (missing []MessageQueue) {
	for _, mq := range b {
		if !slices.Contains(a, mq) {
			missing = append(missing, mq)
		}
	}
	return missing
}

// limits are the options as core wants them.
func (c *PullConsumer) limits() core.PullModeLimits {
	return core.PullModeLimits{All: c.o.PullThresholdForAll, Limits: core.Limits{
		Count: c.o.PullThresholdForQueue, SizeMiB: c.o.PullThresholdSizeForQueue, Span: c.o.ConsumeMaxSpan}}
}
