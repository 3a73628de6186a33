package engine_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
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

// cable is the network between a client and a cluster, which can be cut: then
// connections carry nothing either way, without a word, and dials hang. Those
// that were open at a cut stay dead after it, as when the peer has restarted.
type cable struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex
	down  chan struct{} // nil: whole; closed at the end of the cut
	conns []*cableConn
	dials map[string]int
}

// plug lays a cable before a target's network.
func plug(tg *sandboxtest.Target) (*cable, *sandboxtest.Target) {
	c := &cable{dial: tg.Dial, dials: map[string]int{}}
	if c.dial == nil {
		c.dial = (&net.Dialer{}).DialContext
	}
	behind := *tg
	behind.Dial = c.Dial
	return c, &behind
}

func (c *cable) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	c.dials[addr]++
	down := c.down
	c.mu.Unlock()
	if down != nil {
		<-ctx.Done() // a lost SYN
		return nil, ctx.Err()
	}
	nc, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cc := &cableConn{Conn: nc, dead: make(chan struct{}), closed: make(chan struct{})}
	c.mu.Lock()
	c.conns = append(c.conns, cc)
	c.mu.Unlock()
	return cc, nil
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = make(chan struct{})
	for _, cc := range c.conns {
		close(cc.dead)
	}
	c.conns = nil
}

func (c *cable) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.down)
	c.down = nil
}

// cableConn is a connection until the cut; then its reads wait until it is closed
// and its writes go nowhere.
type cableConn struct {
	net.Conn
	dead, closed chan struct{}
	once         sync.Once
}

func (c *cableConn) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

func (c *cableConn) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	got := make(chan read, 1)
	buf := make([]byte, len(p))
	go func() {
		n, err := c.Conn.Read(buf)
		got <- read{n, err}
	}()
	select {
	case r := <-got:
		if !c.isDead() {
			return copy(p, buf[:r.n]), r.err
		}
	case <-c.dead:
	}
	<-c.closed
	return 0, net.ErrClosed
}

func (c *cableConn) Write(p []byte) (int, error) {
	if c.isDead() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cableConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

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
// of the queue is near the reads go back to the master (R125).
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
// offsets again (R127).
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
// grants none. It goes on when the master is back (R126).
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

// A broker that comes back at another address is found within one route poll,
// and is told as the same one that was away (R119).
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
// neither the routes nor the heartbeats: reading goes on within 40 s (R120).
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
// the outage is one event with its start, end and reason (R117).
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
// time is over; the other queues do not notice (R020).
func TestLostPullAnswerIsNoOutage(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 8)
		lost := engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 3}
		var once atomic.Bool
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage && h.Parse(r.Command.ExtFields) == nil &&
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

// Restarts of the broker stop no queue of an orderly group for long (R018).
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

// sendHeartbeat announces a member that does nothing else.
func sendHeartbeat(t *testing.T, c *remoting.Client, group, clientID, topic string) {
	t.Helper()
	if _, err := c.Route(t.Context(), topic); err != nil {
		t.Fatal(err)
	}
	sub, err := protocol.NewSubscriptionData(topic, "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, addrs := range c.Brokers() {
		for _, addr := range addrs {
			_, err := c.Heartbeat(t.Context(), addr, &protocol.HeartbeatData{ClientID: clientID, ConsumerDataSet: []protocol.ConsumerData{{
				GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
				ConsumeFromWhere: protocol.ConsumeFromFirstOffset, SubscriptionDataSet: []protocol.SubscriptionData{sub},
			}}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Many brokers get their heartbeats side by side, but not all at once, and the
// first pass waits for slow ones a second at most (R181).
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

// A heartbeat that is wanted while one is under way follows it (trap T33), and one
// that gets no answer delays none to other brokers.
func TestHeartbeatsOfOneBrokerDelayNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Brokers("broker-a", "broker-b"))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		m := join(t, tg, "g", "T", nil)
		awaitHeld(m, "T", 2)
		sb.VanishBroker("broker-b")
		time.Sleep(40 * time.Second) // broker-b is tried all the time from now on
		sb.StopBroker("broker-a")
		sb.StartBroker("broker-a") // it has forgotten its members
		began := time.Now()
		sb.Put(sandbox.Message{Topic: "T", Broker: "broker-a"})
		m.until("the message", func() bool { return m.distinct() == 1 })
		// A route that is asked for in that moment names broker-b alone: then a pass asks
		// it for the members, for 3 s in vain, before the next one.
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("reading from broker-a went on after %v", took)
		}
		sb.MoveBroker("broker-b")
		m.until("broker-b is back", func() bool { return brokerKnown(m, "broker-b", 0).Connected })
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

// ask is one request of a member as the sandbox got it.
type ask struct {
	code   protocol.RequestCode
	broker string // "" is the name server
	at     time.Time
	body   []byte
}

// recordAsks notes the requests of everybody until the end of the test.
func recordAsks(tg *sandboxtest.Target) func() []ask {
	var mu sync.Mutex
	var asks []ask
	tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
		mu.Lock()
		defer mu.Unlock()
		asks = append(asks, ask{protocol.RequestCode(r.Command.Code), r.Broker, time.Now(), r.Command.Body})
		return sandbox.Fault{}
	})
	return func() []ask {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(asks)
	}
}

// A start asks for routes, then announces itself, then asks who is there, and only
// then for offsets and messages.
func TestStartAsksInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		asks := recordAsks(tg)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		m.until("a pull", func() bool {
			return slices.ContainsFunc(asks(), func(a ask) bool { return a.code == protocol.PullMessage })
		})
		last := -1
		for _, code := range []protocol.RequestCode{protocol.GetRouteInfoByTopic, protocol.HeartBeat, protocol.GetConsumerListByGroup,
			protocol.QueryConsumerOffset, protocol.PullMessage} {
			i := slices.IndexFunc(asks(), func(a ask) bool { return a.code == code })
			if i <= last {
				t.Errorf("the first %v is request %d, not after those before it (%d)", code, i, last)
			}
			last = i
		}
	})
}

// The periodic tasks keep their periods, each by itself.
func TestPeriodsOfTheClientInstance(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		time.Sleep(10 * time.Second)
		asks := recordAsks(tg)
		const minutes = 10
		for range minutes * 60 {
			tg.Sandbox.Put(sandbox.Message{Topic: topic}) // so that there is something to save
			time.Sleep(time.Second)
		}
		counts := map[protocol.RequestCode]int{}
		for _, a := range asks() {
			counts[a.code]++
		}
		for code, want := range map[protocol.RequestCode][2]int{
			protocol.GetRouteInfoByTopic:    {2 * 2 * minutes, 2*2*minutes + 4},     // two topics, every 30 s
			protocol.HeartBeat:              {2*minutes - 1, 2*minutes + 1},         // every 30 s
			protocol.GetConsumerListByGroup: {2*3*minutes - 2, 2*3*minutes + 2},     // two topics, every 20 s
			protocol.UpdateConsumerOffset:   {12*minutes - 1, 12*minutes + minutes}, // every 5 s, and now and then all
		} {
			if n := counts[code]; n < want[0] || n > want[1] {
				t.Errorf("%d × %v in %d minutes, want %d to %d", n, code, minutes, want[0], want[1])
			}
		}
	})
}

// What a heartbeat says (spec/consumer.md 4.3), to masters and slaves alike, and
// what is kept of the answer.
func TestHeartbeatBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1), sandboxtest.Slaves(1))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		var mu sync.Mutex
		beats := map[int64]protocol.HeartbeatData{}
		language, version := protocol.LanguageCode(0), int32(0)
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.HeartBeat {
				d, err := protocol.DecodeHeartbeatData(r.Command.Body)
				if err != nil {
					t.Errorf("heartbeat: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				beats[r.BrokerID], language, version = d, r.Command.Language, r.Command.Version
			}
			return f
		})
		m := join(t, tg, "g", "T", nil, named("me@1"))
		awaitHeld(m, "T", 1)
		mu.Lock()
		defer mu.Unlock()
		if language != protocol.LanguageGo || version != protocol.Version {
			t.Errorf("the header says %v %d", language, version)
		}
		for id := range int64(2) {
			d := beats[id]
			if d.ClientID != "me@1" || len(d.ConsumerDataSet) != 1 || len(d.ProducerDataSet) != 1 || d.ProducerDataSet[0].GroupName != "CLIENT_INNER_PRODUCER" {
				t.Fatalf("to broker id %d: %+v", id, d)
			}
			c := d.ConsumerDataSet[0]
			if c.GroupName != "g" || c.ConsumeType != protocol.ConsumePassively || c.MessageModel != protocol.Clustering ||
				c.ConsumeFromWhere != protocol.ConsumeFromFirstOffset || c.UnitMode || len(c.SubscriptionDataSet) != 2 {
				t.Errorf("to broker id %d: %+v", id, c)
			}
			for i, topic := range []string{"T", protocol.RetryTopic("g")} {
				s := c.SubscriptionDataSet[i]
				if s.Topic != topic || s.SubString != "*" || s.ExpressionType != protocol.ExpressionTAG || time.Since(time.UnixMilli(s.SubVersion)).Abs() > time.Second {
					t.Errorf("subscription %+v, want all of %s, with a version in milliseconds", s, topic)
				}
			}
			if b := brokerKnown(m, "broker-a", id); b.Version != 479 || !b.Connected {
				t.Errorf("of the answer is kept %+v, want the version", b)
			}
		}
	})
}

// A heartbeat that is wanted while one is under way follows it at once: it is not
// lost until the next period (trap T33).
func TestHeartbeatFollowsTheOneUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, other, group := tg.Topic(t, 1), tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		time.Sleep(5 * time.Second)
		began := make(chan struct{}, 100)
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.HeartBeat {
				f.Delay = 2 * time.Second
				began <- struct{}{}
			}
			return f
		})
		<-began // the periodic one is under way
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: other}); err != nil {
			t.Fatal(err)
		}
		at := time.Now()
		<-began
		if took := time.Since(at); took > 2100*time.Millisecond {
			t.Errorf("the heartbeat with the new subscription was sent after %v", took)
		}
		awaitHeld(m, other, 1)
	})
}
