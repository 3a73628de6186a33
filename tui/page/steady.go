package page

import (
	"math"
	"slices"
	"time"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// Ordering is how two rows are compared: exactly; by nothing but the column's figures; or
// loosely, so that figures which are nearly equal count as equal too.
type Ordering struct {
	table.Order
	Bare, Loose bool
}

// exactEvery is for how long rows may stand in an order that is only nearly right.
const exactEvery = 10 * time.Second

// SteadyOrder is what a table knows of the order that its rows are in.
type SteadyOrder struct {
	sorted table.Order // that rows are in; a key that sorts gives another
	at     time.Time   // when they were sorted exactly
	Nearly bool        // some row stands below one that it belongs before
}

// Resort forgets where rows stand: the next answer is sorted exactly.
func (s *SteadyOrder) Resort() { s.sorted = table.Order{} }

// Begin says whether rows are to be sorted exactly now: they are in another order, or have
// been in one that is only nearly right for long enough.
func (s *SteadyOrder) Begin(o table.Order, now time.Time) (exactly bool) {
	if exactly = s.sorted != o || now.Sub(s.at) >= exactEvery; exactly {
		s.sorted, s.at = o, now
	}
	s.Nearly = false
	return exactly
}

// InOrder sorts keys; unless that is to be exact, those that were in the table before keep
// their places while that is nearly right.
func InOrder[K comparable](s *SteadyOrder, exactly bool, keys, before []K, compare func(a, b K, o Ordering) int) []K {
	slices.SortStableFunc(keys, func(a, b K) int { return compare(a, b, Ordering{Order: s.sorted}) })
	if exactly {
		return keys
	}
	keys = Steadily(before, keys, func(a, b K) bool { return compare(a, b, Ordering{Order: s.sorted, Loose: true}) < 0 })
	s.Nearly = s.Nearly || Misplaced(s.sorted, keys, compare)
	return keys
}

// Misplaced reports whether some row stands below one that it belongs before.
func Misplaced[K any](o table.Order, keys []K, compare func(a, b K, o Ordering) int) bool {
	for i := 1; i < len(keys); i++ {
		if compare(keys[i-1], keys[i], Ordering{Order: o, Bare: true}) > 0 {
			return true
		}
	}
	return false
}

// Arrows are the signs of the order for the head of a table.
func (s *SteadyOrder) Arrows(g *draw.Glyphs) (up, down string) {
	if s.Nearly {
		return "≈", "≈"
	}
	return g.Up, g.Down
}

// OrderText says what rows are sorted by.
func (s *SteadyOrder) OrderText(g *draw.Glyphs, o table.Order) string {
	text := o.Column + g.Up
	if o.Descending {
		text = o.Column + g.Down
	}
	if s.Nearly {
		text += " nearly"
	}
	return text
}

// Near reports whether two figures of a column are too much alike to move rows for:
// those that flow are never twice the same. None and some is always a difference.
func Near(column string, x, y float64) bool {
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

// Steadily keeps rows where they were while a refresh changes little: now is the exact
// order. A row moves only when it clearly belongs before one above it, and then before
// the first such row, so that nothing which is clearly worse ever stands below. Rows
// that are new come to their exact place.
func Steadily[K comparable](before, now []K, clearly func(a, b K) bool) []K {
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
