package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func holds(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
	return engine.Hold, nil
}

func batches(n int) change { return func(o *engine.Options) { o.ConsumeMessageBatchMaxSize = n } }

// decide settles offsets first … last of a queue.
func decide(m *member, mq engine.MessageQueue, v engine.SettleVerdict, level int32, first, last int64) []engine.SettleRow {
	m.t.Helper()
	rows, err := m.Settle(m.t.Context(), engine.SettleRequest{
		Messages: []engine.HeldRange{{MessageQueue: mq, First: first, Last: last}}, Verdict: v, DelayLevel: level, By: "test",
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return rows
}

// good checks that each row came true and that there are n of them.
func good(t *testing.T, rows []engine.SettleRow, n int, became string) {
	t.Helper()
	if len(rows) != n {
		t.Errorf("%d rows, want %d: %+v", len(rows), n, rows)
	}
	for _, r := range rows {
		if r.Err != nil || r.Became != became || r.MessageID == "" {
			t.Errorf("row = %+v, want %s", r, became)
		}
	}
}

// failed checks that each row failed for a reason.
func failed(t *testing.T, rows []engine.SettleRow, reason string) {
	t.Helper()
	if len(rows) == 0 {
		t.Error("no row")
	}
	for _, r := range rows {
		if r.Err == nil || !strings.Contains(r.Err.Error(), reason) {
			t.Errorf("row = %+v, want an error with %q", r, reason)
		}
	}
}

func heldOffsets(m *member, mq engine.MessageQueue) (offsets []int64) {
	m.t.Helper()
	list, err := m.Held(m.t.Context(), mq, 1000)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, h := range list {
		if !h.Held.IsZero() {
			offsets = append(offsets, h.Message.QueueOffset())
		}
	}
	return offsets
}

func gained(events []engine.Event) (n int) {
	for _, e := range events {
		if g, ok := e.(engine.LockGained); ok && !strings.HasPrefix(g.MQ.Topic, protocol.RetryTopicPrefix) {
			n++
		}
	}
	return n
}

func awaitHolding(m *member, mq engine.MessageQueue, n int64) {
	m.t.Helper()
	m.until("messages are held", func() bool { return snapOf(m, mq).Held == n })
}

// deadLetters waits until a group's dead letters hold n messages. A 4.9 broker
// delays those that came through the retry topic.
func deadLetters(t *testing.T, tg *sandboxtest.Target, group string, n int64) {
	t.Helper()
	c := tg.Client(t, nil)
	topic := protocol.DLQTopic(group)
	limit := time.Now().Add(90 * time.Second)
	for {
		var total int64
		route, _, err := c.RefreshRoute(t.Context(), topic)
		if err == nil {
			for _, mq := range route.Queues {
				if end, err := c.MaxOffset(t.Context(), mq); err == nil {
					total += end
				}
			}
		}
		if total == n {
			return
		}
		if total > n || time.Now().After(limit) {
			t.Fatalf("%s holds %d messages (%v), want %d", topic, total, err, n)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("ended")
		}
	}
}

// Held messages occupy no worker, hold the commit back as unfinished ones do, and
// are acknowledged one by one or many at once.
func TestHeldMessagesAreAcknowledged(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 40)
		m := join(t, tg, group, topic, holds, batches(4), func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax = 2, 2 })
		mq := queueOf(m, topic, 0)
		awaitHolding(m, mq, 40)
		m.until("all workers are free", func() bool { return m.Snapshot().ThreadsBusy == 0 })
		if q := snapOf(m, mq); q.CommittedOffset != 0 || q.CachedCount != 40 || q.HeldFirst != 0 || q.HeldLast != 39 || q.HeadHeld.IsZero() || q.Consumed != 0 {
			t.Errorf("held: %+v", q)
		}
		good(t, decide(m, mq, engine.SettleAck, 0, 5, 5), 1, "acknowledged")
		failed(t, decide(m, mq, engine.SettleAck, 0, 5, 5), "not held")
		m.until("it is done", func() bool { return snapOf(m, mq).Held == 39 })
		if q := snapOf(m, mq); q.CommittedOffset != 0 || q.CachedCount != 39 {
			t.Errorf("one acknowledged behind unfinished ones: committed %d, cached %d", q.CommittedOffset, q.CachedCount)
		}
		good(t, decide(m, mq, engine.SettleAck, 0, 0, 4), 5, "acknowledged")
		m.until("the commit moves over both", func() bool { return snapOf(m, mq).CommittedOffset == 6 })
		ev := untilEvent(m, "the event", func(e engine.HoldSettled) bool { return e.Count == 5 })
		if ev.Verdict != "ack" || ev.By != "test" || ev.First != 0 || ev.Last != 4 || ev.Failed != 0 {
			t.Errorf("hold_settled = %+v", ev)
		}
		good(t, decide(m, mq, engine.SettleAck, 0, 0, 100), 34, "acknowledged")
		tg.Produce(t, topic, 3)
		awaitHolding(m, mq, 3)
		m.leave()
		if committed, _, err := tg.Client(t, nil).QueryConsumerOffset(t.Context(), group, mq); err != nil || committed != 40 {
			t.Errorf("committed after the leave = %d, %v, want 40: what is held is not acknowledged", committed, err)
		}
		if d := m.duplicates(); d != 0 || m.distinct() != 43 {
			t.Errorf("%d messages, %d duplicates", m.distinct(), d)
		}
	})
}

// A refused message comes again through the retry topic, a dead one goes to the
// dead letters, and both let the commit pass.
func TestHeldMessagesAreRefusedAndBuried(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5)
		m := join(t, tg, group, topic, holds)
		mq := queueOf(m, topic, 0)
		awaitHolding(m, mq, 5)
		good(t, decide(m, mq, engine.SettleRefuse, 1, 1, 2), 2, "sent back")
		good(t, decide(m, mq, engine.SettleDeadLetter, 0, 3, 3), 1, "dead letter")
		good(t, decide(m, mq, engine.SettleAck, 0, 0, 4), 2, "acknowledged")
		m.until("the commit", func() bool { return snapOf(m, mq).CommittedOffset == 5 })
		deadLetters(t, tg, group, 1)
		retry := protocol.RetryTopic(group)
		var back engine.MessageQueue
		m.until("the refused ones are held again", func() bool {
			n := int64(0)
			for _, q := range m.Snapshot().Queues {
				if q.Topic == retry && q.Held > 0 {
					n, back = n+q.Held, q.MessageQueue
				}
			}
			return n == 2
		})
		list, err := m.Held(t.Context(), back, 10)
		if err != nil || len(list) != 2 {
			t.Fatal(list, err)
		}
		for _, h := range list {
			if h.Message.ReconsumeTimes() != 1 || h.Message.OriginalTopic() != topic || h.Stage != core.StageTaken {
				t.Errorf("it came back as %+v, reconsumed %d", h, h.Message.ReconsumeTimes())
			}
		}
		good(t, decide(m, back, engine.SettleDeadLetter, 0, 0, 100), 2, "dead letter")
		deadLetters(t, tg, group, 3)
		if n := count(m, func(e engine.SentBack) bool { return e.Target == "dlq" }); n != 3 {
			t.Errorf("%d dead letters were told, want 3", n)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
		checkCommitted(t, tg, group, retry)
	})
}

// An orderly queue has its head held and goes on in order when it is decided about:
// a refused head is handed out again, counted, after the pause.
func TestHeldOrderlyHead(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 6)
		m := join(t, tg, group, topic, holds, orderly)
		mq := queueOf(m, topic, 0)
		head := func(want int64) {
			t.Helper()
			m.until("the head is held", func() bool { q := snapOf(m, mq); return q.Held == 1 && q.HeldFirst == want })
		}
		head(0)
		good(t, decide(m, mq, engine.SettleAck, 0, 0, 99), 1, "acknowledged")
		head(1)
		if q := snapOf(m, mq); q.CommittedOffset != 1 || q.Consuming != 1 || q.CachedCount != 5 {
			t.Errorf("after one: %+v", q)
		}
		failed(t, decide(m, mq, engine.SettleAck, 0, 2, 99), "not held")
		began := time.Now()
		good(t, decide(m, mq, engine.SettleRefuse, 0, 1, 1), 1, "handed out again")
		m.until("it is handed out again", func() bool { return m.seen[at{mq, 1}] == 2 })
		if took := time.Since(began); took < time.Second-20*time.Millisecond {
			t.Errorf("handed out again after %v, want a pause of 1 s", took)
		}
		head(1)
		if list, err := m.Held(t.Context(), mq, 1); err != nil || list[0].Retries != 1 {
			t.Errorf("held again: %+v, %v, want 1 retry", list, err)
		}
		good(t, decide(m, mq, engine.SettleDeadLetter, 0, 1, 1), 1, "dead letter")
		head(2)
		deadLetters(t, tg, group, 1)
		for o := int64(2); o < 6; o++ {
			head(o)
			good(t, decide(m, mq, engine.SettleAck, 0, o, o), 1, "acknowledged")
		}
		m.until("the end", func() bool { return snapOf(m, mq).CommittedOffset == 6 })
		if want := []int64{0, 1, 1, 2, 3, 4, 5}; !slices.Equal(m.order[mq], want) {
			t.Errorf("order = %v, want %v", m.order[mq], want)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A held batch of an orderly queue may be acknowledged in part; what is left is
// refused together and comes again in order.
func TestHeldOrderlyBatch(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5)
		m := join(t, tg, group, topic, holds, orderly, batches(3))
		mq := queueOf(m, topic, 0)
		// What was pulled first may be less than a batch.
		m.until("a batch is held", func() bool { return snapOf(m, mq).Held > 0 })
		for snapOf(m, mq).HeldLast < 2 {
			n := snapOf(m, mq).HeldLast
			good(t, decide(m, mq, engine.SettleAck, 0, n, n), 1, "acknowledged")
			m.until("the next", func() bool { q := snapOf(m, mq); return q.Held > 0 && q.HeldLast > n })
		}
		first, last := snapOf(m, mq).HeldFirst, snapOf(m, mq).HeldLast
		if last-first < 1 {
			t.Skip("the broker gave its messages one by one")
		}
		good(t, decide(m, mq, engine.SettleAck, 0, last, last), 1, "acknowledged")
		m.until("it is done", func() bool { return snapOf(m, mq).HeldLast == last-1 })
		if q := snapOf(m, mq); q.CommittedOffset != first {
			t.Errorf("committed %d, want %d: what stands before is unfinished", q.CommittedOffset, first)
		}
		good(t, decide(m, mq, engine.SettleRefuse, 0, first, first), int(last-first), "handed out again")
		m.until("they are held again", func() bool {
			q := snapOf(m, mq)
			return q.Held > 0 && q.HeldFirst == first && m.seen[at{mq, first}] == 2
		})
		if n := m.seen[at{mq, last}]; n != 1 {
			t.Errorf("the acknowledged one was handed out %d times", n)
		}
		for last := first - 1; last < 4; {
			m.until("the next batch", func() bool { q := snapOf(m, mq); return q.Held > 0 && q.HeldFirst > last })
			last = snapOf(m, mq).HeldLast
			decide(m, mq, engine.SettleAck, 0, 0, last)
		}
		m.until("all are done", func() bool { return snapOf(m, mq).CommittedOffset == 5 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// An operator's refusals count against the reconsume limit as a listener's do.
func TestHeldOrderlyReconsumeLimit(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 2)
		m := join(t, tg, group, topic, holds, orderly, func(o *engine.Options) { o.MaxReconsumeTimes = 1 })
		mq := queueOf(m, topic, 0)
		awaitHolding(m, mq, 1)
		good(t, decide(m, mq, engine.SettleRefuse, 0, 0, 0), 1, "handed out again")
		m.until("it is held again", func() bool { return snapOf(m, mq).Held == 1 && m.seen[at{mq, 0}] == 2 })
		good(t, decide(m, mq, engine.SettleRefuse, 0, 0, 0), 1, "dead letter")
		m.until("the next is held", func() bool { return snapOf(m, mq).HeldFirst == 1 })
		deadLetters(t, tg, group, 1)
	})
}

// Held messages fill the cache as any unfinished ones do.
func TestHeldMessagesCauseFlowControl(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 200)
		m := join(t, tg, group, topic, holds, func(o *engine.Options) { o.PullThresholdForQueue = 40 })
		mq := queueOf(m, topic, 0)
		about[engine.FlowBegin](m, mq)
		time.Sleep(time.Minute)
		q := snapOf(m, mq)
		if q.Flow != core.FlowCount || q.Held != q.CachedCount || q.Held < 40 || q.Held > 40+32 {
			t.Errorf("flow %v, held %d of %d cached", q.Flow, q.Held, q.CachedCount)
		}
		for snapOf(m, mq).CommittedOffset < 200 {
			decide(m, mq, engine.SettleAck, 0, 0, 1000)
			time.Sleep(200 * time.Millisecond)
		}
	})
}

// What cannot be sent back stays held and says why; later it can be tried again.
func TestHeldMessageThatCannotBeSentBack(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		m := join(t, tg, group, topic, holds)
		mq := queueOf(m, topic, 0)
		awaitHolding(m, mq, 3)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			switch code {
			case protocol.ConsumerSendMsgBack, protocol.SendMessage, protocol.SendMessageV2:
				f.Code = protocol.SystemError
			}
			return f
		})
		failed(t, decide(m, mq, engine.SettleRefuse, 0, 0, 1), "fallback")
		if got := heldOffsets(m, mq); !slices.Equal(got, []int64{0, 1, 2}) {
			t.Errorf("held = %v, want all", got)
		}
		ev := untilEvent[engine.HoldSettled](m, "the event", nil)
		if ev.Count != 0 || ev.Failed != 2 {
			t.Errorf("hold_settled = %+v", ev)
		}
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.ConsumerSendMsgBack {
				f.Code = protocol.SystemError // the fallback gets through
			}
			return f
		})
		good(t, decide(m, mq, engine.SettleRefuse, 2, 0, 1), 2, "sent back")
		untilEvent(m, "the fallback", func(e engine.SentBack) bool { return e.Target == "fallback" && e.DelayLevel == 2 })
		tg.Sandbox.SetFault(nil)
		m.until("the commit", func() bool { return snapOf(m, mq).CommittedOffset == 2 })
	})
}

// While a verdict is carried out, a second one about the same message is refused,
// and who has given up gets no more messages sent.
func TestHeldMessageIsDecidedAboutOnce(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		m := join(t, tg, group, topic, holds)
		mq := queueOf(m, topic, 0)
		awaitHolding(m, mq, 3)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.ConsumerSendMsgBack {
				f.Delay = 2 * time.Second
			}
			return f
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := make(chan []engine.SettleRow)
		go func() {
			rows, _ := m.Settle(ctx, engine.SettleRequest{Messages: []engine.HeldRange{{MessageQueue: mq, First: 0, Last: 1}}, Verdict: engine.SettleRefuse, By: "test"})
			first <- rows
		}()
		time.Sleep(500 * time.Millisecond)
		failed(t, decide(m, mq, engine.SettleAck, 0, 0, 0), "another decision")
		failed(t, <-first, "no answer yet")
		time.Sleep(5 * time.Second)
		if got := heldOffsets(m, mq); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("held = %v, want what was not begun, and the third", got)
		}
		good(t, decide(m, mq, engine.SettleAck, 0, 0, 9), 2, "acknowledged")
	})
}

// A queue that is given away or reset takes its held messages along: they are not
// acknowledged, and a decision about them says so.
func TestHeldMessagesOfALostQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 4)
		a := join(t, tg, group, topic, holds, named("a@1"))
		mq0, mq1 := queueOf(a, topic, 0), queueOf(a, topic, 1)
		awaitHolding(a, mq0, 2)
		awaitHolding(a, mq1, 2)
		if rows, err := a.ResetOffset(t.Context(), resetTo(mq0, 1)); err != nil || rows[0].Err != nil {
			t.Fatal(rows, err)
		}
		a.until("what is left is held anew", func() bool { q := snapOf(a, mq0); return q.Held == 1 && q.HeldFirst == 1 })
		failed(t, decide(a, mq0, engine.SettleAck, 0, 0, 0), "not held")
		b := join(t, tg, group, topic, nil, named("b@1"))
		awaitHeld(b, topic, 1)
		awaitHeld(a, topic, 1)
		failed(t, decide(a, mq1, engine.SettleAck, 0, 0, 1), "does not hold the queue")
		b.until("the new owner has them", func() bool { return b.seen[at{mq1, 0}] == 1 && b.seen[at{mq1, 1}] == 1 })
		a.leave()
		b.until("and those of the member that left", func() bool { return b.seen[at{mq0, 1}] == 1 })
		if b.seen[at{mq0, 0}] != 0 {
			t.Error("the new owner got a message before the reset's target")
		}
	})
}

// The head of an orderly queue is not decided about while its lock is lost.
func TestHeldHeadNeedsTheLock(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 3)
		m := join(t, tg, group, topic, holds, orderly, named("me@1"))
		mq := queueOf(m, topic, 0)
		awaitHolding(m, mq, 1)
		steal(t, c, group, mq, "me@1", "other@1")
		about[engine.LockLost](m, mq)
		for _, v := range []engine.SettleVerdict{engine.SettleAck, engine.SettleRefuse, engine.SettleDeadLetter} {
			failed(t, decide(m, mq, v, 0, 0, 0), "lock")
		}
		giveBack(t, c, group, mq, "other@1")
		m.until("the lock is back", func() bool { return gained(m.events) == 2 })
		good(t, decide(m, mq, engine.SettleAck, 0, 0, 0), 1, "acknowledged")
		m.until("it goes on", func() bool { return snapOf(m, mq).HeldFirst == 1 })
	})
}

func TestSettleRefusesWhatMakesNoSense(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, holds, func(o *engine.Options) { o.MessageModel = protocol.Broadcasting })
		one := []engine.HeldRange{{MessageQueue: engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 7}}}
		for want, r := range map[string]engine.SettleRequest{
			"no message is chosen":   {Verdict: engine.SettleAck},
			"verdict 0":              {Messages: one},
			"verdict 9":              {Messages: one, Verdict: 9},
			"only a refusal has one": {Messages: one, Verdict: engine.SettleAck, DelayLevel: 3},
			"delay level -1":         {Messages: one, Verdict: engine.SettleRefuse, DelayLevel: -1},
			"broadcasting":           {Messages: one, Verdict: engine.SettleDeadLetter},
		} {
			if _, err := m.Settle(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", r, err, want)
			}
		}
		rows, err := m.Settle(t.Context(), engine.SettleRequest{Messages: one, Verdict: engine.SettleAck})
		if err != nil {
			t.Fatal(err)
		}
		failed(t, rows, "does not hold the queue")
	})
}
