package cli

import (
	"context"
	"fmt"
	"time"

	"eyeq/engine"
)

// findStart asks where a queue begins and ends, until that is known or ctx ends, and
// tells found of each failure too.
func (t *tailer) findStart(ctx context.Context, q *tailQueue, found chan<- tailStart) {
	var since time.Time
	for {
		asked := t.now()
		s, err := t.start(ctx, q.mq)
		if err != nil && since.IsZero() {
			since = asked
		}
		s.q, s.err, s.since = q, err, since
		select {
		case found <- s:
		case <-ctx.Done():
			return
		}
		if err == nil {
			return
		}
		wait := time.NewTimer(tailRetry)
		select {
		case <-wait.C:
		case <-ctx.Done():
		}
		wait.Stop()
	}
}

// start finds where a queue begins and ends.
func (t *tailer) start(ctx context.Context, mq engine.MessageQueue) (s tailStart, err error) {
	lo, hi, err := t.consumer.Bounds(ctx, mq)
	if err != nil {
		return s, fmt.Errorf("ask for the offsets of %v: %w", mq, err)
	}
	s.next, s.end, s.max = lo, -1, hi
	switch t.from.kind {
	case posLatest:
		s.next = hi
		if !t.there(mq) {
			s.next = lo // everything in it is new
		}
	case posOffset:
		s.next = min(max(t.from.offset, lo), hi)
		switch {
		case t.from.offset > hi:
			t.notice(fmt.Sprintf("%v: --from offset:%d is beyond the end, the next message will have %d: beginning there", mq, t.from.offset, hi))
		case t.from.offset < lo:
			t.notice(fmt.Sprintf("%v: --from offset:%d is gone, the queue begins at %d", mq, t.from.offset, lo))
		}
	case posTime:
		if s.next, err = t.consumer.OffsetAt(ctx, mq, t.from.time); err != nil {
			return s, fmt.Errorf("ask for the offset of %v at %v: %w", mq, t.from.time.Format(time.RFC3339), err)
		}
	}
	if u := t.until; u != nil {
		switch {
		case u.kind == posOffset:
			s.end = u.offset + 1
			if u.offset >= hi {
				t.notice(fmt.Sprintf("%v: --until offset:%d is beyond the end, the next message will have %d: ending there", mq, u.offset, hi))
			}
		case u.kind == posTime && u.time.After(t.now()):
			// The queue ends with a later message, or with that time.
		case u.kind == posEarliest:
			s.end = lo
		default:
			s.end = hi
		}
	}
	return s, nil
}

// there reports whether a queue was there when the run began.
func (t *tailer) there(mq engine.MessageQueue) bool {
	for _, have := range t.queues {
		if have == mq {
			return true
		}
	}
	return false
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

// sort keeps the messages that were asked for; one beyond what was asked for ends
// the queue.
func (t *tailer) sort(ctx context.Context, q *tailQueue, messages []engine.Message) (kept []keptMessage) {
	for i := range messages {
		m := &messages[i]
		switch {
		case m.QueueOffset() < q.next:
			continue
		case q.end >= 0 && m.QueueOffset() >= q.end,
			t.until != nil && t.until.kind == posTime && m.Stored().After(t.until.time):
			q.done = true
			return kept
		case t.from.kind == posTime && m.Stored().Before(t.from.time):
			continue
		}
		if by := t.keep(ctx, m); by != nil {
			kept = append(kept, keptMessage{*m, by})
		}
	}
	return kept
}
