package tui

import (
	"eyeq/engine/inspect"
	"eyeq/tui/table"
)

// numberText writes a Number: exact, a bound, or unknown.
func numberText(n inspect.Number) string {
	switch {
	case !n.Known:
		return unknown
	case n.AtLeast:
		return "≥ " + grouped(n.Value)
	}
	return grouped(n.Value)
}

// offsetText writes an offset, of which none may have been committed.
func offsetText(n inspect.Number) string {
	if !n.Known && n.Why.Kind == inspect.ReasonNoCommit {
		return "none"
	}
	return numberText(n)
}

// numberCell is a number in the style that its certainty asks for; more than zero is
// bad where alarm is set.
func (e *env) numberCell(n inspect.Number, alarm bool) table.Cell {
	switch {
	case !n.Known:
		return table.Cell{Text: offsetText(n), Style: e.th.warn}
	case alarm && n.Value > 0:
		return table.Cell{Text: numberText(n), Style: e.th.warn}
	}
	return table.Cell{Text: numberText(n), Style: e.th.text}
}
