package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/table"
)

func (d resetDialog) view(w, h int) string {
	wide := w >= 100
	var head, tail [][]segment
	title := "RESET OFFSETS — preview, nothing written yet"
	switch {
	case d.done:
		title = "RESET OFFSETS — result, read back from the store"
		tail = d.resultLines(w)
	case d.applying:
		title = "RESET OFFSETS — writing"
		head = d.formLines(w, wide)
		tail = d.sumLines(w, wide)
	default:
		head = d.formLines(w, wide)
		tail = append(d.sumLines(w, wide), d.buttonLines(w, wide)...)
	}
	room := h - 2 - len(head) - len(tail) - 1
	if room < 3 && !d.done { // a small screen: only what the focus needs
		head, tail = d.small(w, head, tail)
		room = h - 2 - len(head) - len(tail) - 1
	}
	rows := min(max(room, 0), max(len(d.rows), 1))
	d.list.Resize(rows)
	lines := append([][]segment{}, head...)
	if rows > 0 {
		lines = append(lines, d.tableLines(w-2, wide)...)
	}
	lines = append(lines, tail...)
	return drawBox(d.env, w, h, title, strings.TrimSpace(SafeText(d.env.o.Cluster)+" · "+d.env.modeWord()), lines, len(lines)-1)
}

// small keeps the line with the focus and the buttons.
func (d *resetDialog) small(w int, head, tail [][]segment) (h, t [][]segment) {
	if d.focus == onScope && len(head) > 0 {
		head = head[:1]
	} else if i := 1 + min(len(d.left), 1); len(head) > i {
		end := i + 1
		if d.focus == onValue && len(head) > end {
			end++
		}
		head = head[i:end]
	}
	if buttons := d.buttonLines(w, false); len(buttons) > 0 {
		tail = buttons
	}
	return head, tail
}

// label names a field; the one with the focus has the cursor.
func (d *resetDialog) label(text string, f resetFocus) segment {
	mark, st := " ", d.env.th.dim
	if d.focus == f && !d.applying {
		mark, st = d.env.g.cursor, d.env.th.title
	}
	return segment{st, mark + pad(text, 7)}
}

// radios are choices in width cells. The chosen one is always seen: where not all have
// room it stands alone, with its place among them.
func radios(names []string, chosen, width int) string {
	for _, open := range []string{"( )", ""} {
		text := ""
		for i, name := range names {
			mark := open
			if i == chosen {
				mark = "(•)"
			}
			text += mark + name + "  "
		}
		if text = strings.TrimRight(text, " "); table.Width(text) <= width {
			return text
		}
	}
	place := fmt.Sprintf("  ‹%d of %d›", chosen+1, len(names))
	return "(•)" + table.Cut(names[chosen], max(width-3-table.Width(place), 1)) + place
}

func (d *resetDialog) formLines(w int, wide bool) [][]segment {
	e := d.env
	var scopes, kinds []string
	for _, s := range d.scopes {
		scopes = append(scopes, s.label)
	}
	for _, k := range resetKinds {
		kinds = append(kinds, map[core.ResetKind]string{core.ResetEarliest: "earliest", core.ResetLatest: "latest", core.ResetTime: "time",
			core.ResetOffset: "offset", core.ResetShift: "shift ±N", toFile: "file"}[k])
	}
	room := w - 11
	lines := [][]segment{
		line(d.label("Scope", onScope), e.plain(radios(scopes, d.scope, room))),
		line(d.label("To", onKind), e.plain(radios(kinds, slices.Index(resetKinds, d.kind), room))),
	}
	switch {
	case d.kind == toFile:
		lines = append(lines, d.fileLines(w)...)
	case d.hasValue():
		value := line(d.label("", onValue), e.plain("["+d.value.text(&e.g, 24, d.focus == onValue)+"]"))
		if t, err := d.target(); err != nil {
			value = append(value, segment{e.th.bad, " " + err.Error()})
		} else if d.kind == core.ResetTime {
			if !d.stale {
				t = d.asked // what the preview is about: a relative time moves on
			}
			value = append(value, segment{e.th.dim, " = " + t.Time.In(e.o.Location).Format("2006-01-02 15:04:05 -07:00") + " (" + ago(t.Time, e.now) + ")"})
		}
		lines = append(lines, value)
	}
	if d.left != "" {
		lines = slices.Insert(lines, 1, line(segment{e.th.warn, "        ! " + d.left}))
	}
	if d.any {
		return append(lines, d.howLines(w, wide)...)
	}
	how := "this member stops each queue, drops its cache, writes the offset and reads it back"
	if !wide {
		how = "stop each queue, drop its cache, write, read back"
	}
	return append(lines, line(segment{e.th.dim, " How    "}, e.plain(how)))
}

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
func (d *resetDialog) tableLines(w int, wide bool) [][]segment {
	e := d.env
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
	header := layout.AppendHeader(nil, columns, table.Order{}, "", "", style{})
	lines := [][]segment{line(segment{e.th.header, string(header)})}
	if len(d.rows) == 0 {
		text := "  no preview"
		switch {
		case d.loading:
			text = "  reading offsets of " + plural(len(d.scopes[d.scope].queues), "queue") + " …"
			if len(d.scopes[d.scope].queues) == 0 {
				text = "  reading offsets …"
			}
		case d.err != "":
			text = "  " + failure.sign() + " " + d.err
		case d.stale:
			text = "  the target changed: " + e.enter() + " previews"
		}
		return append(lines, line(e.plain(text)))
	}
	first, end := d.list.Window()
	for i := first; i < end; i++ {
		cells := d.cells(&d.rows[i], wide, layout.WidthOf(columns, "queue"))
		look := table.Look{Cursor: " ", Mark: " "}
		st := e.th.text
		if i == d.list.Cursor() {
			look.Cursor = e.g.cursor
			if d.focus == onRows {
				st = e.th.cursor
			}
		}
		if d.exclude[d.rows[i].MessageQueue] {
			st = e.th.dim
		} else if d.rows[i].Err != nil && st == e.th.text {
			st = e.th.bad
		}
		row := layout.AppendRow(nil, columns, cells, look)
		lines = append(lines, line(segment{st, string(row)}))
	}
	return lines
}

// rowName is a queue with its topic, whose end gives way to a narrow column.
func (d *resetDialog) rowName(r *engine.ResetRow, width int) string {
	name, topic := SafeText(r.Short()), topicLabel(d.group, r.Topic)
	if room := width - table.Width(name) - 1; room >= 2 {
		return table.Cut(topic, room) + " " + name
	}
	return name
}

// nameWidth is what the rows' names ask for.
func (d *resetDialog) nameWidth() int {
	n := 12
	for i := range d.rows {
		n = max(n, table.Width(topicLabel(d.group, d.rows[i].Topic))+1+table.Width(SafeText(d.rows[i].Short())))
	}
	return n
}

func (d *resetDialog) cells(r *engine.ResetRow, wide bool, nameWidth int) []table.Cell {
	move, target, effect, first := unknown, unknown, unknown, none
	switch {
	case d.old:
		move, target, effect, first = "…", "…", "…", "…"
	case r.Err == nil || d.done:
		target = offset(r.After)
		if r.Before != engine.Unknown {
			move = signed(r.After - r.Before)
		}
		effect = effectText(r)
	}
	if !r.FirstStored.IsZero() && !d.old {
		first = r.FirstStored.In(d.env.o.Location).Format(string(clockMillis))
		if d.env.now.Sub(r.FirstStored) > 20*time.Hour {
			first = r.FirstStored.In(d.env.o.Location).Format("01-02 15:04")
		}
	}
	current := offset(r.Before)
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
	return []table.Cell{text(d.rowName(r, nameWidth)), text(offset(r.MinOffset)), text(offset(r.MaxOffset)), text(current), text(target),
		text(move), text(effect), text(first), check}
}

// effectText uses three words for three different losses.
func effectText(r *engine.ResetRow) string {
	switch r.Effect {
	case core.EffectReplay:
		return "replay " + grouped(r.Count)
	case core.EffectSkip:
		return "SKIP " + grouped(r.Count)
	case core.EffectGone:
		return "GONE " + grouped(r.Count)
	}
	return "none"
}

func (d *resetDialog) check(r *engine.ResetRow) string {
	switch {
	case d.done && r.Err != nil:
		return failure.sign() + " " + errorText(r.Err)
	case d.done && r.Verified && d.notes[r.MessageQueue] != "":
		return offset(r.After) + " ✓ " + d.notes[r.MessageQueue]
	case d.done && r.Verified:
		return offset(r.After) + " ✓"
	case d.done:
		return failure.sign() + " NOT VERIFIED"
	case d.exclude[r.MessageQueue]:
		return "left out"
	case d.old:
		return "…"
	case r.Err != nil:
		return failure.sign() + " " + errorText(r.Err)
	case r.Effect == core.EffectSkip:
		return warning.sign() + " skips data"
	case r.Effect == core.EffectGone:
		return warning.sign() + " expired"
	}
	return "ok"
}

func (d *resetDialog) sumLines(w int, wide bool) [][]segment {
	e, s := d.env, d.sum()
	switch {
	case len(d.rows) == 0:
		return [][]segment{line()}
	case d.old: // figures of another target are none
		return [][]segment{line(), line(segment{e.th.dim, " Sum    "}, e.plain("…")), line(segment{e.th.dim, " Lag    "}, e.plain("…"))}
	}
	sum := plural(s.queues, "queue") + " · replay " + grouped(s.replay)
	if d.rate >= 1 && s.replay > 0 {
		takes := "≈ " + age(time.Duration(float64(s.replay)/d.rate*float64(time.Second)))
		if wide {
			takes += " at " + rate(d.rate, true)
		}
		sum += " (" + takes + ")"
	}
	in := func(n int) string {
		if wide {
			return " in " + plural(n, "queue")
		}
		return fmt.Sprintf(" (%dq)", n)
	}
	if s.skips > 0 {
		sum += " · SKIP " + grouped(s.skip) + in(s.skips)
	}
	if s.gones > 0 {
		sum += " · GONE " + grouped(s.gone) + in(s.gones)
	}
	if s.excluded > 0 {
		sum += fmt.Sprintf(" · %d left out", s.excluded)
	}
	if s.unknown > 0 {
		sum += fmt.Sprintf(" · %d unknown", s.unknown)
	}
	lag := grouped(s.lagBefore) + " → " + grouped(s.lagAfter)
	if s.lagUnknown > 0 {
		lag = unknown
	}
	lag += fmt.Sprintf("   preview %s old, re-checked at apply", since(d.at, e.now))
	if wide && d.any {
		lag += "; stops if any offset was moved"
	} else if wide {
		lag += "; a queue that was moved back since is not touched"
	}
	lines := [][]segment{line(), line(segment{e.th.dim, " Sum    "}, e.plain(sum)), line(segment{e.th.dim, " Lag    "}, e.plain(lag))}
	if !wide {
		return lines
	}
	if d.any {
		return append(lines, d.riskLines()...)
	}
	return append(lines,
		line(segment{e.th.dim, " Risk   "}, e.plain("consumers must be idempotent · other members' queues are not touched")))
}

func (d *resetDialog) buttonLines(w int, wide bool) [][]segment {
	e := d.env
	off := d.off()
	ask := "Type the group's name to apply: "
	nameWidth := min(max(table.Width(SafeText(d.group))+2, 12), 40)
	if !wide {
		ask, nameWidth = "Type group to apply: ", min(nameWidth, max(w-62, 12))
	}
	nameMark := segment{e.th.dim, " "}
	if d.focus == onName {
		nameMark = segment{e.th.title, e.g.cursor}
	}
	name := line(nameMark, e.plain(ask+"["+d.name.text(&e.g, nameWidth, d.focus == onName)+"]  "))
	buttons := line(e.button("Apply", d.focus == onApply, off == ""), e.plain(" "), e.button("Cancel", d.focus == onCancel, true))
	lines := [][]segment{line(d.label("Reason", onReason), e.plain("["+d.reason.text(&e.g, min(max(w-14, 10), 80), d.focus == onReason)+"]"))}
	if widthOf(name)+widthOf(buttons) <= w-2 {
		lines = append(lines, append(name, buttons...))
	} else {
		lines = append(lines, name, append(line(e.plain(" ")), buttons...))
	}
	why := segment{e.th.dim, " Apply is off: " + off}
	if off == "" {
		text := " Apply writes the offsets of " + plural(d.sum().queues, "queue") + "."
		if e.o.AuditPath != "" && wide {
			text += " Noted in " + SafeText(e.o.AuditPath)
		}
		why = segment{e.th.warn, text}
	}
	return append(lines, line(why))
}

// resultLines tell what was written: old → wanted → read back.
func (d *resetDialog) resultLines(w int) [][]segment {
	e := d.env
	verified := 0
	for i := range d.result {
		if d.result[i].Verified && d.result[i].Err == nil {
			verified++
		}
	}
	sum := fmt.Sprintf(" %d of %d verified: written and read back", verified, len(d.result))
	st := e.th.good
	if verified < len(d.result) || d.err != "" {
		st = e.th.bad
	}
	lines := [][]segment{line(), line(segment{st, sum})}
	if d.savedTo != "" { // whole: whoever wants it undone elsewhere needs all of the path
		for _, l := range wrapText("the offsets before: "+d.savedTo, max(w-4, 10)) {
			lines = append(lines, line(segment{st, " " + l}))
		}
	}
	if d.err != "" {
		for _, l := range wrapText(failure.sign()+" "+d.err, max(w-4, 10)) {
			lines = append(lines, line(segment{e.th.bad, " " + l}))
		}
	}
	for i, text := range d.failed {
		if i == failedLines {
			lines = append(lines, line(segment{e.th.dim, fmt.Sprintf("   … and %d more", len(d.failed)-i)}))
			break
		}
		lines = append(lines, line(segment{e.th.bad, " " + failure.sign() + " " + text}))
	}
	return append(lines, line(e.plain(" "), e.button("Close", true, true)))
}

// failedLines bounds how many lines of a result say what was not done: its rows say the rest.
const failedLines = 5
