package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// round is what the questions of one call share: many groups read the same topics.
type round struct {
	in      *Inspector
	survey  *survey
	routes  memo[string, *remoting.TopicRoute]
	topics  memo[topicAt, protocol.TopicStats]
	commits memo[string, commits] // by broker address
}

// topicAt is a topic at one broker.
type topicAt struct{ addr, topic string }

// stats asks one broker for the bounds of a topic's queues (202).
func (r *round) stats(ctx context.Context, addr, topic string) (protocol.TopicStats, error) {
	return r.topics.get(ctx, topicAt{addr, topic}, func() (protocol.TopicStats, error) {
		return ask(ctx, r.in, addr, func(ctx context.Context) (protocol.TopicStats, error) {
			return r.in.client.TopicStats(ctx, addr, topic)
		})
	})
}

// route asks the name servers where a topic lives.
func (r *round) route(ctx context.Context, topic string) (*remoting.TopicRoute, error) {
	return r.routes.get(ctx, topic, func() (*remoting.TopicRoute, error) {
		ctx, cancel := context.WithTimeout(ctx, r.in.timeout)
		defer cancel()
		route, err := r.in.client.Route(ctx, topic)
		if route != nil {
			return route, nil // an older one, while no name server answers
		}
		return nil, err
	})
}

// groupView is what all brokers say of one group.
type groupView struct {
	round   *round
	group   string
	said    []said
	members Members
	queues  []QueueLag
	tps     float64
	unread  []string // topics whose queues are not known
	closed  []UnreadableQueue
	filter  bool
	errs    []Problem
}

// view asks about a group: members, progress, and the bounds of its queues.
func (r *round) view(ctx context.Context, group string) *groupView {
	v := &groupView{round: r, group: group}
	v.said = r.in.look(ctx, r.survey, group, true)
	v.members = r.in.merge(group, v.said)
	v.errs = slices.Clone(v.members.Problems)
	for i := range v.said {
		a := &v.said[i]
		v.tps += a.stats.ConsumeTPS
		if a.statsErr != nil && ReasonOf(a.statsErr).Kind != ReasonNotFound {
			v.errs = append(v.errs, problem("offsets of "+group, a.broker.name, a.statsErr))
		}
	}
	topics := v.topics()
	found := make([][]QueueLag, len(topics))
	closed := make([][]UnreadableQueue, len(topics))
	failed := make([][]Problem, len(topics))
	each(len(topics), 0, func(i int) {
		found[i], failed[i] = v.topicQueues(ctx, topics[i])
		closed[i] = v.unreadable(ctx, topics[i])
	})
	for i, topic := range topics {
		v.closed = append(v.closed, closed[i]...)
		if found[i] == nil && failed[i] != nil {
			v.unread = append(v.unread, topic)
		}
		v.queues = append(v.queues, found[i]...)
		v.errs = append(v.errs, failed[i]...)
	}
	slices.SortFunc(v.queues, compareLags)
	return v
}

// hear asks every member what it does, and says by their word who holds each queue and
// what waits in those that are popped.
func (v *groupView) hear(ctx context.Context) {
	v.round.in.askMembers(ctx, &v.members, v.said, false)
	v.own()
	v.countPops()
}

// compareLags puts the retry topics last.
func compareLags(a, b QueueLag) int {
	if a.Retry != b.Retry {
		if a.Retry {
			return 1
		}
		return -1
	}
	return protocol.CompareMessageQueues(a.MessageQueue, b.MessageQueue)
}

// topics are those that the group has progress on or subscribes to.
func (v *groupView) topics() []string {
	var topics []string
	for i := range v.said {
		for mq := range v.said[i].stats.OffsetTable {
			topics = append(topics, mq.Topic)
		}
		for topic, s := range v.said[i].connections.SubscriptionTable {
			topics = append(topics, topic)
			if !isRetry(topic) && s.SubString != "" && s.SubString != "*" {
				v.filter = true
			}
		}
	}
	// A broadcasting member retries nothing, and reads no retry topic.
	if retry := protocol.RetryTopic(v.group); v.round.survey.topics[retry] && v.members.Model != protocol.Broadcasting {
		topics = append(topics, retry)
	}
	topics = append(topics, v.round.survey.pop[v.group]...)
	slices.Sort(topics)
	return slices.Compact(topics)
}

func isRetry(topic string) bool { return strings.HasPrefix(topic, protocol.RetryTopicPrefix) }

// topicQueues gives a topic's queues: those of the route and those that brokers tell
// of. One that its broker does not tell of is unknown, with the broker's reason.
func (v *groupView) topicQueues(ctx context.Context, topic string) ([]QueueLag, []Problem) {
	var problems []Problem
	rows := map[protocol.MessageQueue]*QueueLag{}
	add := func(mq protocol.MessageQueue) {
		if rows[mq] == nil {
			rows[mq] = &QueueLag{MessageQueue: mq, Retry: isRetry(topic)}
		}
	}
	route, err := v.round.route(ctx, topic)
	if err != nil && IsLight(topic) {
		return nil, []Problem{{"queues of " + topic, "the name servers", unlisted}}
	} else if err != nil {
		// Deleted, while offsets are left; or nobody has written to it yet.
		if why := ReasonOf(err); why.Kind != ReasonNotFound {
			problems = append(problems, Problem{"route of " + topic, "the name servers", why})
		}
	} else {
		for _, mq := range route.Queues {
			add(mq)
		}
	}
	for i := range v.said {
		for mq := range v.said[i].stats.OffsetTable {
			if mq.Topic == topic {
				add(mq)
			}
		}
	}
	byBroker := map[string][]*QueueLag{}
	for _, q := range rows {
		byBroker[q.BrokerName] = append(byBroker[q.BrokerName], q)
	}
	for i := range v.said {
		a := &v.said[i]
		queues := byBroker[a.broker.name]
		if len(queues) == 0 {
			continue
		}
		delete(byBroker, a.broker.name)
		if p, ok := v.fill(ctx, a, topic, queues); !ok {
			problems = append(problems, p)
		}
	}
	for name, queues := range byBroker { // in a route, but not among the brokers: gone just now
		for _, q := range queues {
			q.unknown(Reason{ReasonUnreachable, "no name server knows the broker " + name})
		}
	}
	var static string
	if route != nil {
		static = route.StaticWhy()
	}
	list := make([]QueueLag, 0, len(rows))
	for _, q := range rows {
		if static != "" {
			// What is committed in a broker's queue stays when the next broker's goes on.
			q.Lag, q.Inflight = Unknown(Reason{ReasonUnsupported, static}), Unknown(Reason{ReasonUnsupported, static})
		}
		list = append(list, *q)
	}
	return list, problems
}

// unreadable are a topic's queues that nobody can read, with what lies in them. Brokers
// are asked nothing that was not asked for the others, but where they have none.
func (v *groupView) unreadable(ctx context.Context, topic string) []UnreadableQueue {
	route, err := v.round.route(ctx, topic)
	if err != nil || route.Data.Static() || IsLight(topic) {
		return nil
	}
	var list []UnreadableQueue
	for _, d := range route.Data.QueueDatas {
		b := v.round.survey.broker(d.BrokerName)
		var bounds protocol.TopicStats
		why := Reason{ReasonUnreachable, "no name server knows the broker " + d.BrokerName}
		for id := range max(d.ReadQueueNums, d.WriteQueueNums) {
			if unreadable(id, d.ReadQueueNums, d.WriteQueueNums, d.Perm) == "" {
				continue
			}
			if b != nil && bounds == nil && why.Kind != ReasonNone {
				bounds, err = v.round.stats(ctx, b.addr, topic)
				why = ReasonOf(err)
			}
			u := UnreadableQueue{MessageQueue: protocol.MessageQueue{Topic: topic, BrokerName: d.BrokerName, QueueID: id}, Read: d.ReadQueueNums, Write: d.WriteQueueNums, Perm: d.Perm}
			if s, ok := bounds[u.MessageQueue]; ok {
				u.Min, u.Max = Exact(s.MinOffset), Exact(s.MaxOffset)
			} else {
				u.Min = Unknown(cmp.Or(why, Reason{ReasonNotFound, "the broker does not list this queue"}))
				u.Max = u.Min
			}
			list = append(list, u)
		}
	}
	return list
}

// orderly reports whether a member says that it takes the brokers' locks.
func (v *groupView) orderly() bool {
	return slices.ContainsFunc(v.members.Members, func(m Member) bool { return m.orderly() })
}

func (q *QueueLag) unknown(why Reason) {
	for _, n := range []*Number{&q.Min, &q.Max, &q.Committed, &q.Pulled, &q.Lag, &q.Inflight} {
		*n = Unknown(why)
	}
}

// fill gives one broker's queues of a topic their figures.
func (v *groupView) fill(ctx context.Context, a *said, topic string, queues []*QueueLag) (Problem, bool) {
	if a.statsErr != nil && ReasonOf(a.statsErr).Kind != ReasonNotFound {
		for _, q := range queues {
			q.unknown(ReasonOf(a.statsErr))
		}
		return Problem{}, true // it is told already
	}
	bounds, err := v.round.stats(ctx, a.broker.addr, topic)
	for _, q := range queues {
		w, listed := a.stats.OffsetTable[q.MessageQueue]
		q.bound(bounds, err, w, listed)
		q.Committed = v.committed(ctx, a, q.MessageQueue, w, listed)
		if IsLight(v.group) && !listed {
			q.Committed = v.lightCommit(ctx, a.broker.addr, q.MessageQueue, len(queues))
		}
		if listed && a.broker.five() {
			q.Pulled = Exact(w.PullOffset)
			if q.Committed.Known {
				q.Inflight = Exact(w.PullOffset - q.Committed.Value)
			}
		} else {
			q.Pulled = Unknown(Reason{Kind: ReasonUnsupported, Text: "the broker does not say"})
			q.Inflight = q.Pulled
		}
		if w.LastTimestamp > 0 {
			q.LastConsumed = millis(w.LastTimestamp)
		}
		q.count(v.members.Model)
		if q.Committed.Why == oneOffset {
			q.Lag = Unknown(oneOffset)
		}
	}
	if err != nil && ReasonOf(err).Kind != ReasonNotFound {
		return problem("bounds of "+topic, a.broker.name, err), false
	}
	return Problem{}, true
}

// bound sets where a queue begins and ends. Its end is the one that belongs to the
// committed offset, where there is one: the two were read together.
func (q *QueueLag) bound(bounds protocol.TopicStats, err error, w protocol.OffsetWrapper, listed bool) {
	b, ok := bounds[q.MessageQueue]
	switch {
	case ok:
		q.Min, q.Max = Exact(b.MinOffset), Exact(b.MaxOffset)
	case err != nil:
		q.Min, q.Max = Unknown(ReasonOf(err)), Unknown(ReasonOf(err))
	case listed: // readable, but no longer written to, and the broker lists only those
		q.Min = Unknown(Reason{ReasonNotFound, "the broker does not list this queue"})
	default:
		q.Min = Unknown(Reason{ReasonNotFound, "the broker does not list this queue"})
		q.Max = q.Min
	}
	if listed {
		q.Max = Exact(w.BrokerOffset)
	}
}

// committed tells 0 from nothing, which brokers answer alike: what was committed is
// in the table of all offsets.
func (v *groupView) committed(ctx context.Context, a *said, mq protocol.MessageQueue, w protocol.OffsetWrapper, listed bool) Number {
	none := Unknown(Reason{Kind: ReasonNoCommit})
	switch {
	case v.members.Model == protocol.Broadcasting:
		return Unknown(Reason{Kind: ReasonBroadcasting})
	case !listed, w.ConsumerOffset < 0: // Go clients commit -1 at first
		return none
	case w.ConsumerOffset != 0 || w.LastTimestamp > 0:
		return Exact(w.ConsumerOffset)
	}
	all, err := v.round.committed(ctx, a.broker.addr)
	if err != nil {
		return Unknown(ReasonOf(err))
	}
	if offset, ok := all.of(v.group, mq); ok && offset >= 0 {
		return Exact(offset)
	}
	return none
}

// count makes the lag of what is known.
func (q *QueueLag) count(model protocol.MessageModel) {
	switch {
	case model == protocol.Broadcasting:
		q.Lag = Unknown(Reason{Kind: ReasonBroadcasting})
	case !q.Max.Known:
		q.Lag = Unknown(q.Max.Why)
	default:
		from := q.Min.Value
		if q.Committed.Known {
			from = q.Committed.Value
			if q.Min.Known && q.Min.Value > from {
				q.Expired, from = q.Min.Value-from, q.Min.Value
			}
		} else if !q.Min.Known {
			q.Lag = Unknown(q.Min.Why)
			return
		}
		q.Lag = Exact(q.Max.Value - from)
	}
}

// sum adds up what waits: ahead counts queues whose committed offset lies behind
// their end, which must not hide what waits in others.
func sum(queues []QueueLag, retry bool) (lag Number, unknown int, ahead int64) {
	var why Reason
	known := 0
	for i := range queues {
		q := &queues[i]
		if q.Retry != retry {
			continue
		}
		if !q.Lag.Known {
			unknown++
			why = cmp.Or(why, q.Lag.Why)
			continue
		}
		known++
		lag.Value += max(q.Lag.Value, 0)
		ahead -= min(q.Lag.Value, 0)
	}
	switch {
	case unknown > 0 && known == 0:
		return Unknown(why), unknown, ahead
	case unknown > 0:
		return AtLeast(lag.Value, why), unknown, ahead
	}
	return Exact(lag.Value), 0, ahead
}
