package inspect

import (
	"time"

	"eyeq/remoting/protocol"
)

// maxStill bounds of how many queues it is remembered since when their commits stand.
const maxStill = 1 << 14

// groupQueue is a queue as one group reads it.
type groupQueue struct {
	group string
	mq    protocol.MessageQueue
}

// stillCommit is a commit that was seen at one place, with messages waiting behind it.
type stillCommit struct {
	committed int64 // -1: nothing is committed
	since     time.Time
}

// stand notes where a group's commits stand, and fills in since when they have been seen
// there. A commit that is found at the place of before has stood between the two looks,
// however far apart they are: it only goes back by a reset, and what waited behind it
// waits still.
func (in *Inspector) stand(group string, queues []QueueLag, at time.Time) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range queues {
		q := &queues[i]
		key, committed := groupQueue{group, q.MessageQueue}, int64(-1)
		switch {
		case q.Committed.Known:
			committed = q.Committed.Value
		case q.Committed.Why.Kind != ReasonNoCommit:
			continue // it may stand, and may not
		}
		if !q.waits() {
			delete(in.still, key)
			continue
		}
		was, ok := in.still[key]
		if !ok || was.committed != committed {
			if in.still == nil || !ok && len(in.still) >= maxStill {
				in.still = map[groupQueue]stillCommit{} // all anew: what is said is shorter than what is true
			}
			was = stillCommit{committed, at}
			in.still[key] = was
		}
		q.StandsSince = was.since
	}
}
