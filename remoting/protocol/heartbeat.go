package protocol

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
func EncodeHeartbeatData(h *HeartbeatData) []byte { return encodeBody(h) }

// DecodeHeartbeatData reads the body of code 34.
func DecodeHeartbeatData(body []byte) (HeartbeatData, error) {
	return decodeBody[HeartbeatData](body, "heartbeat")
}
