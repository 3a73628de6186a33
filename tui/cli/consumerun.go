package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

// consumeRun is one run of consume, ready to join the group.
type consumeRun struct {
	env     *env
	options engine.Options
	flags   *consumeFlags
	format  string
	config.Listener
	namesrv []string
	environ []string // of the commands of the listener exec
	join    func(engine.Listener) (*member, error)
}

// listener makes the listener; out and format print messages, nil prints nothing.
// The command's output goes to output.
func (r *consumeRun) listener(out *lineWriter, format func(*scratch, *engine.Message), output func(engine.MessageQueue, int64, string)) *printListener {
	l := newPrintListener(out, format, r.Verdict(r.options.Orderly))
	l.max = r.flags.max
	if r.Name == config.Exec {
		env := append(r.environ, "EYEQ_GROUP="+r.options.Group, "EYEQ_NAMESRV="+strings.Join(r.namesrv, ";"))
		l.decide = newExecListener(r.Listener, r.options.ConsumeTimeout, env, &r.env.commands, output).consume
	}
	return l
}

// rule watches whether --from is used.
func (r *consumeRun) rule() fromRule {
	return fromRule{from: r.flags.from, group: r.options.Group, local: r.options.MessageModel == protocol.Broadcasting}
}

// onScreen shows the live screen until the operator leaves.
func (r *consumeRun) onScreen(ctx context.Context, c *config.Config, t *target) error {
	l := r.listener(nil, nil, func(mq engine.MessageQueue, offset int64, line string) {
		r.env.log().Info("exec: "+line, "topic", mq.Topic, "broker", mq.BrokerName, "queue", mq.QueueID, "offset", offset)
	})
	m, err := r.join(l)
	if err != nil {
		return err
	}
	took, seen := newTakings(), make(chan struct{})
	rule := r.rule()
	sub := m.engine.Subscribe(r.options.EventBuffer)
	r.env.crew.start(func() {
		defer close(seen)
		defer sub.Close()
		for {
			events, _, err := sub.Next(context.WithoutCancel(ctx))
			took.see(events)
			rule.see(events)
			if err != nil {
				return
			}
		}
	})
	began := time.Now()
	err = r.env.consumeOnScreen(ctx, c, t, m, r.Name == config.Hold, func(ctx context.Context) error {
		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		l.stop = stop
		r.watchIdle(ctx, took, l, stop)
		return m.run(ctx)
	})
	s := r.summary(l, m, began)
	if r.Name == config.Hold {
		// What the operator has decided about; what was taken and given back is not.
		totals := m.engine.Snapshot().Totals
		taken := s.Messages
		s.Messages, s.Failed = int64(totals.Consumed+totals.Failed), int64(totals.Failed)
		// One whose queue went and came back was taken more than once.
		if left := taken - s.Duplicates - s.Messages; left > 0 {
			r.env.say("%s not decided about: not acknowledged, the group gets them again", inspect.Plurals(left, "message was held and", "messages were held and"))
		}
	}
	waitFor(seen, stuckLimit)
	select {
	case <-seen:
		if rule.text != "" { // while the screen was there, nothing else could be written
			r.env.say("%s", rule.text)
		}
	default: // what it reads is not ours yet
	}
	if unread := r.unread(&s, took, seen, m); err == nil {
		err = unread
	}
	r.env.say("%s", s)
	return err
}

func (r *consumeRun) summary(l *printListener, m *member, began time.Time) summary {
	return summary{
		Kind: "summary", Messages: l.printed.Load(), Duplicates: l.duplicates.Load(), Failed: l.failed.Load(),
		Seconds: float64(time.Since(began).Milliseconds()) / 1000, Group: r.options.Group, ClientID: m.engine.ClientID(),
	}
}

// printAwait is how long a headless leave waits for listeners: printing a line
// takes microseconds, unless the reader of our output is stuck.
const printAwait = 500 * time.Millisecond

// printBatch is how many messages the printing listener takes at once when nobody
// says otherwise: it waits for the write of its lines, and one wait for a pull's
// messages costs a third of one for each.
const printBatch = 32

// headless prints until the run ends.
func (r *consumeRun) headless(parent context.Context) error {
	e, o, f := r.env, r.options, r.flags
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	p := &printer{env: e, group: o.Group, format: r.format, out: newLineWriter(e.stdout)}
	l := r.listener(p.out, p.message, func(mq engine.MessageQueue, offset int64, line string) {
		e.say("exec %s %s %d: %s", mq.Topic, mq.Short(), offset, line)
	})
	l.stop = stop
	if r.format == "none" {
		l.out = nil
	}
	m, err := r.join(l)
	if err != nil {
		return err
	}
	written := make(chan struct{})
	e.crew.start(func() { defer close(written); p.out.run() })
	subscribe := m.engine.Subscribe
	if f.events && f.calls {
		subscribe = m.engine.SubscribeCalls
	}
	sub := subscribe(o.EventBuffer)
	defer sub.Close()
	took, rule := newTakings(), r.rule()
	drained := make(chan struct{})
	e.crew.start(func() {
		defer close(drained)
		p.watch(context.WithoutCancel(ctx), sub, f.events, stop, func(events []engine.Event) {
			took.see(events)
			if rule.see(events) {
				e.say("%s", rule.text)
			}
		})
	})
	began := time.Now()
	r.watchIdle(ctx, took, l, stop)
	e.watchReader(ctx, stop)
	e.say("%s joins group %s; ctrl-c leaves", m.engine.ClientID(), o.Group)

	err = m.run(ctx)
	cause := context.Cause(ctx)
	stop(nil)
	waitFor(drained, stuckLimit)
	s := r.summary(l, m, began)
	unread := r.unread(&s, took, drained, m)
	p.summary(s)
	p.out.close()
	waitFor(written, stuckLimit)
	switch {
	case isType[*engine.DeniedError](err):
		return err
	case isType[*engine.FilterRefusedError](err):
		return fmt.Errorf("group %s was not joined: %w", o.Group, err)
	case err != nil:
		return err
	}
	if oe, ok := errors.AsType[*outputError](cause); ok {
		return fmt.Errorf("%w; left the group in order, what was not printed is not acknowledged", oe)
	}
	if err := p.out.failure(); err != nil {
		return &outputError{Err: err}
	}
	return unread
}

// unread is why a run that consumed nothing does not mean that there was nothing, which
// the summary says too. It looks at what was told until seen was closed.
func (r *consumeRun) unread(s *summary, took *takings, seen <-chan struct{}, m *member) error {
	if s.Messages > 0 {
		return nil
	}
	select {
	case <-seen:
	default:
		return nil // a reader of our output is stuck, which is told
	}
	err := took.verdict(r.options.Subscriptions, m.engine.Snapshot())
	if err != nil {
		s.MessagesError = err.Error()
	}
	return err
}

var errIdle = errors.New("no message came")

// watchIdle starts what ends an idle run, where --idle-exit asks for it.
func (r *consumeRun) watchIdle(ctx context.Context, took *takings, l *printListener, stop func(error)) {
	if limit := r.flags.idleExit; limit > 0 {
		r.env.crew.start(func() { stopWhenIdle(ctx, took, l, limit, stop) })
	}
}

// idleLooks is how often it is looked at within the time of --idle-exit. A machine that
// slept, or had no time for us, costs one look: nothing could have come meanwhile.
const idleLooks = 10

// stopWhenIdle ends the run when no message was in the listener for so long as limit says.
// What the member does before it has its share of the queues, on a slow machine or a slow
// broker, is no idleness.
func stopWhenIdle(ctx context.Context, took *takings, l *printListener, limit time.Duration, stop func(error)) {
	every := max(limit/idleLooks, 1)
	begun, looks := int64(0), 0
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		var idle bool
		switch begun, idle = l.idleSince(begun); {
		case took.busy(time.Now()) || !idle:
			looks = 0
		default:
			looks++
		}
		if looks == idleLooks {
			stop(errIdle)
			return
		}
	}
}
