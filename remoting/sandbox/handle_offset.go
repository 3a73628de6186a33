package sandbox

import (
	"fmt"
	"strings"

	"eyeq/remoting/protocol"
)

// Offset requests. Lines differ: 4.9 ignores setZeroIfNotFound and takes commits
// for groups and topics that do not exist; 5.3 refuses those, and ignores
// commits of a queue whose reset has not been pulled yet. See queue.go for the
// two meanings of code 29.

func offsetAnswer(offset int64) answer {
	h := protocol.OffsetResponseHeader{Offset: offset}
	return answer{fields: protocol.EncodeFields(&h)}
}

func (b *broker) handleQueryOffset(c *call) answer {
	h := protocol.QueryConsumerOffsetRequestHeader{SetZeroIfNotFound: true}
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	if g := b.groups[h.ConsumerGroup]; g != nil {
		if offset, ok := g.offset(h.Topic, h.QueueID); ok && offset >= 0 {
			return offsetAnswer(offset)
		}
	}
	if !b.loop.four && !h.SetZeroIfNotFound {
		return refuse(protocol.QueryNotFound, "Not found, do not set to zero, maybe this group boot first")
	}
	minOffset, maxOffset := b.bounds(h.Topic, h.QueueID)
	if minOffset <= 0 && (b.loop.four || maxOffset > 0) {
		return offsetAnswer(0)
	}
	return refuse(protocol.QueryNotFound, "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first")
}

func (b *broker) handleUpdateOffset(c *call) answer {
	var h protocol.UpdateConsumerOffsetRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	t, g := b.topic(h.Topic), b.groups[h.ConsumerGroup]
	if b.loop.four {
		if t == nil {
			t = &topic{name: strings.Clone(h.Topic)}
		}
		b.ensureGroup(h.ConsumerGroup).commit(t, h.QueueID, h.CommitOffset)
		return answer{}
	}
	if t == nil {
		return refuse(protocol.TopicNotExist, fmt.Sprintf("Topic %s not exist!", h.Topic))
	}
	if g == nil || !g.config.exists {
		return refuse(protocol.SubscriptionGroupNotExist, fmt.Sprintf("Group %s not exist!", h.ConsumerGroup))
	}
	if _, pending := g.resets[topicQueue{h.Topic, h.QueueID}]; pending {
		return answer{remark: "Offset has been previously reset"}
	}
	g.commit(t, h.QueueID, h.CommitOffset)
	return answer{}
}

// handleBounds answers 30 and 31; an unknown queue has zeros.
func (b *broker) handleBounds(c *call) answer {
	var h protocol.QueueOffsetRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	minOffset, maxOffset := b.bounds(h.Topic, h.QueueID)
	if protocol.RequestCode(c.command.Code) == protocol.GetMinOffset {
		return offsetAnswer(minOffset)
	}
	return offsetAnswer(maxOffset)
}

func (b *broker) handleSearchOffset(c *call) answer {
	var h protocol.SearchOffsetRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	q := b.queue(h.Topic, h.QueueID)
	switch {
	case q == nil:
		return offsetAnswer(0)
	case b.loop.four:
		return offsetAnswer(q.nearestStored(h.Timestamp.UnixMilli()))
	case strings.EqualFold(h.BoundaryType, "upper"):
		return offsetAnswer(q.lastStoredUntil(h.Timestamp.UnixMilli()))
	}
	return offsetAnswer(q.firstStoredFrom(h.Timestamp.UnixMilli()))
}

func (b *broker) handleEarliest(c *call) answer {
	var h protocol.QueueOffsetRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	stored := int64(-1)
	if q := b.queue(h.Topic, h.QueueID); q != nil && len(q.entries) > 0 {
		stored = q.entries[0].stored
	}
	return answer{fields: protocol.ExtFields{{Key: "timestamp", Value: fmt.Sprint(stored)}}}
}
