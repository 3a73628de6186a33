package protocol

// OffsetTable is the body of 220, 221, 308 and the local offset file: offsets by queue.
type OffsetTable = ByQueue[int64]

// offsets is a body with one table.
type offsets struct {
	OffsetTable OffsetTable `json:"offsetTable"`
}

// EncodeResetOffset writes the body of 220 and the answer to 222.
func EncodeResetOffset(t OffsetTable) []byte { return encodeBody(offsets{t}) }

// DecodeResetOffset reads the body of 220 in the form for Java clients and in
// that for C++ ones, and the answer to 222. A body without table gives nil.
func DecodeResetOffset(body []byte) (OffsetTable, error) {
	w, err := decodeBody[offsets](body, "reset offsets")
	return w.OffsetTable, err
}

// EncodeConsumerStatus writes a client's answer to 221.
func EncodeConsumerStatus(t OffsetTable) []byte {
	return encodeBody(struct {
		ConsumerTable     struct{}    `json:"consumerTable"`
		MessageQueueTable OffsetTable `json:"messageQueueTable"`
	}{MessageQueueTable: t})
}

// DecodeConsumerStatus reads a client's answer to 221.
func DecodeConsumerStatus(body []byte) (OffsetTable, error) {
	w, err := decodeBody[struct {
		MessageQueueTable OffsetTable `json:"messageQueueTable"`
	}](body, "consumer status")
	return w.MessageQueueTable, err
}

// DecodeMembersStatus reads the answer to 223: each member's offsets by client id.
// A member that did not answer is not in it.
func DecodeMembersStatus(body []byte) (map[string]OffsetTable, error) {
	w, err := decodeBody[struct {
		ConsumerTable map[string]OffsetTable `json:"consumerTable"`
	}](body, "the members' status")
	return w.ConsumerTable, err
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
	w, err := decodeBody[offsets](file, "local offsets")
	return w.OffsetTable, err
}
