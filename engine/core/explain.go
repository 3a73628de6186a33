package core

import (
	"maps"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// Holder is what one member of a group says of a topic.
type Holder struct {
	ClientID string
	// Times is how often brokers name it: two processes with one client id are named
	// twice, each takes the first share, and nobody the second. 0 is 1.
	Times  int
	Silent bool // it did not say what it holds
	// Elsewhere: it does not subscribe to the topic. It has its share all the same,
	// since brokers give out the members of the group, and nobody reads that share.
	Elsewhere bool
	Strategy  string                  // RocketMQ's name of the one that it says it uses (see StrategyOf); "" unknown
	Holds     []protocol.MessageQueue // without those below
	Leaving   []protocol.MessageQueue // it still has, and is giving away
}

// Holdings are a topic's queues and who says to hold which, of a clustering group.
type Holdings struct {
	Group, Topic string
	Queues       []protocol.MessageQueue // that can be read
	Holders      []Holder                // all members of the group
	// Settling: members came or went, or queues changed hands, so lately that a
	// rebalance may be under way.
	Settling bool
}

// Misheld is what one member holds otherwise than the strategy says.
type Misheld struct {
	ClientID string
	Extra    []protocol.MessageQueue // should be another's
	Missing  []protocol.MessageQueue // should be its own
}

// SharedQueue is a queue that several members say to hold.
type SharedQueue struct {
	Queue protocol.MessageQueue
	By    []string // client ids, sorted
}

// Allocation is what ExplainAllocation finds.
type Allocation struct {
	// Strategy explains what all members hold that said it; "" when none does, or
	// nobody said anything.
	Strategy string
	// Expected are the shares by Strategy, or, when none explains it, by the one that
	// members name or that comes closest, which Guess names.
	Expected map[string][]protocol.MessageQueue
	Guess    string
	// Opaque: members name a strategy that depends on what only they know, so what
	// they should hold cannot be told, and Differ stays empty.
	Opaque bool
	// Settling: a rebalance is under way, and Differ stays empty.
	Settling bool
	Differ   []Misheld
	// Unowned are held by nobody, and everybody said so. Unsure are held by nobody who
	// said so, while others did not say.
	Unowned, Unsure []protocol.MessageQueue
	Shared          []SharedQueue
}

// ExplainAllocation finds the strategy by which a group's members hold what they
// say they hold: AVG first, then the others as far as they can be recomputed.
// Rooms are those in the names (RoomsByName), the hash is of ten nodes a member,
// CONFIG is believed of members that name it.
func ExplainAllocation(h Holdings) Allocation {
	a := explainAllocation(h)
	if a.Strategy != "" || !slices.ContainsFunc(h.Holders, func(m Holder) bool { return m.Times > 1 }) {
		return a
	}
	// At each broker it may be named once, or the second process came just now.
	h.Holders = slices.Clone(h.Holders)
	for i := range h.Holders {
		h.Holders[i].Times = 1
	}
	if once := explainAllocation(h); once.Strategy != "" {
		return once
	}
	return a
}

func explainAllocation(h Holdings) Allocation {
	a := Allocation{Settling: h.Settling}
	h.Queues = slices.Clone(h.Queues)
	slices.SortFunc(h.Queues, protocol.CompareMessageQueues)
	a.findOwners(h)
	said := 0
	for _, m := range h.Holders {
		if !m.Silent && !m.Elsewhere {
			said++
		}
		a.Settling = a.Settling || len(m.Leaving) > 0
	}
	if said == 0 || len(h.Queues) == 0 {
		return a
	}
	named, agreed := namedStrategy(h.Holders)
	candidates := allocationCandidates(h, named)
	best := -1
	for _, c := range candidates {
		shares, ok := c.shares(h)
		if !ok {
			continue
		}
		off := misheld(h.Holders, shares)
		switch {
		case len(off) == 0:
			a.Strategy, a.Guess, a.Expected, a.Differ = c.name, "", shares, nil
			return a
		case !c.plain() && c.name != named: // no guess: somebody has to say that it is this one
		case best < 0 || distance(off) < best && a.Guess != named:
			best, a.Guess, a.Expected, a.Differ = distance(off), c.name, shares, off
		}
	}
	a.Opaque = agreed && named != "" && !candidate{name: named}.plain()
	if a.Opaque {
		a.Guess, a.Expected = named, nil
	}
	if a.Opaque || a.Settling {
		a.Differ = nil
	}
	return a
}

// findOwners fills in what needs no strategy.
func (a *Allocation) findOwners(h Holdings) {
	by := make(map[protocol.MessageQueue][]string, len(h.Queues))
	silent := false
	for _, m := range h.Holders {
		silent = silent || m.Silent
		for _, mq := range m.Holds {
			if !slices.Contains(by[mq], m.ClientID) {
				by[mq] = append(by[mq], m.ClientID)
			}
		}
	}
	for _, mq := range h.Queues {
		switch n := len(by[mq]); {
		case n == 0 && silent:
			a.Unsure = append(a.Unsure, mq)
		case n == 0:
			a.Unowned = append(a.Unowned, mq)
		case n > 1:
			slices.SortFunc(by[mq], protocol.CompareUTF16)
			a.Shared = append(a.Shared, SharedQueue{mq, by[mq]})
		}
	}
}

// namedStrategy is the one that all members name who name one; agreed is unset
// when they name different ones, and named is then "".
func namedStrategy(holders []Holder) (named string, agreed bool) {
	for _, m := range holders {
		switch {
		case m.Strategy == "":
		case named == "":
			named = m.Strategy
		case strings.HasPrefix(m.Strategy, named+"-"): // Java does not say what is inside
		case strings.HasPrefix(named, m.Strategy+"-"):
			named = m.Strategy
		case named != m.Strategy:
			return "", false
		}
	}
	return named, true
}

// candidate is a strategy that can be recomputed from outside.
type candidate struct {
	name     string
	strategy Strategy // nil: CONFIG
}

// plain reports whether queues and members alone decide. By the others it is also
// settings of the members: rooms, nodes on the ring, a list.
func (c candidate) plain() bool {
	return c.name == AllocateAveragely.Name() || c.name == AllocateAveragelyByCircle.Name()
}

// allocationCandidates are the strategies to try, in order: the one that members
// name, AVG, and the rest.
func allocationCandidates(h Holdings, named string) []candidate {
	list := []candidate{
		{"AVG", AllocateAveragely},
		{"AVG_BY_CIRCLE", AllocateAveragelyByCircle},
		{"CONSISTENT_HASH", hashStrategy{VirtualNodes, md5Hash}},
	}
	if rooms := heldRooms(h.Holders); len(rooms) > 0 {
		list = append(list, candidate{"MACHINE_ROOM", AllocateByMachineRoom(rooms)})
	}
	for _, inner := range list[:3:3] {
		s := nearbyStrategy{inner.strategy, RoomsByName()}
		list = append(list, candidate{s.Name(), s})
	}
	if named == "CONFIG" {
		list = append(list, candidate{name: named})
	}
	rank := func(c candidate) int {
		if named != "" && (c.name == named || strings.HasPrefix(c.name, named+"-")) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return rank(a) - rank(b) })
	return list
}

// shares gives everybody's share; ok is unset when the strategy cannot be the one.
func (c candidate) shares(h Holdings) (shares map[string][]protocol.MessageQueue, ok bool) {
	if c.strategy == nil { // what they hold is what they were told to
		shares = make(map[string][]protocol.MessageQueue, len(h.Holders))
		for _, m := range h.Holders {
			shares[m.ClientID] = append(slices.Clone(m.Holds), m.Leaving...)
		}
		return shares, true
	}
	members := make([]string, 0, len(h.Holders))
	for _, m := range h.Holders {
		for range max(m.Times, 1) {
			members = append(members, m.ClientID)
		}
	}
	slices.SortFunc(members, protocol.CompareUTF16)
	shares, err := AllocateAll(c.strategy, h.Group, h.Topic, "", h.Queues, members)
	return shares, err == nil
}

// heldRooms are the rooms in the names of the brokers that members read from.
func heldRooms(holders []Holder) []string {
	rooms := map[string]bool{}
	for _, m := range holders {
		for _, mq := range m.Holds {
			if room, _, ok := strings.Cut(strings.TrimRight(mq.BrokerName, "@"), "@"); ok {
				rooms[room] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(rooms))
}

// misheld compares what members said with the shares. A queue that is being given
// away by a member that should have it is missing: it is not read.
func misheld(holders []Holder, shares map[string][]protocol.MessageQueue) []Misheld {
	var off []Misheld
	for _, m := range holders {
		if m.Silent || m.Elsewhere {
			continue
		}
		d := Misheld{ClientID: m.ClientID, Extra: without(m.Holds, shares[m.ClientID]), Missing: without(shares[m.ClientID], m.Holds)}
		if len(d.Extra)+len(d.Missing) > 0 {
			off = append(off, d)
		}
	}
	slices.SortFunc(off, func(a, b Misheld) int { return protocol.CompareUTF16(a.ClientID, b.ClientID) })
	return off
}

func distance(off []Misheld) (n int) {
	for _, d := range off {
		n += len(d.Extra) + len(d.Missing)
	}
	return n
}

// without gives the queues of a that are not in b, sorted.
func without(a, b []protocol.MessageQueue) []protocol.MessageQueue {
	in := make(map[protocol.MessageQueue]bool, len(b))
	for _, mq := range b {
		in[mq] = true
	}
	var rest []protocol.MessageQueue
	for _, mq := range a {
		if !in[mq] {
			in[mq] = true // once
			rest = append(rest, mq)
		}
	}
	slices.SortFunc(rest, protocol.CompareMessageQueues)
	return rest
}

// javaStrategies are RocketMQ's names by the Java class.
var javaStrategies = map[string]string{
	"AllocateMessageQueueAveragely":         "AVG",
	"AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
	"AllocateMessageQueueByConfig":          "CONFIG",
	"AllocateMessageQueueByMachineRoom":     "MACHINE_ROOM",
	"AllocateMachineRoomNearby":             nearbyName,
	"AllocateMessageQueueConsistentHash":    "CONSISTENT_HASH",
}

// StrategyOf reads the property allocateMessageQueueStrategy of a running info: of
// a Java member it is a class with an address, of eyeq the name. One that is not
// RocketMQ's gives the class without its package. "" stays "".
func StrategyOf(property string) string {
	if name, err := StrategyName(property); err == nil {
		return name
	}
	class, _, _ := strings.Cut(property, "@")
	class = class[strings.LastIndexByte(class, '.')+1:]
	if name, ok := javaStrategies[class]; ok {
		return name
	}
	return class
}
