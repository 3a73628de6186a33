package tui

import (
	"cmp"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/page"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

// openTail reads a topic without any group, from the end unless said otherwise. The
// tail that is open already is gone back to when it reads the same.
func (a *app) openTail(r page.TailRequest) tea.Cmd {
	v, open := a.pages[page.ViewTail].(tail.View)
	switch {
	case a.env.Options.OpenTail == nil:
		return a.refuse("no topic can be read here")
	case r.Topic == "" && !open:
		return a.refuse("which topic? " + a.env.Keys.First("topics") + " lists them, :tail TOPIC names one")
	case r.Topic == "" || open && r.Topic == v.Request.Topic && r.From == (page.TailPosition{}) && len(r.Queues) == 0:
		a.topic = v.Request.Topic
		return a.goTo(page.ViewTail)
	}
	var cmd tea.Cmd
	if open {
		cmd = tail.CloseTail(a.cmds, v.Tail)
	}
	if a.shown == page.ViewTail {
		a.shown = a.last
	}
	a.topic = r.Topic
	a.setPage(page.ViewTail, tail.NewView(a.env, a.cmds, r))
	return tea.Batch(cmd, a.goTo(page.ViewTail))
}

// toTail hands the tail what its commands brought, shown or not.
func (a *app) toTail(msg any) tea.Cmd {
	p := a.pages[page.ViewTail]
	if p == nil {
		if opened, ok := msg.(tail.OpenedMsg); ok {
			return tail.CloseTail(a.cmds, opened.Tail)
		}
		return nil
	}
	p, r := p.Update(msg)
	a.pages[page.ViewTail] = p
	return a.servePage(r)
}

// commandDeadLetters reads the dead letters of a group from the first.
func (a *app) commandDeadLetters(group string) tea.Cmd {
	if group == "" {
		if group = a.groupHere(); group == "" {
			return a.refuse("dlq: which group? :dlq GROUP")
		}
	}
	return a.openTail(page.TailRequest{Topic: tail.DLQPrefix + group, From: page.TailPosition{Earliest: true}})
}

// tailHere reads the topic or the queue under the cursor.
func (a *app) tailHere() tea.Cmd {
	if a.page() != nil {
		return a.toPage(page.ActionMsg{Action: "tail-here"})
	}
	targets := a.targets()
	if len(targets) == 0 {
		return a.refuse("there is no queue under the cursor")
	}
	r := page.TailRequest{Topic: targets[0].Topic}
	for _, mq := range targets {
		if mq.Topic == r.Topic {
			r.Queues = append(r.Queues, mq)
		}
	}
	if s := a.source().Scene; len(targets) == 1 && s.Queue(targets[0]) != nil {
		if q := s.Queue(targets[0]); q.CommittedOffset >= 0 {
			r.From = page.TailPosition{ByOffset: true, Offset: q.CommittedOffset}
		}
	}
	return a.openTail(r)
}

// onResent tells what became of dead letters that were sent back.
func (a *app) onResent(msg tail.ResendDoneMsg) tea.Cmd {
	text := words.Plural(msg.Done, "dead letter") + " sent back"
	if msg.Err != "" || msg.Done < len(msg.Rows) {
		return a.written(msg, text+" of "+words.Grouped(int64(len(msg.Rows)))+words.Because(msg.Err), words.Failure)
	}
	return a.written(msg, text, words.Notice)
}

// onDirect tells what a member made of a message.
func (a *app) onDirect(msg tail.DirectDoneMsg) tea.Cmd {
	sev := words.Failure
	if msg.Consumed {
		sev = words.Notice
	}
	return a.written(msg, "message: "+cmp.Or(msg.Words, msg.Err), sev)
}
