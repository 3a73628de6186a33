package sandbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// invoke sends any request to the fixture's broker.
func (f *fixture) invoke(code protocol.RequestCode, fields protocol.ExtFields, body []byte) (protocol.Command, error) {
	f.t.Helper()
	return f.c.Invoke(f.t.Context(), f.addr, &protocol.Command{Code: int32(code), ExtFields: fields, Body: body})
}

// queryOffset gives "offset" or the code of a refusal.
func (f *fixture) queryOffset(fields ...protocol.ExtField) string {
	f.t.Helper()
	all := protocol.ExtFields{
		{Key: "consumerGroup", Value: f.group}, {Key: "topic", Value: f.topic}, {Key: "queueId", Value: fmt.Sprint(f.mq.QueueID)},
	}
	return f.offsetOf(f.invoke(protocol.QueryConsumerOffset, append(all, fields...), nil))
}

func (f *fixture) offsetOf(cmd protocol.Command, err error) string {
	f.t.Helper()
	if code := codeOf(f.t, err); code != protocol.Success {
		return code.String()
	}
	var h protocol.OffsetResponseHeader
	if err := protocol.DecodeFields(cmd.ExtFields, &h); err != nil {
		f.t.Fatal(err)
	}
	return fmt.Sprint(h.Offset)
}

func TestQueryOffsetWithoutCommit(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		setZero := func(value string) protocol.ExtField { return protocol.ExtField{Key: "setZeroIfNotFound", Value: value} }
		none := protocol.QueryNotFound.String()
		check := func(what, absent, zero, notZero string) {
			t.Helper()
			got := fmt.Sprint(f.queryOffset(), f.queryOffset(setZero("true")), f.queryOffset(setZero("false")))
			if want := fmt.Sprint(absent, zero, notZero); got != want {
				t.Errorf("%s: got %s, want %s", what, got, want)
			}
		}
		if tg.Line == "4" {
			check("empty queue", "0", "0", "0")
		} else {
			check("empty queue", none, none, none)
		}
		tg.Produce(t, f.topic, 3)
		if tg.Line == "4" {
			check("queue with messages", "0", "0", "0")
		} else {
			check("queue with messages", "0", "0", none)
		}
	})
}

func TestUpdateOffset(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 3)
		commit := func(group string, mq protocol.MessageQueue, offset int64) protocol.ResponseCode {
			t.Helper()
			return codeOf(t, f.c.UpdateConsumerOffset(t.Context(), group, mq, offset))
		}
		unknownGroup, unknownTopic := protocol.SubscriptionGroupNotExist, protocol.TopicNotExist
		if tg.Line == "4" {
			unknownGroup, unknownTopic = protocol.Success, protocol.Success
		}
		if got := commit(f.group, f.mq, 2); got != unknownGroup {
			t.Errorf("unknown group: got %v, want %v", got, unknownGroup)
		}
		f.pull(f.header(0)) // makes the group
		h := protocol.UpdateConsumerOffsetRequestHeader{ConsumerGroup: f.group, Topic: f.topic + "-none", CommitOffset: 1}
		_, err := f.invoke(protocol.UpdateConsumerOffset, protocol.EncodeFields(&h), nil)
		f.wantCode("unknown topic", err, unknownTopic)
		for _, offset := range []int64{2, 1, 1000} { // lower and beyond the end are stored too
			if got := commit(f.group, f.mq, offset); got != protocol.Success {
				t.Errorf("commit %d: got %v", offset, got)
			}
			if got := f.queryOffset(); got != fmt.Sprint(offset) {
				t.Errorf("after commit of %d: got %s", offset, got)
			}
		}
		if err := f.c.UpdateConsumerOffsetOneway(t.Context(), f.group, f.mq, 3); err != nil {
			t.Fatal(err)
		}
		sandboxtest.Await(t, "one-way commit of 3", func(context.Context) bool { return f.queryOffset() == "3" })
		commit(f.group, f.mq, -5)
		if got := f.queryOffset(); got != "0" {
			t.Errorf("after commit of -5: got %s, want the 0 of a queue without commit", got)
		}
	})
}

func TestBoundsOfQueues(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 3)
		ask := func(code protocol.RequestCode, topic string, queueID int32) string {
			t.Helper()
			h := protocol.QueueOffsetRequestHeader{Topic: topic, QueueID: queueID}
			return f.offsetOf(f.invoke(code, protocol.EncodeFields(&h), nil))
		}
		search := func(topic string, queueID int32) string {
			t.Helper()
			h := protocol.SearchOffsetRequestHeader{Topic: topic, QueueID: queueID, Timestamp: time.Now()}
			return f.offsetOf(f.invoke(protocol.SearchOffsetByTimestamp, protocol.EncodeFields(&h), nil))
		}
		wantSameText(t, "maximum", ask(protocol.GetMaxOffset, f.topic, 0), "3")
		wantSameText(t, "minimum", ask(protocol.GetMinOffset, f.topic, 0), "0")
		wantSameText(t, "maximum, unknown topic", ask(protocol.GetMaxOffset, f.topic+"-none", 0), "0")
		wantSameText(t, "minimum, unknown topic", ask(protocol.GetMinOffset, f.topic+"-none", 0), "0")
		wantSameText(t, "maximum, unknown queue", ask(protocol.GetMaxOffset, f.topic, 7), "0")
		wantSameText(t, "minimum, unknown queue", ask(protocol.GetMinOffset, f.topic, 7), "0")
		wantSameText(t, "search, unknown topic", search(f.topic+"-none", 0), "0")
		wantSameText(t, "search, unknown queue", search(f.topic, 7), "0")
	})
}

func TestSearchOffset(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		search := func(at time.Time, boundary string) string {
			t.Helper()
			h := protocol.SearchOffsetRequestHeader{Topic: f.topic, QueueID: f.mq.QueueID, Timestamp: at, BoundaryType: boundary}
			return f.offsetOf(f.invoke(protocol.SearchOffsetByTimestamp, protocol.EncodeFields(&h), nil))
		}
		wantSameText(t, "empty queue", search(time.Now(), ""), "0")
		for i := range 4 {
			if i > 0 {
				letPass(100 * time.Millisecond)
			}
			f.send(fmt.Sprint(i))
		}
		tg.AwaitOffset(t, f.mq, 4)
		_, r := f.pull(f.header(0))
		var stored []time.Time
		for _, m := range f.messages(r) {
			stored = append(stored, m.Stored())
		}
		beyond, late, early := "4", "2", "2" // 40 ms after message 1, 40 ms before message 2
		if tg.Line == "4" {
			beyond, late, early = "3", "1", "2"
		}
		wantSameText(t, "before the first", search(stored[0].Add(-time.Hour), ""), "0")
		wantSameText(t, "at the first", search(stored[0], ""), "0")
		wantSameText(t, "at the third", search(stored[2], ""), "2")
		wantSameText(t, "after the second", search(stored[1].Add(20*time.Millisecond), ""), late)
		wantSameText(t, "before the third", search(stored[2].Add(-20*time.Millisecond), ""), early)
		wantSameText(t, "at the last", search(stored[3], ""), "3")
		wantSameText(t, "beyond the last", search(stored[3].Add(time.Millisecond), ""), beyond)
		wantSameText(t, "far beyond the last", search(stored[3].Add(time.Hour), ""), beyond)
		wantSameText(t, "upper, at the third", search(stored[2], "upper"), "2")
		wantSameText(t, "upper, beyond the last", search(stored[3].Add(time.Hour), "upper"), "3")
		wantSameText(t, "upper, before the first", search(stored[0].Add(-time.Hour), "upper"), "0")
		wantSameText(t, "upper, after the second", search(stored[1].Add(20*time.Millisecond), "upper"), "1")
	})
}

func TestConsumeStatsAndTopicStats(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		stats, err := f.c.ConsumeStats(t.Context(), f.addr, f.group, "")
		if err != nil || len(stats.OffsetTable) != 0 {
			t.Errorf("group without commit: got %v, %v", stats.OffsetTable, err)
		}
		tg.Produce(t, f.topic, 10)
		f.pull(f.header(0)) // makes the group
		if err := f.c.UpdateConsumerOffset(t.Context(), f.group, f.mq, 3); err != nil {
			t.Fatal(err)
		}
		stats, err = f.c.ConsumeStats(t.Context(), f.addr, f.group, "")
		if err != nil {
			t.Fatal(err)
		}
		other := f.mq
		other.QueueID = 1 - f.mq.QueueID
		got, gotOther := stats.OffsetTable[f.mq], stats.OffsetTable[other]
		wantPull := int64(5) // where the pull ended
		if tg.Line == "4" {
			wantPull = 0
		}
		if len(stats.OffsetTable) != 2 || got.BrokerOffset != 5 || got.ConsumerOffset != 3 || got.LastTimestamp == 0 || got.PullOffset != wantPull {
			t.Errorf("committed queue: got %+v of %d queues", got, len(stats.OffsetTable))
		}
		if gotOther.BrokerOffset != 5 || gotOther.ConsumerOffset != 0 || gotOther.LastTimestamp != 0 {
			t.Errorf("other queue: got %+v", gotOther)
		}
		stats, err = f.c.ConsumeStats(t.Context(), f.addr, f.group, f.topic+"-none")
		if err != nil || len(stats.OffsetTable) != 0 {
			t.Errorf("unknown topic: got %v, %v", stats.OffsetTable, err)
		}
		// A group that is online with other topics: 4.9 hides this one.
		f.member("a").join(1, map[string]string{protocol.RetryTopic(f.group): "*"})
		stats, err = f.c.ConsumeStats(t.Context(), f.addr, f.group, "")
		want := 2
		if tg.Line == "4" {
			want = 0
		}
		if err != nil || len(stats.OffsetTable) != want {
			t.Errorf("topic not subscribed: got %v, %v, want %d queues", stats.OffsetTable, err, want)
		}

		topicStats, err := f.c.TopicStats(t.Context(), f.addr, f.topic)
		if err != nil {
			t.Fatal(err)
		}
		if s := topicStats[f.mq]; len(topicStats) != 2 || s.MinOffset != 0 || s.MaxOffset != 5 || s.LastUpdateTimestamp == 0 {
			t.Errorf("topic stats: got %+v", topicStats)
		}
		_, err = f.c.TopicStats(t.Context(), f.addr, f.topic+"-none")
		f.wantCode("stats of an unknown topic", err, protocol.TopicNotExist)
	})
}
