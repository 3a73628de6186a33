package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// deleteTopic deletes what the target's own cleanup knows nothing of.
func deleteTopic(t *testing.T, tg *sandboxtest.Target, topics ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	c := tg.Client(t, nil)
	for _, topic := range topics {
		if err := c.DeleteTopic(ctx, topic); err != nil {
			t.Errorf("delete topic %s: %v", topic, err)
		}
	}
}

// makeEngine makes an engine that nobody runs, with its inbound handler.
func makeEngine(t *testing.T, tg *sandboxtest.Target, in *engine.Inbound, group, topic string, changes ...change) *engine.Engine {
	t.Helper()
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = group, []engine.Subscription{{Topic: topic}}
	for _, c := range changes {
		c(&o)
	}
	client := tg.Client(t, in)
	e, err := engine.New(o, engine.Deps{Client: client, Inbound: in, Store: brokerStore{client, group},
		Listener: engine.ListenerFunc(func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
			return engine.ConsumeSuccess, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// states are the steps of the service state that were told.
func states(t *testing.T, sub *engine.EventSubscription) (steps []string) {
	t.Helper()
	for {
		events, _, err := sub.Next(t.Context())
		for _, ev := range events {
			if s, ok := ev.(engine.ConsumerState); ok {
				steps = append(steps, s.From+" → "+s.To)
			}
		}
		if err != nil {
			return steps
		}
	}
}

// The states of docs/conformance/client.md 2.2. Java's START_FAILED cannot be seen: what it
// finds out in its start is refused by New, before there is a consumer.
func TestServiceStates(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		e := makeEngine(t, tg, engine.NewInbound(), group, topic)
		if s := e.Snapshot().State; s != engine.CreateJust {
			t.Errorf("state of an engine that was made = %v", s)
		}
		sub := e.Subscribe(1 << 12)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- e.Run(ctx, t.Context()) }()
		time.Sleep(5 * time.Second)
		if s := e.Snapshot().State; s != engine.Running {
			t.Errorf("state = %v, want RUNNING", s)
		}
		if err := e.Run(ctx, t.Context()); err == nil || !strings.Contains(err.Error(), "started before (state RUNNING)") {
			t.Errorf("Run of a running engine = %v", err)
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if s := e.Snapshot().State; s != engine.ShutdownAlready {
			t.Errorf("state = %v, want SHUTDOWN_ALREADY", s)
		}
		if err := e.Run(t.Context(), t.Context()); err == nil || !strings.Contains(err.Error(), "started before (state SHUTDOWN_ALREADY)") {
			t.Errorf("Run of an engine that has ended = %v", err)
		}
		want := []string{"CREATE_JUST → RUNNING", "RUNNING → SHUTTING_DOWN", "SHUTTING_DOWN → SHUTDOWN_ALREADY"}
		if got := states(t, sub); !slices.Equal(got, want) {
			t.Errorf("consumer_state = %q, want %q", got, want)
		}
	})
}

// Of many calls of Run at once exactly one starts.
func TestOneStart(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		e := makeEngine(t, tg, engine.NewInbound(), group, topic)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			wg.Go(func() { errs[i] = e.Run(ctx, t.Context()) })
		}
		time.Sleep(time.Second)
		stop()
		wg.Wait()
		started := 0
		for _, err := range errs {
			if err == nil {
				started++
			}
		}
		if started != 1 {
			t.Errorf("%d of %d calls started: %v", started, len(errs), errs)
		}
	})
}

// A client serves one engine: the requests of the brokers would reach one of two
// only. The second keeps its state and can run when the first has ended. Two
// members of one group in a process have a client each.
func TestOneEngineAClient(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		in := engine.NewInbound()
		first := makeEngine(t, tg, in, group, topic, named("first"))
		second := makeEngine(t, tg, in, group, topic, named("second"))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- first.Run(ctx, t.Context()) }()
		synctest.Wait()
		err := second.Run(ctx, t.Context())
		if taken, ok := errors.AsType[*engine.TakenError](err); !ok || taken.Group != group || taken.By != group {
			t.Errorf("Run of a second engine on the client = %v", err)
		}
		if s := second.Snapshot().State; s != engine.CreateJust {
			t.Errorf("its state = %v, want CREATE_JUST", s)
		}
		time.Sleep(time.Second)
		if resp, err := tg.Sandbox.Relay(t.Context(), group, "first", &protocol.Command{Code: int32(protocol.GetConsumerRunningInfo),
			ExtFields: protocol.EncodeFields(&protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: "first"})}); err != nil || resp.Code != 0 {
			t.Errorf("the first one does not answer the broker any more: %v %v", resp, err)
		}
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		ctx, stop = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		if err := second.Run(ctx, t.Context()); err != nil {
			t.Errorf("Run after the first has ended = %v", err)
		}

		a := join(t, tg, group, topic, nil)
		b := join(t, tg, group, topic, nil)
		awaitHeld(a, topic, 2)
		awaitHeld(b, topic, 2)
		if a.ClientID() == b.ClientID() {
			t.Errorf("both are called %s", a.ClientID())
		}
	})
}

// The start asks for the routes, announces the member and only then asks for its
// share; before Run nothing is sent.
func TestStartOrder(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		var mu sync.Mutex // guards codes
		var codes []protocol.RequestCode
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			mu.Lock()
			defer mu.Unlock()
			codes = append(codes, protocol.RequestCode(r.Command.Code))
			return sandbox.Fault{}
		})
		e := makeEngine(t, tg, engine.NewInbound(), group, topic)
		sub := e.Subscribe(1 << 12)
		time.Sleep(time.Minute)
		mu.Lock()
		if len(codes) != 0 {
			t.Errorf("sent before Run: %v", codes)
		}
		mu.Unlock()
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, stop)
		if err := e.Run(ctx, t.Context()); err != nil {
			t.Fatal(err)
		}
		mu.Lock()
		defer mu.Unlock()
		at := func(code protocol.RequestCode) int { return slices.Index(codes, code) }
		steps := []protocol.RequestCode{protocol.GetRouteInfoByTopic, protocol.HeartBeat, protocol.GetConsumerListByGroup, protocol.QueryConsumerOffset, protocol.PullMessage, protocol.UnregisterClient}
		for i, code := range steps {
			if at(code) < 0 || i > 0 && at(code) < at(steps[i-1]) {
				t.Errorf("%v is not where it belongs in %v", code, codes)
			}
		}
		if codes[0] != protocol.GetRouteInfoByTopic || codes[1] != protocol.GetRouteInfoByTopic {
			t.Errorf("the start began with %v, want the routes of the topic and of the retry topic", codes[:2])
		}
		var told []string
		for {
			events, _, err := sub.Next(t.Context())
			for _, ev := range events {
				switch ev := ev.(type) {
				case engine.ClientInstance:
					if ev.ClientID != e.ClientID() || ev.Reused {
						t.Errorf("client_instance = %+v", ev)
					}
					told = append(told, ev.EventName())
				case engine.ConsumerState, engine.RebalanceBegin, engine.QueueAdded:
					told = append(told, ev.EventName())
				}
			}
			if err != nil {
				break
			}
		}
		if want := []string{"client_instance", "consumer_state", "rebalance_begin"}; len(told) < 4 || !slices.Equal(told[:3], want) || !slices.Contains(told, "queue_added") {
			t.Errorf("events begin with %q, want %q", told, want)
		}
	})
}

// The leave in order: stop the workers, persist and wait for the answer, unlock,
// unregister; each step is told with its number (docs/conformance/client.md 2.6, trap T09).
func TestLeaveInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 40)
		var mu sync.Mutex // guards codes and running
		var codes []protocol.RequestCode
		running, late := 0, false
		m := join(t, tg, group, topic, func(ctx context.Context, ms []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			mu.Lock()
			running++
			mu.Unlock()
			time.Sleep(300 * time.Millisecond)
			mu.Lock()
			running--
			mu.Unlock()
			return engine.ConsumeSuccess, nil
		}, orderly, func(o *engine.Options) { o.PersistInterval = time.Hour })
		m.until("some messages", func() bool { return m.distinct() >= 6 })
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			mu.Lock()
			defer mu.Unlock()
			code := protocol.RequestCode(r.Command.Code)
			switch code {
			case protocol.UpdateConsumerOffset, protocol.UnlockBatchMQ, protocol.UnregisterClient:
				codes = append(codes, code)
				// A queue whose listener still runs has its present offset saved at once too.
				late = late || running > 0 && code != protocol.UpdateConsumerOffset
				if r.Command.IsOneway() {
					t.Errorf("%v was sent without waiting for an answer", code)
				}
				return sandbox.Fault{Delay: 50 * time.Millisecond}
			}
			return sandbox.Fault{}
		})
		m.leave()
		synctest.Wait()
		tg.Sandbox.SetFault(nil)
		mu.Lock()
		defer mu.Unlock()
		if want := []protocol.RequestCode{protocol.UpdateConsumerOffset, protocol.UnlockBatchMQ, protocol.UnregisterClient}; !slices.Equal(slices.Compact(slices.Clone(codes)), want) {
			t.Errorf("sent while leaving: %v, want %v in this order", codes, want)
		}
		if late {
			t.Error("a listener still ran when the lock was given back or the member taken out")
		}
		for mq, offsets := range m.order {
			if stored, _, err := tg.Client(t, nil).QueryConsumerOffset(t.Context(), group, mq); err != nil || stored != offsets[len(offsets)-1]+1 {
				t.Errorf("%v: the broker holds offset %d, %v, want that behind the last message, %d", mq, stored, err, offsets[len(offsets)-1])
			}
		}
		var steps []string
		for _, ev := range m.told() {
			if s, ok := ev.(engine.ShutdownStep); ok {
				steps = append(steps, s.Step)
				if s.Number != len(steps) || s.Error != "" || s.Step != "stop_workers" && s.DurationMS < 50 {
					t.Errorf("shutdown_step = %+v, want number %d", s, len(steps))
				}
			}
		}
		if want := []string{"stop_workers", "persist", "unlock", "unregister"}; !slices.Equal(steps, want) {
			t.Errorf("steps %q, want %q", steps, want)
		}
	})
}

// A group without offsets that starts from a time, and no time given, starts half
// an hour before the engine was made.
func TestConsumeTimestampDefault(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 3)
		time.Sleep(20 * time.Minute)
		tg.Produce(t, topic, 4)
		time.Sleep(20 * time.Minute)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromTimestamp })
		added := about[engine.QueueAdded](m, engine.MessageQueue{Topic: topic, BrokerName: "broker-a"})
		want, source := int64(3), "timestamp"
		if tg.Line == "4" { // answers 0 to a group without offsets while the topic is young
			want, source = 0, "store"
		}
		if added.NextOffset != want || added.Source != source {
			t.Errorf("queue_added = %+v, want offset %d by %s", added, want, source)
		}
	})
}

// A group that nobody has seen before starts although its retry topic has no route
// yet, and reads that topic when the broker has made it.
func TestFirstStartOfAGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 1)
		var failed sync.Once
		m := join(t, tg, group, topic, func(context.Context, []engine.Message, *engine.ConsumeContext) (status engine.Status, err error) {
			status = engine.ConsumeSuccess
			failed.Do(func() { status = engine.ReconsumeLater })
			return status, nil
		})
		retry := protocol.RetryTopic(group)
		untilEvent(m, "a queue of the retry topic", func(e engine.QueueAdded) bool { return e.MQ.Topic == retry })
		m.until("the failed message by it", func() bool {
			for mq := range m.order {
				if mq.Topic == retry {
					return true
				}
			}
			return false
		})
	})
}

// Names with a namespace before a % are names like others: the topic is read, and
// what fails comes again through the namespace's own retry topic.
func TestNamespacedNames(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		ns := tg.Group(t)
		topic, group := ns+"%orders", ns+"%audit"
		tg.Grow(t, topic, 2)
		t.Cleanup(func() { deleteTopic(t, tg, topic, protocol.RetryTopic(group)) })
		tg.Produce(t, topic, 20)
		var mu sync.Mutex // guards failed
		failed := map[string]bool{}
		m := join(t, tg, group, topic, func(_ context.Context, ms []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			mu.Lock()
			defer mu.Unlock()
			if key := ms[0].Keys()[0]; !failed[key] {
				failed[key] = true
				return engine.ReconsumeLater, nil
			}
			return engine.ConsumeSuccess, nil
		})
		m.until("each message twice", func() bool {
			n := 0
			for _, k := range m.keys {
				n += k
			}
			return n == 40
		})
		m.mu.Lock()
		defer m.mu.Unlock()
		n := 0
		for mq, offsets := range m.order {
			if mq.Topic == "%RETRY%"+ns+"%audit" {
				n += len(offsets)
			}
		}
		if n != 20 {
			t.Errorf("%d messages came through the retry topic of %s, want 20", n, group)
		}
	})
}
