package inspect

import (
	"cmp"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestDelayOf(t *testing.T) {
	stored := time.UnixMilli(1795966590000)
	at := func(d time.Duration) time.Time { return stored.Add(d) }
	ms := "1795967566000"
	due := time.UnixMilli(1795967566000)
	tests := map[string]struct {
		topic      string
		queue      int32
		properties map[string]string
		levels     string
		want       Delay
		none       bool
	}{
		"none":           {topic: "t", none: true},
		"level 0":        {topic: "t", properties: map[string]string{"DELAY": "0"}, none: true},
		"no level":       {topic: "t", properties: map[string]string{"DELAY": "x"}, none: true},
		"delivered":      {topic: "t", properties: map[string]string{"DELAY": "4", "REAL_TOPIC": "t"}, want: Delay{Level: 4, Due: stored}},
		"parked":         {topic: scheduleTopic, queue: 3, properties: map[string]string{"DELAY": "4", "REAL_TOPIC": "t", "REAL_QID": "7"}, want: Delay{Level: 4, Due: at(30 * time.Second), Parked: true, Topic: "t", Queue: 7}},
		"own levels":     {topic: scheduleTopic, queue: 1, properties: map[string]string{"REAL_TOPIC": "t"}, levels: "1s 2d", want: Delay{Level: 2, Due: at(48 * time.Hour), Parked: true, Topic: "t"}},
		"no such level":  {topic: scheduleTopic, queue: 30, properties: map[string]string{"REAL_TOPIC": "t"}, want: Delay{Level: 31, Parked: true, Topic: "t", Why: Reason{ReasonNotFound, "broker-a has no delay level 31"}}},
		"broken levels":  {topic: scheduleTopic, queue: 0, levels: "1s x", want: Delay{Level: 1, Parked: true, Why: Reason{ReasonFailed, "the delay levels of broker-a are not known: nobody says"}}},
		"timer":          {topic: timerTopic, properties: map[string]string{"TIMER_OUT_MS": ms, "TIMER_DELAY_SEC": "3", "REAL_TOPIC": "t", "REAL_QID": "1"}, want: Delay{Due: due, Parked: true, Topic: "t", Queue: 1}},
		"timer rang":     {topic: "t", properties: map[string]string{"TIMER_OUT_MS": ms}, want: Delay{Due: due}},
		"asked for":      {topic: "t", properties: map[string]string{"TIMER_DELIVER_MS": ms}, want: Delay{Due: due}},
		"nonsense timer": {topic: "t", properties: map[string]string{"TIMER_DELIVER_MS": "-1"}, none: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := protocol.Record{Topic: tt.topic, QueueID: tt.queue, Stored: stored}
			for k, v := range tt.properties {
				r.Properties = append(r.Properties, protocol.Property{Name: k, Value: v})
			}
			levels, why := protocol.ParseDelayLevels(cmp.Or(tt.levels, "1s 5s 10s 30s 1m")), Reason{}
			if levels == nil {
				why = Reason{ReasonFailed, "nobody says"}
			}
			got, ok := DelayOf(sandboxtest.MessageOf(t, r), levels, why)
			if got != tt.want || ok == tt.none {
				t.Errorf("DelayOf = %+v, %v; want %+v, %v", got, ok, tt.want, !tt.none)
			}
		})
	}
}
