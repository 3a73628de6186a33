package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// MessageSource says where the messages of one answer came from. One value
// serves all messages of a queue.
type MessageSource struct {
	// BrokerName is what MessageExt.MessageQueue reports; it is not in the bytes.
	BrokerName string
	// Topic, when equal to a message's own, is shared instead of allocated.
	Topic string
	// Decompressor inflates bodies; nil makes one for each body.
	Decompressor *Decompressor
}

// noSource stands in for a nil source.
var noSource MessageSource

// MessageExt is a stored message as a view into the pull answer it came in: it
// is made without copying and is valid as long as it is reachable, since the
// frame is never reused. Its methods only read, so any goroutine may call them;
// strings they return point into the frame (the small ones are cheap to keep,
// but keep the whole frame alive).
//
// The zero value is no message; only StoreSize, which is then 0, may be called.
type MessageExt struct {
	record []byte // the whole record, its length included
	source *MessageSource

	queueOffset int64
	bodyAt      int32
	bodyLen     int32
	topicAt     int32
	topicLen    int32
	propsAt     int32
	propsLen    int32
}

// AppendMessages appends to dst a view of each record in body, the body of an
// answer to 11, 12, 33 or 309. It allocates nothing beyond dst. A record that
// overruns body, is of unknown magic or whose lengths contradict each other is
// an error that says at which byte; the messages before it are returned too. An
// inner batch (SysFlagInnerBatch) stays one message. source must not change
// afterwards; it may be nil.
func AppendMessages(dst []MessageExt, body []byte, source *MessageSource) ([]MessageExt, error) {
	if source == nil {
		source = &noSource
	}
	dst = slices.Grow(dst, CountMessages(body))
	for at := 0; at < len(body); {
		dst = append(dst, MessageExt{source: source})
		m := &dst[len(dst)-1]
		if err := m.decode(body[at:]); err != nil {
			return dst[:len(dst)-1], fmt.Errorf("message at byte %d of %d: %w", at, len(body), err)
		}
		at += len(m.record)
	}
	return dst, nil
}

// OffsetOfBroken is the queue offset that the first record of body says it has,
// though the record may be broken elsewhere; -1 when there are too few bytes.
func OffsetOfBroken(body []byte) int64 {
	if len(body) < queueOffsetAt+8 {
		return -1
	}
	return int64(binary.BigEndian.Uint64(body[queueOffsetAt:]))
}

// CountMessages walks the record lengths of body and returns how many there
// are, so that a slice can be made once; a malformed tail is not counted.
func CountMessages(body []byte) int {
	n := 0
	for len(body) >= minRecord {
		size := binary.BigEndian.Uint32(body)
		if size < minRecord || uint64(size) > uint64(len(body)) {
			break
		}
		body = body[size:]
		n++
	}
	return n
}

// decode finds the parts of the record that b begins with. Every length is
// compared with what is left before it is used; int32 places are enough, as a
// record's own length is one. Bytes after the properties are passed over, since
// newer brokers may append to a record.
func (m *MessageExt) decode(b []byte) error {
	if len(b) < minRecord {
		return fmt.Errorf("%d bytes are no record", len(b))
	}
	size := int(int32(binary.BigEndian.Uint32(b)))
	if size < minRecord || size > len(b) {
		return fmt.Errorf("record of %d bytes where %d are left", size, len(b))
	}
	b = b[:size:size]
	topicLenSize := 1
	switch magic := binary.BigEndian.Uint32(b[4:]); magic {
	case magicV1:
	case magicV2:
		topicLenSize = 2
	default:
		return fmt.Errorf("unknown magic %#x", magic)
	}
	m.queueOffset = int64(binary.BigEndian.Uint64(b[queueOffsetAt:]))

	sysFlag := SysFlag(binary.BigEndian.Uint32(b[sysFlagAt:]))
	at := storeHostAt(sysFlag) + hostLen(sysFlag, SysFlagStoreHostV6) + afterHosts
	if at > size {
		return fmt.Errorf("record of %d bytes ends inside its hosts", size)
	}
	bodyLen := int(int32(binary.BigEndian.Uint32(b[at-4:])))
	if bodyLen < 0 || bodyLen > size-at {
		return fmt.Errorf("body of %d bytes in a record of %d", bodyLen, size)
	}
	m.bodyAt, m.bodyLen = int32(at), int32(bodyLen)

	at += bodyLen
	if topicLenSize > size-at {
		return fmt.Errorf("record of %d bytes ends before its topic", size)
	}
	topicLen := int(b[at]) // more than 127 in derived names, which Java reads as negative
	if topicLenSize == 2 {
		topicLen = int(binary.BigEndian.Uint16(b[at:]))
	}
	at += topicLenSize
	if topicLen > size-at {
		return fmt.Errorf("topic of %d bytes in a record of %d", topicLen, size)
	}
	m.topicAt, m.topicLen = int32(at), int32(topicLen)

	at += topicLen
	if size-at < 2 {
		return fmt.Errorf("record of %d bytes ends before its properties", size)
	}
	propsLen := int(int16(binary.BigEndian.Uint16(b[at:])))
	at += 2
	if propsLen < 0 || propsLen > size-at {
		return fmt.Errorf("properties of %d bytes in a record of %d", propsLen, size)
	}
	m.propsAt, m.propsLen = int32(at), int32(propsLen)
	m.record = b
	return nil
}

func hostLen(sysFlag, v6 SysFlag) int {
	if sysFlag&v6 != 0 {
		return hostV6
	}
	return hostV4
}

// storedAt and storeHostAt are the places behind the born host.
func storedAt(sysFlag SysFlag) int { return bornHostAt + hostLen(sysFlag, SysFlagBornHostV6) }

func storeHostAt(sysFlag SysFlag) int { return storedAt(sysFlag) + 8 }

func (m *MessageExt) int32At(at int) int32 { return int32(binary.BigEndian.Uint32(m.record[at:])) }

func (m *MessageExt) int64At(at int) int64 { return int64(binary.BigEndian.Uint64(m.record[at:])) }

// MessageQueue is the queue the message lies in (for a retry: the retry topic's).
func (m *MessageExt) MessageQueue() MessageQueue {
	return MessageQueue{Topic: m.Topic(), BrokerName: m.source.BrokerName, QueueID: m.QueueID()}
}

// Topic is the topic the message lies in.
func (m *MessageExt) Topic() string {
	topic := view(m.record[m.topicAt : m.topicAt+m.topicLen])
	if topic == m.source.Topic {
		return m.source.Topic
	}
	return topic
}

// OriginalTopic is the topic a listener sees: RETRY_TOPIC of a message on a
// retry or dead-letter topic, else Topic.
func (m *MessageExt) OriginalTopic() string {
	topic := m.Topic()
	if strings.HasPrefix(topic, RetryTopicPrefix) || strings.HasPrefix(topic, DLQTopicPrefix) {
		if original, ok := m.Property(PropertyRetryTopic); ok {
			return original
		}
	}
	return topic
}

// BrokerName is the broker the message was read from.
func (m *MessageExt) BrokerName() string { return m.source.BrokerName }

// QueueID is the number of the queue on its broker.
func (m *MessageExt) QueueID() int32 { return m.int32At(queueIDAt) }

// QueueOffset is the message's place in its queue.
func (m *MessageExt) QueueOffset() int64 { return m.queueOffset }

// ShiftQueueOffset adds to the queue offset what the answer said (OffsetDelta).
// It is for who has decoded the answer, before anybody else sees the message.
func (m *MessageExt) ShiftQueueOffset(delta int64) { m.queueOffset += delta }

// CommitLogOffset is the message's place in its broker's commit log.
func (m *MessageExt) CommitLogOffset() int64 { return m.int64At(commitLogOffsetAt) }

// StoreSize is the length of the record in bytes.
func (m *MessageExt) StoreSize() int { return len(m.record) }

// Flag is the application's own number, opaque to RocketMQ.
func (m *MessageExt) Flag() int32 { return m.int32At(flagAt) }

// SysFlag is the stored flag; the compressed bit stays set.
func (m *MessageExt) SysFlag() SysFlag { return SysFlag(m.int32At(sysFlagAt)) }

// BodyCRC is the stored checksum of the stored body.
func (m *MessageExt) BodyCRC() uint32 { return uint32(m.int32At(crcAt)) }

// Born is when the producer made the message, in milliseconds.
func (m *MessageExt) Born() time.Time { return fromMillis(m.int64At(bornAt)) }

// BornHost is the producer's address.
func (m *MessageExt) BornHost() netip.AddrPort {
	return hostOf(m.record[bornHostAt:storedAt(m.SysFlag())])
}

// Stored is when the broker stored the message, in milliseconds.
func (m *MessageExt) Stored() time.Time { return fromMillis(m.int64At(storedAt(m.SysFlag()))) }

// StoreHost is the broker's address.
func (m *MessageExt) StoreHost() netip.AddrPort {
	return hostOf(m.record[storeHostAt(m.SysFlag()) : m.bodyAt-afterHosts])
}

// ReconsumeTimes counts how often the message was sent back.
func (m *MessageExt) ReconsumeTimes() int32 { return m.int32At(int(m.bodyAt) - afterHosts) }

// PreparedOffset is the commit log offset of a transaction's half message.
func (m *MessageExt) PreparedOffset() int64 { return m.int64At(int(m.bodyAt) - afterHosts + 4) }

// StoredBody is the body as stored: compressed where SysFlag says so.
func (m *MessageExt) StoredBody() []byte {
	end := m.bodyAt + m.bodyLen
	return m.record[m.bodyAt:end:end]
}

// Body is the body, decompressed if need be. An uncompressed body is a view,
// at no cost; a compressed one is inflated anew at each call, up to
// MaxBodyLength. The error says what is wrong with the compressed bytes.
func (m *MessageExt) Body() ([]byte, error) {
	sysFlag := m.SysFlag()
	if sysFlag&SysFlagCompressed == 0 {
		return m.StoredBody(), nil
	}
	return m.source.Decompressor.Decompress(sysFlag, m.StoredBody(), MaxBodyLength)
}

func (m *MessageExt) properties() string { return view(m.record[m.propsAt : m.propsAt+m.propsLen]) }

// Property returns the value of a property: the last one of that name. It scans
// the stored text at each call and allocates nothing.
func (m *MessageExt) Property(name string) (value string, ok bool) {
	return findProperty(m.properties(), name)
}

// Properties yields each property in stored order, repeated names included.
func (m *MessageExt) Properties(yield func(name, value string) bool) {
	eachProperty(m.properties())(yield)
}

// Tags is the TAGS property, or "".
func (m *MessageExt) Tags() string {
	tags, _ := m.Property(PropertyTags)
	return tags
}

// Keys is the KEYS property split at blanks.
func (m *MessageExt) Keys() []string {
	keys, _ := m.Property(PropertyKeys)
	return strings.FieldsFunc(keys, func(r rune) bool { return r == ' ' })
}

// UniqueID is UNIQ_KEY, the id the producer gave it; "" when it has none.
func (m *MessageExt) UniqueID() string {
	id, _ := m.Property(PropertyUniqKey)
	return id
}

// OffsetMessageID is the id made of store host and commit log offset.
func (m *MessageExt) OffsetMessageID() string {
	return OffsetMessageID(m.StoreHost(), m.CommitLogOffset())
}

// AppendOffsetMessageID appends the id to dst, without making a string of it.
func (m *MessageExt) AppendOffsetMessageID(dst []byte) []byte {
	return appendOffsetMessageID(dst, m.StoreHost(), m.CommitLogOffset())
}

// MessageID is what Java clients show as msgId: UniqueID, else OffsetMessageID.
func (m *MessageExt) MessageID() string {
	if id := m.UniqueID(); id != "" {
		return id
	}
	return m.OffsetMessageID()
}

// Clone copies the message out of its frame, which it else keeps in memory.
func (m *MessageExt) Clone() MessageExt {
	c := *m
	c.record = bytes.Clone(m.record)
	return c
}

// Record copies the message out of its frame, every field laid open.
func (m *MessageExt) Record() Record {
	text := strings.Clone(m.properties())
	return Record{
		MagicV2:           binary.BigEndian.Uint32(m.record[4:]) == magicV2,
		BodyCRC:           m.BodyCRC(),
		QueueID:           m.QueueID(),
		Flag:              m.Flag(),
		QueueOffset:       m.queueOffset,
		CommitLogOffset:   m.CommitLogOffset(),
		SysFlag:           m.SysFlag(),
		Born:              m.Born(),
		BornHost:          m.BornHost(),
		Stored:            m.Stored(),
		StoreHost:         m.StoreHost(),
		ReconsumeTimes:    m.ReconsumeTimes(),
		PreparedOffset:    m.PreparedOffset(),
		Body:              bytes.Clone(m.StoredBody()),
		Topic:             strings.Clone(m.Topic()),
		Properties:        ParseProperties(text),
		TrailingSeparator: strings.HasSuffix(text, "\x02"),
	}
}
