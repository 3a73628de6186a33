package tui

import (
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// askSave asks where to save what the shown view shows.
func (a *app) askSave() tea.Cmd {
	if p := a.page(); p != nil {
		if x, ok := p.(exporter); ok {
			return a.pushExport(x.export())
		}
		return a.refuse("this page has no rows to save; :shot writes the screen")
	}
	switch a.shown {
	case viewLive, viewWatch:
		return a.pushExport(a.live[a.cur].export())
	case viewEvents:
		return a.pushExport(a.events[a.cur].export())
	}
	return a.refuse("this view has no rows to save; :shot writes the screen")
}

func (a *app) pushExport(x export) tea.Cmd {
	if len(x.rows) == 0 {
		return a.refuse("there are no rows to save")
	}
	a.push(askExport(a.env, x))
	return nil
}

// onSaved tells what became of a file, or asks whether it may be overwritten.
func (a *app) onSaved(msg savedMsg) {
	switch {
	case msg.exists:
		a.push(overwriteDialog{env: a.env, saved: msg.saved})
	case msg.err != "":
		a.say("save "+draw.SafeText(msg.path), msg.err)
	default:
		a.say("saved "+msg.what+" to "+draw.SafeText(msg.path)+", "+words.Size(int64(msg.n)), "")
	}
}

// shot writes the screen twice: as text, and with its colours.
func (a *app) shot(path string) tea.Cmd {
	frame, w := a.draw(), a.w
	if path == "" {
		path = fileName("shot", a.env.now.In(a.env.o.Location))
	}
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".txt"), ".ansi")
	text := saved{"the screen as text", path + ".txt", func() ([]byte, error) { return []byte(trimLines(ansi.Strip(frame)) + "\n"), nil }}
	ansi := saved{"the screen", path + ".ansi", func() ([]byte, error) { return []byte(pinned(frame, w) + "\n"), nil }}
	return tea.Batch(saveFile(a.cmds, text, false), saveFile(a.cmds, ansi, false))
}

// export are the queues of the live view as they are sorted and filtered.
func (v *liveView) export() export {
	x := export{name: "live", columns: []string{"topic", "broker", "queue", "client_id", "state", "detail", "committed_offset", "min_offset", "max_offset", "lag",
		"cached_count", "cached_bytes", "cached_min_offset", "cached_max_offset", "span", "flow", "locked", "last_pull", "last_consume"}}
	s := v.pic.scene
	if s == nil {
		return x
	}
	x.name = "live-" + s.Group
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
		x.rows = append(x.rows, []any{q.Topic, q.BrokerName, q.QueueID, owner, state, detail, committed, offset(q.MinOffset), offset(q.MaxOffset), lag,
			own(q.CachedCount), own(q.CachedBytes), offset(q.CachedMin), offset(q.CachedMax), own(q.Span), flow, own(q.Locked), q.LastPull, q.LastConsume})
	}
	return x
}

// copyWatched is a row of a watched group as JSON: own, which an engine's row says, has
// no meaning there.
func (v *liveView) copyWatched(mq engine.MessageQueue) copied {
	x := v.export()
	x.rows = slices.DeleteFunc(x.rows, func(row []any) bool {
		return row[0] != mq.Topic || row[1] != mq.BrokerName || row[2] != mq.QueueID
	})
	return copied{"queue " + draw.SafeText(mq.Short()) + " as JSON", func() (string, error) {
		b, err := x.jsonText()
		return string(b), err
	}}
}

// export are the events as they are filtered.
func (v *eventsView) export() export {
	x := export{name: "events", columns: []string{"time", "event", "kind", "cause", "topic", "queue", "text"}}
	for _, seq := range v.list.Keys() {
		if r := v.row(seq); r != nil {
			x.rows = append(x.rows, []any{r.At, r.Name, r.Kind, r.Cause, r.Topic, r.Queue, r.Text})
		}
	}
	return x
}

// askSave asks where to save: by the name's ending the rows as CSV or JSON lines, else
// the true bytes of the body under the cursor.
func (v tailView) askSave() (page, request) {
	r := v.current()
	if r == nil || r.message == nil {
		return v, refuseRequest{"there is no message under the cursor to save"}
	}
	marked := v.list.MarkCount() > 0
	rows := v.shown
	if marked {
		rows = v.targets()
	}
	e := v.env
	name := fileName(v.request.Topic+"-"+r.mq.Short()+"-"+words.Offset(r.offset), e.now.In(e.o.Location)) + ".bin"
	help := "the body's bytes; .jsonl or .csv: " + words.Plural(len(rows), "message")
	return v, pushRequest{newPrompt(e, "save to", help, "SAVE", strings.ReplaceAll(name, ",", ""), func(path string) (request, error) {
		switch {
		case path == "":
			return nil, errors.New("a file's name is needed")
		case strings.HasSuffix(path, ".jsonl"):
			if e.o.MessageJSON == nil {
				return nil, errors.New("there is no JSON of messages here")
			}
			return saveRequest{saved: saved{words.Plural(len(rows), "message"), path, func() ([]byte, error) { return jsonLines(e.o, rows), nil }}}, nil
		case strings.HasSuffix(path, ".csv"):
			x := tailExport(rows)
			return saveRequest{saved: saved{words.Plural(len(rows), "message"), path, x.csvText}}, nil
		}
		return saveRequest{saved: saved{"the body at " + words.Grouped(r.offset), path, r.message.Body}}, nil
	})}
}

func jsonLines(o Options, rows []*tailRow) []byte {
	var b []byte
	for _, r := range rows {
		if r.message != nil {
			b = append(append(b, o.MessageJSON(r.message)...), '\n')
		}
	}
	return b
}

// tailExport are messages as rows; bodies that are text only.
func tailExport(rows []*tailRow) export {
	x := export{name: "tail", columns: []string{"born", "stored", "topic", "broker", "queue", "offset", "message_id", "tags", "keys", "reconsume_times", "size", "body", "error"}}
	for _, r := range rows {
		m := r.message
		if m == nil {
			continue
		}
		var body any
		if b, err := m.Body(); err == nil && r.decoder != "hex" {
			body = string(b)
		}
		x.rows = append(x.rows, []any{r.born, r.stored, r.mq.Topic, r.mq.BrokerName, r.mq.QueueID, r.offset, m.MessageID(), m.Tags(), strings.Join(m.Keys(), " "), r.retries, r.size, body, r.bad})
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
