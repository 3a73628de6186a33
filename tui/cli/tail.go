package cli

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

const (
	tailBatch    = 32
	tailSuspend  = 15 * time.Second       // how long a broker holds a pull at the end of a queue
	tailPatience = 500 * time.Millisecond // how long one slow queue holds up the order of the others
	tailRetry    = time.Second            // between tries to find where a queue begins
)

// tailer reads queues without any group and hands over their messages, merged in
// the order in which they were stored as far as that is known: a queue at its end,
// failing or slower than tailPatience does not hold up the others. The reading is
// the engine's pull mode; a queue of which enough is held here is paused.
type tailer struct {
	client     *remoting.Client
	timeout    time.Duration // of one call
	topic      string
	queues     []engine.MessageQueue
	grows      bool   // queues that the topic gets later are read too
	expression string // "*" is all
	kind       string // of the expression: protocol.ExpressionTAG or ExpressionSQL92; "" is TAG
	from       position
	until      *position // nil: for ever
	filter     *message.Matcher
	// keep gives the sieve that lets a message pass; nil: it is not wanted.
	keep func(ctx context.Context, m *engine.Message) *sieve
	// emit takes a message; more is false when no more is wanted.
	emit func(m *keptMessage) (more bool, err error)
	// unread takes a record that cannot be read.
	unread func(mq engine.MessageQueue, offset int64, reason string) error
	// pause is called when nothing more can be emitted for now.
	pause  func() error
	notice func(text string)
	// progress, unless it is nil, gets how many messages are left until the ends of all
	// queues as the brokers said last, negative while that is not known, and the queues
	// that cannot be read.
	progress func(behind int64, mute []page.MuteQueue)
	giveUp   time.Duration // how long a queue may fail before run does, when it is to end by itself
	now      func() time.Time

	consumer *engine.PullConsumer
	unreadN  int
}

// tailQueue is one queue.
type tailQueue struct {
	mq     engine.MessageQueue
	next   int64
	end    int64 // read up to before it; -1 is none
	max    int64 // the broker's, as it said last
	buffer []keptMessage

	begun      bool // its start is known
	paused     bool // in the consumer
	idle, done bool
	since      time.Time // when it began to fail; zero: it does not
	why        string    // it fails
}

// sieve is a filter with the number by which its giver knows it.
type sieve struct {
	*message.Matcher
	number int
	missed atomic.Int64 // what sieves before it had let pass by when it was first used
}

// keptMessage is a message with the sieve that it has passed.
type keptMessage struct {
	engine.Message
	by *sieve
}

// tailStart is where a queue begins and ends, or why that is not known yet since a time.
type tailStart struct {
	q         *tailQueue
	next, end int64
	max       int64
	err       error
	since     time.Time
}

// run reads until all queues are at their ends, emit wants no more, or ctx ends.
func (t *tailer) run(parent context.Context, crew *crew) error {
	ctx, cancel := context.WithCancel(parent)
	o := engine.DefaultPullOptions()
	o.Expression, o.ExpressionType = t.expression, t.kind
	o.PullBatchSize, o.BrokerSuspend, o.CallTimeout = tailBatch, tailSuspend, t.timeout
	o.PullThresholdForQueue = tailBatch
	var err error
	if t.consumer, err = engine.NewPullConsumer(o, engine.PullDeps{Client: t.client}); err != nil {
		cancel()
		return err
	}
	polled, started, ended := make(chan engine.Polled), make(chan tailStart), make(chan error, 1)
	var starters, rest crewGroup
	rest.start(crew, func() { ended <- t.consumer.Run(ctx) })
	rest.start(crew, func() {
		for {
			p, err := t.consumer.Poll(ctx)
			if err != nil {
				return
			}
			select {
			case polled <- p:
			case <-ctx.Done():
				return
			}
		}
	})
	defer func() {
		cancel()
		starters.wait()
		rest.wait()
	}()
	m := &tailMerge{t: t}
	begin := func(mq engine.MessageQueue) {
		q := &tailQueue{mq: mq, end: -1}
		m.queues = append(m.queues, q)
		starters.start(crew, func() {
			t.findStart(ctx, q, started)
		})
	}
	for _, mq := range t.queues {
		begin(mq)
	}
	if t.grows {
		t.consumer.Watch(t.topic, t.queues)
	}
	var overdue <-chan time.Time
	if u := t.until; u != nil && u.kind == posTime {
		timer := time.NewTimer(u.time.Sub(t.now()) + time.Millisecond)
		defer timer.Stop()
		overdue = timer.C
	}
	patience, held := time.NewTimer(tailPatience), false
	defer patience.Stop()
	for {
		m.count()
		popped := m.popped
		more, err := t.drain(m)
		if t.progress != nil {
			t.progress(m.behind(), m.mute())
		}
		if err != nil || !more || m.finished() {
			return errors.Join(err, t.unreadError())
		}
		waits := m.ready.Len() > 0 // for a queue that has not answered
		if waits && (!held || m.popped > popped) {
			patience.Reset(tailPatience) // once a wait: what the other queues get does not prolong it
		}
		var late <-chan time.Time
		if held = waits; held {
			late = patience.C
		}
		select {
		case s := <-started:
			if s.err != nil {
				if err := t.failed(s.q, s.err, s.since); err != nil {
					return err
				}
				break
			}
			t.recovered(s.q)
			s.q.begun, s.q.next, s.q.end, s.q.max = true, s.next, s.end, s.max
			if s.q.done = s.end >= 0 && s.next >= s.end; !s.q.done {
				t.consumer.AssignAt(s.q.mq, s.next)
			}
		case p := <-polled:
			if p.Topic != "" {
				for _, mq := range p.Added {
					t.notice(fmt.Sprintf("%v was added to the topic: reading it too", mq))
					begin(mq)
				}
				break
			}
			if err := t.take(ctx, m, p); err != nil {
				return err
			}
		case <-late:
			m.passOver()
		case <-overdue:
			for _, q := range m.queues {
				t.consumer.Recheck(q.mq) // a pull that is held knows nothing of --until
			}
		case err := <-ended:
			if p, ok := errors.AsType[*engine.PanicError](err); ok {
				return &panicError{p.Value, p.Stack}
			}
			return t.unreadError() // ctx has ended
		}
	}
}

// unreadError says how much could not be read.
func (t *tailer) unreadError() error {
	if t.unreadN == 0 {
		return nil
	}
	return fmt.Errorf("%s could not be read, see above", inspect.Plural(t.unreadN, "record"))
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

// take puts in what was polled of a queue.
func (t *tailer) take(ctx context.Context, m *tailMerge, p engine.Polled) error {
	q := m.queue(p.Queue)
	if q == nil || q.done {
		return nil
	}
	switch {
	case p.Err != nil:
		q.idle = true // it holds up nobody
		return t.failed(q, p.Err, p.Since)
	case p.Event != nil:
		q.next = p.Next
		if err := t.tell(q, p.Event); err != nil {
			return err
		}
	}
	messages := t.sort(ctx, q, p.Messages)
	if t.filter != nil {
		if err := t.filter.GivenUp(); err != nil {
			return fmt.Errorf("--jq: %w; make it cheaper, or leave messages out before it, by --tag, --key, --property or --grep", err)
		}
	}
	q.next, q.max = p.Next, max(q.max, p.Max)
	q.idle = p.AtEnd
	if q.end >= 0 && (q.next >= q.end || p.AtEnd) || p.AtEnd && t.overdue() {
		q.done = true
	}
	if q.done {
		t.consumer.Unassign(q.mq)
	}
	m.put(q, messages)
	return nil
}

// tell says what a queue's reading met.
func (t *tailer) tell(q *tailQueue, e engine.Event) error {
	switch e := e.(type) {
	case engine.OffsetIllegal:
		if e.Requested != e.Corrected {
			t.notice(fmt.Sprintf("%v: offset %d is not there, the queue has %d to %d; going on at %d",
				q.mq, e.Requested, e.MinOffset, e.MaxOffset, e.Corrected))
		}
	case engine.MessagesExpired:
		t.notice(fmt.Sprintf("%v: messages expired up to offset %d: %d to %d are gone", q.mq, e.To, e.From, e.To-1))
	case engine.PullRegressed:
		t.notice(fmt.Sprintf("%v: asked for offset %d, the broker goes on at %d", q.mq, e.Previous, e.Next))
	case engine.PullRecovered:
		t.recovered(q)
	case engine.MessageUndecodable:
		t.unreadN++
		t.notice(fmt.Sprintf("%v: the record at offset %d cannot be read: %s; going on behind it", q.mq, e.Offset, e.Error))
		return t.unread(q.mq, e.Offset, e.Error)
	}
	return nil
}

// failed ends the run when an error cannot pass by itself, or when the run is to
// end by itself and it has not passed for giveUp.
func (t *tailer) failed(q *tailQueue, err error, since time.Time) error {
	if ce, ok := errors.AsType[*remoting.CodeError](err); ok && ce.Code == protocol.TopicNotExist {
		return &notFoundError{What: fmt.Sprintf("topic %s is gone from %s: it was deleted while it was read", q.mq.Topic, q.mq.BrokerName)}
	}
	if !remoting.Retryable(err) || t.until != nil && t.now().Sub(since) >= t.giveUp {
		return err
	}
	if q.why = reasonText(err); q.since.IsZero() {
		q.since = since
		t.notice(q.why + "; trying again")
	}
	return nil
}

// recovered says that a queue can be read again, if it could not.
func (t *tailer) recovered(q *tailQueue) {
	if !q.since.IsZero() {
		q.since, q.why = time.Time{}, ""
		t.notice(fmt.Sprintf("%v can be read again", q.mq))
	}
}

// overdue reports whether --until is a time that has passed.
func (t *tailer) overdue() bool {
	return t.until != nil && t.until.kind == posTime && t.now().After(t.until.time)
}

// crewGroup are some of a crew's goroutines, to be waited for alone.
type crewGroup struct{ done []<-chan struct{} }

func (g *crewGroup) start(c *crew, f func()) {
	done := make(chan struct{})
	g.done = append(g.done, done)
	c.start(func() { defer close(done); f() })
}

func (g *crewGroup) wait() {
	for _, done := range g.done {
		<-done
	}
}
