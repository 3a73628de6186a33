package cli

import (
	"context"
	"fmt"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

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
		switch {
		case t.from.offset > hi:
			t.notice(fmt.Sprintf("%v: --from offset:%d is beyond the end, the next message will have %d: beginning there", q.mq, t.from.offset, hi))
		case t.from.offset < lo:
			t.notice(fmt.Sprintf("%v: --from offset:%d is gone, the queue begins at %d", q.mq, t.from.offset, lo))
		}
	case posTime:
		if next, err = t.startAt(ctx, q.mq, t.from.time, lo, hi); err != nil {
			return err
		}
	}
	if u := t.until; u != nil {
		switch {
		case u.kind == posOffset:
			end = u.offset + 1
			if u.offset >= hi {
				t.notice(fmt.Sprintf("%v: --until offset:%d is beyond the end, the next message will have %d: ending there", q.mq, u.offset, hi))
			}
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

// empty reports whether the positions leave nothing to read in any queue.
func (t *tailer) empty(now time.Time) bool {
	if t.until == nil {
		return false
	}
	past := func(p position) bool { return p.kind == posLatest || p.kind == posTime && !p.time.After(now) }
	switch t.from.kind {
	case posEarliest, posOffset:
		return t.until.kind == posEarliest
	case posLatest:
		return t.until.kind == posEarliest || past(*t.until)
	}
	return t.until.kind == posEarliest || t.until.kind == posLatest && !t.from.time.Before(now)
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
			f.t.notice(reasonText(err) + "; trying again")
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
