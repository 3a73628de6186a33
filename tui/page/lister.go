package page

import (
	"cmp"
	"fmt"
	"slices"

	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// Lister is a table of rows on a page: cursor, marks, window, filter and order. Rows
// are known by their keys, which are true names; what is drawn is asked for the
// visible rows only.
type Lister[K comparable] struct {
	Env     *Env
	Title   string
	List    table.State[K]
	Filter  Filter
	Columns []table.Column
	Orders  []string // the columns of the order, as a key goes through them
	Rising  []string // those that begin with the smallest
	Hidden  int      // rows that the filter hides
	Total   int
	Chosen  bool // the operator has moved the cursor
	Focused bool
	Beside  bool // other panes are shown with it
	SteadyOrder
}

// Act applies a key; arranged reports that rows must be put in order again. It is
// false when the key means nothing to a table.
func (l *Lister[K]) Act(a Action) (arrange, taken bool) {
	switch a {
	case "mark":
		l.Chosen = true
		l.List.ToggleMark()
		l.List.Move(1)
	case "mark-range":
		l.List.MarkRange()
	case "sort":
		if len(l.Orders) > 0 {
			l.List.NextOrder(l.Orders)
			l.List.Order.Descending = !slices.Contains(l.Rising, l.List.Order.Column)
		}
		return true, true
	case "sort-reverse":
		l.List.Order.Descending = !l.List.Order.Descending
		return true, true
	case "left":
		l.List.Left = max(l.List.Left-1, 0)
	case "right":
		l.List.Left = min(l.List.Left+1, max(len(l.Columns)-2, 0))
	case "far-left":
		l.List.Left = 0
	case "far-right":
		l.List.Left = max(len(l.Columns)-4, 0)
	default:
		if !MoveBy(&l.List, a) {
			return false, false
		}
		l.Chosen = true
	}
	return false, true
}

// Order sets the column that rows are sorted by; false when there is none of that name.
func (l *Lister[K]) Order(column string) bool {
	if !slices.Contains(l.Orders, column) {
		return false
	}
	l.List.Order = table.Order{Column: column, Descending: !slices.Contains(l.Rising, column)}
	return true
}

// Arrange takes the rows that pass and puts them in order. Nobody having chosen one,
// the first is shown.
func (l *Lister[K]) Arrange(keys []K, passes func(k K) bool, compare func(a, b K, o Ordering) int) {
	shown := make([]K, 0, len(keys))
	for _, k := range keys {
		if passes == nil || passes(k) {
			shown = append(shown, k)
		}
	}
	l.Total, l.Hidden = len(keys), len(keys)-len(shown)
	if compare != nil {
		shown = InOrder(&l.SteadyOrder, l.Begin(l.List.Order, l.Env.Now), shown, l.List.Keys(), compare)
	}
	l.List.SetKeys(shown)
	if !l.Chosen {
		l.List.MoveTo(0)
	}
}

// Directed turns a comparison round for a falling order.
func Directed(n int, o Ordering) int {
	if o.Descending {
		return -n
	}
	return n
}

// CompareKnown orders two figures; what is not known is last in either direction.
func CompareKnown(x float64, known bool, y float64, also bool, o Ordering) int {
	switch {
	case known && !also:
		return -1
	case also && !known:
		return 1
	case !known, o.Loose && Near(o.Column, x, y):
		return 0
	}
	return Directed(cmp.Compare(x, y), o)
}

// Narrow sets the filter, which may compare columns. Rows are to be arranged then.
func (l *Lister[K]) Narrow(text string, columns []string) error {
	f, err := ParseFilter(text, columns)
	if err == nil {
		l.Filter = f
	}
	return err
}

// Targets are the rows a key is about: the marked ones, else the one under the cursor.
func (l *Lister[K]) Targets() []K {
	if marked := l.List.Marked(); len(marked) > 0 {
		return marked
	}
	if k, ok := l.List.Current(); ok {
		return []K{k}
	}
	return nil
}

// Escape takes back the last thing that narrows the table.
func (l *Lister[K]) Escape() (arrange, taken bool) {
	switch {
	case l.Filter.Active():
		l.Filter = Filter{}
		return true, true
	case l.List.ClearMarks():
		return false, true
	case l.List.Left > 0:
		l.List.Left = 0
		return false, true
	}
	return false, false
}

// Details is the right part of the upper edge.
func (l *Lister[K]) Details(more string) string {
	text := ""
	add := func(s string) {
		if s != "" && text != "" {
			text += " · "
		}
		text += s
	}
	add(more)
	if n := l.List.MarkCount(); n > 0 {
		add(fmt.Sprintf("%d marked", n))
	}
	if l.Filter.Active() {
		add("filter " + draw.SafeText(l.Filter.Text))
	}
	if o := l.List.Order; o.Column != "" {
		add("sort " + l.OrderText(&l.Env.Glyphs, o))
	}
	return text
}

// NoMatch says that the filter hides everything.
func (l *Lister[K]) NoMatch(noun string) []string {
	if !l.Filter.Active() || l.Hidden == 0 {
		return nil
	}
	return []string{"", "No " + noun + " matches  /" + draw.SafeText(l.Filter.Text),
		words.Plural(l.Hidden, noun) + " hidden by the filter", "esc clear filter   " + l.Env.Keys.First("command") + " other view"}
}

// Draw draws the table in a box of h lines: the visible rows only, or the notes where
// there are none.
func (l *Lister[K]) Draw(c *draw.Canvas, h int, details string, cells func(k K, cells []table.Cell), notes []string) {
	th := l.Env.Theme
	rows := max(h-TableFrame, 0)
	l.List.Resize(rows)
	first, end := l.List.Window()
	title := l.Title
	if n := l.List.Len(); n > rows {
		title = fmt.Sprintf("%s  %d-%d of %s", l.Title, first+1, end, words.Grouped(int64(n)))
	} else if l.Hidden > 0 {
		title = fmt.Sprintf("%s  %s of %s", l.Title, words.Grouped(int64(n)), words.Grouped(int64(l.Total)))
	} else if n > 0 {
		title = fmt.Sprintf("%s  %s", l.Title, words.Grouped(int64(n)))
	}
	titleStyle := th.Bold
	if l.Focused {
		titleStyle = th.Title
	}
	c.Top(draw.PaneBox(l.Focused && l.Beside), th.Frame, titleStyle, title, details)
	if h < TableFrame {
		c.Bottom(draw.ThinBox, th.Frame)
		return
	}
	up, down := l.Arrows(&l.Env.Glyphs)
	drawRows(c, l.Env, &l.List, l.Columns, rows, up, down, func(i int, buffer []table.Cell) table.Look {
		k := l.List.Key(i)
		cells(k, buffer)
		return l.Env.Look(i == l.List.Cursor(), l.List.IsMarked(k), l.Focused)
	}, notes)
}

// drawRows draws a table below its upper edge: its head, then rows lines with what can be
// seen of it, or with the notes where there is no row.
func drawRows[K comparable](c *draw.Canvas, e *Env, s *table.State[K], columns []table.Column, rows int, up, down string, row func(i int, cells []table.Cell) table.Look, notes []string) {
	layout := table.Fit(columns, c.W-2, c.W, s.Left)
	c.TableHead(e.Theme, &layout, columns, s.Order, up, down)
	first, end := s.Window()
	cells := make([]table.Cell, len(columns))
	for i := first; i < end; i++ {
		clear(cells)
		look := row(i, cells)
		c.TableRow(e.Theme, &layout, columns, cells, look)
	}
	if first < end {
		notes = nil
	}
	c.TableRest(e.Theme, rows-(end-first), notes)
	c.Bottom(draw.ThinBox, e.Theme.Frame)
}

// Look of a row: the cursor is a sign, and reversed where the keys go.
func (e *Env) Look(cursor, marked, focused bool) table.Look {
	l := table.Look{Cursor: " ", Mark: " ", Gutter: e.Theme.Mark}
	if cursor {
		l.Cursor = e.Glyphs.Cursor
		if focused {
			l.Row = e.Theme.Cursor
		}
	}
	if marked {
		l.Mark = e.Glyphs.Mark
	}
	return l
}

// TableFrame is how many lines the edges and the header of a table take.
const TableFrame = 3

// Click selects a row of a table in a box of h lines, the first of which is line 0.
func (l *Lister[K]) Click(y, h int) {
	l.List.Resize(max(h-TableFrame, 0))
	if ClickRow(&l.List, y, 2) {
		l.Chosen = true
	}
}
