package tui

import tea "github.com/charmbracelet/bubbletea"

// openWatch shows any group live.
func (a *app) openWatch(group string) tea.Cmd {
	return a.open(place{view: viewLag, group: group})
}
