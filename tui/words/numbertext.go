package words

import "eyeq/engine/inspect"

// NumberText writes a Number: exact, a bound, or unknown.
func NumberText(n inspect.Number) string {
	switch {
	case !n.Known:
		return Unknown
	case n.AtLeast:
		return "≥ " + Grouped(n.Value)
	}
	return Grouped(n.Value)
}

// OffsetText writes an offset, of which none may have been committed.
func OffsetText(n inspect.Number) string {
	if !n.Known && n.Why.Kind == inspect.ReasonNoCommit {
		return "none"
	}
	return NumberText(n)
}
