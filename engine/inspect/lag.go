package inspect

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// exactQueues is how many waiting queues at most have their next message read, where
// nobody asks for more: a message may be 4 MiB.
const exactQueues = 64

// Lag tells how far a group is behind, queue by queue, with who holds each queue. When
// the next message was stored is computed from what brokers say is its age, which is
// right to some milliseconds; LagExact reads it.
func (in *Inspector) Lag(ctx context.Context, group string) (GroupLag, error) {
	return in.lag(ctx, group, false)
}

// LagExact is Lag, but reads the next message of up to 64 queues that wait, the ones
// that are most behind first, for the time at which it was stored.
func (in *Inspector) LagExact(ctx context.Context, group string) (GroupLag, error) {
	return in.lag(ctx, group, true)
}

func (in *Inspector) lag(ctx context.Context, group string, exact bool) (GroupLag, error) {
	v, err := in.open(ctx, group)
	if err != nil {
		return GroupLag{Group: group, At: in.now()}, err
	}
	v.hear(ctx)
	v.age(ctx)
	if exact {
		v.read(ctx)
	}
	v.expire(ctx)
	return v.lag(ctx), nil
}

// open looks at a group; one that nobody knows is a *NotFoundError, or an *UnsureError
// where not all could be asked.
func (in *Inspector) open(ctx context.Context, group string) (*groupView, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return nil, err
	}
	r := in.round(s)
	v := r.view(ctx, group)
	if !s.knows(group) && len(v.members.Members) == 0 && len(v.queues) == 0 {
		if err := r.absent(ctx, group, v.errs); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// lag adds up what the view has, whose pops have been counted.
func (v *groupView) lag(ctx context.Context) GroupLag {
	l := GroupLag{
		Group: v.group, At: v.round.in.now(), Model: v.members.Model, Pause: v.round.survey.pause(v.group),
		Members: v.memberCount(), Queues: v.queues, ConsumeTPS: v.tps, Filtered: v.filter, UnknownTopics: v.unread, Unreadable: v.closed,
		Problems: slices.Concat(v.round.survey.problems, v.round.survey.versionless, v.errs),
	}
	if l.Members == Exact(0) {
		landed(l.Queues)
	}
	v.round.in.stand(v.group, l.Queues, l.At)
	var unknownRetry int
	l.Lag, l.UnknownQueues, l.Ahead = sum(v.queues, false)
	l.RetryLag, unknownRetry, _ = sum(v.queues, true)
	l.UnknownQueues += unknownRetry
	if why := v.untold(); why.Kind != ReasonNone {
		l.Lag, l.RetryLag = bounded(l.Lag, why), bounded(l.RetryLag, why)
	}
	var problems []Problem
	l.DeadLetters, problems = v.round.deadLetters(ctx, v.group)
	l.Problems = append(l.Problems, problems...)
	l.State = v.state(l.Pause)
	l.Pop = v.popLag()
	return l
}

// landed judges what is in flight of queues that nobody is connected to. The place up
// to which a broker gave messages out stays when its members have gone; nobody has them
// then, unless they were popped, which no broker tells.
func landed(queues []QueueLag) {
	for i := range queues {
		switch q := &queues[i]; {
		case q.Pop:
		case q.Inflight.Known && q.Inflight.Value > 0:
			q.Inflight = Unknown(Reason{ReasonOffline, fmt.Sprintf("%s given out before nobody was connected", Plural(q.Inflight.Value, "message"))})
		case q.Inflight.Known || q.Lag.Known:
			q.Inflight = Exact(0)
		}
	}
}

// untold is why a broker has not told its part, which may hold queues that nobody
// else tells of.
func (v *groupView) untold() Reason {
	for i := range v.said {
		if err := v.said[i].statsErr; err != nil && ReasonOf(err).Kind != ReasonNotFound {
			return ReasonOf(err)
		}
	}
	if len(v.unread) > 0 {
		return Reason{ReasonFailed, "the queues of " + v.unread[0] + " are not known"}
	}
	if IsLight(v.group) && len(v.members.Members) == 0 {
		return Reason{ReasonUnsupported, "what a light group has read is told while it has members"}
	}
	return Reason{}
}

// bounded is a sum that lacks a part: no more than a bound, and of nothing unknown.
func bounded(n Number, why Reason) Number {
	switch {
	case !n.Known || n.AtLeast:
		return n
	case n.Value == 0:
		return Unknown(why)
	}
	return AtLeast(n.Value, why)
}

// memberCount is unknown, or a bound, where brokers have not said.
func (v *groupView) memberCount() Number {
	n := int64(len(v.members.Members))
	var why Reason
	failed := 0
	for i := range v.said {
		if a := &v.said[i]; a.connErr != nil && !a.offline() {
			failed++
			why = ReasonOf(a.connErr)
		}
	}
	s := v.round.survey
	switch {
	case failed == 0 && len(s.unproxied) > 0:
		return AtLeast(n, s.unproxied[0].Why)
	case failed == 0:
		return Exact(n)
	case failed == len(v.said) && n == 0:
		return Unknown(why)
	}
	return AtLeast(n, why)
}

// deadLetters counts what is kept in the group's dead-letter topic.
func (r *round) deadLetters(ctx context.Context, group string) (n Number, problems []Problem) {
	topic := protocol.DLQTopic(group)
	if !r.survey.topics[topic] {
		if r.survey.topicsErr != nil {
			return Unknown(ReasonOf(r.survey.topicsErr)), nil
		}
		return Exact(0), nil
	}
	n, failed := r.stored(ctx, topic)
	return n, failed
}

// stored counts the messages that all brokers keep of a topic.
func (r *round) stored(ctx context.Context, topic string) (n Number, problems []Problem) {
	parts := make([]Number, len(r.survey.brokers))
	failed := make([]*Problem, len(parts))
	each(len(parts), 0, func(i int) {
		b := &r.survey.brokers[i]
		stats, err := r.stats(ctx, b.addr, topic)
		switch why := ReasonOf(err); {
		case err == nil || why.Kind == ReasonNotFound:
			parts[i] = Exact(0)
			for _, q := range stats {
				parts[i].Value += q.MaxOffset - q.MinOffset
			}
		default:
			parts[i] = Unknown(why)
			p := problem("bounds of "+topic, b.name, err)
			failed[i] = &p
		}
	})
	for i, part := range parts {
		if i == 0 {
			n = part
		} else {
			n = n.Plus(part)
		}
		if failed[i] != nil {
			problems = append(problems, *failed[i])
		}
	}
	return n, problems
}

// waits reports whether a queue has a next message whose age is worth a question.
func (q *QueueLag) waits() bool { return q.Lag.Known && q.Lag.Value > 0 }

// next is the offset of the next message to be consumed.
func (q *QueueLag) next() int64 { return q.Max.Value - q.Lag.Value }

// age asks brokers for the age of the next message of each queue (303), a topic at
// a time.
func (v *groupView) age(ctx context.Context) {
	type place struct {
		broker *broker
		topic  string
	}
	waiting := map[topicAt][]*QueueLag{}
	places := map[topicAt]place{}
	var order []topicAt
	for i := range v.queues {
		q := &v.queues[i]
		if !q.waits() {
			continue
		}
		b := v.round.survey.broker(q.BrokerName)
		if b == nil {
			continue
		}
		at := topicAt{b.addr, q.Topic}
		if waiting[at] == nil {
			order = append(order, at)
			places[at] = place{b, q.Topic}
		}
		waiting[at] = append(waiting[at], q)
	}
	in := v.round.in
	each(len(order), 0, func(i int) {
		at := order[i]
		spans, err := ask(ctx, in, at.addr, func(ctx context.Context) ([]protocol.QueueTimeSpan, error) {
			return in.client.QueueTimeSpans(ctx, at.addr, at.topic, v.group)
		})
		now := in.now()
		byQueue := map[int32]protocol.QueueTimeSpan{}
		for _, s := range spans {
			byQueue[s.MessageQueue.QueueID] = s
		}
		for _, q := range waiting[at] {
			if err != nil {
				q.NextWhy = ReasonOf(err)
				continue
			}
			q.setAge(byQueue[q.QueueID], now)
		}
	})
}

// setAge takes a broker's word for the age of the next message. Where nothing is
// committed, or messages have expired, the next one is the first that is kept.
func (q *QueueLag) setAge(s protocol.QueueTimeSpan, now time.Time) {
	switch {
	case q.Min.Known && q.next() == q.Min.Value && s.MinTimestamp > 0:
		q.NextStored = millis(s.MinTimestamp)
	case s.DelayTime >= 0 && s.DelayTime < now.UnixMilli():
		q.NextStored = now.Add(-time.Duration(s.DelayTime) * time.Millisecond).Truncate(time.Millisecond)
	default:
		q.NextWhy = nextUnreadable
	}
}

// nextUnreadable is what a broker makes of it that it cannot read the message at which a
// group stands, or that the group has passed the last one meanwhile.
var nextUnreadable = Reason{ReasonFailed, "the broker cannot read the next message"}

func millis(ms int64) time.Time { return time.UnixMilli(ms) }
