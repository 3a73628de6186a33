package inspect

import (
	"context"
	"fmt"
	"slices"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// pageSize is how many messages are asked for at a time; a broker gives no more.
const pageSize = 32

// page is what a broker gave of a queue from an offset on.
type page struct {
	messages []protocol.MessageExt
	next     int64 // where the queue goes on
	min, max int64
	// unread is why the record behind the messages cannot be read; next is behind it.
	unread error
}

// MessageNotFoundError says that there is no such message.
type MessageNotFoundError struct {
	What string // "orders broker-a/3 offset 12"
	Why  string // where it was looked for, or what is there instead
}

func (e *MessageNotFoundError) Error() string {
	return fmt.Sprintf("there is no message %s: %s", e.What, e.Why)
}

// addrOf is the address that answers for a broker name.
func (s *survey) addrOf(brokerName string) (string, error) {
	if b := s.broker(brokerName); b != nil {
		return b.addr, nil
	}
	return "", &remoting.NoBrokerError{BrokerName: brokerName}
}

// pull asks a broker for up to n messages of a queue from an offset on, without any
// filter, and in nobody's name but the brokers' own group for tools: another would be
// made by the question. It commits nothing.
func (in *Inspector) pull(ctx context.Context, addr string, mq protocol.MessageQueue, offset int64, n int) (remoting.PullResult, error) {
	return ask(ctx, in, addr, func(ctx context.Context) (remoting.PullResult, error) {
		return in.client.Pull(ctx, addr, &protocol.PullMessageRequestHeader{
			ConsumerGroup: toolsGroup, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset, MaxMsgNums: int32(n),
			SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
		})
	})
}

// page reads up to n messages of a queue from an offset on.
func (in *Inspector) page(ctx context.Context, addr string, mq protocol.MessageQueue, offset int64, n int) (page, error) {
	r, err := in.pull(ctx, addr, mq, offset, n)
	if err != nil {
		return page{}, fmt.Errorf("read %v at %d: %w", mq, offset, err)
	}
	p := page{next: r.NextBeginOffset, min: r.MinOffset, max: r.MaxOffset}
	if r.Status != remoting.PullFound {
		return p, nil
	}
	p.messages, p.unread = protocol.AppendMessages(nil, r.Body, &protocol.MessageSource{BrokerName: mq.BrokerName, Topic: mq.Topic})
	for i := range p.messages {
		p.messages[i].ShiftQueueOffset(r.OffsetDelta)
	}
	if p.unread != nil {
		p.next = offset + 1
		if n := len(p.messages); n > 0 {
			p.next = p.messages[n-1].QueueOffset() + 2
		}
	}
	p.messages, _ = protocol.UnwrapBatches(p.messages) // one that cannot be read stays whole
	p.messages = slices.DeleteFunc(p.messages, func(m protocol.MessageExt) bool { return m.QueueOffset() < offset })
	return p, nil
}

// Head reads one message by its place. One that is not there is a
// *MessageNotFoundError, which says what the queue has; a queue that cannot be read is a
// *ClosedQueueError; one that the topic does not have, like a topic that does not exist,
// is a *NotFoundError.
func (in *Inspector) Head(ctx context.Context, mq protocol.MessageQueue, offset int64) (protocol.MessageExt, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return protocol.MessageExt{}, err
	}
	addr, err := s.addrOf(mq.BrokerName)
	if err != nil {
		return protocol.MessageExt{}, err
	}
	p, err := in.page(ctx, addr, mq, offset, 1)
	if err != nil {
		route, unknown := in.round(s).route(ctx, mq.Topic)
		if isType[*remoting.NoRouteError](unknown) && ReasonOf(err).Kind == ReasonNotFound && !IsLight(mq.Topic) {
			return protocol.MessageExt{}, &NotFoundError{"topic", mq.Topic}
		}
		if isType[*remoting.CodeError](err) && route != nil && !route.Data.Static() {
			if why := WhyClosed(ctx, in.client, route, mq, false); why != "" {
				return protocol.MessageExt{}, &ClosedQueueError{mq, why, ReasonOf(err).Kind}
			}
			if !reads(route, mq) {
				return protocol.MessageExt{}, &NotFoundError{"queue to read from", mq.String()}
			}
		}
		return protocol.MessageExt{}, err
	}
	if len(p.messages) > 0 && offsetIn(mq.Topic, &p.messages[0]) == offset {
		return p.messages[0], nil
	}
	missing := &MessageNotFoundError{What: fmt.Sprintf("%v offset %d", mq, offset)}
	switch {
	case p.unread != nil:
		return protocol.MessageExt{}, fmt.Errorf("the record at %s cannot be read: %w", missing.What, p.unread)
	case len(p.messages) > 0:
		missing.Why = fmt.Sprintf("the next one has offset %d", offsetIn(mq.Topic, &p.messages[0]))
	case p.max <= p.min:
		missing.Why = "the queue is empty"
	case offset >= 0 && offset < p.min:
		missing.Why = fmt.Sprintf("messages up to offset %d have expired, the queue has %d to %d", p.min-1, p.min, p.max-1)
	default:
		missing.Why = fmt.Sprintf("the queue has %d to %d", p.min, p.max-1)
	}
	return protocol.MessageExt{}, missing
}

// reads reports whether a queue is one that its topic has to read from, permitted or not.
func reads(route *remoting.TopicRoute, mq protocol.MessageQueue) bool {
	return slices.ContainsFunc(route.Data.QueueDatas, func(q protocol.QueueData) bool {
		return q.BrokerName == mq.BrokerName && mq.QueueID >= 0 && mq.QueueID < q.ReadQueueNums
	})
}

// ReadResult is a part of a queue.
type ReadResult struct {
	Messages []protocol.MessageExt
	Next     int64 // where the queue goes on
	Unread   error // the record behind the messages cannot be read; Next is behind it
}

// Read gives up to n messages of a queue from an offset on, as many as a broker gives at
// a time. At the end of the queue there are none, and Next is its end.
func (in *Inspector) Read(ctx context.Context, mq protocol.MessageQueue, offset int64, n int) (ReadResult, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return ReadResult{}, err
	}
	addr, err := s.addrOf(mq.BrokerName)
	if err != nil {
		return ReadResult{}, err
	}
	p, err := in.page(ctx, addr, mq, offset, n)
	return ReadResult{p.messages, p.next, p.unread}, err
}
