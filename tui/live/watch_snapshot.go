package live

import (
	"slices"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/words"
)

// deadPull is when a queue that is not pulled is said to stand: a member's pull waits
// at the broker for 15 s, and a client gives up after 30 s.
const deadPull = 45 * time.Second

// watchSnapshot turns a group as its brokers and members tell it into what the live
// view draws. Own means that the queue's holder tells what is inside. CommittedOffset
// is where the lag counts from; what was really committed is in the facts. Names are
// true; the door makes them safe.
func watchSnapshot(l *inspect.Live, before *watchPast) *engine.Snapshot {
	s := &engine.Snapshot{
		At: l.At, Started: before.began, State: engine.Running, Group: l.Group,
		Model: l.Members.Model, Orderly: l.Orderly, From: l.Members.From,
		RebalanceSeq: before.passes, LastRebalance: before.lastMove, Totals: before.totals(),
	}
	for i := range l.Topics {
		t := &l.Topics[i]
		if s.Strategy == "" && !t.Retry {
			s.Strategy = t.Strategy
		}
		s.Topics = append(s.Topics, watchTopic(l, t, before))
	}
	for _, name := range liveBrokers(l) {
		b := engine.BrokerSnapshot{Name: name}
		if m, ok := before.mute[name]; ok {
			b.Error, b.ErrorSince = m.why.String(), m.since
		}
		s.Brokers = append(s.Brokers, b)
	}
	s.Queues = make([]engine.QueueSnapshot, len(l.Queues))
	for i := range l.Queues {
		s.Queues[i] = watchQueue(l, &l.Queues[i], before)
	}
	return s
}

// watchTopic lists who holds what of a topic: all members, also those with nothing.
func watchTopic(l *inspect.Live, t *inspect.LiveTopic, before *watchPast) engine.TopicSnapshot {
	s := engine.TopicSnapshot{Topic: t.Topic, Expression: t.Expression, Retry: t.Retry, Queues: t.Queues, Brokers: t.Brokers, MembersAt: l.Members.At}
	held := make(map[string][]engine.MessageQueue)
	for i := range l.Queues {
		q := &l.Queues[i]
		if q.Topic != t.Topic {
			continue
		}
		for _, id := range q.Owners {
			held[id] = append(held[id], q.MessageQueue)
		}
	}
	for i := range l.Members.Members {
		m := &l.Members.Members[i]
		s.Members = append(s.Members, engine.MemberSnapshot{ClientID: m.ClientID, Since: before.seen[m.ClientID], Queues: held[m.ClientID], Unknown: m.Info == nil})
	}
	return s
}

// known gives a number, or engine.Unknown.
func known(n inspect.Number) int64 {
	if !n.Known {
		return engine.Unknown
	}
	return n.Value
}

func watchQueue(l *inspect.Live, q *inspect.LiveQueue, before *watchPast) engine.QueueSnapshot {
	s := engine.QueueSnapshot{
		MessageQueue: q.MessageQueue, Retry: q.Retry, Owner: q.Owner, StateSince: l.At,
		MinOffset: known(q.Min), MaxOffset: known(q.Max), OffsetsAt: l.At, CommittedOffset: known(q.Committed),
		PersistedOffset: known(q.Committed), NextOffset: known(q.Pulled), LastConsumedStored: q.LastConsumed, HeadStored: q.NextStored,
		CachedMin: engine.Unknown, CachedMax: engine.Unknown, BrokerID: q.BrokerID,
	}
	switch {
	case q.Lag.Known && q.Max.Known:
		s.CommittedOffset = q.Max.Value - q.Lag.Value
	case !q.Lag.Known:
		s.CommittedOffset = engine.Unknown
	}
	watchInside(q, &s, before)
	s.State, s.Detail = watchState(l, q, &s)
	before.sinceWhen(&s)
	return s
}

// watchInside takes over what the holder says of its ProcessQueue.
func watchInside(q *inspect.LiveQueue, s *engine.QueueSnapshot, before *watchPast) {
	info := q.Info
	if info == nil {
		return
	}
	s.Own = true
	s.CachedCount, s.CachedBytes = int64(info.CachedMsgCount), int64(info.CachedMsgSizeInMiB)<<20
	if s.CachedCount > 0 {
		s.CachedMin, s.CachedMax = info.CachedMsgMinOffset, info.CachedMsgMaxOffset
		s.Span = max(s.CachedMax-s.CachedMin, 0)
	}
	s.Locked, s.LockedAt = info.Locked, words.Millis(info.LastLockTimestamp)
	s.LastPull, s.LastConsume = words.Millis(info.LastPullTimestamp), words.Millis(info.LastConsumeTimestamp)
	s.Consuming, s.ConsumingMin, s.ConsumingMax = int64(info.TransactionMsgCount), info.TransactionMsgMinOffset, info.TransactionMsgMaxOffset
	// What is in flight and not cached is done, or another tag's.
	pulled, _ := before.PulledUpTo(q)
	s.CachedDone = max(pulled-committedUpTo(q)-s.CachedCount-s.Consuming, 0)
	s.Flow, s.FlowValue, s.FlowLimit = WatchFlow(q, s)
}

// committedUpTo is how far a queue's holder has committed: by its own word, which is
// ahead of the broker's until it sends the offset, every 5 s.
func committedUpTo(q *inspect.LiveQueue) int64 {
	n := int64(0)
	if q.Committed.Known {
		n = q.Committed.Value
	}
	if q.Info != nil {
		n = max(n, q.Info.CommitOffset)
		if q.Info.CachedMsgCount > 0 && n == 0 { // nothing is committed yet
			n = q.Info.CachedMsgMinOffset
		}
	}
	return n
}

// WatchFlow is the limit that stops the pulling, by the rule of the queue's holder and
// by the limits that it reports: those of another member are not its own, and a default
// may have been changed.
func WatchFlow(q *inspect.LiveQueue, s *engine.QueueSnapshot) (cause engine.FlowCause, value, limit int64) {
	limits, sizeMiB := &q.Limits, int64(q.Info.CachedMsgSizeInMiB)
	switch {
	case limits.Count.Known() && s.CachedCount > limits.Count.Value:
		return core.FlowCount, s.CachedCount, limits.Count.Value
	case limits.SizeMiB.Known() && sizeMiB > limits.SizeMiB.Value:
		return core.FlowSize, sizeMiB, limits.SizeMiB.Value
	case !q.Orderly && limits.Span.Known() && s.Span > limits.Span.Value:
		return core.FlowSpan, s.Span, limits.Span.Value
	}
	return core.FlowNone, 0, 0
}

// watchState is what a queue does, as far as it was told, and why.
func watchState(l *inspect.Live, q *inspect.LiveQueue, s *engine.QueueSnapshot) (engine.QueueState, string) {
	info := q.Info
	switch pausedBy := queuePause(&l.Lag.Pause, q.MessageQueue); {
	case pausedBy != "":
		return engine.QueuePaused, pausedBy
	case info == nil:
		return engine.QueueOther, ""
	case info.Dropped:
		return engine.QueueDropping, ""
	case s.Flow != core.FlowNone:
		return engine.QueueFlow, words.FlowText(s.Flow, s.FlowValue, s.FlowLimit)
	case q.Orderly && !info.Locked:
		return engine.QueueUnlocked, "its member has not got the broker's lock"
	case q.Orderly && !s.LockedAt.IsZero() && l.At.Sub(s.LockedAt) > core.LockMaxLive:
		return engine.QueueUnlocked, "lock not renewed for " + words.Since(s.LockedAt, l.At)
	}
	if lag, ok := s.Lag(); ok && lag <= 0 && s.CachedCount == 0 {
		return engine.QueueIdle, ""
	}
	return engine.QueueRun, ""
}

// queuePause says by what a queue is paused at its broker; "" when it is not.
func queuePause(p *inspect.Pause, mq engine.MessageQueue) string {
	switch {
	case slices.Contains(p.Brokers, mq.BrokerName):
		return "group, on its broker"
	case slices.Contains(p.Topics[mq.Topic], mq.BrokerName):
		return "topic, on its broker"
	}
	return ""
}
