package sandbox

import (
	"errors"

	"eyeq/remoting/protocol"
)

// Requests of members: heartbeat, unregistration, member list, queue locks.
// Both lines do the same; heartbeat v2 (5.x) is answered as unsupported, so that
// a client goes on with whole heartbeats.

var errSilent = errors.New("no heartbeat for 120 s")

func (b *broker) handleHeartbeat(c *call) answer {
	if len(c.command.Body) == 0 {
		return refuse(protocol.SystemError, "java.lang.NullPointerException")
	}
	d, err := protocol.DecodeHeartbeatData(c.command.Body)
	if err != nil {
		return malformed(err)
	}
	c.peer.clientID = d.ClientID
	for i := range d.ConsumerDataSet {
		data := &d.ConsumerDataSet[i]
		g := b.useGroup(data.GroupName)
		b.ensureRetryTopic(g)
		g.register(c.peer, d.ClientID, data)
	}
	for _, p := range d.ProducerDataSet {
		b.beatProducer(p.GroupName, c.peer, d.ClientID)
	}
	if b.loop.four {
		return answer{}
	}
	return answer{fields: protocol.ExtFields{{Key: "IS_SUPPORT_HEART_BEAT_V2", Value: "false"}, {Key: "IS_SUB_CHANGE", Value: "true"}}}
}

// ensureRetryTopic makes %RETRY%group when the group retries at all.
func (b *broker) ensureRetryTopic(g *group) *topic {
	return b.ensureTopic(protocol.RetryTopic(g.name), g.config.retryQueueNums)
}

// ensureTopic makes a topic that messages are sent back to.
func (b *broker) ensureTopic(name string, queues int32) *topic {
	if t := b.topic(name); t != nil {
		return t
	}
	if queues <= 0 {
		return nil
	}
	return b.makeTopic(name, queues, permReadWrite)
}

func (b *broker) handleUnregister(c *call) answer {
	var h protocol.UnregisterClientRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	if g := b.groups[h.ConsumerGroup]; g != nil && h.ConsumerGroup != "" {
		g.remove(c.peer)
	}
	if h.ProducerGroup != "" {
		b.removeProducer(h.ProducerGroup, c.peer)
	}
	return answer{}
}

func (b *broker) handleConsumerList(c *call) answer {
	var h protocol.ConsumerGroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	g := b.groups[h.ConsumerGroup]
	if g == nil || len(g.members) == 0 {
		return refuse(protocol.SystemError, "no consumer for this group, "+h.ConsumerGroup)
	}
	return answer{body: protocol.EncodeConsumerIDList(g.clientIDs())}
}

func (b *broker) handleLock(c *call) answer {
	body, err := protocol.DecodeLockBatch(c.command.Body)
	if err != nil {
		return malformed(err)
	}
	g := b.ensureGroup(body.ConsumerGroup)
	held := make([]protocol.MessageQueue, 0, len(body.MQSet))
	for _, mq := range body.MQSet {
		if g.tryLock(mq, body.ClientID, b.loop.now) {
			held = append(held, mq)
		}
	}
	return answer{body: protocol.EncodeLockOK(held)}
}

func (b *broker) handleUnlock(c *call) answer {
	body, err := protocol.DecodeLockBatch(c.command.Body)
	if err != nil {
		return malformed(err)
	}
	if g := b.groups[body.ConsumerGroup]; g != nil {
		for _, mq := range body.MQSet {
			g.unlock(mq, body.ClientID)
		}
	}
	return answer{}
}

// handleCheckClientConfig judges a subscription as a broker does whose
// enablePropertyFilter is off, the default: no SQL.
func (b *broker) handleCheckClientConfig(c *call) answer {
	var body struct {
		SubscriptionData *protocol.SubscriptionData `json:"subscriptionData"`
	}
	if err := decodeJSON(c.command.Body, &body); err != nil {
		return malformed(err)
	}
	if s := body.SubscriptionData; s != nil && s.ExpressionType != "" && s.ExpressionType != protocol.ExpressionTAG {
		return noPropertyFilter(s.ExpressionType)
	}
	return answer{}
}

func noPropertyFilter(expressionType string) answer {
	return refuse(protocol.SystemError, "The broker does not support consumer to filter message by "+expressionType)
}
