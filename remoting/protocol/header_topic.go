package protocol

// TopicRequestHeader serves codes 105 (where a caller that wants strict JSON adds
// acceptStandardJsonOnly), 202, 215 and 216.
type TopicRequestHeader struct {
	Topic string `rmq:"topic"`
}

// CreateTopicRequestHeader makes or changes a topic (code 17). The filter type is
// always sent as SINGLE_TAG, the topic's system flag as 0.
type CreateTopicRequestHeader struct {
	Topic          string   `rmq:"topic"`
	DefaultTopic   string   `rmq:"defaultTopic"`
	ReadQueueNums  int32    `rmq:"readQueueNums"`
	WriteQueueNums int32    `rmq:"writeQueueNums"`
	Perm           int32    `rmq:"perm"`
	_              struct{} `rmq:"topicFilterType=SINGLE_TAG"`
	_              struct{} `rmq:"topicSysFlag=0"`
	Order          bool     `rmq:"order,opt"`
	// Attributes are changes, "+message.type=FIFO,-other" (5.x; 4.9 does not look at
	// them).
	Attributes string `rmq:"attributes,opt"`
}
