package tui

import (
	"strings"

	"eyeq/tui/table"
)

// canvas writes lines of exactly w cells, left to right. What does not fit is cut;
// text must be safe.
type canvas struct {
	b     []byte
	w     int
	x     int
	limit int // for put: w, or less while room is kept at the right
	lines int
}

func newCanvas(w, h int) *canvas {
	return &canvas{b: make([]byte, 0, (w*3/2+16)*max(h, 1)), w: w, limit: w}
}

// put writes text in a style, cut to the room that is left.
func (c *canvas) put(st style, text string) {
	room := c.limit - c.x
	if room <= 0 || text == "" {
		return
	}
	n := table.Width(text)
	if n > room {
		text = table.Cut(text, room)
		n = table.Width(text)
	}
	c.b = st.Append(c.b, text)
	c.x += n
}

// puts writes segments.
func (c *canvas) puts(segments ...segment) {
	for _, s := range segments {
		c.put(s.style, s.text)
	}
}

// cell writes text in exactly width cells, or what is left of them.
func (c *canvas) cell(st style, text string, width int, right bool) {
	width = min(width, c.limit-c.x)
	if width <= 0 {
		return
	}
	c.b = table.AppendCell(c.b, text, width, right, st)
	c.x += width
}

// to moves to a column; never back.
func (c *canvas) to(x int) {
	if x = min(x, c.w); x > c.x {
		c.b = table.AppendSpaces(c.b, x-c.x)
		c.x = x
	}
}

func (c *canvas) skip(n int) { c.to(c.x + n) }

// room is what is left of the line.
func (c *canvas) room() int { return max(c.limit-c.x, 0) }

// fill repeats a one-cell glyph up to a column.
func (c *canvas) fill(st style, glyph string, x int) {
	if n := min(x, c.w) - c.x; n > 0 {
		c.b = st.Append(c.b, strings.Repeat(glyph, n))
		c.x += n
	}
}

// keep reserves room at the right of this line for n cells.
func (c *canvas) keep(n int) { c.limit = max(c.w-n, c.x) }

// release ends keep and moves to where the room begins.
func (c *canvas) release() {
	x := c.limit
	c.limit = c.w
	c.to(x)
}

// end fills the line and begins the next.
func (c *canvas) end() {
	c.limit = c.w
	c.to(c.w)
	c.b = append(c.b, '\n')
	c.x = 0
	c.lines++
}

// blank writes empty lines up to h.
func (c *canvas) blank(h int) {
	for c.lines < h {
		c.end()
	}
}

// String gives the lines without the last newline.
func (c *canvas) String() string {
	if n := len(c.b); n > 0 && c.b[n-1] == '\n' {
		return string(c.b[:n-1])
	}
	return string(c.b)
}

// segment is a piece of text in a style, for lines put together beforehand.
type segment struct {
	style style
	text  string
}

// styled is text in a style.
func styled(st style, text string) segment { return segment{style: st, text: text} }

func widthOf(segments []segment) int {
	n := 0
	for _, s := range segments {
		n += table.Width(s.text)
	}
	return n
}

// spread writes segments at the left and at the right of one line; the right ones
// win.
func (c *canvas) spread(left, right []segment) {
	n := widthOf(right)
	if n > 0 {
		c.keep(n + 1)
	}
	c.puts(left...)
	c.release()
	if n > 0 {
		c.skip(1)
		c.puts(right...)
	}
	c.end()
}

// boxLook is a frame's characters, corners clockwise from the left top, and what leads
// to its title.
type boxLook struct{ tl, tr, br, bl, h, v, lead string }

var (
	thinBox  = boxLook{"╭", "╮", "╯", "╰", "─", "│", "─"}
	focusBox = boxLook{"╭", "╮", "╯", "╰", "─", "│", "▸"} // the pane of several that takes the keys
	heavyBox = boxLook{"┏", "┓", "┛", "┗", "━", "┃", "━"}
)

// paneBox is the frame of a pane beside others.
func paneBox(focused bool) boxLook {
	if focused {
		return focusBox
	}
	return thinBox
}

// top draws a box's upper edge with a title and, at the right, details.
func (c *canvas) top(l boxLook, frame, titleStyle style, title, details string) {
	c.put(frame, l.tl)
	if l.lead != l.h {
		c.put(titleStyle, l.lead)
	} else {
		c.put(frame, l.lead)
	}
	// Title and details share what is left after "─ … ─╮" on both sides; a long
	// title leaves the details half.
	room := max(c.w-6, 0)
	title = table.Cut(title, max(room-table.Width(details)-4, room/2))
	if details != "" {
		details = table.Cut(details, max(room-table.Width(title)-4, 0))
	}
	n := table.Width(details)
	c.put(style{}, " ")
	tail := 2
	if n > 0 {
		tail = n + 5
	}
	c.keep(min(tail+1, c.w-c.x))
	c.put(titleStyle, title)
	c.put(style{}, " ")
	c.limit = c.w
	if n > 0 {
		c.fill(frame, l.h, c.w-n-4)
		c.put(style{}, " "+details+" ")
	}
	c.fill(frame, l.h, c.w-1)
	c.put(frame, l.tr)
	c.end()
}

// bottom draws a box's lower edge.
func (c *canvas) bottom(l boxLook, frame style) {
	c.put(frame, l.bl)
	c.fill(frame, l.h, c.w-1)
	c.put(frame, l.br)
	c.end()
}

// open begins a line inside a box, close ends it.
func (c *canvas) open(l boxLook, frame style) {
	c.put(frame, l.v)
	c.keep(1)
}

func (c *canvas) close(l boxLook, frame style) {
	c.release()
	c.put(frame, l.v)
	c.end()
}

// boxed writes one line of segments inside a box.
func (c *canvas) boxed(l boxLook, frame style, segments ...segment) {
	c.open(l, frame)
	c.puts(segments...)
	c.close(l, frame)
}

// tableHead writes the header of a table inside thin bars.
func (c *canvas) tableHead(th *theme, l *table.Layout, columns []table.Column, order table.Order, up, down string) {
	c.put(th.frame, thinBox.v)
	c.b = l.AppendHeader(c.b, columns, order, up, down, th.header)
	c.x += l.Width
	c.put(th.frame, thinBox.v)
	c.end()
}

// tableRow writes one row of it.
func (c *canvas) tableRow(th *theme, l *table.Layout, columns []table.Column, cells []table.Cell, look table.Look) {
	c.put(th.frame, thinBox.v)
	c.b = l.AppendRow(c.b, columns, cells, look)
	c.x += l.Width
	c.put(th.frame, thinBox.v)
	c.end()
}

// tableRest fills n lines below the rows; notes say why there are none, and stand in
// the first of them.
func (c *canvas) tableRest(th *theme, n int, notes []string) {
	notes = fitNotes(notes, c.w-5, n)
	for i := range max(n, 0) {
		text := ""
		if i < len(notes) {
			text = "  " + notes[i]
		}
		c.boxed(thinBox, th.frame, styled(th.text, text))
	}
}

// fitNotes breaks notes into lines of w cells, of which there is room for n: air before
// them is for where there is more. A note that is too long even so ends in the last
// line, to be cut there.
func fitNotes(notes []string, w, n int) []string {
	var lines, rests []string // what is left of the note from a line on
	for _, note := range notes {
		text := strings.TrimLeft(note, " ")
		indent := note[:len(note)-len(text)]
		parts := wrapText(text, max(w-len(indent), 10))
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

// wrapText breaks a safe text into lines of at most w cells, at blanks where that
// is possible.
func wrapText(text string, w int) []string {
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
