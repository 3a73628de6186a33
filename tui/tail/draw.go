package tail

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

const (
	// besideFrom is the width from which list and message stand side by side, oneUnder
	// the one under which only one of them is shown.
	besideFrom = 110
	oneUnder   = 60
	stackRows  = 6 // of the list above the message
	tailTall   = 26
)

// tailPlan is who gets which room.
type tailPlan struct {
	beside       bool
	listW, listH int // with frame
	bodyW, bodyH int
	histogram    bool
}

func (v *View) plan() tailPlan {
	p := tailPlan{histogram: v.h >= tailTall && v.w >= 80}
	h := v.h - 1
	if p.histogram {
		h--
	}
	switch {
	case v.zoomed:
		p.bodyW, p.bodyH = v.w, h
	case v.w >= besideFrom:
		p.beside = true
		p.listW = v.w * 54 / 100
		p.listH, p.bodyW, p.bodyH = h, v.w-p.listW, h
	case v.w < oneUnder:
		p.listW, p.listH = v.w, h
	default:
		p.listW, p.listH = v.w, min(max(stackRows+page.TableFrame, h/3), h)
		if v.h < 16 {
			p.listH = min(4+page.TableFrame, h)
		}
		p.bodyW, p.bodyH = v.w, h-p.listH
	}
	return p
}

func (v *View) resize() {
	v.List.Resize(max(v.plan().listH-page.TableFrame, 0))
}

// View implements page.Page.
func (v View) View(w, h int) string {
	c := draw.NewCanvas(w, h)
	v.drawCounts(c)
	p := v.plan()
	switch {
	case p.beside:
		left, right := draw.NewCanvas(p.listW, p.listH), draw.NewCanvas(p.bodyW, p.bodyH)
		v.drawList(left, p.listH)
		v.drawMessage(right, p.bodyH)
		l, r := strings.Split(left.String(), "\n"), strings.Split(right.String(), "\n")
		for i := range min(len(l), len(r)) {
			c.B = append(c.B, l[i]...)
			c.B = append(c.B, r[i]...)
			c.B = append(c.B, '\n')
			c.Lines++
		}
	default:
		if p.listH > 0 {
			v.drawList(c, p.listH)
		}
		if p.bodyH > 0 {
			v.drawMessage(c, p.bodyH)
		}
	}
	if p.histogram {
		v.drawHistogram(c)
	}
	c.Blank(h)
	return c.String()
}

// drawCounts is the line above: what is read and what comes of it.
func (v *View) drawCounts(c *draw.Canvas) {
	th := v.env.Theme
	looked, matched, missed := v.sifted()
	unseen := ""
	switch {
	case v.Filter == "" && missed > 0:
		unseen = words.Grouped(missed) + " left out by filters · "
	case v.Filter != "" && missed+v.Sieve.gone > 0:
		unseen = words.Grouped(missed+v.Sieve.gone) + " not looked at · "
	}
	right := fmt.Sprintf("seen %s · match %s · %skept %s/%s ", words.Grouped(v.total.Seen), words.Grouped(matched), unseen, words.Grouped(int64(len(v.Ring.Rows))), words.Grouped(KeepRows))
	switch {
	case v.w < 80:
		right = fmt.Sprintf("%s of %s ", words.Short(float64(matched)), words.Short(float64(looked)))
	case v.w < besideFrom && unseen != "":
		right = fmt.Sprintf("match %s · %s", words.Grouped(matched), strings.TrimSuffix(unseen, "· "))
	}
	left := []draw.Segment{draw.Styled(th.Text, " "+v.fromText()+" · "+v.queuesText())}
	if v.Filter != "" {
		state := ""
		if v.Filter != v.applied || v.sieving {
			state = " (typed)"
		}
		left = append(left, draw.Styled(th.Accent, " · filter "+draw.SafeText(v.Filter)+state))
	}
	if v.sieveErr != "" {
		left = append(left, draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+v.sieveErr))
	}
	c.Spread(left, []draw.Segment{draw.Styled(th.Text, right)})
}

func (v *View) fromText() string {
	switch f := v.Request.From; {
	case f.Earliest:
		return "from the first message"
	case f.ByOffset:
		return "from offset " + words.Grouped(f.Offset)
	case !f.Time.IsZero():
		return "from " + v.env.Clock(f.Time, words.ClockSeconds)
	}
	return "from the end"
}

func (v *View) queuesText() string {
	switch n := len(v.Request.Queues); n {
	case 0:
		return "all queues"
	case 1:
		return "queue " + draw.SafeText(v.Request.Queues[0].Short())
	default:
		return words.Plural(n, "queue")
	}
}

var tailColumns = []table.Column{
	{ID: "born", Title: "born", Width: 12, Fixed: true},
	{ID: "queue", Title: "queue", Width: 5}, // see columns
	{ID: "offset", Title: "offset", Width: 11, Right: true, Rank: 3},
	{ID: "key", Title: "key", Width: 10, Flex: 1, Max: 20, Rank: 2},
	{ID: "body", Title: "body", Width: 12, Flex: 6},
}

// columns are those of the list; the body gets the room that the queues' names leave.
func (v *View) columns() []table.Column {
	columns := slices.Clone(tailColumns)
	queue := &columns[1]
	for _, name := range v.names {
		queue.Width = min(max(queue.Width, table.Width(v.brief.Name(name))+len("/00")), 16)
	}
	return columns
}

// drawList draws the messages, the newest at the bottom.
func (v *View) drawList(c *draw.Canvas, h int) {
	th := v.env.Theme
	first, end := v.List.Window()
	title := "Messages"
	if n := v.List.Len(); n > 0 {
		title = fmt.Sprintf("Messages  %s of %s", words.Grouped(int64(v.List.Cursor()+1)), words.Grouped(int64(n)))
	}
	details := "follow"
	switch n := v.waiting(); {
	case v.Err != "":
		details = "stopped, " + v.env.Keys.First("refresh") + " again"
	case !v.frozen.IsZero() && n > 0:
		details = fmt.Sprintf("%s new, %s follow", words.Grouped(n), v.env.Keys.First("follow"))
	case !v.frozen.IsZero():
		details = "stands, " + v.env.Keys.First("follow") + " follow"
	}
	if n := v.List.MarkCount(); n > 0 {
		details = fmt.Sprintf("%d marked · ", n) + details
	}
	c.Top(draw.ThinBox, th.Frame, th.Title, title, details)
	columns := v.columns()
	layout := table.Fit(columns, c.W-2, c.W, 0)
	c.TableHead(th, &layout, columns, table.Order{}, "", "")
	var cells [5]table.Cell
	for i := first; i < end; i++ {
		r := v.Row(v.List.Key(i))
		if r == nil {
			continue
		}
		v.listCells(cells[:], r)
		c.TableRow(th, &layout, columns, cells[:], v.env.Look(i == v.List.Cursor(), v.List.IsMarked(r.Seq), true))
	}
	var notes []string
	if v.List.Len() == 0 {
		for _, l := range v.emptyReason() {
			notes = append(notes, draw.WrapText(l, max(c.W-6, 10))...)
		}
	}
	c.TableRest(th, h-page.TableFrame-(end-first), notes)
	c.Bottom(draw.ThinBox, th.Frame)
}

func (v *View) listCells(cells []table.Cell, r *Row) {
	th := v.env.Theme
	if r.Message == nil {
		cells[0], cells[1], cells[2], cells[3] = table.Cell{Text: words.None}, table.Cell{Text: words.None}, table.Cell{Text: words.None}, table.Cell{Text: words.None}
		cells[4] = table.Cell{Text: words.Warning.Sign() + " " + table.Tail(r.line, v.List.Left), Style: th.Bad}
		return
	}
	st := draw.Style{}
	if r.bad != "" {
		st = th.Warn
	}
	line := r.lineIn(v.env.Charset)
	if d, ok := v.delay(r); ok {
		at := words.Unknown
		if !d.Due.IsZero() {
			at = v.env.Clock(d.Due, words.ClockSeconds)
		}
		line = "due " + at + " · " + line
	}
	if r.retries > 0 {
		line = fmt.Sprintf("retry %d · ", r.retries) + line
	}
	key := r.Key
	if key == "" {
		key = words.None
	}
	cells[0] = table.Cell{Text: v.env.Clock(r.born, words.ClockMillis), Style: th.Dim}
	cells[1] = table.Cell{Text: fmt.Sprintf("%s/%d", v.brief.Name(r.broker), r.mq.QueueID)}
	cells[2] = table.Cell{Text: words.Grouped(r.Offset)}
	cells[3] = table.Cell{Text: key}
	cells[4] = table.Cell{Text: table.Tail(line, v.List.Left), Style: st}
}

func (v *View) emptyReason() []string {
	e := v.env
	switch {
	case v.Err != "":
		return []string{"", words.Failure.Sign() + " " + v.Err, "  " + e.Keys.First("refresh") + " again   " + e.Keys.First("command") + "tail TOPIC   esc back"}
	case v.opening, v.Tail == nil && e.Options.OpenTail != nil:
		return []string{"", "opening " + draw.SafeText(v.Request.Topic) + " …"}
	case len(v.total.Mute) > 0 && v.total.Seen == 0:
		return []string{"", words.Failure.Sign() + " no message was read: " + v.muteText()}
	case v.Filter != v.applied || v.sieving || v.late:
		return []string{"", "looking for  /" + draw.SafeText(v.Filter) + " …"}
	case v.Filter != "" && v.sieveErr == "" && v.total.Seen > 0:
		return v.noMatch()
	case v.total.Behind == 0 && v.Group != "" && v.Request.From.Earliest:
		return []string{"", "group " + draw.SafeText(v.Group) + " has no dead letters", "one that comes is shown"}
	case v.total.Behind == 0 && (v.Request.From.Earliest || !v.Request.From.Time.IsZero()):
		return []string{"", "there is no message from there to the end; what comes is shown"}
	}
	return []string{"", "no message yet: " + v.fromText() + " on", e.Keys.First("seek-time") + " from a time   " + e.Keys.First("seek-offset") + " from an offset   " + e.Keys.First("queues") + " queues"}
}

// noMatch says what the filter has looked at, what it has not, and why.
func (v *View) noMatch() []string {
	looked, _, missed := v.sifted()
	lines := []string{"", "No message of the " + words.Grouped(looked) + " looked at matches  /" + draw.SafeText(v.Filter), "a text looks into bodies, key:K and tag:T do not"}
	var parts []string
	if v.Sieve.gone > 0 {
		parts = append(parts, fmt.Sprintf("%s are kept no more (the newest %s are)", words.Grouped(v.Sieve.gone), words.Grouped(KeepRows)))
	}
	if missed > 0 {
		parts = append(parts, words.Grouped(missed)+" did not pass the filter before and were not kept")
	}
	if len(parts) > 0 {
		lines = append(lines, "", words.Plural(missed+v.Sieve.gone, "message")+" not looked at: "+strings.Join(parts, ", "),
			v.env.Keys.First("seek-time")+" from a time   "+v.env.Keys.First("seek-offset")+" from an offset   reads them with this filter")
	}
	return append(lines, "esc clear filter")
}

func (v *View) drawHistogram(c *draw.Canvas) {
	th := v.env.Theme
	right := fmt.Sprintf(" unreadable %d ", v.errors)
	switch {
	case len(v.total.Mute) > 0:
		right = " " + words.Unknown + " behind the end ·" + right
	case v.total.Behind >= 0:
		right = fmt.Sprintf(" %s behind the end ·", words.Short(float64(v.total.Behind))) + right
	}
	cells := max(min(c.W-len(right)-20, histogram), 10)
	left := []draw.Segment{draw.Styled(th.Dim, " last "+fmt.Sprintf("%ds ", cells)), draw.Styled(th.Spark, v.env.Glyphs.Trend(v.trend(cells), true))}
	st := th.Dim
	if v.errors > 0 {
		st = th.Warn
	}
	c.Spread(left, []draw.Segment{draw.Styled(st, right)})
}
