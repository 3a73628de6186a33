package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/table"
)

// groupView is one group: its members, who subscribes to what, and its configuration
// by broker.
type groupView struct {
	env     *env
	name    string // true name
	w, h    int
	detail  question
	members question
	panes   stack
	raw     inspect.GroupDetail
	data    inspect.GroupDetail // safe to print
	rawWho  inspect.Members
	who     inspect.Members // safe to print
	configs map[string]map[string]string
}

// The panes.
const (
	groupMembers = iota
	groupSubscriptions
	groupConfig
)

func newGroupView(e *env, group string) groupView {
	names := []string{group}
	v := groupView{env: e, name: group,
		detail:  question{kind: askGroup, names: names, what: "group " + SafeText(group), every: detailsEvery},
		members: question{kind: askMembers, names: names, what: "members of " + SafeText(group), every: detailsEvery}}
	v.panes = stack{env: e, list: []lister[string]{
		{env: e, title: "Members"}, {env: e, title: "Subscriptions"}, {env: e, title: "Configuration"}}}
	return v
}

func (v groupView) filterText() string { return v.panes.filterText() }

func (v groupView) subject() string { return "group " + SafeText(v.name) }

func (v groupView) narrow(text string) (page, error) {
	err := v.panes.narrow(text, nil)
	if err == nil {
		v.arrange()
	}
	return v, err
}

func (v groupView) status() pageStatus {
	s := pageStatus{main: &v.detail, fine: plural(len(v.who.Members), "member")}
	s.health = partial(v.env.th, v.data.Row.Problems, v.who.Problems)
	if v.members.tries > 0 {
		s.health = segment{v.env.th.bad, " " + failure.sign() + " " + v.members.what + ": " + v.members.err}
	}
	return s
}

func (v groupView) update(msg any) (page, request) {
	switch msg := msg.(type) {
	case sizeMsg:
		v.w, v.h = msg.w, msg.h
		v.layout()
	case dueMsg:
		r := v.env.askDue(&v.detail, &v.members)
		return v, r
	case hurryMsg:
		v.detail.hurried, v.members.hurried = true, true
	case orderMsg:
		return v, refuseRequest{"sort: these rows have one order"}
	case closedMsg:
		v.detail.drop()
		v.members.drop()
	case answerMsg:
		switch {
		case v.detail.answer(msg, v.env.now):
			v.raw, v.data = msg.raw.(inspect.GroupDetail), msg.safe.(inspect.GroupDetail)
			v.arrange()
		case v.members.answer(msg, v.env.now):
			v.rawWho, v.who = msg.raw.(inspect.Members), msg.safe.(inspect.Members)
			v.arrange()
		}
	case actionMsg:
		return v.act(msg.action)
	}
	return v, nil
}

func (v groupView) act(a action) (page, request) {
	pane, key, ok := v.panes.current()
	switch a {
	case "escape":
		if !v.panes.escape() {
			return v, backRequest{}
		}
		v.arrange()
		return v, nil
	case "detail", "describe":
		return v, v.describe(pane, key, ok)
	case "tail-here":
		if pane == groupSubscriptions && ok {
			return v, tailRequest{TailRequest{Topic: key}}
		}
		return v, refuseRequest{"tail: there is a topic in the rows of Subscriptions; " + v.env.keys.first("next-pane") + " leads there"}
	case "copy":
		if !ok {
			return v, refuseRequest{"there is nothing under the cursor to copy"}
		}
		if pane == groupMembers {
			return v, copyRequest{literal(key, v.trueID(key))}
		}
		return v, copyRequest{literal(SafeText(key), key)}
	case "copy-json":
		if !ok {
			return v, refuseRequest{"there is nothing under the cursor to copy"}
		}
		return v, copyRequest{v.copied(pane, key)}
	}
	v.panes.act(a)
	return v, nil
}

func (v *groupView) arrange() {
	members := make([]string, len(v.who.Members))
	for i := range members {
		members[i] = v.who.Members[i].ClientID
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
			return map[bool]int{true: -1, false: 1}[x]
		}
		return strings.Compare(a, b)
	})
	for i, keys := range [][]string{members, topics, names} {
		l := &v.panes.list[i]
		l.arrange(keys, func(k string) bool {
			return l.filter.matches(func() string { return v.search(i, k) }, func(string) (float64, bool) { return 0, false })
		}, nil)
	}
	v.layout()
}

// search is what a filter looks through in a row.
func (v *groupView) search(pane int, key string) string {
	switch pane {
	case groupMembers:
		if m := v.member(key); m != nil {
			return strings.Join(append([]string{key, m.Language, m.Version}, m.Addresses...), "\n")
		}
	case groupConfig:
		var all []string
		for _, c := range v.configs {
			all = append(all, c[key])
		}
		return key + "\n" + strings.Join(all, "\n")
	}
	return key
}

// trueID is the client id of a member that is shown as id.
func (v *groupView) trueID(id string) string {
	if i := v.memberIndex(id); i >= 0 {
		return v.rawWho.Members[i].ClientID
	}
	return ""
}

func (v *groupView) memberIndex(id string) int {
	return slices.IndexFunc(v.who.Members, func(m inspect.Member) bool { return m.ClientID == id })
}

func (v *groupView) member(id string) *inspect.Member {
	i := v.memberIndex(id)
	if i < 0 {
		return nil
	}
	return &v.who.Members[i]
}

// letterOf names a member in the matrix.
func (v *groupView) letterOf(id string) string {
	if i := v.memberIndex(id); i >= 0 {
		return letter(i)
	}
	return unknown
}

// same is the word for what all agree on.
const same = "same"

func (v *groupView) layout() {
	id, topic := 16, 12
	for i := range v.who.Members {
		id = max(id, table.Width(v.who.Members[i].ClientID)+2)
	}
	for i := range v.data.Subscriptions.Rows {
		topic = max(topic, table.Width(v.data.Subscriptions.Rows[i].Topic))
	}
	id, topic = min(id, max(v.w/2, 20)), min(topic, max(v.w/3, 16))
	v.panes.list[groupMembers].columns = []table.Column{
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
	v.panes.list[groupSubscriptions].columns = columns
	columns = []table.Column{{Title: "field", Width: 24, Flex: 1, Max: 34, Fixed: true}, {Title: "differs", Width: 8}}
	for i := range v.data.Configs {
		columns = append(columns, table.Column{Title: v.data.Configs[i].Broker, Width: 14, Flex: 1, Max: 40, Rank: 3})
	}
	v.panes.list[groupConfig].columns = columns
}

func (v *groupView) memberCells(k string, cells []table.Cell) {
	m, th := v.member(k), v.env.th
	cells[0] = table.Cell{Text: v.letterOf(k) + " " + m.ClientID, Style: th.text, Name: true}
	cells[1] = table.Cell{Text: strings.Join(m.Addresses, " "), Style: th.dim}
	if len(m.Addresses) > 1 {
		cells[1].Style = th.bad
	}
	cells[2] = table.Cell{Text: strings.TrimSpace(strings.ToLower(m.Language) + " " + versionText(m.Version)), Style: th.dim}
	if m.Info == nil {
		cells[3], cells[4] = table.Cell{Text: unknown, Style: th.warn}, table.Cell{Text: unknown, Style: th.warn}
		if n := len(m.Held); n > 0 {
			cells[3] = table.Cell{Text: "≥ " + strconv.Itoa(n), Style: th.warn}
		}
		cells[5] = table.Cell{Text: warning.sign() + " " + orUnknown(m.Why.String()), Style: th.warn}
	} else {
		cached := int64(0)
		for _, q := range m.Info.MQTable {
			cached += int64(q.CachedMsgCount)
		}
		cells[3] = table.Cell{Text: strconv.Itoa(len(m.Info.MQTable) + len(m.Info.MQPopTable)), Style: th.text}
		cells[4] = table.Cell{Text: grouped(cached), Style: th.text}
		cells[5] = table.Cell{Text: "✓ answers", Style: th.good}
	}
	switch {
	case len(m.Addresses) > 1:
		cells[5] = table.Cell{Text: fmt.Sprintf("%s %d processes share this id", failure.sign(), len(m.Addresses)), Style: th.bad}
	case len(m.Missing) > 0:
		cells[5] = table.Cell{Text: warning.sign() + " unknown to " + strings.Join(m.Missing, " "), Style: th.warn}
	}
}

// versionText is a client's version as people write it.
func versionText(v string) string {
	fields := strings.Fields(v)
	for i := range fields {
		fields[i] = strings.ReplaceAll(strings.TrimPrefix(fields[i], "V"), "_", ".")
	}
	return strings.Join(fields, " ")
}

// subscription finds a row by the topic's true name.
func (v *groupView) subscription(topic string) *inspect.SubscriptionRow {
	i := slices.IndexFunc(v.raw.Subscriptions.Rows, func(r inspect.SubscriptionRow) bool { return r.Topic == topic })
	return &v.data.Subscriptions.Rows[i]
}

func orDash(s string) string {
	if s == "" {
		return none
	}
	return s
}

func (v *groupView) subscriptionCells(k string, cells []table.Cell) {
	r, th := v.subscription(k), v.env.th
	cells[0] = table.Cell{Text: r.Topic, Style: th.text, Name: true}
	cells[1] = table.Cell{Text: r.Type, Style: th.dim}
	if r.Same {
		cells[2] = table.Cell{Text: "✓ " + same, Style: th.good}
	} else {
		cells[2] = table.Cell{Text: failure.sign() + " DIFF", Style: th.bad}
	}
	cells[3] = table.Cell{Text: orDash(r.Broker), Style: th.text}
	for j, e := range r.Cells {
		if 4+j < len(cells) {
			cells[4+j] = table.Cell{Text: orDash(e), Style: th.text}
			if _, silent := v.data.Subscriptions.Unknown[v.data.Subscriptions.Members[j]]; silent {
				cells[4+j] = table.Cell{Text: unknown, Style: th.warn}
			}
		}
	}
}

func (v *groupView) configCells(k string, cells []table.Cell) {
	th := v.env.th
	cells[0] = table.Cell{Text: k, Style: th.text}
	st := th.text
	if slices.Contains(v.data.Differences, k) {
		st = th.bad
		cells[1] = table.Cell{Text: failure.sign() + " DIFF", Style: st}
	}
	for i := range v.data.Configs {
		c := &v.data.Configs[i]
		value, ok := c.Fields[k]
		switch {
		case !ok && len(c.Fields) == 0:
			value = unknown
		case !ok:
			value = none
		}
		cells[2+i] = table.Cell{Text: value, Style: st}
	}
}

// headLines are what is said above the tables.
func (v *groupView) headLines() [][]segment {
	if !v.detail.asked {
		return nil
	}
	th, r := v.env.th, &v.data.Row
	state := groupState(r)
	l := line(segment{style{}, " "}, segment{groupStyle(th, state), state}, segment{th.dim, "  "}, segment{th.text, groupKind(r)},
		segment{th.dim, "   members "}, segment{th.bold, numberText(r.Members)},
		segment{th.dim, "   lag "}, segment{th.bold, numberText(r.Lag)}, segment{th.dim, "   retry "}, segment{th.text, numberText(r.RetryLag)},
		segment{th.dim, "   dlq "}, segment{th.text, numberText(r.DeadLetters)})
	if len(r.Versions) > 0 {
		l = append(l, segment{th.dim, "   clients " + versionText(strings.Join(r.Versions, " "))})
	}
	lines := [][]segment{l}
	for _, m := range r.Modes {
		lines = append(lines, line(segment{th.dim, " " + m.Broker + " was told: " + m.Topic + " by "}, segment{th.text, m.String()},
			segment{th.dim, ", for members that let it allocate · it calls them " + r.Type.String()}))
	}
	if r.Paused.Any() {
		text := " " + groupState(r)
		if len(r.Paused.Brokers) > 0 {
			text += " on " + strings.Join(r.Paused.Brokers, " ") + ": consumeEnable is false there"
		}
		for _, t := range slices.Sorted(maps.Keys(r.Paused.Topics)) {
			text += " · must not read " + t + " from " + strings.Join(r.Paused.Topics[t], " ")
		}
		lines = append(lines, line(segment{th.accent, text + "   " + v.env.keys.first("command") + "resume"}))
	}
	return lines
}

func (v groupView) view(w, h int) string {
	c := newCanvas(w, h)
	for _, l := range v.headLines() {
		c.puts(l...)
		c.end()
	}
	v.panes.draw(c, h-c.lines, func(i int) paneText {
		return [...]func() paneText{groupMembers: v.membersPane, groupSubscriptions: v.subscriptionsPane, groupConfig: v.configPane}[i]()
	})
	c.blank(h)
	return c.String()
}

// poppedName names a queue; by POP a member may have all of a broker.
func poppedName(mq engine.MessageQueue) string {
	if mq.QueueID < 0 {
		return mq.Topic + " " + mq.BrokerName + "/all"
	}
	return mq.String()
}

// byName orders queues for people.
func byName(a, b engine.MessageQueue) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), strings.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueID, b.QueueID))
}

// heldLines are the queues that a member without running info is known to read.
func heldLines(m *inspect.Member) []string {
	if len(m.Held) == 0 {
		return nil
	}
	lines := []string{"", "by its consumer status it reads at least " + plural(len(m.Held), "queue") + ":"}
	for _, mq := range slices.SortedFunc(maps.Keys(m.Held), byName) {
		lines = append(lines, fmt.Sprintf("  %s  offset %s", mq.String(), offset(m.Held[mq])))
	}
	return lines
}

// describe is everything about a row as text.
func (v *groupView) describe(pane int, key string, ok bool) request {
	switch {
	case !ok:
		return nil
	case pane == groupMembers:
		return v.describeMember(key)
	case pane == groupSubscriptions:
		return v.describeSubscription(key)
	}
	return v.describeField(key)
}

func (v *groupView) describeMember(key string) request {
	m := v.member(key)
	lines := []string{"member    "+v.letterOf(key)+" "+m.ClientID, "addresses "+strings.Join(m.Addresses, " "),
		"client    "+strings.TrimSpace(m.Language+" "+versionText(m.Version)), "known to  "+strings.Join(m.Brokers, " ")}
	if len(m.Missing) > 0 {
		lines = append(lines, "not to    "+strings.Join(m.Missing, " "))
	}
	if m.Info == nil {
		lines = append(lines, "", warning.sign()+" it does not say what it does: "+orUnknown(m.Why.String()))
		return textRequest{"Member " + key, append(lines, heldLines(m)...)}
	}
	lines = append(lines, "", plural(len(m.Info.MQTable), "queue")+":")
	for _, mq := range slices.SortedFunc(maps.Keys(m.Info.MQTable), byName) {
		q := m.Info.MQTable[mq]
		lines = append(lines, fmt.Sprintf("  %s  commit %s  cached %s (%d MiB)  %s … %s", mq.String(), offset(q.CommitOffset), grouped(int64(q.CachedMsgCount)),
			q.CachedMsgSizeInMiB, offset(q.CachedMsgMinOffset), offset(q.CachedMsgMaxOffset)))
	}
	for _, mq := range slices.SortedFunc(maps.Keys(m.Info.MQPopTable), byName) {
		q := m.Info.MQPopTable[mq]
		lines = append(lines, fmt.Sprintf("  %s  by POP  popped and not acknowledged %s  last pop %s", poppedName(mq), grouped(int64(q.WaitAckCount)),
			ago(millis(q.LastPopTimestamp), v.env.now)))
	}
	for _, a := range m.Assigned {
		lines = append(lines, fmt.Sprintf("  %s  the broker gives it by %s", poppedName(a.Queue), a.Mode))
	}
	if m.AssignedWhy.Kind != inspect.ReasonNone {
		lines = append(lines, "  "+warning.sign()+" what the broker gives it: "+m.AssignedWhy.String())
	}
	lines = append(lines, "", "settings:")
	for _, name := range slices.Sorted(maps.Keys(m.Info.Properties)) {
		lines = append(lines, "  "+pad(name, 34)+" "+m.Info.Properties[name])
	}
	return textRequest{"Member " + key, lines}
}

func (v *groupView) describeSubscription(key string) request {
	r := v.subscription(key)
	lines := []string{"topic         "+r.Topic, "type          "+r.Type, "broker holds  "+orNone(r.Broker)+"  (what is filtered by)", ""}
	for j, m := range v.data.Subscriptions.Members {
		text := orNone(r.Cells[j])
		if why, silent := v.data.Subscriptions.Unknown[m]; silent {
			text = unknown + because(why.String())
		}
		lines = append(lines, v.letterOf(m)+" "+m, "    "+text)
	}
	return textRequest{"Subscription to " + r.Topic, lines}
}

func (v *groupView) describeField(key string) request {
	var lines []string
	for i := range v.data.Configs {
		c := &v.data.Configs[i]
		lines = append(lines, pad(c.Broker, 20)+" "+orNone(c.Fields[key])+because(c.Why.String()))
	}
	return textRequest{"Configuration " + key, lines}
}

func (v *groupView) membersPane() paneText {
	notes := v.members.lines(v.env)
	if v.members.asked && notes == nil {
		notes = []string{"nobody is connected: the group is offline", "offsets stay with the brokers; " + v.env.keys.first("lag") + " shows the lag"}
	}
	return paneText{v.panes.list[groupMembers].details(v.members.note(v.env)), v.memberCells, notes}
}

func (v *groupView) subscriptionsPane() paneText {
	notes := v.detail.lines(v.env)
	if v.detail.asked && notes == nil {
		notes = []string{"no member says what it subscribes to"}
	}
	details := v.panes.list[groupSubscriptions].details(v.detail.note(v.env))
	if s := &v.data.Subscriptions; v.detail.asked && len(s.Rows) > 0 && details == "" {
		details = map[bool]string{true: "all members agree ✓", false: failure.sign() + " members differ"}[s.Agree]
	}
	return paneText{details, v.subscriptionCells, notes}
}

func (v *groupView) configPane() paneText {
	var notes []string
	if v.detail.asked {
		notes = []string{"no broker has a configuration of this group"}
		for i := range v.data.Configs {
			if c := &v.data.Configs[i]; len(c.Fields) == 0 {
				notes = append(notes, c.Broker+because(c.Why.String()))
			}
		}
	}
	details := v.panes.list[groupConfig].details("")
	if n := len(v.data.Differences); n > 0 && details == "" {
		details = failure.sign() + " " + plural(n, "field") + " differ between brokers"
	}
	return paneText{details, v.configCells, notes}
}
