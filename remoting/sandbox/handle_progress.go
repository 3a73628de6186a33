package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"eyeq/remoting/protocol"
)

// Members and progress of groups: 203, 208, 43, 314 and the reset 222. Lines
// differ: 4.9 shows only topics that an online group subscribes to, and resets
// by telling the members (220); 5.3 sets the offset itself and tells the next
// pull of each queue.

func (b *broker) handleConsumerConnection(c *call) answer {
	var h protocol.ConsumerGroupRequestHeader
	if err := h.Parse(c.command.ExtFields); err != nil {
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
	if err := h.Parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	stats := protocol.ConsumeStats{OffsetTable: map[protocol.MessageQueue]protocol.OffsetWrapper{}}
	if g := b.groups[h.ConsumerGroup]; g != nil {
		topics := []string{h.Topic}
		if h.Topic == "" {
			topics = g.committedTopics()
		}
		for _, name := range topics {
			g.addProgress(stats.OffsetTable, name)
		}
	}
	return answer{body: protocol.EncodeConsumeStats(&stats)}
}

// addProgress adds each read queue of a topic, committed or not.
func (g *group) addProgress(table map[protocol.MessageQueue]protocol.OffsetWrapper, name string) {
	b := g.broker
	t := b.topic(name)
	if t == nil || b.loop.four && len(g.subscriptions) > 0 && g.subscriptions[name] == nil {
		return
	}
	for _, q := range t.queues[:t.read] {
		q.trim(b.log.minOffset())
		w := protocol.OffsetWrapper{BrokerOffset: q.maxOffset()}
		if offset, ok := g.offset(name, q.id); ok && offset >= 0 {
			w.ConsumerOffset, w.LastTimestamp = offset, q.storedAt(offset-1)
		}
		if !b.loop.four {
			w.PullOffset = max(w.ConsumerOffset, g.pulled[topicQueue{name, q.id}])
		}
		table[b.messageQueue(q)] = w
	}
}

func (b *broker) handleAllOffsets() answer {
	tables := map[string]map[int32]int64{}
	for name, g := range b.groups {
		for tq, offset := range g.offsets {
			key := tq.topic + "@" + name
			if tables[key] == nil {
				tables[key] = map[int32]int64{}
			}
			tables[key][tq.queueID] = offset
		}
	}
	body := []byte(`{"offsetTable":{`)
	for i, key := range slices.Sorted(maps.Keys(tables)) {
		body = appendComma(body, i)
		body = fmt.Appendf(body, "%s:{", encodeJSON(key))
		for j, id := range slices.Sorted(maps.Keys(tables[key])) {
			body = appendComma(body, j)
			body = fmt.Appendf(body, "%d:%d", id, tables[key][id]) // integer keys without quotes, as brokers write them
		}
		body = append(body, '}')
	}
	return answer{body: append(body, "}}"...)}
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

// reset is the header of 222.
type reset struct {
	topic, group string
	timestamp    int64
	force        bool
	queueID      int32 // -1: all
	offset       int64 // when hasOffset
	hasOffset    bool
}

func (r *reset) parse(f protocol.ExtFields) error {
	r.topic, _ = f.Get("topic")
	r.group, _ = f.Get("group")
	force, _ := f.Get("isForce")
	r.force = force == "true"
	text, _ := f.Get("timestamp")
	var err error
	if r.timestamp, err = strconv.ParseInt(text, 10, 64); err != nil {
		return fmt.Errorf("timestamp %q: %w", text, err)
	}
	r.queueID = -1
	if text, ok := f.Get("queueId"); ok {
		id, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return fmt.Errorf("queueId %q: %w", text, err)
		}
		r.queueID = int32(id)
	}
	if text, ok := f.Get("offset"); ok {
		if r.offset, err = strconv.ParseInt(text, 10, 64); err != nil {
			return fmt.Errorf("offset %q: %w", text, err)
		}
		r.hasOffset = r.offset >= 0
	}
	return nil
}

func (b *broker) handleResetOffset(c *call) answer {
	var r reset
	if err := r.parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	if b.loop.four {
		return b.resetByMembers(&r)
	}
	return b.resetHere(&r)
}

// resetByMembers is what 4.9 does: compute the targets, tell the members.
func (b *broker) resetByMembers(r *reset) answer {
	t, g := b.topic(r.topic), b.groups[r.group]
	if t == nil {
		return refuse(protocol.SystemError, "[reset-offset] reset offset failed, no topic in this broker. topic="+r.topic)
	}
	table := protocol.OffsetTable{}
	for _, q := range t.queues[:t.write] {
		q.trim(b.log.minOffset())
		committed, ok := int64(0), false
		if g != nil {
			committed, ok = g.offset(r.topic, q.id)
		}
		if !ok {
			return refuse(protocol.SystemError, fmt.Sprintf("THe consumer group <%s> not exist", r.group))
		}
		target := q.maxOffset()
		if r.timestamp >= 0 {
			target = q.nearestStored(r.timestamp)
		}
		if !r.force && target > committed {
			target = committed
		}
		table[b.messageQueue(q)] = target
	}
	if len(g.members) == 0 {
		return refuse(protocol.ConsumerNotOnline, fmt.Sprintf("Consumer not online, so can not reset offset, Group: %s Topic: %s Timestamp: %d", r.group, r.topic, r.timestamp))
	}
	b.notifyReset(r.group, r.topic, table)
	return answer{body: protocol.EncodeResetOffset(table)}
}

// resetHere is what 5.3 does: set the offsets and have the next pull of each
// queue answered with them; commits until then are ignored.
func (b *broker) resetHere(r *reset) answer {
	t, g := b.topic(r.topic), b.groups[r.group]
	switch {
	case t == nil:
		return refuse(protocol.TopicNotExist, "Topic "+r.topic+" does not exist")
	case g == nil || !g.config.exists:
		return refuse(protocol.SubscriptionGroupNotExist, "Group "+r.group+" does not exist")
	case r.queueID >= t.read:
		return refuse(protocol.SystemError, fmt.Sprintf("Queue %d does not exist", r.queueID))
	}
	queues := t.queues[:t.read]
	if r.queueID >= 0 {
		queues = queues[r.queueID : r.queueID+1]
	}
	table := protocol.OffsetTable{}
	for _, q := range queues {
		q.trim(b.log.minOffset())
		target := q.maxOffset()
		switch {
		case r.queueID >= 0 && r.hasOffset:
			target = r.offset
			if target < q.minOffset() || target > q.maxOffset()+1 {
				return refuse(protocol.SystemError, fmt.Sprintf("Target offset %d not in consume queue range [%d-%d]", target, q.minOffset(), q.maxOffset()))
			}
		case r.timestamp >= 0:
			target = q.firstStoredFrom(r.timestamp)
		}
		tq := topicQueue{t.name, q.id}
		g.offsets[tq], g.resets[tq] = target, target
		table[b.messageQueue(q)] = target
	}
	return answer{body: protocol.EncodeResetOffset(table)}
}

// handleCloneOffset copies a group's committed offsets of a topic. Without a
// topic nothing is copied, on both lines.
func (b *broker) handleCloneOffset(c *call) answer {
	f := c.command.ExtFields
	from, _ := f.Get("srcGroup")
	to, _ := f.Get("destGroup")
	topic, _ := f.Get("topic")
	src, t := b.groups[from], b.topic(topic)
	if src == nil || t == nil {
		return answer{}
	}
	dest := b.ensureGroup(to)
	for tq, offset := range src.offsets {
		if tq.topic == topic {
			dest.commit(t, tq.queueID, offset)
		}
	}
	return answer{}
}
