package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A group without offset starts where it was asked to start, on either line, and
// its retry topic at its beginning, but for a time, where the reference starts it
// at its end (docs/conformance/rebalance.md 6).
func TestStartOffsets(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1)
		mq := engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg)}
		tg.Produce(t, topic, 10)
		<-time.After(1100 * time.Millisecond) // a 4.x broker finds times by the second
		middle := time.Now()
		<-time.After(100 * time.Millisecond)
		tg.Produce(t, topic, 5)
		tg.AwaitOffset(t, mq, 15)
		for name, tt := range map[string]struct {
			from   protocol.ConsumeFromWhere
			source string
			want   int64
		}{
			"last":  {protocol.ConsumeFromLastOffset, "max", 15},
			"first": {protocol.ConsumeFromFirstOffset, "min", 0},
			"time":  {protocol.ConsumeFromTimestamp, "timestamp", 10},
		} {
			group := tg.Group(t)
			if tg.Line == "4" { // it answers 0 to a group without offset on a young topic
				tt.source, tt.want = "store", 0
			}
			m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ConsumeFromWhere, o.ConsumeTimestamp = tt.from, middle })
			added := about[engine.QueueAdded](m, mq)
			if added.NextOffset != tt.want || added.Source != tt.source {
				t.Errorf("from %s: queue_added %+v, want %d from %s", name, added, tt.want, tt.source)
			}
			retry := untilEvent(m, "the retry topic", func(e engine.QueueAdded) bool { return e.MQ.Topic == protocol.RetryTopic(group) })
			if retry.NextOffset != 0 {
				t.Errorf("from %s: the retry topic starts at %d", name, retry.NextOffset)
			}
			m.leave()
			// Nothing was consumed, yet the start is kept: a member that comes later must
			// not compute another one.
			c := tg.Client(t, nil)
			if got, found, err := c.QueryConsumerOffset(t.Context(), group, mq); err != nil || !found || got < tt.want {
				t.Errorf("from %s: committed %d, %v, %v after the first member, want %d at least", name, got, found, err, tt.want)
			}
		}
	})
}

// A 4.x broker that answers 0 to a new group although the end was asked for is
// told, with the number of messages that come first; one of 5.x starts at the end
// and tells nothing.
func TestStartAtFirstIsTold(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg)}
		tg.Produce(t, topic, 50)
		tg.AwaitOffset(t, mq, 50)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromLastOffset })
		added := about[engine.QueueAdded](m, mq)
		if tg.Line == "4" {
			told := about[engine.StartAtFirst](m, mq)
			if told.Messages != 50 {
				t.Errorf("start_at_first %+v, want 50 messages", told)
			}
			m.until("they come", func() bool { return m.distinct() == 50 })
			return
		}
		if added.NextOffset != 50 || count[engine.StartAtFirst](m, nil) != 0 {
			t.Errorf("queue_added %+v, %d times told that it starts at 0", added, count[engine.StartAtFirst](m, nil))
		}
	})
}

// An offset query that fails is not "no offset": the queue is taken when it is
// answered, and starts from what is committed, also in an orderly group (traps T02
// and T03).
func TestFailedOffsetQueryIsNoStart(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"error":     {Code: protocol.SystemError, Remark: "broken"},
		"no answer": {Drop: true},
		"cut":       {Cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				for _, mode := range []change{func(*engine.Options) {}, orderly} {
					topic, group := tg.Topic(t, 1), tg.Group(t)
					mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
					tg.Produce(t, topic, 30)
					first := join(t, tg, group, topic, nil, mode)
					first.until("all", func() bool { return first.distinct() == 30 })
					first.leave()
					tg.Produce(t, topic, 5)
					onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault {
						if code == protocol.QueryConsumerOffset {
							return fault
						}
						return sandbox.Fault{}
					})
					m := join(t, tg, group, topic, nil, mode, func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromLastOffset })
					failed := untilEvent(m, "it is told", func(e engine.QueueAddFailed) bool { return e.MQ == mq })
					if failed.Cause != "offset query" || failed.Error == "" {
						t.Errorf("queue_add_failed %+v", failed)
					}
					time.Sleep(10 * time.Second)
					if m.distinct() != 0 || held(m, topic) != 0 {
						t.Errorf("%d messages, %d queues without an offset", m.distinct(), held(m, topic))
					}
					tg.Sandbox.SetFault(nil)
					m.until("the rest", func() bool { return m.distinct() == 5 })
					if first := slices.Min(m.order[mq]); first != 30 { // threads hand in as they come
						t.Errorf("first offset %d, want 30", first)
					}
					m.leave()
				}
			})
		})
	}
}

// A queue in service whose offset the store has forgotten goes on from where it
// is: neither the end nor the beginning of the queue is its start.
func TestForgottenOffsetOfAQueueInService(t *testing.T) {
	sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		c := tg.Client(t, nil)
		tg.Produce(t, topic, 10)
		m := join(t, tg, group, topic, nil, orderly, named("me@1"), func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromFirstOffset })
		m.until("all", func() bool { return m.distinct() == 10 })
		steal(t, c, group, mq, "me@1", "other@1")
		about[engine.LockLost](m, mq)
		onFault(tg, func(code protocol.RequestCode, client string) sandbox.Fault {
			if code == protocol.QueryConsumerOffset && client == "me@1" {
				return sandbox.Fault{Code: protocol.QueryNotFound}
			}
			return sandbox.Fault{}
		})
		tg.Produce(t, topic, 10)
		giveBack(t, c, group, mq, "other@1")
		m.until("the rest", func() bool { return m.distinct() == 20 })
		if d := m.duplicates(); d != 0 {
			t.Errorf("%d duplicates", d)
		}
	})
}

// Two members that start a new group at the same time compute their starts at the
// same time; the slower one does not undo what the faster has committed.
func TestComputedStartUndoesNothing(t *testing.T) {
	sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 30)
		c := tg.Client(t, nil)
		var asked atomic.Bool
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if of, _ := r.Command.ExtFields.Get("topic"); protocol.RequestCode(r.Command.Code) == protocol.GetMinOffset && of == topic {
				asked.Store(true)
				f.Delay = 2 * time.Second
			}
			return f
		})
		m := join(t, tg, group, topic, nil)
		m.until("it computes", asked.Load)
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 20); err != nil { // another member, which was faster
			t.Fatal(err)
		}
		m.until("the rest", func() bool { return m.seen[at{mq, 29}] > 0 && m.distinct() >= 10 }) // the last one may be the first to be done
		if got := m.distinct(); got != 10 {
			t.Errorf("%d messages, want the 10 that nobody has consumed", got)
		}
		if added := about[engine.QueueAdded](m, mq); added.Source != "store" || added.NextOffset != 20 {
			t.Errorf("queue_added %+v, want 20 from the store", added)
		}
	})
}

// flakyStore fails while it is told to.
type flakyStore struct {
	engine.OffsetStore
	failing *atomic.Bool
}

func (s flakyStore) Save(ctx context.Context, offsets map[engine.MessageQueue]int64) map[engine.MessageQueue]error {
	if !s.failing.Load() {
		return s.OffsetStore.Save(ctx, offsets)
	}
	failed := map[engine.MessageQueue]error{}
	for mq := range offsets {
		failed[mq] = errors.New("no space left")
	}
	return failed
}

// A commit that does not reach the store is told once, tried at each round, and
// written when the store takes it.
func TestFailedPersistIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		var failing atomic.Bool
		m := joinStore(t, tg, group, topic, nil, func(s engine.OffsetStore) engine.OffsetStore { return flakyStore{s, &failing} })
		awaitHeld(m, topic, 1)
		failing.Store(true)
		tg.Produce(t, topic, 10)
		failed := about[engine.OffsetPersistFailed](m, mq)
		if failed.Offset != 10 || failed.Error != "no space left" {
			t.Errorf("offset_persist_failed %+v", failed)
		}
		time.Sleep(30 * time.Second)
		if n := count[engine.OffsetPersistFailed](m, nil); n != 1 {
			t.Errorf("told %d times", n)
		}
		failing.Store(false)
		m.until("it is written", func() bool { return snapOf(m, mq).PersistedOffset == 10 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// Offsets are written every 5 s, those that have changed, and all of them now and
// then; a queue that is given away is written at once and its answer awaited (trap
// T11), and its offset is forgotten here.
func TestWhenOffsetsAreWritten(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		var commits atomic.Int32
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if protocol.RequestCode(r.Command.Code) == protocol.UpdateConsumerOffset && r.ClientID == "z@1" {
				commits.Add(1)
				if r.Command.IsOneway() {
					t.Error("a commit without an answer")
				}
			}
			return sandbox.Fault{}
		})
		m := join(t, tg, group, topic, nil, named("z@1"))
		awaitHeld(m, topic, 2)
		time.Sleep(6 * time.Second)
		commits.Store(0)
		tg.Produce(t, topic, 2)
		m.until("both", func() bool { return m.distinct() == 2 })
		time.Sleep(6 * time.Second)
		if n := commits.Load(); n != 2 {
			t.Errorf("%d commits of two queues with a message each", n)
		}
		time.Sleep(30 * time.Second)
		if n := commits.Load(); n > 2+3 { // unchanged ones are written once a minute, the retry topic's too
			t.Errorf("%d commits, although nothing has changed", n)
		}
		tg.Produce(t, topic, 20)
		m.until("more", func() bool { return m.distinct() == 22 })
		b := join(t, tg, group, topic, nil, named("a@1"))
		awaitHeld(b, topic, 1)
		removed := untilEvent(m, "one is given away", func(e engine.QueueRemoved) bool { return e.MQ.Topic == topic })
		if got, _, _, _ := tg.Sandbox.Offsets(group, removed.MQ); got != 11 {
			t.Errorf("committed %d when it was given away, want 11", got)
		}
		about[engine.OffsetForgotten](m, removed.MQ)
		m.leave()
		b.leave()
		checkOnce(t, m, b)
	})
}

// A committed offset beyond the end of the queue, as after an outage in which the
// broker lost messages, is corrected by the broker, and it is told before anything
// is delivered what that means (trap T19); so is one below the beginning
// when all messages have expired (trap T18).
func TestOffsetOutsideTheQueue(t *testing.T) {
	for name, tt := range map[string]struct {
		committed, truncated int64
		want                 engine.OffsetIllegal
	}{
		"beyond the end": {35, 0, engine.OffsetIllegal{Requested: 35, MinOffset: 0, MaxOffset: 30}},
		"all expired":    {5, 30, engine.OffsetIllegal{Requested: 5, Corrected: 30, MinOffset: 30, MaxOffset: 30, Effect: "gone", Messages: 25}},
	} {
		t.Run(name, func(t *testing.T) {
			run := sandboxtest.Run
			if tt.truncated > 0 {
				run = bubble // no real broker can be told to let messages expire
			}
			run(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				mq := engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg)}
				tg.Produce(t, topic, 30)
				first := join(t, tg, group, topic, nil)
				first.until("all", func() bool { return first.distinct() == 30 })
				first.leave()
				c := tg.Client(t, nil)
				if err := c.UpdateConsumerOffset(t.Context(), group, mq, tt.committed); err != nil {
					t.Fatal(err)
				}
				if tt.truncated > 0 {
					tg.Sandbox.Truncate(mq, tt.truncated)
				}
				// What is read back below was written by the correction alone.
				m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.PersistInterval = time.Hour })
				told := about[engine.OffsetIllegal](m, mq)
				fixed := about[engine.OffsetFixed](m, mq)
				if took := fixed.Time.Sub(told.Time); tooLong(tg, took, 2*time.Second) { // the 4.x client takes 10 s
					t.Errorf("corrected after %v", took)
				}
				if fixed.Offset != told.Corrected {
					t.Errorf("corrected to %d, fixed at %d", told.Corrected, fixed.Offset)
				}
				want := tt.want
				want.At = told.At
				if tt.committed > 30 { // 4.x goes to the beginning where that is 0, 5.x to the end
					want.Corrected = 30
					want.Effect = "none"
					if told.Corrected == 0 {
						want.Corrected, want.Effect, want.Messages = 0, "replay", 30
					}
				}
				if told != want {
					t.Errorf("offset_illegal %+v, want %+v", told, want)
				}
				if got, _, err := c.QueryConsumerOffset(t.Context(), group, mq); err != nil || got != told.Corrected {
					t.Errorf("committed %d, %v, want %d", got, err, told.Corrected)
				}
				tg.Produce(t, topic, 5)
				// Several workers have them: the last may come first.
				m.until("what came since", func() bool { return m.seen[at{mq, 34}] > 0 && m.distinct() >= 5 })
				if want.Effect == "replay" {
					m.until("and what is repeated", func() bool { return m.distinct() == 35 })
				} else if m.distinct() != 5 {
					t.Errorf("%d messages, want 5", m.distinct())
				}
				m.leave()
				checkCommitted(t, tg, group, topic)
			})
		})
	}
}

// A member that gives an orderly queue away while a listener runs tells that it has
// to wait, keeps the lock until then, and tells the renewal and the return of locks.
func TestOrderlyRemovalIsDelayed(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		a := join(t, tg, group, topic, takes(50*time.Second), orderly, named("z@1"))
		a.until("a call", func() bool { return a.distinct() == 1 })
		time.Sleep(22 * time.Second)
		if renewed := untilEvent[engine.LockRenewed](a, "the renewal", nil); renewed.Queues < 1 || renewed.AgeMS < 0 {
			t.Errorf("lock_renewed %+v", renewed)
		}
		b := join(t, tg, group, topic, nil, orderly, named("a@1"))
		delayed := about[engine.QueueRemovalDelayed](a, mq)
		if delayed.Cause != "busy" || delayed.TryUnlockTimes != 1 || delayed.WaitedMS < 500 || delayed.WaitedMS > 600 {
			t.Errorf("queue_removal_delayed %+v", delayed)
		}
		if owner := tg.Sandbox.LockOwner(group, mq); owner != "z@1" {
			t.Errorf("the lock belongs to %q while the call runs", owner)
		}
		untilEvent(b, "it is refused the lock", func(e engine.QueueAddFailed) bool { return e.Cause == "lock" && e.MQ == mq })
		removed := about[engine.QueueRemoved](a, mq)
		sent := untilEvent(a, "the lock is returned", func(e engine.UnlockSent) bool { return e.Queues[0] == topic+" broker-a/0" })
		if !removed.Unlocked || sent.Broker != "broker-a" || len(sent.Queues) != 1 || sent.Oneway {
			t.Errorf("queue_removed %+v, unlock_sent %+v", removed, sent)
		}
		b.until("the rest", func() bool { return b.distinct() == 2 })
		a.leave()
		b.leave()
		checkOrder(t, a, b)
		checkOnce(t, a, b)
	})
}

// A heartbeat that is asked for while one is under way follows it, and it is told
// when there is nobody to send one to.
func TestHeartbeatSkippedIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		m := join(t, tg, tg.Group(t), "later", nil)
		if skipped := untilEvent[engine.HeartbeatSkipped](m, "nobody is known", nil); skipped.Cause != "no_broker" {
			t.Errorf("heartbeat_skipped %+v", skipped)
		}
		m.leave()
		topic, group := tg.Topic(t, 2), tg.Group(t)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.HeartBeat {
				f.Delay = 500 * time.Millisecond
			}
			return f
		})
		other := join(t, tg, group, topic, nil)
		other.until("it is subscribed", func() bool { return held(other, topic) == 2 })
		for range 2 {
			if err := other.SubscribeTopic(t.Context(), engine.Subscription{Topic: topic}); err != nil {
				t.Fatal(err)
			}
		}
		untilEvent(other, "one is under way", func(e engine.HeartbeatSkipped) bool { return e.Cause == "busy" })
		began := time.Now()
		untilEvent(other, "another follows", func(e engine.HeartbeatSent) bool { return e.Time.After(began.Add(600 * time.Millisecond)) })
	})
}

// A start that cannot be computed is tried again; the queue does not start at 0
// meanwhile.
func TestFailedStartComputation(t *testing.T) {
	sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
		for code, from := range map[protocol.RequestCode]protocol.ConsumeFromWhere{
			protocol.GetMaxOffset:            protocol.ConsumeFromLastOffset,
			protocol.SearchOffsetByTimestamp: protocol.ConsumeFromTimestamp,
		} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
			tg.Produce(t, topic, 10)
			onFault(tg, func(c protocol.RequestCode, _ string) (f sandbox.Fault) {
				if c == code {
					f.Code = protocol.SystemError
				}
				return f
			})
			m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ConsumeFromWhere, o.ConsumeTimestamp = from, time.Now().Add(time.Hour) })
			failed := untilEvent(m, "it is told", func(e engine.QueueAddFailed) bool { return e.MQ == mq })
			if failed.Cause != "offset query" {
				t.Errorf("queue_add_failed %+v", failed)
			}
			time.Sleep(5 * time.Second)
			tg.Sandbox.SetFault(nil)
			added := about[engine.QueueAdded](m, mq)
			if added.NextOffset != 10 {
				t.Errorf("queue_added %+v, want 10", added)
			}
			m.leave()
		}
	})
}

// A topic that is deleted and made again under a member has other messages at the same
// offsets. The broker sends the member to the end of what is there by then: that is told
// as skipped, with the number, and what comes after it is consumed.
func TestTopicMadeAnew(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg)}
		tg.Produce(t, topic, 10)
		m := join(t, tg, group, topic, nil)
		m.until("the messages of before", func() bool { return m.distinct() == 10 })
		<-time.After(2 * time.Millisecond) // brokers note times by the millisecond
		c := tg.Client(t, nil)
		if err := c.DeleteTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		for _, addr := range tg.Masters(t) {
			if err := c.CreateTopic(t.Context(), addr, &protocol.CreateTopicRequestHeader{
				Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermRead | protocol.PermWrite,
			}); err != nil {
				t.Fatal(err)
			}
		}
		sandboxtest.Await(t, "the route", func(ctx context.Context) bool {
			r, _, err := c.RefreshRoute(ctx, topic)
			return err == nil && len(r.Queues) == 1
		})
		tg.Produce(t, topic, 5)
		told := about[engine.OffsetIllegal](m, mq)
		if want := (engine.OffsetIllegal{At: told.At, Requested: 10, Corrected: 5, MaxOffset: 5, Effect: "skip", Messages: 5, Anew: true}); told != want {
			t.Errorf("offset_illegal %+v, want %+v", told, want)
		}
		about[engine.OffsetFixed](m, mq)
		tg.Produce(t, topic, 7)
		m.until("what came after", func() bool { return m.seen[at{mq, 11}] > 0 && len(m.order[mq]) == 17 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}
