package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/page"
	"eyeq/tui/words"
)

// wheelRows is how far one notch of the wheel moves.
const wheelRows = 3

// toggleMouse turns the mouse on or off for this session. It is off at first, so that
// the terminal's own selection works.
func (a *app) toggleMouse() tea.Cmd {
	a.mouse = !a.mouse
	if a.mouse {
		a.note = note{"mouse on: the wheel moves, a click selects; " + a.env.Keys.First("mouse") + " gives it back to the terminal", words.Notice, a.env.Now}
		return tea.EnableMouseCellMotion
	}
	a.note = note{"mouse off: the terminal has it again", words.Notice, a.env.Now}
	return tea.DisableMouse
}

// onMouse moves by the wheel and selects by a click, a tab too. A click never does what a key
// would ask about first.
func (a *app) onMouse(msg tea.MouseMsg) tea.Cmd {
	if !a.mouse {
		return nil
	}
	switch {
	case msg.Button == tea.MouseButtonWheelUp, msg.Button == tea.MouseButtonWheelDown:
		key, name := tea.KeyMsg{Type: tea.KeyDown}, page.Action("down")
		text := a.point(msg.X, msg.Y) == page.OverText
		switch up := msg.Button == tea.MouseButtonWheelUp; {
		case up && text:
			key, name = tea.KeyMsg{Type: tea.KeyUp}, "body-up"
		case up:
			key, name = tea.KeyMsg{Type: tea.KeyUp}, "up"
		case text:
			name = "body-down"
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
		if a.h >= tabsFrom && msg.Y == 1 {
			return a.clickTab(msg.X)
		}
		if y, ok := a.viewLine(msg.Y); ok {
			click := page.ClickMsg{X: msg.X, Y: y}
			if a.page() != nil {
				return a.toPage(click)
			}
			a.toView(click)
		}
	}
	return nil
}

// viewLine is a line of the screen counted from the view's first.
func (a *app) viewLine(y int) (int, bool) {
	y--
	if a.h >= tabsFrom {
		y--
	}
	return y, y >= 0 && y < a.bodyHeight()
}

// point has the pane that lies under the pointer take the focus, and says what is there.
func (a *app) point(x, y int) page.Under {
	y, ok := a.viewLine(y)
	if !ok || len(a.dialogs) > 0 || a.tiny() {
		return page.OverRows
	}
	if a.page() == nil {
		a.toView(page.PointMsg{X: x, Y: y})
		return page.OverRows
	}
	if p, ok := a.page().(page.Pointed); ok {
		return p.Under(x, y)
	}
	a.toPage(page.PointMsg{X: x, Y: y})
	return page.OverRows
}
