package protocol

import "time"

// QueueOffsetRequestHeader serves codes 30 and 31 (max and min offset).
type QueueOffsetRequestHeader struct {
	Topic      string
	QueueID    int32
	BrokerName string
}

// Fields gives the ext fields of h.
func (h *QueueOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 3)
	f = f.add("topic", h.Topic)
	f = f.addInt("queueId", int64(h.QueueID))
	return f.addText("bname", h.BrokerName)
}

// Parse reads f into h.
func (h *QueueOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.int32("queueId", &h.QueueID)
	r.optText("bname", &h.BrokerName)
	return r.err
}

// SearchOffsetRequestHeader asks for an offset by store time (code 29).
type SearchOffsetRequestHeader struct {
	Topic        string
	QueueID      int32
	Timestamp    time.Time
	BoundaryType string // 5.x: lower, upper; empty: not sent
	BrokerName   string
}

// Fields gives the ext fields of h.
func (h *SearchOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 5)
	f = f.add("topic", h.Topic)
	f = f.addInt("queueId", int64(h.QueueID))
	f = f.addInt("timestamp", millis(h.Timestamp))
	f = f.addText("boundaryType", h.BoundaryType)
	return f.addText("bname", h.BrokerName)
}

// Parse reads f into h.
func (h *SearchOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.int32("queueId", &h.QueueID)
	r.time("timestamp", &h.Timestamp)
	r.optText("boundaryType", &h.BoundaryType)
	r.optText("bname", &h.BrokerName)
	return r.err
}

// OffsetResponseHeader answers codes 14, 29, 30 and 31.
type OffsetResponseHeader struct{ Offset int64 }

// Fields gives the ext fields of h.
func (h *OffsetResponseHeader) Fields() ExtFields {
	return make(ExtFields, 0, 1).addInt("offset", h.Offset)
}

// Parse reads f into h.
func (h *OffsetResponseHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.int64("offset", &h.Offset)
	return r.err
}

// QueryConsumerOffsetRequestHeader asks for a committed offset (code 14).
type QueryConsumerOffsetRequestHeader struct {
	ConsumerGroup string
	Topic         string
	QueueID       int32
	// SetZeroIfNotFound is always sent; 4.9 ignores it.
	SetZeroIfNotFound bool
	BrokerName        string
}

// Fields gives the ext fields of h.
func (h *QueryConsumerOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 5)
	f = f.add("consumerGroup", h.ConsumerGroup)
	f = f.add("topic", h.Topic)
	f = f.addInt("queueId", int64(h.QueueID))
	f = f.addBool("setZeroIfNotFound", h.SetZeroIfNotFound)
	return f.addText("bname", h.BrokerName)
}

// Parse reads f into h.
func (h *QueryConsumerOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("consumerGroup", &h.ConsumerGroup)
	r.text("topic", &h.Topic)
	r.int32("queueId", &h.QueueID)
	r.optBool("setZeroIfNotFound", &h.SetZeroIfNotFound)
	r.optText("bname", &h.BrokerName)
	return r.err
}

// UpdateConsumerOffsetRequestHeader commits an offset (code 15).
type UpdateConsumerOffsetRequestHeader struct {
	ConsumerGroup string
	Topic         string
	QueueID       int32
	CommitOffset  int64
	BrokerName    string
}

// Fields gives the ext fields of h.
func (h *UpdateConsumerOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 5)
	f = f.add("consumerGroup", h.ConsumerGroup)
	f = f.add("topic", h.Topic)
	f = f.addInt("queueId", int64(h.QueueID))
	f = f.addInt("commitOffset", h.CommitOffset)
	return f.addText("bname", h.BrokerName)
}

// Parse reads f into h.
func (h *UpdateConsumerOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("consumerGroup", &h.ConsumerGroup)
	r.text("topic", &h.Topic)
	r.int32("queueId", &h.QueueID)
	r.int64("commitOffset", &h.CommitOffset)
	r.optText("bname", &h.BrokerName)
	return r.err
}
