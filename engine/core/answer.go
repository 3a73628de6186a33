package core

import (
	"cmp"
	"math/bits"
	"slices"

	"eyeq/remoting/protocol"
)

// answer holds the messages of one pull answer. Bit k of live says that message
// k is not done, bit k of taken that it was handed out.
type answer struct {
	messages    []protocol.MessageExt
	live, taken []uint64
	low, high   int // live has no bit below word low nor from word high on
	left        int // bits in live
	body        int64
	pinned      int64
}

// fill makes a an answer with every message live; it reuses a's bit sets.
func (a *answer) fill(messages []protocol.MessageExt, pinned int) {
	words := (len(messages) + 63) / 64
	if cap(a.live) < words {
		both := make([]uint64, 2*words)
		a.live, a.taken = both[:words:words], both[words:]
	}
	a.live, a.taken = a.live[:words], a.taken[:words]
	for w := range a.live {
		a.live[w], a.taken[w] = ^uint64(0), 0
	}
	if rest := len(messages) % 64; rest > 0 {
		a.live[words-1] = 1<<rest - 1
	}
	a.messages = messages
	a.low, a.high = 0, words
	a.left = len(messages)
	a.pinned = int64(pinned)
	a.body = 0
	for k := range messages {
		a.body += int64(len(messages[k].StoredBody()))
	}
}

// settle clears the live bits lo … hi-1 and returns how many were set and the
// body lengths of those. When nothing stays live, which is the rule for a batch
// that is a whole answer, no message is looked at.
func (a *answer) settle(lo, hi int) (n int, body int64) {
	if n = a.count(lo, hi); n == a.left {
		body = a.body
		clear(a.live)
		a.left, a.body = 0, 0
		return n, body
	}
	for w := lo / 64; w*64 < hi; w++ {
		set := a.live[w] & within(w, lo, hi)
		a.live[w] &^= set
		for ; set != 0; set &= set - 1 {
			body += int64(len(a.messages[w*64+bits.TrailingZeros64(set)].StoredBody()))
		}
	}
	a.left -= n
	a.body -= body
	return n, body
}

// count is how many of lo … hi-1 are live.
func (a *answer) count(lo, hi int) (n int) {
	for w := lo / 64; w*64 < hi; w++ {
		n += bits.OnesCount64(a.live[w] & within(w, lo, hi))
	}
	return n
}

func (a *answer) mark(lo, hi int, taken bool) {
	for w := lo / 64; w*64 < hi; w++ {
		if taken {
			a.taken[w] |= within(w, lo, hi)
		} else {
			a.taken[w] &^= within(w, lo, hi)
		}
	}
}

// within has the bits of word w that stand for lo … hi-1.
func within(w, lo, hi int) uint64 {
	set := ^uint64(0)
	if d := lo - w*64; d > 0 {
		set <<= d
	}
	if d := w*64 + 64 - hi; d > 0 {
		set &= ^uint64(0) >> d
	}
	return set
}

func (a *answer) isLive(k int) bool { return a.live[k/64]>>(k%64)&1 != 0 }

func (a *answer) offset(k int) int64 { return a.messages[k].QueueOffset() }

func (a *answer) stage(k int) Stage {
	switch {
	case !a.isLive(k):
		return StageDone
	case a.taken[k/64]>>(k%64)&1 != 0:
		return StageTaken
	}
	return StageCached
}

// lowest is the first live message; there must be one. Bits are never set again,
// so low only grows.
func (a *answer) lowest() int {
	for a.live[a.low] == 0 {
		a.low++
	}
	return a.low*64 + bits.TrailingZeros64(a.live[a.low])
}

// highest is the last live message; there must be one.
func (a *answer) highest() int {
	for a.live[a.high-1] == 0 {
		a.high--
	}
	return a.high*64 - 1 - bits.LeadingZeros64(a.live[a.high-1])
}

// next is the first live message from lo on.
func (a *answer) next(lo int) (k int, ok bool) {
	for w := lo / 64; w < a.high; w++ {
		if set := a.live[w] & within(w, lo, len(a.messages)); set != 0 {
			return w*64 + bits.TrailingZeros64(set), true
		}
	}
	return 0, false
}

// previous is the last live message below hi.
func (a *answer) previous(hi int) (k int, ok bool) {
	for w := (hi+63)/64 - 1; w >= a.low; w-- {
		if set := a.live[w] & within(w, 0, hi); set != 0 {
			return w*64 + 63 - bits.LeadingZeros64(set), true
		}
	}
	return 0, false
}

// part translates sequence numbers to indices of h's messages; lo may lie beyond hi.
func (h heldAnswer) part(from, end uint64) (lo, hi int) {
	n := uint64(len(h.messages))
	if from > h.seq {
		lo = int(min(from-h.seq, n))
	}
	return lo, int(min(end-min(end, h.seq), n))
}

// locate is the index of the answer that holds slot seq; where none does, of
// one before it, or of the first.
func (q *ProcessQueue) locate(seq uint64) int {
	lo, hi := q.first, len(q.answers)
	if lo+1 >= hi || seq < q.answers[lo+1].seq {
		return lo
	}
	for lo+1 < hi { // answers[lo].seq <= seq < answers[hi].seq
		mid := int(uint(lo+hi) / 2)
		if q.answers[mid].seq <= seq {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// from is the first unfinished slot at or after seq: message k of answers[i].
func (q *ProcessQueue) from(seq uint64) (i, k int, ok bool) {
	for i = q.locate(seq); i < len(q.answers); i++ {
		if q.answers[i].answer == nil {
			continue
		}
		lo, _ := q.answers[i].part(seq, seq)
		if k, ok = q.answers[i].next(lo); ok {
			return i, k, true
		}
	}
	return 0, 0, false
}

// before is the last unfinished slot before seq.
func (q *ProcessQueue) before(seq uint64) (i, k int, ok bool) {
	for i = min(q.locate(seq), len(q.answers)-1); i >= q.first; i-- {
		if q.answers[i].answer == nil {
			continue
		}
		_, hi := q.answers[i].part(0, seq)
		if k, ok = q.answers[i].previous(hi); ok {
			return i, k, true
		}
	}
	return 0, 0, false
}

func (q *ProcessQueue) newAnswer(messages []protocol.MessageExt, pinned int) *answer {
	var a *answer
	if n := len(q.spare); n > 0 {
		a, q.spare = q.spare[n-1], q.spare[:n-1]
	} else {
		a = new(answer)
	}
	a.fill(messages, pinned)
	return a
}

func (q *ProcessQueue) push(h heldAnswer) {
	if len(q.answers) == cap(q.answers) && q.first > len(q.answers)/2 {
		n := copy(q.answers, q.answers[q.first:])
		clear(q.answers[n:])
		q.answers, q.first = q.answers[:n], 0
	}
	q.answers = append(q.answers, h)
}

// drop takes a finished answer out of entry i, which trim removes.
func (q *ProcessQueue) drop(i int) {
	a := q.answers[i].answer
	q.answers[i].answer = nil
	q.gone++
	q.pinned -= a.pinned
	a.messages = nil
	if len(q.spare) < maxSpareAnswers {
		q.spare = append(q.spare, a)
	}
}

// trim removes the finished entries at both ends, so that Min and Max are found
// at once, and all of them when they are the larger part: what is held follows
// the unfinished answers even when one message is stuck for hours.
func (q *ProcessQueue) trim() {
	for q.first < len(q.answers) && q.answers[q.first].answer == nil {
		q.first++
		q.gone--
	}
	for n := len(q.answers); n > q.first && q.answers[n-1].answer == nil; n-- {
		q.answers = q.answers[:n-1]
		q.gone--
	}
	if q.first == len(q.answers) {
		q.answers, q.first = q.answers[:0], 0
		if cap(q.answers) > maxIdleAnswers {
			q.answers = nil
		}
		return
	}
	if held := q.answers[q.first:]; q.gone > 32 && q.gone > len(held)/2 {
		kept := slices.DeleteFunc(held, func(h heldAnswer) bool { return h.answer == nil })
		q.answers, q.gone = q.answers[:q.first+len(kept)], 0
	}
}

// ascending sorts messages that are not in strictly ascending order, with what
// occurs twice in front, and returns how many those are.
func ascending(messages []protocol.MessageExt) (duplicates int) {
	sorted := true
	for k := 1; k < len(messages) && sorted; k++ {
		sorted = messages[k-1].QueueOffset() < messages[k].QueueOffset()
	}
	if sorted {
		return 0
	}
	slices.SortStableFunc(messages, func(a, b protocol.MessageExt) int {
		return cmp.Compare(a.QueueOffset(), b.QueueOffset())
	})
	to := len(messages)
	for k := len(messages) - 1; k >= 0; k-- {
		if to < len(messages) && messages[k].QueueOffset() == messages[to].QueueOffset() {
			continue
		}
		to--
		messages[to], messages[k] = messages[k], messages[to]
	}
	return to
}
