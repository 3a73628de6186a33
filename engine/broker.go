package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"time"

	"eyeq/remoting"
)

// goneFor is how long a broker that has left the routes is still shown as one
// that cannot be reached: longer than a restart takes, shorter than a change of
// the cluster is remembered.
const goneFor = time.Hour

// brokerAt is the state of an address, made when need be.
func (c *coordinator) brokerAt(name string, id int64, addr string) *brokerState {
	s := c.brokers[addr]
	if s == nil {
		s = &brokerState{BrokerSnapshot: BrokerSnapshot{Name: name, ID: id, Address: addr}}
		c.brokers[addr] = s
	}
	s.Name, s.ID = name, id
	return s
}

// brokerUp notes that an address answers. One that was away, or has moved here
// from another address, has forgotten its members and locks, and may have lost
// the last commits.
func (c *coordinator) brokerUp(b beat) {
	s := c.brokerAt(b.Name, b.ID, b.Address)
	before := s
	if s.LastHeartbeat.IsZero() && !s.failing {
		before = c.movedFrom(s)
	}
	switch now := time.Now(); {
	case before == nil:
		c.e.events.publish(BrokerOnline{At{Time: now}, b.Name, b.Address, 0})
	case before.failing || before != s:
		s.back = now
		away := max(1, now.Sub(cmp.Or(before.ErrorSince, now)).Milliseconds())
		c.e.events.publish(BrokerOnline{At{Time: now}, b.Name, b.Address, away})
		c.wake("members", 0)
		c.nextRenewal, c.nextLock = time.Now(), time.Now()
		for mq, q := range c.queues {
			if mq.BrokerName == b.Name {
				q.unsure.Store(true)
			}
		}
	}
	for mq, q := range c.queues {
		if mq.BrokerName != b.Name || !q.doubted {
			continue
		}
		c.wake("members", 0) // the pass ends the doubt
		if !c.e.shared.Load() {
			// Who was alone has no reason to wait for a list of members that may not come,
			// only to see whether somebody else has made progress meanwhile.
			c.endDoubt(q, false)
		}
	}
	if before != nil && before != s {
		delete(c.brokers, before.Address)
	}
	s.BrokerSnapshot = b.BrokerSnapshot
	s.Connected, s.LastHeartbeat = true, b.at.Add(b.RTT)
	s.failing, s.next = false, time.Time{}
	c.tellDown()
}

// movedFrom is the address that a broker had before, nil when this is its first.
func (c *coordinator) movedFrom(s *brokerState) *brokerState {
	for _, old := range c.brokers {
		if addr, _ := c.e.d.Client.BrokerAddr(s.Name, s.ID); old != s && old.Name == s.Name && old.ID == s.ID && old.Address != addr {
			return old
		}
	}
	return nil
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
	if !s.beating {
		s.next = s.ErrorSince.Add(heartbeatRetry)
	}
	alone := !c.reachable(name, s)
	for mq, q := range c.queues {
		if mq.BrokerName == name && (alone || s.ID == remoting.MasterID) { // a slave takes nobody out of the group
			q.elsewhere.Store(q.clustering)
		}
	}
	if alone {
		c.doubt(name)
	}
	c.e.events.publish(BrokerOffline{At{Time: s.ErrorSince}, name, addr, err.Error()})
	c.note("broker " + name + " at " + addr + ": " + err.Error())
	c.tellDown()
}

// reachable reports whether some address of a broker answers, besides one: its
// master and its slaves all know the group's members.
func (c *coordinator) reachable(name string, besides *brokerState) bool {
	for _, s := range c.brokers {
		if s != besides && s.Name == name && s.Connected && !s.failing {
			return true
		}
	}
	return false
}

var errNotRouted = errors.New("no name server names it any more")

// sweepBrokers deals with the addresses that no route names any more: they get
// no more heartbeats, but are missed until they come back or goneFor is over. A
// name server forgets a broker the moment it dies, so without this the death of
// one of two would look like a cluster in good health.
func (c *coordinator) sweepBrokers() {
	routed := map[string]bool{}
	for _, addrs := range c.e.d.Client.Brokers() {
		for _, addr := range addrs {
			routed[addr] = true
		}
	}
	for addr, s := range c.brokers {
		switch {
		case routed[addr]:
			s.Gone = false
			continue
		case s.beating:
			continue // its answer decides
		case s.LastHeartbeat.IsZero() && !s.failing, s.Gone && time.Since(s.ErrorSince) > goneFor:
			delete(c.brokers, addr)
		case !s.Gone:
			c.brokerDown(s.Name, addr, errNotRouted)
			s.Gone, s.next = true, time.Time{}
			c.nextRoutes = earlier(c.nextRoutes, time.Now().Add(refreshPause))
			if moved := c.at(s.Name, s.ID); moved != nil {
				delete(c.brokers, addr) // it answers elsewhere already
			}
		}
	}
	c.tellDown()
}

// routePause is until routes are asked for again. A broker that the routes have
// lost is often back within seconds, a restart, and its queues wait for it: while
// one is missed they are asked for sooner, and less often the longer it lasts.
func (c *coordinator) routePause(now time.Time) time.Duration {
	pause := remoting.RouteMaxAge
	for _, s := range c.brokers {
		if s.Gone {
			pause = min(pause, max(refreshPause, now.Sub(s.ErrorSince)/4))
		}
	}
	return pause
}

// rememberProgress keeps the progress of a queue that is lost because its broker
// has died: a broker writes commits to its disk every few seconds only, and may
// come back with older ones or none. The reference would then repeat, or with
// CONSUME_FROM_LAST_OFFSET even leave out, what came since.
func (c *coordinator) rememberProgress(q *queue) {
	progress := q.memory.Load()
	if !q.clustering || progress == Unknown {
		return
	}
	for _, s := range c.brokers {
		if s.Name == q.mq.BrokerName && s.ID == remoting.MasterID && s.failing {
			c.progress[q.mq] = progress
		}
	}
}

// forgetProgress ends what rememberProgress keeps once a pass has seen the queue
// in a route again: it was taken with it, or is another member's.
func (c *coordinator) forgetProgress(t *topicState) {
	for _, mq := range t.route.Queues {
		delete(c.progress, mq)
	}
}

// strangers reports whether some routed address was sent no heartbeat yet.
func (c *coordinator) strangers() bool {
	for _, addrs := range c.e.d.Client.Brokers() {
		for _, addr := range addrs {
			if c.brokers[addr] == nil {
				return true
			}
		}
	}
	return false
}

// at is the address of a broker name and id that answers, if there is one.
func (c *coordinator) at(name string, id int64) *brokerState {
	for _, s := range c.brokers {
		if s.Name == name && s.ID == id && s.Connected {
			return s
		}
	}
	return nil
}

// tellDown lets the queues know which addresses do not answer.
func (c *coordinator) tellDown() {
	c.dirty = true
	down := map[string]bool{}
	for addr, s := range c.brokers {
		if s.failing {
			down[addr] = true
		}
	}
	if old := c.e.down.Load(); old == nil && len(down) == 0 || old != nil && maps.Equal(*old, down) {
		return
	}
	c.e.down.Store(&down)
}

func (e *Engine) isDown(addr string) bool {
	down := e.down.Load()
	return down != nil && (*down)[addr]
}

// pullFrom chooses where to pull a queue from: as docs/conformance/client.md 4.5 has it,
// but past an address that does not answer, or that the queue avoids, when
// another one may serve.
func (e *Engine) pullFrom(mq MessageQueue, suggested int64, avoid string) (addr string, id int64, ok bool) {
	addr, id, ok = e.d.Client.PullAddr(mq.BrokerName, suggested)
	if !ok || addr != avoid && !e.isDown(addr) {
		return addr, id, ok
	}
	for other, otherAddr := range e.d.Client.BrokerAddrs(mq.BrokerName) {
		if otherAddr == avoid || e.isDown(otherAddr) {
			continue
		}
		if bad := addr == avoid || e.isDown(addr); bad || other < id {
			addr, id = otherAddr, other
		}
	}
	return addr, id, true
}

// avoidFor is how long a queue keeps away from a slave that refused it something.
const avoidFor = 30 * time.Second

// avoided is the address that the queue keeps away from; "" is none.
func (q *queue) avoided(now time.Time) string {
	if now.Before(q.avoidTill) {
		return q.avoid
	}
	return ""
}

// atSlave reports whether the queue is pulled from a slave.
func (q *queue) atSlave() bool { return q.brokerID != remoting.MasterID }

// wander lets the next pull dial when it would go elsewhere now: to the suggested
// broker, back to a master that serves again, away from an address that the
// routes no longer have.
func (q *queue) wander(now time.Time) {
	if q.conn == nil || q.brokerID == q.suggested && !q.moved {
		return
	}
	q.moved = false
	if addr, _, ok := q.e.pullFrom(q.mq, q.suggested, q.avoided(now)); ok && addr != q.connAddr {
		q.conn = nil
	}
}

// refuseSlave turns away from a slave that has answered with an error: unlike the
// master's, its word is not the last one. It may not know the topic yet.
func (q *queue) refuseSlave(now time.Time) {
	q.avoid, q.avoidTill = q.connAddr, now.Add(avoidFor)
	q.conn = nil
}

// arrive notes where the next pulls go.
func (q *queue) arrive(d dialed) {
	if d.brokerID != q.brokerID {
		cause := "suggested"
		switch {
		case d.brokerID != q.suggested:
			cause = "instead"
		case d.brokerID == remoting.MasterID:
			cause = "back"
		}
		q.emit(PullMoved{q.at(), q.brokerID, d.brokerID, d.addr, cause})
		q.touch()
	}
	q.conn, q.connAddr, q.brokerID = d.conn, d.addr, d.brokerID
}

// routeMoved says that the addresses of brokers have changed.
type routeMoved struct{}

func (routeMoved) applyTo(_ context.Context, q *queue) {
	if q.conn == nil {
		return
	}
	for _, addr := range q.e.d.Client.BrokerAddrs(q.mq.BrokerName) {
		if addr == q.connAddr {
			q.moved = true // another one may be better: looked at after the next answer
			return
		}
	}
	// The pull in flight may wait at an address where nobody is any more.
	q.cancelPull()
	q.conn = nil
	if q.phase == phaseActive && q.resetting == nil && !q.dialing {
		q.nextPull = time.Now()
	}
}

var errMasterDown = errors.New("master down")

// lockError is err, or in short that the broker that grants locks is down.
func (c *coordinator) lockError(broker string, err error) error {
	if none, ok := errors.AsType[*remoting.NoBrokerError](err); ok && none.Master {
		return errMasterDown
	}
	for _, s := range c.brokers {
		if s.Name == broker && s.ID == remoting.MasterID && s.failing {
			return errMasterDown
		}
	}
	return err
}
