package tui

import (
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// openWatch shows any group live: through this process's own member if there is one,
// else as brokers and members tell it.
func (a *app) openWatch(group string) tea.Cmd {
	for i, s := range a.sources {
		if s.engine != nil && s.scene != nil && s.scene.raw.Group == group {
			return tea.Batch(a.look(i), a.goTo(page.ViewLive))
		}
	}
	if a.env.Options.Inspect == nil {
		return a.refuse("live " + draw.SafeText(group) + ": no consumer of this process, and there is no cluster to ask")
	}
	i := a.watchedIndex(group)
	if i < 0 {
		i = a.watchSlot()
		w := newWatch(group)
		a.sources[i] = &source{name: group, hist: &history{}, watch: w}
		a.live[i], a.events[i] = newLiveView(a.env), newEventsView(a.env)
		a.live[i].waiting = w.waitingLines(a.env)
		a.resize()
	}
	a.group, a.cur = group, i
	cmd := a.goTo(page.ViewWatch)
	a.visited()
	a.show(i)
	return tea.Batch(cmd, a.pollWatched())
}

// watchSlot is a place for one more source: a new one, or that of the watched group
// that was not looked at for the longest time.
func (a *app) watchSlot() int {
	oldest, n := -1, 0
	for i, s := range a.sources {
		if s.watch == nil {
			continue
		}
		n++
		if i != a.cur && (oldest < 0 || s.watch.visited.Before(a.sources[oldest].watch.visited)) {
			oldest = i
		}
	}
	if n >= keepWatched && oldest >= 0 {
		return oldest
	}
	a.sources = append(slices.Clip(a.sources), nil)
	a.live = append(slices.Clip(a.live), liveView{})
	a.events = append(slices.Clip(a.events), eventsView{})
	return len(a.sources) - 1
}

// watchedNow is the watched group on the screen; nil when an engine is.
func (a *app) watchedNow() *watch {
	if len(a.sources) == 0 {
		return nil
	}
	return a.source().watch
}

// pollWatched asks for the next picture of the group on the screen when it is due and
// none is on its way.
func (a *app) pollWatched() tea.Cmd {
	w := a.watchedNow()
	if w == nil || !w.Due(a.env.Now) || !slices.Contains([]page.ViewID{page.ViewWatch, page.ViewQueue, page.ViewEvents}, a.shown) {
		return nil
	}
	w.visited = a.env.Now
	return page.AskCluster(a.cmds, a.env.Options.Inspect, w.Begin(a.env))
}

// onWatch takes a picture in.
func (a *app) onWatch(msg page.AnswerMsg) {
	i := slices.IndexFunc(a.sources, func(s *source) bool { return s.watch != nil && s.watch.Asking && s.watch.Ticket == msg.Ticket })
	if i < 0 {
		return // it has lost its place since
	}
	s := a.sources[i]
	w := s.watch
	if w.Answer(msg, a.env.Now) {
		live := msg.Raw.(inspect.Live)
		s.addLive(&live)
	} else if msg.Gone {
		s.forget()
	}
	a.live[i].waiting = w.waitingLines(a.env)
	if a.shown == page.ViewEvents && i == a.cur && !a.frozen() {
		s.log.unseen = 0
	}
	a.show(i)
}

// watchHealth is the worst thing that is wrong with what is known of a watched group.
func (a *app) watchHealth() draw.Segment {
	th, s := a.env.Theme, a.source()
	w := s.watch
	switch {
	case s.scene == nil && w.Err != "":
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+w.Err)
	case s.scene == nil:
		return draw.Styled(th.Dim, " asking brokers and members … "+words.Age(a.env.Now.Sub(w.Began)))
	case w.Err != "":
		return draw.Styled(th.Bad, fmt.Sprintf(" %s %s old: %s", words.Failure.Sign(), words.Since(s.scene.At, a.env.Now), w.Err))
	}
	f := s.scene.watch
	if old, stale := a.stale(); stale {
		return draw.Styled(th.Bad, " ! figures are "+words.Age(old)+" old: the cluster has not answered yet")
	}
	if text := s.scene.muteText(func(t time.Time) string {
		return words.TimeAbsolute.Clock(t, a.env.Now, a.env.Options.Location, words.ClockSeconds)
	}, a.env.Now); text != "" {
		if f.paused != "" {
			text = f.paused + " · " + text
		}
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+text)
	}
	if !f.told && !f.empty() && len(f.trouble) > 0 {
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+f.trouble[0])
	}
	text, sev := f.worst(s.scene)
	switch {
	case f.paused != "" && sev == words.Failure:
		return draw.Styled(th.Bad, " "+sev.Sign()+" "+f.paused+" · "+text)
	case f.paused != "":
		return draw.Styled(th.Accent, " "+f.paused)
	case sev != words.Info:
		return draw.Styled(words.SeverityStyle(th, sev), " "+sev.Sign()+" "+text)
	}
	if a.w < 100 {
		return draw.Styled(th.Good, " ✓ "+text)
	}
	return draw.Styled(th.Good, fmt.Sprintf(" ✓ told %s · %s", words.Ago(s.scene.At, a.env.Now), text))
}

// setWatchEvery takes a new period for the group on the screen.
func (a *app) setWatchEvery(d time.Duration) tea.Cmd {
	w := a.watchedNow()
	w.Every = min(max(d, minWatchEvery), maxWatchEvery)
	a.note = note{"asked every " + words.Span(w.Every), words.Notice, a.env.Now}
	return nil
}

// unwatch goes back to a consumer of this process.
func (a *app) unwatch() {
	if a.watchedNow() == nil {
		return
	}
	if i := slices.IndexFunc(a.sources, func(s *source) bool { return s.watch == nil }); i >= 0 {
		a.cur = i
	}
}

// watchedIndex is the source of a watched group; -1 when there is none.
func (a *app) watchedIndex(group string) int {
	return slices.IndexFunc(a.sources, func(s *source) bool { return s.watch != nil && s.watch.group() == group })
}

// consumers is how many sources are consumers of this process; they come first.
func (a *app) consumers() int {
	n := slices.IndexFunc(a.sources, func(s *source) bool { return s.watch != nil })
	if n < 0 {
		return len(a.sources)
	}
	return n
}

// hurryWatched asks for the group on the screen at once.
func (a *app) hurryWatched() {
	if w := a.watchedNow(); w != nil {
		w.Hurried = true
	}
}

// watchTitle is what line 1 says of the group.
func (a *app) watchTitle(s *scene) string {
	expression := ""
	if t, _ := a.live[a.cur].shownTopic(); t != nil {
		expression = t.Expression
	}
	return s.watch.title(s, expression)
}

// resetWatched opens the reset dialog of the whole group, with the marked queues as a
// choice.
func (a *app) resetWatched() tea.Cmd {
	s := a.source().scene
	if s == nil {
		return a.refuse("nothing is known of the group yet")
	}
	r := page.ResetAnyRequest{Group: s.raw.Group, Queues: a.live[a.cur].queues.Marked(), Rate: s.watch.rates.consume}
	if a.shown == page.ViewQueue {
		r.Queues = a.targets()
	}
	if len(r.Queues) > 0 {
		r.Topic = r.Queues[0].Topic
	}
	return a.servePage(r)
}

// pollTold asks the members of the shown consumer's group when that is due.
func (a *app) pollTold() tea.Cmd {
	if a.env.Options.Inspect == nil || !slices.Contains([]page.ViewID{page.ViewLive, page.ViewQueue}, a.shown) || len(a.engines) == 0 || a.watchedNow() != nil {
		return nil
	}
	s := a.source()
	if s.scene == nil || s.frozen != nil {
		return nil
	}
	raw := s.scene.raw
	if s.told == nil {
		s.told = newTold(raw)
	}
	t := s.told
	wrong := s.scene.told != nil && s.scene.told.wrongs() // it may be a hand-over under way
	if t.computed != nil && a.env.Now.Sub(t.Began) >= toldSoonest && (wrong || !maps.Equal(t.computed, computedOwners(raw))) {
		t.Hurried = true
	}
	if !t.concerns(raw) || !t.Due(a.env.Now) {
		return nil
	}
	t.computed = computedOwners(raw)
	return page.AskCluster(a.cmds, a.env.Options.Inspect, t.Begin(a.env))
}

// onTold takes the members' word.
func (a *app) onTold(msg page.AnswerMsg) {
	for i, s := range a.sources {
		if s.told == nil || !s.told.Asking || s.told.Ticket != msg.Ticket {
			continue
		}
		if s.told.members = nil; s.told.Answer(msg, a.env.Now) {
			m := msg.Raw.(inspect.Members)
			s.told.members = &m
		}
		s.retell(a.env.Now)
		a.show(i)
	}
}

// readHead reads the head of the queue that is looked at when it is another one now.
func (a *app) readHead() tea.Cmd {
	q := a.source().scene.queue(a.queue.mq)
	if q == nil || a.frozen() {
		return pollLater(a.cmds, a.poll)
	}
	at, ok := headOffset(q)
	if h := &a.queue.head; !ok || h.offset == at && h.row != nil {
		return pollLater(a.cmds, a.poll)
	}
	return readHeadOf(a.cmds, a.env.Options.Inspect, a.queue.mq, at, a.poll)
}
