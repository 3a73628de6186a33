package tui

import (
	"math"
	"slices"
	"time"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// ordering is how two rows are compared: exactly; by nothing but the column's figures; or
// loosely, so that figures which are nearly equal count as equal too.
type ordering struct {
	table.Order
	bare, loose bool
}

// exactEvery is for how long rows may stand in an order that is only nearly right.
const exactEvery = 10 * time.Second

// steadyOrder is what a table knows of the order that its rows are in.
type steadyOrder struct {
	sorted table.Order // that rows are in; a key that sorts gives another
	at     time.Time   // when they were sorted exactly
	nearly bool        // some row stands below one that it belongs before
}

// resort forgets where rows stand: the next answer is sorted exactly.
func (s *steadyOrder) resort() { s.sorted = table.Order{} }

// begin says whether rows are to be sorted exactly now: they are in another order, or have
// been in one that is only nearly right for long enough.
func (s *steadyOrder) begin(o table.Order, now time.Time) (exactly bool) {
	if exactly = s.sorted != o || now.Sub(s.at) >= exactEvery; exactly {
		s.sorted, s.at = o, now
	}
	s.nearly = false
	return exactly
}

// inOrder sorts keys; unless that is to be exact, those that were in the table before keep
// their places while that is nearly right.
func inOrder[K comparable](s *steadyOrder, exactly bool, keys, before []K, compare func(a, b K, o ordering) int) []K {
	slices.SortStableFunc(keys, func(a, b K) int { return compare(a, b, ordering{Order: s.sorted}) })
	if exactly {
		return keys
	}
	keys = steadily(before, keys, func(a, b K) bool { return compare(a, b, ordering{Order: s.sorted, loose: true}) < 0 })
	s.nearly = s.nearly || misplaced(s.sorted, keys, compare)
	return keys
}

// misplaced reports whether some row stands below one that it belongs before.
func misplaced[K any](o table.Order, keys []K, compare func(a, b K, o ordering) int) bool {
	for i := 1; i < len(keys); i++ {
		if compare(keys[i-1], keys[i], ordering{Order: o, bare: true}) > 0 {
			return true
		}
	}
	return false
}

// arrows are the signs of the order for the head of a table.
func (s *steadyOrder) arrows(g *draw.Glyphs) (up, down string) {
	if s.nearly {
		return "≈", "≈"
	}
	return g.Up, g.Down
}

// orderText says what rows are sorted by.
func (s *steadyOrder) orderText(g *draw.Glyphs, o table.Order) string {
	text := o.Column + g.Up
	if o.Descending {
		text = o.Column + g.Down
	}
	if s.nearly {
		text += " nearly"
	}
	return text
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
