package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func named(id string) change { return func(o *engine.Options) { o.ClientID = id } }

func onFault(tg *sandboxtest.Target, f func(code protocol.RequestCode, clientID string) sandbox.Fault) {
	tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault { return f(protocol.RequestCode(r.Command.Code), r.ClientID) })
}

func takes(d time.Duration) engine.ListenerFunc {
	return func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
		time.Sleep(d)
		return engine.ConsumeSuccess, nil
	}
}

func lockBody(group, client string, mq engine.MessageQueue) *protocol.LockBatchBody {
	return &protocol.LockBatchBody{ConsumerGroup: group, ClientID: client, MQSet: []engine.MessageQueue{mq}}
}

func giveBack(t *testing.T, c *remoting.Client, group string, mq engine.MessageQueue, from string) {
	t.Helper()
	if err := c.UnlockBatch(t.Context(), mq.BrokerName, lockBody(group, from, mq)); err != nil {
		t.Fatal(err)
	}
}

func steal(t *testing.T, c *remoting.Client, group string, mq engine.MessageQueue, from, to string) {
	t.Helper()
	for range 10 { // its owner may renew it in between
		giveBack(t, c, group, mq, from)
		got, err := c.LockBatch(t.Context(), mq.BrokerName, lockBody(group, to, mq))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 1 {
			return
		}
	}
	t.Fatalf("%s renews the lock of %v again and again", from, mq)
}

// about waits for an event of one queue.
func about[E engine.Event](m *member, mq engine.MessageQueue) E {
	m.t.Helper()
	return untilEvent(m, "an event of the queue", func(e E) bool { q, _ := e.About(); return q == mq })
}

// calls counts how many listener calls run at once.
type calls struct{ now, most atomic.Int32 }

func (c *calls) around(f engine.ListenerFunc) engine.ListenerFunc {
	return func(ctx context.Context, ms []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
		if n := c.now.Add(1); n > c.most.Load() {
			c.most.Store(n)
		}
		defer c.now.Add(-1)
		return f(ctx, ms, cc)
	}
}

func resetTo(mq engine.MessageQueue, to int64) engine.ResetRequest {
	return engine.ResetRequest{Queues: []engine.MessageQueue{mq}, Target: core.ResetTarget{Kind: core.ResetOffset, Offset: to}, By: "test"}
}

// An orderly queue that was suspended once rests when it is empty: were it to
// spin, the bubble's clock would stand still and the sleep never end.
func TestSuspendedQueueRests(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		var tries atomic.Int32
		m := join(t, tg, group, topic, func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
			if tries.Add(1) == 1 {
				return engine.SuspendCurrentQueueAMoment, nil
			}
			return engine.ConsumeSuccess, nil
		}, orderly)
		m.until("the second try", func() bool { return tries.Load() == 2 })
		time.Sleep(10 * time.Second)
	})
}

// A queue whose start offset could not be read rests while it asks again.
func TestFailedOffsetReadRests(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		var n atomic.Int32
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset {
				if f.Delay = 2 * time.Second; n.Add(1) <= 2 {
					f = sandbox.Fault{Code: protocol.SystemError}
				}
			}
			return f
		})
		awaitHeld(join(t, tg, group, topic, nil), topic, 1)
	})
}

// A queue that is full when its lock comes back is drained.
func TestFullQueueGoesOnAfterLockLoss(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 400)
		m := join(t, tg, group, topic, takes(500*time.Millisecond), orderly, named("me@1"), func(o *engine.Options) { o.PullThresholdForQueue = 40 })
		queueOf(m, topic, 0)
		m.until("flow control", func() bool { return snapOf(m, mq).Flow == core.FlowCount })
		steal(t, c, group, mq, "me@1", "other@1")
		about[engine.LockLost](m, mq)
		giveBack(t, c, group, mq, "other@1")
		time.Sleep(30 * time.Second)
		m.mu.Lock()
		k := len(m.seen)
		m.mu.Unlock()
		m.until("it goes on", func() bool { return len(m.seen) > k+5 })
	})
}

// A reset that does not wait for a long call starts no second one beside it.
func TestResetKeepsOrderlyCallsApart(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 10)
		var o calls
		m := join(t, tg, group, topic, o.around(takes(10*time.Second)), orderly,
			func(o *engine.Options) { o.AwaitTermination = time.Minute })
		m.until("a call", func() bool { return len(m.order[mq]) == 2 })
		_, _ = m.ResetOffset(t.Context(), resetTo(mq, 5))
		m.until("calls after it", func() bool { return len(m.order[mq]) >= 4 })
		if o.most.Load() > 1 {
			t.Error("two calls at once")
		}
	})
}

// An offset that was asked for before the lock was lost is not taken for the present one.
func TestStaleOffsetReadAfterLockLoss(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 20)
		var fast atomic.Bool
		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset && client == "me@1" && !fast.Load() {
				f.Delay = 2500 * time.Millisecond
			}
			return f
		})
		m := join(t, tg, group, topic, nil, orderly, named("me@1"))
		about[engine.LockGained](m, mq)
		time.Sleep(200 * time.Millisecond)
		steal(t, c, group, mq, "me@1", "other@1")
		about[engine.LockLost](m, mq)
		fast.Store(true)
		time.Sleep(5 * time.Second)
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 10); err != nil {
			t.Fatal(err)
		}
		giveBack(t, c, group, mq, "other@1")
		m.until("the rest", func() bool { return m.seen[at{mq, 19}] > 0 })
		if got := m.order[mq][0]; got != 10 {
			t.Errorf("first offset = %d, want 10", got)
		}
	})
}

// A broker that was restarted is asked for the locks at once: it has forgotten them.
func TestLocksAfterBrokerRestart(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		m := join(t, tg, group, topic, nil, orderly, named("a@1"))
		awaitHeld(m, topic, 1)
		time.Sleep(22 * time.Second)
		tg.Sandbox.StopBroker("broker-a")
		untilEvent[engine.BrokerOffline](m, "the broker is missed", nil)
		tg.Sandbox.StartBroker("broker-a")
		untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		time.Sleep(3 * time.Second)
		if owner := tg.Sandbox.LockOwner(group, mq); owner != "a@1" {
			t.Errorf("the lock belongs to %q", owner)
		}
	})
}

// A pull answer without its header moves nothing and is not asked for in a loop.
func TestPullAnswersWithoutHeader(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, code := range []protocol.ResponseCode{protocol.PullOffsetMoved, protocol.PullNotFound} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			tg.Produce(t, topic, 30)
			m := join(t, tg, group, topic, nil)
			m.until("30 messages", func() bool { return m.distinct() == 30 })
			var n atomic.Int32
			onFault(tg, func(c protocol.RequestCode, _ string) (f sandbox.Fault) {
				if c == protocol.PullMessage && n.Add(1) < 10000 {
					f.Code = code
				}
				return f
			})
			time.Sleep(30 * time.Second)
			if d := m.duplicates(); d != 0 || n.Load() > 200 {
				t.Errorf("%v: %d messages again, %d pulls in 30 s", code, d, n.Load())
			}
			tg.Sandbox.SetFault(nil)
			m.leave()
		}
	})
}

// A reset that was written but could not be read back leaves nothing believed
// durable that is not.
func TestResetNotReadBack(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 30)
		m := join(t, tg, group, topic, nil, named("me@1"))
		queueOf(m, topic, 0)
		m.until("all persisted", func() bool { return snapOf(m, mq).PersistedOffset == 30 })
		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset && client == "me@1" {
				f.Code = protocol.SystemError
			}
			return f
		})
		_, _ = m.ResetOffset(t.Context(), resetTo(mq, 10))
		time.Sleep(20 * time.Second)
		if got, _, err := c.QueryConsumerOffset(t.Context(), group, mq); err != nil || got != 30 {
			t.Errorf("the broker holds %d, %v, want 30", got, err)
		}
	})
}

// The last commit of a queue's old owner, which waits for a running call, does
// not go over its new owner's progress.
func TestOldOwnerDoesNotMoveTheCommitBack(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 20)
		a := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() >= 10 {
				time.Sleep(900 * time.Millisecond)
			}
			return engine.ConsumeSuccess, nil
		}, named("z@1"), func(o *engine.Options) { o.ConsumeThreadMin = 1 })
		a.until("some", func() bool { return len(a.order[mq]) >= 11 })
		b := join(t, tg, group, topic, nil, named("a@1"), func(o *engine.Options) { o.PersistInterval = 100 * time.Millisecond })
		b.until("the rest", func() bool { return b.seen[at{mq, 19}] > 0 })
		time.Sleep(20 * time.Second)
		if got, _, err := c.QueryConsumerOffset(t.Context(), group, mq); err != nil || got != 20 {
			t.Errorf("committed = %d, %v, want 20", got, err)
		}
	})
}

// A member whose leave waits for a long call keeps its locks and its membership:
// no other member runs the same queue meanwhile.
func TestLongLeaveKeepsItsLocks(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		var o calls
		l := o.around(takes(4 * time.Minute))
		long := func(o *engine.Options) { o.AwaitTermination = 10 * time.Minute }
		a := join(t, tg, group, topic, l, orderly, named("a@1"), long)
		a.until("a call", func() bool { return a.distinct() == 1 })
		join(t, tg, group, topic, l, orderly, named("b@1"), long)
		a.stop(errors.New("leave"))
		time.Sleep(3 * time.Minute)
		if o.most.Load() > 1 {
			t.Error("two calls at once")
		}
		time.Sleep(6 * time.Minute)
	})
}

// Who gives a queue away and cannot compare its progress with what is committed
// leaves that as it is: the next owner may be ahead.
func TestNoCommitWithoutTheComparison(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 60)
		slow := func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() >= 10 {
				<-ctx.Done()
			}
			return engine.ConsumeSuccess, nil
		}
		z := join(t, tg, group, topic, slow, named("z@1"))
		awaitCommit(z, topic, 10)
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 50); err != nil { // another owner's
			t.Fatal(err)
		}
		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset && client == "z@1" {
				f.Code = protocol.SystemError
			}
			return f
		})
		a := join(t, tg, group, topic, nil, named("a@1"))
		a.until("the rest", func() bool { return a.seen[at{mq, 59}] > 0 && len(a.order[mq]) >= 10 })
		if first := slices.Min(a.order[mq]); first != 50 {
			t.Errorf("the next owner began at %d, want 50", first)
		}
	})
}
