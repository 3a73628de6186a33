package sandbox

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"eyeq/remoting/protocol"
)

const clusterName = "DefaultCluster"

const permReadWrite = protocol.PermRead | protocol.PermWrite

// The topics that a broker has from the start.
const (
	scheduleTopic    = "SCHEDULE_TOPIC_XXXX"
	defaultTopicName = "TBW102" // what auto-created topics are modelled on
	selfTestTopic    = "SELF_TEST_TOPIC"

	defaultTopicQueues = 8
)

// broker is one master or slave. The loop owns it.
type broker struct {
	loop      *loop
	name      string
	id        int64
	master    *broker        // of a slave
	slave     *broker        // of a master that has one
	behind    []copied       // of a slave: stored at the master and not yet here
	cut       bool           // of a slave: copies nothing
	memory    string         // its address in memory
	listen    string         // where it listens on TCP, once it does
	tcp       string         // and the address announced for that
	host      netip.AddrPort // the announced address, which messages are stored under
	up        bool
	endpoints []*endpoint
	log       *commitLog
	topics    map[string]*topic
	groups    map[string]*group
	modes     map[modeOf]protocol.RequestMode
	producers map[string][]producer // by group
	schedule  *schedule             // nil at a slave
	touched   []*queue              // have held pulls and new messages
	rates     rates
}

// newBroker makes a broker with its topics; it does not serve yet.
func newBroker(l *loop, name, memory string) *broker {
	o := &l.options
	b := &broker{
		loop: l, name: name, memory: memory, host: netip.MustParseAddrPort(memory),
		log: newCommitLog(o.MaxBytes / int64(len(o.Brokers))), topics: map[string]*topic{}, groups: map[string]*group{}, modes: map[modeOf]protocol.RequestMode{}, producers: map[string][]producer{},
		rates: rates{since: l.now},
	}
	b.schedule = newSchedule(b)
	for _, t := range []string{selfTestTopic, clusterName, name} {
		b.makeTopic(t, 1, permReadWrite)
	}
	if o.AutoCreateTopics {
		b.makeTopic(defaultTopicName, defaultTopicQueues, permReadWrite|permInherit)
	}
	for t, queues := range o.Topics {
		b.makeTopic(t, queues, permReadWrite)
	}
	return b
}

// permInherit lets topics be made after this one.
const permInherit = 1

// addr is the address that routes name.
func (b *broker) addr() string {
	if b.tcp != "" {
		return b.tcp
	}
	return b.memory
}

func (b *broker) topic(name string) *topic { return b.topics[name] }

// makeTopic makes a topic; name is copied.
func (b *broker) makeTopic(name string, queues, perm int32) *topic {
	t := &topic{name: strings.Clone(name), perm: perm}
	t.resize(queues, queues)
	b.topics[t.name] = t
	b.loop.namesrv.registered(t.name)
	return t
}

// deleteTopic drops a topic with its messages' index and, as 5.x does, all groups'
// offsets; 4.9.7 keeps them.
func (b *broker) deleteTopic(name string) {
	t := b.topics[name]
	if t == nil || name == scheduleTopic {
		return
	}
	delete(b.topics, name)
	if !b.loop.four {
		for _, g := range b.groups {
			g.forgetTopic(name)
		}
	}
	for _, q := range t.queues {
		for _, h := range slices.Clone(q.holds) {
			b.release(h)
		}
	}
}

// queue finds a queue and trims it; nil when there is none.
func (b *broker) queue(topic string, id int32) *queue {
	q := b.topics[topic].queueAt(id)
	if q != nil {
		q.trim(b.log.minOffset())
	}
	return q
}

// bounds are a queue's offsets; zeros when there is none.
func (b *broker) bounds(topic string, id int32) (minOffset, maxOffset int64) {
	q := b.queue(topic, id)
	if q == nil {
		return 0, 0
	}
	return q.minOffset(), q.maxOffset()
}

func (b *broker) truncate(topic string, id int32, minOffset int64) {
	if q := b.queue(topic, id); q != nil && minOffset > q.minOffset() {
		q.drop(int(min(minOffset, q.maxOffset()) - q.minOffset()))
	}
}

// handle answers one request. An unknown code is answered with 3, as both broker
// lines do.
func (b *broker) handle(c *call) answer {
	if b.master != nil {
		switch code := protocol.RequestCode(c.command.Code); code {
		case protocol.SendMessage, protocol.SendMessageV2, protocol.SendBatchMessage, protocol.ConsumerSendMsgBack:
			return b.refuseOnSlave(code)
		}
	}
	switch protocol.RequestCode(c.command.Code) {
	case protocol.PullMessage, litePullMessage:
		return b.handlePull(c)
	case protocol.SendMessage, protocol.SendMessageV2:
		return b.handleSend(c)
	case protocol.SendBatchMessage:
		return b.handleSendBatch(c)
	case protocol.ConsumerSendMsgBack:
		return b.handleSendBack(c)
	case protocol.QueryConsumerOffset:
		return b.handleQueryOffset(c)
	case protocol.UpdateConsumerOffset:
		return b.handleUpdateOffset(c)
	case protocol.GetMaxOffset, protocol.GetMinOffset:
		return b.handleBounds(c)
	case protocol.SearchOffsetByTimestamp:
		return b.handleSearchOffset(c)
	case protocol.GetEarliestMsgStoreTime:
		return b.handleEarliest(c)
	case protocol.HeartBeat:
		return b.handleHeartbeat(c)
	case protocol.UnregisterClient:
		return b.handleUnregister(c)
	case protocol.CheckClientConfig:
		return b.handleCheckClientConfig(c)
	case protocol.GetConsumerListByGroup:
		return b.handleConsumerList(c)
	case protocol.LockBatchMQ:
		return b.handleLock(c)
	case protocol.UnlockBatchMQ:
		return b.handleUnlock(c)
	case protocol.ViewMessageByID:
		return b.handleViewMessage(c)
	case protocol.QueryMessage:
		return b.handleQueryMessage(c)
	case protocol.GetConsumerRunningInfo:
		return b.handleRunningInfo(c)
	case protocol.ConsumeMessageDirectly:
		return b.handleConsumeDirectly(c)
	case protocol.GetConsumerStatusOfMembers:
		return b.handleConsumerStatus(c)
	}
	return b.handleAdmin(c)
}

func notSupported(c *call) answer {
	return refuse(protocol.RequestCodeNotSupported, " request type "+strconv.Itoa(int(c.command.Code))+" not supported")
}

// malformed is what a broker says to a header or body that it cannot read: code
// 1 with the text of a Java exception.
func malformed(err error) answer { return refuse(protocol.SystemError, err.Error()) }

// disconnected takes the memberships of a connection away.
func (b *broker) disconnected(p *peer) {
	for _, g := range b.groups {
		g.remove(p)
	}
	b.removeProducer("", p)
}
