package change

import (
	"fmt"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// settleFocus is a part of the dialog that takes keys.
type settleFocus uint8

const (
	settleCancel settleFocus = iota
	settleLevel              // refusing in a concurrent consumer only
	settleApply
)

// maxLevel is the last delay level of a broker as it is shipped.
const maxLevel = 18

// settledRow is a SettleRow behind the door.
type settledRow struct {
	queue  string
	offset int64
	Became string
	Err    string
}

func settledRows(rows []engine.SettleRow) []settledRow {
	safe := make([]settledRow, len(rows))
	for i := range rows {
		r := &rows[i]
		safe[i] = settledRow{draw.SafeText(r.Short()), r.Offset, draw.SafeText(r.Became), page.ErrorText(r.Err)}
	}
	return safe
}

// SettleDialog asks before held messages are acknowledged, refused or buried, and
// shows what became of those for which it did not come true. About one message
// that is acknowledged or refused it is a prompt, and enter applies; else the
// focus starts on Cancel.
type SettleDialog struct {
	Env     *page.Env
	Verdict engine.SettleVerdict
	Ranges  []engine.HeldRange
	Count   int
	Where   string   // the queues, safe
	Sample  []string // of the messages, or of the queues, safe
	Total   int      // of what sample is a part of
	Left    string   // what is not meant, and why
	Orderly bool
	Group   string // safe
	level   page.Field
	focus   settleFocus
	err     string

	Ticket  int
	working bool
	rows    []settledRow // the answer, when something did not come true
	failed  int
}

func (d *SettleDialog) hasLevel() bool { return d.Verdict == engine.SettleRefuse && !d.Orderly }

// prompt reports whether enter applies at once.
func (d *SettleDialog) prompt() bool { return d.Count == 1 && d.Verdict != engine.SettleDeadLetter }

// NewSettleDialog asks for a decision about held messages.
func NewSettleDialog(d SettleDialog) SettleDialog {
	d.level = page.NewField("0")
	if d.prompt() {
		d.focus = settleApply
		if d.hasLevel() {
			d.focus = settleLevel
		}
	}
	return d
}

// Update implements page.Dialog.
func (d SettleDialog) Update(msg tea.Msg) (page.Dialog, page.Request) {
	switch msg := msg.(type) {
	case SettleDoneMsg:
		d.Answer(msg)
	case tea.KeyMsg:
		return d.key(msg)
	}
	return d, nil
}

// Answer takes in what became of the messages.
func (d *SettleDialog) Answer(msg SettleDoneMsg) {
	if msg.Ticket != d.Ticket || !d.working {
		return
	}
	d.working, d.err, d.rows, d.failed = false, msg.Err, nil, 0
	for _, r := range msg.Rows {
		if r.Err != "" {
			d.rows = append(d.rows, r)
			d.failed++
		}
	}
}

// Finished reports whether there is nothing to show any more.
func (d *SettleDialog) Finished() bool { return !d.working && d.err == "" && d.failed == 0 }

func (d SettleDialog) key(k tea.KeyMsg) (page.Dialog, page.Request) {
	switch k.String() {
	case "esc":
		return d, page.CloseRequest{}
	case "tab", "right", "down":
		d.move(1)
	case "shift+tab", "left", "up":
		d.move(-1)
	case "enter":
		return d.enter()
	default:
		if d.focus == settleLevel && !d.working && d.failed == 0 {
			d.err = ""
			d.level.Key(k)
		}
	}
	return d, nil
}

func (d *SettleDialog) move(step int) {
	const foci = int(settleApply) + 1
	next := (int(d.focus) + step + foci) % foci
	if settleFocus(next) == settleLevel && !d.hasLevel() {
		next = (next + step + foci) % foci
	}
	d.focus = settleFocus(next)
}

func (d SettleDialog) enter() (page.Dialog, page.Request) {
	switch {
	case d.working:
		return d, nil
	case d.failed > 0, d.focus == settleCancel:
		return d, page.CloseRequest{}
	case d.focus == settleLevel && !d.prompt():
		d.focus = settleApply
		return d, nil
	}
	r := engine.SettleRequest{Messages: d.Ranges, Verdict: d.Verdict, By: d.Env.Options.Operator}
	if d.hasLevel() {
		n, err := strconv.Atoi(strings.TrimSpace(d.level.Value()))
		if err != nil || n < 0 || n > maxLevel {
			d.err, d.focus = fmt.Sprintf("delay level %q: must be 0 to %d", draw.SafeText(d.level.Value()), maxLevel), settleLevel
			return d, nil
		}
		r.DelayLevel = int32(n)
	}
	d.working, d.err = true, ""
	return d, SettleRequest{d.Ticket, d.Count, r}
}

// settleWords are the countWords for a verdict: what is done, the button, what was done.
func settleWords(v engine.SettleVerdict) (title, button, done string) {
	switch v {
	case engine.SettleRefuse:
		return "REFUSE", "Refuse", "refused"
	case engine.SettleDeadLetter:
		return "DEAD LETTER", "To the dead letters", "sent to the dead letters"
	}
	return "ACKNOWLEDGE", "Acknowledge", "acknowledged"
}

// effect says what will happen.
func (d *SettleDialog) effect() string {
	one := d.Count == 1
	countWords := func(single, several string) string {
		if one {
			return single
		}
		return several
	}
	const last = ", and one more retry is counted. A message whose retries are used up goes to the dead letters."
	switch {
	case d.Verdict == engine.SettleAck:
		return countWords("It counts as consumed. The committed offset moves over it as soon as nothing before it is unfinished.",
			"They count as consumed. The committed offset moves over them as soon as nothing before them is unfinished.")
	case d.Verdict == engine.SettleDeadLetter:
		return countWords("It goes to ", "They go to ") + "%DLQ%" + d.Group + countWords(" and counts as finished: no member gets it again by itself.",
			" and count as finished: no member gets them again by themselves.")
	case d.Orderly:
		return "The queue waits a moment, then its listener gets what is left of its held batch again, in order" + last
	}
	return "The broker delivers " + countWords("it", "them") + " again from %RETRY%" + d.Group + " after the delay" + last
}

// View implements page.Dialog.
func (d SettleDialog) View(w, h int) string {
	title, button, _ := settleWords(d.Verdict)
	th := d.Env.Theme
	title += " " + words.Plural(d.Count, "held message")
	if d.failed > 0 {
		return page.DrawBox(d.Env, w, h, title, "asked by "+draw.SafeText(d.Env.Options.Operator), d.failures(w, h-2), 0)
	}
	wrap := func(st draw.Style, text string) (lines [][]draw.Segment) {
		for _, l := range draw.WrapText(text, max(w-4, 10)) {
			lines = append(lines, page.Line(draw.Styled(st, " "+l)))
		}
		return lines
	}
	lines := wrap(th.Bold, d.Where)
	tail := wrap(th.Text, d.effect())
	if d.hasLevel() {
		tail = append(tail, page.Line(d.Env.Plain(" Delay level ["+d.level.Text(&d.Env.Glyphs, 4, d.focus == settleLevel && !d.working)+"]"),
			draw.Styled(th.Dim, " 0: the broker chooses · 1: 1s  2: 5s  3: 10s  4: 30s  5: 1m … 14: 10m … 18: 2h")))
	}
	if d.Left != "" {
		tail = append(tail, page.Line(draw.Styled(th.Warn, " ! "+d.Left)))
	}
	if d.err != "" {
		tail = append(tail, page.Line(draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+d.err)))
	}
	if d.working {
		tail = append(tail, page.Line(draw.Styled(th.Warn, " being carried out …")))
	} else {
		tail = append(tail, page.Line(d.Env.Plain(" "), d.Env.Button(button, d.focus == settleApply, true), d.Env.Plain(" "),
			d.Env.Button("Cancel", d.focus == settleCancel, true)))
	}
	lines = append(lines, d.samples(w, h-2-len(lines)-len(tail))...)
	lines = append(lines, tail...)
	return page.DrawBox(d.Env, w, h, title, "asked by "+draw.SafeText(d.Env.Options.Operator), lines, len(lines)-1)
}

// samples lists what the decision is about, in at most room lines.
func (d *SettleDialog) samples(w, room int) (lines [][]draw.Segment) {
	if d.Total == 0 || room <= 0 {
		return nil
	}
	n := min(len(d.Sample), room)
	if n < d.Total {
		n = min(n, room-1) // the last line counts the rest
	}
	for _, s := range d.Sample[:n] {
		lines = append(lines, page.Line(d.Env.Plain("   "+table.Cut(s, max(w-6, 10)))))
	}
	if n < d.Total {
		lines = append(lines, page.Line(draw.Styled(d.Env.Theme.Dim, fmt.Sprintf("   … and %s more", words.Grouped(int64(d.Total-n))))))
	}
	return lines
}

// failures lists the messages for which it did not come true, each with its whole
// reason: that is what the dialog stays for.
func (d *SettleDialog) failures(w, room int) [][]draw.Segment {
	th := d.Env.Theme
	_, _, done := settleWords(d.Verdict)
	lines := [][]draw.Segment{page.Line(draw.Styled(th.Bad, fmt.Sprintf(" %s %s not %s:", words.Failure.Sign(), words.Plural(d.failed, "message"), done)))}
	for i, r := range d.rows {
		about := "   " + r.queue + "  " + words.Offset(r.offset) + "  "
		block := [][]draw.Segment{page.Line(d.Env.Plain(about), draw.Styled(th.Text, r.Err))}
		if whole := about + r.Err; table.Cut(whole, max(w-3, 10)) != whole {
			block[0] = block[0][:1]
			for _, l := range draw.WrapText(r.Err, max(w-8, 10)) {
				block = append(block, page.Line(draw.Styled(th.Text, "     "+l)))
			}
		}
		left := room - len(lines)
		if i < len(d.rows)-1 {
			left-- // for the number of the others
		}
		if len(block) > left && i > 0 {
			lines = append(lines, page.Line(draw.Styled(th.Dim, fmt.Sprintf("   … and %s more", words.Grouped(int64(len(d.rows)-i))))))
			break
		}
		lines = append(lines, block...)
	}
	return lines
}

// Hint implements page.Dialog.
func (d SettleDialog) Hint(c *draw.Canvas) string {
	switch {
	case d.failed > 0:
		d.Env.Hints(c, "esc", "close")
	case d.working:
		d.Env.Hints(c, "esc", "close; it goes on")
	case d.hasLevel():
		d.Env.Hints(c, "tab", "next field", d.Env.Enter(), "press", "esc", "leave it")
	default:
		d.Env.Hints(c, "tab", "other button", d.Env.Enter(), "press", "esc", "leave it")
	}
	return "DIALOG"
}
