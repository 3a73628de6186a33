package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/engine/core"
)

// stepTaking brings a new queue into service: the lock first (orderly), then
// the start offset.
func (q *queue) stepTaking(ctx context.Context, now time.Time) {
	if !q.mayRead() {
		return // the coordinator asks for the lock
	}
	if !q.reading && !now.Before(q.readAgainAt) {
		q.readOffset(ctx)
	}
}

// mayRead reports whether the offset may be read: an orderly queue needs its lock.
func (q *queue) mayRead() bool { return !q.orderly || !q.clustering || q.locked }

// mustRead reports whether the lock of a queue in service has come back and its
// offset has to be read again, whatever stops its pulls meanwhile.
func (q *queue) mustRead() bool {
	return q.phase == phaseActive && q.resetting == nil && q.orderly && q.clustering && q.locked && !q.known && !q.reading
}

// handOver is how long a queue that others may have had just now is given
// between two readings of its committed offset: its old owner persists at once.
const handOver = 150 * time.Millisecond

// readOffset asks the store where to start, on a goroutine of its own.
func (q *queue) readOffset(ctx context.Context) {
	q.reading = true
	e, mq, retry := q.e, q.mq, q.retry
	gen, losses := q.gen.Load(), q.losses
	shared := q.clustering && q.phase == phaseTaking && e.shared.Load()
	e.start(func() {
		s := startOffset{gen: gen, losses: losses}
		s.offset, s.source, s.err = e.startFrom(ctx, mq, retry)
		if shared && s.err == nil && s.source == core.StartStored {
			wait := time.NewTimer(handOver)
			defer wait.Stop()
			select {
			case <-wait.C:
				s.offset, s.source, s.err = e.startFrom(ctx, mq, retry)
			case <-ctx.Done():
				s.err = context.Cause(ctx)
			}
		}
		q.inbox.put(s)
	})
}

// startFrom is computePullFromWhere (spec/consumer-rebalance.md 6). A computed
// start is persisted at once: a member restarted before its first commit must
// not compute another, later one.
func (e *Engine) startFrom(ctx context.Context, mq MessageQueue, retry bool) (int64, core.StartSource, error) {
	stored, found, err := e.d.Store.Load(ctx, mq)
	if err != nil {
		return 0, 0, fmt.Errorf("read the committed offset: %w", err)
	}
	source := core.StartFrom(e.o.ConsumeFromWhere, found, retry)
	offset := stored
	switch source {
	case core.StartStored:
		return offset, source, nil
	case core.StartMin:
		offset, err = e.d.Client.MinOffset(ctx, mq)
	case core.StartMax:
		offset, err = e.d.Client.MaxOffset(ctx, mq)
	case core.StartTimestamp:
		offset, err = e.d.Client.SearchOffset(ctx, mq, e.o.ConsumeTimestamp)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("compute the start offset: %w", err)
	}
	if offset < 0 {
		return 0, 0, fmt.Errorf("compute the start offset: the broker answered %d", offset)
	}
	if err := e.save(ctx, mq, offset); err != nil {
		return 0, 0, fmt.Errorf("persist the computed start offset: %w", err)
	}
	return offset, source, nil
}

// startOffset is the answer to readOffset.
type startOffset struct {
	gen, losses uint64 // of the queue when it was asked for
	offset      int64
	source      core.StartSource
	err         error
}

const readAgain = time.Second

func (s startOffset) applyTo(ctx context.Context, q *queue) {
	q.reading = false
	q.touch()
	now := time.Now()
	switch {
	case q.phase > phaseActive || q.resetting != nil:
		return
	case s.gen != q.gen.Load() || s.losses != q.losses:
		q.readAgainAt = time.Time{} // a reset or a loss of the lock came between: ask again
		return
	case s.err != nil:
		q.readAgainAt, q.nextPull = now.Add(readAgain), now.Add(readAgain)
		if q.phase == phaseTaking {
			q.detail = s.err.Error()
			q.emit(QueueAddFailed{q.at(), "offset query", s.err.Error()})
			return
		}
		q.noteError(q.nextOffset, s.err, readAgain)
		return
	case q.phase == phaseTaking:
		q.phase, q.known, q.detail, q.takenAt = phaseActive, true, "", now
		if q.e.o.CleanExpired && q.clustering && !q.orderly {
			q.cleanAt = now.Add(cleanEvery)
		}
		q.adopt(s.offset)
		q.notePersisted(s.offset)
		q.emit(QueueAdded{q.at(), s.offset, s.source.String()})
		q.publish(now)
	default: // the lock came back
		q.known = true
		if s.offset > q.commit {
			// Somebody else has consumed from here meanwhile: what is cached is stale. (A
			// lower value is no progress of others: a broker that was killed has lost the
			// last seconds of commits.)
			q.cancelPull()
			q.newGeneration()
			q.adopt(s.offset)
			q.notePersisted(s.offset)
		}
	}
	if !q.inFlight {
		q.nextPull = now
	}
}

func (q *queue) adopt(offset int64) {
	q.nextOffset, q.commit = offset, offset
	q.memory.Store(offset)
}

// notePersisted remembers what the store holds. The queue's goroutine and the
// persister call it.
func (q *queue) notePersisted(offset int64) {
	q.persisted.Store(offset)
	q.persistedAt.Store(time.Now().UnixNano())
}

// newGeneration empties the queue and voids everything handed out.
func (q *queue) newGeneration() {
	q.gen.Store(q.e.generations.Add(1))
	q.pq.Clear()
	q.live, q.again, q.suspends, q.sentAway = nil, nil, nil, nil
	q.dispatched, q.out, q.suspendTill = false, nil, time.Time{}
	q.voided = q.running.Load() > 0
}

// dropQueue gives the queue away.
type dropQueue struct {
	cause core.DropCause
	wait  time.Duration // for running listeners
}

// dropWait bounds the wait for running listeners when a concurrent queue moves
// to another member: longer, and the other one would only deliver more of the
// same messages meanwhile.
const dropWait = time.Second

func (d dropQueue) applyTo(ctx context.Context, q *queue) {
	if q.phase >= phaseDropping {
		q.drainUntil = earlier(q.drainUntil, time.Now().Add(d.wait))
		return
	}
	taking := q.phase == phaseTaking
	q.phase, q.dropCause, q.dropBegan = phaseDropping, d.cause, time.Now()
	q.halt.Store(true)
	q.cancelPull()
	if q.resetting != nil {
		q.resetting.fail(ctx, q, errors.New("the queue was given to another member meanwhile"))
	}
	if !taking {
		q.emit(QueueDropped{q.at(), d.cause.String(), q.pq.Stats().Count, q.commit})
	}
	q.drainUntil = q.dropBegan.Add(d.wait)
	if q.orderly && d.cause != core.DropShutdown {
		// Order is kept only when the running call has ended, however long it takes;
		// the lock is renewed meanwhile.
		q.drainUntil = time.Time{}
	}
	if q.running.Load() > 0 {
		q.harvest()
		q.e.inbox.put(persistSoon{q})
	}
	if d.cause != core.DropShutdown {
		q.elsewhere.Store(q.clustering)
	}
	q.touch()
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// stepDropping ends the queue when its listeners have returned, or the wait is
// over: results that come later are void.
func (q *queue) stepDropping(now time.Time) {
	if q.running.Load() > 0 && (q.drainUntil.IsZero() || now.Before(q.drainUntil)) {
		return
	}
	// Results that were sent before running came to zero count.
	for {
		select {
		case r := <-q.results:
			q.onResult(r)
			continue
		default:
		}
		break
	}
	q.harvest()
	if ended, ok := q.flow.Current(); ok {
		q.flowEnded(ended)
	}
	q.gen.Store(q.e.generations.Add(1))
	q.phase = phaseGone
	q.publish(now)
	q.e.inbox.put(queueDrained{q})
}
