package inspect

import "fmt"

// ReasonKind says in one word why something is not known or not as usual.
type ReasonKind uint8

// The kinds of reasons.
const (
	ReasonNone         ReasonKind = iota
	ReasonNotAsked                // nobody has asked yet
	ReasonDenied                  // the broker refuses the question: no permission
	ReasonOffline                 // no member is connected
	ReasonPaused                  // the group's configuration forbids to consume
	ReasonBroadcasting            // the offsets are with the members, not at the broker
	ReasonProxy                   // the member is behind a proxy and cannot be asked
	ReasonUnreachable             // no connection, or no answer in time
	ReasonUnsupported             // this broker line, or this client, cannot answer it
	ReasonNotFound                // there is no such thing there
	ReasonNoCommit                // nothing was committed yet
	ReasonBadAnswer               // the answer breaks the protocol
	ReasonFailed                  // the broker says why in Text
	ReasonNotYet                  // it takes a longer look
	ReasonNotIndexed              // brokers keep no index of it
	ReasonIncomplete              // there was an answer, and something is missing in it
)

// String gives the word that screens and JSON show.
func (k ReasonKind) String() string {
	return [...]string{"", "not asked", "denied", "offline", "paused", "broadcasting", "behind a proxy",
		"unreachable", "not supported", "not found", "no commit", "bad answer", "failed", "not known yet", "not indexed", "incomplete"}[k]
}

// Reason is why something is not known. The zero value is no reason.
type Reason struct {
	Kind ReasonKind
	Text string // whose answer it was and what it said; may be foreign text
}

// String gives the kind, with the text when there is one.
func (r Reason) String() string {
	if r.Text == "" {
		return r.Kind.String()
	}
	return fmt.Sprintf("%v: %s", r.Kind, r.Text)
}

// Number is a count or an offset that need not be known. The zero value is unknown
// without a reason: nobody has asked.
type Number struct {
	Value   int64 // a lower bound when AtLeast; meaningless unless Known
	Known   bool
	AtLeast bool   // parts of the sum are unknown: the true number is not smaller
	Why     Reason // why it is unknown, or only a bound
}

// Exact gives a known number.
func Exact(n int64) Number { return Number{Value: n, Known: true} }

// AtLeast gives a lower bound, because of what is missing from it.
func AtLeast(n int64, why Reason) Number { return Number{n, true, true, why} }

// Unknown gives a number that is not known.
func Unknown(why Reason) Number { return Number{Why: why} }

// Plus adds: a sum with an unknown part is a bound, and unknown when nothing is known.
func (n Number) Plus(m Number) Number {
	switch {
	case !n.Known && !m.Known:
		return n
	case !n.Known:
		return AtLeast(m.Value, n.Why)
	case !m.Known:
		return AtLeast(n.Value, m.Why)
	}
	sum := Number{Value: n.Value + m.Value, Known: true, AtLeast: n.AtLeast || m.AtLeast, Why: n.Why}
	if n.Why.Kind == ReasonNone {
		sum.Why = m.Why
	}
	return sum
}

// Problem is something that could not be learned: it costs its own row only.
type Problem struct {
	What  string // the question, in words: "offsets of group g"
	Where string // who was asked: a broker's name, a client id, an address
	Why   Reason
}

// String gives one line.
func (p Problem) String() string { return fmt.Sprintf("%s from %s: %v", p.What, p.Where, p.Why) }
