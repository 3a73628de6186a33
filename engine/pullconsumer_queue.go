package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// pullQueue is one assigned queue. PullConsumer.mu guards the upper fields; its
// goroutine (run) owns the lower ones.
type pullQueue struct {
	c      *PullConsumer
	mq     MessageQueue
	reader pullReader
	wake   chan struct{} // capacity 1: something above has changed

	epoch       uint64 // of a seek: answers to pulls of an older one are void
	next        int64  // of the next pull; Unknown: the start is to be found
	position    int64  // behind what was polled
	min, max    int64
	count       int64 // messages in ready
	bytes       int64
	first, last int64 // their offsets
	paused      bool
	dropped     bool
	atEnd       bool
	retryAt     time.Time          // not before this, after a failure
	failingTold bool               // an error of it waits in ready
	interrupt   context.CancelFunc // ends the call under way; nil: there is none

	suggested int64
	failing   int64 // tries in a row
	since     time.Time
	doubted   int64 // the offset of a record that could not be read once
}

// pullModeOffsetDelay is the wait after a start offset could not be found.
const pullModeOffsetDelay = 3 * time.Second

func (q *pullQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// run pulls until the queue is dropped or ctx ends.
func (q *pullQueue) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		d, call := q.begin(ctx)
		if d.Reason == core.PullDropped {
			return
		}
		if d.Reason == core.PullNow {
			q.call(call)
			call.cancel()
			continue
		}
		timer.Reset(d.After) // a pause that ends, room for more and a seek are signalled before
		select {
		case <-timer.C:
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

// pullCall is one pull, or the search for the start.
type pullCall struct {
	ctx    context.Context
	cancel context.CancelFunc
	epoch  uint64
	offset int64
	hold   time.Duration
}

// begin decides what is next, and takes what a call needs.
func (q *pullQueue) begin(ctx context.Context) (core.PullDecision, pullCall) {
	c := q.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := time.Until(q.retryAt); wait > 0 && !q.dropped {
		return core.PullDecision{Reason: core.PullNotRunning, After: wait}, pullCall{}
	}
	stats := core.CacheStats{Count: q.count, PinnedBytes: q.bytes}
	if q.count > 0 {
		stats.Span = q.last - q.first
	}
	d := core.DecidePullMode(core.PullModeState{Paused: q.paused && !q.dropped, Dropped: q.dropped, All: c.cached, Cache: stats}, c.limits())
	if d.Reason != core.PullNow {
		return d, pullCall{}
	}
	call := pullCall{epoch: q.epoch, offset: q.next}
	if q.atEnd {
		call.hold = c.o.BrokerSuspend
	}
	call.ctx, call.cancel = context.WithCancel(ctx)
	q.interrupt = call.cancel
	return d, call
}

// current reports whether a call's result still counts. Under mu.
func (q *pullQueue) current(call pullCall) bool {
	q.interrupt = nil
	return q.epoch == call.epoch && !q.dropped
}

// call makes one call.
func (q *pullQueue) call(call pullCall) {
	if call.offset == Unknown {
		q.findStart(call)
		return
	}
	addr, res, err := q.c.pull(call.ctx, q.mq, call.offset, &q.suggested, q.c.o.PullBatchSize, q.c.sub, call.hold)
	interrupted := err != nil && call.ctx.Err() != nil
	p := pullRead{res: res, err: err, last: -1}
	if err == nil {
		p = q.reader.read(res, call.offset, addr)
	}
	c := q.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if q.current(call) && !interrupted {
		q.waitFor(q.apply(call, addr, p))
	}
}

// waitFor puts the next call off. Under mu.
func (q *pullQueue) waitFor(d time.Duration) {
	q.retryAt = time.Time{}
	if d > 0 {
		q.retryAt = time.Now().Add(d)
	}
}

// findStart is where a queue begins that nobody has sought to.
func (q *pullQueue) findStart(call pullCall) {
	offset, err := q.c.startOf(call.ctx, q.mq)
	c := q.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !q.current(call):
	case err != nil:
		q.failed(call, err)
		q.waitFor(pullModeOffsetDelay)
	default:
		q.recovered(offset)
		q.next, q.position = offset, offset
	}
}

// apply does what an answer means, and says how long to wait before the next
// pull. Under mu.
func (q *pullQueue) apply(call pullCall, addr string, p pullRead) time.Duration {
	c := q.c
	refused, coded := errors.AsType[*remoting.CodeError](p.err)
	var code protocol.ResponseCode
	switch {
	case coded:
		code = refused.Code
	case p.err == nil || p.unreadable:
		code = codeOf(p.res.Status)
	}
	if p.unreadable {
		return q.unreadable(call, addr, p)
	}
	msgs := p.msgs
	if p.err == nil && c.tags != nil {
		msgs = slices.DeleteFunc(slices.Clone(msgs), func(m Message) bool { return !c.tags[m.Tags()] })
	}
	unfiltered := c.sub.SubString == "*" && c.sub.ExpressionType == protocol.ExpressionTAG
	var gaps []core.Gap
	if unfiltered && !q.reader.view && p.err == nil && code == protocol.Success {
		gaps = core.Gaps(call.offset, p.res.NextBeginOffset, msgs)
	}
	a := core.ApplyPull(core.PullAnswer{
		Err: p.err != nil && !coded, Code: code, Requested: call.offset, Next: p.res.NextBeginOffset, Min: p.res.MinOffset, Max: p.res.MaxOffset,
		First: p.first, Last: p.last, Messages: len(msgs), CacheEmpty: true, Unfiltered: unfiltered,
	})
	switch {
	case a.Broken != "":
		p.err = remoting.BadAnswer(protocol.PullMessage, addr, errors.New(a.Broken))
		fallthrough
	case p.broken:
		c.client.DropConn(addr, p.err)
		q.failed(call, p.err)
		return a.After
	case a.Cause == core.FlowBroker:
		return a.After
	case p.err != nil:
		q.failed(call, p.err)
		if a.RefreshRoute {
			c.start(func() { c.refresh(call.ctx, q.mq.Topic) })
		}
		return a.After
	}
	q.recovered(call.offset)
	q.doubted = Unknown
	q.min, q.max = p.res.MinOffset, p.res.MaxOffset
	at := At{time.Now(), q.mq}
	switch {
	case a.Illegal:
		_, effect, n := core.PlanReset(core.ResetBounds{Committed: call.offset, Min: q.min, Max: q.max},
			core.ResetTarget{Kind: core.ResetOffset, Offset: a.Next})
		q.give(Polled{Next: a.Next, Event: OffsetIllegal{at, call.offset, a.Next, q.min, q.max, effect.String(), n, false}}, 0)
		if a.Next == call.offset {
			a.After = core.PullDelayException // the correction corrects nothing
		}
	case a.Regressed:
		first := Unknown
		if p.first <= p.last {
			first = p.first
		}
		q.give(Polled{Next: a.Next, Event: PullRegressed{at, call.offset, a.Next, first}}, 0)
		msgs = notBelow(msgs, call.offset)
	case a.ExpiredTo > 0:
		q.give(Polled{Next: a.ExpiredTo, Event: MessagesExpired{at, call.offset, a.ExpiredTo}}, 0)
	}
	if len(gaps) > 0 && gaps[0].From == call.offset {
		q.give(Polled{Next: gaps[0].To, Event: MessagesExpired{at, gaps[0].From, gaps[0].To}}, 0)
		gaps = gaps[1:]
	}
	q.next = a.Next
	end := p.res.Status == remoting.PullNoNewMessage
	if end != q.atEnd || !end {
		q.atEnd = end
		if !a.Illegal {
			q.give(Polled{Messages: msgs, Next: a.Next, AtEnd: end}, len(p.res.Body))
		}
	}
	for _, g := range gaps {
		q.give(Polled{Next: a.Next, Event: MessagesExpired{at, g.From, g.To}}, 0)
	}
	return a.After
}

func codeOf(s remoting.PullStatus) protocol.ResponseCode {
	switch s {
	case remoting.PullNoNewMessage:
		return protocol.PullNotFound
	case remoting.PullNoMatchedMessage:
		return protocol.PullRetryImmediately
	case remoting.PullOffsetIllegal:
		return protocol.PullOffsetMoved
	}
	return protocol.Success
}

// unreadable deals with an answer in which a record breaks the format: what
// stands before it is given. The record itself is asked for once more, over a new
// connection; when it is as broken there, it is broken in the store, is told, and
// is passed over. Under mu.
func (q *pullQueue) unreadable(call pullCall, addr string, p pullRead) time.Duration {
	if n := len(p.msgs); n > 0 && p.msgs[n-1].QueueOffset() >= call.offset {
		next := p.msgs[n-1].QueueOffset() + 1
		msgs := p.msgs
		if q.c.tags != nil {
			msgs = slices.DeleteFunc(msgs, func(m Message) bool { return !q.c.tags[m.Tags()] })
		}
		q.give(Polled{Messages: msgs, Next: next}, len(p.res.Body))
		q.next, q.atEnd = next, false
		return 0
	}
	if q.doubted != call.offset {
		q.doubted = call.offset
		q.c.client.DropConn(addr, remoting.BadAnswer(protocol.PullMessage, addr, p.err))
		return 0
	}
	q.recovered(call.offset)
	next := protocol.OffsetOfBroken(p.res.Body)
	if next < call.offset || next >= p.res.NextBeginOffset {
		next = call.offset // what the record says of itself cannot be
	}
	q.give(Polled{Next: next + 1, Event: MessageUndecodable{At{time.Now(), q.mq}, next, p.err.Error()}}, 0)
	q.next, q.atEnd, q.doubted = next+1, false, Unknown
	return 0
}

// give hands an item to Poll. Under mu.
func (q *pullQueue) give(p Polled, bytes int) {
	p.Queue, p.Min, p.Max = q.mq, q.min, q.max
	r := readyItem{q: q, Polled: p}
	if len(p.Messages) > 0 {
		r.bytes = int64(bytes)
	}
	q.c.give(r)
}

// failed notes a failure; one of a queue waits for Poll at a time. Under mu.
func (q *pullQueue) failed(call pullCall, err error) {
	now := time.Now()
	if q.failing == 0 {
		q.since = now
	}
	q.failing++
	q.atEnd = false
	if q.failingTold {
		return
	}
	q.failingTold = true
	q.give(Polled{Next: call.offset, Err: fmt.Errorf("read %v at %d: %w", q.mq, call.offset, err), Since: q.since}, 0)
}

func (q *pullQueue) recovered(offset int64) {
	if q.failing == 0 {
		return
	}
	now := time.Now()
	q.give(Polled{Next: offset, Event: PullRecovered{At{now, q.mq}, q.failing, now.Sub(q.since).Milliseconds()}}, 0)
	q.failing = 0
}

// pull asks once for messages of a queue; the subscription goes with it, so the
// broker need not know us.
func (c *PullConsumer) pull(ctx context.Context, mq MessageQueue, offset int64, suggested *int64, batch int, sub SubscriptionData, hold time.Duration) (addr string, res remoting.PullResult, err error) {
	h := &protocol.PullMessageRequestHeader{
		ConsumerGroup: c.o.Group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset, MaxMsgNums: int32(batch),
		SysFlag: protocol.PullSubscription, Subscription: sub.SubString, ExpressionType: sub.ExpressionType, BrokerName: mq.BrokerName,
	}
	if hold > 0 {
		h.SysFlag |= protocol.PullSuspend
		h.SuspendTimeout = hold
	}
	addr, _, ok := c.client.PullAddr(mq.BrokerName, *suggested)
	if !ok {
		if addr, err = c.client.MasterOf(ctx, mq); err != nil {
			return "", remoting.PullResult{}, err
		}
	}
	res, err = c.client.Pull(ctx, addr, h)
	if err == nil {
		*suggested = res.SuggestWhichBrokerID
	}
	return addr, res, err
}

func (c *PullConsumer) refresh(ctx context.Context, topic string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.o.CallTimeout)
	defer cancel()
	_, _, _ = c.client.RefreshRoute(ctx, topic) // what it could not do shows in the next pull
}
