package tui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/table"
)

// previewGood is how long a preview may be applied.
const previewGood = 30 * time.Second

// resetScope is a choice of queues: our own, or those of any group.
type resetScope struct {
	label  string
	queues []engine.MessageQueue // true names; of any group: only these of topics
	topics []string              // of any group: none means all but the retry topic
	retry  bool                  // of any group: the retry topic too
}

// resetFocus is a part of the dialog that takes keys.
type resetFocus uint8

const (
	onCancel resetFocus = iota // the focus starts here
	onScope
	onKind
	onValue
	onRows
	onReason
	onName
	onApply
	resetFoci
)

var resetKinds = []core.ResetKind{core.ResetEarliest, core.ResetLatest, core.ResetTime, core.ResetOffset, core.ResetShift, toFile}

// resetDialog resets offsets of our own queues, or of any group on its brokers:
// preview, typed group name, apply, read back. Opening it and everything in it but
// Apply writes nothing.
type resetDialog struct {
	env     *env
	group   string // true name
	topic   string // true name, for the command line
	left    string // which marked queues are not meant, and why
	scopes  []resetScope
	scope   int
	kind    core.ResetKind
	value   field
	reason  field
	name    field
	focus   resetFocus
	rate    float64 // messages a second, for how long a replay may take; 0: not known
	list    table.State[engine.MessageQueue]
	exclude map[engine.MessageQueue]bool

	ticket   int // of the last preview asked for
	asked    core.ResetTarget
	from     string    // likewise, the path of toFile
	saved    savedFile // and what was there
	rows     []engine.ResetRow
	at       time.Time
	err      string // why there is no preview
	loading  bool
	stale    bool // scope or target changed since
	old      bool // the rows are those of another scope or target
	applying bool
	done     bool
	result   []engine.ResetRow
	failed   []string // of any group: what was not done, a broker and reason a line

	any     bool              // of the cluster: plans instead of our own member's previews
	plan    inspect.ResetPlan // as it came, to be carried out
	safe    inspect.ResetPlan // safe to print
	savedTo string            // where the offsets before are kept
	notes   map[engine.MessageQueue]string
	gone    map[engine.MessageQueue]engine.ResetRow // rows left out, as they were read last
}

func newResetDialog(e *env, group, topic string, scopes []resetScope, rate float64) (resetDialog, request) {
	d := resetDialog{env: e, group: group, topic: topic, scopes: scopes, kind: core.ResetTime, rate: rate,
		value: newField("-15m"), reason: newField(""), name: newField(""), exclude: map[engine.MessageQueue]bool{}}
	r := d.preview()
	return d, r
}

// target reads the form.
func (d *resetDialog) target() (core.ResetTarget, error) {
	text := strings.TrimSpace(d.value.value())
	t := core.ResetTarget{Kind: d.kind}
	switch d.kind {
	case core.ResetTime:
		at, err := parseTime(text, d.env.now, d.env.o.Location)
		t.Time = at
		return t, err
	case core.ResetOffset, core.ResetShift:
		n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimPrefix(strings.ReplaceAll(text, "−", "-"), "+"), ",", ""), 10, 64)
		if err != nil {
			return t, fmt.Errorf("%q is no number", SafeText(text))
		}
		if d.kind == core.ResetOffset && n < 0 {
			return t, fmt.Errorf("an offset is not negative")
		}
		t.Offset = n
	case toFile:
		if text == "" {
			return t, errors.New("type the path of a file that a reset has saved")
		}
	}
	return t, nil
}

// parseTime reads -15m, RFC 3339, 2006-01-02 15:04[:05] or 15:04[:05] of today.
func parseTime(text string, now time.Time, loc *time.Location) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil {
		if d > 0 {
			return time.Time{}, fmt.Errorf("%s lies in the future; -%s is in the past", text, text)
		}
		return now.Add(d), nil
	}
	if t, err := time.Parse(time.RFC3339, strings.Replace(text, " ", "T", 1)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, loc); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.ParseInLocation(layout, text, loc); err == nil {
			y, m, day := now.In(loc).Date()
			return time.Date(y, m, day, t.Hour(), t.Minute(), t.Second(), 0, loc), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time: -15m, 2026-11-29 13:30, 13:30, or RFC 3339", SafeText(text))
}

// preview asks for one of the present form.
func (d *resetDialog) preview() request {
	target, err := d.target()
	if err != nil {
		d.err, d.rows, d.loading = err.Error(), nil, false
		d.setRows()
		return nil
	}
	d.ticket = d.env.newTicket()
	d.asked, d.loading, d.err, d.stale, d.from = target, true, "", false, ""
	if d.kind == toFile {
		d.from = strings.TrimSpace(d.value.value())
	}
	if d.any {
		return planResetRequest{d.ticket, d.from, d.planRequest(target)}
	}
	return previewRequest{d.ticket, d.from, engine.ResetRequest{Queues: d.scopes[d.scope].queues, Target: target, By: d.env.o.Operator}}
}

func (d *resetDialog) setRows() {
	keys := make([]engine.MessageQueue, len(d.rows))
	for i := range d.rows {
		keys[i] = d.rows[i].MessageQueue
	}
	d.list.SetKeys(keys)
}

func (d resetDialog) update(msg tea.Msg) (dialog, request) {
	switch msg := msg.(type) {
	case resetPreviewMsg:
		if msg.ticket == d.ticket {
			d.rows, d.at, d.err, d.loading, d.old, d.saved = msg.rows, msg.at, msg.err, false, false, msg.saved
			d.setRows()
		}
	case resetPlanMsg:
		if msg.ticket == d.ticket {
			d.takePlan(msg)
		}
	case resetAnyDoneMsg:
		if msg.ticket == d.ticket {
			d.takeResult(msg)
		}
	case resetDoneMsg:
		if d.any {
			return d, nil
		}
		d.result, d.err, d.applying, d.done = msg.rows, msg.err, false, true
		d.focus = onCancel
		d.rows = msg.rows
		d.setRows()
	case tea.KeyMsg:
		return d.key(msg)
	}
	return d, nil
}

func (d resetDialog) key(k tea.KeyMsg) (dialog, request) {
	if d.applying {
		return d, nil // nothing but ctrl-c, which the root takes, until the answer is there
	}
	switch k.String() {
	case "esc":
		return d, closeRequest{}
	case "tab":
		return d.moveFocus(1)
	case "shift+tab":
		return d.moveFocus(resetFoci - 1)
	case "ctrl+r":
		if !d.done {
			r := d.preview()
			return d, r
		}
	case "down":
		d.list.Move(1)
	case "up":
		d.list.Move(-1)
	case "enter":
		return d.enter()
	default:
		return d.edit(k)
	}
	return d, nil
}

// moveFocus goes to the next field; leaving a changed form asks for a new preview.
func (d resetDialog) moveFocus(step resetFocus) (dialog, request) {
	if d.done {
		return d, nil
	}
	from := d.focus
	d.focus = (d.focus + step) % resetFoci
	if d.focus == onValue && !d.hasValue() {
		d.focus = (d.focus + step) % resetFoci
	}
	if d.stale && (from == onValue || from == onKind || from == onScope) && !(d.focus == onValue && from == onKind) {
		r := d.preview()
		return d, r
	}
	return d, nil
}

func (d *resetDialog) hasValue() bool {
	return d.kind != core.ResetEarliest && d.kind != core.ResetLatest
}

// enter presses the button with the focus. In a field it never applies: it previews
// what changed, or goes on to the next field.
func (d resetDialog) enter() (dialog, request) {
	switch {
	case d.focus == onCancel || d.done:
		return d, closeRequest{}
	case d.focus == onApply:
		if d.off() != "" {
			return d, nil
		}
		d.applying = true
		if d.any {
			return d, applyResetRequest{d.ticket, d.plan, strings.TrimSpace(d.reason.value())}
		}
		return d, d.request()
	case d.stale:
		r := d.preview()
		return d, r
	case d.focus == onName: // what is pasted must not reach Apply with its newlines
		return d, nil
	}
	return d.moveFocus(1)
}

// request is what Apply sends: the included queues with what the preview saw.
func (d *resetDialog) request() request {
	r := engine.ResetRequest{Target: d.asked, Exact: d.saved.exact, By: d.env.o.Operator, Reason: strings.TrimSpace(d.reason.value()),
		Expect: make(map[engine.MessageQueue]int64)}
	for i := range d.rows {
		row := &d.rows[i]
		if row.Err == nil && !d.exclude[row.MessageQueue] {
			r.Queues = append(r.Queues, row.MessageQueue)
			r.Expect[row.MessageQueue] = row.Before
		}
	}
	return applyRequest{r}
}

// edit changes the field with the focus.
func (d resetDialog) edit(k tea.KeyMsg) (dialog, request) {
	if d.done {
		return d, nil
	}
	key := k.String()
	step := 0
	switch key {
	case "left", "h":
		step = -1
	case "right", "l", " ":
		step = 1
	}
	switch d.focus {
	case onScope:
		if n := len(d.scopes); step != 0 && n > 1 {
			d.scope, d.old = (d.scope+step+n)%n, true
			r := d.preview()
			return d, r
		}
	case onKind:
		if step == 0 {
			return d, nil
		}
		d.old = true
		i := slices.Index(resetKinds, d.kind)
		d.kind = resetKinds[(i+step+len(resetKinds))%len(resetKinds)]
		d.value.set(map[core.ResetKind]string{core.ResetTime: "-15m", core.ResetShift: "-100"}[d.kind])
		if d.kind == toFile {
			d.takeFile()
		}
		if d.hasValue() {
			d.stale, d.err = true, ""
			return d, nil
		}
		r := d.preview()
		return d, r
	case onValue:
		d.value.key(k)
		d.stale, d.old, d.err = true, true, ""
	case onRows:
		mq, ok := d.list.Current()
		switch {
		case !ok:
		case key == " " || key == "x":
			d.exclude[mq] = !d.exclude[mq]
			d.list.Move(1)
			if d.any { // what is left out must be so in the plan
				r := d.preview()
				return d, r
			}
		case key == "j":
			d.list.Move(1)
		case key == "k":
			d.list.Move(-1)
		}
	case onReason:
		d.reason.key(k)
	case onName:
		d.name.key(k)
	case onCancel, onApply:
		if step != 0 {
			d.focus = onCancel + onApply - d.focus
		}
	}
	return d, nil
}

// resetSum is what the included rows come to.
type resetSum struct {
	queues, changed, unknown, excluded int
	replay, skip, gone                 int64
	skips, gones                       int
	lagBefore, lagAfter                int64
	lagUnknown                         int // nobody says where these queues end
}

func (d *resetDialog) sum() resetSum {
	var s resetSum
	for i := range d.rows {
		r := &d.rows[i]
		switch {
		case d.exclude[r.MessageQueue]:
			s.excluded++
			continue
		case r.Err != nil:
			s.unknown++
			continue
		}
		s.queues++
		if r.Before != r.After {
			s.changed++
		}
		before := r.Before
		if before == engine.Unknown {
			before = r.MinOffset
		}
		if r.MaxOffset == engine.Unknown || before == engine.Unknown {
			s.lagUnknown++
		}
		s.lagBefore += r.MaxOffset - before
		s.lagAfter += r.MaxOffset - r.After
		switch r.Effect {
		case core.EffectReplay:
			s.replay += r.Count
		case core.EffectSkip:
			s.skip += r.Count
			s.skips++
		case core.EffectGone:
			s.gone += r.Count
			s.gones++
		}
	}
	return s
}

// off says why Apply cannot be pressed; "" when it can.
func (d *resetDialog) off() string {
	s := d.sum()
	switch {
	case d.loading:
		return "the preview is being read"
	case d.err != "":
		return "there is no preview: " + d.err
	case d.stale:
		return "the form changed: " + d.env.enter() + " or ctrl-r previews again"
	case s.unknown > 0:
		return fmt.Sprintf("%s unknown: leave it out by hand (space on its row)", plural(s.unknown, "queue"))
	case s.queues == 0:
		return "no queue is included"
	case s.changed == 0:
		return "nothing would change"
	case d.env.now.Sub(d.at) > previewGood:
		return "the preview is older than " + age(previewGood) + ": ctrl-r previews again"
	case d.any && d.plan.Method == inspect.MethodNone:
		return d.safe.Why
	case d.name.value() != d.typedName():
		return "type the group's name: " + SafeText(d.typedName())
	}
	return ""
}

func (d resetDialog) hint(c *canvas) string {
	switch {
	case d.applying:
		text := " writing … each queue's result follows"
		if d.any && d.plan.Online {
			text = " writing, then watching what the members do with it … each queue's result follows"
		}
		c.put(d.env.th.text, text)
		c.end()
		return "WRITING"
	case d.done:
		d.env.hints(c, d.env.enter(), "close", "↑/↓", "scroll")
	default:
		d.env.hints(c, "tab", "next field", "space", "toggle", "↑/↓", "scroll preview", "ctrl-r", "preview again", "esc", "cancel", d.env.enter(), "press button")
	}
	return "DIALOG"
}
