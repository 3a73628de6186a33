package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// leave gives up membership in order (trap T09): stop the workers, persist
// synchronously, unlock, unregister. What could not be done is returned. interrupt
// ends the listeners' context; it reports false when it had ended before.
func (c *coordinator) leave(ctx context.Context, interrupt func() bool) error {
	c.setState(ShuttingDown, "leaving")
	c.leaving, c.drained = true, make(chan struct{})
	own := c.own()
	if len(own) == 0 {
		close(c.drained)
	}
	began := time.Now()
	// Listeners are interrupted after AwaitTermination; what they answer to that counts.
	wait := c.e.o.AwaitTermination + min(c.e.o.AwaitTermination, interruptGrace)
	for _, q := range own {
		c.drop(q, core.DropShutdown, wait)
	}
	c.publish()
	err := c.awaitDrained(ctx)
	still := c.e.pool.stillRunning(time.Now())
	if len(still) > 0 && interrupt() {
		// They are of queues that were given away before: nothing that they answer counts.
		c.e.awaitCalls()
		still = c.e.pool.stillRunning(time.Now())
	}
	if len(still) > 0 {
		err = errors.Join(&StillRunningError{still}, err)
	}
	c.step("stop_workers", began, err)

	began = time.Now()
	perr := c.e.persist(ctx, own)
	c.step("persist", began, perr)

	c.awaitRequests(ctx)
	began = time.Now()
	uerr := c.unlockAll(ctx, own, still)
	if c.e.o.Orderly {
		c.step("unlock", began, uerr)
	}
	began = time.Now()
	rerr := c.unregister(ctx)
	c.step("unregister", began, rerr)
	for _, e := range []error{err, perr, uerr, rerr} {
		if e != nil {
			return fmt.Errorf("leave group %s: %w", c.e.o.Group, e)
		}
	}
	return nil
}

func (c *coordinator) step(name string, began time.Time, err error) {
	c.steps++
	s := ShutdownStep{At: At{Time: time.Now()}, Number: c.steps, Step: name, DurationMS: ms(time.Since(began))}
	if err != nil {
		s.Error = err.Error()
	}
	c.e.events.publish(s)
}

// awaitDrained waits until every queue's listeners have returned; each queue
// bounds that by itself, ctx bounds the whole.
func (c *coordinator) awaitDrained(ctx context.Context) error {
	// Membership and locks are kept up meanwhile: a call that runs long must not be
	// met by the next owner's.
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-c.drained:
			return nil
		case now := <-tick.C:
			if !now.Before(c.nextHeartbeat) {
				c.heartbeat(ctx, nil)
			}
			if t := c.lockDue(); !t.IsZero() && !now.Before(t) {
				c.lock(ctx, now)
			}
		case <-c.e.inbox.wake:
			c.drainInbox(ctx)
			c.publish()
		case <-ctx.Done():
			return fmt.Errorf("%d queues still had running listeners: %w", len(c.queues), context.Cause(ctx))
		}
	}
}

// requestsWait bounds awaitRequests: a broker that is well answers in milliseconds.
const requestsWait = time.Second

// awaitRequests waits for the heartbeats, lock requests and the pass under way. A broker
// may deal with one of them after the unlock or the unregister that was sent
// later: it would then count this client as a member until its connection ends,
// or keep the lock for its whole lease.
func (c *coordinator) awaitRequests(ctx context.Context) {
	answered := make(chan struct{})
	c.e.start(func() { c.requests.Wait(); c.e.reads.Wait(); close(answered) })
	limit := time.NewTimer(requestsWait)
	defer limit.Stop()
	select {
	case <-answered:
	case <-limit.C:
	case <-ctx.Done():
	}
}

// unlockAll gives back the locks of all queues, also of those that wait for
// theirs: a broker may have granted it meanwhile, and takes none from others. But
// not that of a queue whose listener still runs: until the lease ends at the broker
// nobody runs another beside it.
func (c *coordinator) unlockAll(ctx context.Context, own []*queue, still []RunningCall) error {
	runs := func(q *queue) bool {
		return slices.ContainsFunc(still, func(r RunningCall) bool { return r.MessageQueue == q.mq })
	}
	byBroker := map[string][]MessageQueue{}
	for _, q := range own {
		if q.orderly && q.clustering && !runs(q) {
			byBroker[q.mq.BrokerName] = append(byBroker[q.mq.BrokerName], q.mq)
		}
	}
	var first error
	for broker, mqs := range byBroker {
		uctx, cancel := context.WithTimeout(ctx, lockTimeout)
		if err := c.e.unlockBatch(uctx, broker, mqs); err != nil && first == nil {
			first = err
		}
		cancel()
	}
	return first
}

// unregister takes this client out of the group at every broker address, side by side.
func (c *coordinator) unregister(ctx context.Context) error {
	h := protocol.UnregisterClientRequestHeader{ClientID: c.e.clientID, ConsumerGroup: c.e.o.Group}
	var wg sync.WaitGroup
	var mu sync.Mutex // guards failed
	var failed []string
	for _, addrs := range c.e.d.Client.Brokers() {
		for _, addr := range addrs {
			wg.Go(func() {
				uctx, cancel := context.WithTimeout(ctx, callTimeout)
				defer cancel()
				err := c.e.d.Client.Unregister(uctx, addr, h)
				if _, none := errors.AsType[*remoting.DialError](err); none {
					return // a broker without a connection to us has no member of us
				}
				if err != nil {
					mu.Lock()
					failed = append(failed, err.Error())
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	if len(failed) > 0 {
		return fmt.Errorf("unregister: %s", strings.Join(failed, "; "))
	}
	return nil
}
