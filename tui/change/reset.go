package change

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// previewGood is how long a preview may be applied.
const previewGood = 30 * time.Second

// ResetScope is a choice of queues: our own, or those of any group.
type ResetScope struct {
	Label  string
	Queues []engine.MessageQueue // true names; of any group: only these of topics
	topics []string              // of any group: none means all but the retry topic
	retry  bool                  // of any group: the retry topic too
}

// ResetDialog resets offsets of our own queues, or of any group on its brokers:
// preview, typed group name, apply, read back. Opening it and everything in it but
// Apply writes nothing.
type ResetDialog struct {
	Env     *page.Env
	group   string // true name
	topic   string // true name, for the command line
	Left    string // which marked queues are not meant, and why
	scopes  []ResetScope
	scope   int
	kind    core.ResetKind
	value   page.Field
	reason  page.Field
	name    page.Field
	focus   resetFocus
	rate    float64 // messages a second, for how long a replay may take; 0: not known
	list    table.State[engine.MessageQueue]
	exclude map[engine.MessageQueue]bool

	ticket   int // of the last preview asked for
	asked    core.ResetTarget
	from     string    // likewise, the path of toFile
	saved    savedFile // and what was there
	Rows     []engine.ResetRow
	at       time.Time
	err      string // why there is no preview
	loading  bool
	stale    bool // scope or target changed since
	old      bool // the rows are those of another scope or target
	applying bool
	done     bool
	result   []engine.ResetRow
	failed   []string // of any group: what was not done, a broker and reason a line

	Any     bool              // of the cluster: plans instead of our own member's previews
	Plan    inspect.ResetPlan // as it came, to be carried out
	Safe    inspect.ResetPlan // safe to print
	savedTo string            // where the offsets before are kept
	notes   map[engine.MessageQueue]string
	gone    map[engine.MessageQueue]engine.ResetRow // rows left out, as they were read last
}

// NewResetDialog is one for our own member. Its first preview is to be served.
func NewResetDialog(e *page.Env, group, topic string, scopes []ResetScope, rate float64) (ResetDialog, page.Request) {
	d := emptyResetDialog(e, group, topic, rate)
	d.scopes = scopes
	r := d.preview()
	return d, r
}

// emptyResetDialog has no scopes yet. It moves nothing until a target is chosen: each
// that would move something skips or repeats messages of some group.
func emptyResetDialog(e *page.Env, group, topic string, rate float64) ResetDialog {
	return ResetDialog{Env: e, group: group, topic: topic, kind: core.ResetShift, rate: rate,
		value: page.NewField("0"), reason: page.NewField(""), name: page.NewField(""),
		exclude: map[engine.MessageQueue]bool{}, gone: map[engine.MessageQueue]engine.ResetRow{}}
}

// preview asks for one of the present form.
func (d *ResetDialog) preview() page.Request {
	target, err := d.target()
	if err != nil {
		d.err, d.Rows, d.loading = err.Error(), nil, false
		d.setRows()
		return nil
	}
	d.ticket = d.Env.NewTicket()
	d.asked, d.loading, d.err, d.stale, d.from = target, true, "", false, ""
	if d.kind == toFile {
		d.from = strings.TrimSpace(d.value.Value())
	}
	if d.Any {
		return PlanResetRequest{d.ticket, d.from, d.planRequest(target)}
	}
	return PreviewRequest{d.ticket, d.from, engine.ResetRequest{Queues: d.scopes[d.scope].Queues, Target: target, By: d.Env.Options.Operator}}
}

// setRows tells the list which rows there are; the cursor stays at its queue.
func (d *ResetDialog) setRows() {
	keys := make([]engine.MessageQueue, len(d.Rows))
	for i := range d.Rows {
		keys[i] = d.Rows[i].MessageQueue
	}
	d.list.SetKeys(keys)
}

// Update implements page.Dialog.
func (d ResetDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	switch msg := msg.(type) {
	case ResetPreviewMsg:
		if msg.Ticket == d.ticket {
			d.Rows, d.at, d.err, d.loading, d.old, d.saved = msg.rows, msg.at, msg.Err, false, false, msg.saved
			d.setRows()
		}
	case ResetPlanMsg:
		if msg.ticket == d.ticket {
			d.takePlan(msg)
		}
	case ResetAnyDoneMsg:
		if msg.ticket == d.ticket {
			d.TakeResult(msg)
		}
	case ResetDoneMsg:
		if d.Any {
			return d, nil
		}
		d.result, d.err, d.applying, d.done = msg.Rows, msg.Err, false, true
		d.focus = onCancel
		d.Rows = msg.Rows
		d.setRows()
	case tea.KeyMsg:
		return d.key(msg)
	}
	return d, nil
}

// request is what Apply sends: the included rows as the preview gave them.
func (d *ResetDialog) request() page.Request {
	r := engine.ResetRequest{Target: d.asked, By: d.Env.Options.Operator, Reason: strings.TrimSpace(d.reason.Value())}
	for i := range d.Rows {
		row := &d.Rows[i]
		if row.Err == nil && !d.exclude[row.MessageQueue] {
			r.Queues = append(r.Queues, row.MessageQueue)
			r.Preview = append(r.Preview, *row)
		}
	}
	return ApplyRequest{r}
}

// impossible reports whether the group's brokers and members rule out what was chosen.
func (d *ResetDialog) impossible() bool {
	return d.Plan.Method == inspect.MethodNone && (len(d.Plan.Rows) == 0 || !d.unchosen())
}

// unchosen reports whether the target is the one that the dialog opens with: what cannot be
// done to it, or would change nothing, is no answer yet.
func (d *ResetDialog) unchosen() bool {
	return d.from == "" && d.asked == core.ResetTarget{Kind: core.ResetShift}
}

// off says why Apply cannot be pressed; "" when it can.
func (d *ResetDialog) off() string {
	s := d.sum()
	switch {
	case d.loading:
		return "the preview is being read"
	case d.err != "":
		return "there is no preview: " + d.err
	case d.stale:
		return "the form changed: " + d.Env.Enter() + " or ctrl-r previews again"
	case d.Any && d.impossible():
		return d.Safe.Why
	case s.unknown > 0:
		return fmt.Sprintf("%s unknown: leave it out by hand (space on its row)", words.Plural(s.unknown, "queue"))
	case s.queues == 0:
		return "no queue is included"
	case d.unchosen():
		return "choose where to (←/→ on To): a shift by 0 moves nothing"
	case s.changed == 0:
		return "nothing would change"
	case d.Env.Now.Sub(d.at) > previewGood:
		return "the preview is older than " + words.Age(previewGood) + ": ctrl-r previews again"
	case d.name.Value() != d.typedName():
		return "type the group's name: " + draw.SafeText(d.typedName())
	}
	return ""
}
