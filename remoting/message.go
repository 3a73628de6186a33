package remoting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/remoting/protocol"
)

// What a broker makes an unknown topic from, when it may.
const (
	autoCreateTopic      = "TBW102"
	autoCreateTopicQueue = 4
)

// OutMessage is a message to be sent.
type OutMessage struct {
	Topic      string // "": that of the queue it is sent to
	Flag       int32
	SysFlag    protocol.SysFlag // set when Body is compressed already
	Properties []protocol.Property
	Body       []byte
	// ReconsumeTimes and MaxReconsumeTimes are for the retry fallback; 0 otherwise.
	ReconsumeTimes, MaxReconsumeTimes int32
}

// SendResult says where a message went. Warning is set when it is stored but
// not as safely as asked for (codes 10, 11, 12).
type SendResult struct {
	MessageQueue    protocol.MessageQueue
	QueueOffset     int64
	OffsetMessageID string
	TransactionID   string
	Warning         protocol.ResponseCode
}

// Send sends one message to a queue (code 310). A queue id of -1 lets the broker choose.
func (c *Client) Send(ctx context.Context, producerGroup string, mq protocol.MessageQueue, m *OutMessage) (SendResult, error) {
	if m.Topic != "" {
		mq.Topic = m.Topic
	}
	h := sendHeader(producerGroup, mq)
	h.SysFlag, h.Flag = m.SysFlag, m.Flag
	h.Properties = string(protocol.AppendProperties(nil, m.Properties, false))
	h.ReconsumeTimes, h.MaxReconsumeTimes = m.ReconsumeTimes, m.MaxReconsumeTimes
	r, err := c.send(ctx, mq, newRequest(protocol.SendMessageV2, h.FieldsV2(), m.Body))
	if err != nil {
		return SendResult{}, fmt.Errorf("send to %v: %w", mq, err)
	}
	return r, nil
}

// SendBatch sends several messages of one topic to one queue in one request
// (code 320). OffsetMessageID of the result lists all ids, with commas.
func (c *Client) SendBatch(ctx context.Context, producerGroup string, mq protocol.MessageQueue, items []protocol.BatchItem) (SendResult, error) {
	body, err := protocol.AppendBatch(nil, items)
	if err != nil {
		return SendResult{}, fmt.Errorf("send %d messages to %v: %w", len(items), mq, err)
	}
	h := sendHeader(producerGroup, mq)
	h.Batch = true
	r, err := c.send(ctx, mq, newRequest(protocol.SendBatchMessage, h.FieldsV2(), body))
	if err != nil {
		return SendResult{}, fmt.Errorf("send %d messages to %v: %w", len(items), mq, err)
	}
	return r, nil
}

func sendHeader(producerGroup string, mq protocol.MessageQueue) protocol.SendMessageRequestHeader {
	return protocol.SendMessageRequestHeader{
		ProducerGroup:         producerGroup,
		Topic:                 mq.Topic,
		DefaultTopic:          autoCreateTopic,
		DefaultTopicQueueNums: autoCreateTopicQueue,
		QueueID:               mq.QueueID,
		Born:                  time.Now(),
		BrokerName:            mq.BrokerName,
	}
}

func (c *Client) send(ctx context.Context, mq protocol.MessageQueue, req *protocol.Command) (SendResult, error) {
	addr, err := c.MasterOf(ctx, mq)
	if _, unknown := errors.AsType[*NoRouteError](err); unknown {
		// A topic that the broker will make has no route yet, but its template has.
		addr, err = c.masterBy(ctx, mq.BrokerName, autoCreateTopic)
	}
	if err != nil {
		return SendResult{}, err
	}
	answer, err := c.Invoke(ctx, addr, req)
	var warning protocol.ResponseCode
	if ce, ok := errors.AsType[*CodeError](err); ok && storedAnyway(ce.Code) {
		warning, err = ce.Code, nil
	}
	if err != nil {
		return SendResult{}, err
	}
	var h protocol.SendMessageResponseHeader
	if err := protocol.DecodeFields(answer.ExtFields, &h); err != nil {
		return SendResult{}, c.badAnswer(protocol.RequestCode(req.Code), addr, err)
	}
	mq.QueueID = h.QueueID
	return SendResult{
		MessageQueue:    mq,
		QueueOffset:     h.QueueOffset,
		OffsetMessageID: h.MsgID,
		TransactionID:   h.TransactionID,
		Warning:         warning,
	}, nil
}

// storedAnyway reports whether a send was answered with a warning only.
func storedAnyway(code protocol.ResponseCode) bool {
	switch code {
	case protocol.FlushDiskTimeout, protocol.SlaveNotAvailable, protocol.FlushSlaveTimeout:
		return true
	}
	return false
}
