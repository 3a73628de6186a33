package change

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// View implements page.Dialog.
func (d ResetDialog) View(w, h int) string {
	wide := w >= 100
	var head, tail [][]draw.Segment
	title := "RESET OFFSETS — preview, nothing written yet"
	if sum := d.sum(); sum.skip > 0 && !d.old {
		title = fmt.Sprintf("RESET — SKIPS %s in %s — nothing written yet", words.Plural(sum.skip, "message"), words.Plural(sum.skips, "queue"))
	}
	switch {
	case d.done:
		title = "RESET OFFSETS — result, read back from the store"
		tail = d.resultLines(w)
	case d.applying:
		title = "RESET OFFSETS — writing"
		head = d.formLines(w, wide)
		tail = d.sumLines(wide)
	default:
		head = d.formLines(w, wide)
		tail = append(d.sumLines(wide), d.buttonLines(w, wide)...)
	}
	room := h - 2 - len(head) - len(tail) - 1
	if room < 3 && !d.done { // a small screen: only what the focus needs
		head, tail = d.small(w, head, tail)
		room = h - 2 - len(head) - len(tail) - 1
	}
	rows := min(max(room, 0), max(len(d.Rows), 1))
	d.list.Resize(rows)
	lines := append([][]draw.Segment{}, head...)
	if rows > 0 {
		lines = append(lines, d.tableLines(w-2, wide)...)
	}
	lines = append(lines, tail...)
	return page.DrawBox(d.Env, w, h, title, strings.TrimSpace(draw.SafeText(d.Env.Options.Cluster)+" · "+d.Env.ModeWord()), lines, len(lines)-1)
}

// small keeps the line with the focus and the buttons.
func (d *ResetDialog) small(w int, head, tail [][]draw.Segment) (h, t [][]draw.Segment) {
	if d.focus == onScope && len(head) > 0 {
		head = head[:1]
	} else if i := 1 + min(len(d.Left), 1); len(head) > i {
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
func (d *ResetDialog) label(text string, f resetFocus) draw.Segment {
	mark, st := " ", d.Env.Theme.Dim
	if d.focus == f && !d.applying {
		mark, st = d.Env.Glyphs.Cursor, d.Env.Theme.Title
	}
	return draw.Styled(st, mark+draw.Pad(text, 7))
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

func (d *ResetDialog) formLines(w int, wide bool) [][]draw.Segment {
	e := d.Env
	var scopes, kinds []string
	for _, s := range d.scopes {
		scopes = append(scopes, s.Label)
	}
	for _, k := range resetKinds {
		kinds = append(kinds, map[core.ResetKind]string{core.ResetEarliest: "earliest", core.ResetLatest: "latest", core.ResetTime: "time",
			core.ResetOffset: "offset", core.ResetShift: "shift ±N", toFile: "file"}[k])
	}
	room := w - 11
	lines := [][]draw.Segment{
		page.Line(d.label("Scope", onScope), e.Plain(radios(scopes, d.scope, room))),
		page.Line(d.label("To", onKind), e.Plain(radios(kinds, slices.Index(resetKinds, d.kind), room))),
	}
	switch {
	case d.kind == toFile:
		lines = append(lines, d.fileLines(w)...)
	case d.hasValue():
		value := page.Line(d.label("", onValue), e.Plain("["+d.value.Text(&e.Glyphs, 24, d.focus == onValue)+"]"))
		if t, err := d.target(); err != nil {
			value = append(value, draw.Styled(e.Theme.Bad, " "+err.Error()))
		} else if d.kind == core.ResetTime {
			if !d.stale {
				t = d.asked // what the preview is about: a relative time moves on
			}
			value = append(value, draw.Styled(e.Theme.Dim, " = "+t.Time.In(e.Options.Location).Format("2006-01-02 15:04:05 -07:00")+" ("+words.Ago(t.Time, e.Now)+")"))
		}
		lines = append(lines, value)
	}
	if d.Left != "" {
		lines = slices.Insert(lines, 1, page.Line(draw.Styled(e.Theme.Warn, "        ! "+d.Left)))
	}
	if d.Any {
		return append(lines, d.howLines(w, wide)...)
	}
	how := "this member stops each queue, drops its cache, writes the offset and reads it back"
	if !wide {
		how = "stop each queue, drop its cache, write, read back"
	}
	return append(lines, page.Line(draw.Styled(e.Theme.Dim, " How    "), e.Plain(how)))
}

func (d *ResetDialog) buttonLines(w int, wide bool) [][]draw.Segment {
	e := d.Env
	off := d.off()
	ask := "Type the group's name to apply: "
	nameWidth := min(max(table.Width(draw.SafeText(d.group))+2, 12), 40)
	if !wide {
		ask, nameWidth = "Type group to apply: ", min(nameWidth, max(w-62, 12))
	}
	nameMark := draw.Styled(e.Theme.Dim, " ")
	if d.focus == onName {
		nameMark = draw.Styled(e.Theme.Title, e.Glyphs.Cursor)
	}
	name := page.Line(nameMark, e.Plain(ask+"["+d.name.Text(&e.Glyphs, nameWidth, d.focus == onName)+"]  "))
	buttons := page.Line(e.Button("Apply", d.focus == onApply, off == ""), e.Plain(" "), e.Button("Cancel", d.focus == onCancel, true))
	lines := [][]draw.Segment{page.Line(d.label("Reason", onReason), e.Plain("["+d.reason.Text(&e.Glyphs, min(max(w-14, 10), 80), d.focus == onReason)+"]"))}
	if draw.WidthOf(name)+draw.WidthOf(buttons) <= w-2 {
		lines = append(lines, append(name, buttons...))
	} else {
		lines = append(lines, name, append(page.Line(e.Plain(" ")), buttons...))
	}
	why := draw.Styled(e.Theme.Dim, " Apply is off: "+off)
	if off == "" {
		text := " Apply writes the offsets of " + words.Plural(d.sum().queues, "queue") + "."
		if e.Options.AuditPath != "" && wide {
			text += " Noted in " + draw.SafeText(e.Options.AuditPath)
		}
		why = draw.Styled(e.Theme.Warn, text)
	}
	return append(lines, page.Line(why))
}

// resultLines tell what was written: old → wanted → read back.
func (d *ResetDialog) resultLines(w int) [][]draw.Segment {
	e := d.Env
	verified, passed := 0, 0
	for i := range d.result {
		if d.result[i].Verified && d.result[i].Err == nil {
			verified++
		} else if isPassed(d.result[i].Err) {
			passed++
		}
	}
	sum := fmt.Sprintf(" %d of %d verified: written and read back", verified, len(d.result))
	if passed > 0 {
		sum += fmt.Sprintf("; %d not touched, past the target already", passed)
	}
	st := e.Theme.Good
	if verified+passed < len(d.result) || d.err != "" {
		st = e.Theme.Bad
	}
	lines := [][]draw.Segment{page.Line(), page.Line(draw.Styled(st, sum))}
	if d.savedTo != "" { // whole: whoever wants it undone elsewhere needs all of the path
		for _, l := range draw.WrapText("the offsets before: "+d.savedTo, max(w-4, 10)) {
			lines = append(lines, page.Line(draw.Styled(st, " "+l)))
		}
	}
	if d.err != "" {
		for _, l := range draw.WrapText(words.Failure.Sign()+" "+d.err, max(w-4, 10)) {
			lines = append(lines, page.Line(draw.Styled(e.Theme.Bad, " "+l)))
		}
	}
	for i, text := range d.failed {
		if i == failedLines {
			lines = append(lines, page.Line(draw.Styled(e.Theme.Dim, fmt.Sprintf("   … and %d more", len(d.failed)-i))))
			break
		}
		lines = append(lines, page.Line(draw.Styled(e.Theme.Bad, " "+words.Failure.Sign()+" "+text)))
	}
	return append(lines, page.Line(e.Plain(" "), e.Button("Close", true, true)))
}

// failedLines bounds how many lines of a result say what was not done: its rows say the rest.
const failedLines = 5
