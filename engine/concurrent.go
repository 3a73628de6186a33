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
// (spec/consumer-concurrent.md 3 to 6).
func (w *worker) concurrent(ctx context.Context, b *batch) {
	e, q, size := w.p.e, b.q, b.q.batchMax
	c := newStopwatch(time.Now())
	since := c.last
	r := result{b: b}
	hooked := len(e.o.ConsumeHooks) > 0
	w.on.Store(b)
	for !b.void() {
		i := int(b.next.Add(int64(size))) - size
		if i >= len(b.msgs) {
			break
		}
		j := min(i+size, len(b.msgs))
		var hc *ConsumeHookContext
		if hooked {
			hc = w.before(q, b.msgs[i:j:j])
			c.last = time.Now()
		}
		call := &b.started[i/size]
		call.Store(c.last.UnixNano())
		w.holding.Store(int32(j - i))
		w.cc = ConsumeContext{MessageQueue: q.mq, AckIndex: j - i - 1, AutoCommit: true}
		status, err := e.d.Listener.Consume(ctx, b.msgs[i:j:j], &w.cc)
		success := err == nil && status == ConsumeSuccess
		timed := c.called(w, &r, !success || hooked)
		if hooked {
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
			q.discarded("after", b.msgs[i:j])
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
		r.add(from, to) // discarded: there is no retry (spec/consumer-concurrent.md 5)
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

// sendBackTimeout bounds one send-back (Java: 5000 ms).
const sendBackTimeout = 5 * time.Second

// sendBack asks the broker to deliver a message again later; when that fails it
// sends a normal message to the retry topic with the same intent (trap T24).
func (e *Engine) sendBack(ctx context.Context, q *queue, m *protocol.MessageExt, level int32) error {
	// The verdict must reach the broker although the engine is leaving: only the
	// limit ends it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendBackTimeout)
	defer cancel()
	limit := core.EffectiveMaxReconsume(e.o.MaxReconsumeTimes, false)
	err := e.d.Client.SendBack(ctx, m.BrokerName(), &protocol.ConsumerSendMsgBackRequestHeader{
		Offset: m.CommitLogOffset(), Group: e.o.Group, DelayLevel: level,
		OriginMsgID: m.OffsetMessageID(), OriginTopic: m.OriginalTopic(),
		MaxReconsumeTimes: limit, BrokerName: m.BrokerName(),
	})
	target := "retry"
	if level < 0 || m.ReconsumeTimes() >= limit {
		target = "dlq"
	}
	if err != nil {
		first := err
		if target, err = e.sendFallback(ctx, m, level, limit); err != nil {
			return errors.Join(first, fmt.Errorf("fallback: %w", err))
		}
	}
	if target == "dlq" {
		e.totals.deadLettered.Add(1)
	} else {
		e.totals.sentBack.Add(1)
	}
	q.emit(SentBack{q.at(), m.QueueOffset(), m.MessageID(), level, m.ReconsumeTimes() + 1, target})
	return nil
}

// sendFallback sends the message to the retry or dead-letter topic as a normal one.
func (e *Engine) sendFallback(ctx context.Context, m *protocol.MessageExt, asked, limit int32) (target string, err error) {
	level, dlq := core.FallbackDelayLevel(asked, m.ReconsumeTimes(), limit)
	topic, target := protocol.RetryTopic(e.o.Group), "fallback"
	if dlq {
		topic, target = protocol.DLQTopic(e.o.Group), "dlq"
	}
	return target, e.sendCopy(ctx, m, topic, m.ReconsumeTimes()+1, limit, level)
}

// sendCopy sends a copy of m to a topic of the group through a normal send
// (spec/consumer-concurrent.md 5.1, consumer-orderly.md 5.2).
func (e *Engine) sendCopy(ctx context.Context, m *protocol.MessageExt, topic string, reconsume, limit, level int32) error {
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
	_, err := e.d.Client.Send(ctx, innerProducer, protocol.MessageQueue{Topic: topic, BrokerName: m.BrokerName(), QueueID: -1}, &out)
	return err
}

// innerProducer is the producer group that a consumer's client announces and
// sends its fallback messages by (Java: CLIENT_INNER_PRODUCER_GROUP).
const innerProducer = "CLIENT_INNER_PRODUCER"
