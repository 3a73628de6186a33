package sandbox_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestProgressOfAllGroups(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		other := tg.Topic(t, 1)
		otherQueue := protocol.MessageQueue{Topic: other, BrokerName: f.mq.BrokerName}
		tg.Produce(t, f.topic, 2)
		progress := func(what, want string) {
			t.Helper()
			stats, err := f.c.BrokerConsumeStats(t.Context(), f.addr)
			if err != nil || stats.BrokerAddr != f.addr {
				t.Fatalf("%s: from %q, %v", what, stats.BrokerAddr, err)
			}
			list, ok := stats.Groups[f.group]
			var got []string
			for _, s := range list {
				for mq, w := range s.OffsetTable {
					got = append(got, fmt.Sprint(mq.Topic == f.topic, w.BrokerOffset, w.ConsumerOffset, w.PullOffset, w.LastTimestamp != 0))
				}
			}
			if slices.Sort(got); fmt.Sprint(ok, got) != want {
				t.Errorf("%s: got %v %q, want %s", what, ok, got, want)
			}
		}
		progress("unknown group", `false []`)
		f.member("a").join(1, map[string]string{f.topic: "*"})
		progress("online without commit", `true []`)
		f.commit(f.group, 1)
		progress("committed", `true [true 2 1 0 true]`)
		if err := f.c.UpdateConsumerOffset(t.Context(), f.group, otherQueue, 1); err != nil {
			t.Fatal(err)
		}
		progress("and in a topic that is not subscribed to", `true [true 2 1 0 true]`)
		stats, err := f.c.ConsumeStats(t.Context(), f.addr, f.group, "")
		if _, shown := stats.OffsetTable[otherQueue]; err != nil || len(stats.OffsetTable) != 1 || shown {
			t.Errorf("208 of that: got %v, %v", stats.OffsetTable, err)
		}
		stats, err = f.c.ConsumeStats(t.Context(), f.addr, f.group+"-none", f.topic)
		if w, shown := stats.OffsetTable[f.mq]; err != nil || !shown || w.BrokerOffset != 2 || w.ConsumerOffset != 0 {
			t.Errorf("208 of a group that nobody knows: got %v, %v", stats.OffsetTable, err)
		}
	})
}

// Where nothing is committed, or nothing was ever stored, the wait is longer than
// since 1970: it means nothing.
func TestTimeSpans(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		empty := f.mq
		empty.QueueID = 1 - f.mq.QueueID
		f.send("one")
		letPass(20 * time.Millisecond)
		f.send("two")
		tg.AwaitOffset(t, f.mq, 2)
		f.pull(f.header(0)) // makes the group
		one, two := f.pullOne(f.mq, 0, time.Second), f.pullOne(f.mq, 1, time.Second)
		first, second := one.Stored().UnixMilli(), two.Stored().UnixMilli()
		span := func(what string) (full protocol.QueueTimeSpan) {
			t.Helper()
			spans, err := f.c.QueueTimeSpans(t.Context(), f.addr, f.topic, f.group)
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, s := range spans {
				switch s.MessageQueue {
				case f.mq:
					full, seen = s, seen+1
				case empty:
					seen++
					if s.MinTimestamp != -1 || s.MaxTimestamp != -1 || s.ConsumeTimestamp != -1 || s.DelayTime < first {
						t.Errorf("%s: empty queue: got %+v", what, s)
					}
				}
			}
			if seen != 2 || full.MinTimestamp != first || full.MaxTimestamp != second {
				t.Errorf("%s: got %+v, want from %d to %d", what, spans, first, second)
			}
			return full
		}
		if s := span("no commit"); s.ConsumeTimestamp != first || s.DelayTime < first {
			t.Errorf("no commit: got %+v", s)
		}
		f.commit(f.group, 1)
		if s := span("one consumed"); s.ConsumeTimestamp != first || s.DelayTime < 0 || s.DelayTime > int64(time.Minute/time.Millisecond) {
			t.Errorf("one consumed: got %+v", s)
		}
		f.commit(f.group, 2)
		if s := span("all consumed"); s.ConsumeTimestamp != second || s.DelayTime != 0 {
			t.Errorf("all consumed: got %+v", s)
		}
		_, err := f.c.QueueTimeSpans(t.Context(), f.addr, f.topic+"-none", f.group)
		f.wantCode("unknown topic", err, protocol.TopicNotExist)
	})
}
