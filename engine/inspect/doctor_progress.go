package inspect

import (
	"fmt"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

const (
	// persistDefault is how often members commit; what is committed may be that old.
	persistDefault = 5 * time.Second
	// stuckAfter is how long nothing must have been consumed of a queue with a backlog.
	stuckAfter = 60 * time.Second
	// longPoll is after which a client gives a pull up; every queue is pulled, or
	// looked at, more often than that.
	longPoll = 30 * time.Second
	// consumeTimeoutDefault is after which a member sends a message back whose
	// listener has not returned.
	consumeTimeoutDefault = 15 * time.Minute
	// finishedBeyond is how many messages behind the oldest cached one must be done
	// for it to be the one that blocks, and not just the slowest of a batch.
	finishedBeyond = 100
)

// stillQueue is a queue whose commit and cache have not moved between the samples.
type stillQueue struct {
	mq          protocol.MessageQueue
	member      *Member
	now, was    *protocol.ProcessQueueInfo
	lag, before *QueueLag
}

// stillQueues are the queues with a backlog whose oldest message is the same as before.
// The window must be longer than members take to commit, or every queue stands still.
func (v *visit) stillQueues() []stillQueue {
	if !v.two() || v.paused || !v.clustering() {
		return nil
	}
	var list []stillQueue
	for i := range v.last.Lag.Queues {
		q := &v.last.Lag.Queues[i]
		was := v.queues[q.MessageQueue]
		if was == nil || !q.Lag.Known || q.Lag.Value <= 0 || !was.Lag.Known || was.Lag.Value <= 0 ||
			q.Committed.Known != was.Committed.Known || q.Committed.Value != was.Committed.Value {
			continue
		}
		now, before := v.holders[q.MessageQueue], v.heldBefore[q.MessageQueue]
		member := now.member
		if member == nil || before.member == nil || before.member.ClientID != member.ClientID || now.info.CommitOffset != before.info.CommitOffset {
			continue
		}
		if v.moved <= time.Duration(settingOf(member, "persistConsumerOffsetInterval", persistDefault.Milliseconds()))*time.Millisecond {
			continue
		}
		list = append(list, stillQueue{q.MessageQueue, member, &now.info, &before.info, q, was})
	}
	return list
}

// idle is for how long nothing was consumed of the queue, at least, by the member's
// own clock.
func (s *stillQueue) idle(v *visit) time.Duration {
	return v.ages[s.member.ClientID].Sub(unixMilli(s.now.LastConsumeTimestamp))
}

// cached counts the messages in the member, those in a listener included.
func cached(q *protocol.ProcessQueueInfo) int64 {
	return int64(q.CachedMsgCount) + int64(q.TransactionMsgCount)
}

// oldest is the offset of the oldest message in the member; -1: none is cached.
func oldest(q *protocol.ProcessQueueInfo) int64 {
	switch {
	case q.TransactionMsgCount > 0:
		return q.TransactionMsgMinOffset
	case q.CachedMsgCount > 0:
		return q.CachedMsgMinOffset
	}
	return -1
}

// upTo is the offset up to which the member has pulled, as far as can be told.
func (s *stillQueue) upTo() int64 {
	to := int64(0)
	if s.now.CachedMsgCount > 0 {
		to = s.now.CachedMsgMaxOffset + 1
	}
	switch {
	case s.lag.Pulled.Known: // 5.x
		return max(to, s.lag.Pulled.Value)
	case s.lag.Max.Known && s.now.LastPullTimestamp == s.was.LastPullTimestamp && s.lag.Max.Value == s.before.Max.Value:
		return max(to, s.lag.Max.Value) // its pull waits at the end
	}
	return to
}

// finished is how many messages behind the oldest one are done, as far as offsets
// tell; with a filter, offsets that were never delivered count too.
func (s *stillQueue) finished() int64 {
	if s.now.CachedMsgCount == 0 || s.now.TransactionMsgCount > 0 {
		return 0 // orderly: nothing is done behind the oldest
	}
	return s.upTo() - s.now.CachedMsgMinOffset - int64(s.now.CachedMsgCount)
}

// waits is how long the next message of a queue has been stored, by the brokers'
// times and our clock; 0: unknown.
func (v *visit) waits(q *QueueLag) time.Duration {
	if q.NextStored.IsZero() {
		return 0
	}
	return v.last.At.Sub(q.NextStored)
}

// stuck and blocked divide the queues that stand still: of a stuck one nothing is
// consumed, of a blocked one all but the oldest message.
func (v *visit) stuck(s *stillQueue) bool {
	if v.blocked(s) {
		return false
	}
	still := s.now.LastConsumeTimestamp == s.was.LastConsumeTimestamp && oldest(s.now) == oldest(s.was)
	return still && (s.idle(v) >= stuckAfter || v.moved >= stuckAfter)
}

func (v *visit) blocked(s *stillQueue) bool {
	if v.repeats(s) {
		return true
	}
	if s.now.CachedMsgCount == 0 || s.was.CachedMsgCount == 0 || s.now.CachedMsgMinOffset != s.was.CachedMsgMinOffset || s.now.TransactionMsgCount > 0 {
		return false
	}
	timeout := time.Duration(settingOf(s.member, "consumeTimeout", int64(consumeTimeoutDefault/time.Minute))) * time.Minute
	switch {
	case !v.last.Lag.Filtered && s.finished() >= finishedBeyond:
		return true
	case s.now.LastConsumeTimestamp == s.was.LastConsumeTimestamp:
		return false
	}
	return v.waits(s.lag) >= timeout || v.moved >= stuckAfter
}

// repeats reports whether an orderly queue takes its oldest message again and again:
// it is taken anew, its topic fails, and nothing goes on behind it.
func (v *visit) repeats(s *stillQueue) bool {
	return s.member.Info.Properties["PROP_CONSUMEORDERLY"] == "true" && oldest(s.now) >= 0 && oldest(s.now) == oldest(s.was) &&
		s.now.LastConsumeTimestamp != s.was.LastConsumeTimestamp && s.member.Info.StatusTable[s.mq.Topic].ConsumeFailedTPS > 0
}

// judgeStuck finds queues whose commit stands still while messages wait, and names
// the message at which they stand.
func judgeStuck(v *visit) {
	if !v.two() && v.last.Lag.Lag.Known && v.last.Lag.Lag.Value > 0 && !v.paused {
		v.unchecked("whether queues move", "one look", Reason{ReasonNotAsked, "it takes two looks: --samples 2"})
	}
	var stuck, blocked, repeating []stillQueue
	for _, s := range v.stillQueues() {
		switch {
		case v.repeats(&s):
			repeating = append(repeating, s)
		case v.blocked(&s):
			blocked = append(blocked, s)
		case v.stuck(&s):
			stuck = append(stuck, s)
		}
	}
	if len(repeating) > 0 {
		v.find(CodeMessageBlocks, SeverityCritical, stuckSummary(repeating, "goes no further: its oldest message fails again and again", "go no further: their oldest messages fail again and again"),
			"An orderly queue waits for its message until it succeeds. Read the member's log for the exception; to go on without the message, stop the members and move the queue one further: "+
				v.eyeq("group reset %s -t %s --queue %s:%d --to shift:+1", v.f.Group, repeating[0].mq.Topic, repeating[0].mq.BrokerName, repeating[0].mq.QueueID),
			v.stuckEvidence(repeating)...)
	}
	if len(stuck) > 0 {
		v.find(CodeQueueStuck, SeverityCritical, stuckSummary(stuck, "stands still while messages wait", "stand still while messages wait"), v.stuckNext(stuck), v.stuckEvidence(stuck)...)
	}
	if len(blocked) > 0 {
		v.find(CodeMessageBlocks, SeverityCritical, stuckSummary(blocked, "cannot commit: its oldest message is not finished, while others behind it are", "cannot commit: their oldest messages are not finished, while others behind them are"),
			"Find out what the listener waits for with that message (its threads: "+v.threads(blocked[0].member)+"). After the consume timeout the member sends it back by itself; "+
				"a restart delivers again what is finished and not committed.", v.stuckEvidence(blocked)...)
	}
}

func stuckSummary(list []stillQueue, one, many string) string {
	if len(list) == 1 {
		return fmt.Sprintf("queue %v %s", list[0].mq, one)
	}
	return fmt.Sprintf("%s %s", Plural(len(list), "queue"), many)
}

func (v *visit) stuckNext(list []stillQueue) string {
	s := &list[0]
	if cached(s.now) > 0 {
		return fmt.Sprintf("The listener has not returned since: look at its threads (%s) and at the message (%s). A restart of the member delivers it again.",
			v.threads(s.member), v.eyeq("message get -t %s --queue %s:%d --offset %d", s.mq.Topic, s.mq.BrokerName, s.mq.QueueID, oldest(s.now)))
	}
	return fmt.Sprintf("%s has nothing cached of it: it does not pull, or the broker does not answer. Look at the member's log for the queue, then restart it.", s.member.ClientID)
}

// threads is the command that shows what a member's threads do.
func (v *visit) threads(m *Member) string {
	return v.eyeq("group members %s --client %s --stack", v.f.Group, m.ClientID)
}

func (v *visit) stuckEvidence(list []stillQueue) []string {
	var lines []string
	for i := range list {
		s := &list[i]
		lines = append(lines, v.stillText(s))
		if head := v.headText(s.mq); head != "" {
			lines = append(lines, head)
		}
		if done := s.finished(); done > 0 {
			what := fmt.Sprintf("finished up to %s: %s would be delivered again after a restart", Grouped(s.upTo()), Plural(done, "message"))
			if v.last.Lag.Filtered {
				what = fmt.Sprintf("pulled up to %s; how much of it is finished cannot be told of a filtered topic", Grouped(s.upTo()))
			}
			lines = append(lines, what)
		}
	}
	return append(capped(lines), "cached offsets and times of consumption are the members' own words, by their clocks")
}

func (v *visit) stillText(s *stillQueue) string {
	text := fmt.Sprintf("%v at %s: committed %s for %s", s.mq, s.member.ClientID, committedText(s.lag), Span(v.moved))
	switch more := s.lag.Max.Value - s.before.Max.Value; {
	case s.lag.Max.Known && s.before.Max.Known && more > 0:
		text += fmt.Sprintf(", lag %s and growing (+%s)", Grouped(s.lag.Lag.Value), Grouped(more))
	default:
		text += ", lag " + Grouped(s.lag.Lag.Value)
	}
	text += fmt.Sprintf(", %s cached", Grouped(cached(s.now)))
	if idle := s.idle(v); s.now.LastConsumeTimestamp > 0 && idle >= stuckAfter {
		text += fmt.Sprintf(", nothing consumed for at least %s", Span(idle))
	}
	return text
}

func committedText(q *QueueLag) string {
	if !q.Committed.Known {
		return "nothing"
	}
	return "at " + Grouped(q.Committed.Value)
}

// headText describes the message at which a queue stands.
func (v *visit) headText(mq protocol.MessageQueue) string {
	h, ok := v.f.Heads[mq]
	if !ok {
		return ""
	}
	if h.Why.Kind != ReasonNone {
		return fmt.Sprintf("the message at offset %s could not be read: %v", Grouped(h.Offset), h.Why)
	}
	text := fmt.Sprintf("it stands at offset %s: message %s, stored %s ago", Grouped(h.Offset), h.ID, Span(v.last.At.Sub(h.Stored)))
	if h.Keys != "" {
		text += ", keys " + h.Keys
	}
	if h.Attempts > 0 {
		text += fmt.Sprintf(", attempt %d", h.Attempts+1)
	}
	return text
}

// suspects are the queues whose head message a judgement would name, with its offset.
func suspects(f Facts) map[protocol.MessageQueue]int64 {
	heads := map[protocol.MessageQueue]int64{}
	if len(f.Samples) < 2 {
		return heads
	}
	v := &visit{f: &f, first: &f.Samples[0], last: &f.Samples[len(f.Samples)-1]}
	v.moved = v.last.At.Sub(v.first.At)
	v.index()
	for _, s := range v.stillQueues() {
		if len(heads) == maxEvidence || !v.stuck(&s) && !v.blocked(&s) {
			continue
		}
		switch at := oldest(s.now); {
		case at >= 0:
			heads[s.mq] = at
		case s.lag.Committed.Known:
			heads[s.mq] = s.lag.Committed.Value
		}
	}
	return heads
}

// judgePulls finds queues whose owner has not asked for messages for too long: every
// queue is pulled, or at least looked at, within a long poll.
func judgePulls(v *visit) {
	if v.paused || v.clustering() && !v.shares() {
		return
	}
	var lines []string
	for i := range v.last.Members.Members {
		m := &v.last.Members.Members[i]
		if m.Info == nil {
			continue
		}
		alive := v.ages[m.ClientID]
		if v.asleep(m) {
			alive = m.InfoAt
		}
		for _, mq := range sortedQueues(m.Info.MQTable) {
			q := m.Info.MQTable[mq]
			old := alive.Sub(unixMilli(q.LastPullTimestamp))
			if q.Dropped || q.LastPullTimestamp <= 0 || old < 2*longPoll || v.pulledSince(m.ClientID, mq, q.LastPullTimestamp) {
				continue
			}
			line := fmt.Sprintf("%v at %s: last pull %s before its latest sign of life", mq, m.ClientID, Span(old))
			if lag := v.lagOf([]protocol.MessageQueue{mq}); lag > 0 {
				line += fmt.Sprintf(", %s wait", Plural(lag, "message"))
			}
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return
	}
	n := len(lines)
	v.find(CodePullTooOld, SeverityCritical, fmt.Sprintf("%s not pulled for more than %s", verb(n, "1 queue was", Grouped(int64(n))+" queues were"), Age(2*longPoll)),
		"The member has lost the pull of that queue: a Java member notices after 120 s and takes the queue anew. If it stays, restart the member.",
		append(capped(lines), fmt.Sprintf("a pull is due at least every %s; times are the member's own", Age(longPoll)))...)
}

// asleep reports whether a member has pulled nothing at all between the looks, for
// longer than it may. Its times then tell nothing of its clock, and ours is taken:
// a member that answered now was alive now. Over a shorter time a clock behind ours
// would look the same, and that is said instead.
func (v *visit) asleep(m *Member) bool {
	at := v.ages[m.ClientID]
	before := v.before[m.ClientID]
	if at.IsZero() || before == nil || before.Info == nil || !latestTold(before.Info).Equal(at) || m.InfoAt.Sub(at) < 2*longPoll {
		return false
	}
	if v.moved < longPoll {
		v.unchecked("whether the queues are pulled: its clock is behind ours, or nothing was for "+Span(m.InfoAt.Sub(at)), m.ClientID,
			Reason{ReasonNotAsked, "it takes a longer look: --interval 35s"})
		return false
	}
	return true
}

func (v *visit) pulledSince(clientID string, mq protocol.MessageQueue, last int64) bool {
	before := v.before[clientID]
	if before == nil || before.Info == nil {
		return true
	}
	was, held := before.Info.MQTable[mq]
	return !held || was.LastPullTimestamp != last
}

// judgeLocks finds orderly queues whose lock is lost or was not renewed. What a
// concurrent or broadcasting member says of locks means nothing.
func judgeLocks(v *visit) {
	if !v.clustering() {
		return
	}
	var lines []string
	waiting := false
	for i := range v.last.Members.Members {
		m := &v.last.Members.Members[i]
		before := v.before[m.ClientID]
		if m.Info == nil || m.Info.Properties["PROP_CONSUMEORDERLY"] != "true" || before == nil || before.Info == nil {
			continue
		}
		for _, mq := range sortedQueues(m.Info.MQTable) {
			q, was := m.Info.MQTable[mq], before.Info.MQTable[mq]
			if q.Dropped {
				continue
			}
			old := v.ages[m.ClientID].Sub(unixMilli(q.LastLockTimestamp))
			switch {
			case !q.Locked && !was.Locked:
				lines = append(lines, fmt.Sprintf("%v at %s: not locked, last granted at least %s ago", mq, m.ClientID, Span(old)))
			case q.Locked && old > core.LockMaxLive+core.LockRenewal && was.LastLockTimestamp == q.LastLockTimestamp:
				lines = append(lines, fmt.Sprintf("%v at %s: lock granted at least %s ago and not renewed; it counts for %s", mq, m.ClientID, Span(old), Age(core.LockMaxLive)))
			default:
				continue
			}
			waiting = waiting || v.lagOf([]protocol.MessageQueue{mq}) > 0
		}
	}
	if len(lines) == 0 {
		return
	}
	severity := SeverityWarning
	if waiting {
		severity = SeverityCritical
	}
	v.find(CodeLockNotRenewed, severity, fmt.Sprintf("%s, so nothing is consumed of %s", verb(len(lines), "the lock of 1 orderly queue is not held", "the locks of "+Grouped(int64(len(lines)))+" orderly queues are not held"), verb(len(lines), "it", "them")),
		"A lock is the master's to give: is it reachable ("+v.eyeq("broker list")+")? A member that died keeps its locks for up to 60 s; look again then. If it stays, another process holds them: "+
			v.eyeq("group members %s", v.f.Group), append(capped(lines), "times are the members' own")...)
}
