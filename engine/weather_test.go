package engine_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
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

// A broker that comes back at another address is found within one route poll,
// and is told as the same one that was away.
func TestBrokerMoves(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, vanish := range []bool{false, true} {
			topic, group := tg.Topic(t, 4), tg.Group(t)
			m := join(t, tg, group, topic, nil)
			awaitHeld(m, topic, 4)
			tg.Produce(t, topic, 100)
			m.until("100 messages", func() bool { return m.distinct() == 100 })
			if vanish {
				tg.Sandbox.VanishBroker("broker-a") // without a word: its connections stay open
			} else {
				tg.Sandbox.StopBroker("broker-a")
			}
			began := time.Now()
			time.Sleep(3 * time.Second)
			addr := tg.Sandbox.MoveBroker("broker-a")
			if got := tg.Sandbox.Put(sandbox.Message{Topic: topic}); got < 0 {
				t.Fatal("the broker took no message")
			}
			m.until("a new message", func() bool { return m.distinct() == 101 })
			if took := time.Since(began); took > 33*time.Second {
				t.Errorf("vanish %v: reading went on after %v, want one route poll", vanish, took)
			}
			untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.Address == addr && e.DurationMS > 0 })
			m.until("the old address is forgotten", func() bool {
				bs := m.Snapshot().Brokers
				return len(bs) == 1 && bs[0].Address == addr && bs[0].Connected
			})
			m.leave()
			if d := m.duplicates(); d != 0 {
				t.Errorf("vanish %v: duplicates = %d, want 0", vanish, d)
			}
		}
	})
}

// The saves of 30 queues to an address that has become a black hole delay
// neither the routes nor the heartbeats: reading goes on within 40 s.
func TestSavesToABlackHole(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 30), tg.Group(t)
		m := join(t, tg, group, topic, takes(50*time.Millisecond))
		awaitHeld(m, topic, 30)
		tg.Produce(t, topic, 3000)
		m.until("some messages", func() bool { return m.distinct() > 500 })
		tg.Sandbox.VanishBroker("broker-a")
		began := time.Now()
		tg.Sandbox.MoveBroker("broker-a")
		m.until("all messages", func() bool { return m.distinct() == 3000 })
		for _, q := range m.Snapshot().Queues {
			if q.Topic == topic {
				m.until("all saved at the new address", func() bool { return snapOf(m, q.MessageQueue).PersistedOffset == 100 })
			}
		}
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("all was read and saved after %v, want 40 s at most", took)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A cut of two minutes without a word: reading goes on when the network does, and
// the outage is one event with its start, end and reason.
func TestCutConnections(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		length := 130 * time.Second
		if tg.Sandbox == nil {
			length = 20 * time.Second // in real time
		}
		topic, group := tg.Topic(t, 4), tg.Group(t)
		queues := 4 * len(tg.Masters(t))
		cable, behind := plug(tg)
		m := join(t, behind, group, topic, nil, func(o *engine.Options) { o.HeartbeatInterval = 10 * time.Second })
		awaitHeld(m, topic, queues)
		tg.Produce(t, topic, 100)
		m.until("100 messages", func() bool { return m.distinct() == 100 })
		cable.cut()
		over := time.After(length)
		down := untilEvent[engine.BrokerOffline](m, "the outage is noticed", nil)
		tg.Produce(t, topic, 100) // by another network
		<-over
		cable.restore()
		began := time.Now()
		m.until("the rest", func() bool { return m.distinct() == 200 })
		if took := time.Since(began); tooLong(tg, took, 15*time.Second) {
			t.Errorf("reading went on %v after the cut", took)
		}
		back := untilEvent(m, "the outage ends", func(e engine.BrokerOnline) bool { return e.Address == down.Address && e.DurationMS > 0 })
		if took := back.Time.Sub(down.Time); tooLong(tg, took, length+15*time.Second) || down.Error == "" {
			t.Errorf("offline for %v after a cut of %v, because of %q", took, length, down.Error)
		}
		isDown := func(e engine.BrokerOffline) bool { return e.Address == down.Address }
		if n := count(m, isDown); n != 1 {
			t.Errorf("the outage was told %d times", n)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// With the VIP channel a member works as without, and members, offsets and locks
// go to the brokers' other port.
func TestVIPChannel(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 2), tg.Group(t)
			cable, behind := plug(tg)
			behind.VIPChannel = true
			var refused atomic.Bool
			m := join(t, behind, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
				if !refused.Swap(true) {
					return engine.ReconsumeLater, nil // once, so that a message is sent back
				}
				return engine.ConsumeSuccess, nil
			}, mode)
			awaitHeld(m, topic, 2*len(tg.Masters(t)))
			tg.Produce(t, topic, 40)
			m.until("40 messages", func() bool { return m.distinct() >= 40 })
			m.leave()
			checkCommitted(t, tg, group, topic)
			cable.mu.Lock()
			for _, addr := range tg.Masters(t) {
				host, port, err := net.SplitHostPort(addr)
				n, nerr := strconv.Atoi(port)
				if err != nil || nerr != nil {
					t.Fatal(addr)
				}
				vip := net.JoinHostPort(host, strconv.Itoa(n-2))
				if cable.dials[addr] == 0 || cable.dials[vip] == 0 {
					t.Errorf("dials = %v, want some to %s and to %s", cable.dials, addr, vip)
				}
			}
			cable.mu.Unlock()
		}
	})
}

// A pull whose answer is lost on a connection that lives tells nothing of the broker: it is sent again when its
// time is over; the other queues do not notice.
func TestLostPullAnswerIsNoOutage(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 8)
		lost := engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 3}
		var once atomic.Bool
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage && protocol.DecodeFields(r.Command.ExtFields, &h) == nil &&
				h.Topic == topic && h.QueueID == lost.QueueID && h.QueueOffset > 0 && !once.Swap(true) {
				f.Drop = true
			}
			return f
		})
		tg.Produce(t, topic, 80)
		m.until("80 messages", func() bool { return m.distinct() == 80 })
		m.until("a pull is lost", once.Load)
		began := time.Now()
		tg.Produce(t, topic, 80)
		m.until("those of the other queues", func() bool { return m.distinct() >= 150 })
		if took := time.Since(began); took > time.Second {
			t.Errorf("the other queues took %v", took)
		}
		m.until("those of the queue whose pull was lost", func() bool { return m.distinct() == 160 })
		if took := time.Since(began); took > 31*time.Second {
			t.Errorf("the lost pull was sent again after %v, want 30 s", took)
		}
		e := about[engine.PullError](m, lost)
		if !strings.Contains(e.Error, "no answer") {
			t.Errorf("pull_error = %+v", e)
		}
		if n := count[engine.BrokerOnline](m, nil); n > 1 {
			t.Error("the broker was taken for dead")
		}
	})
}

// Restarts of the broker stop no queue of an orderly group for long.
func TestBrokerRestartsFiveTimes(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		m := join(t, tg, group, topic, nil, orderly)
		awaitHeld(m, topic, 8)
		for i := range 5 {
			tg.Produce(t, topic, 80)
			tg.Sandbox.StopBroker("broker-a")
			time.Sleep(time.Duration(1+7*i) * time.Second)
			tg.Sandbox.StartBroker("broker-a")
			began := time.Now()
			tg.Sandbox.Put(slices.Repeat([]sandbox.Message{{Topic: topic, QueueID: -1}}, 80)...)
			m.until("all queues go on", func() bool { return m.distinct() == (i+1)*160 })
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("restart %d: all queues had gone on after %v", i, took)
			}
		}
		m.leave()
		checkOrder(t, m)
		checkCommitted(t, tg, group, topic)
	})
}

// One of two brokers is killed: the name server forgets it at once, but the
// member says that it is missed, since when and why, until it is back.
func TestKilledBrokerIsMissed(t *testing.T) {
	for _, busy := range []bool{true, false} { // with or without queues of its own there
		synctest.Test(t, func(t *testing.T) {
			sb := sandboxtest.Start(t, sandboxtest.Topic("T", 2), sandboxtest.Brokers("broker-a", "broker-b"))
			tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
			m := join(t, tg, "g", "T", nil)
			awaitHeld(m, "T", 4)
			if !busy {
				other := tg.Client(t, nil) // a member that gets all queues of broker-b
				sendHeartbeat(t, other, "g", "zz@1", "T")
				awaitHeld(m, "T", 2)
			}
			sb.StopBroker("broker-b")
			m.until("it is missed", func() bool { return brokerKnown(m, "broker-b", 0).Gone })
			time.Sleep(5 * time.Minute)
			b := brokerKnown(m, "broker-b", 0)
			if b.Connected || b.Error == "" || time.Since(b.ErrorSince) < 4*time.Minute {
				t.Errorf("after five minutes it is shown as %+v", b)
			}
			if busy && held(m, "T") != 2 {
				t.Errorf("%d queues are held, want the two that are left", held(m, "T"))
			}
			sb.StartBroker("broker-b")
			back := untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.Broker == "broker-b" && e.DurationMS > 0 })
			if back.DurationMS < 240_000 {
				t.Errorf("broker_online = %+v, want the whole time", back)
			}
			m.until("it is shown as well", func() bool {
				b := brokerKnown(m, "broker-b", 0)
				return !b.Gone && b.Connected && b.Error == ""
			})
			// One that stays away is forgotten some time: it may have been taken down for good.
			sb.StopBroker("broker-b")
			time.Sleep(2 * time.Hour)
			if b := brokerKnown(m, "broker-b", 0); b.Name != "" {
				t.Errorf("after two hours it is still shown: %+v", b)
			}
		})
	}
}

// A broker that is killed loses the commits of the last seconds. A member that has
// lost its queues with it goes on where it was: it neither repeats, nor leaves out
// what came in between although its group starts at the end.
func TestKilledBrokerForgetsCommits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 2), sandboxtest.Brokers("broker-a", "broker-b"))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		m := join(t, tg, "g", "T", nil, func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromLastOffset })
		awaitHeld(m, "T", 4)
		put := func(n int) {
			for i := range n {
				sb.Put(sandbox.Message{Topic: "T", Broker: "broker-b", QueueID: int32(i % 2)})
			}
		}
		put(100)
		m.until("100 messages", func() bool { return m.distinct() == 100 })
		for range 2 {
			sb.StopBroker("broker-b")
			m.until("its queues are lost", func() bool { return held(m, "T") == 2 })
			time.Sleep(time.Minute)
			sb.LoseOffsets("broker-b", "g")
			n := m.distinct()
			put(50) // sent to it before the member has heard that it is back
			sb.StartBroker("broker-b")
			m.until("50 more", func() bool { return m.distinct() == n+50 })
		}
		if added := count(m, func(e engine.QueueAdded) bool { return e.Source == "memory" && e.MQ.Topic == "T" }); added != 4 {
			t.Errorf("%d queues were taken by what the member remembers, want 4", added)
		}
		mq := engine.MessageQueue{Topic: "T", BrokerName: "broker-b"}
		m.until("the broker knows again", func() bool {
			got, found, _, _ := sb.Offsets("g", mq)
			return found && got == 100
		})
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
	})
}

// Many brokers get their heartbeats side by side, but not all at once, and the
// first pass waits for slow ones a second at most.
func TestManyBrokers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 100 {
			names = append(names, "b"+string(rune('0'+i/10))+string(rune('0'+i%10)))
		}
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Brokers(names...))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		const slow = 300 * time.Millisecond
		began := time.Now()
		var atOnce atomic.Int32
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.HeartBeat {
				if f.Delay = slow; r.Broker == "b07" {
					f = sandbox.Fault{Drop: true}
				}
				if time.Since(began) < slow {
					atOnce.Add(1)
				}
			}
			return f
		})
		m := join(t, tg, "g", "T", nil)
		first := untilEvent[engine.RebalanceEnd](m, "the first pass", nil)
		if took := first.Time.Sub(began); took > 2*time.Second {
			t.Errorf("the first pass ended after %v", took)
		}
		if n := atOnce.Load(); n > 64 || n < 2 {
			t.Errorf("%d heartbeats at once, want 64 at most", n)
		}
		if b := brokerKnown(m, "b07", 0); b.Connected || time.Since(b.Waiting) < time.Second {
			t.Errorf("the silent broker is shown as %+v, want since when it is waited for", b)
		}
		answered := 0
		for _, b := range m.Snapshot().Brokers {
			if b.Connected {
				answered++
			}
		}
		if answered != 99 {
			t.Errorf("%d brokers have answered, want 99", answered)
		}
		// Only the silent one is asked again before the next period.
		time.Sleep(20 * time.Second)
		// (Each is told up to three times at the start: the first pass of a topic makes a
		// new subscription version, and the retry topic appears later.)
		if n := count(m, func(e engine.HeartbeatSent) bool { return e.Error == "" }); n > 3*99 {
			t.Errorf("%d heartbeats were answered in 20 s, want three each of 99 at most", n)
		}
		if n := count(m, func(e engine.HeartbeatSent) bool { return e.Error != "" }); n < 4 {
			t.Errorf("the silent broker was asked %d times in 20 s", n)
		}
	})
}

// A broker that is busy loses nothing, whatever it refuses, and is not asked in a
// loop; a flow control of its own is told as such.
func TestBusyBroker(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 4), tg.Group(t)
			m := join(t, tg, group, topic, nil, mode)
			awaitHeld(m, topic, 4)
			tg.Produce(t, topic, 100)
			m.until("100 messages", func() bool { return m.distinct() == 100 })
			var busy atomic.Int32
			code := protocol.SystemBusy
			tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
				if r.Broker != "" && r.ClientID == m.ClientID() {
					busy.Add(1)
					f.Code, f.Remark = code, "[OVERLOAD]system busy, start flow control for a while"
				}
				return f
			})
			tg.Produce(t, topic, 100)
			time.Sleep(45 * time.Second)
			if n := busy.Load(); n < 40 || n > 1000 {
				t.Errorf("%d requests to a busy broker in 45 s", n)
			}
			e := about[engine.PullError](m, engine.MessageQueue{Topic: topic, BrokerName: "broker-a"})
			if e.Code != int32(protocol.SystemBusy) || e.DelayMS != 1000 {
				t.Errorf("pull_error = %+v, want SYSTEM_BUSY and a second", e)
			}
			tg.Sandbox.SetFault(nil)
			m.until("the rest", func() bool { return m.distinct() == 200 })
			m.leave()
			checkCommitted(t, tg, group, topic)
			if d := m.duplicates(); d != 0 {
				t.Errorf("duplicates = %d, want 0", d)
			}
		}
	})
}

// FLOW_CONTROL is not an error: the pull is sent again after 20 ms, and the
// condition is told with its beginning and end.
func TestFlowControlByTheBroker(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		var n atomic.Int32
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage {
				if n.Add(1); n.Load() <= 100 {
					f.Code = protocol.FlowControl
				}
			}
			return f
		})
		tg.Produce(t, topic, 10)
		m.until("10 messages", func() bool { return m.distinct() == 10 })
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		if begin := about[engine.FlowBegin](m, mq); begin.Cause != core.FlowBroker {
			t.Errorf("flow_begin = %+v", begin)
		}
		if end := about[engine.FlowEnd](m, mq); end.Cause != core.FlowBroker || end.Times < 40 || end.DurationMS < 700 || end.DurationMS > 2200 {
			t.Errorf("flow_end = %+v, want some 50 or 100 times within one or two seconds", end)
		}
		if n := count[engine.PullError](m, nil); n != 0 {
			t.Errorf("%d pull errors, want none", n)
		}
	})
}
