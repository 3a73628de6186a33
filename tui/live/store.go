package live

import (
	"maps"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

const (
	KeepEvents = 5000 // of each engine
	keepFolds  = 200
	// foldFor is how long a line of the feed takes up repeats after its last one.
	foldFor = time.Minute
)

// fold is one line of the feed: the last event of its key and how often it came.
type fold struct {
	key    words.FoldKey
	Row    words.EventRow
	first  time.Time
	count  int
	queues []engine.MessageQueue // true names; never changed in place
}

// Text is the line's text; about several queues it says how many.
func (f *fold) Text() string {
	if len(f.queues) < 2 {
		return f.Row.Text
	}
	text := f.Row.Text
	if f.Row.Reason != "" {
		_, rest, _ := strings.Cut(text, ": ")
		text = rest
	}
	return words.Plural(len(f.queues), "queue") + ": " + text
}

// eventLog keeps the events of one engine, oldest first, and the feed, newest first.
// It is changed by adding only, and never in place, so that a frozen screen can keep
// the slices it shows.
type eventLog struct {
	Rows    []words.EventRow
	Folds   []fold
	next    uint64 // sequence number of the next event
	dropped int64  // lost because the screen was slower than the ring
	Unseen  int    // failures since the events were last looked at
	// rebalance is the last pass that changed something.
	rebalance engine.RebalanceEnd
	// Leaving is the last step of an orderly leave.
	Leaving string
}

// Add takes events in, and how many were lost before them.
func (l *eventLog) Add(events []engine.Event, dropped int64) {
	l.dropped += dropped
	if len(events) == 0 {
		return
	}
	folds := slices.Clone(l.Folds)
	for _, e := range events {
		r := words.Describe(e)
		r.Seq = l.next
		l.next++
		if r.Sev == words.Failure {
			l.Unseen++
		}
		switch e := e.(type) {
		case engine.RebalanceEnd:
			if e.Added+e.Dropped > 0 || l.rebalance.Seq == 0 {
				l.rebalance = e
			}
		case engine.ShutdownStep:
			l.Leaving = draw.SafeText(e.Step)
		}
		l.Rows = append(l.Rows, r)
		if r.Feed {
			folds = addFold(folds, r)
		}
	}
	if len(l.Rows) > 2*KeepEvents {
		l.Rows = slices.Clone(l.Rows[len(l.Rows)-KeepEvents:])
	}
	l.Folds = folds
}

// addFold puts r on top, together with the earlier ones of its key.
func addFold(folds []fold, r words.EventRow) []fold {
	f := fold{key: r.FoldKey(), Row: r, first: r.At, count: 1, queues: []engine.MessageQueue{r.MQ}}
	i := slices.IndexFunc(folds, func(x fold) bool { return x.key == f.key })
	if i >= 0 {
		old := folds[i]
		if r.At.Sub(old.Row.At) < foldFor {
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

// Source is one engine and what the screen has gathered of it.
type Source struct {
	Name   string // given, or the group's
	Engine page.Engine
	Scene  *Scene // nil before the first snapshot
	Hist   *History
	Log    eventLog
	Watch  *Watch   // asks for a group of other processes; nil: engine tells
	Told   *told    // asks the other members of an engine's group; nil: not yet
	Frozen *Picture // what is shown instead of the newest, while frozen
}

// Picture is what the views show of a source: the newest, or what was frozen.
type Picture struct {
	Scene     *Scene
	hist      *History
	rows      []words.EventRow
	Folds     []fold
	dropped   int64
	rebalance engine.RebalanceEnd
	Now       time.Time
	frozen    bool
}

// Add takes a newer snapshot in.
func (s *Source) Add(raw *engine.Snapshot) {
	if raw == nil || s.Scene != nil && s.Scene.Raw == raw {
		return
	}
	s.Scene = Door(raw, s.Scene)
	s.Retell(raw.At)
	s.Hist.Add(s.Scene.Snapshot)
}

// Picture gives what is to be shown now.
func (s *Source) Picture(now time.Time) Picture {
	if s.Frozen != nil {
		return *s.Frozen
	}
	return Picture{Scene: s.Scene, hist: s.Hist, rows: s.Log.Rows, Folds: s.Log.Folds,
		dropped: s.Log.dropped, rebalance: s.Log.rebalance, Now: now}
}

// Freeze keeps what is shown; thaw goes on with the newest.
func (s *Source) Freeze(now time.Time) {
	p := s.Picture(now)
	hist := *p.hist
	p.hist, p.frozen = &hist, true
	s.Frozen = &p
}

// Thaw shows again what comes.
func (s *Source) Thaw() { s.Frozen = nil }

// Hidden counts what a frozen screen does not show: events, and queues that look
// different now.
func (s *Source) Hidden() int {
	if s.Frozen == nil {
		return 0
	}
	n := 0
	if shown := len(s.Frozen.rows); shown == 0 {
		n = len(s.Log.Rows)
	} else {
		n = int(s.Log.next - s.Frozen.rows[shown-1].Seq - 1)
	}
	if s.Frozen.Scene == nil || s.Scene == nil || s.Scene == s.Frozen.Scene {
		return n
	}
	for i := range s.Scene.Raw.Queues {
		now := &s.Scene.Raw.Queues[i]
		j, ok := s.Frozen.Scene.Index[now.MessageQueue]
		if !ok {
			n++
			continue
		}
		then := &s.Frozen.Scene.Raw.Queues[j]
		if now.State != then.State || now.Owner != then.Owner || now.CommittedOffset != then.CommittedOffset ||
			now.MaxOffset != then.MaxOffset || now.CachedCount != then.CachedCount {
			n++
		}
	}
	return n
}

// Retell puts what members say beside what was computed; only while the latter is what
// it was when they were asked, since a rebalance takes effect at each at its own time.
func (s *Source) Retell(now time.Time) {
	t := s.Told
	if t == nil || s.Scene == nil {
		return
	}
	s.Scene.Told, s.Scene.ToldWhy = nil, ""
	switch {
	case !t.Concerns(s.Scene.Raw):
	case t.Tries > 0:
		s.Scene.ToldWhy = t.Err
	case t.Members != nil && now.Sub(t.At) <= 3*ToldEvery && maps.Equal(t.Computed, ComputedOwners(s.Scene.Raw)):
		s.Scene.tell(t.Members, t.At)
	}
}

// AddLive takes a picture and what has happened since the last one.
func (s *Source) AddLive(l *inspect.Live) {
	raw, events := s.Watch.past.Add(l)
	s.Scene = Door(raw, s.Scene)
	s.Scene.Watch = watchFactsOf(l, raw, s.Watch.past)
	s.Hist.Every = s.Watch.Every
	s.Hist.Add(s.Scene.Snapshot)
	s.Log.Add(events, 0)
}

// Forget drops what was told of a group that is there no more; what has happened stays
// among the events.
func (s *Source) Forget() {
	s.Scene, s.Hist, s.Watch.past = nil, &History{}, NewWatchPast()
}
