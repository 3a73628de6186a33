package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// newSubscription builds the subscription of one topic; version is its age in the
// eyes of the brokers, which prefer a later one.
func newSubscription(s Subscription, version time.Time) (protocol.SubscriptionData, error) {
	sub, err := s.data()
	if err != nil {
		return sub, err
	}
	sub.SubVersion = version.UnixMilli()
	return sub, nil
}

// subscriptions are the subscribed topics in order, the retry topic last. They are
// replaced, never changed in place.
func (e *Engine) subscriptions() []protocol.SubscriptionData { return *e.subs.Load() }

// publishSubs is called by the coordinator when a subscription has changed.
func (c *coordinator) publishSubs() {
	subs := make([]protocol.SubscriptionData, len(c.topics))
	for i, t := range c.topics {
		subs[i] = t.sub
	}
	c.e.subs.Store(&subs)
}

// renew gives a topic's subscription a new version, which is to be told to the
// brokers before anything is pulled with it (traps T33 and T34): a broker refuses
// a version that it has not heard of.
func (c *coordinator) renew(t *topicState, now time.Time) {
	t.sub.SubVersion = max(now.UnixMilli(), t.sub.SubVersion+1)
	c.subSeq++
	t.subSeq = c.subSeq
	c.publishSubs()
}

// subTold says that a broker has heard of the subscriptions up to a sequence number.
type subTold struct {
	broker string
	seq    uint64
}

func (s subTold) apply(_ context.Context, c *coordinator) {
	if s.seq <= c.told[s.broker] {
		return
	}
	c.told[s.broker] = s.seq
	for _, q := range c.queues {
		if q.mq.BrokerName == s.broker {
			c.tellSub(q)
		}
	}
}

// tellSub lets a queue pull with its topic's subscription once the broker has
// heard of it.
func (c *coordinator) tellSub(q *queue) {
	t := c.topic(q.mq.Topic)
	if t == nil || c.told[q.mq.BrokerName] < t.subSeq || q.subSeq == t.subSeq {
		return
	}
	q.subSeq = t.subSeq
	q.inbox.put(setSubscription{t.sub})
}

// setSubscription is what a queue pulls by from now on.
type setSubscription struct{ sub protocol.SubscriptionData }

func (s setSubscription) applyTo(_ context.Context, q *queue) {
	q.subscribe(s.sub)
	if !q.announced {
		q.announced = true
		if q.phase == phaseActive && !q.inFlight && !q.dialing {
			q.nextPull = time.Now()
		}
	}
	q.touch()
}

// takeBy is what a queue takes messages by from now on, of whatever pull: its broker
// hears of the expression later, and answers a pull that is under way by it when it has.
type takeBy struct{ sub protocol.SubscriptionData }

func (s takeBy) applyTo(_ context.Context, q *queue) { q.takeBy(s.sub) }

// SubscribeTopic subscribes to one more topic, or replaces the expression of one
// that is subscribed, while the engine runs. The brokers are told at once, and a
// rebalance follows. It waits for the coordinator, or for ctx; a bad topic or
// expression is a *ConfigError.
func (e *Engine) SubscribeTopic(ctx context.Context, s Subscription) error {
	if err := s.validate(); err != nil {
		if ce, ok := errors.AsType[*ConfigError](err); ok {
			e.events.publish(ConfigRejected{At{Time: time.Now()}, ce.Property, fmt.Sprint(ce.Value), ce.Rule})
		}
		return err
	}
	sub, err := newSubscription(s, time.Now())
	if err != nil {
		return err
	}
	return e.ask(ctx, func(reply chan<- error) command { return subscribeCommand{sub, reply} })
}

type subscribeCommand struct {
	sub   protocol.SubscriptionData
	reply chan<- error
}

func (s subscribeCommand) apply(ctx context.Context, c *coordinator) {
	t := c.topic(s.sub.Topic)
	switch {
	case c.leaving:
		s.reply <- ErrEnded
		return
	case t != nil && t.retry:
		s.reply <- fmt.Errorf("subscribe to %s: it is the group's retry topic, which every member reads", s.sub.Topic)
		return
	case t != nil:
		version := t.sub.SubVersion
		t.sub = s.sub
		t.sub.SubVersion = version // renew makes it later
	default:
		t = &topicState{sub: s.sub}
		at := len(c.topics)
		if at > 0 && c.topics[at-1].retry {
			at--
		}
		c.topics = slices.Insert(c.topics, at, t)
		c.e.addStats(s.sub.Topic)
		c.setLimits(s.sub.Topic)
	}
	c.renew(t, time.Now())
	for _, q := range c.queues {
		if q.mq.Topic == t.sub.Topic {
			q.inbox.put(takeBy{t.sub})
		}
	}
	c.heartbeat(ctx, nil)
	c.wake("subscribe", 0)
	s.reply <- nil
}

// UnsubscribeTopic gives a topic up while the engine runs: its queues are given
// away as in a rebalance, with their offsets persisted and their locks returned
// (trap T08), and the brokers are told.
func (e *Engine) UnsubscribeTopic(ctx context.Context, topic string) error {
	return e.ask(ctx, func(reply chan<- error) command { return unsubscribeCommand{topic, reply} })
}

type unsubscribeCommand struct {
	topic string
	reply chan<- error
}

func (u unsubscribeCommand) apply(ctx context.Context, c *coordinator) {
	i := slices.IndexFunc(c.topics, func(t *topicState) bool { return t.sub.Topic == u.topic })
	switch {
	case i < 0:
		u.reply <- fmt.Errorf("unsubscribe from %s: it is not subscribed", u.topic)
		return
	case c.topics[i].retry:
		u.reply <- fmt.Errorf("unsubscribe from %s: it is the group's retry topic, which every member reads", u.topic)
		return
	}
	c.topics = slices.Delete(c.topics, i, i+1)
	for mq, q := range c.queues {
		if mq.Topic == u.topic {
			c.drop(q, core.DropUnsubscribed, dropWait)
		}
	}
	c.publishSubs()
	c.heartbeat(ctx, nil)
	u.reply <- nil
}
