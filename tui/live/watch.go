package live

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
	watchEvery = 2 * time.Second

	// KeepWatched is how many groups keep their history while another one is shown.
	KeepWatched = 8
)

// Watch is what a source asks of a group whose members are other processes, in steady
// rounds.
type Watch struct {
	page.Question[inspect.Live]
	past    *watchPast
	Visited time.Time // when the group was last gone to
}

// NewWatch watches a group by its true name.
func NewWatch(group string) *Watch {
	return &Watch{Question: page.Question[inspect.Live]{Ask: page.About(page.Cluster.Live), Unsafe: true, Schedule: page.Schedule{Names: []string{group}, What: "live " + group, Every: watchEvery, Steady: true}}, past: NewWatchPast()}
}

// Group is the true name of the group.
func (w *Watch) Group() string { return w.Names[0] }

// WaitingLines say why there is nothing to be seen yet.
func (w *Watch) WaitingLines(e *page.Env) []string {
	switch {
	case w.Err != "":
		return []string{"", words.Failure.Sign() + " " + draw.SafeText(w.Group()) + ": " + w.Err,
			"  it is asked again by itself · " + e.Keys.First("refresh") + " now · " + e.Keys.First("log") + " log"}
	case w.past.live == nil:
		return []string{"", "asking brokers and members of " + draw.SafeText(w.Group()) + " …"}
	case len(w.past.live.Queues) == 0:
		return []string{"", "no queues: " + draw.SafeText(words.OrUnknown(w.past.live.Lag.State)) + ", and no topic of the group is known"}
	}
	return nil
}

// State is the right end of the tabs while there is no picture; nil otherwise.
func (w *Watch) State(th *draw.Theme) []draw.Segment {
	if w.Asked {
		return nil
	}
	return page.Untold(th, w.Gone, w.Tries > 0)
}

// StaleAfter is when figures count as old: two rounds missed.
func (w *Watch) StaleAfter() time.Duration { return max(2*w.Every, page.StaleAfter) + time.Second }

// Title is what line 1 says of a watched group.
func (f *watchFacts) Title(s *Scene, expression string) string {
	if f.Empty() { // how it consumes is what members tell
		text := words.OrUnknown(f.state) + "·0 members"
		if f.Paused != "" {
			text += "·" + f.Paused
		}
		return text
	}
	kind := string(f.kind)
	if f.kind == inspect.KindPush || f.kind == "" {
		kind = "concurrent"
		if s.Orderly {
			kind = "orderly"
		}
		if !f.Told {
			kind = "push"
		}
	}
	if f.kind == inspect.KindPop && f.share != "" {
		kind += " " + f.share
	}
	model := "cluster"
	switch {
	case IsBroadcast(s):
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
