package tui

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
func (v *liveView) feedLines() []fold {
	var inForce []fold
	known := make(map[words.FoldKey]int, len(v.pic.folds))
	for i := range v.pic.folds {
		known[v.pic.folds[i].key] = i
	}
	for i := 0; v.pic.scene != nil && i < len(v.pic.scene.Queues); i++ {
		q := &v.pic.scene.Queues[i]
		if q.Flow == core.FlowNone || !q.Own {
			continue
		}
		mq := v.pic.scene.raw.Queues[i].MessageQueue
		row := words.Describe(engine.FlowBegin{At: engine.At{Time: q.FlowSince, MQ: mq}, Cause: q.Flow, Limit: q.FlowLimit, Value: q.FlowValue})
		f := fold{key: row.FoldKey(), row: row, first: row.At, count: 1}
		if n, ok := known[f.key]; ok && v.inForce(&v.pic.folds[n]) {
			f = v.pic.folds[n]
		}
		inForce = append(inForce, f)
	}
	newestFirst := func(a, b fold) int { return b.row.At.Compare(a.row.At) }
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

func feedKeys(lines []fold) []words.FoldKey {
	keys := make([]words.FoldKey, len(lines))
	for i := range lines {
		keys[i] = lines[i].key
	}
	return keys
}

// inForce reports whether a line is about a flow control that lasts.
func (v *liveView) inForce(f *fold) bool {
	begin, ok := f.row.Event.(engine.FlowBegin)
	if !ok || v.pic.scene == nil {
		return false
	}
	q := v.pic.scene.queue(f.row.MQ)
	return q != nil && q.Flow == begin.Cause
}

// line is the line of the feed under the cursor.
func (v *liveView) line() *fold {
	if i := v.feed.Cursor(); i < len(v.lines) {
		return &v.lines[i]
	}
	return nil
}

// drawFeed draws the folded events, newest first.
func (v *liveView) drawFeed(c *draw.Canvas) {
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
		c.Top(v.box(paneFeed), th.Frame, v.titleStyle(paneFeed), "Flow control & events", details)
	} else {
		if v.focus == paneFeed {
			c.Put(v.titleStyle(paneFeed), draw.FocusBox.Lead)
		} else {
			c.Put(th.Frame, draw.ThinBox.Lead)
		}
		c.Put(v.titleStyle(paneFeed), " events")
		c.Put(draw.Style{}, " ")
		c.Fill(th.Frame, "─", c.W)
		c.End()
	}
	for i := range v.plan.feed {
		if v.plan.feedBox {
			c.Open(draw.ThinBox, th.Frame)
		}
		if n := first + i; n < end {
			v.drawFold(c, &v.lines[n], n == v.feed.Cursor() && v.focus == paneFeed)
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
func (v *liveView) drawFold(c *draw.Canvas, f *fold, cursor bool) {
	th := v.env.Theme
	st := words.SeverityStyle(th, f.row.Sev)
	sign := f.row.Sev.Sign()
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
	c.Put(th.Dim, draw.Pad(v.env.Mode.Clock(f.row.At, v.pic.now, v.env.Options.Location, clock), len(clock)+1))
	if narrow {
		c.Put(st, draw.Pad(f.row.Kind, 5)+" "+draw.Pad(f.row.Cause, 5)+" ")
		if queue := v.feedQueue(f, true); queue != "" {
			c.Put(th.Text, queue+" ")
		}
	} else {
		c.Put(st, draw.Pad(f.row.Kind, 7)+" "+draw.Pad(f.row.Cause, 8)+" ")
		width := min(v.sizes.name, 20)
		if v.several() {
			width = min(v.sizes.name+6, 20)
		}
		c.Cell(th.Text, v.feedQueue(f, false), width, false)
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
func (v *liveView) several() bool { return v.pic.scene != nil && v.pic.scene.topics > 1 }

// feedQueue names the queue of a line, with its topic where that is needed, or the
// broker of several.
func (v *liveView) feedQueue(f *fold, brief bool) string {
	r := &f.row
	if len(f.queues) > 1 {
		return draw.SafeText(r.MQ.BrokerName)
	}
	q := v.pic.scene.queue(r.MQ)
	if q == nil {
		return r.Queue
	}
	name := q.Short()
	if brief {
		name = v.pic.scene.brokers.Name(q.BrokerName) + fmt.Sprintf("/%d", q.QueueID)
	}
	switch {
	case !v.several():
		return name
	case q.Retry:
		return "retry " + name
	case v.ordinaryTopics() == 1:
		return name
	}
	return table.Cut(q.Topic, 8) + " " + v.pic.scene.brokers.Name(q.BrokerName) + fmt.Sprintf("/%d", q.QueueID)
}

// foldText is what a line of the feed says, and what stands at its right end. A
// flow control in force is told with the queue's present figures.
func (v *liveView) foldText(f *fold) (text, tail string) {
	q := v.pic.scene.queue(f.row.MQ)
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
			return text, "pull +" + words.Span(delay) + "  seen for " + words.Since(q.FlowSince, v.pic.now)
		}
		if delay > 0 {
			tail = "pull +" + words.Span(delay) + "  "
		}
		return text, tail + "×" + words.Grouped(max(q.FlowTimes, 1)) + " for " + words.Since(q.FlowSince, v.pic.now)
	}
	text = f.text()
	if pause, ok := f.row.Event.(engine.Pause); ok && pause.ResumeAfterMS > 0 && q != nil && q.Pause != nil && !q.Pause.ResumeAt.IsZero() {
		return text, "resumes in " + words.Age(q.Pause.ResumeAt.Sub(v.pic.now))
	}
	if f.count > 1 {
		tail = "×" + words.Grouped(int64(f.count))
		if over := f.row.At.Sub(f.first); over >= time.Second { // else it would be "0s"
			tail += " in " + words.Age(over)
		}
	}
	return text, tail
}
