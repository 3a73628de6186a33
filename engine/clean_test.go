package engine_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func cleans(o *engine.Options) { o.CleanExpired, o.ConsumeTimeout = true, time.Minute }

// Expired-message cleaning is off unless it is asked for (trap T22).
func TestNoCleaningUnlessAskedFor(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 2)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			if x.QueueOffset() == 0 {
				<-release
			}
			return engine.ConsumeSuccess
		}), func(o *engine.Options) { o.ConsumeTimeout = time.Minute })
		mq := queueOf(m, topic, 0)
		time.Sleep(10 * time.Minute)
		if s := snapOf(m, mq); s.CommittedOffset != 0 || time.Since(s.HeadStarted) < 9*time.Minute {
			t.Errorf("committed %d, the head began %v ago, want 0 and 10 minutes", s.CommittedOffset, time.Since(s.HeadStarted))
		}
		close(release)
		m.leave()
		if n := count[engine.MessageExpired](m, nil); n != 0 {
			t.Errorf("%d messages expired", n)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// Messages that expired are sent back head by head, with level 3, and each only
// once; a message whose send-back failed is tried again; one that has not begun
// stops the look (docs/conformance/pull.md 1.3).
func TestCleaningGoesHeadByHead(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 6)
		var refuse atomic.Bool
		refuse.Store(true)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if (code == protocol.ConsumerSendMsgBack || code == protocol.SendMessageV2) && refuse.Load() {
				f.Code = protocol.SystemBusy
			}
			return f
		})
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			if x.ReconsumeTimes() == 0 && x.QueueOffset() < 3 {
				<-release
				return engine.ReconsumeLater
			}
			return engine.ConsumeSuccess
		}), cleans, threads(3)) // offsets 3 and more wait for a thread
		mq := queueOf(m, topic, 0)
		failed := untilEvent[engine.MessageExpired](m, "the head expires", nil)
		if failed.SentBack || failed.Offset != 0 {
			t.Errorf("message_expired = %+v, want a failed one of offset 0", failed)
		}
		refuse.Store(false)
		m.until("three are sent back", func() bool { return snapOf(m, mq).CommittedOffset == 3 })
		time.Sleep(5 * time.Minute) // those that have not begun do not expire
		if s := snapOf(m, mq); s.CommittedOffset != 3 {
			t.Errorf("committed %d, want 3", s.CommittedOffset)
		}
		close(release)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 6 })
		m.leave()
		var expired []int64
		for _, e := range m.told() {
			switch e := e.(type) {
			case engine.MessageExpired:
				if e.SentBack {
					expired = append(expired, e.Offset)
				}
			case engine.SentBack:
				if e.DelayLevel != 3 {
					t.Errorf("sendback_ok = %+v, want level 3", e)
				}
			}
		}
		if !slices.Equal(expired, []int64{0, 1, 2}) {
			t.Errorf("expired and sent back: %v, want 0, 1, 2", expired)
		}
		if n := count[engine.SentBack](m, nil); n != 3 {
			t.Errorf("sent back %d times, want 3: the late refusals are of messages that have left", n)
		}
	})
}

// A message that hangs in its local retry expires too.
func TestCleaningSeesLocalRetries(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		var refuse atomic.Bool
		refuse.Store(true)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if (code == protocol.ConsumerSendMsgBack || code == protocol.SendMessageV2) && refuse.Load() {
				f.Code = protocol.SystemBusy
			}
			return f
		})
		var tries atomic.Int32
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			if x.ReconsumeTimes() == 0 && tries.Add(1) == 2 {
				<-release
			}
			return engine.ReconsumeLater
		}), cleans)
		mq := queueOf(m, topic, 0)
		m.until("the local retry", func() bool { return tries.Load() == 2 })
		refuse.Store(false)
		m.until("its start is shown", func() bool { return !snapOf(m, mq).HeadStarted.IsZero() })
		e := untilEvent[engine.MessageExpired](m, "it expires", nil)
		if !e.SentBack || e.Offset != 0 || e.AgeMS < 60_000 {
			t.Errorf("message_expired = %+v", e)
		}
		m.until("the offset moves on", func() bool { return snapOf(m, mq).CommittedOffset == 1 })
		close(release)
	})
}

// Orderly consumption has no cleaning: a listener that hangs blocks its queue.
func TestOrderlyHasNoCleaning(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 2)
		release := make(chan struct{})
		m := join(t, tg, group, topic, listen(func(*engine.Message, *engine.ConsumeContext) engine.Status {
			<-release
			return engine.ConsumeSuccess
		}), orderly, cleans)
		mq := queueOf(m, topic, 0)
		time.Sleep(5 * time.Minute)
		m.until("the head's start is shown", func() bool { return time.Since(snapOf(m, mq).HeadStarted) > 4*time.Minute })
		if s := snapOf(m, mq); s.CommittedOffset != 0 || m.distinct() != 1 {
			t.Errorf("committed %d after %d deliveries, want 0 after 1", s.CommittedOffset, m.distinct())
		}
		close(release)
		m.leave()
		if n := count[engine.MessageExpired](m, nil); n != 0 {
			t.Errorf("%d messages expired", n)
		}
	})
}

// Case: a handler that never returns for one offset while 3,000 more come. The
// offset that blocks, its age, span and limit can be seen; after the timeout the
// message is sent back and pulling goes on.
func TestSpanOfAStuckMessageEnds(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		release := make(chan struct{})
		tg.Produce(t, topic, 3000)
		m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			// What comes later is slower than the pull, so that something is cached: the
			// span ends at the largest message that is not done.
			if x := &msgs[0]; x.ReconsumeTimes() == 0 && x.QueueOffset() == 5 {
				<-release
			} else if x.QueueOffset() > 900 && x.ReconsumeTimes() == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			return engine.ConsumeSuccess, nil
		}, cleans, threads(4), func(o *engine.Options) { o.ConsumeConcurrentlyMaxSpan, o.PullThresholdForQueue = 1000, 200 })
		mq := queueOf(m, topic, 0)
		begin := untilEvent(m, "the span stops the pulls", func(e engine.FlowBegin) bool { return e.Cause == core.FlowSpan })
		m.until("it is shown", func() bool {
			s := snapOf(m, mq)
			return s.Flow == core.FlowSpan && s.FlowLimit == 1000 && s.CachedMin == 5 && !s.HeadStarted.IsZero() && s.HeadMessageID != "" && s.CachedDone > 500
		})
		expired := untilEvent[engine.MessageExpired](m, "it expires", nil)
		end := untilEvent(m, "the span ends", func(e engine.FlowEnd) bool { return e.Cause == core.FlowSpan })
		if begin.Value <= 1000 || expired.Offset != 5 || !expired.SentBack || end.DurationMS < 10_000 {
			t.Errorf("%+v, %+v, %+v", begin, expired, end)
		}
		m.until("all and the retry", func() bool { return m.distinct() == 3001 })
		close(release)
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}
