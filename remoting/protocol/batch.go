package protocol

import (
	"encoding/binary"
	"fmt"
	"math"
)

// batchFixed is an item without body and properties: size, magic, checksum,
// flag and body length of 4 each, properties length of 2.
const batchFixed = 22

// BatchItem is one message of a SEND_BATCH_MESSAGE body.
type BatchItem struct {
	Flag       int32
	Body       []byte
	Properties []Property
}

// AppendBatch appends items in the client's batch encoding (MessageDecoder.encodeMessages).
// It ends the properties with a separator, as the Go client and 5.x Java clients
// do. It refuses properties that are too long and returns dst unchanged then.
func AppendBatch(dst []byte, items []BatchItem) ([]byte, error) {
	be, out := binary.BigEndian, dst
	for i := range items {
		it := &items[i]
		start := len(out)
		out = append(out, make([]byte, 12)...) // size, magic 0, checksum 0
		out = be.AppendUint32(out, uint32(it.Flag))
		out = be.AppendUint32(out, uint32(len(it.Body)))
		out = append(out, it.Body...)
		lengthAt := len(out)
		out = AppendProperties(append(out, 0, 0), it.Properties, true)
		length := len(out) - lengthAt - 2
		if length > maxProperties {
			return dst, fmt.Errorf("batch item %d: properties of %d bytes are over %d", i, length, maxProperties)
		}
		if len(out)-start > math.MaxInt32 {
			return dst, fmt.Errorf("batch item %d: %d bytes are too long", i, len(out)-start)
		}
		be.PutUint16(out[lengthAt:], uint16(length))
		be.PutUint32(out[start:], uint32(len(out)-start))
	}
	return out, nil
}

// DecodeBatch reads a SEND_BATCH_MESSAGE body. Bodies and properties are views
// into it.
func DecodeBatch(body []byte) ([]BatchItem, error) {
	var items []BatchItem
	for at := 0; at < len(body); {
		size, item, err := decodeBatchItem(body[at:])
		if err != nil {
			return nil, fmt.Errorf("batch item at byte %d of %d: %w", at, len(body), err)
		}
		items = append(items, item)
		at += size
	}
	return items, nil
}

func decodeBatchItem(b []byte) (size int, item BatchItem, err error) {
	if len(b) < batchFixed {
		return 0, item, fmt.Errorf("%d bytes are no item", len(b))
	}
	size = int(int32(binary.BigEndian.Uint32(b)))
	if size < batchFixed || size > len(b) {
		return 0, item, fmt.Errorf("item of %d bytes where %d are left", size, len(b))
	}
	b = b[:size]
	item.Flag = int32(binary.BigEndian.Uint32(b[12:]))
	bodyLen := int(int32(binary.BigEndian.Uint32(b[16:])))
	if bodyLen < 0 || bodyLen > size-batchFixed {
		return 0, item, fmt.Errorf("body of %d bytes in an item of %d", bodyLen, size)
	}
	end := 20 + bodyLen
	item.Body = b[20:end:end]
	propsLen := int(int16(binary.BigEndian.Uint16(b[end:])))
	if propsLen < 0 || propsLen > size-end-2 {
		return 0, item, fmt.Errorf("properties of %d bytes in an item of %d", propsLen, size)
	}
	item.Properties = ParseProperties(view(b[end+2 : end+2+propsLen]))
	return size, item, nil
}

const unwrapped = SysFlagInnerBatch | SysFlagNeedUnwrap

// UnwrapBatches lays open the messages that are inner batches to be unwrapped
// (5.x, topics with the attribute queue.type=BatchCQ): item i of a batch is the
// message of the batch's queue offset + i. Without any, which is the rule,
// messages is returned as it is. A batch that cannot be read stays one message,
// and the error says which and why.
func UnwrapBatches(messages []MessageExt) ([]MessageExt, error) {
	first := -1
	for i := range messages {
		if messages[i].SysFlag()&unwrapped == unwrapped {
			first = i
			break
		}
	}
	if first < 0 {
		return messages, nil
	}
	out := append([]MessageExt(nil), messages[:first]...)
	var failed error
	for i := first; i < len(messages); i++ {
		m := &messages[i]
		if m.SysFlag()&unwrapped != unwrapped {
			out = append(out, *m)
			continue
		}
		items, err := m.items()
		if err != nil {
			failed = fmt.Errorf("inner batch at offset %d: %w", m.queueOffset, err)
			items = []MessageExt{*m}
		}
		out = append(out, items...)
	}
	return out, failed
}

// items are the messages of an inner batch, each a record of its own.
func (m *MessageExt) items() ([]MessageExt, error) {
	body, err := m.Body()
	if err != nil {
		return nil, err
	}
	items, err := DecodeBatch(body)
	if err != nil {
		return nil, err
	}
	r := m.Record()
	r.SysFlag &^= unwrapped | SysFlagCompressed | SysFlagCompressionMask
	base := r.QueueOffset
	var out []MessageExt
	for i := range items {
		r.QueueOffset, r.Flag = base+int64(i), items[i].Flag
		r.Body, r.Properties = items[i].Body, items[i].Properties
		r.BodyCRC = ComputeBodyCRC(r.Body)
		record, err := AppendRecord(nil, &r)
		if err != nil {
			return nil, err
		}
		out, err = AppendMessages(out, record, m.source)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
