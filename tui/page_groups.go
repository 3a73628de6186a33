package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/table"
)

const (
	// rowsAtOnce are as many groups as one question is about.
	rowsAtOnce = 50
	// sortByLag is up to how many groups they are sorted by lag from the beginning,
	// for which the details of all are read.
	sortByLag = 500
)

// systemMark stands behind what is RocketMQ's own.
const systemMark = " (system)"

// groupEntry is one group of the list: its name at once, its details when they are
// read.
type groupEntry struct {
	name  inspect.GroupName // safe to print
	lower string            // for the order by name
	row   *inspect.GroupRow // safe to print; nil: not read yet
	asked time.Time         // when the details were asked for last
	at    time.Time         // when they came
}

// groupsView is the list of all groups: names first, the details of those on the
// screen, and of the others when the order or the filter needs them.
type groupsView struct {
	env     *env
	w, h    int
	names   question
	details question
	rows    lister[string]
	entries map[string]*groupEntry // by true name
	order   []string               // true names as the cluster lists them
	system  bool                   // RocketMQ's own groups are shown too
	systems int
	known   int // groups whose details are read
	widest  int // cells of the longest name
	list    inspect.GroupList
}

var (
	groupOrders  = []string{"lag", "group", "state", "members", "retry", "dlq", "tps"}
	groupColumns = []string{"lag", "retry", "dlq", "members", "unknown", "tps"} // that a filter compares
)

func newGroupsView(e *env) groupsView {
	v := groupsView{env: e, names: question{what: "groups", every: namesEvery}, details: question{what: "details of groups", every: detailsEvery},
		entries: map[string]*groupEntry{}}
	v.rows = lister[string]{env: e, title: "Groups", orders: groupOrders, rising: []string{"group", "state"}, focused: true}
	v.rows.order("lag")
	return v
}

func (v groupsView) filterText() string { return v.rows.filter.text }

func (v groupsView) subject() string { return "" }

func (v groupsView) narrow(text string) (page, error) {
	f, err := parseFilter(text, groupColumns)
	if err != nil {
		return v, err
	}
	v.rows.filter = f
	v.arrange()
	return v, nil
}

func (v groupsView) status() pageStatus {
	s := pageStatus{main: &v.names}
	if n := len(v.list.Problems); n > 0 {
		s.health = segment{v.env.th.warn, fmt.Sprintf(" ! partial: %s", problemText(v.list.Problems[0]))}
	}
	s.fine = plural(len(v.order)-v.hiddenSystems(), "group")
	if v.known < len(v.order)-v.hiddenSystems() {
		s.fine += fmt.Sprintf(" · details of %s read", grouped(int64(v.known)))
	}
	return s
}

func (v groupsView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.rows.columns = v.columns()
		v.rows.list.Resize(v.h - tableFrame)
	case dueMsg:
		return v.due()
	case hurryMsg:
		v.names.hurry()
		v.details.hurry()
		for _, k := range v.visible() {
			v.entries[k].asked = time.Time{}
		}
	case closedMsg:
		v.names.drop()
		v.details.drop()
	case answerMsg:
		v.answer(msg)
	case actionMsg:
		return v.act(msg.action)
	}
	return v, nil
}

func (v *groupsView) answer(msg answerMsg) {
	switch msg.kind {
	case askGroups:
		if v.names.answer(msg, v.env.now) && msg.err == "" {
			v.take(msg.raw.(inspect.GroupList), msg.safe.(inspect.GroupList))
		}
	case askGroupRows:
		if v.details.answer(msg, v.env.now) && msg.err == "" {
			v.takeRows(msg.names, msg.safe.([]inspect.GroupRow))
		}
	}
}

// take takes the names. Details that are known already stay.
func (v *groupsView) take(raw, safe inspect.GroupList) {
	first := v.order == nil
	v.list = safe
	v.order, v.systems, v.known, v.widest = make([]string, 0, len(raw.Groups)), 0, 0, 0
	entries := make(map[string]*groupEntry, len(raw.Groups))
	for i := range raw.Groups {
		name := raw.Groups[i].Group
		e := v.entries[name]
		if e == nil {
			e = &groupEntry{}
		}
		e.name, e.lower = safe.Groups[i], strings.ToLower(safe.Groups[i].Group)
		if e.row != nil {
			v.known++
		}
		width := table.Width(e.name.Group)
		if e.name.System {
			v.systems++
			width += len(systemMark)
		}
		v.widest = max(v.widest, width)
		entries[name] = e
		v.order = append(v.order, name)
	}
	v.entries, v.rows.columns = entries, v.columns()
	if first && len(v.order) > sortByLag && !v.rows.chosen {
		v.rows.order("group")
	}
	v.arrange()
}

// takeRows takes details: one row for each name that was asked for.
func (v *groupsView) takeRows(names []string, rows []inspect.GroupRow) {
	for i, name := range names {
		e := v.entries[name]
		if e == nil || i >= len(rows) {
			continue
		}
		if e.row == nil {
			v.known++
		}
		e.row, e.at = &rows[i], v.env.now
	}
	v.arrange()
}

// arrange filters and sorts.
func (v *groupsView) arrange() {
	keys := v.order
	if !v.system && v.systems > 0 {
		keys = make([]string, 0, len(v.order))
		for _, k := range v.order {
			if !v.entries[k].name.System {
				keys = append(keys, k)
			}
		}
	}
	v.rows.arrange(keys, v.passes, v.compare)
}

func (v *groupsView) passes(k string) bool {
	e := v.entries[k]
	return v.rows.filter.matches(func() string { return e.search() }, func(column string) (float64, bool) { return e.value(column) })
}

// search is what a filter looks through.
func (e *groupEntry) search() string {
	if e.row == nil {
		return e.name.Group
	}
	return e.name.Group + "\n" + e.state() + "\n" + e.kind() + "\n" + strings.Join(e.row.Topics, "\n")
}

// value is what a row is sorted and filtered by.
func (e *groupEntry) value(column string) (float64, bool) {
	if e.row == nil {
		return 0, false
	}
	of := func(n inspect.Number) (float64, bool) { return float64(n.Value), n.Known }
	switch column {
	case "lag":
		return of(e.row.Lag)
	case "retry":
		return of(e.row.RetryLag)
	case "dlq":
		return of(e.row.DeadLetters)
	case "members":
		return of(e.row.Members)
	case "unknown":
		return float64(e.row.UnknownQueues), true
	case "tps":
		return e.row.ConsumeTPS, true
	}
	return 0, false
}

// compare orders two groups; what is not known is last in either direction.
func (v *groupsView) compare(a, b string, o table.Order) int {
	x, y := v.entries[a], v.entries[b]
	c := 0
	switch o.Column {
	case "group":
		c = cmp.Compare(x.lower, y.lower)
	case "state":
		c = cmp.Compare(x.state(), y.state())
	default:
		m, known := x.value(o.Column)
		n, also := y.value(o.Column)
		switch {
		case known != also && known:
			return -1
		case known != also:
			return 1
		}
		c = cmp.Compare(m, n)
	}
	if o.Descending {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(x.lower, y.lower))
}

// visible are the true names on the screen.
func (v *groupsView) visible() []string {
	first, end := v.rows.list.Window()
	return v.rows.list.Keys()[first:end]
}

// due asks for the names, and for details: of the rows on the screen first, then of
// all others while the order or the filter needs them.
func (v groupsView) due() (page, request) {
	var asks []ask
	if v.names.due(v.env.now) {
		asks = append(asks, v.names.begin(v.env, askGroups))
	}
	if !v.details.asking {
		if names := v.wanted(); len(names) > 0 {
			asks = append(asks, v.details.begin(v.env, askGroupRows, names...))
			for _, n := range names {
				v.entries[n].asked = v.env.now
			}
		}
	}
	if asks == nil {
		return v, nil
	}
	return v, asksRequest{asks}
}

func (v *groupsView) wanted() (names []string) {
	now := v.env.now
	for _, k := range v.visible() {
		if e := v.entries[k]; e.asked.IsZero() || now.Sub(e.asked) >= detailsEvery {
			names = append(names, k)
		}
	}
	if len(names) > 0 || !v.needsAll() {
		return names
	}
	for _, k := range v.order {
		if e := v.entries[k]; e.row == nil && e.asked.IsZero() && (v.system || !e.name.System) {
			if names = append(names, k); len(names) == rowsAtOnce {
				break
			}
		}
	}
	return names
}

// needsAll reports whether the order or the filter is about details.
func (v *groupsView) needsAll() bool {
	return v.rows.list.Order.Column != "group" || v.rows.filter.column != ""
}

func (v groupsView) act(a action) (page, request) {
	key, ok := v.rows.list.Current()
	switch a {
	case "escape":
		arrange, taken := v.rows.escape()
		if arrange {
			v.arrange()
		}
		if !taken {
			return v, backRequest{}
		}
		return v, nil
	case "show-system":
		v.system = !v.system
		v.arrange()
		return v, nil
	case "detail":
		if ok {
			return v, watchRequest{key}
		}
	case "describe":
		if ok {
			return v, openRequest{place{view: viewGroup, group: key}}
		}
	case "copy", "copy-json":
		return v, v.copy(a == "copy-json")
	}
	arrange, _ := v.rows.act(a)
	if arrange {
		v.arrange()
	}
	return v, nil
}

// current is the true name under the cursor.
func (v groupsView) current() string {
	k, _ := v.rows.list.Current()
	return k
}

func (v *groupsView) copy(asJSON bool) request {
	keys := v.rows.targets()
	if len(keys) == 0 {
		return refuseRequest{"there is nothing under the cursor to copy"}
	}
	what := SafeText(keys[0])
	if len(keys) > 1 {
		what = plural(len(keys), "group")
	}
	if !asJSON {
		return copyRequest{literal(what, strings.Join(keys, "\n"))}
	}
	rows := make([]any, 0, len(keys))
	for _, k := range keys {
		if e := v.entries[k]; e.row != nil {
			rows = append(rows, *e.row)
		} else {
			rows = append(rows, e.name)
		}
	}
	return copyRequest{jsonText(what, rows)}
}

// The columns.
const (
	colGroup = iota
	colGroupState
	colGroupKind
	colGroupMembers
	colGroupLag
	colGroupRetry
	colGroupDLQ
	colGroupTPS
	colGroupTopics
	groupColumnCount
)

func (v *groupsView) columns() []table.Column {
	name := min(max(v.widest, 16), max(v.w/3, 18))
	return []table.Column{
		colGroup:        {ID: "group", Title: "group", Width: name, Flex: 3, Max: max(min(v.widest, 60), name), Fixed: true},
		colGroupState:   {ID: "state", Title: "state", Width: 12, Flex: 1, Max: 16, Gap: 2},
		colGroupKind:    {ID: "kind", Title: "consumes", Width: 12, Rank: 4, Flex: 1, Max: 18},
		colGroupMembers: {ID: "members", Title: "members", Width: 8, Right: true, Rank: 2},
		colGroupLag:     {ID: "lag", Title: "lag", Width: 11, Right: true},
		colGroupRetry:   {ID: "retry", Title: "retry", Width: 7, Right: true, Rank: 3},
		colGroupDLQ:     {ID: "dlq", Title: "dlq", Width: 6, Right: true, Rank: 3},
		colGroupTPS:     {ID: "tps", Title: "done/s", Width: 7, Right: true, Rank: 5},
		colGroupTopics:  {ID: "topics", Title: "topics", Width: 10, Flex: 2, Gap: 2, Rank: 6},
	}
}

// state is the one word of the list.
func (e *groupEntry) state() string {
	pause := e.name.Paused
	if e.row != nil && e.row.Paused.Of >= pause.Of {
		pause = e.row.Paused
	}
	switch {
	case pause.All():
		return "PAUSED"
	case len(pause.Brokers) > 0:
		return fmt.Sprintf("PAUSED %d/%d", len(pause.Brokers), pause.Of)
	case len(pause.Topics) > 0:
		return "PAUSED topic"
	case e.row == nil:
		return "…"
	case e.row.State == "":
		return unknown
	}
	return e.row.State
}

// kind is how the group consumes.
func (e *groupEntry) kind() string {
	if e.row == nil {
		return "…"
	}
	text := string(e.row.Kind)
	if e.row.Kind == inspect.KindUnknown || text == "" {
		return none
	}
	if e.row.Model == 2 {
		text += " broadcast"
	}
	if e.row.Orderly {
		text += " orderly"
	}
	return text
}

func (v *groupsView) cells(k string, cells []table.Cell) {
	e, th := v.entries[k], v.env.th
	name := e.name.Group
	if e.name.System {
		name += systemMark
	}
	cells[colGroup] = table.Cell{Text: name, Style: th.text}
	cells[colGroupState] = table.Cell{Text: e.state(), Style: v.stateStyle(e)}
	cells[colGroupKind] = table.Cell{Text: e.kind(), Style: th.dim}
	if e.row == nil {
		for _, i := range []int{colGroupMembers, colGroupLag, colGroupRetry, colGroupDLQ, colGroupTPS} {
			cells[i] = table.Cell{Text: "…", Style: th.dim}
		}
		return
	}
	r := e.row
	cells[colGroupMembers] = v.env.numberCell(r.Members, false)
	cells[colGroupLag] = v.env.numberCell(r.Lag, false)
	cells[colGroupRetry] = v.env.numberCell(r.RetryLag, true)
	cells[colGroupDLQ] = v.env.numberCell(r.DeadLetters, true)
	cells[colGroupTPS] = table.Cell{Text: short(r.ConsumeTPS), Style: th.text}
	topics := strings.Join(r.Topics, " ")
	if len(r.Problems) > 0 {
		topics = warning.sign() + " " + problemText(r.Problems[0])
	}
	cells[colGroupTopics] = table.Cell{Text: topics, Style: th.dim}
}

func (v *groupsView) stateStyle(e *groupEntry) style {
	th := v.env.th
	switch s := e.state(); {
	case strings.HasPrefix(s, "PAUSED"):
		return th.accent
	case s == "online":
		return th.good
	case s == "denied", s == unknown:
		return th.bad
	}
	return th.warn
}

func (v groupsView) view(w, h int) string {
	c := newCanvas(w, h)
	v.rows.draw(c, h, v.rows.details(v.progress()), v.cells, v.notes())
	c.blank(h)
	return c.String()
}

// progress says what is being read, and what is hidden.
func (v *groupsView) progress() string {
	parts := []string{}
	if note := v.names.note(v.env); note != "" {
		parts = append(parts, note)
	}
	if v.needsAll() && v.known < len(v.order)-v.hiddenSystems() {
		parts = append(parts, fmt.Sprintf("reading details: %s of %s", grouped(int64(v.known)), grouped(int64(len(v.order)-v.hiddenSystems()))))
	}
	if n := v.hiddenSystems(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d system hidden (%s)", n, v.env.keys.first("show-system")))
	}
	return strings.Join(parts, " · ")
}

func (v *groupsView) hiddenSystems() int {
	if v.system {
		return 0
	}
	return v.systems
}

func (v *groupsView) notes() []string {
	if lines := v.names.lines(v.env); lines != nil && !v.names.asked {
		return lines
	}
	if lines := v.rows.noMatch("group"); lines != nil {
		return lines
	}
	if !v.names.asked {
		return nil
	}
	lines := []string{"", "No consumer group is known to the brokers of this cluster.",
		"A group appears when its first member connects:  eyeq consume -g GROUP -t TOPIC"}
	if n := v.hiddenSystems(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of RocketMQ itself hidden · %s shows them", plural(n, "group"), v.env.keys.first("show-system")))
	}
	for _, p := range slices.Clip(v.list.Problems) {
		lines = append(lines, warning.sign()+" "+problemText(p))
	}
	return lines
}
