package engine

import (
	"context"
	"sync"
	"time"

	"eyeq/remoting/protocol"
)

// brokerState is what the coordinator knows of one broker address.
type brokerState struct {
	BrokerSnapshot
	failing bool
}

// heartbeatRetry is the period of heartbeats while some broker does not answer.
const heartbeatRetry = time.Second

// heartbeat announces this client to every known address. done, when not nil,
// is put into the inbox after the last answer. One round runs at a time; one
// asked for meanwhile follows (trap T33).
func (c *coordinator) heartbeat(ctx context.Context, done command) {
	if c.heartbeating {
		c.heartbeatSoon = true
		c.nextHeartbeat = time.Now().Add(c.e.o.HeartbeatInterval)
		c.e.events.publish(HeartbeatSkipped{At{Time: time.Now()}, "busy"})
		if done != nil {
			c.e.inbox.put(done)
		}
		return
	}
	c.heartbeating, c.heartbeatSoon = true, false
	c.nextHeartbeat = time.Now().Add(c.e.o.HeartbeatInterval)
	e := c.e
	data, seq := e.heartbeatData(), c.subSeq
	brokers := e.d.Client.Brokers()
	if len(brokers) == 0 {
		e.events.publish(HeartbeatSkipped{At{Time: time.Now()}, "no_broker"})
	}
	c.requests.Add(1)
	e.start(func() {
		defer c.requests.Done()
		beats := heartbeatsAnswered{done: done}
		var wg sync.WaitGroup
		var mu sync.Mutex // guards beats
		for name, addrs := range brokers {
			for id, addr := range addrs {
				e.guard(&wg, func() {
					b := beat{BrokerSnapshot: BrokerSnapshot{Name: name, ID: id, Address: addr}, at: time.Now()}
					hctx, cancel := context.WithTimeout(ctx, callTimeout)
					b.Version, b.err = e.d.Client.Heartbeat(hctx, addr, data)
					cancel()
					b.RTT = time.Since(b.at)
					if b.err == nil {
						e.inbox.put(subTold{name, seq}) // not after the slowest of them
					}
					mu.Lock()
					beats.beats = append(beats.beats, b)
					mu.Unlock()
				})
			}
		}
		wg.Wait()
		e.inbox.put(beats)
	})
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

type beat struct {
	BrokerSnapshot
	at  time.Time
	err error
}

// heartbeatsAnswered ends a round of heartbeats.
type heartbeatsAnswered struct {
	beats []beat
	done  command
}

func (h heartbeatsAnswered) apply(ctx context.Context, c *coordinator) {
	c.heartbeating = false
	now := time.Now()
	known := map[string]bool{}
	failing := false
	for _, b := range h.beats {
		known[b.Address] = true
		ev := HeartbeatSent{At: At{Time: now}, Address: b.Address, RTTMS: ms(b.RTT)}
		if b.err != nil {
			ev.Error = b.err.Error()
			failing = true
			c.brokerDown(b.Name, b.Address, b.err)
			c.brokers[b.Address].ID = b.ID
		} else {
			c.brokerUp(b)
		}
		c.e.events.publish(ev)
	}
	for addr := range c.brokers {
		if !known[addr] {
			delete(c.brokers, addr) // in no route any more
		}
	}
	if failing {
		c.nextHeartbeat = earlier(c.nextHeartbeat, now.Add(heartbeatRetry))
	}
	if c.heartbeatSoon {
		c.nextHeartbeat = now
	}
	if h.done != nil {
		h.done.apply(ctx, c)
	}
}

func (c *coordinator) brokerUp(b beat) {
	s := c.brokers[b.Address]
	if s == nil {
		s = &brokerState{}
		c.brokers[b.Address] = s
		c.e.events.publish(BrokerOnline{At{Time: time.Now()}, b.Name, b.Address, 0})
	} else if s.failing {
		c.e.events.publish(BrokerOnline{At{Time: time.Now()}, b.Name, b.Address, time.Since(s.ErrorSince).Milliseconds()})
		// A broker that was away has forgotten its members and locks.
		c.wake("members", 0)
		c.nextRenewal, c.nextLock = time.Now(), time.Now()
		for mq, q := range c.queues {
			if mq.BrokerName == b.Name {
				q.unsure.Store(true)
				c.doubt(q)
			}
		}
	}
	*s = brokerState{BrokerSnapshot: b.BrokerSnapshot}
	s.Connected, s.LastHeartbeat = true, b.at.Add(b.RTT)
}

// brokerDown notes that an address does not answer, and tells it once.
func (c *coordinator) brokerDown(name, addr string, err error) {
	s := c.brokers[addr]
	if s == nil {
		s = &brokerState{BrokerSnapshot: BrokerSnapshot{Name: name, Address: addr}}
		c.brokers[addr] = s
	}
	s.Connected, s.Error = false, err.Error()
	if s.failing {
		return
	}
	s.failing, s.ErrorSince = true, time.Now()
	for mq, q := range c.queues {
		if mq.BrokerName == name {
			q.elsewhere.Store(q.clustering)
		}
	}
	c.e.events.publish(BrokerOffline{At{Time: s.ErrorSince}, name, addr, err.Error()})
	c.note("broker " + name + " at " + addr + ": " + err.Error())
	c.nextHeartbeat = earlier(c.nextHeartbeat, s.ErrorSince.Add(heartbeatRetry))
}
