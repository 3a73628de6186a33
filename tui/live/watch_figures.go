package live

import (
	"fmt"
	"math"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// watched are the facts of a group that other processes consume; nil for a consumer
// of this process.
func (v *View) watched() *watchFacts {
	if v.pic.Scene == nil {
		return nil
	}
	return v.pic.Scene.Watch
}

// atLeast puts a sign before a sum of which a part is not known.
func atLeast(part bool) string {
	if part {
		return "≥ "
	}
	return ""
}

// drawWatchFigures writes what members and brokers say in one, two or four lines.
func (v *View) drawWatchFigures(c *draw.Canvas, w *watchFacts) {
	f := v.Figures()
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
func (v *View) watchFigures(f *figures, w *watchFacts) {
	r := &w.Rates
	f.Pull, f.Consume, f.fail = r.pull, r.Consume, r.fail
	f.PullOK, f.ConsumeOK, f.failOK, f.part = r.known, r.known, r.known, r.atLeast
	if w.Empty() { // there is nobody to do it
		f.Pull, f.Consume, f.fail = 0, 0, 0
		f.PullOK, f.ConsumeOK, f.failOK = true, true, true
	}
	f.CacheLimit, f.byteLimit = w.caches.count.of(), w.caches.size.of()<<20
	f.oldest, f.oldestOK = 0, false
	f.flow, f.flowOK = [5]uint64{}, false
	for i := range v.pic.Scene.Queues {
		q := &v.pic.Scene.Queues[i]
		if lag, ok := LagOf(q); ok && lag > 0 && !q.HeadStored.IsZero() {
			f.oldest, f.oldestOK = max(f.oldest, v.pic.Now.Sub(q.HeadStored)), true
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
func (v *View) flowNow(f *figures, w *watchFacts, brief bool) string {
	switch {
	case w.Empty():
		return words.None
	case !w.Told:
		return words.Unknown
	case f.flows() == 0 && w.caches.noFlow == 0:
		return "none"
	case f.flows() == 0 && brief:
		return words.Unknown
	case f.flows() == 0:
		return fmt.Sprintf("%s for %d of %s: %s", words.Unknown, w.caches.noFlow, words.Plural(f.Own, "queue"), w.caches.noFlowWhy)
	case brief:
		return fmt.Sprintf("%d/%d (%s)", f.flows(), f.Own, v.FlowCauses(f, " ", true))
	}
	causes := ""
	for i, word := range [...]string{"count", "size", "span", "unlocked"} {
		if f.flow[i] > 0 {
			causes += fmt.Sprintf(" · %s %d", word, f.flow[i])
		}
	}
	if w.caches.noFlow > 0 {
		causes += fmt.Sprintf(" · %s %d", words.Unknown, w.caches.noFlow)
	}
	return fmt.Sprintf("%d of %s now: %s", f.flows(), words.Plural(f.Own, "queue"), strings.TrimPrefix(causes, " · "))
}

func (v *View) watchRT(w *watchFacts) string {
	switch {
	case !w.Rates.known && !w.Empty():
		return words.Unknown
	case w.Rates.Consume == 0:
		return words.None
	}
	return shortBound(time.Duration(w.Rates.consumeRT * float64(time.Millisecond)))
}

func (v *View) drawTwoWatchLines(c *draw.Canvas, f *figures, w *watchFacts) {
	th := v.env.Theme
	cells := min(max((v.w-59)/3, 2), 24)
	c.Put(th.Text, " 1m pull "+draw.Pad(atLeast(w.Rates.atLeast)+words.ShortRate(f.Pull, f.PullOK), 7))
	c.Put(th.Spark, v.spark(cells, Pulled))
	c.Put(th.Text, "  done "+draw.Pad(atLeast(w.Rates.atLeast)+words.ShortRate(f.Consume, f.ConsumeOK), 7))
	c.Put(th.Spark, v.spark(cells, Consumed))
	c.Put(th.Text, "  lag "+draw.Pad(f.LagText(func(n int64) string { return words.Short(float64(n)) })+" ", 5))
	c.Put(th.Spark, v.lagSpark(cells)+" ")
	text, st := f.TrendText(false)
	c.Put(st(th), text)
	c.End()
	switch {
	case w.Empty():
		c.Put(th.Text, " cache "+words.None+"  ")
	case !w.Told:
		c.Put(th.Text, " cache "+words.Unknown+"  ")
	default:
		c.Put(th.Text, fmt.Sprintf(" cache %s/%s%s  ", words.Short(float64(f.Cached)), w.caches.count.text(func(n int64) string { return words.Short(float64(n)) }), shareText(f.Cached, f.CacheLimit)))
	}
	st = func(t *draw.Theme) draw.Style { return t.Text }
	if f.flows() > 0 {
		st = func(t *draw.Theme) draw.Style { return t.Warn }
	}
	c.Put(st(th), "flow "+v.flowNow(f, w, true))
	c.Put(th.Text, "  RT "+v.watchRT(w))
	failStyle := th.Text
	if f.fail > 0 {
		failStyle = th.Warn
	}
	c.Put(failStyle, "  fail "+v.FailShare(f))
	c.Put(th.Dim, "  "+v.asideText(w))
	if w.unacked != nil {
		c.Put(th.Text, " · unacked "+words.NumberText(*w.unacked))
	}
	c.End()
}

// asideText is the backlog that is not in the lag.
func (v *View) asideText(w *watchFacts) string {
	return "retry " + words.NumberText(w.retry) + " · dlq " + words.NumberText(w.dead)
}

func (v *View) drawFourWatchLines(c *draw.Canvas, f *figures, w *watchFacts) {
	th := v.env.Theme
	v.drawRates(c, f, atLeast(w.Rates.atLeast))
	c.Put(th.Text, " oldest "+draw.Pad(f.oldestText(), 7)+" RT "+v.watchRT(w))
	if w.Rates.worst != "" && w.several {
		c.Put(th.Dim, fmt.Sprintf(" (slowest %s %s)", words.OrUnknown(v.pic.Scene.letters[w.Rates.worst]), shortBound(time.Duration(w.Rates.worstRT*float64(time.Millisecond)))))
	}
	c.End()

	v.drawCache(c, f, w)

	flowStyle := th.Text
	if f.flows() > 0 {
		flowStyle = th.Warn
	}
	c.Put(flowStyle, " flow   "+v.flowNow(f, w, false))
	if w.flaps {
		c.Put(th.Warn, "   "+w.flap.text())
	}
	if w.still > 0 {
		c.Put(th.Bad, "   "+words.Plural(w.still, "commit")+" standing still")
	}
	if w.unacked != nil {
		c.Put(th.Text, "   popped, not acknowledged: "+words.NumberText(*w.unacked)+" as members say")
	}
	c.Put(th.Text, "   "+v.movedText())
	c.End()
}

// drawCache is the line of what the members' caches hold; where no member is, or none
// tells, that is said instead of meters of nothing.
func (v *View) drawCache(c *draw.Canvas, f *figures, w *watchFacts) {
	th := v.env.Theme
	if w.Empty() || !w.Told {
		what := words.None + "   no member is connected"
		if !w.Empty() {
			what = words.Unknown + "   no member tells what it holds"
		}
		c.Put(th.Text, " cache  "+what+"   "+v.asideText(w))
		c.End()
		return
	}
	meter := 12
	if v.w < 116 {
		meter = 6
	}
	head := fmt.Sprintf(" cache  %7s / %s msgs ", v.cachedText(f, w), w.caches.count.text(words.Grouped))
	tail := fmt.Sprintf("   %s / %s MiB   %s   threads %s", words.Grouped(f.CachedBytes>>20), w.caches.size.text(words.Grouped), v.asideText(w), w.threads)
	made, percent := "", shareText(f.Cached, f.CacheLimit)
	if len(w.caches.count.parts) > 0 || w.caches.count.unknown > 0 {
		made = " (" + w.caches.count.madeUp() + ")"
	}
	// A long sum of limits takes the meter's room before anything is cut off at the end.
	room := v.w - table.Width(head+percent+made+tail)
	if room < meter {
		meter = 0
	}
	if room < 0 {
		made = " " + strings.ReplaceAll(strings.TrimSpace(made), " × ", "×")
	}
	c.Put(th.Text, head)
	if f.CacheLimit > 0 {
		if meter > 0 {
			c.Put(th.Bar, v.env.Glyphs.Meter(meter, share(f.Cached, f.CacheLimit)))
		} else {
			percent = strings.TrimPrefix(percent, " ")
		}
		c.Put(th.Text, percent)
	}
	c.Put(th.Dim, made)
	c.Put(th.Text, tail)
	c.End()
}

// cachedText is what the members' caches hold together.
func (v *View) cachedText(f *figures, w *watchFacts) string {
	return atLeast(len(w.silent) > 0) + words.Grouped(f.Cached)
}

// shareText is a share in percent, after a blank; nothing where there is no whole.
func shareText(part, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return " " + words.Percent(float64(part), float64(whole))
}

// worthSaying is from when on the time between two pictures belongs to what differs.
const worthSaying = 10 * time.Second

// movedText says when queues last went to other members.
func (v *View) movedText() string {
	s := v.pic.Scene
	if s.LastRebalance.IsZero() {
		return "no queue moved since " + v.env.Clock(s.Started, words.ClockSeconds)
	}
	when := words.Ago(s.LastRebalance, v.pic.Now)
	if w := s.Watch.movedWithin; w >= worthSaying { // nobody looked meanwhile
		when = words.Age(v.pic.Now.Sub(s.LastRebalance)) + " to " + words.Age(v.pic.Now.Sub(s.LastRebalance)+w) + " ago"
	}
	return fmt.Sprintf("queues moved %s (#%d)", when, s.RebalanceSeq)
}

// text says how often members come and go, and whose host does most of it.
func (f *flap) text() string {
	perMinute := float64(f.changes) / max(f.over.Minutes(), 1)
	return fmt.Sprintf("FLAPPING %s/min, %d of %d by %s", words.Short(math.Round(perMinute*10)/10), f.ofHost, f.changes, f.host)
}
