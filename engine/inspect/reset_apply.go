package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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

// ApplyReset carries out a plan: it compares what is there now with the plan and stops
// at any drift (*DriftError), saves the offsets as they are, resets, reads back, and
// watches the members that are connected. The error says why nothing, or nothing more,
// was done; what became of each queue is in the result's rows. When ctx ends while
// members are watched the result says what was seen until then.
func (in *Inspector) ApplyReset(ctx context.Context, p ResetPlan) (ResetResult, error) {
	res := ResetResult{Plan: p, Rows: slices.Clone(p.Rows)}
	if err := p.Refused(); err != nil {
		return res, err
	}
	st, err := in.standing(ctx, p.Request.Group)
	if err != nil {
		return res, err
	}
	a := &resetApply{in: in, st: st, res: &res}
	if err := a.compare(); err != nil {
		return res, err
	}
	if err := a.save(); err != nil {
		return res, fmt.Errorf("nothing was changed, since the offsets before cannot be saved: %w", err)
	}
	a.began = in.now()
	defer in.forget()
	places := a.places()
	each(len(places), 0, func(i int) { a.write(ctx, places[i]) })
	a.readBack(ctx)
	a.watch(ctx)
	for i := range res.Rows {
		if res.Rows[i].Verified {
			res.Done++
		}
	}
	return res, nil
}

// resetApply is one reset under way.
type resetApply struct {
	in    *Inspector
	st    *standing
	res   *ResetResult
	began time.Time
}

// places gives the plan's places with their rows of the result.
func (a *resetApply) places() []*resetPlace {
	places := make([]*resetPlace, len(a.res.Plan.places))
	for i, pl := range a.res.Plan.places {
		pl.rows = nil
		for j := range a.res.Rows {
			if row := &a.res.Rows[j]; row.Topic == pl.topic && row.BrokerName == pl.broker.name {
				pl.rows = append(pl.rows, row)
			}
		}
		places[i] = &pl
	}
	return places
}

// compare looks for drift, and notes in the rows what is committed now. Where members
// consume, a commit that has gone forward is none: they go on between a plan and its
// execution.
func (a *resetApply) compare() error {
	var drift []string
	seen := map[string]bool{}
	for i := range a.res.Rows {
		row := &a.res.Rows[i]
		broker, offsets := a.st.at(row.BrokerName)
		if why := cannotReset(broker, offsets); why != "" {
			drift = append(drift, row.Short()+": "+why)
			continue
		}
		followed := a.st.follows(row.Topic)
		if followed != (row.Method != MethodCommit) && !seen[row.Topic] {
			seen[row.Topic] = true
			drift = append(drift, fmt.Sprintf("members are connected now that read %s: %v, in the plan: %v", row.Topic, followed, !followed))
		}
		now, ok := offsets.topics[row.Topic][row.QueueID]
		if !ok || now < 0 {
			now = -1
		}
		if now < row.Before || now != row.Before && !followed {
			drift = append(drift, fmt.Sprintf("%v: %s committed, in the plan %s", row.MessageQueue, offsetWord(now), offsetWord(row.Before)))
		}
		row.Before = now
	}
	if len(drift) > 0 {
		return &DriftError{drift}
	}
	return nil
}

func offsetWord(offset int64) string {
	if offset < 0 {
		return "nothing"
	}
	return fmt.Sprint(offset)
}

// save writes the offsets as they are to a file, where there is a folder for it.
func (a *resetApply) save() (err error) {
	a.res.SavedTo, err = a.in.saveOffsets(a.res.Plan.Request.Group, a.res.Rows)
	return err
}

// saveOffsets saves what is committed in each row's queue.
func (in *Inspector) saveOffsets(group string, rows []ResetRow) (path string, err error) {
	if in.saveDir == "" {
		return "", nil
	}
	s := SavedOffsets{Time: in.now().UTC(), Cluster: in.cluster, Group: group}
	for i := range rows {
		q := SavedQueue{Topic: rows[i].Topic, Broker: rows[i].BrokerName, Queue: rows[i].QueueID}
		if before := rows[i].Before; before >= 0 {
			q.Committed = &before
		}
		s.Queues = append(s.Queues, q)
	}
	return s.Save(in.saveDir)
}

// write resets the queues of one place.
func (a *resetApply) write(ctx context.Context, pl *resetPlace) {
	switch pl.method {
	case MethodCommit:
		a.commit(ctx, pl)
	case MethodServer:
		for _, row := range pl.rows {
			// Its member may be further than what is committed, by all that it has consumed
			// since: a queue that stands at the target stays there only when it is told to.
			if row.Before != row.After || row.After < row.Max {
				a.serverSide(ctx, pl, row)
			}
		}
	case MethodPush:
		a.push(ctx, pl)
	}
}

// commit writes the offsets directly.
func (a *resetApply) commit(ctx context.Context, pl *resetPlace) {
	offsets := map[protocol.MessageQueue]int64{}
	for _, row := range pl.rows {
		if row.Before != row.After {
			offsets[row.MessageQueue] = row.After
			row.Tried = true
		}
	}
	failed := a.in.client.UpdateConsumerOffsets(ctx, a.st.group, offsets)
	for _, row := range pl.rows {
		if err := failed[row.MessageQueue]; err != nil {
			row.Error = ReasonOf(err).String()
			continue
		}
		// A 5.x broker answers yes and writes nothing while an earlier reset of the queue
		// waits for a pull. Only another reset takes its place.
		if row.Tried && pl.broker.five() {
			if now, _, err := a.committed(ctx, pl.broker.addr, row.MessageQueue); err == nil && now != row.After {
				a.serverSide(ctx, pl, row)
			}
		}
	}
}

func (a *resetApply) committed(ctx context.Context, addr string, mq protocol.MessageQueue) (offset int64, found bool, err error) {
	offset, err = ask(ctx, a.in, addr, func(ctx context.Context) (o int64, err error) {
		o, found, err = a.in.client.QueryConsumerOffset(ctx, a.st.group, mq)
		return o, err
	})
	return offset, found, err
}

// serverSide has a 5.x broker move one queue.
func (a *resetApply) serverSide(ctx context.Context, pl *resetPlace, row *ResetRow) {
	row.Tried = true
	_, err := a.reset(ctx, pl, &protocol.InvokeResetOffsetRequestHeader{
		Topic: row.Topic, Group: a.st.group, Timestamp: a.began.UnixMilli(), IsForce: true,
		Queue: &protocol.ResetQueue{ID: row.QueueID, Offset: row.After},
	})
	if err != nil {
		row.Error = ReasonOf(err).String()
	}
}

func (a *resetApply) reset(ctx context.Context, pl *resetPlace, h *protocol.InvokeResetOffsetRequestHeader) (protocol.OffsetTable, error) {
	return ask(ctx, a.in, pl.broker.addr, func(ctx context.Context) (protocol.OffsetTable, error) {
		return a.in.client.ResetOffsets(ctx, pl.broker.addr, h)
	})
}

// push has a 4.9 broker tell the members. It answers where it sends them, which is not
// quite what was planned when messages have come or gone since.
func (a *resetApply) push(ctx context.Context, pl *resetPlace) {
	offsets := maps.Clone(pl.uncommitted)
	maps.DeleteFunc(offsets, func(mq protocol.MessageQueue, _ int64) bool {
		_, offset := a.st.at(mq.BrokerName)
		_, ok := offset.topics[mq.Topic][mq.QueueID]
		return ok // committed meanwhile
	})
	for _, err := range a.in.client.UpdateConsumerOffsets(ctx, a.st.group, offsets) {
		for _, row := range pl.rows {
			row.Error = "a queue without an offset cannot be given one, which comes first: " + ReasonOf(err).String()
		}
		return
	}
	told, err := a.reset(ctx, pl, &protocol.InvokeResetOffsetRequestHeader{
		Topic: pl.topic, Group: a.st.group, Timestamp: pl.stamp, IsForce: true,
	})
	for _, row := range pl.rows {
		row.Tried = true
		if err != nil {
			row.Error = ReasonOf(err).String()
			continue
		}
		to, ok := told[row.MessageQueue]
		switch {
		case !ok:
			row.Error = "the broker has not told the members about it"
		case to != row.After:
			row.After = to
		}
	}
}

// readBack asks what is committed now.
func (a *resetApply) readBack(ctx context.Context) {
	each(len(a.res.Rows), 0, func(i int) {
		row := &a.res.Rows[i]
		broker, _ := a.st.at(row.BrokerName)
		offset, found, err := a.committed(ctx, broker.broker.addr, row.MessageQueue)
		switch {
		case err != nil:
			if row.Error == "" {
				row.Error = "it cannot be read back: " + ReasonOf(err).String()
			}
			return
		case found:
			row.ReadBack = offset
		}
		row.Verified = found && offset == row.After && row.Error == ""
		if row.Verified {
			row.Obeyed = "written"
			if !row.Tried {
				row.Obeyed = "was there already"
			}
		} else if row.Error == "" && row.Method != MethodPush {
			row.Error = fmt.Sprintf("%s is committed, %d was written", offsetWord(row.ReadBack), row.After)
		}
	})
}

// watch follows the queues that members read, and those that were written while nobody
// was connected when somebody has come since.
func (a *resetApply) watch(ctx context.Context) {
	watched := map[*ResetRow]*obedience{}
	came := a.cameSince(ctx)
	for i := range a.res.Rows {
		row := &a.res.Rows[i]
		if !row.Tried || row.Error != "" || row.Method == MethodCommit && !came[row.Topic] {
			continue
		}
		o := &obedience{
			method: row.Method, from: max(row.Before, row.Min), to: row.After, began: a.began, last: sight{committed: -1},
			obeys: a.obeys(a.res.Plan.owners.of(row.MessageQueue)),
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
	for over := false; !over && unsettled(watched); {
		select {
		case <-pause.C:
		case <-limit.C:
			over = true
		case <-ctx.Done():
			over = true
			ctx = context.WithoutCancel(ctx)
		}
		members := over || a.in.now().Sub(asked) >= memberPause
		if members {
			asked = a.in.now()
		}
		a.look(ctx, watched, members)
	}
	for row, o := range watched {
		row.Verified, row.Obeyed = o.judge(row.Owner)
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
	stats := make([]protocol.ConsumeStats, len(keys))
	var m Members
	each(len(keys)+1, 0, func(i int) {
		if i < len(keys) {
			k := keys[i]
			stats[i], _ = ask(ctx, a.in, k.addr, func(ctx context.Context) (protocol.ConsumeStats, error) {
				return a.in.client.ConsumeStats(ctx, k.addr, a.st.group, k.topic)
			})
		} else if members {
			m = a.in.merge(a.st.group, a.st.said)
			a.in.askMembers(ctx, &m, a.st.said, false)
		}
	})
	now, owners := a.in.now(), m.owners()
	for row, o := range watched {
		s := sight{at: now, committed: -1, memory: -1}
		for i := range stats {
			if w, ok := stats[i].OffsetTable[row.MessageQueue]; ok {
				s.committed = w.ConsumerOffset
			}
		}
		for i := range m.Members {
			if info := m.Members[i].Info; info != nil {
				if q, ok := info.MQTable[row.MessageQueue]; ok && !q.Dropped {
					s.memory, s.consumed = q.CommitOffset, millis(q.LastConsumeTimestamp)
				}
			}
		}
		if s.consumed.IsZero() {
			s.consumed = o.last.consumed // what was said last
		}
		row.Owner = cmp.Or(strings.Join(owners.of(row.MessageQueue), ", "), row.Owner)
		o.see(s)
	}
}

// Failed sums up what was not done, nil when all queues are where they were to go.
func (r *ResetResult) Failed() error {
	var errs []error
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Verified {
			continue
		}
		why := row.Error
		if why == "" {
			why = row.Obeyed
		}
		errs = append(errs, fmt.Errorf("%v: %s", row.MessageQueue, why))
	}
	if len(errs) == 0 {
		return nil
	}
	head := fmt.Errorf("%d of %d queues are not where they were to go", len(errs), len(r.Rows))
	return errors.Join(append([]error{head}, errs[:min(len(errs), maxDrifts)]...)...)
}
