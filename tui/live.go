package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/table"
)

// pane is a part of the live view that takes keys.
type pane uint8

const (
	paneQueues pane = iota
	paneFeed
	paneAlloc
	panes
)

// resortEvery keeps rows from jumping at each snapshot.
const resortEvery = time.Second

// liveView is the consumer while it runs: figures, allocation, queues, feed.
type liveView struct {
	env    *env
	pic    picture
	w, h   int // of the view
	screen int // height of the whole screen, which the shrink rules speak of
	focus  pane
	zoomed bool
	topic  string // true name of the topic that is looked at; "" is all
	filter filter

	queues  table.State[engine.MessageQueue]
	members table.State[string]
	feed    table.State[foldKey]
	lines   []fold // of the feed, in its order

	sorted  time.Time // of the snapshot that was sorted last
	chosen  bool      // the operator has moved the cursor
	hidden  int       // rows that the filter hides
	columns []table.Column
	plan    livePlan
	sizes   liveSizes
}

// liveSizes are the widths that the rows' texts ask for.
type liveSizes struct{ name, topic, offset, lag int }

func newLiveView(e *env) liveView {
	v := liveView{env: e}
	v.queues.Order = table.Order{Column: "lag", Descending: true}
	return v
}

// sortable are the columns of the order, as `s` goes through them.
var sortable = []string{"lag", "queue", "own", "commit", "span", "msgs", "MiB", "idle", "state"}

// filterColumns are those that `>column` compares.
var filterColumns = []string{"lag", "commit", "max", "span", "msgs", "done", "MiB", "idle"}

func (v liveView) update(msg any) liveView {
	switch msg := msg.(type) {
	case pictureMsg:
		v.pic = msg.picture
		v.refresh(false)
	case sizeMsg:
		v.w, v.h, v.screen = msg.w, msg.h, msg.screen
		v.layout()
	case actionMsg:
		v = v.act(msg.action)
	}
	return v
}

// act applies a key.
func (v liveView) act(a action) liveView {
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
		v.focus, v.chosen = paneQueues, true
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

// mover is what moving keys do to any table.
type mover interface {
	Move(n int)
	MoveTo(i int)
	Page(n int, half bool)
	Len() int
}

func moveBy(m mover, a action) bool {
	switch a {
	case "down":
		m.Move(1)
	case "up":
		m.Move(-1)
	case "top":
		m.MoveTo(0)
	case "bottom":
		m.MoveTo(m.Len() - 1)
	case "half-down":
		m.Page(1, true)
	case "half-up":
		m.Page(-1, true)
	case "page-down":
		m.Page(1, false)
	case "page-up":
		m.Page(-1, false)
	default:
		return false
	}
	return true
}

func (v *liveView) move(a action) {
	switch v.focus {
	case paneAlloc:
		moveBy(&v.members, a)
	case paneFeed:
		moveBy(&v.feed, a)
	default:
		v.chosen = moveBy(&v.queues, a) || v.chosen
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

// refresh takes the rows of a new picture. They are sorted anew at most once a
// second, or when asked, or when the queues are not the same.
func (v *liveView) refresh(now bool) {
	s := v.pic.scene
	follow := v.feed.Cursor() == 0
	v.lines = v.feedLines()
	v.feed.SetKeys(feedKeys(v.lines))
	if follow {
		v.feed.MoveTo(0)
	}
	if s == nil {
		v.queues.SetKeys(nil)
		v.members.SetKeys(nil)
		v.layout()
		return
	}
	if v.topic != "" && !slices.ContainsFunc(s.raw.Topics, func(t engine.TopicSnapshot) bool { return t.Topic == v.topic }) {
		v.topic = ""
		now = true
	}
	shown := make([]int, 0, len(s.Queues))
	v.hidden = 0
	total := 0
	for i := range s.Queues {
		if v.topic != "" && s.raw.Queues[i].Topic != v.topic {
			continue
		}
		total++
		if v.passes(i) {
			shown = append(shown, i)
		}
	}
	v.hidden = total - len(shown)
	age := s.At.Sub(v.sorted)
	if now || age < 0 || age >= resortEvery || !v.sameRows(shown) {
		v.sort(shown)
	}
	var members []string
	if t, _ := v.shownTopic(); t != nil {
		for i := range t.Members {
			members = append(members, t.Members[i].ClientID)
		}
	}
	v.members.SetKeys(members)
	v.layout()
}

// sameRows reports whether exactly these rows are in the table already.
func (v *liveView) sameRows(shown []int) bool {
	if v.queues.Len() != len(shown) {
		return false
	}
	in := 0
	for _, mq := range v.queues.Keys() {
		i, ok := v.pic.scene.index[mq]
		if !ok {
			return false
		}
		if _, found := slices.BinarySearch(shown, i); found {
			in++
		}
	}
	return in == len(shown)
}

func (v *liveView) passes(i int) bool {
	s := v.pic.scene
	q := &s.Queues[i]
	return v.filter.matches(
		func() string {
			return strings.Join([]string{q.Topic, q.Short(), q.Owner, q.State.String(), q.Detail}, "\n")
		},
		func(column string) (float64, bool) { return v.value(i, column) })
}

// value is what a row is sorted and filtered by.
func (v *liveView) value(i int, column string) (float64, bool) {
	q := &v.pic.scene.Queues[i]
	known := func(n int64) (float64, bool) { return float64(n), n != engine.Unknown }
	own := func(n int64) (float64, bool) { return float64(n), q.Own }
	switch column {
	case "lag":
		lag, ok := q.Lag()
		return float64(lag), ok
	case "commit":
		return known(q.CommittedOffset)
	case "max":
		return known(q.CachedMax)
	case "span":
		return own(q.Span)
	case "msgs":
		return own(q.CachedCount)
	case "done":
		return own(q.CachedDone)
	case "MiB":
		return float64(q.CachedBytes) / (1 << 20), q.Own
	case "idle":
		last := later(q.LastConsume, q.LastPull)
		return v.pic.now.Sub(last).Seconds(), !last.IsZero()
	case "state":
		return float64(q.State), true
	}
	return 0, false
}

func (v *liveView) sort(shown []int) {
	s := v.pic.scene
	order := v.queues.Order
	compare := func(a, b int) int {
		switch order.Column {
		case "queue":
			return cmp.Compare(a, b) // queues come sorted
		case "own":
			return cmp.Compare(s.Queues[a].Owner, s.Queues[b].Owner)
		}
		x, known := v.value(a, order.Column)
		y, alsoKnown := v.value(b, order.Column)
		if known != alsoKnown { // what is not known sorts above everything
			if known {
				return -1
			}
			return 1
		}
		return cmp.Compare(x, y)
	}
	if order.Column == "span" || order.Column == "msgs" || order.Column == "MiB" || order.Column == "idle" {
		// Of other members' queues these are not unknown but nothing: they go last.
		inner := compare
		compare = func(a, b int) int {
			if x, y := s.Queues[a].Own, s.Queues[b].Own; x != y {
				if x {
					return 1
				}
				return -1
			}
			return inner(a, b)
		}
	}
	slices.SortStableFunc(shown, func(a, b int) int {
		c := compare(a, b)
		if order.Descending {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(a, b))
	})
	keys := make([]engine.MessageQueue, len(shown))
	for i, n := range shown {
		keys[i] = s.raw.Queues[n].MessageQueue
	}
	v.queues.SetKeys(keys)
	if !v.chosen {
		v.queues.MoveTo(0) // nobody has chosen a row yet: the worst one is shown
	}
	v.sorted = s.At
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
	case v.filter.active():
		v.filter = filter{}
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

// feedLines orders the feed: newest first, but flow control in force stands above, as
// its last hit is now. It takes at most half of the lines, so that what else happens
// is seen too. What is in force comes from the snapshot: the event that began it may
// have been before the screen's time, or lost.
func (v *liveView) feedLines() []fold {
	var inForce []fold
	known := make(map[foldKey]int, len(v.pic.folds))
	for i := range v.pic.folds {
		known[v.pic.folds[i].key] = i
	}
	for i := 0; v.pic.scene != nil && i < len(v.pic.scene.Queues); i++ {
		q := &v.pic.scene.Queues[i]
		if q.Flow == core.FlowNone || !q.Own {
			continue
		}
		mq := v.pic.scene.raw.Queues[i].MessageQueue
		row := describe(engine.FlowBegin{At: engine.At{Time: q.FlowSince, MQ: mq}, Cause: q.Flow, Limit: q.FlowLimit, Value: q.FlowValue})
		f := fold{key: row.foldKey(), row: row, first: row.at, count: 1}
		if n, ok := known[f.key]; ok && v.inForce(&v.pic.folds[n]) {
			f = v.pic.folds[n]
		}
		inForce = append(inForce, f)
	}
	newestFirst := func(a, b fold) int { return b.row.at.Compare(a.row.at) }
	slices.SortStableFunc(inForce, newestFirst)
	pinned := min(len(inForce), max(v.plan.feed/2, 1))
	lines := slices.Clone(inForce[:pinned])
	for _, f := range v.pic.folds {
		if !slices.ContainsFunc(inForce, func(x fold) bool { return x.key == f.key }) {
			lines = append(lines, f)
		}
	}
	lines = append(lines, inForce[pinned:]...)
	slices.SortStableFunc(lines[pinned:], newestFirst)
	return lines
}

func feedKeys(lines []fold) []foldKey {
	keys := make([]foldKey, len(lines))
	for i := range lines {
		keys[i] = lines[i].key
	}
	return keys
}

// inForce reports whether a line is about a flow control that lasts.
func (v *liveView) inForce(f *fold) bool {
	begin, ok := f.row.event.(engine.FlowBegin)
	if !ok || v.pic.scene == nil {
		return false
	}
	q := v.pic.scene.queue(f.row.mq)
	return q != nil && q.Flow == begin.Cause
}

// line is the line of the feed under the cursor.
func (v *liveView) line() *fold {
	if i := v.feed.Cursor(); i < len(v.lines) {
		return &v.lines[i]
	}
	return nil
}
