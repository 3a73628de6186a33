package protocol

import "time"

// ConsumerSendMsgBackRequestHeader sends a message back for a retry (code 36).
type ConsumerSendMsgBackRequestHeader struct {
	Offset      int64  `rmq:"offset"` // in the commit log
	Group       string `rmq:"group"`
	DelayLevel  int32  `rmq:"delayLevel"`
	OriginMsgID string `rmq:"originMsgId,opt"`
	OriginTopic string `rmq:"originTopic,opt"`
	UnitMode    bool   `rmq:"unitMode,opt"`
	// MaxReconsumeTimes is always sent; 0 means that the message is dead at once.
	MaxReconsumeTimes int32  `rmq:"maxReconsumeTimes,opt"`
	BrokerName        string `rmq:"bname,opt"`
}

// SendMessageRequestHeader serves code 10 by its tags (and Parse), and 310 and 320 by
// FieldsV2 and ParseV2, with names of one letter.
type SendMessageRequestHeader struct {
	ProducerGroup         string    `rmq:"producerGroup"`
	Topic                 string    `rmq:"topic"`
	DefaultTopic          string    `rmq:"defaultTopic"`
	DefaultTopicQueueNums int32     `rmq:"defaultTopicQueueNums"`
	QueueID               int32     `rmq:"queueId"`
	SysFlag               SysFlag   `rmq:"sysFlag"`
	Born                  time.Time `rmq:"bornTimestamp"`
	Flag                  int32     `rmq:"flag"`
	Properties            string    `rmq:"properties,opt"` // in stored text form
	ReconsumeTimes        int32     `rmq:"reconsumeTimes,opt"`
	UnitMode              bool      `rmq:"unitMode,opt"`
	// MaxReconsumeTimes is not sent when it is 0, unless ReconsumeTimes says that the
	// message is sent once more.
	MaxReconsumeTimes int32  `rmq:"maxReconsumeTimes,omitzero"`
	Batch             bool   `rmq:"batch,opt"`
	BrokerName        string `rmq:"bname,opt"`
}

// sendMessageV2 is SendMessageRequestHeader with its short names.
type sendMessageV2 struct {
	ProducerGroup         string    `rmq:"a"`
	Topic                 string    `rmq:"b"`
	DefaultTopic          string    `rmq:"c"`
	DefaultTopicQueueNums int32     `rmq:"d"`
	QueueID               int32     `rmq:"e"`
	SysFlag               SysFlag   `rmq:"f"`
	Born                  time.Time `rmq:"g"`
	Flag                  int32     `rmq:"h"`
	Properties            string    `rmq:"i,opt"`
	ReconsumeTimes        int32     `rmq:"j,opt"`
	UnitMode              bool      `rmq:"k,opt"`
	MaxReconsumeTimes     int32     `rmq:"l,omitzero"`
	Batch                 bool      `rmq:"m,opt"`
	BrokerName            string    `rmq:"n,opt"`
}

// FieldsV2 gives the ext fields of h with the short names of codes 310 and 320.
func (h *SendMessageRequestHeader) FieldsV2() ExtFields {
	f := EncodeFields((*sendMessageV2)(h))
	if h.MaxReconsumeTimes == 0 && h.ReconsumeTimes != 0 {
		f = append(f, ExtField{Key: "l", Value: "0"})
	}
	return f
}

// Parse reads f, which has the long names, into h.
func (h *SendMessageRequestHeader) Parse(f ExtFields) error { return DecodeFields(f, h) }

// ParseV2 reads f, which has the short names, into h.
func (h *SendMessageRequestHeader) ParseV2(f ExtFields) error {
	return DecodeFields(f, (*sendMessageV2)(h))
}

// SendMessageResponseHeader answers codes 10, 310 and 320.
type SendMessageResponseHeader struct {
	MsgID         string `rmq:"msgId"` // an offset message id; of a batch, a list with commas
	QueueID       int32  `rmq:"queueId"`
	QueueOffset   int64  `rmq:"queueOffset"`
	TransactionID string `rmq:"transactionId,opt"`
}
