package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
)

// scope is which keys work in the shown view.
func (a *app) scope() scope {
	if a.shown == viewQueue && a.watchedNow() != nil {
		return inWatchQueue
	}
	if a.shown == viewQueue && a.env.o.Hold {
		return inHeld
	}
	return a.shown.scope()
}

// go to a view; the one before is remembered.
func (a *app) goTo(v viewID) tea.Cmd {
	if a.shown == v {
		return nil
	}
	a.leavePage()
	a.last, a.shown, a.turned = a.shown, v, a.env.now
	if v == viewLive {
		a.unwatch()
	}
	a.visited()
	switch v {
	case viewEvents:
		a.source().log.unseen = 0
		a.show(a.cur)
	case viewLog:
		a.poll++
		return a.readLog()
	case viewQueue: // its polls have ended with the view
		a.poll++
		return a.readHeld()
	}
	return nil
}

// openQueue shows one queue in detail.
func (a *app) openQueue(mq engine.MessageQueue) tea.Cmd {
	a.queue = newQueueView(a.env, mq)
	a.queue = a.queue.update(sizeMsg{a.w, a.bodyHeight(), a.h})
	a.queue = a.queue.update(pictureMsg{a.source().picture(a.env.now)})
	if a.shown != viewQueue {
		a.leavePage()
		a.last, a.shown, a.turned = a.shown, viewQueue, a.env.now
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
	if a.shown == viewQueue || a.shown == viewWatch {
		a.shown = viewLive
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
	case a.shown == viewLog:
		return a.readLog()
	case a.shown == viewQueue:
		return a.readHeld()
	}
	return nil
}

// readHeld reads the cache of the queue that is looked at.
func (a *app) readHeld() tea.Cmd {
	if a.watchedNow() != nil {
		return a.readHead()
	}
	q := a.source().scene.queue(a.queue.mq)
	if q == nil || !q.Own || a.frozen() || a.source().engine == nil {
		return pollLater(a.cmds, a.poll) // it may become ours
	}
	n := heldMessages
	if a.env.o.Hold {
		n = heldToDecide
	}
	return readHeldRows(a.cmds, a.source().engine, a.queue.mq, n, a.queue.held, a.poll)
}

func (a *app) readLog() tea.Cmd { return readLogLines(a.cmds, a.env.o.LogTail, a.poll) }
