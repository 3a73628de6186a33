package draw

import (
	"math"
	"strings"
)

// Sparkline draws one glyph a value. Values that are not known (NaN) leave a blank.
// From zero: the scale begins at zero, and anything above zero is seen as such.
// Otherwise it runs from the smallest to the largest value, unless they are so
// close (1 %) that the difference would be a lie.
func (g *Glyphs) Sparkline(values []float64, fromZero bool) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if fromZero {
		lo = 0
	} else if room := hi * 0.01; hi-lo < room {
		lo -= room / 2
		hi += room / 2
	}
	top := len(g.spark) - 1
	var b strings.Builder
	b.Grow(3 * len(values))
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case hi <= lo:
			b.WriteString(g.spark[0])
		default:
			level := int(math.Round((v - lo) / (hi - lo) * float64(top)))
			if fromZero && v > 0 {
				level = max(level, 1)
			}
			b.WriteString(g.spark[min(max(level, 0), top)])
		}
	}
	return b.String()
}

// TrendCells is how many values a trend of so many cells has: ASCII ones have brackets.
func (g *Glyphs) TrendCells(cells, most int) int {
	if g.ascii {
		cells -= 2
	}
	return max(min(cells, most), 0)
}

// Trend is a sparkline that cannot be taken for text beside it.
func (g *Glyphs) Trend(values []float64, fromZero bool) string {
	line := g.Sparkline(values, fromZero)
	if g.ascii && line != "" {
		return "[" + line + "]"
	}
	return line
}

// Meter draws a share of cells, exact to an eighth of a cell.
func (g *Glyphs) Meter(cells int, share float64) string {
	if cells <= 0 {
		return ""
	}
	share = min(max(share, 0), 1)
	steps := len(g.parts) + 1
	n := int(math.Round(share * float64(cells*steps)))
	if n == 0 && share > 0 {
		n = 1
	}
	full, part := n/steps, n%steps
	var b strings.Builder
	b.Grow(3 * cells)
	b.WriteString(strings.Repeat(g.Full, full))
	used := full
	if part > 0 {
		b.WriteString(g.parts[part-1])
		used++
	}
	b.WriteString(strings.Repeat(g.Void, cells-used))
	return b.String()
}

// SpanBar draws a queue's cache on the scale of a limit: messages to do, messages
// done that wait for the commit, and offsets in between that were never ours
// (filtered by the broker). Whatever is not nothing gets a cell.
func (g *Glyphs) SpanBar(cells int, todo, done, span, limit int64) string {
	if cells <= 0 || limit <= 0 {
		return ""
	}
	share := func(n int64) int {
		if n <= 0 {
			return 0
		}
		return max(int(math.Round(float64(n)/float64(limit)*float64(cells))), 1)
	}
	a := min(share(todo), cells)
	b := min(share(done), cells-a)
	if done > 0 && b == 0 && a > 1 {
		a, b = a-1, 1
	}
	c := min(max(share(span)-a-b, 0), cells-a-b)
	if span <= todo+done {
		c = 0
	}
	return strings.Repeat(g.Full, a) + strings.Repeat(g.Done, b) + strings.Repeat(g.gap, c) +
		strings.Repeat(g.Void, cells-a-b-c)
}
