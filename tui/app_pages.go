package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/change"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/pages"
	"eyeq/tui/tail"
	"eyeq/tui/words"
)

// page is the shown view when it is a page, else nil.
func (a *app) page() page.Page { return a.pages[a.shown] }

// top is the view that q leaves from.
func (a *app) top() page.ViewID {
	if len(a.engines) == 0 {
		return page.ViewGroups
	}
	return page.ViewLive
}

// openFirst chooses what a screen without engines begins with.
func (a *app) openFirst(o page.Options) {
	a.shown, a.last = page.ViewGroups, page.ViewGroups
	a.pages[page.ViewGroups] = pages.NewGroupsView(a.env)
	if o.Group != "" {
		a.group = o.Group
	}
}

// pageActions are keys that mean something else to a page than to the views of our
// own consumer.
var pageActions = map[page.Action]bool{"escape": true, "detail": true, "reset": true, "freeze": true, "copy": true, "copy-json": true}

// open goes to a view, about a group or topic where there is one to be about.
func (a *app) open(x page.Place) tea.Cmd {
	switch x.View {
	case page.ViewWatch:
		return a.openWatch(x.Group)
	case page.ViewDoctor:
		return a.openDoctor(x.Group)
	case page.ViewStack:
		return a.openStack(x.Group, x.Client)
	case page.ViewTail:
		return a.openTail(page.TailRequest{Topic: x.Topic})
	case page.ViewGroups, page.ViewGroup, page.ViewLag, page.ViewTopics, page.ViewTopic, page.ViewBrokers:
		if a.env.Options.Inspect == nil {
			return a.refuse("nobody can be asked about the cluster here")
		}
		a.makePage(x)
	}
	again := a.shown == x.View
	cmd := a.goTo(x.View)
	if again {
		a.visited()
	}
	return cmd
}

// makePage makes the page of a place unless it is there already.
func (a *app) makePage(x page.Place) {
	old := a.pages[x.View]
	switch x.View {
	case page.ViewGroups:
		if old == nil {
			a.setPage(x.View, pages.NewGroupsView(a.env))
		}
	case page.ViewTopics:
		if old == nil {
			a.setPage(x.View, pages.NewTopicsView(a.env))
		}
	case page.ViewBrokers:
		if old == nil {
			a.setPage(x.View, pages.NewBrokersView(a.env))
		}
	case page.ViewGroup:
		a.group = x.Group
		if p, ok := old.(pages.GroupView); !ok || p.Name != x.Group {
			a.setPage(x.View, pages.NewGroupView(a.env, x.Group))
		}
	case page.ViewLag:
		a.group = x.Group
		if p, ok := old.(pages.LagView); !ok || p.Name != x.Group {
			a.setPage(x.View, pages.NewLagView(a.env, x.Group))
		}
	case page.ViewTopic:
		a.topic = x.Topic
		if p, ok := old.(pages.TopicView); !ok || p.Name != x.Topic {
			a.setPage(x.View, pages.NewTopicView(a.env, x.Topic))
		}
	}
}

// setPage takes a new page, with the room there is; the one before waits no longer.
func (a *app) setPage(v page.ViewID, p page.Page) {
	if old := a.pages[v]; old != nil {
		old.Update(page.ClosedMsg{})
	}
	a.pages[v], _ = p.Update(page.SizeMsg{W: a.w, H: a.bodyHeight(), Screen: a.h})
}

// leavePage gives up the answers that the shown page still waits for.
func (a *app) leavePage() {
	if p := a.page(); p != nil {
		a.pages[a.shown], _ = p.Update(page.ClosedMsg{})
	}
}

// showLive goes to the live view: of our own consumer, or else of the group that is
// looked at.
func (a *app) showLive() tea.Cmd {
	if len(a.engines) > 0 {
		return a.goTo(page.ViewLive)
	}
	if g := a.groupHere(); g != "" {
		return a.openWatch(g)
	}
	return a.refuse("which group? " + a.env.Keys.First("groups") + " lists them, :live GROUP names one")
}

func (a *app) showLag() tea.Cmd {
	if g := a.groupHere(); g != "" {
		return a.open(page.Place{View: page.ViewLag, Group: g})
	}
	return a.refuse("which group? " + a.env.Keys.First("groups") + " lists them, :lag GROUP names one")
}

// showTail reads the topic that is looked at.
func (a *app) showTail() tea.Cmd {
	if t, ok := a.page().(pages.TopicsView); ok && t.Current() != "" {
		return a.openTail(page.TailRequest{Topic: t.Current()})
	}
	if t, ok := a.page().(pages.TopicView); ok {
		return a.openTail(page.TailRequest{Topic: t.Name})
	}
	return a.openTail(page.TailRequest{})
}

// groupHere is the group that the operator means: under the cursor, of the page, or
// our own.
func (a *app) groupHere() string {
	if g, ok := a.page().(pages.GroupsView); ok && g.Current() != "" {
		return g.Current()
	}
	if s := a.source().Scene; s != nil && (a.page() == nil || a.group == "") {
		return s.Raw.Group
	}
	return a.group
}

// ask puts the questions that the shown page is due to ask.
func (a *app) ask() tea.Cmd {
	p := a.page()
	if p == nil || a.leave.on || a.w == 0 {
		return nil
	}
	p, r := p.Update(page.DueMsg{})
	a.pages[a.shown] = p
	asks, ok := r.(page.AsksRequest)
	if !ok {
		return a.servePage(r)
	}
	cmds := make([]tea.Cmd, 0, len(asks.Asks))
	for _, k := range asks.Asks {
		cmds = append(cmds, page.AskCluster(a.cmds, a.env.Options.Inspect, k))
	}
	return tea.Batch(cmds...)
}

// reading reports whether the shown page waits for its first answer, whose age moves
// more often than the clock.
func (a *app) reading() bool {
	p := a.page()
	return p != nil && !p.Status().Main.Asked
}

// onPages takes what pages wait for. It reports whether the screen looks different.
func (a *app) onPages(msg tea.Msg) (changed bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case page.AnswerMsg:
		if a.onWatch(msg) || a.onTold(msg) {
			return true, nil
		}
		a.env.Known.Learn(msg)
		for v, p := range a.pages {
			if p != nil {
				a.pages[v], _ = p.Update(msg)
			}
		}
		return true, nil
	case tail.Message:
		return true, a.toTail(msg)
	case tail.ResendDoneMsg:
		return true, a.onResent(msg)
	case tail.DirectDoneMsg:
		return true, a.onDirect(msg)
	case page.SavedMsg:
		a.onSaved(msg)
		return true, nil
	case tea.MouseMsg:
		return true, a.onMouse(msg)
	case change.ResetPlanMsg, change.PausePlanMsg:
		return true, a.toDialogs(msg)
	case change.ResetAnyDoneMsg, change.PauseGroupDoneMsg:
		return true, a.onChanged(msg)
	}
	return false, nil
}

// toPage hands a message to the shown page and does what comes of it.
func (a *app) toPage(msg any) tea.Cmd {
	p := a.page()
	if p == nil {
		return nil
	}
	p, r := p.Update(msg)
	a.pages[a.shown] = p
	return a.servePage(r)
}

// servePage does what a page asks for.
func (a *app) servePage(r page.Request) tea.Cmd {
	switch r := r.(type) {
	case page.OpenRequest:
		return a.open(r.Place)
	case page.WatchRequest:
		return a.openWatch(r.Group)
	case page.OpenTailRequest:
		return a.openTail(r.TailRequest)
	case page.BackRequest:
		if a.shown == a.top() {
			a.note = note{}
			return nil
		}
		return a.back()
	case page.RefuseRequest:
		return a.refuse(r.Text)
	case page.RunRequest:
		if r.Writing != "" {
			a.writing = r.Writing
		}
		return r.Cmd
	case page.PushRequest:
		a.push(r.Dialog)
	case page.ToPageRequest:
		a.pop()
		return a.toPage(r.Msg)
	case page.SaveRequest:
		a.pop()
		return page.SaveFile(a.cmds, r.Saved, r.Over)
	case page.TextRequest:
		a.push(page.TextDialog{Env: a.env, Title: r.Title, Lines: r.Lines})
	case page.CopyRequest:
		if a.env.Options.Output == nil {
			return a.refuse("there is no terminal to copy to")
		}
		return copyText(a.cmds, a.env.Options.Output, a.env.Options.Multiplexer, r.Copied)
	default:
		return a.serveChange(r)
	}
	return nil
}

// pageState is the right end of the tabs: how fresh what is shown is.
func (a *app) pageState(s page.Status) []draw.Segment {
	th, q := a.env.Theme, s.Main
	every := draw.Styled(th.Dim, " every "+words.Age(q.Every)+" ")
	switch old, stale := q.Old(a.env.Now); {
	case s.State != nil:
		return s.State
	case !s.Frozen.IsZero():
		return []draw.Segment{draw.Styled(th.Warn, "FROZEN ")}
	case stale:
		return []draw.Segment{draw.Styled(th.Bad, "! "+words.Age(old)+" old"), every}
	case q.Gone || q.Tries > 0 || !q.Asked:
		return page.Untold(th, q.Gone, q.Tries > 0)
	}
	return []draw.Segment{draw.Styled(th.Good, "● live"), every}
}

// pageHealth is the left of the status line.
func (a *app) pageHealth(s page.Status) draw.Segment {
	th, q := a.env.Theme, s.Main
	switch {
	case !s.Frozen.IsZero():
		return draw.Styled(th.Warn, fmt.Sprintf(" FROZEN %s · %s · %s waiting · %s to go on", a.env.Clock(s.Frozen, words.ClockSeconds),
			words.Age(a.env.Now.Sub(s.Frozen)), words.Plural(s.Hidden, "change"), a.env.Keys.First("freeze")))
	case q.Tries > 0:
		return draw.Styled(th.Bad, fmt.Sprintf(" %s %s: %s", words.Failure.Sign(), q.What, q.Err))
	case s.Health.Text != "":
		return s.Health
	case !q.Asked && a.env.Now.Sub(q.Began) < page.LoadingAfter:
		return draw.Segment{}
	case !q.Asked:
		return draw.Styled(th.Dim, " reading "+q.What+" …")
	}
	text := " ✓ " + s.Fine
	if a.w >= 100 {
		at, read := q.At, " · read "
		if !s.Oldest.IsZero() && s.Oldest.Before(at) {
			at, read = s.Oldest, " · oldest row read "
		}
		if a.env.Mode == words.TimeRelative {
			text += read + words.Ago(at, a.env.Now)
		} else {
			text += read + a.env.Clock(at, words.ClockSeconds)
		}
	}
	return draw.Styled(th.Good, text)
}

// clusterText is the name server of line 1 while no engine tells.
func (a *app) clusterText() []draw.Segment {
	n := a.env.Options.Namesrv
	switch {
	case len(n) == 0:
		return nil
	case a.unanswered():
		return []draw.Segment{draw.Styled(a.env.Theme.Bad, fmt.Sprintf("ns %s of %d", words.Unknown, len(n)))}
	}
	return []draw.Segment{draw.Styled(a.env.Theme.Text, "ns "+draw.SafeText(strings.TrimSuffix(n[0], ":9876"))), draw.Styled(a.env.Theme.Dim, fmt.Sprintf(" 1/%d", len(n)))}
}
