package pages

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// LagMark is what is kept of an answer for trends and rates. Sums are over the queues
// whose offsets are known; only marks of equally many can be compared.
type LagMark struct {
	At             time.Time
	lag            float64 // NaN: not known
	Committed, Max int64
	Known          int
	moved          bool // commits went back since the mark before: a reset, no consumption
}

// LagHistory keeps the marks of the last minutes.
type LagHistory struct{ Marks []LagMark }

const keepMarks = 256

// Add notes what was committed at a time.
func (h *LagHistory) Add(at time.Time, l *inspect.GroupLag) {
	m := LagMark{At: at, lag: math.NaN()}
	if l.Lag.Known {
		m.lag = float64(l.Lag.Value)
	}
	for i := range l.Queues {
		if q := &l.Queues[i]; q.Committed.Known && q.Max.Known && !q.Retry {
			m.Committed += q.Committed.Value
			m.Max += q.Max.Value
			m.Known++
		}
	}
	if n := len(h.Marks); n > 0 {
		last := &h.Marks[n-1]
		m.moved = m.Known == last.Known && m.Committed < last.Committed
	}
	h.Marks = append(slices.Clip(h.Marks), m)
	h.Marks = h.Marks[max(0, len(h.Marks)-keepMarks):]
}

// before is the oldest mark within the window that the last one can be compared with;
// none from before the commits were moved back.
func (h *LagHistory) before(window time.Duration) (then, now *LagMark, ok bool) {
	if len(h.Marks) < 2 {
		return nil, nil, false
	}
	now = &h.Marks[len(h.Marks)-1]
	first := len(h.Marks) - 1
	for first > 0 && !h.Marks[first].moved {
		first--
	}
	for i := first; i < len(h.Marks)-1; i++ {
		m := &h.Marks[i]
		if m.Known == now.Known && now.Known > 0 && now.At.Sub(m.At) <= window && now.At.Sub(m.At) >= page.CommitWindow {
			return m, now, true
		}
	}
	return nil, now, false
}

// lagWindow is what rates of the lag page are averaged over: some answers.
const lagWindow = 15 * time.Second

func (h *LagHistory) rate(of func(m *LagMark) int64) (float64, bool) {
	then, now, ok := h.before(lagWindow)
	if !ok {
		return 0, false
	}
	return float64(of(now)-of(then)) / now.At.Sub(then.At).Seconds(), true
}

// Consumed is how fast commits move, produced how fast queues grow.
func (h *LagHistory) Consumed() (float64, bool) {
	return h.rate(func(m *LagMark) int64 { return m.Committed })
}

func (h *LagHistory) produced() (float64, bool) {
	return h.rate(func(m *LagMark) int64 { return m.Max })
}

// trend is the last lags, as many as there are cells.
func (h *LagHistory) trend(cells int) []float64 {
	values := make([]float64, cells)
	for i := range values {
		values[i] = math.NaN()
		if n := len(h.Marks) - cells + i; n >= 0 {
			values[i] = h.Marks[n].lag
		}
	}
	return values
}

// Outlook says where the lag goes and when it is gone.
func (v *LagView) Outlook(long bool) (string, draw.Style) {
	th, lag := v.env.Theme, v.Data.Lag
	in, ok := v.Hist.produced()
	out, also := v.Hist.Consumed()
	switch {
	case !lag.Known:
		return "", th.Text
	case lag.Value == 0 && !lag.AtLeast:
		return "caught up", th.Good
	case !ok || !also:
		return "trend " + words.Unknown, th.Dim
	}
	slope := in - out
	text := words.Signed(int64(math.Round(slope))) + "/s"
	switch {
	case slope > 0.5 && long:
		return text + " rising, no catch-up time", th.Warn
	case slope > 0.5:
		return text + " " + "↑", th.Warn
	case slope < -0.5 && v.Data.Pause.All() && long: // what is not cached stays
		return text + " falling: members finish what they have cached", th.Warn
	case slope < -0.5 && v.Data.Pause.All():
		return text + " ↓", th.Warn
	case slope < -0.5:
		takes := words.Age(time.Duration(float64(lag.Value) / -slope * float64(time.Second)))
		if long {
			return text + " falling, empty in " + takes, th.Good
		}
		return text + " ↓ " + takes, th.Good
	}
	return "steady", th.Text
}

// figureLines are the lines above the tree: one or two.
func (v *LagView) figureLines() [][]draw.Segment {
	th, d := v.env.Theme, &v.Data
	wide := v.w >= 100
	first := page.Line(draw.Styled(th.Dim, " lag "), draw.Styled(th.Bold, words.NumberText(d.Lag)), draw.Styled(draw.Style{}, " "))
	cells := 16
	if !wide {
		cells = 8
	}
	if v.Data.Model == words.Broadcasting {
		return [][]draw.Segment{page.Line(draw.Styled(th.Warn, " lag "+words.Unknown+"   broadcasting: each member keeps its own offsets, the brokers know none"))}
	}
	first = append(first, draw.Styled(th.Spark, v.env.Glyphs.Trend(v.Hist.trend(v.env.Glyphs.TrendCells(cells, keepMarks)), false)))
	if text, st := v.Outlook(wide); text != "" {
		first = append(first, draw.Styled(draw.Style{}, "  "), draw.Styled(st, text))
	}
	if n := len(d.UnknownTopics); n > 0 {
		first = append(first, draw.Styled(th.Warn, "  "+words.Plural(n, "topic")+" unknown"))
	} else if d.UnknownQueues > 0 {
		first = append(first, draw.Styled(th.Warn, "  "+words.Plural(d.UnknownQueues, "queue")+" unknown"))
	}
	out, outOK := v.Hist.Consumed()
	in, inOK := v.Hist.produced()
	second := page.Line(draw.Styled(th.Dim, " consumed "), draw.Styled(th.Text, words.Rate(out, outOK)), draw.Styled(th.Dim, " · produced "), draw.Styled(th.Text, words.Rate(in, inOK)),
		draw.Styled(th.Dim, " · oldest waits "), draw.Styled(th.Text, v.oldestText()))
	if p := pauseText(d.Pause); p != "" {
		second = append(second, draw.Styled(th.Accent, " · "+p))
	}
	retry := func(name string, n inspect.Number) {
		st := th.Text
		if !n.Known || n.Value > 0 {
			st = th.Warn
		}
		second = append(second, draw.Styled(th.Dim, " · "+name+" "), draw.Styled(st, words.NumberText(n)))
	}
	retry("retry", d.RetryLag)
	retry("dlq", d.DeadLetters)
	if d.Ahead > 0 {
		second = append(second, draw.Styled(th.Warn, " · ahead "+words.Grouped(d.Ahead)))
	}
	if p := d.Pop; p != nil && len(p.Topics) > 0 {
		second = append(second, draw.Styled(th.Dim, " · unacked "), draw.Styled(th.Text, words.NumberText(p.Unacked)))
	}
	if d.Filtered {
		second = append(second, draw.Styled(th.Dim, " · counts other tags too"))
	}
	lines := [][]draw.Segment{first, second}
	if texts := d.UnreadableTexts(); len(texts) > 0 {
		more := ""
		if n := len(texts) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		lines = append(lines, page.Line(draw.Styled(th.Bad, " "+words.Warning.Sign()+" "+texts[0]+more)))
	}
	return lines
}

// oldestText is the age of the oldest message that waits.
func (v *LagView) oldestText() string {
	oldest, known, open := time.Duration(0), false, false
	for i := range v.topics {
		t := &v.topics[i]
		if t.retry || t.dead {
			continue
		}
		if t.lateKnown {
			oldest, known = max(oldest, t.late), true
		}
		open = open || !t.lag.Known || t.lag.AtLeast
	}
	switch {
	case known && open:
		return "≥ " + words.Age(oldest)
	case known:
		return words.Age(oldest)
	case v.Data.Lag.Known && v.Data.Lag.Value == 0 && !open:
		return words.None
	}
	return words.Unknown
}

// figuresIn are the lines above the table, of which a low screen has one.
func (v *LagView) figuresIn(h int) [][]draw.Segment {
	if !v.Ask.Asked {
		return nil
	}
	lines := v.figureLines()
	if h < 14 {
		lines = lines[:1]
	}
	return lines
}

// View implements page.Page.
func (v LagView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	for _, l := range v.figuresIn(h) {
		c.Puts(l...)
		c.End()
	}
	v.Rows.Draw(c, h-c.Lines, v.Rows.Details(v.legend()), v.cells, v.notes())
	c.Blank(h)
	return c.String()
}

func (v *LagView) legend() string {
	var parts []string
	if note := v.Ask.Note(v.env); note != "" {
		parts = append(parts, note)
	}
	if !v.Ask.Asked {
		return strings.Join(parts, "")
	}
	known := 0
	for i := range v.topics {
		if t := &v.topics[i]; t.lag.Known && !t.dead {
			known++
		}
	}
	if n := len(v.Data.UnknownTopics); n > 0 && v.w >= 90 {
		parts = append(parts, fmt.Sprintf("%s known · %d unknown", words.Plural(known, "topic"), n))
	}
	if v.w >= 110 {
		text := "exact = max − committed"
		if v.Data.Pop != nil && len(v.Data.Pop.Topics) > 0 {
			text = "by POP: lag is what nobody has popped yet"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// notes say why there is no row.
func (v *LagView) notes() []string {
	if !v.Ask.Asked {
		return v.Ask.Lines(v.env)
	}
	if lines := v.Rows.NoMatch("queue"); lines != nil {
		return lines
	}
	lines := []string{"", "No offset of this group is known to the brokers, and no member says what it reads.",
		"Either the group has never consumed, or it is new:  " + v.env.Keys.First("describe") + " shows what is known of it"}
	for _, p := range v.Data.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return lines
}
