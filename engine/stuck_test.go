package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/sandbox/sandboxtest"
)

// await is how long a leave waits for listeners.
func await(d time.Duration) change { return func(o *engine.Options) { o.AwaitTermination = d } }

func threads(n int) change {
	return func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax = n, n }
}

// A listener that does not look at its context holds no leave: Run returns within
// its limit and names the message, the group is left, and what was finished is
// committed. An orderly queue's lock is not given back while its call runs.
func TestLeaveWithoutAStuckListener(t *testing.T) {
	for name, mode := range map[string]change{"concurrent": threads(2), "orderly": orderly} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 2), tg.Group(t)
				tg.Produce(t, topic, 10)
				release := make(chan struct{})
				defer close(release)
				m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
					if msgs[0].QueueID() == 0 && msgs[0].QueueOffset() == 2 {
						<-release
					}
					return engine.ConsumeSuccess, nil
				}, mode, await(2*time.Second), named("me@1"))
				stuck, free := queueOf(m, topic, 0), queueOf(m, topic, 1)
				m.until("all but what waits", func() bool { return m.seen[at{stuck, 2}] == 1 && snapOf(m, free).CommittedOffset == 5 })
				began := time.Now()
				err := m.leaving()
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("the leave took %v, want at most 2 s, a second for the interrupted call and one more", took)
				}
				// A call that began in the instant in which the engine was made has the stamp of
				// a nanosecond later, since 0 is none.
				const least = 3*time.Second - time.Nanosecond
				still, ok := errors.AsType[*engine.StillRunningError](err)
				if !ok || len(still.Calls) != 1 || still.Calls[0].MessageQueue != stuck || still.Calls[0].First != 2 || still.Calls[0].For < least {
					t.Fatalf("Run = %v, want the call of %v at 2", err, stuck)
				}
				if text := err.Error(); !strings.Contains(text, topic) || !strings.Contains(text, "offset 2, message ") {
					t.Errorf("Run = %q, want topic, offset and message", text)
				}
				if ids := tg.Sandbox.Members(group); len(ids) != 0 {
					t.Errorf("members = %v, want none", ids)
				}
				for mq, want := range map[engine.MessageQueue]int64{stuck: 2, free: 5} {
					if got, _, _, _ := tg.Sandbox.Offsets(group, mq); got != want {
						t.Errorf("committed offset of %v = %d, want %d", mq, got, want)
					}
				}
				if name == "orderly" {
					if a, b := tg.Sandbox.LockOwner(group, stuck), tg.Sandbox.LockOwner(group, free); a != "me@1" || b != "" {
						t.Errorf("the locks belong to %q and %q, want me@1 and nobody", a, b)
					}
				}
				step := untilEvent(m, "the step is told", func(e engine.ShutdownStep) bool { return e.Step == "stop_workers" })
				if !strings.Contains(step.Error, "offset 2") {
					t.Errorf("shutdown_step says %q", step.Error)
				}
			})
		})
	}
}

// A listener that returns because it is interrupted still counts (trap T10).
func TestInterruptedListenerCounts(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		m := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			<-ctx.Done()
			return engine.ConsumeSuccess, nil
		}, await(time.Second))
		m.until("a call", func() bool { return m.distinct() == 1 })
		if err := m.leaving(); err != nil {
			t.Errorf("Run = %v", err)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// A listener that panics because it is interrupted ends Run with its panic.
func TestPanicWhileLeaving(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		m := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			<-ctx.Done()
			panic("interrupted")
		}, await(time.Second))
		m.until("a call", func() bool { return m.distinct() == 1 })
		p, ok := errors.AsType[*engine.PanicError](m.leaving())
		if !ok || p.Value != "interrupted" {
			t.Errorf("Run did not return the panic")
		}
	})
}

// What workers finished before a queue was given away counts although they say so
// later; only what was finished afterwards is told as discarded (trap T01).
func TestDroppedQueueWaitsForItsListeners(t *testing.T) {
	for name, d := range map[string]struct {
		takes     time.Duration
		committed int64
		discarded int
	}{"short call": {40 * time.Millisecond, 4, 0}, "long call": {20 * time.Second, 3, 1}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
				tg.Produce(t, topic, 6) // the last two wait for the one thread
				release := make(chan struct{})
				a := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
					if msgs[0].QueueOffset() == 3 {
						<-release
					}
					return engine.ConsumeSuccess, nil
				}, named("z@1"), threads(1), await(time.Minute))
				a.until("the last call", func() bool { return a.seen[at{mq, 3}] == 1 })
				b := join(t, tg, group, topic, nil, named("a@1"))
				about[engine.QueueDropped](a, mq)
				time.AfterFunc(d.takes, func() { close(release) })
				about[engine.QueueAdded](b, mq)
				time.Sleep(30 * time.Second)
				a.leave()
				if n := len(a.order[mq]); n != 4 {
					t.Errorf("the former owner was given %d messages, want 4: what waits for a thread is not handed out any more", n)
				}
				added := about[engine.QueueAdded](b, mq)
				if added.NextOffset != d.committed {
					t.Errorf("the next owner began at %d, want %d", added.NextOffset, d.committed)
				}
				n := 0
				for _, e := range a.told() {
					if x, ok := e.(engine.ConsumeDiscarded); ok {
						n += x.Count
						if x.Phase != "after" || x.First != 3 {
							t.Errorf("consume_discarded = %+v, want offset 3, after", x)
						}
					}
				}
				if n != d.discarded {
					t.Errorf("%d messages told as discarded, want %d", n, d.discarded)
				}
				if b.distinct() != int(6-d.committed) {
					t.Errorf("the next owner got %d messages, want %d", b.distinct(), 6-d.committed)
				}
			})
		})
	}
}
