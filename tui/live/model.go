package live

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// pane is a part of the live view that takes keys.
type pane uint8

const (
	PaneQueues pane = iota
	PaneFeed
	PaneAlloc
	panes
)

// View is the consumer while it runs: figures, allocation, queues, feed.
type View struct {
	env    *page.Env
	pic    Picture
	w, h   int // of the view
	screen int // height of the whole screen, which the shrink rules speak of
	Focus  pane
	zoomed bool
	Topic  string // true name of the topic that is looked at; "" is all
	Filter page.Filter

	Queues           table.State[engine.MessageQueue]
	page.SteadyOrder // of the queues
	Members          table.State[string]
	feed             table.State[words.FoldKey]
	lines            []fold // of the feed, in its order

	moved   time.Time // when the operator moved the cursor last
	chosen  bool      // the operator has moved the cursor
	hidden  int       // rows that the filter hides
	Waiting []string  // why there is no picture of a watched group yet
	columns []table.Column
	plan    livePlan
	sizes   liveSizes
}

// liveSizes are the widths that the rows' texts ask for.
type liveSizes struct{ name, topic, offset, flight, lag int }

// ShownTopic is the topic whose allocation is shown: the chosen one, else the first.
func (v *View) ShownTopic() (t *engine.TopicSnapshot, nth int) {
	s := v.pic.Scene
	if s == nil || len(s.Topics) == 0 {
		return nil, 0
	}
	for i := range s.Raw.Topics {
		if s.Raw.Topics[i].Topic == v.Topic {
			return &s.Topics[i], i
		}
	}
	return &s.Topics[0], 0
}

// titleStyle shows which pane takes the keys.
func (v *View) titleStyle(p pane) draw.Style {
	if v.Focus == p {
		return v.env.Theme.Title
	}
	return v.env.Theme.Bold
}

// box shows the same by a sign, where there is another pane.
func (v *View) box(p pane) draw.BoxLook {
	return draw.PaneBox(v.Focus == p && !v.zoomed && v.plan.alloc+v.plan.feed > 0)
}

// inFlight is what a row's bar and the number beside it show: from the commit to the end
// of what is pulled. The span, which a limit counts, is another distance: from the first to
// the last message that is cached and not done. A limit in force is told by the state.
func (v *View) inFlight(n int) inspect.Number {
	q := &v.pic.Scene.Queues[n]
	if w := v.watched(); w != nil {
		return w.queues[n].inFlight
	}
	return inspect.Exact(ownInFlight(q))
}
