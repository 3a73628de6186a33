package main

import "testing"

func TestParseLine(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want line
		said bool
	}{
		"eyeq's message": {
			`{"kind":"message","topic":"chaos","broker":"broker-a","queue":3,"offset":17,"message_id":"AB","keys":["k-42"],"reconsume_times":1,"properties":{"KEYS":"k-42"},"body":"x"}`,
			line{delivery: true, topic: "chaos", queue: 3, offset: 17, seq: 42, reconsume: 1}, true,
		},
		"Java's message": {
			`{"time":1700000000000,"topic":"chaos","queue":0,"offset":0,"id":"AB","key":"k-0","seq":null,"reconsume":2}`,
			line{delivery: true, topic: "chaos", reconsume: 2}, true,
		},
		"an event":       {`{"kind":"event","time":"2025-01-01T00:00:00.000Z","event":"queue_added","group":"g","queue":1,"next_offset":5}`, line{event: "queue_added"}, true},
		"eyeq is up":     {`{"kind":"event","event":"rebalance_end","group":"g","seq":1,"trigger":"start","topics":["chaos"]}`, line{event: "rebalance_end", ready: true}, true},
		"Java is up":     {`{"started":true}`, line{ready: true}, true},
		"eyeq's summary": {`{"kind":"summary","messages":3,"duplicates":0}`, line{}, false},
		"Java's summary": {`{"consumed":3}`, line{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, said, err := parseLine([]byte(tt.text))
			if err != nil || said != tt.said || got != tt.want {
				t.Errorf("parseLine = %+v, %v, %v, want %+v, %v", got, said, err, tt.want, tt.said)
			}
		})
	}
	for name, text := range map[string]string{
		"half a line":       `{"kind":"message","topic":"cha`,
		"a stranger's key":  `{"kind":"message","topic":"chaos","queue":3,"offset":17,"keys":["order-1"]}`,
		"no key":            `{"kind":"message","topic":"chaos","queue":3,"offset":17,"keys":[]}`,
		"no offset":         `{"kind":"message","topic":"chaos","queue":3,"keys":["k-1"]}`,
		"no number of ours": `{"topic":"chaos","queue":0,"offset":0,"key":"null"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, said, err := parseLine([]byte(text)); err == nil {
				t.Errorf("parseLine = %+v, %v, want an error", got, said)
			}
		})
	}
}
