package live

import (
	"slices"

	"eyeq/engine"
	"eyeq/tui/page"
	"eyeq/tui/table"
)

// NewView is a live view that has seen nothing yet.
func NewView(e *page.Env) View {
	v := View{env: e}
	v.Queues.Order = table.Order{Column: "lag", Descending: true}
	return v
}

// Update takes a size, an action, a click or a picture.
func (v View) Update(msg any) View {
	switch msg := msg.(type) {
	case PictureMsg:
		v.pic = msg.Picture
		v.Refresh(false)
	case page.SizeMsg:
		v.w, v.h, v.screen = msg.W, msg.H, msg.Screen
		v.layout()
	case page.ActionMsg:
		v = v.act(msg.Action)
	case page.ClickMsg:
		v.click(msg.Y)
	case page.PointMsg:
		v.point(msg.Y)
	}
	return v
}

// act applies a key.
func (v View) act(a page.Action) View {
	switch a {
	case "next-pane", "previous-pane":
		step := pane(1)
		if a == "previous-pane" {
			step = panes - 1
		}
		v.Focus = (v.Focus + step) % panes
		for v.rowsOf(v.Focus) == 0 && v.Focus != PaneQueues && !v.zoomed {
			v.Focus = (v.Focus + step) % panes
		}
		v.layout()
	case "zoom":
		v.zoomed = !v.zoomed
		v.layout()
	case "next-topic":
		v.turnTopic(1)
	case "previous-topic":
		v.turnTopic(-1)
	case "mark":
		v.Focus, v.chosen, v.moved = PaneQueues, true, v.env.Now
		v.Queues.ToggleMark()
		v.Queues.Move(1)
	case "mark-range":
		v.Focus = PaneQueues
		v.Queues.MarkRange()
	case "sort":
		v.Queues.NextOrder(Sortable)
		v.Queues.Order.Descending = v.Queues.Order.Column != "queue" && v.Queues.Order.Column != "own"
		v.Refresh(true)
	case "sort-reverse":
		v.Queues.Order.Descending = !v.Queues.Order.Descending
		v.Refresh(true)
	case "left":
		v.Queues.Left = max(v.Queues.Left-1, 0)
		v.layout()
	case "right":
		v.Queues.Left = min(v.Queues.Left+1, len(v.columns)-2)
		v.layout()
	case "far-left":
		v.Queues.Left = 0
		v.layout()
	case "far-right":
		v.Queues.Left = max(len(v.columns)-4, 0)
		v.layout()
	default:
		v.move(a)
	}
	return v
}

func (v *View) rowsOf(p pane) int {
	switch p {
	case PaneAlloc:
		return v.plan.alloc
	case PaneFeed:
		return v.plan.feed
	}
	return v.plan.rows
}

func (v *View) move(a page.Action) {
	switch v.Focus {
	case PaneAlloc:
		page.MoveBy(&v.Members, a)
	case PaneFeed:
		page.MoveBy(&v.feed, a)
	default:
		if page.MoveBy(&v.Queues, a) {
			v.chosen, v.moved = true, v.env.Now
		}
	}
}

// turnTopic goes to the next topic: all, each in order, all again.
func (v *View) turnTopic(step int) {
	if v.pic.Scene == nil || len(v.pic.Scene.Topics) == 0 {
		return
	}
	names := []string{""}
	for i := range v.pic.Scene.Raw.Topics {
		names = append(names, v.pic.Scene.Raw.Topics[i].Topic)
	}
	i := max(slices.Index(names, v.Topic), 0)
	v.Topic = names[(i+step+len(names))%len(names)]
	v.Refresh(true)
}

// Targets are the queues a key is about: the marked ones, else the one under the
// cursor.
func (v *View) Targets() []engine.MessageQueue {
	if marked := v.Queues.Marked(); len(marked) > 0 {
		return marked
	}
	if mq, ok := v.Queues.Current(); ok {
		return []engine.MessageQueue{mq}
	}
	return nil
}

// Escape takes back the last thing that narrows the view.
func (v *View) Escape() bool {
	switch {
	case v.Filter.Active():
		v.Filter = page.Filter{}
		v.Refresh(true)
	case v.Queues.ClearMarks():
	case v.zoomed:
		v.zoomed = false
		v.layout()
	case v.Topic != "":
		v.Topic = ""
		v.Refresh(true)
	case v.Queues.Left > 0:
		v.Queues.Left = 0
		v.layout()
	default:
		return false
	}
	return true
}

// click selects in the live view: a member, a queue, or a line of the feed.
func (v *View) click(y int) {
	at, y := v.at(y)
	switch at {
	case PaneAlloc:
		head := 1
		if v.plan.allocHead {
			head = 2
		}
		if page.ClickRow(&v.Members, y, head) {
			v.Focus = PaneAlloc
		}
	case PaneQueues:
		if page.ClickRow(&v.Queues, y, 2) {
			v.Focus, v.chosen, v.moved = PaneQueues, true, v.env.Now
		}
	case PaneFeed:
		if page.ClickRow(&v.feed, y, 1) {
			v.Focus = PaneFeed
		}
	}
}

// point gives the focus to the pane of a line.
func (v *View) point(y int) {
	if at, y := v.at(y); y >= 0 {
		v.Focus = at
	}
}

// at finds the pane of a line, and that line of it.
func (v *View) at(y int) (pane, int) {
	p := &v.plan
	if !v.zoomed {
		y -= p.figures
	}
	if y < 0 {
		return v.Focus, -1
	}
	if p.alloc > 0 && !p.allocLine && y < p.allocHeight() {
		return PaneAlloc, y
	}
	y -= p.allocHeight()
	if p.rows > 0 && y < p.rows+page.TableFrame {
		return PaneQueues, y
	}
	if p.rows > 0 {
		y -= p.rows + page.TableFrame
	}
	if p.feed > 0 {
		return PaneFeed, y
	}
	return v.Focus, -1
}
