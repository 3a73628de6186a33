package tui

import (
	"fmt"
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/change"
	"eyeq/tui/live"
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
	s := a.source().Scene
	if s == nil || a.source().Engine == nil {
		return a.refuse("the engine has not shown anything yet")
	}
	if v != engine.SettleAck && live.IsBroadcast(s) {
		return a.refuse("a broadcasting consumer has no retry topic and no dead letters: acknowledge, or leave the messages")
	}
	d := change.SettleDialog{Env: a.env, Verdict: v, Orderly: s.Orderly, Group: s.Group}
	why := ""
	if a.shown == page.ViewQueue {
		why = a.heldOfView(&d)
	} else {
		why = a.heldOfQueues(&d, s)
	}
	if d.Count == 0 {
		return a.refuse(why)
	}
	d.Ticket = a.env.NewTicket()
	a.push(change.NewSettleDialog(d))
	return nil
}

// heldOfView fills in the messages of the queue view.
func (a *app) heldOfView(d *change.SettleDialog) (why string) {
	v := &a.queue
	rows := v.MarkedRows()
	if v.List.MarkCount() == 0 {
		if r := v.Current(); r != nil {
			rows = []*live.HeldRow{r}
		}
	}
	notHeld := 0
	for _, r := range rows {
		if r.Held.IsZero() {
			notHeld++
			continue
		}
		d.Count++
		d.Ranges = append(d.Ranges, engine.HeldRange{MessageQueue: v.MQ, First: r.Offset, Last: r.Offset})
		if len(d.Sample) < sampleRows {
			d.Sample = append(d.Sample, r.Line())
		}
	}
	if gone := v.List.MarkCount() - len(rows); v.List.MarkCount() > 0 && gone+notHeld > 0 {
		d.Left = words.Plural(gone+notHeld, "marked message") + " left out: not held (any more)"
	}
	if d.Count == 0 {
		return "there is no held message under the cursor"
	}
	first, last := d.Ranges[0].First, d.Ranges[len(d.Ranges)-1].Last
	d.Total = d.Count
	d.Where = a.queueName(v.MQ) + ", offset " + words.Grouped(first)
	if d.Count > 1 {
		d.Where = a.queueName(v.MQ) + ", " + words.Plural(d.Count, "offset") + " between " + words.Grouped(first) + " and " + words.Grouped(last)
		if int64(d.Count) == last-first+1 {
			d.Where = a.queueName(v.MQ) + ", offsets " + words.Grouped(first) + " … " + words.Grouped(last)
		}
	}
	return ""
}

// heldOfQueues fills in all that queues of the live view hold.
func (a *app) heldOfQueues(d *change.SettleDialog, s *live.Scene) (why string) {
	targets := a.targets()
	var queues []engine.MessageQueue
	for _, mq := range targets {
		q := s.Queue(mq)
		if q == nil || q.Held == 0 {
			continue
		}
		queues = append(queues, mq)
		d.Count += int(q.Held)
		d.Ranges = append(d.Ranges, engine.HeldRange{MessageQueue: mq, First: q.HeldFirst, Last: q.HeldLast})
		d.Sample = append(d.Sample, fmt.Sprintf("%s  %s held, offsets %s … %s", a.queueName(mq), words.Grouped(q.Held), words.Grouped(q.HeldFirst), words.Grouped(q.HeldLast)))
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
	d.Where = "All that is held of " + a.queueNames(queues) + later
	if d.Total = len(queues); d.Total == 1 {
		r := d.Ranges[0]
		d.Where = fmt.Sprintf("All that is held of %s, offsets %s … %s%s", a.queueNames(queues), words.Grouped(r.First), words.Grouped(r.Last), later)
		d.Sample, d.Total = nil, 0
	}
	return ""
}

// onSettleDone tells what became of a decision and closes its dialog when there
// is nothing in it to be read.
func (a *app) onSettleDone(msg change.SettleDoneMsg) tea.Cmd {
	good := 0
	became := ""
	for _, r := range msg.Rows {
		if r.Err == "" {
			good++
			became = r.Became
		}
	}
	if became == "dead letter" {
		became = "sent to the dead letters"
	}
	text, sev := words.Plural(good, "message")+" "+became, words.Notice
	switch {
	case msg.Err != "":
		text, sev = "nothing was decided: "+msg.Err, words.Failure
	case good < len(msg.Rows):
		text, sev = fmt.Sprintf("%d of %s done", good, words.Plural(len(msg.Rows), "message")), words.Failure
	}
	a.dialogs = slices.DeleteFunc(slices.Clone(a.dialogs), func(d page.Dialog) bool {
		s, ok := d.(change.SettleDialog)
		if ok {
			s.Answer(msg)
		}
		return ok && s.Ticket == msg.Ticket && s.Finished()
	})
	cmds := []tea.Cmd{a.written(msg, text, sev), readNow(a.cmds, a.engines)}
	if a.shown == page.ViewQueue {
		if good > 0 {
			a.queue.List.ClearMarks()
		}
		a.poll++
		cmds = append(cmds, a.readHeld())
	}
	return tea.Batch(cmds...)
}
