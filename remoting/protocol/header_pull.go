package protocol

import "time"

// PullSysFlag holds the bits of PullMessageRequestHeader.SysFlag.
type PullSysFlag int32

// The bits of a PullSysFlag.
const (
	PullCommitOffset PullSysFlag = 1 << iota
	PullSuspend
	PullSubscription
	PullClassFilter
	PullLite
)

// PullMessageRequestHeader asks for messages of one queue (code 11).
type PullMessageRequestHeader struct {
	ConsumerGroup  string
	Topic          string
	QueueID        int32
	QueueOffset    int64
	MaxMsgNums     int32
	SysFlag        PullSysFlag
	CommitOffset   int64
	SuspendTimeout time.Duration // whole milliseconds on the wire
	Subscription   string
	SubVersion     int64
	ExpressionType string
	MaxMsgBytes    int32 // 0: not sent
	BrokerName     string
}

// Fields gives the ext fields of h.
func (h *PullMessageRequestHeader) Fields() ExtFields {
	f := h.fixedFields()
	f = f.addInt("queueOffset", h.QueueOffset)
	f = f.addInt("commitOffset", h.CommitOffset)
	return f.addInt("sysFlag", int64(h.SysFlag))
}

// fixedFields are those that stay the same for all requests of a queue.
func (h *PullMessageRequestHeader) fixedFields() ExtFields {
	f := make(ExtFields, 0, 13)
	f = f.add("consumerGroup", h.ConsumerGroup)
	f = f.add("topic", h.Topic)
	f = f.addInt("queueId", int64(h.QueueID))
	f = f.addInt("maxMsgNums", int64(h.MaxMsgNums))
	f = f.addInt("suspendTimeoutMillis", h.SuspendTimeout.Milliseconds())
	f = f.addText("subscription", h.Subscription)
	f = f.addInt("subVersion", h.SubVersion)
	f = f.addText("expressionType", h.ExpressionType)
	if h.MaxMsgBytes != 0 {
		f = f.addInt("maxMsgBytes", int64(h.MaxMsgBytes))
	}
	return f.addText("bname", h.BrokerName)
}

// Parse reads f into h.
func (h *PullMessageRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("consumerGroup", &h.ConsumerGroup)
	r.text("topic", &h.Topic)
	r.int32("queueId", &h.QueueID)
	r.int64("queueOffset", &h.QueueOffset)
	r.int32("maxMsgNums", &h.MaxMsgNums)
	r.int32("sysFlag", (*int32)(&h.SysFlag))
	r.int64("subVersion", &h.SubVersion)
	r.optInt64("commitOffset", &h.CommitOffset)
	suspend := h.SuspendTimeout.Milliseconds()
	r.optInt64("suspendTimeoutMillis", &suspend)
	h.SuspendTimeout = boundedMillis(suspend)
	r.optText("subscription", &h.Subscription)
	r.optText("expressionType", &h.ExpressionType)
	r.optInt32("maxMsgBytes", &h.MaxMsgBytes)
	r.optText("bname", &h.BrokerName)
	return r.err
}

// boundedMillis keeps a duration from the wire from overflowing.
func boundedMillis(ms int64) time.Duration {
	const limit = int64(24 * time.Hour / time.Millisecond)
	return time.Duration(max(-limit, min(ms, limit))) * time.Millisecond
}

// PullMessageResponseHeader comes with the answers to code 11 that a pull status
// goes with (0, 19, 20, 21); other answers may have none of its fields.
type PullMessageResponseHeader struct {
	SuggestWhichBrokerID int64
	NextBeginOffset      int64
	MinOffset            int64
	MaxOffset            int64
	OffsetDelta          int64 // 5.x
}

// Fields gives the ext fields of h. OffsetDelta is left out when it is 0, as 4.9
// has none.
func (h *PullMessageResponseHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 5)
	f = f.addInt("suggestWhichBrokerId", h.SuggestWhichBrokerID)
	f = f.addInt("nextBeginOffset", h.NextBeginOffset)
	f = f.addInt("minOffset", h.MinOffset)
	f = f.addInt("maxOffset", h.MaxOffset)
	if h.OffsetDelta != 0 {
		f = f.addInt("offsetDelta", h.OffsetDelta)
	}
	return f
}

// Parse reads f into h.
func (h *PullMessageResponseHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.int64("suggestWhichBrokerId", &h.SuggestWhichBrokerID)
	r.int64("nextBeginOffset", &h.NextBeginOffset)
	r.int64("minOffset", &h.MinOffset)
	r.int64("maxOffset", &h.MaxOffset)
	r.optInt64("offsetDelta", &h.OffsetDelta)
	return r.err
}
