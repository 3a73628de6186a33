package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// resetPlace is a topic at one broker, which is what a broker's requests work on.
type resetPlace struct {
	topic  string
	broker broker
	method ResetMethod
	// stamp is the time in milliseconds that MethodPush asks for; negative: the end.
	stamp int64
	// uncommitted are queues without any commit: a 4.9 broker resets nothing of the
	// topic until they have one.
	uncommitted map[protocol.MessageQueue]int64

	rows   []*ResetRow
	whole  bool // rows are all queues that the topic has there
	bounds protocol.TopicStats
	offset map[int32]int64 // committed
}

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
				return nil, &NotFoundError{"topic", topic}
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

// cannotReset says why nothing can be reset at a broker; "" when it can.
func cannotReset(a *said, offsets *brokerOffsets) string {
	switch {
	case a == nil:
		return "no name server knows its broker any more"
	case a.broker.id != remoting.MasterID:
		return "its broker has no master, and a slave takes no offsets"
	case offsets.err != nil:
		return "the committed offset cannot be read: " + ReasonOf(offsets.err).String()
	case a.connErr != nil && !a.offline():
		return "whether members are connected cannot be told: " + ReasonOf(a.connErr).String()
	}
	return ""
}

// planPlace fills the rows of one place.
func (in *Inspector) planPlace(ctx context.Context, st *standing, r *ResetRequest, pl *resetPlace) {
	addr := pl.broker.addr
	var err error
	pl.bounds, err = ask(ctx, in, addr, func(ctx context.Context) (protocol.TopicStats, error) {
		return in.client.TopicStats(ctx, addr, pl.topic)
	})
	if err != nil {
		pl.unknown("its beginning and end cannot be read: ", err)
		return
	}
	followed, server := st.follows(pl.topic), false
	if followed && pl.broker.five() {
		if server, err = in.serverSideReset(ctx, addr); err != nil {
			pl.unknown("how its broker resets cannot be told, which its settings say: ", err)
			return
		}
	}
	each(len(pl.rows), 0, func(i int) { in.planRow(ctx, r, pl, pl.rows[i]) })
	pl.whole = in.wholePlace(ctx, pl)
	kind := r.Target.Kind
	if r.Exact != nil {
		kind = 0
	}
	var why string
	pl.method, why = chooseMethod(resetFacts{Followed: followed, ServerSide: server, Five: pl.broker.five(), Whole: pl.whole, Target: kind})
	for _, row := range pl.rows {
		if row.Method = pl.method; why != "" && row.Why == "" {
			row.Why = why
		}
	}
	if pl.method == MethodPush {
		in.planPush(ctx, r, pl)
	}
	each(len(pl.rows), 0, func(i int) {
		if row := pl.rows[i]; !row.Unknown && row.After < row.Max {
			row.FirstStored, _ = in.storedFrom(ctx, addr, row.MessageQueue, row.After) // zero: not known
		}
	})
}

// unknown marks all rows of a place.
func (pl *resetPlace) unknown(what string, err error) {
	for _, row := range pl.rows {
		row.Unknown, row.Why = true, what+ReasonOf(err).String()
	}
}

// serverSideReset reports whether a 5.x broker moves offsets itself, as it does unless
// it is told otherwise. It is no matter of taste: one that tells its members instead
// heeds no queue in the request, and would send the whole topic to another time.
func (in *Inspector) serverSideReset(ctx context.Context, addr string) (bool, error) {
	settings, err := in.BrokerConfig(ctx, addr)
	if err == nil && len(settings) == 0 {
		err = errors.New("it shows none")
	}
	on, _ := strconv.ParseBool(settings["useServerSideResetOffset"])
	return on, err
}

// wholePlace reports whether the rows are all queues that can be read or written there.
func (in *Inspector) wholePlace(ctx context.Context, pl *resetPlace) bool {
	have := map[int32]bool{}
	for _, row := range pl.rows {
		have[row.QueueID] = true
	}
	for mq := range pl.bounds {
		if !have[mq.QueueID] {
			return false
		}
	}
	route, err := in.client.Route(ctx, pl.topic)
	return err == nil && !slices.ContainsFunc(route.Queues, func(mq protocol.MessageQueue) bool {
		return mq.BrokerName == pl.broker.name && !have[mq.QueueID]
	})
}

// planRow computes where one queue goes.
func (in *Inspector) planRow(ctx context.Context, r *ResetRequest, pl *resetPlace, row *ResetRow) {
	if offset, ok := pl.offset[row.QueueID]; ok && offset >= 0 {
		row.Before = offset
	}
	fail := func(what string, err error) {
		row.Unknown, row.Why = true, what+ReasonOf(err).String()
	}
	b, listed := pl.bounds[row.MessageQueue]
	if !listed { // it can be read, but no longer written to: brokers list the others only
		var err error
		if b.MinOffset, b.MaxOffset, err = in.bounds(ctx, pl.broker.addr, row.MessageQueue); err != nil {
			fail("its beginning and end cannot be read: ", err)
			return
		}
	}
	row.Min, row.Max = b.MinOffset, b.MaxOffset
	bounds := core.ResetBounds{Committed: row.Before, Min: row.Min, Max: row.Max}
	target := r.Target
	if exact, ok := r.Exact[row.MessageQueue]; ok {
		target = core.ResetTarget{Kind: core.ResetOffset, Offset: exact}
	}
	if target.Kind == core.ResetTime {
		offset, err := in.offsetAt(ctx, pl.broker.addr, row, target.Time)
		if err != nil {
			fail("the time cannot be looked up: ", err)
			return
		}
		bounds.ByTime = offset
	}
	row.After, row.Effect, row.Count = core.PlanReset(bounds, target)
	if target.Kind == core.ResetOffset && target.Offset != row.After {
		row.Why = fmt.Sprintf("%d lies outside of the queue, which has %d to %d", target.Offset, row.Min, row.Max)
	}
}

func (in *Inspector) bounds(ctx context.Context, addr string, mq protocol.MessageQueue) (minOffset, maxOffset int64, err error) {
	minOffset, err = ask(ctx, in, addr, func(ctx context.Context) (int64, error) { return in.client.MinOffset(ctx, mq) })
	if err == nil {
		maxOffset, err = ask(ctx, in, addr, func(ctx context.Context) (int64, error) { return in.client.MaxOffset(ctx, mq) })
	}
	return minOffset, maxOffset, err
}

// offsetAt is the first message stored at t or later, the queue's end when there is none.
func (in *Inspector) offsetAt(ctx context.Context, addr string, row *ResetRow, t time.Time) (int64, error) {
	if row.Min >= row.Max {
		return row.Max, nil
	}
	guess, err := in.search(ctx, addr, row.MessageQueue, t)
	if err != nil {
		return 0, err
	}
	return seekTime(guess, row.Min, row.Max, t, func(offset int64) (time.Time, error) {
		return in.storedFrom(ctx, addr, row.MessageQueue, offset)
	})
}

// search is the broker's own search, as good as it is.
func (in *Inspector) search(ctx context.Context, addr string, mq protocol.MessageQueue, t time.Time) (int64, error) {
	return ask(ctx, in, addr, func(ctx context.Context) (int64, error) { return in.client.SearchOffset(ctx, mq, t) })
}

// planPush finds out where a 4.9 broker would send the members, who are told a time
// and no offsets: to the messages nearest to it. A millisecond earlier never skips what
// the time asks for, at the price of perhaps one message more.
func (in *Inspector) planPush(ctx context.Context, r *ResetRequest, pl *resetPlace) {
	pl.uncommitted = map[protocol.MessageQueue]int64{}
	for mq, b := range pl.bounds {
		if _, ok := pl.offset[mq.QueueID]; !ok {
			pl.uncommitted[mq] = b.MaxOffset
		}
	}
	defer func() {
		for _, row := range pl.rows {
			if _, ok := pl.uncommitted[row.MessageQueue]; ok {
				pl.uncommitted[row.MessageQueue] = row.After
			}
		}
	}()
	atEnd := func(row *ResetRow) bool { return row.Unknown || row.After == row.Max }
	if r.Target.Kind == core.ResetLatest || !slices.ContainsFunc(pl.rows, func(row *ResetRow) bool { return !atEnd(row) }) {
		pl.stamp = -1
		return
	}
	pl.stamp = 0
	if r.Target.Kind == core.ResetEarliest {
		return
	}
	type candidate struct {
		stamp int64
		to    []int64
		more  int64 // messages that are consumed again although the time does not ask for them
	}
	best := candidate{more: -1}
	for _, stamp := range []int64{r.Target.Time.UnixMilli(), r.Target.Time.UnixMilli() - 1} {
		c := candidate{stamp: stamp, to: make([]int64, len(pl.rows))}
		for i, row := range pl.rows {
			if row.Unknown || row.Min >= row.Max {
				c.to[i] = row.After
				continue
			}
			offset, err := in.search(ctx, pl.broker.addr, row.MessageQueue, time.UnixMilli(stamp))
			if err != nil {
				row.Unknown, row.Why = true, "the time cannot be looked up: "+ReasonOf(err).String()
				continue
			}
			c.to[i] = offset
			if c.more += row.After - offset; offset > row.After {
				c.more = -1
				break // it would skip some
			}
		}
		if c.more >= 0 && (best.more < 0 || c.more < best.more) {
			best = c
		}
	}
	if best.more < 0 {
		for _, row := range pl.rows {
			row.Method, row.Why = MethodNone, "the broker's search by time would skip messages"
		}
		pl.method = MethodNone
		return
	}
	pl.stamp = best.stamp
	for i, row := range pl.rows {
		if row.Unknown || best.to[i] == row.After {
			continue
		}
		row.Why = fmt.Sprintf("the broker goes to the message nearest to the time, %d and not %d", best.to[i], row.After)
		row.After, row.Effect, row.Count = core.PlanReset(core.ResetBounds{Committed: row.Before, Min: row.Min, Max: row.Max},
			core.ResetTarget{Kind: core.ResetOffset, Offset: best.to[i]})
	}
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
	for i := range st.members.Members {
		p.Members = append(p.Members, memberEffect(&st.members.Members[i], st.members.Type, p.Method))
	}
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
