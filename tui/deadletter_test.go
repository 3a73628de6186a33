package tui

import (
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/tui/words"
)

func TestDeadLettersAreNamed(t *testing.T) {
	q := mq("orders-paid", "broker-a", 0)
	dead := engine.SentBack{At: at(0, q), Offset: 71, MessageID: "0A00", ReconsumeTimes: 16, Target: "dlq"}
	line := words.EventLine(dead, fixtureZone)
	if !strings.Contains(line, "✗ sendback_ok (dead letter)  orders-paid  broker-a/0  offset 71 to the dead letters · retried 16× · id 0A00") || strings.Contains(line, "sent back") {
		t.Errorf("%q", line)
	}
	d := withSnapshot(t, 120, 36, fixture(0))
	d.send(eventsMsg{events: []engine.Event{dead}})
	d.see("DLQ     dead     broker-a/0  offset 71 to the dead letters").keys("7").see("offset 71 to the dead letters").keys("G", "enter").see("offset 71 to the dead letters")
}

func TestOffsetsAreCalledOffsets(t *testing.T) {
	q := mq("orders-paid", "broker-a", 0)
	tests := map[string]struct {
		event engine.Event
		want  string
	}{
		"sent back": {engine.SentBack{At: at(0, q), Offset: 71, Target: "retry", DelayLevel: 3}, "offset 71 sent back"},
		"refused":   {engine.ConsumeFailed{At: at(0, q), First: 20, Count: 1, ReturnType: "FAILED", RTMS: 3}, "offset 20 refused (1 message) after 3ms"},
		"a batch":   {engine.ConsumeFailed{At: at(0, q), First: 20, Count: 4, ReturnType: "FAILED", RTMS: 3}, "offsets from 20 refused (4 messages) after 3ms"},
		"locally":   {engine.RetryLocal{At: at(0, q), First: 20, Count: 1, DelayMS: 5000}, "offset 20 (1 message), again in 5.0s"},
		"one queue": {engine.RebalanceTopic{At: at(0, engine.MessageQueue{}), Topic: "t", Strategy: "AVG", Queues: 1}, "t: 1 queue / "},
		"pull":      {engine.PullError{At: at(0, q), Offset: 20, Error: "busy", DelayMS: 1000}, "offset 20: busy · again in 1.0s"},
	}
	for name, tt := range tests {
		if got := words.EventLine(tt.event, fixtureZone); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q in it", name, got, tt.want)
		}
	}
}
