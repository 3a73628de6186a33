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
// synchronously, unlock, unregister. All that could not be done is returned. interrupt
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
	var failed failures
	failed.add(c.awaitDrained(ctx))
	still := c.e.pool.stillRunning(time.Now())
	if len(still) > 0 && interrupt() {
		// They are of queues that were given away before: nothing that they answer counts.
		c.e.awaitCalls()
		still = c.e.pool.stillRunning(time.Now())
	}
	if len(still) > 0 {
		failed.add(&StillRunningError{still})
	}
	c.step("stop_workers", began, failed.err())

	failed.errs = append(failed.errs, c.farewell(ctx, own, still)...)
	if err := failed.err(); err != nil {
		return fmt.Errorf("leave group %s: %w", c.e.o.Group, err)
	}
	return nil
}

// leaveErrors is everything that a leave could not do, in the order of its steps.
type leaveErrors []error

func (l leaveErrors) Error() string {
	texts := make([]string, len(l))
	for i, err := range l {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives each.
func (l leaveErrors) Unwrap() []error { return l }

// failures gathers what could not be done, at several brokers at once.
type failures struct {
	mu   sync.Mutex // guards errs
	errs leaveErrors
}

func (f *failures) add(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.errs = append(f.errs, err)
}

// err is all of it, nil when there is none; the brokers are done by then.
func (f *failures) err() error {
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs
}

// commitsWait is how long the brokers that are well wait for the commits at others
// before the member leaves them: within the time that a command has for a leave.
const commitsWait = 3 * time.Second

// farewell makes the offsets of own durable, gives the locks back and unregisters, and
// returns what failed. Each broker goes its own way, so that a frozen one delays neither
// the commits nor the locks of the others. Only the unregistration, after which others
// read what is committed, waits for the commits of all, commitsWait at most.
func (c *coordinator) farewell(ctx context.Context, own []*queue, still []RunningCall) leaveErrors {
	brokers := c.e.d.Client.Brokers()
	parts := map[string][]*queue{}
	for _, q := range own {
		parts[q.mq.BrokerName] = append(parts[q.mq.BrokerName], q)
		if _, routed := brokers[q.mq.BrokerName]; !routed {
			brokers[q.mq.BrokerName] = nil
		}
	}
	answered := make(chan struct{})
	c.e.start(func() { defer close(answered); c.awaitRequests(ctx) })
	began := time.Now()
	var commits, unlocks, unregisters failures
	var committing, unlocking, all sync.WaitGroup
	committing.Add(len(brokers))
	durable, cancel := context.WithTimeout(ctx, commitsWait)
	defer cancel()
	c.e.start(func() { committing.Wait(); cancel() })
	unlocking.Add(len(brokers))
	for broker, addrs := range brokers {
		c.e.guard(&all, func() {
			committed, unlocked := sync.OnceFunc(committing.Done), sync.OnceFunc(unlocking.Done)
			defer committed()
			defer unlocked()
			commits.add(c.e.persist(ctx, parts[broker]))
			committed()
			<-answered
			unlocks.add(c.unlockAll(ctx, broker, parts[broker], still))
			unlocked()
			<-durable.Done()
			c.unregister(ctx, addrs, &unregisters)
		})
	}
	committing.Wait()
	c.step("persist", began, commits.err())
	began = time.Now()
	unlocking.Wait()
	if c.e.o.Orderly {
		c.step("unlock", began, unlocks.err())
	}
	began = time.Now()
	all.Wait()
	c.step("unregister", began, unregisters.err())
	return slices.Concat(commits.errs, unlocks.errs, unregisters.errs)
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

// unlockAll gives back the locks of all queues at a broker, also of those that wait for
// theirs: a broker may have granted it meanwhile, and takes none from others. But
// not that of a queue whose listener still runs: until the lease ends at the broker
// nobody runs another beside it.
func (c *coordinator) unlockAll(ctx context.Context, broker string, own []*queue, still []RunningCall) error {
	runs := func(q *queue) bool {
		return slices.ContainsFunc(still, func(r RunningCall) bool { return r.MessageQueue == q.mq })
	}
	var mqs []MessageQueue
	for _, q := range own {
		if q.orderly && q.clustering && !runs(q) {
			mqs = append(mqs, q.mq)
		}
	}
	if len(mqs) == 0 {
		return nil
	}
	uctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	return c.e.unlockBatch(uctx, broker, mqs)
}

// unregister takes this client out of the group at each address, side by side.
func (c *coordinator) unregister(ctx context.Context, addrs map[int64]string, failed *failures) {
	h := protocol.UnregisterClientRequestHeader{ClientID: c.e.clientID, ConsumerGroup: c.e.o.Group}
	var wg sync.WaitGroup
	for _, addr := range addrs {
		wg.Go(func() {
			uctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			err := c.e.d.Client.Unregister(uctx, addr, h)
			if _, none := errors.AsType[*remoting.DialError](err); none {
				return // a broker without a connection to us has no member of us
			}
			failed.add(err)
		})
	}
	wg.Wait()
}
