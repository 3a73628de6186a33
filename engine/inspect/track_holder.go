package inspect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// heldPull is after which a pull that has not been answered is one that the broker holds
// because the queue has no more: a member whose flow control, or whose operator, stops it
// asks again within a second.
const heldPull = 1200 * time.Millisecond

// hearHolder asks the members of a group for what they hold where its commit does not tell
// what became of the message, and how far its queue was pulled.
func (r *round) hearHolder(ctx context.Context, f *trackFacts) {
	m := &f.members
	if len(m.Members) == 0 || m.Kind == KindPull || f.copies.last() != nil || f.commitErr != nil {
		return
	}
	told := r.survey.toldToPop(f.group, f.message.Topic())
	if f.passed() && m.Model != protocol.Broadcasting && m.Type != protocol.ConsumePop && !told {
		return
	}
	r.in.askMembers(ctx, m, f.answers, false)
	f.pop = m.Type == protocol.ConsumePop || m.pops()
	if m.Model == protocol.Broadcasting || f.passed() {
		return
	}
	addr, err := r.survey.addrOf(f.message.BrokerName())
	if err != nil {
		return
	}
	row, err := r.progressAt(ctx, addr, f)
	switch {
	case err != nil:
		f.pulled = Unknown(ReasonOf(err))
	case row.PullOffset > 0: // 5.x
		f.pulled = Exact(row.PullOffset)
	default:
		f.pulled = Unknown(Reason{ReasonUnsupported, "the broker does not say how far its queue was pulled"})
		r.lookAgain(ctx, addr, f, row.BrokerOffset)
	}
}

// progressAt is what a broker says of the group's progress in the message's queue.
func (r *round) progressAt(ctx context.Context, addr string, f *trackFacts) (protocol.OffsetWrapper, error) {
	stats, err := ask(ctx, r.in, addr, func(ctx context.Context) (protocol.ConsumeStats, error) {
		return r.in.client.ConsumeStats(ctx, addr, f.group, f.message.Topic())
	})
	return stats.OffsetTable[f.message.MessageQueue()], err
}

// lookAgain finds out whether the holder's pull waits at the queue's end: then it has
// pulled all up to there. Brokers of 4.x do not say how far a queue was pulled.
func (r *round) lookAgain(ctx context.Context, addr string, f *trackFacts, end int64) {
	holder, held, _ := f.holder()
	at := f.message.QueueOffset()
	if holder == nil || r.survey.pause(f.group).Refuses(f.message.Topic(), f.message.BrokerName()) || at < held.CommitOffset ||
		cached(held) > 0 && at <= newest(held) {
		return
	}
	wait := time.NewTimer(heldPull)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	again := f.members
	again.Members = []Member{*holder}
	r.in.askMembers(ctx, &again, f.answers, false)
	row, err := r.progressAt(ctx, addr, f)
	if again.Members[0].Info == nil || err != nil {
		return
	}
	now, still := again.Members[0].Info.MQTable[f.message.MessageQueue()]
	*holder = again.Members[0]
	if still && !now.Dropped && now.LastPullTimestamp == held.LastPullTimestamp && row.BrokerOffset == end {
		f.pulled = Exact(end)
	}
}

// holder is the member that holds the message's queue with what it has of it, the one that
// pulled last of several; silent is one that has not said what it holds.
func (f *trackFacts) holder() (holder *Member, held *protocol.ProcessQueueInfo, silent *Member) {
	for i := range f.members.Members {
		if m := &f.members.Members[i]; m.Info == nil {
			silent = m
		}
	}
	if holders := f.members.holders()[f.message.MessageQueue()]; len(holders) > 0 {
		return holders[0].member, &holders[0].info, silent
	}
	return nil, nil, silent
}

// newest is the offset of the newest message in a member; meaningless where none is cached.
func newest(q *protocol.ProcessQueueInfo) int64 {
	if q.CachedMsgCount > 0 {
		return q.CachedMsgMaxOffset
	}
	return q.TransactionMsgMaxOffset
}

// judgeHolder infers from what the member that holds the queue has of it. What is finished
// behind a message that is not cannot be committed.
func (f *trackFacts) judgeHolder(t *Track) {
	holder, q, silent := f.holder()
	switch {
	case holder == nil && silent != nil:
		t.Why = Reason{silent.Why.Kind, notReported(silent)}
		t.note(f.progress())
		return
	case holder == nil:
		t.State = TrackNotYet
		t.note(f.progress())
		t.note("no member holds its queue")
		return
	}
	at, first, n := f.message.QueueOffset(), oldest(q), cached(q)
	name := holder.ClientID
	inOrder := q.TransactionMsgCount > 0 || holder.orderly() // it finishes nothing behind its oldest message
	switch {
	case at < q.CommitOffset || first >= 0 && at < first:
		t.State = TrackFinished
		t.note(name + " has finished it, its commit follows")
	case first >= 0 && at == first:
		t.State = TrackFetched
		t.note("the oldest message that " + name + " has not finished")
	case first >= 0 && at <= newest(q) && (n > newest(q)-first || inOrder || at == newest(q)):
		t.State = TrackFetched
		t.note(name + " has it and has not finished it")
	case first >= 0 && at <= newest(q) && n > 2: // the oldest and the newest of them are two
		t.State = TrackFetched
		t.note(fmt.Sprintf("of %s from offset %s on that %s has, %s not finished: it may be one of these", Plural(newest(q)-first+1, "message"), Grouped(first), name, verb(int(n), "1 is", Grouped(n)+" are")))
	case first >= 0 && (at <= newest(q) || f.pulled.Known && at < f.pulled.Value):
		t.State = TrackFinished
		t.note(fmt.Sprintf("%s has finished it, its commit waits for the message at offset %s", name, Grouped(first)))
	case f.pulled.Known && at < f.pulled.Value:
		t.State = TrackFinished
		t.note(name + " has finished it, its commit follows")
	case f.pulled.Known, inOrder && first >= 0: // in order, what is pulled is cached up to the newest
		t.State = TrackNotYet
		t.note(f.progress())
	default:
		t.Why = f.pulled.Why
		t.note(f.progress())
	}
}

// judgePop infers for a group that gets its messages by POP. Its committed offset says what
// was handed out; what was not acknowledged comes again by the retry topic.
func (f *trackFacts) judgePop(t *Track) {
	if !f.passed() {
		if t.State = TrackNotYet; f.pulled.Known && f.message.QueueOffset() < f.pulled.Value {
			t.State = TrackFetched
			t.note("handed out by POP")
			return
		}
		t.note(f.progress())
		return
	}
	unacked := int64(0)
	all := f.message.MessageQueue()
	all.QueueID = -1
	for i := range f.members.Members {
		m := &f.members.Members[i]
		if m.Info == nil {
			t.Why = unackedWhy
			t.note("handed out by POP")
			return
		}
		for _, mq := range []protocol.MessageQueue{f.message.MessageQueue(), all} {
			unacked += int64(m.Info.MQPopTable[mq].WaitAckCount)
		}
	}
	if unacked == 0 {
		t.State = TrackConsumed
		t.note("the committed offset passed it, and no message of its queue waits to be acknowledged")
		return
	}
	t.State = TrackFetched
	t.note("handed out by POP; " + Plurals(unacked, "message of its queue is not acknowledged", "messages of its queue are not acknowledged"))
}

// broadcastText says how many members have finished a message that each of them gets.
func (f *trackFacts) broadcastText() string {
	finished, told := 0, 0
	for i := range f.members.Members {
		m := &f.members.Members[i]
		if m.Info == nil {
			continue
		}
		if q, ok := m.Info.MQTable[f.message.MessageQueue()]; ok {
			told++
			if f.message.QueueOffset() < q.CommitOffset {
				finished++
			}
		}
	}
	text := "each member keeps its own offset"
	if told > 0 {
		text += fmt.Sprintf(": %d of %s passed it", finished, Plural(int64(len(f.members.Members)), "member"))
	}
	if silent := len(f.members.Members) - told; told > 0 && silent > 0 {
		text += fmt.Sprintf(", %d not asked", silent)
	}
	return text
}

// parkedOf finds a copy among those that wait for their time.
func parkedOf(waiting []parkedMessage, m *protocol.MessageExt) (Delay, bool) {
	i := slices.IndexFunc(waiting, func(p parkedMessage) bool { return compareStored(p.message, *m) == 0 })
	if i < 0 {
		return Delay{}, false
	}
	return waiting[i].delay, true
}
