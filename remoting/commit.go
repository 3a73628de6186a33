package remoting

import (
	"context"
	"fmt"
	"sync"
	"time"

	"eyeq/remoting/protocol"
)

// commitsInFlight is how many commits one broker gets at a time: enough to hide
// its latency, few enough not to crowd out its pulls.
const commitsInFlight = 64

// UpdateConsumerOffsets commits several offsets of a group where
// UpdateConsumerOffset does, and
// waits until each has been answered. Commits to one broker follow each other
// without waiting, which costs a tenth of as many calls; brokers are served side
// by side. It returns the queues whose commit failed, nil when none did.
func (c *Client) UpdateConsumerOffsets(ctx context.Context, group string, offsets map[protocol.MessageQueue]int64) map[protocol.MessageQueue]error {
	byAddr := map[string][]protocol.MessageQueue{}
	var mu sync.Mutex // guards failed
	var failed map[protocol.MessageQueue]error
	fail := func(mq protocol.MessageQueue, err error) {
		mu.Lock()
		defer mu.Unlock()
		if failed == nil {
			failed = map[protocol.MessageQueue]error{}
		}
		failed[mq] = fmt.Errorf("commit %d of %s at %v: %w", offsets[mq], group, mq, err)
	}
	for mq := range offsets {
		addr, err := c.commitAddr(ctx, mq)
		if err != nil {
			fail(mq, err)
			continue
		}
		addr = c.vip(addr)
		byAddr[addr] = append(byAddr[addr], mq)
	}
	var wg sync.WaitGroup
	for addr, mqs := range byAddr {
		if len(byAddr) == 1 { // the usual case needs no goroutine
			c.commitAt(ctx, addr, group, mqs, offsets, fail)
			break
		}
		wg.Go(func() { c.commitAt(ctx, addr, group, mqs, offsets, fail) })
	}
	wg.Wait()
	return failed
}

// commitAt commits at one address, commitsInFlight at a time, but one queue of
// each topic first: brokers make the table of a group and topic at its first
// commit without a lock, and of several first commits at once some are answered
// SUCCESS and lost (seen on 4.9.7 and 5.3.3).
func (c *Client) commitAt(ctx context.Context, addr, group string, mqs []protocol.MessageQueue, offsets map[protocol.MessageQueue]int64, fail func(protocol.MessageQueue, error)) {
	topics := map[string]bool{}
	var first, rest []protocol.MessageQueue
	for _, mq := range mqs {
		if topics[mq.Topic] {
			rest = append(rest, mq)
			continue
		}
		topics[mq.Topic] = true
		first = append(first, mq)
	}
	c.commitParts(ctx, addr, group, first, offsets, fail)
	c.commitParts(ctx, addr, group, rest, offsets, fail)
}

func (c *Client) commitParts(ctx context.Context, addr, group string, mqs []protocol.MessageQueue, offsets map[protocol.MessageQueue]int64, fail func(protocol.MessageQueue, error)) {
	for len(mqs) > 0 {
		part := mqs[:min(commitsInFlight, len(mqs))]
		mqs = mqs[len(part):]
		pctx, cancel := context.WithTimeout(ctx, c.callTimeout)
		c.commitPart(pctx, addr, group, part, offsets, fail)
		cancel()
	}
}

func (c *Client) commitPart(ctx context.Context, addr, group string, part []protocol.MessageQueue, offsets map[protocol.MessageQueue]int64, fail func(protocol.MessageQueue, error)) {
	conn, err := c.conns.get(ctx, addr)
	if err != nil {
		for _, mq := range part {
			fail(mq, err)
		}
		return
	}
	sent := time.Now()
	replies := make(chan Reply, len(part))
	pending := make(map[int32]protocol.MessageQueue, len(part))
	for _, mq := range part {
		opaque, err := conn.start(conn.encoder(updateOffsetRequest(group, mq, offsets[mq]), 0), replies, ctx.Done())
		if err != nil {
			fail(mq, conn.cancelError(ctx, err))
			continue
		}
		pending[opaque] = mq
	}
	for len(pending) > 0 {
		select {
		case r := <-replies:
			mq := pending[r.Opaque]
			delete(pending, r.Opaque)
			if r.Err != nil {
				fail(mq, r.Err)
			} else if protocol.ResponseCode(r.Command.Code) != protocol.Success {
				fail(mq, newCodeError(protocol.UpdateConsumerOffset, addr, &r.Command))
			}
		case <-ctx.Done():
			for opaque, mq := range pending {
				if !conn.Cancel(opaque) {
					continue // its reply is in the channel
				}
				delete(pending, opaque)
				fail(mq, fmt.Errorf("no answer: %w", ctxError(ctx)))
			}
			c.closeHalfOpen(conn, sent)
		}
	}
}
