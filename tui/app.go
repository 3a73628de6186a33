package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
	"eyeq/tui/change"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// app is the root model: it sizes, routes and stacks dialogs.
type app struct {
	env     *page.Env
	cmds    page.Commands
	engines []page.Engine
	sources []*live.Source
	streams []eventStream
	waiting []bool // an events command is out
	cur     int    // the source that is shown

	w, h    int
	shown   page.ViewID
	last    page.ViewID
	places  places
	live    []live.View       // by source
	events  []live.EventsView // by source
	queue   live.QueueView
	log     live.LogView
	pages   [page.Views]page.Page // of any group, topic and broker; nil: not opened yet
	group   string                // true name of the group that the pages are about
	client  string                // true client id of the member whose stack is looked at
	topic   string                // likewise of the topic
	dialogs []page.Dialog
	mouse   bool // it is ours

	commands, filters page.Typed // what was typed into the bars

	refresh time.Duration
	note    note
	turned  time.Time // when the shown view was gone to
	leave   leaving
	poll    int    // number of the polling that is going on
	writing string // a write that is on its way, in words
	ended   bool   // the engines have ended
	exit    error  // what Run returns
	ctxDone <-chan struct{}
	cause   func() error
	cache   *frameCache
}

// note is the last thing the screen said to the operator.
type note struct {
	text string
	sev  words.Severity
	at   time.Time
}

// frameCache keeps the last frame while nothing changes.
type frameCache struct {
	frame  string
	valid  bool
	second time.Time // of the clock in it
}

func newApp(o page.Options, e *page.Env, cmds page.Commands) app {
	a := app{env: e, cmds: cmds, refresh: o.Refresh, cache: &frameCache{}, log: live.NewLogView(e), queue: live.NewQueueView(e, engine.MessageQueue{})}
	for _, n := range o.Engines {
		a.engines = append(a.engines, n.Engine)
		a.sources = append(a.sources, &live.Source{Name: n.Name, Engine: n.Engine, Hist: &live.History{}})
		a.live = append(a.live, live.NewView(e))
		a.events = append(a.events, live.NewEventsView(e))
	}
	if len(o.Engines) == 0 { // what is looked at is elsewhere; views of a consumer stay empty
		a.sources = []*live.Source{{Hist: &live.History{}}}
		a.live, a.events = []live.View{live.NewView(e)}, []live.EventsView{live.NewEventsView(e)}
		a.openFirst(o)
	}
	a.visited()
	a.streams = make([]eventStream, len(a.engines))
	a.waiting = make([]bool, len(a.engines))
	return a
}

// Init reads what there is and starts the tick.
func (a app) Init() tea.Cmd {
	cmds := []tea.Cmd{readNow(a.cmds, a.engines), tick(a.cmds, a.refresh, a.engines), waitLeft(a.cmds, a.env.Options.Left)}
	if a.ctxDone != nil {
		cmds = append(cmds, waitEnd(a.cmds, a.ctxDone, a.cause))
	}
	for i, s := range a.streams {
		if s != nil {
			a.waiting[i] = true
			cmds = append(cmds, waitEvents(a.cmds, i, s))
		}
	}
	return tea.Batch(cmds...)
}

// Update routes a message to its handler.
func (a app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if msg = alive(msg); msg == nil {
		return a, nil
	}
	a.env.Now = a.env.Options.Now()
	var cmd tea.Cmd
	changed := true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.w, a.h = msg.Width, msg.Height
		a.resize()
	case tea.KeyMsg:
		cmd = a.onKeys(msg)
	case snapshotsMsg:
		changed, cmd = a.onSnapshots(msg)
	case eventsMsg:
		cmd = a.onEvents(msg)
	case live.HeadMsg:
		a.queue = a.queue.Update(msg)
		cmd = pollLater(a.cmds, msg.Poll)
	case live.HeldMsg:
		a.queue = a.queue.Update(msg)
		cmd = pollLater(a.cmds, msg.Poll)
	case live.LogMsg:
		a.log = a.log.Update(msg)
		cmd = pollLater(a.cmds, msg.Poll)
	case pollDueMsg:
		cmd, changed = a.onPoll(msg), false
	case pauseDoneMsg:
		a.say(msg.what, msg.err)
	case change.ResetPreviewMsg:
		cmd = a.toDialogs(msg)
	case change.ResetDoneMsg:
		cmd = a.onResetDone(msg)
	case change.SettleDoneMsg:
		cmd = a.onSettleDone(msg)
	case copiedMsg:
		a.onCopied(msg)
	case switchedMsg:
		cmd = a.onSwitched(msg)
	case leftMsg:
		cmd = a.onLeft(msg)
	case endedMsg:
		cmd = a.onEnded(msg)
	case leaveLateMsg:
		cmd = a.onLeaveLate()
	default:
		changed, cmd = a.onPages(msg)
	}
	if ask := a.ask(); ask != nil {
		cmd = tea.Batch(cmd, ask)
	}
	if changed {
		a.cache.valid = false
	}
	return a, cmd
}

// View draws the frame, or gives the last one when nothing has changed.
func (a app) View() string {
	if a.w <= 0 || a.h <= 0 {
		return ""
	}
	if !a.cache.valid {
		a.cache.frame, a.cache.valid, a.cache.second = pinned(a.draw(), a.w), true, a.env.Now.Truncate(time.Second)
	}
	return a.cache.frame
}

func (a *app) source() *live.Source { return a.sources[a.cur] }

// resize tells the views their room.
func (a *app) resize() {
	w, h := a.w, a.bodyHeight()
	a.env.Width, a.env.Room = w, h
	if a.tiny() {
		a.env.Room = max(a.h-1, 0)
	}
	for i := range a.live {
		a.live[i] = a.live[i].Update(page.SizeMsg{W: w, H: h, Screen: a.h})
		a.events[i] = a.events[i].Update(page.SizeMsg{W: w, H: h, Screen: a.h})
	}
	a.queue = a.queue.Update(page.SizeMsg{W: w, H: h, Screen: a.h})
	a.log = a.log.Update(page.SizeMsg{W: w, H: h, Screen: a.h})
	for v, p := range a.pages {
		if p != nil {
			a.pages[v], _ = p.Update(page.SizeMsg{W: w, H: h, Screen: a.h})
		}
	}
}

// say puts a result into the status line.
func (a *app) say(text, err string) {
	if err != "" {
		a.note = note{text + ": " + err, words.Failure, a.env.Now}
		return
	}
	a.note = note{text, words.Notice, a.env.Now}
}

// refuse says why a key does nothing here.
func (a *app) refuse(text string) tea.Cmd {
	a.note = note{text, words.Warning, a.env.Now}
	return nil
}
