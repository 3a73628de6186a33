package change

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// pauseGroupDialog pauses or resumes a whole group on its brokers: who is affected,
// typed group name, apply, read back, proof. Opening it and everything in it but Apply
// writes nothing.
type pauseGroupDialog struct {
	env    *page.Env
	group  string // true name
	resume bool
	ticket int
	raw    inspect.PausePlan // as it came, to be carried out
	plan   inspect.PausePlan // safe to print
	result inspect.PauseResult
	at     time.Time // of the plan
	err    string
	reason page.Field
	name   page.Field
	focus  pauseFocus

	loading, applying, done bool
}

// pauseFocus is a part of the dialog that takes keys.
type pauseFocus uint8

const (
	pauseOnCancel pauseFocus = iota // the focus starts here
	pauseOnReason
	pauseOnName
	pauseOnApply
	pauseFoci
)

// NewPauseGroupDialog pauses a whole group, or lets it go on; its first request asks for the plan.
func NewPauseGroupDialog(e *page.Env, group string, resume bool) (pauseGroupDialog, page.Request) {
	d := pauseGroupDialog{env: e, group: group, resume: resume, reason: page.NewField(""), name: page.NewField("")}
	r := d.preview()
	return d, r
}

func (d *pauseGroupDialog) preview() page.Request {
	d.ticket, d.loading, d.err = d.env.NewTicket(), true, ""
	return PlanPauseRequest{d.ticket, inspect.PauseRequest{Group: d.group, Resume: d.resume}}
}

func (d pauseGroupDialog) verb() string {
	if d.resume {
		return "resume"
	}
	return "pause"
}

// Update implements page.Dialog.
func (d pauseGroupDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	switch msg := msg.(type) {
	case PausePlanMsg:
		if msg.ticket == d.ticket {
			d.raw, d.plan, d.at, d.err, d.loading = msg.raw, msg.safe, msg.at, msg.err, false
		}
	case PauseGroupDoneMsg:
		if msg.ticket == d.ticket {
			d.result, d.err, d.applying, d.done, d.focus = msg.Result, msg.Err, false, true, pauseOnCancel
		}
	case tea.KeyMsg:
		return d.key(msg)
	}
	return d, nil
}

func (d pauseGroupDialog) key(k tea.KeyMsg) (page.Dialog, page.Request) {
	if d.applying {
		return d, nil // nothing but ctrl-c, which the root takes, until the answer is there
	}
	switch key := k.String(); key {
	case "esc":
		return d, page.CloseRequest{}
	case "tab", "down", "shift+tab", "up":
		if !d.done {
			step := pauseFocus(1)
			if key == "shift+tab" || key == "up" {
				step = pauseFoci - 1
			}
			d.focus = (d.focus + step) % pauseFoci
		}
	case "ctrl+r":
		if !d.done {
			r := d.preview()
			return d, r
		}
	case "enter":
		switch {
		case d.done || d.focus == pauseOnCancel:
			return d, page.CloseRequest{}
		case d.focus == pauseOnReason:
			d.focus++
		case d.focus == pauseOnName: // what is pasted must not reach Apply with its newlines
		case d.off() == "":
			d.applying = true
			return d, ApplyPauseRequest{d.ticket, d.raw, strings.TrimSpace(d.reason.Value())}
		}
	default:
		switch d.focus {
		case pauseOnReason:
			d.reason.Key(k)
		case pauseOnName:
			d.name.Key(k)
		default:
			if key == "left" || key == "right" || key == "h" || key == "l" {
				d.focus = pauseOnCancel + pauseOnApply - d.focus
			}
		}
	}
	return d, nil
}

// off says why Apply cannot be pressed; "" when it can.
func (d *pauseGroupDialog) off() string {
	changed := 0
	for i := range d.plan.Brokers {
		if b := &d.plan.Brokers[i]; b.Error == "" && b.Before != b.After {
			changed++
		}
	}
	switch {
	case d.loading:
		return "the brokers are being asked"
	case d.err != "":
		return d.err
	case d.plan.Why != "":
		return d.plan.Why
	case changed == 0:
		return "nothing would change"
	case d.env.Now.Sub(d.at) > previewGood:
		return "what is shown is older than " + words.Age(previewGood) + ": ctrl-r asks again"
	case d.name.Value() != d.typedName():
		return "type the group's name: " + draw.SafeText(d.typedName())
	}
	return ""
}

func (d *pauseGroupDialog) typedName() string {
	if d.plan.System {
		return d.group + " " + d.group
	}
	return d.group
}

// View implements page.Dialog.
func (d pauseGroupDialog) View(w, h int) string {
	e := d.env
	what := " — nothing written yet"
	switch {
	case d.done:
		what = " — result, read back from the brokers"
	case d.applying:
		what = " — writing"
	}
	details := strings.TrimSpace(draw.SafeText(e.Options.Cluster) + " · " + e.ModeWord())
	title := strings.ToUpper(d.verb()) + " THE GROUP " + draw.SafeText(d.group) + what
	lines := d.planLines(w)
	if d.done {
		lines = d.resultLines(w)
	}
	if !d.done && !d.applying {
		lines = append(lines, d.buttonLines(w)...)
	}
	return page.DrawBox(e, w, h, title, details, lines, len(lines)-1)
}

// planLines say what is changed, and for whom.
func (d *pauseGroupDialog) planLines(w int) [][]draw.Segment {
	e := d.env
	text := " The brokers refuse the group's pulls from then on (consumeEnable = false); nothing else of its configuration changes."
	if d.resume {
		text = " The brokers let the group pull again (consumeEnable = true); nothing else of its configuration changes."
	}
	var lines [][]draw.Segment
	for _, part := range draw.WrapText(strings.TrimSpace(text), max(w-4, 10)) {
		lines = append(lines, page.Line(e.Plain(" "+part)))
	}
	if d.loading {
		return append(lines, page.Line(draw.Styled(e.Theme.Dim, "  asking the brokers …")))
	}
	if d.err != "" {
		return append(lines, page.Line(draw.Styled(e.Theme.Bad, "  "+words.Failure.Sign()+" "+d.err)))
	}
	for i := range d.plan.Brokers {
		b := &d.plan.Brokers[i]
		l := page.Line(e.Plain("  "+draw.Pad(b.Broker, 16)), draw.Styled(e.Theme.Dim, draw.Pad(b.Addr, 22)))
		if b.Error != "" {
			lines = append(lines, append(l, draw.Styled(e.Theme.Warn, words.Warning.Sign()+" "+b.Error)))
			continue
		}
		lines = append(lines, append(l, e.Plain(draw.Pad(pausedWord(b.Before), 10)+" → "), draw.Styled(e.Theme.Accent, pausedWord(b.After))))
	}
	switch n := len(d.plan.Members); {
	case n == 0:
		lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, "  nobody is connected now: it holds for whoever comes")))
	default:
		lines = append(lines, page.Line(e.Plain("  "+words.Plural(n, "member")+":")))
		for i := range d.plan.Members {
			if i == 4 && n > 5 {
				lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, fmt.Sprintf("    … and %d more", n-i))))
				break
			}
			m := &d.plan.Members[i]
			id := "    " + table.Cut(m.ClientID, max(w-8, 10))
			if table.Width(id)+2+table.Width(m.Effect) <= w-4 {
				lines = append(lines, page.Line(e.Plain(id+"  "), draw.Styled(e.Theme.Dim, m.Effect)))
				continue
			}
			lines = append(lines, page.Line(e.Plain(id)))
			for _, part := range draw.WrapText(m.Effect, max(w-10, 10)) {
				lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, "      "+part)))
			}
		}
	}
	return lines
}

func (d *pauseGroupDialog) buttonLines(w int) [][]draw.Segment {
	e, off := d.env, d.off()
	label := func(text string, f pauseFocus) draw.Segment {
		if d.focus == f {
			return draw.Styled(e.Theme.Title, e.Glyphs.Cursor+text)
		}
		return draw.Styled(e.Theme.Dim, " "+text)
	}
	width := min(max(table.Width(draw.SafeText(d.typedName()))+2, 12), 40)
	lines := [][]draw.Segment{
		page.Line(),
		page.Line(label("Reason ", pauseOnReason), e.Plain("["+d.reason.Text(&e.Glyphs, min(max(w-14, 10), 80), d.focus == pauseOnReason)+"]")),
		page.Line(label("Type the group's name to apply: ", pauseOnName), e.Plain("["+d.name.Text(&e.Glyphs, width, d.focus == pauseOnName)+"]")),
		page.Line(e.Plain(" "), e.Button(strings.ToUpper(d.verb()[:1])+d.verb()[1:], d.focus == pauseOnApply, off == ""), e.Plain(" "), e.Button("Cancel", d.focus == pauseOnCancel, true)),
	}
	if off != "" {
		return append(lines, page.Line(draw.Styled(e.Theme.Dim, " It is off: "+off)))
	}
	text := fmt.Sprintf(" It writes the group's configuration on %s.", words.Plural(len(d.plan.Brokers), "broker"))
	if e.Options.AuditPath != "" {
		text += " Noted in " + draw.SafeText(e.Options.AuditPath)
	}
	return append(lines, page.Line(draw.Styled(e.Theme.Warn, text)))
}

// resultLines tell what each broker says now, and what was seen of the members.
func (d *pauseGroupDialog) resultLines(w int) [][]draw.Segment {
	e := d.env
	var lines [][]draw.Segment
	for i := range d.result.Rows {
		b := &d.result.Rows[i]
		l := page.Line(e.Plain("  " + draw.Pad(b.Broker, 16)))
		switch {
		case b.Verified && len(b.Changed) == 0:
			l = append(l, draw.Styled(e.Theme.Good, "✓ "+d.verb()+"d, read back; all other fields as before"))
		case b.Verified:
			l = append(l, draw.Styled(e.Theme.Bad, words.Failure.Sign()+" other fields differ now: "+strings.Join(b.Changed, ", ")))
		case b.Missing: // nothing was to be done there
			l = append(l, draw.Styled(e.Theme.Warn, words.Warning.Sign()+" "+words.OrUnknown(b.Error)))
		default:
			l = append(l, draw.Styled(e.Theme.Bad, words.Failure.Sign()+" "+words.OrUnknown(b.Error)))
		}
		lines = append(lines, l)
	}
	if d.result.Proof != "" {
		st, sign := e.Theme.Good, "✓"
		if !d.result.Proved {
			st, sign = e.Theme.Warn, words.Warning.Sign()
		}
		for _, part := range draw.WrapText(sign+" "+d.result.Proof, max(w-6, 10)) {
			lines = append(lines, page.Line(draw.Styled(st, "  "+part)))
		}
	}
	if d.err != "" {
		for _, part := range draw.WrapText(words.Failure.Sign()+" "+d.err, max(w-6, 10)) {
			lines = append(lines, page.Line(draw.Styled(e.Theme.Bad, "  "+part)))
		}
	}
	return append(lines, page.Line(), page.Line(e.Plain(" "), e.Button("Close", true, true)))
}

// Hint implements page.Dialog.
func (d pauseGroupDialog) Hint(c *draw.Canvas) string {
	switch {
	case d.applying:
		c.Put(d.env.Theme.Text, " writing, reading back, and watching the members' pulls …")
		c.End()
		return "WRITING"
	case d.done:
		d.env.Hints(c, d.env.Enter(), "close")
	default:
		d.env.Hints(c, "tab", "next field", "ctrl-r", "ask again", "esc", "cancel", d.env.Enter(), "press button")
	}
	return "DIALOG"
}

func pausedWord(paused bool) string {
	if paused {
		return "paused"
	}
	return "consuming"
}
