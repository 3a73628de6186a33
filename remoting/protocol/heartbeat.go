package protocol

import "fmt"

// HeartbeatData is the body of code 34.
type HeartbeatData struct {
	ClientID        string         `json:"clientID"`
	ConsumerDataSet []ConsumerData `json:"consumerDataSet"`
	ProducerDataSet []ProducerData `json:"producerDataSet"`
}

// ConsumerData is one group a client is a member of.
type ConsumerData struct {
	GroupName           string             `json:"groupName"`
	ConsumeType         ConsumeType        `json:"consumeType"`
	MessageModel        MessageModel       `json:"messageModel"`
	ConsumeFromWhere    ConsumeFromWhere   `json:"consumeFromWhere"`
	SubscriptionDataSet []SubscriptionData `json:"subscriptionDataSet"`
	UnitMode            bool               `json:"unitMode"`
}

// ProducerData is one producer group of a client.
type ProducerData struct {
	GroupName string `json:"groupName"`
}

// EncodeHeartbeatData writes the body of code 34 in the form of 4.9, which 5.x
// reads too.
func EncodeHeartbeatData(h *HeartbeatData) []byte {
	o := beginObject(nil)
	o.text("clientID", h.ClientID)
	o.name("consumerDataSet")
	o.dst = appendArray(o.dst, h.ConsumerDataSet, appendConsumerData)
	o.name("producerDataSet")
	o.dst = appendArray(o.dst, h.ProducerDataSet, appendProducerData)
	return o.end()
}

func appendConsumerData(dst []byte, c ConsumerData) []byte {
	o := beginObject(dst)
	o.enum("consumeFromWhere", c.ConsumeFromWhere != 0, c.ConsumeFromWhere)
	o.enum("consumeType", c.ConsumeType != 0, c.ConsumeType)
	o.text("groupName", c.GroupName)
	o.enum("messageModel", c.MessageModel != 0, c.MessageModel)
	o.name("subscriptionDataSet")
	o.dst = appendArray(o.dst, c.SubscriptionDataSet, appendSubscription)
	o.bool("unitMode", c.UnitMode)
	return o.end()
}

func appendProducerData(dst []byte, p ProducerData) []byte {
	o := beginObject(dst)
	o.text("groupName", p.GroupName)
	return o.end()
}

// DecodeHeartbeatData reads the body of code 34.
func DecodeHeartbeatData(body []byte) (HeartbeatData, error) {
	var h HeartbeatData
	if err := decodeLenient(body, &h); err != nil {
		return HeartbeatData{}, fmt.Errorf("decode heartbeat: %w", err)
	}
	return h, nil
}
