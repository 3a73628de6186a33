package tui

import (
	"cmp"
	"fmt"
	"slices"

	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// lister is a table of rows on a page: cursor, marks, window, filter and order. Rows
// are known by their keys, which are true names; what is drawn is asked for the
// visible rows only.
type lister[K comparable] struct {
	env     *env
	title   string
	list    table.State[K]
	filter  filter
	columns []table.Column
	orders  []string // the columns of the order, as a key goes through them
	rising  []string // those that begin with the smallest
	hidden  int      // rows that the filter hides
	total   int
	chosen  bool // the operator has moved the cursor
	focused bool
	beside  bool // other panes are shown with it
	steadyOrder
}

// act applies a key; arranged reports that rows must be put in order again. It is
// false when the key means nothing to a table.
func (l *lister[K]) act(a action) (arrange, taken bool) {
	switch a {
	case "mark":
		l.chosen = true
		l.list.ToggleMark()
		l.list.Move(1)
	case "mark-range":
		l.list.MarkRange()
	case "sort":
		if len(l.orders) > 0 {
			l.list.NextOrder(l.orders)
			l.list.Order.Descending = !slices.Contains(l.rising, l.list.Order.Column)
		}
		return true, true
	case "sort-reverse":
		l.list.Order.Descending = !l.list.Order.Descending
		return true, true
	case "left":
		l.list.Left = max(l.list.Left-1, 0)
	case "right":
		l.list.Left = min(l.list.Left+1, max(len(l.columns)-2, 0))
	case "far-left":
		l.list.Left = 0
	case "far-right":
		l.list.Left = max(len(l.columns)-4, 0)
	default:
		if !moveBy(&l.list, a) {
			return false, false
		}
		l.chosen = true
	}
	return false, true
}

// order sets the column that rows are sorted by; false when there is none of that name.
func (l *lister[K]) order(column string) bool {
	if !slices.Contains(l.orders, column) {
		return false
	}
	l.list.Order = table.Order{Column: column, Descending: !slices.Contains(l.rising, column)}
	return true
}

// arrange takes the rows that pass and puts them in order. Nobody having chosen one,
// the first is shown.
func (l *lister[K]) arrange(keys []K, passes func(k K) bool, compare func(a, b K, o ordering) int) {
	shown := make([]K, 0, len(keys))
	for _, k := range keys {
		if passes == nil || passes(k) {
			shown = append(shown, k)
		}
	}
	l.total, l.hidden = len(keys), len(keys)-len(shown)
	if compare != nil {
		shown = inOrder(&l.steadyOrder, l.begin(l.list.Order, l.env.now), shown, l.list.Keys(), compare)
	}
	l.list.SetKeys(shown)
	if !l.chosen {
		l.list.MoveTo(0)
	}
}

// directed turns a comparison round for a falling order.
func directed(n int, o ordering) int {
	if o.Descending {
		return -n
	}
	return n
}

// compareKnown orders two figures; what is not known is last in either direction.
func compareKnown(x float64, known bool, y float64, also bool, o ordering) int {
	switch {
	case known && !also:
		return -1
	case also && !known:
		return 1
	case !known, o.loose && near(o.Column, x, y):
		return 0
	}
	return directed(cmp.Compare(x, y), o)
}

// narrow sets the filter, which may compare columns. Rows are to be arranged then.
func (l *lister[K]) narrow(text string, columns []string) error {
	f, err := parseFilter(text, columns)
	if err == nil {
		l.filter = f
	}
	return err
}

// targets are the rows a key is about: the marked ones, else the one under the cursor.
func (l *lister[K]) targets() []K {
	if marked := l.list.Marked(); len(marked) > 0 {
		return marked
	}
	if k, ok := l.list.Current(); ok {
		return []K{k}
	}
	return nil
}

// escape takes back the last thing that narrows the table.
func (l *lister[K]) escape() (arrange, taken bool) {
	switch {
	case l.filter.active():
		l.filter = filter{}
		return true, true
	case l.list.ClearMarks():
		return false, true
	case l.list.Left > 0:
		l.list.Left = 0
		return false, true
	}
	return false, false
}

// details is the right part of the upper edge.
func (l *lister[K]) details(more string) string {
	text := ""
	add := func(s string) {
		if s != "" && text != "" {
			text += " · "
		}
		text += s
	}
	add(more)
	if n := l.list.MarkCount(); n > 0 {
		add(fmt.Sprintf("%d marked", n))
	}
	if l.filter.active() {
		add("filter " + draw.SafeText(l.filter.text))
	}
	if o := l.list.Order; o.Column != "" {
		add("sort " + l.orderText(&l.env.g, o))
	}
	return text
}

// noMatch says that the filter hides everything.
func (l *lister[K]) noMatch(noun string) []string {
	if !l.filter.active() || l.hidden == 0 {
		return nil
	}
	return []string{"", "No " + noun + " matches  /" + draw.SafeText(l.filter.text),
		words.Plural(l.hidden, noun) + " hidden by the filter", "esc clear filter   " + l.env.keys.first("command") + " other view"}
}

// draw draws the table in a box of h lines: the visible rows only, or the notes where
// there are none.
func (l *lister[K]) draw(c *draw.Canvas, h int, details string, cells func(k K, cells []table.Cell), notes []string) {
	th := l.env.th
	rows := max(h-tableFrame, 0)
	l.list.Resize(rows)
	first, end := l.list.Window()
	title := l.title
	if n := l.list.Len(); n > rows {
		title = fmt.Sprintf("%s  %d-%d of %s", l.title, first+1, end, words.Grouped(int64(n)))
	} else if l.hidden > 0 {
		title = fmt.Sprintf("%s  %s of %s", l.title, words.Grouped(int64(n)), words.Grouped(int64(l.total)))
	} else if n > 0 {
		title = fmt.Sprintf("%s  %s", l.title, words.Grouped(int64(n)))
	}
	titleStyle := th.Bold
	if l.focused {
		titleStyle = th.Title
	}
	c.Top(draw.PaneBox(l.focused && l.beside), th.Frame, titleStyle, title, details)
	if h < tableFrame {
		c.Bottom(draw.ThinBox, th.Frame)
		return
	}
	up, down := l.arrows(&l.env.g)
	drawRows(c, l.env, &l.list, l.columns, rows, up, down, func(i int, buffer []table.Cell) table.Look {
		k := l.list.Key(i)
		cells(k, buffer)
		return l.env.look(i == l.list.Cursor(), l.list.IsMarked(k), l.focused)
	}, notes)
}

// drawRows draws a table below its upper edge: its head, then rows lines with what can be
// seen of it, or with the notes where there is no row.
func drawRows[K comparable](c *draw.Canvas, e *env, s *table.State[K], columns []table.Column, rows int, up, down string, row func(i int, cells []table.Cell) table.Look, notes []string) {
	layout := table.Fit(columns, c.W-2, c.W, s.Left)
	c.TableHead(e.th, &layout, columns, s.Order, up, down)
	first, end := s.Window()
	cells := make([]table.Cell, len(columns))
	for i := first; i < end; i++ {
		clear(cells)
		look := row(i, cells)
		c.TableRow(e.th, &layout, columns, cells, look)
	}
	if first < end {
		notes = nil
	}
	c.TableRest(e.th, rows-(end-first), notes)
	c.Bottom(draw.ThinBox, e.th.Frame)
}

// look of a row: the cursor is a sign, and reversed where the keys go.
func (e *env) look(cursor, marked, focused bool) table.Look {
	l := table.Look{Cursor: " ", Mark: " ", Gutter: e.th.Mark}
	if cursor {
		l.Cursor = e.g.Cursor
		if focused {
			l.Row = e.th.Cursor
		}
	}
	if marked {
		l.Mark = e.g.Mark
	}
	return l
}

const tableFrame = 3 // edges and header of the queue table

// click selects a row of a table in a box of h lines, the first of which is line 0.
func (l *lister[K]) click(y, h int) {
	l.list.Resize(max(h-tableFrame, 0))
	if clickRow(&l.list, y, 2) {
		l.chosen = true
	}
}
