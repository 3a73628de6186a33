package tui

import (
	"slices"
	"time"

	"eyeq/engine"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// pane is a part of the live view that takes keys.
type pane uint8

const (
	paneQueues pane = iota
	paneFeed
	paneAlloc
	panes
)

// liveView is the consumer while it runs: figures, allocation, queues, feed.
type liveView struct {
	env    *page.Env
	pic    picture
	w, h   int // of the view
	screen int // height of the whole screen, which the shrink rules speak of
	focus  pane
	zoomed bool
	topic  string // true name of the topic that is looked at; "" is all
	filter page.Filter

	queues           table.State[engine.MessageQueue]
	page.SteadyOrder // of the queues
	members          table.State[string]
	feed             table.State[words.FoldKey]
	lines            []fold // of the feed, in its order

	moved   time.Time // when the operator moved the cursor last
	chosen  bool      // the operator has moved the cursor
	hidden  int       // rows that the filter hides
	waiting []string  // why there is no picture of a watched group yet
	columns []table.Column
	plan    livePlan
	sizes   liveSizes
}

// liveSizes are the widths that the rows' texts ask for.
type liveSizes struct{ name, topic, offset, flight, lag int }

func newLiveView(e *page.Env) liveView {
	v := liveView{env: e}
	v.queues.Order = table.Order{Column: "lag", Descending: true}
	return v
}

func (v liveView) update(msg any) liveView {
	switch msg := msg.(type) {
	case pictureMsg:
		v.pic = msg.picture
		v.refresh(false)
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
func (v liveView) act(a page.Action) liveView {
	switch a {
	case "next-pane", "previous-pane":
		step := pane(1)
		if a == "previous-pane" {
			step = panes - 1
		}
		v.focus = (v.focus + step) % panes
		for v.rowsOf(v.focus) == 0 && v.focus != paneQueues && !v.zoomed {
			v.focus = (v.focus + step) % panes
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
		v.focus, v.chosen, v.moved = paneQueues, true, v.env.Now
		v.queues.ToggleMark()
		v.queues.Move(1)
	case "mark-range":
		v.focus = paneQueues
		v.queues.MarkRange()
	case "sort":
		v.queues.NextOrder(sortable)
		v.queues.Order.Descending = v.queues.Order.Column != "queue" && v.queues.Order.Column != "own"
		v.refresh(true)
	case "sort-reverse":
		v.queues.Order.Descending = !v.queues.Order.Descending
		v.refresh(true)
	case "left":
		v.queues.Left = max(v.queues.Left-1, 0)
		v.layout()
	case "right":
		v.queues.Left = min(v.queues.Left+1, len(v.columns)-2)
		v.layout()
	case "far-left":
		v.queues.Left = 0
		v.layout()
	case "far-right":
		v.queues.Left = max(len(v.columns)-4, 0)
		v.layout()
	default:
		v.move(a)
	}
	return v
}

func (v *liveView) rowsOf(p pane) int {
	switch p {
	case paneAlloc:
		return v.plan.alloc
	case paneFeed:
		return v.plan.feed
	}
	return v.plan.rows
}

func (v *liveView) move(a page.Action) {
	switch v.focus {
	case paneAlloc:
		page.MoveBy(&v.members, a)
	case paneFeed:
		page.MoveBy(&v.feed, a)
	default:
		if page.MoveBy(&v.queues, a) {
			v.chosen, v.moved = true, v.env.Now
		}
	}
}

// turnTopic goes to the next topic: all, each in order, all again.
func (v *liveView) turnTopic(step int) {
	if v.pic.scene == nil || len(v.pic.scene.Topics) == 0 {
		return
	}
	names := []string{""}
	for i := range v.pic.scene.raw.Topics {
		names = append(names, v.pic.scene.raw.Topics[i].Topic)
	}
	i := max(slices.Index(names, v.topic), 0)
	v.topic = names[(i+step+len(names))%len(names)]
	v.refresh(true)
}

// shownTopic is the topic whose allocation is shown: the chosen one, else the first.
func (v *liveView) shownTopic() (t *engine.TopicSnapshot, nth int) {
	s := v.pic.scene
	if s == nil || len(s.Topics) == 0 {
		return nil, 0
	}
	for i := range s.raw.Topics {
		if s.raw.Topics[i].Topic == v.topic {
			return &s.Topics[i], i
		}
	}
	return &s.Topics[0], 0
}

// targets are the queues a key is about: the marked ones, else the one under the
// cursor.
func (v *liveView) targets() []engine.MessageQueue {
	if marked := v.queues.Marked(); len(marked) > 0 {
		return marked
	}
	if mq, ok := v.queues.Current(); ok {
		return []engine.MessageQueue{mq}
	}
	return nil
}

// escape takes back the last thing that narrows the view.
func (v *liveView) escape() bool {
	switch {
	case v.filter.Active():
		v.filter = page.Filter{}
		v.refresh(true)
	case v.queues.ClearMarks():
	case v.zoomed:
		v.zoomed = false
		v.layout()
	case v.topic != "":
		v.topic = ""
		v.refresh(true)
	case v.queues.Left > 0:
		v.queues.Left = 0
		v.layout()
	default:
		return false
	}
	return true
}

// click selects in the live view: a member, a queue, or a line of the feed.
func (v *liveView) click(y int) {
	at, y := v.at(y)
	switch at {
	case paneAlloc:
		head := 1
		if v.plan.allocHead {
			head = 2
		}
		if page.ClickRow(&v.members, y, head) {
			v.focus = paneAlloc
		}
	case paneQueues:
		if page.ClickRow(&v.queues, y, 2) {
			v.focus, v.chosen, v.moved = paneQueues, true, v.env.Now
		}
	case paneFeed:
		if page.ClickRow(&v.feed, y, 1) {
			v.focus = paneFeed
		}
	}
}

// point gives the focus to the pane of a line.
func (v *liveView) point(y int) {
	if at, y := v.at(y); y >= 0 {
		v.focus = at
	}
}

// at finds the pane of a line, and that line of it.
func (v *liveView) at(y int) (pane, int) {
	p := &v.plan
	if !v.zoomed {
		y -= p.figures
	}
	if y < 0 {
		return v.focus, -1
	}
	if p.alloc > 0 && !p.allocLine && y < p.allocHeight() {
		return paneAlloc, y
	}
	y -= p.allocHeight()
	if p.rows > 0 && y < p.rows+page.TableFrame {
		return paneQueues, y
	}
	if p.rows > 0 {
		y -= p.rows + page.TableFrame
	}
	if p.feed > 0 {
		return paneFeed, y
	}
	return v.focus, -1
}
