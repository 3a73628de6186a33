package core

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

// answerOf makes the messages of one pull answer as they come off the wire.
func answerOf(tb testing.TB, bodyLen int, offsets ...int64) []protocol.MessageExt {
	tb.Helper()
	var frame []byte
	for _, offset := range offsets {
		r := protocol.Record{
			QueueOffset: offset,
			Born:        time.UnixMilli(1), Stored: time.UnixMilli(2),
			BornHost:  netip.MustParseAddrPort("127.0.0.1:1000"),
			StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
			Topic:     "orders", Body: make([]byte, bodyLen),
		}
		var err error
		if frame, err = protocol.AppendRecord(frame, &r); err != nil {
			tb.Fatal(err)
		}
	}
	messages, err := protocol.AppendMessages(nil, frame, &protocol.MessageSource{BrokerName: "broker-a", Topic: "orders"})
	if err != nil {
		tb.Fatal(err)
	}
	return messages
}

// run gives the offsets from … from+n-1.
func run(from int64, n int) []int64 {
	offsets := make([]int64, n)
	for i := range offsets {
		offsets[i] = from + int64(i)
	}
	return offsets
}

func put(t *testing.T, q *ProcessQueue, offsets ...int64) (first uint64) {
	t.Helper()
	first, skipped := q.Put(answerOf(t, 100, offsets...), 1000)
	if skipped != 0 {
		t.Fatalf("Put(%v) skipped %d, want 0", offsets, skipped)
	}
	return first
}

func wantStats(t *testing.T, q *ProcessQueue, want CacheStats) {
	t.Helper()
	if diff := cmp.Diff(want, q.Stats()); diff != "" {
		t.Errorf("Stats() (-want +got):\n%s", diff)
	}
}

func offsetsOf(messages []*protocol.MessageExt) []int64 {
	var offsets []int64
	for _, m := range messages {
		offsets = append(offsets, m.QueueOffset())
	}
	return offsets
}

// The measured sequence of docs/conformance/pull.md 1.2, first half.
func TestSettleAsMeasured(t *testing.T) {
	var q ProcessQueue
	seq := put(t, &q, 10, 11, 12, 13)
	wantStats(t, &q, CacheStats{Count: 4, PinnedBytes: 1000, BodyBytes: 400, Min: 10, Max: 13, Span: 3, ConsumingMin: -1, ConsumingMax: -1})

	again := answerOf(t, 100, 10, 11, 12, 13)
	if _, skipped := q.Put(again, 1000); skipped != 4 {
		t.Errorf("Put of known offsets skipped %d, want 4", skipped)
	}
	if got := q.Stats().Count; got != 4 {
		t.Errorf("Count after a second Put = %d, want 4", got)
	}
	if got := q.Settle(seq+1, 1); got != 10 {
		t.Errorf("commit offset with 11 done = %d, want 10", got)
	}
	if got := q.Settle(seq, 1); got != 12 {
		t.Errorf("commit offset with 10 and 11 done = %d, want 12", got)
	}
	if got := q.Settle(seq, 4); got != 14 {
		t.Errorf("commit offset with all done = %d, want 14", got)
	}
	// Java answers -1 here: nothing to store. The offset stays what it is.
	if got := q.Settle(seq, 4); got != 14 {
		t.Errorf("commit offset when settled again = %d, want 14", got)
	}
	wantStats(t, &q, CacheStats{Min: -1, Max: -1, ConsumingMin: -1, ConsumingMax: -1})
}

// The measured sequence of docs/conformance/pull.md 1.2, second half.
func TestTakeAsMeasured(t *testing.T) {
	var q ProcessQueue
	put(t, &q, 10, 11, 12, 13)
	if got, want := offsetsOf(q.Take(2)), []int64{10, 11}; !slices.Equal(got, want) {
		t.Errorf("Take(2) = %v, want %v", got, want)
	}
	wantStats(t, &q, CacheStats{Count: 4, Consuming: 2, PinnedBytes: 1000, BodyBytes: 400, Min: 10, Max: 13, Span: 1, ConsumingMin: 10, ConsumingMax: 11})
	q.Rollback()
	wantStats(t, &q, CacheStats{Count: 4, PinnedBytes: 1000, BodyBytes: 400, Min: 10, Max: 13, Span: 3, ConsumingMin: -1, ConsumingMax: -1})
	q.Take(2)
	if got, ok := q.Commit(); got != 12 || !ok {
		t.Errorf("Commit() = %d, %v, want 12, true", got, ok)
	}
	wantStats(t, &q, CacheStats{Count: 2, PinnedBytes: 1000, BodyBytes: 200, Min: 12, Max: 13, Span: 1, ConsumingMin: -1, ConsumingMax: -1})
	if got := len(q.Take(10)); got != 2 {
		t.Errorf("Take(10) gave %d, want 2", got)
	}
	if got := len(q.Take(10)); got != 0 {
		t.Errorf("Take(10) of nothing gave %d, want 0", got)
	}
	if got := q.Stats().Span; got != 0 {
		t.Errorf("span with everything in the consuming part = %d, want 0", got)
	}
	put(t, &q, 20)
	if got, want := offsetsOf(q.Take(1)), []int64{20}; !slices.Equal(got, want) {
		t.Errorf("Take(1) = %v, want %v", got, want)
	}
	if got, ok := q.Commit(); got != 21 || !ok {
		t.Errorf("Commit() = %d, %v, want 21, true", got, ok)
	}
}

// Committing nothing is no panic (trap T29).
func TestCommitOfNothing(t *testing.T) {
	var q ProcessQueue
	for range 2 {
		if got, ok := q.Commit(); got != 0 || ok {
			t.Errorf("Commit() = %d, %v, want 0, false", got, ok)
		}
		q.Rollback()
		q.ConsumeAgain(3)
		put(t, &q, 7)
		q.Clear()
	}
}

// The example of docs/conformance/concurrent.md 6.
func TestCommitOffsetNeverPassesAnUnfinishedMessage(t *testing.T) {
	var q ProcessQueue
	seq := put(t, &q, 10, 11, 12, 13)
	for _, step := range []struct {
		offset, want int64
	}{{12, 10}, {10, 11}, {13, 11}, {11, 14}} {
		if got := q.Settle(seq+uint64(step.offset-10), 1); got != step.want {
			t.Errorf("commit offset after %d = %d, want %d", step.offset, got, step.want)
		}
	}
}

func TestConsumeAgainPutsTheLastBatchBack(t *testing.T) {
	var q ProcessQueue
	put(t, &q, run(1, 70)...)
	q.Take(66)
	q.Take(2)
	q.ConsumeAgain(2)
	wantStats(t, &q, CacheStats{Count: 70, Consuming: 66, PinnedBytes: 1000, BodyBytes: 7000, Min: 1, Max: 70, Span: 3, ConsumingMin: 1, ConsumingMax: 66})
	if got, want := offsetsOf(q.Take(10)), []int64{67, 68, 69, 70}; !slices.Equal(got, want) {
		t.Errorf("Take(10) = %v, want %v", got, want)
	}
}

func TestPutDropsKnownOffsets(t *testing.T) {
	var q ProcessQueue
	first := put(t, &q, 10, 12)
	seq, skipped := q.Put(answerOf(t, 100, 11, 12, 14, 15), 500)
	if skipped != 2 || seq != first+2 {
		t.Errorf("Put = seq %d, skipped %d, want %d, 2", seq, skipped, first+2)
	}
	if m := q.Message(seq); m == nil || m.QueueOffset() != 14 {
		t.Errorf("Message(%d) = %v, want offset 14", seq, m)
	}
	q.Settle(first, 4)
	if _, skipped := q.Put(answerOf(t, 100, 9, 15), 500); skipped != 2 {
		t.Errorf("Put of finished offsets skipped %d, want 2", skipped)
	}
}

func TestPutOrdersABrokenAnswer(t *testing.T) {
	var q ProcessQueue
	put(t, &q, 3)
	messages := answerOf(t, 10, 9, 5, 7, 5, 3, 9)
	seq, skipped := q.Put(messages, 100)
	if skipped != 3 {
		t.Errorf("skipped = %d, want 3", skipped)
	}
	var got []int64
	for i := range 3 {
		got = append(got, q.Message(seq+uint64(i)).QueueOffset())
	}
	if want := []int64{5, 7, 9}; !slices.Equal(got, want) {
		t.Errorf("offsets put = %v, want %v", got, want)
	}
}

func TestPinnedUntilTheLastMessageOfTheAnswerLeft(t *testing.T) {
	var q ProcessQueue
	a, _ := q.Put(answerOf(t, 10, 1, 2), 5000)
	b, _ := q.Put(answerOf(t, 10, 3, 4), 700)
	for _, step := range []struct {
		seq          uint64
		pinned, body int64
	}{{a, 5700, 30}, {b + 1, 5700, 20}, {b, 5000, 10}, {a + 1, 0, 0}} {
		q.Settle(step.seq, 1)
		if s := q.Stats(); s.PinnedBytes != step.pinned || s.BodyBytes != step.body {
			t.Errorf("after slot %d: pinned %d, body %d, want %d, %d", step.seq, s.PinnedBytes, s.BodyBytes, step.pinned, step.body)
		}
	}
}

func TestClearForgetsOffsetsButNotSequenceNumbers(t *testing.T) {
	var q ProcessQueue
	if _, ok := q.CommitOffset(); ok {
		t.Error("CommitOffset() before the first Put is known")
	}
	old := put(t, &q, 100, 101)
	q.Take(1)
	q.Clear()
	if _, ok := q.CommitOffset(); ok {
		t.Error("CommitOffset() after Clear is known")
	}
	if got := q.Settle(old, 2); got != -1 {
		t.Errorf("Settle after Clear = %d, want -1", got)
	}
	seq := put(t, &q, 5, 6) // a reset went back
	if seq != old+2 {
		t.Errorf("sequence after Clear = %d, want %d", seq, old+2)
	}
	if got := q.Settle(old, 2); got != 5 {
		t.Errorf("a late result moved the commit offset to %d, want 5", got)
	}
	if got, ok := q.CommitOffset(); got != 5 || !ok {
		t.Errorf("CommitOffset() = %d, %v, want 5, true", got, ok)
	}
}

func TestHeadShowsStages(t *testing.T) {
	var q ProcessQueue
	seq := put(t, &q, 1, 2, 3, 4)
	put(t, &q, 5)
	q.Take(2)
	q.Settle(seq, 1)
	q.Settle(seq+2, 1)
	type row struct {
		Offset int64
		Stage  Stage
	}
	var got []row
	q.Head(4, func(_ uint64, m *protocol.MessageExt, stage Stage) { got = append(got, row{m.QueueOffset(), stage}) })
	want := []row{{2, StageTaken}, {3, StageDone}, {4, StageCached}, {5, StageCached}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Head (-want +got):\n%s", diff)
	}
	if m := q.Message(seq + 2); m != nil {
		t.Errorf("Message of a done slot = %v, want nil", m.QueueOffset())
	}
	if m := q.Message(seq + 99); m != nil {
		t.Errorf("Message of no slot = %v, want nil", m.QueueOffset())
	}
}

// A listener that hangs for hours holds up the commit offset (trap T21), while
// the queue goes on beyond it. What is held must not grow with what was done.
func TestMemoryStaysBoundedBehindAStuckMessage(t *testing.T) {
	var q ProcessQueue
	stuck := put(t, &q, 0)
	next := int64(1)
	for range 20_000 {
		seq, _ := q.Put(answerOf(t, 1, next, next+1), 64)
		next += 2
		q.Settle(seq, 2)
	}
	if got := len(q.answers) + len(q.spare); got > 200 {
		t.Errorf("%d entries held for one message, want at most 200", got)
	}
	wantStats(t, &q, CacheStats{Count: 1, Done: 40_000, PinnedBytes: 1000, BodyBytes: 100, Min: 0, Max: 0, ConsumingMin: -1, ConsumingMax: -1})
	if got := q.Settle(stuck, 1); got != next {
		t.Errorf("commit offset = %d, want %d", got, next)
	}
}

func TestAnEmptyQueueShrinks(t *testing.T) {
	var q ProcessQueue
	var first uint64
	for i := range int64(5000) {
		seq := put(t, &q, i)
		if i == 0 {
			first = seq
		}
	}
	q.Settle(first, 5000)
	if len(q.spare) > maxSpareAnswers || cap(q.answers) > maxIdleAnswers {
		t.Errorf("an empty queue keeps %d spare answers and room for %d", len(q.spare), cap(q.answers))
	}
}

func TestNoAllocationInTheSteadyState(t *testing.T) {
	var q ProcessQueue
	answers := answersFor(t, 100, 32)
	i := 0
	allocs := testing.AllocsPerRun(50, func() {
		seq, _ := q.Put(answers[i], 8192)
		q.Settle(seq, 32)
		i++
	})
	if allocs != 0 {
		t.Errorf("%v allocations for a Put and a Settle, want 0", allocs)
	}
}

func answersFor(tb testing.TB, answers, each int) [][]protocol.MessageExt {
	out := make([][]protocol.MessageExt, answers)
	for i := range out {
		out[i] = answerOf(tb, 200, run(int64(i*each), each)...)
	}
	return out
}

// model is a ProcessQueue as one would write it without a thought for speed.
type model struct {
	slots    []modelSlot // all ever put since the last Clear
	boundary uint64
	next     uint64
	last     int64
	known    bool
}

type modelSlot struct {
	seq    uint64
	answer int
	offset int64
	taken  bool
	done   bool
}

func (m *model) live(consuming func(modelSlot) bool) []modelSlot {
	var out []modelSlot
	for _, s := range m.slots {
		if !s.done && consuming(s) {
			out = append(out, s)
		}
	}
	return out
}

func (m *model) stats(pinned []int, bodyLen int) CacheStats {
	all := m.live(func(modelSlot) bool { return true })
	taken := m.live(func(s modelSlot) bool { return s.seq < m.boundary })
	free := m.live(func(s modelSlot) bool { return s.seq >= m.boundary })
	s := CacheStats{
		Count: int64(len(all)), Consuming: int64(len(taken)), BodyBytes: int64(bodyLen * len(all)),
		Min: -1, Max: -1, ConsumingMin: -1, ConsumingMax: -1,
	}
	if len(all) > 0 {
		s.Min, s.Max = all[0].offset, all[len(all)-1].offset
		s.Done = int64(m.next-all[0].seq) - s.Count
	}
	if len(taken) > 0 {
		s.ConsumingMin, s.ConsumingMax = taken[0].offset, taken[len(taken)-1].offset
	}
	if len(free) > 0 {
		s.Span = free[len(free)-1].offset - free[0].offset
	}
	held := map[int]bool{}
	for _, slot := range all {
		held[slot.answer] = true
	}
	for a := range held {
		s.PinnedBytes += int64(pinned[a])
	}
	return s
}

func (m *model) commitOffset() (int64, bool) {
	for _, s := range m.slots {
		if !s.done {
			return s.offset, true
		}
	}
	return m.last + 1, m.known
}

func TestProcessQueueAgainstModel(t *testing.T) {
	const bodyLen = 3
	for seed := range uint64(12) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var (
			q      ProcessQueue
			m      model
			pinned []int
			offset int64
		)
		orderly := seed%4 == 0 // the rest mixes both kinds, which the queue bears
		for step := range 250 {
			switch op := rnd.IntN(12); {
			case op < 4: // put, sometimes overlapping what is known
				offset -= int64(rnd.IntN(8) / 6 * rnd.IntN(4))
				offset = max(offset, 0)
				var offsets []int64
				for range 1 + rnd.IntN(1+rnd.IntN(200)) {
					offset += int64(1 + rnd.IntN(5)/4*rnd.IntN(50))
					offsets = append(offsets, offset)
				}
				pinned = append(pinned, 100+rnd.IntN(1000))
				seq, skipped := q.Put(answerOf(t, bodyLen, offsets...), pinned[len(pinned)-1])
				wantSkipped := 0
				for _, o := range offsets {
					if m.known && o <= m.last {
						wantSkipped++
						continue
					}
					m.slots = append(m.slots, modelSlot{seq: m.next, answer: len(pinned) - 1, offset: o})
					m.next++
					m.last, m.known = o, true
				}
				if skipped != wantSkipped || seq != m.next-uint64(len(offsets)-skipped) {
					t.Fatalf("seed %d step %d: Put = %d, %d, want skipped %d, next %d", seed, step, seq, skipped, wantSkipped, m.next)
				}
			case op < 7 && !orderly: // settle, sometimes what is done or was never put
				seq := uint64(0)
				if n := len(m.slots); n > 0 {
					seq = m.slots[rnd.IntN(n)].seq
				}
				n := rnd.IntN(1 + rnd.IntN(150))
				for i := range m.slots {
					if s := &m.slots[i]; s.seq >= seq && s.seq < seq+uint64(n) {
						s.done = true
					}
				}
				want, ok := m.commitOffset()
				if !ok {
					want = -1
				}
				if got := q.Settle(seq, n); got != want {
					t.Fatalf("seed %d step %d: Settle(%d, %d) = %d, want %d", seed, step, seq, n, got, want)
				}
			case op < 9:
				n := rnd.IntN(40)
				var want []int64
				for i := range m.slots {
					if s := &m.slots[i]; !s.done && s.seq >= m.boundary && len(want) < n {
						s.taken = true
						want = append(want, s.offset)
					}
				}
				for _, s := range m.slots {
					if len(want) > 0 && s.offset == want[len(want)-1] {
						m.boundary = s.seq + 1
					}
				}
				if got := offsetsOf(q.Take(n)); !slices.Equal(got, want) {
					t.Fatalf("seed %d step %d: Take(%d) = %v, want %v", seed, step, n, got, want)
				}
			case op < 10:
				taken := m.live(func(s modelSlot) bool { return s.seq < m.boundary })
				got, ok := q.Commit()
				if ok != (len(taken) > 0) || ok && got != taken[len(taken)-1].offset+1 {
					t.Fatalf("seed %d step %d: Commit() = %d, %v, want %v", seed, step, got, ok, taken)
				}
				for i := range m.slots {
					m.slots[i].done = m.slots[i].done || m.slots[i].seq < m.boundary
				}
			case op < 11:
				n := rnd.IntN(20)
				if rnd.IntN(3) == 0 {
					n = len(m.slots)
					q.Rollback()
				} else {
					q.ConsumeAgain(n)
				}
				for i := len(m.slots) - 1; i >= 0 && n > 0; i-- {
					if s := &m.slots[i]; !s.done && s.seq < m.boundary {
						s.taken = false
						m.boundary = s.seq
						n--
					}
				}
			case rnd.IntN(20) == 0:
				q.Clear()
				m = model{next: m.next, boundary: m.next}
				offset = 0
			}
			if diff := cmp.Diff(m.stats(pinned, bodyLen), q.Stats()); diff != "" {
				t.Fatalf("seed %d step %d: Stats() (-want +got):\n%s", seed, step, diff)
			}
			want, wantOK := m.commitOffset()
			if got, ok := q.CommitOffset(); ok != wantOK || ok && got != want {
				t.Fatalf("seed %d step %d: CommitOffset() = %d, %v, want %d, %v", seed, step, got, ok, want, wantOK)
			}
			from, n := m.next-uint64(rnd.IntN(len(m.slots)+1)), rnd.IntN(200)
			left := len(m.live(func(s modelSlot) bool { return s.seq >= from && s.seq < from+uint64(n) }))
			if got := q.Unfinished(from, n); got != left {
				t.Fatalf("seed %d step %d: Unfinished(%d, %d) = %d, want %d", seed, step, from, n, got, left)
			}
			if step%8 != 0 {
				continue
			}
			for _, s := range m.slots {
				if got := q.Message(s.seq); (got == nil) != s.done || got != nil && got.QueueOffset() != s.offset {
					t.Fatalf("seed %d step %d: Message(%d) = %v, want %+v", seed, step, s.seq, got, s)
				}
			}
			q.Head(len(m.slots), func(seq uint64, _ *protocol.MessageExt, stage Stage) {
				i, _ := slices.BinarySearchFunc(m.slots, seq, func(s modelSlot, seq uint64) int { return int(s.seq) - int(seq) })
				want := StageCached
				switch s := m.slots[i]; {
				case s.done:
					want = StageDone
				case s.taken:
					want = StageTaken
				}
				if stage != want {
					t.Fatalf("seed %d step %d: stage of %d = %v, want %v", seed, step, seq, stage, want)
				}
			})
		}
	}
}
