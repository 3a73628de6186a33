package engine

import (
	"context"
	"maps"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// runResult is how a run of an orderly queue ended: done messages in a row were
// accepted and acknowledged, then at most one batch had another verdict, and the
// rest was not touched.
type runResult struct {
	done       int
	verdict    core.OrderlyVerdict // 0: none, all that was handed out is in done
	size       int                 // of the batch with the verdict
	autoCommit bool
	exhausted  bool // each message of it was sent to the dead letters
	away       []int64
	suspend    time.Duration
	abandoned  bool // the batch after done was given up, and so is the queue
	held       bool // the batch after done waits for an operator
}

// orderlyRun is how many messages a worker takes at once. A run ends early when
// its listener is slow, so a run never holds a commit back for long.
const orderlyRun = 64

// dispatchOrderly gives the pool the next run, unless one is out, the queue is
// suspended, or its lock is not held. The queue's goroutine dispatches one at a
// time: that is the second of the three locks (docs/conformance/orderly.md 1); the
// first is the broker's, and the third is stepDropping's wait for a run to end.
func (q *queue) dispatchOrderly(now time.Time) {
	if q.dispatched || q.abandoned || q.halt.Load() || now.Before(q.suspendTill) {
		return
	}
	q.suspendTill = time.Time{}
	if q.voided && q.running.Load() > 0 {
		return // a call that a reset made void still runs: two at once would break the order
	}
	q.voided = false
	switch core.DecideOrderly(core.OrderlyState{
		Dropped: q.phase != phaseActive, Clustering: q.clustering, Locked: q.locked, LockedAt: q.lockedAt,
		Now: now,
	}) {
	case core.OrderlyTake:
	case core.OrderlyRelock:
		if q.locked {
			q.lockLost("expired", now)
		}
		return
	default:
		return
	}
	if !q.known && q.clustering {
		return // the offset is being read again after a loss of the lock
	}
	// What is taken but not committed stands before the run when a listener does not
	// commit by itself; then the run's progress cannot be settled apart.
	alone, first := q.pq.Stats().Consuming == 0, q.headSeq()
	taken := q.pq.Take(max(orderlyRun, q.batchMax))
	if len(taken) == 0 {
		q.noteUncommitted()
		return
	}
	b := &batch{q: q, gen: q.gen.Load(), msgs: make([]protocol.MessageExt, len(taken)), first: first, alone: alone}
	q.out = b
	for i, m := range taken {
		b.msgs[i] = *m
	}
	if len(q.suspends) > 0 {
		b.retries, b.away = make([]int32, len(taken)), make([]bool, len(taken))
		for i, m := range taken {
			b.retries[i] = q.suspends[m.QueueOffset()]
			b.away[i] = q.sentAway[m.QueueOffset()]
		}
	}
	q.dispatched = true
	if len(taken) > q.batchMax && q.harvestAt.IsZero() {
		q.harvestAt = now.Add(harvestEvery)
	}
	q.e.pool.push(b)
}

// noteUncommitted tells, once, that a listener that commits by itself waits for
// messages that its own uncommitted ones keep from being pulled (trap T27).
func (q *queue) noteUncommitted() {
	c, flow := q.flow.Current()
	if st := q.pq.Stats(); flow && st.Consuming > 0 && !q.uncommitted {
		q.uncommitted = true
		q.emit(OrderlyUncommitted{q.at(), st.Consuming, c.Cause, c.Limit, st.ConsumingMin})
		q.touch()
	}
}

// orderly works on a run, batch by batch, in order.
func (w *worker) orderly(ctx context.Context, b *batch) {
	e, q, size := w.p.e, b.q, b.q.batchMax
	b.next.Store(int64(len(b.msgs)))
	r := result{b: b, run: &runResult{autoCommit: true}}
	run := r.run
	c := newStopwatch(time.Now())
	since := c.last
	observed := e.callsObserved()
	for i := 0; i < len(b.msgs) && !b.void() && !b.cut.Load() && q.mayRun(c.last); {
		j := min(i+size, len(b.msgs))
		var hc *ConsumeHookContext
		if observed {
			hc = w.before(q, b.msgs[i:j:j])
			c.last = time.Now()
		}
		w.hold(i, j)
		b.calledAt.Store(q.e.stamp(c.last))
		b.handed.Store(int64(j))
		w.cc = ConsumeContext{MessageQueue: q.mq, AckIndex: j - i - 1, AutoCommit: true}
		status, err := e.d.Listener.Consume(ctx, b.msgs[i:j:j], &w.cc)
		verdict := orderlyVerdict(status, err)
		timed := c.called(w, &r, verdict != core.OrderlySuccess || observed)
		if observed {
			w.after(q, hc, status, err, c.rt)
			c.last = time.Now()
		}
		if err == nil && status == Abandon {
			run.abandoned = true
			break
		}
		if err == nil && status == Hold {
			run.held, run.size = true, j-i
			break
		}
		if b.gen != q.gen.Load() {
			q.discarded(b.msgs[i:j])
			break
		}
		if verdict == core.OrderlySuccess && w.cc.AutoCommit {
			run.done = j
			b.accepted.Store(int64(j))
			r.ok += int64(j - i)
			i = j
			if timed && c.last.Sub(since) >= reportAfter {
				break
			}
			continue
		}
		run.verdict, run.size, run.autoCommit, run.suspend = verdict, j-i, w.cc.AutoCommit, w.cc.SuspendCurrentQueueTime
		if verdict == core.OrderlySuspend {
			q.refused(status, err, c.rt, b.msgs[i:j])
			run.exhausted, run.away = w.sendAway(ctx, b, i, j)
		} else if verdict != core.OrderlySuccess && run.autoCommit {
			q.misfit(status, "the listener commits by itself only where AutoCommit is false, so it counts as success")
		}
		switch a := core.ApplyOrderly(verdict, run.autoCommit, run.exhausted); {
		case a.OK:
			r.ok += int64(j - i)
		case a.Failed:
			r.failed += int64(j - i)
		}
		break
	}
	c.flush(w, &r)
	q.report(&r)
}

// mayRun reports whether the broker's lock is held and has not expired here.
func (q *queue) mayRun(now time.Time) bool {
	return !q.clustering || q.e.stamp(now) <= q.lockedUntil.Load()
}

func orderlyVerdict(status Status, err error) core.OrderlyVerdict {
	switch {
	case err != nil:
		return core.OrderlySuspend
	case status == ConsumeSuccess:
		return core.OrderlySuccess
	case status == Commit:
		return core.OrderlyCommit
	case status == Rollback:
		return core.OrderlyRollback
	}
	return core.OrderlySuspend
}

// sendAway sends those messages of a suspended batch whose retries are used up
// to the dead letters, through the retry topic as the reference does
// (docs/conformance/orderly.md 5.1, 5.2). exhausted: none is left to be tried again.
func (w *worker) sendAway(ctx context.Context, b *batch, from, to int) (exhausted bool, away []int64) {
	e, q := w.p.e, b.q
	limit := core.EffectiveMaxReconsume(e.o.MaxReconsumeTimes, true)
	exhausted = true
	for k := from; k < to; k++ {
		if ctx.Err() != nil || b.void() {
			return false, away // leaving: the next owner tries them again
		}
		if b.away != nil && b.away[k] {
			continue // sent before; it waits for the fresh ones of its batch
		}
		m := &b.msgs[k]
		times := m.ReconsumeTimes()
		if b.retries != nil {
			times += b.retries[k]
		}
		if times < limit {
			exhausted = false
			continue
		}
		sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendBackTimeout)
		// Without a delay: 4.9 would keep the dead letter back for as long.
		err := e.sendCopy(sctx, m, times+1, limit, 0, true)
		cancel()
		if err != nil {
			q.emit(SendBackFailed{q.at(), m.QueueOffset(), m.MessageID(), err.Error()})
			exhausted = false
			continue
		}
		e.totals.deadLettered.Add(1)
		q.emit(SentBack{At: q.at(), Offset: m.QueueOffset(), MessageID: m.MessageID(), DueMS: new(int64), ReconsumeTimes: times + 1, Target: "dlq"})
		away = append(away, m.QueueOffset())
	}
	return exhausted, away
}

// heldRun is a run that ended after the queue's lock was lost: whether it may be
// committed is known when the lock is back and the store was asked what others have
// done meanwhile (startOffset decides). Java commits it in any case, over the
// progress of the next owner.
type heldRun struct {
	b   *batch
	run *runResult
}

// holdsLock reports whether the lock is held, and that nobody else has consumed
// from the queue if it was not in between.
func (q *queue) holdsLock(now time.Time) bool {
	return !q.clustering || q.locked && q.known && q.mayRun(now)
}

// endRun books the end of a run, or keeps it until the lock is back.
func (q *queue) endRun(b *batch, run *runResult, now time.Time) {
	if (run.done > 0 || run.verdict != 0) && !q.holdsLock(now) {
		q.heldRun = &heldRun{b, run}
		if q.locked && !q.mayRun(now) {
			q.lockLost("expired", now)
		}
		return
	}
	q.onRun(b, run)
}

// releaseRun books a held run when nobody has consumed behind our back.
func (q *queue) releaseRun() {
	if h := q.heldRun; h != nil {
		q.heldRun = nil
		q.onRun(h.b, h.run)
	}
}

// discardRun gives a held run up: the next owner gets its messages again.
func (q *queue) discardRun() {
	if h := q.heldRun; h != nil {
		q.heldRun = nil
		n := h.run.done
		if h.run.verdict != 0 {
			n += h.run.size
		}
		q.discarded(h.b.msgs[h.b.harvested.Load():n])
	}
}

// onRun applies the end of a run to the ProcessQueue.
func (q *queue) onRun(b *batch, run *runResult) {
	q.dispatched, q.out = false, nil
	handed := run.done + run.size
	if rest := len(b.msgs) - handed; rest > 0 {
		q.pq.ConsumeAgain(rest)
	}
	q.abandoned = q.abandoned || run.abandoned
	for _, o := range run.away {
		if q.sentAway == nil {
			q.sentAway = map[int64]bool{}
		}
		q.sentAway[o] = true
	}
	if run.held {
		q.holdRun(b, run)
		return
	}
	if run.verdict == 0 {
		q.commitRun(run.done > 0)
		return
	}
	if run.done > 0 { // what was acknowledged before the batch with the verdict
		q.pq.ConsumeAgain(run.size)
		q.commitRun(true)
		q.pq.Take(run.size)
	}
	a := core.ApplyOrderly(run.verdict, run.autoCommit, run.exhausted)
	switch {
	case a.Commit:
		q.commitRun(true)
	case a.Rollback:
		q.pq.Rollback()
		q.uncommitted = false
	case a.Again:
		q.pq.ConsumeAgain(run.size)
	}
	if !a.Suspend {
		return
	}
	pause := core.SuspendTime(run.suspend, q.e.o.SuspendCurrentQueueTime)
	q.suspendTill = time.Now().Add(pause)
	tries := int32(0)
	if a.Again {
		tries = q.countSuspends(b.msgs[run.done:handed])
	}
	q.emit(RetrySuspend{q.at(), b.msgs[run.done].QueueOffset(), pause.Milliseconds(), tries})
}

func (q *queue) commitRun(any bool) {
	if !any {
		return
	}
	offset, ok := q.pq.Commit()
	if !ok {
		return
	}
	q.setCommit(offset, false)
	q.uncommitted = false
	done := func(o int64) bool { return o < offset }
	maps.DeleteFunc(q.suspends, func(o int64, _ int32) bool { return done(o) })
	maps.DeleteFunc(q.sentAway, func(o int64, _ bool) bool { return done(o) })
}

// countSuspends counts another local try of each message (memory only, as in
// the reference) and returns that of the first.
func (q *queue) countSuspends(msgs []protocol.MessageExt) int32 {
	if q.suspends == nil {
		q.suspends = map[int64]int32{}
	}
	for i := range msgs {
		q.suspends[msgs[i].QueueOffset()]++
	}
	return msgs[0].ReconsumeTimes() + q.suspends[msgs[0].QueueOffset()]
}

// lockAnswer is what the broker said about this queue's lock.
type lockAnswer struct {
	granted bool
	at      time.Time
	err     error // no answer: nothing changes until the lock expires on this side
}

func (l lockAnswer) applyTo(ctx context.Context, q *queue) {
	q.touch()
	q.lockErr = l.err
	switch {
	case l.err != nil:
		return
	case !l.granted:
		if q.refusedAt.IsZero() {
			q.refusedAt = l.at
		}
		if q.locked {
			q.lockLost("refused", l.at)
		}
		return
	}
	q.refusedAt = time.Time{}
	if !q.locked {
		q.emit(LockGained{At{l.at, q.mq}})
	}
	if !q.locked {
		q.readAgainAt = time.Time{}
	}
	q.locked, q.lockedAt = true, l.at
	q.lockedUntil.Store(q.e.stamp(l.at.Add(core.LockMaxLive)))
	if q.phase == phaseActive && q.resetting == nil && !q.inFlight && !q.dialing && !q.reading {
		q.nextPull = time.Now()
	}
}

// lockLost stops the queue until the lock is held again. The cache is kept, but
// when the lock comes back the store is asked whether somebody else has moved
// the offset meanwhile (startOffset decides).
func (q *queue) lockLost(cause string, now time.Time) {
	if age := now.Sub(q.lockedAt).Milliseconds(); cause == "expired" {
		q.emit(LockExpired{At{now, q.mq}, age})
	} else {
		q.emit(LockLost{At{now, q.mq}, cause, age})
	}
	q.locked, q.known = false, false
	q.losses++
	q.lockedUntil.Store(0)
	q.elsewhere.Store(true)
	if q.out != nil {
		q.out.cut.Store(true)
	}
	q.e.inbox.put(lockWanted{})
	q.touch()
}
