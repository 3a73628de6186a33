package page

import (
	"fmt"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// Split is a list above and, below it, all about the row under its cursor as text that
// scrolls.
type Split[K comparable] struct {
	Env  *Env
	List table.State[K]
	Top  int // the first line of the text that is shown
	laid *laidOut
}

// laidOut is the text of a row in lines that fit a width. It is kept, since every key and
// every frame ask for it and it may be as long as a thread dump.
type laidOut struct {
	row, width int
	lines      []draw.Segment
}

// NewSplit is a split whose panes are not laid out yet.
func NewSplit[K comparable](e *Env) Split[K] { return Split[K]{Env: e, laid: &laidOut{}} }

// Renewed forgets the text that is laid out: rows have come that say something else.
func (s *Split[K]) Renewed() { s.laid = &laidOut{} }

// Text gives the lines of the row under the cursor for a width, which lay makes where they
// are not known.
func (s *Split[K]) Text(width int, lay func() []draw.Segment) []draw.Segment {
	if row := s.List.Cursor(); s.laid.lines == nil || s.laid.row != row || s.laid.width != width {
		*s.laid = laidOut{row, width, lay()}
	}
	return s.laid.lines
}

// ListHeight is the room of n rows with their frame, at least three, and at most so much
// of what there is.
func ListHeight(n, most int) int {
	return min(max(n, 3)+TableFrame, max(most, TableFrame+1))
}

// Act applies a key; the text has so many lines, of which some are shown at a time.
func (s *Split[K]) Act(a Action, lines, shown int) {
	end := max(lines-max(shown, 1), 0)
	switch a {
	case "body-down":
		s.Top = min(s.Top+1, end)
	case "body-up":
		s.Top = max(min(s.Top, end)-1, 0)
	default:
		if s.List.Len() > 0 && MoveBy(&s.List, a) {
			s.Top = 0
		}
	}
}

// Click selects a row by the line of the view that was clicked on.
func (s *Split[K]) Click(y int) {
	if ClickRow(&s.List, y, 2) {
		s.Top = 0
	}
}

// DrawList draws the list in a box of h lines: the visible rows only, or the notes where
// there are none.
func (s *Split[K]) DrawList(c *draw.Canvas, h int, title, details string, columns []table.Column, row func(i int, cells []table.Cell) table.Look, notes []string) {
	th := s.Env.Theme
	c.Top(draw.ThinBox, th.Frame, th.Title, title, details)
	drawRows(c, s.Env, &s.List, columns, h-TableFrame, s.Env.Glyphs.Up, s.Env.Glyphs.Down, row, notes)
}

// DrawText draws the text in a box that takes what is left of h lines. Where there is
// more of it the edge says how to scroll.
func (s *Split[K]) DrawText(c *draw.Canvas, h int, title string, lines []draw.Segment) {
	th, rows := s.Env.Theme, h-c.Lines-2
	if rows < 1 {
		return
	}
	top := min(s.Top, max(len(lines)-rows, 0))
	shown, details := lines[top:], ""
	if len(shown) < len(lines) || len(shown) > rows {
		shown = shown[:min(len(shown), rows)]
		details = fmt.Sprintf("%s/%s · %s", s.Env.Keys.First("body-down"), s.Env.Keys.First("body-up"), WindowText(top, len(shown), len(lines)))
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

// ClickRow selects the row of a table whose first row is drawn on line top.
func ClickRow[K comparable](s *table.State[K], y, top int) bool {
	first, end := s.Window()
	if n := first + y - top; y >= top && n < end {
		s.MoveTo(n)
		return true
	}
	return false
}

// MoveBy does what a moving key means to a table; false for any other key.
func MoveBy[K comparable](m *table.State[K], a Action) bool {
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
