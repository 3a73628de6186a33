package inspect

import "slices"

// judgeAnswers names the questions that failed: each of them keeps some rule from
// finding what is there. Two kinds are left out, since no finding comes of them: the
// message at which a queue stands still, and how many of a backlog's messages match a
// filter. They only give a finding its words.
func judgeAnswers(v *visit) {
	looks := []*Live{v.last}
	if v.first != v.last {
		looks = append(looks, v.first) // what moves is judged by both
	}
	for _, l := range looks {
		v.failed(l.Lag.Problems)
		for i := range l.Lag.Queues {
			v.unknownIn(&l.Lag.Queues[i], l.Lag.Problems)
		}
	}
	for id, m := range v.before {
		if now := v.members[id]; m.Info == nil && now != nil && now.Info != nil {
			v.unchecked("queues and settings at the first look", id, m.Why)
		}
	}
	v.failed(v.f.Detail.Row.Problems)
	for _, c := range v.f.Detail.Configs {
		if failedBy(c.Why) {
			v.unchecked("configuration of "+v.f.Group, c.Broker, c.Why)
		}
	}
	v.failed(v.f.Missing)
}

func (v *visit) failed(problems []Problem) {
	for _, p := range problems {
		v.unchecked(p.What, p.Where, p.Why)
	}
}

// unknownIn names what is not known of a queue, where that is not told of its broker.
func (v *visit) unknownIn(q *QueueLag, told []Problem) {
	for _, n := range []Number{q.Lag, q.Committed, q.Min, q.Max} {
		if !n.Known && failedBy(n.Why) && !toldOf(told, q.BrokerName, n.Why) {
			v.unchecked("offsets of "+q.Topic, q.BrokerName, n.Why)
			return
		}
	}
	if failedBy(q.NextWhy) && !v.passed(q) {
		v.unchecked("age of the backlog of "+q.Topic, q.BrokerName, q.NextWhy)
	}
	if failedBy(q.ExpiresWhy) {
		v.unchecked("how long messages are kept", q.BrokerName, q.ExpiresWhy)
	}
}

// passed reports whether the next message of a queue may have had no age because the
// group had consumed it, and all behind it, when the broker was asked for that.
func (v *visit) passed(q *QueueLag) bool {
	was, is := v.queues[q.MessageQueue], v.rows[q.MessageQueue]
	return q.NextWhy == nextUnreadable && (v.first == v.last || was == nil || is == nil || was.NextWhy != is.NextWhy || was.next() != is.next())
}

// failedBy reports whether something is not known because a question failed, and not
// because it has no answer.
func failedBy(why Reason) bool {
	switch why.Kind {
	case ReasonDenied, ReasonUnreachable, ReasonBadAnswer, ReasonFailed:
		return true
	}
	return false
}

func toldOf(problems []Problem, where string, why Reason) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Where == where && p.Why == why })
}
