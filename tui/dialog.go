package tui

import (
	"fmt"
	"math"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// dialog lies above a view and takes all keys. update returns what the root is asked
// to do: nil, or one of the requests below.
type dialog interface {
	update(msg tea.Msg) (dialog, request)
	// view draws at most h lines of w cells; "" draws nothing.
	view(w, h int) string
	// hint writes the line that otherwise shows keys and gives the mode for the
	// status line.
	hint(c *draw.Canvas) (mode string)
}

// request is what a dialog asks the root to do.
type request any

// The requests.
type (
	closeRequest   struct{}
	leaveRequest   struct{}
	commandRequest struct{ line string }
	filterRequest  struct {
		text string
		done bool // the bar closes
	}
	pauseRequest  struct{ engine.PauseRequest }
	resumeRequest struct{ engine.ResumeRequest }
	// previewRequest and applyRequest of the reset dialog.
	previewRequest struct {
		ticket int
		file   string // path of the offsets to go to, instead of a target
		engine.ResetRequest
	}
	applyRequest struct{ engine.ResetRequest }
	// planResetRequest and applyResetRequest are theirs for any group.
	planResetRequest struct {
		ticket int
		file   string // likewise
		inspect.ResetRequest
	}
	applyResetRequest struct {
		ticket int
		plan   inspect.ResetPlan
		reason string
	}
	// planPauseRequest and applyPauseRequest of the dialog that pauses a whole group.
	planPauseRequest struct {
		ticket int
		inspect.PauseRequest
	}
	applyPauseRequest struct {
		ticket int
		plan   inspect.PausePlan
		reason string
	}
	// settleRequest of the dialog about held messages.
	settleRequest struct {
		ticket, count int
		engine.SettleRequest
	}
)

// detailsFrom is the width from which the details of a dialog say something when they
// are cut.
const detailsFrom = 16

// drawBox draws a dialog of lines in a heavy frame, at most h lines high. When they
// do not fit, the lines round the focus are kept. The title says what is done to whom: all
// of it is shown, on more lines if need be, and the details where they have room beside it.
func drawBox(e *env, w, h int, title, details string, lines [][]draw.Segment, focus int) string {
	const corners, beside = 6, 4 // what the upper edge takes, and what two texts in it
	if n := w - corners - beside - table.Width(title); n >= min(table.Width(details), detailsFrom) {
		details = table.CutMiddle(details, n)
	} else {
		details = ""
	}
	heads := draw.WrapText(title, max(w-corners-beside-table.Width(details), 1))
	more := heads[1:]
	if most := max(h-3, 0); len(more) > most {
		more = more[:most]
	}
	room := max(h-2-len(more), 1)
	first := 0
	if len(lines) > room {
		first = min(max(focus-room/2, 0), len(lines)-room)
		lines = lines[first : first+room]
	}
	c := draw.NewCanvas(w, len(lines)+len(more)+2)
	c.Top(draw.HeavyBox, e.th.Accent, e.th.Title, heads[0], details)
	for _, text := range more {
		c.Boxed(draw.HeavyBox, e.th.Accent, draw.Styled(e.th.Title, " "+text))
	}
	for _, l := range lines {
		c.Boxed(draw.HeavyBox, e.th.Accent, l...)
	}
	c.Bottom(draw.HeavyBox, e.th.Accent)
	return c.String()
}

func line(segments ...draw.Segment) []draw.Segment { return segments }

func (e *env) plain(text string) draw.Segment { return draw.Styled(e.th.Text, text) }

// hints writes pairs of key and word.
func (e *env) hints(c *draw.Canvas, pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if need := table.Width(pairs[i]) + table.Width(pairs[i+1]) + 3; need > c.Room() {
			break
		}
		c.Put(draw.Style{}, " ")
		c.Put(e.th.Key, pairs[i])
		c.Put(draw.Style{}, " "+pairs[i+1]+" ")
	}
	c.End()
}

// button draws a button; the one with the focus has the cursor sign.
func (e *env) button(label string, focused, enabled bool) draw.Segment {
	st := e.th.Text
	mark := " "
	if !enabled {
		label += " (off)"
		st = e.th.Dim
	}
	if focused {
		mark = e.g.Cursor
		st = e.th.Cursor
	}
	return draw.Styled(st, "<"+mark+label+" >")
}

// leaveDialog asks once before a member of a real group leaves.
type leaveDialog struct {
	env   *env
	text  string
	leave bool // the focus is on Leave
}

func (d leaveDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "n", "q":
		return d, closeRequest{}
	case "tab", "shift+tab", "left", "right", "h", "l":
		d.leave = !d.leave
	case "y":
		return d, leaveRequest{}
	case "enter":
		if d.leave {
			return d, leaveRequest{}
		}
		return d, closeRequest{}
	}
	return d, nil
}

func (d leaveDialog) view(w, h int) string {
	var lines [][]draw.Segment
	for _, l := range draw.WrapText(d.text, max(w-4, 10)) {
		lines = append(lines, line(d.env.plain(" "+l)))
	}
	lines = append(lines, line(), line(d.env.plain("  "), d.env.button("Stay", !d.leave, true), d.env.plain("  "), d.env.button("Leave", d.leave, true)))
	return drawBox(d.env, w, h, "LEAVE the group?", "", lines, len(lines)-1)
}

func (d leaveDialog) hint(c *draw.Canvas) string {
	d.env.hints(c, "tab", "other button", d.env.enter(), "press", "y", "leave", "esc", "stay")
	return "DIALOG"
}

// enter is how the enter key is written.
func (e *env) enter() string { return e.g.Enter }

// textDialog shows lines to be read: an event's details.
type textDialog struct {
	env   *env
	title string
	lines []string
	top   int // of the lines as they are broken
}

func (d textDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc", "q", "enter":
		return d, closeRequest{}
	case "j", "down":
		d.top++
	case "k", "up":
		d.top--
	case "pgdown", "ctrl+d", "ctrl+f", " ":
		d.top += textStep
	case "pgup", "ctrl+u", "ctrl+b":
		d.top -= textStep
	case "g", "home":
		d.top = 0
	case "G", "end":
		d.top = math.MaxInt
	}
	d.top = max(min(d.top, lastPage(len(d.broken(d.env.width)), d.env.room)), 0)
	return d, nil
}

// lastPage is the first of the lines that a box of h lines shows when it is scrolled to
// its end: the page is full there, too.
func lastPage(lines, h int) int { return max(lines-max(h-2, 1), 0) }

// broken are the lines in w cells.
func (d *textDialog) broken(w int) (parts []string) {
	for _, l := range d.lines {
		parts = append(parts, draw.WrapText(l, max(w-4, 10))...)
	}
	return parts
}

// textStep is how far a page key scrolls a dialog, whose height only its drawing knows.
const textStep = 10

func (d textDialog) view(w, h int) string {
	parts := d.broken(w)
	room, before := max(h-2, 1), min(d.top, lastPage(len(parts), h))
	details := ""
	if len(parts) > room {
		details = window(before, room, len(parts))
	}
	var lines [][]draw.Segment
	for _, part := range parts[before:min(before+room, len(parts))] {
		lines = append(lines, line(d.env.plain(" "+part)))
	}
	return drawBox(d.env, w, h, d.title, details, lines, 0)
}

// window says which of the rows that there are can be seen.
func window(before, seen, of int) string {
	return fmt.Sprintf("%d-%d of %d", min(before+1, of), before+seen, of)
}

func (d textDialog) hint(c *draw.Canvas) string {
	d.env.hints(c, "j/k", "scroll", "g/G", "begin, end", "esc", "close")
	return "DETAIL"
}

// eventDetails are all fields of an event.
func eventDetails(e *env, r *words.EventRow) textDialog {
	lines := []string{
		"time   " + r.At.In(e.o.Location).Format("2006-01-02 15:04:05.000 -07:00") + "   " + words.Ago(r.At, e.now),
		"event  " + r.Name,
	}
	if r.Queue != "" {
		lines = append(lines, "queue  "+strings.TrimSpace(r.Topic+" "+r.Queue))
	}
	lines = append(lines, "", r.Text, "")
	for _, f := range words.FieldsOf(r.Event) {
		name, value, _ := strings.Cut(f, "=")
		lines = append(lines, pad(name, 18)+" "+value)
	}
	return textDialog{env: e, title: "Event " + r.Kind + " " + r.Cause, lines: lines}
}

// helpDialog lists the keys of a view from the key table; typing filters.
type helpDialog struct {
	env    *env
	where  scope
	search field
	top    int
}

func newHelpDialog(e *env, where scope) helpDialog {
	return helpDialog{env: e, where: where, search: newField("")}
}

func (d helpDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc":
		if d.search.value() != "" {
			d.search.set("")
			return d, nil
		}
		return d, closeRequest{}
	case "enter", "f1":
		return d, closeRequest{}
	case "down", "pgdown", "ctrl+d", "ctrl+f":
		d.top = min(d.top+helpStep(k), d.lastTop(d.env.width, d.env.room))
	case "up", "pgup", "ctrl+u", "ctrl+b":
		d.top = max(d.top-helpStep(k), 0)
	default:
		before := d.search.value()
		d.search.key(k)
		if d.search.value() != before {
			d.top = 0
		}
	}
	return d, nil
}

func helpStep(k tea.KeyMsg) int {
	if k.Type == tea.KeyDown || k.Type == tea.KeyUp {
		return 1
	}
	return 10
}

// rows are the bindings that match, those of this view first.
func (d helpDialog) rows() []*binding {
	needle := strings.ToLower(d.search.value())
	var here, general []*binding
	for i := range d.env.keys.bindings {
		b := &d.env.keys.bindings[i]
		text := strings.ToLower(b.Help().Key + " " + string(b.name) + " " + b.Help().Desc)
		switch {
		case b.where&d.where == 0, !d.env.usable(b), !strings.Contains(text, needle):
		case b.where == everywhere:
			general = append(general, b)
		default:
			here = append(here, b)
		}
	}
	return slices.Concat(here, general)
}

func (d helpDialog) view(w, h int) string {
	rows := d.rows()
	lines := [][]draw.Segment{line(d.env.plain(" find: [" + d.search.text(&d.env.g, min(30, w-12), true) + "]"))}
	columns, room, width := helpLayout(w, h)
	top := min(d.top, d.lastTop(w, h))
	entries, seen := d.entries(rows[top:], width-16), 0
	per := min(room, (len(entries)+columns-1)/columns)
	for i := range per {
		var l []draw.Segment
		for col := range columns {
			if n := i + col*per; n < len(entries) {
				l = append(l, draw.Styled(d.env.th.Key, " "+pad(entries[n].key, 14)), draw.Styled(d.env.th.Text, pad(entries[n].text, width-16)))
				seen += min(len(entries[n].key), 1)
			}
		}
		lines = append(lines, l)
	}
	if len(rows) == 0 {
		lines = append(lines, line(d.env.plain(" no key does that")))
	}
	details := fmt.Sprintf("%s · %d of %d", d.where, len(rows), d.total())
	if seen < len(rows) {
		details = fmt.Sprintf("%s · %s", d.where, window(top, seen, len(rows)))
	}
	return drawBox(d.env, w, h, "Keys", details, lines, 0)
}

// helpLayout is how many columns of how many lines and cells there are.
func helpLayout(w, h int) (columns, room, width int) {
	columns = 1
	if w >= 110 {
		columns = 2
	}
	return columns, max(h-3, 1), (w - 2) / columns
}

// lastTop is the first row of the last page, which is full.
func (d helpDialog) lastTop(w, h int) int {
	columns, room, width := helpLayout(w, h)
	rows := d.rows()
	top := len(rows)
	for top > 0 && len(d.entries(rows[top-1:], width-16)) <= columns*room {
		top--
	}
	return min(top, max(len(rows)-1, 0))
}

// entries are the lines of bindings: a long text goes on below itself.
func (d helpDialog) entries(rows []*binding, width int) (lines []struct{ key, text string }) {
	for _, b := range rows {
		key := b.Help().Key
		for _, part := range draw.WrapText(b.Help().Desc, max(width-1, 10)) {
			lines = append(lines, struct{ key, text string }{key, part})
			key = ""
		}
	}
	return lines
}

func (d helpDialog) total() int {
	d.search = newField("")
	return len(d.rows())
}

func (d helpDialog) hint(c *draw.Canvas) string {
	d.env.hints(c, "type", "to filter", "↑/↓", "scroll", "esc", "close")
	return "HELP"
}
