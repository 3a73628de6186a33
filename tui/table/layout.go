package table

// Column describes one column.
type Column struct {
	ID    string // names it in orders and filters
	Title string
	Width int // least width in cells
	// Flex is the column's share of the cells that are left over; 0 keeps Width.
	Flex int
	Max  int // bounds a flexible column; 0 does not
	Gap  int // cells before it; 0 means 1, negative none
	// Right aligns title and cells to the right.
	Right bool
	// From hides the column on tables narrower than this.
	From int
	// Rank decides who goes when the columns do not fit: the highest first, 0 never.
	Rank int
	// Fixed columns do not scroll sideways.
	Fixed bool
}

func (c *Column) gap() int {
	switch {
	case c.Gap > 0:
		return c.Gap
	case c.Gap < 0:
		return 0
	}
	return 1
}

// Place is a column that is shown.
type Place struct {
	Index    int // in the columns given to Fit
	X, Width int // X is relative to the table's left edge
}

// Layout says which columns are shown, and where.
type Layout struct {
	Width  int
	Places []Place
	// Hidden is how many columns were left out.
	Hidden int
}

// Gutter is the room left of the first column: cursor and mark.
const Gutter = 2

// Fit chooses the columns that fit into width: first those that From allows, then
// by rank, and shares out what is left. skip leaves out that many scrolling
// columns at the left; then From counts no longer, so that every column can be
// reached. view is the width that From is compared with (the screen's).
func Fit(columns []Column, width, view, skip int) Layout {
	l := Layout{Width: width, Places: make([]Place, 0, len(columns))}
	scrolled := skip > 0
	for i := range columns {
		c := &columns[i]
		switch {
		case !c.Fixed && skip > 0:
			skip--
			l.Hidden++
		case !scrolled && view < c.From:
			l.Hidden++
		default:
			l.Places = append(l.Places, Place{Index: i, Width: c.Width})
		}
	}
	for l.need(columns) > width && l.dropOne(columns, scrolled) {
		l.Hidden++
	}
	l.share(columns)
	l.place(columns)
	return l
}

func (l *Layout) need(columns []Column) int {
	n := Gutter
	for i, p := range l.Places {
		n += p.Width
		if i > 0 {
			n += columns[p.Index].gap()
		}
	}
	return n
}

// dropOne removes the column of the highest rank; scrolled sideways it is the
// rightmost that goes, since the operator is on his way to it.
func (l *Layout) dropOne(columns []Column, scrolled bool) bool {
	worst := -1
	for i, p := range l.Places {
		c := &columns[p.Index]
		switch {
		case scrolled && !c.Fixed:
			worst = i
		case scrolled || c.Rank == 0:
		case worst < 0 || c.Rank >= columns[l.Places[worst].Index].Rank: // of equals the rightmost
			worst = i
		}
	}
	if worst < 0 || len(l.Places) == 1 {
		return false
	}
	l.Places = append(l.Places[:worst], l.Places[worst+1:]...)
	return true
}

// share gives the left-over cells to the flexible columns by their weight.
func (l *Layout) share(columns []Column) {
	for {
		left, weights := l.Width-l.need(columns), 0
		for _, p := range l.Places {
			if c := &columns[p.Index]; c.Flex > 0 && (c.Max == 0 || p.Width < c.Max) {
				weights += c.Flex
			}
		}
		if left <= 0 || weights == 0 {
			return
		}
		given := 0
		for i := range l.Places {
			c := &columns[l.Places[i].Index]
			if c.Flex == 0 || (c.Max > 0 && l.Places[i].Width >= c.Max) {
				continue
			}
			n := max(left*c.Flex/weights, 1)
			if c.Max > 0 {
				n = min(n, c.Max-l.Places[i].Width)
			}
			n = min(n, left-given)
			l.Places[i].Width += n
			given += n
		}
		if given == 0 {
			return
		}
	}
}

func (l *Layout) place(columns []Column) {
	x := Gutter
	for i := range l.Places {
		if i > 0 {
			x += columns[l.Places[i].Index].gap()
		}
		l.Places[i].X = x
		l.Places[i].Width = max(min(l.Places[i].Width, l.Width-x), 0)
		x += l.Places[i].Width
	}
}

// WidthOf is the width of a column, 0 when it is not shown.
func (l *Layout) WidthOf(columns []Column, id string) int {
	for _, p := range l.Places {
		if columns[p.Index].ID == id {
			return p.Width
		}
	}
	return 0
}

// Cell is one cell: plain, safe text and a style.
type Cell struct {
	Text  string
	Style Style
	Name  bool // it is cut in the middle, since names begin alike
}

// Look is how a row is drawn.
type Look struct {
	Cursor, Mark string // the gutter's two cells: " " for none
	Gutter       Style
	// Row, when not zero, replaces the style of every cell: one style a row.
	Row Style
}

// AppendHeader appends the header in exactly l.Width cells. The column of the
// order gets the arrow.
func (l *Layout) AppendHeader(dst []byte, columns []Column, order Order, up, down string, style Style) []byte {
	dst = append(dst, style.Open...)
	x := 0
	for _, p := range l.Places {
		if p.Width == 0 {
			continue
		}
		c := &columns[p.Index]
		dst = AppendSpaces(dst, p.X-x)
		title := c.Title
		if c.ID == order.Column && c.ID != "" {
			arrow := up
			if order.Descending {
				arrow = down
			}
			title = Cut(title, p.Width-Width(arrow)) + arrow
		}
		dst = AppendCell(dst, title, p.Width, c.Right, Style{})
		x = p.X + p.Width
	}
	dst = AppendSpaces(dst, l.Width-x)
	return append(dst, style.Close...)
}

// AppendRow appends one row in exactly l.Width cells; cells are indexed as the
// columns given to Fit.
func (l *Layout) AppendRow(dst []byte, columns []Column, cells []Cell, look Look) []byte {
	plain := look.Row == Style{}
	if plain {
		dst = look.Gutter.Append(dst, look.Cursor+look.Mark)
	} else {
		dst = append(dst, look.Row.Open...)
		dst = append(dst, look.Cursor...)
		dst = append(dst, look.Mark...)
	}
	x := Gutter
	for _, p := range l.Places {
		if p.Width == 0 {
			continue
		}
		dst = AppendSpaces(dst, p.X-x)
		cell := &cells[p.Index]
		style := cell.Style
		if !plain {
			style = Style{}
		}
		text := cell.Text
		if cell.Name {
			text = CutMiddle(text, p.Width)
		}
		dst = AppendCell(dst, text, p.Width, columns[p.Index].Right, style)
		x = p.X + p.Width
	}
	dst = AppendSpaces(dst, l.Width-x)
	if !plain {
		dst = append(dst, look.Row.Close...)
	}
	return dst
}
