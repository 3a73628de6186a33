package engine

import "time"

// ConsumeHook sees each listener call from outside (Java: ConsumeMessageHook).
// Either function may be nil. Both are called on the worker that calls the
// listener, so from several goroutines at once, and hold it up. An error is
// logged and stops nothing; a panic ends the program, as a listener's does.
type ConsumeHook struct {
	Name   string // for the log
	Before func(*ConsumeHookContext) error
	After  func(*ConsumeHookContext) error
}

// ConsumeHookContext is what the hooks of one listener call are given; all of
// them, before and after, get the same one (Java: ConsumeMessageContext).
type ConsumeHookContext struct {
	ConsumerGroup string
	Namespace     string // always empty: namespaces belong to the names here
	MessageQueue  MessageQueue
	Messages      []Message // valid during the call; the messages may be kept

	// What follows is set when the listener has returned.

	Success bool // CONSUME_SUCCESS; orderly: SUCCESS or COMMIT
	// Status is the verdict by RocketMQ's name; an error and no verdict are what
	// they count as, RECONSUME_LATER or SUSPEND_CURRENT_QUEUE_A_MOMENT.
	Status string
	// Props begins empty and belongs to the hooks; afterwards ConsumeContextType
	// has the return type.
	Props         map[string]string
	AccessChannel string

	// TraceContext is for a hook to find again afterwards what it put there before.
	TraceContext any
}

// PropConsumeContextType is the key of the return type in ConsumeHookContext.Props.
const PropConsumeContextType = "ConsumeContextType"

// FilterHook may take messages of a pull answer away, after the check of tags
// and before they are cached (Java: FilterMessageHook). What it drops is not
// consumed and not sent back, and the committed offset moves over it. It is called
// on the goroutine of the message's queue and holds that up. An error is logged,
// and the messages stay as the hook left them.
type FilterHook struct {
	Name   string // for the log
	Filter func(*FilterContext) error
}

// FilterContext is what a filter hook is given (Java: FilterMessageContext).
type FilterContext struct {
	ConsumerGroup string
	MessageQueue  MessageQueue
	// Messages are to be shortened in place; the order must stay.
	Messages []Message
	UnitMode bool // always false: there are no units here
	Arg      any  // for the hooks among themselves
}

// callsObserved reports whether somebody looks at listener calls: hooks, or a
// subscription to them. Without one a call costs this question and nothing else.
func (e *Engine) callsObserved() bool { return len(e.o.ConsumeHooks) > 0 || e.events.calls.Load() > 0 }

// before begins an observed listener call: it tells subscribers and runs the hooks
// that come before it.
func (w *worker) before(q *queue, msgs []Message) *ConsumeHookContext {
	e := w.p.e
	e.events.publishCall(func() Event {
		return ConsumeBegin{q.at(), len(msgs), msgs[0].QueueOffset(), msgs[len(msgs)-1].QueueOffset()}
	})
	hc := &ConsumeHookContext{
		ConsumerGroup: e.o.Group, MessageQueue: q.mq, Messages: msgs, Props: map[string]string{},
	}
	e.runHooks(hc, func(h *ConsumeHook) func(*ConsumeHookContext) error { return h.Before })
	return hc
}

// after ends it: rt is the listener's alone.
func (w *worker) after(q *queue, hc *ConsumeHookContext, status Status, err error, rt time.Duration) {
	hc.Props[PropConsumeContextType] = q.returnType(status, err, rt).String()
	hc.Status, hc.Success = q.verdict(status, err)
	hc.AccessChannel = "LOCAL"
	e := w.p.e
	e.runHooks(hc, func(h *ConsumeHook) func(*ConsumeHookContext) error { return h.After })
	e.events.publishCall(func() Event {
		msgs := hc.Messages
		return ConsumeEnd{q.at(), len(msgs), msgs[0].QueueOffset(), msgs[len(msgs)-1].QueueOffset(),
			hc.Status, hc.Props[PropConsumeContextType], ms(rt), w.cc.AckIndex}
	})
}

func (e *Engine) runHooks(hc *ConsumeHookContext, which func(*ConsumeHook) func(*ConsumeHookContext) error) {
	for i := range e.o.ConsumeHooks {
		h := &e.o.ConsumeHooks[i]
		if f := which(h); f != nil {
			if err := f(hc); err != nil {
				e.log.Warn("consume hook", "hook", h.Name, "topic", hc.MessageQueue.Topic, "err", err)
			}
		}
	}
}
