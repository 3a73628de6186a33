package draw

import (
	"strings"

	"eyeq/tui/table"
)

// Canvas writes lines of exactly w cells, left to right. What does not fit is cut;
// text must be safe.
type Canvas struct {
	B     []byte
	W     int
	x     int
	Limit int // for put: w, or less while room is kept at the right
	Lines int
}

// NewCanvas is an empty canvas of w cells in a line, with room for h lines.
func NewCanvas(w, h int) *Canvas {
	return &Canvas{B: make([]byte, 0, (w*3/2+16)*max(h, 1)), W: w, Limit: w}
}

// Put writes text in a style, cut to the room that is left.
func (c *Canvas) Put(st Style, text string) {
	room := c.Limit - c.x
	if room <= 0 || text == "" {
		return
	}
	n := table.Width(text)
	if n > room {
		text = table.Cut(text, room)
		n = table.Width(text)
	}
	c.B = st.Append(c.B, text)
	c.x += n
}

// Puts writes segments.
func (c *Canvas) Puts(segments ...Segment) {
	for _, s := range segments {
		c.Put(s.Style, s.Text)
	}
}

// Cell writes text in exactly width cells, or what is left of them.
func (c *Canvas) Cell(st Style, text string, width int, right bool) {
	width = min(width, c.Limit-c.x)
	if width <= 0 {
		return
	}
	c.B = table.AppendCell(c.B, text, width, right, st)
	c.x += width
}

// To moves to a column; never back.
func (c *Canvas) To(x int) {
	if x = min(x, c.W); x > c.x {
		c.B = table.AppendSpaces(c.B, x-c.x)
		c.x = x
	}
}

// Skip moves n cells on.
func (c *Canvas) Skip(n int) { c.To(c.x + n) }

// Room is what is left of the line.
func (c *Canvas) Room() int { return max(c.Limit-c.x, 0) }

// Fill repeats a one-cell glyph up to a column.
func (c *Canvas) Fill(st Style, glyph string, x int) {
	if n := min(x, c.W) - c.x; n > 0 {
		c.B = st.Append(c.B, strings.Repeat(glyph, n))
		c.x += n
	}
}

// keep reserves room at the right of this line for n cells.
func (c *Canvas) keep(n int) { c.Limit = max(c.W-n, c.x) }

// release ends keep and moves to where the room begins.
func (c *Canvas) release() {
	x := c.Limit
	c.Limit = c.W
	c.To(x)
}

// End fills the line and begins the next.
func (c *Canvas) End() {
	c.Limit = c.W
	c.To(c.W)
	c.B = append(c.B, '\n')
	c.x = 0
	c.Lines++
}

// Blank writes empty lines up to h.
func (c *Canvas) Blank(h int) {
	for c.Lines < h {
		c.End()
	}
}

// String gives the lines without the last newline.
func (c *Canvas) String() string {
	if n := len(c.B); n > 0 && c.B[n-1] == '\n' {
		return string(c.B[:n-1])
	}
	return string(c.B)
}

// Segment is a piece of text in a style, for lines put together beforehand.
type Segment struct {
	Style Style
	Text  string
}

// Styled is text in a style.
func Styled(st Style, text string) Segment { return Segment{Style: st, Text: text} }

// WidthOf is how many cells segments take.
func WidthOf(segments []Segment) int {
	n := 0
	for _, s := range segments {
		n += table.Width(s.Text)
	}
	return n
}

// Spread writes segments at the left and at the right of one line; the right ones
// win.
func (c *Canvas) Spread(left, right []Segment) {
	n := WidthOf(right)
	if n > 0 {
		c.keep(n + 1)
	}
	c.Puts(left...)
	c.release()
	if n > 0 {
		c.Skip(1)
		c.Puts(right...)
	}
	c.End()
}

// BoxLook is a frame's characters, corners clockwise from the left top, and what leads
// to its title.
type BoxLook struct{ tl, tr, br, bl, h, v, Lead string }

var (
	ThinBox  = BoxLook{"╭", "╮", "╯", "╰", "─", "│", "─"}
	FocusBox = BoxLook{"╭", "╮", "╯", "╰", "─", "│", "▸"} // the pane of several that takes the keys
	HeavyBox = BoxLook{"┏", "┓", "┛", "┗", "━", "┃", "━"}
)

// PaneBox is the frame of a pane beside others.
func PaneBox(focused bool) BoxLook {
	if focused {
		return FocusBox
	}
	return ThinBox
}

// Top draws a box's upper edge with a title and, at the right, details.
func (c *Canvas) Top(l BoxLook, frame, titleStyle Style, title, details string) {
	c.Put(frame, l.tl)
	if l.Lead != l.h {
		c.Put(titleStyle, l.Lead)
	} else {
		c.Put(frame, l.Lead)
	}
	// Title and details share what is left after "─ … ─╮" on both sides; a long
	// title leaves the details half.
	room := max(c.W-6, 0)
	title = table.Cut(title, max(room-table.Width(details)-4, room/2))
	if details != "" {
		details = table.Cut(details, max(room-table.Width(title)-4, 0))
	}
	n := table.Width(details)
	c.Put(Style{}, " ")
	tail := 2
	if n > 0 {
		tail = n + 5
	}
	c.keep(min(tail+1, c.W-c.x))
	c.Put(titleStyle, title)
	c.Put(Style{}, " ")
	c.Limit = c.W
	if n > 0 {
		c.Fill(frame, l.h, c.W-n-4)
		c.Put(Style{}, " "+details+" ")
	}
	c.Fill(frame, l.h, c.W-1)
	c.Put(frame, l.tr)
	c.End()
}

// Bottom draws a box's lower edge.
func (c *Canvas) Bottom(l BoxLook, frame Style) {
	c.Put(frame, l.bl)
	c.Fill(frame, l.h, c.W-1)
	c.Put(frame, l.br)
	c.End()
}

// Open begins a line inside a box, close ends it.
func (c *Canvas) Open(l BoxLook, frame Style) {
	c.Put(frame, l.v)
	c.keep(1)
}

// Close ends a line of a box with its frame.
func (c *Canvas) Close(l BoxLook, frame Style) {
	c.release()
	c.Put(frame, l.v)
	c.End()
}

// Boxed writes one line of segments inside a box.
func (c *Canvas) Boxed(l BoxLook, frame Style, segments ...Segment) {
	c.Open(l, frame)
	c.Puts(segments...)
	c.Close(l, frame)
}

// TableHead writes the header of a table inside thin bars.
func (c *Canvas) TableHead(th *Theme, l *table.Layout, columns []table.Column, order table.Order, up, down string) {
	c.Put(th.Frame, ThinBox.v)
	c.B = l.AppendHeader(c.B, columns, order, up, down, th.Header)
	c.x += l.Width
	c.Put(th.Frame, ThinBox.v)
	c.End()
}

// TableRow writes one row of it.
func (c *Canvas) TableRow(th *Theme, l *table.Layout, columns []table.Column, cells []table.Cell, look table.Look) {
	c.Put(th.Frame, ThinBox.v)
	c.B = l.AppendRow(c.B, columns, cells, look)
	c.x += l.Width
	c.Put(th.Frame, ThinBox.v)
	c.End()
}

// TableRest fills n lines below the rows; notes say why there are none, and stand in
// the first of them.
func (c *Canvas) TableRest(th *Theme, n int, notes []string) {
	notes = FitNotes(notes, c.W-5, n)
	for i := range max(n, 0) {
		text := ""
		if i < len(notes) {
			text = "  " + notes[i]
		}
		c.Boxed(ThinBox, th.Frame, Styled(th.Text, text))
	}
}

// FitNotes breaks notes into lines of w cells, of which there is room for n: air before
// them is for where there is more. A note that is too long even so ends in the last
// line, to be cut there.
func FitNotes(notes []string, w, n int) []string {
	var lines, rests []string // what is left of the note from a line on
	for _, note := range notes {
		text := strings.TrimLeft(note, " ")
		indent := note[:len(note)-len(text)]
		parts := WrapText(text, max(w-len(indent), 10))
		for i, part := range parts {
			lines, rests = append(lines, indent+part), append(rests, indent+strings.Join(parts[i:], " "))
		}
	}
	if len(lines) > n && lines[0] == "" {
		lines, rests = lines[1:], rests[1:]
	}
	if n > 0 && len(lines) > n {
		lines = append(lines[:n-1], rests[n-1])
	}
	return lines
}

// WrapText breaks a safe text into lines of at most w cells, at blanks where that
// is possible.
func WrapText(text string, w int) []string {
	var lines []string
	for w > 0 && len(text) > w { // fewer bytes than cells there are not
		cut := len(table.Head(text, w))
		if cut == 0 || cut == len(text) {
			break // it fits, or not even one wide character does
		}
		if i := strings.LastIndexByte(text[:cut], ' '); i > cut/2 {
			lines = append(lines, text[:i])
			text = text[i+1:]
			continue
		}
		lines = append(lines, text[:cut])
		text = text[cut:]
	}
	return append(lines, text)
}
