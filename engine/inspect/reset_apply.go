package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eyeq/remoting/protocol"
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
	a.readBack(context.WithoutCancel(ctx)) // what was cut short may have happened all the same
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

// Failed sums up what was not done, nil when all queues are where they were to go. What
// is the same for several queues of a broker is said once, so that no broker is left out.
func (r *ResetResult) Failed() error {
	type cause struct{ broker, why string }
	var causes []cause
	queues := map[cause][]protocol.MessageQueue{}
	failed := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Verified {
			continue
		}
		failed++
		c := cause{row.BrokerName, cmp.Or(row.Error, row.Lost, row.Obeyed)}
		if queues[c] == nil {
			causes = append(causes, c)
		}
		queues[c] = append(queues[c], row.MessageQueue)
	}
	if failed == 0 {
		return nil
	}
	errs := []error{fmt.Errorf("%d of %d queues are not where they were to go", failed, len(r.Rows))}
	if r.lostAny() {
		errs[0] = fmt.Errorf("%d of %d queues are not known to be where they were to go", failed, len(r.Rows))
	}
	named := map[string]bool{}
	for _, c := range causes {
		if named[c.broker] && len(errs) > maxDrifts { // each broker is named
			continue
		}
		named[c.broker] = true
		if mqs := queues[c]; len(mqs) > 1 {
			errs = append(errs, fmt.Errorf("%s: %s: %s", c.broker, Plural(len(mqs), "queue"), c.why))
		} else {
			errs = append(errs, fmt.Errorf("%v: %s", mqs[0], c.why))
		}
	}
	return errors.Join(errs...)
}

// lostAny reports whether it is not known of some queue where it is: its broker was
// lost on the way, or did not answer.
func (r *ResetResult) lostAny() bool {
	return slices.ContainsFunc(r.Rows, func(row ResetRow) bool { return row.Lost != "" || row.unsure != "" && !row.Verified })
}
