package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// places are the views in the order in which they were shown; at is the present one.
// A new one takes the place of those that lie ahead.
type places struct {
	list []place
	at   int
}

const keepPlaces = 50

func (p *places) visit(x place) {
	if len(p.list) > 0 && p.list[p.at] == x {
		return
	}
	if len(p.list) > 0 {
		p.list = append([]place{}, p.list[:p.at+1]...)
	}
	p.list = append(p.list, x)
	p.list = p.list[max(0, len(p.list)-keepPlaces):]
	p.at = len(p.list) - 1
}

// step goes back or forward; ok is false at the end.
func (p *places) step(by int) (x place, ok bool) {
	if i := p.at + by; i >= 0 && i < len(p.list) {
		p.at = i
		return p.list[i], true
	}
	return place{}, false
}

// visited notes the present view.
func (a *app) visited() {
	x := place{view: a.shown, source: a.cur}
	if a.shown == viewQueue {
		x.mq = a.queue.mq
	}
	if w := a.watchedNow(); w != nil {
		x.group = w.group()
	}
	switch a.shown {
	case viewGroup, viewLag, viewWatch, viewDoctor:
		x.group = a.group
	case viewStack:
		x.group, x.client = a.group, a.client
	case viewTopic, viewTail:
		x.topic = a.topic
	}
	a.places.visit(x)
}

// travel goes back or forward in the history of views.
func (a *app) travel(by int) tea.Cmd {
	x, ok := a.places.step(by)
	if !ok {
		return a.refuse(map[bool]string{true: "this is the last view", false: "this is the first view"}[by > 0])
	}
	if x.group != "" && (x.view == viewQueue || x.view == viewEvents) {
		if i := a.watchedIndex(x.group); i < 0 || i != x.source { // its place was taken
			return a.openWatch(x.group)
		}
	}
	a.cur = x.source
	a.show(a.cur)
	if x.view == viewQueue {
		return a.openQueue(x.mq)
	}
	return a.open(x)
}
