package tui

import (
	"fmt"
	"math"
	"time"

	"eyeq/tui/table"
)

// figures are the numbers above the tables, taken from one picture.
type figures struct {
	pull, consume, fail       float64
	pullOK, consumeOK, failOK bool
	lag                       int64 // without the retry topic's
	lagUnknown, queues        int
	retry                     int64 // what waits in the retry topic, as far as it is known
	retryUnknown              bool
	apart                     bool // broadcasting members keep their offsets themselves
	slope                     float64
	slopeOK                   bool
	oldest                    time.Duration
	oldestOK                  bool
	cached, cachedBytes       int64
	cacheLimit, byteLimit     int64
	own                       int
	flow                      [5]uint64 // count, size, span, unlocked, broker
	flowOver                  time.Duration
	flowOK                    bool
}

func (v *liveView) figures() figures {
	var f figures
	h, s := v.pic.hist, v.pic.scene
	f.pull, f.pullOK = h.rate(pulled, rateWindow)
	f.consume, f.consumeOK = h.rate(consumed, rateWindow)
	f.fail, f.failOK = h.rate(failed, rateWindow)
	f.slope, f.slopeOK = h.lagSlope()
	f.apart = isBroadcast(s)
	for i := range s.Queues {
		q := &s.Queues[i]
		lag, ok := lagOf(q)
		switch {
		case q.Retry && ok:
			f.retry += lag
		case q.Retry:
			f.retryUnknown = true
		case ok:
			f.queues++
			f.lag += lag
		default:
			f.queues++
			f.lagUnknown++
		}
		stored := q.LastConsumedStored
		if q.Own {
			f.own++
			f.cached += q.CachedCount
			f.cachedBytes += q.CachedBytes
			stored = q.HeadStored
		}
		if !stored.IsZero() && (ok && lag > 0 || !ok && q.Own) { // what is cached is not done, whatever the broker has
			f.oldest, f.oldestOK = max(f.oldest, v.pic.now.Sub(stored)), true
		}
	}
	f.cacheLimit = s.Limits.Count * int64(f.own)
	f.byteLimit = s.Limits.SizeMiB * int64(f.own) << 20
	for i, c := range [...]counter{flowCount, flowSize, flowSpan, flowUnlocked, flowBroker} {
		f.flow[i], f.flowOver, f.flowOK = h.grown(c, trendWindow)
	}
	if w := v.watched(); w != nil {
		v.watchFigures(&f, w)
	}
	return f
}

func (f *figures) flows() (n uint64) {
	for _, c := range f.flow {
		n += c
	}
	return n
}

// lagText is exact, at least so much, or unknown.
func (f *figures) lagText(write func(int64) string) string {
	switch {
	case f.queues == 0 || f.lagUnknown == f.queues:
		return unknown
	case f.lagUnknown > 0:
		return "≥ " + write(f.lag) + fmt.Sprintf(" · %d unknown", f.lagUnknown)
	}
	return write(f.lag)
}

// lagStyle shows that the lag is not the whole of it.
func (f *figures) lagStyle(t *theme) style {
	if f.lagUnknown > 0 {
		return t.warn
	}
	return t.text
}

// oldestText is the age of the oldest message that is known to be unfinished.
func (f *figures) oldestText() string {
	switch {
	case f.oldestOK && f.lagUnknown > 0:
		return "≥ " + age(f.oldest)
	case f.oldestOK:
		return age(f.oldest)
	case f.lag == 0 && f.lagUnknown == 0:
		return none
	}
	return unknown
}

// trendText says where the lag goes.
func (f *figures) trendText(long bool) (text string, st func(*theme) style) {
	plain := func(t *theme) style { return t.text }
	good := func(t *theme) style { return t.good }
	bad := func(t *theme) style { return t.warn }
	slope := signed(int64(math.Round(f.slope))) + "/s"
	switch {
	case f.apart && f.queues > 0 && f.lagUnknown == f.queues && long:
		return "the members keep the offsets", plain
	case f.apart && f.queues > 0 && f.lagUnknown == f.queues:
		return "kept by members", plain
	case f.queues == 0 || f.lagUnknown > 0: // the lag itself says that queues are unknown
		return "", plain
	case f.lag == 0:
		return "caught up", good
	case !f.slopeOK:
		return "trend " + unknown, plain
	case f.slope > 0.5 && long:
		return slope + " rising, no catch-up time", bad
	case f.slope > 0.5:
		return slope + " ↑", bad
	case f.slope < -0.5 && long:
		return slope + " falling, empty in " + age(time.Duration(float64(f.lag)/-f.slope*float64(time.Second))), good
	case f.slope < -0.5:
		return slope + " ↓", good
	case long:
		return "steady", plain
	}
	return "steady", plain
}

// retryText is what waits in the retry topic, apart from the lag; "" when nothing does.
func (f *figures) retryText() string {
	switch {
	case f.retryUnknown && f.retry > 0:
		return "  retry ≥ " + grouped(f.retry)
	case f.retryUnknown:
		return "  retry " + unknown
	case f.retry > 0:
		return "  retry " + grouped(f.retry)
	}
	return ""
}

// drawFigures writes one, two or four lines.
func (v *liveView) drawFigures(c *canvas) {
	switch {
	case v.plan.figures == 0:
		return
	case v.pic.scene == nil:
		if !v.env.young() {
			c.put(v.env.th.dim, " no figures yet")
		}
		c.end()
		c.blank(c.lines + v.plan.figures - 1)
		return
	}
	if w := v.watched(); w != nil {
		v.drawWatchFigures(c, w)
		return
	}
	f := v.figures()
	switch v.plan.figures {
	case 1:
		v.drawOneLine(c, &f)
	case 2:
		v.drawTwoLines(c, &f)
	default:
		v.drawFourLines(c, &f)
	}
}

func (v *liveView) spark(cells int, value counter) string {
	var buf [64]float64
	return v.env.g.trend(v.pic.hist.rates(buf[:v.env.g.trendCells(cells, len(buf))], value), true)
}

func (v *liveView) lagSpark(cells int) string {
	var buf [64]float64
	return v.env.g.trend(v.pic.hist.lags(buf[:v.env.g.trendCells(cells, len(buf))]), false)
}

func (v *liveView) rtSpark(cells int) string {
	var buf [64]float64
	return v.env.g.trend(v.pic.hist.responseTimes(buf[:v.env.g.trendCells(cells, len(buf))], 0.99), true)
}

// rtText is a quantile as the bucket's bound: below it lie that many calls.
func (v *liveView) rtText(q float64) string {
	bound, above, ok := v.pic.hist.responseTime(q, trendWindow)
	switch {
	case !ok:
		return none
	case above:
		return ">" + span(bound)
	}
	return "<" + shortBound(bound)
}

func shortBound(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return age(d)
}

func (v *liveView) drawOneLine(c *canvas, f *figures) {
	th := v.env.th
	c.put(th.text, " pull "+shortRate(f.pull, f.pullOK)+"  done "+shortRate(f.consume, f.consumeOK)+"  lag "+f.lagText(func(n int64) string { return short(float64(n)) })+" ")
	text, st := f.trendText(false)
	c.put(st(th), text)
	c.put(th.text, fmt.Sprintf("  flow %d/10s", f.flows()))
	c.end()
}

func (v *liveView) drawTwoLines(c *canvas, f *figures) {
	th := v.env.th
	cells := min(max((v.w-56)/3, 2), 24)
	c.put(th.text, " pull "+pad(shortRate(f.pull, f.pullOK), 7))
	c.put(th.spark, v.spark(cells, pulled))
	c.put(th.text, "  done "+pad(shortRate(f.consume, f.consumeOK), 7))
	c.put(th.spark, v.spark(cells, consumed))
	c.put(th.text, "  lag "+pad(f.lagText(func(n int64) string { return short(float64(n)) })+" ", 5))
	c.put(th.spark, v.lagSpark(cells)+" ")
	text, st := f.trendText(false)
	c.put(st(th), text)
	c.end()
	cache := none
	if f.own > 0 {
		cache = fmt.Sprintf("%s/%s %s", short(float64(f.cached)), short(float64(f.cacheLimit)), percent(float64(f.cached), float64(f.cacheLimit)))
	}
	c.put(th.text, " cache "+cache)
	c.put(th.text, "  flow "+v.flowTotal(f))
	if v.w >= 76 && f.flowOK && f.flows() > 0 {
		c.put(th.text, " ("+v.flowCauses(f, " ", true)+")")
	}
	c.put(th.text, "  RT p99 "+v.rtText(0.99))
	failStyle := th.text
	if f.fail > 0 {
		failStyle = th.warn
	}
	c.put(failStyle, "  fail "+v.failShare(f))
	c.put(th.text, f.retryText())
	c.end()
}

func pad(s string, width int) string {
	for table.Width(s) < width {
		s += " "
	}
	return s
}

func padLeft(s string, width int) string {
	for table.Width(s) < width {
		s = " " + s
	}
	return s
}

// failShare is the part of the calls of the last seconds that failed.
func (v *liveView) failShare(f *figures) string {
	switch {
	case !f.failOK || !f.consumeOK:
		return unknown
	case f.fail+f.consume == 0:
		return "0%"
	}
	return percent(f.fail, f.fail+f.consume)
}

func (v *liveView) flowTotal(f *figures) string {
	if !f.flowOK {
		return unknown
	}
	return grouped(int64(f.flows())) + "/" + age(f.flowOver.Round(time.Second))
}

// flowCauses lists the counters; the short form only those that are not zero.
func (v *liveView) flowCauses(f *figures, between string, brief bool) string {
	names := [...]string{"count", "size", "span", "unlocked", "broker"}
	if brief {
		names = [...]string{"cnt", "size", "span", "lock", "brk"}
	}
	text := ""
	for i, n := range f.flow {
		if n == 0 && (brief || i > 2) {
			continue
		}
		if text != "" {
			text += between
		}
		text += names[i] + " " + grouped(int64(n))
	}
	return text
}

// drawRates writes the line of rates and the beginning of the one of lag, up to its
// trend; bound stands before a rate that is one. Two trend lines share what the
// words leave of a line, and a third has room for tail cells.
func (v *liveView) drawRates(c *canvas, f *figures, bound string) (tail int) {
	th := v.env.th
	cells := min(max(20+(v.w-120)/3, 10), 48)
	tail = min(max(16+(v.w-120)/3, 6), 40)

	pull, consume := " pull   ", "   consume "
	if v.watched() != nil { // members tell averages of the last minute
		pull, consume = " pull 1m", "   consume 1m "
		cells = max(cells-2, 0)
	}
	c.put(th.text, pull+padLeft(bound+rate(f.pull, f.pullOK), 9)+" ")
	c.put(th.spark, v.spark(cells, pulled))
	c.put(th.text, consume+padLeft(bound+rate(f.consume, f.consumeOK), 8)+" ")
	c.put(th.spark, v.spark(cells, consumed))
	failStyle := th.text
	if f.fail > 0 {
		failStyle = th.warn
	}
	c.put(failStyle, "   fail "+padLeft(rate(f.fail, f.failOK), 5)+" "+padLeft(v.failShare(f), 4)+" ")
	c.put(th.spark, v.spark(tail, failed))
	c.end()

	lag := pad(padLeft(f.lagText(grouped), 7), 10)
	c.put(f.lagStyle(th), " lag    "+lag)
	c.put(th.spark, v.lagSpark(cells))
	text, st := f.trendText(true)
	c.put(st(th), "   "+pad(text, max(min(30+max(v.w-112, 0)/4, 33)-max(table.Width(lag)-10, 0), 0)))
	return tail
}

func (v *liveView) drawFourLines(c *canvas, f *figures) {
	th, s := v.env.th, v.pic.scene
	tail := v.drawRates(c, f, "")
	c.put(th.text, " oldest "+pad(f.oldestText(), 7))
	if v.w >= 112 {
		c.put(th.text, " RT p50 "+pad(v.rtText(0.5), 6)+" p99 "+pad(v.rtText(0.99), 7))
	} else {
		c.put(th.text, " RT p99 "+pad(v.rtText(0.99), 7))
	}
	c.put(th.spark, v.rtSpark(min(c.room(), tail)))
	c.end()

	if f.own == 0 {
		c.put(th.text, fmt.Sprintf(" cache        %s   no queue is held here   threads %d/%d", none, s.ThreadsBusy, s.Threads))
		c.end()
		v.drawFlowLine(c, f)
		return
	}
	c.put(th.text, fmt.Sprintf(" cache  %7s / %s msgs  ", grouped(f.cached), grouped(f.cacheLimit)))
	meter := 12
	if v.w < 116 {
		meter = 6
	}
	c.put(th.bar, v.env.g.meter(meter, share(f.cached, f.cacheLimit)))
	c.put(th.text, pad(" "+percent(float64(f.cached), float64(f.cacheLimit)), 6)+fmt.Sprintf("   %s / %s MiB ", mib(f.cachedBytes), grouped(f.byteLimit>>20)))
	c.put(th.bar, v.env.g.meter(meter, share(f.cachedBytes, f.byteLimit)))
	c.put(th.text, pad(" "+percent(float64(f.cachedBytes), float64(f.byteLimit)), 6)+fmt.Sprintf("   threads %d/%d ", s.ThreadsBusy, s.Threads))
	busy := ""
	if s.Threads > 0 && s.ThreadsBusy >= s.Threads {
		busy = " all busy"
	}
	c.put(th.bar, v.env.g.meter(min(max(c.room()-len(busy), 0), 12), share(int64(s.ThreadsBusy), int64(s.Threads))))
	c.put(th.warn, busy)
	c.end()
	v.drawFlowLine(c, f)
}

// drawFlowLine is the line of flow control, with when queues changed hands and offsets
// were written last.
func (v *liveView) drawFlowLine(c *canvas, f *figures) {
	th := v.env.th
	flowStyle := th.text
	if f.flows() > 0 {
		flowStyle = th.warn
	}
	c.put(flowStyle, " flow   "+padLeft(v.flowTotal(f), 8)+"  ")
	if f.flowOK {
		c.put(th.text, v.flowCauses(f, " · ", false)+"  ")
	}
	c.put(th.spark, v.spark(min(12, max(v.w-108-table.Width(f.retryText()), 0)), flowAll))
	c.put(th.text, "   "+v.rebalanceText()+"   "+v.commitText()+f.retryText())
	c.end()
}

func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// rebalanceText says when the last pass was and what it changed.
func (v *liveView) rebalanceText() string {
	s := v.pic.scene
	if s.LastRebalance.IsZero() {
		return "not rebalanced yet"
	}
	change := ""
	if r := v.pic.rebalance; r.Seq == s.RebalanceSeq && r.Seq != 0 {
		if r.Added > 0 {
			change += fmt.Sprintf(" +%d", r.Added)
		}
		if r.Dropped > 0 {
			change += fmt.Sprintf(" −%d", r.Dropped)
		}
	}
	return fmt.Sprintf("rebalanced %s (#%d%s)", ago(s.LastRebalance, v.pic.now), s.RebalanceSeq, change)
}

// commitText is the age of the last commit that became durable against its period.
func (v *liveView) commitText() string {
	s := v.pic.scene
	if s.LastPersist.IsZero() {
		return fmt.Sprintf("commit none yet / %s", age(s.PersistEvery))
	}
	return fmt.Sprintf("commit %s / %s", ago(s.LastPersist, v.pic.now), age(s.PersistEvery))
}
