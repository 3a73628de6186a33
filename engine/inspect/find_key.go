package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// query is one question to one broker's index.
type query struct {
	broker *broker
	topic  string
}

// query puts questions to the brokers' indexes and gives what they have, unsorted. full
// says that one gave as many as it ever gives; problems are the brokers that did not answer.
func (r *round) query(ctx context.Context, queries []query, q remoting.MessageQuery) (found []protocol.MessageExt, full bool, problems []Problem) {
	answers := make([][]protocol.MessageExt, len(queries))
	failed := make([]error, len(queries))
	each(len(queries), 0, func(i int) {
		own := q
		own.Topic = queries[i].topic
		b := queries[i].broker
		answers[i], failed[i] = ask(ctx, r.in, b.addr, func(ctx context.Context) ([]protocol.MessageExt, error) {
			return r.in.client.QueryMessages(ctx, b.addr, b.name, &own)
		})
	})
	for i := range queries {
		if failed[i] != nil {
			problems = append(problems, problem("messages of "+queries[i].topic, queries[i].broker.name, failed[i]))
		}
		full = full || len(answers[i]) >= defaultFound
		found = append(found, answers[i]...)
	}
	return found, full, problems
}

// everywhere are the questions about topics to all brokers: one that has never had a
// topic answers at once that it has nothing.
func (r *round) everywhere(topics ...string) (queries []query) {
	for _, topic := range topics {
		for i := range r.survey.brokers {
			queries = append(queries, query{&r.survey.brokers[i], topic})
		}
	}
	return queries
}

// indexSlack is how far a broker's index is off in time: it counts in seconds.
const indexSlack = 2 * time.Second

// byKey looks for a key of the application's. An index goes by hashes, so messages of
// another key may be among what brokers give.
func (f *finder) byKey(ctx context.Context) error {
	if err := f.known(ctx); err != nil {
		return err
	}
	q := remoting.MessageQuery{Key: f.request.Key}
	if !f.request.From.IsZero() {
		q.From = f.request.From.Add(-indexSlack)
	}
	if !f.request.To.IsZero() {
		q.To = f.request.To.Add(indexSlack)
	}
	found, full, problems := f.round.query(ctx, f.round.everywhere(f.request.Topic), q)
	f.problems, f.truncated = problems, full
	f.keep(found, func(m *protocol.MessageExt) bool { return slices.Contains(m.Keys(), f.request.Key) })
	f.problems = append(f.problems, f.round.unindexed(ctx, f.request.Topic)...)
	return nil
}

// unindexed tells of brokers whose index lacks messages of a topic. One of a topic whose
// queues are made for batches (5.x, queue.type=BatchCQ) has one entry a batch, and none of
// its messages. A broker that does not tell what kind of topic it is adds nothing.
func (r *round) unindexed(ctx context.Context, topic string) []Problem {
	types := r.types(1)
	brokers := r.survey.brokers
	batches := make([]bool, len(brokers))
	each(len(brokers), 0, func(i int) {
		config, err := types(ctx, &brokers[i], topic)
		batches[i] = err == nil && config.Attributes["queue.type"] == "BatchCQ"
	})
	var problems []Problem
	for i, is := range batches {
		if is {
			problems = append(problems, Problem{"messages in batches of " + topic, brokers[i].name,
				Reason{ReasonNotIndexed, "the topic has queue.type=BatchCQ; a span of time, or tail with a filter, finds them"}})
		}
	}
	return problems
}

// byUniqueKey looks in the topic and in the retry and dead-letter topics of its groups:
// a copy there has the same id. No time is read from the id, since not all ids have
// one, and no span is guessed.
func (f *finder) byUniqueKey(ctx context.Context) error {
	if err := f.known(ctx); err != nil {
		return err
	}
	topics := []string{f.request.Topic}
	if !isRetry(f.request.Topic) && !strings.HasPrefix(f.request.Topic, protocol.DLQTopicPrefix) {
		also, problems := f.round.copies(ctx, f.request.Topic)
		f.also, f.problems = also, problems
		topics = append(topics, also...)
	}
	q := remoting.MessageQuery{Key: f.request.UniqueKey, Unique: true}
	found, full, problems := f.round.query(ctx, f.round.everywhere(topics...), q)
	f.problems, f.truncated = append(f.problems, problems...), full
	parked, problems := f.round.parked(ctx, f.request.UniqueKey)
	f.problems = append(f.problems, problems...)
	for _, p := range parked {
		delivered := func(m protocol.MessageExt) bool {
			return m.Topic() == p.delay.Topic && !m.Stored().Before(p.message.Stored())
		}
		if slices.Contains(topics, p.delay.Topic) && !(p.delay.Due.IsZero() && slices.ContainsFunc(found, delivered)) {
			found = append(found, p.message)
		}
	}
	f.keep(found, func(*protocol.MessageExt) bool { return true })
	if len(f.found) == 0 {
		f.problems = append(f.problems, f.round.unindexed(ctx, f.request.Topic)...)
	}
	return nil
}

// copies are the topics that a message of a topic may have copies in: those for the
// retries and dead letters of the groups that consume it.
func (r *round) copies(ctx context.Context, topic string) (topics []string, problems []Problem) {
	route, err := r.route(ctx, topic)
	if route == nil {
		return nil, []Problem{problem("route of "+topic, "the name servers", err)}
	}
	groups, why := r.groupsOf(ctx, topic, route)
	if why.Kind != ReasonNone {
		problems = append(problems, Problem{"groups of " + topic, "its brokers", why})
	}
	for _, group := range groups {
		for _, t := range append([]string{protocol.RetryTopic(group), protocol.DLQTopic(group)}, r.survey.pop[group]...) {
			if r.survey.topics[t] {
				topics = append(topics, t)
			}
		}
	}
	return topics, problems
}

// keep sorts what was found, drops what is there twice or out of the span, and keeps
// the newest.
func (f *finder) keep(found []protocol.MessageExt, wanted func(m *protocol.MessageExt) bool) {
	found = slices.DeleteFunc(found, func(m protocol.MessageExt) bool { return !f.request.holds(&m) || !wanted(&m) })
	slices.SortStableFunc(found, compareStored)
	found = slices.CompactFunc(found, func(a, b protocol.MessageExt) bool {
		return compareStored(a, b) == 0
	})
	if n := len(found) - f.request.Max; n > 0 {
		found, f.truncated = found[n:], true
	}
	f.found = found
}

// compareStored orders by the time of storing, within a millisecond by the broker and
// the place in its log: the copies of a message may all be of one.
func compareStored(a, b protocol.MessageExt) int {
	return cmp.Or(a.Stored().Compare(b.Stored()), cmp.Compare(a.BrokerName(), b.BrokerName()),
		cmp.Compare(a.CommitLogOffset(), b.CommitLogOffset()), cmp.Compare(a.QueueOffset(), b.QueueOffset()))
}

// known refuses a topic that does not exist.
func (f *finder) known(ctx context.Context) error {
	if f.round.survey.topics[f.request.Topic] {
		return nil
	}
	_, err := f.round.route(ctx, f.request.Topic)
	if isType[*remoting.NoRouteError](err) {
		return missing("topic", f.request.Topic)
	}
	return nil // brokers may have it though no name server can be asked
}
