package engine

import (
	"context"
	"fmt"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Seek has a queue go on at offset, which must lie within its bounds. What was
// pulled and not polled is dropped.
func (c *PullConsumer) Seek(ctx context.Context, mq MessageQueue, offset int64) error {
	_, err := c.seek(ctx, mq, func(ctx context.Context, lo, hi int64) (int64, error) {
		if offset < lo || offset > hi {
			return 0, fmt.Errorf("seek %v to %d: it has %d to %d", mq, offset, lo, hi)
		}
		return offset, nil
	})
	return err
}

// SeekToBegin has a queue go on at its first message, and returns its offset.
func (c *PullConsumer) SeekToBegin(ctx context.Context, mq MessageQueue) (int64, error) {
	return c.seek(ctx, mq, func(_ context.Context, lo, _ int64) (int64, error) { return lo, nil })
}

// SeekToEnd has a queue go on with its next message.
func (c *PullConsumer) SeekToEnd(ctx context.Context, mq MessageQueue) (int64, error) {
	return c.seek(ctx, mq, func(_ context.Context, _, hi int64) (int64, error) { return hi, nil })
}

// SeekToTime has a queue go on at the first message stored at t or later.
func (c *PullConsumer) SeekToTime(ctx context.Context, mq MessageQueue, t time.Time) (int64, error) {
	return c.seek(ctx, mq, func(ctx context.Context, lo, hi int64) (int64, error) { return c.offsetAt(ctx, mq, t, lo, hi) })
}

func (c *PullConsumer) seek(ctx context.Context, mq MessageQueue, where func(ctx context.Context, lo, hi int64) (int64, error)) (int64, error) {
	if !c.assigned(mq) {
		return 0, fmt.Errorf("seek %v: the queue is not assigned", mq)
	}
	lo, hi, err := c.Bounds(ctx, mq)
	if err != nil {
		return 0, err
	}
	offset, err := where(ctx, lo, hi)
	if err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := c.queues[mq]
	if q == nil {
		return 0, fmt.Errorf("seek %v: the queue is not assigned any more", mq)
	}
	q.next, q.position = offset, offset
	c.renew(q)
	return offset, nil
}

func (c *PullConsumer) assigned(mq MessageQueue) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queues[mq] != nil
}

// Bounds asks for a queue's smallest offset and the one after its largest. Where access
// control does not tell them (5.x: Sub without Get), they are in the answer to a pull.
func (c *PullConsumer) Bounds(ctx context.Context, mq MessageQueue) (lo, hi int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	if lo, err = c.client.MinOffset(ctx, mq); mayNotAsk(err) {
		return c.pulledBounds(ctx, mq, err)
	}
	if err != nil {
		return 0, 0, err
	}
	hi, err = c.client.MaxOffset(ctx, mq)
	return lo, max(lo, hi), err
}

// mayNotAsk reports whether access control denies a question to a key that is good.
func mayNotAsk(err error) bool {
	d, denied := remoting.AccessDenied(err)
	return denied && d.Kind == remoting.DeniedNoPermission
}

func (c *PullConsumer) pulledBounds(ctx context.Context, mq MessageQueue, denied error) (lo, hi int64, err error) {
	all, err := protocol.NewSubscriptionData(mq.Topic, "*")
	if err != nil {
		return 0, 0, err
	}
	var suggested int64
	_, res, err := c.pull(ctx, mq, 0, &suggested, 1, all, 0)
	if err != nil {
		return 0, 0, fmt.Errorf("%w, and neither does a pull tell it: %w", denied, err)
	}
	return res.MinOffset, max(res.MinOffset, res.MaxOffset), nil
}

// OffsetAt is the offset of the first message of a queue stored at t or later;
// the queue's end when there is none. Brokers of 4.9 name the message nearest to
// t, which may be one of several of the same millisecond, or one before it:
// messages around it are looked at, so all brokers come to the same.
func (c *PullConsumer) OffsetAt(ctx context.Context, mq MessageQueue, t time.Time) (int64, error) {
	lo, hi, err := c.Bounds(ctx, mq)
	if err != nil {
		return 0, err
	}
	return c.offsetAt(ctx, mq, t, lo, hi)
}

func (c *PullConsumer) offsetAt(ctx context.Context, mq MessageQueue, t time.Time, lo, hi int64) (int64, error) {
	t = t.Truncate(time.Millisecond) // store times have no more
	sctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	found, err := c.client.SearchOffset(sctx, mq, t)
	cancel()
	if mayNotAsk(err) {
		found, err = hi, nil // it is looked for among the messages
	}
	if err != nil {
		return 0, err
	}
	return core.FirstAtOrAfter(lo, hi, found, func(offset int64) (before bool, err error) {
		stored, ok, err := c.storedAt(ctx, mq, offset)
		return !ok || stored.Before(t), err // what has gone is older than what is there
	})
}

// storedAt is when the message at offset was stored; ok is false when there is none.
func (c *PullConsumer) storedAt(ctx context.Context, mq MessageQueue, offset int64) (stored time.Time, ok bool, err error) {
	all, err := protocol.NewSubscriptionData(mq.Topic, "*")
	if err != nil {
		return time.Time{}, false, err
	}
	pctx, cancel := context.WithTimeout(ctx, c.o.CallTimeout)
	defer cancel()
	var suggested int64
	_, res, err := c.pull(pctx, mq, offset, &suggested, 1, all, 0)
	if err != nil || res.Status != remoting.PullFound {
		return time.Time{}, false, err
	}
	msgs, err := protocol.AppendMessages(nil, res.Body, nil)
	if len(msgs) == 0 {
		return time.Time{}, false, err
	}
	return msgs[0].Stored(), true, nil
}

// startOf is where a queue begins that nobody has sought to: its stored offset,
// or where the options say.
func (c *PullConsumer) startOf(ctx context.Context, mq MessageQueue) (int64, error) {
	if c.store != nil {
		offset, found, err := c.store.Load(ctx, mq)
		if err != nil || found {
			return offset, err
		}
	}
	lo, hi, err := c.Bounds(ctx, mq)
	if err != nil {
		return 0, err
	}
	switch core.StartFrom(c.o.From, false, false) {
	case core.StartMin:
		return lo, nil
	case core.StartTimestamp:
		return c.offsetAt(ctx, mq, c.o.Timestamp, lo, hi)
	}
	return hi, nil
}
