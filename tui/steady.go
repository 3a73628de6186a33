package tui

import (
	"math"
	"slices"

	"eyeq/tui/table"
)

// ordering is how two rows are compared: exactly, or loosely, so that figures which
// are nearly equal count as equal and nothing else decides between them.
type ordering struct {
	table.Order
	loose bool
}

// near reports whether two figures of a column are too much alike to move rows for:
// those that flow are never twice the same. None and some is always a difference.
func near(column string, x, y float64) bool {
	apart := math.Abs(x - y)
	switch column {
	case "last": // in milliseconds
		return apart <= 30_000
	case "consumed": // in seconds
		return apart <= 10
	case "lag", "late", "tps", "stored", "in/s", "out/s", "rtt", "span", "msgs", "MiB", "idle":
		return (x == 0) == (y == 0) && apart <= 3+max(math.Abs(x), math.Abs(y))/20
	}
	return x == y
}

// manyMoves are more rows than can be out of place by chance: they are sorted anew.
const manyMoves = 64

// steadily keeps rows where they were while a refresh changes little: now is the exact
// order. A row moves only when it clearly belongs before one above it, and then before
// the first such row, so that nothing which is clearly worse ever stands below. Rows
// that are new come to their exact place.
func steadily[K comparable](before, now []K, clearly func(a, b K) bool) []K {
	rank := make(map[K]int, len(now))
	for i, k := range now {
		rank[k] = i
	}
	rows, moves := make([]K, 0, len(now)), 0
	last := -1 // the largest rank in rows: what does not belong before it belongs before none
	for _, k := range before {
		r, ok := rank[k]
		if !ok {
			continue
		}
		at := len(rows)
		if last > r && clearly(k, now[last]) {
			if moves++; moves > manyMoves {
				return now
			}
			at = slices.IndexFunc(rows, func(x K) bool { return clearly(k, x) })
		}
		rows, last = slices.Insert(rows, at, k), max(last, r)
	}
	if len(rows) < len(now) {
		here := make(map[K]bool, len(rows))
		for _, k := range rows {
			here[k] = true
		}
		for r, k := range now {
			if here[k] {
				continue
			}
			if moves++; moves > manyMoves {
				return now
			}
			at := slices.IndexFunc(rows, func(x K) bool { return rank[x] > r })
			if at < 0 {
				at = len(rows)
			}
			rows = slices.Insert(rows, at, k)
		}
	}
	return rows
}
