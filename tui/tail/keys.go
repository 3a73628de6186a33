package tail

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect/message"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// act applies a key.
func (v View) act(a page.Action) (page.Page, page.Request) {
	switch a {
	case "follow":
		v.follow()
	case "freeze":
		if v.byKey {
			v.follow()
		} else { // also where it stands since the cursor was moved
			v.stand()
			v.byKey = true
		}
	case "wrap":
		v.wrap, v.Top = !v.wrap, 0
	case "hex":
		v.choose(message.DecoderHex)
	case "decoder":
		all := message.Decoders()
		v.choose(all[(slices.Index(all, v.decoder)+1)%len(all)])
	case "detail", "zoom":
		v.zoomed = !v.zoomed
		v.resize()
	case "body-down", "body-up":
		v.Scroll(a)
	case "next-match":
		return v.FindMatch(1)
	case "previous-match":
		return v.FindMatch(-1)
	case "next-error":
		v.jumpError(1)
	case "previous-error":
		v.jumpError(-1)
	case "seek-time":
		return v, page.PushRequest{Dialog: v.askTime()}
	case "seek-offset":
		return v, page.PushRequest{Dialog: v.askOffset()}
	case "queues":
		return v.askQueues()
	case "copy", "copy-json":
		return v.copy(a == "copy-json")
	case "save":
		return v.askSave()
	case "mark":
		v.stand()
		v.List.ToggleMark()
		v.List.Move(1)
	case "mark-range":
		v.stand()
		v.List.MarkRange()
	case "resend":
		return v.askResend()
	case "escape":
		return v.escape()
	case "left":
		v.List.Left = max(v.List.Left-16, 0)
	case "right":
		v.List.Left += 16
	case "far-left":
		v.List.Left = 0
	default:
		v.move(a)
	}
	return v, nil
}

// choose takes a decoder, or goes back to the automatic one.
func (v *View) choose(decoder string) {
	if v.decoder == decoder {
		decoder = message.DecoderAuto
	}
	v.decoder, v.Top = decoder, 0
}

// move moves the cursor. Scrolling up makes the list stand; its last row follows again.
func (v *View) move(a page.Action) {
	if v.zoomed && a != "down" && a != "up" { // there is no list to page in
		v.Scroll(a)
		return
	}
	before, _ := v.List.Current()
	if a == "bottom" {
		v.follow()
		return
	}
	v.stand()
	if !page.MoveBy(&v.List, a) {
		return
	}
	if now, _ := v.List.Current(); now != before {
		v.Top, v.Hunt, v.moved = 0, 0, v.env.Now
	}
}

// follow shows the newest again.
func (v *View) follow() {
	v.List.Follow, v.frozen, v.byKey, v.Top = true, time.Time{}, false, 0
	v.arrange()
}

// escape takes back the last thing that narrows the view.
func (v View) escape() (page.Page, page.Request) {
	switch {
	case v.zoomed:
		v.zoomed = false
		v.resize()
	case v.Filter != "":
		v.Filter, v.Want, v.wantAt = "", message.Filter{}, time.Time{}
	case v.List.ClearMarks():
	case v.List.Left > 0:
		v.List.Left = 0
	case !v.frozen.IsZero():
		v.follow()
	default:
		return v, page.BackRequest{}
	}
	return v, nil
}

// Scroll moves the body while the list keeps its cursor.
func (v *View) Scroll(a page.Action) {
	r := v.Current()
	if r == nil {
		return
	}
	v.stand()
	b := v.ShownBody(r)
	if b == nil {
		return
	}
	page := max(v.plan().bodyH-bodyFacts, 1)
	switch a {
	case "body-down":
		v.Top++
	case "body-up":
		v.Top--
	case "half-down":
		v.Top += max(page/2, 1)
	case "half-up":
		v.Top -= max(page/2, 1)
	case "page-down":
		v.Top += page
	case "page-up":
		v.Top -= page
	case "top":
		v.Top = 0
	case "bottom":
		v.Top = len(b.Lines) - page
	}
	v.Top = max(min(v.Top, len(b.Lines)-1), 0)
	if v.goesOn(r, b) && v.Top+2*page >= len(b.Lines) {
		v.readOn(r)
	}
}

// bodyFacts is about what stands beside the body in its pane.
const bodyFacts = 10

// jumpError goes to the next row that cannot be read.
func (v *View) jumpError(step int) {
	v.stand()
	for i := v.List.Cursor() + step; i >= 0 && i < v.List.Len(); i += step {
		if r := v.Row(v.List.Key(i)); r != nil && r.bad != "" {
			v.List.MoveTo(i)
			v.Top, v.moved = 0, v.env.Now
			return
		}
	}
}

// FindMatch goes to the next place of the filter's text in the body, then to the next
// message.
func (v View) FindMatch(step int) (page.Page, page.Request) {
	re := Needle(v.Want)
	if re == nil {
		return v, page.RefuseRequest{Text: "n and N look for the filter's text: " + v.env.Keys.First("filter") + " sets one"}
	}
	v.stand()
	r := v.Current()
	if r == nil {
		return v, page.RefuseRequest{Text: "there is no message"}
	}
	v.Hunt = 0
	if b := v.ShownBody(r); b != nil {
		for i := v.Top + step; i >= 0 && i < len(b.Lines); i += step {
			if re.MatchString(b.Lines[i]) {
				v.Top = i
				return v, nil
			}
		}
		if v.goesOn(r, b) && step > 0 { // what is laid out has been looked through: go on in the rest
			v.Top, v.Hunt = max(len(b.Lines)-1, 0), step
			v.readOn(r)
			return v, nil
		}
	}
	at := v.List.Cursor()
	if v.List.MoveTo(at + step); v.List.Cursor() != at {
		v.Top, v.moved = 0, v.env.Now
	}
	return v, nil
}

func (v *View) askTime() page.Prompt {
	e := v.env
	return page.NewPrompt(e, "from time", "-15m, 13:30, 2026-11-29 13:30, RFC 3339, earliest, latest", "SEEK", "", func(text string) (page.Request, error) {
		from, err := ParsePosition(e, text)
		if err != nil {
			return nil, err
		}
		return page.ToPageRequest{Msg: seekMsg{from}}, nil
	})
}

func (v *View) askOffset() page.Prompt {
	text := ""
	if r := v.Current(); r != nil && r.Message != nil {
		text = strconv.FormatInt(r.Offset, 10)
	}
	return page.NewPrompt(v.env, "from offset", "of each queue that is read", "SEEK", text, func(text string) (page.Request, error) {
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is no offset", draw.SafeText(text))
		}
		return page.ToPageRequest{Msg: seekMsg{page.TailPosition{ByOffset: true, Offset: n}}}, nil
	})
}

// askQueues asks which queues there are, to choose from.
func (v View) askQueues() (page.Page, page.Request) {
	if v.env.Options.Inspect != nil {
		return v, page.RunRequest{Cmd: tailQueues(v.cmds, v.env.Options.Inspect, v.Request.Topic, v.Ticket)}
	}
	var seen []engine.MessageQueue
	for _, r := range v.Ring.Rows {
		if r.Message != nil && !slices.Contains(seen, r.mq) {
			seen = append(seen, r.mq)
		}
	}
	if len(seen) == 0 {
		return v, page.RefuseRequest{Text: "no queue is known yet"}
	}
	return v, page.PushRequest{Dialog: newQueuesDialog(v.env, seen, v.Request.Queues)}
}

// copy copies the body's true bytes, or the message as JSON.
func (v View) copy(asJSON bool) (page.Page, page.Request) {
	r := v.Current()
	if r == nil || r.Message == nil {
		return v, page.RefuseRequest{Text: "there is no message under the cursor to copy"}
	}
	m := r.Message
	if !asJSON {
		return v, page.CopyRequest{Copied: page.Copied{What: "the body at " + words.Grouped(r.Offset), Text: func() (string, error) {
			body, err := m.Body()
			return string(body), err
		}}}
	}
	encode := v.env.Options.MessageJSON
	if encode == nil {
		return v, page.RefuseRequest{Text: "there is no JSON of messages here"}
	}
	return v, page.CopyRequest{Copied: page.Copied{What: "the message at " + words.Grouped(r.Offset) + " as JSON", Text: func() (string, error) { return string(encode(m)), nil }}}
}

// askSave asks where to save: by the name's ending the rows as CSV or JSON lines, else
// the true bytes of the body under the cursor.
func (v View) askSave() (page.Page, page.Request) {
	r := v.Current()
	if r == nil || r.Message == nil {
		return v, page.RefuseRequest{Text: "there is no message under the cursor to save"}
	}
	marked := v.List.MarkCount() > 0
	rows := v.shown
	if marked {
		rows = v.targets()
	}
	e := v.env
	name := page.FileName(v.Request.Topic+"-"+r.mq.Short()+"-"+words.Offset(r.Offset), e.Now.In(e.Options.Location)) + ".bin"
	help := "the body's bytes; .jsonl or .csv: " + words.Plural(len(rows), "message")
	return v, page.PushRequest{Dialog: page.NewPrompt(e, "save to", help, "SAVE", strings.ReplaceAll(name, ",", ""), func(path string) (page.Request, error) {
		switch {
		case path == "":
			return nil, errors.New("a file's name is needed")
		case strings.HasSuffix(path, ".jsonl"):
			if e.Options.MessageJSON == nil {
				return nil, errors.New("there is no JSON of messages here")
			}
			return page.SaveRequest{Saved: page.Saved{What: words.Plural(len(rows), "message"), Path: path, Make: func() ([]byte, error) { return jsonLines(e.Options, rows), nil }}}, nil
		case strings.HasSuffix(path, ".csv"):
			x := tailExport(rows)
			return page.SaveRequest{Saved: page.Saved{What: words.Plural(len(rows), "message"), Path: path, Make: x.CsvText}}, nil
		}
		return page.SaveRequest{Saved: page.Saved{What: "the body at " + words.Grouped(r.Offset), Path: path, Make: r.Message.Body}}, nil
	})}
}

// Under is the message where there is one at the place.
func (v View) Under(x, y int) page.Under {
	switch p := v.plan(); {
	case p.bodyH == 0, y < 1:
	case p.listH == 0, p.beside && x >= p.listW && y <= p.bodyH, !p.beside && y > p.listH && y <= p.listH+p.bodyH:
		return page.OverText
	}
	return page.OverRows
}

func jsonLines(o page.Options, rows []*Row) []byte {
	var b []byte
	for _, r := range rows {
		if r.Message != nil {
			b = append(append(b, o.MessageJSON(r.Message)...), '\n')
		}
	}
	return b
}

// tailExport are messages as rows; bodies that are text only.
func tailExport(rows []*Row) page.Export {
	x := page.Export{Name: "tail", Columns: []string{"born", "stored", "topic", "broker", "queue", "offset", "message_id", "tags", "keys", "reconsume_times", "size", "body", "error"}}
	for _, r := range rows {
		m := r.Message
		if m == nil {
			continue
		}
		var body any
		if b, err := m.Body(); err == nil && r.decoder != "hex" {
			body = string(b)
		}
		x.Rows = append(x.Rows, []any{r.born, r.stored, r.mq.Topic, r.mq.BrokerName, r.mq.QueueID, r.Offset, m.MessageID(), m.Tags(), strings.Join(m.Keys(), " "), r.retries, r.size, body, r.bad})
	}
	return x
}
