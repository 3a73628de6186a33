package tui

import "eyeq/engine/inspect"

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
