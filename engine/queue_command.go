package engine

import (
	"context"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// setPause tells a queue which pauses are in force.
type setPause struct{ own, whole *PauseState }

func (s setPause) applyTo(_ context.Context, q *queue) {
	was := q.paused() != nil
	q.pause, q.whole = s.own, s.whole
	q.suspended = q.suspended && q.paused() != nil
	if was && q.paused() == nil && !q.inFlight && !q.dialing && !q.nextPull.IsZero() {
		q.nextPull = time.Now()
	}
	q.touch()
}

// setLimits gives a queue new thresholds.
type setLimits struct{ limits core.Limits }

func (s setLimits) applyTo(_ context.Context, q *queue) { q.limit = s.limits }

// heldQuery asks for the first cached messages.
type heldQuery struct {
	n     int
	reply chan<- []HeldMessage // capacity 1
}

func (h heldQuery) applyTo(_ context.Context, q *queue) {
	var held []HeldMessage
	q.pq.Head(h.n, func(seq uint64, m *protocol.MessageExt, stage core.Stage) {
		x := HeldMessage{Message: m, Stage: stage}
		if b, i, ok := q.batchOf(seq); ok && stage != core.StageDone {
			if at := b.startedAt(i); at > 0 {
				x.Started, x.Stage = q.e.moment(at), core.StageTaken
			}
			if b.retries != nil && !q.orderly {
				x.Retries = int(b.retries[i])
			}
		}
		for _, r := range q.again {
			if r.b.first+uint64(r.from) <= seq && seq < r.b.first+uint64(r.to) {
				x.Retries = int(r.tries)
				x.Stage, x.Started = core.StageCached, time.Time{}
			}
		}
		x.Retries += int(q.suspends[m.QueueOffset()])
		if x.Held = q.heldSince(m.QueueOffset()); !x.Held.IsZero() {
			x.Stage = core.StageTaken
		}
		held = append(held, x)
	})
	h.reply <- held
}
