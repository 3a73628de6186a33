package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// directLimit is how long a directly consumed message may take: the broker waits
// 10 s, so that its listener's end is still answered.
const directLimit = 9 * time.Second

// onConsumeDirectly answers 309: the listener gets the one message, beside
// queues, locks, hooks, offsets and statistics. So it is told as an event of its
// own: nothing else shows that the message was consumed once more.
func (e *Engine) onConsumeDirectly(ctx context.Context, conn *remoting.Conn, req *protocol.Command) ([]byte, error) {
	var h protocol.ConsumeMessageDirectlyRequestHeader
	if err := protocol.DecodeFields(req.ExtFields, &h); err != nil {
		return nil, err
	}
	if err := e.notHere(h.ConsumerGroup); err != nil {
		return nil, err
	}
	if e.o.RefuseDirect {
		return nil, errors.New("this member consumes no message directly (its refuse_direct_consumption is true): ask another one")
	}
	msgs, err := protocol.AppendMessages(nil, req.Body, &protocol.MessageSource{BrokerName: h.BrokerName, Decompressor: &e.decompressor})
	if err != nil {
		return nil, err
	}
	if len(msgs) != 1 {
		return nil, fmt.Errorf("%d messages in the request, not one", len(msgs))
	}
	began := time.Now()
	r := e.consumeDirectly(ctx, msgs)
	took := time.Since(began)
	r.SpentTimeMills = took.Milliseconds()
	e.events.publish(ConsumedDirectly{At{time.Now(), msgs[0].MessageQueue()}, conn.RemoteAddr(), msgs[0].QueueOffset(), msgs[0].MessageID(),
		r.ConsumeResult, r.Remark, ms(took)})
	return protocol.EncodeConsumeDirectlyResult(&r), nil
}

func (e *Engine) consumeDirectly(ctx context.Context, msgs []Message) protocol.ConsumeMessageDirectlyResult {
	ctx, cancel := context.WithTimeout(ctx, directLimit)
	defer cancel()
	cc := ConsumeContext{MessageQueue: msgs[0].MessageQueue(), AutoCommit: true, Direct: true}
	status, err := e.d.Listener.Consume(ctx, msgs, &cc)
	r := protocol.ConsumeMessageDirectlyResult{Order: e.o.Orderly, AutoCommit: true}
	if e.o.Orderly {
		r.AutoCommit = cc.AutoCommit
	}
	r.ConsumeResult = directResult(status, e.o.Orderly)
	switch {
	case err != nil:
		r.ConsumeResult, r.Remark = "CR_THROW_EXCEPTION", err.Error()
	case status == Abandon:
		r.Remark = "this member takes no more messages"
	}
	return r
}

// directResult is a verdict by Java's name.
func directResult(status Status, orderly bool) string {
	switch {
	case status == ConsumeSuccess:
		return "CR_SUCCESS"
	case status == ReconsumeLater, status == SuspendCurrentQueueAMoment, status == Abandon:
		return "CR_LATER"
	case status == Commit && orderly:
		return "CR_COMMIT"
	case status == Rollback && orderly:
		return "CR_ROLLBACK"
	}
	return "CR_RETURN_NULL"
}
