package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/live"
	"eyeq/tui/page"
)

// scope is which keys work in the shown view.
func (a *app) scope() page.Scope {
	if a.shown == page.ViewQueue && a.watchedNow() != nil {
		return page.InWatchQueue
	}
	if a.shown == page.ViewQueue && a.env.Options.Hold {
		return page.InHeld
	}
	return a.shown.Scope()
}

// go to a view; the one before is remembered.
func (a *app) goTo(v page.ViewID) tea.Cmd {
	if a.shown == v {
		return nil
	}
	a.leavePage()
	a.last, a.shown, a.turned = a.shown, v, a.env.Now
	if v == page.ViewLive {
		a.unwatch()
	}
	a.visited()
	switch v {
	case page.ViewEvents:
		a.source().Log.Unseen = 0
		a.show(a.cur)
	case page.ViewLog:
		a.poll++
		return a.readLog()
	case page.ViewQueue: // its polls have ended with the view
		a.poll++
		return a.readHeld()
	}
	return nil
}

// openQueue shows one queue in detail.
func (a *app) openQueue(mq engine.MessageQueue) tea.Cmd {
	a.queue = live.NewQueueView(a.env, mq)
	a.queue = a.queue.Update(page.SizeMsg{W: a.w, H: a.bodyHeight(), Screen: a.h})
	a.queue = a.queue.Update(live.PictureMsg{Picture: a.source().Picture(a.env.Now)})
	if a.shown != page.ViewQueue {
		a.leavePage()
		a.last, a.shown, a.turned = a.shown, page.ViewQueue, a.env.Now
	}
	a.visited()
	a.poll++
	return a.readHeld()
}

// look switches to another consumer of this process.
func (a *app) look(i int) tea.Cmd {
	if n := a.consumers(); n > 0 { // watched groups come after them
		a.cur = (i + n) % n
	}
	if a.shown == page.ViewQueue || a.shown == page.ViewWatch {
		a.shown = page.ViewLive
	}
	a.visited()
	a.show(a.cur)
	return nil
}

// onPoll reads again what the shown view polls; polls begun for another view end.
func (a *app) onPoll(msg pollDueMsg) tea.Cmd {
	switch {
	case msg.poll != a.poll:
		return nil
	case a.shown == page.ViewLog:
		return a.readLog()
	case a.shown == page.ViewQueue:
		return a.readHeld()
	}
	return nil
}

// readHeld reads the cache of the queue that is looked at.
func (a *app) readHeld() tea.Cmd {
	if a.watchedNow() != nil {
		return a.readHead()
	}
	q := a.source().Scene.Queue(a.queue.MQ)
	if q == nil || !q.Own || a.frozen() || a.source().Engine == nil {
		return pollLater(a.cmds, a.poll) // it may become ours
	}
	n := live.HeldMessages
	if a.env.Options.Hold {
		n = live.HeldToDecide
	}
	return live.ReadHeldRows(a.cmds, a.source().Engine, a.queue.MQ, n, a.queue.Held, a.poll)
}

func (a *app) readLog() tea.Cmd { return live.ReadLogLines(a.cmds, a.env.Options.LogTail, a.poll) }
