package engine_test

import (
	"context"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// keptOffsets is a store in memory, as a broadcasting member's file is.
type keptOffsets struct {
	mu      sync.Mutex // guards offsets
	offsets map[engine.MessageQueue]int64
}

func (k *keptOffsets) Load(_ context.Context, mq engine.MessageQueue) (int64, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.offsets[mq]
	return o, ok, nil
}

func (k *keptOffsets) Save(_ context.Context, offsets map[engine.MessageQueue]int64) map[engine.MessageQueue]error {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.Copy(k.offsets, offsets)
	return nil
}

// A broadcasting member that gives queues up makes their offsets durable and
// begins there when it takes them again, not at what was written last before
// (trap T04). What it has given up is neither written nor told of any more (T44).
func TestBroadcastingQueueGivenUpAndTakenAgain(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		kept := &keptOffsets{offsets: map[engine.MessageQueue]int64{}}
		m := joinStore(t, tg, group, topic, nil, func(engine.OffsetStore) engine.OffsetStore { return kept },
			func(o *engine.Options) { o.MessageModel, o.PersistInterval = protocol.Broadcasting, time.Hour })
		awaitHeld(m, topic, 2)
		tg.Produce(t, topic, 40)
		m.until("40 messages", func() bool { return m.distinct() == 40 })
		if err := m.UnsubscribeTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		m.until("both are removed", func() bool { return held(m, topic) == 0 && len(m.Snapshot().Queues) == 0 })
		total := int64(0)
		for _, o := range kept.offsets {
			total += o
		}
		if total != 40 {
			t.Errorf("the store holds %v after the queues were given up, want 40 together", kept.offsets)
		}
		tg.Produce(t, topic, 10)
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: topic}); err != nil {
			t.Fatal(err)
		}
		m.until("the new ones", func() bool { return m.distinct() == 50 })
		if d := m.duplicates(); d != 0 {
			t.Errorf("%d messages came again", d)
		}
	})
}

// An orderly queue whose call runs long while it is given away, and which is given
// back meanwhile, is consumed again as soon as that call has ended (trap T05: Java
// leaves it for two minutes); the pass goes on meanwhile and gives the others away
// (trap T06: Java's stands still for half a second a queue).
func TestQueueComesBackWhileItIsGivenAway(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		busy := engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 3}
		var long, at atomic.Int64
		long.Store(int64(5 * time.Second))
		a := join(t, tg, group, topic, func(_ context.Context, ms []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if ms[0].MessageQueue() == busy {
				at.CompareAndSwap(0, time.Now().UnixNano())
				time.Sleep(time.Duration(long.Swap(0)))
			}
			return engine.ConsumeSuccess, nil
		}, orderly, named("a"))
		awaitHeld(a, topic, 4)
		tg.Produce(t, topic, 8)
		a.until("the long call", func() bool { return at.Load() != 0 })

		b := join(t, tg, group, topic, nil, orderly, named("b"))
		other := engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 2}
		taken := about[engine.QueueAdded](b, other)
		if took := taken.Time.Sub(time.Unix(0, at.Load())); took > 3*time.Second {
			t.Errorf("the queue beside the busy one was handed over after %v", took)
		}
		b.leave() // before the long call has ended
		removed := about[engine.QueueRemoved](a, busy)
		if took := removed.Time.Sub(time.Unix(0, at.Load())); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("the busy queue was removed %v after its call began, want when it ended", took)
		}
		tg.Produce(t, topic, 8)
		a.until("all are consumed", func() bool { return a.distinct()+b.distinct() == 16 })
		if late := time.Since(removed.Time); late > 5*time.Second {
			t.Errorf("consumed again %v after it was removed", late)
		}
		checkOnce(t, a, b)
	})
}

// A consumer without topics starts, as in Java, and reads what it subscribes to
// later.
func TestStartWithoutTopics(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 6)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.Subscriptions = nil })
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := m.Snapshot(); s.State != engine.Running || len(s.Queues) != 0 {
			t.Errorf("state %v with %d queues, want RUNNING without any", s.State, len(s.Queues))
		}
		if ev := untilEvent[engine.HeartbeatSkipped](m, "no broker to tell", nil); ev.Cause != "no_broker" {
			t.Errorf("heartbeat_skipped = %+v", ev)
		}
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: "a b"}); err == nil {
			t.Error("a bad topic was subscribed")
		}
		ev := untilEvent[engine.ConfigRejected](m, "the refusal", nil)
		if ev.Property != "topic" || ev.Value != "a b" || ev.Rule == "" {
			t.Errorf("config_rejected = %+v", ev)
		}
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: topic}); err != nil {
			t.Fatal(err)
		}
		m.until("the messages", func() bool { return m.distinct() == 6 })
	})
}

// A start offset below 0 takes no queue: it is told, and asked for again (S42).
func TestNegativeStartOffset(t *testing.T) {
	for name, tt := range map[string]struct {
		code protocol.RequestCode
		in   sandboxtest.Worlds
	}{"committed": {protocol.QueryConsumerOffset, sandboxtest.Sandboxes}, "minimum": {protocol.GetMinOffset, only5}} {
		t.Run(name, func(t *testing.T) {
			sandboxtest.RunIn(t, tt.in, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 10)
				if tt.code == protocol.QueryConsumerOffset { // so that there is one
					before := join(t, tg, group, topic, nil)
					awaitCommit(before, topic, 10)
					before.leave()
					tg.Produce(t, topic, 5)
				}
				w := newWire(tg)
				times := 0
				w.onAnswer(func(req, answer *protocol.Command) []byte {
					var h protocol.QueryConsumerOffsetRequestHeader
					if protocol.RequestCode(req.Code) != tt.code || answer.Code != int32(protocol.Success) || protocol.DecodeFields(req.ExtFields, &h) == nil && h.Topic != topic || times == 2 {
						return nil
					}
					times++
					return field(answer, "offset", "-1")
				})
				m := joinOver(t, tg, w, group, topic, nil)
				failed := about[engine.QueueAddFailed](m, engine.MessageQueue{Topic: topic, BrokerName: "broker-a"})
				if failed.Cause != "offset query" || !strings.Contains(failed.Error, "-1") {
					t.Errorf("queue_add_failed = %+v", failed)
				}
				m.until("the messages", func() bool { return m.distinct() >= 5 })
				time.Sleep(time.Minute)
				want := 10
				if tt.code == protocol.QueryConsumerOffset {
					want = 5
				}
				if m.distinct() != want || m.duplicates() != 0 {
					t.Errorf("%d messages, %d duplicates, want %d once", m.distinct(), m.duplicates(), want)
				}
			})
		})
	}
}
