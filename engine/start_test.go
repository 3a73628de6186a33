package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A computed start that cannot be made durable delays a queue and does not hold it:
// Java writes it with the first commit. What was consumed meanwhile is committed when
// the broker takes commits.
func TestStartThatIsNotSaved(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"no answer": {Drop: true},
		"cut":       {Cut: true},
		"refused":   {Code: protocol.SystemError, Remark: "the disk is full"},
	} {
		for kind, mode := range map[string]change{"concurrent": func(*engine.Options) {}, "orderly": orderly} {
			t.Run(name+" "+kind, func(t *testing.T) {
				sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) { // a 4.x broker answers 0: nothing is computed
					topic, group := tg.Topic(t, 2), tg.Group(t)
					tg.Produce(t, topic, 20)
					onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault {
						if code == protocol.UpdateConsumerOffset {
							return fault
						}
						return sandbox.Fault{}
					})
					began := time.Now()
					m := join(t, tg, group, topic, nil, mode)
					m.until("all messages", func() bool { return m.distinct() == 20 })
					if took := time.Since(began); took > 5*time.Second {
						t.Errorf("the messages came after %v", took)
					}
					untilEvent(m, "that commits fail is told", func(e engine.OffsetPersistFailed) bool { return e.MQ.Topic == topic && e.Offset == 10 })
					tg.Sandbox.SetFault(nil)
					for id := range int32(2) {
						mq := queueOf(m, topic, id)
						m.until("they are committed", func() bool { return snapOf(m, mq).PersistedOffset == 10 })
					}
					m.leave()
					checkCommitted(t, tg, group, topic)
					if d := m.duplicates(); d != 0 {
						t.Errorf("%d duplicates", d)
					}
				})
			})
		}
	}
}

// A broker that is not told of a group before its first pull (a proxy keeps heartbeats
// to itself) refuses the commit of its start. The pulls go out all the same, nothing is
// told as failed, and the commits follow.
func TestStartOfAGroupThatTheBrokerDoesNotKnow(t *testing.T) {
	sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		var pulled atomic.Bool
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			switch {
			case code == protocol.PullMessage:
				pulled.Store(true)
			case code == protocol.UpdateConsumerOffset && !pulled.Load():
				f.Code, f.Remark = protocol.SubscriptionGroupNotExist, "Group "+group+" not exist!"
			}
			return f
		})
		m := join(t, tg, group, topic, nil)
		m.until("all messages", func() bool { return m.distinct() == 10 })
		mq := queueOf(m, topic, 0)
		m.until("they are committed", func() bool { return snapOf(m, mq).PersistedOffset == 10 })
		if n := count[engine.OffsetPersistFailed](m, nil) + count[engine.QueueAddFailed](m, nil); n != 0 {
			t.Errorf("told %d times that something failed", n)
		}
	})
}

// A start that could not be saved is compared with what is committed before the first
// write: another member that started the group at the same time may be ahead.
func TestUnsavedStartUndoesNothing(t *testing.T) {
	sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 30)
		c := tg.Client(t, nil)
		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			f.Drop = code == protocol.UpdateConsumerOffset && client == "me@1"
			return f
		})
		release := make(chan struct{})
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 10 {
				<-release
			}
			return engine.ConsumeSuccess, nil
		}, threads(1), named("me@1"))
		m.until("the message that waits", func() bool { return m.seen[at{mq, 10}] == 1 })
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 25); err != nil { // another member, which is ahead
			t.Fatal(err)
		}
		tg.Sandbox.SetFault(nil)
		time.Sleep(20 * time.Second)
		if got, _, _, _ := tg.Sandbox.Offsets(group, mq); got != 25 {
			t.Errorf("committed %d, want the 25 of another member", got)
		}
		close(release)
		m.until("the rest", func() bool { return m.distinct() == 30 })
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// deniedBounds refuses the member what 5.x refuses a key with Sub and without Get.
func deniedBounds(code protocol.RequestCode, client string) (f sandbox.Fault) {
	if client != "me@1" {
		return f
	}
	switch code {
	case protocol.GetMinOffset, protocol.GetMaxOffset, protocol.SearchOffsetByTimestamp:
		f.Code, f.Remark = protocol.NoPermission, "User:reader has no permission to access Topic:t from 192.0.2.1, no matched policies."
	}
	return f
}

// A member that access control lets pull, and not ask for a queue's bounds, starts
// where Java does: at the beginning without asking, at the end by what a pull
// tells. A time, which Java cannot start at then, is looked for among the messages.
func TestStartWithoutBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		from      protocol.ConsumeFromWhere
		truncated int64
		source    string
		first     int64 // the first message that comes
		told      int64 // of older messages
	}{
		"first":                 {protocol.ConsumeFromFirstOffset, 0, "min", 0, 0},
		"first, some expired":   {protocol.ConsumeFromFirstOffset, 4, "min", 4, 0},
		"last of a young queue": {protocol.ConsumeFromLastOffset, 0, "min", 0, 10},
		"last, some expired":    {protocol.ConsumeFromLastOffset, 4, "max", 10, 0},
		"last, all expired":     {protocol.ConsumeFromLastOffset, 10, "max", 10, 0},
		"a time":                {protocol.ConsumeFromTimestamp, 0, "timestamp", 6, 0},
		"a time, some expired":  {protocol.ConsumeFromTimestamp, 4, "timestamp", 6, 0},
		"a time, all expired":   {protocol.ConsumeFromTimestamp, 10, "timestamp", 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sandboxtest.RunIn(t, only5, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
				tg.Produce(t, topic, 6)
				time.Sleep(time.Second)
				middle := time.Now()
				tg.Produce(t, topic, 4)
				if tt.truncated > 0 {
					tg.Sandbox.Truncate(mq, tt.truncated)
				}
				onFault(tg, deniedBounds)
				m := join(t, tg, group, topic, nil, named("me@1"), func(o *engine.Options) { o.ConsumeFromWhere, o.ConsumeTimestamp = tt.from, middle })
				if added := about[engine.QueueAdded](m, mq); added.Source != tt.source {
					t.Errorf("queue_added %+v, want source %s", added, tt.source)
				}
				tg.Produce(t, topic, 5)
				m.until("all messages", func() bool { return m.seen[at{mq, 14}] == 1 && int64(len(m.seen)) >= 15-tt.first })
				if got := 15 - int64(m.distinct()); got != tt.first {
					t.Errorf("%d messages, want those from %d on", m.distinct(), tt.first)
				}
				if n := count(m, func(e engine.StartAtFirst) bool { return e.MQ == mq && e.Messages == tt.told }); n != min(int(tt.told), 1) {
					t.Errorf("told %d times that %d older messages come first", n, tt.told)
				}
				m.leave()
				checkCommitted(t, tg, group, topic)
			})
		})
	}
}
