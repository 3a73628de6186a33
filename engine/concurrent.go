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

// result tells a queue what became of messages of a batch: ranges that are
// finished (consumed, sent back, or discarded when broadcasting), and single
// ones to be tried again here.
type result struct {
	b      *batch
	done   [8]span
	n      int // of done
	again  []int32
	held   []span // left to an operator
	ok     int64
	failed int64
	back   int64
	calls  int64         // listener calls
	took   time.Duration // by them
	// orderly:
	run *runResult
}

type span struct{ from, to int32 }

// add notes that messages from … to-1 are finished; it reports whether there was room.
func (r *result) add(from, to int) {
	if r.n > 0 && int(r.done[r.n-1].to) == from {
		r.done[r.n-1].to = int32(to)
		return
	}
	r.done[r.n] = span{int32(from), int32(to)}
	r.n++
}

func (r *result) full() bool  { return r.n >= len(r.done)-1 }
func (r *result) empty() bool { return r.n == 0 && len(r.again) == 0 && r.calls == 0 }

// concurrent works on a shared batch until its messages are handed out
// (docs/conformance/concurrent.md 3 to 6).
func (w *worker) concurrent(ctx context.Context, b *batch) {
	e, q, size := w.p.e, b.q, b.q.batchMax
	c := newStopwatch(time.Now())
	since := c.last
	r := result{b: b}
	observed := e.callsObserved()
	for !b.void() {
		i := int(b.next.Add(int64(size))) - size
		if i >= len(b.msgs) {
			break
		}
		j := min(i+size, len(b.msgs))
		var hc *ConsumeHookContext
		if observed {
			hc = w.before(q, b.msgs[i:j:j])
			c.last = time.Now()
		}
		call := &b.started[i/size]
		call.Store(e.stamp(c.last))
		w.hold(i, j)
		w.cc = ConsumeContext{MessageQueue: q.mq, AckIndex: j - i - 1, AutoCommit: true}
		status, err := e.d.Listener.Consume(ctx, b.msgs[i:j:j], &w.cc)
		success := err == nil && status == ConsumeSuccess
		timed := c.called(w, &r, !success || observed)
		if observed {
			w.after(q, hc, status, err, c.rt)
			c.last = time.Now()
		}
		if err == nil && status == Abandon {
			call.Store(0)
			continue
		}
		if err == nil && status == Hold {
			call.Store(0)
			r.held = append(r.held, span{int32(i), int32(j)})
			continue
		}
		if b.gen != q.gen.Load() {
			// Dropped for good or reset while the listener ran (trap T01): neither
			// acknowledged nor sent back; the next owner gets the messages again.
			q.discarded(b.msgs[i:j])
			break
		}
		done := core.SplitAck(success, w.cc.AckIndex, j-i)
		r.ok += int64(done)
		if done > 0 {
			if done == j-i {
				call.Store(markDone)
			}
			r.add(i, i+done)
		}
		if done < j-i {
			if !success {
				q.refused(status, err, c.rt, b.msgs[i:j])
			}
			w.fail(ctx, b, i+done, j, &r)
			call.Store(0)
			c.last, timed = time.Now(), true
		}
		if r.full() || timed && c.last.Sub(since) >= reportAfter || len(r.again) > 0 {
			c.flush(w, &r)
			q.report(&r)
			r, since = result{b: b}, c.last
		}
	}
	c.flush(w, &r)
	q.report(&r)
}

// stopwatch times listener calls. Reading the clock costs as much as a fast
// listener, so calls that take a few microseconds are timed some at a time, each
// with their mean.
type stopwatch struct {
	last  time.Time     // the clock as read last
	every int           // read it after so many calls
	calls int           // since then
	rt    time.Duration // of the call timed last
}

const (
	fastCall        = 5 * time.Microsecond
	mostTimedAtOnce = 16
)

func newStopwatch(now time.Time) stopwatch { return stopwatch{last: now, every: 1} }

// called notes that one call has returned, and reports whether the clock was read.
func (c *stopwatch) called(w *worker, r *result, now bool) bool {
	c.calls++
	if c.calls < c.every && !now {
		return false
	}
	c.flush(w, r)
	return true
}

// flush times the calls made since the clock was read last.
func (c *stopwatch) flush(w *worker, r *result) {
	if c.calls == 0 {
		return
	}
	now := time.Now()
	took := now.Sub(c.last)
	c.rt = took / time.Duration(c.calls)
	w.rt[rtBucket(c.rt)] += uint64(c.calls)
	r.calls += int64(c.calls)
	r.took += took
	c.every = 1
	if c.rt < fastCall {
		c.every = min(2*c.calls, mostTimedAtOnce)
	}
	c.last, c.calls = now, 0
}

// fail deals with messages from … to-1 that the listener refused.
func (w *worker) fail(ctx context.Context, b *batch, from, to int, r *result) {
	e, q := w.p.e, b.q
	r.failed += int64(to - from)
	if e.o.MessageModel == protocol.Broadcasting {
		r.add(from, to) // discarded: there is no retry (docs/conformance/concurrent.md 5)
		return
	}
	level := w.cc.DelayLevelWhenNextConsume
	for k := from; k < to; k++ {
		if ctx.Err() != nil || b.gen != q.gen.Load() {
			return // leaving, or given away: the next owner gets the rest
		}
		if r.full() {
			q.report(r)
			*r = result{b: b}
		}
		if back := b.sentBack.Load(); back != nil && (*back)[k].Load() {
			r.add(k, k+1)
			continue
		}
		if err := e.sendBack(ctx, q, &b.msgs[k], level); err != nil {
			q.emit(SendBackFailed{q.at(), b.msgs[k].QueueOffset(), b.msgs[k].MessageID(), err.Error()})
			r.again = append(r.again, int32(k))
			continue
		}
		r.back++
		r.add(k, k+1)
	}
}

// sendBackTimeout bounds one send-back (Java: 5000 ms), and once more all tries of
// the message that takes its place; sendTimeout one of these.
const (
	sendBackTimeout = 5 * time.Second
	sendTimeout     = 3 * time.Second
)

// sendBack asks the broker to deliver a message again later; when that fails it
// sends a normal message to the retry topic with the same intent (trap T24).
func (e *Engine) sendBack(ctx context.Context, q *queue, m *protocol.MessageExt, level int32) error {
	// The verdict must reach the broker although the engine is leaving: only the
	// limit ends it.
	ctx = context.WithoutCancel(ctx)
	bctx, cancel := context.WithTimeout(ctx, sendBackTimeout)
	defer cancel()
	limit := core.EffectiveMaxReconsume(e.o.MaxReconsumeTimes, false)
	err := e.d.Client.SendBack(bctx, m.BrokerName(), &protocol.ConsumerSendMsgBackRequestHeader{
		Offset: m.CommitLogOffset(), Group: e.o.Group, DelayLevel: level,
		OriginMsgID: m.OffsetMessageID(), OriginTopic: m.OriginalTopic(),
		MaxReconsumeTimes: limit, BrokerName: m.BrokerName(),
	})
	level, dlq := core.FallbackDelayLevel(level, m.ReconsumeTimes(), limit)
	target := "retry"
	if err != nil {
		fctx, cancel := context.WithTimeout(ctx, sendBackTimeout)
		defer cancel()
		if ferr := e.sendFallback(fctx, m, level, limit, dlq); ferr != nil {
			return errors.Join(err, fmt.Errorf("fallback: %w", ferr))
		}
		target = "fallback"
	}
	if dlq {
		target = "dlq"
		e.totals.deadLettered.Add(1)
	} else {
		e.totals.sentBack.Add(1)
	}
	ev := SentBack{At: q.at(), Offset: m.QueueOffset(), MessageID: m.MessageID(), DelayLevel: level, ReconsumeTimes: m.ReconsumeTimes() + 1, Target: target}
	if level == 0 { // dead at once
		ev.DueMS = new(int64)
	} else if levels, err := e.levelsOf(ctx, m.BrokerName()); err != nil {
		ev.DueError = err.Error()
	} else {
		ev.DueMS = new(core.LevelDelay(level, levels).Milliseconds())
	}
	q.emit(ev)
	return nil
}

// sendFallback sends the message to the retry topic as a normal one. What is to be
// a dead letter goes there too, with its retries used up: the broker then moves it,
// and makes the topic of the dead letters where there is none yet.
func (e *Engine) sendFallback(ctx context.Context, m *protocol.MessageExt, level, limit int32, dlq bool) error {
	return e.sendCopy(ctx, m, m.ReconsumeTimes()+1, limit, level, dlq)
}

// sendCopy sends a copy of m to the group's retry topic through a normal send
// (docs/conformance/concurrent.md 5.1, orderly.md 5.2): to m's own broker, and
// when that does not take it to others that have the topic, as the Java producer
// does. dead has the broker move it to the dead letters.
func (e *Engine) sendCopy(ctx context.Context, m *protocol.MessageExt, reconsume, limit, level int32, dead bool) error {
	topic := protocol.RetryTopic(e.o.Group)
	set := map[string]string{
		protocol.PropertyRetryTopic:        m.OriginalTopic(),
		protocol.PropertyReconsumeTime:     fmt.Sprint(reconsume),
		protocol.PropertyMaxReconsumeTimes: fmt.Sprint(limit),
		protocol.PropertyDelay:             fmt.Sprint(level),
		protocol.PropertyTranMsg:           "",
	}
	if _, ok := m.Property(protocol.PropertyOriginMessageID); !ok {
		set[protocol.PropertyOriginMessageID] = m.OffsetMessageID()
	}
	if level <= 0 {
		set[protocol.PropertyDelay] = ""
	}
	out := remoting.OutMessage{
		Topic: topic, Flag: m.Flag(), Body: m.StoredBody(),
		SysFlag:        m.SysFlag() & (protocol.SysFlagCompressed | protocol.SysFlagCompressionMask),
		ReconsumeTimes: reconsume, MaxReconsumeTimes: limit,
	}
	if dead { // 4.x moves what has reached the limit, 5.x what is beyond
		out.MaxReconsumeTimes = reconsume - 1
	}
	m.Properties(func(name, value string) bool {
		if _, replaced := set[name]; !replaced {
			out.Properties = append(out.Properties, protocol.Property{Name: name, Value: value})
		}
		return true
	})
	for _, name := range []string{
		protocol.PropertyOriginMessageID, protocol.PropertyRetryTopic, protocol.PropertyReconsumeTime,
		protocol.PropertyMaxReconsumeTimes, protocol.PropertyDelay,
	} {
		if v := set[name]; v != "" {
			out.Properties = append(out.Properties, protocol.Property{Name: name, Value: v})
		}
	}
	var failed []error
	for _, broker := range e.retryBrokers(ctx, topic, m.BrokerName()) {
		sctx, cancel := context.WithTimeout(ctx, sendTimeout)
		_, err := e.d.Client.Send(sctx, innerProducer, protocol.MessageQueue{Topic: topic, BrokerName: broker, QueueID: -1}, &out)
		cancel()
		if err == nil {
			return nil
		}
		failed = append(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(failed...)
}

// mostSends is how many brokers a copy is offered to (Java: 1 + retryTimesWhenSendFailed).
const mostSends = 3

// retryBrokers are the brokers to send a copy to, own first.
func (e *Engine) retryBrokers(ctx context.Context, topic, own string) []string {
	brokers := []string{own}
	route, err := e.d.Client.Route(ctx, topic)
	if err != nil {
		return brokers // its own broker makes the topic
	}
	for _, mq := range route.PublishQueues {
		if !slices.Contains(brokers, mq.BrokerName) && len(brokers) < mostSends {
			brokers = append(brokers, mq.BrokerName)
		}
	}
	return brokers
}

// innerProducer is the producer group that a consumer's client announces and
// sends its fallback messages by (Java: CLIENT_INNER_PRODUCER_GROUP).
const innerProducer = "CLIENT_INNER_PRODUCER"
