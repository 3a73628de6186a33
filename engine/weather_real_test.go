package engine_test

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// One of two real brokers is killed, is missed, and comes back at another port:
// the same as TestKilledBrokerIsMissed and TestBrokerMoves in the sandbox.
func TestOwnBrokerIsKilledAndMoves(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		tg := own.Up(t, "a")
		old := own.Broker(t, "b", tg.Namesrv[0], "brokerName=broker-b")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 8)
		tg.Produce(t, topic, 400)
		m.until("400 messages", func() bool { return m.distinct() == 400 })

		own.Kill(t, "b", "broker")
		m.until("it is missed", func() bool { b := brokerKnown(m, "broker-b", 0); return b.Gone && b.Error != "" && !b.Connected })
		awaitHeld(m, topic, 4)

		moved := sandboxtest.FreeBrokerPort(t)
		own.Set(t, "b", "listenPort="+strconv.Itoa(moved))
		own.Restart(t, "b", "broker")
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(moved))
		back := untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.Address == addr })
		awaitHeld(m, topic, 8)
		if back.DurationMS == 0 {
			t.Errorf("broker_online = %+v, want how long it was away", back)
		}
		m.until("its old address is forgotten", func() bool { return !strings.Contains(fmt.Sprint(m.Snapshot().Brokers), old) })
		tg.AwaitRoute(t, topic, 8) // the producer's route has the old one
		tg.Produce(t, topic, 400)
		m.until("400 more", func() bool { return m.distinct() == 800 })
		m.leave()
		checkCommitted(t, tg, group, topic)
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
	})
}

// Five restarts of the broker by SIGKILL stop no queue of an orderly group: each
// goes on soon after, in order.
func TestOwnBrokerRestartsFiveTimes(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		tg := own.Up(t, "a", "flushDiskType=SYNC_FLUSH") // what is lost with the broker is not at issue
		topic, group := tg.Topic(t, 8), tg.Group(t)
		// A 4.9 broker that is killed while it writes its topics comes back with the
		// copy of the writing before: let that have the topic too.
		admin := tg.Client(t, nil)
		for _, addr := range tg.Masters(t) {
			if err := admin.CreateTopic(t.Context(), addr, &protocol.CreateTopicRequestHeader{
				Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 8, WriteQueueNums: 8, Perm: protocol.PermRead | protocol.PermWrite,
			}); err != nil {
				t.Fatal(err)
			}
		}
		m := join(t, tg, group, topic, nil, orderly)
		awaitHeld(m, topic, 8)
		for i := range 5 {
			tg.Produce(t, topic, 80)
			own.Kill(t, "a", "broker")
			own.Restart(t, "a", "broker")
			tg.Produce(t, topic, 80)
			m.until("all queues go on", func() bool { return m.distinct() == (i+1)*160 })
		}
		m.leave()
		checkOrder(t, m)
		checkCommitted(t, tg, group, topic)
	})
}

// A real broker that is short of pull threads answers SYSTEM_BUSY; everything is
// read nevertheless.
func TestOwnBrokerIsOverloaded(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		tg := own.Up(t, "a", "pullMessageThreadPoolNums=1", "pullThreadPoolQueueCapacity=1")
		topic, group := tg.Topic(t, 256), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 256)
		for i := 0; i < 20 && count(m, func(e engine.PullError) bool { return e.Code == int32(protocol.SystemBusy) }) == 0; i++ {
			tg.Produce(t, topic, 2560)
			n := (i + 1) * 2560
			m.until("all messages", func() bool { return m.distinct() == n })
		}
		busy := untilEvent(m, "the broker was busy", func(e engine.PullError) bool { return e.Code == int32(protocol.SystemBusy) })
		if busy.DelayMS != core.PullDelayException.Milliseconds() {
			t.Errorf("pull_error = %+v, want a second", busy)
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
	})
}

// Two name servers, the first of which the broker registers at no more though it
// runs: the member moves to the other one. A dead one in the list, a host
// name and blanks hurt nobody.
func TestOwnNameServerLosesItsBrokers(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		one := own.Up(t, "one")
		two := own.Up(t, "two", "brokerName=broker-z")
		own.Kill(t, "two", "broker")
		_, port, err := net.SplitHostPort(two.Namesrv[0])
		if err != nil {
			t.Fatal(err)
		}
		topic, group := one.Topic(t, 4), two.Group(t)
		list := *one
		list.Namesrv = []string{one.Namesrv[0], "127.0.0.1:1", "localhost:" + port}
		m := join(t, &list, group, topic, nil)
		awaitHeld(m, topic, 4)
		one.Produce(t, topic, 40)
		m.until("40 messages", func() bool { return m.distinct() == 40 })
		if _, current := m.client.Namesrv(); current != one.Namesrv[0] {
			t.Errorf("current = %q, want the first of the list", current)
		}

		own.Set(t, "one", "namesrvAddr="+two.Namesrv[0])
		own.Kill(t, "one", "broker")
		own.Restart(t, "one", "broker") // from now on the first name server knows no broker
		two.Produce(t, topic, 40)
		m.until("40 more", func() bool { return m.distinct() == 80 })
		m.until("the other name server is shown", func() bool { return m.Snapshot().NamesrvCurrent == "localhost:"+port })
		m.leave()
		checkCommitted(t, two, group, topic)
	})
}
