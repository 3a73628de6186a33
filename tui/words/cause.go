package words

import (
	"regexp"
	"slices"
	"strings"
)

// answered finds a broker's refusal in an error text: "PULL_MESSAGE to 10.0.4.1:10911
// answered SYSTEM_BUSY: too many requests".
var answered = regexp.MustCompile(`answered ([A-Z][A-Z0-9_]*): ?(.*)$`)

// Cause is an error text without what was tried and with whom, which stands beside it
// already: errors are chains of "tried: reason", and the reason is at the end.
func Cause(text string) string {
	var reasons []string
	for part := range strings.SplitSeq(text, "; ") {
		reason := part
		if m := answered.FindStringSubmatch(part); m != nil {
			reason = strings.TrimSuffix(m[1]+": "+m[2], ": ")
		} else if i := strings.LastIndex(part, "closed: "); i >= 0 {
			reason = "connection " + part[i:]
		} else if i := strings.LastIndex(part, ": "); i >= 0 && i+2 < len(part) {
			reason = part[i+2:]
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// ShortCause is cause in a word or two, for a column.
func ShortCause(text string) string {
	if m := answered.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	reason := Cause(text)
	for _, known := range [...]struct{ in, word string }{
		{"refused", "refused"}, {"timed out", "timeout"}, {"timeout", "timeout"}, {"deadline exceeded", "timeout"}, {"no answer", "timeout"},
		{"reset by peer", "closed"}, {"closed", "closed"}, {"EOF", "closed"}, {"broken pipe", "closed"},
		{"no such host", "no host"}, {"no route to host", "no route"}, {"unreachable", "no route"}, {"no address known", "no address"},
	} {
		if strings.Contains(reason, known.in) {
			return known.word
		}
	}
	return reason
}
