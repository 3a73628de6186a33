package pages

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// TopicView is one topic: its queues, the groups that read it, its route.
type TopicView struct {
	env       *page.Env
	Name      string // true name
	w, h      int
	ask       page.Question[inspect.TopicDetail]
	panes     page.Stack
	raw, data inspect.TopicDetail // as it came, and safe to print
	queues    map[string]int      // by key
	groups    []string            // true names
	before    topicMark           // for the rate
	rate      float64
	rated     bool
}

// topicMark is how many messages the topic had been given at a time.
type topicMark struct {
	at    time.Time
	given int64
	all   bool // of all queues
}

// The panes.
const (
	topicQueues = iota
	topicGroups
	topicRoute
)

// NewTopicView is the page of one topic.
func NewTopicView(e *page.Env, topic string) TopicView {
	v := TopicView{env: e, Name: topic, ask: page.Question[inspect.TopicDetail]{Ask: page.About(page.Cluster.Topic), Schedule: page.Schedule{Names: []string{topic}, What: "topic " + draw.SafeText(topic), Every: page.TopicEvery}}}
	v.panes = page.Stack{Env: e, List: []page.Lister[string]{
		{Env: e, Title: "Queues"}, {Env: e, Title: "Groups that read it"}, {Env: e, Title: "Route"}}}
	return v
}

// FilterText implements page.Page.
func (v TopicView) FilterText() string { return v.panes.FilterText() }

// Subject implements page.Page.
func (v TopicView) Subject() string { return "topic " + draw.SafeText(v.Name) }

// Narrow implements page.Page.
func (v TopicView) Narrow(text string) (page.Page, error) {
	err := v.panes.Narrow(text, nil)
	if err == nil {
		v.arrange()
	}
	return v, err
}

// Status implements page.Page.
func (v TopicView) Status() page.Status {
	s := page.Status{Main: &v.ask.Schedule, Fine: words.Plural(len(v.data.Queues), "queue"), Health: page.Partial(v.env.Theme, v.data.Row.Problems)}
	for i := range v.data.Queues {
		if q := &v.data.Queues[i]; q.Closed != "" {
			s.Health = draw.Styled(v.env.Theme.Bad, fmt.Sprintf(" %s %s %s", words.Failure.Sign(), q.Short(), q.Closed))
			break
		}
	}
	return s
}

// Update implements page.Page.
func (v TopicView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.layout()
	case page.DueMsg:
		r := v.env.AskDue(&v.ask)
		return v, r
	case page.HurryMsg:
		v.ask.Hurried = true
	case page.OrderMsg:
		return v, page.RefuseRequest{Text: "sort: these rows have one order"}
	case page.ClosedMsg:
		v.ask.Drop()
	case page.AnswerMsg:
		if raw, safe, ok := v.ask.Take(msg, v.env.Now); ok {
			v.raw, v.data = raw, safe
			v.measure()
			v.arrange()
		} else if v.ask.Gone {
			v.raw, v.data, v.before = inspect.TopicDetail{}, inspect.TopicDetail{}, topicMark{}
			v.arrange()
		}
	case page.ActionMsg:
		return v.act(msg.Action)
	case page.ClickMsg, page.PointMsg:
		v.panes.Mouse(msg, len(v.headLines()), v.h)
	}
	return v, nil
}

// measure derives the rate at which messages come from two answers.
func (v *TopicView) measure() {
	now := topicMark{at: v.env.Now, all: len(v.raw.Queues) > 0}
	for i := range v.raw.Queues {
		now.given += v.raw.Queues[i].Max.Value
		now.all = now.all && v.raw.Queues[i].Max.Known
	}
	v.rated = now.all && v.before.all && now.at.After(v.before.at) && now.given >= v.before.given
	if v.rated {
		v.rate = float64(now.given-v.before.given) / now.at.Sub(v.before.at).Seconds()
	}
	v.before = now
}

func (v TopicView) act(a page.Action) (page.Page, page.Request) {
	pane, key, ok := v.panes.Current()
	switch a {
	case "escape":
		if !v.panes.Escape() {
			return v, page.BackRequest{}
		}
		v.arrange()
		return v, nil
	case "tail-here":
		r := page.TailRequest{Topic: v.Name}
		if pane == topicQueues && ok {
			r.Queues = []engine.MessageQueue{v.raw.Queues[v.queues[key]].MessageQueue}
		}
		return v, page.OpenTailRequest{TailRequest: r}
	case "detail", "describe":
		if pane == topicGroups && ok {
			if a == "describe" {
				return v, page.OpenRequest{Place: page.Place{View: page.ViewGroup, Group: key}}
			}
			return v, page.WatchRequest{Group: key}
		}
		return v, v.describe()
	case "copy":
		if !ok {
			return v, page.RefuseRequest{Text: "there is nothing under the cursor to copy"}
		}
		return v, page.CopyRequest{Copied: page.Literal(draw.SafeText(key), key)}
	case "copy-json":
		if pane == topicQueues && ok {
			return v, page.CopyRequest{Copied: v.rowsOf(v.panes.List[topicQueues].Targets()).Copied("the queue")}
		}
		return v, page.CopyRequest{Copied: v.Export().Copied("topic " + draw.SafeText(v.Name))}
	}
	v.panes.Act(a)
	return v, nil
}

func (v *TopicView) arrange() {
	v.queues = make(map[string]int, len(v.data.Queues))
	keys := make([]string, len(v.data.Queues))
	for i := range keys {
		keys[i] = v.raw.Queues[i].Short()
		v.queues[keys[i]] = i
	}
	contains := func(l *page.Lister[string]) func(k string) bool {
		return func(k string) bool {
			return l.Filter.Matches(func() string { return draw.SafeText(k) }, func(string) (float64, bool) { return 0, false })
		}
	}
	q, g, r := &v.panes.List[topicQueues], &v.panes.List[topicGroups], &v.panes.List[topicRoute]
	q.Arrange(keys, contains(q), nil)
	v.groups = v.raw.Groups
	g.Arrange(v.groups, contains(g), nil)
	routes := make([]string, len(v.data.Route))
	for i := range routes {
		routes[i] = v.raw.Route[i].Broker
	}
	r.Arrange(routes, contains(r), nil)
	v.layout()
}

func (v *TopicView) layout() {
	name, broker := 12, 10
	for i := range v.data.Queues {
		name = max(name, table.Width(v.data.Queues[i].Short()))
	}
	for i := range v.data.Route {
		broker = max(broker, table.Width(v.data.Route[i].Broker))
	}
	name, broker = min(name, max(v.w/3, 16)), min(broker, max(v.w/3, 16))
	v.panes.List[topicQueues].Columns = []table.Column{
		{Title: "queue", Width: name, Flex: 1, Max: 44, Fixed: true},
		{Title: "min", Width: 13, Right: true, Rank: 2},
		{Title: "max", Width: 13, Right: true},
		{Title: "stored", Width: 12, Right: true},
		{Title: "first", Width: 12, Right: true, Rank: 3},
		{Title: "last", Width: 12, Right: true, Rank: 1},
		{Title: "perm", Width: 5, Gap: 2, Rank: 4},
	}
	if slices.ContainsFunc(v.data.Queues, func(q inspect.TopicQueue) bool { return q.Closed != "" }) {
		v.panes.List[topicQueues].Columns[6] = table.Column{Title: "perm", Width: 14, Flex: 2, Gap: 2} // it says why, too
	}
	v.panes.List[topicGroups].Columns = []table.Column{{Title: "group", Width: 20, Flex: 1, Max: 60, Fixed: true}, {Title: "paused", Width: 18, Flex: 3, Gap: 2}}
	v.panes.List[topicRoute].Columns = []table.Column{
		{Title: "broker", Width: broker, Flex: 1, Max: 44, Fixed: true},
		{Title: "read", Width: 5, Right: true},
		{Title: "write", Width: 5, Right: true},
		{Title: "perm", Width: 5, Gap: 2},
		{Title: "addresses", Width: 16, Flex: 3, Rank: 1},
	}
}

func (v *TopicView) queueCells(k string, cells []table.Cell) {
	q, th := &v.data.Queues[v.queues[k]], v.env.Theme
	cells[0] = table.Cell{Text: q.Short(), Style: th.Text, Name: true}
	cells[1] = v.env.NumberCell(q.Min, false)
	cells[2] = v.env.NumberCell(q.Max, false)
	stored := inspect.Unknown(q.Max.Why)
	if q.Min.Known && q.Max.Known {
		stored = inspect.Exact(q.Max.Value - q.Min.Value)
	}
	cells[3] = v.env.NumberCell(stored, false)
	cells[4] = table.Cell{Text: words.SinceText(q.FirstStored, v.env.Now), Style: th.Dim}
	cells[5] = table.Cell{Text: words.SinceText(q.LastStored, v.env.Now), Style: th.Text}
	cells[6] = table.Cell{Text: inspect.PermText(q.Perm), Style: th.Dim}
	if q.Closed != "" {
		cells[6] = table.Cell{Text: words.Warning.Sign() + " " + q.Closed, Style: th.Bad}
	}
}

func (v *TopicView) groupCells(k string, cells []table.Cell) {
	cells[0] = table.Cell{Text: draw.SafeText(k), Style: v.env.Theme.Text, Name: true}
	cells[1] = table.Cell{Text: v.pausedText(k), Style: v.env.Theme.Accent}
}

// pausedText says how far a group is kept from the topic; "" when nothing keeps it.
func (v *TopicView) pausedText(group string) string {
	p := v.raw.Paused[group]
	switch at := p.Topics[v.Name]; {
	case len(p.Brokers) > 0:
		return pauseText(p) + " on " + draw.SafeText(strings.Join(p.Brokers, " "))
	case len(at) > 0:
		return "PAUSED here only, on " + draw.SafeText(strings.Join(at, " "))
	}
	return ""
}

func (v *TopicView) routeCells(k string, cells []table.Cell) {
	i := slices.IndexFunc(v.raw.Route, func(r inspect.TopicRouteRow) bool { return r.Broker == k })
	r, th := &v.data.Route[i], v.env.Theme
	var addrs []string
	for _, id := range slices.Sorted(maps.Keys(r.Addrs)) {
		addrs = append(addrs, strconv.FormatInt(id, 10)+"="+r.Addrs[id])
	}
	cells[0] = table.Cell{Text: r.Broker, Style: th.Text, Name: true}
	cells[1] = table.Cell{Text: words.Grouped(int64(r.Read)), Style: th.Text}
	cells[2] = table.Cell{Text: words.Grouped(int64(r.Write)), Style: th.Text}
	cells[3] = table.Cell{Text: inspect.PermText(r.Perm), Style: th.Text}
	cells[4] = table.Cell{Text: strings.Join(addrs, " "), Style: th.Dim}
}

// headLines are what is said above the tables.
func (v *TopicView) headLines() [][]draw.Segment {
	th := v.env.Theme
	if !v.ask.Asked {
		return nil
	}
	r := &v.data.Row
	incoming := words.Unknown + "/s"
	if v.rated {
		incoming = words.Rate(v.rate, true)
	}
	l := page.Line(draw.Styled(th.Dim, " type "), draw.Styled(th.Bold, TopicType(r)), draw.Styled(th.Dim, "   stored "), draw.Styled(th.Bold, words.NumberText(r.Stored)),
		draw.Styled(th.Dim, "   comes in "), draw.Styled(th.Text, incoming), draw.Styled(th.Dim, "   last "), draw.Styled(th.Text, words.SinceText(r.LastStored, v.env.Now)),
		draw.Styled(th.Dim, "   perm "), draw.Styled(th.Text, words.OrUnknown(r.Perm)))
	if whose := r.Whose(); whose != "" {
		l = append(l, draw.Styled(th.Dim, "   "+draw.SafeText(whose)))
	}
	if n := len(v.data.Attributes); n > 0 {
		var list []string
		for _, k := range slices.Sorted(maps.Keys(v.data.Attributes)) {
			list = append(list, k+"="+v.data.Attributes[k])
		}
		l = append(l, draw.Styled(th.Dim, "   "+strings.Join(list, " ")))
	}
	return [][]draw.Segment{l}
}

// View implements page.Page.
func (v TopicView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	for _, l := range v.headLines() {
		c.Puts(l...)
		c.End()
	}
	v.panes.Draw(c, h-c.Lines, func(i int) page.PaneText {
		l := &v.panes.List[i]
		notes := v.ask.Lines(v.env)
		note := ""
		if i == topicQueues {
			note = v.ask.Note(v.env)
		} else if v.ask.Tries > 0 {
			notes = nil
		}
		switch i {
		case topicGroups:
			if v.ask.Asked && len(v.groups) == 0 {
				notes = []string{"no group reads it, as far as the brokers know" + words.Because(v.data.GroupsWhy.String())}
			}
			if v.data.GroupsWhy.Kind != inspect.ReasonNone && note == "" {
				note = words.Warning.Sign() + " partial: " + v.data.GroupsWhy.String()
			}
			return page.PaneText{Details: l.Details(note), Cells: v.groupCells, Notes: notes}
		case topicRoute:
			if v.ask.Asked && len(v.data.Route) == 0 {
				notes = []string{"no name server has a route of it"}
			}
			return page.PaneText{Details: l.Details(note), Cells: v.routeCells, Notes: notes}
		}
		if v.ask.Asked && notes == nil {
			notes = []string{"no queue can be read"}
		}
		return page.PaneText{Details: l.Details(note), Cells: v.queueCells, Notes: notes}
	})
	c.Blank(h)
	return c.String()
}

// describe is everything about the topic as text.
func (v *TopicView) describe() page.Request {
	if !v.ask.Asked {
		return nil
	}
	r := &v.data.Row
	lines := []string{"topic    " + draw.SafeText(v.Name), "type     " + TopicType(r), "perm     " + words.OrUnknown(r.Perm), "stored   " + words.NumberText(r.Stored),
		"last     " + words.SinceText(r.LastStored, v.env.Now), "groups   " + words.OrNone(strings.Join(v.data.Groups, ", "))}
	if whose := r.Whose(); whose != "" {
		lines = append(lines, "is       "+draw.SafeText(whose))
	}
	for _, group := range v.raw.Groups {
		if text := v.pausedText(group); text != "" {
			lines = append(lines, "         "+draw.SafeText(group)+" is "+text)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(v.data.Attributes)) {
		lines = append(lines, "attribute "+k+" = "+v.data.Attributes[k])
	}
	for i := range v.data.Queues {
		q := &v.data.Queues[i]
		lines = append(lines, fmt.Sprintf("%s  %s … %s  %s", q.Short(), words.NumberText(q.Min), words.NumberText(q.Max), strings.TrimSpace(inspect.PermText(q.Perm)+"  "+q.Closed)))
	}
	for _, p := range r.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return page.TextRequest{Title: "Topic " + draw.SafeText(v.Name), Lines: lines}
}

// Export are the queues of the topic.
func (v TopicView) Export() page.Export { return v.rowsOf(v.panes.List[topicQueues].List.Keys()) }

func (v TopicView) rowsOf(queues []string) page.Export {
	x := page.Export{Name: "topic-" + v.Name, Columns: []string{"topic", "broker", "queue", "min_offset", "max_offset", "first_stored", "last_stored"}}
	for _, k := range queues {
		q := &v.raw.Queues[v.queues[k]]
		x.Rows = append(x.Rows, []any{q.Topic, q.BrokerName, q.QueueID, exportNumber(q.Min), exportNumber(q.Max), q.FirstStored, q.LastStored})
	}
	return x
}
