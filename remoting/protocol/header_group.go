package protocol

// UnregisterClientRequestHeader takes a client out of a group (code 35).
type UnregisterClientRequestHeader struct{ ClientID, ProducerGroup, ConsumerGroup string }

// Fields gives the ext fields of h.
func (h *UnregisterClientRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 3)
	f = f.add("clientID", h.ClientID)
	f = f.addText("producerGroup", h.ProducerGroup)
	return f.addText("consumerGroup", h.ConsumerGroup)
}

// Parse reads f into h.
func (h *UnregisterClientRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("clientID", &h.ClientID)
	r.optText("producerGroup", &h.ProducerGroup)
	r.optText("consumerGroup", &h.ConsumerGroup)
	return r.err
}

// ConsumerGroupRequestHeader serves codes 38, 40, 203 and 208 (with Topic, if set).
type ConsumerGroupRequestHeader struct{ ConsumerGroup, Topic string }

// Fields gives the ext fields of h.
func (h *ConsumerGroupRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 2)
	f = f.add("consumerGroup", h.ConsumerGroup)
	return f.addText("topic", h.Topic)
}

// Parse reads f into h.
func (h *ConsumerGroupRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("consumerGroup", &h.ConsumerGroup)
	r.optText("topic", &h.Topic)
	return r.err
}

// GroupNameRequestHeader serves code 207; it asks for the offsets to go too,
// under the names of both broker lines.
type GroupNameRequestHeader struct{ GroupName string }

// Fields gives the ext fields of h.
func (h *GroupNameRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 3)
	f = f.add("groupName", h.GroupName)
	f = f.addBool("removeOffset", true)
	return f.addBool("cleanOffset", true)
}

// Parse reads f into h.
func (h *GroupNameRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("groupName", &h.GroupName)
	return r.err
}

// ResetOffsetRequestHeader comes with code 220 from a broker.
type ResetOffsetRequestHeader struct {
	Topic, Group string
	Timestamp    int64
	IsForce      bool
}

// Fields gives the ext fields of h.
func (h *ResetOffsetRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 4)
	f = f.add("topic", h.Topic)
	f = f.add("group", h.Group)
	f = f.addInt("timestamp", h.Timestamp)
	return f.addBool("isForce", h.IsForce)
}

// Parse reads f into h.
func (h *ResetOffsetRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.text("group", &h.Group)
	r.int64("timestamp", &h.Timestamp)
	r.optBool("isForce", &h.IsForce)
	return r.err
}

// ConsumerStatusRequestHeader comes with code 221 from a broker; Topic may be empty.
type ConsumerStatusRequestHeader struct{ Topic, Group string }

// Fields gives the ext fields of h.
func (h *ConsumerStatusRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 2)
	f = f.addText("topic", h.Topic)
	return f.add("group", h.Group)
}

// Parse reads f into h.
func (h *ConsumerStatusRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.optText("topic", &h.Topic)
	r.text("group", &h.Group)
	return r.err
}

// MembersStatusRequestHeader goes with code 223. ClientID names one member; empty
// asks all of them, one after the other.
type MembersStatusRequestHeader struct{ Topic, Group, ClientID string }

// Fields gives the ext fields of h.
func (h *MembersStatusRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 3)
	f = f.add("topic", h.Topic)
	f = f.add("group", h.Group)
	return f.addText("clientAddr", h.ClientID)
}

// Parse reads f into h.
func (h *MembersStatusRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.text("group", &h.Group)
	r.optText("clientAddr", &h.ClientID)
	return r.err
}

// ConsumerRunningInfoRequestHeader serves code 307.
type ConsumerRunningInfoRequestHeader struct {
	ConsumerGroup, ClientID string
	JstackEnable            bool
}

// Fields gives the ext fields of h.
func (h *ConsumerRunningInfoRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 3)
	f = f.add("consumerGroup", h.ConsumerGroup)
	f = f.add("clientId", h.ClientID)
	return f.addBool("jstackEnable", h.JstackEnable)
}

// Parse reads f into h.
func (h *ConsumerRunningInfoRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("consumerGroup", &h.ConsumerGroup)
	r.text("clientId", &h.ClientID)
	r.optBool("jstackEnable", &h.JstackEnable)
	return r.err
}

// ConsumeMessageDirectlyRequestHeader serves code 309.
type ConsumeMessageDirectlyRequestHeader struct {
	ConsumerGroup, ClientID, MsgID, BrokerName string
}

// Fields gives the ext fields of h.
func (h *ConsumeMessageDirectlyRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 4)
	f = f.add("consumerGroup", h.ConsumerGroup)
	f = f.addText("clientId", h.ClientID)
	f = f.addText("msgId", h.MsgID)
	return f.addText("brokerName", h.BrokerName)
}

// Parse reads f into h.
func (h *ConsumeMessageDirectlyRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("consumerGroup", &h.ConsumerGroup)
	r.optText("clientId", &h.ClientID)
	r.optText("msgId", &h.MsgID)
	r.optText("brokerName", &h.BrokerName)
	return r.err
}
