package protocol

import "strings"

// ClusterRequestHeader serves code 224.
type ClusterRequestHeader struct{ Cluster string }

// Fields gives the ext fields of h.
func (h *ClusterRequestHeader) Fields() ExtFields {
	return make(ExtFields, 0, 1).add("cluster", h.Cluster)
}

// Parse reads f into h.
func (h *ClusterRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("cluster", &h.Cluster)
	return r.err
}

// ProducerGroupRequestHeader serves code 204.
type ProducerGroupRequestHeader struct{ ProducerGroup string }

// Fields gives the ext fields of h.
func (h *ProducerGroupRequestHeader) Fields() ExtFields {
	return make(ExtFields, 0, 1).add("producerGroup", h.ProducerGroup)
}

// Parse reads f into h.
func (h *ProducerGroupRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("producerGroup", &h.ProducerGroup)
	return r.err
}

// GroupRequestHeader serves codes 303, 343, 345 and 352; 303 and 345 take a topic too.
type GroupRequestHeader struct{ Group, Topic string }

// Fields gives the ext fields of h.
func (h *GroupRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 2)
	f = f.add("group", h.Group)
	return f.addText("topic", h.Topic)
}

// Parse reads f into h.
func (h *GroupRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("group", &h.Group)
	r.optText("topic", &h.Topic)
	return r.err
}

// GroupForbiddenRequestHeader serves code 353 (5.x). Without Readable it only asks.
type GroupForbiddenRequestHeader struct {
	Group, Topic string
	Readable     *bool
}

// Fields gives the ext fields of h.
func (h *GroupForbiddenRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 3)
	f = f.add("group", h.Group)
	f = f.add("topic", h.Topic)
	if h.Readable != nil {
		f = f.addBool("readable", *h.Readable)
	}
	return f
}

// Parse reads f into h.
func (h *GroupForbiddenRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("group", &h.Group)
	r.text("topic", &h.Topic)
	if text, ok := f.Get("readable"); ok {
		readable := strings.EqualFold(text, "true")
		h.Readable = &readable
	}
	return r.err
}

// InvokeResetOffsetRequestHeader asks a broker for a reset (code 222).
type InvokeResetOffsetRequestHeader struct {
	Topic, Group string
	// Timestamp is where to go, in milliseconds; negative: to the end.
	Timestamp int64
	// IsForce lets offsets go forward as well as back (4.9; 5.x always does).
	IsForce bool
	// Queue limits the reset to one queue (5.x; 4.9 resets all of them all the same).
	Queue *ResetQueue
}

// ResetQueue is one queue to be reset; a negative Offset goes by the Timestamp.
type ResetQueue struct {
	ID     int32
	Offset int64
}

// Fields gives the ext fields of h.
func (h *InvokeResetOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 6)
	f = f.add("topic", h.Topic)
	f = f.add("group", h.Group)
	f = f.addInt("timestamp", h.Timestamp)
	f = f.addBool("isForce", h.IsForce)
	if h.Queue == nil {
		f = f.addInt("queueId", -1)
		return f.addInt("offset", -1)
	}
	f = f.addInt("queueId", int64(h.Queue.ID))
	return f.addInt("offset", max(h.Queue.Offset, -1))
}

// Parse reads f into h.
func (h *InvokeResetOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.text("group", &h.Group)
	r.int64("timestamp", &h.Timestamp)
	r.optBool("isForce", &h.IsForce)
	queue := ResetQueue{ID: -1, Offset: -1}
	if h.Queue != nil {
		queue = *h.Queue
	}
	r.optInt32("queueId", &queue.ID)
	r.optInt64("offset", &queue.Offset)
	if queue.ID >= 0 {
		h.Queue = &queue
	}
	return r.err
}

// CloneGroupOffsetRequestHeader copies a group's committed offsets of a topic to
// another group (code 314). Without a topic, brokers copy nothing.
type CloneGroupOffsetRequestHeader struct {
	SrcGroup, DestGroup, Topic string
	// Offline copies a topic that the source's members do not subscribe to, too.
	Offline bool
}

// Fields gives the ext fields of h.
func (h *CloneGroupOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 4)
	f = f.add("srcGroup", h.SrcGroup)
	f = f.add("destGroup", h.DestGroup)
	f = f.addText("topic", h.Topic)
	return f.addBool("offline", h.Offline)
}

// Parse reads f into h.
func (h *CloneGroupOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("srcGroup", &h.SrcGroup)
	r.text("destGroup", &h.DestGroup)
	r.optText("topic", &h.Topic)
	r.optBool("offline", &h.Offline)
	return r.err
}

// BrokerConsumeStatsRequestHeader serves code 317. IsOrder leaves out topics that
// are not ordered.
type BrokerConsumeStatsRequestHeader struct{ IsOrder bool }

// Fields gives the ext fields of h.
func (h *BrokerConsumeStatsRequestHeader) Fields() ExtFields {
	return make(ExtFields, 0, 1).addBool("isOrder", h.IsOrder)
}

// Parse reads f into h.
func (h *BrokerConsumeStatsRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.optBool("isOrder", &h.IsOrder)
	return r.err
}
