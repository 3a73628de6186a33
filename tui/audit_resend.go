package tui

import (
	"fmt"

	"eyeq/engine/inspect"
)

// ResendPart is how many dead letters are sent back before the audit file says what
// became of them.
const ResendPart = 32

// AuditResend is the entry of sending dead letters back. Of more than a part it has
// their number only: the parts name them.
func AuditResend(p *inspect.ResendPlan, reason string) AuditEntry {
	before := map[string]any{"dead_letters": len(p.Rows)}
	if len(p.Rows) <= ResendPart {
		ids := make([]string, len(p.Rows))
		for i := range p.Rows {
			ids[i] = p.Rows[i].ID
		}
		before["ids"] = ids
	}
	return AuditEntry{Command: "message resend", Group: p.Group, Topic: p.Source, Reason: reason, Before: before, After: map[string]any{"target": p.Target}}
}

// auditedResendRow is what became of a dead letter.
type auditedResendRow struct {
	ID       string `json:"message_id"`
	Broker   string `json:"broker"`
	Queue    int32  `json:"queue"`
	Offset   int64  `json:"offset"`
	Sent     *bool  `json:"sent"` // null: not known
	NewID    string `json:"new_offset_message_id,omitempty"`
	Verified bool   `json:"verified"`
	Error    string `json:"error,omitempty"`
}

// AuditResendRows are the dead letters of a part.
func AuditResendRows(rows []inspect.ResendRow) any {
	list := make([]auditedResendRow, len(rows))
	for i := range rows {
		r := &rows[i]
		list[i] = auditedResendRow{ID: r.ID, Broker: r.Queue.BrokerName, Queue: r.Queue.QueueID, Offset: r.Offset, NewID: r.NewID, Verified: r.Verified, Error: r.Error}
		if sent := r.NewID != ""; !r.Unknown {
			list[i].Sent = &sent
		}
	}
	return list
}

// maxTold is how many dead letters are named in the last line of the audit file.
const maxTold = 5

// AuditedResend adds up what became of dead letters, for the last line: one of all of
// them would be as long as there are many.
type AuditedResend struct {
	DeadLetters int `json:"dead_letters"` // that were come to
	Sent        int `json:"sent"`
	Verified    int `json:"verified"`
	NotSent     int `json:"not_sent"`
	NotKnown    int `json:"not_known"` // whether they were sent
	failures    []string
	failed      int
}

// Add counts some more.
func (a *AuditedResend) Add(rows []inspect.ResendRow) {
	a.DeadLetters += len(rows)
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Unknown:
			a.NotKnown++
		case r.NewID != "":
			a.Sent++
		default:
			a.NotSent++
		}
		if r.Verified {
			a.Verified++
		}
		if r.Error == "" {
			continue
		}
		if a.failed++; len(a.failures) < maxTold {
			a.failures = append(a.failures, r.ID+": "+r.Error)
		}
	}
}

// Failed says what was not done, nil when all was.
func (a *AuditedResend) Failed() error {
	if a.failed == 0 {
		return nil
	}
	text := ""
	for _, f := range a.failures {
		text += "; " + f
	}
	if more := a.failed - len(a.failures); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Errorf("%d of %d dead letters could not be sent back%s", a.failed, a.DeadLetters, text)
}
