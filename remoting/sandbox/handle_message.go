package sandbox

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eyeq/remoting/protocol"
)

// Finding messages: 33 by commit log offset, 12 by key or unique id. There is no
// index: 12 looks through the topic's messages, newest first.

// maxUniqueHits is how many messages a query by unique id gives at most.
const maxUniqueHits = 32

func (b *broker) handleViewMessage(c *call) answer {
	text, _ := c.command.ExtFields.Get("offset")
	at, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return malformed(fmt.Errorf("offset %q: %w", text, err))
	}
	_, record, err := b.log.lookup(at)
	if err != nil {
		return refuse(protocol.SystemError, fmt.Sprintf("can not find message by the offset, %d", at))
	}
	return answer{body: record}
}

// keyQuery is the header of 12.
type keyQuery struct {
	topic, key string
	unique     bool
	maxHits    int
	begin, end int64 // store times in milliseconds
}

func (k *keyQuery) parse(f protocol.ExtFields) error {
	k.topic, _ = f.Get("topic")
	k.key, _ = f.Get("key")
	unique, _ := f.Get("_UNIQUE_KEY_QUERY")
	k.unique = unique == "true"
	var hits int64
	for name, to := range map[string]*int64{"maxNum": &hits, "beginTimestamp": &k.begin, "endTimestamp": &k.end} {
		text, _ := f.Get(name)
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s %q: %w", name, text, err)
		}
		*to = n
	}
	k.maxHits = int(max(0, min(hits, 64))) // maxMsgsNumBatch
	if k.unique {
		k.maxHits = maxUniqueHits
	}
	return nil
}

func (b *broker) handleQueryMessage(c *call) answer {
	var k keyQuery
	if err := k.parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	hits := b.query(&k)
	h := protocol.ExtFields{
		{Key: "indexLastUpdateTimestamp", Value: fmt.Sprint(b.loop.now.UnixMilli())},
		{Key: "indexLastUpdatePhyoffset", Value: fmt.Sprint(b.log.next)},
	}
	if len(hits) == 0 {
		return answer{code: protocol.QueryNotFound, remark: "can not find message, maybe time range not correct", fields: h}
	}
	return answer{fields: h, parts: hits}
}

// query finds the newest messages that have a key; they are given oldest first.
func (b *broker) query(k *keyQuery) [][]byte {
	t := b.topic(k.topic)
	if t == nil {
		return nil
	}
	var found []entry
	for _, q := range t.queues {
		q.trim(b.log.minOffset())
		hits := 0
		for i := len(q.entries) - 1; i >= 0 && hits < k.maxHits; i-- {
			if e := q.entries[i]; e.stored >= k.begin && e.stored <= k.end && k.matches(b.log.view(e.at, e.size)) {
				found = append(found, e)
				hits++
			}
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	parts := [][]byte{}
	for _, e := range found[max(0, len(found)-k.maxHits):] {
		parts = append(parts, b.log.view(e.at, e.size))
	}
	return parts
}

// matches decodes only what contains the key somewhere.
func (k *keyQuery) matches(record []byte) bool {
	if k.key == "" || !bytes.Contains(record, []byte(k.key)) {
		return false
	}
	messages, err := protocol.AppendMessages(nil, record, &protocol.MessageSource{})
	if err != nil || len(messages) != 1 {
		return false
	}
	m := &messages[0]
	if k.unique {
		return m.UniqueID() == k.key
	}
	keys, _ := m.Property(protocol.PropertyKeys)
	return slices.Contains(strings.Fields(keys), k.key) || m.UniqueID() == k.key
}
