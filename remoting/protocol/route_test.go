package protocol

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The mapping of a static topic as a 5.3.3 name server writes it, and that of a topic
// that is none. An epoch is read to its last bit, so the newer of two mappings
// stays the newer one.
func TestStaticTopicRoute(t *testing.T) {
	const queues = `{"brokerDatas":[],"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":2,"topicSysFlag":0,"writeQueueNums":2}]`
	const static = queues + `,"topicQueueMappingByBroker":{"broker-b":{"bname":"broker-b","currIdMap":{1:0,2:1},"dirty":false,"epoch":0,"scope":"__global__","topic":"T","totalQueues":4},` +
		`"broker-a":{"bname":"broker-a","currIdMap":{},"dirty":false,"epoch":9223372036854775807,"scope":"__global__","topic":"T","totalQueues":4}}}`
	d, err := DecodeTopicRouteData([]byte(static))
	want := map[string]QueueMapping{
		"broker-a": {TotalQueues: 4, Epoch: math.MaxInt64, Leads: map[int32]int32{}},
		"broker-b": {TotalQueues: 4, Leads: map[int32]int32{1: 0, 2: 1}},
	}
	if err != nil || !d.Static() || !cmp.Equal(d.Mapping, want) {
		t.Errorf("%+v, %v, want %+v", d.Mapping, err, want)
	}
	for _, strict := range []bool{false, true} {
		again, err := DecodeTopicRouteData(EncodeTopicRouteData(&d, strict))
		if err != nil || !cmp.Equal(again.Mapping, want) {
			t.Errorf("strict %v: %+v, %v, want %+v", strict, again.Mapping, err, want)
		}
	}
	for _, text := range []string{queues + "}", queues + `,"topicQueueMappingByBroker":{}}`, queues + `,"topicQueueMappingByBroker":null}`} {
		if d, err := DecodeTopicRouteData([]byte(text)); err != nil || d.Static() {
			t.Errorf("%s: static %v, %v", text, d.Static(), err)
		}
	}
}
