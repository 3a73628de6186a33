package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

func queue(id int) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: int32(id)}
}

func queues(ids ...int) []protocol.MessageQueue {
	var out []protocol.MessageQueue
	for _, id := range ids {
		out = append(out, queue(id))
	}
	return out
}

// parseShares reads a row of the tables: "0-2 / 3,4 / none".
func parseShares(t *testing.T, text string) [][]protocol.MessageQueue {
	t.Helper()
	var shares [][]protocol.MessageQueue
	for share := range strings.SplitSeq(text, "/") {
		var ids []int
		for part := range strings.SplitSeq(strings.TrimSpace(share), ",") {
			if part == "none" {
				continue
			}
			from, to, isRun := strings.Cut(part, "-")
			if !isRun {
				to = from
			}
			a, err1 := strconv.Atoi(from)
			b, err2 := strconv.Atoi(to)
			if err1 != nil || err2 != nil {
				t.Fatalf("bad table entry %q", part)
			}
			for id := a; id <= b; id++ {
				ids = append(ids, id)
			}
		}
		shares = append(shares, queues(ids...))
	}
	return shares
}

// The measured tables of docs/conformance/rebalance.md 4.1 and 4.2.
func TestAllocateAsMeasured(t *testing.T) {
	tests := []struct {
		strategy Strategy
		queues   int
		shares   []string
	}{
		{AllocateAveragely, 2, []string{"0,1", "0 / 1", "0 / 1 / none", "0 / 1 / none / none"}},
		{AllocateAveragely, 3, []string{"0-2", "0,1 / 2", "0 / 1 / 2", "0 / 1 / 2 / none"}},
		{AllocateAveragely, 4, []string{"0-3", "0,1 / 2,3", "0,1 / 2 / 3", "0 / 1 / 2 / 3"}},
		{AllocateAveragely, 7, []string{"0-6", "0-3 / 4-6", "0-2 / 3,4 / 5,6", "0,1 / 2,3 / 4,5 / 6"}},
		{AllocateAveragely, 8, []string{"0-7", "0-3 / 4-7", "0-2 / 3-5 / 6,7", "0,1 / 2,3 / 4,5 / 6,7"}},
		{AllocateAveragely, 10, []string{"0-9", "0-4 / 5-9", "0-3 / 4-6 / 7-9", "0-2 / 3-5 / 6,7 / 8,9"}},
		{AllocateAveragelyByCircle, 3, []string{"0,2 / 1", "0 / 1 / 2", "0 / 1 / 2 / none"}},
		{AllocateAveragelyByCircle, 7, []string{"0,2,4,6 / 1,3,5", "0,3,6 / 1,4 / 2,5", "0,4 / 1,5 / 2,6 / 3"}},
		{AllocateAveragelyByCircle, 8, []string{"0,2,4,6 / 1,3,5,7", "0,3,6 / 1,4,7 / 2,5", "0,4 / 1,5 / 2,6 / 3,7"}},
		{AllocateAveragelyByCircle, 10, []string{"0,2,4,6,8 / 1,3,5,7,9", "0,3,6,9 / 1,4,7 / 2,5,8", "0,4,8 / 1,5,9 / 2,6 / 3,7"}},
	}
	for _, tt := range tests {
		all := make([]int, tt.queues)
		for i := range all {
			all[i] = i
		}
		for _, text := range tt.shares {
			shares := parseShares(t, text)
			t.Run(fmt.Sprintf("%s/Q=%d/C=%d", tt.strategy.Name(), tt.queues, len(shares)), func(t *testing.T) {
				var members []string
				for i := range shares {
					members = append(members, fmt.Sprintf("10.0.0.1@%d", i))
				}
				for i, want := range shares {
					got, err := tt.strategy.Allocate("g", members[i], queues(all...), members)
					if err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got, want) {
						t.Errorf("member %d gets %v, want %v", i, got, want)
					}
				}
			})
		}
	}
}

// Whatever the numbers, each queue has exactly one owner.
func TestAllocateGivesEachQueueOnce(t *testing.T) {
	for _, s := range []Strategy{AllocateAveragely, AllocateAveragelyByCircle} {
		for nq := 1; nq <= 40; nq++ {
			for nm := 1; nm <= 12; nm++ {
				var members []string
				for i := range nm {
					members = append(members, fmt.Sprint("c", i))
				}
				var ids []int
				for i := range nq {
					ids = append(ids, i)
				}
				var all []protocol.MessageQueue
				for _, m := range members {
					mine, err := s.Allocate("g", m, queues(ids...), members)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, mine...)
				}
				slices.SortFunc(all, protocol.CompareMessageQueues)
				if !slices.Equal(all, queues(ids...)) {
					t.Errorf("%s, %d queues, %d members: %v", s.Name(), nq, nm, all)
				}
			}
		}
	}
}

func TestAllocateRefuses(t *testing.T) {
	members := []string{"a", "b"}
	tests := map[string]struct {
		clientID string
		queues   []protocol.MessageQueue
		members  []string
		wantErr  bool
	}{
		"no client id":        {"", queues(0), members, true},
		"no queues":           {"a", nil, members, true},
		"no members":          {"a", queues(0), nil, true},
		"not among the group": {"c", queues(0), members, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, word := range []string{"avg", "circle", "machine-room", "machine-room-nearby", "consistent-hash"} {
				s, err := StrategyByName(word, StrategySettings{Resolver: RoomsByName(), VirtualNodes: VirtualNodes})
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Allocate("g", tt.clientID, tt.queues, tt.members)
				if len(got) > 0 || (err != nil) != tt.wantErr {
					t.Errorf("%s: Allocate = %v, %v, want no queues, error %v", word, got, err, tt.wantErr)
				}
			}
		})
	}
}

// The result is the caller's own.
func TestAllocateDoesNotShareItsInput(t *testing.T) {
	all := queues(0, 1, 2, 3)
	got, err := AllocateAveragely.Allocate("g", "a", all, []string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	got[0] = queue(99)
	if all[0] != queue(0) {
		t.Error("changing the result changed the queues")
	}
}

func TestPlanRebalance(t *testing.T) {
	now := time.UnixMilli(1_000_000_000)
	recent := now.Add(-PullExpired)
	expired := now.Add(-PullExpired - time.Millisecond)
	tests := map[string]struct {
		have []Holding
		want []protocol.MessageQueue
		plan RebalancePlan
	}{
		"first allocation": {
			want: queues(1, 0),
			plan: RebalancePlan{Add: queues(0, 1)}},
		"nothing changes": {
			have: []Holding{{MQ: queue(1), LastPull: recent}, {MQ: queue(0)}},
			want: queues(0, 1),
			plan: RebalancePlan{Keep: queues(0, 1)}},
		"a member joined": {
			have: []Holding{{MQ: queue(3), LastPull: recent}, {MQ: queue(1), LastPull: recent}, {MQ: queue(2), LastPull: recent}},
			want: queues(1, 4),
			plan: RebalancePlan{Add: queues(4), Keep: queues(1),
				Drop: []Drop{{queue(2), DropUnassigned}, {queue(3), DropUnassigned}}}},
		"nothing is ours any more": {
			have: []Holding{{MQ: queue(0), LastPull: recent}},
			plan: RebalancePlan{Drop: []Drop{{queue(0), DropUnassigned}}}},
		"duplicates collapse": {
			want: queues(0, 0),
			plan: RebalancePlan{Add: queues(0)}},
		"pull expired: dropped, and taken when it has ended": {
			have: []Holding{{MQ: queue(0), LastPull: expired}, {MQ: queue(1), LastPull: recent}},
			want: queues(0, 1),
			plan: RebalancePlan{Wait: queues(0), Keep: queues(1), Drop: []Drop{{queue(0), DropPullExpired}}}},
		"expired and unassigned is unassigned": {
			have: []Holding{{MQ: queue(0), LastPull: expired}},
			plan: RebalancePlan{Drop: []Drop{{queue(0), DropUnassigned}}}},
		"T05: assigned back while being given away": {
			have: []Holding{{MQ: queue(0), Dropped: true, LastPull: expired}},
			want: queues(0),
			plan: RebalancePlan{Wait: queues(0)}},
		"being given away is not dropped twice": {
			have: []Holding{{MQ: queue(0), Dropped: true, LastPull: recent}},
			want: queues(1),
			plan: RebalancePlan{Add: queues(1)}},
		"given away and held anew": {
			have: []Holding{{MQ: queue(0), Dropped: true}, {MQ: queue(0), LastPull: recent}},
			want: queues(0),
			plan: RebalancePlan{Keep: queues(0)}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := PlanRebalance(tt.have, tt.want, now)
			if diff := cmp.Diff(tt.plan, got); diff != "" {
				t.Errorf("PlanRebalance (-want +got):\n%s", diff)
			}
			if want := len(tt.plan.Add)+len(tt.plan.Drop) > 0; got.Changed() != want {
				t.Errorf("Changed() = %v, want %v", got.Changed(), want)
			}
		})
	}
}

// Trap T40: a list without ourselves is believed the second time in a row.
func TestMembersView(t *testing.T) {
	with, without := []string{"a", "me"}, []string{"a"}
	var v MembersView
	for i, step := range []struct {
		members []string
		want    bool
	}{
		{with, true}, {without, false}, {with, true}, {without, false}, {without, true}, {without, true},
		{with, true}, {nil, false}, {without, true},
	} {
		if got := v.Believe(step.members, "me"); got != step.want {
			t.Errorf("step %d: Believe(%v) = %v, want %v", i, step.members, got, step.want)
		}
	}
}

// The table of docs/conformance/rebalance.md 6.
func TestStartFrom(t *testing.T) {
	const last, first, timestamp = protocol.ConsumeFromLastOffset, protocol.ConsumeFromFirstOffset, protocol.ConsumeFromTimestamp
	tests := []struct {
		where                      protocol.ConsumeFromWhere
		stored, normal, retryTopic StartSource
	}{
		{last, StartStored, StartMax, StartMin},
		{first, StartStored, StartMin, StartMin},
		{timestamp, StartStored, StartTimestamp, StartMax},
	}
	for _, tt := range tests {
		for _, retry := range []bool{false, true} {
			if got := StartFrom(tt.where, true, retry); got != tt.stored {
				t.Errorf("StartFrom(%v, found, retry %v) = %v, want %v", tt.where, retry, got, tt.stored)
			}
		}
		if got := StartFrom(tt.where, false, false); got != tt.normal {
			t.Errorf("StartFrom(%v, not found) = %v, want %v", tt.where, got, tt.normal)
		}
		if got := StartFrom(tt.where, false, true); got != tt.retryTopic {
			t.Errorf("StartFrom(%v, not found, retry topic) = %v, want %v", tt.where, got, tt.retryTopic)
		}
	}
}

// A list that lacks members of the last one is not taken from a broker that has
// just come back.
func TestReturning(t *testing.T) {
	last := []string{"a", "b"}
	tests := map[string]struct {
		members []string
		back    time.Duration
		want    bool
	}{
		"one is missing":                {[]string{"a"}, time.Second, true},
		"one is missing for long":       {[]string{"a"}, RestartGrace, false},
		"all are back":                  {[]string{"a", "b"}, time.Second, false},
		"all are back, and another one": {[]string{"a", "b", "c"}, time.Second, false},
		"it was we who were away":       {[]string{"a", "c"}, time.Second, false},
	}
	for name, tt := range tests {
		if got := Returning(last, tt.members, tt.back); got != tt.want {
			t.Errorf("%s: Returning = %v, want %v", name, got, tt.want)
		}
	}
}
