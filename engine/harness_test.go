package engine_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// brokerStore is the plainest OffsetStore: the broker's own offsets.
type brokerStore struct {
	client *remoting.Client
	group  string
}

func (s brokerStore) Load(ctx context.Context, mq engine.MessageQueue) (int64, bool, error) {
	return s.client.QueryConsumerOffset(ctx, s.group, mq)
}

func (s brokerStore) Save(ctx context.Context, offsets map[engine.MessageQueue]int64) map[engine.MessageQueue]error {
	return s.client.UpdateConsumerOffsets(ctx, s.group, offsets)
}

// at names one delivered message.
type at struct {
	mq     engine.MessageQueue
	offset int64
}

// member is one running engine of a test.
type member struct {
	*engine.Engine
	t      testing.TB
	client *remoting.Client
	stop   context.CancelCauseFunc
	done   chan error

	collected chan struct{} // closed when the engine tells no more

	came   atomic.Int64 // len(seen), for everybody
	mu     sync.Mutex   // guards what follows
	sub    *engine.EventSubscription
	seen   map[at]int
	order  map[engine.MessageQueue][]int64
	keys   map[string]int
	events []engine.Event
	change chan struct{} // closed and replaced at each delivery and event
}

// options of a member: what differs from the defaults.
type change func(*engine.Options)

func orderly(o *engine.Options)   { o.Orderly = true }
func fromFirst(o *engine.Options) { o.ConsumeFromWhere = protocol.ConsumeFromFirstOffset }

// join starts a member of group on topic whose messages go through listen after
// they were counted; nil accepts all.
func join(t testing.TB, tg *sandboxtest.Target, group, topic string, listen engine.ListenerFunc, changes ...change) *member {
	t.Helper()
	return joinStore(t, tg, group, topic, listen, nil, changes...)
}

// joinStore is join with something around the member's store; nil is none.
func joinStore(t testing.TB, tg *sandboxtest.Target, group, topic string, listen engine.ListenerFunc,
	around func(engine.OffsetStore) engine.OffsetStore, changes ...change) *member {
	t.Helper()
	o := engine.DefaultOptions()
	o.Group = group
	o.Subscriptions = []engine.Subscription{{Topic: topic}}
	fromFirst(&o)
	for _, c := range changes {
		c(&o)
	}
	inbound := engine.NewInbound()
	m := &member{t: t, client: tg.Client(t, inbound), done: make(chan error, 1), change: make(chan struct{}),
		seen: map[at]int{}, order: map[engine.MessageQueue][]int64{}, keys: map[string]int{}}
	var offsets engine.OffsetStore = brokerStore{m.client, group}
	if around != nil {
		offsets = around(offsets)
	}
	e, err := engine.New(o, engine.Deps{Client: m.client, Inbound: inbound, Store: offsets,
		Listener: engine.ListenerFunc(func(ctx context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			m.deliver(msgs)
			if listen == nil {
				return engine.ConsumeSuccess, nil
			}
			return listen(ctx, msgs, cc)
		})})
	if err != nil {
		t.Fatal(err)
	}
	m.Engine = e
	m.sub = e.Subscribe(1 << 16)
	wake := e.Subscribe(1) // after sub, so that an event is in it before somebody is woken
	ctx, stop := context.WithCancelCause(t.Context())
	m.stop = stop
	leaveCtx := context.WithoutCancel(t.Context())
	go func() { m.done <- e.Run(ctx, leaveCtx) }()
	m.collected = make(chan struct{})
	go func() {
		defer close(m.collected)
		for {
			if _, _, err := wake.Next(leaveCtx); err != nil {
				return
			}
			m.mu.Lock()
			m.collect()
			m.changed()
			m.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		m.leave()
		<-m.collected
	})
	return m
}

// nothingMore is a context that has ended: who waits with it takes what is there.
var nothingMore = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// collect adds what the engine has told by now to events, so that whoever counts
// them misses none that was told before what he has seen. It is called under mu.
func (m *member) collect() {
	for {
		events, dropped, err := m.sub.Next(nothingMore)
		if dropped > 0 {
			m.t.Errorf("%d events dropped", dropped)
		}
		m.events = append(m.events, events...)
		if err != nil {
			return
		}
	}
}

// changed is called under mu.
func (m *member) changed() {
	close(m.change)
	m.change = make(chan struct{})
}

func (m *member) deliver(msgs []engine.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range msgs {
		mq := msgs[i].MessageQueue()
		m.seen[at{mq, msgs[i].QueueOffset()}]++
		m.order[mq] = append(m.order[mq], msgs[i].QueueOffset())
		for _, k := range msgs[i].Keys() {
			m.keys[k]++
		}
	}
	m.came.Store(int64(len(m.seen)))
	m.changed()
}

// leave ends the member in order, once.
func (m *member) leave() {
	m.stop(errors.New("the test leaves"))
	select {
	case err := <-m.done:
		m.done <- err
		if err != nil {
			m.t.Errorf("leave: %v", err)
		}
	case <-time.After(time.Minute):
		m.t.Error("the engine did not end within a minute")
	}
}

// leaving ends the member and returns what Run says.
func (m *member) leaving() error {
	m.stop(errors.New("the test leaves"))
	select {
	case err := <-m.done:
		m.done <- nil
		return err
	case <-time.After(time.Minute):
		m.t.Fatal("the engine did not end within a minute")
		return nil
	}
}

// until waits for a condition, looked at after each delivery and event, and now
// and then for what a snapshot shows a moment later.
func (m *member) until(what string, cond func() bool) {
	m.t.Helper()
	limit := time.After(2 * time.Minute)
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		m.mu.Lock()
		m.collect()
		ok, change := cond(), m.change
		m.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-change:
		case <-look.C:
		case <-limit:
			m.mu.Lock()
			defer m.mu.Unlock()
			for i := max(0, len(m.events)-30); i < len(m.events); i++ {
				m.t.Logf("%s %+v", m.events[i].EventName(), m.events[i])
			}
			m.t.Fatalf("waited in vain until %s (%d messages, %d events)", what, len(m.seen), len(m.events))
		case <-m.t.Context().Done():
			m.t.Fatalf("ended before %s", what)
		}
	}
}

// untilEvent waits for an event of type E for which ok holds.
func untilEvent[E engine.Event](m *member, what string, ok func(E) bool) (found E) {
	m.t.Helper()
	m.until(what, func() bool {
		for _, e := range m.events {
			if x, is := e.(E); is && (ok == nil || ok(x)) {
				found = x
				return true
			}
		}
		return false
	})
	return found
}

// told are all events of a member that has left.
func (m *member) told() []engine.Event {
	m.t.Helper()
	select {
	case <-m.collected:
		m.mu.Lock()
		defer m.mu.Unlock()
		m.collect()
		return m.events
	case <-time.After(time.Minute):
		m.t.Fatal("the events do not end")
		return nil
	}
}

// late reports whether something took longer than it may, where time is free. Real
// brokers share a busy machine, on which the time that passes says nothing.
func tooLong(tg *sandboxtest.Target, took, limit time.Duration) bool {
	return tg.Sandbox != nil && took > limit
}

// count counts the events of type E that were told by now and for which ok holds.
func count[E engine.Event](m *member, ok func(E) bool) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.collect()
	for _, e := range m.events {
		if x, is := e.(E); is && (ok == nil || ok(x)) {
			n++
		}
	}
	return n
}

// distinct is how many messages were delivered at least once.
func (m *member) distinct() int { return int(m.came.Load()) }

// duplicates counts deliveries of a message after its first.
func (m *member) duplicates() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.seen {
		n += k - 1
	}
	return n
}
