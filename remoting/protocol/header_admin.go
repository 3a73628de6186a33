package protocol

// ClusterRequestHeader serves code 224.
type ClusterRequestHeader struct {
	Cluster string `rmq:"cluster"`
}

// ProducerGroupRequestHeader serves code 204.
type ProducerGroupRequestHeader struct {
	ProducerGroup string `rmq:"producerGroup"`
}

// GroupRequestHeader serves codes 303, 343, 345 and 352; 303 and 345 take a topic too.
type GroupRequestHeader struct {
	Group string `rmq:"group"`
	Topic string `rmq:"topic,opt"`
}

// GroupForbiddenRequestHeader serves code 353 (5.x). Without Readable it only asks.
type GroupForbiddenRequestHeader struct {
	Group    string `rmq:"group"`
	Topic    string `rmq:"topic"`
	Readable *bool  `rmq:"readable,opt"`
}

// InvokeResetOffsetRequestHeader asks a broker for a reset (code 222).
type InvokeResetOffsetRequestHeader struct {
	Topic string `rmq:"topic"`
	Group string `rmq:"group"`
	// Timestamp is where to go, in milliseconds; negative: to the end.
	Timestamp int64 `rmq:"timestamp"`
	// IsForce lets offsets go forward as well as back (4.9; 5.x always does).
	IsForce bool `rmq:"isForce,opt"`
	// Queue limits the reset to one queue (5.x; 4.9 resets all of them all the same).
	Queue *ResetQueue
}

// ResetQueue is one queue to be reset; a negative Offset goes by the Timestamp.
type ResetQueue struct {
	ID     int32 `rmq:"queueId,opt"`
	Offset int64 `rmq:"offset,opt"`
}

// Fields gives the ext fields of h; without a queue, -1 stands for its number.
func (h *InvokeResetOffsetRequestHeader) Fields() ExtFields {
	queue := ResetQueue{ID: -1, Offset: -1}
	if h.Queue != nil {
		queue = ResetQueue{h.Queue.ID, max(h.Queue.Offset, -1)}
	}
	return append(EncodeFields(h), EncodeFields(&queue)...)
}

// Parse reads f into h.
func (h *InvokeResetOffsetRequestHeader) Parse(f ExtFields) error {
	queue := ResetQueue{ID: -1, Offset: -1}
	if h.Queue != nil {
		queue = *h.Queue
	}
	if err := DecodeFields(f, &queue); err != nil {
		return err
	}
	if queue.ID >= 0 {
		h.Queue = &queue
	}
	return DecodeFields(f, h)
}

// CloneGroupOffsetRequestHeader copies a group's committed offsets of a topic to
// another group (code 314). Without a topic, brokers copy nothing.
type CloneGroupOffsetRequestHeader struct {
	SrcGroup  string `rmq:"srcGroup"`
	DestGroup string `rmq:"destGroup"`
	Topic     string `rmq:"topic,opt"`
	// Offline copies a topic that the source's members do not subscribe to, too.
	Offline bool `rmq:"offline,opt"`
}

// BrokerConsumeStatsRequestHeader serves code 317. IsOrder leaves out topics that
// are not ordered.
type BrokerConsumeStatsRequestHeader struct {
	IsOrder bool `rmq:"isOrder,opt"`
}
