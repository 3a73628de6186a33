package change

import (
	"errors"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

var resetWide = []table.Column{
	{ID: "queue", Title: "queue", Width: 12, Flex: 4, Fixed: true},
	{Title: "min", Width: 11, Right: true, Flex: 1, Max: 14, Rank: 3},
	{Title: "max", Width: 11, Right: true, Flex: 1, Max: 14, Rank: 2},
	{Title: "current", Width: 11, Right: true, Flex: 1, Max: 14},
	{Title: "target", Width: 11, Right: true, Flex: 1, Max: 14},
	{Title: "move", Width: 9, Right: true},
	{Title: "effect", Width: 15, Gap: 2},
	{Title: "first msg at", Width: 12, Rank: 1},
	{Title: "check", Width: 12, Flex: 2},
}

var resetNarrow = []table.Column{
	{ID: "queue", Title: "queue", Width: 12, Flex: 4, Fixed: true},
	{Title: "current", Width: 11, Right: true},
	{Title: "target", Width: 11, Right: true},
	{Title: "effect", Width: 13, Gap: 2, Rank: 1},
	{Title: "check", Width: 10, Flex: 2},
}

var resetDone = []table.Column{
	{ID: "queue", Title: "queue", Width: 12, Flex: 4, Fixed: true},
	{Title: "was", Width: 11, Right: true},
	{Title: "wanted", Width: 11, Right: true},
	{Title: "read back", Width: 12, Flex: 4, Gap: 2},
}

// tableLines are the header and the visible rows.
func (d *ResetDialog) tableLines(w int, wide bool) [][]draw.Segment {
	e := d.Env
	columns := resetNarrow
	switch {
	case d.done:
		columns = resetDone
	case wide:
		columns = resetWide
	}
	columns = slices.Clone(columns)
	columns[0].Max = min(d.nameWidth(), 40)
	if w >= 110 { // the name is worth more than the smallest offset
		columns[0].Width = min(d.nameWidth(), 22)
	}
	layout := table.Fit(columns, w, w, 0)
	header := layout.AppendHeader(nil, columns, table.Order{}, "", "", draw.Style{})
	mark := draw.Styled(e.Theme.Header, " ")
	if d.focus == onRows && !d.applying && !d.done {
		mark = draw.Styled(e.Theme.Title, e.Glyphs.Cursor)
	}
	lines := [][]draw.Segment{page.Line(mark, draw.Styled(e.Theme.Header, strings.TrimPrefix(string(header), " ")))}
	if len(d.Rows) == 0 {
		text := "  no preview"
		switch {
		case d.loading:
			text = "  reading offsets of " + words.Plural(len(d.scopes[d.scope].Queues), "queue") + " …"
			if len(d.scopes[d.scope].Queues) == 0 {
				text = "  reading offsets …"
			}
		case d.err != "":
			text = "  " + words.Failure.Sign() + " " + d.err
		case d.stale:
			text = "  the target changed: " + e.Enter() + " previews"
		}
		return append(lines, page.Line(e.Plain(text)))
	}
	first, end := d.list.Window()
	for i := first; i < end; i++ {
		cells := d.cells(&d.Rows[i], wide, layout.WidthOf(columns, "queue"))
		look := table.Look{Cursor: " ", Mark: " "}
		st := e.Theme.Text
		if i == d.list.Cursor() {
			look.Cursor = e.Glyphs.Cursor
			if d.focus == onRows {
				st = e.Theme.Cursor
			}
		}
		if d.exclude[d.Rows[i].MessageQueue] {
			st = e.Theme.Dim
		} else if d.Rows[i].Err != nil && st == e.Theme.Text {
			st = e.Theme.Bad
		}
		row := layout.AppendRow(nil, columns, cells, look)
		lines = append(lines, page.Line(draw.Styled(st, string(row))))
	}
	return lines
}

// rowName is a queue with its topic, whose end gives way to a narrow column.
func (d *ResetDialog) rowName(r *engine.ResetRow, width int) string {
	name, topic := draw.SafeText(r.Short()), words.TopicLabel(d.group, r.Topic)
	if room := width - table.Width(name) - 1; room >= 2 {
		return table.Cut(topic, room) + " " + name
	}
	return name
}

// nameWidth is what the rows' names ask for.
func (d *ResetDialog) nameWidth() int {
	n := 12
	for i := range d.Rows {
		n = max(n, table.Width(words.TopicLabel(d.group, d.Rows[i].Topic))+1+table.Width(draw.SafeText(d.Rows[i].Short())))
	}
	return n
}

func (d *ResetDialog) cells(r *engine.ResetRow, wide bool, nameWidth int) []table.Cell {
	move, target, effect, first := words.Unknown, words.Unknown, words.Unknown, words.None
	switch {
	case d.old:
		move, target, effect, first = "…", "…", "…", "…"
	case r.Err == nil || d.done:
		target = words.Offset(r.After)
		if r.Before != engine.Unknown {
			move = words.Signed(r.After - r.Before)
		}
		effect = effectText(r)
	}
	if !r.FirstStored.IsZero() && !d.old {
		first = r.FirstStored.In(d.Env.Options.Location).Format(string(words.ClockMillis))
		if d.Env.Now.Sub(r.FirstStored) > 20*time.Hour {
			first = r.FirstStored.In(d.Env.Options.Location).Format("01-02 15:04")
		}
	}
	current := words.Offset(r.Before)
	if r.Before == engine.Unknown && r.Err == nil {
		current = "none"
	}
	text := func(s string) table.Cell { return table.Cell{Text: s} }
	check := text(d.check(r))
	if d.done {
		return []table.Cell{text(d.rowName(r, nameWidth)), text(current), text(target), check}
	}
	if !wide {
		return []table.Cell{text(d.rowName(r, nameWidth)), text(current), text(target), text(effect), check}
	}
	return []table.Cell{text(d.rowName(r, nameWidth)), text(words.Offset(r.MinOffset)), text(words.Offset(r.MaxOffset)), text(current), text(target),
		text(move), text(effect), text(first), check}
}

// effectText uses three words for three different losses.
func effectText(r *engine.ResetRow) string {
	switch r.Effect {
	case core.EffectReplay:
		return "replay " + words.Grouped(r.Count)
	case core.EffectSkip:
		return "SKIP " + words.Grouped(r.Count)
	case core.EffectGone:
		return "GONE " + words.Grouped(r.Count)
	}
	return "none"
}

// isPassed reports whether a queue was not touched because it is past its target already.
func isPassed(err error) bool {
	_, ok := errors.AsType[*engine.PassedError](err)
	return ok
}

func (d *ResetDialog) check(r *engine.ResetRow) string {
	switch {
	case d.done && isPassed(r.Err):
		return "✓ " + page.ErrorText(r.Err)
	case d.done && r.Err != nil:
		return words.Failure.Sign() + " " + page.ErrorText(r.Err)
	case d.done && r.Verified && d.notes[r.MessageQueue] != "":
		return words.Offset(r.After) + " ✓ " + d.notes[r.MessageQueue]
	case d.done && r.Verified:
		return words.Offset(r.After) + " ✓"
	case d.done:
		return words.Failure.Sign() + " NOT VERIFIED"
	case d.exclude[r.MessageQueue]:
		return "left out"
	case d.old:
		return "…"
	case r.Err != nil:
		return words.Failure.Sign() + " " + page.ErrorText(r.Err)
	case r.Effect == core.EffectSkip:
		return words.Warning.Sign() + " skips data"
	case r.Effect == core.EffectGone:
		return words.Warning.Sign() + " expired"
	}
	return "ok"
}
