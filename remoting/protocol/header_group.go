package protocol

// UnregisterClientRequestHeader takes a client out of a group (code 35).
type UnregisterClientRequestHeader struct {
	ClientID      string `rmq:"clientID"`
	ProducerGroup string `rmq:"producerGroup,opt"`
	ConsumerGroup string `rmq:"consumerGroup,opt"`
}

// ConsumerGroupRequestHeader serves codes 38, 40, 203 and 208 (with Topic, if set).
type ConsumerGroupRequestHeader struct {
	ConsumerGroup string `rmq:"consumerGroup"`
	Topic         string `rmq:"topic,opt"`
}

// GroupNameRequestHeader serves code 207; it asks for the offsets to go too,
// under the names of both broker lines.
type GroupNameRequestHeader struct {
	GroupName string   `rmq:"groupName"`
	_         struct{} `rmq:"removeOffset=true"`
	_         struct{} `rmq:"cleanOffset=true"`
}

// ResetOffsetRequestHeader comes with code 220 from a broker.
type ResetOffsetRequestHeader struct {
	Topic     string `rmq:"topic"`
	Group     string `rmq:"group"`
	Timestamp int64  `rmq:"timestamp"`
	IsForce   bool   `rmq:"isForce,opt"`
}

// ConsumerStatusRequestHeader comes with code 221 from a broker; Topic may be empty.
type ConsumerStatusRequestHeader struct {
	Topic string `rmq:"topic,opt"`
	Group string `rmq:"group"`
}

// MembersStatusRequestHeader goes with code 223. ClientID names one member; empty
// asks all of them, one after the other.
type MembersStatusRequestHeader struct {
	Topic    string `rmq:"topic"`
	Group    string `rmq:"group"`
	ClientID string `rmq:"clientAddr,opt"`
}

// ConsumerRunningInfoRequestHeader serves code 307.
type ConsumerRunningInfoRequestHeader struct {
	ConsumerGroup string `rmq:"consumerGroup"`
	ClientID      string `rmq:"clientId"`
	JstackEnable  bool   `rmq:"jstackEnable,opt"`
}

// ConsumeMessageDirectlyRequestHeader serves code 309.
type ConsumeMessageDirectlyRequestHeader struct {
	ConsumerGroup string `rmq:"consumerGroup"`
	ClientID      string `rmq:"clientId,opt"`
	MsgID         string `rmq:"msgId,opt"`
	BrokerName    string `rmq:"brokerName,opt"`
}
