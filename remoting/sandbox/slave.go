package sandbox

import (
	"maps"
	"net/netip"
	"time"

	"eyeq/remoting/protocol"
)

// A slave copies its master's messages at once and, now and then, its topics,
// groups and committed offsets; it serves pulls, heartbeats, offsets and locks
// and takes no message. It has members, locks and offsets of its own. Lines
// differ in how often it copies (5.x every minute, 4.9 every 10 s), in how a
// message is refused (send 2 or 14, send-back 2 or 1), and a 4.9 slave makes no
// topics.

// slaveID is the broker id of a slave.
const slaveID = 1

// slaveSync is how often a slave copies what is not in the commit log
// (Java: SlaveSynchronize).
func (l *loop) slaveSync() time.Duration {
	if l.four {
		return 10 * time.Second
	}
	return time.Minute
}

// newSlave makes the slave of a broker; it does not serve yet.
func newSlave(master *broker, memory string) *broker {
	s := newBroker(master.loop, master.name, memory)
	s.id, s.master, s.log = slaveID, master, master.log // the log is only read here
	s.schedule = nil                                    // the master delivers
	master.slave = s
	s.copyConfig()
	s.syncLater()
	return s
}

// copied is a message on its way to a slave.
type copied struct {
	topic   string
	queueID int32
	entry   entry
}

// replicate copies one message, or keeps it until replication goes on.
func (b *broker) replicate(q *queue, e entry) {
	s := b.slave
	if s == nil {
		return
	}
	s.behind = append(s.behind, copied{q.topic.name, q.id, e})
	s.catchUp()
}

// catchUp takes in what the master has stored. A master that is down passes
// nothing on.
func (s *broker) catchUp() {
	if s.cut || !s.up || !s.master.up {
		return
	}
	for _, c := range s.behind {
		t := s.topics[c.topic]
		if t == nil {
			from := s.master.topics[c.topic]
			if from == nil {
				continue // deleted meanwhile
			}
			t = s.makeTopic(c.topic, from.read, from.perm)
		}
		t.resize(max(t.read, c.queueID+1), max(t.write, c.queueID+1))
		q := t.queueAt(c.queueID)
		q.trim(s.log.minOffset())
		q.entries = append(q.entries, c.entry)
		s.arrived(q)
	}
	s.behind = nil
}

// syncLater copies now and then.
func (s *broker) syncLater() {
	s.loop.alarms.at(s.loop.now.Add(s.loop.slaveSync()), func() {
		if s.up && s.master.up && !s.cut {
			s.copyConfig()
			s.copyOffsets()
		}
		s.syncLater()
	})
}

func (s *broker) copyConfig() {
	for name := range s.topics {
		if s.master.topics[name] == nil {
			s.deleteTopic(name)
		}
	}
	for name, t := range s.master.topics {
		own := s.topics[name]
		if own == nil {
			own = s.makeTopic(name, t.read, t.perm)
		}
		own.resize(t.read, t.write)
		own.perm, own.order = t.perm, t.order
	}
	for name, g := range s.master.groups {
		s.ensureGroup(name).config = g.config
	}
}

// copyOffsets replaces what the slave holds of each topic and group that the
// master has offsets of, newer or not.
func (s *broker) copyOffsets() {
	for name, g := range s.master.groups {
		own := s.ensureGroup(name)
		for _, topic := range g.committedTopics() {
			maps.DeleteFunc(own.offsets, func(tq topicQueue, _ int64) bool { return tq.topic == topic })
		}
		maps.Copy(own.offsets, g.offsets)
	}
}

// suggests is the broker id that an answer names for the next pull: the slave's
// while what was read lies far behind the end of the log.
func (b *broker) suggests(q *queue, g *got) int64 {
	limit := b.loop.options.SlaveReadBehind
	if limit <= 0 || g.status != getFound || b.id == 0 && b.slave == nil {
		return 0
	}
	if b.log.next-q.entryAt(g.next-1).at > limit {
		return slaveID
	}
	return 0
}

// refuseOnSlave is what a slave says to a request that would change the log.
func (b *broker) refuseOnSlave(code protocol.RequestCode) answer {
	switch {
	case !b.loop.four:
		return refuse(protocol.SystemBusy, "[REJECTREQUEST]system busy, start flow control for a while")
	case code == protocol.ConsumerSendMsgBack:
		return refuse(protocol.SystemError, "SERVICE_NOT_AVAILABLE")
	}
	return refuse(protocol.ServiceNotAvailable, "service not available now. It may be caused by one of the following reasons: messages are put to the slave, …")
}

// slaveOf finds the slave of a broker name.
func (l *loop) slaveOf(name string) *broker {
	if b := l.broker(name); b != nil {
		return b.slave
	}
	return nil
}

// StopSlave stops a broker's slave as StopBroker does a master.
func (s *Sandbox) StopSlave(name string) { s.stop(func(l *loop) *broker { return l.slaveOf(name) }) }

// StartSlave lets a stopped slave serve again; it catches up.
func (s *Sandbox) StartSlave(name string) {
	s.do(func(l *loop) {
		if b := l.slaveOf(name); b != nil {
			b.start()
		}
	})
}

// CutSlave stops and resumes the copying to a broker's slave.
func (s *Sandbox) CutSlave(name string, cut bool) {
	s.do(func(l *loop) {
		if b := l.slaveOf(name); b != nil {
			b.cut = cut
			b.catchUp()
		}
	})
}

// SlaveOffsets tells what a broker's slave holds for a group and queue.
func (s *Sandbox) SlaveOffsets(group string, mq protocol.MessageQueue) (committed int64, found bool, max int64) {
	s.do(func(l *loop) {
		b := l.slaveOf(mq.BrokerName)
		if b == nil {
			return
		}
		if g := b.groups[group]; g != nil {
			committed, found = g.offset(mq.Topic, mq.QueueID)
		}
		_, max = b.bounds(mq.Topic, mq.QueueID)
	})
	return committed, found, max
}

// VanishBroker cuts a broker off without a word, as a pulled cable or a dead host
// does: its connections stay open and carry nothing more, new ones are not
// answered. The name server goes on naming it. MoveBroker brings it back.
func (s *Sandbox) VanishBroker(name string) {
	s.do(func(l *loop) {
		if b := l.broker(name); b != nil {
			b.vanish()
		}
	})
}

func (b *broker) vanish() {
	b.loop.network.darken(b.memory)
	b.loop.network.darken(vipAddr(b.memory))
	for _, g := range b.groups {
		g.restart()
	}
	for _, p := range b.loop.peers {
		if p.broker == b {
			p.mute = true
		}
	}
}

// MoveBroker starts a broker that was stopped or has vanished at another address
// in memory, which it returns; the old one stays as it was. Routes name the new one.
func (s *Sandbox) MoveBroker(name string) (addr string) {
	s.do(func(l *loop) {
		b := l.broker(name)
		if b == nil {
			return
		}
		l.moved++
		b.memory = brokerAddr(brokerHost0 + 2*maxBrokers + l.moved)
		b.host = netip.MustParseAddrPort(b.memory)
		addr, b.up = b.memory, false
		b.start()
	})
	return addr
}
