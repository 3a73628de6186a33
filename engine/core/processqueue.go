package core

import "eyeq/remoting/protocol"

// Stage is how far a cached message has come.
type Stage uint8

// The stages.
const (
	StageCached Stage = iota + 1 // waiting for a worker
	StageTaken                   // handed to a listener (orderly: taken, not committed)
	StageDone                    // finished, waiting for an earlier one
)

// String gives the word that the screen shows.
func (s Stage) String() string { return [...]string{"", "cached", "taken", "done"}[s] }

// ProcessQueue is the local cache of one queue (Java: ProcessQueue): the pull
// answers in order of arrival, each with a bit a message that says whether it is
// still to be done. Put, Settle, Min, Max and Span are amortised O(1), a result
// finds its messages by a binary search over the answers held; memory follows
// the answers held, never the distance of their offsets nor the number of
// messages that are done behind an unfinished one. The zero value is ready.
//
// Slots are named by a sequence number that grows by one for each message ever
// put and is never reused, so that a late result finds nothing rather than the
// wrong message.
//
// The pinned size counts the answer buffers that cached messages keep alive: the
// whole answer until its last message has left.
//
// A concurrent consumer uses Settle, an orderly one Take, Commit,
// Rollback and ConsumeAgain. Messages settled in the consuming part leave it.
type ProcessQueue struct {
	// answers[first:] are the answers held, by ascending sequence number; gone of
	// them are finished (nil), but neither the first nor the last.
	answers []heldAnswer
	first   int
	gone    int
	spare   []*answer

	nextSeq    uint64
	nextOffset int64 // the largest offset put + 1
	known      bool  // something was put
	count      int64
	pinned     int64
	body       int64

	// Orderly: what is not done below boundary is the consuming part.
	boundary  uint64
	consuming int64
	batch     []*protocol.MessageExt // what Take returned last
}

type heldAnswer struct {
	seq uint64 // of its first message
	*answer
}

// Bounds of what an empty queue keeps for its next messages.
const (
	maxSpareAnswers = 64
	maxIdleAnswers  = 256
)

// Put appends the messages of one pull answer, in ascending offset order. Those
// at or below an offset that was put before are dropped (trap T45). It returns the
// sequence number of the first one put and which of messages were put: the tail
// beginning at index skipped. pinned is the size of the answer's buffer.
//
// The queue keeps the slice, which must not be changed afterwards. A slice out of
// order (a broken broker) is sorted first and its duplicates are among the skipped.
func (q *ProcessQueue) Put(messages []protocol.MessageExt, pinned int) (first uint64, skipped int) {
	skipped = ascending(messages)
	for skipped < len(messages) && messages[skipped].QueueOffset() < q.nextOffset {
		skipped++
	}
	first = q.nextSeq
	if skipped == len(messages) {
		return first, skipped
	}
	fresh := messages[skipped:]
	a := q.newAnswer(fresh, pinned)
	q.push(heldAnswer{first, a})
	q.nextSeq += uint64(len(fresh))
	q.nextOffset = fresh[len(fresh)-1].QueueOffset() + 1
	q.known = true
	q.count += int64(len(fresh))
	q.pinned += a.pinned
	q.body += a.body
	return first, skipped
}

// Settle marks the slots seq … seq+n-1 done and frees what is finished. It
// returns the commit offset: the smallest offset still cached, or the last put + 1
// (-1 before the first Put). Slots that are done or gone already are passed over.
func (q *ProcessQueue) Settle(seq uint64, n int) (commitOffset int64) {
	if n > 0 {
		end := seq + uint64(n)
		if seq < q.boundary {
			cut := min(end, q.boundary)
			q.consuming -= q.settle(seq, cut)
			seq = cut
		}
		if seq < end {
			q.settle(seq, end)
		}
	}
	commitOffset, ok := q.CommitOffset()
	if !ok {
		return -1
	}
	return commitOffset
}

// settle marks the slots from … end-1 done and returns how many were not.
func (q *ProcessQueue) settle(from, end uint64) (settled int64) {
	for i := q.locate(from); i < len(q.answers) && q.answers[i].seq < end; i++ {
		a := q.answers[i].answer
		if a == nil {
			continue
		}
		lo, hi := q.answers[i].part(from, end)
		if lo >= hi {
			continue
		}
		n, body := a.settle(lo, hi)
		settled += int64(n)
		q.count -= int64(n)
		q.body -= body
		if a.left == 0 {
			q.drop(i)
		}
	}
	if q.gone > 0 {
		q.trim()
	}
	return settled
}

func (q *ProcessQueue) mark(from, end uint64, taken bool) {
	for i := q.locate(from); i < len(q.answers) && q.answers[i].seq < end; i++ {
		if a := q.answers[i].answer; a != nil {
			lo, hi := q.answers[i].part(from, end)
			a.mark(lo, hi, taken)
		}
	}
}

// CommitOffset is what Settle would return now; ok is false before the first Put
// and after Clear.
func (q *ProcessQueue) CommitOffset() (offset int64, ok bool) {
	if q.count == 0 {
		return q.nextOffset, q.known
	}
	a := q.answers[q.first].answer
	return a.offset(a.lowest()), true
}

// Take hands out up to n messages for orderly consumption: they move to the
// consuming part and stay counted. The slice is valid until the next call.
func (q *ProcessQueue) Take(n int) []*protocol.MessageExt {
	clear(q.batch)
	q.batch = q.batch[:0]
	from := q.boundary
	for len(q.batch) < n {
		i, k, ok := q.from(q.boundary)
		if !ok {
			break
		}
		q.batch = append(q.batch, &q.answers[i].messages[k])
		q.boundary = q.answers[i].seq + uint64(k) + 1
	}
	q.consuming += int64(len(q.batch))
	q.mark(from, q.boundary, true)
	return q.batch
}

// Commit frees the whole consuming part and returns its last offset + 1; ok is
// false when there is nothing to commit (trap T29).
func (q *ProcessQueue) Commit() (commitOffset int64, ok bool) {
	i, k, ok := q.before(q.boundary)
	if !ok {
		return 0, false
	}
	commitOffset = q.answers[i].offset(k) + 1
	q.settle(q.answers[q.first].seq, q.boundary)
	q.consuming = 0
	clear(q.batch)
	return commitOffset, true
}

// Rollback puts the whole consuming part back.
func (q *ProcessQueue) Rollback() { q.ConsumeAgain(int(q.consuming)) }

// ConsumeAgain puts the last n taken messages back (Java: makeMessageToConsumeAgain).
func (q *ProcessQueue) ConsumeAgain(n int) {
	end := q.boundary
	for ; n > 0; n-- {
		i, k, ok := q.before(q.boundary)
		if !ok {
			break
		}
		q.boundary = q.answers[i].seq + uint64(k)
		q.consuming--
	}
	q.mark(q.boundary, end, false)
}

// Message returns the message in a slot; nil when it has left or is done.
func (q *ProcessQueue) Message(seq uint64) *protocol.MessageExt {
	i := q.locate(seq)
	if i == len(q.answers) || q.answers[i].answer == nil {
		return nil
	}
	lo, hi := q.answers[i].part(seq, seq+1)
	if lo >= hi || !q.answers[i].isLive(lo) {
		return nil
	}
	return &q.answers[i].messages[lo]
}

// Unfinished counts those of the slots seq … seq+n-1 that are not done.
func (q *ProcessQueue) Unfinished(seq uint64, n int) (left int) {
	end := seq + uint64(max(n, 0))
	for i := q.locate(seq); i < len(q.answers) && q.answers[i].seq < end; i++ {
		if a := q.answers[i].answer; a != nil {
			lo, hi := q.answers[i].part(seq, end)
			left += a.count(lo, hi)
		}
	}
	return left
}

// Head visits up to n slots from the oldest unfinished one on. Of those that are
// done it visits the ones that are still in memory: their answer has another
// message that is not done.
func (q *ProcessQueue) Head(n int, visit func(seq uint64, m *protocol.MessageExt, stage Stage)) {
	for i := q.first; i < len(q.answers); i++ {
		a := q.answers[i].answer
		if a == nil {
			continue
		}
		k := 0
		if i == q.first {
			k = a.lowest()
		}
		for ; k < len(a.messages); k++ {
			if n <= 0 {
				return
			}
			n--
			visit(q.answers[i].seq+uint64(k), &a.messages[k], a.stage(k))
		}
	}
}

// Clear empties the queue and forgets which offsets it has seen; sequence
// numbers go on.
func (q *ProcessQueue) Clear() {
	for i := q.first; i < len(q.answers); i++ {
		if q.answers[i].answer != nil {
			q.drop(i)
		}
	}
	q.trim()
	clear(q.batch)
	q.boundary, q.consuming = q.nextSeq, 0
	q.count, q.body = 0, 0
	q.nextOffset, q.known = 0, false
}

// CacheStats are a ProcessQueue's figures.
type CacheStats struct {
	Count       int64 // messages not yet done, consuming part included (Java: msgCount)
	Done        int64 // done, waiting for an earlier one
	Consuming   int64 // orderly: taken, not committed
	PinnedBytes int64 // memory that the cached messages keep alive
	BodyBytes   int64 // their stored body lengths, as Java counts (decompressed sizes are not known)
	Min, Max    int64 // smallest and largest offset that is not done, consuming part included; -1 when empty
	// Span is Max minus the smallest offset that is not in the consuming part; 0 when
	// there is none (docs/conformance/pull.md 1.1). So Max-Span is the cachedMsgMinOffset
	// of running info as long as Count > Consuming.
	Span int64
	// ConsumingMin and ConsumingMax are the ends of the consuming part; -1 when empty.
	ConsumingMin, ConsumingMax int64
}

// Stats returns the figures at O(1).
func (q *ProcessQueue) Stats() CacheStats {
	s := CacheStats{
		Count: q.count, Consuming: q.consuming, PinnedBytes: q.pinned, BodyBytes: q.body,
		Min: -1, Max: -1, ConsumingMin: -1, ConsumingMax: -1,
	}
	if q.count == 0 {
		return s
	}
	head, tail := q.answers[q.first], q.answers[len(q.answers)-1]
	low := head.lowest()
	s.Done = int64(q.nextSeq-head.seq-uint64(low)) - q.count
	s.Min, s.Max = head.offset(low), tail.offset(tail.highest())
	s.Span = s.Max - s.Min
	if q.consuming == 0 {
		return s
	}
	s.ConsumingMin = s.Min
	if i, k, ok := q.before(q.boundary); ok {
		s.ConsumingMax = q.answers[i].offset(k)
	}
	s.Span = 0
	if i, k, ok := q.from(q.boundary); ok {
		s.Span = s.Max - q.answers[i].offset(k)
	}
	return s
}
