package sandbox

import (
	"fmt"
	"strings"

	"eyeq/remoting/protocol"
)

// Pull requests, checked in the order of the brokers' PullMessageProcessor. Both
// lines answer alike but for a queue id out of range (29, on 4.9 code 1), lite
// pulls (361) and broker-side resets, which only 5.3 has.

const litePullMessage protocol.RequestCode = 361

// scanned is how many entries one pull looks at while nothing matches: 16,000
// bytes of consume queue.
const scanned = 800

func (b *broker) handlePull(c *call) answer {
	if protocol.RequestCode(c.command.Code) == litePullMessage && b.loop.four {
		return notSupported(c)
	}
	var h protocol.PullMessageRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	return b.pull(c, &h, h.SysFlag&protocol.PullSuspend != 0)
}

// pull answers one pull, or holds it when it may and nothing is there.
func (b *broker) pull(c *call, h *protocol.PullMessageRequestHeader, mayHold bool) answer {
	q, g, f, refused := b.admitPull(h)
	if q == nil {
		return refused
	}
	tq := topicQueue{q.topic.name, q.id}
	if offset, ok := g.resets[tq]; ok {
		delete(g.resets, tq)
		return b.pulled(h, &got{status: getReset, next: offset, minOff: q.minOffset(), maxOff: q.maxOffset()}, 0)
	}
	read := q.get(b.log, h.QueueOffset, &f, limits{
		messages: min(max(int(h.MaxMsgNums), 1), b.loop.options.MaxPullMessages),
		bytes:    b.loop.options.MaxPullBytes,
		scan:     scanned,
	})
	g.pulled[tq] = read.next
	if b.master != nil && read.status == getOverflowBadly {
		read.next = h.QueueOffset // it may only be behind: the master is to judge
	}
	a := b.pulled(h, &read, b.suggests(q, &read))
	// A pull that is tried again after having been held does not commit again.
	if !c.held && h.SysFlag&protocol.PullCommitOffset != 0 {
		g.commit(q.topic, q.id, h.CommitOffset)
	}
	if a.code == protocol.PullNotFound && mayHold && h.SuspendTimeout > 0 {
		b.hold(c, h, q, f)
		return later
	}
	return a
}

// admitPull says from which queue and through which filter to read; without a
// queue, it says why not.
func (b *broker) admitPull(h *protocol.PullMessageRequestHeader) (q *queue, g *group, f filter, refused answer) {
	g = b.useGroup(h.ConsumerGroup)
	t := b.topic(h.Topic)
	switch {
	case b.loop.options.Permission&protocol.PermRead == 0:
		refused = forbidden(fmt.Sprintf("the broker[%s] pulling message is forbidden", b.host.Addr()), "1")
	case !g.config.consumeEnable:
		refused = forbidden("subscription group no permission, "+h.ConsumerGroup, "2")
	case t == nil:
		refused = noTopic(h.Topic)
	case t.perm&protocol.PermRead == 0:
		refused = forbidden(fmt.Sprintf("the topic[%s] pulling message is forbidden", h.Topic), "3")
	case h.QueueID < 0 || h.QueueID >= t.read:
		refused = refuse(b.loop.invalid(), fmt.Sprintf("queueId[%d] is illegal, topic:[%s] topicConfig.readQueueNums:[%d]", h.QueueID, h.Topic, t.read))
	default:
		if f, refused = g.filterFor(h); refused.code == protocol.Success {
			q = t.queueAt(h.QueueID)
			q.trim(b.log.minOffset())
		}
	}
	if b.loop.four {
		refused.fields = nil
	}
	return q, g, f, refused
}

// filterFor is the filter of the request itself, or of the group's heartbeats.
func (g *group) filterFor(h *protocol.PullMessageRequestHeader) (filter, answer) {
	var s *protocol.SubscriptionData
	if h.SysFlag&protocol.PullSubscription != 0 {
		if !isTag(h.ExpressionType) {
			return filter{}, noPropertyFilter(h.ExpressionType)
		}
		data, err := protocol.NewSubscriptionData(h.Topic, h.Subscription)
		if err != nil {
			return filter{}, refuse(protocol.SubscriptionParseFailed, "parse the consumer's subscription failed")
		}
		if !g.broker.loop.four {
			g.brought[strings.Clone(h.Topic)] = &data
		}
		return filterOf(&data), answer{}
	}
	if len(g.members) == 0 {
		return filter{}, refuse(protocol.SubscriptionNotExist, "the consumer's group info not exist")
	}
	if g.model == protocol.Broadcasting && !g.config.broadcast {
		return filter{}, forbidden(fmt.Sprintf("the consumer group[%s] can not consume by broadcast way", g.name), "4")
	}
	s = g.subscriptions[h.Topic]
	switch {
	case g.unreadable[h.Topic]:
		return filter{}, forbidden(fmt.Sprintf("the consumer group[%s] is forbidden for topic[%s]", g.name, h.Topic), "5")
	case s == nil:
		return filter{}, refuse(protocol.SubscriptionNotExist, "the consumer's subscription not exist")
	case s.SubVersion < h.SubVersion:
		return filter{}, refuse(protocol.SubscriptionNotLatest, "the consumer's subscription not latest")
	case !isTag(s.ExpressionType):
		return filter{}, noPropertyFilter(s.ExpressionType)
	}
	return filterOf(s), answer{}
}

func isTag(expressionType string) bool {
	return expressionType == "" || expressionType == protocol.ExpressionTAG
}

// forbidden is a refusal with the kind that 5.3 tells.
func forbidden(remark, kind string) answer {
	return answer{code: protocol.NoPermission, remark: remark, fields: protocol.ExtFields{{Key: "forbiddenType", Value: kind}}}
}

func noTopic(name string) answer {
	return refuse(protocol.TopicNotExist, fmt.Sprintf("topic[%s] not exist, apply first please!", name))
}

// pulled makes the answer of what was read.
func (b *broker) pulled(h *protocol.PullMessageRequestHeader, g *got, suggested int64) answer {
	r := protocol.PullMessageResponseHeader{
		NextBeginOffset: g.next, MinOffset: g.minOff, MaxOffset: g.maxOff, SuggestWhichBrokerID: suggested,
	}
	a := answer{remark: string(g.status), fields: protocol.EncodeFields(&r), parts: g.parts}
	switch g.status {
	case getFound:
		n := int64(len(g.parts))
		b.rates.get += n
		if reader := b.groups[h.ConsumerGroup]; reader != nil {
			reader.rates.get += n
		}
	case getNoMatch:
		a.code = protocol.PullRetryImmediately
	case getOverflowOne:
		a.code = protocol.PullNotFound
	case getEmptyQueue:
		a.code = protocol.PullNotFound
		if h.QueueOffset != 0 {
			a.code = protocol.PullOffsetMoved
		}
	default:
		a.code = protocol.PullOffsetMoved
	}
	if b.master != nil && a.code == protocol.PullOffsetMoved {
		a.code = protocol.PullRetryImmediately
	}
	return a
}
