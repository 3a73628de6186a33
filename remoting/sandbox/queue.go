package sandbox

import (
	"sort"
	"time"

	"eyeq/remoting/protocol"
)

// topic is one topic of one broker.
type topic struct {
	name        string
	read, write int32
	perm        int32
	order       bool
	attributes  map[string]string // 5.x
	queues      []*queue          // read or write, whichever are more
	turn        int32             // the queue that is next when the sender leaves the choice
}

// resize gives t its numbers of queues. Queues are never taken away: as on a
// broker, fewer of them only means that the others are no longer reachable.
func (t *topic) resize(read, write int32) {
	t.read, t.write = read, write
	for id := int32(len(t.queues)); id < max(read, write); id++ {
		t.queues = append(t.queues, &queue{topic: t, id: id})
	}
}

// queueAt is the queue of that id; nil when there is none.
func (t *topic) queueAt(id int32) *queue {
	if t == nil || id < 0 || int(id) >= len(t.queues) {
		return nil
	}
	return t.queues[id]
}

// nextQueue is the next writable queue in turn.
func (t *topic) nextQueue() int32 {
	id := t.turn % max(t.write, 1)
	t.turn = id + 1
	return id
}

// queue is the consume queue of one MessageQueue: where its messages lie in the
// commit log, in order of their queue offsets.
type queue struct {
	topic   *topic
	id      int32
	first   int64   // queue offset of entries[0], and the queue's minimum
	entries []entry // without gaps
	holds   []*hold
	expiry  time.Time // of the alarm for holds; zero: none is set
	touched bool      // in broker.touched
}

// entry is where one message lies, with what a broker keeps to filter by.
type entry struct {
	at     int64 // in the commit log
	stored int64 // milliseconds
	size   int32
	tags   int32 // protocol.TagsCode
}

// minOffset and maxOffset are the queue offsets of the oldest message and of the
// next one to be stored.
func (q *queue) minOffset() int64 { return q.first }
func (q *queue) maxOffset() int64 { return q.first + int64(len(q.entries)) }

// trim forgets what the commit log has dropped; whoever reads q calls it before.
func (q *queue) trim(logMin int64) {
	if len(q.entries) == 0 || q.entries[0].at >= logMin {
		return
	}
	n := sort.Search(len(q.entries), func(i int) bool { return q.entries[i].at >= logMin })
	q.drop(n)
}

// drop takes away the n oldest entries.
func (q *queue) drop(n int) {
	q.first += int64(n)
	q.entries = q.entries[n:]
}

// entryAt is the entry of a queue offset between minOffset and maxOffset.
func (q *queue) entryAt(queueOffset int64) *entry { return &q.entries[queueOffset-q.first] }

// storedAt is the store time of a message in milliseconds; 0 when it is not there.
func (q *queue) storedAt(queueOffset int64) int64 {
	if queueOffset < q.minOffset() || queueOffset >= q.maxOffset() {
		return 0
	}
	return q.entryAt(queueOffset).stored
}

// firstStoredFrom is what a 5.3 broker answers to code 29: the first message
// stored at t or later, or the maximum offset.
func (q *queue) firstStoredFrom(t int64) int64 {
	return q.first + int64(sort.Search(len(q.entries), func(i int) bool { return q.entries[i].stored >= t }))
}

// lastStoredUntil is what it answers when the upper boundary is asked for: the
// last message stored at t or earlier, or else the first.
func (q *queue) lastStoredUntil(t int64) int64 {
	i := sort.Search(len(q.entries), func(i int) bool { return q.entries[i].stored > t })
	return q.first + int64(max(0, i-1))
}

// nearestStored is what a 4.9 broker answers to code 29: its binary search ends
// at a message stored exactly at t, else at the nearer neighbour of t. Beyond
// either end that is the message at the end.
func (q *queue) nearestStored(t int64) int64 {
	if len(q.entries) == 0 {
		return 0
	}
	low, high := 0, len(q.entries)-1
	left, right := -1, -1
	for low <= high {
		mid := (low + high) / 2
		switch stored := q.entries[mid].stored; {
		case stored == t:
			return q.first + int64(mid)
		case stored > t:
			high, right = mid-1, mid
		default:
			low, left = mid+1, mid
		}
	}
	switch {
	case left < 0:
		return q.first + int64(right)
	case right < 0:
		return q.first + int64(left)
	case t-q.entries[left].stored > q.entries[right].stored-t:
		return q.first + int64(right)
	}
	return q.first + int64(left)
}

// filter says which messages a subscription wants, by the hash of their tags
// alone: the client has to look at the tags again.
type filter struct {
	all   bool
	codes []int32
}

func filterOf(s *protocol.SubscriptionData) filter {
	return filter{all: s.SubString == "*" || s.SubString == "" || s.ClassFilterMode, codes: s.CodeSet}
}

func (f *filter) matches(tags int32) bool {
	if f.all {
		return true
	}
	for _, c := range f.codes {
		if c == tags {
			return true
		}
	}
	return false
}

// getStatus is how reading a queue ended; its text is the remark of the answer
// (Java: GetMessageStatus).
type getStatus string

const (
	getFound         getStatus = "FOUND"
	getNoMatch       getStatus = "NO_MATCHED_MESSAGE"
	getEmptyQueue    getStatus = "NO_MESSAGE_IN_QUEUE"
	getOverflowOne   getStatus = "OFFSET_OVERFLOW_ONE"
	getOverflowBadly getStatus = "OFFSET_OVERFLOW_BADLY"
	getTooSmall      getStatus = "OFFSET_TOO_SMALL"
	getReset         getStatus = "OFFSET_RESET"
)

// limits bound one reading.
type limits struct {
	messages, bytes int
	scan            int // entries looked at
}

// got is what one reading found.
type got struct {
	status getStatus
	next   int64
	minOff int64
	maxOff int64
	parts  [][]byte // views of the commit log
}

// get reads messages from a queue offset on, as DefaultMessageStore does.
func (q *queue) get(log *commitLog, from int64, f *filter, l limits) got {
	q.trim(log.minOffset())
	g := got{minOff: q.minOffset(), maxOff: q.maxOffset()}
	switch {
	case g.maxOff == 0:
		g.status = getEmptyQueue
		return g
	case from < g.minOff:
		g.status, g.next = getTooSmall, g.minOff
		return g
	case from == g.maxOff:
		g.status, g.next = getOverflowOne, from
		return g
	case from > g.maxOff:
		g.status, g.next = getOverflowBadly, g.maxOff
		return g
	}
	var total int
	end := min(g.maxOff, from+int64(l.scan))
	for g.next = from; g.next < end && len(g.parts) < l.messages; g.next++ {
		e := q.entryAt(g.next)
		if !f.matches(e.tags) {
			continue
		}
		if len(g.parts) > 0 && total+int(e.size) > l.bytes {
			break
		}
		g.parts = append(g.parts, log.view(e.at, e.size))
		total += int(e.size)
	}
	g.status = getFound
	if len(g.parts) == 0 {
		g.status = getNoMatch
	}
	return g
}
