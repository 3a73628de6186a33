package protocol

import (
	"fmt"
	"maps"
	"slices"
)

// EncodeConsumerIDList writes the answer to 38.
func EncodeConsumerIDList(ids []string) []byte {
	o := beginObject(nil)
	o.name("consumerIdList")
	o.dst = appendArray(o.dst, ids, appendString)
	return o.end()
}

// DecodeConsumerIDList reads the answer to 38.
func DecodeConsumerIDList(body []byte) ([]string, error) {
	var w struct {
		ConsumerIDList []string `json:"consumerIdList"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode consumer id list: %w", err)
	}
	return w.ConsumerIDList, nil
}

// EncodeCheckClient writes the body of 46: may this member subscribe so?
func EncodeCheckClient(clientID, group string, s SubscriptionData) []byte {
	o := beginObject(nil)
	o.text("clientId", clientID)
	o.text("group", group)
	o.text("namespace", "")
	o.name("subscriptionData")
	o.dst = appendSubscription(o.dst, s)
	return o.end()
}

// LockBatchBody is the body of 41 and 42.
type LockBatchBody struct {
	ConsumerGroup string         `json:"consumerGroup"`
	ClientID      string         `json:"clientId"`
	MQSet         []MessageQueue `json:"mqSet"`
}

// EncodeLockBatch writes the body of 41 and 42.
func EncodeLockBatch(b *LockBatchBody) []byte {
	o := beginObject(nil)
	o.text("clientId", b.ClientID)
	o.text("consumerGroup", b.ConsumerGroup)
	o.name("mqSet")
	o.dst = appendArray(o.dst, b.MQSet, appendQueue)
	return o.end()
}

// DecodeLockBatch reads the body of 41 and 42.
func DecodeLockBatch(body []byte) (LockBatchBody, error) {
	var b LockBatchBody
	if err := decodeLenient(body, &b); err != nil {
		return LockBatchBody{}, fmt.Errorf("decode lock request: %w", err)
	}
	return b, nil
}

// EncodeLockOK writes the answer to 41: the queues that the client holds now.
func EncodeLockOK(held []MessageQueue) []byte {
	o := beginObject(nil)
	o.name("lockOKMQSet")
	o.dst = appendArray(o.dst, held, appendQueue)
	return o.end()
}

// DecodeLockOK reads the answer to 41.
func DecodeLockOK(body []byte) ([]MessageQueue, error) {
	var w struct {
		LockOKMQSet []MessageQueue `json:"lockOKMQSet"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode lock answer: %w", err)
	}
	return w.LockOKMQSet, nil
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
func EncodeConsumerConnection(c *ConsumerConnection) []byte {
	o := beginObject(nil)
	o.name("connectionSet")
	o.dst = appendArray(o.dst, c.ConnectionSet, appendConnection)
	o.enum("consumeFromWhere", c.ConsumeFromWhere != 0, c.ConsumeFromWhere)
	o.enum("consumeType", c.ConsumeType != 0, c.ConsumeType)
	o.enum("messageModel", c.MessageModel != 0, c.MessageModel)
	o.name("subscriptionTable")
	table := beginObject(o.dst)
	for _, topic := range slices.Sorted(maps.Keys(c.SubscriptionTable)) {
		table.textName(topic)
		table.dst = appendSubscription(table.dst, c.SubscriptionTable[topic])
	}
	o.dst = table.end()
	return o.end()
}

func appendConnection(dst []byte, c Connection) []byte {
	o := beginObject(dst)
	o.text("clientAddr", c.ClientAddr)
	o.text("clientId", c.ClientID)
	o.text("language", c.Language)
	o.number("version", int64(c.Version))
	return o.end()
}

// DecodeConsumerConnection reads the answer to 203.
func DecodeConsumerConnection(body []byte) (ConsumerConnection, error) {
	var c ConsumerConnection
	if err := decodeLenient(body, &c); err != nil {
		return ConsumerConnection{}, fmt.Errorf("decode consumer connections: %w", err)
	}
	for i := range c.ConnectionSet {
		c.ConnectionSet[i].ClientAddr = Address(c.ConnectionSet[i].ClientAddr)
	}
	return c, nil
}

// EncodeProducerConnection writes the answer to 204.
func EncodeProducerConnection(connections []Connection) []byte {
	o := beginObject(nil)
	o.name("connectionSet")
	o.dst = appendArray(o.dst, connections, appendConnection)
	return o.end()
}

// DecodeProducerConnection reads the answer to 204.
func DecodeProducerConnection(body []byte) ([]Connection, error) {
	var w struct {
		ConnectionSet []Connection `json:"connectionSet"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode producer connections: %w", err)
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
	Subscription *SubscriptionData `json:"subscriptionData"`
}

// EncodeSubscriptionOfGroup writes the answer to 345.
func EncodeSubscriptionOfGroup(s *SubscriptionOfGroup) []byte {
	o := beginObject(nil)
	o.text("group", s.Group)
	if s.Subscription != nil {
		o.name("subscriptionData")
		o.dst = appendSubscription(o.dst, *s.Subscription)
	}
	o.text("topic", s.Topic)
	return o.end()
}

// DecodeSubscriptionOfGroup reads the answer to 345.
func DecodeSubscriptionOfGroup(body []byte) (SubscriptionOfGroup, error) {
	var s SubscriptionOfGroup
	if err := decodeLenient(body, &s); err != nil {
		return SubscriptionOfGroup{}, fmt.Errorf("decode the subscription of a group: %w", err)
	}
	return s, nil
}

// GroupForbidden is the answer to 353 (5.x).
type GroupForbidden struct {
	Group    string `json:"group"`
	Topic    string `json:"topic"`
	Readable bool   `json:"readable"`
}

// EncodeGroupForbidden writes the answer to 353.
func EncodeGroupForbidden(g *GroupForbidden) []byte {
	o := beginObject(nil)
	o.text("group", g.Group)
	o.bool("readable", g.Readable)
	o.text("topic", g.Topic)
	return o.end()
}

// DecodeGroupForbidden reads the answer to 353.
func DecodeGroupForbidden(body []byte) (GroupForbidden, error) {
	var g GroupForbidden
	if err := decodeLenient(body, &g); err != nil {
		return GroupForbidden{}, fmt.Errorf("decode what a group may read: %w", err)
	}
	return g, nil
}
