package remoting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/remoting/protocol"
)

// QueryConsumerOffset asks the master for a group's committed offset; while the
// routes name none, a slave. Only code 22 of a master is "none": found is false
// and err nil. A slave that knows none may not have copied it yet, which would
// send the group to the end of the queue: *NoBrokerError.
func (c *Client) QueryConsumerOffset(ctx context.Context, group string, mq protocol.MessageQueue) (offset int64, found bool, err error) {
	h := protocol.QueryConsumerOffsetRequestHeader{ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, BrokerName: mq.BrokerName}
	addr, err := c.MasterOf(ctx, mq)
	replica := false
	if addr == "" {
		if addr, replica = c.replicaOf(mq.BrokerName); replica {
			err = nil
		}
	}
	if err == nil {
		offset, err = c.offsetFrom(ctx, addr, newRequest(protocol.QueryConsumerOffset, protocol.EncodeFields(&h), nil))
	}
	if ce, ok := errors.AsType[*CodeError](err); ok && ce.Code == protocol.QueryNotFound {
		if !replica {
			return 0, false, nil
		}
		err = fmt.Errorf("%w, and its slave at %s has no offset (yet)", &NoBrokerError{BrokerName: mq.BrokerName, Master: true}, addr)
	}
	if err != nil {
		return 0, false, fmt.Errorf("committed offset of %s at %v: %w", group, mq, err)
	}
	return offset, true, nil
}

// UpdateConsumerOffset commits at the master, or while the routes name none at a
// slave, and waits for SUCCESS.
func (c *Client) UpdateConsumerOffset(ctx context.Context, group string, mq protocol.MessageQueue, offset int64) error {
	addr, err := c.commitAddr(ctx, mq)
	if err == nil {
		_, err = c.Invoke(ctx, c.vip(addr), updateOffsetRequest(group, mq, offset))
	}
	if err != nil {
		return fmt.Errorf("commit %d of %s at %v: %w", offset, group, mq, err)
	}
	return nil
}

// UpdateConsumerOffsetOneway is UpdateConsumerOffset without waiting.
func (c *Client) UpdateConsumerOffsetOneway(ctx context.Context, group string, mq protocol.MessageQueue, offset int64) error {
	addr, err := c.commitAddr(ctx, mq)
	if err == nil {
		err = c.InvokeOneway(ctx, c.vip(addr), updateOffsetRequest(group, mq, offset))
	}
	if err != nil {
		return fmt.Errorf("commit %d of %s at %v: %w", offset, group, mq, err)
	}
	return nil
}

// commitAddr is where an offset is committed: the master, else any slave even
// before a route is asked for, as in Java 5.
func (c *Client) commitAddr(ctx context.Context, mq protocol.MessageQueue) (string, error) {
	if _, ok := c.BrokerAddr(mq.BrokerName, MasterID); !ok {
		if addr, ok := c.replicaOf(mq.BrokerName); ok {
			return addr, nil
		}
	}
	return c.MasterOf(ctx, mq)
}

func updateOffsetRequest(group string, mq protocol.MessageQueue, offset int64) *protocol.Command {
	h := protocol.UpdateConsumerOffsetRequestHeader{
		ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, CommitOffset: offset, BrokerName: mq.BrokerName,
	}
	return newRequest(protocol.UpdateConsumerOffset, protocol.EncodeFields(&h), nil)
}

// MaxOffset is the offset the queue's next message will get.
func (c *Client) MaxOffset(ctx context.Context, mq protocol.MessageQueue) (int64, error) {
	return c.boundary(ctx, protocol.GetMaxOffset, mq)
}

// MinOffset is the offset of the queue's oldest message.
func (c *Client) MinOffset(ctx context.Context, mq protocol.MessageQueue) (int64, error) {
	return c.boundary(ctx, protocol.GetMinOffset, mq)
}

func (c *Client) boundary(ctx context.Context, code protocol.RequestCode, mq protocol.MessageQueue) (int64, error) {
	h := protocol.QueueOffsetRequestHeader{Topic: mq.Topic, QueueID: mq.QueueID, BrokerName: mq.BrokerName}
	offset, err := c.askOffset(ctx, mq, newRequest(code, protocol.EncodeFields(&h), nil))
	if err != nil {
		return 0, fmt.Errorf("bounds of %v: %w", mq, err)
	}
	return offset, nil
}

// SearchOffset asks for the first message stored at or after t. 4.9 brokers
// answer the message nearest to t.
func (c *Client) SearchOffset(ctx context.Context, mq protocol.MessageQueue, t time.Time) (int64, error) {
	h := protocol.SearchOffsetRequestHeader{
		Topic: mq.Topic, QueueID: mq.QueueID, Timestamp: t, BoundaryType: "lower", BrokerName: mq.BrokerName,
	}
	offset, err := c.askOffset(ctx, mq, newRequest(protocol.SearchOffsetByTimestamp, protocol.EncodeFields(&h), nil))
	if err != nil {
		return 0, fmt.Errorf("offset of %v at %v: %w", mq, t.Format(time.RFC3339Nano), err)
	}
	return offset, nil
}

// askOffset sends req to the master of mq's broker; the answer is one offset.
func (c *Client) askOffset(ctx context.Context, mq protocol.MessageQueue, req *protocol.Command) (int64, error) {
	addr, err := c.MasterOf(ctx, mq)
	if err != nil {
		return 0, err
	}
	return c.offsetFrom(ctx, addr, req)
}

func (c *Client) offsetFrom(ctx context.Context, addr string, req *protocol.Command) (int64, error) {
	addr = c.vip(addr)
	answer, err := c.Invoke(ctx, addr, req)
	if err != nil {
		return 0, err
	}
	var h protocol.OffsetResponseHeader
	if err := protocol.DecodeFields(answer.ExtFields, &h); err != nil {
		return 0, c.badAnswer(protocol.RequestCode(req.Code), addr, err)
	}
	return h.Offset, nil
}
