package cli

import (
	"math/rand/v2"
	"testing"
	"time"

	"eyeq/engine"
)

// storedAt is when the message at an offset was stored: in order, several in the same
// millisecond.
func storedAt(offset int64) time.Time { return time.UnixMilli(1_700_000_000_000 + offset/3) }

// A topic that was deleted and made again has other messages at the same offsets, which
// are no duplicates; those that come twice after that are.
func TestSeenSetOfAQueueMadeAnew(t *testing.T) {
	s := newSeenSet()
	q := s.queue(engine.MessageQueue{Topic: "t"})
	for i := range int64(seenBlock + 10) { // a full block and a bitmap
		s.add(q, i, storedAt(i))
	}
	anew := storedAt(seenBlock + 10).Add(time.Minute)
	for i := int64(5); i < seenBlock+20; i++ {
		if s.add(q, i, anew.Add(time.Duration(i)*time.Microsecond).Truncate(time.Millisecond)) {
			t.Fatalf("the new message at %d counts as seen", i)
		}
	}
	if !s.add(q, 7, anew) || !s.add(q, seenBlock+3, anew.Add(4*time.Millisecond)) {
		t.Error("a new message that comes again counts as new")
	}
	if s.blocks != len(q.bits) {
		t.Errorf("%d blocks are counted, %d are there", s.blocks, len(q.bits))
	}
}

func TestSeenSetAgreesWithAMap(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := newSeenSet()
	want := map[engine.MessageQueue]map[int64]bool{}
	for range 200_000 {
		mq := engine.MessageQueue{Topic: "t", BrokerName: "b", QueueID: rnd.Int32N(3)}
		offset := rnd.Int64N(40_000)
		if mq.QueueID == 0 {
			offset += 1 << 40
		}
		if want[mq] == nil {
			want[mq] = map[int64]bool{}
		}
		if got := s.add(s.queue(mq), offset, storedAt(offset)); got != want[mq][offset] {
			t.Fatalf("add(%v, %d) = %v, want %v", mq, offset, got, want[mq][offset])
		}
		want[mq][offset] = true
	}
}

func TestSeenSetJoinsFullBlocks(t *testing.T) {
	s := newSeenSet()
	q := s.queue(engine.MessageQueue{Topic: "t"})
	for _, block := range []int64{0, 2, 1, 5, 4, 3} { // filled in this order
		for i := range int64(seenBlock) {
			if s.add(q, block*seenBlock+i, storedAt(block*seenBlock+i)) {
				t.Fatalf("offset %d counts as seen", block*seenBlock+i)
			}
		}
	}
	if len(q.full) != 1 || q.full[0] != (blockRun{0, 6}) || s.blocks != 0 || len(q.bits) != 0 {
		t.Errorf("runs %v, %d bitmaps, want one run 0-6 and none", q.full, s.blocks)
	}
	if !s.add(q, 3, storedAt(3)) || !s.add(q, 5*seenBlock+7, storedAt(5*seenBlock+7)) {
		t.Error("a message of a full block counts as new")
	}
}

func TestSeenSetIsBounded(t *testing.T) {
	s := newSeenSet()
	q := s.queue(engine.MessageQueue{Topic: "t"})
	const blocks = 3 * maxSeenBlocks
	for i := range int64(blocks) {
		s.add(q, i*seenBlock, storedAt(i*seenBlock)) // one message a block, as a rare tag leaves them
	}
	if s.blocks > maxSeenBlocks || len(q.bits) > maxSeenBlocks || len(s.order) > 2*maxSeenBlocks+1 {
		t.Errorf("%d blocks, %d bitmaps, %d in order; want at most %d", s.blocks, len(q.bits), len(s.order), maxSeenBlocks)
	}
	if !s.add(q, (blocks-1)*seenBlock, storedAt((blocks-1)*seenBlock)) {
		t.Error("the newest message is forgotten")
	}
	if s.add(q, 0, storedAt(0)) {
		t.Error("the oldest message is still known, although its bitmap should be gone")
	}
}

func TestSeenSetForgetsOrderOfFullBlocks(t *testing.T) {
	s := newSeenSet()
	q := s.queue(engine.MessageQueue{Topic: "t"})
	for i := range int64(seenBlock * 100) {
		s.add(q, i, storedAt(i))
	}
	if s.blocks != 0 || len(q.full) != 1 {
		t.Errorf("%d bitmaps and runs %v, want none and one", s.blocks, q.full)
	}
}

func BenchmarkSeenSet(b *testing.B) {
	s := newSeenSet()
	mq := engine.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: 3}
	offset := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		s.add(s.queue(mq), offset, storedAt(offset))
		offset++
	}
}
