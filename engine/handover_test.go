package engine_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// lateStore is a store whose writes come late by some time.
type lateStore struct {
	engine.OffsetStore
	by time.Duration
}

func (s lateStore) Save(ctx context.Context, offsets map[engine.MessageQueue]int64) map[engine.MessageQueue]error {
	time.Sleep(s.by)
	return s.OffsetStore.Save(ctx, offsets)
}

func late(by time.Duration) func(engine.OffsetStore) engine.OffsetStore {
	return func(s engine.OffsetStore) engine.OffsetStore { return lateStore{s, by} }
}

// silence notes when each queue's messages are delivered, whoever gets them.
type silence struct {
	mu    sync.Mutex // guards what follows
	last  map[int32]time.Time
	worst time.Duration
}

func (s *silence) listen(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if last, ok := s.last[cc.MessageQueue.QueueID]; ok {
		s.worst = max(s.worst, now.Sub(last))
	}
	s.last[cc.MessageQueue.QueueID] = now
	return engine.ConsumeSuccess, nil
}

// take returns the longest silence of any queue since it was called last.
func (s *silence) take() (worst time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	worst, s.worst = s.worst, 0
	return worst
}

// steady puts a message into each queue of a topic every 100 ms until it is
// stopped; stop returns how many it has put.
func steady(tg *sandboxtest.Target, topic string, queues int32) (stop func() int) {
	end, sent := make(chan struct{}), make(chan int)
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for n := 0; ; {
			select {
			case <-tick.C:
				for id := range queues {
					tg.Sandbox.Put(sandbox.Message{Topic: topic, QueueID: id, Body: []byte("x")})
					n++
				}
			case <-end:
				sent <- n
				return
			}
		}
	}()
	return func() int { close(end); return <-sent }
}

// A member that joins a group under load, and leaves again, costs neither a
// duplicate nor a silence worth the name, also when the old owner learns of it
// late and is slow to persist (W5 of the bench).
func TestHandOverUnderLoad(t *testing.T) {
	const queues = 16
	for name, tt := range map[string]struct {
		learns   time.Duration // by how much later the old owner gets the list of members
		persists time.Duration // and its commits arrive
		slow     time.Duration // by how much later the broker answers anything
		silence  time.Duration // allowed on join
	}{
		"prompt":               {0, 0, 0, 350 * time.Millisecond},
		"learns late":          {900 * time.Millisecond, 0, 0, 350 * time.Millisecond},
		"persists late":        {0, 250 * time.Millisecond, 0, 500 * time.Millisecond},
		"late all round":       {400 * time.Millisecond, 250 * time.Millisecond, 0, 500 * time.Millisecond},
		"learns in its period": {21 * time.Second, 0, 0, 350 * time.Millisecond},
		"slow broker":          {0, 0, 300 * time.Millisecond, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, queues), tg.Group(t)
				s := &silence{last: map[int32]time.Time{}}
				a := joinStore(t, tg, group, topic, s.listen, late(tt.persists), named("a@1"))
				awaitHeld(a, topic, queues)
				stop := steady(tg, topic, queues)
				time.Sleep(6 * time.Second)
				onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
					f.Delay = tt.slow
					if code == protocol.GetConsumerListByGroup && client == "a@1" {
						f.Delay += tt.learns
						if tt.learns > 3*time.Second {
							f = sandbox.Fault{Drop: true}
						}
					}
					return f
				})
				s.take()
				b := join(t, tg, group, topic, s.listen, named("b@1"))
				time.Sleep(4 * time.Second)
				tg.Sandbox.SetFault(nil)
				awaitHeld(b, topic, queues/2)
				time.Sleep(2 * time.Second)
				if worst := s.take(); worst > tt.silence {
					t.Errorf("a queue was silent for %v on join, want at most %v", worst, tt.silence)
				}
				b.leave()
				awaitHeld(a, topic, queues)
				time.Sleep(2 * time.Second)
				if worst := s.take(); worst > 500*time.Millisecond {
					t.Errorf("a queue was silent for %v on leave, want at most 500ms", worst)
				}
				sent := stop()
				a.until("all have come", func() bool {
					b.mu.Lock()
					defer b.mu.Unlock()
					return len(a.seen)+len(b.seen) >= sent
				})
				a.leave()
				checkOnce(t, a, b)
				if got := len(a.seen) + len(b.seen); got != sent {
					t.Errorf("%d messages came, %d were sent", got, sent)
				}
				checkCommitted(t, tg, group, topic)
			})
		})
	}
}

// A member that keeps a queue although it is given to another is waited for and
// told of, and in the end the queue is taken all the same.
func TestOldOwnerThatKeepsAQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		a := join(t, tg, group, topic, nil, named("a@1"))
		awaitHeld(a, topic, 2)
		stop := steady(tg, topic, 2)
		time.Sleep(time.Second)
		onFault(tg, func(code protocol.RequestCode, client string) sandbox.Fault {
			return sandbox.Fault{Drop: code == protocol.GetConsumerListByGroup && client == "a@1"}
		})
		b := join(t, tg, group, topic, nil, named("b@1"))
		kept := untilEvent(b, "it is told", func(e engine.QueueAddFailed) bool { return e.Cause == "held" })
		if kept.Error != "a@1 has not given it back yet" {
			t.Errorf("queue_add_failed %+v", kept)
		}
		b.until("it is shown", func() bool { s := snapOf(b, kept.MQ); return s.State == engine.QueueTaking && s.Detail != "" })
		time.Sleep(15 * time.Second)
		if n := held(b, topic); n != 0 {
			t.Errorf("%d queues were taken while their owner consumes them", n)
		}
		time.Sleep(15 * time.Second)
		if n := held(b, topic); n != 1 {
			t.Errorf("%d queues are held half a minute later, want 1", n)
		}
		tg.Sandbox.SetFault(nil)
		stop()
	})
}

// A member that does not say what it holds costs the fixed time, and is soon not
// asked any more.
func TestOldOwnerThatDoesNotSay(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		var asked atomic.Int32
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.GetConsumerStatusOfMembers {
				asked.Add(1)
				f.Delay = 5 * time.Second
			}
			return f
		})
		a := join(t, tg, group, topic, nil, named("a@1"))
		awaitHeld(a, topic, 8)
		m := join(t, tg, group, topic, nil, named("m@1"))
		awaitHeld(m, topic, 4)
		for range 4 {
			began := time.Now()
			b := join(t, tg, group, topic, nil, named("b@1"))
			awaitHeld(b, topic, 3)
			if took := time.Since(began); took > time.Second {
				t.Errorf("the queues were taken after %v", took)
			}
			b.leave()
			awaitHeld(m, topic, 4)
		}
		if n := asked.Load(); n > 20 {
			t.Errorf("%d questions to members that do not answer", n)
		}
	})
}

// cord is a network whose connections can be ended from both sides at once.
type cord struct {
	mu    sync.Mutex // guards what follows
	down  bool
	conns []net.Conn
}

// cordOf is a target whose clients are on a cord of their own.
func cordOf(tg *sandboxtest.Target) (*cord, *sandboxtest.Target) {
	w, wired := &cord{}, *tg
	wired.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.down {
			return nil, errors.New("the cord is cut")
		}
		c, err := tg.Dial(ctx, network, addr)
		if err == nil {
			w.conns = append(w.conns, c)
		}
		return c, err
	}
	return w, &wired
}

func (w *cord) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

func (w *cord) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}

// A member that was cut off from its broker, so that another one consumed its
// queues, does not go on from where it was when it comes back: it takes over where
// the other is.
func TestCutOffMemberTakesOver(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		w, wired := cordOf(tg)
		a := join(t, wired, group, topic, nil, named("a@1"))
		awaitHeld(a, topic, 4)
		b := join(t, tg, group, topic, nil, named("b@1"))
		awaitHeld(b, topic, 2)
		tg.Produce(t, topic, 40)
		both := func() int { return a.distinct() + b.distinct() }
		a.until("the first messages", func() bool { return a.distinct() == 20 })
		time.Sleep(6 * time.Second) // all is committed
		w.cut()
		untilEvent[engine.BrokerOffline](a, "a is cut off", nil)
		awaitHeld(b, topic, 4)
		tg.Produce(t, topic, 400)
		b.until("b has them all", func() bool { return b.distinct() == 20+400 })
		time.Sleep(time.Minute)
		w.mend()
		tg.Produce(t, topic, 40)
		untilEvent(a, "a is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		awaitHeld(b, topic, 2)
		tg.Produce(t, topic, 40)
		a.until("all of them", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return both() >= 520
		})
		time.Sleep(10 * time.Second)
		a.leave()
		b.leave()
		checkOnce(t, a, b)
		checkCommitted(t, tg, group, topic)
	})
}

// Wherever the broker stands still while a member joins, the member has its share
// soon after the broker goes on.
func TestStallWhileJoining(t *testing.T) {
	for _, stall := range []time.Duration{1500 * time.Millisecond, 4 * time.Second, 14 * time.Second} {
		for from := time.Duration(0); from < 700*time.Millisecond; from += 23 * time.Millisecond {
			t.Run(fmt.Sprintf("%v after %v", stall, from), func(t *testing.T) {
				t.Parallel()
				bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
					topic, group := tg.Topic(t, 4), tg.Group(t)
					a := join(t, tg, group, topic, nil, named("a@1"))
					awaitHeld(a, topic, 4)
					stop := steady(tg, topic, 4)
					time.Sleep(3 * time.Second)
					begin := time.Now().Add(from)
					end := begin.Add(stall)
					tg.Sandbox.SetFault(func(sandbox.Request) (f sandbox.Fault) {
						if now := time.Now(); now.After(begin) && now.Before(end) {
							f.Delay = end.Sub(now) // executed, and answered late
						} else {
							f.Delay = 7 * time.Millisecond
						}
						return f
					})
					b := join(t, tg, group, topic, nil, named("b@1"))
					time.Sleep(from + stall + 10*time.Second)
					if n, m := held(b, topic), held(a, topic); n != 2 || m != 2 {
						t.Errorf("ten seconds after the stall the new member holds %d queues, the old one %d", n, m)
					}
					if b.distinct() == 0 {
						t.Error("the new member has got nothing")
					}
					tg.Sandbox.SetFault(nil)
					sent := stop()
					a.until("nothing is lost", func() bool {
						b.mu.Lock()
						defer b.mu.Unlock()
						all := map[at]bool{}
						for k := range a.seen {
							all[k] = true
						}
						for k := range b.seen {
							all[k] = true
						}
						return len(all) == sent
					})
				})
			})
		}
	}
}

// A member whose connection has ended is one again at once, also when it has no
// queue and so nothing to ask the broker for.
func TestLostConnectionIsGreeted(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		a := join(t, tg, group, topic, nil, named("a@1"))
		awaitHeld(a, topic, 1)
		w, wired := cordOf(tg)
		b := join(t, wired, group, topic, nil, named("b@1"))
		untilEvent(b, "it has no queue", func(e engine.RebalanceTopic) bool { return e.Topic == topic && len(e.Mine) == 0 })
		time.Sleep(10 * time.Second)
		w.cut()
		w.mend()
		time.Sleep(1500 * time.Millisecond)
		if got := tg.Sandbox.Members(group); len(got) != 2 {
			t.Errorf("members a moment after a connection was lost: %v", got)
		}
		beats := count[engine.HeartbeatSent](b, nil)
		for range 20 { // a broker that closes each connection is not besieged
			w.cut()
			w.mend()
			time.Sleep(100 * time.Millisecond)
		}
		if n := count[engine.HeartbeatSent](b, nil) - beats; n > 8 {
			t.Errorf("%d heartbeats in 2 s", n)
		}
	})
}
