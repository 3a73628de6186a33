package tui

import "fmt"

// tab is a view in the line of tabs.
type tab struct {
	on        bool
	key, word string
}

// tabs are the views that a number leads to, in the order of the numbers. One without a
// number stands behind them, so that they keep their places.
func (a *app) tabs() []tab {
	k := a.env.keys
	tabs := []tab{{a.shown == viewLive || a.shown == viewWatch, k.first("live"), "Live"}}
	if a.env.o.Inspect != nil {
		tabs = append(tabs, tab{a.shown == viewLag, k.first("lag"), "Lag"})
		if a.env.o.OpenTail != nil {
			tabs = append(tabs, tab{a.shown == viewTail, k.first("tail"), "Tail"})
		}
		tabs = append(tabs, tab{a.shown == viewGroups, k.first("groups"), "Groups"},
			tab{a.shown == viewTopics, k.first("topics"), "Topics"}, tab{a.shown == viewBrokers, k.first("brokers"), "Brokers"})
	}
	events := "Events"
	if n := a.source().log.unseen; n > 0 {
		events += fmt.Sprintf("(%s%s)", failure.sign(), grouped(int64(n)))
	}
	tabs = append(tabs, tab{a.shown == viewEvents, k.first("events"), events})
	if word := a.unnumbered(); word != "" {
		tabs = append(tabs, tab{true, "", word})
	}
	return tabs
}

// unnumbered names the shown view when no number leads to it.
func (a *app) unnumbered() string {
	switch a.shown {
	case viewGroup:
		return "Group"
	case viewTopic:
		return "Topic"
	case viewDoctor:
		return "Findings"
	case viewStack:
		return "Stack"
	case viewQueue:
		return "Queue " + SafeText(a.queue.mq.Short())
	case viewLog:
		return "Log"
	}
	return ""
}

// tabLine writes tabs with air around them; tight without, and of those that are not
// shown the key alone when short.
func tabLine(th *theme, tabs []tab, tight, short bool) []segment {
	line := make([]segment, 0, len(tabs))
	for _, t := range tabs {
		text := t.word
		if t.key != "" {
			text = t.key + " " + t.word
		}
		switch {
		case t.on:
			line = append(line, segment{th.title, " [" + text + "]"})
		case short:
			line = append(line, segment{th.text, " " + t.key})
		case tight:
			line = append(line, segment{th.text, " " + text})
		default:
			line = append(line, segment{th.text, "  " + text + " "})
		}
	}
	return line
}

// drawTabs writes the tabs and how fresh what is shown is. Of the tabs the shown one is
// always whole.
func (a *app) drawTabs(c *canvas) {
	right := a.freshness()
	tabs := a.tabs()
	left := tabLine(a.env.th, tabs, false, false)
	for _, short := range []bool{false, true} {
		if widthOf(left)+1+widthOf(right) > c.w {
			left = tabLine(a.env.th, tabs, true, short)
		}
	}
	c.spread(left, right)
}

// freshness is the right end of the tabs.
func (a *app) freshness() []segment {
	if p := a.page(); p != nil {
		return a.pageState(p.status())
	}
	if len(a.engines) == 0 && a.watchedNow() == nil && a.shown == viewEvents { // nobody is asked
		return nil
	}
	th := a.env.th
	if w := a.watchedNow(); w != nil && a.shown != viewLog && !a.frozen() {
		if state := w.state(th); state != nil {
			return state
		}
	}
	state := segment{th.good, "● live"}
	if a.frozen() {
		state = segment{th.warn, "FROZEN"}
	} else if old, stale := a.stale(); stale {
		state = segment{th.bad, "! " + age(old) + " old"}
	}
	every := a.refresh
	if w := a.watchedNow(); w != nil {
		every = w.every
	}
	if a.shown == viewLog {
		every = pollEvery
	}
	return []segment{state, {th.dim, " " + refreshText(every) + " "}}
}
