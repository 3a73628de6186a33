package page

import (
	"fmt"
	"math"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/table"
)

// Dialog lies above a view and takes all keys. update returns what the root is asked
// to do: nil, or one of the requests below.
type Dialog interface {
	Update(msg tea.Msg) (Dialog, Request)
	// View draws at most h lines of w cells; "" draws nothing.
	View(w, h int) string
	// Hint writes the line that otherwise shows keys and gives the mode for the
	// status line.
	Hint(c *draw.Canvas) (mode string)
}

// Request is what a dialog asks the root to do.
type Request any

// The requests.
type (
	CloseRequest   struct{}
	LeaveRequest   struct{}
	CommandRequest struct{ Line string }
	FilterRequest  struct {
		Text string
		Done bool // the bar closes
	}
)

// detailsFrom is the width from which the details of a dialog say something when they
// are cut.
const detailsFrom = 16

// DrawBox draws a dialog of lines in a heavy frame, at most h lines high. When they
// do not fit, the lines round the focus are kept. The title says what is done to whom: all
// of it is shown, on more lines if need be, and the details where they have room beside it.
func DrawBox(e *Env, w, h int, title, details string, lines [][]draw.Segment, focus int) string {
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
	c.Top(draw.HeavyBox, e.Theme.Accent, e.Theme.Title, heads[0], details)
	for _, text := range more {
		c.Boxed(draw.HeavyBox, e.Theme.Accent, draw.Styled(e.Theme.Title, " "+text))
	}
	for _, l := range lines {
		c.Boxed(draw.HeavyBox, e.Theme.Accent, l...)
	}
	c.Bottom(draw.HeavyBox, e.Theme.Accent)
	return c.String()
}

// Line is one line of a box.
func Line(segments ...draw.Segment) []draw.Segment { return segments }

// Plain is text in the usual style.
func (e *Env) Plain(text string) draw.Segment { return draw.Styled(e.Theme.Text, text) }

// Hints writes pairs of key and word.
func (e *Env) Hints(c *draw.Canvas, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if need := table.Width(pairs[i]) + table.Width(pairs[i+1]) + 3; need > c.Room() {
			break
		}
		c.Put(draw.Style{}, " ")
		c.Put(e.Theme.Key, pairs[i])
		c.Put(draw.Style{}, " "+pairs[i+1]+" ")
	}
	c.End()
}

// Button draws a button; the one with the focus has the cursor sign.
func (e *Env) Button(label string, focused, enabled bool) draw.Segment {
	st := e.Theme.Text
	mark := " "
	if !enabled {
		label += " (off)"
		st = e.Theme.Dim
	}
	if focused {
		mark = e.Glyphs.Cursor
		st = e.Theme.Cursor
	}
	return draw.Styled(st, "<"+mark+label+" >")
}

// Enter is how the enter key is written.
func (e *Env) Enter() string { return e.Glyphs.Enter }

// TextDialog shows lines to be read: an event's details.
type TextDialog struct {
	Env   *Env
	Title string
	Lines []string
	top   int // of the lines as they are broken
}

// Update implements Dialog.
func (d TextDialog) Update(msg tea.Msg) (Dialog, Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "q", "enter":
		return d, CloseRequest{}
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
	d.top = max(min(d.top, lastPage(len(d.broken(d.Env.Width)), d.Env.Room)), 0)
	return d, nil
}

// lastPage is the first of the lines that a box of h lines shows when it is scrolled to
// its end: the page is full there, too.
func lastPage(lines, h int) int { return max(lines-max(h-2, 1), 0) }

// broken are the lines in w cells.
func (d *TextDialog) broken(w int) (parts []string) {
	for _, l := range d.Lines {
		parts = append(parts, draw.WrapText(l, max(w-4, 10))...)
	}
	return parts
}

// textStep is how far a page key scrolls a dialog, whose height only its drawing knows.
const textStep = 10

// View implements Dialog.
func (d TextDialog) View(w, h int) string {
	parts := d.broken(w)
	room, before := max(h-2, 1), min(d.top, lastPage(len(parts), h))
	details := ""
	if len(parts) > room {
		details = WindowText(before, room, len(parts))
	}
	var lines [][]draw.Segment
	for _, part := range parts[before:min(before+room, len(parts))] {
		lines = append(lines, Line(d.Env.Plain(" "+part)))
	}
	return DrawBox(d.Env, w, h, d.Title, details, lines, 0)
}

// WindowText says which of the rows that there are can be seen.
func WindowText(before, seen, of int) string {
	return fmt.Sprintf("%d-%d of %d", min(before+1, of), before+seen, of)
}

// Hint implements Dialog.
func (d TextDialog) Hint(c *draw.Canvas) string {
	d.Env.Hints(c, "j/k", "scroll", "g/G", "begin, end", "esc", "close")
	return "DETAIL"
}
