package inspect

import (
	"testing"

	"eyeq/remoting/protocol"
)

// messageOf makes the message of a record; the topic is "orders" unless it is given.
func messageOf(t testing.TB, r protocol.Record) *protocol.MessageExt {
	t.Helper()
	if r.Topic == "" {
		r.Topic = "orders"
	}
	record, err := protocol.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := protocol.AppendMessages(nil, record, &protocol.MessageSource{BrokerName: "broker-a"})
	if err != nil {
		t.Fatal(err)
	}
	return &messages[0]
}

func bodyOf(t testing.TB, body string) *protocol.MessageExt {
	return messageOf(t, protocol.Record{Body: []byte(body)})
}

// compressedOf is a message whose body says it is of a compression; stored is what
// lies in the record.
func compressedOf(t testing.TB, kind protocol.SysFlag, stored []byte) *protocol.MessageExt {
	return messageOf(t, protocol.Record{Body: stored, SysFlag: protocol.SysFlagCompressed | kind})
}

// A message of a light queue has the number of the queue that stores it, and names its
// places in the others.
func TestOffsetInALightQueue(t *testing.T) {
	m := messageOf(t, protocol.Record{Topic: "cars", QueueOffset: 40, Properties: []protocol.Property{
		{Name: "INNER_MULTI_DISPATCH", Value: "%LMQ%car-7,%LMQ%car-8"}, {Name: "INNER_MULTI_QUEUE_OFFSET", Value: "2,5"},
	}})
	for topic, want := range map[string]int64{"%LMQ%car-7": 2, "%LMQ%car-8": 5, "%LMQ%car-9": 40, "cars": 40} {
		if got := offsetIn(topic, m); got != want {
			t.Errorf("in %s: %d, want %d", topic, got, want)
		}
	}
}
