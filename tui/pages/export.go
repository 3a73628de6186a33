package pages

import (
	"slices"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// The rows of pages as they are sorted and filtered, by the fields that the commands
// print as JSON: names of groups, topics and queues are true ones, what is not known is null.

func exportNumber(n inspect.Number) any {
	if !n.Known {
		return nil
	}
	return n.Value
}

// exportReason says why a number is not known, or is a lower bound.
func exportReason(r inspect.Reason) any {
	if r.Kind == inspect.ReasonNone {
		return nil
	}
	return r.String()
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

// Export are the topics; details that were not read yet are null.
func (v TopicsView) Export() page.Export { return v.rowsOf(v.Rows.List.Keys()) }

func (v TopicsView) rowsOf(topics []string) page.Export {
	x := page.Export{Name: "topics", Columns: []string{"topic", "type", "perm", "queues", "stored", "last_stored", "brokers"}}
	v.ExportRows(&x, topics, func(r *inspect.TopicRow) []any {
		return []any{r.Type, r.Perm, r.Queues, exportNumber(r.Stored), r.LastStored, strings.Join(r.Brokers, " ")}
	})
	return x
}

// Export are the queues, those of closed topics too: a topic's own row is their sum.
func (v LagView) Export() page.Export { return v.rowsOf(v.Rows.List.Keys()) }

// rowsOf are the queues of rows; of a topic whose queues are rows themselves only the
// topic's own row is asked for alone.
func (v LagView) rowsOf(rows []lagKey) page.Export {
	x := page.Export{Name: "lag-" + v.Name, Columns: []string{"topic", "broker", "queue", "min_offset", "committed_offset", "max_offset", "lag", "lag_error",
		"next_stored", "last_consumed", "client_id"}}
	add := func(i int) {
		q := &v.raw.Queues[i]
		x.Rows = append(x.Rows, []any{q.Topic, q.BrokerName, q.QueueID, exportNumber(q.Min), exportNumber(q.Committed), exportNumber(q.Max), exportNumber(q.Lag), exportReason(q.Lag.Why),
			q.NextStored, q.LastConsumed, strings.Join(q.Owners, " ")})
	}
	for _, k := range rows {
		switch t := v.topic(k.topic); {
		case k.Queue:
			add(v.index[k])
		case len(rows) == 1, !v.open[k.topic] && !v.Rows.Filter.Active():
			for _, i := range t.queues {
				add(i)
			}
		}
	}
	return x
}

// Export are the brokers; of one that does not answer only its place is known.
func (v brokersView) Export() page.Export { return v.rowsOf(v.panes.List[0].List.Keys()) }

func (v brokersView) rowsOf(brokers []string) page.Export {
	x := page.Export{Name: "brokers", Columns: []string{"cluster", "broker", "broker_id", "address", "role", "version", "reachable", "in_tps", "out_tps", "disk"}}
	for _, k := range brokers {
		b := v.broker(k)
		cells := []any{b.Cluster, b.Broker, b.ID, b.Address, b.Role, b.Version, b.Reachable, nil, nil, nil}
		if b.Reachable {
			cells[7], cells[8] = b.InTPS, b.OutTPS
			if b.Disk >= 0 {
				cells[9] = b.Disk
			}
		}
		x.Rows = append(x.Rows, cells)
	}
	return x
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
