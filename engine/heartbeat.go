package engine

import (
	"context"
	"math"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// brokerState is what the coordinator knows of one broker address.
type brokerState struct {
	BrokerSnapshot
	failing bool
	beating bool      // a heartbeat is under way
	again   bool      // another one was wanted meanwhile (trap T33)
	next    time.Time // of an address that does not answer, or has to be greeted; else zero
	began   time.Time // the last heartbeat
	back    time.Time // when it was back after it had not answered
	greet   time.Time // when a connection was made while a heartbeat was under way
	subSeq  uint64    // the last change of subscriptions that it has heard of
	denied  error     // access control refused the last heartbeat
}

const (
	// heartbeatRetry is the period of heartbeats to an address that does not answer.
	heartbeatRetry = time.Second
	// heartbeatsAtOnce bounds the heartbeats under way: with hundreds of brokers one
	// after the other takes longer than a period, all at once makes as many dials.
	heartbeatsAtOnce = 64
	// heartbeatPatience is how long a start waits for slow brokers.
	heartbeatPatience = time.Second
)

// round is one heartbeat to every known address. done is applied after the last
// answer, or when the round has taken heartbeatPatience.
type round struct {
	left int
	done command
}

// heartbeat announces this client to every known address, masters and slaves. An
// address whose last heartbeat is still under way gets another one after it: a
// slow broker delays none of the others, nor what they have to be told.
func (c *coordinator) heartbeat(ctx context.Context, done command) {
	c.nextHeartbeat = time.Now().Add(c.e.o.HeartbeatInterval)
	r := &round{done: done}
	cause := "no_broker"
	for name, addrs := range c.e.d.Client.Brokers() {
		for id, addr := range addrs {
			cause = "busy"
			if c.beat(ctx, name, id, addr, r) {
				r.left++
			}
		}
	}
	if r.left == 0 {
		c.e.events.publish(HeartbeatSkipped{At{Time: time.Now()}, cause})
	}
	c.sweepBrokers()
	switch {
	case done == nil:
	case r.left == 0:
		c.e.inbox.put(roundOver{r})
	default:
		e := c.e
		e.start(func() {
			if sleep(ctx, heartbeatPatience) {
				e.inbox.put(roundOver{r})
			}
		})
	}
}

// beatAgain sends heartbeats to the addresses that do not answer.
func (c *coordinator) beatAgain(ctx context.Context, now time.Time) {
	for _, s := range c.brokers {
		if !s.next.IsZero() && !now.Before(s.next) {
			c.beat(ctx, s.Name, s.ID, s.Address, nil)
		}
	}
}

// beatDue is when beatAgain has to be called next.
func (c *coordinator) beatDue() (due time.Time) {
	for _, s := range c.brokers {
		if !s.next.IsZero() {
			due = earlier(due, s.next)
		}
	}
	return due
}

// beat sends one heartbeat, or has one follow the one under way; then it reports
// false.
func (c *coordinator) beat(ctx context.Context, name string, id int64, addr string, r *round) bool {
	s := c.brokerAt(name, id, addr)
	s.next = time.Time{}
	if s.beating {
		s.again = true
		return false
	}
	s.beating, s.again, s.began = true, false, time.Now()
	if s.Waiting.IsZero() {
		s.Waiting = time.Now()
	}
	e := c.e
	data, seq := e.heartbeatData(), c.subSeq
	c.requests.Add(1)
	e.start(func() {
		defer c.requests.Done()
		b := beat{BrokerSnapshot: BrokerSnapshot{Name: name, ID: id, Address: addr}, subSeq: seq, round: r}
		select {
		case e.beats <- struct{}{}:
			b.at = time.Now()
			hctx, cancel := context.WithTimeout(ctx, callTimeout)
			b.Version, b.err = e.d.Client.Heartbeat(hctx, addr, data)
			cancel()
			b.RTT = time.Since(b.at)
			<-e.beats
		case <-ctx.Done():
			b.err = context.Cause(ctx)
		}
		e.inbox.put(b)
	})
	return true
}

func (e *Engine) heartbeatData() *protocol.HeartbeatData {
	return &protocol.HeartbeatData{
		ClientID: e.clientID,
		ConsumerDataSet: []protocol.ConsumerData{{
			GroupName: e.o.Group, ConsumeType: protocol.ConsumePassively, MessageModel: e.o.MessageModel,
			ConsumeFromWhere: e.o.ConsumeFromWhere, SubscriptionDataSet: e.subscriptions(),
		}},
		ProducerDataSet: []protocol.ProducerData{{GroupName: innerProducer}},
	}
}

// beat is one heartbeat that was answered or has failed.
type beat struct {
	BrokerSnapshot
	at     time.Time
	err    error
	subSeq uint64 // the change of subscriptions that it has told
	round  *round // may be nil
}

func (b beat) apply(ctx context.Context, c *coordinator) {
	now := time.Now()
	s := c.brokers[b.Address]
	if s == nil { // it has moved, and answers at its new address
		b.over(ctx, c)
		return
	}
	s.beating, s.Waiting = false, time.Time{}
	ev := HeartbeatSent{At: At{Time: now}, Address: b.Address, RTTMS: ms(b.RTT)}
	s.denied = nil
	if _, denied := remoting.AccessDenied(b.err); denied {
		s.denied = b.err
	}
	if b.err != nil {
		ev.Error = b.err.Error()
		c.brokerDown(b.Name, b.Address, b.err)
		s.next = now.Add(heartbeatRetry)
	} else {
		s.subSeq = max(s.subSeq, b.subSeq)
		c.brokerUp(b)
		s.again = s.again || b.at.Add(b.RTT).Before(s.greet) // it was answered on the connection before
	}
	s.greet = time.Time{}
	c.noteTold(ctx, b.Name)
	c.e.events.publish(ev)
	if s.again {
		c.beat(ctx, b.Name, b.ID, b.Address, nil)
	}
	c.sweepBrokers()
	b.over(ctx, c)
}

// connected says that a connection to an address was made. A broker knows a member
// by its connection: on a new one it has to be greeted by a heartbeat, or the
// member is none until the next period (docs/conformance/client.md 4.3).
type connected struct {
	addr string
	at   time.Time
}

func (n connected) apply(_ context.Context, c *coordinator) {
	if s := c.brokers[n.addr]; s != nil && !c.leaving {
		s.greetAt(n.at)
	}
}

// disconnected says that a connection to an address has ended: the broker takes the
// member out of the group.
type disconnected struct{ addr string }

func (n disconnected) apply(_ context.Context, c *coordinator) {
	s := c.brokers[n.addr]
	if s == nil || c.leaving {
		return
	}
	s.greetAt(time.Now())
	if !c.reachable(s.Name, s) {
		c.doubt(s.Name)
	}
}

// greetAt brings the next heartbeat forward, but not into a storm where a broker
// closes each connection at once. One under way may be what the connection was
// made for.
func (s *brokerState) greetAt(now time.Time) {
	if s.beating {
		s.greet = now
		return
	}
	at := now
	if quiet := s.began.Add(heartbeatRetry); at.Before(quiet) {
		at = quiet
	}
	s.next = earlier(s.next, at)
}

// noteTold notes up to which change of subscriptions all addresses of a broker
// name that answer have heard: a pull may go to any of them.
func (c *coordinator) noteTold(ctx context.Context, name string) {
	told := uint64(math.MaxUint64)
	for _, s := range c.brokers {
		if s.Name == name && !s.failing {
			told = min(told, s.subSeq)
		}
	}
	if told != math.MaxUint64 {
		subTold{name, told}.apply(ctx, c)
	}
}

// over ends the round of a heartbeat that was its last.
func (b beat) over(ctx context.Context, c *coordinator) {
	if b.round == nil {
		return
	}
	if b.round.left--; b.round.left == 0 {
		roundOver{b.round}.apply(ctx, c)
	}
}

// roundOver ends a round, once.
type roundOver struct{ r *round }

func (o roundOver) apply(ctx context.Context, c *coordinator) {
	if done := o.r.done; done != nil {
		o.r.done = nil
		done.apply(ctx, c)
	}
}
