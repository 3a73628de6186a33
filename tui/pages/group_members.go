package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

func (v *GroupView) memberIndex(id string) int {
	return slices.IndexFunc(v.Who.Members, func(m inspect.Member) bool { return m.ClientID == id })
}

// TrueID is the client id of a member that is shown as id.
func (v *GroupView) TrueID(id string) string {
	if i := v.memberIndex(id); i >= 0 {
		return v.RawWho.Members[i].ClientID
	}
	return ""
}

func (v *GroupView) member(id string) *inspect.Member {
	i := v.memberIndex(id)
	if i < 0 {
		return nil
	}
	return &v.Who.Members[i]
}

// letterOf names a member in the matrix.
func (v *GroupView) letterOf(id string) string {
	if i := v.memberIndex(id); i >= 0 {
		return words.Letter(i)
	}
	return words.Unknown
}

func (v *GroupView) memberCells(k string, cells []table.Cell) {
	m, th := v.member(k), v.env.Theme
	cells[0] = table.Cell{Text: v.letterOf(k) + " " + m.ClientID, Style: th.Text, Name: true}
	cells[1] = table.Cell{Text: strings.Join(m.Addresses, " "), Style: th.Dim}
	if len(m.Addresses) > 1 {
		cells[1].Style = th.Bad
	}
	cells[2] = table.Cell{Text: strings.TrimSpace(strings.ToLower(m.Language) + " " + versionText(m.Version)), Style: th.Dim}
	if m.Info == nil {
		cells[3], cells[4] = table.Cell{Text: words.Unknown, Style: th.Warn}, table.Cell{Text: words.Unknown, Style: th.Warn}
		if n := len(m.Held); n > 0 {
			cells[3] = table.Cell{Text: "≥ " + strconv.Itoa(n), Style: th.Warn}
		}
		cells[5] = table.Cell{Text: words.Warning.Sign() + " " + words.OrUnknown(m.Why.String()), Style: th.Warn}
	} else {
		cached := int64(0)
		for _, q := range m.Info.MQTable {
			cached += int64(q.CachedMsgCount)
		}
		cells[3] = table.Cell{Text: strconv.Itoa(len(m.Info.MQTable) + len(m.Info.MQPopTable)), Style: th.Text}
		cells[4] = table.Cell{Text: words.Grouped(cached), Style: th.Text}
		cells[5] = table.Cell{Text: "✓ answers", Style: th.Good}
	}
	switch {
	case len(m.Addresses) > 1:
		cells[5] = table.Cell{Text: fmt.Sprintf("%s %d processes share this id", words.Failure.Sign(), len(m.Addresses)), Style: th.Bad}
	case len(m.Missing) > 0:
		cells[5] = table.Cell{Text: words.Warning.Sign() + " unknown to " + strings.Join(m.Missing, " "), Style: th.Warn}
	}
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
	lines := []string{"", "by its consumer status it reads at least " + words.Plural(len(m.Held), "queue") + ":"}
	for _, mq := range slices.SortedFunc(maps.Keys(m.Held), byName) {
		lines = append(lines, fmt.Sprintf("  %s  offset %s", mq.String(), words.Offset(m.Held[mq])))
	}
	return lines
}

func (v *GroupView) describeMember(key string) page.Request {
	m := v.member(key)
	lines := []string{"member    " + v.letterOf(key) + " " + m.ClientID, "addresses " + strings.Join(m.Addresses, " "),
		"client    " + strings.TrimSpace(m.Language+" "+versionText(m.Version)), "known to  " + strings.Join(m.Brokers, " ")}
	if len(m.Missing) > 0 {
		lines = append(lines, "not to    "+strings.Join(m.Missing, " "))
	}
	if m.Info == nil {
		lines = append(lines, "", words.Warning.Sign()+" it does not say what it does: "+words.OrUnknown(m.Why.String()))
		return page.TextRequest{Title: "Member " + key, Lines: append(lines, heldLines(m)...)}
	}
	lines = append(lines, "", words.Plural(len(m.Info.MQTable), "queue")+":")
	for _, mq := range slices.SortedFunc(maps.Keys(m.Info.MQTable), byName) {
		q := m.Info.MQTable[mq]
		inside := "cache empty"
		if q.CachedMsgCount > 0 { // offsets of an empty cache are zeros, or what was there last
			inside = fmt.Sprintf("cached %s (%d MiB)  %s … %s", words.Grouped(int64(q.CachedMsgCount)), q.CachedMsgSizeInMiB, words.Offset(q.CachedMsgMinOffset), words.Offset(q.CachedMsgMaxOffset))
		}
		lines = append(lines, fmt.Sprintf("  %s  commit %s  %s", mq.String(), words.Offset(q.CommitOffset), inside))
	}
	for _, mq := range slices.SortedFunc(maps.Keys(m.Info.MQPopTable), byName) {
		q := m.Info.MQPopTable[mq]
		lines = append(lines, fmt.Sprintf("  %s  by POP  popped and not acknowledged %s  last pop %s", poppedName(mq), words.Grouped(int64(q.WaitAckCount)),
			words.Ago(words.Millis(q.LastPopTimestamp), v.env.Now)))
	}
	for _, a := range m.Assigned {
		lines = append(lines, fmt.Sprintf("  %s  the broker gives it by %s", poppedName(a.Queue), a.Mode))
	}
	if m.AssignedWhy.Kind != inspect.ReasonNone {
		lines = append(lines, "  "+words.Warning.Sign()+" what the broker gives it: "+m.AssignedWhy.String())
	}
	lines = append(lines, "", "settings:")
	for _, name := range slices.Sorted(maps.Keys(m.Info.Properties)) {
		lines = append(lines, "  "+draw.Pad(name, 34)+" "+m.Info.Properties[name])
	}
	return page.TextRequest{Title: "Member " + key, Lines: lines}
}

func (v *GroupView) membersPane() page.PaneText {
	notes := v.members.Lines(v.env)
	switch problems := v.Who.Problems; {
	case !v.members.Asked || notes != nil:
	case len(problems) > 0:
		notes = []string{"who is connected is not known:"}
		for _, p := range problems {
			notes = append(notes, "  "+words.Warning.Sign()+" "+p.String())
		}
	default:
		notes = []string{"nobody is connected: the group is offline", "offsets stay with the brokers; " + v.env.Keys.First("lag") + " shows the lag"}
	}
	return page.PaneText{Details: v.Panes.List[GroupMembers].Details(v.members.Note(v.env)), Cells: v.memberCells, Notes: notes}
}

// Export are the members of the group; what one that does not answer has is null.
func (v GroupView) Export() page.Export { return v.rowsOf(v.Panes.List[GroupMembers].List.Keys()) }

func (v GroupView) rowsOf(members []string) page.Export {
	x := page.Export{Name: "group-" + v.Name, Columns: []string{"client_id", "addresses", "language", "version", "queues", "cached_count", "error"}}
	for _, k := range members {
		m := &v.RawWho.Members[v.memberIndex(k)]
		cells := []any{m.ClientID, strings.Join(m.Addresses, " "), m.Language, m.Version, nil, nil, exportReason(m.Why)}
		if n := len(m.Held); n > 0 { // at least: why there are not more is in error
			cells[4] = n
		}
		if m.Info != nil {
			cached := int64(0)
			for _, q := range m.Info.MQTable {
				cached += int64(q.CachedMsgCount)
			}
			cells[4], cells[5] = len(m.Info.MQTable)+len(m.Info.MQPopTable), cached
		}
		x.Rows = append(x.Rows, cells)
	}
	return x
}

// copied is a row of a pane as JSON: a member, a subscription or a configured field.
func (v GroupView) copied(pane int, key string) page.Copied {
	switch pane {
	case groupSubscriptions:
		m := &v.raw.Subscriptions
		i := slices.IndexFunc(m.Rows, func(r inspect.SubscriptionRow) bool { return r.Topic == key })
		if i < 0 {
			return page.JsonText(draw.SafeText(key), key)
		}
		by := map[string]string{}
		for n, expression := range m.Rows[i].Cells {
			by[m.Members[n]] = expression
		}
		return page.Export{Columns: []string{"topic", "type", "agree", "broker", "members"},
			Rows: [][]any{{key, m.Rows[i].Type, m.Rows[i].Same, m.Rows[i].Broker, by}}}.Copied("the subscription")
	case GroupConfig:
		by := map[string]string{}
		for i := range v.raw.Configs {
			if value, ok := v.raw.Configs[i].Fields[key]; ok {
				by[v.raw.Configs[i].Broker] = value
			}
		}
		return page.Export{Columns: []string{"field", "differs", "brokers"}, Rows: [][]any{{key, slices.Contains(v.raw.Differences, key), by}}}.Copied("the field")
	}
	return v.rowsOf(v.Panes.List[GroupMembers].Targets()).Copied("the member")
}
