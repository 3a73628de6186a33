package pages

import (
	"fmt"
	"slices"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// same is the word for what all agree on.
const same = "same"

// subscription finds a row by the topic's true name.
func (v *GroupView) subscription(topic string) *inspect.SubscriptionRow {
	i := slices.IndexFunc(v.raw.Subscriptions.Rows, func(r inspect.SubscriptionRow) bool { return r.Topic == topic })
	return &v.data.Subscriptions.Rows[i]
}

// told is how many members have said what they subscribe to.
func (v *GroupView) told() int {
	return len(v.data.Subscriptions.Members) - len(v.data.Subscriptions.Unknown)
}

func (v *GroupView) subscriptionCells(k string, cells []table.Cell) {
	r, th := v.subscription(k), v.env.Theme
	cells[0] = table.Cell{Text: r.Topic, Style: th.Text, Name: true}
	cells[1] = table.Cell{Text: r.Type, Style: th.Dim}
	switch told := v.told(); {
	case r.Same && told == 0 && len(r.Cells) > 0:
		cells[2] = table.Cell{Text: words.Unknown, Style: th.Warn}
	case r.Same:
		cells[2] = table.Cell{Text: "✓ " + same, Style: th.Good}
	default:
		cells[2] = table.Cell{Text: words.Failure.Sign() + " DIFF", Style: th.Bad}
	}
	cells[3] = table.Cell{Text: orDash(r.Broker), Style: th.Text}
	for j, e := range r.Cells {
		if 4+j < len(cells) {
			cells[4+j] = table.Cell{Text: orDash(e), Style: th.Text}
			if _, silent := v.data.Subscriptions.Unknown[v.data.Subscriptions.Members[j]]; silent {
				cells[4+j] = table.Cell{Text: words.Unknown, Style: th.Warn}
			}
		}
	}
}

func (v *GroupView) configCells(k string, cells []table.Cell) {
	th := v.env.Theme
	cells[0] = table.Cell{Text: k, Style: th.Text}
	st := th.Text
	if slices.Contains(v.data.Differences, k) {
		st = th.Bad
		cells[1] = table.Cell{Text: words.Failure.Sign() + " DIFF", Style: st}
	}
	for i := range v.data.Configs {
		c := &v.data.Configs[i]
		value, ok := c.Fields[k]
		switch {
		case !ok && len(c.Fields) == 0:
			value = words.Unknown
		case !ok:
			value = words.None
		}
		cells[2+i] = table.Cell{Text: value, Style: st}
	}
}

func (v *GroupView) describeSubscription(key string) page.Request {
	r := v.subscription(key)
	lines := []string{"topic         " + r.Topic, "type          " + r.Type, "broker holds  " + words.OrNone(r.Broker) + "  (what is filtered by)", ""}
	for j, m := range v.data.Subscriptions.Members {
		text := words.OrNone(r.Cells[j])
		if why, silent := v.data.Subscriptions.Unknown[m]; silent {
			text = words.Unknown + words.Because(why.String())
		}
		lines = append(lines, v.letterOf(m)+" "+m, "    "+text)
	}
	return page.TextRequest{Title: "Subscription to " + r.Topic, Lines: lines}
}

func (v *GroupView) describeField(key string) page.Request {
	var lines []string
	for i := range v.data.Configs {
		c := &v.data.Configs[i]
		lines = append(lines, draw.Pad(c.Broker, 20)+" "+words.OrNone(c.Fields[key])+words.Because(c.Why.String()))
	}
	return page.TextRequest{Title: "Configuration " + key, Lines: lines}
}

func (v *GroupView) subscriptionsPane() page.PaneText {
	notes := v.detail.Lines(v.env)
	if v.detail.Asked && notes == nil {
		notes = []string{"no member says what it subscribes to"}
	}
	details := v.Panes.List[groupSubscriptions].Details(v.detail.Note(v.env))
	if s := &v.data.Subscriptions; v.detail.Asked && len(s.Rows) > 0 && details == "" {
		all, told := len(s.Members), v.told()
		switch {
		case !s.Agree:
			details = words.Failure.Sign() + " members differ"
		case told < all:
			details = fmt.Sprintf("%s %d of %s told", words.Warning.Sign(), told, words.Plural(all, "member"))
		default:
			details = "all members agree ✓"
		}
	}
	return page.PaneText{Details: details, Cells: v.subscriptionCells, Notes: notes}
}

func (v *GroupView) configPane() page.PaneText {
	var notes []string
	if v.detail.Asked {
		notes = []string{"no broker has a configuration of this group"}
		for i := range v.data.Configs {
			if c := &v.data.Configs[i]; len(c.Fields) == 0 {
				notes = append(notes, c.Broker+words.Because(c.Why.String()))
			}
		}
	}
	details := v.Panes.List[GroupConfig].Details("")
	if n := len(v.data.Differences); n > 0 && details == "" {
		details = words.Failure.Sign() + " " + words.Plural(n, "field") + " differ between brokers"
	}
	return page.PaneText{Details: details, Cells: v.configCells, Notes: notes}
}
