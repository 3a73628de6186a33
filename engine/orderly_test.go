package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// masterOf is the name of the one broker of a target.
func masterOf(t *testing.T, tg *sandboxtest.Target) string {
	t.Helper()
	for name := range tg.Masters(t) {
		return name
	}
	t.Fatal("no broker")
	return ""
}

// wantOffset checks what the broker holds.
func wantOffset(t *testing.T, tg *sandboxtest.Target, group string, mq engine.MessageQueue, want int64) {
	t.Helper()
	got, _, err := tg.Client(t, nil).QueryConsumerOffset(t.Context(), group, mq)
	if err != nil || got != want {
		t.Errorf("committed offset = %d, %v, want %d", got, err, want)
	}
}

// The table of docs/conformance/orderly.md 5: what a listener's verdicts do to the
// order of deliveries and to the committed offset.
func TestOrderlyVerdicts(t *testing.T) {
	const success, suspend, commit, rollback = engine.ConsumeSuccess, engine.SuspendCurrentQueueAMoment, engine.Commit, engine.Rollback
	tests := map[string]struct {
		auto      bool
		first     map[int64]engine.Status // at the first delivery of an offset; else success
		last      engine.Status           // of offset 4
		order     []int64
		committed int64
		ok        uint64
		failed    uint64
		suspends  int
	}{
		"on, success":            {true, nil, success, []int64{0, 1, 2, 3, 4}, 5, 5, 0, 0},
		"on, suspend":            {true, map[int64]engine.Status{1: suspend}, success, []int64{0, 1, 1, 2, 3, 4}, 5, 5, 1, 1},
		"on, no verdict":         {true, map[int64]engine.Status{0: 0}, success, []int64{0, 0, 1, 2, 3, 4}, 5, 5, 1, 1},
		"on, commit":             {true, map[int64]engine.Status{1: commit}, success, []int64{0, 1, 2, 3, 4}, 5, 5, 0, 0},
		"on, rollback":           {true, map[int64]engine.Status{1: rollback}, success, []int64{0, 1, 2, 3, 4}, 5, 5, 0, 0},
		"off, success":           {false, nil, success, []int64{0, 1, 2, 3, 4}, 0, 5, 0, 0},
		"off, commit at the end": {false, nil, commit, []int64{0, 1, 2, 3, 4}, 5, 5, 0, 0},
		"off, commit and more":   {false, map[int64]engine.Status{2: commit}, success, []int64{0, 1, 2, 3, 4}, 3, 5, 0, 0},
		"off, rollback":          {false, map[int64]engine.Status{2: rollback}, commit, []int64{0, 1, 2, 0, 1, 2, 3, 4}, 5, 7, 0, 1},
		"off, rollback after a commit": {false, map[int64]engine.Status{1: commit, 3: rollback}, commit,
			[]int64{0, 1, 2, 3, 2, 3, 4}, 5, 6, 0, 1},
		"off, suspend": {false, map[int64]engine.Status{2: suspend}, commit, []int64{0, 1, 2, 2, 3, 4}, 5, 5, 1, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 5)
				tried := map[int64]bool{}
				m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
					if !cc.AutoCommit || cc.SuspendCurrentQueueTime != 0 {
						t.Errorf("the context comes as %+v", cc)
					}
					cc.AutoCommit, cc.SuspendCurrentQueueTime = tt.auto, 20*time.Millisecond
					o := msgs[0].QueueOffset()
					if v, ok := tt.first[o]; ok && !tried[o] {
						tried[o] = true // one call at a time
						return v, nil
					}
					if o == 4 {
						return tt.last, nil
					}
					return success, nil
				}, orderly)
				mq := queueOf(m, topic, 0)
				m.until("all deliveries", func() bool { return len(m.order[mq]) >= len(tt.order) })
				m.until("they are settled", func() bool { return snapOf(m, mq).CommittedOffset == tt.committed })
				m.until("they are counted", func() bool { s := snapOf(m, mq); return s.Consumed >= tt.ok && s.Failed >= tt.failed })
				s := snapOf(m, mq)
				if s.Consumed != tt.ok || s.Failed != tt.failed {
					t.Errorf("consumed %d, failed %d, want %d, %d", s.Consumed, s.Failed, tt.ok, tt.failed)
				}
				if s.Consuming != 5-tt.committed {
					t.Errorf("taken and not committed = %d, want %d", s.Consuming, 5-tt.committed)
				}
				m.leave()
				if got := m.order[mq]; !slices.Equal(got, tt.order) {
					t.Errorf("order %v, want %v", got, tt.order)
				}
				wantOffset(t, tg, group, mq, tt.committed)
				if n := count[engine.RetrySuspend](m, nil); n != tt.suspends {
					t.Errorf("suspended %d times, want %d", n, tt.suspends)
				}
			})
		})
	}
}

// Case: A fails, B succeeds, and A is gone. The order is A, A, B, and the commit
// passes A only after its success.
func TestOrderlyFailureLosesNothing(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 2)
		var tries atomic.Int32
		release := make(chan struct{})
		m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 0 {
				switch tries.Add(1) {
				case 1:
					return 0, errors.New("A fails")
				case 2:
					<-release
				}
			}
			return engine.ConsumeSuccess, nil
		}, orderly)
		mq := queueOf(m, topic, 0)
		m.until("A again", func() bool { return tries.Load() == 2 })
		if s := snapOf(m, mq); s.CommittedOffset != 0 {
			t.Errorf("committed %d while A is tried again, want 0", s.CommittedOffset)
		}
		close(release)
		m.until("B", func() bool { return len(m.order[mq]) == 3 })
		m.leave()
		if got := m.order[mq]; !slices.Equal(got, []int64{0, 0, 1}) {
			t.Errorf("order %v, want A, A, B", got)
		}
		wantOffset(t, tg, group, mq, 2)
	})
}

// The pause of a suspended queue is the context's, else the option's, kept
// between 10 ms and 30 s (docs/conformance/orderly.md 3.1).
func TestSuspendTimes(t *testing.T) {
	for _, tt := range []struct{ asked, want time.Duration }{
		{0, time.Second}, {250 * time.Millisecond, 250 * time.Millisecond}, {time.Microsecond, 10 * time.Millisecond}, {time.Hour, 30 * time.Second}, {-1, time.Second},
	} {
		t.Run(tt.asked.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 1)
				calls := make(chan time.Time, 2)
				m := join(t, tg, group, topic, func(_ context.Context, _ []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
					cc.SuspendCurrentQueueTime = tt.asked
					if calls <- time.Now(); len(calls) == 1 {
						return engine.SuspendCurrentQueueAMoment, nil
					}
					return engine.ConsumeSuccess, nil
				}, orderly)
				m.until("two calls", func() bool { return len(calls) == 2 })
				if got := -(<-calls).Sub(<-calls); got != tt.want {
					t.Errorf("paused for %v, want %v", got, tt.want)
				}
				e := untilEvent[engine.RetrySuspend](m, "it is told", nil)
				if e.DelayMS != tt.want.Milliseconds() || e.ReconsumeTimes != 1 || e.Offset != 0 {
					t.Errorf("retry_suspend = %+v", e)
				}
			})
		})
	}
}

// A listener that commits by itself and never does runs into flow control: that
// is told with the reason, and a commit of the operator's kind, a higher limit, is
// the way out (trap T27).
func TestUncommittedMessagesAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 100)
		m := join(t, tg, group, topic, func(_ context.Context, _ []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			cc.AutoCommit = false
			return engine.ConsumeSuccess, nil
		}, orderly, func(o *engine.Options) { o.PullThresholdForQueue = 20 })
		mq := queueOf(m, topic, 0)
		e := untilEvent[engine.OrderlyUncommitted](m, "it is told", nil)
		if e.Cause != core.FlowCount || e.Limit != 20 || e.Count <= 20 || e.First != 0 {
			t.Errorf("orderly_uncommitted = %+v", e)
		}
		m.until("it is shown", func() bool {
			s := snapOf(m, mq)
			return s.State == engine.QueueFlow && strings.Contains(s.Detail, "not committed")
		})
		time.Sleep(time.Minute)
		if n := count[engine.OrderlyUncommitted](m, nil); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
	})
}

// A message whose retries are used up goes to the dead letters, the queue goes on
// and its offset moves over it, with and without auto-commit (trap T28). Tries are
// counted in memory, from the stored count on (docs/conformance/orderly.md 5.1, 5.2).
func TestOrderlyDeadLetters(t *testing.T) {
	for name, auto := range map[string]bool{"auto-commit": true, "own commits": false} {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 4)
				m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
					cc.AutoCommit, cc.SuspendCurrentQueueTime = auto, 10*time.Millisecond
					switch o := msgs[0].QueueOffset(); {
					case o == 1:
						return engine.SuspendCurrentQueueAMoment, nil
					case o == 3 && !auto:
						return engine.Commit, nil
					}
					return engine.ConsumeSuccess, nil
				}, orderly, func(o *engine.Options) { o.MaxReconsumeTimes = 2 })
				mq := queueOf(m, topic, 0)
				m.until("the last one", func() bool { return m.seen[at{mq, 3}] == 1 })
				m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 4 })
				if got, want := m.order[mq], []int64{0, 1, 1, 1, 2, 3}; !slices.Equal(got, want) {
					t.Errorf("order %v, want %v", got, want)
				}
				dead := untilEvent[engine.SentBack](m, "the dead letter", nil)
				if dead.Target != "dlq" || dead.Offset != 1 || dead.ReconsumeTimes != 3 {
					t.Errorf("sendback_ok = %+v", dead)
				}
				letters := readDeadLetters(t, tg, group, 1)
				if x := &letters[0]; x.OriginalTopic() != topic || x.ReconsumeTimes() != 3 || string(x.StoredBody()) != "message 1" {
					t.Errorf("dead letter: original topic %s, reconsumed %d, body %q", x.OriginalTopic(), x.ReconsumeTimes(), x.StoredBody())
				}
				m.leave()
				if n := count[engine.SentBack](m, nil); n != 1 {
					t.Errorf("%d messages were sent away, want 1", n)
				}
			})
		})
	}
}

// Of a batch with one used-up message and one fresh one both are tried again, but
// the used-up one is sent away only once.
func TestOrderlyBatchWithOneUsedUp(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		var n atomic.Int32
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			cc.SuspendCurrentQueueTime = 10 * time.Millisecond
			// The first call has offsets 0 and 1. Then 0 comes with 1 again, used up by one
			// try, while nothing is fresh: so a batch of both is made by a limit of 1.
			if n.Add(1) <= 2 {
				return engine.SuspendCurrentQueueAMoment, nil
			}
			return engine.ConsumeSuccess, nil
		}, orderly, batches(2), func(o *engine.Options) { o.MaxReconsumeTimes = 1 })
		mq := queueOf(m, topic, 0)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 3 })
		if got, want := m.order[mq], []int64{0, 1, 0, 1, 2}; !slices.Equal(got, want) {
			t.Errorf("order %v, want %v", got, want)
		}
		if k := count[engine.SentBack](m, nil); k != 2 {
			t.Errorf("%d messages were sent away, want 2", k)
		}
	})
}

// readDeadLetters waits until a group has n dead letters and returns them.
func readDeadLetters(t *testing.T, tg *sandboxtest.Target, group string, n int) []engine.Message {
	t.Helper()
	c := tg.Client(t, nil)
	mq := engine.MessageQueue{Topic: protocol.DLQTopic(group), BrokerName: masterOf(t, tg)}
	sandboxtest.Await(t, fmt.Sprintf("%d dead letters of %s", n, group), func(ctx context.Context) bool {
		max, err := c.MaxOffset(ctx, mq)
		return err == nil && max >= int64(n)
	})
	addr := tg.Masters(t)[mq.BrokerName]
	var msgs []engine.Message
	sandboxtest.Await(t, "the dead letters can be read", func(ctx context.Context) bool {
		res, err := c.Pull(ctx, addr, &protocol.PullMessageRequestHeader{
			ConsumerGroup: group, Topic: mq.Topic, QueueOffset: 0, MaxMsgNums: 32, SysFlag: protocol.PullSubscription,
			Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
		})
		if err != nil {
			return false
		}
		msgs, err = protocol.AppendMessages(nil, res.Body, &protocol.MessageSource{BrokerName: mq.BrokerName})
		return err == nil && len(msgs) >= n
	})
	return msgs
}

// A call that ends after its queue's lock was lost is not committed while somebody
// else may have the queue: over another owner's progress never, and otherwise when
// the lock is held again.
func TestCallEndsAfterLockLoss(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		others    int64 // commit of another owner meanwhile; 0: none
		backFirst bool  // the lock is held again before the call ends
		order     []int64
		discarded int
	}{
		"another owner went on":             {6, false, []int64{0, 1, 2, 3, 6, 7, 8, 9}, 1},
		"another owner went on, lock again": {6, true, []int64{0, 1, 2, 3, 6, 7, 8, 9}, 1},
		"nobody did":                        {0, false, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0},
		"nobody did, lock again":            {0, true, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := sandboxtest.Sandboxes
			if !tt.backFirst { // one of each kind on real brokers: a renewal takes 20 s there
				in |= sandboxtest.Real
			}
			sandboxtest.RunIn(t, in, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				mq := engine.MessageQueue{Topic: topic, BrokerName: masterOf(t, tg)}
				c := tg.Client(t, nil)
				tg.Produce(t, topic, 10)
				release := make(chan struct{})
				m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
					if msgs[0].QueueOffset() == 3 {
						<-release
					}
					return engine.ConsumeSuccess, nil
				}, orderly, named("me@1"), await(time.Minute), func(o *engine.Options) { o.PersistInterval = time.Second })
				m.until("the call", func() bool { return m.seen[at{mq, 3}] == 1 })
				m.until("what was before is stored", func() bool { return snapOf(m, mq).PersistedOffset == 3 })
				steal(t, c, group, mq, "me@1", "other@1")
				if lost := about[engine.LockLost](m, mq); lost.Cause != "refused" {
					t.Errorf("lock_lost = %+v", lost)
				}
				if tt.others > 0 {
					if err := c.UpdateConsumerOffset(t.Context(), group, mq, tt.others); err != nil {
						t.Fatal(err)
					}
				}
				gained := func() bool {
					return slices.ContainsFunc(m.events[slices.IndexFunc(m.events, func(e engine.Event) bool { _, ok := e.(engine.LockLost); return ok }):],
						func(e engine.Event) bool { g, ok := e.(engine.LockGained); return ok && g.MQ == mq })
				}
				if tt.backFirst {
					giveBack(t, c, group, mq, "other@1")
					m.until("the lock is back", gained)
					time.Sleep(time.Second)
				}
				close(release)
				if !tt.backFirst {
					select {
					case <-time.After(3 * time.Second): // three rounds of the persister
					case <-t.Context().Done():
					}
					wantOffset(t, tg, group, mq, max(3, tt.others))
					giveBack(t, c, group, mq, "other@1")
				}
				m.until("the last message", func() bool { return m.seen[at{mq, 9}] == 1 })
				m.leave()
				if got := m.order[mq]; !slices.Equal(got, tt.order) {
					t.Errorf("order %v, want %v", got, tt.order)
				}
				wantOffset(t, tg, group, mq, 10)
				n := 0
				for _, e := range m.told() {
					if x, ok := e.(engine.ConsumeDiscarded); ok {
						if n += x.Count; x.First != 3 || x.Phase != "after" {
							t.Errorf("consume_discarded = %+v", x)
						}
					}
				}
				if n != tt.discarded {
					t.Errorf("%d messages told as discarded, want %d", n, tt.discarded)
				}
			})
		})
	}
}

// A member that leaves while its lock is lost gives up what its last call did.
func TestLeaveWithoutTheLock(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 10)
		release := make(chan struct{})
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 3 {
				<-release
			}
			return engine.ConsumeSuccess, nil
		}, orderly, named("me@1"), await(time.Minute))
		m.until("the call", func() bool { return m.seen[at{mq, 3}] == 1 })
		steal(t, c, group, mq, "me@1", "other@1")
		about[engine.LockLost](m, mq)
		m.until("it is shown", func() bool {
			s := snapOf(m, mq)
			return s.State == engine.QueueUnlocked && strings.Contains(s.Detail, "another client holds it")
		})
		close(release)
		time.Sleep(2 * time.Second)
		m.leave()
		wantOffset(t, tg, group, mq, 3)
		if got := about[engine.ConsumeDiscarded](m, mq); got.First != 3 || got.Count != 1 {
			t.Errorf("consume_discarded = %+v", got)
		}
		if owner := tg.Sandbox.LockOwner(group, mq); owner != "other@1" {
			t.Errorf("the lock belongs to %q, want other@1", owner)
		}
	})
}

// Leaving stops the listeners, stores the offsets, gives the locks back and only
// then leaves the group, so that the next owner reads the last offset (trap T09).
func TestOrderlyLeaveInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5)
		m := join(t, tg, group, topic, nil, orderly, named("me@1"), func(o *engine.Options) { o.PersistInterval = time.Hour })
		mq := queueOf(m, topic, 0)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 5 })
		var n notes
		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			if client == "me@1" {
				n.add(code.String())
			}
			return f
		})
		m.leave()
		got := slices.DeleteFunc(n.all(), func(s string) bool {
			return s != protocol.UpdateConsumerOffset.String() && s != protocol.UnlockBatchMQ.String() && s != protocol.UnregisterClient.String()
		})
		got = slices.Compact(got) // the retry topic's queue has an offset too
		want := []string{protocol.UpdateConsumerOffset.String(), protocol.UnlockBatchMQ.String(), protocol.UnregisterClient.String()}
		if !slices.Equal(got, want) {
			t.Errorf("requests of the leave: %v, want %v", got, want)
		}
	})
}

// Broadcasting never asks for a lock: each member gets every queue, in order
// (trap T31).
func TestOrderlyBroadcastingHasNoLock(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		broadcast := func(o *engine.Options) { o.MessageModel = protocol.Broadcasting }
		a := join(t, tg, group, topic, nil, orderly, broadcast, named("one@DEFAULT"))
		b := join(t, tg, group, topic, nil, orderly, broadcast, named("two@DEFAULT"))
		awaitHeld(a, topic, 2)
		awaitHeld(b, topic, 2)
		tg.Produce(t, topic, 50)
		a.until("all", func() bool { return a.distinct() == 50 })
		b.until("all", func() bool { return b.distinct() == 50 })
		for _, m := range []*member{a, b} {
			if n := count[engine.LockGained](m, nil); n != 0 {
				t.Errorf("%d locks were taken", n)
			}
			m.leave()
			checkOrder(t, m)
		}
	})
}

// Locks are renewed every 20 s, all queues of a broker in one request, the first
// time a second after the start (docs/conformance/orderly.md 2).
func TestLockRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Brokers("broker-a", "broker-b"), sandboxtest.Topic("orders", 4))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		type request struct {
			at     time.Duration
			broker string
			queues int
		}
		var mu sync.Mutex // guards asked
		var asked []request
		began := time.Now()
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if r.Command.Code == int32(protocol.LockBatchMQ) {
				body, err := protocol.DecodeLockBatch(r.Command.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, request{time.Since(began), r.Broker, len(body.MQSet)})
			}
			return f
		})
		m := join(t, tg, "g", "orders", nil, orderly)
		awaitHeld(m, "orders", 8)
		time.Sleep(time.Minute)
		m.leave()
		mu.Lock()
		defer mu.Unlock()
		times := map[string][]time.Duration{}
		for _, r := range asked {
			if r.at >= time.Second {
				if r.queues != 5 { // the retry topic's too
					t.Errorf("a renewal of %d queues at %v, want all 5 of %s", r.queues, r.at, r.broker)
				}
				times[r.broker] = append(times[r.broker], r.at)
			}
		}
		for _, b := range []string{"broker-a", "broker-b"} {
			if want := []time.Duration{time.Second, 21 * time.Second, 41 * time.Second}; !slices.Equal(times[b], want) {
				t.Errorf("renewals at %s: %v, want %v", b, times[b], want)
			}
		}
	})
}

// Two queues share one thread: neither waits for the other to be empty (in place
// of MAX_TIME_CONSUME_CONTINUOUSLY, docs/conformance/orderly.md 3, 4d).
func TestOrderlyQueuesTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 400)
		var n notes
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			n.add(fmt.Sprint(msgs[0].QueueID()))
			time.Sleep(20 * time.Millisecond)
			return engine.ConsumeSuccess, nil
		}, orderly, threads(1))
		m.until("all", func() bool { return m.distinct() == 400 })
		had := map[string]int{}
		for _, q := range n.all() {
			if had[q]++; had[q] == 200 {
				break
			}
		}
		if had["0"] < 190 || had["1"] < 190 {
			t.Errorf("when one queue was done they had had %v messages, want about 200 each", had)
		}
	})
}

// An orderly queue that is given away waits for its running call, and the next
// owner gets nothing before that call has ended (the third lock).
func TestOrderlyQueueWaitsForItsCall(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		var o calls
		l := o.around(takes(90 * time.Second))
		a := join(t, tg, group, topic, l, orderly, named("z@1"), await(5*time.Minute))
		a.until("a call", func() bool { return a.distinct() == 1 })
		b := join(t, tg, group, topic, o.around(takes(0)), orderly, named("a@1"))
		mq := queueOf(b, topic, 0)
		about[engine.QueueDropped](a, mq)
		time.Sleep(45 * time.Second)
		b.until("it is refused", func() bool { return strings.Contains(snapOf(b, mq).Detail, "another client holds it") })
		b.until("the rest", func() bool { return b.distinct() == 2 })
		if o.most.Load() != 1 {
			t.Error("two calls at once")
		}
		a.leave()
		b.leave()
		checkOnce(t, a, b)
	})
}

// A message that cannot be sent away stays at the head and is tried again; tries
// are counted in memory only, so the next owner begins at the stored count
// (docs/conformance/orderly.md 5.1).
func TestOrderlyRetriesAreCountedInMemory(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 1)
		var refuse atomic.Bool
		refuse.Store(true)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.SendMessageV2 && refuse.Load() {
				f.Code = protocol.SystemBusy
			}
			return f
		})
		suspend := listen(func(*engine.Message, *engine.ConsumeContext) engine.Status { return engine.SuspendCurrentQueueAMoment })
		limit := func(o *engine.Options) { o.MaxReconsumeTimes = 2 }
		a := join(t, tg, group, topic, suspend, orderly, limit)
		a.until("more tries than the limit", func() bool { return len(a.order[mq]) == 5 })
		a.leave()
		wantOffset(t, tg, group, mq, 0)
		var counted []int32
		for _, e := range a.told() {
			if x, ok := e.(engine.RetrySuspend); ok && x.MQ == mq {
				counted = append(counted, x.ReconsumeTimes)
			}
		}
		if len(counted) < 4 || !slices.Equal(counted[:4], []int32{1, 2, 3, 4}) {
			t.Errorf("tries told: %v", counted)
		}
		if n := count[engine.SendBackFailed](a, nil); n < 2 {
			t.Errorf("%d failures to send it away were told, want at least 2", n)
		}
		refuse.Store(false)
		b := join(t, tg, group, topic, suspend, orderly, limit)
		b.until("it is given up", func() bool { return snapOf(b, mq).CommittedOffset == 1 })
		if n := len(b.order[mq]); n != 3 {
			t.Errorf("the next owner tried %d times, want 3", n)
		}
	})
}

// While the lock was lost and the store is being asked what others have done, the
// old run goes no further; and what was consumed before the loss, not yet stored,
// is not stored over another owner's progress.
func TestLostLockStopsRunAndCommits(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 10)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			if x.QueueOffset() == 3 {
				<-release
			}
			return engine.ConsumeSuccess
		}), orderly, named("me@1"), await(time.Minute), func(o *engine.Options) { o.PersistInterval = 25 * time.Second })
		m.until("the call", func() bool { return m.seen[at{mq, 3}] == 1 })
		steal(t, c, group, mq, "me@1", "other@1")
		about[engine.LockLost](m, mq)
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 6); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second) // a round of the persister
		wantOffset(t, tg, group, mq, 6)
		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset && client == "me@1" {
				f.Delay = 2 * time.Second
			}
			return f
		})
		giveBack(t, c, group, mq, "other@1")
		m.until("the lock is back", func() bool { return tg.Sandbox.LockOwner(group, mq) == "me@1" })
		time.Sleep(100 * time.Millisecond)
		close(release)
		m.until("the rest", func() bool { return m.seen[at{mq, 9}] == 1 })
		m.leave()
		if got := m.order[mq]; !slices.Equal(got, []int64{0, 1, 2, 3, 6, 7, 8, 9}) {
			t.Errorf("order %v", got)
		}
		wantOffset(t, tg, group, mq, 10)
	})
}

// An orderly queue that waits for its running call goes on waiting when its topic
// is given up meanwhile.
func TestUnsubscribedWhileGivenAway(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		var o calls
		slow := o.around(takes(20 * time.Second))
		long := func(o *engine.Options) { o.AwaitTermination = time.Minute }
		b := join(t, tg, group, topic, slow, orderly, named("b@1"), long)
		b.until("a call", func() bool { return len(b.order[mq]) == 1 })
		a := join(t, tg, group, topic, slow, orderly, named("a@1"), long)
		about[engine.QueueDropped](b, mq)
		if err := b.UnsubscribeTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		a.until("the other's turn", func() bool { return len(a.order[mq]) > 0 })
		if n := o.most.Load(); n > 1 {
			t.Error("two calls at once")
		}
	})
}
