package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/engine/core"
)

// resetting is a reset under way: the operator's, or the broker's.
type resetting struct {
	to    int64
	by    string
	reply chan<- ResetRow // nil: the broker's
	row   ResetRow
	from  int64
	until time.Time // of waiting for running listeners; zero: the offset is being written
	saved bool      // being written
	// illegal is when the broker said that the offset is not right; zero: it did not.
	illegal time.Time
	// then is a reset that the broker has sent meanwhile: it is not asked again, so
	// its last word must not be lost.
	then *resetQueue
}

// resetWait bounds the wait for running listeners before a reset goes on.
const resetWait = 3 * time.Second

func (q *queue) beginReset(r *resetting) {
	q.cancelPull()
	q.halt.Store(true)
	r.from, r.until = q.commit, time.Now().Add(resetWait)
	q.resetting = r
	q.emit(ResetBegin{q.at(), r.by, r.from, r.to})
	q.touch()
}

// stepReset goes on once running listeners have ended: everything handed out is
// void from then on, the cache is cleared, and the target written and read back.
func (q *queue) stepReset(ctx context.Context, now time.Time) {
	r := q.resetting
	if r.saved || (q.running.Load() > 0 && now.Before(r.until)) {
		return
	}
	q.newGeneration()
	q.adopt(r.to)
	q.memory.Store(Unknown) // frozen: the persister must not write beside us
	r.saved, r.until = true, time.Time{}
	e, mq, to := q.e, q.mq, r.to
	e.start(func() {
		w := resetWritten{}
		if w.err = e.save(ctx, mq, to); w.err == nil {
			w.stored, w.found, w.err = e.load(ctx, mq)
		}
		q.inbox.put(w)
	})
}

// resetWritten says that the target was written, and what was read back.
type resetWritten struct {
	stored int64
	found  bool
	err    error
}

func (w resetWritten) applyTo(ctx context.Context, q *queue) {
	r := q.resetting
	if r == nil || q.phase != phaseActive {
		return
	}
	q.persisted.Store(Unknown) // until it is known what was stored
	q.unsaved.Store(Unknown)   // an older commit is what is to be undone
	r.row.After, r.row.Verified = w.stored, w.err == nil && w.found && w.stored == r.to
	if w.err == nil {
		q.notePersisted(w.stored)
	}
	if w.err == nil && !r.row.Verified {
		w.err = fmt.Errorf("the store holds %d after the reset to %d", w.stored, r.to)
	}
	q.endReset(ctx, w.err)
}

func (r *resetting) fail(_ context.Context, q *queue, err error) {
	r.row.Err = err
	q.emit(ResetEnd{q.at(), r.by, r.from, r.to, false, err.Error()})
	if r.reply != nil {
		r.reply <- r.row // capacity 1
	}
	q.resetting = nil
}

func (q *queue) endReset(ctx context.Context, err error) {
	r := q.resetting
	r.row.Err = err
	end := ResetEnd{q.at(), r.by, r.from, r.to, r.row.Verified, ""}
	if err != nil {
		end.Error = err.Error()
	}
	q.emit(end)
	if !r.illegal.IsZero() && err == nil {
		q.emit(OffsetFixed{q.at(), r.to, time.Since(r.illegal).Milliseconds()})
	}
	if r.reply != nil {
		r.reply <- r.row // capacity 1
	}
	q.resetting = nil
	q.doubt = noDoubt // the offset is as somebody wants it
	q.memory.Store(q.commit)
	q.halt.Store(false)
	q.nextPull = time.Now()
	q.touch()
	if r.then != nil {
		r.then.applyTo(ctx, q)
	}
}

// resetQueue asks for the reset of one queue.
type resetQueue struct {
	row   ResetRow
	by    string
	reply chan<- ResetRow
	// expect is the committed offset of the preview; Unknown: no check.
	expect int64
}

func (c resetQueue) applyTo(ctx context.Context, q *queue) {
	refuse := func(err error) {
		c.row.Err = err
		if c.reply != nil {
			c.reply <- c.row
		}
	}
	switch {
	case q.phase != phaseActive:
		refuse(errors.New("this member does not hold the queue (any more)"))
	case q.resetting != nil && c.reply == nil:
		q.resetting.then = &c
	case q.resetting != nil:
		refuse(errors.New("another reset of the queue is under way"))
	case c.expect != Unknown && q.commit < c.expect:
		refuse(fmt.Errorf("the offset moved back from %d to %d since the preview", c.expect, q.commit))
	case c.expect != Unknown && c.row.After >= c.expect && q.commit > c.row.After:
		refuse(&PassedError{q.commit, c.row.After})
	default:
		c.row.Before = q.commit
		_, c.row.Effect, c.row.Count = core.PlanReset(core.ResetBounds{Committed: q.commit, Min: c.row.MinOffset, Max: max(c.row.MaxOffset, q.commit)},
			core.ResetTarget{Kind: core.ResetOffset, Offset: c.row.After})
		q.beginReset(&resetting{to: c.row.After, by: c.by, reply: c.reply, row: c.row})
	}
}
