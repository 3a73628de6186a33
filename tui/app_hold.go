package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// sampleRows is how many of the messages a decision is about the dialog may list.
const sampleRows = 20

// askSettle opens the dialog about held messages: in the queue view about the
// marked ones or the one under the cursor, in the live view about all that the
// marked queues, or the one under the cursor, hold now. What comes later is not
// meant: nobody has seen it.
func (a *app) askSettle(v engine.SettleVerdict) tea.Cmd {
	s := a.source().scene
	if s == nil || a.source().engine == nil {
		return a.refuse("the engine has not shown anything yet")
	}
	if v != engine.SettleAck && isBroadcast(s) {
		return a.refuse("a broadcasting consumer has no retry topic and no dead letters: acknowledge, or leave the messages")
	}
	d := settleDialog{env: a.env, verdict: v, orderly: s.Orderly, group: s.Group}
	why := ""
	if a.shown == page.ViewQueue {
		why = a.heldOfView(&d)
	} else {
		why = a.heldOfQueues(&d, s)
	}
	if d.count == 0 {
		return a.refuse(why)
	}
	d.ticket = a.env.NewTicket()
	a.push(newSettleDialog(d))
	return nil
}

// heldOfView fills in the messages of the queue view.
func (a *app) heldOfView(d *settleDialog) (why string) {
	v := &a.queue
	rows := v.markedRows()
	if v.list.MarkCount() == 0 {
		if r := v.current(); r != nil {
			rows = []*heldRow{r}
		}
	}
	notHeld := 0
	for _, r := range rows {
		if r.held.IsZero() {
			notHeld++
			continue
		}
		d.count++
		d.ranges = append(d.ranges, engine.HeldRange{MessageQueue: v.mq, First: r.offset, Last: r.offset})
		if len(d.sample) < sampleRows {
			d.sample = append(d.sample, r.line())
		}
	}
	if gone := v.list.MarkCount() - len(rows); v.list.MarkCount() > 0 && gone+notHeld > 0 {
		d.left = words.Plural(gone+notHeld, "marked message") + " left out: not held (any more)"
	}
	if d.count == 0 {
		return "there is no held message under the cursor"
	}
	first, last := d.ranges[0].First, d.ranges[len(d.ranges)-1].Last
	d.total = d.count
	d.where = a.queueName(v.mq) + ", offset " + words.Grouped(first)
	if d.count > 1 {
		d.where = a.queueName(v.mq) + ", " + words.Plural(d.count, "offset") + " between " + words.Grouped(first) + " and " + words.Grouped(last)
		if int64(d.count) == last-first+1 {
			d.where = a.queueName(v.mq) + ", offsets " + words.Grouped(first) + " … " + words.Grouped(last)
		}
	}
	return ""
}

// heldOfQueues fills in all that queues of the live view hold.
func (a *app) heldOfQueues(d *settleDialog, s *scene) (why string) {
	targets := a.targets()
	var queues []engine.MessageQueue
	for _, mq := range targets {
		q := s.queue(mq)
		if q == nil || q.Held == 0 {
			continue
		}
		queues = append(queues, mq)
		d.count += int(q.Held)
		d.ranges = append(d.ranges, engine.HeldRange{MessageQueue: mq, First: q.HeldFirst, Last: q.HeldLast})
		d.sample = append(d.sample, fmt.Sprintf("%s  %s held, offsets %s … %s", a.queueName(mq), words.Grouped(q.Held), words.Grouped(q.HeldFirst), words.Grouped(q.HeldLast)))
	}
	switch {
	case len(targets) == 0:
		return "there is no queue to decide about"
	case len(queues) == 0 && len(targets) == 1:
		return "nothing is held of " + a.queueName(targets[0])
	case len(queues) == 0:
		return "nothing is held of the marked queues"
	}
	const later = "; what comes later is not meant"
	d.where = "All that is held of " + a.queueNames(queues) + later
	if d.total = len(queues); d.total == 1 {
		r := d.ranges[0]
		d.where = fmt.Sprintf("All that is held of %s, offsets %s … %s%s", a.queueNames(queues), words.Grouped(r.First), words.Grouped(r.Last), later)
		d.sample, d.total = nil, 0
	}
	return ""
}

// onSettleDone tells what became of a decision and closes its dialog when there
// is nothing in it to be read.
func (a *app) onSettleDone(msg settleDoneMsg) tea.Cmd {
	good := 0
	became := ""
	for _, r := range msg.rows {
		if r.err == "" {
			good++
			became = r.became
		}
	}
	if became == "dead letter" {
		became = "sent to the dead letters"
	}
	text, sev := words.Plural(good, "message")+" "+became, words.Notice
	switch {
	case msg.err != "":
		text, sev = "nothing was decided: "+msg.err, words.Failure
	case good < len(msg.rows):
		text, sev = fmt.Sprintf("%d of %s done", good, words.Plural(len(msg.rows), "message")), words.Failure
	}
	a.dialogs = slices.DeleteFunc(slices.Clone(a.dialogs), func(d page.Dialog) bool {
		s, ok := d.(settleDialog)
		if ok {
			s.answer(msg)
		}
		return ok && s.ticket == msg.ticket && s.finished()
	})
	cmds := []tea.Cmd{a.written(msg, text, sev), readNow(a.cmds, a.engines)}
	if a.shown == page.ViewQueue {
		if good > 0 {
			a.queue.list.ClearMarks()
		}
		a.poll++
		cmds = append(cmds, a.readHeld())
	}
	return tea.Batch(cmds...)
}
