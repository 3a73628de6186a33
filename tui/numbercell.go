package tui

import (
	"eyeq/engine/inspect"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// numberCell is a number in the style that its certainty asks for; more than zero is
// bad where alarm is set.
func (e *env) numberCell(n inspect.Number, alarm bool) table.Cell {
	switch {
	case !n.Known:
		return table.Cell{Text: words.OffsetText(n), Style: e.th.Warn}
	case alarm && n.Value > 0:
		return table.Cell{Text: words.NumberText(n), Style: e.th.Warn}
	}
	return table.Cell{Text: words.NumberText(n), Style: e.th.Text}
}
