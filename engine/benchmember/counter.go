package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"eyeq/engine"
)

// counter is the listener. Any number of workers call it at once.
type counter struct {
	expect              int64
	seen                sequenceSet
	delivered, distinct atomic.Int64
	first, last         atomic.Int64 // unix nanoseconds of the first and the expected delivery
	trace               *trace
	// finish ends the run: with errComplete, or with what makes going on pointless.
	finish context.CancelCauseFunc
}

var errComplete = errors.New("all expected messages have come")

// Consume counts a batch and acknowledges it, but for a message that is none of
// the benchmark's.
func (c *counter) Consume(_ context.Context, messages []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
	if c.first.Load() == 0 {
		c.first.CompareAndSwap(0, time.Now().UnixNano())
	}
	var fresh int64
	for i := range messages {
		seq, err := sequenceOf(&messages[i])
		if err != nil {
			c.finish(err)
			return engine.ReconsumeLater, err
		}
		if c.seen.add(seq) {
			fresh++
		}
		if c.trace != nil {
			c.trace.record(cc.MessageQueue.QueueID, seq)
		}
	}
	c.delivered.Add(int64(len(messages)))
	if fresh > 0 && c.distinct.Add(fresh) >= c.expect && c.last.CompareAndSwap(0, time.Now().UnixNano()) {
		c.finish(errComplete)
	}
	return engine.ConsumeSuccess, nil
}

func sequenceOf(m *engine.Message) (uint64, error) {
	body, err := m.Body()
	if err != nil {
		return 0, &badMessage{m.MessageQueue(), m.QueueOffset(), err.Error()}
	}
	if len(body) < 8 {
		return 0, &badMessage{m.MessageQueue(), m.QueueOffset(), fmt.Sprintf("%d bytes, the sequence number takes 8", len(body))}
	}
	seq := binary.BigEndian.Uint64(body)
	if seq >= maxSequence {
		return 0, &badMessage{m.MessageQueue(), m.QueueOffset(), fmt.Sprintf("sequence number %d is not below %d", seq, int64(maxSequence))}
	}
	return seq, nil
}

// badMessage is a message that no benchmark's producer sent.
type badMessage struct {
	mq          engine.MessageQueue
	queueOffset int64
	what        string
}

func (e *badMessage) Error() string {
	return fmt.Sprintf("body at %v, offset %d: %s", e.mq, e.queueOffset, e.what)
}

// result is the line to print; now ends the time of a member that was stopped
// before it had all it expected.
func (c *counter) result(now time.Time) string {
	last := c.last.Load()
	if last == 0 {
		last = now.UnixNano()
	}
	var seconds float64
	if first := c.first.Load(); first != 0 {
		seconds = time.Duration(last - first).Seconds()
	}
	delivered := c.delivered.Load()
	return fmt.Sprintf(`{"msgs":%d,"seconds":%.4f,"dups":%d}`, delivered, seconds, delivered-c.distinct.Load())
}

// sequenceSet is a set of numbers below maxSequence, a bit each, in pages that
// are made when they are first touched. Any goroutine may add.
type sequenceSet struct {
	pages [1024]atomic.Pointer[page]
}

// page holds 2^20 numbers in 128 KiB.
type page [1 << 20 / 64]uint64

const maxSequence = 1 << 30

// add reports whether seq is new.
func (s *sequenceSet) add(seq uint64) bool {
	slot := &s.pages[seq>>20]
	p := slot.Load()
	if p == nil {
		slot.CompareAndSwap(nil, new(page)) // of several that come here at once, one wins
		p = slot.Load()
	}
	bit := uint64(1) << (seq & 63)
	return atomic.OrUint64(&p[seq&(1<<20-1)>>6], bit)&bit == 0
}

// trace writes a record of each delivery, 24 bytes, big-endian: unix time in µs
// (8), queue id (4), zero (4), sequence number (8).
type trace struct {
	mu  sync.Mutex    // guards w and one
	w   *bufio.Writer // to f
	one [24]byte
	f   *os.File
}

func createTrace(file string) (*trace, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return &trace{w: bufio.NewWriterSize(f, 1<<20), f: f}, nil
}

func (t *trace) record(queueID int32, seq uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.one[:]
	binary.BigEndian.PutUint64(r[0:], uint64(time.Now().UnixMicro()))
	binary.BigEndian.PutUint32(r[8:], uint32(queueID))
	binary.BigEndian.PutUint64(r[16:], seq)
	t.w.Write(r) // a bufio.Writer keeps its first error until Flush
}

// close makes the file complete; nobody may record any more.
func (t *trace) close() error {
	if err := t.w.Flush(); err != nil {
		return err
	}
	return t.f.Close()
}
