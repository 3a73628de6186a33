package live

import (
	"fmt"
	"slices"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// feedLines orders the feed: newest first, but flow control in force stands above, as
// its last hit is now. It takes at most half of the lines, so that what else happens
// is seen too. What is in force comes from the snapshot: the event that began it may
// have been before the screen's time, or lost.
func (v *View) feedLines() []fold {
	var inForce []fold
	known := make(map[words.FoldKey]int, len(v.pic.Folds))
	for i := range v.pic.Folds {
		known[v.pic.Folds[i].key] = i
	}
	for i := 0; v.pic.Scene != nil && i < len(v.pic.Scene.Queues); i++ {
		q := &v.pic.Scene.Queues[i]
		if q.Flow == core.FlowNone || !q.Own {
			continue
		}
		mq := v.pic.Scene.Raw.Queues[i].MessageQueue
		row := words.Describe(engine.FlowBegin{At: engine.At{Time: q.FlowSince, MQ: mq}, Cause: q.Flow, Limit: q.FlowLimit, Value: q.FlowValue})
		f := fold{key: row.FoldKey(), Row: row, first: row.At, count: 1}
		if n, ok := known[f.key]; ok && v.inForce(&v.pic.Folds[n]) {
			f = v.pic.Folds[n]
		}
		inForce = append(inForce, f)
	}
	newestFirst := func(a, b fold) int { return b.Row.At.Compare(a.Row.At) }
	slices.SortStableFunc(inForce, newestFirst)
	pinned := min(len(inForce), max(v.plan.feed/2, 1))
	lines := slices.Clone(inForce[:pinned])
	for _, f := range v.pic.Folds {
		if !slices.ContainsFunc(inForce, func(x fold) bool { return x.key == f.key }) {
			lines = append(lines, f)
		}
	}
	lines = append(lines, inForce[pinned:]...)
	slices.SortStableFunc(lines[pinned:], newestFirst)
	return lines
}

func feedKeys(lines []fold) []words.FoldKey {
	keys := make([]words.FoldKey, len(lines))
	for i := range lines {
		keys[i] = lines[i].key
	}
	return keys
}

// inForce reports whether a line is about a flow control that lasts.
func (v *View) inForce(f *fold) bool {
	begin, ok := f.Row.Event.(engine.FlowBegin)
	if !ok || v.pic.Scene == nil {
		return false
	}
	q := v.pic.Scene.Queue(f.Row.MQ)
	return q != nil && q.Flow == begin.Cause
}

// Line is the line of the feed under the cursor.
func (v *View) Line() *fold {
	if i := v.feed.Cursor(); i < len(v.lines) {
		return &v.lines[i]
	}
	return nil
}

// drawFeed draws the folded events, newest first.
func (v *View) drawFeed(c *draw.Canvas) {
	th := v.env.Theme
	first, end := v.feed.Window()
	details := "newest first · " + v.env.Keys.First("detail") + " expand"
	if len(v.lines) > 1 && v.inForce(&v.lines[0]) {
		details = "in force, then " + details
	}
	if v.pic.dropped > 0 {
		details = words.Grouped(v.pic.dropped) + " events lost · " + details
	}
	if v.plan.feedBox {
		c.Top(v.box(PaneFeed), th.Frame, v.titleStyle(PaneFeed), "Flow control & events", details)
	} else {
		if v.Focus == PaneFeed {
			c.Put(v.titleStyle(PaneFeed), draw.FocusBox.Lead)
		} else {
			c.Put(th.Frame, draw.ThinBox.Lead)
		}
		c.Put(v.titleStyle(PaneFeed), " events")
		c.Put(draw.Style{}, " ")
		c.Fill(th.Frame, "─", c.W)
		c.End()
	}
	for i := range v.plan.feed {
		if v.plan.feedBox {
			c.Open(draw.ThinBox, th.Frame)
		}
		if n := first + i; n < end {
			v.drawFold(c, &v.lines[n], n == v.feed.Cursor() && v.Focus == PaneFeed)
		} else if i == 0 && end == 0 {
			c.Put(th.Dim, " nothing has happened yet")
		}
		if v.plan.feedBox {
			c.Close(draw.ThinBox, th.Frame)
		} else {
			c.End()
		}
	}
	if v.plan.feedBox {
		c.Bottom(draw.ThinBox, th.Frame)
	}
}

// drawFold writes one line of the feed into the room there is.
func (v *View) drawFold(c *draw.Canvas, f *fold, cursor bool) {
	th := v.env.Theme
	st := words.SeverityStyle(th, f.Row.Sev)
	sign := f.Row.Sev.Sign()
	if cursor {
		sign = v.env.Glyphs.Cursor
	}
	text, tail := v.foldText(f)
	narrow := v.w < 100
	clock := words.ClockCents
	if narrow {
		clock = words.ClockSeconds
	}
	c.Put(st, sign)
	c.Put(th.Dim, draw.Pad(v.env.Mode.Clock(f.Row.At, v.pic.Now, v.env.Options.Location, clock), len(clock)+1))
	if narrow {
		c.Put(st, draw.Pad(f.Row.Kind, 5)+" "+draw.Pad(f.Row.Cause, 5)+" ")
		if queue := v.FeedQueue(f, true); queue != "" {
			c.Put(th.Text, queue+" ")
		}
	} else {
		c.Put(st, draw.Pad(f.Row.Kind, 7)+" "+draw.Pad(f.Row.Cause, 8)+" ")
		width := min(v.sizes.name, 20)
		if v.several() {
			width = min(v.sizes.name+6, 20)
		}
		c.Cell(th.Text, v.FeedQueue(f, false), width, false)
		c.Put(th.Text, "  ")
	}
	limit := c.Limit
	if n := table.Width(tail); n > 0 && n+2 < c.Room() {
		c.Limit -= n + 2
		c.Put(th.Text, text)
		c.Limit = limit
		c.To(limit - n - 1)
		c.Put(th.Dim, tail)
		return
	}
	c.Put(th.Text, text)
}

// several reports whether queues of more than one topic are known, so that a queue
// needs its topic.
func (v *View) several() bool { return v.pic.Scene != nil && v.pic.Scene.topics > 1 }

// FeedQueue names the queue of a line, with its topic where that is needed, or the
// broker of several.
func (v *View) FeedQueue(f *fold, brief bool) string {
	r := &f.Row
	if len(f.queues) > 1 {
		return draw.SafeText(r.MQ.BrokerName)
	}
	q := v.pic.Scene.Queue(r.MQ)
	if q == nil {
		return r.Queue
	}
	name := q.Short()
	if brief {
		name = v.pic.Scene.Short.Name(q.BrokerName) + fmt.Sprintf("/%d", q.QueueID)
	}
	switch {
	case !v.several():
		return name
	case q.Retry:
		return "retry " + name
	case v.ordinaryTopics() == 1:
		return name
	}
	return table.Cut(q.Topic, 8) + " " + v.pic.Scene.Short.Name(q.BrokerName) + fmt.Sprintf("/%d", q.QueueID)
}

// foldText is what a line of the feed says, and what stands at its right end. A
// flow control in force is told with the queue's present figures.
func (v *View) foldText(f *fold) (text, tail string) {
	q := v.pic.Scene.Queue(f.Row.MQ)
	if v.inForce(f) {
		text = words.FlowText(q.Flow, q.FlowValue, q.FlowLimit)
		delay := core.PullDelayFlowControl
		switch q.Flow {
		case core.FlowBroker:
			delay = core.PullDelayBrokerFlowControl
		case core.FlowOrderlyUnlocked:
			delay = 0
		}
		if v.watched() != nil { // how often a client looked, nobody tells
			return text, "pull +" + words.Span(delay) + "  seen for " + words.Since(q.FlowSince, v.pic.Now)
		}
		if delay > 0 {
			tail = "pull +" + words.Span(delay) + "  "
		}
		return text, tail + "×" + words.Grouped(max(q.FlowTimes, 1)) + " for " + words.Since(q.FlowSince, v.pic.Now)
	}
	text = f.Text()
	if pause, ok := f.Row.Event.(engine.Pause); ok && pause.ResumeAfterMS > 0 && q != nil && q.Pause != nil && !q.Pause.ResumeAt.IsZero() {
		return text, "resumes in " + words.Age(q.Pause.ResumeAt.Sub(v.pic.Now))
	}
	if f.count > 1 {
		tail = "×" + words.Grouped(int64(f.count))
		if over := f.Row.At.Sub(f.first); over >= time.Second { // else it would be "0s"
			tail += " in " + words.Age(over)
		}
	}
	return text, tail
}
