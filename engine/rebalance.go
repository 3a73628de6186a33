package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// rebalance begins a pass: routes and members are gathered on a goroutine, and
// the answer decides in the coordinator.
func (c *coordinator) rebalance(ctx context.Context, trigger string) {
	c.rebalancing, c.wanted = true, ""
	c.rebalanceSeq++
	c.passBegan = time.Now()
	c.nextRebalance = c.passBegan.Add(c.e.o.RebalanceInterval)
	e := c.e
	e.events.publish(RebalanceBegin{At{Time: c.passBegan}, c.rebalanceSeq, trigger})
	topics := make([]string, len(c.topics))
	for i, t := range c.topics {
		topics[i] = t.sub.Topic
	}
	c.requests.Add(1)
	e.start(func() {
		defer c.requests.Done()
		g := gathered{trigger: trigger, topics: map[string]topicGathered{}}
		answers := make([]topicGathered, len(topics))
		var wg sync.WaitGroup
		for i, topic := range topics { // side by side: one that is slow to tell must not hold up the others' hand-over
			e.guard(&wg, func() { answers[i] = e.gather(ctx, topic) })
		}
		wg.Wait()
		for i, topic := range topics {
			g.topics[topic] = answers[i]
		}
		e.inbox.put(g)
	})
}

// topicGathered is what is known of one topic at the beginning of a pass.
type topicGathered struct {
	route      *remoting.TopicRoute
	routeErr   error
	members    []string
	from       string
	at         time.Time
	membersErr error
	// earlier: our client id stands in members more than once, and only earlier connections
	// of this process do so that the broker has not missed yet.
	earlier bool
}

func (e *Engine) gather(ctx context.Context, topic string) (g topicGathered) {
	g.route, g.routeErr = e.d.Client.Route(ctx, topic)
	if g.route == nil || e.o.MessageModel == protocol.Broadcasting {
		return g
	}
	g.members, g.from, g.membersErr = e.d.Client.ConsumerIDs(ctx, topic, e.o.Group)
	g.at = time.Now()
	if i := slices.Index(g.members, e.clientID); i >= 0 && slices.Contains(g.members[i+1:], e.clientID) {
		g.earlier = e.onlyEarlier(ctx, g.from)
	}
	return g
}

// gathered ends the gathering of a pass.
type gathered struct {
	trigger string
	topics  map[string]topicGathered
}

func (g gathered) apply(ctx context.Context, c *coordinator) {
	c.rebalancing = false
	if c.leaving {
		return
	}
	now := time.Now()
	end := RebalanceEnd{At: At{Time: now}, Seq: c.rebalanceSeq, Trigger: g.trigger, Balanced: true}
	c.noteNamesrv(g.topics)
	c.seeTwins(ctx, g.topics, now)
	for _, t := range c.topics {
		if found, ok := g.topics[t.sub.Topic]; ok { // one subscribed meanwhile has its turn in the next pass
			end.Topics = append(end.Topics, t.sub.Topic)
			c.rebalanceTopic(ctx, t, found, now, &end)
		}
	}
	if end.Added+end.Dropped > 0 {
		c.heartbeat(ctx, nil)
	}
	c.lastRebalance = now
	end.DurationMS = ms(now.Sub(c.passBegan))
	c.e.events.publish(end)
	if end.Added > 0 && c.e.o.Orderly {
		c.nextLock, c.lockTries = now, 0
	}
	if c.wanted != "" { // asked for while the pass ran: at its own time, but not at once after this one
		c.wake(c.wanted, c.settleAt.Sub(now))
	}
	if g.trigger == "members" && c.severalBrokers() {
		// Each broker has a member list of its own, and the one that was asked may not
		// have heard yet what another has told us (trap T39).
		c.wake("recheck", recheckAfter)
	}
	if end.Balanced {
		c.unbalanced = 0
	} else {
		// 1 s after the first such pass, as in 5.x; then more slowly, up to the period.
		c.wake("retry", min(time.Second<<c.unbalanced, c.e.o.RebalanceInterval))
		c.unbalanced = min(c.unbalanced+1, 5)
	}
}

// recheckAfter is when members are asked for once more after a broker has said
// that they changed.
const recheckAfter = time.Second

func (c *coordinator) severalBrokers() bool {
	return slices.ContainsFunc(c.topics, func(t *topicState) bool { return t.route != nil && len(t.route.Data.BrokerDatas) > 1 })
}

// noteNamesrv tells when the name servers stop and begin to answer.
func (c *coordinator) noteNamesrv(topics map[string]topicGathered) {
	var unreachable *remoting.UnreachableError
	for _, t := range topics {
		if u, ok := errors.AsType[*remoting.UnreachableError](t.routeErr); ok {
			unreachable = u
		}
	}
	now := time.Now()
	switch {
	case unreachable != nil && c.namesrvError == "":
		c.namesrvError, c.namesrvSince = unreachable.Error(), now
		c.e.events.publish(NamesrvUnreachable{At{Time: now}, unreachable.Addrs, c.namesrvError})
		c.note(c.namesrvError)
	case unreachable == nil && c.namesrvError != "":
		_, current := c.e.d.Client.Namesrv()
		c.e.events.publish(NamesrvRecovered{At{Time: now}, current, now.Sub(c.namesrvSince).Milliseconds()})
		c.namesrvError = ""
	}
}

// rebalanceTopic takes in one topic's route and members and starts and drops
// queues accordingly (docs/conformance/rebalance.md 2).
func (c *coordinator) rebalanceTopic(ctx context.Context, t *topicState, g topicGathered, now time.Time, end *RebalanceEnd) {
	c.takeRoute(t, g, now)
	if g.route == nil {
		// What is held is kept: a name server forgets a topic while its only broker is
		// away. The group's retry topic appears with the first heartbeat; not worth an event.
		c.skip(t, "no route", g.routeErr, now)
		if !t.retry {
			end.Balanced = end.Balanced && isNoRoute(g.routeErr)
		} else {
			end.Balanced = false
		}
		return
	}
	last := t.allocation
	want, err := c.allocate(t, g, now)
	if err != nil {
		var s skipError
		if errors.As(err, &s) {
			c.skip(t, s.cause, s.err, now)
		} else {
			c.skip(t, "strategy error", err, now)
		}
		end.Balanced = false
		return
	}
	t.skipped = ""
	var have []core.Holding
	for mq, q := range c.queues {
		if mq.Topic == t.sub.Topic {
			h := core.Holding{MQ: mq, Dropped: q.dropping, LastPull: now}
			if at := q.pulledAt.Load(); at != 0 && !q.doubted { // in doubt it waits for a pass, not for a pull
				h.LastPull = c.e.moment(at)
			}
			have = append(have, h)
		}
	}
	plan := core.PlanRebalance(have, want, now)
	if plan.Changed() {
		c.renew(t, now) // the heartbeat follows when all topics are done
	}
	before := t.limits
	for _, d := range plan.Drop {
		c.drop(c.queues[d.MQ], d.Cause, dropWait)
	}
	t.lastMine = want
	c.reassure(ctx, t, plan.Keep)
	added := plan.Add
	end.Kept += len(plan.Keep)
	end.Dropped += len(plan.Drop)
	end.Added += len(added)
	if len(added) > 0 {
		c.take(ctx, t, last, added)
	}
	c.forgetProgress(t)
	if plan.Changed() {
		c.setLimits(t.sub.Topic)
		c.e.events.publish(AssignmentChanged{At{Time: now}, t.sub.Topic, shortNames(want), t.sub.SubVersion,
			t.limits.Count, before.Count, t.limits.SizeMiB, before.SizeMiB})
	}
}

// take starts queues, and asks their former owners for those that somebody else
// may have still.
func (c *coordinator) take(ctx context.Context, t *topicState, last map[string][]MessageQueue, added []MessageQueue) {
	former := c.formerOwners(t, last, added)
	asked := map[MessageQueue]bool{}
	for _, mqs := range former {
		for _, mq := range mqs {
			asked[mq] = true
		}
	}
	for _, mq := range added {
		c.startQueue(ctx, t, mq, asked[mq])
	}
	for member, mqs := range former {
		qs := make([]*queue, len(mqs))
		for i, mq := range mqs {
			qs[i] = c.queues[mq]
		}
		c.askFormer(ctx, t.membersFrom, t.sub.Topic, member, qs)
	}
}

func isNoRoute(err error) bool {
	_, ok := errors.AsType[*remoting.NoRouteError](err)
	return ok
}

// takeRoute stores a route and tells what changed.
func (c *coordinator) takeRoute(t *topicState, g topicGathered, now time.Time) {
	if g.route == nil {
		if isNoRoute(g.routeErr) {
			t.missing = "no name server knows the topic (yet)"
		} else if g.routeErr != nil {
			t.missing = g.routeErr.Error()
		}
		return
	}
	t.missing = cmp.Or(g.route.StaticWhy(), g.route.ClosedWhy())
	old := 0
	if t.route != nil {
		old = len(t.route.Queues)
		if slices.Equal(t.route.Queues, g.route.Queues) {
			t.route = g.route
			return
		}
	}
	t.route = g.route
	c.e.events.publish(RouteChanged{At{Time: now}, t.sub.Topic, brokerNames(g.route), len(g.route.Queues), old})
	if c.strangers() { // a new broker wants to know this client before it is asked for messages
		c.nextHeartbeat = now
	}
}

func brokerNames(r *remoting.TopicRoute) (names []string) {
	for _, b := range r.Data.BrokerDatas {
		names = append(names, b.BrokerName)
	}
	slices.Sort(names)
	return names
}

// skipError says why a topic keeps what it has.
type skipError struct {
	cause string
	err   error
}

func (s skipError) Error() string { return fmt.Sprintf("%s: %v", s.cause, s.err) }

// skip passes a topic over, and tells a cause once.
func (c *coordinator) skip(t *topicState, cause string, err error, now time.Time) {
	c.undecided(t)
	if t.skipped == cause {
		return
	}
	t.skipped = cause
	if cause == "no route" && isNoRoute(err) {
		if !t.retry {
			c.e.events.publish(RouteMissing{At{Time: now}, t.sub.Topic})
		}
		return
	}
	ev := RebalanceSkipped{At: At{Time: now}, Topic: t.sub.Topic, Cause: cause}
	if err != nil {
		ev.Error = err.Error()
	}
	c.e.events.publish(ev)
}

// allocate computes who gets what. A topic without a believable member list
// keeps what it has.
func (c *coordinator) allocate(t *topicState, g topicGathered, now time.Time) ([]MessageQueue, error) {
	if c.e.o.MessageModel == protocol.Broadcasting {
		t.setMembers([]string{c.e.clientID}, map[string][]MessageQueue{c.e.clientID: t.route.Queues}, now)
		return t.route.Queues, nil
	}
	if g.membersErr != nil {
		t.membersErr = g.membersErr.Error()
		return nil, skipError{"no members", g.membersErr}
	}
	// A client id that two processes have stands twice in the list, and counts twice
	// for the strategy: members that are Java's see it so too.
	named := slices.Clone(g.members)
	slices.SortFunc(named, protocol.CompareUTF16)
	members := slices.Compact(slices.Clone(named))
	if len(members) == 0 || !t.view.Believe(members, c.e.clientID) {
		// A broker that has just restarted does not know its members yet (trap T40).
		c.nextHeartbeat = now
		t.membersErr = "this client is not in the broker's member list (yet)"
		return nil, skipError{"self missing", fmt.Errorf("%s names %d members without this client", g.from, len(members))}
	}
	if s := c.brokers[g.from]; s != nil && !s.back.IsZero() && core.Returning(t.members, members, now.Sub(s.back)) {
		t.membersErr = "members have not come back to the broker yet"
		return nil, skipError{"members returning", fmt.Errorf("%s came back a moment ago and names %d of %d members", g.from, len(members), len(t.members))}
	}
	allocation, err := core.AllocateAll(c.e.o.Strategy, c.e.o.Group, t.sub.Topic, c.e.clientID, t.route.Queues, named)
	if err != nil {
		t.membersErr = err.Error()
		return nil, err
	}
	if g.earlier { // Java's members leave the shares of our other connections to us; nobody else reads them
		allocation[c.e.clientID] = append(slices.Clip(allocation[c.e.clientID]), c.e.unread(t.sub.Topic, t.route.Queues, members, allocation)...)
	}
	t.membersErr, t.membersFrom, t.membersAt = "", g.from, g.at
	c.e.shared.Store(len(members) > 1)
	joined, left := t.setMembers(members, allocation, now)
	mine := allocation[c.e.clientID]
	if len(joined)+len(left) > 0 || !slices.Equal(mine, t.lastMine) {
		short := shortNames(mine)
		c.e.events.publish(RebalanceTopic{At{Time: now}, t.sub.Topic, c.e.o.Strategy.Name(), len(t.route.Queues), members, joined, left, short,
			slices.Index(members, c.e.clientID), g.from})
	}
	return mine, nil
}

func shortNames(mqs []MessageQueue) []string {
	short := make([]string, len(mqs))
	for i, mq := range mqs {
		short[i] = mq.Short()
	}
	return short
}

// setMembers stores an allocation and tells who joined and who left since the last one.
func (t *topicState) setMembers(members []string, allocation map[string][]MessageQueue, now time.Time) (joined, left []string) {
	if t.since == nil {
		t.since = map[string]time.Time{}
	}
	for _, m := range members {
		if _, ok := t.since[m]; !ok {
			t.since[m] = now
			joined = append(joined, m)
		}
	}
	for m := range t.since {
		if !slices.Contains(members, m) {
			delete(t.since, m)
			left = append(left, m)
		}
	}
	slices.Sort(left)
	t.members, t.allocation = members, allocation
	return joined, left
}

// refreshRoutes asks the name servers for all topics side by side, and rebalances
// when something changed. It runs beside everything else: no save, heartbeat or
// member list delays it.
func (c *coordinator) refreshRoutes(ctx context.Context) {
	e := c.e
	topics := make([]string, len(c.topics))
	for i, t := range c.topics {
		topics[i] = t.sub.Topic
	}
	e.start(func() {
		var changed atomic.Bool
		var wg sync.WaitGroup
		for _, t := range topics {
			e.guard(&wg, func() {
				rctx, cancel := context.WithTimeout(ctx, callTimeout)
				defer cancel()
				if _, other, err := e.d.Client.RefreshRoute(rctx, t); err == nil && other {
					changed.Store(true)
				}
			})
		}
		wg.Wait()
		if changed.Load() {
			e.inbox.put(routesChanged{})
		}
	})
}

// routesChanged says that queues or addresses of brokers are not what they were.
type routesChanged struct{}

func (routesChanged) apply(_ context.Context, c *coordinator) {
	c.sweepBrokers()
	for _, q := range c.queues {
		q.inbox.put(routeMoved{})
	}
	c.wake("route", 0)
}

// wakeUp asks for a rebalance at once.
type wakeUp struct{ trigger string }

func (w wakeUp) apply(_ context.Context, c *coordinator) { c.wake(w.trigger, 0) }
