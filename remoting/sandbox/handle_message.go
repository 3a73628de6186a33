package sandbox

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"eyeq/remoting/protocol"
)

// Finding messages: 33 by commit log offset, 12 by key or unique id. There is no
// index: 12 looks through the topic's messages, newest first.

// maxUniqueHits is how many messages a query by unique id gives at most.
const maxUniqueHits = 32

func (b *broker) handleViewMessage(c *call) answer {
	var h protocol.ViewMessageRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	_, record, err := b.log.lookup(h.Offset)
	if err != nil {
		return refuse(protocol.SystemError, fmt.Sprintf("can not find message by the offset, %d", h.Offset))
	}
	return answer{body: record}
}

// maxKeyHits is how many messages a query by key gives at most (maxMsgsNumBatch).
const maxKeyHits = 64

func (b *broker) handleQueryMessage(c *call) answer {
	var h protocol.QueryMessageRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	h.MaxNum = max(0, min(h.MaxNum, maxKeyHits))
	if h.Unique {
		h.MaxNum = maxUniqueHits
	}
	hits := b.query(&h)
	var index protocol.QueryMessageResponseHeader
	if len(hits) == 0 {
		return answer{code: protocol.QueryNotFound, remark: "can not find message, maybe time range not correct", fields: protocol.EncodeFields(&index)}
	}
	index = protocol.QueryMessageResponseHeader{IndexLastUpdateTimestamp: b.loop.now.UnixMilli(), IndexLastUpdatePhyOffset: b.log.next}
	return answer{fields: protocol.EncodeFields(&index), parts: hits}
}

// query finds the newest messages that have a key; they are given oldest first.
func (b *broker) query(h *protocol.QueryMessageRequestHeader) [][]byte {
	t := b.topic(h.Topic)
	if t == nil {
		return nil
	}
	most := int(h.MaxNum)
	var found []entry
	for _, q := range t.queues {
		q.trim(b.log.minOffset())
		hits := 0
		for i := len(q.entries) - 1; i >= 0 && hits < most; i-- {
			e := q.entries[i]
			if e.stored >= h.BeginTimestamp && e.stored <= h.EndTimestamp && hasKey(b.log.view(e.at, e.size), h.Key) {
				found = append(found, e)
				hits++
			}
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	parts := [][]byte{}
	for _, e := range found[max(0, len(found)-most):] {
		parts = append(parts, b.log.view(e.at, e.size))
	}
	return parts
}

// hasKey decodes only what contains the key somewhere. A unique id is a key of the
// index like others.
func hasKey(record []byte, key string) bool {
	if key == "" || !bytes.Contains(record, []byte(key)) {
		return false
	}
	messages, err := protocol.AppendMessages(nil, record, &protocol.MessageSource{})
	if err != nil || len(messages) != 1 {
		return false
	}
	m := &messages[0]
	return slices.Contains(m.Keys(), key) || m.UniqueID() == key
}
