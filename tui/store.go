package tui

import (
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

const (
	keepEvents = 5000 // of each engine
	keepFolds  = 200
	// foldFor is how long a line of the feed takes up repeats after its last one.
	foldFor = time.Minute
)

// fold is one line of the feed: the last event of its key and how often it came.
type fold struct {
	key    words.FoldKey
	row    words.EventRow
	first  time.Time
	count  int
	queues []engine.MessageQueue // true names; never changed in place
}

// text is the line's text; about several queues it says how many.
func (f *fold) text() string {
	if len(f.queues) < 2 {
		return f.row.Text
	}
	text := f.row.Text
	if f.row.Reason != "" {
		_, rest, _ := strings.Cut(text, ": ")
		text = rest
	}
	return words.Plural(len(f.queues), "queue") + ": " + text
}

// eventLog keeps the events of one engine, oldest first, and the feed, newest first.
// It is changed by adding only, and never in place, so that a frozen screen can keep
// the slices it shows.
type eventLog struct {
	rows    []words.EventRow
	folds   []fold
	next    uint64 // sequence number of the next event
	dropped int64  // lost because the screen was slower than the ring
	unseen  int    // failures since the events were last looked at
	// rebalance is the last pass that changed something.
	rebalance engine.RebalanceEnd
	// leaving is the last step of an orderly leave.
	leaving string
}

func (l *eventLog) add(events []engine.Event, dropped int64) {
	l.dropped += dropped
	if len(events) == 0 {
		return
	}
	folds := slices.Clone(l.folds)
	for _, e := range events {
		r := words.Describe(e)
		r.Seq = l.next
		l.next++
		if r.Sev == words.Failure {
			l.unseen++
		}
		switch e := e.(type) {
		case engine.RebalanceEnd:
			if e.Added+e.Dropped > 0 || l.rebalance.Seq == 0 {
				l.rebalance = e
			}
		case engine.ShutdownStep:
			l.leaving = draw.SafeText(e.Step)
		}
		l.rows = append(l.rows, r)
		if r.Feed {
			folds = addFold(folds, r)
		}
	}
	if len(l.rows) > 2*keepEvents {
		l.rows = slices.Clone(l.rows[len(l.rows)-keepEvents:])
	}
	l.folds = folds
}

// addFold puts r on top, together with the earlier ones of its key.
func addFold(folds []fold, r words.EventRow) []fold {
	f := fold{key: r.FoldKey(), row: r, first: r.At, count: 1, queues: []engine.MessageQueue{r.MQ}}
	i := slices.IndexFunc(folds, func(x fold) bool { return x.key == f.key })
	if i >= 0 {
		old := folds[i]
		if r.At.Sub(old.row.At) < foldFor {
			f.first, f.count = old.first, old.count
			if f.queues = old.queues; !slices.Contains(f.queues, r.MQ) {
				f.queues = append(slices.Clip(f.queues), r.MQ)
			}
			if !endsOne(r.Event) {
				f.count++
			}
		}
		folds = slices.Delete(folds, i, i+1)
	}
	folds = slices.Insert(folds, 0, f)
	return folds[:min(len(folds), keepFolds)]
}

// endsOne reports whether an event only ends what a line of the feed has counted already.
func endsOne(e engine.Event) bool {
	switch e.(type) {
	case engine.FlowEnd, words.FlowSeenEnd, engine.ResetEnd:
		return true
	}
	return false
}

// source is one engine and what the screen has gathered of it.
type source struct {
	name   string // given, or the group's
	engine page.Engine
	scene  *scene // nil before the first snapshot
	hist   *history
	log    eventLog
	watch  *watch   // asks for a group of other processes; nil: engine tells
	told   *told    // asks the other members of an engine's group; nil: not yet
	frozen *picture // what is shown instead of the newest, while frozen
}

// picture is what the views show of a source: the newest, or what was frozen.
type picture struct {
	scene     *scene
	hist      *history
	rows      []words.EventRow
	folds     []fold
	dropped   int64
	rebalance engine.RebalanceEnd
	now       time.Time
	frozen    bool
}

func (s *source) add(raw *engine.Snapshot) {
	if raw == nil || s.scene != nil && s.scene.raw == raw {
		return
	}
	s.scene = door(raw, s.scene)
	s.retell(raw.At)
	s.hist.add(s.scene.Snapshot)
}

// picture gives what is to be shown now.
func (s *source) picture(now time.Time) picture {
	if s.frozen != nil {
		return *s.frozen
	}
	return picture{scene: s.scene, hist: s.hist, rows: s.log.rows, folds: s.log.folds,
		dropped: s.log.dropped, rebalance: s.log.rebalance, now: now}
}

// freeze keeps what is shown; thaw goes on with the newest.
func (s *source) freeze(now time.Time) {
	p := s.picture(now)
	hist := *p.hist
	p.hist, p.frozen = &hist, true
	s.frozen = &p
}

func (s *source) thaw() { s.frozen = nil }

// hidden counts what a frozen screen does not show: events, and queues that look
// different now.
func (s *source) hidden() int {
	if s.frozen == nil {
		return 0
	}
	n := 0
	if shown := len(s.frozen.rows); shown == 0 {
		n = len(s.log.rows)
	} else {
		n = int(s.log.next - s.frozen.rows[shown-1].Seq - 1)
	}
	if s.frozen.scene == nil || s.scene == nil || s.scene == s.frozen.scene {
		return n
	}
	for i := range s.scene.raw.Queues {
		now := &s.scene.raw.Queues[i]
		j, ok := s.frozen.scene.index[now.MessageQueue]
		if !ok {
			n++
			continue
		}
		then := &s.frozen.scene.raw.Queues[j]
		if now.State != then.State || now.Owner != then.Owner || now.CommittedOffset != then.CommittedOffset ||
			now.MaxOffset != then.MaxOffset || now.CachedCount != then.CachedCount {
			n++
		}
	}
	return n
}
