package cli

import (
	"context"
	"errors"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
)

// tailGroup is the brokers' own group for tools: pulling with it registers
// nothing and, without a commit bit, moves no offset.
const tailGroup = "TOOLS_CONSUMER"

const (
	tailBatch    = 32
	tailSuspend  = 15 * time.Second        // how long a broker holds a pull at the end of a queue
	tailPatience = 500 * time.Millisecond  // how long one slow queue holds up the order of the others
	tailRetryMin = 200 * time.Millisecond  // between tries of a queue that fails, doubling
	tailRetryMax = 5000 * time.Millisecond //
)

// queueReader is what a tailer needs of a client.
type queueReader interface {
	// bounds gives the smallest offset and the one after the largest.
	bounds(ctx context.Context, mq engine.MessageQueue) (lo, hi int64, err error)
	// at gives the first offset whose message was stored at t or later; it may be
	// some messages too early.
	at(ctx context.Context, mq engine.MessageQueue, t time.Time) (int64, error)
	// pull reads from offset on; at the end of the queue it may be held for hold
	// until a message comes.
	pull(ctx context.Context, mq engine.MessageQueue, offset int64, expression string, hold time.Duration) (remoting.PullResult, error)
}

// tailer reads queues without any group and hands over their messages, merged in
// the order in which they were stored as far as that is known: a queue at its end,
// failing or slower than tailPatience does not hold up the others. At most two
// pull answers a queue are held.
type tailer struct {
	reader     queueReader
	queues     []engine.MessageQueue
	expression string // of tags; "*" is all
	from       position
	until      *position // nil: for ever
	keep       func(m *engine.Message) bool
	// emit takes a message; more is false when no more is wanted.
	emit func(m *engine.Message) (more bool, err error)
	// pause is called when nothing more can be emitted for now.
	pause  func() error
	notice func(text string)
	giveUp time.Duration // how long a queue may fail before run does, when it is to end by itself
	now    func() time.Time
}

// tailAnswer is what a queue's goroutine tells the merging one.
type tailAnswer struct {
	q        *tailQueue
	messages []engine.Message
	idle     bool  // at its end, or failing: it holds up nobody
	done     bool  // nothing more will come
	err      error // with done: why
}

// tailQueue is one queue. Its goroutine owns the upper fields, run the lower ones.
type tailQueue struct {
	mq     engine.MessageQueue
	next   int64
	end    int64 // read up to before it; -1 is none
	credit chan struct{}

	buffer     []engine.Message // not yet emitted
	asked      bool             // its goroutine has a credit that it has not answered
	idle, done bool
}

// run reads until all queues are at their ends, emit wants no more, or ctx ends.
func (t *tailer) run(ctx context.Context, crew *crew) error {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan tailAnswer)
	ended := make(chan struct{}, len(t.queues))
	defer func() {
		cancel()
		for range t.queues {
			<-ended
		}
	}()
	m := &tailMerge{}
	for _, mq := range t.queues {
		q := &tailQueue{mq: mq, end: -1, credit: make(chan struct{}, 1)}
		m.queues = append(m.queues, q)
		m.ask(q)
		crew.start(func() {
			defer func() { ended <- struct{}{} }()
			t.read(ctx, q, answers)
		})
	}
	patience := time.NewTimer(tailPatience)
	defer patience.Stop()
	for {
		more, err := t.drain(m)
		if err != nil || !more || m.finished() {
			return err
		}
		var late <-chan time.Time
		if m.ready.Len() > 0 { // something waits for a queue that has not answered
			patience.Reset(tailPatience)
			late = patience.C
		}
		select {
		case a := <-answers:
			if a.err != nil {
				return a.err
			}
			m.take(a)
		case <-late:
			m.passOver()
		case <-ctx.Done():
			return nil
		}
	}
}

// drain emits what may be emitted now.
func (t *tailer) drain(m *tailMerge) (more bool, err error) {
	for m.ready.Len() > 0 && m.waiting == 0 {
		more, err := t.emit(m.pop())
		if err != nil || !more {
			return false, errors.Join(err, t.pause())
		}
	}
	return true, t.pause()
}
