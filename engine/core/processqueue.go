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

// ProcessQueue is the local cache of one queue (Java: ProcessQueue): a ring of
// slots in order of arrival, each with its message, its offset and a stage. Put,
// Settle, Min, Max and Span are amortised O(1); memory follows the messages held,
// never the distance of their offsets.
//
// Slots are named by a sequence number that grows by one for each message ever
// put and is never reused, so that a result finds its slot without a search.
//
// The pinned size counts the answer buffers that cached messages keep alive: the
// whole answer until its last message has left.
type ProcessQueue struct{}

// Put appends the messages of one pull answer, in ascending offset order. Those
// at or below an offset that was put before are dropped (trap T45). It returns the
// sequence number of the first one put and which of messages were put: the tail
// beginning at index skipped. pinned is the size of the answer's buffer.
func (q *ProcessQueue) Put(messages []protocol.MessageExt, pinned int) (first uint64, skipped int) {
	panic("todo")
}

// Settle marks the slots seq … seq+n-1 done and frees those at the head. It
// returns the commit offset: the smallest offset still cached, or the last put + 1.
// Slots that are done or gone already are passed over.
func (q *ProcessQueue) Settle(seq uint64, n int) (commitOffset int64) { panic("todo") }

// MarkTaken sets the stage of slots that are handed out (for display only).
func (q *ProcessQueue) MarkTaken(seq uint64, n int) { panic("todo") }

// CommitOffset is what Settle returned last; ok is false before the first Put.
func (q *ProcessQueue) CommitOffset() (offset int64, ok bool) { panic("todo") }

// Take hands out up to n messages for orderly consumption: they move to the
// consuming part and stay counted. The slice is valid until the next call.
func (q *ProcessQueue) Take(n int) []*protocol.MessageExt { panic("todo") }

// Commit frees the whole consuming part and returns its last offset + 1; ok is
// false when there is nothing to commit (trap T29).
func (q *ProcessQueue) Commit() (commitOffset int64, ok bool) { panic("todo") }

// Rollback puts the whole consuming part back.
func (q *ProcessQueue) Rollback() { panic("todo") }

// ConsumeAgain puts the last n taken messages back (Java: makeMessageToConsumeAgain).
func (q *ProcessQueue) ConsumeAgain(n int) { panic("todo") }

// Message returns the message in a slot; nil when it has left.
func (q *ProcessQueue) Message(seq uint64) *protocol.MessageExt { panic("todo") }

// Head visits up to n slots from the oldest on.
func (q *ProcessQueue) Head(n int, visit func(seq uint64, m *protocol.MessageExt, stage Stage)) {
	panic("todo")
}

// Clear empties the queue; sequence numbers go on.
func (q *ProcessQueue) Clear() { panic("todo") }

// CacheStats are a ProcessQueue's figures.
type CacheStats struct {
	Count       int64 // messages not yet done, consuming part included (Java: msgCount)
	Done        int64 // done, waiting for an earlier one
	Consuming   int64 // orderly: taken, not committed
	PinnedBytes int64 // memory that the cached messages keep alive
	BodyBytes   int64 // their stored body lengths, as Java counts (decompressed sizes are not known)
	Min, Max    int64 // smallest and largest cached offset; -1 when empty
	// Span is Max-Min over what is not in the consuming part; 0 when empty
	// (spec/consumer-pull.md 1.1).
	Span int64
	// ConsumingMin and Max are the ends of the consuming part; -1 when empty.
	ConsumingMin, ConsumingMax int64
}

// Stats returns the figures at O(1).
func (q *ProcessQueue) Stats() CacheStats { panic("todo") }
