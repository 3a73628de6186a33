package page

import (
	"eyeq/tui/draw"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// formFocus is a part of a changeForm that takes keys.
type formFocus uint8

const (
	formCancel formFocus = iota // the focus starts here
	formReason
	formName
	formApply
	formFoci
)

// ChangeForm is what dialogs ask for before messages are sent: a reason for the audit
// file, and the group's name. It knows how far the change is.
type ChangeForm struct {
	env   *Env
	Group string // true name
	Why   string // the plan's own reason not to apply it, safe to print; "" none
	busy  string // what is said while it is under way

	reason, Name  Field
	focus         formFocus
	working, Done bool
}

// NewChangeForm asks for a reason and the name of group. why forbids the change and says
// the reason; busy is what is said while it is made.
func NewChangeForm(e *Env, group, why, busy string) ChangeForm {
	return ChangeForm{env: e, Group: group, Why: draw.SafeText(why), busy: busy, reason: NewField(""), Name: NewField("")}
}

// Key takes a key: leave closes the dialog, apply has the change carried out.
func (f *ChangeForm) Key(k tea.KeyMsg) (leave, apply bool) {
	switch k.String() {
	case "esc":
		return true, false
	case "tab", "right", "down":
		f.forward()
	case "shift+tab", "left", "up":
		f.back()
	case "enter":
		return f.enter()
	default:
		f.write(k)
	}
	return false, false
}

func (f *ChangeForm) forward() { f.move(1) }

func (f *ChangeForm) back() { f.move(formFoci - 1) }

func (f *ChangeForm) move(step formFocus) {
	if !f.Done { // there is only Close
		f.focus = (f.focus + step) % formFoci
	}
}

func (f *ChangeForm) enter() (leave, apply bool) {
	switch f.focus {
	case formCancel:
		return true, false
	case formApply:
		apply = f.off() == ""
		f.working = f.working || apply
	default:
		f.forward()
	}
	return false, apply
}

// write types into the field that has the focus.
func (f *ChangeForm) write(k tea.KeyMsg) {
	switch {
	case f.working:
	case f.focus == formReason:
		f.reason.Key(k)
	case f.focus == formName:
		f.Name.Key(k)
	}
}

// Finish takes in that the change is over; false when none was under way.
func (f *ChangeForm) Finish() bool {
	if !f.working {
		return false
	}
	f.working, f.Done, f.focus = false, true, formCancel
	return true
}

// ReasonText is the reason that was typed.
func (f *ChangeForm) ReasonText() string { return strings.TrimSpace(f.reason.Value()) }

// Lines draw the fields and, below them, the buttons.
func (f *ChangeForm) Lines(w int, apply string) [][]draw.Segment {
	e := f.env
	label := func(text string, part formFocus) draw.Segment {
		if f.focus == part {
			return draw.Styled(e.Theme.Title, e.Glyphs.Cursor+text)
		}
		return draw.Styled(e.Theme.Dim, " "+text)
	}
	return [][]draw.Segment{
		Line(label("Reason ", formReason), e.Plain("["+f.reason.Text(&e.Glyphs, min(max(w-14, 10), 80), f.focus == formReason)+"]")),
		Line(label("Type the group's name to apply: ", formName), e.Plain("["+f.Name.Text(&e.Glyphs, min(30, max(w-40, 10)), f.focus == formName)+"]")),
		Line(e.Plain(" "), e.Button(apply, f.focus == formApply, f.off() == ""), e.Plain(" "), e.Button("Cancel", f.focus == formCancel, true)),
	}
}

// off says why the change cannot be applied; "" when nothing stands against it.
func (f *ChangeForm) off() string {
	switch {
	case f.Why != "":
		return f.Why
	case f.working:
		return f.busy
	case f.Name.Value() != f.Group:
		return "the group's name is not typed"
	}
	return ""
}

// Hint writes the line of keys, or what is going on, and gives the mode.
func (f *ChangeForm) Hint(c *draw.Canvas, goingOn string) string {
	if f.working {
		c.Put(f.env.Theme.Text, " "+goingOn+" …")
		c.End()
		return "WRITING"
	}
	if off := f.off(); f.focus == formApply && off != "" {
		c.Put(f.env.Theme.Warn, " off: "+off)
		c.End()
		return "DIALOG"
	}
	f.env.Hints(c, "tab", "next field", f.env.Enter(), "press", "esc", "leave")
	return "DIALOG"
}
