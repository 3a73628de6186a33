package tui

import (
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
// file, and the group's name.
type changeForm struct {
	reason, name field
	focus        formFocus
}

func newChangeForm() changeForm { return changeForm{reason: newField(""), name: newField("")} }

// typing reports whether keys go into a field.
func (f *changeForm) typing() bool { return f.focus == formReason || f.focus == formName }

func (f *changeForm) forward() { f.focus = (f.focus + 1) % formFoci }

func (f *changeForm) back() { f.focus = (f.focus + formFoci - 1) % formFoci }

// key types into the field that has the focus.
func (f *changeForm) key(k tea.KeyMsg) {
	switch f.focus {
	case formReason:
		f.reason.key(k)
	case formName:
		f.name.key(k)
	}
}

// lines draw the fields and, below them, the buttons; ready says whether the one that
// applies can be pressed.
func (f *changeForm) lines(e *env, w int, apply string, ready bool) [][]segment {
	label := func(text string, part formFocus) segment {
		if f.focus == part {
			return segment{e.th.title, e.g.cursor + text}
		}
		return segment{e.th.dim, " " + text}
	}
	return [][]segment{
		line(label("Reason ", formReason), e.plain("["+f.reason.text(&e.g, min(max(w-14, 10), 80), f.focus == formReason)+"]")),
		line(label("Type the group's name to apply: ", formName), e.plain("["+f.name.text(&e.g, min(30, max(w-40, 10)), f.focus == formName)+"]")),
		line(e.plain(" "), e.button(apply, f.focus == formApply, ready), e.plain(" "), e.button("Cancel", f.focus == formCancel, true)),
	}
}

// off says why the change cannot be applied: why is the plan's own reason, busy what is
// said while it is under way; "" when nothing stands against it.
func (f *changeForm) off(group, why string, working bool, busy string) string {
	switch {
	case why != "":
		return why
	case working:
		return busy
	case f.name.value() != group:
		return "the group's name is not typed"
	}
	return ""
}
