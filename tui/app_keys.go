package tui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

// onKeys takes a key message. Keys typed fast arrive as one message ("jjj"): each
// character is a key of its own, unless it was pasted.
func (a *app) onKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Alt && msg.Type == tea.KeyRunes && !a.takesAlt(msg) {
		msg.Alt = false
		return tea.Batch(a.onKey(tea.KeyMsg{Type: tea.KeyEsc}), a.onKeys(msg))
	}
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

// takesAlt reports whether somebody knows a letter with alt. Else it is escape with a letter
// soon after it: a terminal writes the same bytes for both.
func (a *app) takesAlt(msg tea.KeyMsg) bool {
	if _, bound := a.env.Keys.Find(a.scope(), msg.String()); bound {
		return true
	}
	return len(a.dialogs) > 0 && strings.ContainsAny(string(msg.Runes), "bdf") // words of a text field
}

// onKey routes one key: what works everywhere, the topmost dialog, the view.
func (a *app) onKey(msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	b, ok := a.env.Keys.Find(a.scope(), key)
	if ok && msg.Type != tea.KeyRunes { // these work while text is typed, too
		switch b.Name {
		case "quit":
			return a.interrupt()
		case "redraw":
			return tea.ClearScreen
		case "save":
			if n := len(a.dialogs); n > 0 {
				if _, filter := a.dialogs[n-1].(bar); filter { // else the dialog's own
					return a.act("save")
				}
			}
		case "suspend":
			return a.suspend()
		}
	}
	if n := len(a.dialogs); n > 0 {
		if _, open := a.dialogs[n-1].(helpDialog); key == "f1" && !open {
			a.push(newHelpDialog(a.env, a.scope()))
			return nil
		}
		d, r := a.dialogs[n-1].Update(msg)
		a.dialogs[n-1] = d
		return a.serve(r)
	}
	if msg.Paste {
		return nil // nobody types into a view
	}
	if !ok {
		return nil
	}
	if b.Hold && !a.env.Options.Hold {
		return a.refuse(fmt.Sprintf("%s %s: nothing is held here, only --listener hold leaves messages to the operator", b.Help().Key, b.Name))
	}
	if !a.env.Present(b) {
		return nil
	}
	if !a.env.Usable(b) {
		return a.refuse(a.env.ReadOnlyText(b.Help().Key + " " + string(b.Name)))
	}
	return a.act(b.Name)
}

// act does what a key of a view means.
func (a *app) act(name page.Action) tea.Cmd {
	if a.page() != nil && pageActions[name] {
		return a.toPage(page.ActionMsg{Action: name})
	}
	switch name {
	case "help":
		a.push(newHelpDialog(a.env, a.scope()))
	case "command":
		a.push(newCommandBar(a.env, a.commands, a.complete))
		return a.askNames()
	case "filter":
		b := newFilterBar(a.env, a.filters, a.filterText())
		if a.shown == page.ViewTail {
			b.help = tail.FilterHelp
		}
		a.push(b)
	case "escape":
		return a.escape()
	case "back":
		return a.back()
	case "live":
		return a.showLive()
	case "lag":
		return a.showLag()
	case "tail":
		return a.showTail()
	case "groups", "topics", "brokers":
		return a.open(page.Place{View: map[page.Action]page.ViewID{"groups": page.ViewGroups, "topics": page.ViewTopics, "brokers": page.ViewBrokers}[name]})
	case "tail-here":
		return a.tailHere()
	case "findings":
		return a.showFindings()
	case "stack":
		return a.showStack()
	case "save":
		if a.shown == page.ViewTail || a.shown == page.ViewStack {
			return a.toPage(page.ActionMsg{Action: name})
		}
		return a.askSave()
	case "mouse":
		return a.toggleMouse()
	case "events":
		return a.goTo(page.ViewEvents)
	case "log":
		return a.goTo(page.ViewLog)
	case "last-view":
		return a.goTo(a.last)
	case "history-back":
		return a.travel(-1)
	case "history-forward":
		return a.travel(1)
	case "copy":
		return a.copyRow(false)
	case "copy-json":
		return a.copyRow(true)
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
		a.env.Mode = (a.env.Mode + 1) % 3
		a.note = note{"times are " + a.env.Mode.String(), words.Notice, a.env.Now}
	case "refresh":
		a.hurryWatched()
		if a.page() == nil { // rows that kept their places are sorted exactly
			a.live[a.cur].Refresh(true)
		}
		return tea.Batch(readNow(a.cmds, a.engines), a.toPage(page.HurryMsg{}))
	case "detail":
		return a.detail()
	case "pause":
		return a.askPause(a.targets())
	case "pause-all":
		return a.askPauseAll()
	case "reset":
		return a.openReset()
	case "acknowledge":
		return a.askSettle(engine.SettleAck)
	case "refuse":
		return a.askSettle(engine.SettleRefuse)
	case "dead-letter":
		return a.askSettle(engine.SettleDeadLetter)
	default:
		if a.page() != nil {
			return a.toPage(page.ActionMsg{Action: name})
		}
		a.toView(page.ActionMsg{Action: name})
	}
	return nil
}

// toView hands a message to the shown view.
func (a *app) toView(msg any) {
	switch a.shown {
	case page.ViewLive, page.ViewWatch:
		a.live[a.cur] = a.live[a.cur].Update(msg)
	case page.ViewEvents:
		a.events[a.cur] = a.events[a.cur].Update(msg)
	case page.ViewQueue:
		a.queue = a.queue.Update(msg)
	case page.ViewLog:
		a.log = a.log.Update(msg)
	}
}

// escape takes back one step: filter, marks, then the view.
func (a *app) escape() tea.Cmd {
	switch a.shown {
	case page.ViewLive:
		if !a.live[a.cur].Escape() {
			a.note = note{}
		}
	case page.ViewWatch:
		if !a.live[a.cur].Escape() {
			return a.back()
		}
	case page.ViewEvents:
		if !a.events[a.cur].Escape() {
			return a.back()
		}
	case page.ViewQueue:
		if !a.queue.List.ClearMarks() {
			return a.back()
		}
	default:
		return a.back()
	}
	return nil
}

// back goes up one level; at the top it leaves.
func (a *app) back() tea.Cmd {
	switch {
	case a.watchedNow() != nil && (a.shown == page.ViewQueue || a.shown == page.ViewEvents):
		return a.goTo(page.ViewWatch)
	case a.shown == a.top():
		return a.askLeave()
	case a.shown == page.ViewLog && a.last != page.ViewLog, a.shown == page.ViewTail && a.last != page.ViewTail, a.shown == page.ViewDoctor && a.last != page.ViewDoctor,
		a.shown == page.ViewStack && a.last != page.ViewStack:
		return a.goTo(a.last)
	case a.shown == page.ViewGroup, a.shown == page.ViewLag, a.shown == page.ViewWatch:
		return a.open(page.Place{View: page.ViewGroups})
	case a.shown == page.ViewTopic:
		return a.open(page.Place{View: page.ViewTopics})
	}
	return a.goTo(a.top())
}

// detail opens what is under the cursor.
func (a *app) detail() tea.Cmd {
	if a.shown == page.ViewEvents {
		if r := a.events[a.cur].Current(); r != nil {
			a.push(eventDetails(a.env, r))
		}
		return nil
	}
	if a.shown == page.ViewQueue {
		if r := a.queue.Current(); r != nil {
			a.push(live.HeldDetails(a.env, r))
		}
		return nil
	}
	v := &a.live[a.cur]
	switch v.Focus {
	case live.PaneFeed:
		if f := v.Line(); f != nil {
			seq := f.Row.Seq
			cmd := a.goTo(page.ViewEvents)
			e := &a.events[a.cur]
			e.Filter = page.Filter{}
			e.Refilter()
			e.List.Follow = false
			e.List.Select(seq)
			return cmd
		}
	case live.PaneAlloc:
		if id, ok := v.Members.Current(); ok {
			v.Filter, _ = page.ParseFilter(id, live.FilterColumns)
			v.Focus = live.PaneQueues
			v.Refresh(true)
		}
	default:
		if mq, ok := v.Queues.Current(); ok {
			return a.openQueue(mq)
		}
	}
	return nil
}

// targets are the queues a key is about.
func (a *app) targets() []engine.MessageQueue {
	if a.shown == page.ViewQueue {
		return []engine.MessageQueue{a.queue.MQ}
	}
	return a.live[a.cur].Targets()
}

// setRefresh takes a new period.
func (a *app) setRefresh(d time.Duration) tea.Cmd {
	if a.watchedNow() != nil {
		return a.setWatchEvery(d)
	}
	a.refresh = min(max(d, page.MinRefresh), page.MaxRefresh)
	a.note = note{"refresh every " + words.Span(a.refresh), words.Notice, a.env.Now}
	return nil
}
