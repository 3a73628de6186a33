package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eyeq/engine/core"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// CloneRequest copies a group's committed offsets of a topic to another group.
type CloneRequest struct{ Source, Target, Topic string }

// CloneState says what became of one queue of a clone.
type CloneState string

// The states.
const (
	CloneConfirmed CloneState = "CONFIRMED" // written and read back
	CloneNothing   CloneState = "NOTHING"   // the source has committed nothing there
	CloneUnknown   CloneState = "UNKNOWN"   // it may be written or not
	CloneNotTried  CloneState = "NOT TRIED" // an earlier queue was in doubt
)

// CloneRow is one queue of the result of a clone.
type CloneRow struct {
	ResetRow
	State CloneState
}

// CloneResult is what a clone came to.
type CloneResult struct {
	Plan      ClonePlan
	Rows      []CloneRow
	SavedTo   string
	Confirmed int
}

// overwriteTime is how long members of a group need to overwrite a copy: they commit
// every 5 s.
const overwriteTime = 6 * time.Second

// PlanClone says what each queue of the target would get. It writes nothing. Rows are
// those of the target: Before is what it has committed, After what the source has.
func (in *Inspector) PlanClone(ctx context.Context, r CloneRequest) (ClonePlan, error) {
	p := ClonePlan{Source: r.Source, Target: r.Target, Topic: r.Topic, At: in.now(), System: isSystemGroup(r.Target)}
	if r.Source == r.Target {
		return p, &NotPossibleError{"source and target are the same group"}
	}
	source, err := in.standing(ctx, r.Source)
	if err != nil {
		return p, err
	}
	target, err := in.standing(ctx, r.Target)
	if isType[*NotFoundError](err) {
		return p, &NotPossibleError{fmt.Sprintf("there is no group %s to copy to: create it first with eyeq group create, since brokers of 5.x take no offsets for a group that they do not know", r.Target)}
	}
	if err != nil {
		return p, err
	}
	route, _, err := in.client.RefreshRoute(ctx, r.Topic)
	if isType[*remoting.NoRouteError](err) {
		return p, missing("topic", r.Topic)
	}
	if err != nil {
		return p, fmt.Errorf("queues of %s: %w", r.Topic, err)
	}
	if why := route.StaticWhy(); why != "" {
		return p, &NotPossibleError{why}
	}
	p.Online = target.follows(r.Topic)
	p.Rows = make([]ResetRow, len(route.Queues))
	each(len(p.Rows), 0, func(i int) { p.Rows[i] = in.planClone(ctx, source, target, route.Queues[i]) })
	if err := ctx.Err(); err != nil {
		return p, err
	}
	p.brokers = map[string]broker{}
	for _, b := range target.survey.brokers {
		p.brokers[b.name] = b
	}
	known := target.survey.groups[r.Target]
	for i := range p.Rows {
		name := p.Rows[i].BrokerName
		a, _ := target.at(name)
		if p.Why == "" && a != nil && a.broker.five() && (known == nil || !slices.Contains(known.brokers, name)) {
			p.Why = fmt.Sprintf("%s has no configuration of the group %s, and a 5.x broker takes no offsets without: create the group there first", name, r.Target)
		}
	}
	if target.members.Model == protocol.Broadcasting || source.members.Model == protocol.Broadcasting {
		p.Why = "a broadcasting group has no offsets at the brokers: each member keeps its own"
	}
	return p, nil
}

// planClone fills one row.
func (in *Inspector) planClone(ctx context.Context, source, target *standing, mq protocol.MessageQueue) ResetRow {
	row := ResetRow{MessageQueue: mq, Min: -1, Max: -1, Before: -1, After: -1, ReadBack: -1, Method: MethodCommit, Effect: core.EffectNone}
	a, to := target.at(mq.BrokerName)
	_, from := source.at(mq.BrokerName)
	why := cannotReset(a, to)
	if why == "" && from.err != nil {
		why = "the source's offset cannot be read: " + ReasonOf(from.err).String()
	}
	var err error
	if why == "" {
		if row.Min, row.Max, err = in.bounds(ctx, a.broker.addr, mq); err != nil {
			why = "its beginning and end cannot be read: " + ReasonOf(err).String()
		}
	}
	if why != "" {
		row.Unknown, row.Why = true, why
		return row
	}
	if offset, ok := to.topics[mq.Topic][mq.QueueID]; ok && offset >= 0 {
		row.Before = offset
	}
	offset, ok := from.topics[mq.Topic][mq.QueueID]
	if !ok || offset < 0 {
		row.Why = "the source has committed nothing: it is left as it is"
		return row
	}
	_, row.Effect, row.Count = core.PlanReset(core.ResetBounds{Committed: row.Before, Min: row.Min, Max: row.Max}, core.ResetTarget{Kind: core.ResetOffset, Offset: offset})
	row.After = offset // as it is, out of the queue's bounds too
	if row.After >= row.Min && row.After < row.Max {
		row.FirstStored, _ = in.storedFrom(ctx, a.broker.addr, mq, row.After) // zero: not known
	}
	return row
}

// Refused says why a plan cannot be carried out; nil when it can.
func (p *ClonePlan) Refused() error {
	if p.Why != "" {
		return &NotPossibleError{p.Why}
	}
	for i := range p.Rows {
		if p.Rows[i].Unknown {
			return &NotPossibleError{fmt.Sprintf("%s could not be read: %s: try again", p.Rows[i].Short(), p.Rows[i].Why)}
		}
	}
	if !slices.ContainsFunc(p.Rows, func(r ResetRow) bool { return r.After >= 0 }) {
		return &NotPossibleError{fmt.Sprintf("group %s has committed nothing in %s: there is nothing to copy", p.Source, p.Topic)}
	}
	return nil
}

// ApplyClone copies queue by queue, each written, answered and read back before the
// next, and stops at the first doubt. The brokers' own copy (314) is not used: it
// answers the same whatever it has copied.
func (in *Inspector) ApplyClone(ctx context.Context, p ClonePlan) (CloneResult, error) {
	res := CloneResult{Plan: p, Rows: make([]CloneRow, len(p.Rows))}
	for i := range p.Rows {
		res.Rows[i] = CloneRow{p.Rows[i], CloneNotTried}
	}
	if err := p.Refused(); err != nil {
		return res, err
	}
	now, err := in.PlanClone(ctx, CloneRequest{p.Source, p.Target, p.Topic})
	if err != nil {
		return res, err
	}
	if err := cloneDrift(&p, &now); err != nil {
		return res, err
	}
	if res.SavedTo, err = in.saveOffsets(p.Target, now.Rows); err != nil {
		return res, fmt.Errorf("nothing was changed, since the offsets before cannot be saved: %w", err)
	}
	defer in.forget()
	apply := &resetApply{in: in, st: &standing{group: p.Target}, began: in.now()}
	for i := range res.Rows {
		row := &res.Rows[i]
		if row.After < 0 {
			row.State = CloneNothing
			continue
		}
		if row.State = apply.copyOne(ctx, row, now.brokers[row.BrokerName]); row.State == CloneUnknown {
			break
		}
	}
	if p.Online {
		apply.confirmLater(ctx, res.Rows)
	}
	for i := range res.Rows {
		if res.Rows[i].State == CloneConfirmed {
			res.Confirmed++
		}
	}
	return res, nil
}

// cloneDrift compares a plan with one made right before it is carried out. What the
// source has committed since is none: it may be at work.
func cloneDrift(p, now *ClonePlan) error {
	var drift []string
	if p.Online != now.Online {
		drift = append(drift, fmt.Sprintf("members of %s are connected now: %v, in the plan: %v", p.Target, now.Online, p.Online))
	}
	for i := range p.Rows {
		at := slices.IndexFunc(now.Rows, func(r ResetRow) bool { return r.MessageQueue == p.Rows[i].MessageQueue })
		switch {
		case at < 0:
			drift = append(drift, p.Rows[i].Short()+" is not there any more")
		case now.Rows[at].Unknown:
			drift = append(drift, p.Rows[i].Short()+": "+now.Rows[at].Why)
		case now.Rows[at].Before != p.Rows[i].Before && !p.Online:
			drift = append(drift, fmt.Sprintf("%s: %s committed, in the plan %s", p.Rows[i].Short(), offsetWord(now.Rows[at].Before), offsetWord(p.Rows[i].Before)))
		}
	}
	if len(drift) > 0 {
		return &DriftError{drift}
	}
	return nil
}

// copyOne writes one queue's offset and reads it back.
func (a *resetApply) copyOne(ctx context.Context, row *CloneRow, at broker) CloneState {
	if ctx.Err() != nil {
		return CloneNotTried
	}
	pl := &resetPlace{topic: row.Topic, broker: at, method: MethodCommit, rows: []*ResetRow{&row.ResetRow}}
	a.commit(ctx, pl)
	if row.Error == "" {
		a.readRow(ctx, at.addr, &row.ResetRow)
	}
	if !row.Verified {
		return CloneUnknown
	}
	return CloneConfirmed
}

// confirmLater reads again what members may have overwritten meanwhile.
func (a *resetApply) confirmLater(ctx context.Context, rows []CloneRow) {
	wait := time.NewTimer(overwriteTime)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return
	}
	for i := range rows {
		row := &rows[i]
		if row.State != CloneConfirmed {
			continue
		}
		addr, _ := a.in.client.BrokerAddr(row.BrokerName, remoting.MasterID)
		offset, _, err := a.committed(ctx, addr, row.MessageQueue)
		if err == nil && offset == row.After {
			continue
		}
		row.State, row.Verified, row.ReadBack = CloneUnknown, false, offset
		row.Error = fmt.Sprintf("overwritten by a member: %s is committed", offsetWord(offset))
		if err != nil {
			row.Error = "it cannot be read back: " + ReasonOf(err).String()
		}
	}
}

// Failed sums up what was not copied, nil when all was.
func (r *CloneResult) Failed() error {
	var errs []error
	for i := range r.Rows {
		if row := &r.Rows[i]; row.State == CloneUnknown {
			errs = append(errs, fmt.Errorf("%s: %s", row.Short(), row.Error))
		} else if row.State == CloneNotTried {
			errs = append(errs, fmt.Errorf("%s: not tried", row.Short()))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	head := fmt.Errorf("%d of %d queues are not confirmed", len(errs), len(r.Rows))
	return errors.Join(append([]error{head}, errs[:min(len(errs), maxDrifts)]...)...)
}
