package inspect

import "time"

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	SeverityCritical Severity = "critical" // messages are lost, repeated or not consumed
	SeverityWarning  Severity = "warning"
	SeverityInfo     Severity = "info" // does not make a group unhealthy
)

// Finding is something wrong with a group, in words, with what it was seen by.
type Finding struct {
	Code     string // stable, for scripts: "subscriptions_differ"
	Severity Severity
	Summary  string   // one line: what, where
	Evidence []string // figures and names, a line each
	Next     string   // what to do
}

// Report is a doctor's visit.
type Report struct {
	Group    string
	At       time.Time
	Findings []Finding
	// Unchecked names rules that could not be judged, with the reason: missing data is
	// never a finding, and never health.
	Unchecked []Problem
}

// Healthy reports whether nothing worse than information was found.
func (r Report) Healthy() bool {
	for _, f := range r.Findings {
		if f.Severity != SeverityInfo {
			return false
		}
	}
	return true
}

// Doubtful reports whether something could not be asked that a verdict of health would
// need: a question that failed, not one that has no answer by its nature.
func (r Report) Doubtful() bool {
	for _, p := range r.Unchecked {
		switch p.Why.Kind {
		case ReasonNotAsked, ReasonNotYet, ReasonUnsupported, ReasonProxy, ReasonBroadcasting, ReasonOffline:
		default:
			return true
		}
	}
	return false
}
