package live

import (
	"slices"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// Export are the events as they are filtered.
func (v *EventsView) Export() page.Export {
	x := page.Export{Name: "events", Columns: []string{"time", "event", "kind", "cause", "topic", "queue", "text"}}
	for _, seq := range v.List.Keys() {
		if r := v.row(seq); r != nil {
			x.Rows = append(x.Rows, []any{r.At, r.Name, r.Kind, r.Cause, r.Topic, r.Queue, r.Text})
		}
	}
	return x
}

// Export are the queues of the live view as they are sorted and filtered.
func (v *View) Export() page.Export {
	x := page.Export{Name: "live", Columns: []string{"topic", "broker", "queue", "client_id", "state", "detail", "committed_offset", "min_offset", "max_offset", "lag",
		"cached_count", "cached_bytes", "cached_min_offset", "cached_max_offset", "span", "flow", "locked", "last_pull", "last_consume"}}
	s := v.pic.Scene
	if s == nil {
		return x
	}
	x.Name = "live-" + s.Group
	offset := func(n int64) any {
		if n == engine.Unknown {
			return nil
		}
		return n
	}
	for _, mq := range v.Queues.Keys() {
		i, ok := s.Index[mq]
		if !ok {
			continue
		}
		q := &s.Raw.Queues[i]
		own := func(value any) any {
			if !q.Own {
				return nil
			}
			return value
		}
		committed, state, detail := offset(q.CommittedOffset), q.State.String(), q.Detail
		if s.Watch != nil {
			w := &s.Watch.queues[i]
			if committed = nil; w.committed.Known {
				committed = w.committed.Value
			}
			if w.finding != "" {
				state = w.finding
			}
		}
		var lag, owner any
		if n, ok := LagOf(q); ok {
			lag = n
		}
		if q.Owner != "" {
			owner = q.Owner
		}
		flow := ""
		if q.Own {
			flow = q.Flow.String()
		}
		x.Rows = append(x.Rows, []any{q.Topic, q.BrokerName, q.QueueID, owner, state, detail, committed, offset(q.MinOffset), offset(q.MaxOffset), lag,
			own(q.CachedCount), own(q.CachedBytes), offset(q.CachedMin), offset(q.CachedMax), own(q.Span), flow, own(q.Locked), q.LastPull, q.LastConsume})
	}
	return x
}

// CopyWatched is a row of a watched group as JSON: own, which an engine's row says, has
// no meaning there.
func (v *View) CopyWatched(mq engine.MessageQueue) page.Copied {
	x := v.Export()
	x.Rows = slices.DeleteFunc(x.Rows, func(row []any) bool {
		return row[0] != mq.Topic || row[1] != mq.BrokerName || row[2] != mq.QueueID
	})
	return page.Copied{What: "queue " + draw.SafeText(mq.Short()) + " as JSON", Text: func() (string, error) {
		b, err := x.JsonText()
		return string(b), err
	}}
}
