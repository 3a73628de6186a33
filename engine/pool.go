package engine

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eyeq/remoting/protocol"
)

// batch is work for the pool: the messages of one pull answer (concurrent), of
// one local retry, or one run of an orderly queue. Workers share a concurrent
// batch: next hands out its messages, so that no channel send a message is needed.
type batch struct {
	q     *queue
	gen   uint64 // of the queue when it was made; older than the queue's: void
	msgs  []protocol.MessageExt
	first uint64 // sequence number of msgs[0] in the ProcessQueue
	// started holds, a listener call of a concurrent batch (batchMax messages), when
	// it was made (unix nanoseconds; 0: not yet) or a mark below zero. Written by the
	// worker that has the call.
	started []atomic.Int64
	next    atomic.Int64 // concurrent: the next message to hand out
	// accepted counts the messages of an orderly run that were acknowledged, calledAt
	// is when the listener was called with the next ones (unix nanoseconds).
	accepted, calledAt atomic.Int64
	handed             atomic.Int64 // orderly: messages that the listener was given so far
	harvested          atomic.Int64 // orderly: so many of the accepted ones are settled already
	alone              bool         // orderly: nothing that is not committed stands before it
	cut                atomic.Bool  // orderly: the lock was lost, hand out nothing more of the run
	// sentBack marks messages that expired-message cleaning has sent back, so that a
	// listener failing later sends them back no second time; nil: none.
	sentBack atomic.Pointer[[]atomic.Bool]
	// retries counts, a message, how often it was tried here before; nil: never.
	retries []int32
	// away marks, an orderly message, that it was sent to the dead letters already.
	away []bool
}

// Marks in batch.started.
const (
	// markDone: all messages of the call were accepted, and are not yet settled.
	markDone = -1 - iota
	// markSettled: settled by harvest.
	markSettled
)

// calls is how many listener calls n messages make.
func (q *queue) calls(n int) int { return (n + q.batchMax - 1) / q.batchMax }

// startedAt is when the listener was called with message i; 0: not yet, or done.
func (b *batch) startedAt(i int) int64 {
	if b.q.orderly { // one call at a time, of what follows the accepted ones
		if n := int(b.accepted.Load()); n <= i && i < n+b.q.batchMax {
			return b.calledAt.Load()
		}
		return 0
	}
	return max(b.started[i/b.q.batchMax].Load(), 0)
}

// left reports whether there are messages to hand out.
func (b *batch) left() bool { return int(b.next.Load()) < len(b.msgs) && !b.void() }

// void reports whether the queue was dropped, reset or halted since b was made:
// nothing more of b is ever handed out, since a halted queue goes on with a new
// generation only.
func (b *batch) void() bool { return b.q.halt.Load() || b.gen != b.q.gen.Load() }

// pool is the consumer's worker pool: a first-in-first-out list of batches and
// ConsumeThreadMin workers. Pushing never waits: what the list holds is bounded
// by the flow control of the queues.
type pool struct {
	e       *Engine
	wake    chan struct{} // one token wakes one idle worker
	workers []worker

	mu   sync.Mutex // guards what follows
	list []*batch   // list[head:] is waiting
	head int
	idle int
}

func newPool(e *Engine, n int) *pool {
	p := &pool{e: e, wake: make(chan struct{}, n), workers: make([]worker, n)}
	for i := range p.workers {
		p.workers[i].p = p
	}
	return p
}

// push appends work.
func (p *pool) push(b *batch) {
	p.mu.Lock()
	p.list = append(p.list, b)
	wake := p.claimIdle()
	p.mu.Unlock()
	if wake {
		p.wake <- struct{}{}
	}
}

// claimIdle takes one worker out of the idle ones; the caller wakes it after
// unlocking. The token always has room: there are at most as many as workers.
func (p *pool) claimIdle() bool {
	if p.idle == 0 {
		return false
	}
	p.idle--
	return true
}

// take returns the batch at the head that has work left, or nil after counting
// the caller as idle. A concurrent batch stays at the head until its last
// message is handed out; one more worker is woken while there is work for it.
func (p *pool) take() *batch {
	p.mu.Lock()
	for p.head < len(p.list) {
		b := p.list[p.head]
		if b.left() {
			wake := false
			if b.q.orderly {
				p.pop() // one worker alone has an orderly run
				wake = p.head < len(p.list) && p.claimIdle()
			} else if int(b.next.Load())+b.q.batchMax < len(b.msgs) || p.head+1 < len(p.list) {
				wake = p.claimIdle()
			}
			p.mu.Unlock()
			if wake {
				p.wake <- struct{}{}
			}
			return b
		}
		p.pop()
	}
	p.idle++
	p.mu.Unlock()
	return nil
}

func (p *pool) pop() {
	p.list[p.head] = nil
	p.head++
	if p.head == len(p.list) {
		p.list, p.head = p.list[:0], 0
	} else if p.head >= 64 && p.head*2 >= len(p.list) {
		p.list = append(p.list[:0], p.list[p.head:]...)
		p.head = 0
	}
}

// worker runs listeners on one goroutine.
type worker struct {
	p *pool
	// on is the batch that is worked on now; holding packs which of its messages the
	// listener was given last: hold.
	on      atomic.Pointer[batch]
	holding atomic.Uint64

	cc ConsumeContext
	rt [len(RTBounds) + 1]uint64 // flushed once a share
}

// hold notes that the listener is given messages from … to-1 of the batch.
func (w *worker) hold(from, to int) { w.holding.Store(uint64(from)<<32 | uint64(to)) }

// held is what hold noted last.
func (w *worker) held() (from, to int) {
	h := w.holding.Load()
	return int(h >> 32), int(h & (1<<32 - 1))
}

// run works until ctx ends.
func (w *worker) run(ctx context.Context) {
	for {
		b := w.p.take()
		if b == nil {
			select {
			case <-w.p.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		// Counted before the queue's state is looked at, so that a queue that was
		// halted and then finds running at zero knows that no listener will start.
		b.q.running.Add(1)
		w.hold(0, 0)
		w.on.Store(b)
		if b.q.orderly {
			w.orderly(ctx, b)
		} else {
			w.concurrent(ctx, b)
		}
		w.flushRT()
		w.on.Store(nil)
		if b.q.running.Add(-1) == 0 {
			b.q.quietNow()
		}
	}
}

func (w *worker) flushRT() {
	for i, n := range w.rt {
		if n > 0 {
			w.p.e.totals.rt[i].Add(n)
			w.rt[i] = 0
		}
	}
}

// busy counts the workers that run a listener.
func (p *pool) busy() (n int) {
	for i := range p.workers {
		if p.workers[i].on.Load() != nil {
			n++
		}
	}
	return n
}

// inProcess counts the messages of q that are in a listener now.
func (p *pool) inProcess(q *queue) (n int64) {
	for i := range p.workers {
		if b := p.workers[i].on.Load(); b != nil && b.q == q {
			from, to := p.workers[i].held()
			n += int64(to - from)
		}
	}
	return n
}

// RunningCall is a listener call that has not returned (or the send-back of what
// it refused).
type RunningCall struct {
	MessageQueue
	First, Last int64 // queue offsets
	MessageID   string
	For         time.Duration // since it began; zero: not known
}

// stillRunning lists the calls that run now.
func (p *pool) stillRunning(now time.Time) (still []RunningCall) {
	for i := range p.workers {
		b := p.workers[i].on.Load()
		if b == nil {
			continue
		}
		from, to := p.workers[i].held()
		if from >= to || to > len(b.msgs) {
			continue // nothing of the batch has begun
		}
		r := RunningCall{MessageQueue: b.q.mq, First: b.msgs[from].QueueOffset(), Last: b.msgs[to-1].QueueOffset(), MessageID: b.msgs[from].MessageID()}
		if at := b.startedAt(from); at > 0 {
			r.For = now.Sub(b.q.e.moment(at))
		}
		still = append(still, r)
	}
	return still
}

// StillRunningError says that a leave went on without listeners that did not
// return, although their context had ended. Their messages are not acknowledged:
// the next owner gets them again, perhaps while they run.
type StillRunningError struct{ Calls []RunningCall }

func (e *StillRunningError) Error() string {
	const most = 3
	var names []string
	for i, c := range e.Calls {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(e.Calls)-most))
			break
		}
		name := fmt.Sprintf("%v offset %d", c.MessageQueue, c.First)
		if c.Last > c.First {
			name += fmt.Sprintf(" to %d", c.Last)
		}
		name += ", message " + c.MessageID
		if c.For > 0 {
			name += fmt.Sprintf(", for %v", c.For.Round(100*time.Millisecond))
		}
		names = append(names, name)
	}
	return fmt.Sprintf("listeners still run that did not return when they were interrupted (their messages are not acknowledged and will come again): %s",
		strings.Join(names, "; "))
}

// reportAfter is how long a worker keeps results to itself while it works on.
const reportAfter = 2 * time.Millisecond
