package engine_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A broker that stays out of reach while another one serves costs no queue: what
// was consumed there and could not be committed is not consumed again.
func TestQueuesOutliveALongCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 2), sandboxtest.Brokers("broker-a", "broker-b"))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		far := brokerAddr(t, tg, "broker-b")
		own, tie := apart(tg)
		whole := own.Dial
		own.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr != far {
				return tg.Dial(ctx, network, addr)
			}
			return whole(ctx, network, addr)
		}
		m := join(t, own, "g", "T", nil)
		awaitHeld(m, "T", 4)
		time.Sleep(5100 * time.Millisecond) // behind a round of commits
		for range 40 {
			sb.Put(sandbox.Message{Topic: "T", Broker: "broker-b", QueueID: -1})
		}
		m.until("all messages", func() bool { return m.distinct() == 40 })
		tie.cut()
		untilEvent[engine.BrokerOffline](m, "the broker is missed", nil)
		time.Sleep(3 * time.Minute)
		tie.mend()
		untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		time.Sleep(time.Minute)
		if n := count(m, func(e engine.QueueDropped) bool { return e.Cause == "pull_expired" }); n > 0 {
			t.Errorf("%d queues were given away", n)
		}
		if n := m.duplicates(); n > 0 {
			t.Errorf("duplicates = %d, want 0", n)
		}
	})
}

func brokerAddr(t *testing.T, tg *sandboxtest.Target, name string) string {
	t.Helper()
	c := tg.Client(t, nil)
	if _, err := c.Route(t.Context(), "T"); err != nil {
		t.Fatal(err)
	}
	addr, ok := c.BrokerAddr(name, remoting.MasterID)
	if !ok {
		t.Fatal("no address of " + name)
	}
	return addr
}

// fickle is a strategy that fails when it is told to.
type fickle struct {
	core.Strategy
	fails *atomic.Bool
}

func (f fickle) Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	if f.fails.Load() {
		return nil, errors.New("no share for " + clientID)
	}
	return f.Strategy.Allocate(group, clientID, queues, members)
}

// A member whose passes fail keeps what it has, and consumes from it, also after
// its connection was lost for a moment.
func TestDoubtEndsWithoutAPass(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		own, tie := apart(tg)
		var fails atomic.Bool
		a := join(t, own, group, topic, nil, withStrategy(fickle{core.AllocateAveragely, &fails}, "a@1"))
		b := join(t, tg, group, topic, nil, withStrategy(core.AllocateAveragely, "b@1"))
		awaitHeld(a, topic, 2)
		awaitHeld(b, topic, 2)
		time.Sleep(10 * time.Second)
		fails.Store(true)
		tie.cut()
		time.Sleep(time.Second)
		tie.mend()
		time.Sleep(2 * time.Minute)
		before := a.distinct()
		tg.Produce(t, topic, 40)
		time.Sleep(time.Minute)
		if n := a.distinct() - before; n != 20 {
			t.Errorf("%d messages came to the member whose passes fail, want its 20", n)
		}
	})
}
