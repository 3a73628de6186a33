package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"eyeq/engine/inspect"
)

func newGroupShow(e *env) *cobra.Command {
	r := &reading{}
	cmd := &cobra.Command{
		Use:   "show GROUP",
		Short: "A group's state, its configuration at each broker, and who subscribes to what (-o table|json)",
		Long: `Shows a group as in 'group list', its configuration at every broker with the fields in which
brokers differ, and a matrix of what each member subscribes to, which must be the same for all. Where a
5.x broker was told how members are to get a topic's messages (mqadmin setConsumeMode), it says so:
members obey that let the broker allocate (clientRebalance=false).`,
		Example: `  eyeq group show orders-worker
  eyeq group show orders-worker -o json | jq .differences`,
	}
	return e.groupReader(cmd, r, func(ctx context.Context, x *inspection, group, format string) ([]byte, error) {
		d, err := x.Group(ctx, group)
		if err != nil {
			return nil, err
		}
		if d.Row.State == inspect.StateUnreachable || d.Row.State == inspect.StateDenied {
			if err := unanswered("group "+group, d.Row.Members.Why); err != nil {
				return nil, err
			}
		}
		e.warn(d.Row.Problems)
		if format == "json" {
			return marshal(groupDetailOf(&d))
		}
		return groupDetailTable(&d), nil
	})
}

// groupDetailJSON is `group show`.
type groupDetailJSON struct {
	groupRowJSON
	Brokers       []groupConfigJSON `json:"brokers"`
	Differences   []string          `json:"differences"`
	Subscriptions matrixJSON        `json:"subscriptions"`
}

type groupConfigJSON struct {
	Broker      string                     `json:"broker"`
	Address     string                     `json:"address"`
	Config      map[string]json.RawMessage `json:"config"`
	ConfigError string                     `json:"config_error,omitempty"`
}

type matrixJSON struct {
	Members []string          `json:"members"`
	Agree   bool              `json:"agree"`
	Rows    []matrixRowJSON   `json:"rows"`
	Unknown map[string]string `json:"unknown"` // members that did not say, with the reason
}

type matrixRowJSON struct {
	Topic       string             `json:"topic"`
	Type        string             `json:"type"`
	Same        bool               `json:"same"`
	Broker      *string            `json:"broker_expression"`
	Expressions map[string]*string `json:"expressions"` // by client id; null: it does not subscribe
}

func groupDetailOf(d *inspect.GroupDetail) *groupDetailJSON {
	j := &groupDetailJSON{groupRowJSON: groupRowOf(&d.Row), Differences: emptyList(d.Differences), Brokers: []groupConfigJSON{}}
	for _, c := range d.Configs {
		one := groupConfigJSON{Broker: c.Broker, Address: c.Addr, ConfigError: c.Why.String()}
		if c.Fields != nil {
			one.Config = map[string]json.RawMessage{}
			for name, value := range c.Fields {
				one.Config[name] = valueJSON(value)
			}
		}
		j.Brokers = append(j.Brokers, one)
	}
	m := &d.Subscriptions
	j.Subscriptions = matrixJSON{Members: emptyList(m.Members), Agree: m.Agree, Rows: []matrixRowJSON{}, Unknown: map[string]string{}}
	for id, why := range m.Unknown {
		j.Subscriptions.Unknown[id] = why.String()
	}
	for _, r := range m.Rows {
		row := matrixRowJSON{Topic: r.Topic, Type: r.Type, Same: r.Same, Broker: namedOrNull(r.Broker), Expressions: map[string]*string{}}
		for i, id := range m.Members {
			if _, unknown := m.Unknown[id]; !unknown {
				row.Expressions[id] = namedOrNull(r.Cells[i])
			}
		}
		j.Subscriptions.Rows = append(j.Subscriptions.Rows, row)
	}
	return j
}

func groupDetailTable(d *inspect.GroupDetail) []byte {
	r := &d.Row
	out := appendTable(nil, "ll", [][]string{
		{"group", r.Group},
		{"state", r.State},
		{"kind", kindText(r)},
		{"client type", clientTypeText(r)},
		{"model", modelText(r)},
		{"members", strings.TrimSpace(numberText(r.Members) + "  " + strings.Join(r.Versions, ", "))},
		{"lag", lagText(r.Lag, r.UnknownQueues)},
		{"retry", numberText(r.RetryLag)},
		{"dead letters", numberText(r.DeadLetters)},
		{"consumed", fmt.Sprintf("%.1f/s", r.ConsumeTPS)},
		{"topics", strings.Join(r.Topics, ", ")},
		{"paused", pauseText(r.Paused)},
	})
	out = append(out, modesTable(r.Modes)...)
	out = append(out, '\n')
	out = append(out, configTable(d)...)
	if len(d.Subscriptions.Rows) > 0 {
		out = append(out, '\n')
		out = append(out, matrixTable(&d.Subscriptions)...)
	}
	return out
}

func modelText(r *inspect.GroupRow) string {
	if r.Model == 0 {
		return textUnknown
	}
	return r.Model.String()
}

// pauseText says how far a group is paused.
func pauseText(p inspect.Pause) string {
	var parts []string
	switch {
	case p.All():
		parts = append(parts, "yes, by its configuration at "+strings.Join(p.Brokers, ", "))
	case len(p.Brokers) > 0:
		parts = append(parts, "only at "+strings.Join(p.Brokers, ", "))
	}
	for _, topic := range sortedKeys(p.Topics) {
		parts = append(parts, fmt.Sprintf("topic %s at %s", topic, strings.Join(p.Topics[topic], ", ")))
	}
	if parts == nil {
		return "no"
	}
	return strings.Join(parts, "; ")
}

// configTable has a column for each broker.
func configTable(d *inspect.GroupDetail) []byte {
	head, align := []string{"CONFIGURATION"}, "l"
	var names []string
	for _, c := range d.Configs {
		head, align = append(head, c.Broker), align+"l"
		for name := range c.Fields {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rows := [][]string{append(head, "")}
	for _, name := range slices.Compact(names) {
		row := []string{name}
		for _, c := range d.Configs {
			value, ok := c.Fields[name]
			switch {
			case c.Fields == nil:
				value = c.Why.Kind.String()
			case !ok:
				value = "-"
			}
			row = append(row, value)
		}
		mark := ""
		if slices.Contains(d.Differences, name) {
			mark = "DIFFERS"
		}
		rows = append(rows, append(row, mark))
	}
	if len(rows) == 1 {
		return []byte("no broker has a configuration of it\n")
	}
	return appendTable(nil, align+"l", rows)
}

// matrixTable has a row for each topic and member: client ids are too long for columns.
func matrixTable(m *inspect.SubscriptionMatrix) []byte {
	rows := [][]string{{"TOPIC", "MEMBER", "TYPE", "EXPRESSION", ""}}
	for _, r := range m.Rows {
		mark := ""
		if !r.Same {
			mark = "DIFFERS"
		}
		rows = append(rows, []string{r.Topic, "(the broker)", r.Type, notSubscribed(r.Broker), mark})
		for i, id := range m.Members {
			cell := notSubscribed(r.Cells[i])
			if why, unknown := m.Unknown[id]; unknown {
				cell = why.String()
			}
			rows = append(rows, []string{"", id, "", cell, ""})
		}
	}
	return appendTable(nil, "lllll", rows)
}

func notSubscribed(expression string) string {
	if expression == "" {
		return "(not subscribed)"
	}
	return expression
}
