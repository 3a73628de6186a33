package change

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// resetFocus is a part of the dialog that takes keys.
type resetFocus uint8

const (
	onCancel resetFocus = iota // the focus starts here
	onScope
	onKind
	onValue
	onRows
	onReason
	onName
	onApply
	resetFoci
)

func (d ResetDialog) key(k tea.KeyMsg) (page.Dialog, page.Request) {
	if d.applying {
		return d, nil // nothing but ctrl-c, which the root takes, until the answer is there
	}
	switch k.String() {
	case "esc":
		return d, page.CloseRequest{}
	case "tab":
		return d.moveFocus(1)
	case "shift+tab":
		return d.moveFocus(resetFoci - 1)
	case "ctrl+r":
		if !d.done {
			r := d.preview()
			return d, r
		}
	case "down":
		d.list.Move(1)
	case "up":
		d.list.Move(-1)
	case "enter":
		return d.enter()
	default:
		return d.edit(k)
	}
	return d, nil
}

// moveFocus goes to the next field; leaving a changed form asks for a new preview.
func (d ResetDialog) moveFocus(step resetFocus) (page.Dialog, page.Request) {
	if d.done {
		return d, nil
	}
	from := d.focus
	d.focus = (d.focus + step) % resetFoci
	if d.focus == onValue && !d.hasValue() {
		d.focus = (d.focus + step) % resetFoci
	}
	if d.stale && (from == onValue || from == onKind || from == onScope) && !(d.focus == onValue && from == onKind) {
		r := d.preview()
		return d, r
	}
	return d, nil
}

// enter presses the button with the focus. In a field it never applies: it previews
// what changed, or goes on to the next field.
func (d ResetDialog) enter() (page.Dialog, page.Request) {
	switch {
	case d.focus == onCancel || d.done:
		return d, page.CloseRequest{}
	case d.focus == onApply:
		if d.off() != "" {
			return d, nil
		}
		d.applying = true
		if d.Any {
			return d, ApplyResetRequest{d.ticket, d.Plan, strings.TrimSpace(d.reason.Value())}
		}
		return d, d.request()
	case d.stale:
		r := d.preview()
		return d, r
	case d.focus == onName: // what is pasted must not reach Apply with its newlines
		return d, nil
	}
	return d.moveFocus(1)
}

// edit changes the field with the focus.
func (d ResetDialog) edit(k tea.KeyMsg) (page.Dialog, page.Request) {
	if d.done {
		return d, nil
	}
	key := k.String()
	step := 0
	switch key {
	case "left", "h":
		step = -1
	case "right", "l", " ":
		step = 1
	}
	var r page.Request
	switch d.focus {
	case onScope:
		if n := len(d.scopes); step != 0 && n > 1 {
			d.scope, d.old = (d.scope+step+n)%n, true
			r = d.preview()
		}
	case onKind:
		if step != 0 {
			r = d.stepKind(step)
		}
	case onValue:
		d.value.Key(k)
		d.stale, d.old, d.err = true, true, ""
	case onRows:
		r = d.rowKey(key)
	case onReason:
		d.reason.Key(k)
	case onName:
		d.name.Key(k)
	case onCancel, onApply:
		if step != 0 {
			d.focus = onCancel + onApply - d.focus
		}
	}
	return d, r
}

// stepKind goes to another kind of target. One without a value is previewed at once.
func (d *ResetDialog) stepKind(step int) page.Request {
	i := slices.Index(resetKinds, d.kind)
	d.kind, d.old = resetKinds[(i+step+len(resetKinds))%len(resetKinds)], true
	d.value.Set(map[core.ResetKind]string{core.ResetTime: "-15m", core.ResetShift: "-100"}[d.kind])
	if d.kind == toFile {
		d.takeFile()
	}
	if d.hasValue() {
		d.stale, d.err = true, ""
		return nil
	}
	return d.preview()
}

// rowKey moves among the rows, and leaves one out or takes it in again.
func (d *ResetDialog) rowKey(key string) page.Request {
	mq, ok := d.list.Current()
	switch {
	case !ok:
	case key == " " || key == "x":
		d.exclude[mq] = !d.exclude[mq]
		d.list.Move(1)
		if d.Any { // what is left out must be so in the plan
			return d.preview()
		}
	case key == "j":
		d.list.Move(1)
	case key == "k":
		d.list.Move(-1)
	}
	return nil
}

// Hint is the line below the dialog, and the word for what the screen is doing.
func (d ResetDialog) Hint(c *draw.Canvas) string {
	switch {
	case d.applying:
		text := " writing … each queue's result follows"
		if d.Any && d.Plan.Online {
			text = " writing, then watching what the members do with it … each queue's result follows"
		}
		c.Put(d.Env.Theme.Text, text)
		c.End()
		return "WRITING"
	case d.done:
		d.Env.Hints(c, d.Env.Enter(), "close", "↑/↓", "scroll")
	case d.focus == onRows:
		d.Env.Hints(c, "space", "leave the queue out or take it in", "↑/↓", "choose one", "tab", "next field", "ctrl-r", "preview again", "esc", "cancel")
	default:
		d.Env.Hints(c, "tab", "next field", "space", "toggle", "↑/↓", "scroll preview", "ctrl-r", "preview again", "esc", "cancel", d.Env.Enter(), "press button")
	}
	return "DIALOG"
}
