package sandbox

import (
	"eyeq/remoting/protocol"
)

// What a broker tells of all groups at once, and of times: 317 and 303. Lines
// differ as for 208; 317 has no members' view of pulled offsets to correct.

// handleBrokerConsumeStats answers 317: every group that has a configuration, with
// the topics that it has committed offsets of. isOrder leaves out topics that are
// not ordered.
func (b *broker) handleBrokerConsumeStats(c *call) answer {
	var h protocol.BrokerConsumeStatsRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	stats := protocol.BrokerConsumeStats{BrokerAddr: b.addr(), Groups: map[string][]protocol.ConsumeStats{}}
	for name, g := range b.groups {
		if !g.config.exists {
			continue
		}
		stats.Groups[name] = nil
		for _, topic := range g.committedTopics() {
			t := b.topic(topic)
			if t == nil || h.IsOrder && !t.order || g.hides(topic) {
				continue
			}
			one := protocol.ConsumeStats{OffsetTable: map[protocol.MessageQueue]protocol.OffsetWrapper{}}
			for _, q := range t.queues[:t.read] {
				w := g.progress(q)
				if w.PullOffset = g.pulled[topicQueue{topic, q.id}]; b.loop.four {
					w.PullOffset = 0
				}
				one.OffsetTable[b.messageQueue(q)] = w
				stats.TotalDiff += w.BrokerOffset - w.ConsumerOffset
				stats.TotalInflightDiff += w.PullOffset - w.ConsumerOffset
			}
			stats.Groups[name] = append(stats.Groups[name], one)
		}
	}
	if b.loop.four {
		stats.TotalInflightDiff = 0
	}
	return answer{body: protocol.EncodeBrokerConsumeStats(&stats)}
}

// handleTimeSpan answers 303. Where nothing was committed, and where there is no
// message, the broker reckons with the time -1 of a message that it cannot find.
func (b *broker) handleTimeSpan(c *call) answer {
	var h protocol.GroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	t := b.topic(h.Topic)
	if t == nil {
		return refuse(protocol.TopicNotExist, "topic["+h.Topic+"] not exist")
	}
	var spans []protocol.QueueTimeSpan
	for _, q := range t.queues[:t.read] {
		q.trim(b.log.minOffset())
		s := protocol.QueueTimeSpan{
			MessageQueue: b.messageQueue(q), MinTimestamp: q.timeAt(q.minOffset()), MaxTimestamp: q.timeAt(q.maxOffset() - 1),
		}
		committed := int64(-1)
		if g := b.groups[h.Group]; g != nil {
			if offset, ok := g.offset(h.Topic, q.id); ok {
				committed = offset
			}
		}
		s.ConsumeTimestamp = s.MinTimestamp
		if committed > 0 {
			s.ConsumeTimestamp = q.timeAt(committed - 1)
		}
		if committed != q.maxOffset() {
			s.DelayTime = b.loop.now.UnixMilli() - q.timeAt(committed)
		}
		spans = append(spans, s)
	}
	return answer{body: protocol.EncodeTimeSpans(spans)}
}

// timeAt is storedAt, with the -1 of a broker for what is not there.
func (q *queue) timeAt(queueOffset int64) int64 {
	if queueOffset < q.minOffset() || queueOffset >= q.maxOffset() {
		return -1
	}
	return q.storedAt(queueOffset)
}
