package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/words"
)

const (
	// stillAfter is how long a commit may stand still before lag that waits is told of:
	// members commit every 5 s.
	stillAfter = 30 * time.Second
	// flapWindow is the time over which joins and leaves are counted; flapFrom as many
	// of one host in it are a flapping member and not a deployment.
	flapWindow = 10 * time.Minute
	flapFrom   = 4
)

// watchPast is what is kept of the pictures of a watched group, to compare the next
// one with. bubbletea's loop owns it.
type watchPast struct {
	began  time.Time
	live   *inspect.Live        // the one before; nil: none
	seen   map[string]time.Time // client id → when it was first there
	queues map[engine.MessageQueue]queuePast
	ends   map[engine.MessageQueue]queueEnd
	silent map[string]bool // members that did not answer
	mute   map[string]mute // brokers that did not, by name
	paused bool

	passes   int64 // pictures in which queues moved
	lastMove time.Time
	// moveWithin is how long before lastMove the picture was taken that showed other owners.
	moveWithin time.Duration
	gained     int // queues that changed hands in it
	changes    []memberChange

	pulled, consumed, failed float64 // the members' rates, summed up over time
}

// mute is a broker that does not answer.
type mute struct {
	since time.Time // of the first picture without its answer
	why   inspect.Reason
}

// queuePast is one queue as it was.
type queuePast struct {
	owner     string // "" none
	known     bool   // whether somebody would have told
	state     engine.QueueState
	stateAt   time.Time
	flow      engine.FlowCause
	flowAt    time.Time
	flowMost  int64
	locked    bool
	pulled    int64 // the end of what the owner has pulled, as far as it was seen
	upTo      int64 // what the owner has committed
	committed int64
	commitAt  time.Time // since when the commit stands there, with lag
	still     bool      // told of
}

// queueEnd is where a queue and its commit were seen last: a topic that is deleted and
// created again is not there between.
type queueEnd struct{ max, committed int64 }

// memberChange is one join or leave.
type memberChange struct {
	at     time.Time
	client string
	joined bool
}

// NewWatchPast has seen nothing yet.
func NewWatchPast() *watchPast {
	return &watchPast{seen: make(map[string]time.Time), queues: make(map[engine.MessageQueue]queuePast), ends: make(map[engine.MessageQueue]queueEnd), silent: make(map[string]bool)}
}

// totals are counters that grow by the members' rates, for the trend lines.
func (p *watchPast) totals() engine.Totals {
	return engine.Totals{Pulled: uint64(p.pulled), Consumed: uint64(p.consumed), Failed: uint64(p.failed)}
}

// sinceWhen fills in since when a queue is as it is.
func (p *watchPast) sinceWhen(s *engine.QueueSnapshot) {
	was, ok := p.queues[s.MessageQueue]
	s.StateSince, s.FlowSince = p.liveAt(s.OffsetsAt), time.Time{}
	if ok && was.state == s.State && !p.absent(s.OffsetsAt) {
		s.StateSince = was.stateAt
	} else {
		s.StateSince = s.OffsetsAt
	}
	if s.Flow == core.FlowNone {
		return
	}
	s.FlowSince = s.OffsetsAt
	if ok && was.flow == s.Flow && !p.absent(s.OffsetsAt) {
		s.FlowSince = was.flowAt
	}
}

// absent reports whether nobody looked for a while before now: what was so then and is so
// now need not have been so between.
func (p *watchPast) absent(now time.Time) bool {
	return p.live != nil && now.Sub(p.live.At) > 2*MaxWatchEvery
}

// lastSeen is the last moment at which what is no more was still there.
func (p *watchPast) lastSeen(now time.Time) time.Time {
	if p.absent(now) {
		return p.live.At
	}
	return now
}

func (p *watchPast) liveAt(now time.Time) time.Time {
	if p.live == nil {
		return now
	}
	return p.live.At
}

// Add takes the next picture: what it looks like, and what has happened since the
// one before. Nothing has happened at the first.
func (p *watchPast) Add(l *inspect.Live) (*engine.Snapshot, []engine.Event) {
	first := p.live == nil
	if first {
		p.began = l.At
	}
	var events []engine.Event
	if !first {
		p.flowed(l, l.At.Sub(p.live.At))
		events = p.members(events, l)
	}
	for i := range l.Members.Members {
		if id := l.Members.Members[i].ClientID; p.seen[id].IsZero() {
			p.seen[id] = l.At
		}
	}
	events = append(events, p.brokers(l, first)...)
	s := watchSnapshot(l, p)
	queueEvents, moved := p.compare(l, s, first)
	events = append(events, queueEvents...)
	if moved > 0 {
		p.passes++
		p.lastMove, p.moveWithin, p.gained = l.At, l.At.Sub(p.live.At), moved
		s.RebalanceSeq, s.LastRebalance = p.passes, p.lastMove
	}
	if pause := l.Lag.Pause.Any(); pause != p.paused && !first {
		events = append(events, words.GroupPaused{At: engine.At{Time: l.At}, Paused: pause, Brokers: slices.Clone(l.Lag.Pause.Brokers)})
	}
	p.paused = l.Lag.Pause.Any()
	p.live = l
	return s, events
}

// brokers tells which brokers of the group's topics stopped answering, or answer again.
// Only those are known that cannot be reached: one that refuses a question answers.
func (p *watchPast) brokers(l *inspect.Live, first bool) (events []engine.Event) {
	now := make(map[string]mute)
	names := liveBrokers(l)
	for _, x := range slices.Concat(l.Problems, l.Members.Problems, l.Lag.Problems) {
		if _, known := now[x.Where]; known || x.Why.Kind != inspect.ReasonUnreachable || !slices.Contains(names, x.Where) {
			continue
		}
		was, before := p.mute[x.Where]
		if !before {
			was.since = l.At
			if !first {
				events = append(events, engine.BrokerOffline{At: engine.At{Time: l.At}, Broker: x.Where, Error: x.Why.String()})
			}
		}
		now[x.Where] = mute{was.since, x.Why}
	}
	for _, name := range slices.Sorted(maps.Keys(p.mute)) {
		if _, still := now[name]; !still {
			events = append(events, engine.BrokerOnline{At: engine.At{Time: l.At}, Broker: name, DurationMS: l.At.Sub(p.mute[name].since).Milliseconds()})
		}
	}
	p.mute = now
	return events
}

// liveBrokers are the brokers of a group's queues, in order.
func liveBrokers(l *inspect.Live) []string {
	names := make(map[string]bool)
	for i := range l.Topics {
		for _, b := range l.Topics[i].Brokers {
			names[b] = true
		}
	}
	for i := range l.Queues {
		names[l.Queues[i].BrokerName] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// flowed adds what the members say they did since the last picture.
func (p *watchPast) flowed(l *inspect.Live, over time.Duration) {
	r := ratesOf(l)
	seconds := max(over.Seconds(), 0)
	p.pulled += r.pull * seconds
	p.consumed += r.Consume * seconds
	p.failed += r.fail * seconds
}

// members compares who is there. A list that could not be read says nothing.
func (p *watchPast) members(events []engine.Event, l *inspect.Live) []engine.Event {
	at := engine.At{Time: l.At}
	if !membersTold(l) || !membersTold(p.live) {
		return events
	}
	now, silent := make(map[string]bool), make(map[string]bool)
	for i := range l.Members.Members {
		m := &l.Members.Members[i]
		now[m.ClientID] = true
		silent[m.ClientID] = m.Info == nil
		was := slices.ContainsFunc(p.live.Members.Members, func(x inspect.Member) bool { return x.ClientID == m.ClientID })
		switch {
		case !was:
			events = append(events, words.MemberJoined{At: at, ClientID: m.ClientID})
			p.changes = append(p.changes, memberChange{l.At, m.ClientID, true})
		case silent[m.ClientID] && !p.silent[m.ClientID]:
			events = append(events, words.MemberSilent{At: at, ClientID: m.ClientID, Why: m.Why.String()})
		case !silent[m.ClientID] && p.silent[m.ClientID]:
			events = append(events, words.MemberAnswers{At: at, ClientID: m.ClientID})
		}
	}
	for i := range p.live.Members.Members {
		if id := p.live.Members.Members[i].ClientID; !now[id] {
			events = append(events, words.MemberLeft{At: at, ClientID: id, StayedMS: p.lastSeen(l.At).Sub(p.seen[id]).Milliseconds()})
			p.changes = append(p.changes, memberChange{l.At, id, false})
			delete(p.seen, id)
		}
	}
	p.silent = silent
	p.changes = slices.DeleteFunc(p.changes, func(c memberChange) bool { return l.At.Sub(c.at) > flapWindow })
	return events
}

// membersTold reports whether somebody has named the members.
func membersTold(l *inspect.Live) bool { return l.Lag.Members.Known || len(l.Members.Members) > 0 }

// compare tells what became of each queue, and how many have another owner.
func (p *watchPast) compare(l *inspect.Live, s *engine.Snapshot, first bool) (events []engine.Event, moved int) {
	now := make(map[engine.MessageQueue]queuePast, len(s.Queues))
	within := time.Duration(0)
	if !first {
		within = l.At.Sub(p.live.At)
	}
	for i := range s.Queues {
		q, live := &s.Queues[i], &l.Queues[i]
		was, ok := p.queues[q.MessageQueue]
		at := engine.At{Time: l.At, MQ: q.MessageQueue}
		x := queuePast{owner: q.Owner, known: live.OwnersWhy.Kind == inspect.ReasonNone, state: q.State, stateAt: q.StateSince,
			flow: q.Flow, flowAt: q.FlowSince, locked: q.Locked && q.Own, committed: known(live.Committed)}
		x.pulled, _ = p.PulledUpTo(live)
		x.upTo = committedUpTo(live)
		if !x.known && q.Owner == "" { // nobody says who has it now
			x.owner = was.owner
		}
		if ok && x.owner != was.owner && !isBroadcastLive(l) && !live.Pop {
			events = append(events, words.QueueMoved{At: at, From: was.owner, To: x.owner, WithinMS: within.Milliseconds()})
			moved++
		}
		events = append(events, flowSeen(at, p.lastSeen(l.At), q, &was, &x)...)
		if ok && live.Orderly && was.locked && !x.locked && q.Own && x.owner == was.owner {
			events = append(events, words.LockSeenLost{At: at, ClientID: q.Owner})
		}
		events = append(events, x.commitStill(at, q, live, &was, ok)...)
		events = append(events, p.ended(at, live)...)
		now[q.MessageQueue] = x
	}
	p.queues = now
	return events, moved
}

func isBroadcastLive(l *inspect.Live) bool { return l.Members.Model == words.Broadcasting }

// flowSeen tells of flow control that began or ended between two pictures.
func flowSeen(at engine.At, lastSeen time.Time, q *engine.QueueSnapshot, was, now *queuePast) (events []engine.Event) {
	if was.flow != core.FlowNone && was.flow != now.flow {
		events = append(events, words.FlowSeenEnd{At: at, Cause: was.flow, Most: was.flowMost, Limit: q.FlowLimit, DurationMS: lastSeen.Sub(was.flowAt).Milliseconds()})
	}
	if now.flow == core.FlowNone {
		return events
	}
	now.flowMost = q.FlowValue
	if was.flow == now.flow {
		now.flowMost = max(now.flowMost, was.flowMost)
		return events
	}
	return append(events, engine.FlowBegin{At: at, Cause: q.Flow, Limit: q.FlowLimit, Value: q.FlowValue})
}

// ended tells of a queue that was made anew, and of a commit that is put right in it: a
// member that was beyond the new end goes on behind messages that nobody has consumed, and
// later nothing shows that.
func (p *watchPast) ended(at engine.At, q *inspect.LiveQueue) (events []engine.Event) {
	if !q.Max.Known {
		return nil
	}
	was, ok := p.ends[q.MessageQueue]
	now := queueEnd{max: q.Max.Value, committed: was.committed}
	if q.Info != nil && q.Info.CommitOffset > now.max {
		now.committed = q.Info.CommitOffset // brokers of 5.x forget commits with the topic
	}
	if q.Committed.Known {
		now.committed = q.Committed.Value
	}
	p.ends[q.MessageQueue] = now
	if !ok {
		return nil
	}
	if now.max < was.max {
		events = append(events, words.EndFell{At: at, From: was.max, To: now.max})
	}
	if passed := now.committed - q.Min.Value; was.committed > now.max && now.committed <= now.max && q.Min.Known && passed > 0 {
		events = append(events, words.CommitBack{At: at, From: was.committed, To: now.committed, Passed: passed})
	}
	return events
}

// commitStill tells of a commit that has not moved for a while although messages wait: in
// the pictures, or before the first of them by its holder's word.
func (x *queuePast) commitStill(at engine.At, q *engine.QueueSnapshot, live *inspect.LiveQueue, was *queuePast, ok bool) (events []engine.Event) {
	lag, known := q.Lag()
	waits := known && lag > 0 && q.State != engine.QueuePaused // that one stands is what a pause is for
	switch {
	case !waits:
	case !ok && live.Idle > 0 && !live.NextStored.IsZero(): // what came just now has not waited as long
		x.commitAt = at.Time.Add(-max(min(live.Idle, at.Time.Sub(live.NextStored)), 0))
	case !ok || was.commitAt.IsZero() || was.committed != x.committed:
		x.commitAt = at.Time
	default:
		x.commitAt, x.still = was.commitAt, was.still
	}
	switch d := at.Time.Sub(x.commitAt); {
	case waits && !x.still && d >= stillAfter:
		x.still = true
		events = append(events, words.CommitStands{At: at, Offset: x.committed, Lag: lag, ForMS: d.Milliseconds(), ClientID: q.Owner})
	case was.still && !x.still:
		events = append(events, words.CommitMoves{At: at, Offset: x.committed, AfterMS: at.Time.Sub(was.commitAt).Milliseconds()})
	}
	return events
}

// PulledUpTo is the end of what a queue's holder has pulled: as the broker tells (5.x
// does), else at least behind the newest message that it had cached since it has the
// queue.
func (p *watchPast) PulledUpTo(q *inspect.LiveQueue) (end int64, atLeast bool) {
	end = committedUpTo(q)
	if q.Info != nil && q.Info.CachedMsgCount > 0 {
		end = max(end, q.Info.CachedMsgMaxOffset+1)
	}
	if q.Info != nil && q.Info.TransactionMsgCount > 0 {
		end = max(end, q.Info.TransactionMsgMaxOffset+1)
	}
	if q.Pulled.Known {
		return max(end, q.Pulled.Value), false
	}
	if was, ok := p.queues[q.MessageQueue]; ok && was.owner == q.Owner && was.upTo <= committedUpTo(q) { // not gone back
		end = max(end, was.pulled)
	}
	return end, !q.Max.Known || end < q.Max.Value // there is no more to pull
}

// standing is how long a queue's commit has stood still with lag; zero when it moves.
func (p *watchPast) standing(mq engine.MessageQueue, now time.Time) time.Duration {
	x, ok := p.queues[mq]
	if !ok || !x.still {
		return 0
	}
	return now.Sub(x.commitAt)
}

// flap says who comes and goes: joins and leaves within the window, by host, since a
// restarted process has another client id.
type flap struct {
	changes int // of all
	over    time.Duration
	host    string // that causes the most; true name
	ofHost  int
}

// flapping is the rate of joins and leaves; ok is false when nobody flaps.
func (p *watchPast) flapping(now time.Time) (f flap, ok bool) {
	byHost := make(map[string]int)
	for _, c := range p.changes {
		if now.Sub(c.at) > flapWindow {
			continue
		}
		f.changes++
		host, _, _ := strings.Cut(c.client, "@")
		byHost[host]++
	}
	f.over = min(now.Sub(p.began), flapWindow)
	for _, host := range slices.SortedFunc(maps.Keys(byHost), cmp.Compare[string]) {
		if byHost[host] > f.ofHost {
			f.host, f.ofHost = host, byHost[host]
		}
	}
	return f, f.ofHost >= flapFrom
}

// memberRates are sums of what members say a second; atLeast when some say nothing.
type memberRates struct {
	pull, Consume, fail float64
	known, atLeast      bool
	consumeRT, pullRT   float64 // in milliseconds, weighed by the messages
	worstRT             float64
	worst               string // client id of it
}

func ratesOf(l *inspect.Live) (r memberRates) {
	weight, pullWeight := 0.0, 0.0
	for i := range l.Members.Members {
		m := &l.Members.Members[i]
		if m.RatesWhy().Kind != inspect.ReasonNone {
			r.atLeast = true
			continue
		}
		r.known = true
		for _, s := range m.Info.StatusTable {
			r.pull += s.PullTPS
			r.Consume += s.ConsumeOKTPS
			r.fail += s.ConsumeFailedTPS
			r.consumeRT += s.ConsumeRT * s.ConsumeOKTPS
			weight += s.ConsumeOKTPS
			r.pullRT += s.PullRT * s.PullTPS
			pullWeight += s.PullTPS
			if s.ConsumeOKTPS > 0 && s.ConsumeRT > r.worstRT {
				r.worstRT, r.worst = s.ConsumeRT, m.ClientID
			}
		}
	}
	r.atLeast = r.atLeast && r.known
	if weight > 0 {
		r.consumeRT /= weight
	}
	if pullWeight > 0 {
		r.pullRT /= pullWeight
	}
	return r
}

// MaxWatchEvery is the longest pause between two pictures.
const MaxWatchEvery = time.Minute

// MinWatchEvery is the shortest one.
const MinWatchEvery = time.Second
