package cli

import (
	"context"
	"errors"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/tui/page"
)

// auditedEngine notes the offsets that the screen resets by our own member. Pauses of
// a member change nothing at the brokers.
type auditedEngine struct {
	page.Engine
	group string
	audit audit.Begin
}

// ResetOffset implements tui.Engine. What was previewed is what is noted and done.
func (a *auditedEngine) ResetOffset(ctx context.Context, r engine.ResetRequest) ([]engine.ResetRow, error) {
	entry := audit.Entry{Command: "group reset", Group: a.group, Reason: r.Reason}
	var before, wanted []audit.Offset
	for _, row := range r.Preview {
		before = append(before, auditedRow(row, row.Before))
		wanted = append(wanted, auditedRow(row, row.After))
	}
	entry.Before, entry.After = before, wanted
	record, err := a.audit(entry)
	if err != nil {
		return nil, err
	}
	rows, err := a.Engine.ResetOffset(ctx, r)
	var after []audit.Offset
	for _, row := range rows {
		after = append(after, auditedRow(row, row.After))
	}
	return rows, errors.Join(err, record.Done(after, errors.Join(err, rowErrors(rows))))
}

func auditedRow(row engine.ResetRow, offset int64) audit.Offset {
	o := audit.Offset{Topic: row.Topic, Broker: row.BrokerName, Queue: row.QueueID}
	if offset >= 0 {
		o.Offset = &offset
	}
	if row.Err != nil {
		o.Error = row.Err.Error()
	}
	return o
}

// rowErrors are what went wrong; that a queue is past its target already did not.
func rowErrors(rows []engine.ResetRow) error {
	var all []error
	for _, row := range rows {
		if _, passed := errors.AsType[*engine.PassedError](row.Err); !passed {
			all = append(all, row.Err)
		}
	}
	return errors.Join(all...)
}
