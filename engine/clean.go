package engine

import (
	"context"
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// The times of expired-message cleaning. Java looks every ConsumeTimeout, so
// that an expired message waits up to twice as long (trap T23).
const (
	cleanEvery = 10 * time.Second
	cleanLevel = 3
)

// cleanDue sends the oldest message back when its listener has held it longer
// than ConsumeTimeout, so that one stuck call does not hold up the queue's
// offset for ever (docs/conformance/pull.md 1.3). The listener goes on, and what it
// does counts a second time: hence Options.CleanExpired.
func (q *queue) cleanDue(ctx context.Context, now time.Time) {
	if q.cleanAt.IsZero() || q.cleaning || now.Before(q.cleanAt) {
		return
	}
	q.cleanAt = now.Add(cleanEvery)
	var m *protocol.MessageExt
	var seq uint64
	q.pq.Head(1, func(s uint64, head *protocol.MessageExt, _ core.Stage) { seq, m = s, head })
	if m == nil {
		return
	}
	b, i, ok := q.batchOf(seq)
	if !ok {
		return
	}
	started := b.startedAt(i)
	age := now.Sub(q.e.moment(started))
	if started == 0 || age <= q.e.o.ConsumeTimeout {
		return
	}
	q.cleaning = true
	e := q.e
	e.start(func() {
		q.inbox.put(cleaned{b: b, index: i, age: age, err: e.sendBack(ctx, q, m, cleanLevel)})
	})
}

// cleaned says whether an expired message was sent back.
type cleaned struct {
	b     *batch
	index int
	age   time.Duration
	err   error
}

func (c cleaned) applyTo(_ context.Context, q *queue) {
	q.cleaning = false
	m := &c.b.msgs[c.index]
	q.emit(MessageExpired{q.at(), m.QueueOffset(), m.MessageID(), c.age.Milliseconds(), c.err == nil})
	if c.err != nil || c.b.gen != q.gen.Load() {
		return
	}
	if c.b.sentBack.Load() == nil {
		marks := make([]atomic.Bool, len(c.b.msgs))
		c.b.sentBack.Store(&marks)
	}
	(*c.b.sentBack.Load())[c.index].Store(true)
	q.setCommit(q.pq.Settle(c.b.first+uint64(c.index), 1), true)
	delete(q.held, m.QueueOffset())
	q.forgetSettled()
	q.cleanAt = time.Now() // the next one may have expired too
	q.touch()
}
