package tui

import (
	"fmt"
	"maps"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/tui/draw"
	"eyeq/tui/live"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

// openWatch shows any group live: through this process's own member if there is one,
// else as brokers and members tell it.
func (a *app) openWatch(group string) tea.Cmd {
	for i, s := range a.sources {
		if s.Engine != nil && s.Scene != nil && s.Scene.Raw.Group == group {
			return tea.Batch(a.look(i), a.goTo(page.ViewLive))
		}
	}
	if a.env.Options.Inspect == nil {
		return a.refuse("live " + draw.SafeText(group) + ": no consumer of this process, and there is no cluster to ask")
	}
	i := a.watchedIndex(group)
	if i < 0 {
		i = a.watchSlot()
		w := live.NewWatch(group)
		a.sources[i] = &live.Source{Name: group, Hist: &live.History{}, Watch: w}
		a.live[i], a.events[i] = live.NewView(a.env), live.NewEventsView(a.env)
		a.live[i].Waiting = w.WaitingLines(a.env)
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
		if s.Watch == nil {
			continue
		}
		n++
		if i != a.cur && (oldest < 0 || s.Watch.Visited.Before(a.sources[oldest].Watch.Visited)) {
			oldest = i
		}
	}
	if n >= live.KeepWatched && oldest >= 0 {
		return oldest
	}
	a.sources = append(slices.Clip(a.sources), nil)
	a.live = append(slices.Clip(a.live), live.View{})
	a.events = append(slices.Clip(a.events), live.EventsView{})
	return len(a.sources) - 1
}

// watchedNow is the watched group on the screen; nil when an engine is.
func (a *app) watchedNow() *live.Watch {
	if len(a.sources) == 0 {
		return nil
	}
	return a.source().Watch
}

// pollWatched asks for the next picture of the group on the screen when it is due and
// none is on its way.
func (a *app) pollWatched() tea.Cmd {
	w := a.watchedNow()
	if w == nil || !w.Due(a.env.Now) || !slices.Contains([]page.ViewID{page.ViewWatch, page.ViewQueue, page.ViewEvents}, a.shown) {
		return nil
	}
	w.Visited = a.env.Now
	return page.AskCluster(a.cmds, a.env.Options.Inspect, w.Begin(a.env))
}

// onWatch takes a picture in; false when it is none.
func (a *app) onWatch(msg page.AnswerMsg) bool {
	i := slices.IndexFunc(a.sources, func(s *live.Source) bool { return s.Watch != nil && s.Watch.Asking && s.Watch.Ticket == msg.Ticket })
	if i < 0 {
		return false // another's answer, or it has lost its place since
	}
	s := a.sources[i]
	w := s.Watch
	if raw, _, ok := w.Take(msg, a.env.Now); ok {
		s.AddLive(&raw)
	} else if msg.Gone {
		s.Forget()
	}
	a.live[i].Waiting = w.WaitingLines(a.env)
	if a.shown == page.ViewEvents && i == a.cur && !a.frozen() {
		s.Log.Unseen = 0
	}
	a.show(i)
	return true
}

// watchHealth is the worst thing that is wrong with what is known of a watched group.
func (a *app) watchHealth() draw.Segment {
	th, s := a.env.Theme, a.source()
	w := s.Watch
	switch {
	case s.Scene == nil && w.Err != "":
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+w.Err)
	case s.Scene == nil:
		return draw.Styled(th.Dim, " asking brokers and members … "+words.Age(a.env.Now.Sub(w.Began)))
	case w.Err != "":
		return draw.Styled(th.Bad, fmt.Sprintf(" %s %s old: %s", words.Failure.Sign(), words.Since(s.Scene.At, a.env.Now), w.Err))
	}
	f := s.Scene.Watch
	if old, stale := a.stale(); stale {
		return draw.Styled(th.Bad, " ! figures are "+words.Age(old)+" old: the cluster has not answered yet")
	}
	if text := s.Scene.MuteText(func(t time.Time) string {
		return words.TimeAbsolute.Clock(t, a.env.Now, a.env.Options.Location, words.ClockSeconds)
	}, a.env.Now); text != "" {
		if f.Paused != "" {
			text = f.Paused + " · " + text
		}
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+text)
	}
	if !f.Told && !f.Empty() && len(f.Trouble) > 0 {
		return draw.Styled(th.Bad, " "+words.Failure.Sign()+" "+f.Trouble[0])
	}
	text, sev := f.Worst(s.Scene)
	switch {
	case f.Paused != "" && sev == words.Failure:
		return draw.Styled(th.Bad, " "+sev.Sign()+" "+f.Paused+" · "+text)
	case f.Paused != "":
		return draw.Styled(th.Accent, " "+f.Paused)
	case sev != words.Info:
		return draw.Styled(words.SeverityStyle(th, sev), " "+sev.Sign()+" "+text)
	}
	if a.w < 100 {
		return draw.Styled(th.Good, " ✓ "+text)
	}
	return draw.Styled(th.Good, fmt.Sprintf(" ✓ told %s · %s", words.Ago(s.Scene.At, a.env.Now), text))
}

// setWatchEvery takes a new period for the group on the screen.
func (a *app) setWatchEvery(d time.Duration) tea.Cmd {
	w := a.watchedNow()
	w.Every = min(max(d, live.MinWatchEvery), live.MaxWatchEvery)
	a.note = note{"asked every " + words.Span(w.Every), words.Notice, a.env.Now}
	return nil
}

// unwatch goes back to a consumer of this process.
func (a *app) unwatch() {
	if a.watchedNow() == nil {
		return
	}
	if i := slices.IndexFunc(a.sources, func(s *live.Source) bool { return s.Watch == nil }); i >= 0 {
		a.cur = i
	}
}

// watchedIndex is the source of a watched group; -1 when there is none.
func (a *app) watchedIndex(group string) int {
	return slices.IndexFunc(a.sources, func(s *live.Source) bool { return s.Watch != nil && s.Watch.Group() == group })
}

// consumers is how many sources are consumers of this process; they come first.
func (a *app) consumers() int {
	n := slices.IndexFunc(a.sources, func(s *live.Source) bool { return s.Watch != nil })
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
func (a *app) watchTitle(s *live.Scene) string {
	expression := ""
	if t, _ := a.live[a.cur].ShownTopic(); t != nil {
		expression = t.Expression
	}
	return s.Watch.Title(s, expression)
}

// resetWatched opens the reset dialog of the whole group, with the marked queues as a
// choice.
func (a *app) resetWatched() tea.Cmd {
	s := a.source().Scene
	if s == nil {
		return a.refuse("nothing is known of the group yet")
	}
	r := page.ResetAnyRequest{Group: s.Raw.Group, Queues: a.live[a.cur].Queues.Marked(), Rate: s.Watch.Rates.Consume}
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
	if s.Scene == nil || s.Frozen != nil {
		return nil
	}
	raw := s.Scene.Raw
	if s.Told == nil {
		s.Told = live.NewTold(raw)
	}
	t := s.Told
	wrong := s.Scene.Told != nil && s.Scene.Told.Wrongs() // it may be a hand-over under way
	if t.Computed != nil && a.env.Now.Sub(t.Began) >= live.ToldSoonest && (wrong || !maps.Equal(t.Computed, live.ComputedOwners(raw))) {
		t.Hurried = true
	}
	if !t.Concerns(raw) || !t.Due(a.env.Now) {
		return nil
	}
	t.Computed = live.ComputedOwners(raw)
	return page.AskCluster(a.cmds, a.env.Options.Inspect, t.Begin(a.env))
}

// onTold takes the members' word; false when it is not theirs.
func (a *app) onTold(msg page.AnswerMsg) bool {
	for i, s := range a.sources {
		if s.Told == nil || !s.Told.Asking || s.Told.Ticket != msg.Ticket {
			continue
		}
		s.Told.Members = nil
		if raw, _, ok := s.Told.Take(msg, a.env.Now); ok {
			s.Told.Members = &raw
		}
		s.Retell(a.env.Now)
		a.show(i)
		return true
	}
	return false
}

// readHead reads the head of the queue that is looked at when it is another one now.
func (a *app) readHead() tea.Cmd {
	q := a.source().Scene.Queue(a.queue.MQ)
	if q == nil || a.frozen() {
		return pollLater(a.cmds, a.poll)
	}
	at, ok := live.HeadOffset(q)
	if h := &a.queue.Head; !ok || h.Offset == at && h.Row != nil {
		return pollLater(a.cmds, a.poll)
	}
	return live.ReadHeadOf(a.cmds, a.env.Options.Inspect, a.queue.MQ, at, a.poll)
}
