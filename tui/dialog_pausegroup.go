package tui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// pauseGroupDialog pauses or resumes a whole group on its brokers: who is affected,
// typed group name, apply, read back, proof. Opening it and everything in it but Apply
// writes nothing.
type pauseGroupDialog struct {
	env    *env
	group  string // true name
	resume bool
	ticket int
	raw    inspect.PausePlan // as it came, to be carried out
	plan   inspect.PausePlan // safe to print
	result inspect.PauseResult
	at     time.Time // of the plan
	err    string
	reason field
	name   field
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

func newPauseGroupDialog(e *env, group string, resume bool) (pauseGroupDialog, request) {
	d := pauseGroupDialog{env: e, group: group, resume: resume, reason: newField(""), name: newField("")}
	r := d.preview()
	return d, r
}

func (d *pauseGroupDialog) preview() request {
	d.ticket, d.loading, d.err = d.env.newTicket(), true, ""
	return planPauseRequest{d.ticket, inspect.PauseRequest{Group: d.group, Resume: d.resume}}
}

func (d pauseGroupDialog) verb() string {
	if d.resume {
		return "resume"
	}
	return "pause"
}

func (d pauseGroupDialog) update(msg tea.Msg) (dialog, request) {
	switch msg := msg.(type) {
	case pausePlanMsg:
		if msg.ticket == d.ticket {
			d.raw, d.plan, d.at, d.err, d.loading = msg.raw, msg.safe, msg.at, msg.err, false
		}
	case pauseGroupDoneMsg:
		if msg.ticket == d.ticket {
			d.result, d.err, d.applying, d.done, d.focus = msg.result, msg.err, false, true, pauseOnCancel
		}
	case tea.KeyMsg:
		return d.key(msg)
	}
	return d, nil
}

func (d pauseGroupDialog) key(k tea.KeyMsg) (dialog, request) {
	if d.applying {
		return d, nil // nothing but ctrl-c, which the root takes, until the answer is there
	}
	switch key := k.String(); key {
	case "esc":
		return d, closeRequest{}
	case "tab", "down", "shift+tab", "up":
		if !d.done {
			step := map[bool]pauseFocus{true: 1, false: pauseFoci - 1}[key == "tab" || key == "down"]
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
			return d, closeRequest{}
		case d.focus == pauseOnReason:
			d.focus++
		case d.focus == pauseOnName: // what is pasted must not reach Apply with its newlines
		case d.off() == "":
			d.applying = true
			return d, applyPauseRequest{d.ticket, d.raw, strings.TrimSpace(d.reason.value())}
		}
	default:
		switch d.focus {
		case pauseOnReason:
			d.reason.key(k)
		case pauseOnName:
			d.name.key(k)
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
	case d.env.now.Sub(d.at) > previewGood:
		return "what is shown is older than " + words.Age(previewGood) + ": ctrl-r asks again"
	case d.name.value() != d.typedName():
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

func (d pauseGroupDialog) view(w, h int) string {
	e := d.env
	what := " — nothing written yet"
	switch {
	case d.done:
		what = " — result, read back from the brokers"
	case d.applying:
		what = " — writing"
	}
	details := strings.TrimSpace(draw.SafeText(e.o.Cluster) + " · " + e.modeWord())
	title := strings.ToUpper(d.verb()) + " THE GROUP " + draw.SafeText(d.group) + what
	lines := d.planLines(w)
	if d.done {
		lines = d.resultLines(w)
	}
	if !d.done && !d.applying {
		lines = append(lines, d.buttonLines(w)...)
	}
	return drawBox(e, w, h, title, details, lines, len(lines)-1)
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
		lines = append(lines, line(e.plain(" "+part)))
	}
	if d.loading {
		return append(lines, line(draw.Styled(e.th.Dim, "  asking the brokers …")))
	}
	if d.err != "" {
		return append(lines, line(draw.Styled(e.th.Bad, "  "+words.Failure.Sign()+" "+d.err)))
	}
	word := map[bool]string{true: "paused", false: "consuming"}
	for i := range d.plan.Brokers {
		b := &d.plan.Brokers[i]
		l := line(e.plain("  "+draw.Pad(b.Broker, 16)), draw.Styled(e.th.Dim, draw.Pad(b.Addr, 22)))
		if b.Error != "" {
			lines = append(lines, append(l, draw.Styled(e.th.Warn, words.Warning.Sign()+" "+b.Error)))
			continue
		}
		lines = append(lines, append(l, e.plain(draw.Pad(word[b.Before], 10)+" → "), draw.Styled(e.th.Accent, word[b.After])))
	}
	switch n := len(d.plan.Members); {
	case n == 0:
		lines = append(lines, line(draw.Styled(e.th.Dim, "  nobody is connected now: it holds for whoever comes")))
	default:
		lines = append(lines, line(e.plain("  "+words.Plural(n, "member")+":")))
		for i := range d.plan.Members {
			if i == 4 && n > 5 {
				lines = append(lines, line(draw.Styled(e.th.Dim, fmt.Sprintf("    … and %d more", n-i))))
				break
			}
			m := &d.plan.Members[i]
			id := "    " + table.Cut(m.ClientID, max(w-8, 10))
			if table.Width(id)+2+table.Width(m.Effect) <= w-4 {
				lines = append(lines, line(e.plain(id+"  "), draw.Styled(e.th.Dim, m.Effect)))
				continue
			}
			lines = append(lines, line(e.plain(id)))
			for _, part := range draw.WrapText(m.Effect, max(w-10, 10)) {
				lines = append(lines, line(draw.Styled(e.th.Dim, "      "+part)))
			}
		}
	}
	return lines
}

func (d *pauseGroupDialog) buttonLines(w int) [][]draw.Segment {
	e, off := d.env, d.off()
	label := func(text string, f pauseFocus) draw.Segment {
		if d.focus == f {
			return draw.Styled(e.th.Title, e.g.Cursor+text)
		}
		return draw.Styled(e.th.Dim, " "+text)
	}
	width := min(max(table.Width(draw.SafeText(d.typedName()))+2, 12), 40)
	lines := [][]draw.Segment{
		line(),
		line(label("Reason ", pauseOnReason), e.plain("["+d.reason.text(&e.g, min(max(w-14, 10), 80), d.focus == pauseOnReason)+"]")),
		line(label("Type the group's name to apply: ", pauseOnName), e.plain("["+d.name.text(&e.g, width, d.focus == pauseOnName)+"]")),
		line(e.plain(" "), e.button(strings.ToUpper(d.verb()[:1])+d.verb()[1:], d.focus == pauseOnApply, off == ""), e.plain(" "), e.button("Cancel", d.focus == pauseOnCancel, true)),
	}
	if off != "" {
		return append(lines, line(draw.Styled(e.th.Dim, " It is off: "+off)))
	}
	text := fmt.Sprintf(" It writes the group's configuration on %s.", words.Plural(len(d.plan.Brokers), "broker"))
	if e.o.AuditPath != "" {
		text += " Noted in " + draw.SafeText(e.o.AuditPath)
	}
	return append(lines, line(draw.Styled(e.th.Warn, text)))
}

// resultLines tell what each broker says now, and what was seen of the members.
func (d *pauseGroupDialog) resultLines(w int) [][]draw.Segment {
	e := d.env
	var lines [][]draw.Segment
	for i := range d.result.Rows {
		b := &d.result.Rows[i]
		l := line(e.plain("  " + draw.Pad(b.Broker, 16)))
		switch {
		case b.Verified && len(b.Changed) == 0:
			l = append(l, draw.Styled(e.th.Good, "✓ "+d.verb()+"d, read back; all other fields as before"))
		case b.Verified:
			l = append(l, draw.Styled(e.th.Bad, words.Failure.Sign()+" other fields differ now: "+strings.Join(b.Changed, ", ")))
		case b.Missing: // nothing was to be done there
			l = append(l, draw.Styled(e.th.Warn, words.Warning.Sign()+" "+orUnknown(b.Error)))
		default:
			l = append(l, draw.Styled(e.th.Bad, words.Failure.Sign()+" "+orUnknown(b.Error)))
		}
		lines = append(lines, l)
	}
	if d.result.Proof != "" {
		st, sign := e.th.Good, "✓"
		if !d.result.Proved {
			st, sign = e.th.Warn, words.Warning.Sign()
		}
		for _, part := range draw.WrapText(sign+" "+d.result.Proof, max(w-6, 10)) {
			lines = append(lines, line(draw.Styled(st, "  "+part)))
		}
	}
	if d.err != "" {
		for _, part := range draw.WrapText(words.Failure.Sign()+" "+d.err, max(w-6, 10)) {
			lines = append(lines, line(draw.Styled(e.th.Bad, "  "+part)))
		}
	}
	return append(lines, line(), line(e.plain(" "), e.button("Close", true, true)))
}

func (d pauseGroupDialog) hint(c *draw.Canvas) string {
	switch {
	case d.applying:
		c.Put(d.env.th.Text, " writing, reading back, and watching the members' pulls …")
		c.End()
		return "WRITING"
	case d.done:
		d.env.hints(c, d.env.enter(), "close")
	default:
		d.env.hints(c, "tab", "next field", "ctrl-r", "ask again", "esc", "cancel", d.env.enter(), "press button")
	}
	return "DIALOG"
}
