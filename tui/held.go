package tui

import (
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// heldRow is a cached message behind the door.
type heldRow struct {
	offset       int64
	stage        core.Stage
	started      time.Time
	retries      int
	message      *engine.Message // for copying only; never printed as it is
	held         time.Time       // since when the operator is to decide; zero: not
	reconsumed   int32
	id, tags     string
	keys         string
	born, stored time.Time
	bodySize     int
	body         string // its beginning, on one line
	more         string // says that the body goes on
}

// heldRows lets messages in. known are rows of before: what a message never changes
// is taken over from there.
func heldRows(messages []engine.HeldMessage, known []heldRow) []heldRow {
	before := make(map[int64]*heldRow, len(known))
	for i := range known {
		before[known[i].offset] = &known[i]
	}
	rows := make([]heldRow, 0, len(messages))
	for _, h := range messages {
		m := h.Message
		if m == nil {
			continue
		}
		r := heldRow{id: draw.SafeText(m.MessageID())}
		if old := before[m.QueueOffset()]; old != nil && old.id == r.id && old.stored.Equal(m.Stored()) {
			r = *old
		} else {
			r.letIn(m)
		}
		r.stage, r.started, r.retries, r.held = h.Stage, h.Started, h.Retries, h.Held
		rows = append(rows, r)
	}
	return rows
}

func (r *heldRow) letIn(m *engine.Message) {
	r.message = m
	r.offset, r.reconsumed = m.QueueOffset(), m.ReconsumeTimes()
	r.tags, r.keys = draw.SafeText(m.Tags()), draw.SafeText(strings.Join(m.Keys(), " "))
	r.born, r.stored, r.bodySize = m.Born(), m.Stored(), len(m.StoredBody())
	body, err := m.Body()
	if err != nil {
		r.body = "! body: " + draw.SafeText(err.Error())
		return
	}
	r.bodySize = len(body)
	whole := false
	if r.body, whole = draw.SafeHead(body, bodyPreview); !whole {
		r.more = ", the beginning:"
	}
}

// stageWord names a stage as the screen does.
func stageWord(s core.Stage) string {
	switch s {
	case core.StageCached:
		return "waiting"
	case core.StageTaken:
		return "running"
	case core.StageDone:
		return "done"
	}
	return words.Unknown
}

var heldColumns = []table.Column{
	{ID: "offset", Title: "offset", Width: 11, Right: true, Flex: 1, Max: 13, Fixed: true},
	{ID: "stage", Title: "stage", Width: 8},
	{ID: "since", Title: "for", Width: 7, Right: true, Rank: 4},
	{ID: "retry", Title: "retry", Width: 5, Right: true, Rank: 3},
	{ID: "born", Title: "born", Width: 12, Rank: 6, From: 140},
	{ID: "stored", Title: "stored", Width: 12, Rank: 5},
	{ID: "age", Title: "age", Width: 7, Right: true, Rank: 2},
	{ID: "id", Title: "id", Width: 12, Flex: 1, Max: 34, Rank: 7, From: 90},
	{ID: "body", Title: "keys · body", Width: 20, Flex: 4},
}

// note says why no message is listed.
func (v *queueView) note(q *engine.QueueSnapshot) string {
	switch {
	case len(v.held) > 0 && v.err == "":
		return ""
	case q == nil:
		return ""
	case !q.Own:
		return "  not ours: its messages are in another member's cache"
	case v.err != "":
		return "  " + words.Failure.Sign() + " " + v.err
	case !v.asked, q.CachedCount > 0: // what was read is older than what is counted
		return "  reading the cache …"
	}
	return "  the cache is empty"
}

func (v *queueView) drawHeld(c *draw.Canvas, layout *table.Layout, i int) {
	th, r := v.env.Theme, &v.held[i]
	st := th.Text
	running := words.None
	switch r.stage {
	case core.StageTaken:
		st = th.Good
		if !r.started.IsZero() {
			running = words.Span(v.pic.now.Sub(r.started))
		}
	case core.StageDone:
		st = th.Dim
	}
	stage := stageWord(r.stage)
	if !r.held.IsZero() {
		stage, st, running = "held", th.Accent, words.Span(v.pic.now.Sub(r.held))
	}
	body := r.body
	if r.keys != "" {
		body = r.keys + " · " + body
	}
	retry := words.None
	if n := int(r.reconsumed) + r.retries; n > 0 {
		retry = fmt.Sprintf("%d", r.reconsumed)
		if r.retries > 0 {
			retry += fmt.Sprintf("+%d", r.retries)
		}
	}
	cells := [...]table.Cell{
		{Text: words.Grouped(r.offset)}, {Text: stage, Style: st}, {Text: running}, {Text: retry},
		{Text: v.env.Clock(r.born, words.ClockMillis)}, {Text: v.env.Clock(r.stored, words.ClockMillis)}, {Text: words.Since(r.stored, v.pic.now)},
		{Text: r.id, Style: th.Dim}, {Text: table.Tail(body, v.scroll)},
	}
	c.TableRow(th, layout, heldColumns, cells[:], v.env.Look(i == v.list.Cursor(), v.list.IsMarked(r.offset), true))
}

// heldDetails are all fields of a cached message.
func heldDetails(e *page.Env, r *heldRow) page.TextDialog {
	when := func(t time.Time) string {
		if t.IsZero() {
			return words.None
		}
		return t.In(e.Options.Location).Format("2006-01-02 15:04:05.000 -07:00") + "   " + words.Ago(t, e.Now)
	}
	stage := stageWord(r.stage) + ", listener called " + when(r.started)
	if !r.held.IsZero() {
		stage = "held for the operator since " + when(r.held)
	}
	return page.TextDialog{Env: e, Title: "Message at " + words.Grouped(r.offset), Lines: []string{
		"id      " + words.OrUnknown(r.id),
		"stage   " + stage,
		"born    " + when(r.born),
		"stored  " + when(r.stored),
		fmt.Sprintf("retry   sent back %d times, retried here %d times", r.reconsumed, r.retries),
		"tags    " + r.tags,
		"keys    " + r.keys,
		"body    " + words.Size(int64(r.bodySize)) + r.more,
		"",
		r.body,
	}}
}

// line is the message in one line.
func (r *heldRow) line() string {
	text := r.body
	if r.keys != "" {
		text = r.keys + " · " + text
	}
	return words.Grouped(r.offset) + "  " + table.Cut(text, 200)
}
