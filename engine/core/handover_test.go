package core

import (
	"maps"
	"testing"
	"time"

	"eyeq/remoting/protocol"
)

func TestFormerOwners(t *testing.T) {
	mq := func(id int32) protocol.MessageQueue {
		return protocol.MessageQueue{Topic: "t", BrokerName: "b", QueueID: id}
	}
	all := []protocol.MessageQueue{mq(0), mq(1), mq(2), mq(3)}
	allocate := func(member string, members []string) []protocol.MessageQueue {
		mqs, err := AllocateAveragely.Allocate("g", member, all, members)
		if err != nil {
			t.Fatal(err)
		}
		return mqs
	}
	type owners = map[protocol.MessageQueue]string
	tests := map[string]struct {
		added   []protocol.MessageQueue
		members []string
		last    map[string][]protocol.MessageQueue
		want    owners
	}{
		"self is new: who has them without it": {[]protocol.MessageQueue{mq(2), mq(3)}, []string{"a", "self"}, nil,
			owners{mq(2): "a", mq(3): "a"}},
		"self is new among three": {[]protocol.MessageQueue{mq(3)}, []string{"a", "b", "self"}, nil, owners{mq(3): "b"}},
		"the last allocation, when self was in it": {[]protocol.MessageQueue{mq(1)}, []string{"a", "b", "self"},
			map[string][]protocol.MessageQueue{"a": {mq(0), mq(1)}, "self": {mq(2), mq(3)}}, owners{mq(1): "a"}},
		"a member that left has persisted": {[]protocol.MessageQueue{mq(1)}, []string{"b", "self"},
			map[string][]protocol.MessageQueue{"a": {mq(0), mq(1)}, "self": {mq(2), mq(3)}}, owners{}},
		"its own queue, taken anew": {[]protocol.MessageQueue{mq(2)}, []string{"a", "self"},
			map[string][]protocol.MessageQueue{"a": {mq(0), mq(1)}, "self": {mq(2), mq(3)}}, owners{}},
		"a queue that is new to all": {[]protocol.MessageQueue{mq(9)}, []string{"a", "self"},
			map[string][]protocol.MessageQueue{"a": {mq(0)}, "self": {mq(2)}}, owners{}},
		"alone": {all, []string{"self"}, nil, owners{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := FormerOwners(tt.added, "self", tt.members, tt.last, allocate); !maps.Equal(got, tt.want) {
				t.Errorf("FormerOwners() = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestHandOver(t *testing.T) {
	const yes, no, mute = 1, 0, -1
	const limit = 25 * time.Second
	tests := map[string]struct {
		answers []int
		waited  time.Duration // at the last
		want    HandOverStep
	}{
		"has it":                              {[]int{yes}, 0, HandOverWait},
		"has it still":                        {[]int{yes, yes}, time.Second, HandOverWait},
		"has given it back":                   {[]int{yes, no}, time.Second, HandOverReleased},
		"never had it":                        {[]int{no}, 0, HandOverUnknown},
		"does not say":                        {[]int{mute}, 0, HandOverUnknown},
		"has it, then two answers are lost":   {[]int{yes, mute, mute}, time.Second, HandOverWait},
		"has it, then three answers are lost": {[]int{yes, mute, mute, mute}, time.Second, HandOverUnknown},
		"lost answers that are not in a row":  {[]int{yes, mute, mute, yes, mute}, time.Second, HandOverWait},
		"lost answers, then given back":       {[]int{yes, mute, no}, time.Second, HandOverReleased},
		"has it for too long":                 {[]int{yes, yes}, limit, HandOverExpired},
		"given back at the last moment":       {[]int{yes, no}, limit, HandOverReleased},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var h HandOver
			var got HandOverStep
			for i, a := range tt.answers {
				waited := time.Duration(0)
				if i == len(tt.answers)-1 {
					waited = tt.waited
				}
				if a == mute {
					got = h.Failed()
				} else {
					got = h.Answered(a == yes, waited, limit)
				}
			}
			if got != tt.want {
				t.Errorf("step = %v, want %v", got, tt.want)
			}
		})
	}
}
