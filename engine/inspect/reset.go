package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// PlanReset says what a reset would do, queue by queue. It writes nothing. The error
// is about the request or the name servers: what one broker could not tell makes its
// rows Unknown.
func (in *Inspector) PlanReset(ctx context.Context, r ResetRequest) (ResetPlan, error) {
	p := ResetPlan{Request: r, At: in.now(), System: isSystemGroup(r.Group)}
	st, err := in.standing(ctx, r.Group)
	if err != nil {
		return p, err
	}
	p.Online, p.Problems = len(st.members.Members) > 0, st.problems()
	if st.members.Model == protocol.Broadcasting {
		p.Method = MethodNone
		p.Why = "the group is broadcasting: each member keeps its offsets itself, and no broker can move them"
		return p, nil
	}
	queues, err := in.resetQueues(ctx, st, &p)
	if err != nil {
		return p, err
	}
	p.Rows = make([]ResetRow, len(queues))
	for i, mq := range queues {
		p.Rows[i] = ResetRow{MessageQueue: mq, Min: -1, Max: -1, Before: -1, After: -1, ReadBack: -1}
	}
	places := p.gather(st)
	each(len(places)+1, 0, func(i int) {
		if i == len(places) {
			in.askMembers(ctx, &st.members, st.said, false)
			return
		}
		in.planPlace(ctx, st, &p.Request, places[i])
	})
	if err := ctx.Err(); err != nil {
		return p, err
	}
	p.conclude(st, places)
	return p, nil
}

// resetQueues are the queues that a request means, sorted.
func (in *Inspector) resetQueues(ctx context.Context, st *standing, p *ResetPlan) ([]protocol.MessageQueue, error) {
	r := &p.Request
	topics := slices.Clone(r.Topics)
	for mq := range r.Exact {
		if len(r.Topics) == 0 {
			topics = append(topics, mq.Topic)
		}
	}
	if len(topics) == 0 {
		topics = st.topics()
	}
	if r.Retry && r.Exact == nil {
		topics = append(topics, protocol.RetryTopic(r.Group))
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	if len(topics) == 0 {
		return nil, &NotPossibleError{fmt.Sprintf("group %s has committed nothing and has no member, so nobody knows its topics: name one", r.Group)}
	}
	var all []protocol.MessageQueue
	for _, topic := range topics {
		route, _, err := in.client.RefreshRoute(ctx, topic)
		if isType[*remoting.NoRouteError](err) {
			if slices.Contains(r.Topics, topic) {
				return nil, missing("topic", topic)
			}
			p.Problems = append(p.Problems, Problem{"queues of " + topic, "the name servers", Reason{ReasonNotFound, "the topic does not exist any more"}})
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("queues of %s: %w", topic, err)
		}
		if why := route.StaticWhy(); why != "" {
			return nil, &NotPossibleError{why + ": use mqadmin, or name the other topics"}
		}
		all = append(all, route.Queues...)
	}
	for _, want := range r.Queues {
		if !slices.ContainsFunc(all, func(mq protocol.MessageQueue) bool { return names(want, mq) }) {
			return nil, &NotFoundError{"queue", want.Short()}
		}
	}
	for mq := range r.Exact {
		if !slices.Contains(all, mq) && slices.Contains(topics, mq.Topic) {
			p.Problems = append(p.Problems, Problem{"a saved queue", mq.String(), Reason{ReasonNotFound, "it is not there any more"}})
		}
	}
	all = slices.DeleteFunc(all, func(mq protocol.MessageQueue) bool {
		same := func(want protocol.MessageQueue) bool { return names(want, mq) }
		if _, ok := r.Exact[mq]; r.Exact != nil && !ok {
			return true
		}
		return len(r.Queues) > 0 && !slices.ContainsFunc(r.Queues, same) || slices.ContainsFunc(r.Exclude, same)
	})
	if len(all) == 0 {
		return nil, &NotPossibleError{"no queue is left to be reset"}
	}
	return all, nil
}

// names reports whether a queue of a request means mq: one without a topic means that
// queue of each.
func names(want, mq protocol.MessageQueue) bool {
	return want.BrokerName == mq.BrokerName && want.QueueID == mq.QueueID && (want.Topic == "" || want.Topic == mq.Topic)
}

// gather puts the rows together by topic and broker. Rows of brokers that cannot be
// asked are marked, and belong to no place.
func (p *ResetPlan) gather(st *standing) []*resetPlace {
	type key struct{ topic, broker string }
	byKey := map[key]*resetPlace{}
	var places []*resetPlace
	for i := range p.Rows {
		row := &p.Rows[i]
		a, offsets := st.at(row.BrokerName)
		if why := cannotReset(a, offsets); why != "" {
			row.Unknown, row.Why = true, why
			continue
		}
		k := key{row.Topic, row.BrokerName}
		if byKey[k] == nil {
			byKey[k] = &resetPlace{topic: row.Topic, broker: a.broker, offset: offsets.topics[row.Topic]}
			places = append(places, byKey[k])
		}
		byKey[k].rows = append(byKey[k].rows, row)
	}
	return places
}

// conclude decides about the whole: the method, what members do, and the lag.
func (p *ResetPlan) conclude(st *standing, places []*resetPlace) {
	p.owners = st.members.owners()
	p.Before, p.After = Exact(0), Exact(0)
	var reason string
	for _, pl := range places {
		p.Method = strongest(p.Method, pl.method)
		p.places = append(p.places, *pl)
	}
	for i := range p.Rows {
		row := &p.Rows[i]
		row.Owner = strings.Join(p.owners.of(row.MessageQueue), ", ")
		if row.Method == MethodNone && !row.Unknown {
			reason = cmp.Or(reason, row.Why)
		}
		if row.Unknown {
			unknown := Unknown(Reason{ReasonFailed, row.Why})
			p.Before, p.After = p.Before.Plus(unknown), p.After.Plus(unknown)
			continue
		}
		p.Before = p.Before.Plus(Exact(max(row.Max-max(row.Before, row.Min), 0)))
		p.After = p.After.Plus(Exact(row.Max - row.After))
	}
	p.Why = methodWords(p.Method)
	if p.Method == MethodNone {
		p.Why = cmp.Or(reason, "it cannot be done") + ": " + wayOut
	}
	pausedEffect := ""
	if p.refused(st.survey.pause(st.group)) {
		switch p.Method {
		case MethodServer:
			p.Why = "the brokers move the offsets, and tell each member at its first pull after the group is resumed"
			pausedEffect = "moves at its first pull after the group is resumed"
		case MethodPush:
			p.Why = "the brokers tell the members, who drop their queues, and go on from there after the group is resumed"
			pausedEffect = "drops its queues now, and goes on from there after the group is resumed"
		}
	}
	for i := range st.members.Members {
		e := memberEffect(&st.members.Members[i], st.members.Type, p.Method)
		if pausedEffect != "" && e.Obeys {
			e.Effect = pausedEffect
		}
		p.Members = append(p.Members, e)
	}
}

// refused reports whether brokers refuse the members' pulls from all that is reset.
func (p *ResetPlan) refused(pause Pause) bool {
	return !slices.ContainsFunc(p.Rows, func(r ResetRow) bool { return !pause.Refuses(r.Topic, r.BrokerName) })
}

// strongest puts the methods in the order in which they decide about a whole.
func strongest(a, b ResetMethod) ResetMethod {
	order := []ResetMethod{"", MethodCommit, MethodServer, MethodPush, MethodNone}
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// Blocked are the rows that could not be read; a plan with any is not carried out.
func (p *ResetPlan) Blocked() []ResetRow {
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r ResetRow) bool { return !r.Unknown })
}

// Refused says why a plan cannot be carried out; nil when it can.
func (p *ResetPlan) Refused() error {
	if p.Method == MethodNone {
		return &NotPossibleError{p.Why}
	}
	if blocked := p.Blocked(); len(blocked) > 0 {
		return &NotPossibleError{fmt.Sprintf("%d of %d queues could not be read, the first is %s: %s: leave them out by name, or try again",
			len(blocked), len(p.Rows), blocked[0].Short(), blocked[0].Why)}
	}
	if len(p.Rows) == 0 {
		return errors.New("no queue is planned to be reset")
	}
	return nil
}
