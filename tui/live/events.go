package live

import (
	"fmt"
	"strings"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// EventsView lists all events of one engine, oldest first; at the end it follows.
type EventsView struct {
	env    *page.Env
	pic    Picture
	w, h   int
	Filter page.Filter
	List   table.State[uint64] // by sequence number
	hidden int
	fresh  int // arrived while the cursor was elsewhere
	last   uint64
	scroll int // cells that the text is shifted to the left
}

// NewEventsView is a list of events that has none yet.
func NewEventsView(e *page.Env) EventsView {
	v := EventsView{env: e}
	v.List.Follow = true
	return v
}

// Update takes a size, an action, a click or a picture.
func (v EventsView) Update(msg any) EventsView {
	switch msg := msg.(type) {
	case PictureMsg:
		v.pic = msg.Picture
		v.refresh()
	case page.SizeMsg:
		v.w, v.h = msg.W, msg.H
		v.List.Resize(max(v.h-page.TableFrame, 0))
	case page.ActionMsg:
		v = v.act(msg.Action)
	case page.ClickMsg:
		v.List.Follow = false
		page.ClickRow(&v.List, msg.Y, 2)
	}
	return v
}

func (v EventsView) act(a page.Action) EventsView {
	const step = 16
	switch a {
	case "next-error":
		v.jump(1)
	case "previous-error":
		v.jump(-1)
	case "left":
		v.scroll = max(v.scroll-step, 0)
	case "right":
		v.scroll += step
	case "far-left":
		v.scroll = 0
	default:
		if page.MoveBy(&v.List, a) {
			v.List.Follow = v.List.Cursor() >= v.List.Len()-1 && a != "up" && a != "top"
			if v.List.Follow {
				v.fresh = 0
			}
		}
	}
	return v
}

// jump goes to the next or previous failure; at the last one it stays.
func (v *EventsView) jump(step int) {
	for i := v.List.Cursor() + step; i >= 0 && i < v.List.Len(); i += step {
		if r := v.row(v.List.Key(i)); r != nil && r.Sev == words.Failure {
			v.List.Follow = false
			v.List.MoveTo(i)
			return
		}
	}
}

// row finds an event by its number; the numbers have no gaps.
func (v *EventsView) row(seq uint64) *words.EventRow {
	if len(v.pic.rows) == 0 || seq < v.pic.rows[0].Seq {
		return nil
	}
	if i := seq - v.pic.rows[0].Seq; i < uint64(len(v.pic.rows)) {
		return &v.pic.rows[i]
	}
	return nil
}

// refresh takes the rows of a new picture. Without a filter and with nothing new
// there is nothing to do.
func (v *EventsView) refresh() {
	rows := v.pic.rows
	if len(rows) == 0 {
		v.List.SetKeys(nil)
		v.hidden, v.last = 0, 0
		return
	}
	newest := rows[len(rows)-1].Seq + 1
	if newest == v.last && v.List.Len()+v.hidden == len(rows) {
		return
	}
	if newest > v.last && !v.List.Follow {
		v.fresh += int(newest - max(v.last, rows[0].Seq))
	}
	v.last = newest
	v.Refilter()
}

// Refilter shows what the filter in force lets through.
func (v *EventsView) Refilter() {
	keys := make([]uint64, 0, len(v.pic.rows))
	for i := range v.pic.rows {
		r := &v.pic.rows[i]
		if v.Filter.Matches(func() string { return eventSearch(r) }, func(string) (float64, bool) { return 0, false }) {
			keys = append(keys, r.Seq)
		}
	}
	v.hidden = len(v.pic.rows) - len(keys)
	v.List.SetKeys(keys)
}

// eventSearch is the text that the filter looks into.
func eventSearch(r *words.EventRow) string {
	return strings.Join([]string{r.Kind, r.Cause, r.Name, r.Topic, r.Queue, r.Text}, "\n")
}

// Current is the event under the cursor.
func (v *EventsView) Current() *words.EventRow {
	seq, ok := v.List.Current()
	if !ok {
		return nil
	}
	return v.row(seq)
}

// Escape takes back one step; false when there is none.
func (v *EventsView) Escape() bool {
	switch {
	case v.Filter.Active():
		v.Filter = page.Filter{}
		v.Refilter()
	case v.scroll > 0:
		v.scroll = 0
	default:
		return false
	}
	return true
}

var eventColumns = []table.Column{
	{ID: "time", Title: "time", Width: 12, Fixed: true},
	{ID: "kind", Title: "kind", Width: 7},
	{ID: "cause", Title: "what", Width: 9, Rank: 2},
	{ID: "queue", Title: "queue", Width: 11, Flex: 1, Max: 18},
	{ID: "topic", Title: "topic", Width: 10, Flex: 1, Max: 28, From: 110, Rank: 3},
	{ID: "text", Title: "text", Width: 20, Flex: 8, Gap: 2},
}

// View draws it in w by h cells.
func (v EventsView) View(w, h int) string {
	th, c := v.env.Theme, draw.NewCanvas(w, h)
	first, end := v.List.Window()
	title := "Events"
	if v.List.Len() > 0 {
		title = fmt.Sprintf("Events  %s-%s of %s", words.Grouped(int64(first+1)), words.Grouped(int64(end)), words.Grouped(int64(v.List.Len())))
	}
	c.Top(draw.ThinBox, th.Frame, th.Title, title, v.details())
	columns := eventColumns
	layout := table.Fit(columns, w-2, w, 0)
	c.TableHead(th, &layout, columns, table.Order{}, "", "")
	var cells [6]table.Cell
	for i := first; i < end; i++ {
		r := v.row(v.List.Key(i))
		if r == nil {
			continue
		}
		st := words.SeverityStyle(th, r.Sev)
		text := r.Text
		if v.scroll > 0 {
			text = table.Tail(text, v.scroll)
		}
		cells = [6]table.Cell{
			{Text: v.env.Mode.Clock(r.At, v.pic.Now, v.env.Options.Location, words.ClockMillis), Style: th.Dim},
			{Text: r.Kind, Style: st}, {Text: r.Cause, Style: st}, {Text: r.Queue}, {Text: r.Topic, Style: th.Dim}, {Text: text},
		}
		look := v.env.Look(i == v.List.Cursor(), false, true)
		look.Mark, look.Gutter = r.Sev.Sign(), st
		c.TableRow(th, &layout, columns, cells[:], look)
	}
	notes := v.emptyReason()
	if v.List.Len() > 0 {
		notes = nil
	}
	c.TableRest(th, h-page.TableFrame-(end-first), notes)
	c.Bottom(draw.ThinBox, th.Frame)
	return c.String()
}

func (v *EventsView) details() string {
	var parts []string
	if v.pic.dropped > 0 {
		parts = append(parts, words.Grouped(v.pic.dropped)+" lost (the screen was slower)")
	}
	if v.Filter.Active() {
		parts = append(parts, fmt.Sprintf("filter %s (%s hidden)", draw.SafeText(v.Filter.Text), words.Grouped(int64(v.hidden))))
	}
	switch {
	case v.List.Follow:
		parts = append(parts, "following")
	case v.fresh > 0:
		parts = append(parts, fmt.Sprintf("%s new, %s follow", words.Grouped(int64(v.fresh)), v.env.Keys.First("bottom")))
	default:
		parts = append(parts, v.env.Keys.First("bottom")+" follow")
	}
	return strings.Join(parts, " · ")
}

func (v *EventsView) emptyReason() []string {
	if v.Filter.Active() && v.hidden > 0 {
		return []string{"", "No event matches  /" + draw.SafeText(v.Filter.Text), words.Grouped(int64(v.hidden)) + " hidden by the filter", "esc clear filter"}
	}
	if len(v.env.Options.Engines) == 0 && v.pic.Scene == nil {
		k := v.env.Keys
		return []string{"", "no group is watched, so nothing is told here", k.First("live") + " or :live GROUP watches one: what differs between two looks at it is an event"}
	}
	return []string{"", "nothing has happened yet"}
}
