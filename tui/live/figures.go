package live

import (
	"fmt"
	"math"
	"time"

	"eyeq/tui/draw"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// Figures are the numbers above the tables, taken from one picture.
type figures struct {
	Pull, Consume, fail       float64
	PullOK, ConsumeOK, failOK bool
	part                      bool  // some members do not tell their rates
	lag                       int64 // without the retry topic's
	lagUnknown, queues        int
	retry                     int64 // what waits in the retry topic, as far as it is known
	retryUnknown              bool
	apart                     bool // broadcasting members keep their offsets themselves
	slope                     float64
	slopeOK                   bool
	oldest                    time.Duration
	oldestOK                  bool
	Cached, CachedBytes       int64
	CacheLimit, byteLimit     int64
	Own                       int
	flow                      [5]uint64 // count, size, span, unlocked, broker
	flowOver                  time.Duration
	flowOK                    bool
}

// Figures are what stands at the head of the view.
func (v *View) Figures() figures {
	var f figures
	h, s := v.pic.hist, v.pic.Scene
	f.Pull, f.PullOK = h.Rate(Pulled, RateWindow)
	f.Consume, f.ConsumeOK = h.Rate(Consumed, RateWindow)
	f.fail, f.failOK = h.Rate(failed, RateWindow)
	f.slope, f.slopeOK = h.LagSlope()
	f.apart = IsBroadcast(s)
	for i := range s.Queues {
		q := &s.Queues[i]
		lag, ok := LagOf(q)
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
			f.Own++
			f.Cached += q.CachedCount
			f.CachedBytes += q.CachedBytes
			stored = q.HeadStored
		}
		if !stored.IsZero() && (ok && lag > 0 || !ok && q.Own) { // what is cached is not done, whatever the broker has
			f.oldest, f.oldestOK = max(f.oldest, v.pic.Now.Sub(stored)), true
		}
	}
	f.CacheLimit = s.Limits.Count * int64(f.Own)
	f.byteLimit = s.Limits.SizeMiB * int64(f.Own) << 20
	for i, c := range [...]counter{flowCount, flowSize, flowSpan, flowUnlocked, flowBroker} {
		f.flow[i], f.flowOver, f.flowOK = h.Grown(c, TrendWindow)
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

// LagText is exact, at least so much, or unknown.
func (f *figures) LagText(write func(int64) string) string {
	switch {
	case f.queues == 0 || f.lagUnknown == f.queues:
		return words.Unknown
	case f.lagUnknown > 0:
		return "≥ " + write(f.lag) + fmt.Sprintf(" · %d unknown", f.lagUnknown)
	}
	return write(f.lag)
}

// lagStyle shows that the lag is not the whole of it.
func (f *figures) lagStyle(t *draw.Theme) draw.Style {
	if f.lagUnknown > 0 {
		return t.Warn
	}
	return t.Text
}

// oldestText is the age of the oldest message that is known to be unfinished.
func (f *figures) oldestText() string {
	switch {
	case f.oldestOK && f.lagUnknown > 0:
		return "≥ " + words.Age(f.oldest)
	case f.oldestOK:
		return words.Age(f.oldest)
	case f.lag == 0 && f.lagUnknown == 0:
		return words.None
	}
	return words.Unknown
}

// TrendText says where the lag goes.
func (f *figures) TrendText(long bool) (text string, st func(*draw.Theme) draw.Style) {
	plain := func(t *draw.Theme) draw.Style { return t.Text }
	good := func(t *draw.Theme) draw.Style { return t.Good }
	bad := func(t *draw.Theme) draw.Style { return t.Warn }
	slope := words.Signed(int64(math.Round(f.slope))) + "/s"
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
		return "trend " + words.Unknown, plain
	case f.slope > 0.5 && long:
		return slope + " rising, no catch-up time", bad
	case f.slope > 0.5:
		return slope + " ↑", bad
	case f.slope < -0.5 && long:
		return slope + " falling, empty in " + words.Age(time.Duration(float64(f.lag)/-f.slope*float64(time.Second))), good
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
		return "  retry ≥ " + words.Grouped(f.retry)
	case f.retryUnknown:
		return "  retry " + words.Unknown
	case f.retry > 0:
		return "  retry " + words.Grouped(f.retry)
	}
	return ""
}

// drawFigures writes one, two or four lines.
func (v *View) drawFigures(c *draw.Canvas) {
	switch {
	case v.plan.figures == 0:
		return
	case v.pic.Scene == nil:
		if !v.env.Young() {
			c.Put(v.env.Theme.Dim, " no figures yet")
		}
		c.End()
		c.Blank(c.Lines + v.plan.figures - 1)
		return
	}
	if w := v.watched(); w != nil {
		v.drawWatchFigures(c, w)
		return
	}
	f := v.Figures()
	switch v.plan.figures {
	case 1:
		v.drawOneLine(c, &f)
	case 2:
		v.drawTwoLines(c, &f)
	default:
		v.drawFourLines(c, &f)
	}
}

func (v *View) spark(cells int, value counter) string {
	var buf [64]float64
	return v.env.Glyphs.Trend(v.pic.hist.Rates(buf[:v.env.Glyphs.TrendCells(cells, len(buf))], value), true)
}

func (v *View) lagSpark(cells int) string {
	var buf [64]float64
	return v.env.Glyphs.Trend(v.pic.hist.Lags(buf[:v.env.Glyphs.TrendCells(cells, len(buf))]), false)
}

func (v *View) rtSpark(cells int) string {
	var buf [64]float64
	return v.env.Glyphs.Trend(v.pic.hist.responseTimes(buf[:v.env.Glyphs.TrendCells(cells, len(buf))], 0.99), true)
}

// RtText is a quantile as the bucket's bound: below it lie that many calls.
func (v *View) RtText(q float64) string {
	bound, above, ok := v.pic.hist.ResponseTime(q, TrendWindow)
	switch {
	case !ok:
		return words.None
	case above:
		return ">" + words.Span(bound)
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
	return words.Age(d)
}

func (v *View) drawOneLine(c *draw.Canvas, f *figures) {
	th := v.env.Theme
	c.Put(th.Text, " pull "+words.ShortRate(f.Pull, f.PullOK)+"  done "+words.ShortRate(f.Consume, f.ConsumeOK)+"  lag "+f.LagText(func(n int64) string { return words.Short(float64(n)) })+" ")
	text, st := f.TrendText(false)
	c.Put(st(th), text)
	c.Put(th.Text, fmt.Sprintf("  flow %d/10s", f.flows()))
	c.End()
}

func (v *View) drawTwoLines(c *draw.Canvas, f *figures) {
	th := v.env.Theme
	cells := min(max((v.w-56)/3, 2), 24)
	c.Put(th.Text, " pull "+draw.Pad(words.ShortRate(f.Pull, f.PullOK), 7))
	c.Put(th.Spark, v.spark(cells, Pulled))
	c.Put(th.Text, "  done "+draw.Pad(words.ShortRate(f.Consume, f.ConsumeOK), 7))
	c.Put(th.Spark, v.spark(cells, Consumed))
	c.Put(th.Text, "  lag "+draw.Pad(f.LagText(func(n int64) string { return words.Short(float64(n)) })+" ", 5))
	c.Put(th.Spark, v.lagSpark(cells)+" ")
	text, st := f.TrendText(false)
	c.Put(st(th), text)
	c.End()
	cache := words.None
	if f.Own > 0 {
		cache = fmt.Sprintf("%s/%s %s", words.Short(float64(f.Cached)), words.Short(float64(f.CacheLimit)), words.Percent(float64(f.Cached), float64(f.CacheLimit)))
	}
	c.Put(th.Text, " cache "+cache)
	c.Put(th.Text, "  flow "+v.FlowTotal(f))
	if v.w >= 76 && f.flowOK && f.flows() > 0 {
		c.Put(th.Text, " ("+v.FlowCauses(f, " ", true)+")")
	}
	c.Put(th.Text, "  RT p99 "+v.RtText(0.99))
	failStyle := th.Text
	if f.fail > 0 {
		failStyle = th.Warn
	}
	c.Put(failStyle, "  fail "+v.FailShare(f))
	c.Put(th.Text, f.retryText())
	c.End()
}

// FailShare is the part of the calls of the last seconds that failed; unknown where not all
// members tell theirs.
func (v *View) FailShare(f *figures) string {
	switch {
	case !f.failOK || !f.ConsumeOK || f.part:
		return words.Unknown
	case f.fail+f.Consume == 0:
		return "0%"
	}
	return words.Percent(f.fail, f.fail+f.Consume)
}

// FlowTotal says how many queues flow control holds.
func (v *View) FlowTotal(f *figures) string {
	if !f.flowOK {
		return words.Unknown
	}
	return words.Grouped(int64(f.flows())) + "/" + words.Age(f.flowOver.Round(time.Second))
}

// FlowCauses lists the counters; the short form only those that are not zero.
func (v *View) FlowCauses(f *figures, between string, brief bool) string {
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
		text += names[i] + " " + words.Grouped(int64(n))
	}
	return text
}

// drawRates writes the line of rates and the beginning of the one of lag, up to its
// trend; bound stands before a rate that is one. Two trend lines share what the
// words leave of a line, and a third has room for tail cells.
func (v *View) drawRates(c *draw.Canvas, f *figures, bound string) (tail int) {
	th := v.env.Theme
	cells := min(max(20+(v.w-120)/3, 10), 48)
	tail = min(max(16+(v.w-120)/3, 6), 40)

	pull, consume := " pull   ", "   consume "
	if v.watched() != nil { // members tell averages of the last minute
		pull, consume = " pull 1m", "   consume 1m "
		cells = max(cells-2, 0)
	}
	c.Put(th.Text, pull+draw.PadLeft(bound+words.Rate(f.Pull, f.PullOK), 9)+" ")
	c.Put(th.Spark, v.spark(cells, Pulled))
	c.Put(th.Text, consume+draw.PadLeft(bound+words.Rate(f.Consume, f.ConsumeOK), 8)+" ")
	c.Put(th.Spark, v.spark(cells, Consumed))
	failStyle := th.Text
	if f.fail > 0 {
		failStyle = th.Warn
	}
	c.Put(failStyle, "   fail "+draw.PadLeft(bound+words.Rate(f.fail, f.failOK), 5)+" "+draw.PadLeft(v.FailShare(f), 4)+" ")
	c.Put(th.Spark, v.spark(tail, failed))
	c.End()

	lag := draw.Pad(draw.PadLeft(f.LagText(words.Grouped), 7), 10)
	c.Put(f.lagStyle(th), " lag    "+lag)
	c.Put(th.Spark, v.lagSpark(cells))
	text, st := f.TrendText(true)
	c.Put(st(th), "   "+draw.Pad(text, max(min(30+max(v.w-112, 0)/4, 33)-max(table.Width(lag)-10, 0), 0)))
	return tail
}

func (v *View) drawFourLines(c *draw.Canvas, f *figures) {
	th, s := v.env.Theme, v.pic.Scene
	tail := v.drawRates(c, f, "")
	c.Put(th.Text, " oldest "+draw.Pad(f.oldestText(), 7))
	if v.w >= 112 {
		c.Put(th.Text, " RT p50 "+draw.Pad(v.RtText(0.5), 6)+" p99 "+draw.Pad(v.RtText(0.99), 7))
	} else {
		c.Put(th.Text, " RT p99 "+draw.Pad(v.RtText(0.99), 7))
	}
	c.Put(th.Spark, v.rtSpark(min(c.Room(), tail)))
	c.End()

	if f.Own == 0 {
		c.Put(th.Text, fmt.Sprintf(" cache        %s   no queue is held here   threads %d/%d", words.None, s.ThreadsBusy, s.Threads))
		c.End()
		v.drawFlowLine(c, f)
		return
	}
	c.Put(th.Text, fmt.Sprintf(" cache  %7s / %s msgs  ", words.Grouped(f.Cached), words.Grouped(f.CacheLimit)))
	meter := 12
	if v.w < 116 {
		meter = 6
	}
	c.Put(th.Bar, v.env.Glyphs.Meter(meter, share(f.Cached, f.CacheLimit)))
	c.Put(th.Text, draw.Pad(" "+words.Percent(float64(f.Cached), float64(f.CacheLimit)), 6)+fmt.Sprintf("   %s / %s MiB ", words.MiB(f.CachedBytes), words.Grouped(f.byteLimit>>20)))
	c.Put(th.Bar, v.env.Glyphs.Meter(meter, share(f.CachedBytes, f.byteLimit)))
	c.Put(th.Text, draw.Pad(" "+words.Percent(float64(f.CachedBytes), float64(f.byteLimit)), 6)+fmt.Sprintf("   threads %d/%d ", s.ThreadsBusy, s.Threads))
	busy := ""
	if s.Threads > 0 && s.ThreadsBusy >= s.Threads {
		busy = " all busy"
	}
	c.Put(th.Bar, v.env.Glyphs.Meter(min(max(c.Room()-len(busy), 0), 12), share(int64(s.ThreadsBusy), int64(s.Threads))))
	c.Put(th.Warn, busy)
	c.End()
	v.drawFlowLine(c, f)
}

// drawFlowLine is the line of flow control, with when queues changed hands and offsets
// were written last.
func (v *View) drawFlowLine(c *draw.Canvas, f *figures) {
	th := v.env.Theme
	flowStyle := th.Text
	if f.flows() > 0 {
		flowStyle = th.Warn
	}
	c.Put(flowStyle, " flow   "+draw.PadLeft(v.FlowTotal(f), 8)+"  ")
	if f.flowOK {
		c.Put(th.Text, v.FlowCauses(f, " · ", false)+"  ")
	}
	c.Put(th.Spark, v.spark(min(12, max(v.w-108-table.Width(f.retryText()), 0)), flowAll))
	c.Put(th.Text, "   "+v.RebalanceText()+"   "+v.CommitText()+f.retryText())
	c.End()
}

func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// RebalanceText says when the last pass was and what it changed.
func (v *View) RebalanceText() string {
	s := v.pic.Scene
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
	return fmt.Sprintf("rebalanced %s (#%d%s)", words.Ago(s.LastRebalance, v.pic.Now), s.RebalanceSeq, change)
}

// CommitText is the age of the last commit that became durable against its period.
func (v *View) CommitText() string {
	s := v.pic.Scene
	if s.LastPersist.IsZero() {
		return fmt.Sprintf("commit none yet / %s", words.Age(s.PersistEvery))
	}
	return fmt.Sprintf("commit %s / %s", words.Ago(s.LastPersist, v.pic.Now), words.Age(s.PersistEvery))
}
