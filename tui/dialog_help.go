package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/page"
)

// helpDialog lists the keys of a view from the key table; typing filters.
type helpDialog struct {
	env    *page.Env
	where  page.Scope
	search page.Field
	top    int
}

func (d helpDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc":
		if d.search.Value() != "" {
			d.search.Set("")
			return d, nil
		}
		return d, page.CloseRequest{}
	case "enter", "f1":
		return d, page.CloseRequest{}
	case "down", "pgdown", "ctrl+d", "ctrl+f":
		d.top = min(d.top+helpStep(k), d.lastTop(d.env.Width, d.env.Room))
	case "up", "pgup", "ctrl+u", "ctrl+b":
		d.top = max(d.top-helpStep(k), 0)
	default:
		before := d.search.Value()
		d.search.Key(k)
		if d.search.Value() != before {
			d.top = 0
		}
	}
	return d, nil
}

// rows are the bindings that match, those of this view first.
func (d helpDialog) rows() []*page.Binding {
	needle := strings.ToLower(d.search.Value())
	var here, general []*page.Binding
	for i := range d.env.Keys.Bindings {
		b := &d.env.Keys.Bindings[i]
		text := strings.ToLower(b.Help().Key + " " + string(b.Name) + " " + b.Help().Desc)
		switch {
		case b.Where&d.where == 0, !d.env.Usable(b), !strings.Contains(text, needle):
		case b.Where == page.Everywhere:
			general = append(general, b)
		default:
			here = append(here, b)
		}
	}
	return slices.Concat(here, general)
}

func (d helpDialog) View(w, h int) string {
	rows := d.rows()
	lines := [][]draw.Segment{page.Line(d.env.Plain(" find: [" + d.search.Text(&d.env.Glyphs, min(30, w-12), true) + "]"))}
	columns, room, width := helpLayout(w, h)
	top := min(d.top, d.lastTop(w, h))
	entries, seen := d.entries(rows[top:], width-16), 0
	per := min(room, (len(entries)+columns-1)/columns)
	for i := range per {
		var l []draw.Segment
		for col := range columns {
			if n := i + col*per; n < len(entries) {
				l = append(l, draw.Styled(d.env.Theme.Key, " "+draw.Pad(entries[n].key, 14)), draw.Styled(d.env.Theme.Text, draw.Pad(entries[n].text, width-16)))
				seen += min(len(entries[n].key), 1)
			}
		}
		lines = append(lines, l)
	}
	if len(rows) == 0 {
		lines = append(lines, page.Line(d.env.Plain(" no key does that")))
	}
	details := fmt.Sprintf("%s · %d of %d", d.where, len(rows), d.total())
	if seen < len(rows) {
		details = fmt.Sprintf("%s · %s", d.where, page.WindowText(top, seen, len(rows)))
	}
	return page.DrawBox(d.env, w, h, "Keys", details, lines, 0)
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
func (d helpDialog) entries(rows []*page.Binding, width int) (lines []struct{ key, text string }) {
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
	d.search = page.NewField("")
	return len(d.rows())
}

func (d helpDialog) Hint(c *draw.Canvas) string {
	d.env.Hints(c, "type", "to filter", "↑/↓", "scroll", "esc", "close")
	return "HELP"
}

func newHelpDialog(e *page.Env, where page.Scope) helpDialog {
	return helpDialog{env: e, where: where, search: page.NewField("")}
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
