package tui

import tea "github.com/charmbracelet/bubbletea"

// openTail reads a topic without any group.
func (a *app) openTail(r TailRequest) tea.Cmd {
	return a.refuse("tail of " + SafeText(r.Topic) + " is not on this screen yet: eyeq tail reads it")
}
