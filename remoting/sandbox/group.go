package sandbox

import (
	"slices"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

const (
	// memberExpiry is how long a member lasts without a heartbeat.
	memberExpiry = 120 * time.Second
	// lockLease is how long a queue lock lasts without renewal.
	lockLease = 60 * time.Second
)

// group is what one broker knows of one consumer group. Like a broker it keeps
// offsets apart from members: either may be there without the other.
type group struct {
	broker *broker
	name   string
	config groupConfig

	members       []*member // in order of arrival
	subscriptions map[string]*protocol.SubscriptionData
	consumeType   protocol.ConsumeType
	model         protocol.MessageModel
	from          protocol.ConsumeFromWhere

	unreadable map[string]bool // 5.x: topics that the group may not pull (353)
	// brought are the subscriptions that pulls had with them (5.x): they stand in for
	// those of members.
	brought map[string]*protocol.SubscriptionData

	rates   rates                // of what it pulls
	offsets map[topicQueue]int64 // committed
	pulled  map[topicQueue]int64 // 5.x: where the last pull ended
	resets  map[topicQueue]int64 // 5.x: to be told to the next pull
	locks   map[protocol.MessageQueue]lock
}

// topicQueue is a queue of this broker.
type topicQueue struct {
	topic   string
	queueID int32
}

// member is one client's membership, known by its connection.
type member struct {
	peer     *peer
	clientID string
	language protocol.LanguageCode
	version  int32
	beat     time.Time
}

// lock is one queue's lease.
type lock struct {
	owner string
	at    time.Time
}

func (k lock) expired(now time.Time) bool { return now.Sub(k.at) > lockLease }

// ensureGroup gives the group of that name, made when need be. Offsets may be
// kept for a group that has no configuration.
func (b *broker) ensureGroup(name string) *group {
	if g := b.groups[name]; g != nil {
		return g
	}
	g := &group{
		broker: b, name: strings.Clone(name), rates: rates{since: b.loop.now}, subscriptions: map[string]*protocol.SubscriptionData{},
		unreadable: map[string]bool{}, brought: map[string]*protocol.SubscriptionData{}, offsets: map[topicQueue]int64{}, pulled: map[topicQueue]int64{}, resets: map[topicQueue]int64{},
		locks: map[protocol.MessageQueue]lock{},
	}
	b.groups[g.name] = g
	return g
}

// useGroup is ensureGroup for requests that make an unknown group's
// configuration, as autoCreateSubscriptionGroup has it.
func (b *broker) useGroup(name string) *group {
	g := b.ensureGroup(name)
	if !g.config.exists {
		g.config = defaultGroupConfig
	}
	return g
}

// member finds a member of this broker by client id.
func (b *broker) member(group, clientID string) *member {
	g := b.groups[group]
	if g == nil {
		return nil
	}
	for _, m := range g.members {
		if m.clientID == clientID {
			return m
		}
	}
	return nil
}

func (g *group) clientIDs() []string {
	ids := make([]string, 0, len(g.members))
	for _, m := range g.members {
		ids = append(ids, m.clientID)
	}
	return ids
}

// register takes in a heartbeat and tells everybody when the members or the set
// of topics changed. A subscription that is known is replaced only by a later
// one, which is no change that anybody is told.
func (g *group) register(p *peer, clientID string, d *protocol.ConsumerData) {
	changed := g.beat(p, clientID)
	g.consumeType, g.model, g.from = d.ConsumeType, d.MessageModel, d.ConsumeFromWhere
	for i := range d.SubscriptionDataSet {
		s := &d.SubscriptionDataSet[i]
		old := g.subscriptions[s.Topic]
		if old == nil || s.SubVersion > old.SubVersion {
			changed = changed || old == nil
			g.subscriptions[s.Topic] = s
		}
	}
	for topic := range g.subscriptions {
		if !slices.ContainsFunc(d.SubscriptionDataSet, func(s protocol.SubscriptionData) bool { return s.Topic == topic }) {
			delete(g.subscriptions, topic)
			changed = true
		}
	}
	if changed {
		g.notifyMembers()
	}
}

// beat notes a heartbeat and reports whether the member is new.
func (g *group) beat(p *peer, clientID string) bool {
	now := g.broker.loop.now
	for _, m := range g.members {
		if m.peer == p {
			m.clientID, m.language, m.version, m.beat = clientID, p.language, p.version, now
			return false
		}
	}
	m := &member{peer: p, clientID: clientID, language: p.language, version: p.version, beat: now}
	g.members = append(g.members, m)
	g.broker.loop.alarms.at(now.Add(memberExpiry), func() { g.expire(m) })
	return true
}

// expire takes a member out that sent no heartbeat for too long, and closes its
// connection, as a broker does with a client that seems dead.
func (g *group) expire(m *member) {
	if !slices.Contains(g.members, m) {
		return
	}
	if due := m.beat.Add(memberExpiry); due.After(g.broker.loop.now) {
		g.broker.loop.alarms.at(due, func() { g.expire(m) })
		return
	}
	m.peer.conn.CloseAsync(errSilent)
	g.remove(m.peer)
}

// remove takes the member of a connection out and tells the others.
func (g *group) remove(p *peer) {
	n := len(g.members)
	g.members = slices.DeleteFunc(g.members, func(m *member) bool { return m.peer == p })
	if len(g.members) == n {
		return
	}
	if len(g.members) == 0 {
		g.forgetMembers() // a group that is not online has no subscriptions
		return
	}
	g.notifyMembers()
}

// forgetMembers makes the group one that is not online.
func (g *group) forgetMembers() {
	g.members = nil
	clear(g.subscriptions)
}

// restart leaves what is on a broker's disk.
func (g *group) restart() {
	g.forgetMembers()
	clear(g.brought)
	clear(g.locks)
	clear(g.resets)
	clear(g.pulled)
}

// notifyMembers sends 40 to every member, the one that caused it included.
// Members of a broadcasting group do not share queues, so 5.3 does not tell them.
func (g *group) notifyMembers() {
	if !g.config.notify || g.model == protocol.Broadcasting && !g.broker.loop.four {
		return
	}
	h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: g.name}
	for _, m := range g.members {
		m.peer.push(outgoing{command: protocol.Command{Code: int32(protocol.NotifyConsumerIDsChanged), ExtFields: protocol.EncodeFields(&h)}})
	}
}

// forgetTopic drops a deleted topic's offsets.
func (g *group) forgetTopic(topic string) {
	for _, m := range []map[topicQueue]int64{g.offsets, g.pulled, g.resets} {
		for tq := range m {
			if tq.topic == topic {
				delete(m, tq)
			}
		}
	}
}

// offset is the committed one.
func (g *group) offset(topic string, queueID int32) (int64, bool) {
	offset, ok := g.offsets[topicQueue{topic, queueID}]
	return offset, ok
}

// commit stores an offset, whatever its value: neither line checks it.
func (g *group) commit(t *topic, queueID int32, offset int64) {
	g.offsets[topicQueue{t.name, queueID}] = offset
}

// tryLock takes or renews a lease.
func (g *group) tryLock(mq protocol.MessageQueue, clientID string, now time.Time) bool {
	k, ok := g.locks[mq]
	if ok && k.owner != clientID && !k.expired(now) {
		return false
	}
	if !ok {
		mq.Topic, mq.BrokerName = strings.Clone(mq.Topic), strings.Clone(mq.BrokerName)
	}
	g.locks[mq] = lock{owner: strings.Clone(clientID), at: now}
	return true
}

func (g *group) unlock(mq protocol.MessageQueue, clientID string) {
	if g.locks[mq].owner == clientID {
		delete(g.locks, mq)
	}
}

func (g *group) lockOwner(mq protocol.MessageQueue, now time.Time) string {
	if k := g.locks[mq]; !k.expired(now) {
		return k.owner
	}
	return ""
}

// anyLock reports whether some queue of the group is locked.
func (g *group) anyLock(now time.Time) bool {
	for _, k := range g.locks {
		if !k.expired(now) {
			return true
		}
	}
	return false
}
