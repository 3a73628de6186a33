package tui

import (
	"context"
	"errors"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
)

const (
	// watchEvery is how often a watched group is asked for, unless `:set refresh` says
	// otherwise; each picture asks every member once.
	watchEvery    = 2 * time.Second
	minWatchEvery = time.Second
	maxWatchEvery = time.Minute
	// watchLimit bounds one picture; each question in it has a deadline of its own.
	watchLimit = 30 * time.Second
	// keepWatched is how many groups keep their history while another one is shown.
	keepWatched = 8
)

// watch is what a source asks of a group whose members are other processes.
type watch struct {
	group   string // true name
	past    *watchPast
	every   time.Duration
	ticket  int // of the question on its way
	asking  bool
	began   time.Time // of it
	next    time.Time
	err     string // of the last question; "" when it was answered
	gone    bool   // the answer was that there is no such group
	errAt   time.Time
	visited time.Time // when the group was last gone to
}

// watchMsg is a picture of a watched group.
type watchMsg struct {
	ticket int
	live   inspect.Live
	err    string
	gone   bool // there is no such group
}

// watch asks for a picture of a group.
func (c commands) watch(cl Cluster, group string, ticket int) tea.Cmd {
	return c.within(watchLimit, func(ctx context.Context) tea.Msg {
		live, err := cl.Live(ctx, group)
		_, gone := errors.AsType[*inspect.NotFoundError](err)
		return watchMsg{ticket, live, errorText(err), gone}
	})
}

// addLive takes a picture and what has happened since the last one.
func (s *source) addLive(l *inspect.Live) {
	raw, events := s.watch.past.add(l)
	s.scene = door(raw, s.scene)
	s.scene.watch = watchFactsOf(l, raw, s.watch.past)
	s.hist.add(s.scene.Snapshot)
	s.log.add(events, 0)
}

// forget drops what was told of a group that is there no more; what has happened stays
// among the events.
func (s *source) forget() {
	s.scene, s.hist, s.watch.past = nil, &history{}, newWatchPast()
}

// waitingLines say why there is nothing to be seen yet.
func (w *watch) waitingLines(e *env) []string {
	switch {
	case w.err != "":
		return []string{"", failure.sign() + " " + SafeText(w.group) + ": " + w.err,
			"  it is asked again by itself · " + e.keys.first("refresh") + " now · " + e.keys.first("log") + " log"}
	case w.past.live == nil:
		return []string{"", "asking brokers and members of " + SafeText(w.group) + " …"}
	case len(w.past.live.Queues) == 0:
		return []string{"", "no queues: " + SafeText(orUnknown(w.past.live.Lag.State)) + ", and no topic of the group is known"}
	}
	return nil
}

// state is the right end of the tabs while the last answer is no picture, or none has come;
// nil otherwise.
func (w *watch) state(th *theme) []segment {
	if w.past.live != nil && !w.gone {
		return nil
	}
	return untold(th, w.gone, w.err != "")
}

// staleAfter is when figures count as old: two rounds missed.
func (w *watch) staleAfter() time.Duration { return max(2*w.every, staleAfter) + time.Second }

// title is what line 1 says of a watched group.
func (f *watchFacts) title(s *scene, expression string) string {
	if f.empty() { // how it consumes is what members tell
		text := orUnknown(f.state) + "·0 members"
		if f.paused != "" {
			text += "·" + f.paused
		}
		return text
	}
	kind := string(f.kind)
	if f.kind == inspect.KindPush || f.kind == "" {
		kind = "concurrent"
		if s.Orderly {
			kind = "orderly"
		}
		if !f.told {
			kind = "push"
		}
	}
	if f.kind == inspect.KindPop && f.share != "" {
		kind += " " + f.share
	}
	model := "cluster"
	switch {
	case isBroadcast(s):
		model = "broadcast"
	case s.Model == 0:
		model = "model " + unknown
	}
	text := model + "·" + kind + "·" + plural(int(f.members.Value), "member")
	if !f.members.Known {
		text = model + "·" + kind + "·members " + unknown
	}
	if f.state != "" && f.state != "online" && f.state != model+"ing" {
		text += "·" + f.state
	}
	if expression != "" && expression != "*" {
		text += "·tag " + expression
	}
	return text
}
