package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/table"
)

// onKeys takes a key message. Keys typed fast arrive as one message ("jjj"): each
// character is a key of its own, unless it was pasted.
func (a *app) onKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || len(msg.Runes) < 2 || msg.Paste {
		return a.onKey(msg)
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: msg.Alt}
		if r == ' ' {
			one.Type = tea.KeySpace
		}
		cmds = append(cmds, a.onKey(one))
	}
	return tea.Batch(cmds...)
}

// onKey routes one key: what works everywhere, the topmost dialog, the view.
func (a *app) onKey(msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	b, ok := a.env.keys.find(a.shown.scope(), key)
	if ok && msg.Type != tea.KeyRunes { // these work while text is typed, too
		switch b.name {
		case "quit":
			return a.interrupt()
		case "redraw":
			return tea.ClearScreen
		case "suspend":
			return a.suspend()
		}
	}
	if n := len(a.dialogs); n > 0 {
		if _, open := a.dialogs[n-1].(helpDialog); key == "f1" && !open {
			a.push(newHelpDialog(a.env, a.shown.scope()))
			return nil
		}
		d, r := a.dialogs[n-1].update(msg)
		a.dialogs[n-1] = d
		return a.serve(r)
	}
	if msg.Paste {
		return nil // nobody types into a view
	}
	if !ok {
		return nil
	}
	if b.write && a.env.readOnly() {
		return a.refuse(fmt.Sprintf("%s %s: cluster %s is read-only, nothing sent", b.Help().Key, b.name, SafeText(a.env.o.Cluster)))
	}
	return a.act(b.name)
}

// act does what a key of a view means.
func (a *app) act(name action) tea.Cmd {
	switch name {
	case "help":
		a.push(newHelpDialog(a.env, a.shown.scope()))
	case "command":
		a.push(newCommandBar(a.env, a.commands, a.complete))
	case "filter":
		a.push(newFilterBar(a.env, a.filters, a.filter().text))
	case "escape":
		return a.escape()
	case "back":
		return a.back()
	case "live":
		return a.goTo(viewLive)
	case "events":
		return a.goTo(viewEvents)
	case "log":
		return a.goTo(viewLog)
	case "last-view":
		return a.goTo(a.last)
	case "next-consumer":
		return a.look(a.cur + 1)
	case "previous-consumer":
		return a.look(a.cur - 1)
	case "redraw":
		return tea.ClearScreen
	case "suspend":
		return a.suspend()
	case "freeze":
		a.freeze()
	case "time":
		a.env.mode = (a.env.mode + 1) % 3
		a.note = note{"times are " + a.env.mode.String(), notice, a.env.now}
	case "refresh":
		return a.cmds.readNow(a.engines)
	case "detail":
		return a.detail()
	case "pause":
		return a.askPause(a.targets())
	case "pause-all":
		return a.askPauseAll()
	case "reset":
		return a.openReset()
	default:
		a.toView(actionMsg{name})
	}
	return nil
}

// toView hands a message to the shown view.
func (a *app) toView(msg any) {
	switch a.shown {
	case viewLive:
		a.live[a.cur] = a.live[a.cur].update(msg)
	case viewEvents:
		a.events[a.cur] = a.events[a.cur].update(msg)
	case viewQueue:
		a.queue = a.queue.update(msg)
	case viewLog:
		a.log = a.log.update(msg)
	}
}

// escape takes back one step: filter, marks, then the view.
func (a *app) escape() tea.Cmd {
	switch a.shown {
	case viewLive:
		a.live[a.cur].escape()
	case viewEvents:
		if !a.events[a.cur].escape() {
			return a.goTo(viewLive)
		}
	default:
		return a.back()
	}
	return nil
}

// back goes up one level; at the top it leaves.
func (a *app) back() tea.Cmd {
	switch a.shown {
	case viewLive:
		return a.askLeave()
	case viewLog:
		if a.last != viewLog {
			return a.goTo(a.last)
		}
	}
	return a.goTo(viewLive)
}

// detail opens what is under the cursor.
func (a *app) detail() tea.Cmd {
	if a.shown == viewEvents {
		if r := a.events[a.cur].current(); r != nil {
			a.push(eventDetails(a.env, r))
		}
		return nil
	}
	if a.shown == viewQueue {
		if r := a.queue.current(); r != nil {
			a.push(heldDetails(a.env, r))
		}
		return nil
	}
	v := &a.live[a.cur]
	switch v.focus {
	case paneFeed:
		if f := v.line(); f != nil {
			seq := f.row.seq
			cmd := a.goTo(viewEvents)
			e := &a.events[a.cur]
			e.filter = filter{}
			e.refilter()
			e.list.Follow = false
			e.list.Select(seq)
			return cmd
		}
	case paneAlloc:
		if id, ok := v.members.Current(); ok {
			v.filter, _ = parseFilter(id, filterColumns)
			v.focus = paneQueues
			v.refresh(true)
		}
	default:
		if mq, ok := v.queues.Current(); ok {
			return a.openQueue(mq)
		}
	}
	return nil
}

// filter is the shown view's.
func (a *app) filter() *filter {
	if a.shown == viewEvents {
		return &a.events[a.cur].filter
	}
	return &a.live[a.cur].filter
}

// setFilter tries a filter; a bad one leaves the old in force.
func (a *app) setFilter(text string) error {
	columns := filterColumns
	if a.shown == viewEvents {
		columns = nil
	}
	f, err := parseFilter(text, columns)
	if err != nil {
		return err
	}
	if a.shown == viewEvents {
		a.events[a.cur].filter = f
		a.events[a.cur].refilter()
		return nil
	}
	a.live[a.cur].filter = f
	a.live[a.cur].refresh(true)
	return nil
}

// targets are the queues a key is about.
func (a *app) targets() []engine.MessageQueue {
	if a.shown == viewQueue {
		return []engine.MessageQueue{a.queue.mq}
	}
	return a.live[a.cur].targets()
}

// askPause opens the prompt for queues: resume when all of them are paused.
func (a *app) askPause(queues []engine.MessageQueue) tea.Cmd {
	s := a.source().scene
	if s == nil || len(queues) == 0 {
		return a.refuse("there is no queue to pause")
	}
	var own, paused []engine.MessageQueue
	other := ""
	for _, mq := range queues {
		q := s.queue(mq)
		switch {
		case q == nil:
		case !q.Own:
			other = q.Short() + " is not ours: by " + s.Strategy + " it is " + orUnknown(q.Owner) + "'s"
		case s.pausedAlone(q):
			paused = append(paused, mq)
		default:
			own = append(own, mq)
		}
	}
	switch {
	case len(own)+len(paused) == 0:
		return a.refuse("only own queues can be paused here; " + other)
	case len(own) == 0:
		a.push(newPauseDialog(a.env, paused, queueNames(paused), true))
	default:
		a.push(newPauseDialog(a.env, own, queueNames(own), false))
	}
	return nil
}

func (a *app) askPauseAll() tea.Cmd {
	s := a.source().scene
	if s == nil {
		return a.refuse("the engine has not shown anything yet")
	}
	a.push(newPauseDialog(a.env, nil, "the whole consumer "+s.Group, s.Pause != nil))
	return nil
}

// queueNames names queues in one line.
func queueNames(queues []engine.MessageQueue) string {
	const most = 3
	var names []string
	for i, mq := range queues {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(queues)-most))
			break
		}
		names = append(names, SafeText(mq.Short()))
	}
	return strings.Join(names, ", ")
}

// openReset opens the reset dialog for own queues.
func (a *app) openReset() tea.Cmd {
	s := a.source().scene
	if s == nil || a.source().engine == nil {
		return a.refuse("the engine has not shown anything yet")
	}
	targets := a.targets()
	if len(targets) == 0 {
		return a.refuse("there is no queue to reset")
	}
	topic := targets[0].Topic
	var all, chosen []engine.MessageQueue
	for i := range s.raw.Queues {
		q := &s.raw.Queues[i]
		if !q.Own {
			continue
		}
		if q.Topic == topic {
			all = append(all, q.MessageQueue)
		}
		if slices.Contains(targets, q.MessageQueue) {
			chosen = append(chosen, q.MessageQueue)
		}
	}
	var scopes []resetScope
	if len(chosen) > 0 {
		label := queueNames(chosen)
		if len(chosen) > 1 {
			label = fmt.Sprintf("marked (%d)", len(chosen))
		}
		scopes = append(scopes, resetScope{label, chosen})
	}
	if len(all) > 0 {
		scopes = append(scopes, resetScope{fmt.Sprintf("all own of %s (%d)", table.Cut(SafeText(topic), 24), len(all)), all})
	}
	if len(scopes) == 0 {
		return a.refuse("none of these queues is ours: other members' queues cannot be reset one by one while the group is online")
	}
	perSecond, _ := a.source().hist.rate(consumed, trendWindow)
	d, r := newResetDialog(a.env, s.raw.Group, topic, scopes, perSecond)
	a.push(d)
	return a.serve(r)
}

// serve does what a dialog asks for.
func (a *app) serve(r request) tea.Cmd {
	e := a.source().engine
	switch r := r.(type) {
	case closeRequest:
		a.pop()
	case leaveRequest:
		a.pop()
		return a.beginLeave(false)
	case filterRequest:
		return a.onFilter(r)
	case commandRequest:
		a.pop()
		a.commands.add(r.line)
		return a.command(r.line)
	case pauseRequest:
		a.pop()
		what := "paused " + a.what(r.Queues)
		return a.cmds.pause(e, r.PauseRequest, what)
	case resumeRequest:
		a.pop()
		return a.cmds.resume(e, r.ResumeRequest, "resumed "+a.what(r.Queues))
	case previewRequest:
		return a.cmds.previewReset(e, r.ResetRequest, r.ticket, a.env.o.Now)
	case applyRequest:
		a.writing = "a reset of " + plural(len(r.Queues), "queue")
		return a.cmds.doReset(e, r.ResetRequest)
	}
	return nil
}

func (a *app) what(queues []engine.MessageQueue) string {
	if len(queues) == 0 {
		return "the whole consumer"
	}
	return queueNames(queues)
}

func (a *app) onFilter(r filterRequest) tea.Cmd {
	err := a.setFilter(r.text)
	if n := len(a.dialogs); n > 0 && err != nil {
		d, _ := a.dialogs[n-1].update(filterRefused{SafeText(err.Error())})
		a.dialogs[n-1] = d
		return nil
	}
	if r.done {
		a.pop()
		a.filters.add(r.text)
	}
	return nil
}

func (a *app) onResetDone(msg resetDoneMsg) tea.Cmd {
	a.writing = ""
	good := 0
	for i := range msg.rows {
		if msg.rows[i].Err == nil && msg.rows[i].Verified {
			good++
		}
	}
	sev := notice
	text := fmt.Sprintf("reset: %d of %s verified", good, plural(len(msg.rows), "queue"))
	if msg.err != "" || good < len(msg.rows) {
		sev = failure
	}
	if msg.err != "" {
		text += ": " + msg.err
	}
	a.note = note{text, sev, a.env.now}
	cmd := a.toDialogs(msg)
	if a.leave.after {
		return tea.Batch(cmd, a.beginLeave(a.leave.interrupted))
	}
	return cmd
}

// setRefresh takes a new period.
func (a *app) setRefresh(d time.Duration) tea.Cmd {
	a.refresh = min(max(d, minRefresh), maxRefresh)
	a.note = note{"refresh every " + span(a.refresh), notice, a.env.now}
	return nil
}
