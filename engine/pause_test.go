package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// While the consumer is paused it sends no pull, but what is cached and what the
// pull in flight brings is consumed and committed, locks are renewed, heartbeats
// go on and the queues stay its own; resuming pulls at once.
func TestPausedConsumerDrains(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			tg.Produce(t, topic, 30)
			var pulls, beats atomic.Int32
			onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
				switch code {
				case protocol.PullMessage:
					pulls.Add(1)
				case protocol.HeartBeat:
					beats.Add(1)
				}
				return f
			})
			m := join(t, tg, group, topic, takes(100*time.Millisecond), mode, func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax = 1, 1 })
			mq := queueOf(m, topic, 0)
			m.until("a part", func() bool { return m.distinct() == 5 })
			if err := m.Pause(t.Context(), engine.PauseRequest{By: "ops", Reason: "why not"}); err != nil {
				t.Fatal(err)
			}
			m.until("it is seen to drain", func() bool {
				q := snapOf(m, mq)
				return q.State == engine.QueuePaused && strings.HasPrefix(q.Detail, "draining ") && strings.HasSuffix(q.Detail, ", by ops")
			})
			tg.Produce(t, topic, 1) // the broker answers the pull that it holds
			m.until("what was cached, and in flight", func() bool { return m.distinct() == 31 })
			m.until("its commit", func() bool { return snapOf(m, mq).PersistedOffset == 31 })
			sent, beaten := pulls.Load(), beats.Load()
			tg.Produce(t, topic, 10)
			time.Sleep(2 * time.Minute)
			if n := pulls.Load() - sent; n > 8 { // the retry topic's held pull may have ended before it was paused
				t.Errorf("%d pulls within two minutes of a pause", n)
			}
			if n := beats.Load() - beaten; n < 3 || m.distinct() != 31 || held(m, topic) != 1 {
				t.Errorf("%d heartbeats, %d messages, %d queues; want heartbeats, 31 messages and the queue", n, m.distinct(), held(m, topic))
			}
			if owner := tg.Sandbox.LockOwner(group, mq); m.Snapshot().Orderly && owner != m.ClientID() {
				t.Errorf("the lock is %q's after two minutes, want it renewed", owner)
			}
			if q := snapOf(m, mq); q.State != engine.QueuePaused || q.Detail != "by ops" || m.Snapshot().Pause == nil {
				t.Errorf("drained: %v %q, pause %+v", q.State, q.Detail, m.Snapshot().Pause)
			}
			began := time.Now()
			if err := m.Resume(t.Context(), engine.ResumeRequest{By: "ops"}); err != nil {
				t.Fatal(err)
			}
			m.until("the rest", func() bool { return m.distinct() == 41 })
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("the rest came %v after resuming", took)
			}
			untilEvent(m, "a rebalance", func(e engine.RebalanceBegin) bool { return e.Trigger == "resume" })
			m.leave()
		}
	})
}

// A paused member goes on dividing: what the strategy gives to others it hands
// over. (Java keeps it until it is resumed, and both consume it.)
func TestPausedMemberHandsOver(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		a := join(t, tg, group, topic, nil, named("a@1"))
		awaitHeld(a, topic, 4)
		if err := a.Pause(t.Context(), engine.PauseRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		b := join(t, tg, group, topic, nil, named("b@1"))
		awaitHeld(b, topic, 2)
		awaitHeld(a, topic, 2)
		passes := count[engine.RebalanceBegin](a, nil)
		time.Sleep(time.Minute)
		if n := count[engine.RebalanceBegin](a, nil) - passes; n > 4 {
			t.Errorf("%d rebalances within a minute of a pause, want one every 20 s (trap T13)", n)
		}
		tg.Produce(t, topic, 40)
		b.until("those of its queues", func() bool { return b.distinct() == 20 })
		time.Sleep(time.Minute)
		// Two pulls were held when the pause came, and may bring a message each.
		if a.distinct() > 2 {
			t.Errorf("%d messages came to the paused member", a.distinct())
		}
		b.leave()
		awaitHeld(a, topic, 4)
		time.Sleep(time.Minute)
		if q := snapOf(a, queueOf(a, topic, 3)); q.State != engine.QueuePaused {
			t.Errorf("a queue that came back is %v, want it paused like the consumer", q.State)
		}
		if err := a.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		a.until("the others", func() bool { return a.distinct() == 20 })
		a.leave()
		checkOnce(t, a, b)
	})
}

// A consumer can be paused before it starts: it joins and pulls nothing.
func TestPauseBeforeStart(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 20)
		var pulls atomic.Int32
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.PullMessage {
				pulls.Add(1)
			}
			return f
		})
		o := engine.DefaultOptions()
		o.Group, o.Subscriptions, o.ConsumeFromWhere = group, []engine.Subscription{{Topic: topic}}, protocol.ConsumeFromFirstOffset
		inbound := engine.NewInbound()
		client := tg.Client(t, inbound)
		got := make(chan struct{}, 32)
		e, err := engine.New(o, engine.Deps{Client: client, Inbound: inbound, Store: brokerStore{client, group},
			Listener: engine.ListenerFunc(func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
				got <- struct{}{}
				return engine.ConsumeSuccess, nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		paused, done := make(chan error, 1), make(chan error, 1)
		go func() { paused <- e.Pause(t.Context(), engine.PauseRequest{By: "test"}) }()
		time.Sleep(time.Second)
		ctx, stop := context.WithCancel(t.Context())
		go func() { done <- e.Run(ctx, context.WithoutCancel(ctx)) }()
		if err := <-paused; err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := len(tg.Sandbox.Members(group)); n != 1 || pulls.Load() != 0 {
			t.Errorf("%d members, %d pulls; want one member that pulls nothing", n, pulls.Load())
		}
		if err := e.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			<-got
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A pause with a time ends by itself.
func TestPauseEndsByItself(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 2)
		for _, queues := range [][]engine.MessageQueue{nil, {queueOf(m, topic, 0)}} {
			if err := m.Pause(t.Context(), engine.PauseRequest{Queues: queues, By: "test", ResumeAfter: time.Minute}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			resumes := count[engine.Resume](m, nil)
			untilEvents[engine.Resume](m, resumes+1)
			if took := time.Since(began); took < time.Minute || took > 61*time.Second {
				t.Errorf("resumed after %v, want a minute", took)
			}
		}
		unknown := engine.MessageQueue{Topic: "unknown", BrokerName: "broker-a"}
		if err := m.Pause(t.Context(), engine.PauseRequest{Queues: []engine.MessageQueue{unknown}, By: "test"}); err == nil {
			t.Error("a queue of a topic that is not subscribed was paused")
		}
	})
}
