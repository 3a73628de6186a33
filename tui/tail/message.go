package tail

import (
	"fmt"

	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// BodyWidth is the room of a line of the body; the number stands before it.
func (v *View) BodyWidth() int { return max(v.plan().bodyW-2-bodyNumber, 10) }

// bodyNumber is the room of a line's number.
const bodyNumber = 6

// drawMessage draws the row under the cursor in full.
func (v *View) drawMessage(c *draw.Canvas, h int) {
	th := v.env.Theme
	if h < 2 {
		c.Blank(c.Lines + h)
		return
	}
	r := v.Current()
	title, down := "Message", v.env.Keys.First("body-down")
	details := down + "/" + v.env.Keys.First("body-up") + " scroll"
	if r != nil && r.Message != nil {
		title = fmt.Sprintf("Message  %s/%d %s", r.broker, r.mq.QueueID, words.Grouped(r.Offset))
		if b := v.ShownBody(r); b != nil && v.goesOn(r, b) {
			details = "cut: " + down + " more"
		}
	}
	c.Top(draw.ThinBox, th.Frame, th.Bold, title, details)
	room := h - 2
	lines := v.messageLines(r, c.W-2, room)
	for i := range room {
		if i < len(lines) {
			c.Boxed(draw.ThinBox, th.Frame, lines[i]...)
			continue
		}
		c.Boxed(draw.ThinBox, th.Frame)
	}
	c.Bottom(draw.ThinBox, th.Frame)
}

// messageLines are at most room lines: facts, the body from where it was scrolled to,
// and who has read it.
func (v *View) messageLines(r *Row, w, room int) [][]draw.Segment {
	if r == nil {
		return nil
	}
	th := v.env.Theme
	if r.Message == nil {
		var lines [][]draw.Segment
		for _, l := range draw.WrapText(r.bad, max(w-2, 10)) {
			lines = append(lines, page.Line(draw.Styled(th.Bad, " "+l)))
		}
		return lines
	}
	lines := v.factLines(r, w, room >= 14)
	tracks := v.trackLines(r, min(4, max(room/5-1, 0)))
	if room >= decodersFrom {
		tracks = append([][]draw.Segment{v.decoderLine()}, tracks...)
	}
	body := v.ShownBody(r)
	if body == nil {
		return append(append(lines, page.Line(draw.Styled(th.Dim, "─ body "+words.Size(int64(r.size))+" …"))), tracks...)
	}
	shown := max(room-len(lines)-1-len(tracks), 0)
	top := min(v.Top, max(len(body.Lines)-1, 0))
	end := min(top+shown, len(body.Lines))
	cut := ""
	if body.Cut {
		cut = "+"
	}
	rule := fmt.Sprintf("─ body ── %s ── %s ── line %s-%s of %s%s ─", body.reader, words.Size(int64(body.size)), words.Grouped(int64(min(top+1, len(body.Lines)))), words.Grouped(int64(end)), words.Grouped(int64(len(body.Lines))), cut)
	lines = append(lines, page.Line(draw.Styled(th.Frame, rule)))
	if body.failed != "" && shown > 1 {
		lines = append(lines, page.Line(draw.Styled(th.Warn, " "+words.Warning.Sign()+" "+body.failed)))
		end = min(top+shown-1, len(body.Lines))
	}
	re := Needle(v.Want)
	for i := top; i < end; i++ {
		st := th.Text
		if re != nil && re.MatchString(body.Lines[i]) {
			st = th.Accent
		}
		lines = append(lines, page.Line(draw.Styled(th.Dim, draw.PadLeft(words.Grouped(int64(i+1)), bodyNumber-1)+" "), draw.Styled(st, body.Lines[i])))
	}
	for len(lines) < room-len(tracks) {
		lines = append(lines, nil)
	}
	return append(lines, tracks...)
}

// decodersFrom is the height from which there is a line for the decoders.
const decodersFrom = 20

// decoderLine names the decoders and marks the chosen one.
func (v *View) decoderLine() []draw.Segment {
	th := v.env.Theme
	l := page.Line(draw.Styled(th.Frame, "─ decode "+v.env.Keys.First("decoder")+" ─ "))
	for _, name := range message.Decoders() {
		if name == v.decoder {
			l = append(l, draw.Styled(th.Accent, "["+name+"] "))
			continue
		}
		l = append(l, draw.Styled(th.Dim, name+" "))
	}
	return append(l, draw.Styled(th.Frame, "─ "+v.env.Keys.First("copy")+" copy ─ "+v.env.Keys.First("save")+" save"))
}

// factLines are what is known besides the body.
func (v *View) factLines(r *Row, w int, all bool) [][]draw.Segment {
	th, m := v.env.Theme, r.Message
	var held [][]draw.Segment
	if d, ok := v.delay(r); ok {
		text := " due     " + v.dueText(d)
		if d.Topic != "" {
			text += " in " + d.Topic
		}
		held = [][]draw.Segment{page.Line(draw.Styled(th.Warn, text))}
	}
	born := func(host string) string {
		return fmt.Sprintf(" born    %s from %s  stored %s", v.env.Clock(r.born, words.ClockMillis), host, words.SignedSpan(r.stored.Sub(r.born)))
	}
	from := born(m.BornHost().String())
	if table.Width(from) > w {
		from = born(m.BornHost().Addr().String()) // the port says least
	}
	tags := fmt.Sprintf(" tag     %s   keys %s   retry %d", words.OrNone(r.tags), words.OrNone(r.Key), r.retries)
	if packed := message.Compression(m); packed != "" {
		tags += "   " + packed
	}
	if !all {
		return append([][]draw.Segment{page.Line(draw.Styled(th.Text, from)), page.Line(draw.Styled(th.Text, tags+"   "+words.Size(int64(r.size))))}, held...)
	}
	id, _ := draw.SafeHead([]byte(m.MessageID()), rowCells)
	lines := [][]draw.Segment{
		page.Line(draw.Styled(th.Text, " id      "+id)),
		page.Line(draw.Styled(th.Text, fmt.Sprintf(" queue   %s/%d  offset %s  %s", r.broker, r.mq.QueueID, words.Grouped(r.Offset), words.Size(int64(r.size))))),
		page.Line(draw.Styled(th.Text, from)),
	}
	lines = append(append(lines, held...), page.Line(draw.Styled(th.Text, tags)))
	return append(lines, page.Line(draw.Styled(th.Text, " props   "+v.propertiesText(r))))
}

// propertiesText lists properties, as many as a line may show.
func (v *View) propertiesText(r *Row) string {
	const most = 400
	text, n := "", 0
	r.Message.Properties(func(name, value string) bool {
		n++
		if len(text) < most {
			name, _ = draw.SafeHead([]byte(name), 60)
			value, _ = draw.SafeHead([]byte(value), 60)
			text += name + "=" + value + "  "
		}
		return true
	})
	return fmt.Sprintf("(%d) %s", n, text)
}

// trackLines say who has read it, in at most n lines besides the rule.
func (v *View) trackLines(r *Row, n int) [][]draw.Segment {
	th := v.env.Theme
	t := v.tracksOf(r.Seq)
	if n == 0 || t == nil && v.asking != r.Seq {
		return nil
	}
	lines := [][]draw.Segment{page.Line(draw.Styled(th.Frame, "─ who read it ─ inferred from offsets and members ─"))}
	switch {
	case t == nil:
		return append(lines, page.Line(draw.Styled(th.Dim, " asking …")))
	case t.Err != "":
		lines = append(lines, page.Line(draw.Styled(th.Warn, " "+words.Unknown+": "+t.Err)))
		if n--; n == 0 { // the tracks below it are not all
			return lines
		}
	case len(t.Tracks) == 0:
		return append(lines, page.Line(draw.Styled(th.Dim, " no group is known to consume this topic")))
	}
	for i, x := range t.Tracks {
		if i == n-1 && len(t.Tracks) > n {
			lines = append(lines, page.Line(draw.Styled(th.Dim, fmt.Sprintf(" … and %d more", len(t.Tracks)-i))))
			break
		}
		lines = append(lines, page.Line(draw.Styled(th.Text, " "+trackText(&x))))
	}
	return lines
}

func trackText(t *inspect.Track) string {
	sign := words.Unknown
	switch t.State {
	case inspect.TrackConsumed, inspect.TrackFinished:
		sign = "✓"
	case inspect.TrackFetched, inspect.TrackFiltered:
		sign = words.None
	case inspect.TrackNotYet, inspect.TrackOffline, inspect.TrackRetry, inspect.TrackDead:
		sign = "✗"
	case inspect.TrackPull:
		if t.Passed {
			sign = "✓"
		}
	}
	text := fmt.Sprintf("%s %s %s", draw.Pad(table.Cut(t.Group, 24), 16), sign, t.State)
	if t.Behind > 0 {
		text += ", " + words.Grouped(t.Behind) + " behind"
	}
	if t.Detail != "" {
		text += ", " + t.Detail
	}
	if t.Why.Kind != inspect.ReasonNone {
		text += ": " + t.Why.String()
	}
	return text
}
