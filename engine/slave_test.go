package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// pulledFrom is the broker id that a member pulls a queue from.
func pulledFrom(m *member, mq engine.MessageQueue) int64 { return snapOf(m, mq).BrokerID }

// brokerKnown is what a member knows of a broker name and id.
func brokerKnown(m *member, name string, id int64) engine.BrokerSnapshot {
	for _, b := range m.Snapshot().Brokers {
		if b.Name == name && b.ID == id {
			return b
		}
	}
	return engine.BrokerSnapshot{}
}

// Old messages are read from the slave that the master suggests, and when the end
// of the queue is near the reads go back to the master.
func TestSlaveIsReadWhenSuggested(t *testing.T) {
	sandboxtest.RunWithSlave(t, func(t *testing.T, tg *sandboxtest.Target, pair *sandboxtest.Pair) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 2000)
		pair.AwaitSlave(t, group, mq, 2000)
		m := join(t, tg, group, topic, nil)
		moved := untilEvent(m, "reads from the slave", func(e engine.PullMoved) bool { return e.MQ == mq && e.To == 1 })
		if _, slave := pair.Addrs(t); moved.Cause != "suggested" || moved.From != 0 || moved.Address != slave {
			t.Errorf("pull_moved = %+v, want from 0, as suggested, to %s", moved, slave)
		}
		m.until("all messages", func() bool { return m.distinct() == 2000 })
		untilEvent(m, "reads from the master again", func(e engine.PullMoved) bool { return e.MQ == mq && e.To == 0 && e.Cause == "back" })
		tg.Produce(t, topic, 10)
		m.until("new messages", func() bool { return m.distinct() == 2010 })
		m.leave()
		checkCommitted(t, tg, group, topic)
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
	})
}

// Without its master a queue is read from the slave and its offsets are kept
// there; nothing is lost or repeated when the master is back, and it holds the
// offsets again.
func TestReadsGoOnFromTheSlave(t *testing.T) {
	sandboxtest.RunWithSlave(t, func(t *testing.T, tg *sandboxtest.Target, pair *sandboxtest.Pair) {
		const n = 3000
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, n)
		pair.AwaitSlave(t, group, mq, n)
		var slow atomic.Bool
		slow.Store(true)
		m := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if slow.Load() {
				select {
				case <-time.After(5 * time.Millisecond):
				case <-ctx.Done():
				}
			}
			return engine.ConsumeSuccess, nil
		}, func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax, o.PullThresholdForQueue = 2, 2, 50 })
		m.until("some messages", func() bool { return m.distinct() > 100 })
		pair.Kill(t)
		down := untilEvent(m, "the master is missed", func(e engine.BrokerOffline) bool { return e.Broker == "broker-a" })
		slow.Store(false)
		m.until("all messages without the master", func() bool { return m.distinct() == n })
		m.until("it is shown that the slave serves", func() bool {
			q := snapOf(m, mq)
			return q.BrokerID == 1 && q.OffsetsFrom == 1 && q.MaxOffset == n
		})
		if b := brokerKnown(m, "broker-a", 0); b.Connected || b.Error == "" || b.Address != down.Address {
			t.Errorf("the master is shown as %+v", b)
		}
		m.until("the offset is kept by the slave", func() bool { return snapOf(m, mq).PersistedOffset == n })
		pair.Revive(t)
		untilEvent(m, "the master is back", func(e engine.BrokerOnline) bool { return e.Address == down.Address && e.DurationMS > 0 })
		c := tg.Client(t, nil)
		m.until("the master has the offset", func() bool {
			got, found, err := c.QueryConsumerOffset(t.Context(), group, mq)
			return err == nil && found && got == n
		})
		tg.Produce(t, topic, 10)
		m.until("new messages", func() bool { return m.distinct() == n+10 })
		m.until("reads from the master", func() bool { return pulledFrom(m, mq) == 0 })
		m.leave()
		checkCommitted(t, tg, group, topic)
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
	})
}

// An orderly queue whose master is gone says that it has no lock and why; a slave
// grants none. It goes on when the master is back.
func TestOrderlyQueueWithoutMaster(t *testing.T) {
	sandboxtest.RunWithSlave(t, func(t *testing.T, tg *sandboxtest.Target, pair *sandboxtest.Pair) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 20)
		pair.AwaitSlave(t, group, mq, 20)
		m := join(t, tg, group, topic, nil, orderly)
		m.until("20 messages", func() bool { return m.distinct() == 20 })
		pair.Kill(t)
		m.until("its state", func() bool {
			q := snapOf(m, mq)
			return q.State == engine.QueueUnlocked && q.Detail == "no lock: master down"
		})
		untilEvent(m, "the lock expires", func(e engine.LockExpired) bool { return e.MQ == mq })
		pair.Revive(t)
		m.until("the lock is back", func() bool { return snapOf(m, mq).Locked && snapOf(m, mq).Detail == "" })
		tg.Produce(t, topic, 10)
		m.until("new messages", func() bool { return m.distinct() == 30 })
		m.leave()
		checkOrder(t, m)
		checkCommitted(t, tg, group, topic)
	})
}

// A slave that dies while it is read from costs a second: the master serves.
func TestSlaveDies(t *testing.T) {
	sandboxtest.RunWithSlave(t, func(t *testing.T, tg *sandboxtest.Target, pair *sandboxtest.Pair) {
		const n = 3000
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, n)
		pair.AwaitSlave(t, group, mq, n)
		m := join(t, tg, group, topic, takes(2*time.Millisecond), func(o *engine.Options) {
			o.ConsumeThreadMin, o.ConsumeThreadMax, o.PullThresholdForQueue = 2, 2, 50
		})
		untilEvent(m, "reads from the slave", func(e engine.PullMoved) bool { return e.To == 1 })
		pair.KillSlave(t)
		m.until("all messages", func() bool { return m.distinct() == n })
		m.until("it is shown that the master serves", func() bool { return pulledFrom(m, mq) == 0 })
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// A slave that was out of reach for a moment makes later commits no dearer.
func TestCommitsAfterASlaveWasAway(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 4)
		tg.Sandbox.StopSlave("broker-a")
		untilEvent[engine.BrokerOffline](m, "the slave is missed", nil)
		tg.Sandbox.StartSlave("broker-a")
		untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		time.Sleep(time.Minute)
		var reads atomic.Int32
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset {
				reads.Add(1)
			}
			return f
		})
		for range 10 {
			tg.Produce(t, topic, 4)
			time.Sleep(6 * time.Second)
		}
		if n := reads.Load(); n > 0 {
			t.Errorf("%d offsets were read", n)
		}
	}, sandboxtest.Slaves(1))
}

// A slave that is behind its master does not take the group back, is not asked in
// a loop, and what it refuses is asked of the master.
func TestSlaveIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Slaves(1))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		mq := engine.MessageQueue{Topic: "T", BrokerName: "broker-a"}
		put := func(n int) {
			for range n {
				sb.Put(sandbox.Message{Topic: "T"})
			}
		}
		m := join(t, tg, "g", "T", nil)
		put(50)
		m.until("50 messages", func() bool { return m.distinct() == 50 })
		sb.CutSlave("broker-a", true)
		put(50)
		m.until("100 messages, from the master", func() bool { return m.distinct() == 100 })
		var pulls atomic.Int32
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage && r.BrokerID == 1 {
				pulls.Add(1)
			}
			return f
		})
		sb.StopBroker("broker-a")
		time.Sleep(time.Minute)
		m.until("it is shown that the slave serves", func() bool { return pulledFrom(m, mq) == 1 })
		if n := pulls.Load(); n == 0 || n > 2*65 { // two queues, once a second
			t.Errorf("%d pulls of a slave that is behind in a minute", n)
		}
		if n := count[engine.OffsetIllegal](m, nil); n != 0 {
			t.Errorf("%d offsets were corrected by a slave", n)
		}
		sb.StartBroker("broker-a")
		sb.CutSlave("broker-a", false)
		put(10)
		m.until("new messages", func() bool { return m.distinct() == 110 })
		// The slave may have given them, and the leave asks the master.
		untilEvent(m, "the master is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
	})
}

// A slave that has not copied the topic yet refuses it; the master serves
// meanwhile instead of the queue standing still (as it does in the reference).
func TestSlaveRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Slaves(1))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		var refused atomic.Int32
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage && r.BrokerID == 1 {
				refused.Add(1)
				f.Code = protocol.TopicNotExist
			}
			return f
		})
		for range 20_000 {
			sb.Put(sandbox.Message{Topic: "T"})
		}
		began := time.Now()
		m := join(t, tg, "g", "T", nil)
		m.until("all messages", func() bool { return m.distinct() == 20_000 })
		if took := time.Since(began); refused.Load() == 0 || took > 10*time.Second {
			t.Errorf("it took %v beside a slave that refused %d pulls", took, refused.Load())
		}
	})
}
