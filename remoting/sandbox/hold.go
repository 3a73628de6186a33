package sandbox

import (
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// holdCheck is how often a broker looks at the pulls that it holds.
const holdCheck = 5 * time.Second

// hold is a pull that waits for messages, at most until its deadline. A message
// that its filter does not match leaves it waiting until the broker next looks,
// so that the client hears of it and moves on.
type hold struct {
	call     *call
	header   protocol.PullMessageRequestHeader
	queue    *queue
	filter   filter
	deadline time.Time
	from     int64 // the queue's maximum offset when it was held
	seen     int64 // queue offset up to which the filter has been asked
}

// hold keeps a pull until messages arrive.
func (b *broker) hold(c *call, h *protocol.PullMessageRequestHeader, q *queue, f filter) {
	c.held = true
	held := &hold{
		call: c, header: *h, queue: q, filter: f,
		deadline: b.loop.now.Add(h.SuspendTimeout), from: q.maxOffset(), seen: q.maxOffset(),
	}
	q.holds = append(q.holds, held)
	c.peer.holds[held] = struct{}{}
	b.expireBy(q, held.deadline)
}

// expireBy has the held pulls of a queue looked at no later than at.
func (b *broker) expireBy(q *queue, at time.Time) {
	if q.expiry.IsZero() || at.Before(q.expiry) {
		b.expireAt(q, at)
	}
}

// expireAt sets the one alarm of a queue's held pulls.
func (b *broker) expireAt(q *queue, at time.Time) {
	q.expiry = at
	b.loop.alarms.at(at, func() {
		if q.expiry.Equal(at) { // else an earlier one has been set meanwhile
			b.expireHolds(q)
		}
	})
}

// expireHolds answers the pulls whose time is over and sets the alarm for the rest.
func (b *broker) expireHolds(q *queue) {
	q.expiry = time.Time{}
	var next time.Time
	for _, h := range slices.Clone(q.holds) {
		if !h.deadline.After(b.loop.now) {
			b.release(h)
			continue
		}
		if next.IsZero() || h.deadline.Before(next) {
			next = h.deadline
		}
	}
	if !next.IsZero() {
		b.expireAt(q, next)
	}
}

// arrived notes that a queue has new messages; releaseArrived tells those who
// wait, once for everything that one request has brought.
func (b *broker) arrived(q *queue) {
	if len(q.holds) > 0 && !q.touched {
		q.touched = true
		b.touched = append(b.touched, q)
	}
}

func (b *broker) releaseArrived() {
	for _, q := range b.touched {
		q.touched = false
		for _, h := range slices.Clone(q.holds) {
			before := h.seen
			switch {
			case h.wanted():
				b.release(h)
			case before == h.from: // the first that does not match
				h.deadline = earlier(h.deadline, b.loop.now.Add(holdCheck))
				b.expireBy(q, h.deadline)
			}
		}
	}
	b.touched = b.touched[:0]
}

// wanted reports whether a message that arrived since the last look passes the filter.
func (h *hold) wanted() bool {
	for ; h.seen < h.queue.maxOffset(); h.seen++ {
		if h.seen >= h.queue.minOffset() && h.filter.matches(h.queue.entryAt(h.seen).tags) {
			return true
		}
	}
	return false
}

// release tries a held pull for the last time and answers it, whatever comes of it.
func (b *broker) release(h *hold) {
	h.queue.holds = slices.DeleteFunc(h.queue.holds, func(other *hold) bool { return other == h })
	delete(h.call.peer.holds, h)
	b.loop.reply(h.call, b.pull(h.call, &h.header, false))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
