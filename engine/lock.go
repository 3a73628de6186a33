package engine

import (
	"context"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// lockWanted says that a queue has lost its lock.
type lockWanted struct{}

func (lockWanted) apply(_ context.Context, c *coordinator) {
	c.nextLock = time.Now().Add(10 * time.Millisecond)
	c.lockTries = 0
}

// lockDue is when locks have to be asked for next: the renewal of those held
// (20 s), or those wanted.
func (c *coordinator) lockDue() time.Time {
	if !c.e.o.Orderly || c.e.o.MessageModel != protocol.Clustering || len(c.queues) == 0 {
		return time.Time{}
	}
	due := c.nextRenewal
	if c.anyUnlocked() {
		due = earlier(due, c.nextLock)
	}
	return due
}

func (c *coordinator) anyUnlocked() bool {
	for _, q := range c.queues {
		if q.lockedUntil.Load() == 0 && !q.dropping {
			return true
		}
	}
	return false
}

// lock asks each broker for the locks of its queues in one request: those that
// are wanted, and at the time of renewal those held too.
func (c *coordinator) lock(ctx context.Context, now time.Time) {
	all := !now.Before(c.nextRenewal)
	if all {
		c.nextRenewal = now.Add(core.LockRenewal)
	}
	// 500 ms after the first refusal, as in 5.x; then more slowly, up to 3 s.
	c.lockTries++
	c.nextLock = now.Add(min(time.Duration(c.lockTries)*500*time.Millisecond, core.LockRetry))
	byBroker := map[string][]*queue{}
	for _, q := range c.queues {
		held := q.lockedUntil.Load() != 0
		// A queue that is being given away still runs its last call under the lock.
		if !q.drained && (held && all || !held && !q.dropping) {
			byBroker[q.mq.BrokerName] = append(byBroker[q.mq.BrokerName], q)
		}
	}
	for broker, qs := range byBroker {
		if c.locking[broker] {
			continue
		}
		c.locking[broker] = true
		c.requestLocks(ctx, broker, qs)
	}
}

func (e *Engine) lockBody(mqs []MessageQueue) *protocol.LockBatchBody {
	return &protocol.LockBatchBody{ConsumerGroup: e.o.Group, ClientID: e.clientID, MQSet: mqs}
}

func (c *coordinator) requestLocks(ctx context.Context, broker string, qs []*queue) {
	e := c.e
	mqs := make([]MessageQueue, len(qs))
	for i, q := range qs {
		mqs[i] = q.mq
	}
	c.requests.Add(1)
	e.start(func() {
		defer c.requests.Done()
		lctx, cancel := context.WithTimeout(ctx, lockTimeout)
		defer cancel()
		asked := time.Now() // the lease begins no later than the broker's answer: count from the question
		granted, err := e.d.Client.LockBatch(lctx, broker, e.lockBody(mqs))
		e.inbox.put(locksAnswered{broker, qs, granted, asked, err})
	})
}

// unlock gives locks back and waits for the answer: the next owner would wait for
// their lease to end.
func (e *Engine) unlock(ctx context.Context, broker string, mqs []MessageQueue) {
	uctx, cancel := context.WithTimeout(ctx, lockTimeout)
	defer cancel()
	if err := e.unlockBatch(uctx, broker, mqs); err != nil {
		e.events.publish(LockRequestFailed{At{Time: time.Now()}, broker, len(mqs), err.Error()})
	}
}

func (e *Engine) unlockBatch(ctx context.Context, broker string, mqs []MessageQueue) error {
	names := make([]string, len(mqs))
	for i, mq := range mqs {
		names[i] = mq.Topic + " " + mq.Short()
	}
	e.events.publish(UnlockSent{At{Time: time.Now()}, broker, names, false})
	return e.d.Client.UnlockBatch(ctx, broker, e.lockBody(mqs))
}

// locksAnswered is a broker's answer to a request for locks.
type locksAnswered struct {
	broker  string
	qs      []*queue
	granted []MessageQueue
	asked   time.Time
	err     error
}

func (l locksAnswered) apply(ctx context.Context, c *coordinator) {
	delete(c.locking, l.broker)
	if l.err != nil {
		// Nothing changes until the lock expires on this side.
		c.e.events.publish(LockRequestFailed{At{Time: time.Now()}, l.broker, len(l.qs), l.err.Error()})
		why := c.lockError(l.broker, l.err)
		for _, q := range l.qs {
			q.inbox.put(lockAnswer{at: l.asked, err: why})
		}
		return
	}
	ok := map[MessageQueue]bool{}
	var unwanted []MessageQueue // of queues that ended while the broker was asked
	for _, mq := range l.granted {
		ok[mq] = true
		if q := c.queues[mq]; q == nil || q.drained {
			unwanted = append(unwanted, mq)
		}
	}
	if len(unwanted) > 0 && !c.leaving {
		c.e.start(func() { c.e.unlock(ctx, l.broker, unwanted) })
	}
	refused, renewed, oldest := 0, 0, c.e.stamp(l.asked)
	for _, q := range l.qs {
		if until := q.lockedUntil.Load(); until != 0 && ok[q.mq] {
			renewed++
			oldest = min(oldest, until-int64(core.LockMaxLive))
		}
		q.inbox.put(lockAnswer{granted: ok[q.mq], at: l.asked})
		if !ok[q.mq] {
			refused++
			if c.lockTries == 1 {
				c.e.events.publish(QueueAddFailed{q.at(), "lock", "another client holds it; the lease of one that is gone ends within 60s"})
			}
		}
	}
	if renewed > 0 {
		c.e.events.publish(LockRenewed{At{Time: time.Now()}, l.broker, renewed, l.asked.Sub(c.e.moment(oldest)).Milliseconds()})
	}
	if refused == 0 {
		c.lockTries = 0
	}
}
