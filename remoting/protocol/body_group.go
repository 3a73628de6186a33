package protocol

// consumerIDs is the answer to 38.
type consumerIDs struct {
	ConsumerIDList []string `json:"consumerIdList"`
}

// EncodeConsumerIDList writes the answer to 38.
func EncodeConsumerIDList(ids []string) []byte { return encodeBody(consumerIDs{ids}) }

// DecodeConsumerIDList reads the answer to 38.
func DecodeConsumerIDList(body []byte) ([]string, error) {
	w, err := decodeBody[consumerIDs](body, "consumer id list")
	return w.ConsumerIDList, err
}

// EncodeCheckClient writes the body of 46: may this member subscribe so?
func EncodeCheckClient(clientID, group string, s SubscriptionData) []byte {
	return encodeBody(struct {
		ClientID     string           `json:"clientId"`
		Group        string           `json:"group"`
		Namespace    string           `json:"namespace"`
		Subscription SubscriptionData `json:"subscriptionData"`
	}{clientID, group, "", s})
}

// LockBatchBody is the body of 41 and 42.
type LockBatchBody struct {
	ConsumerGroup string         `json:"consumerGroup"`
	ClientID      string         `json:"clientId"`
	MQSet         []MessageQueue `json:"mqSet"`
}

// EncodeLockBatch writes the body of 41 and 42.
func EncodeLockBatch(b *LockBatchBody) []byte { return encodeBody(b) }

// DecodeLockBatch reads the body of 41 and 42.
func DecodeLockBatch(body []byte) (LockBatchBody, error) {
	return decodeBody[LockBatchBody](body, "lock request")
}

// lockOK is the answer to 41.
type lockOK struct {
	LockOKMQSet []MessageQueue `json:"lockOKMQSet"`
}

// EncodeLockOK writes the answer to 41: the queues that the client holds now.
func EncodeLockOK(held []MessageQueue) []byte { return encodeBody(lockOK{held}) }

// DecodeLockOK reads the answer to 41.
func DecodeLockOK(body []byte) ([]MessageQueue, error) {
	w, err := decodeBody[lockOK](body, "lock answer")
	return w.LockOKMQSet, err
}

// ConsumerConnection is the answer to 203.
type ConsumerConnection struct {
	ConnectionSet     []Connection                `json:"connectionSet"`
	SubscriptionTable map[string]SubscriptionData `json:"subscriptionTable"`
	ConsumeType       ConsumeType                 `json:"consumeType"`
	MessageModel      MessageModel                `json:"messageModel"`
	ConsumeFromWhere  ConsumeFromWhere            `json:"consumeFromWhere"`
}

// Connection is one member of a group or producer group.
type Connection struct {
	ClientID   string `json:"clientId"`
	ClientAddr string `json:"clientAddr"`
	Language   string `json:"language"`
	Version    int32  `json:"version"`
}

// EncodeConsumerConnection writes the answer to 203.
func EncodeConsumerConnection(c *ConsumerConnection) []byte { return encodeBody(c) }

// DecodeConsumerConnection reads the answer to 203.
func DecodeConsumerConnection(body []byte) (ConsumerConnection, error) {
	c, err := decodeBody[ConsumerConnection](body, "consumer connections")
	if err != nil {
		return c, err
	}
	for i := range c.ConnectionSet {
		c.ConnectionSet[i].ClientAddr = Address(c.ConnectionSet[i].ClientAddr)
	}
	return c, nil
}

// producerConnection is the answer to 204.
type producerConnection struct {
	ConnectionSet []Connection `json:"connectionSet"`
}

// EncodeProducerConnection writes the answer to 204.
func EncodeProducerConnection(connections []Connection) []byte {
	return encodeBody(producerConnection{connections})
}

// DecodeProducerConnection reads the answer to 204.
func DecodeProducerConnection(body []byte) ([]Connection, error) {
	w, err := decodeBody[producerConnection](body, "producer connections")
	if err != nil {
		return nil, err
	}
	for i := range w.ConnectionSet {
		w.ConnectionSet[i].ClientAddr = Address(w.ConnectionSet[i].ClientAddr)
	}
	return w.ConnectionSet, nil
}

// SubscriptionOfGroup is the answer to 345 (5.x). Subscription is nil when no
// member of the group subscribes to the topic.
type SubscriptionOfGroup struct {
	Group        string            `json:"group"`
	Topic        string            `json:"topic"`
	Subscription *SubscriptionData `json:"subscriptionData,omitzero"`
}

// EncodeSubscriptionOfGroup writes the answer to 345.
func EncodeSubscriptionOfGroup(s *SubscriptionOfGroup) []byte { return encodeBody(s) }

// DecodeSubscriptionOfGroup reads the answer to 345.
func DecodeSubscriptionOfGroup(body []byte) (SubscriptionOfGroup, error) {
	return decodeBody[SubscriptionOfGroup](body, "the subscription of a group")
}

// GroupForbidden is the answer to 353 (5.x).
type GroupForbidden struct {
	Group    string `json:"group"`
	Topic    string `json:"topic"`
	Readable bool   `json:"readable"`
}

// EncodeGroupForbidden writes the answer to 353.
func EncodeGroupForbidden(g *GroupForbidden) []byte { return encodeBody(g) }

// DecodeGroupForbidden reads the answer to 353.
func DecodeGroupForbidden(body []byte) (GroupForbidden, error) {
	return decodeBody[GroupForbidden](body, "what a group may read")
}
