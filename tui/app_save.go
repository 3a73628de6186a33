package tui

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// askSave asks where to save what the shown view shows.
func (a *app) askSave() tea.Cmd {
	if p := a.page(); p != nil {
		if x, ok := p.(page.Exporter); ok {
			return a.pushExport(x.Export())
		}
		return a.refuse("this page has no rows to save; :shot writes the screen")
	}
	switch a.shown {
	case page.ViewLive, page.ViewWatch:
		return a.pushExport(a.live[a.cur].Export())
	case page.ViewEvents:
		return a.pushExport(a.events[a.cur].Export())
	}
	return a.refuse("this view has no rows to save; :shot writes the screen")
}

func (a *app) pushExport(x page.Export) tea.Cmd {
	if len(x.Rows) == 0 {
		return a.refuse("there are no rows to save")
	}
	a.push(page.AskExport(a.env, x))
	return nil
}

// onSaved tells what became of a file, or asks whether it may be overwritten.
func (a *app) onSaved(msg page.SavedMsg) {
	switch {
	case msg.Exists:
		a.push(page.OverwriteDialog{Env: a.env, Saved: msg.Saved})
	case msg.Err != "":
		a.say("save "+draw.SafeText(msg.Path), msg.Err)
	default:
		a.say("saved "+msg.What+" to "+draw.SafeText(msg.Path)+", "+words.Size(int64(msg.N)), "")
	}
}

// shot writes the screen twice: as text, and with its colours.
func (a *app) shot(path string) tea.Cmd {
	frame, w := a.draw(), a.w
	if path == "" {
		path = page.FileName("shot", a.env.Now.In(a.env.Options.Location))
	}
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".txt"), ".ansi")
	text := page.Saved{What: "the screen as text", Path: path + ".txt", Make: func() ([]byte, error) { return []byte(trimLines(ansi.Strip(frame)) + "\n"), nil }}
	ansi := page.Saved{What: "the screen", Path: path + ".ansi", Make: func() ([]byte, error) { return []byte(pinned(frame, w) + "\n"), nil }}
	return tea.Batch(page.SaveFile(a.cmds, text, false), page.SaveFile(a.cmds, ansi, false))
}

// Export are the queues of the live view as they are sorted and filtered.
func (v *liveView) Export() page.Export {
	x := page.Export{Name: "live", Columns: []string{"topic", "broker", "queue", "client_id", "state", "detail", "committed_offset", "min_offset", "max_offset", "lag",
		"cached_count", "cached_bytes", "cached_min_offset", "cached_max_offset", "span", "flow", "locked", "last_pull", "last_consume"}}
	s := v.pic.scene
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
	for _, mq := range v.queues.Keys() {
		i, ok := s.index[mq]
		if !ok {
			continue
		}
		q := &s.raw.Queues[i]
		own := func(value any) any {
			if !q.Own {
				return nil
			}
			return value
		}
		committed, state, detail := offset(q.CommittedOffset), q.State.String(), q.Detail
		if s.watch != nil {
			w := &s.watch.queues[i]
			if committed = nil; w.committed.Known {
				committed = w.committed.Value
			}
			if w.finding != "" {
				state = w.finding
			}
		}
		var lag, owner any
		if n, ok := lagOf(q); ok {
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

// copyWatched is a row of a watched group as JSON: own, which an engine's row says, has
// no meaning there.
func (v *liveView) copyWatched(mq engine.MessageQueue) page.Copied {
	x := v.Export()
	x.Rows = slices.DeleteFunc(x.Rows, func(row []any) bool {
		return row[0] != mq.Topic || row[1] != mq.BrokerName || row[2] != mq.QueueID
	})
	return page.Copied{What: "queue " + draw.SafeText(mq.Short()) + " as JSON", Text: func() (string, error) {
		b, err := x.JsonText()
		return string(b), err
	}}
}

// Export are the events as they are filtered.
func (v *eventsView) Export() page.Export {
	x := page.Export{Name: "events", Columns: []string{"time", "event", "kind", "cause", "topic", "queue", "text"}}
	for _, seq := range v.list.Keys() {
		if r := v.row(seq); r != nil {
			x.Rows = append(x.Rows, []any{r.At, r.Name, r.Kind, r.Cause, r.Topic, r.Queue, r.Text})
		}
	}
	return x
}

func jsonLines(o page.Options, rows []*tailRow) []byte {
	var b []byte
	for _, r := range rows {
		if r.message != nil {
			b = append(append(b, o.MessageJSON(r.message)...), '\n')
		}
	}
	return b
}

// tailExport are messages as rows; bodies that are text only.
func tailExport(rows []*tailRow) page.Export {
	x := page.Export{Name: "tail", Columns: []string{"born", "stored", "topic", "broker", "queue", "offset", "message_id", "tags", "keys", "reconsume_times", "size", "body", "error"}}
	for _, r := range rows {
		m := r.message
		if m == nil {
			continue
		}
		var body any
		if b, err := m.Body(); err == nil && r.decoder != "hex" {
			body = string(b)
		}
		x.Rows = append(x.Rows, []any{r.born, r.stored, r.mq.Topic, r.mq.BrokerName, r.mq.QueueID, r.offset, m.MessageID(), m.Tags(), strings.Join(m.Keys(), " "), r.retries, r.size, body, r.bad})
	}
	return x
}

// trimLines takes the blanks from the ends of lines.
func trimLines(frame string) string {
	lines := strings.Split(frame, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
