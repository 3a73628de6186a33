package page

import (
	"fmt"
	"slices"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// Stack is tables one below the other, of which one takes the keys. On a screen that
// is too low for all, that one is shown alone.
type Stack struct {
	Env    *Env
	List   []Lister[string]
	Focus  int
	zoomed bool
}

// Act applies a key, if it means anything to them.
func (s *Stack) Act(a Action) {
	step := 0
	switch a {
	case "next-pane":
		step = 1
	case "previous-pane":
		step = len(s.List) - 1
	case "zoom":
		s.zoomed = !s.zoomed
	default:
		s.List[s.Focus].Act(a)
	}
	s.Focus = (s.Focus + step) % len(s.List)
}

// Current is the row that keys are about.
func (s *Stack) Current() (pane int, key string, ok bool) {
	key, ok = s.List[s.Focus].List.Current()
	return s.Focus, key, ok
}

// FilterText is the filter of the pane with the focus.
func (s Stack) FilterText() string { return s.List[s.Focus].Filter.Text }

// Narrow gives that pane a filter; an older stack of the same panes keeps its own.
func (s *Stack) Narrow(text string, columns []string) error {
	s.List = slices.Clone(s.List)
	return s.List[s.Focus].Narrow(text, columns)
}

// Escape takes back one step; false when there is none.
func (s *Stack) Escape() bool {
	if _, taken := s.List[s.Focus].Escape(); taken {
		return true
	}
	if s.zoomed {
		s.zoomed = false
		return true
	}
	return false
}

const LeastPane = TableFrame + 1

// alone reports whether only the pane with the focus has room.
func (s *Stack) alone(h int) bool { return s.zoomed || len(s.List)*LeastPane > h }

// heights shares h lines: what each pane needs, and the rest to the one that needs
// most.
func (s *Stack) heights(h int) []int {
	heights := make([]int, len(s.List))
	if s.alone(h) {
		heights[s.Focus] = h - 1
		return heights
	}
	left := h
	for i := range heights {
		heights[i] = LeastPane
		left -= LeastPane
	}
	for left > 0 {
		given := false
		for i := range heights {
			if left > 0 && heights[i] < TableFrame+max(s.List[i].List.Len(), 3) {
				heights[i]++
				left--
				given = true
			}
		}
		if !given {
			heights[len(heights)-1] += left
			break
		}
	}
	return heights
}

// pane is what a page says of one of its panes.
type PaneText struct {
	Details string
	Cells   func(k string, cells []table.Cell)
	Notes   []string
}

// Draw draws the panes in h lines.
func (s *Stack) Draw(c *draw.Canvas, h int, of func(i int) PaneText) {
	heights := s.heights(h)
	if s.alone(h) {
		c.Put(draw.Style{}, " ")
		for i := range s.List {
			text := fmt.Sprintf("%s %d", s.List[i].Title, s.List[i].List.Len())
			if i == s.Focus {
				c.Put(s.Env.Theme.Title, "["+text+"] ")
			} else {
				c.Put(s.Env.Theme.Text, " "+text+"  ")
			}
		}
		c.Put(s.Env.Theme.Dim, " "+s.Env.Keys.First("next-pane")+" next")
		c.End()
	}
	for i := range s.List {
		l := &s.List[i]
		l.Beside = !s.alone(h)
		if l.Focused = i == s.Focus; heights[i] > 0 {
			pane := of(i)
			l.Draw(c, heights[i], pane.Details, pane.Cells, pane.Notes)
		}
	}
}

// Mouse takes a click on a line, or that the pointer is there.
func (s *Stack) Mouse(msg any, top, h int) {
	switch msg := msg.(type) {
	case ClickMsg:
		if i, y := s.at(msg.Y-top, h-top); y >= 0 {
			s.Focus = i
			s.List[i].Click(y, s.heights(h - top)[i])
		}
	case PointMsg:
		if i, y := s.at(msg.Y-top, h-top); y >= 0 {
			s.Focus = i
		}
	}
}

// at finds the pane of a line in h lines, and that line of it.
func (s *Stack) at(y, h int) (pane, line int) {
	if s.alone(h) {
		y-- // the names of the panes
	}
	for i, n := range s.heights(h) {
		if y >= 0 && y < n {
			return i, y
		}
		y -= n
	}
	return s.Focus, -1
}
