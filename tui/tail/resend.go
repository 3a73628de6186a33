package tail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const resendLimit = 60 * time.Second

type (
	// ResendPlanMsg is what sending dead letters back would do.
	ResendPlanMsg struct {
		Ticket int
		Plan   inspect.ResendPlan
		err    string
	}
	// ResendDoneMsg is what it came to.
	ResendDoneMsg struct {
		Rows []inspect.ResendRow // safe to print
		Done int
		Err  string
	}
)

func (m ResendPlanMsg) tailTicket() int { return m.Ticket }

// planResend asks what sending messages back to their group would do.
func planResend(c page.Commands, cl page.Cluster, group string, rows []*Row, ticket int) tea.Cmd {
	return c.Within(resendLimit, func(ctx context.Context) tea.Msg {
		messages := make([]engine.Message, len(rows))
		for i, r := range rows {
			messages[i] = *r.Message
		}
		plan, err := cl.PlanResend(ctx, group, messages)
		return ResendPlanMsg{ticket, plan, page.ErrorText(err)}
	})
}

// ApplyResend sends between its two lines in the audit file.
func ApplyResend(c page.Commands, cl page.Cluster, begin audit.Begin, p inspect.ResendPlan, reason string) tea.Cmd {
	return c.Within(resendLimit, func(ctx context.Context) tea.Msg {
		rows := slices.Clone(p.Rows)
		tally := audit.ResendSum{}
		err := audit.NoteInParts(begin, audit.Resend(audit.ChangeOf(&p, reason)), func(part audit.Part) (after any, failed, err error) {
			var result inspect.ResendPlan
			for some := range slices.Chunk(rows, audit.ResendPart) {
				one := p
				one.Rows = some
				one.Buries = result.Buries
				result, err = audit.NoteResend(part, one, func(p inspect.ResendPlan) (inspect.ResendPlan, error) { return cl.ApplyResend(ctx, p) })
				copy(some, result.Rows)
				tally.Add(some)
				if err != nil {
					break
				}
			}
			return tally, errors.Join(err, tally.Failed()), err
		})
		return ResendDoneMsg{Rows: cleanResend(rows), Done: tally.Sent, Err: page.ErrorText(err)}
	})
}

// cleanResend makes the texts of rows safe; the messages in them are not shown.
func cleanResend(rows []inspect.ResendRow) []inspect.ResendRow {
	safe := make([]inspect.ResendRow, len(rows))
	for i, r := range rows {
		safe[i] = inspect.ResendRow{ID: draw.SafeText(r.ID), Original: draw.SafeText(r.Original), Attempts: r.Attempts, SentBefore: r.SentBefore, Skip: r.Skip,
			SentBeforeWhy: inspect.Reason{Kind: r.SentBeforeWhy.Kind, Text: draw.SafeText(r.SentBeforeWhy.Text)},
			Tried:         r.Tried, Unknown: r.Unknown, NewID: draw.SafeText(r.NewID), Error: draw.SafeText(r.Error)}
	}
	return safe
}

// askResend asks what would be sent back: the marked dead letters, or the one under
// the cursor.
func (v View) askResend() (page.Page, page.Request) {
	switch rows := v.targets(); {
	case v.Group == "":
		return v, page.RefuseRequest{Text: draw.SafeText(v.Request.Topic) + " is no topic of dead letters: only those (" + DLQPrefix + "GROUP) are sent back"}
	case v.env.Options.Inspect == nil:
		return v, page.RefuseRequest{Text: "there is no cluster to ask"}
	case len(rows) == 0:
		return v, page.RefuseRequest{Text: "there is no dead letter under the cursor"}
	default:
		v.stand()
		return v, page.RunRequest{Cmd: planResend(v.cmds, v.env.Options.Inspect, v.Group, rows, v.Ticket)}
	}
}

// ResendDialog shows what sending dead letters back does, asks for the group's name,
// and then shows what became of each.
type ResendDialog struct {
	env    *page.Env
	rows   []inspect.ResendRow
	target string
	about  string // what there is to know before
	apply  func(reason string) tea.Cmd
	Form   page.ChangeForm
	top    int
	result ResendDoneMsg
}

// newResendDialog is about a plan as it came. What was sent back before is left out, as
// message resend does; where that are all of them, another copy is what is wanted.
func newResendDialog(e *page.Env, cmds page.Commands, p inspect.ResendPlan) ResendDialog {
	p.LeaveOut(p.AllSentBefore())
	return ResendDialog{env: e, rows: cleanResend(p.Rows), target: draw.SafeText(p.Target), about: draw.SafeText(p.Note), Form: page.NewChangeForm(e, p.Group, p.Why, "it is being sent"),
		apply: func(reason string) tea.Cmd { return ApplyResend(cmds, e.Options.Inspect, e.Options.Audit, p, reason) }}
}

// Update implements page.Dialog.
func (d ResendDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	switch msg := msg.(type) {
	case ResendDoneMsg:
		if d.Form.Finish() {
			d.result, d.rows = msg, msg.Rows
		}
	case tea.KeyMsg:
		return d.key(msg)
	}
	return d, nil
}

func (d ResendDialog) key(k tea.KeyMsg) (page.Dialog, page.Request) {
	switch k.String() {
	case "up":
		d.top = max(d.top-1, 0)
		return d, nil
	case "down":
		d.top = min(d.top+1, max(len(d.rows)-d.rowsShown(d.env.Width, d.env.Room), 0))
		return d, nil
	}
	switch leave, apply := d.Form.Key(k); {
	case leave:
		return d, page.CloseRequest{}
	case apply:
		return d, page.RunRequest{Cmd: d.apply(d.Form.ReasonText()), Writing: "a resend of " + words.Plural(len(d.rows), "dead letter")}
	}
	return d, nil
}

// View implements page.Dialog.
func (d ResendDialog) View(w, h int) string {
	e := d.env
	lines := d.headLines(w)
	lines = append(lines, d.rowLines(w, d.rowsShown(w, h))...)
	lines = append(lines, page.Line())
	if d.Form.Done {
		for _, part := range draw.WrapText(d.doneText(), max(w-4, 10)) {
			lines = append(lines, page.Line(e.Plain(part)))
		}
		lines = append(lines, page.Line(e.Plain("  "), e.Button("Close", true, true)))
		return page.DrawBox(e, w, h, "SENT BACK", "", lines, len(lines)-1)
	}
	lines = append(lines, d.Form.Lines(w, "Send back")...)
	return page.DrawBox(e, w, h, "SEND dead letters back — nothing is sent yet", words.Plural(len(d.rows), "message"), lines, len(lines)-1)
}

// rowsShown is how many dead letters there is room for in a box of h lines.
func (d *ResendDialog) rowsShown(w, h int) int { return max(h-len(d.headLines(w))-9, 1) }

// headLines are the lines above the dead letters.
func (d *ResendDialog) headLines(w int) [][]draw.Segment {
	e := d.env
	about := words.Plural(len(d.rows), "dead letter") + " of " + draw.SafeText(d.Form.Group) + " to " + d.target + ": only this group gets them again, under a new place and the same unique id"
	var lines [][]draw.Segment
	for _, part := range draw.WrapText(about, max(w-4, 10)) {
		lines = append(lines, page.Line(e.Plain(" "+part)))
	}
	if d.Form.Why != "" {
		lines = append(lines, page.Line(draw.Styled(e.Theme.Bad, " "+words.Failure.Sign()+" "+d.Form.Why)))
	}
	if d.about != "" && !d.Form.Done {
		lines = append(lines, page.Line(draw.Styled(e.Theme.Warn, " "+words.Warning.Sign()+" "+d.about)))
	}
	return append(lines, page.Line())
}

// rowLines are the dead letters that fit into so many rows, below their head.
func (d *ResendDialog) rowLines(w, room int) [][]draw.Segment {
	e := d.env
	topicW := min(max(w-36-7-30, 12), 30)
	lines := [][]draw.Segment{page.Line(draw.Styled(e.Theme.Header, " "+draw.Pad("unique id", 34)+draw.Pad("topic", topicW)+draw.Pad("tried", 7)+"result"))}
	top := min(d.top, max(len(d.rows)-room, 0))
	for i := top; i < len(d.rows) && i < top+room; i++ {
		r := &d.rows[i]
		result, st := words.None, e.Theme.Text
		switch {
		case r.Error != "":
			result, st = words.Failure.Sign()+" "+r.Error, e.Theme.Bad
		case r.Skip:
			result, st = "left out: sent already, "+r.SentBefore.In(e.Options.Location).Format("01-02 15:04Z07:00"), e.Theme.Warn
		case r.Tried:
			result, st = "sent as "+r.NewID, e.Theme.Good
		case d.Form.Done:
			result, st = "not sent", e.Theme.Warn
		case !r.SentBefore.IsZero():
			result, st = words.Warning.Sign()+" a copy was sent already, at "+r.SentBefore.In(e.Options.Location).Format("01-02 15:04Z07:00"), e.Theme.Warn
		case r.SentBeforeWhy.Kind != inspect.ReasonNone:
			result, st = words.Warning.Sign()+" sent already? not known: "+r.SentBeforeWhy.Text, e.Theme.Warn
		}
		lines = append(lines, page.Line(draw.Styled(st, " "+draw.Pad(table.Cut(r.ID, 33), 34)+draw.Pad(table.Cut(r.Original, topicW-1), topicW)+draw.Pad(fmt.Sprint(r.Attempts), 7)+result)))
	}
	if n := len(d.rows) - top - room; n > 0 {
		lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, fmt.Sprintf("  … %d more (down)", n))))
	}
	return lines
}

// doneText sums up what became of them.
func (d *ResendDialog) doneText() string {
	text := fmt.Sprintf(" %d of %s sent back", d.result.Done, words.Plural(len(d.rows), "dead letter"))
	unsure := 0
	for i := range d.rows {
		if d.rows[i].Unknown {
			unsure++
		}
	}
	if unsure > 0 {
		text += fmt.Sprintf(", %d not known: look in %s before sending them again", unsure, d.target)
	}
	if d.result.Err != "" {
		text += ": " + d.result.Err
	}
	return text
}

// Hint implements page.Dialog.
func (d ResendDialog) Hint(c *draw.Canvas) string {
	return d.Form.Hint(c, "sending, and looking whether it arrived")
}
