package tui

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

// changeForm is what dialogs ask for before messages are sent: a reason for the audit
// file, and the group's name. It knows how far the change is.
type changeForm struct {
	env   *env
	group string // true name
	why   string // the plan's own reason not to apply it, safe to print; "" none
	busy  string // what is said while it is under way

	reason, name  field
	focus         formFocus
	working, done bool
}

func newChangeForm(e *env, group, why, busy string) changeForm {
	return changeForm{env: e, group: group, why: draw.SafeText(why), busy: busy, reason: newField(""), name: newField("")}
}

// key takes a key: leave closes the dialog, apply has the change carried out.
func (f *changeForm) key(k tea.KeyMsg) (leave, apply bool) {
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

func (f *changeForm) forward() { f.move(1) }

func (f *changeForm) back() { f.move(formFoci - 1) }

func (f *changeForm) move(step formFocus) {
	if !f.done { // there is only Close
		f.focus = (f.focus + step) % formFoci
	}
}

func (f *changeForm) enter() (leave, apply bool) {
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
func (f *changeForm) write(k tea.KeyMsg) {
	switch {
	case f.working:
	case f.focus == formReason:
		f.reason.key(k)
	case f.focus == formName:
		f.name.key(k)
	}
}

// finish takes in that the change is over; false when none was under way.
func (f *changeForm) finish() bool {
	if !f.working {
		return false
	}
	f.working, f.done, f.focus = false, true, formCancel
	return true
}

// reasonText is the reason that was typed.
func (f *changeForm) reasonText() string { return strings.TrimSpace(f.reason.value()) }

// lines draw the fields and, below them, the buttons.
func (f *changeForm) lines(w int, apply string) [][]draw.Segment {
	e := f.env
	label := func(text string, part formFocus) draw.Segment {
		if f.focus == part {
			return draw.Styled(e.th.Title, e.g.Cursor+text)
		}
		return draw.Styled(e.th.Dim, " "+text)
	}
	return [][]draw.Segment{
		line(label("Reason ", formReason), e.plain("["+f.reason.text(&e.g, min(max(w-14, 10), 80), f.focus == formReason)+"]")),
		line(label("Type the group's name to apply: ", formName), e.plain("["+f.name.text(&e.g, min(30, max(w-40, 10)), f.focus == formName)+"]")),
		line(e.plain(" "), e.button(apply, f.focus == formApply, f.off() == ""), e.plain(" "), e.button("Cancel", f.focus == formCancel, true)),
	}
}

// off says why the change cannot be applied; "" when nothing stands against it.
func (f *changeForm) off() string {
	switch {
	case f.why != "":
		return f.why
	case f.working:
		return f.busy
	case f.name.value() != f.group:
		return "the group's name is not typed"
	}
	return ""
}

// hint writes the line of keys, or what is going on, and gives the mode.
func (f *changeForm) hint(c *draw.Canvas, goingOn string) string {
	if f.working {
		c.Put(f.env.th.Text, " "+goingOn+" …")
		c.End()
		return "WRITING"
	}
	if off := f.off(); f.focus == formApply && off != "" {
		c.Put(f.env.th.Warn, " off: "+off)
		c.End()
		return "DIALOG"
	}
	f.env.hints(c, "tab", "next field", f.env.enter(), "press", "esc", "leave")
	return "DIALOG"
}
