package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// notes collects what hooks saw, in order.
type notes struct {
	mu   sync.Mutex // guards list
	list []string
}

func (n *notes) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, s)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.list)
}

// Consume hooks run around each listener call in the order they were given, with
// what the reference tells them; what one of them returns stops nothing
// (docs/conformance/concurrent.md 3, orderly.md 4).
func TestConsumeHooks(t *testing.T) {
	type verdict struct {
		status engine.Status
		err    error
		slow   bool
	}
	const minute = time.Minute
	tests := map[string]struct {
		orderly bool
		verdict
		want string // status, success, return type
	}{
		"success":            {false, verdict{engine.ConsumeSuccess, nil, false}, "CONSUME_SUCCESS true SUCCESS"},
		"later":              {false, verdict{engine.ReconsumeLater, nil, false}, "RECONSUME_LATER false FAILED"},
		"error":              {false, verdict{0, errors.New("no"), false}, "RECONSUME_LATER false EXCEPTION"},
		"error with success": {false, verdict{engine.ConsumeSuccess, errors.New("no"), false}, "RECONSUME_LATER false EXCEPTION"},
		"nothing":            {false, verdict{}, "RECONSUME_LATER false RETURNNULL"},
		"slow success":       {false, verdict{engine.ConsumeSuccess, nil, true}, "CONSUME_SUCCESS true TIME_OUT"},
		"abandon":            {false, verdict{engine.Abandon, nil, false}, "ABANDON false FAILED"},
		"orderly success":    {true, verdict{engine.ConsumeSuccess, nil, false}, "SUCCESS true SUCCESS"},
		"orderly suspend":    {true, verdict{engine.SuspendCurrentQueueAMoment, nil, false}, "SUSPEND_CURRENT_QUEUE_A_MOMENT false FAILED"},
		"orderly error":      {true, verdict{0, errors.New("no"), false}, "SUSPEND_CURRENT_QUEUE_A_MOMENT false EXCEPTION"},
		"orderly nothing":    {true, verdict{}, "SUSPEND_CURRENT_QUEUE_A_MOMENT false RETURNNULL"},
		"orderly commit":     {true, verdict{engine.Commit, nil, false}, "COMMIT true SUCCESS"},
		"orderly rollback":   {true, verdict{engine.Rollback, nil, false}, "ROLLBACK false SUCCESS"},
		"orderly slow":       {true, verdict{engine.SuspendCurrentQueueAMoment, nil, true}, "SUSPEND_CURRENT_QUEUE_A_MOMENT false TIME_OUT"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				var seen notes
				hook := func(name string) engine.ConsumeHook {
					return engine.ConsumeHook{Name: name,
						Before: func(hc *engine.ConsumeHookContext) error {
							if hc.Success || hc.Status != "" || len(hc.Props) != 0 || hc.Props == nil {
								t.Errorf("before: %+v", hc)
							}
							if hc.ConsumerGroup != group || hc.MessageQueue.Topic != topic || len(hc.Messages) != 1 {
								t.Errorf("before: %+v", hc)
							}
							hc.TraceContext = name
							seen.add("before " + name)
							return errors.New("does not stop")
						},
						After: func(hc *engine.ConsumeHookContext) error {
							success := " false "
							if hc.Success {
								success = " true "
							}
							seen.add("after " + name + ": " + hc.Status + success + hc.Props[engine.PropConsumeContextType])
							if hc.AccessChannel != "LOCAL" || hc.TraceContext != "two" {
								t.Errorf("after: access channel %q, trace context %v", hc.AccessChannel, hc.TraceContext)
							}
							return errors.New("does not stop")
						}}
				}
				tg.Produce(t, topic, 1)
				m := join(t, tg, group, topic, func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
					seen.add("listener")
					if tt.slow {
						time.Sleep(minute)
					}
					return tt.status, tt.err
				}, func(o *engine.Options) {
					o.Orderly, o.ConsumeTimeout = tt.orderly, minute
					o.ConsumeHooks = []engine.ConsumeHook{hook("one"), hook("two"), {Name: "half", After: func(*engine.ConsumeHookContext) error { return nil }}}
				})
				m.until("a call was seen", func() bool { return len(seen.all()) >= 5 })
				want := []string{"before one", "before two", "listener", "after one: " + tt.want, "after two: " + tt.want}
				if got := seen.all()[:5]; !slices.Equal(got, want) {
					t.Errorf("seen %q, want %q", got, want)
				}
			})
		})
	}
}

// A hook that does nothing is refused.
func TestEmptyHooksAreRefused(t *testing.T) {
	tests := map[string]change{
		"consumeHook": func(o *engine.Options) { o.ConsumeHooks = []engine.ConsumeHook{{Name: "x"}} },
		"filterHook":  func(o *engine.Options) { o.FilterHooks = []engine.FilterHook{{Name: "x"}} },
	}
	for property, c := range tests {
		t.Run(property, func(t *testing.T) {
			o := engine.DefaultOptions()
			o.Group, o.Subscriptions, o.MessageModel = "g", []engine.Subscription{{Topic: "t"}}, protocol.Clustering
			c(&o)
			err := o.Validate()
			if ce, ok := errors.AsType[*engine.ConfigError](err); !ok || ce.Property != property || !strings.Contains(err.Error(), "needs") {
				t.Errorf("Validate = %v, want a refusal of %s", err, property)
			}
		})
	}
}
