package inspect

import (
	"fmt"
	"slices"
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

// stillQueue is a queue with a backlog whose commit has not moved between the samples.
type stillQueue struct {
	mq          protocol.MessageQueue
	member      *Member // nil: who holds it does not tell what it does with it, and now and was are empty
	now, was    *protocol.ProcessQueueInfo
	lag, before *QueueLag
}

// stillQueues are the queues with a backlog whose commit at the broker is the same as
// before.
func (v *visit) stillQueues() []stillQueue {
	if !v.two() || v.paused || !v.clustering() {
		return nil
	}
	var list []stillQueue
	for i := range v.last.Lag.Queues {
		q := &v.last.Lag.Queues[i]
		was := v.queues[q.MessageQueue]
		if was == nil || !q.waits() || !was.waits() || q.Pop || q.Committed.Known != was.Committed.Known || q.Committed.Value != was.Committed.Value ||
			v.last.Lag.Pause.Refuses(q.Topic, q.BrokerName) || v.closed[q.MessageQueue] {
			continue // what keeps it is told already
		}
		now, held := v.holders[q.MessageQueue]
		before, heldBefore := v.heldBefore[q.MessageQueue]
		switch {
		case !held && !heldBefore && v.untold(q):
			list = append(list, stillQueue{mq: q.MessageQueue, now: &protocol.ProcessQueueInfo{}, was: &protocol.ProcessQueueInfo{}, lag: q, before: was})
		case now.member != nil && before.member != nil && before.member.ClientID == now.member.ClientID:
			s := stillQueue{q.MessageQueue, now.member, &now.info, &before.info, q, was}
			if now.info.CommitOffset == before.info.CommitOffset || s.unsaved() {
				list = append(list, s) // else it moves, and the broker learns of it with the next commit
			}
		}
	}
	return list
}

// untold reports whether a queue that no member is known to hold may be held by one that
// does not tell: it has not answered, and the brokers know its topic as subscribed.
func (v *visit) untold(q *QueueLag) bool {
	if v.last.Members.Kind != KindPush && v.last.Members.Kind != KindProxy {
		return false // others commit when they like
	}
	silent := slices.ContainsFunc(v.last.Members.Members, func(m Member) bool { return m.Info == nil })
	return silent && (q.Retry || slices.ContainsFunc(v.f.Detail.Subscriptions.Rows, func(r SubscriptionRow) bool { return r.Topic == q.Topic && r.Broker != "" }))
}

// stood is how long a queue's commit has stood at least, with messages waiting: through
// the looks, or for longer where it was seen there before.
func (v *visit) stood(s *stillQueue) time.Duration {
	if s.lag.StandsSince.IsZero() {
		return v.moved
	}
	return max(v.moved, v.last.At.Sub(s.lag.StandsSince))
}

// idle is for how long nothing was consumed of the queue, at least, by the member's
// own clock.
func (s *stillQueue) idle(v *visit) time.Duration {
	if s.member == nil || s.now.LastConsumeTimestamp <= 0 {
		return 0
	}
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
	case s.lag.Max.Known && s.lag.Max.Value == s.before.Max.Value && s.atEnd():
		return max(to, s.lag.Max.Value)
	}
	return to
}

// atEnd reports whether the member has pulled all of a queue that did not grow between
// the looks: its pull waits there, or pulls have brought nothing new to a cache that is
// far below any limit.
func (s *stillQueue) atEnd() bool {
	return s.now.LastPullTimestamp == s.was.LastPullTimestamp ||
		s.now.CachedMsgCount == 1 && s.was.CachedMsgCount == 1 && s.now.LastConsumeTimestamp == s.was.LastConsumeTimestamp
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

// stall is what is wrong with a queue that stands still.
type stall uint8

const (
	stallNone    stall = iota // it cannot be told yet: a slow listener looks the same for a while
	stallStuck                // nothing of it is consumed
	stallBlocked              // messages behind the oldest one are finished
	stallRepeats              // it is orderly, and its oldest message fails again and again
	stallUnsaved              // its member is further by its own word, and the broker does not learn of it
)

// stall judges a queue that stands still. For how long it has stood decides, and not what
// happened to be finished between the looks: that only says which of two it is.
func (v *visit) stall(s *stillQueue) stall {
	long := v.stood(s) >= stuckAfter
	same := s.now.LastConsumeTimestamp == s.was.LastConsumeTimestamp
	switch {
	case s.unsaved():
		if long && v.stood(s) >= 3*s.persist() {
			return stallUnsaved
		}
	case v.repeats(s):
		return stallRepeats
	case s.behind():
		if long || !v.last.Lag.Filtered && s.finished() >= finishedBeyond && v.moved > s.persist() {
			return stallBlocked
		}
	case long, same && s.idle(v) >= stuckAfter && v.moved > s.persist():
		return stallStuck
	}
	return stallNone
}

// unsaved reports whether the member says to have committed what the broker has not got.
func (s *stillQueue) unsaved() bool {
	return s.member != nil && s.lag.Committed.Known && min(s.now.CommitOffset, s.was.CommitOffset) > s.lag.Committed.Value
}

// behind reports whether messages behind the oldest cached one are finished.
func (s *stillQueue) behind() bool {
	if s.now.CachedMsgCount == 0 || s.now.TransactionMsgCount > 0 {
		return false
	}
	return s.now.LastConsumeTimestamp != s.was.LastConsumeTimestamp || s.finished() > 0
}

// persist is how often the member commits: over a shorter time every queue stands still.
func (s *stillQueue) persist() time.Duration {
	if s.member == nil {
		return persistDefault
	}
	return time.Duration(settingOf(s.member, "persistConsumerOffsetInterval", persistDefault.Milliseconds())) * time.Millisecond
}

// repeats reports whether an orderly queue takes its oldest message again and again:
// it is taken anew, its topic fails, and nothing goes on behind it.
func (v *visit) repeats(s *stillQueue) bool {
	return s.member != nil && s.member.orderly() && oldest(s.now) >= 0 && oldest(s.now) == oldest(s.was) &&
		s.now.LastConsumeTimestamp != s.was.LastConsumeTimestamp && s.member.Info.StatusTable[s.mq.Topic].ConsumeFailedTPS > 0
}

// judgeStuck finds queues whose commit stands still while messages wait, and names
// the message at which they stand.
func judgeStuck(v *visit) {
	if !v.two() && v.last.Lag.Lag.Known && v.last.Lag.Lag.Value > 0 && !v.paused {
		v.unchecked("whether queues move", "one look", Reason{ReasonNotAsked, "it takes two looks: --samples 2"})
	}
	by := map[stall][]stillQueue{}
	for _, s := range v.stillQueues() {
		is := v.stall(&s)
		by[is] = append(by[is], s)
	}
	for _, s := range by[stallNone] {
		v.unchecked(fmt.Sprintf("whether %v goes on", s.mq), "the looks so far", Reason{ReasonNotYet,
			fmt.Sprintf("messages wait and its commit stands for at least %s, as it may for %s where a listener is only slow", Span(v.stood(&s)), Age(stuckAfter))})
	}
	if list := by[stallRepeats]; len(list) > 0 {
		mq := list[0].mq
		v.find(CodeMessageBlocks, SeverityCritical, stuckSummary(list, "goes no further: its oldest message fails again and again", "go no further: their oldest messages fail again and again"),
			"An orderly queue waits for its message until it succeeds. Read the member's log for the exception; to go on without the message, stop the members and move the queue one further: "+
				v.eyeq("group reset %s -t %s --queue %s:%d --to shift:+1", v.f.Group, mq.Topic, mq.BrokerName, mq.QueueID),
			v.stuckEvidence(list)...)
	}
	if list := by[stallStuck]; len(list) > 0 {
		v.find(CodeQueueStuck, SeverityCritical, stuckSummary(list, "stands still while messages wait", "stand still while messages wait"), v.stuckNext(list), v.stuckEvidence(list)...)
	}
	if list := by[stallBlocked]; len(list) > 0 {
		v.find(CodeMessageBlocks, SeverityCritical, stuckSummary(list, "cannot commit: its oldest message is not finished, while others behind it are", "cannot commit: their oldest messages are not finished, while others behind them are"),
			"Find out what the listener waits for with that message (its threads: "+v.threads(list[0].member)+"). After the consume timeout the member sends it back by itself; "+
				"a restart delivers again what is finished and not committed.", v.stuckEvidence(list)...)
	}
	if list := by[stallUnsaved]; len(list) > 0 {
		var lines []string
		for i := range list {
			lines = append(lines, fmt.Sprintf("%s; by the member's word it is at %s", v.stillText(&list[i]), Grouped(list[i].now.CommitOffset)))
		}
		v.find(CodeCommitNotSaved, SeverityCritical, stuckSummary(list, "is consumed, and its broker is not told how far", "are consumed, and their brokers are not told how far"),
			"A restart, or another owner, delivers all of it again. Look at the member's log for commits that were refused (a right that its key lacks, a broker that is busy).", capped(lines)...)
	}
}

// undecided counts the queues that stand still in a way that a longer look would tell.
func undecided(f Facts) (n int) {
	v, ok := visitOf(&f)
	if !ok {
		return 0
	}
	for _, s := range v.stillQueues() {
		if v.stall(&s) == stallNone {
			n++
		}
	}
	return n
}

func stuckSummary(list []stillQueue, one, many string) string {
	if len(list) == 1 {
		return fmt.Sprintf("queue %v %s", list[0].mq, one)
	}
	return fmt.Sprintf("%s %s", Plural(len(list), "queue"), many)
}

func (v *visit) stuckNext(list []stillQueue) string {
	s := &list[0]
	if s.member == nil {
		return "The member that holds it has not told what it does with it: look at its log for the queue and for a listener that does not return. Who that may be: " +
			v.eyeq("group members %s", v.f.Group)
	}
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
	who := "a member that does not tell"
	if s.member != nil {
		who = s.member.ClientID
	} else if len(s.lag.Owners) > 0 {
		who = joined(s.lag.Owners)
	}
	text := fmt.Sprintf("%v at %s: committed %s for at least %s", s.mq, who, committedText(s.lag), Span(v.stood(s)))
	switch more := s.lag.Max.Value - s.before.Max.Value; {
	case s.lag.Max.Known && s.before.Max.Known && more > 0:
		text += fmt.Sprintf(", lag %s and growing (+%s)", Grouped(s.lag.Lag.Value), Grouped(more))
	default:
		text += ", lag " + Grouped(s.lag.Lag.Value)
	}
	if s.member == nil {
		return text
	}
	text += fmt.Sprintf(", %s cached", Grouped(cached(s.now)))
	if idle := s.idle(v); idle >= stuckAfter {
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
	v, ok := visitOf(&f)
	if !ok {
		return heads
	}
	for _, s := range v.stillQueues() {
		if len(heads) == maxEvidence || v.stall(&s) == stallNone {
			continue
		}
		heads[s.mq] = s.lag.next()
		if at := oldest(s.now); at >= 0 {
			heads[s.mq] = at
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
		if !m.orderly() || before == nil || before.Info == nil {
			continue
		}
		for _, mq := range sortedQueues(m.Info.MQTable) {
			q, was := m.Info.MQTable[mq], before.Info.MQTable[mq]
			if q.Dropped {
				continue
			}
			old := v.ages[m.ClientID].Sub(unixMilli(q.LastLockTimestamp))
			switch {
			case !q.Locked && !was.Locked && q.LastLockTimestamp <= 0:
				lines = append(lines, fmt.Sprintf("%v at %s: not locked, since when it does not tell", mq, m.ClientID))
			case !q.Locked && !was.Locked:
				lines = append(lines, fmt.Sprintf("%v at %s: not locked, last granted at least %s ago", mq, m.ClientID, Span(old)))
			case q.Locked && q.LastLockTimestamp > 0 && old > core.LockMaxLive+core.LockRenewal && was.LastLockTimestamp == q.LastLockTimestamp:
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
