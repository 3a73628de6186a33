package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/table"
)

// wheelRows is how far one notch of the wheel moves.
const wheelRows = 3

// clickMsg is a click on a line of a view, counted from its first.
type clickMsg struct{ x, y int }

// toggleMouse turns the mouse on or off for this session. It is off at first, so that
// the terminal's own selection works.
func (a *app) toggleMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		a.note = note{"mouse on: the wheel moves, a click selects; " + a.env.keys.first("mouse") + " gives it back to the terminal", notice, a.env.now}
		return tea.EnableMouseCellMotion
	}
	a.note = note{"mouse off: the terminal has it again", notice, a.env.now}
	return tea.DisableMouse
}

// onMouse moves by the wheel and selects by a click. A click never does what a key
// would ask about first.
func (a *app) onMouse(msg tea.MouseMsg) tea.Cmd {
	if !a.mouse {
		return nil
	}
	switch {
	case msg.Button == tea.MouseButtonWheelUp, msg.Button == tea.MouseButtonWheelDown:
		key, name := tea.KeyMsg{Type: tea.KeyDown}, action("down")
		if msg.Button == tea.MouseButtonWheelUp {
			key, name = tea.KeyMsg{Type: tea.KeyUp}, "up"
		}
		var cmds []tea.Cmd
		for range wheelRows {
			if len(a.dialogs) > 0 {
				cmds = append(cmds, a.onKey(key))
			} else {
				cmds = append(cmds, a.act(name))
			}
		}
		return tea.Batch(cmds...)
	case msg.Button == tea.MouseButtonLeft && msg.Action == tea.MouseActionPress && len(a.dialogs) == 0 && !a.tiny():
		top := 1
		if a.h >= tabsFrom {
			top++
		}
		if y := msg.Y - top; y >= 0 && y < a.bodyHeight() {
			click := clickMsg{msg.X, y}
			if a.page() != nil {
				return a.toPage(click)
			}
			a.toView(click)
		}
	}
	return nil
}

// clickRow selects the row of a table whose first row is drawn on line top.
func clickRow[K comparable](s *table.State[K], y, top int) bool {
	first, end := s.Window()
	if n := first + y - top; y >= top && n < end {
		s.MoveTo(n)
		return true
	}
	return false
}

// click selects in the live view: a member, a queue, or a line of the feed.
func (v *liveView) click(y int) {
	p := &v.plan
	if !v.zoomed {
		y -= p.figures
	}
	head := 1
	if p.allocHead {
		head = 2
	}
	if p.alloc > 0 && !p.allocLine && y < p.allocHeight() {
		if clickRow(&v.members, y, head) {
			v.focus = paneAlloc
		}
		return
	}
	y -= p.allocHeight()
	if p.rows > 0 && y < p.rows+tableFrame {
		if clickRow(&v.queues, y, 2) {
			v.focus, v.chosen, v.moved = paneQueues, true, v.env.now
		}
		return
	}
	if p.rows > 0 {
		y -= p.rows + tableFrame
	}
	if p.feed > 0 && clickRow(&v.feed, y, 1) {
		v.focus = paneFeed
	}
}

// click selects a message of a tail.
func (v *tailView) click(x, y int) {
	p := v.plan()
	if p.beside && x >= p.listW {
		return
	}
	v.stand()
	if clickRow(&v.list, y-1, 2) {
		v.top, v.moved = 0, v.env.now
	}
}
