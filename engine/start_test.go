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
