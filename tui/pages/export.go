package pages

import (
	"eyeq/engine/inspect"
)

// The rows of pages as they are sorted and filtered, by the fields that the commands
// print as JSON: names of groups, topics and queues are true ones, what is not known is null.

func exportNumber(n inspect.Number) any {
	if !n.Known {
		return nil
	}
	return n.Value
}

// exportReason says why a number is not known, or is a lower bound.
func exportReason(r inspect.Reason) any {
	if r.Kind == inspect.ReasonNone {
		return nil
	}
	return r.String()
}
