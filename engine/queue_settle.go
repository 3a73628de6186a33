package engine

import (
	"slices"
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// onResult books what workers have done with messages of this queue.
func (q *queue) onResult(r result) {
	q.touch()
	q.countCalls(&r)
	if r.b.gen != q.gen.Load() {
		q.tooLate(&r)
		return
	}
	q.lastConsume = time.Now()
	if r.run != nil {
		q.endRun(r.b, r.run, q.lastConsume)
		return
	}
	for _, s := range r.done[:r.n] {
		q.setCommit(q.pq.Settle(r.b.first+uint64(s.from), int(s.to-s.from)), true)
	}
	if len(r.again) > 0 {
		q.retryLater(r.b, r.again)
	}
	for _, s := range r.held {
		q.hold(r.b, s)
	}
	q.unhold(&r)
	q.forgetSettled()
	if q.phase == phaseActive && q.flowInForce() {
		// A limit may have gone: look again now instead of after the rest of 50 ms.
		q.recheck()
	}
}

func (q *queue) countCalls(r *result) {
	q.consumed += uint64(r.ok)
	q.failed += uint64(r.failed)
	q.sentBack += uint64(r.back)
	q.e.totals.consumed.Add(uint64(r.ok))
	q.e.totals.failed.Add(uint64(r.failed))
	if r.calls > 0 {
		q.stats.consumeRT.add(r.calls, r.took.Microseconds())
	}
	if r.ok > 0 {
		q.stats.ok.add(r.calls, r.ok)
	}
	if r.failed > 0 {
		q.stats.failed.add(1, r.failed)
	}
}

func (q *queue) flowInForce() bool {
	_, ok := q.flow.Current()
	return ok
}

// recheck brings the next pre-check forward when the limits that stopped the
// pull are passed no more.
func (q *queue) recheck() {
	if q.inFlight || q.dialing || q.nextPull.IsZero() {
		return
	}
	c, _ := q.flow.Current()
	s := q.pq.Stats()
	// Half of the limit, so that a pull is worth its round trip.
	low := false
	switch c.Cause {
	case core.FlowCount:
		low = s.Count <= q.limit.Count/2
	case core.FlowSize:
		low = max(s.PinnedBytes, s.BodyBytes)>>20 <= q.limit.SizeMiB/2
	case core.FlowSpan:
		low = s.Span <= q.limit.Span/2
	}
	if low {
		q.nextPull = time.Now()
	}
}

// forgetSettled drops the batches whose messages are all done. Those behind an
// unfinished message go too: a batch keeps its answer's buffer alive.
func (q *queue) forgetSettled() {
	finished := func(b *batch) bool { return q.pq.Unfinished(b.first, len(b.msgs)) == 0 }
	q.live = slices.DeleteFunc(q.live, finished)
	if len(q.retrying) > 0 {
		q.retrying = slices.DeleteFunc(q.retrying, finished)
	}
}

// harvestEvery is how often a queue looks at what its workers have done and not
// yet reported.
const harvestEvery = 50 * time.Millisecond

// harvestDue is armed by a batch of more than one listener call (put,
// dispatchOrderly) and goes on while workers have messages of the queue.
func (q *queue) harvestDue(now time.Time) {
	if q.harvestAt.IsZero() || now.Before(q.harvestAt) {
		return
	}
	q.harvest()
	q.harvestAt = time.Time{}
	if q.atWork() {
		q.harvestAt = now.Add(harvestEvery)
	}
}

// atWork reports whether a worker has messages of the queue, or will have. Those
// that are cached without (held, given up, to be tried again) need no look.
func (q *queue) atWork() bool {
	return q.running.Load() > 0 || q.out != nil || slices.ContainsFunc(q.live, (*batch).left)
}

// harvest settles what workers have finished but not reported: a worker reports
// between two calls, so without this a listener that hangs would hide that the
// messages it had before are done, and hold their offsets back.
func (q *queue) harvest() {
	if b := q.out; b != nil && b.alone && b.gen == q.gen.Load() && q.holdsLock(time.Now()) {
		if n := int(b.accepted.Load()); n > 0 {
			q.setCommit(q.pq.Settle(b.first, n), false)
			b.harvested.Store(int64(n))
			q.touch()
		}
	}
	for i := range q.e.pool.workers {
		b := q.e.pool.workers[i].on.Load()
		if b == nil || b.q != q || q.orderly || b.gen != q.gen.Load() {
			continue
		}
		for k := range b.started {
			if b.started[k].CompareAndSwap(markDone, markSettled) {
				i := k * q.batchMax
				q.setCommit(q.pq.Settle(b.first+uint64(i), min(q.batchMax, len(b.msgs)-i)), true)
				q.touch()
			}
		}
	}
}

func (q *queue) headSeq() (head uint64) {
	q.pq.Head(1, func(seq uint64, _ *protocol.MessageExt, _ core.Stage) { head = seq })
	return head
}

// retry is a stretch of a batch whose send-back failed.
type retry struct {
	at       time.Time
	b        *batch
	from, to int32
	tries    int32
}

// retryLater keeps messages whose send-back failed: they are handed to the
// listener again after 5 s, together where they lie together, and stay cached, so
// the committed offset cannot pass them.
func (q *queue) retryLater(b *batch, again []int32) {
	at := time.Now().Add(core.LocalRetryDelay)
	for n := 0; len(again) > 0; again = again[n:] {
		for n = 1; n < len(again) && again[n] == again[n-1]+1; n++ {
		}
		r := retry{at: at, b: b, from: again[0], to: again[n-1] + 1, tries: 1}
		if b.retries != nil {
			r.tries = b.retries[again[0]] + 1
		}
		q.e.totals.localRetry.Add(uint64(n))
		q.emit(RetryLocal{q.at(), n, b.msgs[again[0]].QueueOffset(), core.LocalRetryDelay.Milliseconds()})
		q.again = append(q.again, r)
	}
}

// retryDue hands out the local retries whose time has come.
func (q *queue) retryDue(now time.Time) {
	n := 0
	for ; n < len(q.again) && !now.Before(q.again[n].at); n++ {
		r := &q.again[n]
		msgs := r.b.msgs[r.from:r.to:r.to]
		b := &batch{q: q, gen: q.gen.Load(), msgs: msgs, first: r.b.first + uint64(r.from),
			started: make([]atomic.Int64, q.calls(len(msgs))), retries: slices.Repeat([]int32{r.tries}, len(msgs))}
		q.retrying = append(q.retrying, b)
		q.e.pool.push(b)
	}
	q.again = slices.Delete(q.again, 0, n)
}

// retriesWaiting counts the messages that wait for their local retry.
func (q *queue) retriesWaiting() (n int64) {
	for _, r := range q.again {
		n += int64(r.to - r.from)
	}
	return n
}

// batchOf finds the batch that holds a sequence number: the last one that it was
// handed out with.
func (q *queue) batchOf(seq uint64) (b *batch, index int, ok bool) {
	if q.orderly {
		if b := q.out; b != nil && b.alone && b.first <= seq && seq < b.first+uint64(len(b.msgs)) {
			return b, int(seq - b.first), true
		}
		return nil, 0, false
	}
	for _, b := range slices.Backward(q.retrying) {
		if b.first <= seq && seq < b.first+uint64(len(b.msgs)) {
			return b, int(seq - b.first), true
		}
	}
	i, _ := slices.BinarySearchFunc(q.live, seq, func(b *batch, seq uint64) int {
		switch {
		case b.first+uint64(len(b.msgs)) <= seq:
			return -1
		case b.first > seq:
			return 1
		}
		return 0
	})
	if i >= len(q.live) || q.live[i].first > seq {
		return nil, 0, false
	}
	return q.live[i], int(seq - q.live[i].first), true
}
