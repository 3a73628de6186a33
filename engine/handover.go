package engine

import (
	"context"
	"errors"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Concurrent queues change hands without a lock: a member takes what the new
// allocation gives it, and the old owner stops when it learns of the change. What
// the old owner consumes after the new one has read the committed offset comes
// twice. The reference leaves it at that. Here the new owner asks the old one
// (code 223, which the broker passes on to it as 221): as long as that one says
// that it has the queue it is being consumed, so waiting costs no silence; once
// it is said to be given away its offset is durable, and is read. A member that
// does not say is given a fixed time.
const (
	// handOver is how long a queue that others may have had just now is given
	// between two readings of its committed offset when nobody says who has it.
	handOver = 150 * time.Millisecond
	// handOverAnswer bounds the wait for one answer, besides some of the broker's
	// round trips up to handOverLongest; handOverPause is between two questions, and
	// in the end handOverSlow; handOverSettle lets the one-way commit of a Java member
	// arrive.
	handOverAnswer  = 400 * time.Millisecond
	handOverTrips   = 10
	handOverLongest = 3 * time.Second
	handOverPause   = 20 * time.Millisecond
	handOverSlow    = 250 * time.Millisecond
	handOverSettle  = 20 * time.Millisecond
	// handOverTold is when it is told that an old owner keeps a queue, and
	// handOverGrace how long beyond a rebalance period, in which it must have learnt
	// of the change, it may.
	handOverTold  = time.Second
	handOverGrace = 5 * time.Second
)

// formerOwners groups the queues that t has been given by the member that has
// them still. last is the allocation before.
func (c *coordinator) formerOwners(t *topicState, last map[string][]MessageQueue, added []MessageQueue) map[string][]MessageQueue {
	o := &c.e.o
	if o.Orderly || o.MessageModel != protocol.Clustering || len(t.members) < 2 || t.membersFrom == "" {
		return nil // the broker's lock sees to it, or nobody else is there
	}
	former := core.FormerOwners(added, c.e.clientID, t.members, last, func(m string, members []string) []MessageQueue {
		mqs, _ := o.Strategy.Allocate(o.Group, m, t.route.Queues, members) // one that fails holds nothing
		return mqs
	})
	byOwner := map[string][]MessageQueue{}
	for mq, m := range former {
		if c.mute[m] < core.HandOverFailures {
			byOwner[m] = append(byOwner[m], mq)
		}
	}
	return byOwner
}

// askFormer asks member for the queues of a topic until it has given them all
// back, on a goroutine of its own. Each queue is told what to do.
func (c *coordinator) askFormer(ctx context.Context, addr, topic, member string, qs []*queue) {
	e, patience := c.e, handOverAnswer
	if s := c.brokers[addr]; s != nil {
		patience = min(patience+handOverTrips*s.RTT, handOverLongest) // one that is slow is slow to pass on, too
	}
	e.start(func() {
		w := handOverWatch{e: e, addr: addr, topic: topic, member: member, patience: patience, began: time.Now()}
		for _, q := range qs {
			w.left = append(w.left, &awaited{q: q})
		}
		for w.ask(ctx) {
			// The longer it takes the more slowly: a broker passes on each member's question
			// about each topic, and a listener that runs a second would be met by fifty.
			pause := max(handOverPause, time.Since(w.began)/8)
			if !sleep(ctx, min(pause, handOverSlow)) {
				return
			}
		}
	})
}

// sleep waits for d; it reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// handOverWatch is the hand-over of some queues of one topic from one member.
type handOverWatch struct {
	e                   *Engine
	addr, topic, member string
	patience            time.Duration
	began               time.Time
	left                []*awaited
	answered            bool
}

type awaited struct {
	q *queue
	core.HandOver
	told bool
}

// ask asks once and reports whether there is more to wait for.
func (w *handOverWatch) ask(ctx context.Context) bool {
	actx, cancel := context.WithTimeout(ctx, w.patience)
	offsets, online, err := w.e.d.Client.MemberOffsets(actx, w.addr, w.e.o.Group, w.topic, w.member)
	cancel()
	if err != nil && !w.answered {
		_, refused := errors.AsType[*remoting.CodeError](err)
		w.e.inbox.put(memberMute{w.member, refused})
	}
	w.answered = w.answered || err == nil
	waited, limit := time.Since(w.began), w.e.o.RebalanceInterval+handOverGrace
	released := false
	rest := w.left[:0]
	var given []*queue
	for _, a := range w.left {
		if isGone(a.q) {
			continue // taken away from us again
		}
		step := core.HandOverWait
		if err != nil {
			step = a.Failed()
		} else {
			_, holds := offsets[a.q.mq]
			step = a.Answered(online && holds, waited, limit)
		}
		switch step {
		case core.HandOverWait:
			a.tell(w, waited)
			rest = append(rest, a)
		case core.HandOverReleased:
			released = true
			given = append(given, a.q)
		default:
			a.q.inbox.put(formerSaid{})
		}
	}
	w.left = rest
	if released {
		if !sleep(ctx, handOverSettle) {
			return false
		}
		for _, q := range given {
			q.inbox.put(formerSaid{released: true})
		}
	}
	return len(w.left) > 0
}

// tell says once that a queue is kept by its old owner for longer than it takes
// to hear of a change.
func (a *awaited) tell(w *handOverWatch, waited time.Duration) {
	if a.told || waited < handOverTold {
		return
	}
	a.told = true
	a.q.emit(QueueAddFailed{a.q.at(), "held", w.member + " has not given it back yet"})
}

func isGone(q *queue) bool {
	select {
	case <-q.gone:
		return true
	default:
		return false
	}
}

// memberMute says that a member did not tell what it holds; after some such
// questions it is asked no more, since each may keep one of the broker's threads
// for five seconds. A broker that refuses the question is not asked again either.
type memberMute struct {
	member  string
	refused bool
}

func (m memberMute) apply(_ context.Context, c *coordinator) {
	c.mute[m.member]++
	if m.refused {
		c.mute[m.member] = core.HandOverFailures
	}
}

// doubt stops the pulls of a broker's queues when it is out of reach: the broker
// takes a member whose connection has ended out of the group, so others may have
// the queues, and give them back when this member is back. The first pass after that
// reassures them. An orderly queue has its lock for that. Also who was alone doubts:
// others may have come meanwhile.
func (c *coordinator) doubt(broker string) {
	for mq, q := range c.queues {
		if mq.BrokerName == broker && q.clustering && !q.orderly && !q.dropping {
			q.doubted, q.undecided = true, 0
			q.inbox.put(doubted{})
		}
	}
}

// endDoubt lets a queue compare its progress with what is committed. asking: its
// former owner is asked too.
func (c *coordinator) endDoubt(q *queue, asking bool) {
	q.doubted = false
	q.pulledAt.Store(c.e.stamp(time.Now())) // it could not pull until now, which is no idleness
	q.inbox.put(reassured{asking})
}

// undecidedLimit is how many passes in a row may fail before a queue in doubt goes
// on without one.
const undecidedLimit = 3

// undecided counts a pass that could not tell whose a topic's queues are. One that
// can may never come, and what is held is kept until then: so it is also consumed.
func (c *coordinator) undecided(t *topicState) {
	for mq, q := range c.queues {
		if mq.Topic != t.sub.Topic || !q.doubted || !c.reachable(mq.BrokerName, nil) {
			continue
		}
		if q.undecided++; q.undecided >= undecidedLimit {
			c.endDoubt(q, false)
		}
	}
}

// reassure lets those of the kept queues that are in doubt compare their progress
// with what is committed, once nobody else has them any more.
func (c *coordinator) reassure(ctx context.Context, t *topicState, kept []MessageQueue) {
	var mqs []MessageQueue
	for _, mq := range kept {
		if c.queues[mq].doubted && c.reachable(mq.BrokerName, nil) {
			mqs = append(mqs, mq)
		}
	}
	if len(mqs) == 0 {
		return
	}
	for member, theirs := range c.formerOwners(t, nil, mqs) {
		qs := make([]*queue, len(theirs))
		for i, mq := range theirs {
			qs[i] = c.queues[mq]
			c.endDoubt(qs[i], true)
		}
		c.askFormer(ctx, t.membersFrom, t.sub.Topic, member, qs)
	}
	for _, mq := range mqs {
		if q := c.queues[mq]; q.doubted { // nobody else can have it
			c.endDoubt(q, false)
		}
	}
}

// doubt is whether a queue in service is still this client's as far as it knows.
type doubt uint8

const (
	noDoubt    doubt = iota
	doubtWaits       // for the next pass
	doubtReads       // what is committed
)

// doubtLimit is how long reading what is committed may fail before a queue in
// doubt goes on from where it is.
const doubtLimit = 10 * time.Second

// doubted stops a queue's pulls until it has been reassured and has read.
type doubted struct{}

func (doubted) applyTo(_ context.Context, q *queue) {
	if q.phase == phaseActive {
		q.doubt = doubtWaits
		q.touch()
	}
}

// reassured lets a queue in doubt read what is committed. asking: its former owner
// is being asked too.
type reassured struct{ asking bool }

func (r reassured) applyTo(_ context.Context, q *queue) {
	if q.doubt == doubtWaits {
		q.doubt, q.asking, q.released, q.rested = doubtReads, r.asking, false, false
		q.readAgainAt, q.doubtUntil = time.Time{}, time.Now().Add(doubtLimit)
	}
}

// formerSaid ends the wait for a queue's former owner. released: it had the queue
// and has made its offset durable.
type formerSaid struct{ released bool }

func (f formerSaid) applyTo(_ context.Context, q *queue) {
	q.asking = false
	q.released = q.released || f.released
	if (q.phase == phaseTaking || q.doubt == doubtReads) && (q.rested || f.released) {
		q.readSeq++ // what is being read is older than this
		q.reading, q.readAgainAt = false, time.Time{}
	}
}
