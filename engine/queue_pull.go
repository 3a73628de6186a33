package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// The times of a long poll (docs/conformance/pull.md 4).
const (
	brokerSuspend = 15 * time.Second
	pullTimeout   = 30 * time.Second
)

// pull applies the pre-checks and, when all pass, sends the next pull request.
func (q *queue) pull(ctx context.Context, now time.Time) {
	q.lastPull = now
	q.pulledAt.Store(q.e.stamp(now))
	q.touch()
	if q.orderly && q.clustering && q.locked && core.LockExpired(q.lockedAt, now) {
		q.lockLost("expired", now)
	}
	d := core.DecidePull(core.PullState{
		Dropped: q.phase != phaseActive, Running: true, Paused: q.paused() != nil,
		Orderly: q.orderly, Clustering: q.clustering, Locked: q.locked, OffsetKnown: q.known,
		Subscribed: true, Cache: q.pq.Stats(),
	}, q.limit)
	q.nextPull = now.Add(d.After)
	switch d.Reason {
	case core.PullNow:
		q.startPull(ctx, now)
	case core.PullFlow:
		q.hit(now, d.Cause, d.Limit, d.Value)
	case core.PullPaused:
		if !q.suspended {
			q.suspended = true
			q.emit(PullSuspended{At{now, q.mq}, d.After.Milliseconds()})
		}
	case core.PullReadOffset:
		q.nextPull = time.Time{} // set again when the offset has been read
	}
}

// hit notes that a limit stopped a pull.
func (q *queue) hit(now time.Time, cause core.FlowCause, limit, value int64) {
	q.e.totals.flow[cause].Add(1)
	began, ended := q.flow.Hit(now, cause, limit, value)
	if ended != nil {
		q.flowEnded(*ended)
	}
	if began != nil {
		q.emit(FlowBegin{At{now, q.mq}, began.Cause, began.Limit, began.Value})
	}
}

func (q *queue) flowEnded(c core.FlowCondition) {
	q.emit(FlowEnd{q.at(), c.Cause, c.Limit, c.Value, c.Times, c.Last.Sub(c.Since).Milliseconds()})
	q.touch()
}

func (q *queue) startPull(ctx context.Context, now time.Time) {
	if q.conn == nil || isDone(q.conn) {
		q.dial(ctx)
		return
	}
	q.asked = q.nextOffset
	opaque, err := q.conn.Start(q.encode, q.replies)
	if err != nil {
		q.pullFailed(err)
		return
	}
	q.inFlight, q.opaque, q.pullStart = true, opaque, now
	q.nextPull = time.Time{}
}

func isDone(c *remoting.Conn) bool {
	select {
	case <-c.Done():
		return true
	default:
		return false
	}
}

// dial gets the connection to pull from, on a goroutine of its own.
func (q *queue) dial(ctx context.Context) {
	q.dialing = true
	suggested, avoid, mq, e := q.suggested, q.avoided(time.Now()), q.mq, q.e
	e.start(func() {
		d := dialed{}
		var ok bool
		if d.addr, d.brokerID, ok = e.pullFrom(mq, suggested, avoid); !ok {
			d.addr, d.err = e.d.Client.MasterOf(ctx, mq)
		}
		if d.err == nil {
			d.conn, d.err = e.d.Client.Conn(ctx, d.addr)
		}
		q.inbox.put(d)
	})
}

// dialed ends a dial.
type dialed struct {
	conn     *remoting.Conn
	addr     string
	brokerID int64
	err      error
}

func (d dialed) applyTo(ctx context.Context, q *queue) {
	q.dialing = false
	if d.err != nil {
		q.connAddr = d.addr
		q.pullFailed(d.err)
		return
	}
	q.arrive(d)
	if q.phase == phaseActive && q.resetting == nil && !q.inFlight {
		q.nextPull = time.Now()
	}
}

// pullFailed has the next pull wait, and the coordinator look for what is wrong.
func (q *queue) pullFailed(err error) {
	a := core.ApplyPull(core.PullAnswer{Err: true, Requested: q.nextOffset, Next: q.nextOffset})
	q.noteError(q.nextOffset, fmt.Errorf("pull %v at %d: %w", q.mq, q.nextOffset, err), a.After)
	q.conn = nil
	q.nextPull = time.Now().Add(a.After)
	q.e.inbox.put(brokerTrouble{q.mq, q.connAddr, err, a.Heartbeat, a.RefreshRoute})
}

// pullTimedOut gives up a pull whose answer is overdue; the connection too, when nothing at
// all came over it meanwhile.
func (q *queue) pullTimedOut() {
	conn, silent := q.conn, q.conn.LastRead().Before(q.pullStart)
	q.cancelPull()
	err := fmt.Errorf("no answer from %s within %v", q.connAddr, pullTimeout)
	if !silent { // this one answer was lost, the broker is well
		q.noteError(q.nextOffset, fmt.Errorf("pull %v at %d: %w", q.mq, q.nextOffset, err), 0)
		q.nextPull = time.Now()
		return
	}
	conn.CloseAsync(err) // half open: every call on it would wait in vain
	q.pullFailed(err)
}

// cancelPull gives up the pull in flight; its answer will be ignored.
func (q *queue) cancelPull() {
	if !q.inFlight {
		return
	}
	if !q.conn.Cancel(q.opaque) {
		select { // the answer is there already, or about to be: make room for the next
		case <-q.replies:
		default:
		}
	}
	q.inFlight = false
}

// onReply deals with the answer to a pull (docs/conformance/pull.md 5).
func (q *queue) onReply(ctx context.Context, r remoting.Reply) {
	if !q.inFlight || r.Opaque != q.opaque {
		return // of a pull that was given up
	}
	q.inFlight = false
	if q.phase != phaseActive || q.resetting != nil {
		return
	}
	if r.Err != nil {
		q.pullFailed(r.Err)
		return
	}
	q.rtt = r.At.Sub(q.pullStart)
	q.e.totals.pulls.Add(1)
	conn := q.conn // suggest may give it up
	p := q.read(&r)
	res, err := p.res, p.err
	var gaps []core.Gap
	if q.unfiltered && !q.reader.view && res.Status == remoting.PullFound && err == nil {
		gaps = core.Gaps(q.asked, res.NextBeginOffset, p.msgs)
	}
	if n := len(p.msgs); n > 0 {
		q.lastStored = p.msgs[n-1].Stored()
	}
	msgs := q.filter(p.msgs)
	a := core.ApplyPull(core.PullAnswer{
		Err: p.broken || p.unreadable, Code: protocol.ResponseCode(r.Command.Code), Requested: q.asked, Next: res.NextBeginOffset,
		Min: res.MinOffset, Max: res.MaxOffset, First: p.first, Last: p.last, Messages: len(msgs), CacheEmpty: q.pq.Stats().Count == 0,
		Unfiltered: q.unfiltered, TooSmall: res.Remark == tooSmall, PullInterval: q.e.o.PullInterval,
	})
	if a.Broken != "" && err == nil {
		err = remoting.BadAnswer(protocol.PullMessage, q.connAddr, errors.New(a.Broken))
		p.broken = true
	}
	now := r.At
	switch {
	case a.Cause == core.FlowBroker:
		q.hit(now, core.FlowBroker, 0, 0)
	case a.Illegal && q.atSlave() && res.NextBeginOffset < q.asked:
		// It is behind its master, which is to judge: the group must not go back.
		q.noteError(q.asked, fmt.Errorf("pull %v at %d: the slave at %s ends at %d", q.mq, q.asked, q.connAddr, res.NextBeginOffset), core.PullDelayException)
		q.refuseSlave(now)
		a = core.PullAction{After: core.PullDelayException}
	case a.Illegal:
		q.heard(&res, r.At)
		q.illegal(ctx, res)
		return
	case err != nil:
		q.noteError(q.asked, fmt.Errorf("pull %v at %d: %w", q.mq, q.asked, err), a.After)
		// An answer that breaks the protocol puts all that follows on its connection in
		// doubt. One record may be broken in the store, though: when a second connection
		// says the same, the other queues' pulls on it need not suffer each second.
		if p.broken || p.unreadable && p.news {
			conn.CloseAsync(err)
			q.conn = nil
		}
		if !p.broken && !p.unreadable && q.atSlave() {
			q.refuseSlave(now)
		}
		if a.Heartbeat || a.RefreshRoute {
			q.e.inbox.put(brokerTrouble{q.mq, q.connAddr, nil, a.Heartbeat, a.RefreshRoute})
		}
	default:
		if !p.upTo {
			q.recovered()
		}
		q.heard(&res, r.At)
		if a.Regressed {
			first := Unknown
			if p.first <= p.last {
				first = p.first
			}
			q.emit(PullRegressed{q.at(), q.asked, a.Next, first})
		}
		if a.ExpiredTo > 0 {
			q.expire(now, q.asked, a.ExpiredTo)
		}
		for _, g := range gaps {
			q.expire(now, g.From, g.To)
		}
		q.nextOffset = a.Next
	}
	if a.Correct {
		q.commitScanned(now)
	}
	var b *batch
	if a.Put {
		if p.first < q.asked {
			msgs = notBelow(msgs, q.asked)
		}
		b = q.put(msgs, len(res.Body))
	}
	// The next pull goes out before the messages are handed over, so that the
	// broker works while the listeners do.
	q.nextPull = now.Add(a.After)
	if a.After == 0 {
		q.pull(ctx, now)
	}
	if b != nil {
		q.e.pool.push(b)
	}
	q.touch()
}

// read takes an answer apart (docs/conformance/pull.md 5.2).
func (q *queue) read(r *remoting.Reply) pullRead {
	res, err := remoting.ParsePullReply(&r.Command, q.connAddr)
	if err != nil {
		q.status = protocol.ResponseCode(r.Command.Code).String()
		_, refused := errors.AsType[*remoting.CodeError](err)
		return pullRead{err: err, last: -1, broken: !refused}
	}
	q.status = res.Status.String()
	q.suggest(res.SuggestWhichBrokerID, r.At)
	p := q.reader.read(res, q.asked, q.connAddr)
	if p.unreadable {
		good := p.msgs
		p.news, p.msgs = q.undecodable(good, p.err), nil
		if p.news || len(good) == 0 {
			return p
		}
		// Seen by two connections, so it is in the store. What lies before it is sound:
		// the queue goes on up to the record and waits there.
		p.unreadable, p.upTo, p.err = false, true, nil
		p.msgs, p.res.NextBeginOffset = good, q.undecodableAt
		p = q.reader.accept(p, q.asked, q.connAddr)
	}
	if res.Status == remoting.PullFound {
		q.stats.pullRT.add(1, q.rtt.Microseconds())
	}
	if p.batch != nil {
		q.e.log.Warn("inner batch", "topic", q.mq.Topic, "broker", q.mq.BrokerName, "queue", q.mq.QueueID, "err", p.batch)
	}
	return p
}

// heard notes the queue's bounds as an answer tells them.
func (q *queue) heard(res *remoting.PullResult, at time.Time) {
	q.min, q.max, q.offsetsAt, q.offsetsFrom = res.MinOffset, res.MaxOffset, at, q.brokerID
}

// suggest follows the broker's word on where to pull next.
func (q *queue) suggest(id int64, now time.Time) {
	q.suggested = id
	q.wander(now)
}

// filter drops messages whose tag is not subscribed (the broker compared only
// hash codes), then those that the filter hooks take away.
func (q *queue) filter(msgs []protocol.MessageExt) []protocol.MessageExt {
	if q.tags != nil {
		kept := msgs[:0]
		for i := range msgs {
			if q.tags[msgs[i].Tags()] {
				kept = append(kept, msgs[i])
			}
		}
		msgs = kept
	}
	if hooks := q.e.o.FilterHooks; len(hooks) > 0 && len(msgs) > 0 {
		c := FilterContext{ConsumerGroup: q.e.o.Group, MessageQueue: q.mq, Messages: msgs}
		for i := range hooks {
			if err := hooks[i].Filter(&c); err != nil {
				q.e.log.Warn("filter hook", "hook", hooks[i].Name, "topic", q.mq.Topic, "broker", q.mq.BrokerName, "queue", q.mq.QueueID, "err", err)
			}
		}
		msgs = c.Messages
	}
	return msgs
}

// put caches the messages of an answer and returns the batch for the workers;
// nil when orderly (the run is dispatched by step) or when nothing was new.
func (q *queue) put(msgs []protocol.MessageExt, pinned int) *batch {
	q.stats.pulled.add(1, int64(len(msgs)))
	first, skipped := q.pq.Put(msgs, pinned)
	msgs = msgs[skipped:]
	n := uint64(len(msgs))
	q.pulled += n
	q.e.totals.pulled.Add(n)
	q.e.totals.pulledBytes.Add(uint64(pinned))
	if n == 0 {
		return nil
	}
	if q.orderly {
		return nil
	}
	b := &batch{q: q, gen: q.gen.Load(), msgs: msgs, first: first, started: make([]atomic.Int64, q.calls(int(n)))}
	q.live = append(q.live, b)
	if n > uint64(q.batchMax) && q.harvestAt.IsZero() {
		q.harvestAt = time.Now().Add(harvestEvery)
	}
	return b
}

// tooSmall is the remark with which both lines say that a queue begins later.
const tooSmall = "OFFSET_TOO_SMALL"

// undecodable tells of a record that breaks the format, and reports whether it
// is another than the last. It is asked for again: an offset never moves over what
// was not seen. To go on without the message an operator resets the queue to behind it.
func (q *queue) undecodable(good []protocol.MessageExt, err error) (news bool) {
	at := q.asked
	if len(good) > 0 {
		at = good[len(good)-1].QueueOffset() + 1
	}
	if at == q.undecodableAt {
		return false
	}
	q.undecodableAt = at
	q.emit(MessageUndecodable{q.at(), at, err.Error()})
	return true
}

// illegal deals with an offset that the broker calls too small, too large, or that was
// reset on its side. Behind the end of the queue there are two reasons: messages that
// were consumed are lost, or the topic was deleted and made again, and nothing of what
// is there now was consumed. The queue's first message tells: it is looked at before the
// offset is adopted.
func (q *queue) illegal(ctx context.Context, res remoting.PullResult) {
	if res.MaxOffset >= q.asked || res.MaxOffset <= res.MinOffset {
		q.correct(ctx, res, false)
		return
	}
	q.judging = true
	q.nextPull = time.Time{}
	e, mq := q.e, q.mq
	j := judged{gen: q.gen.Load(), res: res}
	e.start(func() {
		j.stored, _ = e.storedAt(ctx, mq, res.MinOffset) // what cannot be read is not known
		q.inbox.put(j)
	})
}

// judged says when the first message of a queue was stored whose offset is illegal; zero
// is not known.
type judged struct {
	gen    uint64
	res    remoting.PullResult
	stored time.Time
}

func (j judged) applyTo(ctx context.Context, q *queue) {
	q.judging = false
	switch {
	case q.phase != phaseActive || q.resetting != nil: // which go on by themselves
	case j.gen != q.gen.Load():
		q.nextPull = time.Now() // asks again
	default:
		q.correct(ctx, j.res, j.stored.After(q.lastStored))
	}
}

// correct adopts the offset that the broker gave. anew: nothing of what the queue holds
// was consumed.
func (q *queue) correct(ctx context.Context, res remoting.PullResult, anew bool) {
	committed := q.commit
	if anew {
		committed = res.MinOffset
	}
	_, effect, n := core.PlanReset(core.ResetBounds{Committed: committed, Min: res.MinOffset, Max: res.MaxOffset},
		core.ResetTarget{Kind: core.ResetOffset, Offset: res.NextBeginOffset})
	q.emit(OffsetIllegal{q.at(), q.asked, res.NextBeginOffset, res.MinOffset, res.MaxOffset, effect.String(), n, anew})
	q.beginReset(&resetting{to: res.NextBeginOffset, by: "broker", illegal: time.Now()})
	q.stepReset(ctx, time.Now())
}
