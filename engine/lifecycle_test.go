package engine_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// life is one engine from its start to its end, with a client of its own.
type life struct {
	engine *engine.Engine
	client *remoting.Client
	taken  chan struct{} // closed at the first queue
	end    func() error
}

// begin starts an engine. Nothing of it outlives end and the client's Close.
func begin(t *testing.T, tg *sandboxtest.Target, group, topic string, changes ...change) *life {
	t.Helper()
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = group, []engine.Subscription{{Topic: topic}}
	for _, c := range changes {
		c(&o)
	}
	inbound := engine.NewInbound()
	client, err := remoting.NewClient(remoting.Options{Namesrv: tg.Namesrv, Dial: tg.Dial, Handler: inbound})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(o, engine.Deps{Client: client, Inbound: inbound, Store: brokerStore{client, group},
		Listener: engine.ListenerFunc(func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
			return engine.ConsumeSuccess, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	l := &life{engine: e, client: client, taken: make(chan struct{})}
	sub := e.Subscribe(1 << 12)
	ctx, stop := context.WithCancel(t.Context())
	done, watched := make(chan error, 1), make(chan struct{})
	go func() { done <- e.Run(ctx, context.WithoutCancel(ctx)) }()
	go func() {
		defer close(watched)
		for first := true; ; {
			events, _, err := sub.Next(context.WithoutCancel(ctx))
			if err != nil {
				return
			}
			for _, ev := range events {
				if added, ok := ev.(engine.QueueAdded); ok && first && added.MQ.Topic == topic {
					first = false
					close(l.taken)
				}
			}
		}
	}()
	l.end = func() error {
		stop()
		err := <-done
		<-watched
		return err
	}
	return l
}

// goroutines counts those of this module.
func goroutines() (n int, stacks string) {
	buf := make([]byte, 8<<20)
	stacks = string(buf[:runtime.Stack(buf, true)])
	for one := range strings.SplitSeq(stacks, "\n\n") {
		one, _, _ = strings.Cut(one, "\ncreated by ") // one that has only that left is ending
		if strings.Contains(one, "eyeq/engine.") || strings.Contains(one, "eyeq/remoting.") {
			n++
		}
	}
	return n, stacks
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// membersAt counts the members of a group at a broker; none when it does not know the group.
func membersAt(ctx context.Context, c *remoting.Client, addr, group string) (int, error) {
	h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: group}
	answer, err := c.Invoke(ctx, addr, &protocol.Command{Code: int32(protocol.GetConsumerConnectionList), ExtFields: protocol.EncodeFields(&h)})
	if ce, ok := errors.AsType[*remoting.CodeError](err); ok && ce.Code == protocol.ConsumerNotOnline {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	conns, err := protocol.DecodeConsumerConnection(answer.Body)
	return len(conns.ConnectionSet), err
}

// Starting and stopping often in one process leaves nothing: no
// member at the broker although the connections are still open, no goroutine, and
// the next member gets all queues at once, so there is no lock either. Every
// third life ends before it has a queue, at whatever point it has come to.
func TestStartAndStopLeavesNothing(t *testing.T) {
	sandboxtest.RunIn(t, sandboxtest.Sandboxes|sandboxtest.Real|sandboxtest.Alone, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		admin := tg.Client(t, nil)
		addr := tg.Masters(t)["broker-a"]
		settle := func() {}
		if tg.Sandbox != nil {
			settle = synctest.Wait // ours end at once, the sandbox's side of a connection a moment later
		}
		if _, err := membersAt(t.Context(), admin, addr, group); err != nil { // connects
			t.Fatal(err)
		}
		settle()
		before, _ := goroutines()
		heap := uint64(0)
		for i := range 100 {
			if tg.Sandbox == nil && (i == 20 || i == 99) { // the sandbox keeps what a broker does
				if now := heapInUse(); i == 20 {
					heap = now
				} else if now > heap+2<<20 {
					t.Errorf("80 lives have left %d KiB", (now-heap)>>10)
				}
			}
			l := begin(t, tg, group, topic, func(o *engine.Options) { o.Orderly = i%2 == 0 })
			if i%3 != 0 {
				select {
				case <-l.taken:
				case <-time.After(45 * time.Second): // a lock that was left ends after 60
					t.Fatalf("life %d: no queue within 45 s: somebody else has it", i)
				}
			}
			if err := l.end(); err != nil {
				t.Fatalf("life %d: %v", i, err)
			}
			if n, err := membersAt(t.Context(), admin, addr, group); n != 0 || err != nil {
				t.Fatalf("life %d: %d members are left in the group, %v", i, n, err)
			}
			l.client.Close()
			settle()
			if after, stacks := goroutines(); after > before {
				t.Fatalf("life %d: %d goroutines, %d before:\n%s", i, after, before, stacks)
			}
		}
	})
}

// After a leave nothing is sent for the group any more, and no lock is kept.
func TestNothingIsSentAfterTheLeave(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 40)
		m := join(t, tg, group, topic, nil, orderly)
		awaitHeld(m, topic, 4)
		m.leave()
		var late atomic.Int32
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			late.Add(1)
			return sandbox.Fault{}
		})
		time.Sleep(5 * time.Minute)
		if n := late.Load(); n != 0 {
			t.Errorf("%d requests after the leave", n)
		}
		tg.Sandbox.SetFault(nil)
		for id := range int32(4) {
			if owner := tg.Sandbox.LockOwner(group, engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: id}); owner != "" {
				t.Errorf("queue %d is locked by %s", id, owner)
			}
		}
	})
}

// A leave waits for the answer to a heartbeat or a lock request under way, so
// that none of them comes after the unregister and the unlock.
func TestLeaveWaitsForRequestsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		first := join(t, tg, group, topic, nil, orderly, named("first@1"))
		awaitHeld(first, topic, 1)
		for _, slow := range []protocol.RequestCode{protocol.HeartBeat, protocol.LockBatchMQ} {
			var open, during atomic.Int32
			onFault(tg, func(code protocol.RequestCode, id string) (f sandbox.Fault) {
				if id == "first@1" {
					return f
				}
				switch code {
				case slow:
					open.Add(1)
					f.Delay = 400 * time.Millisecond
					time.AfterFunc(f.Delay-time.Millisecond, func() { open.Add(-1) })
				case protocol.UnregisterClient, protocol.UnlockBatchMQ:
					during.Add(open.Load())
				}
				return f
			})
			m := join(t, tg, group, topic, nil, orderly)
			if slow == protocol.LockBatchMQ {
				untilEvent[engine.RebalanceEnd](m, "it knows its share", nil)
			}
			time.Sleep(100 * time.Millisecond)
			m.leave()
			if during.Load() != 0 {
				t.Errorf("%v: the unlock or unregister was sent while it was not answered", slow)
			}
			tg.Sandbox.SetFault(nil)
		}
	})
}

// A start that fails, or is given up while its topic is missing or no name
// server answers, leaves nothing running.
func TestFailedStartLeavesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		synctest.Wait()
		before, _ := goroutines()
		check := func(what string, i int) {
			synctest.Wait()
			if after, stacks := goroutines(); after > before {
				t.Fatalf("%s, %d: %d goroutines, %d before:\n%s", what, i, after, before, stacks)
			}
		}
		for i := range 100 {
			l := begin(t, tg, group, "missing")
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			if err := l.end(); err != nil {
				t.Fatal(err)
			}
			l.client.Close()
			check("missing topic", i)
		}
		dead := *tg
		dead.Namesrv = []string{"192.0.2.99:9876"}
		for i := range 20 {
			l := begin(t, &dead, group, topic)
			time.Sleep(time.Duration(i) * 100 * time.Millisecond)
			_ = l.end() // nobody can be told that it leaves
			l.client.Close()
			check("no name server", i)
		}
		for i := range 20 {
			o := engine.DefaultOptions()
			o.Group, o.Subscriptions, o.PullBatchSize = group, []engine.Subscription{{Topic: topic}}, 0
			inbound := engine.NewInbound()
			client := tg.Client(t, inbound)
			if _, err := engine.New(o, engine.Deps{Client: client, Inbound: inbound, Store: brokerStore{client, group}}); err == nil {
				t.Fatal("a bad option was accepted")
			}
			client.Close()
			check("refused options", i)
		}
	})
}
