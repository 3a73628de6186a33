package engine_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// resetByTool asks a broker for a reset as mqadmin resetOffsetByTime does (code
// 222); a 5.x broker does it by itself, a 4.x one tells the members.
func resetByTool(t *testing.T, tg *sandboxtest.Target, group, topic string, timestamp int64) {
	t.Helper()
	c := tg.Client(t, nil)
	for _, addr := range tg.Masters(t) {
		_, err := c.Invoke(t.Context(), addr, &protocol.Command{Code: 222, ExtFields: protocol.ExtFields{
			{Key: "topic", Value: topic}, {Key: "group", Value: group}, {Key: "timestamp", Value: strconv.FormatInt(timestamp, 10)},
			{Key: "isForce", Value: "true"},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A reset from an admin tool reaches a member that consumes: on 5.x by its next
// pull, so within a long poll, on 4.x pushed, at once. Each message comes again
// once, and no commit under way undoes the reset (traps T14, T15 and T17).
func TestResetByTool(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 2), tg.Group(t)
			tg.Produce(t, topic, 60)
			m := join(t, tg, group, topic, nil, mode, func(o *engine.Options) { o.PersistInterval = 200 * time.Millisecond })
			m.until("all", func() bool { return m.distinct() == 60 })
			mqs := []engine.MessageQueue{queueOf(m, topic, 0), queueOf(m, topic, 1)}
			m.until("all is persisted", func() bool { return snapOf(m, mqs[0]).PersistedOffset == 30 && snapOf(m, mqs[1]).PersistedOffset == 30 })
			began := time.Now()
			resetByTool(t, tg, group, topic, 0)
			m.until("all again", func() bool { return len(m.order[mqs[0]]) == 60 && len(m.order[mqs[1]]) == 60 })
			limit := 2 * time.Second
			if tg.Line == "5" { // an idle queue hears of it when its long poll ends
				limit = 16 * time.Second
			}
			if took := time.Since(began); tooLong(tg, took, limit) {
				t.Errorf("the messages came again after %v, want %v at most", took, limit)
			}
			for _, mq := range mqs {
				ended := untilEvent(m, "the end of the reset", func(e engine.ResetEnd) bool { return e.MQ == mq })
				if !ended.Verified || ended.By != "broker" || ended.From != 30 || ended.To != 0 {
					t.Errorf("reset_end %+v", ended)
				}
			}
			m.until("the progress is committed", func() bool { return snapOf(m, mqs[0]).PersistedOffset == 30 && snapOf(m, mqs[1]).PersistedOffset == 30 })
			m.leave()
			for _, mq := range mqs {
				again := slices.Clone(m.order[mq][30:])
				slices.Sort(again)
				if len(m.order[mq]) != 60 || again[0] != 0 || again[29] != 29 {
					t.Errorf("%v: %d deliveries, the second time %v", mq, len(m.order[mq]), again)
				}
			}
			checkCommitted(t, tg, group, topic)
		}
	})
}

// A reset while messages are being consumed and committed is not undone by them:
// everything from the target on is delivered after it.
func TestResetByToolWhileBusy(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 400)
		slow := func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		}
		m := join(t, tg, group, topic, slow, func(o *engine.Options) {
			o.PersistInterval, o.ConsumeThreadMin = 100*time.Millisecond, 2
			o.PullThresholdForQueue = 50 // so that it pulls all the time
		})
		mq := queueOf(m, topic, 0)
		m.until("some", func() bool { return len(m.order[mq]) > 100 })
		resetByTool(t, tg, group, topic, 0)
		ended := untilEvent[engine.ResetEnd](m, "the end of the reset", nil)
		if !ended.Verified || ended.To != 0 || ended.From == 0 {
			t.Errorf("reset_end %+v", ended)
		}
		m.until("all of them, from the beginning", func() bool {
			from := slices.Index(m.order[mq][1:], 0) + 1 // the second time
			if from == 0 {
				return false
			}
			after := slices.Clone(m.order[mq][from:])
			slices.Sort(after)
			return len(slices.Compact(after)) == 400
		})
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A reset forward skips what is passed over, also when it waits in the cache of a
// member that is paused.
func TestResetByToolForward(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.PersistInterval = 200 * time.Millisecond })
		mq := queueOf(m, topic, 0)
		tg.Produce(t, topic, 10)
		m.until("the first ones", func() bool { return m.distinct() == 10 && snapOf(m, mq).PersistedOffset == 10 })
		if err := m.Pause(t.Context(), engine.PauseRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		tg.Produce(t, topic, 1) // ends the pull under way
		m.until("what the pull under way has brought", func() bool { return m.distinct() == 11 })
		tg.Produce(t, topic, 49)
		tg.AwaitOffset(t, mq, 60)
		resetByTool(t, tg, group, topic, -1)
		if tg.Line != "5" { // pushed by the broker, after it has answered the tool
			m.until("the member has heard of it", func() bool { return snapOf(m, mq).NextOffset == 60 })
		}
		if err := m.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		m.until("it goes on at the end", func() bool { return snapOf(m, mq).NextOffset == 60 })
		tg.Produce(t, topic, 5)
		m.until("what came since", func() bool { return m.seen[at{mq, 64}] > 0 })
		m.leave()
		if n := m.distinct(); n != 16 {
			t.Errorf("%d messages came, want 11 before and 5 after what was skipped", n)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// One queue can be reset to any offset, 0 included, and the others stay where they
// are.
func TestResetOneQueueOnly(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 20)
		m := join(t, tg, group, topic, nil)
		m.until("all", func() bool { return m.distinct() == 20 })
		mq, other := queueOf(m, topic, 0), queueOf(m, topic, 1)
		m.until("all is settled", func() bool { return snapOf(m, mq).CommittedOffset == 10 && snapOf(m, other).CommittedOffset == 10 })
		for _, to := range []int64{0, 5} {
			before := len(m.order[mq])
			rows, err := m.ResetOffset(t.Context(), resetTo(mq, to))
			if err != nil || rows[0].Err != nil || !rows[0].Verified || rows[0].Before != 10 || rows[0].After != to {
				t.Fatalf("reset to %d: %+v, verified %v, before %d, after %d, row error %v, %v", to, rows, rows[0].Verified, rows[0].Before, rows[0].After, rows[0].Err, err)
			}
			m.until("they come again", func() bool { return len(m.order[mq]) == before+int(10-to) })
			// A picture may be one of before the reset still; the broker's offset is not.
			admin := tg.Client(t, nil)
			sandboxtest.AwaitWithin(t, time.Minute, "they are settled", func(ctx context.Context) bool {
				stored, _, err := admin.QueryConsumerOffset(ctx, group, mq)
				return err == nil && stored == 10
			})
		}
		m.leave()
		if n := len(m.order[other]); n != 10 {
			t.Errorf("%d deliveries of the queue that was not reset", n)
		}
		checkCommitted(t, tg, group, topic)
	})
}
