package protocol

import "time"

// ConsumerSendMsgBackRequestHeader sends a message back for a retry (code 36).
type ConsumerSendMsgBackRequestHeader struct {
	Offset      int64 // in the commit log
	Group       string
	DelayLevel  int32
	OriginMsgID string
	OriginTopic string
	UnitMode    bool
	// MaxReconsumeTimes is always sent; 0 means that the message is dead at once.
	MaxReconsumeTimes int32
	BrokerName        string
}

// Fields gives the ext fields of h.
func (h *ConsumerSendMsgBackRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 8)
	f = f.addInt("offset", h.Offset)
	f = f.add("group", h.Group)
	f = f.addInt("delayLevel", int64(h.DelayLevel))
	f = f.addText("originMsgId", h.OriginMsgID)
	f = f.addText("originTopic", h.OriginTopic)
	f = f.addBool("unitMode", h.UnitMode)
	f = f.addInt("maxReconsumeTimes", int64(h.MaxReconsumeTimes))
	return f.addText("bname", h.BrokerName)
}

// Parse reads f into h.
func (h *ConsumerSendMsgBackRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.int64("offset", &h.Offset)
	r.text("group", &h.Group)
	r.int32("delayLevel", &h.DelayLevel)
	r.optText("originMsgId", &h.OriginMsgID)
	r.optText("originTopic", &h.OriginTopic)
	r.optBool("unitMode", &h.UnitMode)
	r.optInt32("maxReconsumeTimes", &h.MaxReconsumeTimes)
	r.optText("bname", &h.BrokerName)
	return r.err
}

// SendMessageRequestHeader serves codes 10 (Fields, Parse), and 310 and 320
// (FieldsV2, ParseV2, with one-letter names).
type SendMessageRequestHeader struct {
	ProducerGroup         string
	Topic                 string
	DefaultTopic          string
	DefaultTopicQueueNums int32
	QueueID               int32
	SysFlag               SysFlag
	Born                  time.Time
	Flag                  int32
	Properties            string // in stored text form
	ReconsumeTimes        int32
	UnitMode              bool
	MaxReconsumeTimes     int32 // 0: not sent, unless ReconsumeTimes says that it is a retry
	Batch                 bool
	BrokerName            string
}

// sendNames are the names of SendMessageRequestHeader's fields on the wire.
type sendNames struct {
	producerGroup, topic, defaultTopic, defaultTopicQueueNums, queueID, sysFlag, born, flag,
	properties, reconsumeTimes, unitMode, maxReconsumeTimes, batch, brokerName string
}

var (
	sendNamesV1 = sendNames{
		"producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId", "sysFlag", "bornTimestamp", "flag",
		"properties", "reconsumeTimes", "unitMode", "maxReconsumeTimes", "batch", "bname",
	}
	sendNamesV2 = sendNames{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"}
)

// Fields gives the ext fields of h with the long names of code 10.
func (h *SendMessageRequestHeader) Fields() ExtFields { return h.fields(&sendNamesV1) }

// FieldsV2 gives the ext fields of h with the short names of codes 310 and 320.
func (h *SendMessageRequestHeader) FieldsV2() ExtFields { return h.fields(&sendNamesV2) }

// Parse reads f, which has the long names, into h.
func (h *SendMessageRequestHeader) Parse(f ExtFields) error { return h.parse(f, &sendNamesV1) }

// ParseV2 reads f, which has the short names, into h.
func (h *SendMessageRequestHeader) ParseV2(f ExtFields) error { return h.parse(f, &sendNamesV2) }

func (h *SendMessageRequestHeader) fields(n *sendNames) ExtFields {
	f := make(ExtFields, 0, 14)
	f = f.add(n.producerGroup, h.ProducerGroup)
	f = f.add(n.topic, h.Topic)
	f = f.add(n.defaultTopic, h.DefaultTopic)
	f = f.addInt(n.defaultTopicQueueNums, int64(h.DefaultTopicQueueNums))
	f = f.addInt(n.queueID, int64(h.QueueID))
	f = f.addInt(n.sysFlag, int64(h.SysFlag))
	f = f.addInt(n.born, millis(h.Born))
	f = f.addInt(n.flag, int64(h.Flag))
	f = f.addText(n.properties, h.Properties)
	f = f.addInt(n.reconsumeTimes, int64(h.ReconsumeTimes))
	f = f.addBool(n.unitMode, h.UnitMode)
	if h.MaxReconsumeTimes != 0 || h.ReconsumeTimes != 0 {
		f = f.addInt(n.maxReconsumeTimes, int64(h.MaxReconsumeTimes))
	}
	f = f.addBool(n.batch, h.Batch)
	return f.addText(n.brokerName, h.BrokerName)
}

func (h *SendMessageRequestHeader) parse(f ExtFields, n *sendNames) error {
	r := fieldReader{fields: f}
	r.text(n.producerGroup, &h.ProducerGroup)
	r.text(n.topic, &h.Topic)
	r.text(n.defaultTopic, &h.DefaultTopic)
	r.int32(n.defaultTopicQueueNums, &h.DefaultTopicQueueNums)
	r.int32(n.queueID, &h.QueueID)
	r.int32(n.sysFlag, (*int32)(&h.SysFlag))
	r.time(n.born, &h.Born)
	r.int32(n.flag, &h.Flag)
	r.optText(n.properties, &h.Properties)
	r.optInt32(n.reconsumeTimes, &h.ReconsumeTimes)
	r.optBool(n.unitMode, &h.UnitMode)
	r.optInt32(n.maxReconsumeTimes, &h.MaxReconsumeTimes)
	r.optBool(n.batch, &h.Batch)
	r.optText(n.brokerName, &h.BrokerName)
	return r.err
}

// SendMessageResponseHeader answers codes 10, 310 and 320.
type SendMessageResponseHeader struct {
	MsgID         string // an offset message id; of a batch, a list with commas
	QueueID       int32
	QueueOffset   int64
	TransactionID string
}

// Fields gives the ext fields of h.
func (h *SendMessageResponseHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 4)
	f = f.add("msgId", h.MsgID)
	f = f.addInt("queueId", int64(h.QueueID))
	f = f.addInt("queueOffset", h.QueueOffset)
	return f.addText("transactionId", h.TransactionID)
}

// Parse reads f into h.
func (h *SendMessageResponseHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("msgId", &h.MsgID)
	r.int32("queueId", &h.QueueID)
	r.int64("queueOffset", &h.QueueOffset)
	r.optText("transactionId", &h.TransactionID)
	return r.err
}
