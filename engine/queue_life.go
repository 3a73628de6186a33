package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// stepTaking brings a new queue into service: the lock first (orderly), then
// the start offset.
func (q *queue) stepTaking(ctx context.Context, now time.Time) {
	if !q.mayRead() || q.mustWait() {
		return // the coordinator asks for the lock, or the former owner's word is awaited
	}
	if !q.reading && !now.Before(q.readAgainAt) {
		q.readOffset(ctx)
	}
}

// mayRead reports whether the offset may be read: an orderly queue needs its lock.
func (q *queue) mayRead() bool { return !q.orderly || !q.clustering || q.locked }

// mustWait reports whether a queue that is being taken has done what it can
// before its former owner is heard.
func (q *queue) mustWait() bool {
	return (q.phase == phaseTaking || q.doubt == doubtReads) && q.asking && q.rested
}

// mustRead reports whether the offset of a queue in service has to be read again,
// whatever stops its pulls meanwhile: its lock has come back, or it was in doubt.
func (q *queue) mustRead() bool {
	if q.phase != phaseActive || q.resetting != nil || q.reading || q.mustWait() {
		return false
	}
	return q.doubt == doubtReads || q.orderly && q.clustering && q.locked && !q.known
}

// readOffset asks the store where to start, on a goroutine of its own.
func (q *queue) readOffset(ctx context.Context) {
	q.reading = true
	q.readSeq++
	e, mq, retry := q.e, q.mq, q.retry
	s := startOffset{seq: q.readSeq, gen: q.gen.Load(), losses: q.losses}
	taking := q.phase == phaseTaking
	s.rested = q.clustering && (taking || q.doubt == doubtReads) && e.shared.Load() && !q.released && !q.rested
	four, progress := q.fourLine, q.progress
	e.reads.Add(1)
	e.start(func() {
		defer e.reads.Done()
		stored, found, err := e.committed(ctx, mq, s.rested)
		switch {
		case err != nil:
			s.err = err
		case taking && progress != Unknown && (!found || stored < progress):
			s.offset, s.source = progress, core.StartRemembered
		case taking:
			e.startFrom(ctx, mq, retry, stored, found, &s)
			if four && s.err == nil && s.source == core.StartStored {
				s.older = e.olderMessages(ctx, mq, retry, s)
			}
		case found:
			s.offset = stored
		default:
			s.offset = Unknown // a store that has forgotten the queue is no reason to start it anew
		}
		q.inbox.put(s)
	})
}

// committed reads what is committed. rest: others may have had the queue just now,
// so it is read twice.
func (e *Engine) committed(ctx context.Context, mq MessageQueue, rest bool) (stored int64, found bool, err error) {
	stored, found, err = e.load(ctx, mq)
	if err == nil && rest {
		if !sleep(ctx, handOver) {
			return 0, false, context.Cause(ctx)
		}
		stored, found, err = e.load(ctx, mq)
	}
	if err != nil {
		return 0, false, fmt.Errorf("read the committed offset: %w", err)
	}
	return stored, found, nil
}

// startFrom is computePullFromWhere (RebalancePushImpl). It sets offset,
// source and unsaved of s, or err.
func (e *Engine) startFrom(ctx context.Context, mq MessageQueue, retry bool, stored int64, found bool, s *startOffset) {
	s.source = core.StartFrom(e.o.ConsumeFromWhere, found, retry)
	if s.source == core.StartStored {
		s.offset = stored
		return
	}
	s.offset, s.err = e.computeStart(ctx, mq, s.source)
	if mayNotAsk(s.err) {
		e.startWithoutBounds(ctx, mq, s)
	}
	if s.err != nil {
		s.err = fmt.Errorf("compute the start offset: %w", s.err)
		return
	}
	kept, err := e.saveStart(ctx, mq, s.offset)
	switch {
	case ctx.Err() != nil:
		s.err = context.Cause(ctx)
	case err != nil:
		s.unsaved = true
		e.log.Debug("start not durable", "topic", mq.Topic, "broker", mq.BrokerName, "queue", mq.QueueID, "offset", s.offset, "err", err)
	case kept != s.offset:
		s.offset, s.source = kept, core.StartStored
	}
}

// olderMessages is how many messages come first although the group asked for the
// last offset: a 4.x broker answers offset 0 to a group that has none, as long as
// the queue holds its first message. It cannot be told from a commit of 0.
func (e *Engine) olderMessages(ctx context.Context, mq MessageQueue, retry bool, s startOffset) int64 {
	if retry || s.offset != 0 || e.o.ConsumeFromWhere != protocol.ConsumeFromLastOffset {
		return 0
	}
	end, err := e.d.Client.MaxOffset(ctx, mq)
	if err != nil {
		return 0 // only a figure for an event
	}
	return end
}

func (e *Engine) computeStart(ctx context.Context, mq MessageQueue, source core.StartSource) (offset int64, err error) {
	switch source {
	case core.StartMin:
		offset, err = e.d.Client.MinOffset(ctx, mq)
	case core.StartMax:
		offset, err = e.d.Client.MaxOffset(ctx, mq)
	case core.StartTimestamp:
		offset, err = e.d.Client.SearchOffset(ctx, mq, e.o.ConsumeTimestamp)
	}
	if err == nil && offset < 0 {
		err = fmt.Errorf("the broker answered %d", offset)
	}
	return offset, err
}

// startWithoutBounds computes a start where access control lets this member pull, and
// not ask for a queue's bounds (5.x: Sub without Get). Java asks for none to start at
// the beginning, and for the end it does so only when the broker has not answered 0
// before, as brokers do while a queue has its first message. What Java would be refused
// then is in the answers to pulls.
func (e *Engine) startWithoutBounds(ctx context.Context, mq MessageQueue, s *startOffset) {
	if s.source == core.StartMin {
		s.offset, s.err = 0, nil // a larger minimum is repaired by the broker
		return
	}
	denied := s.err
	var res remoting.PullResult
	if res, s.err = e.look(ctx, mq, 0); s.err == nil {
		switch s.offset = res.MaxOffset; {
		case s.source == core.StartTimestamp:
			s.offset, s.err = core.FirstAtOrAfter(res.MinOffset, res.MaxOffset, res.MaxOffset, func(offset int64) (bool, error) {
				stored, err := e.storedAt(ctx, mq, offset)
				return stored.Before(e.o.ConsumeTimestamp), err // what has gone is older than what is there
			})
		case res.MinOffset == 0:
			s.offset, s.source, s.older = 0, core.StartMin, res.MaxOffset
		}
	}
	if s.err != nil {
		s.err = fmt.Errorf("%w, and neither do pulls tell it: %w", denied, s.err)
	}
}

// storedAt is when the message at an offset was stored; zero when there is none.
func (e *Engine) storedAt(ctx context.Context, mq MessageQueue, offset int64) (stored time.Time, err error) {
	res, err := e.look(ctx, mq, offset)
	if err != nil {
		return time.Time{}, err
	}
	msgs, err := protocol.AppendMessages(nil, res.Body, nil)
	if len(msgs) == 0 {
		return time.Time{}, err
	}
	return msgs[0].Stored(), nil
}

// look pulls one message of any tag at an offset, for what else the answer tells.
func (e *Engine) look(ctx context.Context, mq MessageQueue, offset int64) (remoting.PullResult, error) {
	addr, _, ok := e.pullFrom(mq, remoting.MasterID, "")
	if !ok {
		return remoting.PullResult{}, &remoting.NoBrokerError{BrokerName: mq.BrokerName}
	}
	return e.d.Client.Pull(ctx, addr, &protocol.PullMessageRequestHeader{
		ConsumerGroup: e.o.Group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset, MaxMsgNums: 1,
		SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
	})
}

// startOffset is the answer to readOffset.
type startOffset struct {
	seq         uint64 // of the reading
	gen, losses uint64 // of the queue when it was asked for
	offset      int64
	source      core.StartSource
	unsaved     bool // computed, and not in the store yet
	rested      bool // handOver has passed between two readings
	older       int64
	err         error
}

const readAgain = time.Second

func (s startOffset) applyTo(ctx context.Context, q *queue) {
	if s.seq != q.readSeq {
		return // another reading was begun
	}
	q.reading = false
	q.rested = q.rested || s.rested && s.err == nil
	q.touch()
	now, settled := time.Now(), false
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
		if q.doubt == doubtReads && now.After(q.doubtUntil) {
			q.doubt = noDoubt
		}
		return
	case q.mustWait():
		q.detail = "its former owner has not given it back yet"
		return // to be read once more then
	case q.phase == phaseTaking:
		q.phase, q.known, q.detail, q.takenAt = phaseActive, true, "", now
		q.lastStored = now
		if q.e.o.CleanExpired && q.clustering && !q.orderly {
			q.cleanAt = now.Add(cleanEvery)
		}
		q.adopt(s.offset)
		switch {
		case s.source == core.StartRemembered:
			q.unsure.Store(true) // the broker is told again
		case s.unsaved:
			q.unsaved.Store(s.offset) // the persister goes on trying
		default:
			q.notePersisted(s.offset)
		}
		q.emit(QueueAdded{q.at(), s.offset, s.source.String()})
		if s.older > 0 {
			q.emit(StartAtFirst{q.at(), s.older})
		}
		q.publish(now)
	default: // the lock came back, or a doubt is settled
		settled = q.doubt == doubtReads
		q.known, q.doubt = true, noDoubt
		q.elsewhere.Store(false) // whoever had it has given it back
		if s.offset > q.commit {
			// Somebody else has consumed from here meanwhile: what is cached is stale. (A
			// lower value is no progress of others: a broker that was killed has lost the
			// last seconds of commits.)
			q.cancelPull()
			q.newGeneration()
			q.adopt(s.offset)
			q.notePersisted(s.offset)
		}
		q.releaseRun()
	}
	// What ended the connection may do so again: a settled doubt cuts no delay short.
	if !q.inFlight && !settled {
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
	q.persistedAt.Store(q.e.stamp(time.Now()))
}

// newGeneration empties the queue and voids everything handed out.
func (q *queue) newGeneration() {
	q.gen.Store(q.e.generations.Add(1))
	q.discardRun()
	q.pq.Clear()
	q.live, q.again, q.retrying, q.suspends, q.sentAway, q.held = nil, nil, nil, nil, nil, nil
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
	// Order is kept only when the running call has ended, however long it takes; the
	// lock is renewed meanwhile.
	outlast := q.orderly && d.cause != core.DropShutdown
	if q.phase >= phaseDropping {
		if !outlast {
			q.drainUntil = earlier(q.drainUntil, time.Now().Add(d.wait))
		}
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
	if !outlast {
		q.drainUntil = q.dropBegan.Add(d.wait)
	}
	if q.running.Load() > 0 {
		q.saveAt = q.dropBegan.Add(saveAfter)
		if outlast {
			q.busyAt = q.dropBegan.Add(removalTried)
		}
	}
	if d.cause != core.DropShutdown && q.running.Load() > 0 {
		q.elsewhere.Store(q.clustering) // the next owner may be ahead when the last commit is written
	}
	q.touch()
}

// saveAfter is when a queue that waits for a running listener has its progress
// until then made durable. The calls of most listeners end before, and the one
// write at the end would wait for this one.
const saveAfter = 50 * time.Millisecond

// removalTried is how long the reference tries to remove an orderly queue before
// it leaves that to the next pass; here it is only told then.
const removalTried = 500 * time.Millisecond

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// stepDropping ends the queue when its listeners have returned, or the wait is
// over: results that come later are void.
func (q *queue) stepDropping(now time.Time) {
	if q.running.Load() > 0 && !q.saveAt.IsZero() && !now.Before(q.saveAt) {
		q.saveAt = time.Time{}
		q.harvest()
		q.e.inbox.put(persistSoon{q})
	}
	if q.running.Load() > 0 && !q.busyAt.IsZero() && !now.Before(q.busyAt) {
		q.busyAt = time.Time{}
		q.emit(QueueRemovalDelayed{q.at(), 1, "busy", ms(now.Sub(q.dropBegan))})
	}
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
	q.discardRun()
	if q.nextOffset != Unknown {
		q.commitScanned(now)
	}
	q.tellStretches(now.Add(stretchEvery)) // all that there is to be told
	if ended, ok := q.flow.Current(); ok {
		q.flowEnded(ended)
	}
	q.gen.Store(q.e.generations.Add(1))
	q.phase = phaseGone
	q.publish(now)
	q.e.inbox.put(queueDrained{q})
}
