package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
)

// leaveDialog asks once before a member of a real group leaves.
type leaveDialog struct {
	env   *env
	text  string
	leave bool // the focus is on Leave
}

func (d leaveDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "n", "q":
		return d, closeRequest{}
	case "tab", "shift+tab", "left", "right", "h", "l":
		d.leave = !d.leave
	case "y":
		return d, leaveRequest{}
	case "enter":
		if d.leave {
			return d, leaveRequest{}
		}
		return d, closeRequest{}
	}
	return d, nil
}

func (d leaveDialog) view(w, h int) string {
	var lines [][]draw.Segment
	for _, l := range draw.WrapText(d.text, max(w-4, 10)) {
		lines = append(lines, line(d.env.plain(" "+l)))
	}
	lines = append(lines, line(), line(d.env.plain("  "), d.env.button("Stay", !d.leave, true), d.env.plain("  "), d.env.button("Leave", d.leave, true)))
	return drawBox(d.env, w, h, "LEAVE the group?", "", lines, len(lines)-1)
}

func (d leaveDialog) hint(c *draw.Canvas) string {
	d.env.hints(c, "tab", "other button", d.env.enter(), "press", "y", "leave", "esc", "stay")
	return "DIALOG"
}
