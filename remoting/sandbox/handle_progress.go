package sandbox

import (
	"fmt"
	"maps"
	"slices"

	"eyeq/remoting/protocol"
)

// Members and progress of groups: 203, 208, 43, 314 and the reset 222. Lines
// differ: 4.9 shows only topics that an online group subscribes to, and resets
// by telling the members (220); 5.3 sets the offset itself and tells the next
// pull of each queue.

func (b *broker) handleConsumerConnection(c *call) answer {
	var h protocol.ConsumerGroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	g := b.groups[h.ConsumerGroup]
	if g == nil || len(g.members) == 0 {
		return refuse(protocol.ConsumerNotOnline, "the consumer group["+h.ConsumerGroup+"] not online")
	}
	body := protocol.ConsumerConnection{
		ConsumeType: g.consumeType, MessageModel: g.model, ConsumeFromWhere: g.from,
		SubscriptionTable: map[string]protocol.SubscriptionData{},
	}
	for topic, s := range g.subscriptions {
		body.SubscriptionTable[topic] = *s
	}
	for _, m := range g.members {
		body.ConnectionSet = append(body.ConnectionSet, protocol.Connection{
			ClientID: m.clientID, ClientAddr: m.peer.conn.RemoteAddr(), Language: m.language.String(), Version: m.version,
		})
	}
	return answer{body: protocol.EncodeConsumerConnection(&body)}
}

// committedTopics are the topics that the group has committed offsets of, sorted.
func (g *group) committedTopics() []string {
	var topics []string
	for tq := range g.offsets {
		topics = append(topics, tq.topic)
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

func (b *broker) handleConsumeStats(c *call) answer {
	var h protocol.ConsumerGroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	stats := protocol.ConsumeStats{OffsetTable: map[protocol.MessageQueue]protocol.OffsetWrapper{}}
	g := b.groups[h.ConsumerGroup]
	if g == nil {
		g = &group{broker: b} // whom nobody knows has consumed nothing
	}
	g.rates.measure(b.loop.now)
	stats.ConsumeTPS = g.rates.getTPS
	topics := []string{h.Topic}
	if h.Topic == "" {
		topics = g.committedTopics()
	}
	for _, name := range topics {
		if t := b.topic(name); t != nil && !g.hides(name) {
			for _, q := range t.queues[:t.read] {
				stats.OffsetTable[b.messageQueue(q)] = g.progress(q)
			}
		}
	}
	return answer{body: protocol.EncodeConsumeStats(&stats)}
}

// hides reports whether a group that is online does not subscribe to the topic:
// brokers leave that out.
func (g *group) hides(topic string) bool {
	return len(g.subscriptions) > 0 && g.subscriptions[topic] == nil && g.brought[topic] == nil
}

// progress is one read queue of a topic, committed or not.
func (g *group) progress(q *queue) protocol.OffsetWrapper {
	q.trim(g.broker.log.minOffset())
	name := q.topic.name
	w := protocol.OffsetWrapper{BrokerOffset: q.maxOffset()}
	if offset, ok := g.offset(name, q.id); ok && offset >= 0 {
		w.ConsumerOffset, w.LastTimestamp = offset, q.storedAt(offset-1)
	}
	if !g.broker.loop.four {
		w.PullOffset = max(w.ConsumerOffset, g.pulled[topicQueue{name, q.id}])
	}
	return w
}

func (b *broker) handleAllOffsets() answer {
	all := protocol.AllOffsets{}
	for name, g := range b.groups {
		topics := map[string]map[int32]int64{}
		for tq, offset := range g.offsets {
			if topics[tq.topic] == nil {
				topics[tq.topic] = map[int32]int64{}
			}
			topics[tq.topic][tq.queueID] = offset
		}
		all[name] = topics
	}
	return answer{body: protocol.EncodeAllOffsets(all)}
}

func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

// encodeConsumerStatuses writes the answer to 223: offsets by client, with
// objects as the keys of the inner maps.
func encodeConsumerStatuses(tables map[string]protocol.OffsetTable) []byte {
	body := []byte(`{"consumerTable":{`)
	for i, id := range slices.Sorted(maps.Keys(tables)) {
		body = appendComma(body, i)
		body = fmt.Appendf(body, "%s:{", encodeJSON(id))
		for j, mq := range slices.SortedFunc(maps.Keys(tables[id]), protocol.CompareMessageQueues) {
			body = appendComma(body, j)
			body = fmt.Appendf(body, `{"brokerName":%s,"queueId":%d,"topic":%s}:%d`,
				encodeJSON(mq.BrokerName), mq.QueueID, encodeJSON(mq.Topic), tables[id][mq])
		}
		body = append(body, '}')
	}
	return append(body, `},"messageQueueTable":{}}`...)
}

func (b *broker) handleResetOffset(c *call) answer {
	var h protocol.InvokeResetOffsetRequestHeader
	if err := h.Parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	if b.loop.four {
		return b.resetByMembers(&h)
	}
	return b.resetHere(&h)
}

// resetByMembers is what 4.9 does: compute the targets, tell the members.
func (b *broker) resetByMembers(h *protocol.InvokeResetOffsetRequestHeader) answer {
	t, g := b.topic(h.Topic), b.groups[h.Group]
	if t == nil {
		return refuse(protocol.SystemError, "[reset-offset] reset offset failed, no topic in this broker. topic="+h.Topic)
	}
	table := protocol.OffsetTable{}
	for _, q := range t.queues[:t.write] {
		q.trim(b.log.minOffset())
		committed, ok := int64(0), false
		if g != nil {
			committed, ok = g.offset(h.Topic, q.id)
		}
		if !ok {
			return refuse(protocol.SystemError, fmt.Sprintf("THe consumer group <%s> not exist", h.Group))
		}
		target := q.maxOffset()
		if h.Timestamp >= 0 {
			target = q.nearestStored(h.Timestamp)
		}
		if !h.IsForce && target > committed {
			target = committed
		}
		table[b.messageQueue(q)] = target
	}
	if g == nil || len(g.members) == 0 {
		return refuse(protocol.ConsumerNotOnline, fmt.Sprintf("Consumer not online, so can not reset offset, Group: %s Topic: %s Timestamp: %d", h.Group, h.Topic, h.Timestamp))
	}
	b.notifyReset(h.Group, h.Topic, table)
	return answer{body: protocol.EncodeResetOffset(table)}
}

// resetHere is what 5.3 does: set the offsets and have the next pull of each
// queue answered with them; commits until then are ignored.
func (b *broker) resetHere(h *protocol.InvokeResetOffsetRequestHeader) answer {
	t, g := b.topic(h.Topic), b.groups[h.Group]
	switch {
	case t == nil:
		return refuse(protocol.TopicNotExist, "Topic "+h.Topic+" does not exist")
	case g == nil || !g.config.exists:
		return refuse(protocol.SubscriptionGroupNotExist, "Group "+h.Group+" does not exist")
	case h.Queue != nil && h.Queue.ID >= t.read:
		return refuse(protocol.SystemError, fmt.Sprintf("Queue %d does not exist", h.Queue.ID))
	}
	queues := t.queues[:t.read]
	if h.Queue != nil {
		queues = queues[h.Queue.ID : h.Queue.ID+1]
	}
	table := protocol.OffsetTable{}
	for _, q := range queues {
		q.trim(b.log.minOffset())
		target := q.maxOffset()
		switch {
		case h.Queue != nil && h.Queue.Offset >= 0:
			target = h.Queue.Offset
			if target < q.minOffset() || target > q.maxOffset()+1 {
				return refuse(protocol.SystemError, fmt.Sprintf("Target offset %d not in consume queue range [%d-%d]", target, q.minOffset(), q.maxOffset()))
			}
		case h.Timestamp >= 0:
			target = q.firstStoredFrom(h.Timestamp)
		}
		tq := topicQueue{t.name, q.id}
		g.offsets[tq], g.resets[tq] = target, target
		table[b.messageQueue(q)] = target
	}
	return answer{body: protocol.EncodeResetOffset(table)}
}

// handleCloneOffset copies a group's committed offsets of a topic. Without a
// topic nothing is copied, nor, unless the caller calls the source offline, of a
// topic that its members do not subscribe to; both lines say so to nobody.
func (b *broker) handleCloneOffset(c *call) answer {
	var h protocol.CloneGroupOffsetRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	src, t := b.groups[h.SrcGroup], b.topic(h.Topic)
	if src == nil || t == nil || !h.Offline && src.hides(h.Topic) {
		return answer{}
	}
	dest := b.ensureGroup(h.DestGroup)
	for tq, offset := range src.offsets {
		if tq.topic == t.name {
			dest.commit(t, tq.queueID, offset)
		}
	}
	return answer{}
}
