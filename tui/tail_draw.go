package tui

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/tui/table"
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

func (v *tailView) plan() tailPlan {
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
		p.listW, p.listH = v.w, min(max(stackRows+tableFrame, h/3), h)
		if v.h < 16 {
			p.listH = min(4+tableFrame, h)
		}
		p.bodyW, p.bodyH = v.w, h-p.listH
	}
	return p
}

func (v *tailView) resize() {
	v.list.Resize(max(v.plan().listH-tableFrame, 0))
}

// bodyWidth is the room of a line of the body; the number stands before it.
func (v *tailView) bodyWidth() int { return max(v.plan().bodyW-2-bodyNumber, 10) }

// bodyNumber is the room of a line's number.
const bodyNumber = 6

func (v tailView) view(w, h int) string {
	c := newCanvas(w, h)
	v.drawCounts(c)
	p := v.plan()
	switch {
	case p.beside:
		left, right := newCanvas(p.listW, p.listH), newCanvas(p.bodyW, p.bodyH)
		v.drawList(left, p.listH)
		v.drawMessage(right, p.bodyH)
		l, r := strings.Split(left.String(), "\n"), strings.Split(right.String(), "\n")
		for i := range min(len(l), len(r)) {
			c.b = append(c.b, l[i]...)
			c.b = append(c.b, r[i]...)
			c.b = append(c.b, '\n')
			c.lines++
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
	c.blank(h)
	return c.String()
}

// drawCounts is the line above: what is read and what comes of it.
func (v *tailView) drawCounts(c *canvas) {
	th := v.env.th
	right := fmt.Sprintf("seen %s · match %s · kept %s/%s ", grouped(v.total.Seen), grouped(v.total.Matched), grouped(int64(len(v.ring.rows))), grouped(keepRows))
	if v.w < 80 {
		right = fmt.Sprintf("%s of %s ", short(float64(v.total.Matched)), short(float64(v.total.Seen)))
	}
	left := []segment{{th.text, " " + v.fromText() + " · " + v.queuesText()}}
	if v.filter != "" {
		state := ""
		if v.filter != v.applied || v.sieving {
			state = " (typed)"
		}
		left = append(left, segment{th.accent, " · filter " + SafeText(v.filter) + state})
	}
	if v.sieveErr != "" {
		left = append(left, segment{th.bad, " " + failure.sign() + " " + v.sieveErr})
	}
	c.spread(left, []segment{{th.text, right}})
}

func (v *tailView) fromText() string {
	switch f := v.request.From; {
	case f.Earliest:
		return "from the first message"
	case f.ByOffset:
		return "from offset " + grouped(f.Offset)
	case !f.Time.IsZero():
		return "from " + v.env.clock(f.Time, clockSeconds)
	}
	return "from the end"
}

func (v *tailView) queuesText() string {
	switch n := len(v.request.Queues); n {
	case 0:
		return "all queues"
	case 1:
		return "queue " + SafeText(v.request.Queues[0].Short())
	default:
		return plural(n, "queue")
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
func (v *tailView) columns() []table.Column {
	columns := slices.Clone(tailColumns)
	queue := &columns[1]
	for _, name := range v.names {
		queue.Width = min(max(queue.Width, table.Width(v.brief.name(name))+len("/00")), 16)
	}
	return columns
}

// drawList draws the messages, the newest at the bottom.
func (v *tailView) drawList(c *canvas, h int) {
	th := v.env.th
	first, end := v.list.Window()
	title := "Messages"
	if n := v.list.Len(); n > 0 {
		title = fmt.Sprintf("Messages  %s of %s", grouped(int64(v.list.Cursor()+1)), grouped(int64(n)))
	}
	details := "follow"
	switch n := v.waiting(); {
	case !v.frozen.IsZero() && n > 0:
		details = fmt.Sprintf("%s new, %s follow", grouped(n), v.env.keys.first("follow"))
	case !v.frozen.IsZero():
		details = "stands, " + v.env.keys.first("follow") + " follow"
	}
	if n := v.list.MarkCount(); n > 0 {
		details = fmt.Sprintf("%d marked · ", n) + details
	}
	c.top(thinBox, th.frame, th.title, title, details)
	columns := v.columns()
	layout := table.Fit(columns, c.w-2, c.w, 0)
	c.tableHead(th, &layout, columns, table.Order{}, "", "")
	var cells [5]table.Cell
	for i := first; i < end; i++ {
		r := v.row(v.list.Key(i))
		if r == nil {
			continue
		}
		v.listCells(cells[:], r)
		c.tableRow(th, &layout, columns, cells[:], v.env.look(i == v.list.Cursor(), v.list.IsMarked(r.seq), true))
	}
	var notes []string
	if v.list.Len() == 0 {
		for _, l := range v.emptyReason() {
			notes = append(notes, wrapText(l, max(c.w-6, 10))...)
		}
	}
	c.tableRest(th, h-tableFrame-(end-first), notes)
	c.bottom(thinBox, th.frame)
}

func (v *tailView) listCells(cells []table.Cell, r *tailRow) {
	th := v.env.th
	if r.message == nil {
		cells[0], cells[1], cells[2], cells[3] = table.Cell{Text: none}, table.Cell{Text: none}, table.Cell{Text: none}, table.Cell{Text: none}
		cells[4] = table.Cell{Text: warning.sign() + " " + table.Tail(r.line, v.list.Left), Style: th.bad}
		return
	}
	st := style{}
	if r.bad != "" {
		st = th.warn
	}
	line := r.lineIn(v.env.charset)
	if !r.due.IsZero() {
		line = "due " + v.env.clock(r.due, clockSeconds) + " · " + line
	}
	if r.retries > 0 {
		line = fmt.Sprintf("retry %d · ", r.retries) + line
	}
	key := r.key
	if key == "" {
		key = none
	}
	cells[0] = table.Cell{Text: v.env.clock(r.born, clockMillis), Style: th.dim}
	cells[1] = table.Cell{Text: fmt.Sprintf("%s/%d", v.brief.name(r.broker), r.mq.QueueID)}
	cells[2] = table.Cell{Text: grouped(r.offset)}
	cells[3] = table.Cell{Text: key}
	cells[4] = table.Cell{Text: table.Tail(line, v.list.Left), Style: st}
}

func (v *tailView) emptyReason() []string {
	e := v.env
	switch {
	case v.err != "":
		return []string{"", e.bad() + " " + v.err, "  " + e.keys.first("refresh") + " again   " + e.keys.first("command") + "tail TOPIC   esc back"}
	case v.opening, v.tail == nil && e.o.OpenTail != nil:
		return []string{"", "opening " + SafeText(v.request.Topic) + " …"}
	case v.filter != "" && len(v.ring.rows) > 0:
		return []string{"", "No message matches  /" + SafeText(v.filter), plural(len(v.ring.rows), "kept message") + " hidden by the filter; a text looks into bodies, key:K and tag:T do not", "esc clear filter"}
	case v.filter != "" && v.total.Seen > 0:
		return []string{"", fmt.Sprintf("none of %s matches  /%s", plural(int(v.total.Seen), "message"), SafeText(v.filter)), "esc clear filter"}
	case v.total.Behind == 0 && v.group != "" && v.request.From.Earliest:
		return []string{"", "group " + SafeText(v.group) + " has no dead letters", "one that comes is shown"}
	case v.total.Behind == 0 && (v.request.From.Earliest || !v.request.From.Time.IsZero()):
		return []string{"", "there is no message from there to the end; what comes is shown"}
	}
	return []string{"", "no message yet: " + v.fromText() + " on", e.keys.first("seek-time") + " from a time   " + e.keys.first("seek-offset") + " from an offset   " + e.keys.first("queues") + " queues"}
}

// drawMessage draws the row under the cursor in full.
func (v *tailView) drawMessage(c *canvas, h int) {
	th := v.env.th
	if h < 2 {
		c.blank(c.lines + h)
		return
	}
	r := v.current()
	title, down := "Message", v.env.keys.first("body-down")
	details := down + "/" + v.env.keys.first("body-up") + " scroll"
	if r != nil && r.message != nil {
		title = fmt.Sprintf("Message  %s/%d %s", r.broker, r.mq.QueueID, grouped(r.offset))
		if b := v.shownBody(r); b != nil && v.goesOn(r, b) {
			details = "cut: " + down + " more"
		}
	}
	c.top(thinBox, th.frame, th.bold, title, details)
	room := h - 2
	lines := v.messageLines(r, c.w-2, room)
	for i := range room {
		if i < len(lines) {
			c.boxed(thinBox, th.frame, lines[i]...)
			continue
		}
		c.boxed(thinBox, th.frame)
	}
	c.bottom(thinBox, th.frame)
}

// messageLines are at most room lines: facts, the body from where it was scrolled to,
// and who has read it.
func (v *tailView) messageLines(r *tailRow, w, room int) [][]segment {
	if r == nil {
		return nil
	}
	th := v.env.th
	if r.message == nil {
		var lines [][]segment
		for _, l := range wrapText(r.bad, max(w-2, 10)) {
			lines = append(lines, line(segment{th.bad, " " + l}))
		}
		return lines
	}
	lines := v.factLines(r, w, room >= 14)
	tracks := v.trackLines(r, min(4, max(room/5-1, 0)))
	if room >= decodersFrom {
		tracks = append([][]segment{v.decoderLine()}, tracks...)
	}
	body := v.shownBody(r)
	if body == nil {
		return append(append(lines, line(segment{th.dim, "─ body " + size(int64(r.size)) + " …"})), tracks...)
	}
	shown := max(room-len(lines)-1-len(tracks), 0)
	top := min(v.top, max(len(body.lines)-1, 0))
	end := min(top+shown, len(body.lines))
	cut := ""
	if body.cut {
		cut = "+"
	}
	rule := fmt.Sprintf("─ body ── %s ── %s ── line %s-%s of %s%s ─", body.reader, size(int64(body.size)), grouped(int64(min(top+1, len(body.lines)))), grouped(int64(end)), grouped(int64(len(body.lines))), cut)
	lines = append(lines, line(segment{th.frame, rule}))
	if body.failed != "" && shown > 1 {
		lines = append(lines, line(segment{th.warn, " " + warning.sign() + " " + body.failed}))
		end = min(top+shown-1, len(body.lines))
	}
	re := needle(v.want)
	for i := top; i < end; i++ {
		st := th.text
		if re != nil && re.MatchString(body.lines[i]) {
			st = th.accent
		}
		lines = append(lines, line(segment{th.dim, padLeft(grouped(int64(i+1)), bodyNumber-1) + " "}, segment{st, body.lines[i]}))
	}
	for len(lines) < room-len(tracks) {
		lines = append(lines, nil)
	}
	return append(lines, tracks...)
}

// decodersFrom is the height from which there is a line for the decoders.
const decodersFrom = 20

// decoderLine names the decoders and marks the chosen one.
func (v *tailView) decoderLine() []segment {
	th := v.env.th
	l := line(segment{th.frame, "─ decode " + v.env.keys.first("decoder") + " ─ "})
	for _, name := range inspect.Decoders() {
		if name == v.decoder {
			l = append(l, segment{th.accent, "[" + name + "] "})
			continue
		}
		l = append(l, segment{th.dim, name + " "})
	}
	return append(l, segment{th.frame, "─ " + v.env.keys.first("copy") + " copy ─ " + v.env.keys.first("save") + " save"})
}

// factLines are what is known besides the body.
func (v *tailView) factLines(r *tailRow, w int, all bool) [][]segment {
	th, m := v.env.th, r.message
	var held [][]segment
	if !r.due.IsZero() {
		text := " due     " + v.env.clock(r.due, clockSeconds) + " (" + dueIn(r, v.env) + ")"
		if r.dueTopic != "" {
			text += " in " + r.dueTopic
		}
		held = [][]segment{line(segment{th.warn, text})}
	}
	born := func(host string) string {
		return fmt.Sprintf(" born    %s from %s  stored %s", v.env.clock(r.born, clockMillis), host, signedSpan(r.stored.Sub(r.born)))
	}
	from := born(m.BornHost().String())
	if table.Width(from) > w {
		from = born(m.BornHost().Addr().String()) // the port says least
	}
	tags := fmt.Sprintf(" tag     %s   keys %s   retry %d", orNone(r.tags), orNone(r.key), r.retries)
	if packed := inspect.Compression(m); packed != "" {
		tags += "   " + packed
	}
	if !all {
		return append([][]segment{line(segment{th.text, from}), line(segment{th.text, tags + "   " + size(int64(r.size))})}, held...)
	}
	id, _ := safeHead([]byte(m.MessageID()), rowCells)
	lines := [][]segment{
		line(segment{th.text, " id      " + id}),
		line(segment{th.text, fmt.Sprintf(" queue   %s/%d  offset %s  %s", r.broker, r.mq.QueueID, grouped(r.offset), size(int64(r.size)))}),
		line(segment{th.text, from}),
	}
	lines = append(append(lines, held...), line(segment{th.text, tags}))
	return append(lines, line(segment{th.text, " props   " + v.propertiesText(r)}))
}

func dueIn(r *tailRow, e *env) string {
	if d := r.due.Sub(e.now); d > 0 {
		return "in " + age(d)
	}
	return "over"
}

// propertiesText lists properties, as many as a line may show.
func (v *tailView) propertiesText(r *tailRow) string {
	const most = 400
	text, n := "", 0
	r.message.Properties(func(name, value string) bool {
		n++
		if len(text) < most {
			name, _ = safeHead([]byte(name), 60)
			value, _ = safeHead([]byte(value), 60)
			text += name + "=" + value + "  "
		}
		return true
	})
	return fmt.Sprintf("(%d) %s", n, text)
}

// trackLines say who has read it, in at most n lines besides the rule.
func (v *tailView) trackLines(r *tailRow, n int) [][]segment {
	th := v.env.th
	t := v.tracksOf(r.seq)
	if n == 0 || t == nil && v.asking != r.seq {
		return nil
	}
	lines := [][]segment{line(segment{th.frame, "─ who read it ─ inferred from committed offsets ─"})}
	switch {
	case t == nil:
		return append(lines, line(segment{th.dim, " asking …"}))
	case t.err != "":
		lines = append(lines, line(segment{th.warn, " " + unknown + ": " + t.err}))
		if n--; n == 0 { // the tracks below it are not all
			return lines
		}
	case len(t.tracks) == 0:
		return append(lines, line(segment{th.dim, " no group is known to consume this topic"}))
	}
	for i, x := range t.tracks {
		if i == n-1 && len(t.tracks) > n {
			lines = append(lines, line(segment{th.dim, fmt.Sprintf(" … and %d more", len(t.tracks)-i)}))
			break
		}
		lines = append(lines, line(segment{th.text, " " + trackText(&x)}))
	}
	return lines
}

func trackText(t *inspect.Track) string {
	sign := "✗"
	if t.State == inspect.TrackConsumed {
		sign = "✓"
	} else if t.State == inspect.TrackUnknown {
		sign = unknown
	}
	text := fmt.Sprintf("%s %s %s", pad(table.Cut(t.Group, 24), 16), sign, t.State)
	if t.Behind > 0 {
		text += ", " + grouped(t.Behind) + " behind"
	}
	if t.Detail != "" {
		text += ", " + t.Detail
	}
	if t.Why.Kind != inspect.ReasonNone {
		text += ": " + t.Why.String()
	}
	return text
}

func (v *tailView) drawHistogram(c *canvas) {
	th := v.env.th
	right := fmt.Sprintf(" unreadable %d ", v.errors)
	if v.total.Behind >= 0 {
		right = fmt.Sprintf(" %s behind the end ·", short(float64(v.total.Behind))) + right
	}
	cells := max(min(c.w-len(right)-20, histogram), 10)
	left := []segment{{th.dim, " last " + fmt.Sprintf("%ds ", cells)}, {th.spark, v.env.g.trend(v.trend(cells), true)}}
	st := th.dim
	if v.errors > 0 {
		st = th.warn
	}
	c.spread(left, []segment{{st, right}})
}
