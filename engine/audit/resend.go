package audit

import (
	"errors"
	"fmt"

	"eyeq/engine/inspect"
)

// ResendPart is how many dead letters are sent back before the audit file says what
// became of them.
const ResendPart = 32

// ResendChange is dead letters that are about to be sent back.
type ResendChange struct {
	Group, Source, Target string
	DeadLetters           int64
	IDs                   []string // as they were asked for; none where they were not named
	Reason                string
}

// Resend is the entry of sending dead letters back. Of more than a part it has
// their number only: the parts name them.
func Resend(c ResendChange) Entry {
	before := map[string]any{"dead_letters": c.DeadLetters}
	if n := len(c.IDs); n > 0 && n <= ResendPart {
		before["ids"] = c.IDs
	}
	return Entry{Command: "message resend", Group: c.Group, Topic: c.Source, Reason: c.Reason, Before: before, After: map[string]any{"target": c.Target}}
}

// ChangeOf is a plan as the audit file has it.
func ChangeOf(p *inspect.ResendPlan, reason string) ResendChange {
	c := ResendChange{Group: p.Group, Source: p.Source, Target: p.Target, DeadLetters: int64(len(p.Rows)), Reason: reason}
	for i := range p.Rows {
		c.IDs = append(c.IDs, p.Rows[i].ID)
	}
	return c
}

// resendPlace is a dead letter that is sent next.
type resendPlace struct {
	ID     string `json:"message_id"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
	Offset int64  `json:"offset"`
}

// NoteResend sends the dead letters of a part between its two lines in the audit file:
// the first names those that may have been sent when there is no second.
func NoteResend(part Part, p inspect.ResendPlan, send func(inspect.ResendPlan) (inspect.ResendPlan, error)) (inspect.ResendPlan, error) {
	var next []resendPlace
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Error == "" && !r.Skip {
			next = append(next, resendPlace{r.ID, r.Queue.BrokerName, r.Queue.QueueID, r.Offset})
		}
	}
	if len(next) > 0 {
		if err := part(next, nil); err != nil {
			return p, err
		}
	}
	result, err := send(p)
	// What was sent is noted, whatever stopped the rest.
	return result, errors.Join(err, part(nil, resendRows(result.Rows)))
}

// resendRow is what became of a dead letter.
type resendRow struct {
	ID       string `json:"message_id"`
	Broker   string `json:"broker"`
	Queue    int32  `json:"queue"`
	Offset   int64  `json:"offset"`
	Sent     *bool  `json:"sent"` // null: not known
	Skipped  bool   `json:"skipped,omitempty"`
	NewID    string `json:"new_offset_message_id,omitempty"`
	Verified bool   `json:"verified"`
	Error    string `json:"error,omitempty"`
}

// resendRows are the dead letters of a part.
func resendRows(rows []inspect.ResendRow) any {
	list := make([]resendRow, len(rows))
	for i := range rows {
		r := &rows[i]
		list[i] = resendRow{ID: r.ID, Broker: r.Queue.BrokerName, Queue: r.Queue.QueueID, Offset: r.Offset, NewID: r.NewID, Skipped: r.Skip, Verified: r.Verified, Error: r.Error}
		if sent := r.NewID != ""; !r.Unknown {
			list[i].Sent = &sent
		}
	}
	return list
}

// maxTold is how many dead letters are named in the last line of the audit file.
const maxTold = 5

// ResendSum adds up what became of dead letters, for the last line: one of all of
// them would be as long as there are many.
type ResendSum struct {
	DeadLetters int `json:"dead_letters"` // that were come to
	Sent        int `json:"sent"`
	Verified    int `json:"verified"`
	NotSent     int `json:"not_sent"`
	Skipped     int `json:"skipped"`   // a copy was sent before
	NotKnown    int `json:"not_known"` // whether they were sent
	failures    []string
	failed      int
}

// Add counts some more.
func (a *ResendSum) Add(rows []inspect.ResendRow) {
	a.DeadLetters += len(rows)
	for i := range rows {
		r := &rows[i]
		switch {
		case r.Unknown:
			a.NotKnown++
		case r.NewID != "":
			a.Sent++
		case r.Skip:
			a.Skipped++
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
func (a *ResendSum) Failed() error {
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
