package cli

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
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

// tailMerge merges the queues' buffers by the time their messages were stored.
type tailMerge struct {
	queues  []*tailQueue
	ready   tailHeap // queues with messages
	waiting int      // queues that have none, but may have one that is earlier
	open    int      // queues that are not done
}

// blocks reports whether a queue holds up the others.
func (q *tailQueue) blocks() bool { return len(q.buffer) == 0 && !q.idle && !q.done }

// ask gives a queue's goroutine leave to read on.
func (m *tailMerge) ask(q *tailQueue) {
	if !q.asked && !q.done {
		q.asked = true
		q.credit <- struct{}{} // has room: one credit at a time
	}
	m.count()
}

func (m *tailMerge) count() {
	m.waiting, m.open = 0, 0
	for _, q := range m.queues {
		if q.blocks() {
			m.waiting++
		}
		if !q.done {
			m.open++
		}
	}
}

// take puts in an answer.
func (m *tailMerge) take(a tailAnswer) {
	q := a.q
	q.asked = false
	q.idle, q.done = a.idle, a.done
	if had := len(q.buffer); len(a.messages) > 0 {
		q.buffer = append(q.buffer, a.messages...)
		if had == 0 {
			heap.Push(&m.ready, q)
		}
	}
	if len(q.buffer) < tailBatch {
		m.ask(q)
	}
	m.count()
}

// pop takes the message that was stored first.
func (m *tailMerge) pop() *engine.Message {
	q := m.ready[0]
	first := &q.buffer[0]
	q.buffer = q.buffer[1:]
	if len(q.buffer) == 0 {
		heap.Pop(&m.ready)
		if q.blocks() {
			m.waiting++
		}
	} else {
		heap.Fix(&m.ready, 0)
	}
	if len(q.buffer) < tailBatch && !q.asked && !q.done {
		q.asked = true
		q.credit <- struct{}{}
	}
	return first
}

// passOver lets the others go on without the queues that have not answered.
func (m *tailMerge) passOver() {
	for _, q := range m.queues {
		q.idle = q.idle || q.blocks()
	}
	m.count()
}

func (m *tailMerge) finished() bool { return m.open == 0 && m.ready.Len() == 0 }

// tailHeap orders queues by their first message: stored, then queue, then offset.
type tailHeap []*tailQueue

func (h tailHeap) Len() int { return len(h) }
func (h tailHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(a.buffer[0].Stored().Compare(b.buffer[0].Stored()), protocol.CompareMessageQueues(a.mq, b.mq)) < 0
}
func (h tailHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *tailHeap) Push(q any)   { *h = append(*h, q.(*tailQueue)) }
func (h *tailHeap) Pop() any {
	old := *h
	q := old[len(old)-1]
	*h = old[:len(old)-1]
	return q
}

// read is the goroutine of one queue: it answers each credit.
func (t *tailer) read(ctx context.Context, q *tailQueue, answers chan<- tailAnswer) {
	answer := func(a tailAnswer) bool {
		a.q = q
		select {
		case answers <- a:
			return !a.done
		case <-ctx.Done():
			return false
		}
	}
	f := failing{t: t, q: q}
	started, atEnd := false, false
	for {
		select {
		case <-q.credit:
		case <-ctx.Done():
			return
		}
		var a tailAnswer
		var err error
		if !started {
			if err = t.start(ctx, q); err == nil {
				started = true
			}
		}
		if err == nil {
			a, err = t.readOn(ctx, q, atEnd)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if a = f.note(err); !a.done && !f.sleep(ctx) {
				return
			}
		} else {
			f.over()
		}
		atEnd = a.idle
		if !answer(a) {
			return
		}
	}
}

// start finds where the queue begins and ends.
func (t *tailer) start(ctx context.Context, q *tailQueue) error {
	lo, hi, err := t.reader.bounds(ctx, q.mq)
	if err != nil {
		return fmt.Errorf("ask for the offsets of %v: %w", q.mq, err)
	}
	next, end := lo, int64(-1)
	switch t.from.kind {
	case posLatest:
		next = hi
	case posOffset:
		next = min(max(t.from.offset, lo), hi)
	case posTime:
		if next, err = t.startAt(ctx, q.mq, t.from.time, lo, hi); err != nil {
			return err
		}
	}
	if u := t.until; u != nil {
		switch {
		case u.kind == posOffset:
			end = u.offset + 1
		case u.kind == posTime && u.time.After(t.now()):
			// The queue ends with a later message, or with that time.
		case u.kind == posEarliest:
			end = lo
		default:
			end = hi
		}
	}
	q.next, q.end = next, end
	return nil
}

// startAt looks for the first message stored at at or later. A 4.9 broker answers
// with the message nearest to it, which may be one of several stored in the same
// millisecond: go back until one is earlier.
func (t *tailer) startAt(ctx context.Context, mq engine.MessageQueue, at time.Time, lo, hi int64) (int64, error) {
	found, err := t.reader.at(ctx, mq, at)
	if err != nil {
		return 0, fmt.Errorf("ask for the offset of %v at %v: %w", mq, at.Format(time.RFC3339), err)
	}
	found = min(max(found, lo), hi)
	for back := int64(1); found > lo; back *= 2 {
		probe := max(found-back, lo)
		r, err := t.reader.pull(ctx, mq, probe, "*", 0)
		if err != nil {
			return 0, fmt.Errorf("read %v at %d: %w", mq, probe, err)
		}
		messages, _ := protocol.AppendMessages(nil, r.Body, &protocol.MessageSource{})
		if len(messages) == 0 || messages[0].Stored().Before(at) {
			return probe, nil // too early by less than back: the filter drops those
		}
		found = probe
	}
	return found, nil
}

// readOn pulls until there is something to tell.
func (t *tailer) readOn(ctx context.Context, q *tailQueue, atEnd bool) (tailAnswer, error) {
	source := &protocol.MessageSource{BrokerName: q.mq.BrokerName, Topic: q.mq.Topic}
	for {
		if q.end >= 0 && q.next >= q.end {
			return tailAnswer{done: true}, nil
		}
		r, err := t.reader.pull(ctx, q.mq, q.next, t.expression, t.hold(q, atEnd))
		if err != nil {
			return tailAnswer{}, fmt.Errorf("read %v at %d: %w", q.mq, q.next, err)
		}
		switch r.Status {
		case remoting.PullFound:
			a, err := t.sort(q, &r, source)
			if err != nil || len(a.messages) > 0 || a.done {
				return a, err
			}
		case remoting.PullNoMatchedMessage:
			q.next = max(q.next, r.NextBeginOffset)
		case remoting.PullOffsetIllegal:
			if r.NextBeginOffset != q.next {
				t.notice(fmt.Sprintf("%v: offset %d is not there, the queue has %d to %d; going on at %d",
					q.mq, q.next, r.MinOffset, r.MaxOffset, r.NextBeginOffset))
			}
			q.next = r.NextBeginOffset
		default: // no new message
			if q.end >= 0 || t.overdue() {
				return tailAnswer{done: true}, nil
			}
			return tailAnswer{idle: true}, nil
		}
		if ctx.Err() != nil {
			return tailAnswer{}, ctx.Err()
		}
	}
}

// hold is how long the broker may hold the next pull: not at all before the queue
// is known to be at its end, nor beyond the time of --until.
func (t *tailer) hold(q *tailQueue, atEnd bool) time.Duration {
	switch {
	case !atEnd || q.end >= 0:
		return 0
	case t.until != nil && t.until.kind == posTime:
		return min(max(t.until.time.Sub(t.now()), 10*time.Millisecond), tailSuspend)
	}
	return tailSuspend
}

// overdue reports whether --until is a time that has passed.
func (t *tailer) overdue() bool {
	return t.until != nil && t.until.kind == posTime && t.now().After(t.until.time)
}

// sort keeps the messages of one answer that were asked for.
func (t *tailer) sort(q *tailQueue, r *remoting.PullResult, source *protocol.MessageSource) (tailAnswer, error) {
	messages, err := protocol.AppendMessages(make([]engine.Message, 0, tailBatch), r.Body, source)
	if err != nil {
		t.notice(fmt.Sprintf("%v: a message after offset %d cannot be read: %v", q.mq, q.next, err))
	}
	a := tailAnswer{}
	kept := messages[:0]
	for i := range messages {
		m := &messages[i]
		switch {
		case m.QueueOffset() < q.next:
			continue
		case q.end >= 0 && m.QueueOffset() >= q.end:
			a.done = true
		case t.until != nil && t.until.kind == posTime && m.Stored().After(t.until.time):
			a.done = true
		case t.from.kind == posTime && m.Stored().Before(t.from.time):
			continue
		case t.keep(m):
			kept = append(kept, *m)
		}
		if a.done {
			break
		}
	}
	a.messages = kept
	if r.NextBeginOffset <= q.next {
		return a, fmt.Errorf("the broker does not move on: asked for %d, next is %d", q.next, r.NextBeginOffset)
	}
	q.next = r.NextBeginOffset
	return a, nil
}

// failing follows a queue whose reads fail.
type failing struct {
	t     *tailer
	q     *tailQueue
	since time.Time // zero: it does not fail
	wait  time.Duration
}

// note takes an error: it ends the queue when it cannot pass by itself, or when
// the run is to end by itself and it has not passed for giveUp.
func (f *failing) note(err error) tailAnswer {
	now := f.t.now()
	if f.since.IsZero() {
		f.since, f.wait = now, tailRetryMin
		if remoting.Retryable(err) {
			f.t.notice(err.Error() + "; trying again")
		}
	}
	if !remoting.Retryable(err) || f.t.until != nil && now.Sub(f.since) >= f.t.giveUp {
		return tailAnswer{done: true, err: err}
	}
	return tailAnswer{idle: true}
}

// sleep waits before the next try; false: ctx has ended.
func (f *failing) sleep(ctx context.Context) bool {
	t := time.NewTimer(f.wait)
	defer t.Stop()
	f.wait = min(2*f.wait, tailRetryMax)
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (f *failing) over() {
	if !f.since.IsZero() {
		f.t.notice(fmt.Sprintf("%v can be read again", f.q.mq))
		f.since = time.Time{}
	}
}
