package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// Live gives a group as brokers and members see it now.
func (in *Inspector) Live(ctx context.Context, group string) (Live, error) {
	v, err := in.open(ctx, group)
	if err != nil {
		return Live{Group: group, At: in.now()}, err
	}
	v.hear(ctx)
	v.age(ctx)
	v.expire(ctx)
	l := Live{Group: group, At: in.now(), Members: v.members, Lag: v.lag(ctx), LimitsDiffer: limitsDiffer(v.members.Members)}
	l.Orderly = v.orderly()
	for _, row := range v.subscriptions().Rows {
		if !row.Same && !isRetry(row.Topic) {
			l.SubscriptionsDiffer = append(l.SubscriptionsDiffer, row.Topic)
		}
	}
	l.Problems = l.Lag.Problems
	l.Topics = v.liveTopics()
	expected := map[protocol.MessageQueue]string{}
	for _, t := range l.Topics {
		for id, queues := range t.Expected {
			for _, mq := range queues {
				expected[mq] = id
			}
		}
	}
	holders := v.members.holders()
	for _, q := range l.Lag.Queues {
		l.Queues = append(l.Queues, v.liveQueue(q, expected[q.MessageQueue], holders[q.MessageQueue]))
	}
	return l, nil
}

// liveQueue adds what the owner of a queue says of it. Of two that hold it the one
// that pulled last is shown; Owners names both.
func (v *groupView) liveQueue(q QueueLag, expected string, holders []hold) LiveQueue {
	live := LiveQueue{QueueLag: q, Expected: expected}
	if b := v.round.survey.broker(q.BrokerName); b != nil {
		live.BrokerID = b.id
	}
	if i := slices.IndexFunc(v.closed, func(u UnreadableQueue) bool { return u.MessageQueue == q.MessageQueue }); i >= 0 {
		live.Closed = v.closed[i].Why()
	}
	for i := range v.members.Members {
		m := &v.members.Members[i]
		if !slices.Contains(q.Owners, m.ClientID) {
			continue
		}
		live.Owner = cmp.Or(live.Owner, m.ClientID) // it may say that much, and not what it has cached
		if m.Info == nil {
			continue
		}
		if _, pulls := m.Info.MQTable[q.MessageQueue]; !pulls {
			live.popped(m)
		}
	}
	if len(holders) > 0 {
		m, info := holders[0].member, &holders[0].info
		live.Owner, live.Info, live.InfoAt = m.ClientID, info, m.InfoAt
		live.Limits, live.Orderly = m.Limits(), m.orderly()
		if cached(info) > 0 && info.LastConsumeTimestamp > 0 {
			live.Idle = holders[0].told.Sub(unixMilli(info.LastConsumeTimestamp))
		}
	}
	return live
}

// popped takes what a member says of a queue that it pops, when it was the last.
func (q *LiveQueue) popped(m *Member) {
	all := q.MessageQueue
	all.QueueID = -1
	for _, mq := range []protocol.MessageQueue{q.MessageQueue, all} {
		if info, ok := m.Info.MQPopTable[mq]; ok && (q.Popped == nil || info.LastPopTimestamp > q.Popped.LastPopTimestamp) {
			q.Popped, q.InfoAt = &info, m.InfoAt
		}
	}
}

// liveTopics are the group's topics with the allocation that explains who holds what.
func (v *groupView) liveTopics() []LiveTopic {
	subscribed := map[string]protocol.SubscriptionData{}
	for i := range v.said {
		maps.Copy(subscribed, v.said[i].connections.SubscriptionTable)
	}
	byTopic := map[string]*LiveTopic{}
	var order []string
	for i := range v.queues {
		q := &v.queues[i]
		t := byTopic[q.Topic]
		if t == nil {
			t = &LiveTopic{Topic: q.Topic, Retry: q.Retry, Expression: expression(subscribed, q.Topic)}
			byTopic[q.Topic] = t
			order = append(order, q.Topic)
		}
		t.Queues, t.Pop = t.Queues+1, q.Pop
		t.Brokers = addOnce(t.Brokers, q.BrokerName)
	}
	topics := make([]LiveTopic, 0, len(order))
	for _, name := range order {
		t := byTopic[name]
		v.explain(t)
		topics = append(topics, *t)
	}
	return topics
}

// explain finds the strategy by which the members hold what they hold.
func (v *groupView) explain(t *LiveTopic) {
	if len(v.members.Members) == 0 || v.members.Model == protocol.Broadcasting || t.Pop {
		return
	}
	var queues []protocol.MessageQueue
	for i := range v.queues {
		mq := v.queues[i].MessageQueue
		if mq.Topic == t.Topic && !slices.ContainsFunc(v.closed, func(u UnreadableQueue) bool { return u.MessageQueue == mq }) {
			queues = append(queues, mq)
		}
	}
	a := v.members.Allocation(t.Topic, queues)
	t.Strategy, t.Expected, t.Differ = a.Strategy, a.Expected, a.Words
}

// TopicAllocation is who holds which queue of a topic, by the members' own word.
type TopicAllocation struct {
	core.Allocation
	Words  []string                           // Differ in words
	Owners map[protocol.MessageQueue][]string // client ids
}

// Allocation gives what the members say that they hold of a topic's queues, and the
// strategy that explains it; others are members that are known otherwise. It asks nobody.
func (m *Members) Allocation(topic string, queues []protocol.MessageQueue, others ...core.Holder) TopicAllocation {
	h := core.Holdings{Group: m.Group, Topic: topic, Queues: queues}
	for i := range m.Members {
		h.Holders = append(h.Holders, holder(&m.Members[i], topic))
	}
	h.Holders = append(h.Holders, others...)
	slices.SortStableFunc(h.Holders, func(a, b core.Holder) int { return strings.Compare(a.ClientID, b.ClientID) })
	a := TopicAllocation{Allocation: core.ExplainAllocation(h), Owners: make(map[protocol.MessageQueue][]string, len(queues))}
	for _, d := range a.Differ {
		a.Words = append(a.Words, misheld(d))
	}
	o := m.owners()
	for _, mq := range queues {
		a.Owners[mq] = o.of(mq)
		for _, x := range others {
			if slices.Contains(x.Holds, mq) {
				a.Owners[mq] = append(a.Owners[mq], x.ClientID)
			}
		}
		slices.Sort(a.Owners[mq])
	}
	return a
}

// holder is what a member says of a topic.
func holder(m *Member, topic string) core.Holder {
	h := core.Holder{ClientID: m.ClientID, Times: len(m.Addresses), Silent: m.Info == nil}
	if m.Info == nil {
		return h
	}
	h.Elsewhere = !slices.ContainsFunc(m.Info.SubscriptionSet, func(s protocol.SubscriptionData) bool { return s.Topic == topic })
	h.Strategy = core.StrategyOf(m.Info.Properties["allocateMessageQueueStrategy"])
	for mq, q := range m.Info.MQTable {
		switch {
		case mq.Topic != topic:
		case q.Dropped:
			h.Leaving = append(h.Leaving, mq)
		default:
			h.Holds = append(h.Holds, mq)
		}
	}
	return h
}

// misheld says in words what a member holds otherwise than it should.
func misheld(m core.Misheld) string {
	var parts []string
	if len(m.Extra) > 0 {
		parts = append(parts, "holds "+queueNames(m.Extra)+", which should be another's")
	}
	if len(m.Missing) > 0 {
		parts = append(parts, "lacks "+queueNames(m.Missing))
	}
	return m.ClientID + " " + strings.Join(parts, " and ")
}

func queueNames(queues []protocol.MessageQueue) string {
	names := make([]string, len(queues))
	for i, mq := range queues {
		names[i] = mq.Short()
	}
	return strings.Join(names, ", ")
}
