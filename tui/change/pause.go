package change

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// pauseDialog is the prompt before a pause or resume: which queues, why, and when it
// ends by itself. It writes to no broker, so enter applies.
type pauseDialog struct {
	env    *page.Env
	queues []engine.MessageQueue // empty: the whole consumer
	names  string
	left   string // which marked queues are not meant, and why
	resume bool
	reason page.Field
	after  page.Field
	second bool // the focus is on the resume time
	err    string
	// Handover says how to stop consuming without keeping queues.
	Handover string
}

// NewPauseDialog asks whether own queues are to be paused, or go on.
func NewPauseDialog(e *page.Env, queues []engine.MessageQueue, names, left string, resume bool) pauseDialog {
	return pauseDialog{env: e, queues: queues, names: names, left: left, resume: resume, reason: page.NewField(""), after: page.NewField("")}
}

// Update implements page.Dialog.
func (d pauseDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return d, nil
	}
	switch k.String() {
	case "esc":
		return d, page.CloseRequest{}
	case "tab", "shift+tab", "up", "down":
		d.second = !d.second && !d.resume
	case "enter":
		return d.apply()
	default:
		d.err = ""
		switch {
		case d.resume:
		case d.second:
			d.after.Key(k)
		default:
			d.reason.Key(k)
		}
	}
	return d, nil
}

func (d pauseDialog) apply() (page.Dialog, page.Request) {
	by := d.env.Options.Operator
	if d.resume {
		return d, ResumeRequest{engine.ResumeRequest{Queues: d.queues, By: by}}
	}
	r := engine.PauseRequest{Queues: d.queues, By: by, Reason: strings.TrimSpace(d.reason.Value())}
	if text := strings.TrimSpace(d.after.Value()); text != "" {
		after, err := time.ParseDuration(text)
		if err != nil || after <= 0 {
			d.err, d.second = fmt.Sprintf("%q is no time: 30s, 10m, 2h, or nothing", draw.SafeText(text)), true
			return d, nil
		}
		r.ResumeAfter = after
	}
	return d, PauseRequest{r}
}

// View implements page.Dialog.
func (d pauseDialog) View(w, h int) string {
	th, g := d.env.Theme, &d.env.Glyphs
	if d.resume {
		lines := append([][]draw.Segment{page.Line(d.env.Plain(" Pulling goes on at the next offset. "))}, d.leftLines()...)
		return page.DrawBox(d.env, w, h, "RESUME "+d.names, "asked by "+draw.SafeText(d.env.Options.Operator), lines, 0)
	}
	width := min(max(w-54, 14), 60)
	lines := [][]draw.Segment{
		page.Line(d.env.Plain(" What is cached is consumed to its end; the member keeps its queues.")),
		page.Line(d.env.Plain(" Reason ["+d.reason.Text(g, width, !d.second)+"]  Resume after ["+d.after.Text(g, 8, d.second)+"]"),
			draw.Styled(th.Dim, " 10m, or not")),
	}
	if d.Handover != "" { // the other way to stop consuming does the opposite
		lines = slices.Insert(lines, 1, page.Line(draw.Styled(d.env.Theme.Dim, d.Handover)))
	}
	lines = append(lines, d.leftLines()...)
	if d.err != "" {
		lines = append(lines, page.Line(draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+d.err)))
	}
	return page.DrawBox(d.env, w, h, "PAUSE "+d.names, "asked by "+draw.SafeText(d.env.Options.Operator), lines, 1)
}

func (d *pauseDialog) leftLines() [][]draw.Segment {
	if d.left == "" {
		return nil
	}
	return [][]draw.Segment{page.Line(draw.Styled(d.env.Theme.Warn, " ! "+d.left))}
}

// Hint implements page.Dialog.
func (d pauseDialog) Hint(c *draw.Canvas) string {
	if d.resume {
		d.env.Hints(c, d.env.Enter(), "resume", "esc", "leave it")
	} else {
		d.env.Hints(c, d.env.Enter(), "pause", "tab", "next field", "esc", "leave it")
	}
	return "PROMPT"
}
