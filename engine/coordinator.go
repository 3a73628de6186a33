package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// coordinator owns everything about the group's membership: subscriptions,
// members, the assignment, pauses, the state of brokers. Its goroutine is
// Engine.Run. Others put commands into the engine's inbox.
type coordinator struct {
	e      *Engine
	state  ServiceState
	cause  string
	topics []*topicState
	queues map[MessageQueue]*queue

	whole  *PauseState
	pauses map[MessageQueue]*PauseState

	namesrvError string
	namesrvSince time.Time
	brokers      map[string]*brokerState // by address

	// rebalancing: a pass is being gathered; wanted: the trigger of one to follow.
	rebalancing   bool
	wanted        string
	rebalanceSeq  int64
	lastRebalance time.Time
	nextRebalance time.Time
	passBegan     time.Time
	settleAt      time.Time // not before this, so that wake-ups come together
	unbalanced    int       // passes in a row that could not balance

	// subSeq counts the changes of subscriptions; told is up to which a broker name
	// has heard of them.
	subSeq uint64
	told   map[string]uint64

	nextHeartbeat time.Time
	locking       map[string]bool // broker names whose lock request is under way
	nextRenewal   time.Time
	nextLock      time.Time // of queues that are not locked
	lockTries     int
	sampler       sampler
	lastRefresh   time.Time
	nextRoutes    time.Time
	ahead         time.Duration // of the wall clock before the monotonic one since the start

	away map[string]*givingAway // by broker name

	twins twins
	// progress is how far queues were consumed here whose broker was away when they
	// were lost.
	progress map[MessageQueue]int64

	mute map[string]int // by client id: questions for a hand-over that it left unanswered

	requests sync.WaitGroup // heartbeats and lock requests under way
	leaving  bool
	drained  chan struct{} // closed when the last queue has drained while leaving
	steps    int           // of the leave
	operator string
	operAt   time.Time
	lastErr  string
	lastErrA time.Time
	dirty    bool
}

// topicState is one subscribed topic.
type topicState struct {
	sub     protocol.SubscriptionData
	subSeq  uint64 // of the coordinator, when sub was changed last
	retry   bool
	view    core.MembersView
	route   *remoting.TopicRoute
	missing string
	// the last allocation
	members     []string
	allocation  map[string][]MessageQueue
	membersFrom string
	membersAt   time.Time
	membersErr  string
	since       map[string]time.Time
	lastMine    []MessageQueue
	skipped     string // the cause told last
	limits      core.Limits
}

// command is what others ask of the coordinator.
type command interface {
	apply(ctx context.Context, c *coordinator)
}

// loop runs the coordinator until stop ends, or the engine is cancelled.
func (c *coordinator) loop(ctx, stop context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Reset(max(time.Until(c.nextDue()), 0))
		select {
		case <-c.e.inbox.wake:
			c.drainInbox(ctx)
		case <-timer.C:
		case <-stop.Done():
			return
		case <-ctx.Done():
			return
		}
		c.due(ctx, time.Now())
		if c.dirty {
			c.publish()
		}
	}
}

func (c *coordinator) drainInbox(ctx context.Context) {
	for _, cmd := range c.e.inbox.all() {
		cmd.apply(ctx, c)
		c.dirty = true
	}
}

func (c *coordinator) nextDue() time.Time {
	next := c.nextHeartbeat
	for _, t := range []time.Time{c.rebalanceDue(), c.sampler.next[core.Minute], c.lockDue(), c.resumeDue(), c.beatDue(), c.nextRoutes} {
		if !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	return next
}

func (c *coordinator) rebalanceDue() time.Time {
	switch {
	case c.rebalancing:
		return time.Time{}
	case c.wanted != "":
		return c.settleAt
	}
	return c.nextRebalance
}

func (c *coordinator) resumeDue() (due time.Time) {
	see := func(p *PauseState) {
		if p != nil && !p.ResumeAt.IsZero() && (due.IsZero() || p.ResumeAt.Before(due)) {
			due = p.ResumeAt
		}
	}
	see(c.whole)
	for _, p := range c.pauses {
		see(p)
	}
	return due
}

// due does what the clock asks for.
func (c *coordinator) due(ctx context.Context, now time.Time) {
	if !now.Before(c.nextHeartbeat) {
		c.heartbeat(ctx, nil)
	}
	c.checkClock(now)
	c.beatAgain(ctx, now)
	if !now.Before(c.nextRoutes) {
		c.nextRoutes = now.Add(c.routePause(now))
		c.refreshRoutes(ctx)
	}
	if t := c.rebalanceDue(); !t.IsZero() && !now.Before(t) {
		trigger := c.wanted
		if trigger == "" {
			trigger = "periodic"
		}
		c.rebalance(ctx, trigger)
	}
	if t := c.lockDue(); !t.IsZero() && !now.Before(t) {
		c.lock(ctx, now)
	}
	if due := c.sampler.due(now); len(due) > 0 {
		c.e.eachStats(func(_ string, s *topicStats) { s.sample(due, now) })
	}
	if t := c.resumeDue(); !t.IsZero() && !now.Before(t) {
		c.autoResume(now)
	}
}

// wake asks for a rebalance soon; wake-ups that come together make one pass.
func (c *coordinator) wake(trigger string, after time.Duration) {
	at := time.Now().Add(after)
	if c.wanted == "" || at.Before(c.settleAt) {
		c.wanted, c.settleAt = trigger, at
	}
	if quiet := c.lastRebalance.Add(rebalanceMinInterval); c.settleAt.Before(quiet) {
		c.settleAt = quiet
	}
}

// rebalanceMinInterval keeps a storm of wake-ups from becoming one of passes.
// Java waits 1 s. Here it has to be well below handOver: the new owner of a queue
// counts on the old one to persist by then.
const rebalanceMinInterval = 50 * time.Millisecond

// note remembers the last thing that went wrong, for the status line.
func (c *coordinator) note(err string) {
	c.lastErr, c.lastErrA = err, time.Now()
	c.dirty = true
}

// own returns the queues held, sorted.
func (c *coordinator) own() []*queue {
	qs := make([]*queue, 0, len(c.queues))
	for _, q := range c.queues {
		qs = append(qs, q)
	}
	slices.SortFunc(qs, func(a, b *queue) int { return protocol.CompareMessageQueues(a.mq, b.mq) })
	return qs
}

// queueDrained says that a queue's goroutine has ended; what is left is to make
// its offset durable and to give its lock back.
type queueDrained struct{ q *queue }

func (d queueDrained) apply(ctx context.Context, c *coordinator) {
	q := d.q
	q.drained = true
	broker := q.mq.BrokerName
	a := c.awayOf(broker)
	a.draining--
	if c.leaving {
		c.forget(q) // the leave persists all queues at once and unlocks afterwards
		return
	}
	a.ended = append(a.ended, q)
	switch {
	case a.draining == 0:
		c.handAway(ctx, broker)
	case len(a.ended) == 1 && !a.writing: // wait for the others, but for no listener that runs long
		c.e.start(func() {
			if sleep(ctx, handTogether) {
				c.e.inbox.put(handAwayNow{broker})
			}
		})
	}
}

// handTogether is how long the first queue given away waits for those given away
// with it.
const handTogether = 50 * time.Millisecond

type handAwayNow struct{ broker string }

func (h handAwayNow) apply(ctx context.Context, c *coordinator) { c.handAway(ctx, h.broker) }

// givingAway is what is being given away of one broker's queues.
type givingAway struct {
	draining int      // told to end, and not drained yet
	ended    []*queue // drained, and not yet durable
	writing  bool     // the offsets of others are being written
}

func (c *coordinator) awayOf(broker string) *givingAway {
	a := c.away[broker]
	if a == nil {
		a = &givingAway{}
		c.away[broker] = a
	}
	return a
}

// drop tells a queue to end.
func (c *coordinator) drop(q *queue, cause core.DropCause, wait time.Duration) {
	if !q.dropping {
		q.dropping = true
		c.awayOf(q.mq.BrokerName).draining++
	}
	q.inbox.put(dropQueue{cause, wait})
}

// handAway makes the offsets of all queues of a broker that have drained durable
// and gives their locks back, in one go: one after another, their last owner
// would come behind the first commits of the next.
func (c *coordinator) handAway(ctx context.Context, broker string) {
	a := c.awayOf(broker)
	if a.writing || len(a.ended) == 0 {
		return
	}
	qs := a.ended
	a.writing, a.ended = true, nil
	e := c.e
	var locked []MessageQueue
	for _, q := range qs {
		if q.orderly && q.clustering && q.lockedUntil.Load() != 0 {
			locked = append(locked, q.mq)
		}
	}
	e.start(func() {
		sctx, cancel := context.WithTimeout(ctx, saveLimit)
		_ = e.persist(sctx, qs) // told as an event; there is nothing else to be done for it
		cancel()
		if len(locked) > 0 {
			e.unlock(ctx, broker, locked)
		}
		e.inbox.put(queuesRemoved{broker, qs})
	})
}

// queuesRemoved ends the life of queues here.
type queuesRemoved struct {
	broker string
	qs     []*queue
}

func (r queuesRemoved) apply(ctx context.Context, c *coordinator) {
	c.awayOf(r.broker).writing = false
	c.handAway(ctx, r.broker)
	for _, q := range r.qs {
		c.removed(q)
	}
}

func (c *coordinator) removed(q *queue) {
	if c.queues[q.mq] != q {
		return
	}
	c.forget(q)
	unlocked := q.orderly && q.clustering && q.lockedUntil.Load() != 0
	c.rememberProgress(q)
	c.e.events.publish(QueueRemoved{q.at(), unlocked, ms(time.Since(q.dropBegan))})
	c.e.events.publish(OffsetForgotten{q.at(), "removed"})
	c.setLimits(q.mq.Topic)
	if t := c.topic(q.mq.Topic); t != nil && slices.Contains(t.lastMine, q.mq) {
		c.wake("retry", 0) // it was given back to us while it was being given away (trap T05)
	}
}

func (c *coordinator) topic(name string) *topicState {
	for _, t := range c.topics {
		if t.sub.Topic == name {
			return t
		}
	}
	return nil
}

// forget takes a queue that has ended out of the table, and tells the leave when
// it was the last one.
func (c *coordinator) forget(q *queue) {
	if c.queues[q.mq] != q {
		return
	}
	delete(c.queues, q.mq)
	if c.leaving && len(c.queues) == 0 {
		close(c.drained)
	}
}

// startQueue takes a queue: its goroutine waits for lock and offset by itself.
func (c *coordinator) startQueue(ctx context.Context, t *topicState, mq MessageQueue, asking bool) *queue {
	q := c.e.newQueue(mq, t.sub, t.limits)
	q.asking = asking
	q.fourLine = true
	for _, b := range c.brokers {
		if b.Name == mq.BrokerName && b.Version >= protocol.VersionFive {
			q.fourLine = false
		}
	}
	q.pause, q.whole = c.pauses[mq], c.whole
	if progress, ok := c.progress[mq]; ok {
		q.progress = progress
	}
	c.queues[mq] = q
	q.publish(time.Now())
	c.e.start(func() { q.run(ctx) })
	q.inbox.put(nudge{})
	c.tellSub(q)
	return q
}

// nudge wakes a queue that has nothing to wait for yet.
type nudge struct{}

func (nudge) applyTo(context.Context, *queue) {}

// setLimits divides the per-topic thresholds by the topic's queues held here
// (trap T32: by that topic's, not by all).
func (c *coordinator) setLimits(topic string) {
	o := &c.e.o
	n := int64(0)
	for mq, q := range c.queues {
		if mq.Topic == topic && !q.dropping {
			n++
		}
	}
	limits := core.Limits{Count: o.PullThresholdForQueue, SizeMiB: o.PullThresholdSizeForQueue, Span: o.ConsumeConcurrentlyMaxSpan}
	if n > 0 && o.PullThresholdForTopic != -1 {
		limits.Count = max(1, o.PullThresholdForTopic/n)
	}
	if n > 0 && o.PullThresholdSizeForTopic != -1 {
		limits.SizeMiB = max(1, o.PullThresholdSizeForTopic/n)
	}
	for _, t := range c.topics {
		if t.sub.Topic != topic || t.limits == limits {
			continue
		}
		t.limits = limits
		for mq, q := range c.queues {
			if mq.Topic == topic {
				q.inbox.put(setLimits{limits})
			}
		}
	}
}

// brokerTrouble says that a pull failed in a way the coordinator can help with.
type brokerTrouble struct {
	mq        MessageQueue
	addr      string
	err       error
	heartbeat bool
	refresh   bool
}

// refreshPause keeps failing pulls from asking for a route each.
const refreshPause = 2 * time.Second

func (b brokerTrouble) apply(ctx context.Context, c *coordinator) {
	now := time.Now()
	if b.err != nil && b.addr != "" {
		c.brokerDown(b.mq.BrokerName, b.addr, b.err)
		c.sweepBrokers()
	}
	if b.heartbeat {
		c.nextHeartbeat = earlier(c.nextHeartbeat, now.Add(100*time.Millisecond))
	}
	if b.refresh && now.Sub(c.lastRefresh) >= refreshPause {
		c.lastRefresh = now
		c.refreshRoutes(ctx)
	}
}

// persistSoon makes a queue's present offset durable while it is being given away.
type persistSoon struct{ q *queue }

func (p persistSoon) apply(ctx context.Context, c *coordinator) {
	c.e.start(func() {
		sctx, cancel := context.WithTimeout(ctx, saveLimit)
		defer cancel()
		_ = c.e.persist(sctx, []*queue{p.q}) // tried again when the queue has drained
	})
}

// callTimeout bounds most calls (Java: mqClientApiTimeout); lockTimeout those for locks.
const (
	callTimeout = 3 * time.Second
	lockTimeout = time.Second
)

func (c *coordinator) setState(to ServiceState, cause string) {
	c.e.events.publish(ConsumerState{At{Time: time.Now()}, c.state.String(), to.String(), cause})
	c.state, c.cause, c.dirty = to, cause, true
}
