package cli

import (
	"cmp"
	"container/heap"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

// tailMerge merges the queues' buffers by the time their messages were stored.
type tailMerge struct {
	t       *tailer
	queues  []*tailQueue
	ready   tailHeap // queues with messages
	waiting int      // queues that have none, but may have one that is earlier
	open    int      // queues that are not done
	popped  int      // messages taken out so far
}

// blocks reports whether a queue holds up the others.
func (q *tailQueue) blocks() bool { return len(q.buffer) == 0 && !q.idle && !q.done }

func (m *tailMerge) queue(mq engine.MessageQueue) *tailQueue {
	for _, q := range m.queues {
		if q.mq == mq {
			return q
		}
	}
	return nil
}

func (m *tailMerge) count() {
	m.waiting, m.open = 0, 0
	for _, q := range m.queues {
		if q.blocks() {
			m.waiting++
		}
		if !q.done {
			m.open++
		}
	}
}

// behind is how many messages are left until the ends of all queues; negative while
// a queue has not begun or cannot be read.
func (m *tailMerge) behind() (n int64) {
	for _, q := range m.queues {
		if !q.begun || !q.since.IsZero() {
			return -1
		}
		n += max(q.max-q.next, 0) + int64(len(q.buffer))
	}
	return n
}

// mute are the queues that cannot be read.
func (m *tailMerge) mute() (mute []page.MuteQueue) {
	for _, q := range m.queues {
		if !q.since.IsZero() {
			mute = append(mute, page.MuteQueue{Queue: q.mq, Since: q.since, Why: q.why})
		}
	}
	return mute
}

// put adds messages to a queue; of one that has enough no more is pulled.
func (m *tailMerge) put(q *tailQueue, messages []keptMessage) {
	if had := len(q.buffer); len(messages) > 0 {
		q.buffer = append(q.buffer, messages...)
		if had == 0 {
			heap.Push(&m.ready, q)
		}
	}
	if len(q.buffer) >= tailBatch && !q.paused && !q.done {
		q.paused = true
		m.t.consumer.Pause(q.mq)
	}
}

// pop takes the message that was stored first.
func (m *tailMerge) pop() *keptMessage {
	m.popped++
	q := m.ready[0]
	first := &q.buffer[0]
	q.buffer = q.buffer[1:]
	if len(q.buffer) == 0 {
		heap.Pop(&m.ready)
		if q.blocks() {
			m.waiting++
		}
	} else {
		heap.Fix(&m.ready, 0)
	}
	if q.paused && len(q.buffer) < tailBatch {
		q.paused = false
		m.t.consumer.Resume(q.mq)
	}
	return first
}

// passOver lets the others go on without the queues that have not answered.
func (m *tailMerge) passOver() {
	for _, q := range m.queues {
		q.idle = q.idle || q.blocks()
	}
	m.count()
}

func (m *tailMerge) finished() bool { return m.open == 0 && m.ready.Len() == 0 }

// tailHeap orders queues by their first message: stored, then queue, then offset.
type tailHeap []*tailQueue

func (h tailHeap) Len() int { return len(h) }
func (h tailHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(a.buffer[0].Stored().Compare(b.buffer[0].Stored()), protocol.CompareMessageQueues(a.mq, b.mq)) < 0
}
func (h tailHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *tailHeap) Push(q any)   { *h = append(*h, q.(*tailQueue)) }
func (h *tailHeap) Pop() any {
	old := *h
	q := old[len(old)-1]
	*h = old[:len(old)-1]
	return q
}
