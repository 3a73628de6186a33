package tui

import (
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

const (
	// watchEvery is how often a watched group is asked for, unless `:set refresh` says
	// otherwise; each picture asks every member once.
	watchEvery    = 2 * time.Second
	minWatchEvery = time.Second
	maxWatchEvery = time.Minute
	// keepWatched is how many groups keep their history while another one is shown.
	keepWatched = 8
)

// watch is what a source asks of a group whose members are other processes, in steady
// rounds.
type watch struct {
	page.Question
	past    *watchPast
	visited time.Time // when the group was last gone to
}

func newWatch(group string) *watch {
	return &watch{Question: page.Question{Kind: page.AskLive, Names: []string{group}, What: "live " + group, Every: watchEvery, Steady: true}, past: newWatchPast()}
}

// group is the true name of the group.
func (w *watch) group() string { return w.Names[0] }

// addLive takes a picture and what has happened since the last one.
func (s *source) addLive(l *inspect.Live) {
	raw, events := s.watch.past.add(l)
	s.scene = door(raw, s.scene)
	s.scene.watch = watchFactsOf(l, raw, s.watch.past)
	s.hist.every = s.watch.Every
	s.hist.add(s.scene.Snapshot)
	s.log.add(events, 0)
}

// forget drops what was told of a group that is there no more; what has happened stays
// among the events.
func (s *source) forget() {
	s.scene, s.hist, s.watch.past = nil, &history{}, newWatchPast()
}

// waitingLines say why there is nothing to be seen yet.
func (w *watch) waitingLines(e *page.Env) []string {
	switch {
	case w.Err != "":
		return []string{"", words.Failure.Sign() + " " + draw.SafeText(w.group()) + ": " + w.Err,
			"  it is asked again by itself · " + e.Keys.First("refresh") + " now · " + e.Keys.First("log") + " log"}
	case w.past.live == nil:
		return []string{"", "asking brokers and members of " + draw.SafeText(w.group()) + " …"}
	case len(w.past.live.Queues) == 0:
		return []string{"", "no queues: " + draw.SafeText(words.OrUnknown(w.past.live.Lag.State)) + ", and no topic of the group is known"}
	}
	return nil
}

// state is the right end of the tabs while there is no picture; nil otherwise.
func (w *watch) state(th *draw.Theme) []draw.Segment {
	if w.Asked {
		return nil
	}
	return page.Untold(th, w.Gone, w.Tries > 0)
}

// staleAfter is when figures count as old: two rounds missed.
func (w *watch) staleAfter() time.Duration { return max(2*w.Every, page.StaleAfter) + time.Second }

// title is what line 1 says of a watched group.
func (f *watchFacts) title(s *scene, expression string) string {
	if f.empty() { // how it consumes is what members tell
		text := words.OrUnknown(f.state) + "·0 members"
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
		model = "model " + words.Unknown
	}
	text := model + "·" + kind + "·" + words.Plural(f.members.Value, "member")
	if !f.members.Known {
		text = model + "·" + kind + "·members " + words.Unknown
	}
	if f.state != "" && f.state != "online" && f.state != model+"ing" {
		text += "·" + f.state
	}
	if expression != "" && expression != "*" {
		text += "·tag " + expression
	}
	return text
}
