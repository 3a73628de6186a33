package background

import "github.com/charmbracelet/lipgloss"

// The one init of the program: see the package comment. The value does not
// matter, since the screen draws with the terminal's own 16 colours.
func init() { lipgloss.SetHasDarkBackground(true) }
