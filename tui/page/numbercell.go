package page

import (
	"eyeq/engine/inspect"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// NumberCell is a number in the style that its certainty asks for; more than zero is
// bad where alarm is set.
func (e *Env) NumberCell(n inspect.Number, alarm bool) table.Cell {
	switch {
	case !n.Known:
		return table.Cell{Text: words.OffsetText(n), Style: e.Theme.Warn}
	case alarm && n.Value > 0:
		return table.Cell{Text: words.NumberText(n), Style: e.Theme.Warn}
	}
	return table.Cell{Text: words.NumberText(n), Style: e.Theme.Text}
}
