package core

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
)

// recordedSet is a line of testdata/allocate.jsonl.
type recordedSet struct {
	Topic      string
	Queues     []string
	Members    []string
	Sort       bool
	Rooms      []string
	Configured []string
	Gives      map[string]string
}

func recordedSets(t *testing.T) (sets []recordedSet) {
	t.Helper()
	f, err := os.Open("testdata/allocate.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s recordedSet
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		sets = append(sets, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return sets
}

// parse reads queues as the recorder writes them: [TOPIC=]BROKER:ID.
func (s *recordedSet) parse(t *testing.T, texts []string) (out []protocol.MessageQueue) {
	t.Helper()
	for _, text := range texts {
		topic := s.Topic
		if other, rest, ok := strings.Cut(text, "="); ok {
			topic, text = other, rest
		}
		colon := strings.LastIndexByte(text, ':')
		id, err := strconv.ParseInt(text[colon+1:], 10, 32)
		if err != nil {
			t.Fatalf("queue %q: %v", text, err)
		}
		out = append(out, protocol.MessageQueue{Topic: topic, BrokerName: text[:colon], QueueID: int32(id)})
	}
	return out
}

// strategy makes the strategy that an answer is from: NAME, or
// CONSISTENT_HASH/NODES with a hash of its own behind.
func (s *recordedSet) strategy(t *testing.T, name string) Strategy {
	t.Helper()
	settings := StrategySettings{Queues: s.parse(t, s.Configured), Rooms: s.Rooms, Resolver: RoomsByName(), VirtualNodes: VirtualNodes}
	name, nodes, ok := strings.Cut(name, "/")
	if ok {
		var err error
		n, hash, _ := strings.Cut(nodes, "/")
		if settings.VirtualNodes, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
		if hash == "length" {
			length, err := AllocateByConsistentHash(settings.VirtualNodes, func(key string) int64 {
				return int64(len(utf16.Encode([]rune(key)))*7%23 - 9)
			})
			if err != nil {
				t.Fatal(err)
			}
			return length
		}
	}
	strategy, err := StrategyByName(name, settings)
	if err != nil {
		t.Fatal(err)
	}
	if strategy.Name() != name {
		t.Errorf("the strategy %s calls itself %s", name, strategy.Name())
	}
	return strategy
}

// places writes a share as the recorder does: positions, runs as from-to.
func places(share, queues []protocol.MessageQueue, err error) string {
	if err != nil {
		return "!"
	}
	var parts []string
	for i := 0; i < len(share); {
		from, n := slices.Index(queues, share[i]), 1
		for i+n < len(share) && slices.Index(queues, share[i+n]) == from+n {
			n++
		}
		if n > 1 {
			parts = append(parts, strconv.Itoa(from)+"-"+strconv.Itoa(from+n-1))
		} else {
			parts = append(parts, strconv.Itoa(from))
		}
		i += n
	}
	return strings.Join(parts, ",")
}

// askers are those for whom the recorder asked: each member once, one that is
// none of them, and one without a name.
func askers(members []string) []string {
	var all []string
	for _, m := range members {
		if !slices.Contains(all, m) {
			all = append(all, m)
		}
	}
	return append(all, "stranger", "")
}

func TestAllocateAsRecordedFromJava(t *testing.T) {
	asked := map[string]int{}
	for i, s := range recordedSets(t) {
		queues, members := s.parse(t, s.Queues), slices.Clone(s.Members)
		if s.Sort {
			slices.SortFunc(queues, protocol.CompareMessageQueues)
			slices.SortFunc(members, protocol.CompareUTF16)
		}
		for name, gives := range s.Gives {
			strategy := s.strategy(t, name)
			want := strings.Split(gives, "|")
			for k, who := range askers(members) {
				share, err := strategy.Allocate("audit", who, queues, members)
				if got := places(share, queues, err); got != want[k] {
					t.Errorf("line %d: %s gives %q %s (%v), Java's gives %s", i+1, name, who, got, err, want[k])
				}
				if want[k] != "!" && want[k] != "" {
					asked[name]++
				}
			}
		}
		if t.Failed() && i > 20 {
			t.FailNow() // the others would say the same
		}
	}
	for name, n := range asked {
		if n < 100 && name != "CONSISTENT_HASH/0" {
			t.Errorf("only %d shares of %s were recorded: too few to tell anything", n, name)
		}
	}
	if len(asked) != 12 {
		t.Errorf("shares were recorded of %d strategies, want 12: %v", len(asked), asked)
	}
}

// What all members get at once is what each gets alone.
func TestAllocateAllAsOneByOne(t *testing.T) {
	for i, s := range recordedSets(t) {
		queues, members := s.parse(t, s.Queues), s.Members
		for name := range s.Gives {
			strategy := s.strategy(t, name)
			if !KnowsOthers(strategy) || slices.ContainsFunc(queues, func(mq protocol.MessageQueue) bool { return mq.Topic != s.Topic }) {
				continue
			}
			all, err := AllocateAll(strategy, "audit", s.Topic, "", queues, members)
			for _, m := range members {
				alone, aloneErr := strategy.Allocate("audit", m, queues, members)
				if (err != nil) != (aloneErr != nil) || !slices.Equal(all[m], alone) {
					t.Fatalf("line %d: %s gives %q %v (%v) of all, alone %v (%v)", i+1, name, m, all[m], err, alone, aloneErr)
				}
			}
		}
	}
}

// By CONFIG nobody knows what others have, and a pass over one topic takes no
// queue of another.
func TestAllocateAllByConfig(t *testing.T) {
	retry := protocol.MessageQueue{Topic: protocol.RetryTopic("g"), BrokerName: "broker-a"}
	list := append(queues(3, 1), retry)
	for name, s := range map[string]Strategy{
		"CONFIG": AllocateByConfig(list),
		"MACHINE_ROOM_NEARBY-CONFIG": func() Strategy {
			s, err := AllocateMachineRoomNearby(AllocateByConfig(list), MachineRoomResolver{
				Broker: func(protocol.MessageQueue) string { return "r" },
				Client: func(string) string { return "r" },
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}(),
	} {
		got, err := AllocateAll(s, "g", "orders", "b", queues(0, 1, 2, 3), []string{"a", "b"})
		if want := map[string][]protocol.MessageQueue{"b": queues(3, 1)}; err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s gives %v, %v, want %v", name, got, err, want)
		}
		got, err = AllocateAll(s, "g", retry.Topic, "b", []protocol.MessageQueue{retry}, []string{"a", "b"})
		if want := map[string][]protocol.MessageQueue{"b": {retry}}; err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s gives %v, %v of the retry topic, want %v", name, got, err, want)
		}
	}
}

// The measured example of docs/conformance/rebalance.md 4.6.
func TestConsistentHashRing(t *testing.T) {
	s, err := AllocateByConsistentHash(VirtualNodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	var hashes []int64
	for i := range VirtualNodes {
		hashes = append(hashes, md5Hash("192.168.0.1@1001#1-"+strconv.Itoa(i)))
	}
	if want := []int64{3845969514, 2031088590, 3676567710, 238018600, 2685981579, 2695516251, 1322069232, 309502801, 3894315885, 3036728046}; !slices.Equal(hashes, want) {
		t.Errorf("hashes of the first member's nodes = %v, want %v", hashes, want)
	}
	if got := md5Hash(queueKey(protocol.MessageQueue{Topic: "TopicTest", BrokerName: "broker-a", QueueID: 1})); got != 4291349817 {
		t.Errorf("hash of queue 1 = %d, want 4291349817", got)
	}
	var all []protocol.MessageQueue
	for id := range int32(8) {
		all = append(all, protocol.MessageQueue{Topic: "TopicTest", BrokerName: "broker-a", QueueID: id})
	}
	members := []string{"192.168.0.1@1001#1", "192.168.0.1@1002#2", "192.168.0.2@1003#3"}
	for i, want := range []string{"0-1,3-4,6", "5,7", "2"} {
		share, err := s.Allocate("g", members[i], all, members)
		if got := places(share, all, err); got != want {
			t.Errorf("%s gets %s, want %s", members[i], got, want)
		}
	}
}

// A member that leaves moves its own queues only.
func TestConsistentHashMovesFew(t *testing.T) {
	s, err := AllocateByConsistentHash(VirtualNodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for id := range 64 {
		ids = append(ids, id)
	}
	before, err1 := AllocateAll(s, "g", "orders", "", queues(ids...), []string{"a", "b", "c", "d"})
	after, err2 := AllocateAll(s, "g", "orders", "", queues(ids...), []string{"a", "b", "d"})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, m := range []string{"a", "b", "d"} {
		for _, mq := range before[m] {
			if !slices.Contains(after[m], mq) {
				t.Errorf("%v went from %s when c left", mq, m)
			}
		}
	}
}

// The measured example of docs/conformance/rebalance.md 4.4.
func TestMachineRoomAsMeasured(t *testing.T) {
	all := []protocol.MessageQueue{}
	for _, b := range []struct {
		name string
		n    int32
	}{{"broker", 2}, {"room1@b", 5}, {"room2@b", 3}} {
		for id := range b.n {
			all = append(all, protocol.MessageQueue{Topic: "orders", BrokerName: b.name, QueueID: id})
		}
	}
	for rooms, want := range map[string][]string{
		"room1":       {"room1@b/0 room1@b/3", "room1@b/1 room1@b/4", "room1@b/2"},
		"room1 room2": {"room1@b/0 room1@b/1 room2@b/1", "room1@b/2 room1@b/3 room2@b/2", "room1@b/4 room2@b/0"},
	} {
		for i, m := range []string{"c0", "c1", "c2"} {
			share, err := AllocateByMachineRoom(strings.Fields(rooms)).Allocate("g", m, all, []string{"c0", "c1", "c2"})
			if got := shortNames(share); err != nil || got != want[i] {
				t.Errorf("rooms %s: %s gets %s (%v), want %s", rooms, m, got, err, want[i])
			}
		}
	}
}

// The measured example of docs/conformance/rebalance.md 4.5.
func TestMachineRoomNearbyAsMeasured(t *testing.T) {
	s, err := AllocateMachineRoomNearby(AllocateAveragely, RoomsByName())
	if err != nil {
		t.Fatal(err)
	}
	var all []protocol.MessageQueue
	for _, b := range []string{"A@b", "B@b", "C@b"} {
		for id := range int32(4) {
			all = append(all, protocol.MessageQueue{Topic: "orders", BrokerName: b, QueueID: id})
		}
	}
	members := []string{"A-c0", "A-c1", "B-c0"}
	for i, want := range []string{"A@b/0 A@b/1 C@b/0 C@b/1", "A@b/2 A@b/3 C@b/2", "B@b/0 B@b/1 B@b/2 B@b/3 C@b/3"} {
		share, err := s.Allocate("g", members[i], all, members)
		if got := shortNames(share); err != nil || got != want {
			t.Errorf("%s gets %s (%v), want %s", members[i], got, err, want)
		}
	}
	_, err = s.Allocate("g", "A-c0", []protocol.MessageQueue{queue(0)}, members)
	if err == nil || !strings.Contains(err.Error(), `no machine room in the name of broker "broker-a"`) {
		t.Errorf("error of a broker without a room = %v", err)
	}
	_, err = s.Allocate("g", "A-c0", all, append(members, "member"))
	if err == nil || !strings.Contains(err.Error(), `no machine room in the client id "member"`) {
		t.Errorf("error of a member without a room = %v", err)
	}
}

func shortNames(share []protocol.MessageQueue) string {
	names := make([]string, len(share))
	for i, mq := range share {
		names[i] = mq.Short()
	}
	return strings.Join(names, " ")
}

func TestStrategyByName(t *testing.T) {
	settings := StrategySettings{Resolver: RoomsByName(), VirtualNodes: VirtualNodes}
	for word, want := range map[string]string{
		"avg": "AVG", "AVG": "AVG", "circle": "AVG_BY_CIRCLE", "AVG_BY_CIRCLE": "AVG_BY_CIRCLE", "config": "CONFIG", "machine-room": "MACHINE_ROOM",
		"consistent-hash": "CONSISTENT_HASH", "CONSISTENT_HASH": "CONSISTENT_HASH",
		"machine-room-nearby": "MACHINE_ROOM_NEARBY-AVG", "MACHINE_ROOM_NEARBY": "MACHINE_ROOM_NEARBY-AVG",
		"machine-room-nearby-circle": "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE", "MACHINE_ROOM_NEARBY-CONSISTENT_HASH": "MACHINE_ROOM_NEARBY-CONSISTENT_HASH",
		"machine-room-nearby-machine-room": "MACHINE_ROOM_NEARBY-MACHINE_ROOM",
	} {
		s, err := StrategyByName(word, settings)
		if err != nil || s.Name() != want {
			t.Errorf("StrategyByName(%q) = %v, %v, want %s", word, s, err, want)
		}
	}
	for _, word := range []string{"", "hash", "avg ", "machine-room-", "machine-room-nearby-", "machine-room-nearby-x", "machine-room-nearby-machine-room-nearby"} {
		if s, err := StrategyByName(word, settings); err == nil || !strings.Contains(err.Error(), strconv.Quote(word)) {
			t.Errorf("StrategyByName(%q) = %v, %v, want an error with the name", word, s, err)
		}
	}
}

func TestStrategyConstructorsRefuse(t *testing.T) {
	if _, err := AllocateByConsistentHash(-1, nil); err == nil {
		t.Error("-1 virtual nodes are taken")
	}
	if _, err := AllocateMachineRoomNearby(nil, RoomsByName()); err == nil {
		t.Error("no inner strategy is taken")
	}
	if _, err := AllocateMachineRoomNearby(AllocateAveragely, MachineRoomResolver{}); err == nil {
		t.Error("no resolver is taken")
	}
}

func TestAllocateByConfigOfNothing(t *testing.T) {
	got, err := AllocateByConfig(nil).Allocate("g", "a", queues(0, 1), []string{"a"})
	if len(got) > 0 || err != nil {
		t.Errorf("Allocate = %v, %v, want no queues and no error", got, err)
	}
}
