package inspect

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

const (
	// watchLimit is for how long members are watched after a reset: a Java member that
	// holds a poll hears of it after 15 to 20 s, one that is told takes its queues again
	// after 10 to 30 s.
	watchLimit = 35 * time.Second
	watchPause = 500 * time.Millisecond
	// memberPause is the time between two questions to the members themselves.
	memberPause = 2 * time.Second
)

// watch follows the queues that members read, and those that were written while nobody
// was connected when somebody has come since.
func (a *resetApply) watch(ctx context.Context) {
	watched := map[*ResetRow]*obedience{}
	came, refused := a.cameSince(ctx), a.st.survey.pause(a.st.group)
	for i := range a.res.Rows {
		row := &a.res.Rows[i]
		if !row.Tried || row.Error != "" || row.Method == MethodCommit && !came[row.Topic] {
			continue
		}
		o := &obedience{
			method: row.Method, from: max(row.Before, row.Min), to: row.After, began: a.began, last: sight{committed: -1},
			fresh: row.Before < 0, still: row.Before == row.After && row.Method == MethodServer, end: row.After >= row.Max,
			obeys: a.obeys(a.res.Plan.owners.of(row.MessageQueue)), paused: row.Method == MethodServer && refused.Refuses(row.Topic, row.BrokerName),
		}
		o.see(sight{at: a.began, committed: row.ReadBack, memory: -1})
		watched[row] = o
	}
	if len(watched) == 0 {
		return
	}
	limit := time.NewTimer(watchLimit)
	defer limit.Stop()
	pause := time.NewTicker(watchPause)
	defer pause.Stop()
	var asked time.Time
	cut := false
	for over := false; !over && unsettled(watched); {
		select {
		case <-pause.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			over, cut = true, true
			ctx = context.WithoutCancel(ctx)
		}
		members := over || a.in.now().Sub(asked) >= memberPause
		if members {
			asked = a.in.now()
		}
		a.look(ctx, watched, members)
	}
	for row, o := range watched {
		o.cut = cut
		row.Verified, row.Obeyed = o.judge(row.Owner)
		if row.unsure != "" && !row.Verified {
			row.Error = "not known whether it was done: " + row.unsure
		}
		if cut && !row.Verified && row.unsure == "" {
			row.unsure = "not watched to the end"
		}
		if o.lost != "" {
			row.Lost = "the broker was lost after the reset was sent: " + o.lost
		}
		if o.last.committed >= 0 {
			row.ReadBack = o.last.committed
		}
	}
}

func unsettled(watched map[*ResetRow]*obedience) bool {
	for _, o := range watched {
		if !o.settled() {
			return true
		}
	}
	return false
}

// obeys reports whether the members that may hold a queue, all where nobody is known
// to, heed the reset for sure.
func (a *resetApply) obeys(owners []string) bool {
	for _, m := range a.res.Plan.Members {
		if !m.Obeys && (len(owners) == 0 || slices.Contains(owners, m.ClientID)) {
			return false
		}
	}
	return true
}

// cameSince tells the topics that members read now.
func (a *resetApply) cameSince(ctx context.Context) map[string]bool {
	a.st.said = a.in.look(ctx, a.st.survey, a.st.group, false)
	came := map[string]bool{}
	for i := range a.res.Rows {
		if topic := a.res.Rows[i].Topic; !came[topic] && a.st.follows(topic) {
			came[topic] = true
		}
	}
	return came
}

// look takes one look at the queues: what is committed, and what members say.
func (a *resetApply) look(ctx context.Context, watched map[*ResetRow]*obedience, members bool) {
	type key struct{ addr, topic string }
	var keys []key
	for row := range watched {
		broker, _ := a.st.at(row.BrokerName)
		if k := (key{broker.broker.addr, row.Topic}); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	stats, lost := make([]protocol.ConsumeStats, len(keys)), make([]string, len(keys))
	var m Members
	each(len(keys)+1, 0, func(i int) {
		if i < len(keys) {
			k := keys[i]
			var err error
			stats[i], err = ask(ctx, a.in, k.addr, func(ctx context.Context) (protocol.ConsumeStats, error) {
				return a.in.client.ConsumeStats(ctx, k.addr, a.st.group, k.topic)
			})
			if err != nil {
				lost[i] = ReasonOf(err).String()
			}
		} else if members {
			m = a.in.merge(a.st.group, a.st.said)
			a.in.askMembers(ctx, &m, a.st.said, false)
		}
	})
	now, owners := a.in.now(), m.owners()
	for row, o := range watched {
		broker, _ := a.st.at(row.BrokerName)
		s := sight{at: now, committed: -1, memory: -1, lost: lost[slices.Index(keys, key{broker.broker.addr, row.Topic})]}
		for i := range stats {
			if w, ok := stats[i].OffsetTable[row.MessageQueue]; ok {
				s.committed = w.ConsumerOffset
			}
		}
		for i := range m.Members {
			if info := m.Members[i].Info; info != nil {
				if q, ok := info.MQTable[row.MessageQueue]; ok && !q.Dropped {
					s.memory, s.consumed, s.taken = q.CommitOffset, millis(q.LastConsumeTimestamp), millis(q.LastLockTimestamp)
				}
			}
		}
		if s.consumed.IsZero() {
			s.consumed, s.taken = o.last.consumed, o.last.taken // what was said last
		}
		row.Owner = cmp.Or(strings.Join(owners.of(row.MessageQueue), ", "), row.Owner)
		o.see(s)
	}
}
