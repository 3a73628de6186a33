package cli

import (
	"slices"
	"time"

	"eyeq/engine"
)

// seenBlock is how many offsets one bitmap covers.
const seenBlock = 4096

// maxSeenBlocks bounds the bitmaps of all queues together, some 9 MiB.
const maxSeenBlocks = 1 << 14

// maxSeenRuns bounds the runs of full blocks of one queue.
const maxSeenRuns = 1 << 12

// seenSet remembers which messages were seen, by queue and offset. A block that
// is seen whole is kept as part of a run of blocks, any other as a bitmap, so
// that memory follows the gaps, not the messages. When there are more bitmaps
// than maxSeenBlocks the oldest are forgotten: a message of theirs counts as new.
type seenSet struct {
	queues map[engine.MessageQueue]*seenQueue
	lastMQ engine.MessageQueue // of last: batches of one queue follow each other
	last   *seenQueue
	order  []seenKey // bitmaps by age, those already gone included
	blocks int
}

type seenKey struct {
	q     *seenQueue
	block int64
}

type seenQueue struct {
	full   []blockRun // sorted, apart from one another
	bits   map[int64]*seenBits
	last   *seenBits // of lastAt: messages come in order
	lastAt int64
	top    int64     // the largest offset seen
	stored time.Time // of the message that was stored last among those seen
}

// blockRun is a run of blocks that were seen whole: from, up to before to.
type blockRun struct{ from, to int64 }

type seenBits struct {
	set [seenBlock / 64]uint64
	n   int
}

func newSeenSet() *seenSet { return &seenSet{queues: map[engine.MessageQueue]*seenQueue{}} }

// queue returns the part of one queue.
func (s *seenSet) queue(mq engine.MessageQueue) *seenQueue {
	if s.last != nil && s.lastMQ == mq {
		return s.last
	}
	q := s.queues[mq]
	if q == nil {
		q = &seenQueue{bits: map[int64]*seenBits{}}
		s.queues[mq] = q
	}
	s.lastMQ, s.last = mq, q
	return q
}

// add notes the message at an offset and reports whether it was seen before.
func (s *seenSet) add(q *seenQueue, offset int64, stored time.Time) (before bool) {
	// A queue's messages are stored in the order of their offsets, and one that comes
	// again was stored when it was: a later one below is another message.
	if stored.After(q.stored) {
		if !q.stored.IsZero() && offset <= q.top {
			s.renew(q)
		}
		q.stored = stored
	}
	q.top = max(q.top, offset)
	block, bit := offset/seenBlock, offset%seenBlock
	b := q.last
	if b == nil || q.lastAt != block {
		if q.isFull(block) {
			return true
		}
		if b = q.bits[block]; b == nil {
			b = &seenBits{}
			q.bits[block] = b
			s.note(seenKey{q, block})
		}
		q.last, q.lastAt = b, block
	}
	word, mask := &b.set[bit/64], uint64(1)<<(bit%64)
	if *word&mask != 0 {
		return true
	}
	*word |= mask
	if b.n++; b.n == seenBlock {
		delete(q.bits, block)
		q.last = nil
		s.blocks--
		q.addFull(block)
	}
	return false
}

// renew forgets what was seen of a queue.
func (s *seenSet) renew(q *seenQueue) {
	s.blocks -= len(q.bits)
	*q = seenQueue{bits: map[int64]*seenBits{}}
}

// note counts a new bitmap, and makes room for it.
func (s *seenSet) note(k seenKey) {
	if len(s.order) >= 2*maxSeenBlocks { // most of these became full: drop what is gone
		s.order = slices.DeleteFunc(s.order, func(k seenKey) bool { return k.q.bits[k.block] == nil })
	}
	s.order = append(s.order, k)
	if s.blocks++; s.blocks > maxSeenBlocks {
		s.forgetOldest()
	}
}

// forgetOldest drops the bitmap that was made first and is still there.
func (s *seenSet) forgetOldest() {
	for len(s.order) > 0 {
		k := s.order[0]
		s.order = s.order[1:]
		if b := k.q.bits[k.block]; b != nil {
			delete(k.q.bits, k.block)
			if k.q.last == b {
				k.q.last = nil
			}
			s.blocks--
			return
		}
	}
}

// find returns the place of the first run that ends after block.
func (q *seenQueue) find(block int64) int {
	i, _ := slices.BinarySearchFunc(q.full, block, func(r blockRun, b int64) int {
		if r.to <= b {
			return -1
		}
		return 1
	})
	return i
}

func (q *seenQueue) isFull(block int64) bool {
	i := q.find(block)
	return i < len(q.full) && q.full[i].from <= block
}

// addFull puts a block into the runs, joining its neighbours.
func (q *seenQueue) addFull(block int64) {
	i := q.find(block)
	joinsLeft := i > 0 && q.full[i-1].to == block
	joinsRight := i < len(q.full) && q.full[i].from == block+1
	switch {
	case joinsLeft && joinsRight:
		q.full[i-1].to = q.full[i].to
		q.full = slices.Delete(q.full, i, i+1)
	case joinsLeft:
		q.full[i-1].to++
	case joinsRight:
		q.full[i].from--
	default:
		q.full = slices.Insert(q.full, i, blockRun{block, block + 1})
		if len(q.full) > maxSeenRuns {
			q.full = slices.Delete(q.full, 0, 1)
		}
	}
}
