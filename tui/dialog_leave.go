package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// leaveDialog asks once before a member of a real group leaves.
type leaveDialog struct {
	env   *page.Env
	text  string
	leave bool // the focus is on Leave
}

func (d leaveDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "n", "q":
		return d, page.CloseRequest{}
	case "tab", "shift+tab", "left", "right", "h", "l":
		d.leave = !d.leave
	case "y":
		return d, page.LeaveRequest{}
	case "enter":
		if d.leave {
			return d, page.LeaveRequest{}
		}
		return d, page.CloseRequest{}
	}
	return d, nil
}

func (d leaveDialog) View(w, h int) string {
	var lines [][]draw.Segment
	for _, l := range draw.WrapText(d.text, max(w-4, 10)) {
		lines = append(lines, page.Line(d.env.Plain(" "+l)))
	}
	lines = append(lines, page.Line(), page.Line(d.env.Plain("  "), d.env.Button("Stay", !d.leave, true), d.env.Plain("  "), d.env.Button("Leave", d.leave, true)))
	return page.DrawBox(d.env, w, h, "LEAVE the group?", "", lines, len(lines)-1)
}

func (d leaveDialog) Hint(c *draw.Canvas) string {
	d.env.Hints(c, "tab", "other button", d.env.Enter(), "press", "y", "leave", "esc", "stay")
	return "DIALOG"
}
