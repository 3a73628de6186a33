package live

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

// HeldRow is a cached message behind the door.
type HeldRow struct {
	Offset       int64
	Stage        core.Stage
	Started      time.Time
	Retries      int
	Message      *engine.Message // for copying only; never printed as it is
	Held         time.Time       // since when the operator is to decide; zero: not
	Reconsumed   int32
	ID, Tags     string
	Keys         string
	Born, Stored time.Time
	BodySize     int
	Body         string // its beginning, on one line
	More         string // says that the body goes on
}

// HeldRows lets messages in. known are rows of before: what a message never changes
// is taken over from there.
func HeldRows(messages []engine.HeldMessage, known []HeldRow) []HeldRow {
	before := make(map[int64]*HeldRow, len(known))
	for i := range known {
		before[known[i].Offset] = &known[i]
	}
	rows := make([]HeldRow, 0, len(messages))
	for _, h := range messages {
		m := h.Message
		if m == nil {
			continue
		}
		r := HeldRow{ID: draw.SafeText(m.MessageID())}
		if old := before[m.QueueOffset()]; old != nil && old.ID == r.ID && old.Stored.Equal(m.Stored()) {
			r = *old
		} else {
			r.letIn(m)
		}
		r.Stage, r.Started, r.Retries, r.Held = h.Stage, h.Started, h.Retries, h.Held
		rows = append(rows, r)
	}
	return rows
}

func (r *HeldRow) letIn(m *engine.Message) {
	r.Message = m
	r.Offset, r.Reconsumed = m.QueueOffset(), m.ReconsumeTimes()
	r.Tags, r.Keys = draw.SafeText(m.Tags()), draw.SafeText(strings.Join(m.Keys(), " "))
	r.Born, r.Stored, r.BodySize = m.Born(), m.Stored(), len(m.StoredBody())
	body, err := m.Body()
	if err != nil {
		r.Body = "! body: " + draw.SafeText(err.Error())
		return
	}
	r.BodySize = len(body)
	whole := false
	if r.Body, whole = draw.SafeHead(body, bodyPreview); !whole {
		r.More = ", the beginning:"
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
func (v *QueueView) note(q *engine.QueueSnapshot) string {
	switch {
	case len(v.Held) > 0 && v.err == "":
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

func (v *QueueView) drawHeld(c *draw.Canvas, layout *table.Layout, i int) {
	th, r := v.env.Theme, &v.Held[i]
	st := th.Text
	running := words.None
	switch r.Stage {
	case core.StageTaken:
		st = th.Good
		if !r.Started.IsZero() {
			running = words.Span(v.pic.Now.Sub(r.Started))
		}
	case core.StageDone:
		st = th.Dim
	}
	stage := stageWord(r.Stage)
	if !r.Held.IsZero() {
		stage, st, running = "held", th.Accent, words.Span(v.pic.Now.Sub(r.Held))
	}
	body := r.Body
	if r.Keys != "" {
		body = r.Keys + " · " + body
	}
	retry := words.None
	if n := int(r.Reconsumed) + r.Retries; n > 0 {
		retry = fmt.Sprintf("%d", r.Reconsumed)
		if r.Retries > 0 {
			retry += fmt.Sprintf("+%d", r.Retries)
		}
	}
	cells := [...]table.Cell{
		{Text: words.Grouped(r.Offset)}, {Text: stage, Style: st}, {Text: running}, {Text: retry},
		{Text: v.env.Clock(r.Born, words.ClockMillis)}, {Text: v.env.Clock(r.Stored, words.ClockMillis)}, {Text: words.Since(r.Stored, v.pic.Now)},
		{Text: r.ID, Style: th.Dim}, {Text: table.Tail(body, v.scroll)},
	}
	c.TableRow(th, layout, heldColumns, cells[:], v.env.Look(i == v.List.Cursor(), v.List.IsMarked(r.Offset), true))
}

// HeldDetails are all fields of a cached message.
func HeldDetails(e *page.Env, r *HeldRow) page.TextDialog {
	when := func(t time.Time) string {
		if t.IsZero() {
			return words.None
		}
		return t.In(e.Options.Location).Format("2006-01-02 15:04:05.000 -07:00") + "   " + words.Ago(t, e.Now)
	}
	stage := stageWord(r.Stage) + ", listener called " + when(r.Started)
	if !r.Held.IsZero() {
		stage = "held for the operator since " + when(r.Held)
	}
	return page.TextDialog{Env: e, Title: "Message at " + words.Grouped(r.Offset), Lines: []string{
		"id      " + words.OrUnknown(r.ID),
		"stage   " + stage,
		"born    " + when(r.Born),
		"stored  " + when(r.Stored),
		fmt.Sprintf("retry   sent back %d times, retried here %d times", r.Reconsumed, r.Retries),
		"tags    " + r.Tags,
		"keys    " + r.Keys,
		"body    " + words.Size(int64(r.BodySize)) + r.More,
		"",
		r.Body,
	}}
}

// Line is the message in one line.
func (r *HeldRow) Line() string {
	text := r.Body
	if r.Keys != "" {
		text = r.Keys + " · " + text
	}
	return words.Grouped(r.Offset) + "  " + table.Cut(text, 200)
}
