package tui

import (
	"fmt"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// split is a list above and, below it, all about the row under its cursor as text that
// scrolls.
type split[K comparable] struct {
	env  *env
	list table.State[K]
	top  int // the first line of the text that is shown
	laid *laidOut
}

// laidOut is the text of a row in lines that fit a width. It is kept, since every key and
// every frame ask for it and it may be as long as a thread dump.
type laidOut struct {
	row, width int
	lines      []draw.Segment
}

func newSplit[K comparable](e *env) split[K] { return split[K]{env: e, laid: &laidOut{}} }

// renewed forgets the text that is laid out: rows have come that say something else.
func (s *split[K]) renewed() { s.laid = &laidOut{} }

// text gives the lines of the row under the cursor for a width, which lay makes where they
// are not known.
func (s *split[K]) text(width int, lay func() []draw.Segment) []draw.Segment {
	if row := s.list.Cursor(); s.laid.lines == nil || s.laid.row != row || s.laid.width != width {
		*s.laid = laidOut{row, width, lay()}
	}
	return s.laid.lines
}

// listHeight is the room of n rows with their frame, at least three, and at most so much
// of what there is.
func listHeight(n, most int) int {
	return min(max(n, 3)+tableFrame, max(most, tableFrame+1))
}

// act applies a key; the text has so many lines, of which some are shown at a time.
func (s *split[K]) act(a action, lines, shown int) {
	end := max(lines-max(shown, 1), 0)
	switch a {
	case "body-down":
		s.top = min(s.top+1, end)
	case "body-up":
		s.top = max(min(s.top, end)-1, 0)
	default:
		if s.list.Len() > 0 && moveBy(&s.list, a) {
			s.top = 0
		}
	}
}

// click selects a row by the line of the view that was clicked on.
func (s *split[K]) click(y int) {
	if clickRow(&s.list, y, 2) {
		s.top = 0
	}
}

// drawList draws the list in a box of h lines: the visible rows only, or the notes where
// there are none.
func (s *split[K]) drawList(c *draw.Canvas, h int, title, details string, columns []table.Column, row func(i int, cells []table.Cell) table.Look, notes []string) {
	th := s.env.th
	c.Top(draw.ThinBox, th.Frame, th.Title, title, details)
	drawRows(c, s.env, &s.list, columns, h-tableFrame, s.env.g.Up, s.env.g.Down, row, notes)
}

// drawText draws the text in a box that takes what is left of h lines. Where there is
// more of it the edge says how to scroll.
func (s *split[K]) drawText(c *draw.Canvas, h int, title string, lines []draw.Segment) {
	th, rows := s.env.th, h-c.Lines-2
	if rows < 1 {
		return
	}
	top := min(s.top, max(len(lines)-rows, 0))
	shown, details := lines[top:], ""
	if len(shown) < len(lines) || len(shown) > rows {
		shown = shown[:min(len(shown), rows)]
		details = fmt.Sprintf("%s/%s · %s", s.env.keys.first("body-down"), s.env.keys.first("body-up"), window(top, len(shown), len(lines)))
	}
	c.Top(draw.ThinBox, th.Frame, th.Bold, title, details)
	for i := range rows {
		if i < len(shown) {
			c.Boxed(draw.ThinBox, th.Frame, shown[i])
		} else {
			c.Boxed(draw.ThinBox, th.Frame)
		}
	}
	c.Bottom(draw.ThinBox, th.Frame)
}

// clickRow selects the row of a table whose first row is drawn on line top.
func clickRow[K comparable](s *table.State[K], y, top int) bool {
	first, end := s.Window()
	if n := first + y - top; y >= top && n < end {
		s.MoveTo(n)
		return true
	}
	return false
}

// moveBy does what a moving key means to a table; false for any other key.
func moveBy[K comparable](m *table.State[K], a action) bool {
	switch a {
	case "down":
		m.Move(1)
	case "up":
		m.Move(-1)
	case "top":
		m.MoveTo(0)
	case "bottom":
		m.MoveTo(m.Len() - 1)
	case "half-down":
		m.Page(1, true)
	case "half-up":
		m.Page(-1, true)
	case "page-down":
		m.Page(1, false)
	case "page-up":
		m.Page(-1, false)
	default:
		return false
	}
	return true
}
