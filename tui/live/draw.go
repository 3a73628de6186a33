package live

import (
	"fmt"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// View draws the live view in its room.
func (v View) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	if !v.zoomed {
		v.drawFigures(c)
	}
	if v.plan.allocLine {
		v.drawAllocLine(c)
	}
	if v.plan.alloc > 0 {
		v.drawAlloc(c)
	}
	if v.plan.rows > 0 {
		v.drawQueues(c)
	}
	if v.plan.feed > 0 {
		v.drawFeed(c)
	}
	c.Blank(h)
	return c.String()
}

// drawQueues draws the queue table: the visible rows only.
func (v *View) drawQueues(c *draw.Canvas) {
	th := v.env.Theme
	first, end := v.Queues.Window()
	total := v.Queues.Len()
	title := "Queues"
	if total > 0 {
		title = fmt.Sprintf("Queues  %d-%d of %d", first+1, end, total)
	}
	if v.w < 86 && total > 0 {
		title = fmt.Sprintf("Queues %d-%d/%d", first+1, end, total)
	}
	c.Top(v.box(PaneQueues), th.Frame, v.titleStyle(PaneQueues), title, v.queuesDetails(c.W-table.Width(title)-10))
	layout := table.Fit(v.columns, v.w-2, v.w, v.Queues.Left)
	up, down := v.Arrows(&v.env.Glyphs)
	c.TableHead(th, &layout, v.columns, v.Queues.Order, up, down)

	var cells [liveColumns]table.Cell
	drawn := 0
	for i := first; i < end; i++ {
		mq := v.Queues.Key(i)
		n, ok := v.pic.Scene.Index[mq]
		if !ok {
			continue
		}
		v.queueCells(cells[:], n, &layout)
		if v.pic.Scene.Watch != nil {
			v.watchCells(cells[:], n, &layout)
		}
		look := v.env.Look(i == v.Queues.Cursor(), v.Queues.IsMarked(mq), v.Focus == PaneQueues)
		c.TableRow(th, &layout, v.columns, cells[:], look)
		drawn++
	}
	var notes []string
	if drawn == 0 {
		notes = v.emptyReason()
	}
	c.TableRest(th, v.plan.rows-drawn, notes)
	c.Bottom(draw.ThinBox, th.Frame)
}

// queuesDetails is the right part of the table's upper edge, as long as there is
// room for.
func (v *View) queuesDetails(room int) string {
	order := v.OrderText(&v.env.Glyphs, v.Queues.Order)
	what := "–"
	if v.Filter.Active() {
		what = fmt.Sprintf("%s (%d hidden)", draw.SafeText(v.Filter.Text), v.hidden)
	}
	marked := ""
	if n := v.Queues.MarkCount(); n > 0 {
		marked = fmt.Sprintf("%d marked · ", n)
	}
	scope := ""
	if v.Topic != "" {
		scope = "topic " + draw.SafeText(v.Topic) + " · "
	}
	const bar = "bar: in flight, "
	legend := fmt.Sprintf("%s not done %s done, waiting", v.env.Glyphs.Full, v.env.Glyphs.Done)
	sorted := marked + scope + "sort " + order + " · "
	for _, long := range []string{sorted + "filter " + what + " · " + bar + legend, sorted + "filter " + what + " · " + legend} {
		if table.Width(long) <= room {
			return long
		}
	}
	brief := marked + scope + order
	if v.Filter.Active() {
		brief = marked + scope + "filter " + what + " · " + order
	}
	if !v.Filter.Active() && table.Width(sorted+legend) <= room {
		return sorted + legend
	}
	if middle := sorted + v.env.Glyphs.Full + " not done " + v.env.Glyphs.Done + " done"; !v.Filter.Active() && table.Width(middle) <= room {
		return middle
	}
	return brief
}

// emptyReason says why there are no rows and what to do.
func (v *View) emptyReason() []string {
	s := v.pic.Scene
	switch {
	case s == nil && v.env.Young():
		return nil
	case v.Waiting != nil:
		return v.Waiting
	case s == nil:
		return []string{"", "waiting for the engine's first figures …"}
	case v.Filter.Active() && v.hidden > 0:
		return []string{"", "No queue matches  /" + draw.SafeText(v.Filter.Text),
			words.Plural(v.hidden, "queue") + " hidden by the filter", "esc clear filter"}
	}
	var lines []string
	if s.NamesrvError != "" {
		lines = append(lines, "", words.Failure.Sign()+" name server: "+s.NamesrvError,
			"  asked: "+strings.Join(s.Namesrv, ", "), "  it is tried again by itself · "+v.env.Keys.First("log")+" log")
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		if t.Missing != "" && (v.Topic == "" || s.Raw.Topics[i].Topic == v.Topic) {
			lines = append(lines, "", "topic "+t.Topic+": "+t.Missing, "  it is waited for; consuming begins by itself when it is there")
		}
	}
	if len(lines) == 0 {
		lines = []string{"", "no queues yet: " + s.State.String() + words.Because(s.StateCause)}
	}
	return lines
}

// queueCells fills the cells of one row.
func (v *View) queueCells(cells []table.Cell, n int, layout *table.Layout) {
	th, s := v.env.Theme, v.pic.Scene
	q := &s.Queues[n]
	bar := layout.WidthOf(v.columns, "bar")
	clear(cells)
	base := th.Text
	if !q.Own {
		base = th.Dim
	}
	owner := s.ownerLetter(q)
	cells[colQueue] = table.Cell{Text: v.queueName(q), Style: base, Name: true}
	cells[colTopic] = table.Cell{Text: v.topicName(q), Style: base, Name: true}
	cells[colOwn] = table.Cell{Text: owner, Style: base}
	cells[colCommit] = table.Cell{Text: words.Offset(q.CommittedOffset), Style: base}
	lag, ok := LagOf(q)
	cells[colLag] = table.Cell{Text: words.Unknown, Style: base}
	if ok {
		cells[colLag].Text = words.Grouped(lag)
	}
	switch s.ownersFinding(n) {
	case "UNOWNED":
		cells[colOwn] = table.Cell{Text: words.None, Style: base}
	case "TWO OWNERS":
		letters := make([]string, len(s.Told.owners[n]))
		for i, id := range s.Told.owners[n] {
			letters[i] = words.OrUnknown(s.letters[id])
		}
		cells[colOwn] = table.Cell{Text: strings.Join(letters, "+"), Style: th.Bad}
	}
	word, st := v.stateText(n, layout.WidthOf(v.columns, "state"))
	cells[colState] = table.Cell{Text: word, Style: st}
	if !q.Own {
		text := v.otherText(n, owner)
		if table.Width(text) > bar && s.Told == nil {
			text = "(" + owner + "?)"
		} else if table.Width(text) > bar {
			text = "(" + owner + ")"
		}
		cells[colBar] = table.Cell{Text: center(text, bar), Style: th.Dim}
		return
	}
	ahead := v.inFlight(n)
	cells[colFlight] = table.Cell{Text: words.NumberText(ahead), Style: base}
	cells[colSpan] = table.Cell{Text: words.Grouped(q.Span), Style: base}
	if q.CachedMax != engine.Unknown {
		cells[colMax] = table.Cell{Text: words.Grouped(q.CachedMax), Style: base}
	} else {
		cells[colMax] = table.Cell{Text: words.None, Style: th.Dim}
	}
	if bar > 0 {
		if q.State == engine.QueueRun || q.State == engine.QueueIdle {
			st = th.Bar
		}
		cells[colBar] = table.Cell{Text: v.env.Glyphs.SpanBar(bar, v.unfinished(q), q.CachedDone, ahead.Value, v.barLimit(n)), Style: st}
	}
	cells[colMsgs] = table.Cell{Text: words.Grouped(q.CachedCount), Style: base}
	cells[colMiB] = table.Cell{Text: words.MiB(q.CachedBytes), Style: base}
	idle := words.None
	if last := lastWork(q); !last.IsZero() {
		idle = words.IdleText(v.pic.Now.Sub(last))
	}
	cells[colIdle] = table.Cell{Text: idle, Style: base}
}

// unfinished counts what is pulled and not done. The part of an orderly queue that is
// taken is in an engine's count, and not in what members tell of themselves.
func (v *View) unfinished(q *engine.QueueSnapshot) int64 {
	if v.watched() != nil {
		return q.CachedCount + q.Consuming
	}
	return q.CachedCount
}

// lastWork is when a queue was last at work. A pull that fails is none: in an outage
// that is each second.
func lastWork(q *engine.QueueSnapshot) time.Time {
	if q.State == engine.QueueError {
		return later(q.LastConsume, q.StateSince)
	}
	return later(q.LastConsume, q.LastPull)
}

// otherText says whose a queue is that is not ours: as its holder tells, else as the
// strategy computes it.
func (v *View) otherText(n int, letter string) string {
	s := v.pic.Scene
	switch q := &s.Queues[n]; {
	case s.ownersFinding(n) == "UNOWNED":
		return nobodyHolds
	case q.Owner == "":
		return "(owner " + words.Unknown + ")"
	case s.Told != nil:
		return "(" + letter + " holds it)"
	}
	return "(computed: " + letter + ")"
}

// stateText is the state in a few words, with the words that matter first.
func (v *View) stateText(n, width int) (string, draw.Style) {
	if v.pic.Scene.Watch != nil {
		return v.watchStateText(n, width)
	}
	th, q := v.env.Theme, &v.pic.Scene.Queues[n]
	word := q.State.String()
	if finding := v.pic.Scene.ownersFinding(n); finding != "" {
		return findingText(finding, width), th.Bad
	}
	switch q.State {
	case engine.QueueOther, engine.QueueTaking, engine.QueueDropping:
		return withDetail(word, q.Detail), th.Dim
	case engine.QueueRun, engine.QueueIdle:
		st := th.Good
		if q.State == engine.QueueIdle {
			st = th.Text
		}
		if q.Held > 0 {
			return heldText(word, q, width), th.Accent
		}
		if v.pic.Scene.Orderly && q.Locked {
			word += " locked " + words.Since(q.LockedAt, v.pic.Now)
		}
		if q.BrokerID != 0 {
			word += " from " + words.Role(q.BrokerID)
		}
		return word, st
	case engine.QueueFlow:
		if q.Flow == core.FlowNone {
			return withDetail(word, q.Detail), th.Warn
		}
		if text := word + " " + words.CauseWord(q.Flow) + ": " + words.FlowText(q.Flow, q.FlowValue, q.FlowLimit); table.Width(text) <= width {
			return text, th.Warn
		}
		return word + " " + words.CauseWord(q.Flow), th.Warn
	case engine.QueuePaused:
		p, whole := v.pic.Scene.pauseOf(q)
		if p == nil {
			return withDetail(word, q.Detail), th.Accent
		}
		if whole {
			word += " all"
		}
		word += " by " + p.By
		if text := word + words.Quoted(p.Reason); table.Width(text) <= width {
			word = text
		}
		return word, th.Accent
	}
	if q.State == engine.QueueError {
		reason := words.ShortCause(q.Detail)
		if full := words.Cause(q.Detail); table.Width(withDetail(word, full)) <= width {
			reason = full
		}
		return withDetail(word, reason), th.Bad
	}
	return withDetail(word, q.Detail), th.Bad
}
