package inspect

import (
	"context"
	"fmt"
	"time"

	"eyeq/remoting/protocol"
)

const (
	// proofLimit bounds how long proof is looked for: a poll that a broker holds is
	// answered within some 20 s, and a member that was refused asks again after 1 s.
	proofLimit = 30 * time.Second
	// proofPause is the time between two looks; a member that is refused pulls again
	// more often than that, and one that is served and waits does not.
	proofPause = 3 * time.Second
)

// pullState is how far a queue has been pulled, as far as anybody says.
type pullState struct {
	max       int64 // the queue's end
	pulled    int64 // how far it was pulled at least: by the broker (5.x), by its owner's cache, by commits
	committed int64 // what lies between it and pulled is with the members, and it is lag
	waits     bool  // messages wait beyond pulled
	lastPull  time.Time
	told      bool // a member says that it holds it
}

// pullLook is a look at the queues that members hold.
type pullLook struct {
	states  map[protocol.MessageQueue]pullState
	members int
	why     Reason // something that was asked was not answered
}

// nobody says why there is no queue to prove a change by: that nobody could tell is not
// that nobody is there.
func (l *pullLook) nobody() string {
	switch {
	case l.why.Kind != ReasonNone:
		return "it is not known what members do, the brokers' configurations say it: " + l.why.String()
	case l.members == 0:
		return "no member is connected: there is nobody to prove it by, the brokers' configurations say it"
	}
	return "no member says that it holds a queue: there is nothing to prove it by"
}

// provePause looks at how far members have pulled until that says what was to be
// proved, or the limit is over.
func (in *Inspector) provePause(ctx context.Context, r *PauseRequest, began time.Time) (string, bool) {
	look := in.pullStates(ctx, r)
	if len(look.states) == 0 {
		return look.nobody(), false
	}
	before := look.states
	limit := time.NewTimer(proofLimit)
	defer limit.Stop()
	pause := time.NewTicker(proofPause)
	defer pause.Stop()
	words, proved, last := "", false, before
	for over := false; !proved && !over; {
		select {
		case <-pause.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			return "not watched to the end", false
		}
		look := in.pullStates(ctx, r)
		after := look.states
		if len(after) == 0 {
			words = look.nobody()
			continue
		}
		words, proved = judgePause(r, began, before, last, after)
		last = after
		if !r.Resume {
			before = after // a pull under way may still have been served
		}
	}
	return words, proved
}

// judgePause compares the look after a change with one before, and with the last one:
// a pull that has stood still since that is held by the broker.
func judgePause(r *PauseRequest, began time.Time, before, last, after map[protocol.MessageQueue]pullState) (string, bool) {
	moved, waiting, held, total := 0, 0, 0, 0
	var cached int64
	for mq, a := range after {
		b, ok := before[mq]
		if !ok || !a.told {
			continue
		}
		total++
		if a.committed >= 0 {
			cached += a.pulled - a.committed
		}
		switch {
		case a.pulled > b.pulled:
			moved++
		case a.waits:
			waiting++
		case a.lastPull.After(began) && a.lastPull.Equal(last[mq].lastPull):
			held++ // one that is refused pulls again every second
		}
	}
	if total == 0 {
		return "no member says that it holds a queue: there is nothing to prove it by", false
	}
	if r.Resume {
		switch {
		case waiting > 0:
			return fmt.Sprintf("%d of %d queues have messages that were not pulled yet, %d were pulled since", waiting, total, moved), false
		case moved > 0 && moved+held == total:
			return fmt.Sprintf("members pull again: %d of %d queues were pulled, the others wait for messages", moved, total), true
		case moved > 0:
			return fmt.Sprintf("members pull again: %d of %d queues were pulled since", moved, total), true
		case held == total:
			return fmt.Sprintf("members pull again: %d of %d queues wait for messages, none is refused", held, total), true
		}
		return fmt.Sprintf("no queue of %d was pulled yet: there was nothing to pull", total), false
	}
	if moved > 0 {
		return fmt.Sprintf("%d of %d queues are still pulled", moved, total), false
	}
	if waiting > 0 {
		return fmt.Sprintf("no queue of %d was pulled for %v, although messages wait in %d", total, proofPause, waiting), true
	}
	if cached > 0 {
		return fmt.Sprintf("no queue of %d was pulled for %v; no message waits to be pulled, members have %s that they pulled before and have not committed",
			total, proofPause, Grouped(cached)), true
	}
	return fmt.Sprintf("no queue of %d was pulled for %v; no message waits", total, proofPause), true
}

// pullStates looks at the queues that members hold.
func (in *Inspector) pullStates(ctx context.Context, r *PauseRequest) pullLook {
	s, err := in.survey(ctx)
	if err != nil {
		return pullLook{why: ReasonOf(err)}
	}
	said := in.look(ctx, s, r.Group, true)
	m := in.merge(r.Group, said)
	in.askMembers(ctx, &m, said, false)
	l := pullLook{members: len(m.Members)}
	for _, p := range m.Problems {
		l.why = p.Why
	}
	for i := range said {
		if why := ReasonOf(said[i].statsErr); why.Kind != ReasonNone && why.Kind != ReasonNotFound {
			l.why = why
		}
	}
	for i := range m.Members {
		if m.Members[i].Info == nil {
			l.why = m.Members[i].Why
		}
	}
	states := map[protocol.MessageQueue]pullState{}
	for i := range said {
		for mq, w := range said[i].stats.OffsetTable {
			states[mq] = pullState{max: w.BrokerOffset, pulled: max(w.PullOffset, w.ConsumerOffset), committed: w.ConsumerOffset}
		}
	}
	for i := range m.Members {
		if m.Members[i].Info == nil {
			continue
		}
		for mq, q := range m.Members[i].Info.MQTable {
			st, ok := states[mq]
			if q.Dropped || !ok {
				continue
			}
			st.told, st.lastPull = true, millis(q.LastPullTimestamp)
			st.pulled = max(st.pulled, q.CommitOffset)
			if q.CachedMsgCount > 0 {
				st.pulled = max(st.pulled, q.CachedMsgMaxOffset+1)
			}
			states[mq] = st
		}
	}
	for mq, st := range states {
		st.waits = st.pulled < st.max
		if r.Topic != "" && mq.Topic != r.Topic || !st.told {
			delete(states, mq)
			continue
		}
		states[mq] = st
	}
	l.states = states
	return l
}
