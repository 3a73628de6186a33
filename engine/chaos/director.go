package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// director plays a plan.
type director struct {
	plan    Plan
	cast    *cast
	cluster *cluster
	record  *recorder
	say     func(format string, args ...any)
}

// Limits of what members are waited for.
const (
	joinLimit  = 60 * time.Second
	leaveLimit = 30 * time.Second
)

// begin brings the first members up, all at once.
func (d *director) begin(ctx context.Context) error {
	errs := make([]error, len(d.plan.Initial))
	var wg sync.WaitGroup
	for i, name := range d.plan.Initial {
		wg.Go(func() { errs[i] = d.bring(ctx, name) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// startTries is how often a member is started that ends before it is up: the Java
// client refuses to start when its name server takes more than 3 s to answer.
const startTries = 3

// bring starts a member and waits until it is up.
func (d *director) bring(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	for try := 1; ; try++ {
		m, err := d.cast.start(d.plan.Roles[name])
		if err != nil {
			return err
		}
		select {
		case <-m.up:
			return nil
		case <-m.gone:
			d.cast.forget(m)
			if try == startTries {
				return fmt.Errorf("member %s has ended before it was up, %d times; its .err file (-keep) may tell why", name, try)
			}
			d.say("%s has ended before it was up, starting it again", name)
		case <-ctx.Done():
			return fmt.Errorf("member %s is not up: %w", name, context.Cause(ctx))
		}
	}
}

// play does what the plan says when it says so and returns when all of it is over.
func (d *director) play(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, e := range d.plan.Events {
		if !pause(ctx, e.At-d.record.now()) {
			return
		}
		d.say("%v", e)
		wg.Go(func() {
			h := Happening{Event: e, Began: d.record.now()}
			err := d.do(ctx, e)
			if ctx.Err() != nil {
				return
			}
			if h.Ended = d.record.now(); err != nil {
				d.record.trouble("%v: %v", e, err)
			}
			d.record.happened(h)
		})
	}
}

// do does one event to its end.
func (d *director) do(ctx context.Context, e Event) error {
	switch e.Kind {
	case BrokerKill:
		return d.killBroker(ctx, e.For)
	case Join:
		return d.bring(ctx, e.Member)
	}
	m, err := d.cast.named(e.Member)
	if err != nil {
		return err
	}
	switch e.Kind {
	case Kill:
		m.wantEnd()
		d.cast.forget(m)
		return killProcess(m.cmd)
	case Leave:
		return d.leave(ctx, m)
	case Freeze:
		if err := freezeProcess(m.cmd); err != nil {
			return err
		}
		pause(ctx, e.For)
		return thawProcess(m.cmd)
	case Cut:
		m.proxy.cut()
		pause(ctx, e.For)
		return m.proxy.mend()
	case Stall:
		m.proxy.stall()
		pause(ctx, e.For)
		m.proxy.flow()
		return nil
	}
	return fmt.Errorf("a plan cannot have a %q", e.Kind)
}

// leave asks a member to leave and waits for its end.
func (d *director) leave(ctx context.Context, m *member) error {
	m.wantEnd()
	d.cast.forget(m)
	if err := askToLeave(m.cmd); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaveLimit)
	defer cancel()
	select {
	case <-m.gone:
		return nil
	case <-ctx.Done():
		killProcess(m.cmd)
		return fmt.Errorf("member %s has not left: %w", m.role.Name, context.Cause(ctx))
	}
}

// killBroker kills the broker and starts it again on the same data. While it is
// away, a member that dials it is refused, as without a proxy.
func (d *director) killBroker(ctx context.Context, gone time.Duration) error {
	if _, err := d.cluster.run(ctx, "kill", d.cluster.dir, "broker"); err != nil {
		return err
	}
	if err := d.cast.setBroker(true); err != nil {
		return err
	}
	pause(ctx, gone)
	if _, err := d.cluster.run(ctx, "start", d.cluster.dir, "broker"); err != nil {
		return err
	}
	return d.cast.setBroker(false)
}
