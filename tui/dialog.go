package tui

import (
	"fmt"
	"math"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// dialog lies above a view and takes all keys. update returns what the root is asked
// to do: nil, or one of the requests below.
type dialog interface {
	update(msg tea.Msg) (dialog, request)
	// view draws at most h lines of w cells; "" draws nothing.
	view(w, h int) string
	// hint writes the line that otherwise shows keys and gives the mode for the
	// status line.
	hint(c *draw.Canvas) (mode string)
}

// request is what a dialog asks the root to do.
type request any

// The requests.
type (
	closeRequest   struct{}
	leaveRequest   struct{}
	commandRequest struct{ line string }
	filterRequest  struct {
		text string
		done bool // the bar closes
	}
)

// detailsFrom is the width from which the details of a dialog say something when they
// are cut.
const detailsFrom = 16

// drawBox draws a dialog of lines in a heavy frame, at most h lines high. When they
// do not fit, the lines round the focus are kept. The title says what is done to whom: all
// of it is shown, on more lines if need be, and the details where they have room beside it.
func drawBox(e *env, w, h int, title, details string, lines [][]draw.Segment, focus int) string {
	const corners, beside = 6, 4 // what the upper edge takes, and what two texts in it
	if n := w - corners - beside - table.Width(title); n >= min(table.Width(details), detailsFrom) {
		details = table.CutMiddle(details, n)
	} else {
		details = ""
	}
	heads := draw.WrapText(title, max(w-corners-beside-table.Width(details), 1))
	more := heads[1:]
	if most := max(h-3, 0); len(more) > most {
		more = more[:most]
	}
	room := max(h-2-len(more), 1)
	first := 0
	if len(lines) > room {
		first = min(max(focus-room/2, 0), len(lines)-room)
		lines = lines[first : first+room]
	}
	c := draw.NewCanvas(w, len(lines)+len(more)+2)
	c.Top(draw.HeavyBox, e.th.Accent, e.th.Title, heads[0], details)
	for _, text := range more {
		c.Boxed(draw.HeavyBox, e.th.Accent, draw.Styled(e.th.Title, " "+text))
	}
	for _, l := range lines {
		c.Boxed(draw.HeavyBox, e.th.Accent, l...)
	}
	c.Bottom(draw.HeavyBox, e.th.Accent)
	return c.String()
}

func line(segments ...draw.Segment) []draw.Segment { return segments }

func (e *env) plain(text string) draw.Segment { return draw.Styled(e.th.Text, text) }

// hints writes pairs of key and word.
func (e *env) hints(c *draw.Canvas, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if need := table.Width(pairs[i]) + table.Width(pairs[i+1]) + 3; need > c.Room() {
			break
		}
		c.Put(draw.Style{}, " ")
		c.Put(e.th.Key, pairs[i])
		c.Put(draw.Style{}, " "+pairs[i+1]+" ")
	}
	c.End()
}

// button draws a button; the one with the focus has the cursor sign.
func (e *env) button(label string, focused, enabled bool) draw.Segment {
	st := e.th.Text
	mark := " "
	if !enabled {
		label += " (off)"
		st = e.th.Dim
	}
	if focused {
		mark = e.g.Cursor
		st = e.th.Cursor
	}
	return draw.Styled(st, "<"+mark+label+" >")
}

// enter is how the enter key is written.
func (e *env) enter() string { return e.g.Enter }

// textDialog shows lines to be read: an event's details.
type textDialog struct {
	env   *env
	title string
	lines []string
	top   int // of the lines as they are broken
}

func (d textDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "q", "enter":
		return d, closeRequest{}
	case "j", "down":
		d.top++
	case "k", "up":
		d.top--
	case "pgdown", "ctrl+d", "ctrl+f", " ":
		d.top += textStep
	case "pgup", "ctrl+u", "ctrl+b":
		d.top -= textStep
	case "g", "home":
		d.top = 0
	case "G", "end":
		d.top = math.MaxInt
	}
	d.top = max(min(d.top, lastPage(len(d.broken(d.env.width)), d.env.room)), 0)
	return d, nil
}

// lastPage is the first of the lines that a box of h lines shows when it is scrolled to
// its end: the page is full there, too.
func lastPage(lines, h int) int { return max(lines-max(h-2, 1), 0) }

// broken are the lines in w cells.
func (d *textDialog) broken(w int) (parts []string) {
	for _, l := range d.lines {
		parts = append(parts, draw.WrapText(l, max(w-4, 10))...)
	}
	return parts
}

// textStep is how far a page key scrolls a dialog, whose height only its drawing knows.
const textStep = 10

func (d textDialog) view(w, h int) string {
	parts := d.broken(w)
	room, before := max(h-2, 1), min(d.top, lastPage(len(parts), h))
	details := ""
	if len(parts) > room {
		details = window(before, room, len(parts))
	}
	var lines [][]draw.Segment
	for _, part := range parts[before:min(before+room, len(parts))] {
		lines = append(lines, line(d.env.plain(" "+part)))
	}
	return drawBox(d.env, w, h, d.title, details, lines, 0)
}

// window says which of the rows that there are can be seen.
func window(before, seen, of int) string {
	return fmt.Sprintf("%d-%d of %d", min(before+1, of), before+seen, of)
}

func (d textDialog) hint(c *draw.Canvas) string {
	d.env.hints(c, "j/k", "scroll", "g/G", "begin, end", "esc", "close")
	return "DETAIL"
}
