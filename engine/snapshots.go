package engine

import (
	"fmt"
	"slices"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// base is the coordinator's part of a snapshot. It is immutable.
type base struct {
	state         ServiceState
	cause         string
	topics        []TopicSnapshot
	owner         map[MessageQueue]string // by the strategy
	all           []MessageQueue          // of all topics, sorted
	own           []*queue                // sorted
	byMQ          map[MessageQueue]*queue
	brokers       []BrokerSnapshot
	namesrvError  string
	pause         *PauseState
	rebalanceSeq  int64
	lastRebalance time.Time
	nextRebalance time.Time
	started       time.Time
	limits        core.Limits
	operator      string
	operAt        time.Time
	lastErr       string
	lastErrAt     time.Time
}

// publish stores the coordinator's part anew.
func (c *coordinator) publish() {
	c.dirty = false
	o := &c.e.o
	b := &base{
		state: c.state, cause: c.cause, namesrvError: c.namesrvError, pause: c.whole,
		rebalanceSeq: c.rebalanceSeq, lastRebalance: c.lastRebalance, nextRebalance: c.nextRebalance,
		operator: c.operator, operAt: c.operAt, lastErr: c.lastErr, lastErrAt: c.lastErrA,
		limits: core.Limits{Count: o.PullThresholdForQueue, SizeMiB: o.PullThresholdSizeForQueue, Span: o.ConsumeConcurrentlyMaxSpan},
		owner:  map[MessageQueue]string{}, byMQ: map[MessageQueue]*queue{},
	}
	b.started = c.e.base.Load().started
	if b.started.IsZero() && c.state == Running {
		b.started = time.Now()
	}
	for _, t := range c.topics {
		b.topics = append(b.topics, c.topicSnapshot(t, b))
	}
	b.own = c.own()
	for _, q := range b.own {
		b.byMQ[q.mq] = q
		if _, ok := b.owner[q.mq]; !ok {
			b.all = append(b.all, q.mq) // still being given away after its topic lost it
			b.owner[q.mq] = ""
		}
	}
	slices.SortFunc(b.all, protocol.CompareMessageQueues)
	for _, s := range c.brokers {
		b.brokers = append(b.brokers, s.BrokerSnapshot)
	}
	slices.SortFunc(b.brokers, func(x, y BrokerSnapshot) int {
		return protocol.CompareUTF16(x.Name+x.Address, y.Name+y.Address)
	})
	if len(c.topics) > 0 {
		b.limits = c.topics[0].limits
	}
	c.e.base.Store(b)
}

func (c *coordinator) topicSnapshot(t *topicState, b *base) TopicSnapshot {
	s := TopicSnapshot{
		Topic: t.sub.Topic, Expression: t.sub.SubString, SubVersion: t.sub.SubVersion, Retry: t.retry, Missing: t.missing,
		MembersFrom: t.membersFrom, MembersAt: t.membersAt, MembersError: t.membersErr,
	}
	if t.route == nil {
		if s.Missing == "" {
			s.Missing = "asking the name servers"
		}
		return s
	}
	o := &c.e.o
	s.Queues, s.Brokers = len(t.route.Queues), brokerNames(t.route)
	for _, mq := range t.route.Queues {
		b.owner[mq] = ""
		b.all = append(b.all, mq)
	}
	known := o.MessageModel == protocol.Broadcasting || core.KnowsOthers(o.Strategy)
	for _, id := range t.members {
		m := MemberSnapshot{ClientID: id, Self: id == c.e.clientID, Since: t.since[id], Queues: t.allocation[id]}
		m.Unknown = !known && !m.Self
		for _, mq := range m.Queues {
			b.owner[mq] = id
		}
		s.Members = append(s.Members, m)
	}
	return s
}

// watched reports whether somebody has looked lately.
func (e *Engine) watched(now time.Time) bool {
	at := e.asked.Load()
	return at != 0 && now.Sub(e.moment(at)) < lookedAtLimit
}

// Snapshot returns what the engine looks like now: at most some 100 ms old while
// it is called every few seconds; the first one after a while may be older. It
// never waits for the engine.
func (e *Engine) Snapshot() *Snapshot {
	now := time.Now()
	b := e.base.Load()
	if watched := e.watched(now); !watched {
		e.asked.Store(e.stamp(now))
		for _, q := range b.own { // they did not publish while nobody looked
			q.inbox.put(refresh{})
		}
	}
	e.asked.Store(e.stamp(now))
	s := &Snapshot{
		At: now, Started: b.started, State: b.state, StateCause: b.cause,
		Group: e.o.Group, ClientID: e.clientID, Model: e.o.MessageModel, Orderly: e.o.Orderly,
		From: e.o.ConsumeFromWhere, Strategy: e.o.Strategy.Name(),
		NamesrvError: b.namesrvError, Brokers: b.brokers, Pause: b.pause,
		RebalanceSeq: b.rebalanceSeq, LastRebalance: b.lastRebalance, NextRebalance: b.nextRebalance,
		PersistEvery: e.o.PersistInterval, Limits: b.limits, Totals: e.totals.totals(),
		Threads: len(e.pool.workers), ThreadsBusy: e.pool.busy(),
		LastOperator: b.operator, LastOperatorAt: b.operAt, LastError: b.lastErr, LastErrorAt: b.lastErrAt,
	}
	s.Namesrv, s.NamesrvCurrent = e.d.Client.Namesrv()
	if at := e.lastPersist.Load(); at != 0 {
		s.LastPersist = e.moment(at)
	}
	var obs map[MessageQueue]observedQueue
	if o := e.observed.Load(); o != nil {
		obs = o.queues
	}
	s.Topics = b.topicsHeld()
	s.Queues = make([]QueueSnapshot, len(b.all))
	for i, mq := range b.all {
		row := &s.Queues[i]
		o, seen := obs[mq]
		if q := b.byMQ[mq]; q != nil {
			*row = *q.snap.Load()
			row.InProcess = e.pool.inProcess(q)
			row.PersistedOffset = q.persisted.Load()
			if at := q.persistedAt.Load(); at != 0 {
				row.PersistedAt = e.moment(at)
			}
			if at := q.notDurable.Load(); at != 0 {
				s.PersistError, s.PersistErrorSince = *e.notSaved.Load(), earlier(s.PersistErrorSince, e.moment(at))
			}
			if seen && o.at.After(row.OffsetsAt) {
				row.MinOffset, row.MaxOffset, row.OffsetsAt, row.OffsetsFrom = o.min, max(o.max, row.MaxOffset), o.at, o.from
			}
		} else {
			*row = QueueSnapshot{MessageQueue: mq, State: QueueOther, MinOffset: Unknown, MaxOffset: Unknown, CommittedOffset: Unknown,
				PersistedOffset: Unknown, NextOffset: Unknown, CachedMin: Unknown, CachedMax: Unknown, ConsumingMin: Unknown, ConsumingMax: Unknown,
				HeldFirst: Unknown, HeldLast: Unknown}
			if seen {
				row.MinOffset, row.MaxOffset, row.CommittedOffset, row.PersistedOffset = o.min, o.max, o.committed, o.committed
				row.OffsetsAt, row.OffsetsFrom, row.LastConsumedStored = o.at, o.from, o.consumed
			}
		}
		if row.State == QueueError || now.Sub(row.OffsetsAt) > offsetsMaxAge {
			row.MinOffset, row.MaxOffset = Unknown, Unknown
		}
		row.Owner = b.owner[mq]
		row.Retry = mq.Topic == protocol.RetryTopic(e.o.Group)
	}
	return s
}

// topicsHeld is the topics with the number of queues that this client has in
// service now: that changes without the coordinator.
func (b *base) topicsHeld() []TopicSnapshot {
	held := map[string]int{}
	for _, q := range b.own {
		if s := q.snap.Load().State; s != QueueTaking && s != QueueDropping {
			held[q.mq.Topic]++
		}
	}
	topics := slices.Clone(b.topics)
	for i := range topics {
		t := &topics[i]
		if self := slices.IndexFunc(t.Members, func(m MemberSnapshot) bool { return m.Self }); self >= 0 {
			t.Members = slices.Clone(t.Members)
			t.Members[self].Held = held[t.Topic]
		}
	}
	return topics
}

// offsetsMaxAge is how old a broker's word on a queue's bounds may be before they
// count as unknown: an answer to a held pull comes every 15 s, the observer's more
// often. A number that nobody can confirm must not look like the present.
const offsetsMaxAge = 25 * time.Second

// Subscribe opens a subscription to all events from now on; buffer is the size of its ring.
// But for ConsumeBegin and ConsumeEnd: see SubscribeCalls.
func (e *Engine) Subscribe(buffer int) *EventSubscription { return e.events.subscribe(buffer, false) }

// SubscribeCalls is Subscribe with ConsumeBegin and ConsumeEnd too. These are two
// events a listener call, which is as much work as all that the engine does for a
// message: hence only while somebody asks for them.
func (e *Engine) SubscribeCalls(buffer int) *EventSubscription {
	return e.events.subscribe(buffer, true)
}

// publish stores the queue's snapshot anew.
func (q *queue) publish(now time.Time) {
	q.stale, q.publishAt = false, time.Time{}
	st := q.cacheStats()
	s := &QueueSnapshot{
		MessageQueue: q.mq, Retry: q.retry, Own: true,
		MinOffset: q.min, MaxOffset: q.max, OffsetsAt: q.offsetsAt, OffsetsFrom: q.offsetsFrom,
		CommittedOffset: q.commit, PersistedOffset: q.persisted.Load(), NextOffset: q.nextOffset,
		CachedMin: st.Min, CachedMax: st.Max, CachedCount: st.Count, CachedDone: st.Done,
		CachedBytes: st.PinnedBytes, BodyBytes: st.BodyBytes, Span: st.Span, LocalRetry: q.retriesWaiting(), Held: int64(len(q.held)),
		Consuming: st.Consuming, ConsumingMin: st.ConsumingMin, ConsumingMax: st.ConsumingMax,
		TakenAt: q.takenAt, Locked: q.locked, LockedAt: q.lockedAt, Pause: q.paused(),
		LastPull: q.lastPull, PullRTT: q.rtt, LastStatus: q.status, LastConsume: q.lastConsume,
		LastError: q.lastError, LastErrorAt: q.lastErrAt, BrokerID: q.brokerID, Generation: q.gen.Load(),
		Pulled: q.pulled, Consumed: q.consumed, Failed: q.failed, SentBack: q.sentBack,
	}
	s.HeldFirst, s.HeldLast = q.heldEnds()
	q.pq.Head(1, func(seq uint64, m *protocol.MessageExt, _ core.Stage) {
		s.HeadStored, s.HeadMessageID, s.HeadHeld = m.Stored(), m.MessageID(), q.heldSince(m.QueueOffset())
		if b, i, ok := q.batchOf(seq); ok {
			if at := b.startedAt(i); at > 0 {
				s.HeadStarted = q.e.moment(at)
			}
		}
	})
	if c, ok := q.flow.Current(); ok {
		s.Flow, s.FlowLimit, s.FlowValue, s.FlowSince, s.FlowTimes = c.Cause, c.Limit, c.Value, c.Since, c.Times
	}
	s.State, s.Detail = q.describe(s, now)
	if s.State != q.state || q.stateSince.IsZero() {
		q.state, q.stateSince = s.State, now
	}
	s.StateSince = q.stateSince
	q.snap.Store(s)
}

// cacheStats are the cache's figures as the reference counts them: what a worker
// took for a run and has not given to the listener yet is still cached.
func (q *queue) cacheStats() core.CacheStats {
	st, b := q.pq.Stats(), q.out
	if b == nil || b.gen != q.gen.Load() {
		return st
	}
	handed := int(b.handed.Load())
	if handed == len(b.msgs) || st.Consuming == 0 {
		return st
	}
	st.Consuming -= int64(len(b.msgs) - handed)
	st.Span = st.Max - b.msgs[handed].QueueOffset()
	switch {
	case st.Consuming <= 0:
		st.Consuming, st.ConsumingMin, st.ConsumingMax = 0, Unknown, Unknown
	case handed > 0:
		st.ConsumingMax = b.msgs[handed-1].QueueOffset()
	default: // of what was taken before and not committed
		q.pq.Head(int(st.Consuming), func(_ uint64, m *protocol.MessageExt, _ core.Stage) { st.ConsumingMax = m.QueueOffset() })
	}
	return st
}

// noLock says why the queue has no lock.
func (q *queue) noLock(now time.Time) string {
	switch {
	case q.lockErr != nil:
		return "no lock: " + q.lockErr.Error()
	case !q.refusedAt.IsZero():
		return fmt.Sprintf("the broker refuses the lock for %v: another client holds it, a dead one's lease ends within 60s",
			now.Sub(q.refusedAt).Round(time.Second))
	}
	return "waiting for the lock"
}

// describe names the queue's state and why.
func (q *queue) describe(s *QueueSnapshot, now time.Time) (QueueState, string) {
	switch {
	case q.phase >= phaseDropping:
		return QueueDropping, q.dropCause.String()
	case q.phase == phaseTaking:
		if q.orderly && q.clustering && !q.locked {
			return QueueTaking, q.noLock(now)
		}
		return QueueTaking, q.detail
	case q.resetting != nil:
		return QueueResetting, fmt.Sprintf("to %d", q.resetting.to)
	case q.errors > 0:
		return QueueError, q.lastError
	case q.orderly && q.clustering && !q.locked:
		return QueueUnlocked, q.noLock(now)
	case now.Before(q.suspendTill):
		return QueueSuspended, "retry of the head in " + q.suspendTill.Sub(now).Round(100*time.Millisecond).String()
	case s.Pause != nil && s.CachedCount > 0: // trap T12: what is cached goes on
		return QueuePaused, fmt.Sprintf("draining %d, by %s", s.CachedCount, s.Pause.By)
	case s.Pause != nil:
		return QueuePaused, "by " + s.Pause.By
	case s.Flow != core.FlowNone && q.uncommitted:
		return QueueFlow, fmt.Sprintf("%s: %d messages are taken and not committed, the listener must commit sooner", s.Flow, s.Consuming)
	case s.Flow != core.FlowNone:
		return QueueFlow, s.Flow.String()
	case s.CachedCount == 0 && q.inFlight && now.Sub(q.pullStart) >= publishEvery/2 && (q.max == Unknown || q.nextOffset >= q.max):
		return QueueIdle, ""
	}
	if s.Held > 0 {
		return QueueRun, fmt.Sprintf("%d held", s.Held)
	}
	return QueueRun, ""
}
