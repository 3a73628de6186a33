package tui

import (
	"fmt"
	"slices"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
)

// stack is tables one below the other, of which one takes the keys. On a screen that
// is too low for all, that one is shown alone.
type stack struct {
	env    *page.Env
	list   []page.Lister[string]
	focus  int
	zoomed bool
}

// act applies a key, if it means anything to them.
func (s *stack) act(a page.Action) {
	step := 0
	switch a {
	case "next-pane":
		step = 1
	case "previous-pane":
		step = len(s.list) - 1
	case "zoom":
		s.zoomed = !s.zoomed
	default:
		s.list[s.focus].Act(a)
	}
	s.focus = (s.focus + step) % len(s.list)
}

// current is the row that keys are about.
func (s *stack) current() (pane int, key string, ok bool) {
	key, ok = s.list[s.focus].List.Current()
	return s.focus, key, ok
}

// filterText is the filter of the pane with the focus.
func (s stack) filterText() string { return s.list[s.focus].Filter.Text }

// narrow gives that pane a filter; an older stack of the same panes keeps its own.
func (s *stack) narrow(text string, columns []string) error {
	s.list = slices.Clone(s.list)
	return s.list[s.focus].Narrow(text, columns)
}

// escape takes back one step; false when there is none.
func (s *stack) escape() bool {
	if _, taken := s.list[s.focus].Escape(); taken {
		return true
	}
	if s.zoomed {
		s.zoomed = false
		return true
	}
	return false
}

const leastPane = page.TableFrame + 1

// alone reports whether only the pane with the focus has room.
func (s *stack) alone(h int) bool { return s.zoomed || len(s.list)*leastPane > h }

// heights shares h lines: what each pane needs, and the rest to the one that needs
// most.
func (s *stack) heights(h int) []int {
	heights := make([]int, len(s.list))
	if s.alone(h) {
		heights[s.focus] = h - 1
		return heights
	}
	left := h
	for i := range heights {
		heights[i] = leastPane
		left -= leastPane
	}
	for left > 0 {
		given := false
		for i := range heights {
			if left > 0 && heights[i] < page.TableFrame+max(s.list[i].List.Len(), 3) {
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
type paneText struct {
	details string
	cells   func(k string, cells []table.Cell)
	notes   []string
}

// draw draws the panes in h lines.
func (s *stack) draw(c *draw.Canvas, h int, of func(i int) paneText) {
	heights := s.heights(h)
	if s.alone(h) {
		c.Put(draw.Style{}, " ")
		for i := range s.list {
			text := fmt.Sprintf("%s %d", s.list[i].Title, s.list[i].List.Len())
			if i == s.focus {
				c.Put(s.env.Theme.Title, "["+text+"] ")
			} else {
				c.Put(s.env.Theme.Text, " "+text+"  ")
			}
		}
		c.Put(s.env.Theme.Dim, " "+s.env.Keys.First("next-pane")+" next")
		c.End()
	}
	for i := range s.list {
		l := &s.list[i]
		l.Beside = !s.alone(h)
		if l.Focused = i == s.focus; heights[i] > 0 {
			pane := of(i)
			l.Draw(c, heights[i], pane.details, pane.cells, pane.notes)
		}
	}
}

// mouse takes a click on a line, or that the pointer is there.
func (s *stack) mouse(msg any, top, h int) {
	switch msg := msg.(type) {
	case clickMsg:
		if i, y := s.at(msg.y-top, h-top); y >= 0 {
			s.focus = i
			s.list[i].Click(y, s.heights(h - top)[i])
		}
	case pointMsg:
		if i, y := s.at(msg.y-top, h-top); y >= 0 {
			s.focus = i
		}
	}
}

// at finds the pane of a line in h lines, and that line of it.
func (s *stack) at(y, h int) (pane, line int) {
	if s.alone(h) {
		y-- // the names of the panes
	}
	for i, n := range s.heights(h) {
		if y >= 0 && y < n {
			return i, y
		}
		y -= n
	}
	return s.focus, -1
}
