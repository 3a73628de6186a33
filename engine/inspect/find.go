package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// defaultFound is how many messages a FindRequest asks for that does not say; a
// broker gives no more of one key either.
const defaultFound = 64

// RequestError says what is wrong with a question.
type RequestError struct{ Why string }

func (e *RequestError) Error() string { return e.Why }

// Find looks for messages. What a broker could not be asked is in Problems. Nothing
// found is no error, but where one message is named by its place or its offset id: then
// it is a *MessageNotFoundError, or an *UnsureError. A topic that does not exist is a *NotFoundError.
func (in *Inspector) Find(ctx context.Context, r FindRequest) (FindResult, error) {
	if err := r.Check(); err != nil {
		return FindResult{}, err
	}
	if r.Max <= 0 {
		r.Max = defaultFound
	}
	s, err := in.survey(ctx)
	if err != nil {
		return FindResult{}, err
	}
	f := &finder{round: in.round(s), request: r}
	switch {
	case r.OffsetID != "":
		err = f.byOffsetID(ctx)
	case r.Queue != nil:
		var m protocol.MessageExt
		if m, err = in.Head(ctx, *r.Queue, r.Offset); err == nil {
			f.found = []protocol.MessageExt{m}
		}
	case r.UniqueKey != "":
		err = f.byUniqueKey(ctx)
	case r.Key != "":
		err = f.byKey(ctx)
	default:
		err = f.bySpan(ctx)
	}
	return FindResult{Messages: f.found, Truncated: f.truncated, Also: f.also, Problems: f.problems}, err
}

// Check refuses what cannot be meant, with a *RequestError.
func (r *FindRequest) Check() error {
	named := 0
	for _, is := range []bool{r.Key != "", r.UniqueKey != "", r.OffsetID != "", r.Queue != nil} {
		if is {
			named++
		}
	}
	switch {
	case named > 1:
		return &RequestError{"look by a key, a unique id, an offset id or a place: one of them"}
	case r.Topic == "" && r.OffsetID == "" && r.Queue == nil:
		return &RequestError{"the topic is missing"}
	case !r.From.IsZero() && !r.To.IsZero() && r.To.Before(r.From):
		return &RequestError{fmt.Sprintf("the span ends (%s) before it begins (%s)", r.To.Format(time.RFC3339Nano), r.From.Format(time.RFC3339Nano))}
	}
	return nil
}

// holds reports whether a message was stored within the request's span, which
// includes both its ends.
func (r *FindRequest) holds(m *protocol.MessageExt) bool {
	stored := m.Stored()
	return (r.From.IsZero() || !stored.Before(r.From)) && (r.To.IsZero() || !stored.After(r.To))
}

// finder is one Find under way.
type finder struct {
	round     *round
	request   FindRequest
	found     []protocol.MessageExt
	truncated bool
	also      []string
	problems  []Problem
}

// indexSlack is how far a broker's index is off in time: it counts in seconds.
const indexSlack = 2 * time.Second

// query is one question to one broker's index.
type query struct {
	broker *broker
	topic  string
}

// ask puts questions to the brokers' indexes and gives what they have, unsorted.
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

// known refuses a topic that does not exist.
func (f *finder) known(ctx context.Context) error {
	if f.round.survey.topics[f.request.Topic] {
		return nil
	}
	_, err := f.round.route(ctx, f.request.Topic)
	if isType[*remoting.NoRouteError](err) {
		return &NotFoundError{Kind: "topic", Name: f.request.Topic}
	}
	return nil // brokers may have it though no name server can be asked
}

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
	return nil
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
	for i := range parked {
		if topic, _ := parked[i].Property(protocol.PropertyRealTopic); slices.Contains(topics, topic) {
			found = append(found, parked[i])
		}
	}
	f.keep(found, func(*protocol.MessageExt) bool { return true })
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

// byOffsetID asks the broker that the id names. An id names an address; where no
// broker has it, because the broker has moved since, all of them are asked for a record
// that calls itself by this id.
func (f *finder) byOffsetID(ctx context.Context) error {
	host, offset, err := protocol.ParseOffsetMessageID(f.request.OffsetID)
	if err != nil {
		return &RequestError{err.Error()}
	}
	missing := &MessageNotFoundError{What: f.request.OffsetID}
	info, err := f.round.in.clusterInfo(ctx)
	if err != nil {
		return err
	}
	var candidates []*broker
	for name, data := range info.BrokerAddrTable {
		for _, addr := range data.BrokerAddrs {
			if b := f.round.survey.broker(cmp.Or(data.BrokerName, name)); addr == host.String() && b != nil {
				candidates = []*broker{b}
				missing.Why = fmt.Sprintf("%s has none at commit log offset %d", b.name, offset)
			}
		}
	}
	if candidates == nil {
		for i := range f.round.survey.brokers {
			candidates = append(candidates, &f.round.survey.brokers[i])
		}
		missing.Why = fmt.Sprintf("no broker has the address %v now, and none has a message of this id", host)
	}
	answers := make([]protocol.MessageExt, len(candidates))
	failed := make([]error, len(candidates))
	each(len(candidates), 0, func(i int) {
		b := candidates[i]
		answers[i], failed[i] = ask(ctx, f.round.in, b.addr, func(ctx context.Context) (protocol.MessageExt, error) {
			m, found, err := f.round.in.client.ViewMessage(ctx, b.addr, b.name, f.request.Topic, offset)
			if !found {
				return protocol.MessageExt{}, err
			}
			return m, nil
		})
	})
	for i := range candidates {
		if failed[i] != nil && !noRecord(failed[i]) {
			f.problems = append(f.problems, problem("message "+f.request.OffsetID, candidates[i].name, failed[i]))
		}
		if m := &answers[i]; m.StoreSize() > 0 && strings.EqualFold(m.OffsetMessageID(), f.request.OffsetID) {
			f.found = append(f.found, *m)
		}
	}
	if len(f.found) > 0 {
		return nil
	}
	if len(f.problems) > 0 {
		return &UnsureError{"whether there is a message " + missing.What, f.problems}
	}
	return missing
}

// noRecord reports whether an error is a broker's way to say that no message begins
// at an offset: what it reads there is a length that makes no sense, or no record.
func noRecord(err error) bool {
	if _, denied := remoting.AccessDenied(err); denied {
		return false // 4.x says that with the same code
	}
	ce, ok := errors.AsType[*remoting.CodeError](err)
	return ok && ce.Code == protocol.SystemError || isType[*remoting.BadAnswerError](err)
}

// bySpan reads the topic's queues side by side, in the order of time.
func (f *finder) bySpan(ctx context.Context) error {
	route, err := f.round.route(ctx, f.request.Topic)
	if isType[*remoting.NoRouteError](err) {
		return &NotFoundError{Kind: "topic", Name: f.request.Topic}
	}
	if err != nil {
		return err
	}
	if why := route.StaticWhy(); why != "" {
		f.problems = append(f.problems, Problem{"messages of " + f.request.Topic, "the brokers", Reason{ReasonUnsupported, why + ": look by key or id"}})
		return nil
	}
	for _, q := range route.Data.QueueDatas {
		if q.Perm&protocol.PermRead == 0 {
			f.problems = append(f.problems, Problem{"messages of " + f.request.Topic, q.BrokerName,
				Reason{ReasonDenied, "it can only be written there (permission " + PermText(q.Perm) + "): make it readable to see what it holds"}})
		}
	}
	spans := make([]*span, len(route.Queues))
	each(len(spans), 0, func(i int) { spans[i] = f.open(ctx, route.Queues[i]) })
	for {
		var first *span
		for _, s := range spans {
			if s.fill(ctx, f); len(s.page.messages) > 0 && (first == nil || compareStored(s.page.messages[0], first.page.messages[0]) < 0) {
				first = s
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case first == nil:
			return nil
		case len(f.found) == f.request.Max:
			f.truncated = true
			return nil
		}
		f.found = append(f.found, first.page.messages[0])
		first.page.messages = first.page.messages[1:]
	}
}

// span is one queue of a bySpan.
type span struct {
	mq   protocol.MessageQueue
	addr string
	page page  // what is read and not yet taken
	end  int64 // read up to before it
	done bool
}

// open finds where a queue's part of the span begins.
func (f *finder) open(ctx context.Context, mq protocol.MessageQueue) *span {
	s := &span{mq: mq, done: true}
	addr, err := f.round.survey.addrOf(mq.BrokerName)
	if err != nil {
		f.failed(s, err)
		return s
	}
	lo, hi, err := f.round.in.bounds(ctx, addr, mq)
	if err == nil && !f.request.From.IsZero() {
		lo, err = f.round.in.offsetAt(ctx, addr, &ResetRow{MessageQueue: mq, Min: lo, Max: hi}, f.request.From)
	}
	if err != nil {
		f.failed(s, err)
		return s
	}
	s.addr, s.page.next, s.end, s.done = addr, lo, hi, lo >= hi
	s.fill(ctx, f)
	return s
}

// failed notes why a queue cannot be read.
func (f *finder) failed(s *span, err error) {
	f.round.in.mu.Lock() // queues are opened side by side
	defer f.round.in.mu.Unlock()
	f.problems = append(f.problems, problem("messages of "+s.mq.String(), s.mq.BrokerName, err))
}

// fill reads on when nothing is left.
func (s *span) fill(ctx context.Context, f *finder) {
	for len(s.page.messages) == 0 && !s.done {
		at := s.page.next
		p, err := f.round.in.page(ctx, s.addr, s.mq, at, pageSize)
		if err != nil {
			s.done = true
			f.failed(s, err)
			return
		}
		if p.unread != nil {
			f.failed(s, fmt.Errorf("a record cannot be read: %w", p.unread))
		}
		s.page = p
		if p.next <= at { // a broker that does not go on
			s.page.next = math.MaxInt64
		}
		kept := p.messages[:0]
		for _, m := range p.messages {
			if m.QueueOffset() >= s.end || !f.request.To.IsZero() && m.Stored().After(f.request.To) {
				s.done = true
				break
			}
			if f.request.holds(&m) {
				kept = append(kept, m)
			}
		}
		s.page.messages = kept
		s.done = s.done || s.page.next >= s.end
	}
}
