package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// page is the shown view when it is a page, else nil.
func (a *app) page() page { return a.pages[a.shown] }

// top is the view that q leaves from.
func (a *app) top() viewID {
	if len(a.engines) == 0 {
		return viewGroups
	}
	return viewLive
}

// openFirst chooses what a screen without engines begins with.
func (a *app) openFirst(o Options) {
	a.shown, a.last = viewGroups, viewGroups
	a.pages[viewGroups] = newGroupsView(a.env)
	if o.Group != "" {
		a.group = o.Group
	}
}

// pageActions are keys that mean something else to a page than to the views of our
// own consumer.
var pageActions = map[action]bool{"escape": true, "detail": true, "reset": true, "freeze": true, "copy": true, "copy-json": true}

// open goes to a view, about a group or topic where there is one to be about.
func (a *app) open(x place) tea.Cmd {
	switch x.view {
	case viewWatch:
		return a.openWatch(x.group)
	case viewDoctor:
		return a.openDoctor(x.group)
	case viewStack:
		return a.openStack(x.group, x.client)
	case viewTail:
		return a.openTail(TailRequest{Topic: x.topic})
	case viewGroups, viewGroup, viewLag, viewTopics, viewTopic, viewBrokers:
		if a.env.o.Inspect == nil {
			return a.refuse("nobody can be asked about the cluster here")
		}
		a.makePage(x)
	}
	again := a.shown == x.view
	cmd := a.goTo(x.view)
	if again {
		a.visited()
	}
	return cmd
}

// makePage makes the page of a place unless it is there already.
func (a *app) makePage(x place) {
	old := a.pages[x.view]
	switch x.view {
	case viewGroups:
		if old == nil {
			a.setPage(x.view, newGroupsView(a.env))
		}
	case viewTopics:
		if old == nil {
			a.setPage(x.view, newTopicsView(a.env))
		}
	case viewBrokers:
		if old == nil {
			a.setPage(x.view, newBrokersView(a.env))
		}
	case viewGroup:
		a.group = x.group
		if p, ok := old.(groupView); !ok || p.name != x.group {
			a.setPage(x.view, newGroupView(a.env, x.group))
		}
	case viewLag:
		a.group = x.group
		if p, ok := old.(lagView); !ok || p.name != x.group {
			a.setPage(x.view, newLagView(a.env, x.group))
		}
	case viewTopic:
		a.topic = x.topic
		if p, ok := old.(topicView); !ok || p.name != x.topic {
			a.setPage(x.view, newTopicView(a.env, x.topic))
		}
	}
}

// setPage takes a new page, with the room there is; the one before waits no longer.
func (a *app) setPage(v viewID, p page) {
	if old := a.pages[v]; old != nil {
		old.update(closedMsg{})
	}
	a.pages[v], _ = p.update(sizeMsg{a.w, a.bodyHeight(), a.h})
}

// leavePage gives up the answers that the shown page still waits for.
func (a *app) leavePage() {
	if p := a.page(); p != nil {
		a.pages[a.shown], _ = p.update(closedMsg{})
	}
}

// showLive goes to the live view: of our own consumer, or else of the group that is
// looked at.
func (a *app) showLive() tea.Cmd {
	if len(a.engines) > 0 {
		return a.goTo(viewLive)
	}
	if g := a.groupHere(); g != "" {
		return a.openWatch(g)
	}
	return a.refuse("which group? " + a.env.keys.first("groups") + " lists them, :live GROUP names one")
}

func (a *app) showLag() tea.Cmd {
	if g := a.groupHere(); g != "" {
		return a.open(place{view: viewLag, group: g})
	}
	return a.refuse("which group? " + a.env.keys.first("groups") + " lists them, :lag GROUP names one")
}

// showTail reads the topic that is looked at.
func (a *app) showTail() tea.Cmd {
	if t, ok := a.page().(topicsView); ok && t.current() != "" {
		return a.openTail(TailRequest{Topic: t.current()})
	}
	if t, ok := a.page().(topicView); ok {
		return a.openTail(TailRequest{Topic: t.name})
	}
	return a.openTail(TailRequest{})
}

// groupHere is the group that the operator means: under the cursor, of the page, or
// our own.
func (a *app) groupHere() string {
	if g, ok := a.page().(groupsView); ok && g.current() != "" {
		return g.current()
	}
	if s := a.source().scene; s != nil && (a.page() == nil || a.group == "") {
		return s.raw.Group
	}
	return a.group
}

// ask puts the questions that the shown page is due to ask.
func (a *app) ask() tea.Cmd {
	p := a.page()
	if p == nil || a.leave.on || a.w == 0 {
		return nil
	}
	p, r := p.update(dueMsg{})
	a.pages[a.shown] = p
	asks, ok := r.(asksRequest)
	if !ok {
		return a.servePage(r)
	}
	cmds := make([]tea.Cmd, 0, len(asks.asks))
	for _, k := range asks.asks {
		cmds = append(cmds, askCluster(a.cmds, a.env.o.Inspect, k))
	}
	return tea.Batch(cmds...)
}

// reading reports whether the shown page waits for its first answer, whose age moves
// more often than the clock.
func (a *app) reading() bool {
	p := a.page()
	return p != nil && !p.status().main.asked
}

// onPages takes what pages wait for. It reports whether the screen looks different.
func (a *app) onPages(msg tea.Msg) (changed bool, cmd tea.Cmd) {
	switch msg := msg.(type) {
	case answerMsg:
		if msg.kind == askLive {
			a.onWatch(msg)
			return true, nil
		}
		if msg.kind == askOthers {
			a.onTold(msg)
			return true, nil
		}
		a.env.known.learn(msg)
		for v, p := range a.pages {
			if p != nil {
				a.pages[v], _ = p.update(msg)
			}
		}
		return true, nil
	case tailMessage:
		return true, a.toTail(msg)
	case resendDoneMsg:
		return true, a.onResent(msg)
	case directDoneMsg:
		return true, a.onDirect(msg)
	case savedMsg:
		a.onSaved(msg)
		return true, nil
	case tea.MouseMsg:
		return true, a.onMouse(msg)
	case resetPlanMsg, pausePlanMsg:
		return true, a.toDialogs(msg)
	case resetAnyDoneMsg, pauseGroupDoneMsg:
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
	p, r := p.update(msg)
	a.pages[a.shown] = p
	return a.servePage(r)
}

// servePage does what a page asks for.
func (a *app) servePage(r request) tea.Cmd {
	switch r := r.(type) {
	case openRequest:
		return a.open(r.place)
	case watchRequest:
		return a.openWatch(r.group)
	case openTailRequest:
		return a.openTail(r.TailRequest)
	case backRequest:
		if a.shown == a.top() {
			a.note = note{}
			return nil
		}
		return a.back()
	case refuseRequest:
		return a.refuse(r.text)
	case runRequest:
		if r.writing != "" {
			a.writing = r.writing
		}
		return r.cmd
	case pushRequest:
		a.push(r.dialog)
	case toPageRequest:
		a.pop()
		return a.toPage(r.msg)
	case saveRequest:
		a.pop()
		return saveFile(a.cmds, r.saved, r.over)
	case textRequest:
		a.push(textDialog{env: a.env, title: r.title, lines: r.lines})
	case copyRequest:
		if a.env.o.Output == nil {
			return a.refuse("there is no terminal to copy to")
		}
		return copyText(a.cmds, a.env.o.Output, a.env.o.Multiplexer, r.copied)
	default:
		return a.serveChange(r)
	}
	return nil
}

// pageState is the right end of the tabs: how fresh what is shown is.
func (a *app) pageState(s pageStatus) []draw.Segment {
	th, q := a.env.th, s.main
	every := draw.Styled(th.Dim, " every "+words.Age(q.every)+" ")
	switch old, stale := q.old(a.env.now); {
	case s.state != nil:
		return s.state
	case !s.frozen.IsZero():
		return []draw.Segment{draw.Styled(th.Warn, "FROZEN ")}
	case stale:
		return []draw.Segment{draw.Styled(th.Bad, "! "+words.Age(old)+" old"), every}
	case q.gone || q.tries > 0 || !q.asked:
		return untold(th, q.gone, q.tries > 0)
	}
	return []draw.Segment{draw.Styled(th.Good, "● live"), every}
}

// untold is the right end of the tabs where nothing was told: there is no such thing, it
// could not be asked for, or the answer is awaited.
func untold(th *draw.Theme, gone, failed bool) []draw.Segment {
	switch {
	case gone:
		return []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" not there ")}
	case failed:
		return []draw.Segment{draw.Styled(th.Bad, words.Failure.Sign()+" no answer ")}
	}
	return []draw.Segment{draw.Styled(th.Dim, "reading … ")}
}

// pageHealth is the left of the status line.
func (a *app) pageHealth(s pageStatus) draw.Segment {
	th, q := a.env.th, s.main
	switch {
	case !s.frozen.IsZero():
		return draw.Styled(th.Warn, fmt.Sprintf(" FROZEN %s · %s · %s waiting · %s to go on", a.env.clock(s.frozen, words.ClockSeconds),
			words.Age(a.env.now.Sub(s.frozen)), words.Plural(s.hidden, "change"), a.env.keys.first("freeze")))
	case q.tries > 0:
		return draw.Styled(th.Bad, fmt.Sprintf(" %s %s: %s", words.Failure.Sign(), q.what, q.err))
	case s.health.Text != "":
		return s.health
	case !q.asked && a.env.now.Sub(q.began) < loadingAfter:
		return draw.Segment{}
	case !q.asked:
		return draw.Styled(th.Dim, " reading "+q.what+" …")
	}
	text := " ✓ " + s.fine
	if a.w >= 100 {
		at, read := q.at, " · read "
		if !s.oldest.IsZero() && s.oldest.Before(at) {
			at, read = s.oldest, " · oldest row read "
		}
		if a.env.mode == words.TimeRelative {
			text += read + words.Ago(at, a.env.now)
		} else {
			text += read + a.env.clock(at, words.ClockSeconds)
		}
	}
	return draw.Styled(th.Good, text)
}

// clusterText is the name server of line 1 while no engine tells.
func (a *app) clusterText() []draw.Segment {
	n := a.env.o.Namesrv
	switch {
	case len(n) == 0:
		return nil
	case a.unanswered():
		return []draw.Segment{draw.Styled(a.env.th.Bad, fmt.Sprintf("ns %s of %d", words.Unknown, len(n)))}
	}
	return []draw.Segment{draw.Styled(a.env.th.Text, "ns "+draw.SafeText(strings.TrimSuffix(n[0], ":9876"))), draw.Styled(a.env.th.Dim, fmt.Sprintf(" 1/%d", len(n)))}
}

// jsonText is a text to be copied that is made when it is wanted.
func jsonText(what string, v any) copied {
	return copied{what + " as JSON", func() (string, error) {
		b, err := json.MarshalIndent(v, "", "  ")
		return string(inspect.PlainJSON(b)), err
	}}
}

// sinceText says how long ago something was, for columns.
func sinceText(t, now time.Time) string {
	if t.IsZero() {
		return words.None
	}
	return words.Age(now.Sub(t)) + " ago"
}
