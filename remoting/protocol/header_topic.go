package protocol

// TopicRequestHeader serves codes 105 (where a caller that wants strict JSON adds
// acceptStandardJsonOnly), 202, 215 and 216.
type TopicRequestHeader struct{ Topic string }

// Fields gives the ext fields of h.
func (h *TopicRequestHeader) Fields() ExtFields {
	return make(ExtFields, 0, 2).add("topic", h.Topic)
}

// Parse reads f into h.
func (h *TopicRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	return r.err
}

// CreateTopicRequestHeader makes or changes a topic (code 17). The filter type is
// always sent as SINGLE_TAG, the topic's system flag as 0.
type CreateTopicRequestHeader struct {
	Topic          string
	DefaultTopic   string
	ReadQueueNums  int32
	WriteQueueNums int32
	Perm           int32
	Order          bool
	// Attributes are changes, "+message.type=FIFO,-other" (5.x; 4.9 does not look at
	// them).
	Attributes string
}

// Fields gives the ext fields of h.
func (h *CreateTopicRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 9)
	f = f.add("topic", h.Topic)
	f = f.add("defaultTopic", h.DefaultTopic)
	f = f.addInt("readQueueNums", int64(h.ReadQueueNums))
	f = f.addInt("writeQueueNums", int64(h.WriteQueueNums))
	f = f.addInt("perm", int64(h.Perm))
	f = f.add("topicFilterType", "SINGLE_TAG")
	f = f.addInt("topicSysFlag", 0)
	f = f.addBool("order", h.Order)
	return f.addText("attributes", h.Attributes)
}

// Parse reads f into h.
func (h *CreateTopicRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.text("defaultTopic", &h.DefaultTopic)
	r.int32("readQueueNums", &h.ReadQueueNums)
	r.int32("writeQueueNums", &h.WriteQueueNums)
	r.int32("perm", &h.Perm)
	r.optBool("order", &h.Order)
	r.optText("attributes", &h.Attributes)
	return r.err
}
