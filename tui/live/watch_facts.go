package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// watchFacts are what the scene of a watched group knows besides its snapshot. All
// texts are safe to print.
type watchFacts struct {
	holdings
	queues []watchedQueue
	// By topic, in the snapshot's order: the strategy that explains who holds what, and
	// how many queues it gives to each member.
	strategies []string
	due        []map[string]int
	caches     cacheLimits
	// movedWithin is the time between the two pictures of which the last move was seen.
	movedWithin time.Duration
	threads     string
	several     bool // more than one member
	Rates       memberRates
	flap        flap
	flaps       bool
	silent      map[string]string // safe client ids that do not tell their state, with why
	still       int               // queues whose commit stands
	longest     time.Duration     // that one stands
	closed      int               // queues that nobody may pull from
	unlocked    int               // queues without the broker's lock
	unpulled    int               // queues that their holder does not pull
	subscribed  []string          // topics that members filter differently, or not all read
	Paused      string
	state       string
	Told        bool     // by at least one member
	limits      []string // properties in which members differ
	Trouble     []string // what could not be asked
	kind        inspect.GroupKind
	members     inspect.Number
	retry       inspect.Number
	dead        inspect.Number
	// Of a group whose members pop: the share that brokers were told, which topics are
	// popped, and how many messages members have not acknowledged.
	share   string
	pops    []bool
	unacked *inspect.Number
}

// watchedQueue is one queue, in the place that it has in the snapshot.
type watchedQueue struct {
	committed inspect.Number
	lag       inspect.Number
	max       inspect.Number
	inflight  inspect.Number
	expired   int64
	expiresAt time.Time
	next      string // why the age of the next message is not known
	owners    []string
	expected  string
	why       string               // why the owner is not known for sure
	closed    string               // why nobody may pull from it
	finding   string               // in capitals, for the state column: "UNOWNED", "TWO OWNERS"
	limits    inspect.MemberLimits // its holder's
	orderly   bool
	// inFlight is what its holder has pulled and not committed; AtLeast: the broker does
	// not say how far it has pulled.
	inFlight inspect.Number
	standing time.Duration // at least
	idle     time.Duration // since its holder finished a message, at least
	told     bool          // the holder tells what is inside
	lockAge  time.Duration
	pullAge  time.Duration
	sizeMiB  int64
	pop      bool          // members pop it: it may have several owners
	popAge   time.Duration // since a member popped last; 0: none says
}

// watchFactsOf gathers the facts of a picture; s is its snapshot.
func watchFactsOf(l *inspect.Live, s *engine.Snapshot, p *watchPast) *watchFacts {
	f := &watchFacts{Rates: ratesOf(l), threads: threadsOf(l.Members.Members), several: len(l.Members.Members) > 1, silent: make(map[string]string), state: draw.SafeText(l.Lag.State),
		limits: cleanAll(l.LimitsDiffer), subscribed: cleanAll(l.SubscriptionsDiffer), kind: inspect.GroupKind(draw.SafeText(string(l.Members.Kind))), members: l.Lag.Members, retry: l.Lag.RetryLag, dead: l.Lag.DeadLetters,
		Paused: pauseWords(&l.Lag.Pause)}
	if pop := l.Lag.Pop; pop != nil && len(pop.Topics) > 0 {
		f.share, f.unacked = draw.SafeText(inspect.PopShare(pop.Modes)), &pop.Unacked
	}
	f.movedWithin = p.moveWithin
	f.flap, f.flaps = p.flapping(l.At)
	f.flap.host, f.Rates.worst = draw.SafeText(f.flap.host), draw.SafeText(f.Rates.worst)
	for i := range l.Members.Members {
		if m := &l.Members.Members[i]; m.Info == nil {
			f.silent[draw.SafeText(m.ClientID)] = draw.SafeText(m.Why.String())
			f.mute++
		} else {
			f.Told = true
		}
	}
	for i := range l.Topics {
		t := &l.Topics[i]
		due := make(map[string]int, len(t.Expected))
		for id, queues := range t.Expected {
			due[draw.SafeText(id)] = len(queues)
		}
		f.strategies, f.due, f.pops = append(f.strategies, draw.SafeText(t.Strategy)), append(f.due, due), append(f.pops, t.Pop)
		for _, d := range t.Differ {
			f.differ = append(f.differ, draw.SafeText(t.Topic+": "+d))
		}
	}
	for _, p := range slices.Concat(l.Problems, l.Members.Problems, l.Lag.Problems) {
		if text := draw.SafeText(p.String()); !slices.Contains(f.Trouble, text) {
			f.Trouble = append(f.Trouble, text)
		}
	}
	if len(l.Queues) == 0 && len(f.Trouble) > 0 { // no sum of nothing is a zero
		f.retry, f.dead = inspect.Number{}, inspect.Number{}
	}
	f.queues = make([]watchedQueue, len(l.Queues))
	for i := range l.Queues {
		f.queues[i] = f.queue(l, &l.Queues[i], &s.Queues[i], p)
	}
	return f
}

// queue judges one queue and counts what is found.
func (f *watchFacts) queue(l *inspect.Live, q *inspect.LiveQueue, s *engine.QueueSnapshot, p *watchPast) watchedQueue {
	w := watchedQueue{closed: draw.SafeText(q.Closed), committed: q.Committed, lag: q.Lag, max: q.Max, inflight: q.Inflight, expired: q.Expired, expiresAt: q.ExpiresAt,
		owners: cleanAll(q.Owners), expected: draw.SafeText(q.Expected), standing: p.standing(q.MessageQueue, l.At), told: q.Info != nil, pop: q.Pop}
	if q.Popped != nil && q.Popped.LastPopTimestamp > 0 {
		w.popAge = l.At.Sub(words.Millis(q.Popped.LastPopTimestamp))
	}
	if q.NextWhy.Kind != inspect.ReasonNone {
		w.next = draw.SafeText(q.NextWhy.String())
	}
	if q.OwnersWhy.Kind != inspect.ReasonNone {
		w.why = draw.SafeText(q.OwnersWhy.String())
	}
	if q.Info != nil {
		w.limits, w.orderly = q.Limits, q.Orderly
		end, atLeast := p.PulledUpTo(q)
		w.inFlight = inspect.Number{Value: max(end-committedUpTo(q), s.CachedCount+s.Consuming), Known: true, AtLeast: atLeast}
		f.caches.add(&w)
		w.idle = q.Idle
		w.sizeMiB = int64(q.Info.CachedMsgSizeInMiB)
		if !s.LockedAt.IsZero() && s.Locked {
			w.lockAge = l.At.Sub(s.LockedAt)
		}
		if !s.LastPull.IsZero() {
			w.pullAge = l.At.Sub(s.LastPull)
		}
	}
	if w.standing > 0 {
		f.still++
		f.longest = max(f.longest, w.standing)
	}
	if w.closed != "" {
		f.closed++
	}
	if s.State == engine.QueueUnlocked {
		f.unlocked++
	}
	if s.State != engine.QueuePaused && w.pullAge > deadPull {
		f.unpulled++
	}
	switch {
	case isBroadcastLive(l), q.Pop:
	case len(q.Owners) > 1:
		f.doubled++
		w.finding = "TWO OWNERS"
	case len(q.Owners) == 1:
	case w.why != "":
		f.unsure++
	case membersTold(l) && l.Lag.Members.Value > 0 && f.kind == inspect.KindPush:
		f.unowned++
		w.finding = "UNOWNED"
	}
	return w
}

// pauseWords says how far a group is paused; "" when it is not.
func pauseWords(p *inspect.Pause) string {
	switch {
	case p.All():
		return "PAUSED on all brokers"
	case len(p.Brokers) > 0:
		return fmt.Sprintf("PAUSED on %d of %d brokers", len(p.Brokers), p.Of)
	case len(p.Topics) == 1:
		for t := range p.Topics {
			return "PAUSED for topic " + draw.SafeText(t)
		}
	case len(p.Topics) > 1:
		return fmt.Sprintf("PAUSED for %d topics", len(p.Topics))
	}
	return ""
}

// Empty reports whether it is known that no member is connected.
func (f *watchFacts) Empty() bool {
	return f.members.Known && f.members.Value == 0 && !f.members.AtLeast
}

// agreement says whether the members hold what a strategy gives them.
func (f *watchFacts) agreement(s *Scene) (text string, sev words.Severity) {
	switch {
	case IsBroadcast(s):
		return "broadcasting: each member has all queues", words.Info
	case f.Empty():
		return "no member is connected", words.Warning
	case !f.Told:
		return "no member tells what it holds", words.Warning
	}
	if text, sev := f.Wrong(); text != "" {
		return text, sev
	}
	switch {
	case f.unacked != nil:
		return words.Plural(f.members.Value, "member") + " pop: the broker gives messages to whoever asks", words.Info
	case s.Strategy == "":
		return "no known strategy explains who holds what", words.Warning
	}
	if f.members.Value == 1 {
		return "1 member has what it should", words.Info
	}
	return words.Plural(f.members.Value, "member") + " agree on allocation", words.Info
}

// Worst is the worst thing that the picture shows, which decides the colour of the status
// line; where nothing is wrong, whether members hold what they should.
func (f *watchFacts) Worst(s *Scene) (text string, sev words.Severity) {
	agreed, sev := f.agreement(s)
	longest := "for at least "
	if f.still > 1 {
		longest = "the longest for at least "
	}
	found := []struct {
		is   bool
		text string
		sev  words.Severity
	}{
		{f.closed > 0, words.Plural(f.closed, "queue") + " of which nobody may pull", words.Failure},
		{sev != words.Info, agreed, sev},
		{f.still > 0, words.Plural(f.still, "commit") + " standing still, " + longest + words.Age(f.longest), words.Failure},
		{f.unlocked > 0, words.Plural(f.unlocked, "queue") + " without the broker's lock", words.Failure},
		{len(f.subscribed) > 0, "members subscribe differently to " + strings.Join(f.subscribed, ", "), words.Failure},
		{len(f.Trouble) > 0, words.Plural(len(f.Trouble), "thing") + " could not be asked: " + strings.Join(f.Trouble[:min(len(f.Trouble), 1)], ""), words.Warning},
		{f.unpulled > 0, words.Plural(f.unpulled, "queue") + " not pulled for " + words.Age(deadPull), words.Warning},
		{len(f.limits) > 0, "members differ in " + strings.Join(f.limits, ", "), words.Warning},
	}
	for _, level := range []words.Severity{words.Failure, words.Warning} {
		for _, x := range found {
			if x.is && x.sev == level {
				return x.text, level
			}
		}
	}
	return agreed, sev
}
