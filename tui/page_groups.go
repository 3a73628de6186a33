package tui

import (
	"cmp"
	"fmt"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// sortByLag is up to how many groups they are sorted by lag from the beginning, for
// which the details of all are read.
const sortByLag = 500

// groupsView is the list of all groups.
type groupsView struct {
	catalog[inspect.GroupRow]
	list inspect.GroupList // safe to print
	// paused is what the list itself says, by true name.
	paused map[string]inspect.Pause
}

var (
	groupOrders  = []string{"lag", nameOrder, "state", "members", "retry", "dlq", "tps"}
	groupColumns = []string{"lag", "retry", "dlq", "members", "unknown", "tps"} // that a filter compares
)

func newGroupsView(e *env) groupsView {
	v := groupsView{catalog: catalog[inspect.GroupRow]{env: e,
		names:   question{kind: askGroups, what: "groups", every: namesEvery},
		details: question{kind: askGroupRows, what: "details of groups", every: detailsEvery},
		search:  groupSearch, value: groupValue, compare: groupCompare, trouble: groupTrouble}}
	v.rows = lister[string]{env: e, title: "Groups", orders: groupOrders, rising: []string{nameOrder, "state"}, focused: true}
	v.rows.order("lag")
	return v
}

func (v groupsView) narrow(text string) (page, error) {
	err := v.catalog.narrow(text, groupColumns)
	return v, err
}

func (v groupsView) status() pageStatus {
	return v.catalog.status("group", v.list.Problems)
}

func (v groupsView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.rows.columns = v.columns()
		v.rows.list.Resize(v.h - tableFrame)
	case answerMsg:
		v.answer(msg)
	case clickMsg:
		v.rows.click(msg.y, v.h)
	case actionMsg:
		key, ok := v.rows.list.Current()
		switch {
		case msg.action == "detail" && ok:
			return v, watchRequest{key}
		case msg.action == "describe" && ok:
			return v, openRequest{place{view: viewGroup, group: key}}
		case msg.action == "copy-json" && ok:
			return v, copyRequest{v.rowsOf(v.rows.targets()).copied(draw.SafeText(key))}
		case msg.action == "detail", msg.action == "describe":
			return v, nil
		}
		r := v.act(msg.action)
		return v, r
	default:
		r, _ := v.ownUpdate(msg)
		return v, r
	}
	return v, nil
}

func (v *groupsView) answer(msg answerMsg) {
	switch {
	case v.names.answer(msg, v.env.now):
		v.takeNames(msg.raw.(inspect.GroupList), msg.safe.(inspect.GroupList))
	case v.details.answer(msg, v.env.now):
		v.takeRows(msg.names, msg.safe.([]inspect.GroupRow))
	}
}

func (v *groupsView) takeNames(raw, safe inspect.GroupList) {
	first := v.order == nil
	v.list, v.paused = safe, make(map[string]inspect.Pause)
	names := make([]catalogName, len(raw.Groups))
	for i := range raw.Groups {
		g := &safe.Groups[i]
		names[i] = catalogName{raw.Groups[i].Group, g.Group, g.System}
		if g.Paused.Any() {
			v.paused[names[i].name] = g.Paused
		}
	}
	v.take(names)
	v.rows.columns = v.columns()
	if first && len(names) > sortByLag && !v.rows.chosen {
		v.rows.order(nameOrder)
	}
	v.arrange()
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

func (v *groupsView) columns() []table.Column {
	return []table.Column{
		colGroup:        v.nameColumn("group"),
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

// pauseText is how far a group is paused; "" when it is not.
func pauseText(p inspect.Pause) string {
	switch {
	case p.All():
		return "PAUSED"
	case len(p.Brokers) > 0:
		return fmt.Sprintf("PAUSED %d/%d", len(p.Brokers), p.Of)
	case len(p.Topics) > 0:
		return "PAUSED topic"
	}
	return ""
}

// groupState is the one word of the list; a pause is said before anything else.
func groupState(r *inspect.GroupRow) string {
	if text := pauseText(r.Paused); text != "" {
		return text
	}
	return orUnknown(r.State)
}

// groupKind is how a group consumes.
func groupKind(r *inspect.GroupRow) string {
	text := string(r.Kind)
	if r.Kind == inspect.KindUnknown || text == "" {
		return words.None
	}
	if share := inspect.PopShare(r.Modes); r.Kind == inspect.KindPop && share != "" {
		text += " " + share
	}
	if r.Model == broadcasting {
		text += " broadcast"
	}
	if r.Orderly {
		text += " orderly"
	}
	return text
}

// broadcasting is the message model of that name, which the screen may not import.
const broadcasting = 2

func (v *groupsView) cells(k string, cells []table.Cell) {
	e, th := v.entries[k], v.env.th
	cells[colGroup] = e.nameCell(th.Text)
	if e.row == nil {
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
	r := e.row
	state := groupState(r)
	cells[colGroupState] = table.Cell{Text: state, Style: groupStyle(th, state)}
	cells[colGroupKind] = table.Cell{Text: groupKind(r), Style: th.Dim}
	cells[colGroupMembers] = v.env.numberCell(r.Members, false)
	cells[colGroupLag] = v.env.numberCell(r.Lag, false)
	cells[colGroupRetry] = v.env.numberCell(r.RetryLag, true)
	cells[colGroupDLQ] = v.env.numberCell(r.DeadLetters, true)
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

func groupStyle(th *draw.Theme, state string) draw.Style {
	switch {
	case strings.HasPrefix(state, "PAUSED"):
		return th.Accent
	case state == inspect.StateOnline:
		return th.Good
	case lostState(state), state == words.Unknown:
		return th.Bad
	case state == "…":
		return th.Dim
	}
	return th.Warn
}

func (v groupsView) view(w, h int) string {
	c := draw.NewCanvas(w, h)
	v.rows.draw(c, h, v.rows.details(v.progress()), v.cells, v.notes())
	c.Blank(h)
	return c.String()
}

// notes say why there is no row.
func (v *groupsView) notes() []string {
	if !v.names.asked {
		return v.names.lines(v.env)
	}
	if lines := v.rows.noMatch("group"); lines != nil {
		return lines
	}
	lines := []string{"", "No consumer group is known to the brokers of this cluster.",
		"A group appears when its first member connects:  eyeq consume -g GROUP -t TOPIC"}
	if n := v.hiding(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s of RocketMQ itself hidden · %s shows them", words.Plural(n, "group"), v.env.keys.first("show-system")))
	}
	for _, p := range v.list.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return lines
}
