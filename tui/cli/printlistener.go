package cli

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"eyeq/engine"
)

// errMaxReached ends a run that has printed --max messages.
var errMaxReached = errors.New("all messages asked for were printed")

// printListener writes each message's line before it acknowledges it: what is
// acknowledged was printed. Any goroutine may call it.
type printListener struct {
	out     *lineWriter // nil prints nothing
	format  func(s *scratch, m *engine.Message)
	verdict engine.Status
	// decide, when it is not nil, takes the place of verdict: it is asked after the
	// messages are printed.
	decide func(ctx context.Context, messages []engine.Message, cc *engine.ConsumeContext) (engine.Status, error)
	max    int64           // 0: no limit
	stop   func(err error) // ends the run

	reserved                    atomic.Int64 // of max
	printed, failed, duplicates atomic.Int64
	begun, ended                atomic.Int64 // calls

	scratches sync.Pool

	seenMu sync.Mutex // guards seen
	seen   *seenSet
}

// scratch is what one call formats with.
type scratch struct {
	messageEncoder
	buf []byte
}

func newPrintListener(out *lineWriter, format func(*scratch, *engine.Message), verdict engine.Status) *printListener {
	return &printListener{
		out: out, format: format, verdict: verdict, seen: newSeenSet(),
		scratches: sync.Pool{New: func() any { return new(scratch) }},
	}
}

// Consume implements engine.Listener.
func (p *printListener) Consume(ctx context.Context, messages []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
	p.begun.Add(1)
	defer p.ended.Add(1)
	n := int64(len(messages))
	// Reserve before printing: of several goroutines exactly max messages get through.
	if p.max > 0 && p.reserved.Add(n) > p.max {
		return engine.Abandon, nil
	}
	p.duplicates.Add(p.note(messages, cc.MessageQueue))
	if p.out != nil {
		if err := p.print(ctx, messages); err != nil {
			p.stop(&outputError{Err: err})
			return engine.Abandon, nil
		}
	}
	verdict, err := p.verdict, error(nil)
	if p.decide != nil {
		verdict, err = p.decide(ctx, messages, cc)
	}
	total := p.printed.Add(n)
	switch verdict {
	case engine.ConsumeSuccess, engine.Hold, engine.Abandon:
	default:
		p.failed.Add(n)
	}
	if p.max > 0 && total >= p.max {
		p.stop(errMaxReached)
	}
	return verdict, err
}

// idleSince reports whether no call runs and none has begun since so many had; it
// gives how many have by now.
func (p *printListener) idleSince(begun int64) (now int64, idle bool) {
	ended := p.ended.Load() // first: a call between the two looks as one that runs
	now = p.begun.Load()
	return now, now == begun && now == ended
}

// print writes the messages' lines and returns when they are written.
func (p *printListener) print(ctx context.Context, messages []engine.Message) error {
	s := p.scratches.Get().(*scratch)
	s.buf = s.buf[:0]
	for i := range messages {
		p.format(s, &messages[i])
	}
	f := p.out.add(s.buf)
	if cap(s.buf) <= maxSpare {
		p.scratches.Put(s)
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done(): // the reader of our output is stuck
		return context.Cause(ctx)
	}
}

// note remembers the messages and counts those seen before.
func (p *printListener) note(messages []engine.Message, mq engine.MessageQueue) (duplicates int64) {
	p.seenMu.Lock()
	defer p.seenMu.Unlock()
	q := p.seen.queue(mq)
	for i := range messages {
		if p.seen.add(q, messages[i].QueueOffset(), messages[i].Stored()) {
			duplicates++
		}
	}
	return duplicates
}
