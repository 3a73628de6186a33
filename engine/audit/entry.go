package audit

import (
	"errors"
	"strings"

	"eyeq/engine/inspect"
)

// Entry says what is about to be changed, for the audit file.
type Entry struct {
	Command      string // as on the command line: "group reset"
	Group, Topic string
	Reason       string // the operator's words
	// Before is what is there now and After what is wanted; they become JSON.
	Before, After any
}

// Begin notes a change before it is made; when it returns an error nothing may be
// changed.
type Begin func(entry Entry) (Record, error)

// Record notes what comes of a change that was begun.
type Record struct {
	// Part notes a part of a change of many; it may be nil: nobody keeps parts.
	Part Part
	// Done notes how all came out, whether it succeeded or not: after is what was read
	// back, nil when nothing was. It is called once, and its error says that the change
	// was made but could not be noted.
	Done func(after any, err error) error
}

// Part notes a part of a change of many: before it is made what is wanted, and after
// it what became of it, the other one nil. So the file tells of a change that is cut
// short how far it came, and what may have been done besides. When it returns an error no
// more may be changed.
type Part func(wanted, after any) error

// Note makes a change between its two lines in the audit file: nothing is done when
// the first cannot be written. failed is what the second says, err what is returned.
func Note(begin Begin, entry Entry, do func() (after any, failed, err error)) error {
	return NoteInParts(begin, entry, func(Part) (any, error, error) { return do() })
}

// NoteInParts is noted for a change of many, which notes each of its parts.
func NoteInParts(begin Begin, entry Entry, do func(part Part) (after any, failed, err error)) error {
	if begin == nil {
		_, _, err := do(func(_, _ any) error { return nil })
		return err
	}
	record, err := begin(entry)
	if err != nil {
		return err
	}
	if record.Part == nil {
		record.Part = func(_, _ any) error { return nil }
	}
	after, failed, err := do(record.Part)
	return errors.Join(err, record.Done(after, failed))
}

// Offset is a queue's offset in the audit file; null where it is not known.
type Offset struct {
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
	Offset *int64 `json:"offset"`
	Error  string `json:"error,omitempty"`
}

// Offsets are an offset of each row, as the audit file has them; negative is
// unknown.
func Offsets(rows []inspect.ResetRow, of func(r *inspect.ResetRow) int64) []Offset {
	list := make([]Offset, len(rows))
	for i := range rows {
		r := &rows[i]
		list[i] = Offset{Topic: r.Topic, Broker: r.BrokerName, Queue: r.QueueID}
		if n := of(r); n >= 0 {
			list[i].Offset = &n
		}
	}
	return list
}

// Reset is the entry of a reset of any group.
func Reset(p *inspect.ResetPlan, reason string) Entry {
	return Entry{Command: "group reset", Group: p.Request.Group, Topic: strings.Join(p.Request.Topics, ","), Reason: reason,
		Before: Offsets(p.Rows, func(r *inspect.ResetRow) int64 { return r.Before }),
		After:  Offsets(p.Rows, func(r *inspect.ResetRow) int64 { return r.After })}
}

// ResetDone is what was read back after it.
func ResetDone(r *inspect.ResetResult) any {
	return Offsets(r.Rows, func(r *inspect.ResetRow) int64 { return r.ReadBack })
}

// Pause is the entry of a pause or a resume.
func Pause(p *inspect.PausePlan, reason string) Entry {
	e := Entry{Command: "group pause", Group: p.Request.Group, Topic: p.Request.Topic, Reason: reason,
		Before: pausedAt(p.Brokers, func(row *inspect.PauseRow) *bool { return &row.Before }),
		After:  pausedAt(p.Brokers, func(row *inspect.PauseRow) *bool { return &row.After })}
	if p.Request.Resume {
		e.Command = "group resume"
	}
	return e
}

// PauseDone is what was read back after it: null at a broker that is not known to
// be as it was to be.
func PauseDone(r *inspect.PauseResult) any {
	return pausedAt(r.Rows, func(row *inspect.PauseRow) *bool {
		if row.Verified {
			return &row.After
		}
		return nil
	})
}

// pausedAt tells by broker whether the group is paused there.
func pausedAt(rows []inspect.PauseRow, of func(*inspect.PauseRow) *bool) map[string]*bool {
	state := map[string]*bool{}
	for i := range rows {
		if !rows[i].Missing {
			state[rows[i].Broker] = of(&rows[i])
		}
	}
	return state
}
