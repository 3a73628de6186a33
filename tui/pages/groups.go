package pages

import (
	"cmp"
	"fmt"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// sortByLag is up to how many groups they are sorted by lag from the beginning, for
// which the details of all are read.
const sortByLag = 500

// GroupsView is the list of all groups.
type GroupsView struct {
	page.Catalog[inspect.GroupList, inspect.GroupRow]
	list inspect.GroupList // safe to print
	// paused is what the list itself says, by true name.
	paused map[string]inspect.Pause
}

var (
	GroupOrders  = []string{"lag", page.NameOrder, "state", "members", "retry", "dlq", "tps"}
	groupColumns = []string{"lag", "retry", "dlq", "members", "unknown", "tps"} // that a filter compares
)

// NewGroupsView is the list of all groups.
func NewGroupsView(e *page.Env) GroupsView {
	v := GroupsView{Catalog: page.Catalog[inspect.GroupList, inspect.GroupRow]{Env: e,
		Names:   page.Question[inspect.GroupList]{Ask: page.All(page.Cluster.Groups), Schedule: page.Schedule{What: "groups", Every: page.NamesEvery}},
		Details: page.Question[[]inspect.GroupRow]{Ask: page.Rows(page.Cluster.GroupRows), Schedule: page.Schedule{What: "details of groups", Every: page.DetailsEvery}},
		Search:  groupSearch, Value: groupValue, Compare: groupCompare, Trouble: groupTrouble}}
	v.Rows = page.Lister[string]{Env: e, Title: "Groups", Orders: GroupOrders, Rising: []string{page.NameOrder, "state"}, Focused: true}
	v.Rows.Order("lag")
	return v
}

// Narrow implements page.Page.
func (v GroupsView) Narrow(text string) (page.Page, error) {
	err := v.Catalog.Narrow(text, groupColumns)
	return v, err
}

// Status implements page.Page.
func (v GroupsView) Status() page.Status {
	return v.Catalog.Status("group", v.list.Problems)
}

// Update implements page.Page.
func (v GroupsView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.W, v.H = msg.W, msg.H
		v.Rows.Columns = v.columns()
		v.Rows.List.Resize(v.H - page.TableFrame)
	case page.AnswerMsg:
		v.answer(msg)
	case page.ClickMsg:
		v.Rows.Click(msg.Y, v.H)
	case page.ActionMsg:
		key, ok := v.Rows.List.Current()
		switch {
		case msg.Action == "detail" && ok:
			return v, page.WatchRequest{Group: key}
		case msg.Action == "describe" && ok:
			return v, page.OpenRequest{Place: page.Place{View: page.ViewGroup, Group: key}}
		case msg.Action == "copy-json" && ok:
			return v, page.CopyRequest{Copied: v.rowsOf(v.Rows.Targets()).Copied(draw.SafeText(key))}
		case msg.Action == "detail", msg.Action == "describe":
			return v, nil
		}
		r := v.Act(msg.Action)
		return v, r
	default:
		r, _ := v.OwnUpdate(msg)
		return v, r
	}
	return v, nil
}

func (v *GroupsView) answer(msg page.AnswerMsg) {
	if raw, safe, ok := v.Names.Take(msg, v.Env.Now); ok {
		v.takeNames(raw, safe)
	} else if _, rows, ok := v.Details.Take(msg, v.Env.Now); ok {
		v.TakeRows(msg.Names, rows)
	}
}

func (v *GroupsView) takeNames(raw, safe inspect.GroupList) {
	first := v.Order == nil
	v.list, v.paused = safe, make(map[string]inspect.Pause)
	names := make([]page.CatalogName, len(raw.Groups))
	for i := range raw.Groups {
		g := &safe.Groups[i]
		names[i] = page.CatalogName{Name: raw.Groups[i].Group, Safe: g.Group, System: g.System}
		if g.Paused.Any() {
			v.paused[names[i].Name] = g.Paused
		}
	}
	v.Take(names)
	v.Rows.Columns = v.columns()
	if first && len(names) > sortByLag && !v.Rows.Chosen {
		v.Rows.Order(page.NameOrder)
	}
	v.Arrange()
}

// groupSearch is what a filter looks through.
func groupSearch(r *inspect.GroupRow) string {
	return groupState(r) + "\n" + groupKind(r) + "\n" + strings.Join(r.Topics, "\n")
}

func groupValue(r *inspect.GroupRow, column string) (float64, bool) {
	of := func(n inspect.Number) (float64, bool) { return float64(n.Value), n.Known }
	switch column {
	case "lag":
		return of(r.Lag)
	case "retry":
		return of(r.RetryLag)
	case "dlq":
		return of(r.DeadLetters)
	case "members":
		return of(r.Members)
	case "unknown":
		return float64(r.UnknownQueues), true
	case "tps":
		return r.ConsumeTPS, ratesKnown(r)
	}
	return 0, false
}

// ratesKnown reports whether a broker has said how fast the group consumes.
func ratesKnown(r *inspect.GroupRow) bool { return r.ConsumeTPS > 0 || !lostState(r.State) }

func groupTrouble(r *inspect.GroupRow) (problems []inspect.Problem, lost bool) {
	return r.Problems, lostState(r.State)
}

// lostState reports whether a state of a group is that nothing is known of it.
func lostState(state string) bool {
	return state == inspect.StateDenied || state == inspect.StateUnreachable || state == inspect.StateUnknown
}

func groupCompare(a, b *inspect.GroupRow, column string) int {
	if column != "state" {
		return 0
	}
	return cmp.Compare(groupState(a), groupState(b))
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
)

func (v *GroupsView) columns() []table.Column {
	return []table.Column{
		colGroup:        v.NameColumn("group"),
		colGroupState:   {ID: "state", Title: "state", Width: 12, Flex: 1, Max: 14, Gap: 2},
		colGroupKind:    {ID: "kind", Title: "consumes", Width: 14, Rank: 4, Flex: 1, Max: 18},
		colGroupMembers: {ID: "members", Title: "members", Width: 8, Right: true, Rank: 2},
		colGroupLag:     {ID: "lag", Title: "lag", Width: 11, Right: true},
		colGroupRetry:   {ID: "retry", Title: "retry", Width: 7, Right: true, Rank: 3},
		colGroupDLQ:     {ID: "dlq", Title: "dlq", Width: 6, Right: true, Rank: 3},
		colGroupTPS:     {ID: "tps", Title: "done/s", Width: 7, Right: true, Rank: 5},
		colGroupTopics:  {ID: "topics", Title: "topics", Width: 10, Flex: 4, Gap: 2, Rank: 6},
	}
}

func (v *GroupsView) cells(k string, cells []table.Cell) {
	e, th := v.Entries[k], v.Env.Theme
	cells[colGroup] = e.NameCell(th.Text)
	if e.Row == nil {
		state := "…"
		if p, ok := v.paused[k]; ok {
			state = pauseText(p)
		}
		cells[colGroupState] = table.Cell{Text: state, Style: groupStyle(th, state)}
		for _, i := range []int{colGroupKind, colGroupMembers, colGroupLag, colGroupRetry, colGroupDLQ, colGroupTPS} {
			cells[i] = table.Cell{Text: "…", Style: th.Dim}
		}
		return
	}
	r := e.Row
	state := groupState(r)
	cells[colGroupState] = table.Cell{Text: state, Style: groupStyle(th, state)}
	cells[colGroupKind] = table.Cell{Text: groupKind(r), Style: th.Dim}
	cells[colGroupMembers] = v.Env.NumberCell(r.Members, false)
	cells[colGroupLag] = v.Env.NumberCell(r.Lag, false)
	cells[colGroupRetry] = v.Env.NumberCell(r.RetryLag, true)
	cells[colGroupDLQ] = v.Env.NumberCell(r.DeadLetters, true)
	cells[colGroupTPS] = table.Cell{Text: words.Unknown, Style: th.Warn}
	if ratesKnown(r) {
		cells[colGroupTPS] = table.Cell{Text: words.Short(r.ConsumeTPS), Style: th.Text}
	}
	topics := strings.Join(r.Topics, " ")
	if len(r.Problems) > 0 {
		topics = words.Warning.Sign() + " " + r.Problems[0].String()
	}
	cells[colGroupTopics] = table.Cell{Text: topics, Style: th.Dim}
}

// View implements page.Page.
func (v GroupsView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	v.Rows.Draw(c, h, v.Rows.Details(v.Progress()), v.cells, v.notes())
	c.Blank(h)
	return c.String()
}

// notes say why there is no row.
func (v *GroupsView) notes() []string {
	if !v.Names.Asked {
		return v.Names.Lines(v.Env)
	}
	if lines := v.Rows.NoMatch("group"); lines != nil {
		return lines
	}
	lines := []string{"", "No consumer group is known to the brokers of this cluster.",
		"A group appears when its first member connects:  eyeq consume -g GROUP -t TOPIC"}
	if n := v.Hiding(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of RocketMQ itself hidden · %s shows them", words.Plural(n, "group"), v.Env.Keys.First("show-system")))
	}
	for _, p := range v.list.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return lines
}

// Export are the groups; details that were not read yet are null.
func (v GroupsView) Export() page.Export { return v.rowsOf(v.Rows.List.Keys()) }

func (v GroupsView) rowsOf(groups []string) page.Export {
	x := page.Export{Name: "groups", Columns: []string{"group", "state", "members", "total_lag", "total_lag_error", "retry_lag", "dead_letters", "consume_tps", "topics"}}
	v.ExportRows(&x, groups, func(r *inspect.GroupRow) []any {
		return []any{r.State, exportNumber(r.Members), exportNumber(r.Lag), exportReason(r.Lag.Why), exportNumber(r.RetryLag), exportNumber(r.DeadLetters),
			r.ConsumeTPS, strings.Join(r.Topics, " ")}
	})
	return x
}
