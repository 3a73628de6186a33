package pages

import (
	"maps"
	"slices"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// GroupView is one group: its members, who subscribes to what, and its configuration
// by broker.
type GroupView struct {
	env     *page.Env
	Name    string // true name
	w, h    int
	detail  page.Question[inspect.GroupDetail]
	members page.Question[inspect.Members]
	Panes   page.Stack
	raw     inspect.GroupDetail
	data    inspect.GroupDetail // safe to print
	RawWho  inspect.Members
	Who     inspect.Members // safe to print
	configs map[string]map[string]string
}

// The panes.
const (
	GroupMembers = iota
	groupSubscriptions
	GroupConfig
)

// NewGroupView is the page of one group.
func NewGroupView(e *page.Env, group string) GroupView {
	names := []string{group}
	v := GroupView{env: e, Name: group,
		detail:  page.Question[inspect.GroupDetail]{Ask: page.About(page.Cluster.Group), Schedule: page.Schedule{Names: names, What: "group " + draw.SafeText(group), Every: page.DetailsEvery}},
		members: page.Question[inspect.Members]{Ask: page.About(page.Cluster.Members), Schedule: page.Schedule{Names: names, What: "members of " + draw.SafeText(group), Every: page.DetailsEvery}}}
	v.Panes = page.Stack{Env: e, List: []page.Lister[string]{
		{Env: e, Title: "Members"}, {Env: e, Title: "Subscriptions"}, {Env: e, Title: "Configuration"}}}
	return v
}

// FilterText implements page.Page.
func (v GroupView) FilterText() string { return v.Panes.FilterText() }

// Subject implements page.Page.
func (v GroupView) Subject() string { return "group " + draw.SafeText(v.Name) }

// Narrow implements page.Page.
func (v GroupView) Narrow(text string) (page.Page, error) {
	err := v.Panes.Narrow(text, nil)
	if err == nil {
		v.Arrange()
	}
	return v, err
}

// Status implements page.Page.
func (v GroupView) Status() page.Status {
	s := page.Status{Main: &v.detail.Schedule, Fine: words.Plural(len(v.Who.Members), "member")}
	if s.Health = v.wrong(); s.Health.Text == "" {
		s.Health = page.Partial(v.env.Theme, v.data.Row.Problems, v.Who.Problems)
	}
	if v.members.Tries > 0 {
		s.Health = draw.Styled(v.env.Theme.Bad, " "+words.Failure.Sign()+" "+v.members.What+": "+v.members.Err)
	}
	return s
}

// wrong is the worst that the page's own rows show; "" when none is red.
func (v *GroupView) wrong() draw.Segment {
	shared := ""
	for i := range v.Who.Members {
		if m := &v.Who.Members[i]; len(m.Addresses) > 1 {
			shared = m.ClientID
		}
	}
	text := ""
	switch s := &v.data.Subscriptions; {
	case shared != "":
		text = "two processes share the client id " + shared
	case len(s.Rows) > 0 && !s.Agree:
		text = "members subscribe differently"
	case len(v.data.Differences) > 0:
		text = words.Plural(len(v.data.Differences), "field") + " of its configuration differ between brokers"
	default:
		return draw.Segment{}
	}
	return draw.Styled(v.env.Theme.Bad, " "+words.Failure.Sign()+" "+text)
}

// Update implements page.Page.
func (v GroupView) Update(msg any) (page.Page, page.Request) {
	switch msg := msg.(type) {
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.layout()
	case page.DueMsg:
		r := v.env.AskDue(&v.detail, &v.members)
		return v, r
	case page.HurryMsg:
		v.detail.Hurried, v.members.Hurried = true, true
	case page.OrderMsg:
		return v, page.RefuseRequest{Text: "sort: these rows have one order"}
	case page.ClosedMsg:
		v.detail.Drop()
		v.members.Drop()
	case page.AnswerMsg:
		raw, data, told := v.detail.Take(msg, v.env.Now)
		rawWho, who, toldWho := v.members.Take(msg, v.env.Now)
		switch {
		case told:
			v.raw, v.data = raw, data
			v.Arrange()
		case toldWho:
			v.RawWho, v.Who = rawWho, who
			v.Arrange()
		case v.detail.Gone || v.members.Gone:
			if v.detail.Gone {
				v.raw, v.data = inspect.GroupDetail{}, inspect.GroupDetail{}
			}
			if v.members.Gone {
				v.RawWho, v.Who = inspect.Members{}, inspect.Members{}
			}
			v.Arrange()
		}
	case page.ActionMsg:
		return v.Act(msg.Action)
	case page.ClickMsg, page.PointMsg:
		v.Panes.Mouse(msg, len(v.headLines()), v.h)
	}
	return v, nil
}

// Act does what a key means here.
func (v GroupView) Act(a page.Action) (page.Page, page.Request) {
	pane, key, ok := v.Panes.Current()
	switch a {
	case "escape":
		if !v.Panes.Escape() {
			return v, page.BackRequest{}
		}
		v.Arrange()
		return v, nil
	case "detail", "describe":
		return v, v.describe(pane, key, ok)
	case "tail-here":
		if pane == groupSubscriptions && ok {
			return v, page.OpenTailRequest{TailRequest: page.TailRequest{Topic: key}}
		}
		return v, page.RefuseRequest{Text: "tail: there is a topic in the rows of Subscriptions; " + v.env.Keys.First("next-pane") + " leads there"}
	case "copy":
		if !ok {
			return v, page.RefuseRequest{Text: "there is nothing under the cursor to copy"}
		}
		if pane == GroupMembers {
			return v, page.CopyRequest{Copied: page.Literal(key, v.TrueID(key))}
		}
		return v, page.CopyRequest{Copied: page.Literal(draw.SafeText(key), key)}
	case "copy-json":
		if !ok {
			return v, page.RefuseRequest{Text: "there is nothing under the cursor to copy"}
		}
		return v, page.CopyRequest{Copied: v.copied(pane, key)}
	}
	v.Panes.Act(a)
	return v, nil
}

// Arrange puts the rows of the panes in order.
func (v *GroupView) Arrange() {
	members := make([]string, len(v.Who.Members))
	for i := range members {
		members[i] = v.Who.Members[i].ClientID
	}
	topics := make([]string, len(v.data.Subscriptions.Rows))
	for i := range topics {
		topics[i] = v.raw.Subscriptions.Rows[i].Topic
	}
	v.configs = map[string]map[string]string{}
	fields := map[string]bool{}
	for i := range v.data.Configs {
		c := &v.data.Configs[i]
		v.configs[c.Broker] = c.Fields
		for name := range c.Fields {
			fields[name] = true
		}
	}
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int {
		if x, y := slices.Contains(v.data.Differences, a), slices.Contains(v.data.Differences, b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for i, keys := range [][]string{members, topics, names} {
		l := &v.Panes.List[i]
		l.Arrange(keys, func(k string) bool {
			return l.Filter.Matches(func() string { return v.search(i, k) }, func(string) (float64, bool) { return 0, false })
		}, nil)
	}
	v.layout()
}

// search is what a filter looks through in a row.
func (v *GroupView) search(pane int, key string) string {
	switch pane {
	case GroupMembers:
		if m := v.member(key); m != nil {
			return strings.Join(append([]string{key, m.Language, m.Version}, m.Addresses...), "\n")
		}
	case GroupConfig:
		var all []string
		for _, c := range v.configs {
			all = append(all, c[key])
		}
		return key + "\n" + strings.Join(all, "\n")
	}
	return key
}

func (v *GroupView) layout() {
	id, topic := 16, 12
	for i := range v.Who.Members {
		id = max(id, table.Width(v.Who.Members[i].ClientID)+2)
	}
	for i := range v.data.Subscriptions.Rows {
		topic = max(topic, table.Width(v.data.Subscriptions.Rows[i].Topic))
	}
	id, topic = min(id, max(v.w/2, 20)), min(topic, max(v.w/3, 16))
	v.Panes.List[GroupMembers].Columns = []table.Column{
		{Title: "member (client id)", Width: id, Flex: 1, Max: 60, Fixed: true},
		{Title: "address", Width: 18, Flex: 1, Max: 24, Gap: 2, Rank: 2},
		{Title: "client", Width: 12, Flex: 1, Max: 16, Rank: 1},
		{Title: "queues", Width: 6, Right: true},
		{Title: "cached", Width: 8, Right: true, Rank: 3},
		{Title: "answers", Width: 10, Gap: 2, Flex: 3},
	}
	columns := []table.Column{
		{Title: "topic", Width: topic, Flex: 1, Max: 48, Fixed: true},
		{Title: "type", Width: 5, Rank: 9, Gap: 2},
		{Title: "agree", Width: 6},
		{Title: "broker holds", Width: 12, Flex: 1, Max: 24, Rank: 8},
	}
	for _, m := range v.data.Subscriptions.Members {
		columns = append(columns, table.Column{Title: v.letterOf(m), Width: 8, Flex: 1, Max: 24, Rank: 7})
	}
	v.Panes.List[groupSubscriptions].Columns = columns
	columns = []table.Column{{Title: "field", Width: 24, Flex: 1, Max: 34, Fixed: true}, {Title: "differs", Width: 8}}
	for i := range v.data.Configs {
		columns = append(columns, table.Column{Title: v.data.Configs[i].Broker, Width: 14, Flex: 1, Max: 40, Rank: 3})
	}
	v.Panes.List[GroupConfig].Columns = columns
}

// headLines are what is said above the tables.
func (v *GroupView) headLines() [][]draw.Segment {
	if !v.detail.Asked {
		return nil
	}
	th, r := v.env.Theme, &v.data.Row
	state := groupState(r)
	gap := "   "
	if v.w < 100 {
		gap = "  "
	}
	l := page.Line(draw.Styled(draw.Style{}, " "), draw.Styled(groupStyle(th, state), state), draw.Styled(th.Dim, "  "), draw.Styled(th.Text, groupKind(r)),
		draw.Styled(th.Dim, gap+"members "), draw.Styled(th.Bold, words.NumberText(r.Members)),
		draw.Styled(th.Dim, gap+"lag "), draw.Styled(th.Bold, words.NumberText(r.Lag)), draw.Styled(th.Dim, gap+"retry "), draw.Styled(th.Text, words.NumberText(r.RetryLag)),
		draw.Styled(th.Dim, gap+"dlq "), draw.Styled(th.Text, words.NumberText(r.DeadLetters)))
	if clients := gap + "clients "; len(r.Versions) > 0 && draw.WidthOf(l)+len(clients) < v.w-len("5.3.3") { // the members' rows say it too
		l = append(l, draw.Styled(th.Dim, clients+versionText(strings.Join(r.Versions, " "))))
	}
	lines := [][]draw.Segment{l}
	for _, m := range r.Modes {
		lines = append(lines, page.Line(draw.Styled(th.Dim, " "+m.Broker+" was told: "+m.Topic+" by "), draw.Styled(th.Text, m.String()),
			draw.Styled(th.Dim, ", for members that let it allocate · it calls them "+r.Type.String())))
	}
	if r.Paused.Any() {
		text := " " + groupState(r)
		if len(r.Paused.Brokers) > 0 {
			text += " on " + strings.Join(r.Paused.Brokers, " ") + ": consumeEnable is false there"
		}
		for _, t := range slices.Sorted(maps.Keys(r.Paused.Topics)) {
			text += " · must not read " + t + " from " + strings.Join(r.Paused.Topics[t], " ")
		}
		lines = append(lines, page.Line(draw.Styled(th.Accent, text+"   "+v.env.Keys.First("command")+"resume")))
	}
	return lines
}

// View implements page.Page.
func (v GroupView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	for _, l := range v.headLines() {
		c.Puts(l...)
		c.End()
	}
	v.Panes.Draw(c, h-c.Lines, func(i int) page.PaneText {
		switch i {
		case GroupMembers:
			return v.membersPane()
		case groupSubscriptions:
			return v.subscriptionsPane()
		}
		return v.configPane()
	})
	c.Blank(h)
	return c.String()
}

// describe is everything about a row as text.
func (v *GroupView) describe(pane int, key string, ok bool) page.Request {
	switch {
	case !ok:
		return nil
	case pane == GroupMembers:
		return v.describeMember(key)
	case pane == groupSubscriptions:
		return v.describeSubscription(key)
	}
	return v.describeField(key)
}
