package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// pauseDialog is the prompt before a pause or resume: which queues, why, and when it
// ends by itself. It writes to no broker, so enter applies.
type pauseDialog struct {
	env    *env
	queues []engine.MessageQueue // empty: the whole consumer
	names  string
	left   string // which marked queues are not meant, and why
	resume bool
	reason field
	after  field
	second bool // the focus is on the resume time
	err    string
	// handover says how to stop consuming without keeping queues.
	handover string
}

func newPauseDialog(e *env, queues []engine.MessageQueue, names, left string, resume bool) pauseDialog {
	return pauseDialog{env: e, queues: queues, names: names, left: left, resume: resume, reason: newField(""), after: newField("")}
}

func (d pauseDialog) update(msg tea.Msg) (dialog, request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc":
		return d, closeRequest{}
	case "tab", "shift+tab", "up", "down":
		d.second = !d.second && !d.resume
	case "enter":
		return d.apply()
	default:
		d.err = ""
		switch {
		case d.resume:
		case d.second:
			d.after.key(k)
		default:
			d.reason.key(k)
		}
	}
	return d, nil
}

func (d pauseDialog) apply() (dialog, request) {
	by := d.env.o.Operator
	if d.resume {
		return d, resumeRequest{engine.ResumeRequest{Queues: d.queues, By: by}}
	}
	r := engine.PauseRequest{Queues: d.queues, By: by, Reason: strings.TrimSpace(d.reason.value())}
	if text := strings.TrimSpace(d.after.value()); text != "" {
		after, err := time.ParseDuration(text)
		if err != nil || after <= 0 {
			d.err, d.second = fmt.Sprintf("%q is no time: 30s, 10m, 2h, or nothing", draw.SafeText(text)), true
			return d, nil
		}
		r.ResumeAfter = after
	}
	return d, pauseRequest{r}
}

func (d pauseDialog) view(w, h int) string {
	th, g := d.env.th, &d.env.g
	if d.resume {
		lines := append([][]draw.Segment{line(d.env.plain(" Pulling goes on at the next offset. "))}, d.leftLines()...)
		return drawBox(d.env, w, h, "RESUME "+d.names, "asked by "+draw.SafeText(d.env.o.Operator), lines, 0)
	}
	width := min(max(w-54, 14), 60)
	lines := [][]draw.Segment{
		line(d.env.plain(" What is cached is consumed to its end; the member keeps its queues.")),
		line(d.env.plain(" Reason ["+d.reason.text(g, width, !d.second)+"]  Resume after ["+d.after.text(g, 8, d.second)+"]"),
			draw.Styled(th.Dim, " 10m, or not")),
	}
	if d.handover != "" { // the other way to stop consuming does the opposite
		lines = slices.Insert(lines, 1, line(draw.Styled(d.env.th.Dim, d.handover)))
	}
	lines = append(lines, d.leftLines()...)
	if d.err != "" {
		lines = append(lines, line(draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+d.err)))
	}
	return drawBox(d.env, w, h, "PAUSE "+d.names, "asked by "+draw.SafeText(d.env.o.Operator), lines, 1)
}

func (d *pauseDialog) leftLines() [][]draw.Segment {
	if d.left == "" {
		return nil
	}
	return [][]draw.Segment{line(draw.Styled(d.env.th.Warn, " ! "+d.left))}
}

func (d pauseDialog) hint(c *draw.Canvas) string {
	if d.resume {
		d.env.hints(c, d.env.enter(), "resume", "esc", "leave it")
	} else {
		d.env.hints(c, d.env.enter(), "pause", "tab", "next field", "esc", "leave it")
	}
	return "PROMPT"
}
