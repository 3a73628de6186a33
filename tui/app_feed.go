package tui

import (
	"eyeq/tui/live"
	"eyeq/tui/page"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// show gives the views of a source what it has now.
func (a *app) show(i int) {
	p := live.PictureMsg{Picture: a.sources[i].Picture(a.env.Now)}
	a.live[i] = a.live[i].Update(p)
	if a.shown == page.ViewEvents || a.sources[i].Frozen == nil {
		a.events[i] = a.events[i].Update(p)
	}
	if i == a.cur {
		a.queue = a.queue.Update(p)
	}
}

// onSnapshots takes new snapshots in and keeps the tick going. It reports whether
// the screen looks different now.
func (a *app) onSnapshots(msg snapshotsMsg) (changed bool, cmd tea.Cmd) {
	for i, s := range msg.snapshots {
		before := a.sources[i].Scene
		a.sources[i].Add(s)
		if a.sources[i].Scene != before {
			changed = true
		}
		a.show(i)
	}
	if a.watchedNow() != nil {
		a.show(a.cur)
	}
	// Clock and ages move by the second even when the engine does not.
	changed = changed && !a.frozen() || !a.env.Now.Truncate(time.Second).Equal(a.cache.second) || a.reading()
	if !msg.next {
		return true, nil
	}
	cmds := []tea.Cmd{tick(a.cmds, a.refresh, a.engines), a.pollWatched(), a.pollTold()}
	for i := range a.streams {
		cmds = append(cmds, a.listen(i))
	}
	return changed, tea.Batch(cmds...)
}

// listen issues the events command of a source when none is out.
func (a *app) listen(i int) tea.Cmd {
	if a.streams[i] == nil || a.waiting[i] {
		return nil
	}
	a.waiting[i] = true
	return waitEvents(a.cmds, i, a.streams[i])
}

func (a *app) onEvents(msg eventsMsg) tea.Cmd {
	a.waiting[msg.source] = false
	if msg.err != nil {
		a.streams[msg.source] = nil
	}
	a.sources[msg.source].Log.Add(msg.events, msg.dropped)
	if a.shown == page.ViewEvents && !a.frozen() {
		a.sources[a.cur].Log.Unseen = 0
	}
	a.show(msg.source)
	if len(msg.events) < fullBatch {
		return nil // with the next tick
	}
	return a.listen(msg.source)
}

func (a *app) frozen() bool { return a.source().Frozen != nil }

func (a *app) freeze() {
	for i, s := range a.sources {
		if s.Frozen == nil {
			s.Freeze(a.env.Now)
		} else {
			s.Thaw()
		}
		a.show(i)
	}
}
