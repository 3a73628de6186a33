package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
	"eyeq/tui/words"
)

// tab is a view in the line of tabs.
type tab struct {
	on   bool
	view page.Action // that shows it; "" for one that no key leads to
	word string
}

// text is what the tab says.
func (t tab) text(k *page.Keymap) string {
	if t.view == "" {
		return t.word
	}
	return k.First(t.view) + " " + t.word
}

// tabs are the views that a number leads to, in the order of the numbers. One without a
// number stands behind them, so that they keep their places.
func (a *app) tabs() []tab {
	tabs := []tab{{a.shown == page.ViewLive || a.shown == page.ViewWatch, "live", "Live"}}
	if a.env.Options.Inspect != nil {
		tabs = append(tabs, tab{a.shown == page.ViewLag, "lag", "Lag"})
		if a.env.Options.OpenTail != nil {
			tabs = append(tabs, tab{a.shown == page.ViewTail, "tail", "Tail"})
		}
		tabs = append(tabs, tab{a.shown == page.ViewGroups, "groups", "Groups"},
			tab{a.shown == page.ViewTopics, "topics", "Topics"}, tab{a.shown == page.ViewBrokers, "brokers", "Brokers"})
	}
	events := "Events"
	if n := a.source().Log.Unseen; n > 0 {
		events += fmt.Sprintf("(%s%s)", words.Failure.Sign(), words.Grouped(int64(n)))
	}
	tabs = append(tabs, tab{a.shown == page.ViewEvents, "events", events})
	if word := a.unnumbered(); word != "" {
		tabs = append(tabs, tab{true, "", word})
	}
	return tabs
}

// unnumbered names the shown view when no number leads to it.
func (a *app) unnumbered() string {
	switch a.shown {
	case page.ViewGroup:
		return "Group"
	case page.ViewTopic:
		return "Topic"
	case page.ViewDoctor:
		return "Findings"
	case page.ViewStack:
		return "Stack"
	case page.ViewQueue:
		return "Queue " + draw.SafeText(a.queue.MQ.Short())
	case page.ViewLog:
		return "Log"
	}
	return ""
}

// tabLine writes tabs with air around them; tight without, and of those that are not
// shown the key alone when short.
func tabLine(e *page.Env, tabs []tab, tight, short bool) []draw.Segment {
	th, line := e.Theme, make([]draw.Segment, 0, len(tabs))
	for _, t := range tabs {
		text := t.text(e.Keys)
		switch {
		case t.on:
			line = append(line, draw.Styled(th.Title, " ["+text+"]"))
		case short:
			line = append(line, draw.Styled(th.Text, " "+e.Keys.First(t.view)))
		case tight:
			line = append(line, draw.Styled(th.Text, " "+text))
		default:
			line = append(line, draw.Styled(th.Text, "  "+text+" "))
		}
	}
	return line
}

// drawTabs writes the tabs and how fresh what is shown is.
func (a *app) drawTabs(c *draw.Canvas) {
	right := a.freshness()
	c.Spread(a.fitTabs(a.tabs(), right, c.W), right)
}

// fitTabs writes tabs in w cells, beside what stands at the right, a segment each. The
// shown one is always whole.
func (a *app) fitTabs(tabs []tab, right []draw.Segment, w int) []draw.Segment {
	left := tabLine(a.env, tabs, false, false)
	for _, short := range []bool{false, true} {
		if draw.WidthOf(left)+1+draw.WidthOf(right) > w {
			left = tabLine(a.env, tabs, true, short)
		}
	}
	return left
}

// clickTab shows the view whose tab is at a column.
func (a *app) clickTab(x int) tea.Cmd {
	tabs := a.tabs()
	for i, s := range a.fitTabs(tabs, a.freshness(), a.w) {
		if x -= table.Width(s.Text); x < 0 {
			if t := tabs[i]; !t.on {
				return a.act(t.view)
			}
			break
		}
	}
	return nil
}

// freshness is the right end of the tabs.
func (a *app) freshness() []draw.Segment {
	if p := a.page(); p != nil {
		return a.pageState(p.Status())
	}
	if len(a.engines) == 0 && a.watchedNow() == nil && a.shown == page.ViewEvents { // nobody is asked
		return nil
	}
	th := a.env.Theme
	if w := a.watchedNow(); w != nil && a.shown != page.ViewLog && !a.frozen() {
		if state := w.State(th); state != nil {
			return state
		}
	}
	state := draw.Styled(th.Good, "● live")
	if a.frozen() {
		state = draw.Styled(th.Warn, "FROZEN")
	} else if old, stale := a.stale(); stale {
		state = draw.Styled(th.Bad, "! "+words.Age(old)+" old")
	}
	every := a.refresh
	if w := a.watchedNow(); w != nil {
		every = w.Every
	}
	if a.shown == page.ViewLog {
		every = pollEvery
	}
	return []draw.Segment{state, draw.Styled(th.Dim, " "+refreshText(every)+" ")}
}
