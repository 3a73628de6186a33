package engine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Cases that people have reported of other consumers.

// Case: a broker that is restarted leaves one queue of an orderly group standing
// still. Here each queue goes on after each of five restarts.
func TestOrderlyOverBrokerRestarts(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		m := join(t, tg, group, topic, nil, orderly, func(o *engine.Options) { o.PersistInterval = 500 * time.Millisecond })
		awaitHeld(m, topic, 8)
		for i := 1; i <= 5; i++ {
			tg.Produce(t, topic, 40)
			m.until(fmt.Sprint("what came before restart ", i), func() bool { return m.distinct() == 40*i })
			time.Sleep(2 * time.Second)
			tg.Sandbox.StopBroker("broker-a")
			time.Sleep(20 * time.Second)
			tg.Sandbox.StartBroker("broker-a")
			time.Sleep(5 * time.Second)
		}
		tg.Produce(t, topic, 8)
		m.until("one more of each queue", func() bool { return m.distinct() == 208 })
		m.leave()
		checkOrder(t, m)
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// Case: the answer to one queue's pull is lost. The pull is told as overdue and
// asked again when twice the long poll is over, while the other queues go on.
func TestLostPullAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 8)
		mq := queueOf(m, topic, 3)
		var lost atomic.Int32
		onFaultOf(tg, func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage && protocol.DecodeFields(r.Command.ExtFields, &h) == nil && h.Topic == topic && h.QueueID == 3 {
				f.Drop = lost.Add(1) == 1
			}
			return f
		})
		m.until("a pull is lost", func() bool { return lost.Load() == 1 })
		began := time.Now()
		tg.Produce(t, topic, 80)
		m.until("the other queues", func() bool { return m.distinct() == 70 })
		if took := time.Since(began); took > time.Second {
			t.Errorf("the other queues took %v", took)
		}
		e := untilEvent(m, "it is told", func(e engine.PullError) bool { return e.MQ == mq })
		m.until("the rest", func() bool { return m.distinct() == 80 })
		if took := time.Since(began); took > 32*time.Second || !strings.Contains(e.Error, "no answer from") {
			t.Errorf("the queue came back after %v: %+v", took, e)
		}
	})
}

// onFaultOf is onFault for a hook that wants the whole request.
func onFaultOf(tg *sandboxtest.Target, f func(sandbox.Request) sandbox.Fault) { tg.Sandbox.SetFault(f) }

// Case: one message never returns while all others finish. The span looks like 0
// and nothing is throttled, but what would come again can be seen.
func TestWhatWouldComeAgainIsShown(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5000)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			if x.QueueOffset() == 10 {
				<-release
			}
			return engine.ConsumeSuccess
		}))
		mq := queueOf(m, topic, 0)
		m.until("all others", func() bool { return m.distinct() == 5000 })
		m.until("it is shown", func() bool {
			s := snapOf(m, mq)
			return s.CommittedOffset == 10 && s.CachedMin == 10 && s.NextOffset == 5000 && s.CachedDone == 4989 && s.CachedCount == 1 &&
				s.InProcess == 1 && s.Span == 0
		})
		close(release)
	})
}

// Case: a queue behind span flow control stays blocked. The condition opens and
// closes with both times, and pulling goes on within a second of the release.
func TestFlowControlEndsWithItsCause(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5000)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			switch o := x.QueueOffset(); {
			case o == 0:
				<-release
			case o > 900: // so that something far from the head is not done
				select {
				case <-release:
				case <-time.After(time.Second):
				}
			}
			return engine.ConsumeSuccess
		}), func(o *engine.Options) { o.ConsumeConcurrentlyMaxSpan, o.PullThresholdForQueue = 1000, 10_000 })
		mq := queueOf(m, topic, 0)
		begin := untilEvent[engine.FlowBegin](m, "it opens", nil)
		time.Sleep(20 * time.Second)
		stopped := snapOf(m, mq).NextOffset
		released := time.Now()
		close(release)
		m.until("pulling goes on", func() bool { return snapOf(m, mq).NextOffset > stopped })
		if took := time.Since(released); took > time.Second {
			t.Errorf("pulling went on after %v", took)
		}
		end := untilEvent[engine.FlowEnd](m, "it closes", nil)
		if begin.Cause != core.FlowSpan || end.Cause != core.FlowSpan || end.DurationMS < 19_000 || !end.Time.After(begin.Time) {
			t.Errorf("%+v, %+v", begin, end)
		}
		m.until("all", func() bool { return m.distinct() == 5000 })
	})
}

// Case: after errors the delayed pull skips the look at the cache. Here no pull
// does: the cache is never above the limit and one pull.
func TestDelayedPullsKeepTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		var errs atomic.Bool
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.PullMessage && errs.Load() {
				f.Code = protocol.SystemError
			}
			return f
		})
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(*engine.Message, *engine.ConsumeContext) engine.Status { <-release; return engine.ConsumeSuccess }),
			threads(1), func(o *engine.Options) { o.PullThresholdForQueue = 100 })
		mq := queueOf(m, topic, 0)
		most := int64(0)
		look := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
				most = max(most, snapOf(m, mq).CachedCount)
			}
		}
		for range 5 {
			errs.Store(true)
			tg.Produce(t, topic, 200)
			look(5 * time.Second)
			errs.Store(false)
			look(5 * time.Second)
		}
		if most <= 100 || most > 132 {
			t.Errorf("at most %d messages were cached, want more than 100 and at most 132", most)
		}
		close(release)
		m.until("all", func() bool { return m.distinct() == 1000 })
	})
}

// Case: when a full cache has drained, the next pull waits for a fixed delay.
func TestPullingResumesWhenTheCacheDrains(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1000)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(*engine.Message, *engine.ConsumeContext) engine.Status { <-release; return engine.ConsumeSuccess }),
			func(o *engine.Options) { o.PullThresholdForQueue = 100 })
		mq := queueOf(m, topic, 0)
		m.until("the cache is full", func() bool { return snapOf(m, mq).Flow == core.FlowCount })
		var mu sync.Mutex // guards next
		var next time.Time
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			mu.Lock()
			defer mu.Unlock()
			if code == protocol.PullMessage && next.IsZero() {
				next = time.Now()
			}
			return f
		})
		time.Sleep(10 * time.Second)
		mu.Lock()
		next = time.Time{} // the retry topic's long poll may have come round
		mu.Unlock()
		released := time.Now()
		close(release)
		m.until("all", func() bool { return m.distinct() == 1000 })
		mu.Lock()
		defer mu.Unlock()
		if took := next.Sub(released); took > 50*time.Millisecond {
			t.Errorf("the next pull went out %v after the drain, want at most 50 ms", took)
		}
	})
}

// Case: does a backlog sit at the broker or in the client?
func TestBacklogIsSeenByPlace(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5000)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(*engine.Message, *engine.ConsumeContext) engine.Status { <-release; return engine.ConsumeSuccess }),
			threads(7))
		mq := queueOf(m, topic, 0)
		m.until("it is shown", func() bool {
			s := snapOf(m, mq)
			return s.Flow == core.FlowCount && s.FlowLimit == 1000 && s.InProcess == 7 && s.CachedCount > 1000 && s.MaxOffset-s.NextOffset == 5000-s.CachedCount
		})
		close(release)
		m.until("all", func() bool { return m.distinct() == 5000 })
	})
}

// Case: an orderly listener that suspends for minutes with a full cache is judged
// idle, dropped and added again for ever. Here it stays, and goes on at once.
func TestLongSuspensionDropsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 400)
		var up atomic.Bool
		m := join(t, tg, group, topic, listen(func(*engine.Message, *engine.ConsumeContext) engine.Status {
			if up.Load() {
				return engine.ConsumeSuccess
			}
			return engine.SuspendCurrentQueueAMoment
		}), orderly, func(o *engine.Options) { o.PullThresholdForQueue = 100 })
		mq := queueOf(m, topic, 0)
		m.until("the cache is full", func() bool { return snapOf(m, mq).Flow == core.FlowCount })
		m.until("the suspension is shown", func() bool {
			s := snapOf(m, mq)
			return s.State == engine.QueueSuspended && strings.Contains(s.Detail, "retry of the head in")
		})
		time.Sleep(4 * time.Minute)
		up.Store(true)
		began := time.Now()
		m.until("all", func() bool { return m.distinct() == 400 })
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("it took %v to go on", took)
		}
		m.leave()
		dropped := count(m, func(e engine.QueueDropped) bool { return e.Cause != "shutdown" })
		if lost := count[engine.LockLost](m, nil); dropped != 0 || lost != 0 {
			t.Errorf("dropped %d times, lock lost %d times", dropped, lost)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// Case: an orderly member waits up to 20 s for its first message.
func TestOrderlyStartsSoon(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 100)
		began := time.Now()
		m := join(t, tg, group, topic, nil, orderly)
		m.until("a message", func() bool { return m.distinct() > 0 })
		if took := time.Since(began); tooLong(tg, took, 3*time.Second) {
			t.Errorf("the first message came after %v, want 3 s", took)
		}
		m.until("all", func() bool { return m.distinct() == 100 })
	})
}

// Case: a lock is refused again and again, and nobody says why. A dead client's
// lease ends by itself; until then the queue says what it waits for.
func TestLockOfADeadClient(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 5)
		if got, err := tg.Client(t, nil).LockBatch(t.Context(), mq.BrokerName, lockBody(group, "dead@1", mq)); err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		began := time.Now()
		m := join(t, tg, group, topic, nil, orderly)
		e := untilEvent(m, "it is told", func(e engine.QueueAddFailed) bool { return e.Cause == "lock" && e.MQ == mq })
		if !strings.Contains(e.Error, "within 60s") {
			t.Errorf("queue_add_failed = %+v", e)
		}
		time.Sleep(30 * time.Second)
		m.until("it is shown", func() bool {
			s := snapOf(m, mq)
			return s.State == engine.QueueTaking && strings.Contains(s.Detail, "the broker refuses the lock for 30s: another client holds it")
		})
		m.until("all", func() bool { return m.distinct() == 5 })
		if took := time.Since(began); took < 55*time.Second || took > 65*time.Second {
			t.Errorf("taken after %v, want when the lease of 60 s has ended", took)
		}
	})
}

// Case: batches that finish out of order move the offset by one or not at all. It
// is the smallest unfinished one, and at last the end.
func TestOutOfOrderCompletion(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		release := make([]chan struct{}, 10)
		for i := range release {
			release[i] = make(chan struct{})
		}
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			<-release[x.QueueOffset()]
			return engine.ConsumeSuccess
		}))
		mq := queueOf(m, topic, 0)
		m.until("ten calls", func() bool { return m.distinct() == 10 })
		finished := map[int64]bool{}
		for _, o := range []int64{9, 7, 8, 0, 2, 1, 6, 5, 3, 4} {
			close(release[o])
			finished[o] = true
			want := int64(0)
			for finished[want] {
				want++
			}
			m.until("it is settled", func() bool {
				s := snapOf(m, mq)
				return s.CachedCount == int64(10-len(finished)) && s.CommittedOffset == want
			})
		}
		m.leave()
		again := join(t, tg, group, topic, nil)
		tg.Produce(t, topic, 1)
		again.until("the next one", func() bool { return again.seen[at{mq, 10}] == 1 })
		if again.distinct() != 1 {
			t.Errorf("%d messages came again", again.distinct()-1)
		}
	})
}

// A record that is broken in the store stops its queue there: what lies before it
// is consumed, nothing is passed over, and the operator's reset to behind it is the
// way to go on without it.
func TestOperatorPassesOverABrokenRecord(t *testing.T) {
	for name, mode := range map[string]change{"concurrent": func(*engine.Options) {}, "orderly": orderly} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 20)
				w := newWire(tg)
				w.onAnswer(func(req, answer *protocol.Command) []byte {
					var h protocol.PullMessageRequestHeader
					if protocol.RequestCode(req.Code) != protocol.PullMessage || protocol.DecodeFields(req.ExtFields, &h) != nil || h.Topic != topic || answer.Code != int32(protocol.Success) {
						return nil
					}
					b := append([]byte(nil), answer.Body...)
					for r := b; len(r) > 0; r = r[binary.BigEndian.Uint32(r):] {
						if binary.BigEndian.Uint64(r[20:]) == 7 { // the queue offset
							r[4] ^= 0xff
						}
					}
					return body(answer, b)
				})
				m := joinOver(t, tg, w, group, topic, nil, mode)
				mq := queueOf(m, topic, 0)
				m.until("what lies before it", func() bool { return snapOf(m, mq).CommittedOffset == 7 })
				time.Sleep(time.Minute)
				e := untilEvent[engine.MessageUndecodable](m, "it is told", nil)
				if n := count[engine.MessageUndecodable](m, nil); e.Offset != 7 || n != 1 {
					t.Errorf("message_undecodable = %+v, %d times, want 7, once", e, n)
				}
				if s := snapOf(m, mq); m.distinct() != 7 || s.State != engine.QueueError || s.CommittedOffset != 7 {
					t.Errorf("%d messages, %v, committed %d", m.distinct(), s.State, s.CommittedOffset)
				}
				rows, err := m.ResetOffset(t.Context(), resetTo(mq, 8))
				if err != nil || rows[0].Err != nil || !rows[0].Verified {
					t.Fatalf("reset: %+v, %v", rows, err)
				}
				m.until("the rest", func() bool { return m.distinct() == 19 && snapOf(m, mq).CommittedOffset == 20 })
				m.leave()
				if m.seen[at{mq, 7}] != 0 || m.duplicates() != 0 {
					t.Errorf("the broken one came %d times, %d duplicates", m.seen[at{mq, 7}], m.duplicates())
				}
			})
		})
	}
}

// An orderly queue whose dispatch ends in any way is dispatched again (trap T30).
func TestOrderlyDispatchIsNeverLost(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 3), tg.Group(t)
		c := tg.Client(t, nil)
		var n atomic.Int32
		m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			cc.SuspendCurrentQueueTime = 10 * time.Millisecond
			switch n.Add(1) % 7 {
			case 0:
				return 0, fmt.Errorf("no")
			case 2:
				return engine.SuspendCurrentQueueAMoment, nil
			case 4:
				return 0, nil
			}
			time.Sleep(50 * time.Millisecond)
			return engine.ConsumeSuccess, nil
		}, orderly, named("me@1"), threads(1)) // two of three runs wait for the thread
		awaitHeld(m, topic, 3)
		tg.Produce(t, topic, 90)
		for i := range 4 {
			mq := queueOf(m, topic, int32(i%3))
			time.Sleep(time.Second)
			if i == 3 {
				if _, err := m.ResetOffset(t.Context(), resetTo(mq, snapOf(m, mq).CommittedOffset)); err != nil {
					t.Fatal(err)
				}
				continue
			}
			steal(t, c, group, mq, "me@1", "other@1")
			time.Sleep(21 * time.Second)
			giveBack(t, c, group, mq, "other@1")
		}
		m.until("all", func() bool { return m.distinct() == 90 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}
