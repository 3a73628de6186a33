package tui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine"
)

// viewID names a view.
type viewID uint8

const (
	viewLive viewID = iota
	viewQueue
	viewEvents
	viewLog
	viewGroups
	viewGroup
	viewLag
	viewTopics
	viewTopic
	viewBrokers
	viewWatch // any group live
	viewTail
	viewDoctor
	viewStack
	views
)

func (v viewID) scope() scope {
	return [views]scope{inLive, inQueue, inEvents, inLog, inGroups, inGroup, inLag, inTopics, inTopic, inBrokers, inWatch, inTail, inDoctor, inStack}[v]
}

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

// app is the root model: it sizes, routes and stacks dialogs.
type app struct {
	env     *env
	cmds    commands
	engines []Engine
	sources []*source
	streams []eventStream
	waiting []bool // an events command is out
	cur     int    // the source that is shown

	w, h    int
	shown   viewID
	last    viewID
	places  places
	live    []liveView   // by source
	events  []eventsView // by source
	queue   queueView
	log     logView
	pages   [views]page // of any group, topic and broker; nil: not opened yet
	group   string      // true name of the group that the pages are about
	client  string      // true client id of the member whose stack is looked at
	topic   string      // likewise of the topic
	dialogs []dialog
	mouse   bool // it is ours

	commands, filters typed // what was typed into the bars

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
	sev  severity
	at   time.Time
}

// leaving is an orderly leave under way.
type leaving struct {
	on          bool
	began       time.Time
	interrupted bool // by ctrl-c
	after       bool // waits for the write that is on its way
}

// frameCache keeps the last frame while nothing changes.
type frameCache struct {
	frame  string
	valid  bool
	second time.Time // of the clock in it
}

func newApp(o Options, e *env, cmds commands) app {
	a := app{env: e, cmds: cmds, refresh: o.Refresh, cache: &frameCache{}, log: newLogView(e), queue: newQueueView(e, engine.MessageQueue{})}
	for _, n := range o.Engines {
		a.engines = append(a.engines, n.Engine)
		a.sources = append(a.sources, &source{name: n.Name, engine: n.Engine, hist: &history{}})
		a.live = append(a.live, newLiveView(e))
		a.events = append(a.events, newEventsView(e))
	}
	if len(o.Engines) == 0 { // what is looked at is elsewhere; views of a consumer stay empty
		a.sources = []*source{{hist: &history{}}}
		a.live, a.events = []liveView{newLiveView(e)}, []eventsView{newEventsView(e)}
		a.openFirst(o)
	}
	a.visited()
	a.streams = make([]eventStream, len(a.engines))
	a.waiting = make([]bool, len(a.engines))
	return a
}

// Init reads what there is and starts the tick.
func (a app) Init() tea.Cmd {
	cmds := []tea.Cmd{a.cmds.readNow(a.engines), a.cmds.tick(a.refresh, a.engines), a.cmds.waitLeft(a.env.o.Left)}
	if a.ctxDone != nil {
		cmds = append(cmds, a.cmds.waitEnd(a.ctxDone, a.cause))
	}
	for i, s := range a.streams {
		if s != nil {
			a.waiting[i] = true
			cmds = append(cmds, a.cmds.waitEvents(i, s))
		}
	}
	return tea.Batch(cmds...)
}

// Update routes a message to its handler.
func (a app) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if msg = alive(msg); msg == nil {
		return a, nil
	}
	a.env.now = a.env.o.Now()
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
	case watchMsg:
		cmd = a.onWatch(msg)
	case headMsg:
		a.queue = a.queue.update(msg)
		cmd = a.cmds.pollLater(msg.poll)
	case heldMsg:
		a.queue = a.queue.update(msg)
		cmd = a.cmds.pollLater(msg.poll)
	case logMsg:
		a.log = a.log.update(msg)
		cmd = a.cmds.pollLater(msg.poll)
	case pollDueMsg:
		cmd, changed = a.onPoll(msg), false
	case pauseDoneMsg:
		a.say(msg.what, msg.err)
	case resetPreviewMsg:
		cmd = a.toDialogs(msg)
	case resetDoneMsg:
		cmd = a.onResetDone(msg)
	case settleDoneMsg:
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
		a.cache.frame, a.cache.valid, a.cache.second = a.draw(), true, a.env.now.Truncate(time.Second)
	}
	return a.cache.frame
}

func (a *app) source() *source { return a.sources[a.cur] }

// resize tells the views their room.
func (a *app) resize() {
	w, h := a.w, a.bodyHeight()
	a.env.width = w
	for i := range a.live {
		a.live[i] = a.live[i].update(sizeMsg{w, h, a.h})
		a.events[i] = a.events[i].update(sizeMsg{w, h, a.h})
	}
	a.queue = a.queue.update(sizeMsg{w, h, a.h})
	a.log = a.log.update(sizeMsg{w, h, a.h})
	for v, p := range a.pages {
		if p != nil {
			a.pages[v], _ = p.update(sizeMsg{w, h, a.h})
		}
	}
}

// show gives the views of a source what it has now.
func (a *app) show(i int) {
	p := pictureMsg{a.sources[i].picture(a.env.now)}
	a.live[i] = a.live[i].update(p)
	if a.shown == viewEvents || a.sources[i].frozen == nil {
		a.events[i] = a.events[i].update(p)
	}
	if i == a.cur {
		a.queue = a.queue.update(p)
	}
}

// onSnapshots takes new snapshots in and keeps the tick going. It reports whether
// the screen looks different now.
func (a *app) onSnapshots(msg snapshotsMsg) (changed bool, cmd tea.Cmd) {
	for i, s := range msg.snapshots {
		before := a.sources[i].scene
		a.sources[i].add(s)
		if a.sources[i].scene != before {
			changed = true
		}
		a.show(i)
	}
	if a.watchedNow() != nil {
		a.show(a.cur)
	}
	// Clock and ages move by the second even when the engine does not.
	changed = changed && !a.frozen() || !a.env.now.Truncate(time.Second).Equal(a.cache.second) || a.reading()
	if !msg.next {
		return true, nil
	}
	cmds := []tea.Cmd{a.cmds.tick(a.refresh, a.engines), a.pollWatched()}
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
	return a.cmds.waitEvents(i, a.streams[i])
}

func (a *app) onEvents(msg eventsMsg) tea.Cmd {
	a.waiting[msg.source] = false
	if msg.err != nil {
		a.streams[msg.source] = nil
	}
	a.sources[msg.source].log.add(msg.events, msg.dropped)
	if a.shown == viewEvents && !a.frozen() {
		a.sources[a.cur].log.unseen = 0
	}
	a.show(msg.source)
	if len(msg.events) < fullBatch {
		return nil // with the next tick
	}
	return a.listen(msg.source)
}

func (a *app) frozen() bool { return a.source().frozen != nil }

func (a *app) freeze() {
	for i, s := range a.sources {
		if s.frozen == nil {
			s.freeze(a.env.now)
		} else {
			s.thaw()
		}
		a.show(i)
	}
}

// say puts a result into the status line.
func (a *app) say(text, err string) {
	if err != "" {
		a.note = note{text + ": " + err, failure, a.env.now}
		return
	}
	a.note = note{text, notice, a.env.now}
}

// refuse says why a key does nothing here.
func (a *app) refuse(text string) tea.Cmd {
	a.note = note{text, warning, a.env.now}
	return nil
}

// toDialogs hands a result to every open dialog.
func (a *app) toDialogs(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for i := range a.dialogs {
		d, r := a.dialogs[i].update(msg)
		a.dialogs[i] = d
		cmds = append(cmds, a.serve(r))
	}
	return tea.Batch(cmds...)
}

func (a *app) push(d dialog) { a.dialogs = append(slices.Clip(a.dialogs), d) }

func (a *app) pop() {
	if n := len(a.dialogs); n > 0 {
		a.dialogs = slices.Clip(a.dialogs[:n-1])
	}
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
		return a.cmds.pollLater(a.poll) // it may become ours
	}
	n := heldMessages
	if a.env.o.Hold {
		n = heldToDecide
	}
	return a.cmds.held(a.source().engine, a.queue.mq, n, a.queue.held, a.poll)
}

func (a *app) readLog() tea.Cmd { return a.cmds.log(a.env.o.LogTail, a.poll) }

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
