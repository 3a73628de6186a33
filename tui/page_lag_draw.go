package tui

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

// lagMark is what is kept of an answer for trends and rates. Sums are over the queues
// whose offsets are known; only marks of equally many can be compared.
type lagMark struct {
	at             time.Time
	lag            float64 // NaN: not known
	committed, max int64
	known          int
	moved          bool // commits went back since the mark before: a reset, no consumption
}

// lagHistory keeps the marks of the last minutes.
type lagHistory struct{ marks []lagMark }

const keepMarks = 256

func (h *lagHistory) add(at time.Time, l *inspect.GroupLag) {
	m := lagMark{at: at, lag: math.NaN()}
	if l.Lag.Known {
		m.lag = float64(l.Lag.Value)
	}
	for i := range l.Queues {
		if q := &l.Queues[i]; q.Committed.Known && q.Max.Known && !q.Retry {
			m.committed += q.Committed.Value
			m.max += q.Max.Value
			m.known++
		}
	}
	if n := len(h.marks); n > 0 {
		last := &h.marks[n-1]
		m.moved = m.known == last.known && m.committed < last.committed
	}
	h.marks = append(slices.Clip(h.marks), m)
	h.marks = h.marks[max(0, len(h.marks)-keepMarks):]
}

// before is the oldest mark within the window that the last one can be compared with;
// none from before the commits were moved back.
func (h *lagHistory) before(window time.Duration) (then, now *lagMark, ok bool) {
	if len(h.marks) < 2 {
		return nil, nil, false
	}
	now = &h.marks[len(h.marks)-1]
	first := len(h.marks) - 1
	for first > 0 && !h.marks[first].moved {
		first--
	}
	for i := first; i < len(h.marks)-1; i++ {
		m := &h.marks[i]
		if m.known == now.known && now.known > 0 && now.at.Sub(m.at) <= window && now.at.Sub(m.at) >= page.CommitWindow {
			return m, now, true
		}
	}
	return nil, now, false
}

// lagWindow is what rates of the lag page are averaged over: some answers.
const lagWindow = 15 * time.Second

func (h *lagHistory) rate(of func(m *lagMark) int64) (float64, bool) {
	then, now, ok := h.before(lagWindow)
	if !ok {
		return 0, false
	}
	return float64(of(now)-of(then)) / now.at.Sub(then.at).Seconds(), true
}

// consumed is how fast commits move, produced how fast queues grow.
func (h *lagHistory) consumed() (float64, bool) {
	return h.rate(func(m *lagMark) int64 { return m.committed })
}

func (h *lagHistory) produced() (float64, bool) {
	return h.rate(func(m *lagMark) int64 { return m.max })
}

// trend is the last lags, as many as there are cells.
func (h *lagHistory) trend(cells int) []float64 {
	values := make([]float64, cells)
	for i := range values {
		values[i] = math.NaN()
		if n := len(h.marks) - cells + i; n >= 0 {
			values[i] = h.marks[n].lag
		}
	}
	return values
}

// outlook says where the lag goes and when it is gone.
func (v *lagView) outlook(long bool) (string, draw.Style) {
	th, lag := v.env.Theme, v.data.Lag
	in, ok := v.hist.produced()
	out, also := v.hist.consumed()
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
	case slope < -0.5 && v.data.Pause.All() && long: // what is not cached stays
		return text + " falling: members finish what they have cached", th.Warn
	case slope < -0.5 && v.data.Pause.All():
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
func (v *lagView) figureLines() [][]draw.Segment {
	th, d := v.env.Theme, &v.data
	wide := v.w >= 100
	first := page.Line(draw.Styled(th.Dim, " lag "), draw.Styled(th.Bold, words.NumberText(d.Lag)), draw.Styled(draw.Style{}, " "))
	cells := 16
	if !wide {
		cells = 8
	}
	if v.data.Model == words.Broadcasting {
		return [][]draw.Segment{page.Line(draw.Styled(th.Warn, " lag "+words.Unknown+"   broadcasting: each member keeps its own offsets, the brokers know none"))}
	}
	first = append(first, draw.Styled(th.Spark, v.env.Glyphs.Trend(v.hist.trend(v.env.Glyphs.TrendCells(cells, keepMarks)), false)))
	if text, st := v.outlook(wide); text != "" {
		first = append(first, draw.Styled(draw.Style{}, "  "), draw.Styled(st, text))
	}
	if n := len(d.UnknownTopics); n > 0 {
		first = append(first, draw.Styled(th.Warn, "  "+words.Plural(n, "topic")+" unknown"))
	} else if d.UnknownQueues > 0 {
		first = append(first, draw.Styled(th.Warn, "  "+words.Plural(d.UnknownQueues, "queue")+" unknown"))
	}
	out, outOK := v.hist.consumed()
	in, inOK := v.hist.produced()
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
func (v *lagView) oldestText() string {
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
	case v.data.Lag.Known && v.data.Lag.Value == 0 && !open:
		return words.None
	}
	return words.Unknown
}

// figuresIn are the lines above the table, of which a low screen has one.
func (v *lagView) figuresIn(h int) [][]draw.Segment {
	if !v.ask.Asked {
		return nil
	}
	lines := v.figureLines()
	if h < 14 {
		lines = lines[:1]
	}
	return lines
}

func (v lagView) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	for _, l := range v.figuresIn(h) {
		c.Puts(l...)
		c.End()
	}
	v.rows.Draw(c, h-c.Lines, v.rows.Details(v.legend()), v.cells, v.notes())
	c.Blank(h)
	return c.String()
}

func (v *lagView) legend() string {
	var parts []string
	if note := v.ask.Note(v.env); note != "" {
		parts = append(parts, note)
	}
	if !v.ask.Asked {
		return strings.Join(parts, "")
	}
	known := 0
	for i := range v.topics {
		if t := &v.topics[i]; t.lag.Known && !t.dead {
			known++
		}
	}
	if n := len(v.data.UnknownTopics); n > 0 && v.w >= 90 {
		parts = append(parts, fmt.Sprintf("%s known · %d unknown", words.Plural(known, "topic"), n))
	}
	if v.w >= 110 {
		text := "exact = max − committed"
		if v.data.Pop != nil && len(v.data.Pop.Topics) > 0 {
			text = "by POP: lag is what nobody has popped yet"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// notes say why there is no row.
func (v *lagView) notes() []string {
	if !v.ask.Asked {
		return v.ask.Lines(v.env)
	}
	if lines := v.rows.NoMatch("queue"); lines != nil {
		return lines
	}
	lines := []string{"", "No offset of this group is known to the brokers, and no member says what it reads.",
		"Either the group has never consumed, or it is new:  " + v.env.Keys.First("describe") + " shows what is known of it"}
	for _, p := range v.data.Problems {
		lines = append(lines, words.Warning.Sign()+" "+p.String())
	}
	return lines
}
