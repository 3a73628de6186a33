package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// listen is a listener of one message that does not answer with an error.
func listen(f func(m *engine.Message, cc *engine.ConsumeContext) engine.Status) engine.ListenerFunc {
	return func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
		return f(&msgs[0], cc), nil
	}
}

// A pull answer is cut into consecutive batches, the last one shorter, in the
// order of their offsets (docs/conformance/concurrent.md 2).
func TestBatches(t *testing.T) {
	for _, tt := range []struct{ n, size, want []int }{
		{[]int{32}, []int{10}, []int{10, 10, 10, 2}}, {[]int{8}, []int{10}, []int{8}}, {[]int{10}, []int{10}, []int{10}}, {[]int{3}, []int{1}, []int{1, 1, 1}},
	} {
		t.Run(fmt.Sprint(tt.n[0], " by ", tt.size[0]), func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, tt.n[0])
				var mu sync.Mutex // guards sizes
				var sizes []int
				m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
					mu.Lock()
					defer mu.Unlock()
					sizes = append(sizes, len(msgs))
					if cc.DelayLevelWhenNextConsume != 0 || cc.AckIndex != len(msgs)-1 || cc.MessageQueue != msgs[0].MessageQueue() {
						t.Errorf("the context comes as %+v", cc)
					}
					return engine.ConsumeSuccess, nil
				}, batches(tt.size[0]), threads(1))
				m.until("all", func() bool { return m.distinct() == tt.n[0] })
				m.leave()
				if !slices.Equal(sizes, tt.want) {
					t.Errorf("batches of %v, want %v", sizes, tt.want)
				}
				checkOrder(t, m)
			})
		})
	}
}

// Messages up to the ack index are done, the rest is sent back, one by one and in
// order; a verdict to retry sends back all (docs/conformance/concurrent.md 4, 5).
func TestAckIndex(t *testing.T) {
	tests := map[string]struct {
		status engine.Status
		index  int
		back   []int64
		ok     uint64
	}{
		"two of four":           {engine.ConsumeSuccess, 1, []int64{2, 3}, 2},
		"all":                   {engine.ConsumeSuccess, 3, nil, 4},
		"beyond the end":        {engine.ConsumeSuccess, 99, nil, 4},
		"success, none":         {engine.ConsumeSuccess, -1, []int64{0, 1, 2, 3}, 0},
		"later, whatever index": {engine.ReconsumeLater, 2, []int64{0, 1, 2, 3}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 4)
				m := join(t, tg, group, topic, func(_ context.Context, _ []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
					cc.AckIndex, cc.DelayLevelWhenNextConsume = tt.index, -1
					return tt.status, nil
				}, batches(4))
				mq := queueOf(m, topic, 0)
				m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 4 })
				s := snapOf(m, mq)
				if s.Consumed != tt.ok || s.Failed != 4-tt.ok || s.SentBack != 4-tt.ok {
					t.Errorf("consumed %d, failed %d, sent back %d, want %d ok", s.Consumed, s.Failed, s.SentBack, tt.ok)
				}
				m.leave()
				var back []int64
				for _, e := range m.told() {
					if x, ok := e.(engine.SentBack); ok {
						back = append(back, x.Offset)
					}
				}
				if !slices.Equal(back, tt.back) {
					t.Errorf("sent back %v, want %v", back, tt.back)
				}
			})
		})
	}
}

// A call longer than the timeout is labelled so, and its verdict counts unchanged
// (trap T49); an error with a success is a failure (the Go client acknowledges it).
func TestVerdictCountsWhateverItsLabel(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 2)
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 0 {
				time.Sleep(61 * time.Second)
				return engine.ConsumeSuccess, nil
			}
			cc.DelayLevelWhenNextConsume = -1
			return engine.ConsumeSuccess, errors.New("yet it failed")
		}, func(o *engine.Options) { o.ConsumeTimeout = time.Minute })
		mq := queueOf(m, topic, 0)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 2 })
		if s := snapOf(m, mq); s.Consumed != 1 || s.Failed != 1 {
			t.Errorf("consumed %d, failed %d, want 1, 1", s.Consumed, s.Failed)
		}
		e := untilEvent[engine.ConsumeFailed](m, "the failure", nil)
		if e.First != 1 || e.ReturnType != "EXCEPTION" {
			t.Errorf("consume_failed = %+v", e)
		}
	})
}

// dueOf is what a message's delay level stands for; negative where that is not known.
func dueOf(e engine.SentBack) time.Duration {
	if e.DueMS == nil {
		return -1
	}
	return time.Duration(*e.DueMS) * time.Millisecond
}

// What a delay level stands for its broker says, which may have levels of its own; where
// it does not say, that is told instead.
func TestDelayOfABrokersOwnLevels(t *testing.T) {
	ownLevels := sandboxtest.With(func(o *sandbox.Options) { o.DelayLevels = "1s 2s 7s" })
	tests := map[string]struct {
		fault func(r sandbox.Request) sandbox.Fault
		due   time.Duration
		why   string
	}{
		"said": {nil, 7 * time.Second, ""},
		"refused": {func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Code: map[bool]protocol.ResponseCode{true: protocol.NoPermission}[protocol.RequestCode(r.Command.Code) == protocol.GetBrokerConfig]}
		}, -1, "NO_PERMISSION"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
				tg.Sandbox.SetFault(tt.fault)
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 1)
				var first, took atomic.Int64
				m := join(t, tg, group, topic, listen(func(x *engine.Message, cc *engine.ConsumeContext) engine.Status {
					if x.ReconsumeTimes() == 0 {
						first.Store(time.Now().UnixNano())
						return engine.ReconsumeLater
					}
					took.Store(time.Now().UnixNano() - first.Load())
					return engine.ConsumeSuccess
				}))
				e := untilEvent[engine.SentBack](m, "it is sent back", nil)
				if dueOf(e) != tt.due || e.DelayLevel != 3 || !strings.Contains(e.DueError, tt.why) || (tt.why == "") != (e.DueError == "") {
					t.Errorf("sendback_ok = %+v, want due in %v, %q", e, tt.due, tt.why)
				}
				m.until("it comes again", func() bool { return took.Load() > 0 })
				if got := time.Duration(took.Load()).Round(time.Second); got != 7*time.Second {
					t.Errorf("it came again after %v, want 7s", got)
				}
			}, ownLevels)
		})
	}
}

// A delay level is the broker's (0), the listener's (n) or the dead letters (-1)
// (docs/conformance/concurrent.md 5.2).
func TestDelayLevels(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		level int32
		told  int32
		after time.Duration
	}{"the broker's choice": {0, 3, 10 * time.Second}, "level 1": {1, 1, time.Second}, "dead at once": {-1, 0, 0}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 1)
				var first time.Time
				second := make(chan time.Duration, 1)
				m := join(t, tg, group, topic, listen(func(x *engine.Message, cc *engine.ConsumeContext) engine.Status {
					if x.ReconsumeTimes() == 0 {
						first, cc.DelayLevelWhenNextConsume = time.Now(), tt.level
						return engine.ReconsumeLater
					}
					second <- time.Since(first)
					return engine.ConsumeSuccess
				}))
				e := untilEvent[engine.SentBack](m, "it is sent back", nil)
				if e.DelayLevel != tt.told || dueOf(e) != tt.after || e.ReconsumeTimes != 1 {
					t.Errorf("sendback_ok = %+v", e)
				}
				if tt.level < 0 {
					if x := &readDeadLetters(t, tg, group, 1)[0]; e.Target != "dlq" || x.OriginalTopic() != topic || x.ReconsumeTimes() != 1 {
						t.Errorf("%s to the dead letters: original topic %s, reconsumed %d", e.Target, x.OriginalTopic(), x.ReconsumeTimes())
					}
					return
				}
				m.until("it comes again", func() bool { return len(second) == 1 })
				// A busy broker refuses what waited 200 ms to be stored: a copy takes its place.
				sent := e.Target == "retry" || e.Target == "fallback" && tg.Sandbox == nil
				if got := <-second; !sent || got < tt.after-100*time.Millisecond || tooLong(tg, got, tt.after+5*time.Second) {
					t.Errorf("%s: came again after %v, want %v", e.Target, got, tt.after)
				}
			})
		})
	}
}

// Case: a group that always fails. Attempts and due times can be seen, and after
// MaxReconsumeTimes retries each message is a dead letter.
func TestMaxReconsumeTimes(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		const n, limit = 20, 3
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, n)
		m := join(t, tg, group, topic, listen(func(x *engine.Message, cc *engine.ConsumeContext) engine.Status {
			if x.OriginalTopic() != topic {
				t.Errorf("original topic = %s", x.OriginalTopic())
			}
			cc.DelayLevelWhenNextConsume = 1
			return engine.ReconsumeLater
		}), func(o *engine.Options) { o.MaxReconsumeTimes = limit })
		letters := readDeadLetters(t, tg, group, n)
		m.until("all are told", func() bool {
			dead := 0
			for _, e := range m.events {
				if x, ok := e.(engine.SentBack); ok && x.Target == "dlq" {
					dead++
				}
			}
			return dead == n
		})
		m.leave()
		keys := map[string]bool{}
		for i := range letters {
			keys[letters[i].Keys()[0]] = true
			if got := letters[i].ReconsumeTimes(); got != limit+1 {
				t.Errorf("a dead letter was reconsumed %d times, want %d", got, limit+1)
			}
		}
		if len(letters) != n || len(keys) != n {
			t.Errorf("%d dead letters with %d keys, want %d", len(letters), len(keys), n)
		}
		attempts := map[int32]int{}
		for _, e := range m.told() {
			if x, ok := e.(engine.SentBack); ok {
				attempts[x.ReconsumeTimes]++
				if x.Target == "retry" && dueOf(x) != time.Second {
					t.Errorf("sendback_ok = %+v, want due in 1000 ms", x)
				}
			}
		}
		for k := int32(1); k <= limit+1; k++ {
			if attempts[k] != n {
				t.Errorf("try %d was told %d times, want %d", k, attempts[k], n)
			}
		}
		for key, k := range m.keys {
			if k != limit+1 {
				t.Errorf("%s was delivered %d times, want %d", key, k, limit+1)
			}
		}
		checkCommitted(t, tg, group, topic)
		checkCommitted(t, tg, group, protocol.RetryTopic(group))
	})
}

// badSendBack makes each send-back of a member fail at the broker, which does not
// find the message at the offset that the wire puts there.
func badSendBack(w *wire) {
	w.instead(func(req *protocol.Command) []byte {
		if protocol.RequestCode(req.Code) != protocol.ConsumerSendMsgBack {
			return nil
		}
		other := *req
		other.ExtFields = slices.Clone(req.ExtFields)
		for i := range other.ExtFields {
			if other.ExtFields[i].Key == "offset" {
				other.ExtFields[i].Value = "1099511627776"
			}
		}
		return framed(other)
	})
}

// When the broker refuses a send-back, a normal message takes its place, with what
// the listener wanted: its level, the dead letters, and the limit (trap T24).
func TestFallbackKeepsTheIntent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		level, limit int32
		target       string
		after        time.Duration
	}{
		"level 1":        {1, -1, "fallback", time.Second},
		"broker's level": {0, -1, "fallback", 10 * time.Second},
		"dead at once":   {-1, -1, "dlq", 0},
		"limit of 0":     {1, 0, "dlq", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				tg.Produce(t, topic, 1, protocol.Property{Name: "colour", Value: "blue"})
				w := newWire(tg)
				badSendBack(w)
				var id string
				var first time.Time
				again := make(chan engine.Message, 1)
				var took time.Duration
				m := joinOver(t, tg, w, group, topic, listen(func(x *engine.Message, cc *engine.ConsumeContext) engine.Status {
					if x.Topic() != topic {
						took = time.Since(first)
						again <- *x
						return engine.ConsumeSuccess
					}
					id, first, cc.DelayLevelWhenNextConsume = x.OffsetMessageID(), time.Now(), tt.level
					return engine.ReconsumeLater
				}), func(o *engine.Options) { o.MaxReconsumeTimes = tt.limit })
				e := untilEvent[engine.SentBack](m, "it is sent", nil)
				if e.Target != tt.target || dueOf(e) != tt.after {
					t.Errorf("sendback_ok = %+v, want %s in %v", e, tt.target, tt.after)
				}
				var x engine.Message
				if tt.target == "dlq" {
					x = readDeadLetters(t, tg, group, 1)[0]
				} else {
					m.until("it comes again", func() bool { return len(again) == 1 })
					if x = <-again; took < tt.after-100*time.Millisecond || tooLong(tg, took, tt.after+5*time.Second) {
						t.Errorf("came again after %v, want %v", took, tt.after)
					}
				}
				property := func(name string) string { v, _ := x.Property(name); return v }
				if x.OriginalTopic() != topic || x.ReconsumeTimes() != 1 || string(x.StoredBody()) != "message 0" || x.Keys()[0] != "key-0" ||
					property("colour") != "blue" || property(protocol.PropertyOriginMessageID) != id {
					t.Errorf("got %+v, want the message with origin %s", x.Record(), id)
				}
				m.leave()
				checkCommitted(t, tg, group, topic)
			})
		})
	}
}

// Case: the broker that a message came from cannot be reached any more. The copy
// goes to another broker of the retry topic.
func TestFallbackToAnotherBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Brokers("broker-a", "broker-b"), sandboxtest.Topic("orders", 1))
		tg := &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb}
		sb.Put(sandbox.Message{Topic: "orders", Broker: "broker-a", Body: []byte("x")})
		again := make(chan engine.Message, 1)
		release := make(chan struct{})
		m := join(t, tg, "g", "orders", listen(func(x *engine.Message, cc *engine.ConsumeContext) engine.Status {
			if x.ReconsumeTimes() == 0 {
				<-release
				cc.DelayLevelWhenNextConsume = 1
				return engine.ReconsumeLater
			}
			again <- *x
			return engine.ConsumeSuccess
		}))
		m.until("the call", func() bool { return m.distinct() == 1 })
		time.Sleep(30 * time.Second) // the retry topic is at both brokers
		sb.StopBroker("broker-a")
		close(release)
		m.until("it comes again", func() bool { return len(again) == 1 })
		if x := <-again; x.BrokerName() != "broker-b" || x.OriginalTopic() != "orders" {
			t.Errorf("came from %s, original topic %s", x.BrokerName(), x.OriginalTopic())
		}
		if e := untilEvent[engine.SentBack](m, "it is told", nil); e.Target != "fallback" {
			t.Errorf("sendback_ok = %+v", e)
		}
		sb.StartBroker("broker-a")
		time.Sleep(10 * time.Second)
	})
}

// Case: the retry topic takes no writes and the process dies. What is neither
// handled nor stored for a retry is never passed by the committed offset.
func TestCommitNeverPassesWhatIsNotStored(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 10)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.ConsumerSendMsgBack || code == protocol.SendMessageV2 {
				f.Code = protocol.NoPermission
			}
			return f
		})
		m := join(t, tg, group, topic, listen(func(x *engine.Message, _ *engine.ConsumeContext) engine.Status {
			if x.QueueOffset() == 4 {
				return engine.ReconsumeLater
			}
			return engine.ConsumeSuccess
		}), func(o *engine.Options) { o.PersistInterval = 100 * time.Millisecond })
		m.until("some local retries", func() bool { return m.seen[at{mq, 4}] >= 5 })
		wantOffset(t, tg, group, mq, 4)
		m.until("it is shown", func() bool { s := snapOf(m, mq); return s.CachedDone == 5 && s.CachedCount == 1 })
		m.leave()
		wantOffset(t, tg, group, mq, 4)
	})
}

// On a real broker too: a retry topic whose queues may not be written refuses the
// send-back, and the message that takes its place is stored.
func TestRetryTopicWithoutWritePermission(t *testing.T) {
	// The sandbox looks at no permission of a retry topic.
	sandboxtest.RunIn(t, sandboxtest.Real, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, listen(func(x *engine.Message, cc *engine.ConsumeContext) engine.Status {
			if cc.DelayLevelWhenNextConsume = 1; x.ReconsumeTimes() == 0 {
				return engine.ReconsumeLater
			}
			return engine.ConsumeSuccess
		}))
		awaitHeld(m, topic, 1)
		c := tg.Client(t, nil)
		for _, addr := range tg.Masters(t) {
			if err := c.CreateTopic(t.Context(), addr, &protocol.CreateTopicRequestHeader{Topic: protocol.RetryTopic(group),
				DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermRead}); err != nil {
				t.Fatal(err)
			}
		}
		tg.Produce(t, topic, 5)
		m.until("all again", func() bool { return m.distinct() == 10 })
		m.leave()
		for _, e := range m.told() {
			if x, ok := e.(engine.SentBack); ok && x.Target != "fallback" {
				t.Errorf("sendback_ok = %+v, want the fallback", x)
			}
		}
		checkCommitted(t, tg, group, topic)
	})
}

// Messages that can be sent back in no way are handed out again after 5 s,
// together, without a limit; they stay cached and are counted (trap T25).
func TestLocalRetry(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 8)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.ConsumerSendMsgBack || code == protocol.SendMessageV2 {
				f.Code = protocol.SystemBusy
			}
			return f
		})
		var mu sync.Mutex // guards what follows
		var sizes []int
		var times []time.Time
		var healed atomic.Bool
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() != 0 || healed.Load() {
				return engine.ConsumeSuccess, nil
			}
			mu.Lock()
			defer mu.Unlock()
			sizes, times = append(sizes, len(msgs)), append(times, time.Now())
			return engine.ReconsumeLater, nil
		}, batches(4), func(o *engine.Options) { o.MaxReconsumeTimes = 2 })
		tries := func() int { mu.Lock(); defer mu.Unlock(); return len(times) }
		m.until("more tries than the limit", func() bool { return tries() >= 4 })
		time.Sleep(time.Second)
		held, err := m.Held(t.Context(), mq, 10)
		if err != nil || len(held) < 1 || held[0].Retries != 4 || held[0].Stage.String() != "cached" {
			t.Errorf("held: %+v, %v, want 4 retries", held, err)
		}
		m.until("it is shown", func() bool { return snapOf(m, mq).LocalRetry == 4 && snapOf(m, mq).CachedDone == 4 })
		if s, all := snapOf(m, mq), m.Snapshot().Totals.LocalRetries; s.CommittedOffset != 0 || all != 16 {
			t.Errorf("committed %d, retries in all %d, want 0, 16", s.CommittedOffset, all)
		}
		healed.Store(true)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 8 })
		for i := range times {
			if sizes[i] != 4 || i > 0 && times[i].Sub(times[i-1]) != 5*time.Second {
				t.Errorf("tries of %v messages at %v, want 4 each 5 s", sizes, times)
				break
			}
		}
		e := untilEvent[engine.RetryLocal](m, "it is told", nil)
		if e.Count != 4 || e.First != 0 || e.DelayMS != 5000 {
			t.Errorf("retry_local = %+v", e)
		}
	})
}

// Broadcasting discards what failed: nothing is sent back, and the offset moves on
// (the Go client keeps it for ever).
func TestBroadcastingDiscardsFailures(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		m := join(t, tg, group, topic, listen(func(*engine.Message, *engine.ConsumeContext) engine.Status { return engine.ReconsumeLater }),
			func(o *engine.Options) { o.MessageModel = protocol.Broadcasting })
		mq := queueOf(m, topic, 0)
		m.until("the offset is at the end", func() bool { return snapOf(m, mq).CommittedOffset == 10 })
		if s := snapOf(m, mq); s.CachedCount != 0 || s.Failed != 10 || s.SentBack != 0 {
			t.Errorf("cached %d, failed %d, sent back %d, want 0, 10, 0", s.CachedCount, s.Failed, s.SentBack)
		}
		if n := count[engine.ConsumeFailed](m, nil); n != 10 {
			t.Errorf("%d failures were told, want 10", n)
		}
	})
}

// Calls are told to who asks for them, and to nobody else.
func TestCallEvents(t *testing.T) {
	for name, mode := range map[string]change{"concurrent": func(*engine.Options) {}, "orderly": orderly} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				m := join(t, tg, group, topic, func(_ context.Context, _ []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
					time.Sleep(20 * time.Millisecond)
					return engine.ConsumeSuccess, nil
				}, mode, batches(3), threads(1))
				awaitHeld(m, topic, 1)
				calls := m.SubscribeCalls(64)
				tg.Produce(t, topic, 5)
				var begun engine.ConsumeBegin
				next := int64(0)
				for next < 5 {
					events, _, err := calls.Next(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range events {
						switch e := e.(type) {
						case engine.ConsumeBegin:
							if begun = e; e.First != next || e.Last != next+int64(e.Count)-1 {
								t.Errorf("consume_begin = %+v, want it from %d on", e, next)
							}
						case engine.ConsumeEnd:
							status := strings.TrimPrefix(e.Status, "CONSUME_")
							if e.First != next || e.Last != begun.Last || e.Count != begun.Count || status != "SUCCESS" || e.ReturnType != "SUCCESS" ||
								e.RTMS != 20 || e.AckIndex != e.Count-1 || e.Time.Sub(begun.Time) != 20*time.Millisecond {
								t.Errorf("consume_end = %+v after %+v", e, begun)
							}
							next = e.Last + 1
						}
					}
				}
				calls.Close()
				tg.Produce(t, topic, 5)
				m.until("all", func() bool { return m.distinct() == 10 })
				m.leave()
				if n := count[engine.ConsumeBegin](m, nil) + count[engine.ConsumeEnd](m, nil); n != 0 {
					t.Errorf("%d calls were told to who did not ask", n)
				}
			})
		})
	}
}

// A group without retry queues retries nothing: the brokers take what is sent back
// and throw it away, and say that all is well (docs/conformance/concurrent.md 5.2).
func TestGroupWithoutRetryQueues(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		c := tg.Client(t, nil)
		for _, addr := range tg.Masters(t) {
			body := fmt.Appendf(nil, `{"groupName":%q,"consumeEnable":true,"consumeFromMinEnable":true,"consumeBroadcastEnable":true,"retryQueueNums":0,"retryMaxTimes":16}`, group)
			if _, err := c.Invoke(t.Context(), addr, &protocol.Command{Code: 200, Body: body}); err != nil {
				t.Fatal(err)
			}
		}
		tg.Produce(t, topic, 1)
		m := join(t, tg, group, topic, listen(func(_ *engine.Message, cc *engine.ConsumeContext) engine.Status {
			cc.DelayLevelWhenNextConsume = -1
			return engine.ReconsumeLater
		}))
		mq := queueOf(m, topic, 0)
		m.until("the offset moves on", func() bool { return snapOf(m, mq).CommittedOffset == 1 })
		untilEvent(m, "it is told as sent", func(e engine.SentBack) bool { return e.Target == "dlq" })
		if _, err := c.Route(t.Context(), protocol.DLQTopic(group)); err == nil {
			t.Error("there are dead letters")
		}
	})
}

// As many calls run at once as ConsumeThreadMin says, whatever the maximum is, as in
// the reference, whose pool grows only when its list of tasks is full, and that has
// no limit (docs/conformance/concurrent.md 1).
func TestThreads(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 200)
		var o calls
		m := join(t, tg, group, topic, o.around(takes(100*time.Millisecond)), func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax = 3, 20 })
		m.until("all", func() bool { return m.distinct() == 200 })
		if n := o.most.Load(); n != 3 {
			t.Errorf("%d calls at once, want 3", n)
		}
	})
}
