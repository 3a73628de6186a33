package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// RowsAtOnce are as many rows as one question for details is about, beyond those on
// the screen.
const RowsAtOnce = 50

// rowsOld is the age from which rows make a list doubtful as a whole.
const rowsOld = time.Minute

// CatalogName is one name of a list, before anything else is known of it.
type CatalogName struct {
	Name   string // true name
	Safe   string
	System bool // hidden unless asked for
}

// CatalogEntry is one row of a catalog: its name at once, its details when they are
// read. Entries are owned by the catalog that is shown; no older one is looked at.
type CatalogEntry[R any] struct {
	CatalogName
	Lower string
	width int       // cells of the name
	Row   *R        // safe to print; nil: not read yet
	asked time.Time // when the details were asked for last
	read  time.Time // when those that are shown came
}

// Catalog is a list of many things of a cluster: all names at once, the details of
// those on the screen, and of the others only when the order or the filter needs them:
// then those that were asked for the longest ago are asked for anew, some at a time. L is
// the answer with the names, R what is known of one.
type Catalog[L, R any] struct {
	Env     *Env
	W, H    int
	Names   Question[L]
	Details Question[[]R] // about the rows that were wanted last
	Rows    Lister[string]
	Entries map[string]*CatalogEntry[R] // by true name
	Order   []string                    // true names as the cluster lists them
	renewed time.Time                   // when rows that are not on the screen were asked for anew
	system  bool                        // what is hidden otherwise is shown too
	systems int
	known   int // entries whose details are read
	widest  int // cells of the longest name that is shown
	told    catalogState
	// Search is what a filter looks through beside the name, value what it compares and
	// rows are sorted by; compare orders what is no number: 0 when it has nothing to say.
	Search  func(r *R) string
	Value   func(r *R, column string) (float64, bool)
	Compare func(a, b *R, column string) int
	// Trouble is what could not be learned of a row, and whether its state is none of those
	// that were asked about.
	Trouble func(r *R) (problems []inspect.Problem, lost bool)
}

// catalogState is what the rows that the list is made of say together: when the oldest
// was read, how many are not known in part or at all, and one reason.
type catalogState struct {
	oldest     time.Time
	part, lost int
	why        string
}

// FilterText is the filter in force.
func (c Catalog[L, R]) FilterText() string { return c.Rows.Filter.Text }

// Subject: a list of everything is about nothing.
func (c Catalog[L, R]) Subject() string { return "" }

// Take takes the names. Details that are known already stay.
func (c *Catalog[L, R]) Take(names []CatalogName) {
	c.Order, c.systems, c.known = make([]string, 0, len(names)), 0, 0
	entries := make(map[string]*CatalogEntry[R], len(names))
	for _, n := range names {
		e := c.Entries[n.Name]
		if e == nil {
			e = &CatalogEntry[R]{}
		}
		e.CatalogName, e.Lower = n, strings.ToLower(n.Safe)
		if e.Row != nil {
			c.known++
		}
		e.width = table.Width(n.Safe)
		if n.System {
			c.systems++
			e.width += len(systemMark)
		}
		entries[n.Name] = e
		c.Order = append(c.Order, n.Name)
	}
	c.Entries = entries
}

// systemMark stands behind what is RocketMQ's own.
const systemMark = " (system)"

// TakeRows takes details: one row for each name that was asked for.
func (c *Catalog[L, R]) TakeRows(names []string, rows []R) {
	for i, name := range names {
		e := c.Entries[name]
		if e == nil || i >= len(rows) {
			continue
		}
		if e.Row == nil {
			c.known++
		}
		e.Row, e.read = &rows[i], c.Env.Now
	}
	c.Arrange()
}

// Arrange filters and sorts.
func (c *Catalog[L, R]) Arrange() {
	keys := c.Order
	if c.Hiding() > 0 {
		keys = make([]string, 0, len(c.Order))
		for _, k := range c.Order {
			if !c.Entries[k].System {
				keys = append(keys, k)
			}
		}
	}
	if c.needsAll() && c.known < c.listed() { // the places are found while the list is being read
		c.Rows.Resort()
	}
	c.Rows.Arrange(keys, c.passes, func(a, b string, o Ordering) int { return c.CompareRows(c.Entries[a], c.Entries[b], o) })
	c.fitName()
}

// fitName gives the names the room that the shown ones need: what a hidden name would
// need is another column's.
func (c *Catalog[L, R]) fitName() {
	shown := c.Rows.List.Keys()
	if len(shown) == 0 || len(c.Rows.Columns) == 0 {
		return
	}
	c.widest = 0
	for _, k := range shown {
		c.widest = max(c.widest, c.Entries[k].width)
	}
	c.Rows.Columns = slices.Clone(c.Rows.Columns)
	c.Rows.Columns[0] = c.NameColumn(c.Rows.Columns[0].Title)
}

func (c *Catalog[L, R]) passes(k string) bool {
	e := c.Entries[k]
	return c.Rows.Filter.Matches(func() string {
		if e.Row == nil {
			return e.Safe
		}
		return e.Safe + "\n" + c.Search(e.Row)
	}, func(column string) (float64, bool) { return c.figure(e, column) })
}

// CompareRows orders two rows; what is not known is last in either direction, and
// rows that are equal are in the order of their names.
func (c *Catalog[L, R]) CompareRows(a, b *CatalogEntry[R], o Ordering) int {
	n := 0
	switch {
	case o.Column == NameOrder:
		return Directed(cmp.Compare(a.Lower, b.Lower), o)
	case a.Row != nil && b.Row == nil:
		return -1
	case a.Row == nil && b.Row != nil:
		return 1
	case a.Row != nil:
		n = Directed(c.Compare(a.Row, b.Row, o.Column), o)
	}
	if n == 0 {
		x, known := c.figure(a, o.Column)
		y, also := c.figure(b, o.Column)
		n = CompareKnown(x, known, y, also, o)
	}
	if o.Loose || o.Bare {
		return n
	}
	return cmp.Or(n, cmp.Compare(a.Lower, b.Lower))
}

// figure is the value of a row whose details are read.
func (c *Catalog[L, R]) figure(e *CatalogEntry[R], column string) (float64, bool) {
	if e.Row == nil {
		return 0, false
	}
	return c.Value(e.Row, column)
}

// NameOrder is the order that needs no details.
const NameOrder = "name"

// visible are the true names on the screen.
func (c *Catalog[L, R]) visible() []string {
	first, end := c.Rows.List.Window()
	return c.Rows.List.Keys()[first:end]
}

// due asks for the names, and for details: of the rows on the screen first, then of
// all others while the order or the filter needs them.
func (c *Catalog[L, R]) due() Request {
	c.told = c.state()
	var asks []ask
	if c.Names.Due(c.Env.Now) {
		asks = append(asks, c.Names.Begin(c.Env))
	}
	if !c.Details.Asking {
		if names := c.wanted(); len(names) > 0 {
			c.Details.Names = names
			asks = append(asks, c.Details.Begin(c.Env))
			for _, n := range names {
				c.Entries[n].asked = c.Env.Now
			}
		}
	}
	if asks == nil {
		return nil
	}
	return AsksRequest{asks}
}

// OwnUpdate takes what is the same for every catalog; false: it is not.
func (c *Catalog[L, R]) OwnUpdate(msg any) (r Request, taken bool) {
	switch msg := msg.(type) {
	case DueMsg:
		return c.due(), true
	case HurryMsg:
		c.hurry()
	case ClosedMsg:
		c.drop()
	case NamesMsg:
		if !c.Names.Asked && c.Names.Due(c.Env.Now) {
			return AsksRequest{[]ask{c.Names.Begin(c.Env)}}, true
		}
	case OrderMsg:
		if !c.Rows.Order(msg.Column) {
			return RefuseRequest{"sort: columns are " + strings.Join(c.Rows.Orders, ", ")}, true
		}
		c.Arrange()
	default:
		return nil, false
	}
	return nil, true
}

// wanted are the rows that are to be asked for: those on the screen, else some of the
// others: never asked for, or the longest ago.
func (c *Catalog[L, R]) wanted() (names []string) {
	now := c.Env.Now
	old := func(e *CatalogEntry[R]) bool { return e.asked.IsZero() || now.Sub(e.asked) >= DetailsEvery }
	for _, k := range c.visible() {
		if old(c.Entries[k]) {
			names = append(names, k)
		}
	}
	if len(names) > 0 || !c.needsAll() {
		return names
	}
	renew := now.Sub(c.renewed) >= DetailsEvery
	for _, k := range c.Order {
		if e := c.Entries[k]; (c.system || !e.System) && (e.asked.IsZero() || renew && old(e)) {
			names = append(names, k)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return c.Entries[a].asked.Compare(c.Entries[b].asked) })
	names = names[:min(len(names), RowsAtOnce)]
	if n := len(names); n > 0 && !c.Entries[names[n-1]].asked.IsZero() {
		c.renewed = now
	}
	return names
}

// needsAll reports whether the order or the filter is about details.
func (c *Catalog[L, R]) needsAll() bool {
	return c.Rows.List.Order.Column != NameOrder || c.Rows.Filter.column != ""
}

// hurry makes names and all details that are needed due at once.
func (c *Catalog[L, R]) hurry() {
	c.Names.Hurried = true
	c.Rows.Resort()
	for _, k := range c.needed() {
		c.Entries[k].asked = time.Time{}
	}
}

// needed are the true names whose details the list is made of.
func (c *Catalog[L, R]) needed() []string {
	if !c.needsAll() {
		return c.visible()
	}
	if c.Hiding() == 0 {
		return c.Order
	}
	return slices.DeleteFunc(slices.Clone(c.Order), func(k string) bool { return c.Entries[k].System })
}

// state walks over the rows that the list is made of: once a message, before it is drawn.
func (c *Catalog[L, R]) state() (s catalogState) {
	for _, k := range c.needed() {
		e := c.Entries[k]
		if e.Row == nil {
			continue
		}
		if s.oldest.IsZero() || e.read.Before(s.oldest) {
			s.oldest = e.read
		}
		problems, lost := c.Trouble(e.Row)
		if lost {
			s.lost++
		} else if len(problems) > 0 {
			s.part++
		}
		if len(problems) > 0 && (s.why == "" || lost && s.lost == 1) {
			s.why = problems[0].String()
		}
	}
	return s
}

// health is what is wrong: the list, the row under the cursor, which has hardly room to
// say so itself, or other rows; the worst of them gives the colour.
func (c *Catalog[L, R]) health(noun string, list []inspect.Problem) draw.Segment {
	var row []inspect.Problem
	if k, ok := c.Rows.List.Current(); ok && c.Entries[k].Row != nil {
		row, _ = c.Trouble(c.Entries[k].Row)
	}
	th, t := c.Env.Theme, &c.told
	s := Partial(th, list, row)
	switch count := func(n int, what string) string {
		return fmt.Sprintf("%s of %s %s: %s", words.Grouped(int64(n)), words.Plural(c.listed(), noun), what, t.why)
	}; {
	case t.lost > 0:
		s = draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+count(t.lost, "not known"))
	case s.Text == "" && t.part > 0:
		s = draw.Styled(th.Warn, " ! "+count(t.part, "partial"))
	}
	return s
}

func (c *Catalog[L, R]) drop() {
	c.Names.Drop()
	if c.Details.Asking { // or they would count as asked for
		c.Details.Drop()
		for _, e := range c.Entries {
			if e.Row == nil {
				e.asked = time.Time{}
			}
		}
	}
}

// Act does what a key means to any catalog.
func (c *Catalog[L, R]) Act(a Action) Request {
	switch a {
	case "escape":
		arrange, taken := c.Rows.Escape()
		if arrange {
			c.Arrange()
		}
		if !taken {
			return BackRequest{}
		}
		return nil
	case "show-system":
		c.system = !c.system
		c.Arrange()
		return nil
	case "copy":
		return c.copy()
	}
	if arrange, _ := c.Rows.Act(a); arrange {
		c.Arrange()
	}
	return nil
}

// Narrow tries another filter over the named columns; a bad one leaves the list as it is.
func (c *Catalog[L, R]) Narrow(text string, columns []string) error {
	err := c.Rows.Narrow(text, columns)
	if err == nil {
		c.Arrange()
	}
	return err
}

// copy copies the names of the marked rows, or the one under the cursor.
func (c *Catalog[L, R]) copy() Request {
	keys := c.Rows.Targets()
	if len(keys) == 0 {
		return RefuseRequest{"there is nothing under the cursor to copy"}
	}
	what := draw.SafeText(keys[0])
	if len(keys) > 1 {
		what = words.Plural(len(keys), "row")
	}
	return CopyRequest{Literal(what, strings.Join(keys, "\n"))}
}

// Current is the true name under the cursor; "" in an empty list.
func (c *Catalog[L, R]) Current() string {
	k, _ := c.Rows.List.Current()
	return k
}

// Hiding is how many rows the filter hides.
func (c *Catalog[L, R]) Hiding() int {
	if c.system {
		return 0
	}
	return c.systems
}

// listed is how many rows there are without the hidden ones.
func (c *Catalog[L, R]) listed() int { return len(c.Order) - c.Hiding() }

// Status is what the page says of itself: how old its oldest row is, and what is wrong.
func (c *Catalog[L, R]) Status(noun string, problems []inspect.Problem) Status {
	s := Status{Main: &c.Names.Schedule, Fine: c.fine(noun), Health: c.health(noun, problems), Oldest: c.told.oldest}
	if old := c.Env.Now.Sub(s.Oldest); s.Health.Text == "" && !s.Oldest.IsZero() && old > rowsOld {
		s.Health = draw.Styled(c.Env.Theme.Warn, " ! "+s.Fine+" · rows up to "+words.Age(old)+" old")
	}
	return s
}

// fine says how much of the list is known, for the status line.
func (c *Catalog[L, R]) fine(noun string) string {
	text := words.Plural(c.listed(), noun)
	if c.known < c.listed() {
		text += " · details of " + words.Grouped(int64(c.known)) + " read"
	}
	return text
}

// Progress says what is being read and what is hidden, for the upper edge.
func (c *Catalog[L, R]) Progress() string {
	var parts []string
	if note := c.Names.Note(c.Env); note != "" {
		parts = append(parts, note)
	}
	if c.needsAll() && c.known < c.listed() {
		parts = append(parts, fmt.Sprintf("reading details: %s of %s", words.Grouped(int64(c.known)), words.Grouped(int64(c.listed()))))
	}
	if f := &c.Rows.Filter; f.Active() && !c.needsAll() && c.known < c.listed() { // what it finds of names alone
		parts = append(parts, "details of "+words.Grouped(int64(c.known))+" looked through")
	}
	if at := c.told.oldest; !at.IsZero() && c.Env.Now.Sub(at) > 2*DetailsEvery+time.Second {
		parts = append(parts, "rows up to "+words.Age(c.Env.Now.Sub(at))+" old")
	}
	if n := c.Hiding(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d hidden (%s shows)", n, c.Env.Keys.First("show-system")))
	}
	return strings.Join(parts, " · ")
}

// NameColumn is the column of the names.
func (c *Catalog[L, R]) NameColumn(title string) table.Column {
	width := min(max(c.widest, 16), max(c.W/3, 18))
	return table.Column{ID: NameOrder, Title: title, Width: width, Flex: 3, Max: max(min(c.widest, 60), width), Fixed: true}
}

// NameCell is its cell.
func (e *CatalogEntry[R]) NameCell(st draw.Style) table.Cell {
	if e.System {
		return table.Cell{Text: e.Safe + systemMark, Style: st, Name: true}
	}
	return table.Cell{Text: e.Safe, Style: st, Name: true}
}

// ExportRows adds a row for each true name: the name, then the details; nulls where they
// were not read yet.
func (c *Catalog[L, R]) ExportRows(x *Export, names []string, details func(*R) []any) {
	for _, k := range names {
		cells := make([]any, len(x.Columns))
		cells[0] = k
		if r := c.Entries[k].Row; r != nil {
			copy(cells[1:], details(r))
		}
		x.Rows = append(x.Rows, cells)
	}
}
