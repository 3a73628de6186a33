package core

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

// holdersOf deals out what a strategy gives, each member saying so.
func holdersOf(t *testing.T, s Strategy, queues []protocol.MessageQueue, members ...string) []Holder {
	t.Helper()
	var holders []Holder
	for _, m := range members {
		share, err := s.Allocate("g", m, queues, members)
		if err != nil {
			t.Fatal(err)
		}
		holders = append(holders, Holder{ClientID: m, Holds: share})
	}
	return holders
}

// allocationText is an Allocation in words.
func allocationText(a Allocation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "strategy=%s", a.Strategy)
	if a.Guess != "" {
		fmt.Fprintf(&b, " guess=%s", a.Guess)
	}
	if a.Opaque {
		b.WriteString(" opaque")
	}
	if a.Settling {
		b.WriteString(" settling")
	}
	for _, d := range a.Differ {
		fmt.Fprintf(&b, " %s+[%s]-[%s]", d.ClientID, shortNames(d.Extra), shortNames(d.Missing))
	}
	if len(a.Unowned) > 0 {
		fmt.Fprintf(&b, " unowned=[%s]", shortNames(a.Unowned))
	}
	if len(a.Unsure) > 0 {
		fmt.Fprintf(&b, " unsure=[%s]", shortNames(a.Unsure))
	}
	for _, s := range a.Shared {
		fmt.Fprintf(&b, " %s by %s", s.Queue.Short(), strings.Join(s.By, "+"))
	}
	return b.String()
}

func TestExplainAllocation(t *testing.T) {
	four := queuesOf("b", 4)
	hash, err := AllocateByConsistentHash(VirtualNodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	rooms := slices.Concat(queuesOf("A@b1", 5), queuesOf("B@b1", 3))
	nearby, err := AllocateMachineRoomNearby(AllocateAveragely, RoomsByName())
	if err != nil {
		t.Fatal(err)
	}
	hold := func(id string, ids ...int32) Holder {
		h := Holder{ClientID: id}
		for _, i := range ids {
			h.Holds = append(h.Holds, four[i])
		}
		return h
	}
	named := func(h Holder, strategy string) Holder { h.Strategy = strategy; return h }
	silent := Holder{ClientID: "z", Silent: true}
	for name, tt := range map[string]struct {
		queues  []protocol.MessageQueue
		holders []Holder
		setting bool
		want    string
	}{
		"averagely":       {holders: []Holder{hold("x", 0, 1), hold("y", 2, 3)}, want: "strategy=AVG"},
		"by circle":       {holders: []Holder{hold("x", 0, 2), hold("y", 1, 3)}, want: "strategy=AVG_BY_CIRCLE"},
		"consistent hash": {holders: holdersOf(t, hash, four, "x", "y"), want: "strategy=CONSISTENT_HASH"},
		"machine room, one of two read": {queues: rooms, holders: holdersOf(t, AllocateByMachineRoom([]string{"A"}), rooms, "x", "y"),
			want: "strategy=MACHINE_ROOM unowned=[B@b1/0 B@b1/1 B@b1/2]"},
		"machine room nearby": {queues: rooms, holders: holdersOf(t, nearby, rooms, "A-1", "A-2", "B-1"), want: "strategy=MACHINE_ROOM_NEARBY-AVG"},
		"one member has all: AVG before the others that give the same": {
			holders: []Holder{hold("x", 0, 1, 2, 3)}, want: "strategy=AVG"},
		"the named one before AVG where both explain": {
			holders: []Holder{named(hold("x", 0, 1, 2, 3), "AVG_BY_CIRCLE")}, want: "strategy=AVG_BY_CIRCLE"},
		"a configured list": {holders: []Holder{named(hold("x", 0, 3), "CONFIG"), named(hold("y", 1, 2), "CONFIG")}, want: "strategy=CONFIG"},
		"configured lists that overlap and leave one out": {
			holders: []Holder{named(hold("x", 0, 1), "CONFIG"), named(hold("y", 1, 2), "CONFIG")}, want: "strategy=CONFIG unowned=[b/3] b/1 by x+y"},
		"nobody named a list": {holders: []Holder{hold("x", 0, 3), hold("y", 1, 2)}, want: "strategy= guess=AVG x+[b/3]-[b/1] y+[b/1]-[b/3]"},
		"a strategy of their own": {
			holders: []Holder{named(hold("x", 0, 3), "ByColour"), named(hold("y", 1, 2), "ByColour")}, want: "strategy= guess=ByColour opaque"},
		"a ring of other nodes":      {holders: []Holder{named(hold("x", 0, 1, 2), "CONSISTENT_HASH"), named(hold("y", 3), "CONSISTENT_HASH")}, want: "strategy= guess=CONSISTENT_HASH opaque"},
		"they say AVG and hold else": {holders: []Holder{named(hold("x", 0, 3), "AVG"), named(hold("y", 1), "AVG")}, want: "strategy= guess=AVG x+[b/3]-[b/1] y+[b/1]-[b/2 b/3] unowned=[b/2]"},
		"they name different ones":   {holders: []Holder{named(hold("x", 0, 1), "AVG"), named(hold("y", 1, 3), "AVG_BY_CIRCLE")}, want: "strategy= guess=AVG y+[b/1]-[b/2] unowned=[b/2] b/1 by x+y"},
		"two owners":                 {holders: []Holder{hold("x", 0, 1, 2), hold("y", 2, 3)}, want: "strategy= guess=AVG x+[b/2]-[] b/2 by x+y"},
		"lately changed":             {holders: []Holder{hold("x", 0, 1, 2), hold("y", 2, 3)}, setting: true, want: "strategy= guess=AVG settling b/2 by x+y"},
		"being given away": {
			holders: []Holder{{ClientID: "x", Holds: four[:2], Leaving: four[2:3]}, hold("y", 3)}, want: "strategy= guess=AVG settling unowned=[b/2]"},
		"a member does not say":     {holders: []Holder{hold("x", 0, 1), hold("y", 2), silent}, want: "strategy=AVG unsure=[b/3]"},
		"nobody says":               {holders: []Holder{silent}, want: "strategy= unsure=[b/0 b/1 b/2 b/3]"},
		"no members":                {want: "strategy= unowned=[b/0 b/1 b/2 b/3]"},
		"a share that nobody reads": {holders: []Holder{hold("x", 0, 1), {ClientID: "y", Elsewhere: true}}, want: "strategy=AVG unowned=[b/2 b/3]"},
		"two processes with one client id": {
			holders: []Holder{{ClientID: "x", Times: 2, Holds: four[:2]}}, want: "strategy=AVG unowned=[b/2 b/3]"},
		"two processes with one client id, each at a broker of its own": {
			holders: []Holder{{ClientID: "x", Times: 2, Holds: four[:2]}, hold("y", 2, 3)}, want: "strategy=AVG"},
		"two processes with one client id, by circle": {
			holders: []Holder{{ClientID: "x", Times: 2, Holds: []protocol.MessageQueue{four[0], four[3]}}, hold("y", 2)}, want: "strategy=AVG_BY_CIRCLE unowned=[b/1]"},
		"more members than queues": {
			holders: []Holder{hold("a", 0), hold("b", 1), hold("c", 2), hold("d", 3), hold("e")}, want: "strategy=AVG"},
		"queues in any order": {queues: []protocol.MessageQueue{four[3], four[1], four[0], four[2]},
			holders: []Holder{hold("y", 3, 2), hold("x", 1, 0)}, want: "strategy=AVG"},
		"no queues": {queues: []protocol.MessageQueue{}, holders: []Holder{hold("x")}, want: "strategy="},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.queues == nil {
				tt.queues = four
			}
			before := slices.Clone(tt.queues)
			a := ExplainAllocation(Holdings{Group: "g", Topic: "t", Queues: tt.queues, Holders: tt.holders, Settling: tt.setting})
			if got := allocationText(a); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if diff := cmp.Diff(before, tt.queues); diff != "" {
				t.Errorf("the queues given were changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestExplainAllocationOfAllocate holds that what a strategy gives is explained by
// it or by one that gives the same, and that one queue in other hands is not.
func TestExplainAllocationOfAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	hash, err := AllocateByConsistentHash(VirtualNodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	strategies := []Strategy{AllocateAveragely, AllocateAveragelyByCircle, hash}
	for range 2000 {
		s := strategies[r.IntN(len(strategies))]
		var queues []protocol.MessageQueue
		for b := range 1 + r.IntN(3) {
			queues = append(queues, queuesOf(fmt.Sprintf("broker-%d", b), int32(1+r.IntN(9)))...)
		}
		var members []string
		for m := range 1 + r.IntN(6) {
			members = append(members, fmt.Sprintf("10.0.0.%d@%d", m, r.IntN(1000)))
		}
		h := Holdings{Group: "g", Topic: "t", Queues: queues, Holders: holdersOf(t, s, queues, members...)}
		a := ExplainAllocation(h)
		if a.Strategy == "" || len(a.Differ)+len(a.Unowned)+len(a.Unsure)+len(a.Shared) > 0 {
			t.Fatalf("%d queues by %s among %v: %s", len(queues), s.Name(), members, allocationText(a))
		}
		for _, m := range h.Holders {
			if diff := cmp.Diff(m.Holds, a.Expected[m.ClientID]); diff != "" && len(m.Holds)+len(a.Expected[m.ClientID]) > 0 {
				t.Fatalf("%s: the share of %s (-held +expected):\n%s", a.Strategy, m.ClientID, diff)
			}
		}

		// Somebody loses a queue: it is unowned, whatever the members are.
		loser := &h.Holders[r.IntN(len(members))]
		if len(loser.Holds) == 0 {
			continue
		}
		lost := loser.Holds[0]
		loser.Holds = loser.Holds[1:]
		if a = ExplainAllocation(h); a.Strategy != "" || len(a.Unowned) != 1 || a.Unowned[0] != lost || len(a.Differ) == 0 {
			t.Fatalf("without %v: %s", lost, allocationText(a))
		}
		// And another takes it that has it already: never both unowned and shared.
		other := &h.Holders[r.IntN(len(members))]
		if len(other.Holds) == 0 {
			continue
		}
		taken := other.Holds[0]
		loser.Holds = append(slices.Clone(loser.Holds), taken)
		a = ExplainAllocation(h)
		if shared := loser != other; shared != (len(a.Shared) == 1) {
			t.Fatalf("%v at %s and %s: %s", taken, loser.ClientID, other.ClientID, allocationText(a))
		}
	}
}

func TestStrategyOf(t *testing.T) {
	for property, want := range map[string]string{
		"": "",
		"org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@5e2c3d18":   "AVG",
		"org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragelyByCircle@77": "AVG_BY_CIRCLE",
		"org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig@77":          "CONFIG",
		"org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByMachineRoom@77":     "MACHINE_ROOM",
		"org.apache.rocketmq.client.consumer.rebalance.AllocateMachineRoomNearby@77":             "MACHINE_ROOM_NEARBY",
		"org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueConsistentHash@77":    "CONSISTENT_HASH",
		"AVG": "AVG", "MACHINE_ROOM_NEARBY-AVG": "MACHINE_ROOM_NEARBY-AVG",
		"com.example.Shop$ByColour@1f": "Shop$ByColour", "ByColour": "ByColour",
	} {
		if got := StrategyOf(property); got != want {
			t.Errorf("StrategyOf(%q) = %q, want %q", property, got, want)
		}
	}
}

// queuesOf are the queues 0 … n-1 of a broker.
func queuesOf(broker string, n int32) []protocol.MessageQueue {
	var out []protocol.MessageQueue
	for id := range n {
		out = append(out, protocol.MessageQueue{Topic: "t", BrokerName: broker, QueueID: id})
	}
	return out
}
