package inspect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eyeq/remoting"
)

// ApplyPause carries out a plan, broker by broker: it reads the group's configuration,
// stops there when it is not as planned, writes it back with one member changed, reads
// it again and compares all others. Then it looks for proof at the members. What became
// of each broker is in the result's rows; the error says why nothing was done.
func (in *Inspector) ApplyPause(ctx context.Context, p PausePlan) (PauseResult, error) {
	res := PauseResult{Plan: p, Rows: slices.Clone(p.Brokers)}
	if err := p.Refused(); err != nil {
		return res, err
	}
	began := in.now()
	defer in.forget()
	// One after the other: when the first refuses, the others are likely to, and a group
	// that is paused in part is what nobody wants.
	for i := range res.Rows {
		in.pauseAt(ctx, &p.Request, &res.Rows[i])
	}
	if slices.ContainsFunc(res.Rows, func(row PauseRow) bool { return row.Verified }) {
		res.Proof, res.Proved = in.provePause(ctx, &p.Request, began)
		if undone := undoneAt(res.Rows); undone != "" {
			res.Proof, res.Proved = res.Proof+", which says nothing about "+undone, false
		}
	} else {
		res.Proof = "nothing was changed"
	}
	return res, nil
}

// undoneAt names the brokers that are not as they were to be.
func undoneAt(rows []PauseRow) string {
	var names []string
	for i := range rows {
		if !rows[i].Verified && !rows[i].Missing {
			names = append(names, rows[i].Broker)
		}
	}
	return strings.Join(names, ", ")
}

// notWritten says why a request changed nothing: the broker refused it, or never got it.
func notWritten(err error) string {
	if denial, denied := remoting.AccessDenied(err); denied {
		return "refused: " + denial.String()
	}
	if isType[*remoting.CodeError](err) {
		return "refused: " + ReasonOf(err).String()
	}
	return "not tried: " + ReasonOf(err).String()
}

// pauseAt changes one broker.
func (in *Inspector) pauseAt(ctx context.Context, r *PauseRequest, row *PauseRow) {
	if row.Error != "" {
		return // it could not be read for the plan
	}
	if err := ctx.Err(); err != nil {
		row.Error = "not tried"
		return
	}
	before, err := in.pauseState(ctx, row.Addr, r)
	switch {
	case err != nil:
		row.Error = "its configuration of the group cannot be read: " + ReasonOf(err).String()
		return
	case !before.configured || before.config.String() != row.config || before.paused != row.Before:
		row.Error = "not changed: its configuration of the group is no longer as planned"
		return
	case before.paused == row.After:
		row.Verified = true // as it was
		return
	}
	unsure := in.writePause(ctx, r, row, before)
	if interrupted(unsure) {
		row.Error = "not tried: interrupted"
		return
	}
	if unsure != nil && !unanswered(unsure) {
		row.Error = notWritten(unsure)
		return
	}
	if unsure != nil {
		in.reopen(row.Addr)
	}
	// A write that was cut short may have happened all the same.
	after, err := in.pauseState(context.WithoutCancel(ctx), row.Addr, r)
	but := enableField
	if r.Topic != "" {
		but = ""
	}
	switch {
	case err != nil && unsure != nil:
		row.Error = "not known whether it was written: " + ReasonOf(unsure).String()
	case err != nil:
		row.Error = "written, but it cannot be read back: " + ReasonOf(err).String()
	case after.paused != row.After && unsure != nil:
		row.Error = "not written yet, and perhaps later: " + ReasonOf(unsure).String()
	case after.paused != row.After:
		row.Error = "written, but the broker says otherwise"
	default:
		row.Changed = sameMembers(before.config, after.config, but)
		if row.Verified = len(row.Changed) == 0; !row.Verified {
			row.Error = fmt.Sprintf("other members of the configuration changed too: %q", row.Changed)
		}
	}
}

func (in *Inspector) writePause(ctx context.Context, r *PauseRequest, row *PauseRow, before pauseState) error {
	_, err := ask(ctx, in, row.Addr, func(ctx context.Context) (struct{}, error) {
		if r.Topic != "" {
			forbidden, err := in.client.ForbidTopic(ctx, row.Addr, r.Group, r.Topic, row.After)
			if err == nil && forbidden != row.After {
				err = errors.New("the broker answers that nothing has changed")
			}
			return struct{}{}, err
		}
		config := before.config
		err := config.Set(enableField, strconv.FormatBool(!row.After))
		if err == nil {
			err = in.client.UpdateGroupConfig(ctx, row.Addr, config)
		}
		return struct{}{}, err
	})
	return err
}

// Failed sums up what was not done, nil when every broker is as it was to be. One
// without a configuration of the group counts for nothing.
func (r *PauseResult) Failed() error {
	var errs []error
	n := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Missing {
			continue
		}
		if n++; !row.Verified {
			errs = append(errs, fmt.Errorf("%s: %s", row.Broker, row.Error))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	done := "paused"
	if r.Plan.Request.Resume {
		done = "resumed"
	}
	return errors.Join(append([]error{fmt.Errorf("the group is %s at %d of %d brokers only", done, n-len(errs), n)}, errs...)...)
}
