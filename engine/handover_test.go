package engine_test

import (
	"context"
	"sync"
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
		silence  time.Duration // allowed on join
	}{
		"prompt":               {0, 0, 350 * time.Millisecond},
		"learns late":          {900 * time.Millisecond, 0, 350 * time.Millisecond},
		"persists late":        {0, 250 * time.Millisecond, 500 * time.Millisecond},
		"late all round":       {400 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond},
		"learns in its period": {21 * time.Second, 0, 350 * time.Millisecond},
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
					if code == protocol.GetConsumerListByGroup && client == "a@1" {
						f.Delay = tt.learns
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
