package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// held counts the queues of topic that a member holds.
func held(m *member, topic string) (n int) {
	for _, q := range m.Snapshot().Queues {
		if q.Own && q.Topic == topic && q.State != engine.QueueTaking && q.State != engine.QueueDropping {
			n++
		}
	}
	return n
}

// awaitHeld waits until a member holds n queues of a topic; each of its events
// is an occasion to look.
func awaitHeld(m *member, topic string, n int) {
	m.t.Helper()
	m.until("the queues are held", func() bool { return held(m, topic) == n })
}

// checkOnce checks that two members that have left got no message twice.
func checkOnce(t *testing.T, a, b *member) {
	t.Helper()
	if d := a.duplicates() + b.duplicates(); d != 0 {
		t.Errorf("duplicates = %d, want 0", d)
	}
	for k := range b.seen {
		if a.seen[k] > 0 {
			t.Errorf("%v was delivered to both members", k)
		}
	}
}

// Two members share a group's queues; what one leaves the other takes over, and
// each message is delivered once.
func TestMembersJoinAndLeave(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		a := join(t, tg, group, topic, nil)
		awaitHeld(a, topic, 8)
		tg.Produce(t, topic, 400)
		a.until("400 messages", func() bool { return a.distinct() == 400 })
		b := join(t, tg, group, topic, nil)
		awaitHeld(b, topic, 4)
		awaitHeld(a, topic, 4)
		tg.Produce(t, topic, 800)
		b.until("its half", func() bool { return b.distinct() == 400 })
		a.until("its half", func() bool { return a.distinct() == 800 })
		b.leave()
		awaitHeld(a, topic, 8)
		tg.Produce(t, topic, 400)
		a.until("everything again", func() bool { return a.distinct() == 1200 })
		a.leave()
		checkOnce(t, a, b)
		checkCommitted(t, tg, group, topic)
	})
}

// An orderly queue that moves from one member to another while it is consumed
// stays in order and loses and repeats nothing.
func TestOrderlyHandOver(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		slow := func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		}
		a := join(t, tg, group, topic, slow, orderly)
		awaitHeld(a, topic, 4)
		b := join(t, tg, group, topic, slow, orderly)
		awaitHeld(b, topic, 2)
		tg.Produce(t, topic, 2000)
		a.until("a part", func() bool { return a.distinct() >= 300 })
		a.leave()
		b.until("the rest", func() bool { return a.distinct()+b.distinct() >= 2000 })
		b.leave()
		checkOrder(t, a, b)
		checkOnce(t, a, b)
		checkCommitted(t, tg, group, topic)
	})
}

// Broadcasting delivers every message to every member and retries nothing.
func TestBroadcasting(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		broadcast := func(id string) change {
			return func(o *engine.Options) { o.MessageModel, o.ClientID = protocol.Broadcasting, id }
		}
		refuse := func(_ context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			return engine.ReconsumeLater, nil
		}
		a := join(t, tg, group, topic, nil, broadcast("one@DEFAULT"))
		b := join(t, tg, group, topic, refuse, broadcast("two@DEFAULT"))
		awaitHeld(a, topic, 2)
		awaitHeld(b, topic, 2)
		tg.Produce(t, topic, 50)
		a.until("all", func() bool { return a.distinct() == 50 })
		b.until("all", func() bool { return b.distinct() == 50 })
		if n := count[engine.SentBack](b, nil); n != 0 {
			t.Errorf("%d messages were sent back, want none", n)
		}
	})
}

// A group without offsets starts at the end of its queues.
func TestConsumeFromLast(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		want := 5
		if tg.Line == "4" {
			// A 4.x broker answers offset 0 to a group without one while the topic is
			// young, and cannot be asked otherwise (docs/conformance/rebalance.md 6).
			want = 15
		}
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromLastOffset })
		awaitHeld(m, topic, 1)
		tg.Produce(t, topic, 5)
		m.until("the new ones", func() bool { return m.distinct() >= want })
		if m.distinct() != want {
			t.Errorf("messages = %d, want %d", m.distinct(), want)
		}
	})
}

// A listener that does not return drives its queue into flow control by count,
// and by span when only the head is stuck; both end when it returns.
func TestFlowControl(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 400)
		release := make(chan struct{})
		stuck := func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 0 {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return engine.ConsumeSuccess, nil
		}
		m := join(t, tg, group, topic, stuck, func(o *engine.Options) { o.ConsumeConcurrentlyMaxSpan = 100 })
		begin := untilEvent(m, "span flow control", func(e engine.FlowBegin) bool { return e.Cause == core.FlowSpan })
		if begin.Limit != 100 || begin.Value <= 100 {
			t.Errorf("flow_begin limit %d value %d, want 100 and more", begin.Limit, begin.Value)
		}
		m.until("what the span lets through", func() bool { return m.distinct() > 100 })
		close(release)
		end := untilEvent(m, "its end", func(e engine.FlowEnd) bool { return e.Cause == core.FlowSpan })
		if end.Times < 1 {
			t.Errorf("flow_end times = %d, want at least 1", end.Times)
		}
		m.until("all", func() bool { return m.distinct() == 400 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A paused queue is pulled no more, stays paused when it comes back after a
// rebalance, and goes on when it is resumed.
func TestPauseSurvivesRebalance(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		a := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ClientID = "a@1" })
		awaitHeld(a, topic, 2)
		mq := queueOf(a, topic, 1)
		if err := a.Pause(t.Context(), engine.PauseRequest{Queues: []engine.MessageQueue{mq}, By: "test", Reason: "why not"}); err != nil {
			t.Fatal(err)
		}
		b := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ClientID = "b@1" })
		awaitHeld(b, topic, 1) // it takes queue 1, the paused one
		awaitHeld(a, topic, 1)
		b.leave()
		awaitHeld(a, topic, 2)
		tg.Produce(t, topic, 20)
		a.until("those of the other queue", func() bool { return a.distinct() == 10 })
		if err := a.Resume(t.Context(), engine.ResumeRequest{Queues: []engine.MessageQueue{mq}, By: "test"}); err != nil {
			t.Fatal(err)
		}
		a.until("those of the paused one too", func() bool { return a.distinct() == 20 })
		if got := len(a.order[mq]); got != 10 {
			t.Errorf("messages of the resumed queue = %d, want 10", got)
		}
	})
}

// A reset of an own queue delivers from the target again, and the store holds it.
func TestResetOwnQueue(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 30)
		m := join(t, tg, group, topic, nil)
		m.until("30 messages", func() bool { return m.distinct() == 30 })
		mq := queueOf(m, topic, 0)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 30 })
		req := engine.ResetRequest{Queues: []engine.MessageQueue{mq}, Target: core.ResetTarget{Kind: core.ResetOffset, Offset: 10}, By: "test"}
		preview, err := m.PreviewReset(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if p := preview[0]; p.Err != nil || p.Before != 30 || p.After != 10 || p.Effect != core.EffectReplay || p.Count != 20 || p.FirstStored.IsZero() {
			t.Errorf("preview = %+v", p)
		}
		rows, err := m.ResetOffset(t.Context(), req)
		if err != nil || rows[0].Err != nil || !rows[0].Verified || rows[0].After != 10 {
			t.Fatalf("reset = %+v, %v", rows, err)
		}
		m.until("20 of them again", func() bool { return len(m.order[mq]) == 50 })
		if got := slices.Min(m.order[mq][30:]); got != 10 {
			t.Errorf("smallest offset after the reset = %d, want 10", got)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A reset to the end skips what the preview has shown, and nothing that was sent after it:
// the preview is what is carried out, and nothing is asked again.
func TestResetGoesWhereThePreviewSaid(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		m := join(t, tg, group, topic, nil)
		m.until("10 messages", func() bool { return m.distinct() == 10 })
		mq := queueOf(m, topic, 0)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 10 })
		latest := engine.ResetRequest{Queues: []engine.MessageQueue{mq}, Target: core.ResetTarget{Kind: core.ResetLatest}, By: "wang"}
		pause := func() {
			t.Helper()
			if err := m.Pause(t.Context(), engine.PauseRequest{Queues: latest.Queues, By: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		resume := func() {
			t.Helper()
			if err := m.Resume(t.Context(), engine.ResumeRequest{Queues: latest.Queues, By: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		preview := func(want int64) []engine.ResetRow {
			t.Helper()
			rows, err := m.PreviewReset(t.Context(), latest)
			if err != nil || rows[0].Err != nil || rows[0].After != want {
				t.Fatalf("preview of %d, %v, %v; want %d", rows[0].After, rows[0].Err, err, want)
			}
			return rows
		}

		pause()
		m.until("the queue is paused", func() bool { return snapOf(m, mq).Pause != nil })
		tg.Produce(t, topic, 20)
		tg.AwaitOffset(t, mq, 30)
		latest.Preview = preview(30)
		tg.Produce(t, topic, 5)
		tg.AwaitOffset(t, mq, 35)
		rows, err := m.ResetOffset(t.Context(), latest)
		took := int(rows[0].Before) // with what a pull that was under way has brought
		if err != nil || rows[0].Err != nil || !rows[0].Verified || rows[0].After != 30 || rows[0].Effect != core.EffectSkip || rows[0].Count != int64(30-took) {
			t.Fatalf("reset to %d (%v %d), verified %v, %v, %v; want 30, and what lies before it skipped", rows[0].After, rows[0].Effect, rows[0].Count, rows[0].Verified, rows[0].Err, err)
		}
		m.until("who did it is told", func() bool { return strings.HasPrefix(m.Snapshot().LastOperator, "reset by wang") })
		m.until("and in the events", func() bool {
			return slices.ContainsFunc(m.events, func(e engine.Event) bool { b, ok := e.(engine.ResetBegin); return ok && b.By == "wang" })
		})
		resume()
		m.until("what was sent after the preview", func() bool { return m.distinct() == took+5 })

		// One that has passed its target by itself is left where it is.
		pause()
		m.until("the queue is paused again", func() bool { return snapOf(m, mq).Pause != nil })
		tg.Produce(t, topic, 5)
		tg.AwaitOffset(t, mq, 40)
		latest.Preview = preview(40)
		resume()
		tg.Produce(t, topic, 5)
		m.until("all of them", func() bool { return m.distinct() == took+15 && snapOf(m, mq).CommittedOffset == 45 })
		rows, err = m.ResetOffset(t.Context(), latest)
		if _, passed := errors.AsType[*engine.PassedError](rows[0].Err); err != nil || !passed {
			t.Errorf("reset to %d, %v, %v; want that it has passed 40", rows[0].After, rows[0].Err, err)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
		if n := len(m.order[mq]); n != took+15 {
			t.Errorf("%d messages were delivered, want %d", n, took+15)
		}
	})
}

// queueOf waits for the queue of a topic with this id, on whatever broker.
func queueOf(m *member, topic string, id int32) (mq engine.MessageQueue) {
	m.t.Helper()
	m.until("the queue is known", func() bool {
		for _, q := range m.Snapshot().Queues {
			if q.Topic == topic && q.QueueID == id {
				mq = q.MessageQueue
				return true
			}
		}
		return false
	})
	return mq
}

func snapOf(m *member, mq engine.MessageQueue) engine.QueueSnapshot {
	for _, q := range m.Snapshot().Queues {
		if q.MessageQueue == mq {
			return q
		}
	}
	return engine.QueueSnapshot{}
}

// A topic that does not exist yet is waited for.
func TestTopicAppearsLater(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		group := tg.Group(t)
		later := group + "-later"
		m := join(t, tg, group, later, nil)
		untilEvent(m, "the topic is missed", func(e engine.RouteMissing) bool { return e.Topic == later })
		tg.Grow(t, later, 2)
		t.Cleanup(func() { deleteTopic(t, tg, later) })
		awaitHeld(m, later, 2)
		tg.Produce(t, later, 10)
		m.until("its messages", func() bool { return m.distinct() == 10 })
		m.leave() // before the topic is deleted
	})
}

// bubble runs body over the sandbox only, in a bubble.
func bubble(t *testing.T, body func(t *testing.T, tg *sandboxtest.Target)) {
	t.Helper()
	sandboxtest.RunSandbox(t, body)
}

// only5 is the sandbox as a 5.x broker, for what begins with a group that has no offset
// yet: a 4.9 broker answers 0 to it while the topic is young.
const only5 = sandboxtest.Sandboxes & sandboxtest.Line5

// A broker that is away for a minute costs nothing: it is told when it goes and
// when it comes back, and consumption goes on by itself.
func TestBrokerAwayForAMinute(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 4)
		tg.Produce(t, topic, 100)
		m.until("100 messages", func() bool { return m.distinct() == 100 })
		tg.Sandbox.StopBroker("broker-a")
		untilEvent[engine.BrokerOffline](m, "the broker is missed", nil)
		time.Sleep(time.Minute)
		tg.Sandbox.StartBroker("broker-a")
		back := untilEvent(m, "the broker is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		if back.DurationMS < 59_000 || back.DurationMS > 70_000 {
			t.Errorf("offline for %d ms, want about a minute", back.DurationMS)
		}
		if n := count[engine.RebalanceBegin](m, nil); n > 30 {
			t.Errorf("%d rebalances in a minute without a broker", n)
		}
		if n := count[engine.HeartbeatSent](m, nil); n > 80 {
			t.Errorf("%d heartbeats in a minute without a broker", n)
		}
		tg.Produce(t, topic, 100)
		m.until("100 more", func() bool { return m.distinct() == 200 })
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
		if n := count[engine.PullError](m, nil); n > 5*3 {
			t.Errorf("%d pull errors told for one outage of 4 queues and the retry topic's", n)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// An orderly member whose renewals are lost stops before the lease ends, and
// goes on when the lock is granted again.
func TestLockLoss(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, orderly)
		awaitHeld(m, topic, 1)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Drop: r.Command.Code == int32(protocol.LockBatchMQ)}
		})
		lost := untilEvent[engine.LockExpired](m, "the lock expires", nil)
		if lost.AgeMS < 30_000 || lost.AgeMS > 50_000 {
			t.Errorf("lock_expired %+v, want after 30 to 50 s", lost)
		}
		tg.Produce(t, topic, 10)
		time.Sleep(10 * time.Second)
		if m.distinct() != 0 {
			t.Errorf("%d messages were delivered without a lock", m.distinct())
		}
		tg.Sandbox.SetFault(nil)
		m.until("the lock is back", func() bool { return m.distinct() == 10 })
		m.leave()
		checkOrder(t, m)
		checkCommitted(t, tg, group, topic)
	})
}

// A send-back that the broker refuses falls back to a normal message, and when
// that is refused too the message is tried again here.
func TestSendBackFallsBack(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		var failing atomic.Bool
		failing.Store(true)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			switch protocol.RequestCode(r.Command.Code) {
			case protocol.ConsumerSendMsgBack:
				return sandbox.Fault{Code: protocol.SystemError, Remark: "look message by offset failed"}
			case protocol.SendMessageV2:
				if failing.Load() {
					return sandbox.Fault{Code: protocol.SystemBusy, Remark: "busy"}
				}
			}
			return sandbox.Fault{}
		})
		var tries atomic.Int32
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if tries.Add(1) <= 2 {
				return 0, errors.New("no")
			}
			return engine.ConsumeSuccess, nil
		}, func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax = 1, 1 })
		awaitHeld(m, topic, 1)
		tg.Sandbox.Put(sandbox.Message{Topic: topic, Body: []byte("x")})
		untilEvent[engine.RetryLocal](m, "a local retry", nil)
		failing.Store(false)
		back := untilEvent[engine.SentBack](m, "the fallback", nil)
		if back.Target != "fallback" {
			t.Errorf("target = %s, want fallback", back.Target)
		}
		m.until("the retry", func() bool { return tries.Load() == 3 })
		failed := untilEvent[engine.ConsumeFailed](m, "the failure is told", nil)
		if failed.ReturnType != "EXCEPTION" || failed.Error != "no" {
			t.Errorf("consume_failed = %+v", failed)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// When a queue's beginning has expired, the broker's correction is adopted and told.
func TestOffsetIllegal(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 50)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		early := &protocol.HeartbeatData{ClientID: "early@1", ConsumerDataSet: []protocol.ConsumerData{{GroupName: group,
			ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromFirstOffset}}}
		addr := tg.Masters(t)["broker-a"]
		if _, err := c.Heartbeat(t.Context(), addr, early); err != nil { // a 5.x broker wants to know the group first
			t.Fatal(err)
		}
		if err := c.Unregister(t.Context(), addr, protocol.UnregisterClientRequestHeader{ClientID: "early@1", ConsumerGroup: group}); err != nil {
			t.Fatal(err)
		}
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 5); err != nil {
			t.Fatal(err)
		}
		tg.Sandbox.Truncate(mq, 20)
		m := join(t, tg, group, topic, nil)
		e := untilEvent[engine.OffsetIllegal](m, "the correction", nil)
		if e.Requested != 5 || e.Corrected != 20 {
			t.Errorf("offset_illegal = %+v, want 5 corrected to 20", e)
		}
		m.until("what is left", func() bool { return m.distinct() == 30 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A panic of the listener ends the engine with the panic as its error.
func TestPanicEndsTheEngine(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		o := engine.DefaultOptions()
		o.Group, o.Subscriptions = group, []engine.Subscription{{Topic: topic}}
		fromFirst(&o)
		in := engine.NewInbound()
		client := tg.Client(t, in)
		e, err := engine.New(o, engine.Deps{Client: client, Inbound: in, Store: brokerStore{client, group},
			Listener: engine.ListenerFunc(func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
				panic("broken listener")
			})})
		if err != nil {
			t.Fatal(err)
		}
		tg.Produce(t, topic, 1)
		err = e.Run(t.Context(), t.Context())
		p, ok := errors.AsType[*engine.PanicError](err)
		if !ok || p.Value != "broken listener" || !strings.Contains(string(p.Stack), "scenario_test.go") {
			t.Errorf("Run = %v, want the panic with its stack", err)
		}
		if err := e.Run(t.Context(), t.Context()); err == nil || !strings.Contains(err.Error(), "started before") {
			t.Errorf("second Run = %v, want a refusal", err)
		}
	})
}

// What brokers ask a member for is answered: offsets, running info, one message
// to be consumed, a pushed reset.
func TestAnswersToTheBroker(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 30)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ClientID = "me@1" })
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		m.until("30 messages", func() bool { return m.distinct() == 30 })
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 30 })

		h := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: "me@1", JstackEnable: true}
		resp, err := tg.Sandbox.Relay(t.Context(), group, "me@1", &protocol.Command{Code: int32(protocol.GetConsumerRunningInfo), ExtFields: protocol.EncodeFields(&h)})
		if err != nil || resp.Code != 0 {
			t.Fatalf("307: %v %v", resp, err)
		}
		info, err := protocol.DecodeRunningInfo(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.MQTable[mq]; got.CommitOffset != 30 || !got.Locked || got.LastPullTimestamp == 0 {
			t.Errorf("running info of the queue = %+v", got)
		}
		if info.Properties["PROP_CONSUME_TYPE"] != "CONSUME_PASSIVELY" || !strings.Contains(info.Jstack, "goroutine") {
			t.Errorf("running info: properties %v, jstack of %d bytes", info.Properties, len(info.Jstack))
		}

		s := protocol.ConsumerStatusRequestHeader{Topic: topic, Group: group}
		resp, err = tg.Sandbox.Relay(t.Context(), group, "me@1", &protocol.Command{Code: int32(protocol.GetConsumerStatusFromClient), ExtFields: protocol.EncodeFields(&s)})
		if err != nil {
			t.Fatal(err)
		}
		if table, err := protocol.DecodeConsumerStatus(resp.Body); err != nil || table[mq] != 30 {
			t.Errorf("221 = %v, %v, want 30", table, err)
		}

		tg.Sandbox.NotifyReset(group, topic, protocol.OffsetTable{mq: 20, {Topic: topic, BrokerName: "other"}: 1})
		end := untilEvent(m, "the pushed reset", func(e engine.ResetEnd) bool { return e.By == "broker" })
		if !end.Verified || end.To != 20 {
			t.Errorf("reset_end = %+v", end)
		}
		m.until("10 again", func() bool { return len(m.order[mq]) == 40 })
	})
}

// A message that a listener holds longer than ConsumeTimeout is sent back when
// cleaning is on, and the offset moves on.
func TestExpiredMessageIsSentBack(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		release := make(chan struct{})
		m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 0 && msgs[0].ReconsumeTimes() == 0 {
				select {
				case <-release:
				case <-ctx.Done():
				}
				return engine.ReconsumeLater, nil
			}
			return engine.ConsumeSuccess, nil
		}, func(o *engine.Options) { o.CleanExpired, o.ConsumeTimeout = true, time.Minute })
		mq := queueOf(m, topic, 0)
		expired := untilEvent[engine.MessageExpired](m, "the head expires", nil)
		if expired.Offset != 0 || !expired.SentBack || expired.AgeMS < 60_000 {
			t.Errorf("message_expired = %+v", expired)
		}
		m.until("the offset moves on", func() bool { return snapOf(m, mq).CommittedOffset == 3 })
		m.until("the retry", func() bool { return m.distinct() == 4 })
		close(release)
		m.leave()
		if n := count[engine.SentBack](m, nil); n != 1 {
			t.Errorf("sent back %d times, want once", n)
		}
	})
}

// A broker that comes back with older offsets gets the present ones again,
// although nothing was consumed since.
func TestCommitsAgainAfterBrokerRestart(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		m := join(t, tg, group, topic, nil)
		mq := queueOf(m, topic, 0)
		m.until("the commit is stored", func() bool { return snapOf(m, mq).PersistedOffset == 10 })
		tg.Sandbox.StopBroker("broker-a")
		untilEvent[engine.BrokerOffline](m, "the broker is missed", nil)
		tg.Sandbox.StartBroker("broker-a")
		c := tg.Client(t, nil)
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 4); err != nil { // what a killed broker has lost
			t.Fatal(err)
		}
		m.until("the offset is written again", func() bool {
			got, _, err := c.QueryConsumerOffset(t.Context(), group, mq)
			return err == nil && got == 10
		})
	})
}

// What a worker finished before a call that hangs is settled meanwhile: the head
// of the cache is the message that hangs.
func TestHangingCallHidesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			tg.Produce(t, topic, 20)
			m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
				if msgs[0].QueueOffset() == 7 {
					<-ctx.Done()
				}
				return engine.ConsumeSuccess, nil
			}, mode, func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax = 1, 1 })
			mq := queueOf(m, topic, 0)
			m.until("all before it are settled", func() bool {
				q := snapOf(m, mq)
				return q.CommittedOffset == 7 && q.CachedMin == 7
			})
			m.leave()
		}
	})
}

// A queue that is being given away when the member leaves does not hold the
// leave up.
func TestLeaveWhileGivingQueuesAway(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 40)
		a := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ClientID, o.PersistInterval = "a@1", time.Hour })
		a.until("40 messages", func() bool { return a.distinct() == 40 })
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if r.Command.Code == int32(protocol.UpdateConsumerOffset) {
				f.Delay = 2 * time.Second
			}
			return f
		})
		join(t, tg, group, topic, nil, func(o *engine.Options) { o.ClientID = "b@1" })
		untilEvent[engine.QueueDropped](a, "it gives queues away", nil)
		began := time.Now()
		a.leave()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("the leave took %v", took)
		}
		tg.Sandbox.SetFault(nil)
		checkCommitted(t, tg, group, topic)
	})
}

// What a listener abandons is neither acknowledged nor sent back: the next
// member gets it, and in an orderly queue nothing after it was handed out.
func TestAbandon(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			tg.Produce(t, topic, 20)
			a := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
				if msgs[0].QueueOffset() >= 7 {
					return engine.Abandon, nil
				}
				return engine.ConsumeSuccess, nil
			}, mode)
			mq := queueOf(a, topic, 0)
			a.until("the first seven are settled", func() bool { return snapOf(a, mq).CommittedOffset == 7 && a.distinct() > 7 })
			a.leave()
			if n := count[engine.SentBack](a, nil); n != 0 {
				t.Errorf("%d messages were sent back", n)
			}
			b := join(t, tg, group, topic, nil, mode)
			b.until("the rest", func() bool { return b.distinct() == 13 })
			b.leave()
			if got := slices.Min(b.order[mq]); got < 7 {
				t.Errorf("first offset of the next member = %d, want 7 or later", got)
			}
			if mo := a.order[mq]; len(mo) > 0 && a.Snapshot().Orderly && len(mo) != 8 {
				t.Errorf("orderly: %d messages were handed out, want 8", len(mo))
			}
		}
	})
}
