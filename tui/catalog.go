package tui

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

// rowsAtOnce are as many rows as one question for details is about, beyond those on
// the screen.
const rowsAtOnce = 50

// rowsOld is the age from which rows make a list doubtful as a whole.
const rowsOld = time.Minute

// catalogName is one name of a list, before anything else is known of it.
type catalogName struct {
	name   string // true name
	safe   string
	system bool // hidden unless asked for
}

// catalogEntry is one row of a catalog: its name at once, its details when they are
// read. Entries are owned by the catalog that is shown; no older one is looked at.
type catalogEntry[R any] struct {
	catalogName
	lower string
	width int       // cells of the name
	row   *R        // safe to print; nil: not read yet
	asked time.Time // when the details were asked for last
	read  time.Time // when those that are shown came
}

// catalog is a list of many things of a cluster: all names at once, the details of
// those on the screen, and of the others only when the order or the filter needs them:
// then those that were asked for the longest ago are asked for anew, some at a time.
type catalog[R any] struct {
	env     *env
	w, h    int
	names   question
	details question // about the rows that were wanted last
	rows    lister[string]
	entries map[string]*catalogEntry[R] // by true name
	order   []string                    // true names as the cluster lists them
	renewed time.Time                   // when rows that are not on the screen were asked for anew
	system  bool                        // what is hidden otherwise is shown too
	systems int
	known   int // entries whose details are read
	widest  int // cells of the longest name that is shown
	told    catalogState
	// search is what a filter looks through beside the name, value what it compares and
	// rows are sorted by; compare orders what is no number: 0 when it has nothing to say.
	search  func(r *R) string
	value   func(r *R, column string) (float64, bool)
	compare func(a, b *R, column string) int
	// trouble is what could not be learned of a row, and whether its state is none of those
	// that were asked about.
	trouble func(r *R) (problems []inspect.Problem, lost bool)
}

// catalogState is what the rows that the list is made of say together: when the oldest
// was read, how many are not known in part or at all, and one reason.
type catalogState struct {
	oldest     time.Time
	part, lost int
	why        string
}

func (c catalog[R]) filterText() string { return c.rows.filter.text }

func (c catalog[R]) subject() string { return "" }

// take takes the names. Details that are known already stay.
func (c *catalog[R]) take(names []catalogName) {
	c.order, c.systems, c.known = make([]string, 0, len(names)), 0, 0
	entries := make(map[string]*catalogEntry[R], len(names))
	for _, n := range names {
		e := c.entries[n.name]
		if e == nil {
			e = &catalogEntry[R]{}
		}
		e.catalogName, e.lower = n, strings.ToLower(n.safe)
		if e.row != nil {
			c.known++
		}
		e.width = table.Width(n.safe)
		if n.system {
			c.systems++
			e.width += len(systemMark)
		}
		entries[n.name] = e
		c.order = append(c.order, n.name)
	}
	c.entries = entries
}

// systemMark stands behind what is RocketMQ's own.
const systemMark = " (system)"

// takeRows takes details: one row for each name that was asked for.
func (c *catalog[R]) takeRows(names []string, rows []R) {
	for i, name := range names {
		e := c.entries[name]
		if e == nil || i >= len(rows) {
			continue
		}
		if e.row == nil {
			c.known++
		}
		e.row, e.read = &rows[i], c.env.now
	}
	c.arrange()
}

// arrange filters and sorts.
func (c *catalog[R]) arrange() {
	keys := c.order
	if c.hiding() > 0 {
		keys = make([]string, 0, len(c.order))
		for _, k := range c.order {
			if !c.entries[k].system {
				keys = append(keys, k)
			}
		}
	}
	if c.needsAll() && c.known < c.listed() { // the places are found while the list is being read
		c.rows.resort()
	}
	c.rows.arrange(keys, c.passes, func(a, b string, o ordering) int { return c.compareRows(c.entries[a], c.entries[b], o) })
	c.fitName()
}

// fitName gives the names the room that the shown ones need: what a hidden name would
// need is another column's.
func (c *catalog[R]) fitName() {
	shown := c.rows.list.Keys()
	if len(shown) == 0 || len(c.rows.columns) == 0 {
		return
	}
	c.widest = 0
	for _, k := range shown {
		c.widest = max(c.widest, c.entries[k].width)
	}
	c.rows.columns = slices.Clone(c.rows.columns)
	c.rows.columns[0] = c.nameColumn(c.rows.columns[0].Title)
}

func (c *catalog[R]) passes(k string) bool {
	e := c.entries[k]
	return c.rows.filter.matches(func() string {
		if e.row == nil {
			return e.safe
		}
		return e.safe + "\n" + c.search(e.row)
	}, func(column string) (float64, bool) { return c.figure(e, column) })
}

// compareRows orders two rows; what is not known is last in either direction, and
// rows that are equal are in the order of their names.
func (c *catalog[R]) compareRows(a, b *catalogEntry[R], o ordering) int {
	n := 0
	switch {
	case o.Column == nameOrder:
		return directed(cmp.Compare(a.lower, b.lower), o)
	case a.row != nil && b.row == nil:
		return -1
	case a.row == nil && b.row != nil:
		return 1
	case a.row != nil:
		n = directed(c.compare(a.row, b.row, o.Column), o)
	}
	if n == 0 {
		x, known := c.figure(a, o.Column)
		y, also := c.figure(b, o.Column)
		n = compareKnown(x, known, y, also, o)
	}
	if o.loose || o.bare {
		return n
	}
	return cmp.Or(n, cmp.Compare(a.lower, b.lower))
}

// figure is the value of a row whose details are read.
func (c *catalog[R]) figure(e *catalogEntry[R], column string) (float64, bool) {
	if e.row == nil {
		return 0, false
	}
	return c.value(e.row, column)
}

// nameOrder is the order that needs no details.
const nameOrder = "name"

// visible are the true names on the screen.
func (c *catalog[R]) visible() []string {
	first, end := c.rows.list.Window()
	return c.rows.list.Keys()[first:end]
}

// due asks for the names, and for details: of the rows on the screen first, then of
// all others while the order or the filter needs them.
func (c *catalog[R]) due() request {
	c.told = c.state()
	var asks []ask
	if c.names.due(c.env.now) {
		asks = append(asks, c.names.begin(c.env))
	}
	if !c.details.asking {
		if names := c.wanted(); len(names) > 0 {
			c.details.names = names
			asks = append(asks, c.details.begin(c.env))
			for _, n := range names {
				c.entries[n].asked = c.env.now
			}
		}
	}
	if asks == nil {
		return nil
	}
	return asksRequest{asks}
}

// ownUpdate takes what is the same for every catalog; false: it is not.
func (c *catalog[R]) ownUpdate(msg any) (r request, taken bool) {
	switch msg := msg.(type) {
	case dueMsg:
		return c.due(), true
	case hurryMsg:
		c.hurry()
	case closedMsg:
		c.drop()
	case namesMsg:
		if !c.names.asked && c.names.due(c.env.now) {
			return asksRequest{[]ask{c.names.begin(c.env)}}, true
		}
	case orderMsg:
		if !c.rows.order(msg.column) {
			return refuseRequest{"sort: columns are " + strings.Join(c.rows.orders, ", ")}, true
		}
		c.arrange()
	default:
		return nil, false
	}
	return nil, true
}

// wanted are the rows that are to be asked for: those on the screen, else some of the
// others: never asked for, or the longest ago.
func (c *catalog[R]) wanted() (names []string) {
	now := c.env.now
	old := func(e *catalogEntry[R]) bool { return e.asked.IsZero() || now.Sub(e.asked) >= detailsEvery }
	for _, k := range c.visible() {
		if old(c.entries[k]) {
			names = append(names, k)
		}
	}
	if len(names) > 0 || !c.needsAll() {
		return names
	}
	renew := now.Sub(c.renewed) >= detailsEvery
	for _, k := range c.order {
		if e := c.entries[k]; (c.system || !e.system) && (e.asked.IsZero() || renew && old(e)) {
			names = append(names, k)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return c.entries[a].asked.Compare(c.entries[b].asked) })
	names = names[:min(len(names), rowsAtOnce)]
	if n := len(names); n > 0 && !c.entries[names[n-1]].asked.IsZero() {
		c.renewed = now
	}
	return names
}

// needsAll reports whether the order or the filter is about details.
func (c *catalog[R]) needsAll() bool {
	return c.rows.list.Order.Column != nameOrder || c.rows.filter.column != ""
}

// hurry makes names and all details that are needed due at once.
func (c *catalog[R]) hurry() {
	c.names.hurried = true
	c.rows.resort()
	for _, k := range c.needed() {
		c.entries[k].asked = time.Time{}
	}
}

// needed are the true names whose details the list is made of.
func (c *catalog[R]) needed() []string {
	if !c.needsAll() {
		return c.visible()
	}
	if c.hiding() == 0 {
		return c.order
	}
	return slices.DeleteFunc(slices.Clone(c.order), func(k string) bool { return c.entries[k].system })
}

// state walks over the rows that the list is made of: once a message, before it is drawn.
func (c *catalog[R]) state() (s catalogState) {
	for _, k := range c.needed() {
		e := c.entries[k]
		if e.row == nil {
			continue
		}
		if s.oldest.IsZero() || e.read.Before(s.oldest) {
			s.oldest = e.read
		}
		problems, lost := c.trouble(e.row)
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
func (c *catalog[R]) health(noun string, list []inspect.Problem) draw.Segment {
	var row []inspect.Problem
	if k, ok := c.rows.list.Current(); ok && c.entries[k].row != nil {
		row, _ = c.trouble(c.entries[k].row)
	}
	th, t := c.env.th, &c.told
	s := partial(th, list, row)
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

func (c *catalog[R]) drop() {
	c.names.drop()
	if c.details.asking { // or they would count as asked for
		c.details.drop()
		for _, e := range c.entries {
			if e.row == nil {
				e.asked = time.Time{}
			}
		}
	}
}

// act does what a key means to any catalog.
func (c *catalog[R]) act(a action) request {
	switch a {
	case "escape":
		arrange, taken := c.rows.escape()
		if arrange {
			c.arrange()
		}
		if !taken {
			return backRequest{}
		}
		return nil
	case "show-system":
		c.system = !c.system
		c.arrange()
		return nil
	case "copy":
		return c.copy()
	}
	if arrange, _ := c.rows.act(a); arrange {
		c.arrange()
	}
	return nil
}

func (c *catalog[R]) narrow(text string, columns []string) error {
	err := c.rows.narrow(text, columns)
	if err == nil {
		c.arrange()
	}
	return err
}

// copy copies the names of the marked rows, or the one under the cursor.
func (c *catalog[R]) copy() request {
	keys := c.rows.targets()
	if len(keys) == 0 {
		return refuseRequest{"there is nothing under the cursor to copy"}
	}
	what := draw.SafeText(keys[0])
	if len(keys) > 1 {
		what = words.Plural(len(keys), "row")
	}
	return copyRequest{literal(what, strings.Join(keys, "\n"))}
}

// current is the true name under the cursor; "" in an empty list.
func (c *catalog[R]) current() string {
	k, _ := c.rows.list.Current()
	return k
}

func (c *catalog[R]) hiding() int {
	if c.system {
		return 0
	}
	return c.systems
}

// listed is how many rows there are without the hidden ones.
func (c *catalog[R]) listed() int { return len(c.order) - c.hiding() }

// status is what the page says of itself: how old its oldest row is, and what is wrong.
func (c *catalog[R]) status(noun string, problems []inspect.Problem) pageStatus {
	s := pageStatus{main: &c.names, fine: c.fine(noun), health: c.health(noun, problems), oldest: c.told.oldest}
	if old := c.env.now.Sub(s.oldest); s.health.Text == "" && !s.oldest.IsZero() && old > rowsOld {
		s.health = draw.Styled(c.env.th.Warn, " ! "+s.fine+" · rows up to "+words.Age(old)+" old")
	}
	return s
}

// fine says how much of the list is known, for the status line.
func (c *catalog[R]) fine(noun string) string {
	text := words.Plural(c.listed(), noun)
	if c.known < c.listed() {
		text += " · details of " + words.Grouped(int64(c.known)) + " read"
	}
	return text
}

// progress says what is being read and what is hidden, for the upper edge.
func (c *catalog[R]) progress() string {
	var parts []string
	if note := c.names.note(c.env); note != "" {
		parts = append(parts, note)
	}
	if c.needsAll() && c.known < c.listed() {
		parts = append(parts, fmt.Sprintf("reading details: %s of %s", words.Grouped(int64(c.known)), words.Grouped(int64(c.listed()))))
	}
	if f := &c.rows.filter; f.active() && !c.needsAll() && c.known < c.listed() { // what it finds of names alone
		parts = append(parts, "details of "+words.Grouped(int64(c.known))+" looked through")
	}
	if at := c.told.oldest; !at.IsZero() && c.env.now.Sub(at) > 2*detailsEvery+time.Second {
		parts = append(parts, "rows up to "+words.Age(c.env.now.Sub(at))+" old")
	}
	if n := c.hiding(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d hidden (%s shows)", n, c.env.keys.first("show-system")))
	}
	return strings.Join(parts, " · ")
}

// nameColumn is the column of the names.
func (c *catalog[R]) nameColumn(title string) table.Column {
	width := min(max(c.widest, 16), max(c.w/3, 18))
	return table.Column{ID: nameOrder, Title: title, Width: width, Flex: 3, Max: max(min(c.widest, 60), width), Fixed: true}
}

// nameCell is its cell.
func (e *catalogEntry[R]) nameCell(st draw.Style) table.Cell {
	if e.system {
		return table.Cell{Text: e.safe + systemMark, Style: st, Name: true}
	}
	return table.Cell{Text: e.safe, Style: st, Name: true}
}

// exportRows adds a row for each true name: the name, then the details; nulls where they
// were not read yet.
func (c *catalog[R]) exportRows(x *export, names []string, details func(*R) []any) {
	for _, k := range names {
		cells := make([]any, len(x.columns))
		cells[0] = k
		if r := c.entries[k].row; r != nil {
			copy(cells[1:], details(r))
		}
		x.rows = append(x.rows, cells)
	}
}
