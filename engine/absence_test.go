package engine_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// tether is one member's way to the cluster, which a test cuts and mends.
type tether struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex // guards the rest
	off   bool
	conns []net.Conn
}

var errUntied = errors.New("cut off")

// apart gives a target whose clients have a tether of their own.
func apart(tg *sandboxtest.Target) (*sandboxtest.Target, *tether) {
	w := &tether{dial: tg.Dial}
	own := *tg
	own.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := w.dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.off {
			c.Close()
			return nil, errUntied
		}
		w.conns = append(w.conns, c)
		return c, nil
	}
	return &own, w
}

func (w *tether) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = true
	for _, c := range w.conns {
		c.Close()
	}
	w.conns = nil
}

func (w *tether) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.off = false
}

// both counts the messages that two members got.
func both(a, b *member) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for m := range a.seen {
		if b.seen[m] > 0 {
			n++
		}
	}
	return n
}

// A member that was cut off does not deliver what others have consumed of its
// queues meanwhile, whichever of its requests goes through first.
func TestBackFromACut(t *testing.T) {
	for name, late := range map[string]protocol.RequestCode{"pulls go first": protocol.HeartBeat, "heartbeats go first": protocol.PullMessage} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 4), tg.Group(t)
				own, tie := apart(tg)
				a := join(t, own, group, topic, nil)
				b := join(t, tg, group, topic, nil)
				awaitHeld(a, topic, 2)
				awaitHeld(b, topic, 2)
				tg.Produce(t, topic, 100)
				a.until("its half", func() bool { return a.distinct() == 50 })
				b.until("its half", func() bool { return b.distinct() == 50 })
				time.Sleep(6 * time.Second) // until it is committed

				tie.cut()
				awaitHeld(b, topic, 4)
				tg.Produce(t, topic, 200)
				b.until("all that came", func() bool { return b.distinct() == 250 })
				onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
					if code == late && client != b.ClientID() {
						f.Delay = 400 * time.Millisecond
					}
					return f
				})
				tie.mend()
				awaitHeld(b, topic, 2)
				tg.Produce(t, topic, 100)
				a.until("its half of what came last", func() bool { return a.distinct() >= 100 })
				time.Sleep(6 * time.Second)
				if n := both(a, b); n > 0 || a.duplicates()+b.duplicates() > 0 {
					t.Errorf("%d messages came to both members, %d twice to the one that was cut off", n, a.duplicates())
				}
				if n := a.distinct() + b.distinct(); n != 400 {
					t.Errorf("%d messages came, want 400", n)
				}
			})
		})
	}
}

// Who was alone when it was cut off is no more when it comes back.
func TestBackFromACutIntoCompany(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		own, tie := apart(tg)
		a := join(t, own, group, topic, nil)
		awaitHeld(a, topic, 4)
		tg.Produce(t, topic, 100)
		a.until("all", func() bool { return a.distinct() == 100 })
		time.Sleep(6 * time.Second) // until it is committed

		tie.cut()
		b := join(t, tg, group, topic, nil)
		awaitHeld(b, topic, 4)
		tg.Produce(t, topic, 200)
		b.until("all that came", func() bool { return b.distinct() == 200 })
		time.Sleep(6 * time.Second) // until it is committed
		tie.mend()
		awaitHeld(b, topic, 2)
		awaitHeld(a, topic, 2)
		tg.Produce(t, topic, 100)
		b.until("its half of what came last", func() bool { return b.distinct() >= 250 })
		a.until("its half of what came last", func() bool { return a.distinct() >= 150 })
		time.Sleep(6 * time.Second)
		if n := both(a, b); n > 0 || a.distinct()+b.distinct() != 400 {
			t.Errorf("%d messages came to both members, %d came at all, want 400 and none twice", n, a.distinct()+b.distinct())
		}
	})
}

// Who comes back and cannot see how far others have come moves nobody back.
func TestBackFromACutUnableToRead(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		own, tie := apart(tg)
		a := join(t, own, group, topic, nil, named("a@1"))
		b := join(t, tg, group, topic, nil, named("b@1"))
		awaitHeld(a, topic, 2)
		awaitHeld(b, topic, 2)
		tg.Produce(t, topic, 100)
		a.until("its half", func() bool { return a.distinct() == 50 })
		tie.cut() // before it has committed
		awaitHeld(b, topic, 4)
		tg.Produce(t, topic, 200)
		b.until("all messages", func() bool { return b.distinct() >= 250 })
		time.Sleep(6 * time.Second) // until it is committed

		onFault(tg, func(code protocol.RequestCode, client string) (f sandbox.Fault) {
			if code == protocol.QueryConsumerOffset && client == "a@1" {
				f.Code = protocol.SystemError
			}
			return f
		})
		tie.mend()
		awaitHeld(b, topic, 2)
		for range 20 {
			time.Sleep(time.Second)
			for id := range int32(4) {
				mq := protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: id}
				if offset, _, err := b.client.QueryConsumerOffset(t.Context(), group, mq); err != nil || offset != 75 {
					t.Fatalf("%v is committed up to %d (%v), want 75", mq, offset, err)
				}
			}
		}
		tg.Sandbox.SetFault(nil)
		tg.Produce(t, topic, 100)
		a.until("its half of what came last", func() bool { return a.distinct() >= 100 })
		b.until("its half of what came last", func() bool { return b.distinct() >= 300 })
	})
}

// The group has changed while a member was cut off: what others have now it gives
// up at once, and does not wait for who has left meanwhile.
func TestBackFromACutIntoAnotherGroup(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 6), tg.Group(t)
		own, tie := apart(tg)
		a := join(t, own, group, topic, nil, named("a@1"))
		b := join(t, tg, group, topic, nil, named("b@1"))
		awaitHeld(a, topic, 3)
		awaitHeld(b, topic, 3)
		tie.cut()
		awaitHeld(b, topic, 6)
		c := join(t, tg, group, topic, nil, named("c@1"))
		d := join(t, tg, group, topic, nil, named("d@1"))
		b.leave()
		awaitHeld(c, topic, 3)
		awaitHeld(d, topic, 3)
		tie.mend()
		untilEvent(a, "it is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		began := time.Now()
		awaitHeld(a, topic, 2)
		if took := time.Since(began); took > time.Second {
			t.Errorf("it gave up what others have after %v, want at most 1s", took)
		}
	})
}
