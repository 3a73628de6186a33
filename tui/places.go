package tui

import (
	"eyeq/tui/page"
	tea "github.com/charmbracelet/bubbletea"
)

// places are the views in the order in which they were shown; at is the present one.
// A new one takes the place of those that lie ahead.
type places struct {
	list []page.Place
	at   int
}

const keepPlaces = 50

func (p *places) visit(x page.Place) {
	if len(p.list) > 0 && p.list[p.at] == x {
		return
	}
	if len(p.list) > 0 {
		p.list = append([]page.Place{}, p.list[:p.at+1]...)
	}
	p.list = append(p.list, x)
	p.list = p.list[max(0, len(p.list)-keepPlaces):]
	p.at = len(p.list) - 1
}

// step goes back or forward; ok is false at the end.
func (p *places) step(by int) (x page.Place, ok bool) {
	if i := p.at + by; i >= 0 && i < len(p.list) {
		p.at = i
		return p.list[i], true
	}
	return page.Place{}, false
}

// visited notes the present view.
func (a *app) visited() {
	x := page.Place{View: a.shown, Source: a.cur}
	if a.shown == page.ViewQueue {
		x.Mq = a.queue.MQ
	}
	if w := a.watchedNow(); w != nil {
		x.Group = w.Group()
	}
	switch a.shown {
	case page.ViewGroup, page.ViewLag, page.ViewWatch, page.ViewDoctor:
		x.Group = a.group
	case page.ViewStack:
		x.Group, x.Client = a.group, a.client
	case page.ViewTopic, page.ViewTail:
		x.Topic = a.topic
	}
	a.places.visit(x)
}

// travel goes back or forward in the history of views.
func (a *app) travel(by int) tea.Cmd {
	x, ok := a.places.step(by)
	if !ok {
		if by > 0 {
			return a.refuse("this is the last view")
		}
		return a.refuse("this is the first view")
	}
	if x.Group != "" && (x.View == page.ViewQueue || x.View == page.ViewEvents) {
		if i := a.watchedIndex(x.Group); i < 0 || i != x.Source { // its place was taken
			return a.openWatch(x.Group)
		}
	}
	a.cur = x.Source
	a.show(a.cur)
	if x.View == page.ViewQueue {
		return a.openQueue(x.Mq)
	}
	return a.open(x)
}
