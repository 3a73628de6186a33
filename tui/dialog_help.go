package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
)

// helpDialog lists the keys of a view from the key table; typing filters.
type helpDialog struct {
	env    *env
	where  scope
	search field
	top    int
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
				l = append(l, draw.Styled(d.env.th.Key, " "+draw.Pad(entries[n].key, 14)), draw.Styled(d.env.th.Text, draw.Pad(entries[n].text, width-16)))
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

func newHelpDialog(e *env, where scope) helpDialog {
	return helpDialog{env: e, where: where, search: newField("")}
}

func helpStep(k tea.KeyMsg) int {
	if k.Type == tea.KeyDown || k.Type == tea.KeyUp {
		return 1
	}
	return 10
}

// helpLayout is how many columns of how many lines and cells there are.
func helpLayout(w, h int) (columns, room, width int) {
	columns = 1
	if w >= 110 {
		columns = 2
	}
	return columns, max(h-3, 1), (w - 2) / columns
}
