package engine

import (
	"context"
	"time"

	"eyeq/engine/core"
)

// Status is a listener's verdict on a batch.
type Status uint8

// The verdicts. A concurrent listener answers ConsumeSuccess or ReconsumeLater;
// an orderly one ConsumeSuccess, SuspendCurrentQueueAMoment, Commit or Rollback.
const (
	ConsumeSuccess Status = iota + 1
	ReconsumeLater
	SuspendCurrentQueueAMoment
	Commit
	Rollback
	// Abandon: neither acknowledged nor sent back. The messages stay unfinished until
	// the queue is given away, and the committed offset stays before them; an orderly
	// queue hands nothing more out.
	Abandon
	// Hold: an operator decides, by Engine.Settle. The messages stay taken and
	// unfinished, as under Abandon, but no worker has them and they are shown as held;
	// an orderly queue goes on when its held batch is decided about.
	Hold
)

// String gives RocketMQ's name, where it has one.
func (s Status) String() string {
	switch s {
	case ConsumeSuccess:
		return "CONSUME_SUCCESS"
	case ReconsumeLater:
		return "RECONSUME_LATER"
	case SuspendCurrentQueueAMoment:
		return "SUSPEND_CURRENT_QUEUE_A_MOMENT"
	case Commit:
		return "COMMIT"
	case Rollback:
		return "ROLLBACK"
	case Abandon:
		return "ABANDON"
	case Hold:
		return "HOLD"
	}
	return "none"
}

// verdict names what a listener's answer counts as, and whether that is a success.
func (q *queue) verdict(status Status, err error) (name string, success bool) {
	switch {
	case err == nil && (status == Abandon || status == Hold):
		return status.String(), false
	case !q.orderly && err == nil && status == ConsumeSuccess:
		return status.String(), true
	case !q.orderly:
		return ReconsumeLater.String(), false
	}
	switch orderlyVerdict(status, err) {
	case core.OrderlySuccess:
		return "SUCCESS", true // the orderly listener's word for it
	case core.OrderlyCommit:
		return Commit.String(), true
	case core.OrderlyRollback:
		return Rollback.String(), false
	}
	return SuspendCurrentQueueAMoment.String(), false
}

// returnType is the label of a listener call. An error is what an exception is
// in Java: then there is no status, whatever came with it.
func (q *queue) returnType(status Status, err error, rt time.Duration) core.ReturnType {
	_, success := q.verdict(status, err)
	failed := !success && !(q.orderly && status == Rollback)
	return core.ClassifyReturn(err == nil && status != 0, err != nil, failed, rt, q.e.o.ConsumeTimeout)
}

// ConsumeContext goes with a batch to the listener, which may set the fields
// below the line. It is valid during the call only.
type ConsumeContext struct {
	MessageQueue MessageQueue // where the messages lie (the retry topic's for a retry)
	// Direct: an admin tool wants this one message consumed (309), beside its normal
	// delivery; the verdict goes to the tool and moves no offset.
	Direct bool

	// AckIndex is the last message of the batch that succeeded (concurrent, with
	// ConsumeSuccess); it comes as "all".
	AckIndex int
	// DelayLevelWhenNextConsume: 0 lets the broker choose, -1 is the dead letters
	// at once, n is level n (concurrent).
	DelayLevelWhenNextConsume int32
	// AutoCommit comes as true (orderly).
	AutoCommit bool
	// SuspendCurrentQueueTime replaces the option of the same name when not zero (orderly).
	SuspendCurrentQueueTime time.Duration
}

// Listener consumes batches. A concurrent consumer calls it from up to
// ConsumeThreadMin goroutines at once; an orderly one never twice at once for
// one queue, but for a message that an admin tool has consumed directly. The slice is valid during the call; the messages it points to may
// be kept. ctx ends when the engine has to stop running listeners. An error or
// a zero Status counts as ReconsumeLater (orderly: SuspendCurrentQueueAMoment).
//
// A panic in a listener is a fault of the program and ends it.
type Listener interface {
	Consume(ctx context.Context, messages []Message, cc *ConsumeContext) (Status, error)
}

// ListenerFunc makes a Listener of a function.
type ListenerFunc func(ctx context.Context, messages []Message, cc *ConsumeContext) (Status, error)

// Consume calls f.
func (f ListenerFunc) Consume(ctx context.Context, messages []Message, cc *ConsumeContext) (Status, error) {
	return f(ctx, messages, cc)
}
