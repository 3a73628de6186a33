package remoting

import (
	"fmt"
	"testing"
	"time"

	"eyeq/remoting/protocol"

	"github.com/google/go-cmp/cmp"
)

const rw = protocol.PermRead | protocol.PermWrite

func queues(topic string, at ...string) []protocol.MessageQueue {
	var out []protocol.MessageQueue
	for _, a := range at {
		out = append(out, protocol.MessageQueue{Topic: topic, BrokerName: a[:1], QueueID: int32(a[1] - '0')})
	}
	return out
}

func TestNewTopicRoute(t *testing.T) {
	broker := func(name string, addrs map[int64]string) protocol.BrokerData {
		return protocol.BrokerData{Cluster: "c", BrokerName: name, BrokerAddrs: addrs}
	}
	queue := func(name string, read, write, perm int32) protocol.QueueData {
		return protocol.QueueData{BrokerName: name, ReadQueueNums: read, WriteQueueNums: write, Perm: perm}
	}
	master := map[int64]string{0: "h:1"}
	tests := map[string]struct {
		data            protocol.TopicRouteData
		queues, publish []protocol.MessageQueue
	}{
		"none of a static topic": {
			protocol.TopicRouteData{
				BrokerDatas: []protocol.BrokerData{broker("a", master)}, QueueDatas: []protocol.QueueData{queue("a", 2, 2, rw)},
				Mapping: map[string]protocol.QueueMapping{"a": {TotalQueues: 2, Epoch: 1, Leads: map[int32]int32{0: 0, 1: 1}}},
			},
			nil, nil,
		},
		"sorted by broker, then number": {
			protocol.TopicRouteData{
				BrokerDatas: []protocol.BrokerData{broker("b", master), broker("a", master)},
				QueueDatas:  []protocol.QueueData{queue("b", 2, 1, rw), queue("a", 1, 2, rw)},
			},
			queues("T", "a0", "b0", "b1"), queues("T", "a0", "a1", "b0"),
		},
		"permissions": {
			protocol.TopicRouteData{
				BrokerDatas: []protocol.BrokerData{broker("a", master), broker("b", master), broker("c", master)},
				QueueDatas:  []protocol.QueueData{queue("a", 1, 1, protocol.PermRead), queue("b", 1, 1, protocol.PermWrite), queue("c", 1, 1, 1)},
			},
			queues("T", "a0"), queues("T", "b0"),
		},
		"a master that is down takes no messages": {
			protocol.TopicRouteData{
				BrokerDatas: []protocol.BrokerData{broker("a", map[int64]string{1: "h:2"})},
				QueueDatas:  []protocol.QueueData{queue("a", 1, 1, rw), queue("b", 1, 1, rw)},
			},
			queues("T", "a0", "b0"), nil,
		},
		"a broker named twice": {
			protocol.TopicRouteData{
				BrokerDatas: []protocol.BrokerData{broker("a", master)},
				QueueDatas:  []protocol.QueueData{queue("a", 2, 2, rw), queue("a", 1, 1, rw)},
			},
			queues("T", "a0", "a1"), queues("T", "a0", "a1"),
		},
		"an order configuration": {
			protocol.TopicRouteData{
				OrderTopicConf: "b:1;a:2",
				BrokerDatas:    []protocol.BrokerData{broker("a", master)},
				QueueDatas:     []protocol.QueueData{queue("a", 1, 9, rw)},
			},
			queues("T", "a0"), queues("T", "a0", "a1", "b0"),
		},
		"empty": {protocol.TopicRouteData{}, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := newTopicRoute("T", tt.data, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.queues, got.Queues); diff != "" {
				t.Errorf("Queues (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.publish, got.PublishQueues); diff != "" {
				t.Errorf("PublishQueues (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNewTopicRouteBoundsQueues(t *testing.T) {
	for _, n := range []int32{-1, maxRouteQueues + 1, 1<<31 - 1} {
		data := protocol.TopicRouteData{QueueDatas: []protocol.QueueData{{BrokerName: "a", ReadQueueNums: n, Perm: protocol.PermRead}}}
		if _, err := newTopicRoute("T", data, time.Time{}); err == nil {
			t.Errorf("a route of %d queues was accepted", n)
		}
	}
}

func TestNewTopicRouteRefusesBadOrder(t *testing.T) {
	for _, conf := range []string{"a", "a:x", "a:-1", "a:70000", "a:1;;b:1"} {
		if r, err := newTopicRoute("T", protocol.TopicRouteData{OrderTopicConf: conf}, time.Time{}); err == nil {
			t.Errorf("order configuration %q gave %v", conf, r.PublishQueues)
		}
	}
}

// The suggested id, else the next one unless it is the master's, else any.
func TestPullAddr(t *testing.T) {
	all := map[int64]string{0: "master", 1: "one", 3: "three"}
	tests := map[string]struct {
		addrs     map[int64]string
		suggested int64
		addr      string
		id        int64
	}{
		"exact":               {all, 1, "one", 1},
		"next":                {all, 2, "three", 3},
		"any":                 {all, 7, "master", 0},
		"master":              {all, 0, "master", 0},
		"master is down":      {map[int64]string{3: "three", 2: "two"}, 0, "two", 2},
		"unknown broker":      {nil, 0, "", 0},
		"an empty address":    {map[int64]string{0: "", 1: "one"}, 0, "one", 1},
		"next of the highest": {map[int64]string{4: "four"}, 5, "four", 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			addr, id, ok := pullAddr(tt.addrs, tt.suggested)
			if addr != tt.addr || id != tt.id || ok != (tt.addr != "") {
				t.Errorf("pullAddr(%v, %d) = %q %d %v, want %q %d", tt.addrs, tt.suggested, addr, id, ok, tt.addr, tt.id)
			}
		})
	}
}

func TestBackoff(t *testing.T) {
	want := []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000}
	for failures, ms := range want {
		if got := backoff(failures); got != ms*time.Millisecond {
			t.Errorf("backoff(%d) = %v, want %dms", failures, got, ms)
		}
	}
	if got := backoff(1 << 30); got != maxBackoff {
		t.Errorf("backoff(1<<30) = %v, want %v", got, maxBackoff)
	}
}

// landed is a table with routes of so many topics, each on the same brokers.
func landed(tb testing.TB, topics, brokers int) *routeTable {
	tb.Helper()
	data := protocol.TopicRouteData{}
	for i := range brokers {
		name := fmt.Sprintf("broker-%d", i)
		data.BrokerDatas = append(data.BrokerDatas, protocol.BrokerData{Cluster: "c", BrokerName: name, BrokerAddrs: map[int64]string{0: name + ":10911"}})
		data.QueueDatas = append(data.QueueDatas, protocol.QueueData{BrokerName: name, ReadQueueNums: 1, WriteQueueNums: 1, Perm: rw})
	}
	t := newRouteTable()
	for i := range topics {
		topic := fmt.Sprintf("topic-%d", i)
		route, err := newTopicRoute(topic, data, t.swept)
		if err != nil {
			tb.Fatal(err)
		}
		t.land(topic, &routeFlight{}, route, nil)
	}
	return t
}

// What a newly seen topic costs does not grow with the topics that are known.
func BenchmarkLandRoutes(b *testing.B) {
	for _, topics := range []int{1000, 8000} {
		b.Run(fmt.Sprintf("%d topics", topics), func(b *testing.B) {
			for b.Loop() {
				landed(b, topics, 4)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(topics), "ns/topic")
		})
	}
}

// A broker that forbids pulls takes the right to read out of its topics' routes: then a
// topic has queues, and none that may be read.
func TestRouteOfATopicThatNobodyMayRead(t *testing.T) {
	const closed = "pulls are forbidden on a, by the permission of the topic or of the broker"
	for name, tt := range map[string]struct {
		perms []int32
		want  string
	}{
		"read and write": {[]int32{6}, ""}, "read only": {[]int32{4}, ""}, "write only": {[]int32{2}, closed}, "neither": {[]int32{0}, closed},
		"another broker lets": {[]int32{2, 6}, ""}, "none": {nil, ""},
	} {
		var data protocol.TopicRouteData
		for i, perm := range tt.perms {
			data.QueueDatas = append(data.QueueDatas, protocol.QueueData{BrokerName: string(rune('a' + i)), ReadQueueNums: 4, WriteQueueNums: 4, Perm: perm})
		}
		r, err := newTopicRoute("T", data, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.ClosedWhy(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
