package protocol

import "fmt"

// OffsetTable is the body of 220, 221, 308 and the local offset file: offsets by queue.
type OffsetTable map[MessageQueue]int64

// UnmarshalJSON reads every form of a table by queue, after strictJSON.
func (t *OffsetTable) UnmarshalJSON(b []byte) error {
	return (*queueMap[int64])(t).UnmarshalJSON(b)
}

func (t OffsetTable) append(dst []byte) []byte {
	o := beginObject(dst)
	for _, mq := range sortedQueues[int64](t) {
		o.queueName(mq)
		o.dst = appendInt(o.dst, t[mq])
	}
	return o.end()
}

// EncodeResetOffset writes the body of 220 and the answer to 222.
func EncodeResetOffset(t OffsetTable) []byte {
	o := beginObject(nil)
	o.name("offsetTable")
	o.dst = t.append(o.dst)
	return o.end()
}

// DecodeResetOffset reads the body of 220 in the form for Java clients and in
// that for C++ ones, and the answer to 222. A body without table gives nil.
func DecodeResetOffset(body []byte) (OffsetTable, error) {
	var w struct {
		OffsetTable OffsetTable `json:"offsetTable"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode reset offsets: %w", err)
	}
	return w.OffsetTable, nil
}

// EncodeConsumerStatus writes a client's answer to 221.
func EncodeConsumerStatus(t OffsetTable) []byte {
	o := beginObject(nil)
	o.name("consumerTable")
	o.dst = append(o.dst, "{}"...)
	o.name("messageQueueTable")
	o.dst = t.append(o.dst)
	return o.end()
}

// DecodeConsumerStatus reads a client's answer to 221.
func DecodeConsumerStatus(body []byte) (OffsetTable, error) {
	var w struct {
		MessageQueueTable OffsetTable `json:"messageQueueTable"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode consumer status: %w", err)
	}
	return w.MessageQueueTable, nil
}

// DecodeMembersStatus reads the answer to 223: each member's offsets by client id.
// A member that did not answer is not in it.
func DecodeMembersStatus(body []byte) (map[string]OffsetTable, error) {
	var w struct {
		ConsumerTable map[string]OffsetTable `json:"consumerTable"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode the members' status: %w", err)
	}
	return w.ConsumerTable, nil
}

// EncodeLocalOffsets writes the offset file of a broadcasting member byte for
// byte as the Java client does, so that both can share a directory.
func EncodeLocalOffsets(t OffsetTable) []byte {
	dst := []byte("{\n\t\"offsetTable\":{")
	for i, mq := range sortedQueues[int64](t) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, "{\n\t\t\t\"brokerName\":"...)
		dst = appendString(dst, mq.BrokerName)
		dst = append(dst, ",\n\t\t\t\"queueId\":"...)
		dst = appendInt32(dst, mq.QueueID)
		dst = append(dst, ",\n\t\t\t\"topic\":"...)
		dst = appendString(dst, mq.Topic)
		dst = append(dst, "\n\t\t}:"...)
		dst = appendInt(dst, t[mq])
	}
	if len(t) > 0 {
		dst = append(dst, "\n\t"...)
	}
	return append(dst, "}\n}"...)
}

// DecodeLocalOffsets reads such a file, with queues or texts of queues as keys.
// Truncated or other text is an error: the caller then reads the backup.
func DecodeLocalOffsets(file []byte) (OffsetTable, error) {
	var w struct {
		OffsetTable OffsetTable `json:"offsetTable"`
	}
	if err := decodeLenient(file, &w); err != nil {
		return nil, fmt.Errorf("decode local offsets: %w", err)
	}
	return w.OffsetTable, nil
}
