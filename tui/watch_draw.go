package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/table"
)

// watched are the facts of a group that other processes consume; nil for a consumer
// of this process.
func (v *liveView) watched() *watchFacts {
	if v.pic.scene == nil {
		return nil
	}
	return v.pic.scene.watch
}

// atLeast puts a sign before a sum of which a part is not known.
func atLeast(part bool) string {
	if part {
		return "≥ "
	}
	return ""
}

// drawWatchFigures writes what members and brokers say in one, two or four lines.
func (v *liveView) drawWatchFigures(c *canvas, w *watchFacts) {
	f := v.figures()
	switch v.plan.figures {
	case 1:
		v.drawOneLine(c, &f)
	case 2:
		v.drawTwoWatchLines(c, &f, w)
	default:
		v.drawFourWatchLines(c, &f, w)
	}
}

// watchFigures replaces what only an engine's counters tell.
func (v *liveView) watchFigures(f *figures, w *watchFacts) {
	r := &w.rates
	f.pull, f.consume, f.fail = r.pull, r.consume, r.fail
	f.pullOK, f.consumeOK, f.failOK = r.known, r.known, r.known
	if w.empty() { // there is nobody to do it
		f.pull, f.consume, f.fail = 0, 0, 0
		f.pullOK, f.consumeOK, f.failOK = true, true, true
	}
	f.cacheLimit, f.byteLimit = v.pic.scene.Limits.Count*int64(f.own), v.pic.scene.Limits.SizeMiB*int64(f.own)<<20
	f.oldest, f.oldestOK = 0, false
	f.flow, f.flowOK = [5]uint64{}, false
	for i := range v.pic.scene.Queues {
		q := &v.pic.scene.Queues[i]
		if lag, ok := lagOf(q); ok && lag > 0 && !q.HeadStored.IsZero() {
			f.oldest, f.oldestOK = max(f.oldest, v.pic.now.Sub(q.HeadStored)), true
		}
		switch q.Flow {
		case core.FlowCount:
			f.flow[0]++
		case core.FlowSize:
			f.flow[1]++
		case core.FlowSpan:
			f.flow[2]++
		}
		if q.State == engine.QueueUnlocked {
			f.flow[3]++
		}
	}
}

// flowNow says which limits hold queues up in this picture.
func (v *liveView) flowNow(f *figures, w *watchFacts, brief bool) string {
	switch {
	case w.empty():
		return none
	case !w.told:
		return unknown
	case f.flows() == 0:
		return "none"
	case brief:
		return fmt.Sprintf("%d/%d (%s)", f.flows(), f.own, v.flowCauses(f, " ", true))
	}
	causes := ""
	for i, word := range [...]string{"count", "size", "span", "unlocked"} {
		if f.flow[i] > 0 {
			causes += fmt.Sprintf(" · %s %d", word, f.flow[i])
		}
	}
	return fmt.Sprintf("%d of %s now: %s", f.flows(), plural(f.own, "queue"), strings.TrimPrefix(causes, " · "))
}

func (v *liveView) watchRT(w *watchFacts) string {
	if !w.rates.known || w.rates.consume == 0 {
		return none
	}
	return shortBound(time.Duration(w.rates.consumeRT * float64(time.Millisecond)))
}

func (v *liveView) drawTwoWatchLines(c *canvas, f *figures, w *watchFacts) {
	th := v.env.th
	cells := min(max((v.w-56)/3, 2), 24)
	c.put(th.text, " pull "+pad(atLeast(w.rates.atLeast)+shortRate(f.pull, f.pullOK), 7))
	c.put(th.spark, v.spark(cells, pulled))
	c.put(th.text, "  done "+pad(atLeast(w.rates.atLeast)+shortRate(f.consume, f.consumeOK), 7))
	c.put(th.spark, v.spark(cells, consumed))
	c.put(th.text, "  lag "+pad(f.lagText(func(n int64) string { return short(float64(n)) })+" ", 5))
	c.put(th.spark, v.lagSpark(cells)+" ")
	text, st := f.trendText(false)
	c.put(st(th), text)
	c.end()
	switch {
	case w.empty():
		c.put(th.text, " cache "+none+"  ")
	case !w.told:
		c.put(th.text, " cache "+unknown+"  ")
	default:
		c.put(th.text, fmt.Sprintf(" cache %s/%s %s  ", short(float64(f.cached)), short(float64(f.cacheLimit)), percent(float64(f.cached), float64(f.cacheLimit))))
	}
	st = func(t *theme) style { return t.text }
	if f.flows() > 0 {
		st = func(t *theme) style { return t.warn }
	}
	c.put(st(th), "flow "+v.flowNow(f, w, true))
	c.put(th.text, "  RT "+v.watchRT(w))
	failStyle := th.text
	if f.fail > 0 {
		failStyle = th.warn
	}
	c.put(failStyle, "  fail "+v.failShare(f))
	c.put(th.dim, "  "+v.asideText(w))
	if w.unacked != nil {
		c.put(th.text, " · unacked "+countText(*w.unacked))
	}
	c.end()
}

// asideText is the backlog that is not in the lag.
func (v *liveView) asideText(w *watchFacts) string {
	return "retry " + countText(w.retry) + " · dlq " + countText(w.dead)
}

func (v *liveView) drawFourWatchLines(c *canvas, f *figures, w *watchFacts) {
	th := v.env.th
	v.drawRates(c, f, atLeast(w.rates.atLeast))
	c.put(th.text, " oldest "+pad(f.oldestText(), 7)+" RT "+v.watchRT(w))
	if w.rates.worst != "" && w.several {
		c.put(th.dim, fmt.Sprintf(" (slowest %s %s)", orUnknown(v.pic.scene.letters[w.rates.worst]), shortBound(time.Duration(w.rates.worstRT*float64(time.Millisecond)))))
	}
	c.end()

	v.drawCache(c, f, w)

	flowStyle := th.text
	if f.flows() > 0 {
		flowStyle = th.warn
	}
	c.put(flowStyle, " flow   "+v.flowNow(f, w, false))
	if w.flaps {
		c.put(th.warn, "   "+w.flap.text())
	}
	if w.still > 0 {
		c.put(th.bad, "   "+plural(w.still, "commit")+" standing still")
	}
	if w.unacked != nil {
		c.put(th.text, "   popped, not acknowledged: "+countText(*w.unacked)+" as members say")
	}
	c.put(th.text, "   "+v.movedText())
	c.end()
}

// drawCache is the line of what the members' caches hold; where no member is, or none
// tells, that is said instead of meters of nothing.
func (v *liveView) drawCache(c *canvas, f *figures, w *watchFacts) {
	th := v.env.th
	if w.empty() || !w.told {
		what := none + "   no member is connected"
		if !w.empty() {
			what = unknown + "   no member tells what it holds"
		}
		c.put(th.text, " cache  "+what+"   "+v.asideText(w))
		c.end()
		return
	}
	meter := 12
	if v.w < 116 {
		meter = 6
	}
	c.put(th.text, fmt.Sprintf(" cache  %7s / %s msgs  ", v.cachedText(f, w), grouped(f.cacheLimit)))
	c.put(th.bar, v.env.g.meter(meter, share(f.cached, f.cacheLimit)))
	c.put(th.text, pad(" "+percent(float64(f.cached), float64(f.cacheLimit)), 6)+fmt.Sprintf("   %s / %s MiB ", grouped(f.cachedBytes>>20), grouped(f.byteLimit>>20)))
	c.put(th.bar, v.env.g.meter(meter, share(f.cachedBytes, f.byteLimit)))
	c.put(th.text, "   "+v.threadsText(w)+"   "+v.asideText(w))
	c.end()
}

// cachedText is what the members' caches hold together.
func (v *liveView) cachedText(f *figures, w *watchFacts) string {
	return atLeast(len(w.silent) > 0) + grouped(f.cached)
}

func (v *liveView) threadsText(w *watchFacts) string {
	l := &w.own
	switch {
	case l.ThreadsMax == 0:
		return "threads " + unknown
	case l.ThreadsMin == l.ThreadsMax || l.ThreadsMin == 0:
		return fmt.Sprintf("threads %d each", l.ThreadsMax)
	}
	return fmt.Sprintf("threads %d–%d each", l.ThreadsMin, l.ThreadsMax)
}

// movedText says when queues last went to other members.
func (v *liveView) movedText() string {
	s := v.pic.scene
	if s.LastRebalance.IsZero() {
		return "no queue moved since " + v.env.clock(s.Started, clockSeconds)
	}
	return fmt.Sprintf("queues moved %s (#%d)", ago(s.LastRebalance, v.pic.now), s.RebalanceSeq)
}

// text says how often members come and go, and whose host does most of it.
func (f *flap) text() string {
	perMinute := float64(f.changes) / max(f.over.Minutes(), 1)
	return fmt.Sprintf("FLAPPING %s/min, %d of %d by %s", short(math.Round(perMinute*10)/10), f.ofHost, f.changes, f.host)
}

// watchCells overrides the cells of a row that an engine's own queue fills otherwise.
func (v *liveView) watchCells(cells []table.Cell, n int, layout *table.Layout) {
	th := v.env.th
	q, w := &v.pic.scene.Queues[n], &v.pic.scene.watch.queues[n]
	bar := layout.WidthOf(v.columns, "bar")
	base := th.text
	if !q.Own {
		base = th.dim
	}
	committed := table.Cell{Text: unknown, Style: base}
	switch {
	case w.committed.Known:
		committed.Text = grouped(w.committed.Value)
	case w.committed.Why.Kind == inspect.ReasonNoCommit:
		committed.Text = none
	}
	cells[colCommit] = committed
	if q.Owner == "" && (v.pic.scene.watch.empty() || w.finding != "") {
		cells[colOwn] = table.Cell{Text: none, Style: base}
	}
	if len(w.owners) > 1 && (w.finding != "" || w.pop) {
		letters := make([]string, len(w.owners))
		for i, id := range w.owners {
			letters[i] = orUnknown(v.pic.scene.letters[id])
		}
		cells[colOwn] = table.Cell{Text: strings.Join(letters, "+"), Style: th.bad}
		if w.pop {
			cells[colOwn].Style = base
		}
	}
	if !q.Own {
		text := v.insideUnknown(q, w)
		if table.Width(text) > bar {
			text = map[bool]string{true: "(nobody)", false: "(" + unknown + ")"}[text == nobodyHolds]
		}
		cells[colBar] = table.Cell{Text: center(text, bar), Style: th.dim}
		return
	}
	cells[colMiB].Text = grouped(w.sizeMiB)
}

// nobodyHolds is said of a queue in place of its cache.
const nobodyHolds = "(nobody holds it)"

// insideUnknown says why nothing is known of a queue's cache.
func (v *liveView) insideUnknown(q *engine.QueueSnapshot, w *watchedQueue) string {
	switch {
	case w.pop:
		return "(by POP)"
	case q.Owner != "" && v.pic.scene.watch.silent[q.Owner] != "":
		return "(its member is silent)"
	case q.Owner != "":
		return "(cache " + unknown + ")"
	case w.finding != "", v.pic.scene.watch.empty():
		return nobodyHolds
	}
	return "(owner " + unknown + ")"
}

// watchStateText is the state of a row: findings before all else, then what a picture
// shows of the queue's work.
func (v *liveView) watchStateText(n, width int) (string, style) {
	th := v.env.th
	q, w := &v.pic.scene.Queues[n], &v.pic.scene.watch.queues[n]
	word := q.State.String()
	switch {
	case v.pic.scene.broker(q.BrokerName).Error != "": // what else is told of it is a member's word only
		return "broker silent", th.bad
	case w.finding == "TWO OWNERS" && table.Width(w.finding) > width:
		return "2 OWNERS", th.bad
	case w.finding != "":
		return w.finding, th.bad
	case w.standing > 0:
		return "STANDS " + age(w.standing), th.bad
	case q.State == engine.QueueFlow:
		if text := word + " " + q.Detail; table.Width(text) <= width {
			return text, th.warn
		}
		return word + " " + causeWord(q.Flow), th.warn
	case q.State == engine.QueuePaused:
		if text := word + " " + q.Detail; table.Width(text) <= width {
			return text, th.accent
		}
		return word, th.accent
	case q.State == engine.QueueUnlocked:
		return words(word, q.Detail), th.bad
	case w.pop && w.popAge > deadPull:
		return "NO POP " + age(w.popAge), th.warn
	case w.pop && w.popAge > 0:
		return "popped " + age(w.popAge), th.good
	case q.State == engine.QueueOther && q.Owner != "":
		return "silent", th.warn
	case q.State == engine.QueueOther && v.pic.scene.watch.empty():
		return "no member", th.dim
	case q.State == engine.QueueOther:
		return "owner " + unknown, th.warn
	case w.expected != "" && q.Owner != "" && w.expected != q.Owner:
		return "due to " + orUnknown(v.pic.scene.letters[w.expected]), th.warn
	case q.Own && w.pullAge > deadPull:
		return "NO PULL " + age(w.pullAge), th.warn
	case v.pic.scene.Orderly && q.Locked:
		return word + " locked " + age(w.lockAge), th.good
	case q.State == engine.QueueIdle:
		return word, th.text
	}
	return words(word, q.Detail), th.good
}

// broker is what is known of a broker; the zero value when nothing is.
func (s *scene) broker(name string) (b engine.BrokerSnapshot) {
	for i := range s.Brokers {
		if s.Brokers[i].Name == name {
			return s.Brokers[i]
		}
	}
	return b
}

// muteText says which brokers do not answer, and since when; "" when all do.
func (s *scene) muteText(clock func(t time.Time) string, now time.Time) string {
	var names []string
	var first engine.BrokerSnapshot
	for i := range s.Brokers {
		b := &s.Brokers[i]
		if b.Error == "" {
			continue
		}
		if names = append(names, b.Name); first.Name == "" || b.ErrorSince.Before(first.ErrorSince) {
			first = *b
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s does not answer since %s (%s): %s", first.Name, clock(first.ErrorSince), since(first.ErrorSince, now), cause(first.Error))
	}
	return fmt.Sprintf("%d brokers do not answer, the first since %s (%s): %s", len(names), clock(first.ErrorSince), since(first.ErrorSince, now), strings.Join(names, ", "))
}

// watchAllocDetails is the right part of the allocation's upper edge.
func (v *liveView) watchAllocDetails(t *engine.TopicSnapshot, nth int) string {
	s, w := v.pic.scene, v.pic.scene.watch
	strategy := w.strategies[nth]
	by := "held · "
	switch {
	case len(t.Members) == 0:
		by = ""
	case isBroadcast(s):
		by = "broadcasting · "
	case w.pops[nth]:
		by, strategy = "popped, not held · ", "POP"
	case strategy != "":
		by = "held as " + strategy + " gives · "
	}
	topic := ""
	if len(s.Topics) > 1 {
		topic = fmt.Sprintf("topic %d of %d (%s) · ", nth+1, len(s.Topics), v.env.keys.first("next-topic"))
	}
	if v.w < 86 {
		if topic != "" {
			topic = fmt.Sprintf("%d/%d · ", nth+1, len(s.Topics))
		}
		return fmt.Sprintf("%s%s %dq/%dm · %s", topic, strategy, t.Queues, len(t.Members), ago(t.MembersAt, v.pic.now))
	}
	return fmt.Sprintf("%s%s%s / %s · told %s", topic, by, plural(t.Queues, "queue"), plural(len(t.Members), "member"), ago(t.MembersAt, v.pic.now))
}

// memberNote is what stands at the end of a member's line; nth is the topic's place.
func (v *liveView) memberNote(m *engine.MemberSnapshot, nth int) string {
	w := v.pic.scene.watch
	if why := w.silent[m.ClientID]; why != "" {
		return "  " + warning.sign() + " silent: " + why
	}
	if due, ok := w.due[nth][m.ClientID]; ok && due != len(m.Queues) && !isBroadcast(v.pic.scene) {
		return fmt.Sprintf("  due: %d", due)
	}
	return ""
}
