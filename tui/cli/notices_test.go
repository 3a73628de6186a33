package cli

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine"
)

// A headless run tells that a broker refuses its pulls, once for all queues of a
// topic there, and when they go on; a broker that is away is told as that.
func TestNoticesOfRefusedPulls(t *testing.T) {
	mq := func(id int32) engine.At {
		return engine.At{MQ: engine.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: id}}
	}
	var n notices
	steps := []struct {
		ev   engine.Event
		want string // in the line; "" is none
	}{
		{engine.PullError{At: mq(0), Error: "connection refused"}, ""},
		{engine.PullError{At: mq(0), Code: 16, Error: "subscription group no permission, g"}, "no permission"},
		{engine.PullError{At: mq(1), Code: 16, Error: "subscription group no permission, g"}, ""},
		{engine.PullError{At: mq(0), Code: 1, Error: "queueId[77] is illegal"}, "queueId[77]"},
		{engine.PullRecovered{At: mq(1)}, "broker-a/1"},
		{engine.PullRecovered{At: mq(0)}, ""},
		{engine.PullError{At: mq(1), Code: 16, Error: "subscription group no permission, g"}, "no permission"},
	}
	for i, s := range steps {
		if got := n.of(s.ev, time.UTC); (got == "") != (s.want == "") || !strings.Contains(got, s.want) {
			t.Errorf("step %d: %+v is told as %q, want %q", i, s.ev, got, s.want)
		}
	}
}

// What keeps queues from being divided or taken is told, once as long as it stays the
// same: a run would wait in silence.
func TestNoticesOfWhatKeepsQueues(t *testing.T) {
	at := engine.At{MQ: engine.MessageQueue{Topic: "orders", BrokerName: "broker-a"}}
	var n notices
	steps := []struct {
		ev   engine.Event
		want string // in the line; "" is none
	}{
		{engine.LockRequestFailed{Broker: "broker-a", Queues: 2, Error: "no answer"}, "no answer"},
		{engine.LockRequestFailed{Broker: "broker-a", Queues: 2, Error: "no answer"}, ""},
		{engine.LockRequestFailed{Broker: "broker-b", Queues: 2, Error: "no answer"}, "broker-b"},
		{engine.LockGained{At: at}, ""},
		{engine.LockRequestFailed{Broker: "broker-a", Queues: 2, Error: "no answer"}, "no answer"},
		{engine.RebalanceSkipped{Topic: "orders", Cause: "no members", Error: "refused"}, "refused"},
		{engine.RebalanceSkipped{Topic: "%RETRY%g", Cause: "no members", Error: "refused"}, ""},
		{engine.RebalanceSkipped{Topic: "orders", Cause: "self missing"}, ""},
	}
	for i, s := range steps {
		if got := n.of(s.ev, time.UTC); (got == "") != (s.want == "") || !strings.Contains(got, s.want) {
			t.Errorf("step %d: %+v is told as %q, want %q", i, s.ev, got, s.want)
		}
	}
}
