package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Kind is what an event does.
type Kind string

// The kinds of events.
const (
	Join       Kind = "join"
	Leave      Kind = "leave"       // SIGTERM
	Kill       Kind = "kill"        // SIGKILL
	Freeze     Kind = "freeze"      // SIGSTOP, after For SIGCONT
	Cut        Kind = "cut"         // its connections are reset, and new ones refused for For
	Stall      Kind = "stall"       // its connections carry nothing for For
	BrokerKill Kind = "broker kill" // SIGKILL, started again after For
)

// Group is one of the two groups; "" stands for both.
type Group string

// The groups.
const (
	Concurrent Group = "concurrent"
	Orderly    Group = "orderly"
)

var groups = []Group{Concurrent, Orderly}

// Event is one thing to do.
type Event struct {
	At     time.Duration `json:"at"` // since the start
	Group  Group         `json:"group,omitempty"`
	Kind   Kind          `json:"kind"`
	Member string        `json:"member,omitempty"`
	For    time.Duration `json:"for,omitempty"`
}

func (e Event) String() string {
	parts := []string{fmt.Sprintf("%7.1fs", e.At.Seconds()), fmt.Sprintf("%-11s", e.Kind)}
	if e.Member != "" {
		parts = append(parts, e.Member)
	}
	if e.For > 0 {
		parts = append(parts, fmt.Sprintf("for %.1fs", e.For.Seconds()))
	}
	return strings.Join(parts, " ")
}

// Role is a member as it is cast. Its name tells its group and its kind.
type Role struct {
	Name  string `json:"name"`
	Group Group  `json:"group"`
	Java  bool   `json:"java,omitempty"`
	Slow  bool   `json:"slow,omitempty"` // eyeq with a listener that has messages in its hands most of the time
}

// Plan is what a run does.
type Plan struct {
	Seed    uint64          `json:"seed"`
	Length  time.Duration   `json:"length"`
	Profile string          `json:"profile"`
	Roles   map[string]Role `json:"roles"`
	Initial []string        `json:"initial"` // those who are there at the start
	Events  []Event         `json:"events"`  // by time
}

// Profile says what may happen to whom.
type Profile struct {
	Java, Eyeq bool
	Kinds      []Kind // a deck: each comes as often as it stands here
	Broker     bool
}

var violent = []Kind{Join, Join, Join, Leave, Leave, Kill, Kill, Kill, Freeze, Freeze, Cut, Cut, Stall}

// profiles by name: -profile.
var profiles = map[string]Profile{
	"mixed":      {Java: true, Eyeq: true, Kinds: violent, Broker: true},
	"eyeq":       {Eyeq: true, Kinds: violent, Broker: true},
	"java":       {Java: true, Kinds: violent, Broker: true},
	"calm":       {Eyeq: true, Kinds: []Kind{Join, Leave}},
	"calm-mixed": {Java: true, Eyeq: true, Kinds: []Kind{Join, Leave}},
}

// How many members a group has.
const (
	minMembers     = 2
	maxMembers     = 5
	initialMembers = 3
)

// The times that a plan reckons with.
const (
	firstEvent  = 5 * time.Second
	joinTakes   = 6 * time.Second // a JVM on a busy machine
	leaveTakes  = 4 * time.Second
	brokerTakes = 12 * time.Second // from its start until it serves
	shortOutage = 4 * time.Second  // before that, in a short run
	frozenFor   = 40 * time.Second
	quietSpare  = 8 * time.Second // beyond the time in which queues have to be owned again
)

// A stock client of 4.9 that was refused a lock asks again every javaRebalance.
const javaRebalance = 20 * time.Second

// ownedWithin is how long after the last event every queue has to have an owner:
// a dead member's lock of a queue lasts 60 s at the broker.
var ownedWithin = map[Group]time.Duration{Concurrent: 30 * time.Second, Orderly: 65 * time.Second}

// MakePlan gives the events of a run, the same for the same arguments. Events
// come in bursts, after each of which a group is left alone for long enough to
// see its queues owned again; the last such time ends with the run.
func MakePlan(seed uint64, length time.Duration, profile string) (Plan, error) {
	p, ok := profiles[profile]
	if !ok {
		return Plan{}, fmt.Errorf("profile %q: must be mixed, eyeq, java, calm or calm-mixed", profile)
	}
	need := ownedWithin[Orderly] + quietSpare + firstEvent
	if length < need {
		return Plan{}, fmt.Errorf("length %v: must be at least %v, the time in which an orderly group recovers", length, need)
	}
	plan := Plan{Seed: seed, Length: length, Profile: profile, Roles: map[string]Role{}}
	var outages []Event
	if p.Broker {
		outages = planOutages(rand.New(rand.NewPCG(seed, 0)), length)
	}
	plan.Events = slices.Clone(outages)
	for i, g := range groups {
		troupe := newTroupe(rand.New(rand.NewPCG(seed, uint64(i+1))), g, p, &plan)
		for range initialMembers {
			plan.Initial = append(plan.Initial, troupe.cast(0))
		}
		from := firstEvent
		for _, o := range outages {
			troupe.play(from, o.At)
			// A burst among members that look for the broker, or a silent comeback.
			from = o.At + troupe.between(time.Second, o.For+brokerTakes)
			if troupe.rng.IntN(2) == 0 {
				from = o.At + o.For + brokerTakes + ownedWithin[g] + quietSpare
			}
		}
		troupe.play(from, length)
	}
	slices.SortStableFunc(plan.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return plan, nil
}

// planOutages spreads the broker's deaths over a run: one in four minutes; in a
// short run one, at its beginning.
func planOutages(rng *rand.Rand, length time.Duration) (outages []Event) {
	outage := func(at time.Duration) {
		outages = append(outages, Event{At: at, Kind: BrokerKill, For: between(rng, time.Second, 12*time.Second)})
	}
	n := int(length / (4 * time.Minute))
	if n == 0 && length >= firstEvent+shortOutage+brokerTakes+ownedWithin[Orderly]+quietSpare {
		outage(firstEvent)
		outages[0].For = between(rng, time.Second, shortOutage)
	}
	for i := range n {
		part := length / time.Duration(n+1)
		outage(part*time.Duration(i+1) + between(rng, -part/10, part/10))
	}
	return outages
}

func between(rng *rand.Rand, lo, hi time.Duration) time.Duration {
	return (lo + time.Duration(rng.Int64N(int64(hi-lo)+1))).Round(100 * time.Millisecond)
}

// troupe plans the events of one group.
type troupe struct {
	rng     *rand.Rand
	group   Group
	profile Profile
	plan    *Plan
	deck    []Kind
	present []present
	serial  int
}

// present is a member of the group at some time of the plan.
type present struct {
	name string
	busy time.Duration // with its last event, until then
}

func newTroupe(rng *rand.Rand, g Group, p Profile, plan *Plan) *troupe {
	return &troupe{rng: rng, group: g, profile: p, plan: plan}
}

func (t *troupe) between(lo, hi time.Duration) time.Duration { return between(t.rng, lo, hi) }

// cast makes a member that is busy with joining until then. The kinds that may
// take part come by turns: eyeq, Java, a slow eyeq, Java.
func (t *troupe) cast(busy time.Duration) string {
	t.serial++
	r := Role{Group: t.group}
	kind := "eyeq"
	switch {
	case t.profile.Java && (!t.profile.Eyeq || t.serial%2 == 0):
		kind, r.Java = "java", true
	case t.profile.Java && t.serial%4 == 3, !t.profile.Java && t.serial%2 == 0:
		kind, r.Slow = "slow", true
	}
	name := fmt.Sprintf("%c%02d-%s", t.group[0], t.serial, kind)
	r.Name = name
	t.plan.Roles[name] = r
	t.present = append(t.present, present{name, busy})
	return name
}

// play fills the time between from and to with bursts of events, each followed
// by a quiet time, the last of which ends at to at the latest.
func (t *troupe) play(from, to time.Duration) {
	quiet := ownedWithin[t.group] + quietSpare
	last := to - quiet // when all has to be over
	for at := from; at < last; {
		end := at
		for range 2 + t.rng.IntN(4) {
			e, until, ok := t.next(at, last)
			if !ok {
				break
			}
			t.plan.Events = append(t.plan.Events, e)
			end = max(end, until)
			at += t.between(2*time.Second, 12*time.Second)
		}
		if end == at { // nothing fits any more
			return
		}
		at = end + quiet
	}
}

// next draws an event for the time at that is over by last. What cannot be now
// stays in the deck.
func (t *troupe) next(at, last time.Duration) (e Event, until time.Duration, ok bool) {
	for range 2 { // with what is left of the deck, then with a whole one more
		for i, kind := range t.deck {
			if e, until, ok = t.try(kind, at, last); ok {
				t.deck = slices.Delete(t.deck, i, i+1)
				return e, until, true
			}
		}
		more := slices.Clone(t.profile.Kinds)
		t.rng.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		t.deck = append(t.deck, more...)
	}
	return Event{}, 0, false
}

// try makes an event of a kind, if the group's size, its members and the time
// left allow one.
func (t *troupe) try(kind Kind, at, last time.Duration) (e Event, until time.Duration, ok bool) {
	e = Event{At: at, Group: t.group, Kind: kind}
	room := last - at
	takes := time.Duration(0)
	switch kind {
	case Join:
		takes = joinTakes
	case Leave:
		takes = leaveTakes
	case Freeze:
		e.For = frozenFor
		if room < frozenFor { // a short run
			e.For = max(room/2, time.Second)
		}
	case Cut:
		e.For = [...]time.Duration{0, t.between(time.Second, 10*time.Second), t.between(10*time.Second, 30*time.Second)}[t.rng.IntN(3)]
	case Stall:
		e.For = t.between(2*time.Second, 30*time.Second)
	}
	until = at + takes + e.For
	if until > last {
		return e, until, false
	}
	switch kind {
	case Join:
		if len(t.present) >= maxMembers {
			return e, until, false
		}
		e.Member = t.cast(until)
		return e, until, true
	case Leave, Kill:
		if len(t.present) <= minMembers {
			return e, until, false
		}
	}
	free := slices.DeleteFunc(slices.Clone(t.present), func(p present) bool { return p.busy > at })
	if len(free) == 0 {
		return e, until, false
	}
	e.Member = free[t.rng.IntN(len(free))].name
	i := slices.IndexFunc(t.present, func(p present) bool { return p.name == e.Member })
	if kind == Leave || kind == Kill {
		t.present = slices.Delete(t.present, i, i+1)
	} else {
		t.present[i].busy = until
	}
	return e, until, true
}
