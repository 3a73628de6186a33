package live

import (
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// withDetail joins a word and what follows, unless that begins with the word already.
func withDetail(word, detail string) string {
	if detail == "" || strings.EqualFold(word, detail) {
		return word
	}
	return word + " " + detail
}

func center(text string, width int) string {
	if free := width - table.Width(text); free > 1 {
		return strings.Repeat(" ", free/2) + text
	}
	return text
}

// findingText is what is wrong with a queue's owners in the room there is.
func findingText(finding string, width int) string {
	if finding == "TWO OWNERS" && table.Width(finding) > width {
		return "2 OWNERS"
	}
	return finding
}

// heldText says how many messages wait for the operator, and what else goes on.
func heldText(word string, q *engine.QueueSnapshot, width int) string {
	text := words.Grouped(q.Held) + " held"
	if long := word + ", " + text; q.CachedCount > q.Held && table.Width(long) <= width {
		return long
	}
	return text
}

// later is the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ownInFlight is what is pulled and not committed of a queue of this process.
func ownInFlight(q *engine.QueueSnapshot) int64 {
	n := q.CachedCount + q.CachedDone
	if q.NextOffset != engine.Unknown && q.CommittedOffset != engine.Unknown {
		n = max(n, q.NextOffset-q.CommittedOffset)
	}
	return n
}
