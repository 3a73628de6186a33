package live

import (
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// livePlan says how many lines each part of the live view gets.
type livePlan struct {
	figures   int  // lines of figures
	alloc     int  // member rows; 0: no allocation box
	allocHead bool // the box has a header
	allocLine bool // one line instead of the box
	grid      bool
	rows      int // rows of the queue table; the box takes three more lines
	feed      int // lines of the feed
	feedBox   bool
}

func (p *livePlan) allocHeight() int {
	switch {
	case p.allocLine:
		return 1
	case p.alloc == 0:
		return 0
	case p.allocHead:
		return p.alloc + 3
	}
	return p.alloc + 2
}

func (p *livePlan) feedHeight() int {
	switch {
	case p.feed == 0:
		return 0
	case p.feedBox:
		return p.feed + 2
	}
	return p.feed + 1
}

// layout applies the shrink rules to the room there is.
func (v *View) layout() {
	if v.w == 0 {
		return
	}
	v.measure()
	v.columns = v.makeColumns()
	members, queues := max(v.Members.Len(), 1), max(v.Queues.Len()+v.hidden, 1)
	if v.zoomed {
		v.plan = livePlan{}
		switch v.Focus {
		case PaneAlloc:
			v.plan.allocHead = v.w >= 104
			v.plan.alloc = v.h - 2
			if v.plan.allocHead {
				v.plan.alloc--
			}
		case PaneFeed:
			v.plan.feed, v.plan.feedBox = v.h-2, true
		default:
			v.plan.rows = v.h - page.TableFrame
		}
		v.resizePanes()
		return
	}
	p := livePlan{figures: 2}
	switch {
	case v.screen < 16:
		p.figures = 1
	case v.w >= 100 && v.screen >= 28:
		p.figures = 4
	}
	if p.allocLine = v.screen < 20; !p.allocLine {
		p.allocHead = v.w >= 104
		p.alloc = min(members, max(3, v.screen/7))
	}
	switch {
	case v.screen >= 32:
		p.feed, p.feedBox = 4, true
	case v.screen >= 22:
		p.feed = 2
	}
	p.rows = v.h - p.figures - p.allocHeight() - p.feedHeight() - page.TableFrame
	if surplus := p.rows - max(queues, 4); surplus > 0 && p.feedBox {
		p.feed += surplus
		p.rows -= surplus
	}
	v.plan = p
	v.resizePanes()
}

func (v *View) resizePanes() {
	v.plan.rows = max(v.plan.rows, 0)
	v.Queues.Resize(v.plan.rows)
	v.Members.Resize(v.plan.alloc)
	v.feed.Resize(v.plan.feed)
	v.plan.grid = v.plan.allocHead && v.gridFits()
}

// measure finds how wide names and numbers are, in steps, so that columns do not
// jump with each digit.
func (v *View) measure() {
	z := liveSizes{name: 10, topic: 5, offset: 10, flight: 6, lag: 7}
	s := v.pic.Scene
	for i := 0; s != nil && i < len(s.Queues); i++ {
		q := &s.Queues[i]
		z.name = max(z.name, table.Width(v.topicQueue(q)))
		if i == 0 || s.Queues[i-1].Topic != q.Topic {
			z.topic = max(z.topic, table.Width(v.topicName(q)))
		}
		z.offset = max(z.offset, words.GroupedWidth(max(q.MaxOffset, q.CommittedOffset, q.CachedMax)))
		if q.Own {
			z.flight = max(z.flight, table.Width(words.NumberText(v.inFlight(i))))
		}
		if lag, ok := LagOf(q); ok {
			z.lag = max(z.lag, words.GroupedWidth(lag))
		}
	}
	v.sizes = z
}

// byTopic reports whether rows of more than one topic are shown. The group's retry
// topic is none of them: its queues say it in their names.
func (v *View) byTopic() bool {
	return v.pic.Scene != nil && v.Topic == "" && v.ordinaryTopics() > 1
}

// The queue table's columns; cells are indexed by these.
const (
	colQueue = iota
	colTopic
	colOwn
	colCommit
	colMax
	colFlight
	colBar
	colSpan
	colMsgs
	colMiB
	colIdle
	colLag
	colState
	liveColumns
)

// makeColumns builds the columns for the present width with the widest bar that
// fits.
func (v *View) makeColumns() []table.Column {
	z := v.sizes
	name := min(z.name, 24)
	if v.w < ownFrom {
		name += 2 // the owner's letter stands before it
	}
	stateWidth := 18
	switch {
	case v.w < ownFrom:
		stateWidth = 11
	case v.w >= 112:
		stateWidth = 14
	}
	columns := []table.Column{
		colQueue:  {ID: "queue", Title: "queue", Width: min(name, 13), Flex: 3, Max: name, Fixed: true},
		colTopic:  {ID: "topic", Title: "topic", Width: min(z.topic, 10), Flex: 1, Max: z.topic, Rank: 7, From: topicFrom},
		colOwn:    {ID: "own", Title: "own", Width: 3, From: ownFrom, Rank: 6},
		colCommit: {ID: "commit", Title: "commit", Width: z.offset, Right: true, From: 86, Rank: 8},
		colMax:    {ID: "max", Title: "max cached", Width: max(z.offset, 10), Gap: 2, Right: true, From: 98, Rank: 9},
		colFlight: {ID: "inflight", Title: "flight", Width: z.flight, Right: true, Rank: 3},
		colBar:    {ID: "bar"},
		colSpan:   {ID: "span", Title: "span", Width: 6, Right: true, From: 140, Rank: 10},
		colMsgs:   {ID: "msgs", Title: "msgs", Width: 6, Right: true, Rank: 2},
		colMiB:    {ID: "MiB", Title: "MiB", Width: 5, Right: true, From: 106, Rank: 10, Gap: 2},
		colIdle:   {ID: "idle", Title: "idle", Width: 6, Right: true, From: 112, Rank: 11},
		colLag:    {ID: "lag", Title: "lag", Width: z.lag + 1, Right: true},
		colState:  {ID: "state", Title: "state", Width: stateWidth, Flex: 1},
	}
	if !v.byTopic() {
		columns[colTopic].From = 1 << 20
	}
	if v.byTopic() && v.w < 140 {
		columns[colMax].From = 140 // the bar says more
	}
	if v.w < 86 {
		columns[colOwn].Title, columns[colOwn].Width = "o", 2
	}
	for _, cells := range [...]int{48, 24, 16, 8} {
		if cells > 24 && v.w < 150 {
			continue
		}
		columns[colBar] = table.Column{ID: "bar", Title: v.barTitle(cells), Width: cells, Rank: 1}
		if l := table.Fit(columns, v.w-2, v.w, v.Queues.Left); l.WidthOf(columns, "bar") == cells && v.allFit(columns, l) {
			return columns
		}
	}
	columns[colBar] = table.Column{ID: "bar", Width: 8, Rank: 12, From: 1 << 20}
	return columns
}

const (
	// topicFrom is the width from which rows of several topics get a column for it,
	// ownFrom likewise for the owner.
	topicFrom = 96
	ownFrom   = 70
)

// allFit reports whether only columns that From hides are missing.
func (v *View) allFit(columns []table.Column, l table.Layout) bool {
	hidden := v.Queues.Left
	if hidden == 0 {
		for i := range columns {
			if v.w < columns[i].From {
				hidden++
			}
		}
	}
	return l.Hidden <= hidden || v.Queues.Left > 0
}

// barLimit is the scale of a row's bar: the span limit of who holds the queue, or the
// count when orderly, where no span limit is in force; 0: not known.
func (v *View) barLimit(n int) int64 {
	s := v.pic.Scene
	if s.Watch == nil {
		if s.Orderly {
			return s.Limits.Count
		}
		return s.Limits.Span
	}
	w := &s.Watch.queues[n]
	if w.orderly {
		return w.limits.Count.Likely()
	}
	return w.limits.Span.Likely()
}

// barScale is the end of the bars' scale for all rows; "" where none is known.
func (v *View) barScale() string {
	var scale int64
	for i := 0; v.pic.Scene != nil && i < len(v.pic.Scene.Queues); i++ {
		if !v.pic.Scene.Queues[i].Own {
			continue
		}
		switch n := v.barLimit(i); {
		case n == 0 || n == scale:
		case scale != 0:
			return "own limit" // each row has that of its queue's holder
		default:
			scale = n
		}
	}
	if scale == 0 {
		return ""
	}
	return strconv.FormatInt(scale, 10)
}

// barTitle is the bar's scale in exactly the bar's width.
func (v *View) barTitle(cells int) string {
	end := v.barScale()
	if end == "" {
		return ""
	}
	for _, middle := range []string{" commit to pulled ", " in flight ", ""} {
		free := cells - 2 - table.Width(end) - 1 - table.Width(middle)
		if free < 2 {
			continue
		}
		left := free / 2
		return "0 " + strings.Repeat("─", left) + middle + strings.Repeat("─", free-left) + " " + end
	}
	return table.Cut(end, cells)
}

// topicName is a queue's topic as the table names it; the group's retry topic needs no
// name.
func (v *View) topicName(q *engine.QueueSnapshot) string {
	if q.Retry {
		return "(retry)"
	}
	return q.Topic
}

// queueName is how a row names its queue when the topic has no column.
func (v *View) queueName(q *engine.QueueSnapshot) string {
	if v.w < ownFrom {
		return v.pic.Scene.ownerLetter(q) + " " + v.topicQueue(q)
	}
	return v.topicQueue(q)
}

func (v *View) topicQueue(q *engine.QueueSnapshot) string {
	switch {
	case v.byTopic() && v.w >= topicFrom, v.Topic != "":
		return q.Short()
	case q.Retry:
		return "retry " + v.pic.Scene.Short.Name(q.BrokerName) + "/" + strconv.Itoa(int(q.QueueID))
	case !v.byTopic():
		return q.Short()
	}
	return table.CutMiddle(q.Topic, 8) + " " + v.pic.Scene.Short.Name(q.BrokerName) + "/" + strconv.Itoa(int(q.QueueID))
}

func (v *View) ordinaryTopics() int {
	n := 0
	for i := range v.pic.Scene.Topics {
		if !v.pic.Scene.Topics[i].Retry {
			n++
		}
	}
	return n
}
