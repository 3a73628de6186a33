package inspect

import (
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A message of a light queue has the number of the queue that stores it, and names its
// places in the others.
func TestOffsetInALightQueue(t *testing.T) {
	m := sandboxtest.MessageOf(t, protocol.Record{Topic: "cars", QueueOffset: 40, Properties: []protocol.Property{
		{Name: "INNER_MULTI_DISPATCH", Value: "%LMQ%car-7,%LMQ%car-8"}, {Name: "INNER_MULTI_QUEUE_OFFSET", Value: "2,5"},
	}})
	for topic, want := range map[string]int64{"%LMQ%car-7": 2, "%LMQ%car-8": 5, "%LMQ%car-9": 40, "cars": 40} {
		if got := offsetIn(topic, m); got != want {
			t.Errorf("in %s: %d, want %d", topic, got, want)
		}
	}
}
