package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// pullsOf collects the headers of the pulls of a topic with their times.
type pullsOf struct {
	topic string

	mu   sync.Mutex // guards what follows
	list []protocol.PullMessageRequestHeader
	at   []time.Time
}

func (p *pullsOf) see(req *protocol.Command) {
	var h protocol.PullMessageRequestHeader
	if protocol.RequestCode(req.Code) != protocol.PullMessage || protocol.DecodeFields(req.ExtFields, &h) != nil || h.Topic != p.topic {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list, p.at = append(p.list, h), append(p.at, time.Now())
}

func (p *pullsOf) all() ([]protocol.PullMessageRequestHeader, []time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list), slices.Clone(p.at)
}

// What a pull asks for (docs/conformance/pull.md 4). No commit rides on it: brokers
// serve pulls and commits on different threads.
func TestPullRequest(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 100)
		w := newWire(tg)
		pulls := &pullsOf{topic: topic}
		w.onRequest(pulls.see)
		m := joinOver(t, tg, w, group, topic, nil)
		mq := queueOf(m, topic, 0)
		awaitCommit(m, topic, 100)
		tg.Produce(t, topic, 10)
		awaitCommit(m, topic, 110)
		m.until("the pull behind it", func() bool {
			list, _ := pulls.all()
			return list[len(list)-1].QueueOffset == 110
		})
		m.leave()
		version := m.Snapshot().Topics[0].SubVersion
		list, _ := pulls.all()
		next := int64(0)
		for _, h := range list {
			want := protocol.PullMessageRequestHeader{
				ConsumerGroup: group, Topic: topic, QueueID: 0, QueueOffset: h.QueueOffset, MaxMsgNums: 32, SysFlag: protocol.PullSuspend,
				SuspendTimeout: 15 * time.Second, SubVersion: version, ExpressionType: protocol.ExpressionTAG, MaxMsgBytes: 262144, BrokerName: mq.BrokerName,
			}
			if h != want {
				t.Errorf("pull %+v, want %+v", h, want)
			}
			if h.QueueOffset < next {
				t.Errorf("pull at %d after one at %d", h.QueueOffset, next)
			}
			next = h.QueueOffset
		}
		if next != 110 {
			t.Errorf("the last pull was at %d, want 110", next)
		}
	})
}

// A queue has one pull under way at a time, and another queue's does not wait for it.
func TestOnePullAQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		var mu sync.Mutex
		under, most, all := map[int32]int{}, 0, 0
		w := newWire(tg)
		count := func(req *protocol.Command, d int) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(req.Code) != protocol.PullMessage || protocol.DecodeFields(req.ExtFields, &h) != nil || h.Topic != topic {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			under[h.QueueID] += d
			most = max(most, under[h.QueueID])
			n := 0
			for _, k := range under {
				n += k
			}
			all = max(all, n)
		}
		w.onRequest(func(req *protocol.Command) { count(req, 1) })
		w.onAnswer(func(req, _ *protocol.Command) []byte { count(req, -1); return nil })
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.PullMessage {
				f.Delay = 30 * time.Millisecond
			}
			return f
		})
		m := joinOver(t, tg, w, group, topic, nil)
		awaitHeld(m, topic, 4)
		tg.Produce(t, topic, 2000)
		m.until("all", func() bool { return m.distinct() == 2000 })
		mu.Lock()
		defer mu.Unlock()
		if most != 1 || all != 4 {
			t.Errorf("%d pulls of a queue and %d in all at a time, want 1 and 4", most, all)
		}
	})
}

// Every answer that is no pull status is tried again after its own delay, is told
// once, and moves nothing (docs/conformance/pull.md 5.4).
func TestRefusedPulls(t *testing.T) {
	for code, tt := range map[protocol.ResponseCode]struct {
		delay            time.Duration
		heartbeat, route bool // asked for at once
	}{
		protocol.SystemError:               {time.Second, false, false},
		protocol.SystemBusy:                {time.Second, false, false},
		protocol.NoPermission:              {time.Second, false, false},
		protocol.TopicNotExist:             {time.Second, false, true},
		protocol.SubscriptionNotExist:      {time.Second, true, false},
		protocol.SubscriptionNotLatest:     {time.Second, true, false},
		protocol.SubscriptionGroupNotExist: {time.Second, false, false},
		protocol.FilterDataNotExist:        {time.Second, true, false},
		protocol.FilterDataNotLatest:       {time.Second, true, false},
		protocol.FlowControl:               {20 * time.Millisecond, false, false},
	} {
		t.Run(code.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 1), tg.Group(t)
				m := join(t, tg, group, topic, nil)
				mq := queueOf(m, topic, 0)
				tg.Produce(t, topic, 5)
				awaitCommit(m, topic, 5)
				time.Sleep(8 * time.Second) // between two heartbeats and two looks at the routes
				var refusing atomic.Bool
				var beats, routes atomic.Int32
				var pulls []time.Time
				refusing.Store(true)
				tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
					switch protocol.RequestCode(r.Command.Code) {
					case protocol.HeartBeat:
						beats.Add(1)
					case protocol.GetRouteInfoByTopic:
						routes.Add(1)
					case protocol.PullMessage:
						var h protocol.PullMessageRequestHeader
						if protocol.DecodeFields(r.Command.ExtFields, &h) == nil && h.Topic == topic && refusing.Load() {
							pulls = append(pulls, time.Now()) // on the sandbox's goroutine
							f.Code, f.Remark = code, "not now"
						}
					}
					return f
				})
				tg.Produce(t, topic, 1) // ends the pull that is held; the next is refused
				time.Sleep(3*time.Second + 10*time.Millisecond)
				m.until("the refusal is seen, and that it moved nothing", func() bool {
					q := snapOf(m, mq)
					return q.CommittedOffset == 6 && q.NextOffset == 6 && q.LastStatus == code.String()
				})
				refusing.Store(false)
				synctest.Wait() // the sandbox's goroutine is done with pulls
				if n := len(pulls); n < 4 {
					t.Fatalf("%d pulls were refused in 3 s", n)
				}
				for i := 1; i < len(pulls); i++ {
					if got := pulls[i].Sub(pulls[i-1]); got != tt.delay {
						t.Errorf("pulled again after %v, want %v", got, tt.delay)
						break
					}
				}
				if got := beats.Load() > 0; got != tt.heartbeat {
					t.Errorf("a heartbeat was sent: %v, want %v", got, tt.heartbeat)
				}
				if got := routes.Load() > 0; got != tt.route {
					t.Errorf("a route was asked for: %v, want %v", got, tt.route)
				}
				tg.Produce(t, topic, 5)
				awaitCommit(m, topic, 11)
				told := count(m, func(e engine.PullError) bool { return e.MQ == mq && e.Code == int32(code) && e.DelayMS == 1000 })
				if code == protocol.FlowControl {
					if told != 0 {
						t.Errorf("pull_error was told %d times of flow control", told)
					}
					untilEvent(m, "flow control ends", func(e engine.FlowEnd) bool { return e.Cause == core.FlowBroker && e.Times > 100 })
					return
				}
				if told != 1 {
					t.Errorf("pull_error was told %d times, want once", told)
				}
				e := untilEvent(m, "it recovers", func(e engine.PullRecovered) bool { return e.MQ == mq })
				if e.Errors != int64(len(pulls)) {
					t.Errorf("recovered from %d errors, want %d", e.Errors, len(pulls))
				}
			})
		})
	}
}

// A pull that is not answered within 30 s is given up; on a connection that has
// been silent since, the connection too.
func TestPullTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		mq := queueOf(m, topic, 0)
		awaitHeld(m, topic, 1)
		var dropped time.Time
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(r.Command.Code) == protocol.PullMessage && protocol.DecodeFields(r.Command.ExtFields, &h) == nil && h.Topic == topic && dropped.IsZero() {
				dropped, f.Drop = time.Now(), true
			}
			return f
		})
		tg.Produce(t, topic, 5)
		e := untilEvent(m, "it is given up", func(e engine.PullError) bool { return e.MQ == mq })
		if took := e.Time.Sub(dropped); took != 30*time.Second || !strings.Contains(e.Error, "within 30s") {
			t.Errorf("pull_error %q after %v, want it after 30 s", e.Error, took)
		}
		awaitCommit(m, topic, 5)
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("%d duplicates", d)
		}
	})
}

// The answer to a pull of a queue that was given away meanwhile is nobody's here:
// the reference puts and submits it, and its workers throw it away one by one.
func TestAnswerAfterTheDrop(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		onFault(tg, func(code protocol.RequestCode, clientID string) (f sandbox.Fault) {
			if code == protocol.PullMessage && clientID == "z@1" {
				f.Delay = 5 * time.Second
			}
			return f
		})
		z := join(t, tg, group, topic, nil, named("z@1"))
		awaitHeld(z, topic, 1)
		tg.Produce(t, topic, 10)
		a := join(t, tg, group, topic, nil, named("a@1")) // sorts first, so it gets the one queue
		a.until("all", func() bool { return a.distinct() == 10 })
		time.Sleep(20 * time.Second)
		z.leave()
		a.leave()
		if n := z.distinct(); n != 0 {
			t.Errorf("%d messages were delivered by the old owner", n)
		}
		if n := count[engine.ConsumeDiscarded](z, nil); n != 0 {
			t.Errorf("%d batches were discarded: the answer was put", n)
		}
		checkOnce(t, a, z)
		checkCommitted(t, tg, group, topic)
	})
}

// PullInterval is the pause after a pull that found messages, and after no other.
func TestPullInterval(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		for range 4 {
			tg.Produce(t, topic, 32)
		}
		tg.Produce(t, topic, 1000, tagged("other"))
		w := newWire(tg)
		pulls := &pullsOf{topic: topic}
		w.onRequest(pulls.see)
		m := joinOver(t, tg, w, group, topic, nil, func(o *engine.Options) { o.PullInterval = 300 * time.Millisecond })
		m.until("all", func() bool { return m.distinct() == 1128 })
		m.leave()
		list, at := pulls.all()
		for i := 1; i < len(list); i++ {
			if got := at[i].Sub(at[i-1]); list[i].QueueOffset > list[i-1].QueueOffset && got != 300*time.Millisecond {
				t.Errorf("pulled at %d %v after %d, want 300 ms", list[i].QueueOffset, got, list[i-1].QueueOffset)
			}
		}

		filtered := &pullsOf{topic: topic}
		w.onRequest(filtered.see)
		m = joinOver(t, tg, w, tg.Group(t), topic, nil, subscribed("none"), func(o *engine.Options) { o.PullInterval = 300 * time.Millisecond })
		awaitCommit(m, topic, 1128)
		list, at = filtered.all()
		if took := at[len(at)-1].Sub(at[0]); len(list) < 3 || took > 100*time.Millisecond {
			t.Errorf("%d pulls that matched nothing took %v, want them at once", len(list), took)
		}
	})
}

// The size limit is in whole MiB and strict: one MiB and a part of the next pass
// a limit of 1, two do not.
func TestSizeFlowControl(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		for range 300 {
			tg.Sandbox.Put(sandbox.Message{Topic: topic, Body: make([]byte, 20_000)})
		}
		m := join(t, tg, group, topic, takes(10*time.Millisecond), func(o *engine.Options) {
			o.PullThresholdSizeForQueue, o.ConsumeThreadMin, o.ConsumeThreadMax = 1, 1, 1
		})
		begin := untilEvent[engine.FlowBegin](m, "flow control", nil)
		if begin.Cause != core.FlowSize || begin.Limit != 1 || begin.Value != 2 {
			t.Errorf("flow_begin = %+v, want size, 2 over 1", begin)
		}
		var most int64
		m.until("all", func() bool {
			most = max(most, snapOf(m, engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}).CachedBytes)
			return m.distinct() == 300
		})
		if most>>20 > 2 {
			t.Errorf("%d bytes were cached: more than the limit and one pull", most)
		}
		untilEvent(m, "its end", func(e engine.FlowEnd) bool { return e.Cause == core.FlowSize })
	})
}

// A pause that stops a queue's pulls is told once a pause.
func TestPullSuspendedIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		mq := queueOf(m, topic, 0)
		awaitHeld(m, topic, 1)
		for n := 1; n <= 2; n++ {
			if err := m.Pause(t.Context(), engine.PauseRequest{By: "test"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute) // 60 looks, 1 s apart
			if got := count(m, func(e engine.PullSuspended) bool { return e.MQ == mq && e.DelayMS == 1000 }); got != n {
				t.Errorf("told %d times in %d pauses", got, n)
			}
			if err := m.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			tg.Produce(t, topic, 1)
			m.until("the message", func() bool { return m.distinct() == n })
			if took := time.Since(began); took > 200*time.Millisecond {
				t.Errorf("the first message came %v after the resume", took)
			}
		}
	})
}

// Messages that a broker has deleted under a reader are passed over, told with
// how far, and the offset moves; the answers of both lines are those of real brokers.
func TestMessagesExpire(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		w := newWire(tg)
		m := joinOver(t, tg, w, group, topic, nil)
		tg.Produce(t, topic, 10)
		awaitCommit(m, topic, 10)
		var once sync.Once
		w.onAnswer(func(req, answer *protocol.Command) (frame []byte) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(req.Code) == protocol.PullMessage && protocol.DecodeFields(req.ExtFields, &h) == nil && h.Topic == topic && h.QueueOffset == 10 {
				once.Do(func() {
					out := *answer
					out.Code, out.Body, out.Remark = int32(protocol.PullRetryImmediately), nil, "MESSAGE_WAS_REMOVING"
					frame = field(&out, "nextBeginOffset", "17")
				})
			}
			return frame
		})
		var more []sandbox.Message
		for range 20 {
			more = append(more, sandbox.Message{Topic: topic, Body: []byte("x")})
		}
		tg.Sandbox.Put(more...) // at once: the pull that is held gets them all
		e := untilEvent[engine.MessagesExpired](m, "it is told", nil)
		if e.From != 10 || e.To != 17 || e.MQ.Topic != topic {
			t.Errorf("messages_expired = %+v, want 10 to 17", e)
		}
		awaitCommit(m, topic, 30)
		m.leave()
		if m.distinct() != 23 {
			t.Errorf("%d messages, want 10 and 13", m.distinct())
		}
		if n := count[engine.MessagesExpired](m, nil); n != 1 {
			t.Errorf("told %d times", n)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// What is cached when the queue's beginning expires behind it is consumed all the
// same; the reference drops it with its queue, and nobody gets it.
func TestExpiryKeepsWhatIsCached(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 30)
		m := join(t, tg, group, topic, takes(100*time.Millisecond), func(o *engine.Options) {
			o.PullThresholdForQueue, o.PullBatchSize, o.ConsumeThreadMin, o.ConsumeThreadMax = 10, 10, 1, 1
		})
		m.until("flow control", func() bool { q := snapOf(m, mq); return q.Flow == core.FlowCount && q.NextOffset == 20 })
		tg.Sandbox.Truncate(mq, 25)
		e := untilEvent[engine.MessagesExpired](m, "it is told", nil)
		if e.From != 20 || e.To != 25 {
			t.Errorf("messages_expired = %+v, want 20 to 25", e)
		}
		awaitCommit(m, topic, 30)
		m.leave()
		if got, want := m.order[mq], append(fromTo(0, 20), fromTo(25, 30)...); !slices.Equal(got, want) {
			t.Errorf("delivered %v, want %v", got, want)
		}
		if n := count[engine.OffsetIllegal](m, nil); n != 0 {
			t.Errorf("%d resets", n)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// An offset that is beyond the queue's end is corrected by the broker: told with
// what was asked and what is right, persisted, and pulled from.
func TestOffsetBeyondTheEnd(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10)
		first := join(t, tg, group, topic, nil)
		awaitCommit(first, topic, 10)
		mq := queueOf(first, topic, 0)
		first.leave()
		c := tg.Client(t, nil)
		if _, err := c.Route(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 15); err != nil {
			t.Fatal(err)
		}
		m := join(t, tg, group, topic, nil)
		e := untilEvent(m, "the correction", func(e engine.OffsetIllegal) bool { return e.MQ == mq })
		if e.Requested != 15 || e.Corrected != 10 || e.MaxOffset != 10 {
			t.Errorf("offset_illegal = %+v, want 15 corrected to 10", e)
		}
		tg.Produce(t, topic, 5)
		m.until("the new ones", func() bool { return m.distinct() >= 5 })
		m.leave()
		if m.distinct() != 5 {
			t.Errorf("%d messages, want the five new ones", m.distinct())
		}
		checkCommitted(t, tg, group, topic)
	})
}

// The messages of an inner batch (5.x, queue.type=BatchCQ) are delivered one by
// one, and an offset within a batch begins there.
func TestInnerBatches(t *testing.T) {
	// Only 5.x brokers have such topics.
	sandboxtest.RunIn(t, sandboxtest.Real&sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1)+"-b", tg.Group(t)
		c := tg.Client(t, nil)
		h := protocol.CreateTopicRequestHeader{Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermRead | protocol.PermWrite}
		for _, addr := range tg.Masters(t) {
			fields := append(protocol.EncodeFields(&h), protocol.ExtField{Key: "attributes", Value: "+queue.type=BatchCQ"})
			if _, err := c.Invoke(t.Context(), addr, &protocol.Command{Code: int32(protocol.UpdateAndCreateTopic), ExtFields: fields}); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { deleteTopic(t, tg, topic) })
		tg.AwaitRoute(t, topic, 1)
		route, err := c.Route(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		mq := route.Queues[0]
		for k := range 3 {
			var items []protocol.BatchItem
			for i := range 5 {
				items = append(items, protocol.BatchItem{Body: fmt.Appendf(nil, "%d/%d", k, i), Properties: []protocol.Property{tagged([]string{"x", "y"}[i%2])}})
			}
			tg.SendInnerBatch(t, c, mq, fmt.Sprintf("7F00000100002A9F00000000000000%02X", k), items...)
		}
		tg.AwaitOffset(t, mq, 15)
		m := join(t, tg, group, topic, nil)
		awaitCommit(m, topic, 15)
		m.leave()
		if got := m.order[mq]; !slices.Equal(slices.Sorted(slices.Values(got)), fromTo(0, 15)) {
			t.Errorf("delivered %v, want 0 to 14, once", got)
		}
		p := pullFrom(t, tg, nil, nil) // not by a tag: brokers look at the batch's own
		p.AssignAt(mq, 7)
		var bodies []string
		records := map[int64]bool{}
		p.until("the end", func(r engine.Polled) bool {
			for i := range r.Messages {
				b, _ := r.Messages[i].Body()
				bodies = append(bodies, string(b))
				records[r.Messages[i].CommitLogOffset()] = true
			}
			return r.Next == 15
		})
		if want := []string{"1/2", "1/3", "1/4", "2/0", "2/1", "2/2", "2/3", "2/4"}; !slices.Equal(bodies, want) {
			t.Errorf("from 7 on: %v, want %v", bodies, want)
		}
		if len(records) != 2 {
			t.Errorf("they come from %d records, want the last two batches", len(records))
		}
	})
}

// On a broker that deletes its log under a slow reader, every message that does
// not come is told as expired, by either of the two answers that brokers have for
// it, and none comes twice.
func TestExpiredMessagesAreTold(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		hours := make([]string, 24)
		for h := range hours {
			hours[h] = fmt.Sprintf("%02d", h)
		}
		tg := own.Up(t, "broker", "mappedFileSizeCommitLog=1048576", "mappedFileSizeConsumeQueue=20000", "fileReservedTime=0",
			"deleteWhen="+strings.Join(hours, ";"), "cleanResourceInterval=2000", "deleteCommitLogFilesInterval=10")
		topic, group := tg.Topic(t, 1), tg.Group(t)
		slow := func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		}
		m := join(t, tg, group, topic, slow, func(o *engine.Options) {
			o.PullThresholdForQueue, o.ConsumeThreadMin, o.ConsumeThreadMax = 16, 1, 1
		})
		mq := queueOf(m, topic, 0)
		awaitHeld(m, topic, 1)
		if err := m.Pause(t.Context(), engine.PauseRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		c := tg.Client(t, nil)
		if _, err := c.Route(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		items := make([]protocol.BatchItem, 64)
		for i := range items {
			items[i].Body = make([]byte, 4000)
		}
		var end int64
		produce := func() {
			r := sandboxtest.Send(t, c, mq, items...)
			end = r.QueueOffset + int64(len(items))
		}
		for range 20 {
			produce()
		}
		// Brokers delete nothing in their first minute.
		for limit := time.Now().Add(3 * time.Minute); ; {
			if lo, err := c.MinOffset(t.Context(), mq); err == nil && lo > 0 {
				break
			}
			if time.Now().After(limit) {
				t.Fatal("the broker deletes nothing")
			}
			<-time.After(200 * time.Millisecond)
		}
		if err := m.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		for range 60 { // more than is read meanwhile
			produce()
			<-time.After(50 * time.Millisecond)
		}
		awaitCommit(m, topic, end)
		m.leave()
		told := map[int64]bool{}
		for _, e := range m.told() {
			from, to := int64(0), int64(0)
			switch e := e.(type) {
			case engine.MessagesExpired:
				from, to = e.From, e.To
			case engine.OffsetIllegal:
				from, to = e.Requested, e.Corrected
			}
			for ; from < to; from++ {
				told[from] = true
			}
		}
		missing := 0
		for o := range end {
			switch n := m.seen[at{mq, o}]; {
			case n == 0 && !told[o]:
				t.Fatalf("the message at %d did not come, and nothing was told of it", o)
			case n == 0:
				missing++
			case n > 1:
				t.Errorf("the message at %d came %d times", o, n)
			}
		}
		if missing == 0 {
			t.Error("no message expired: the test has shown nothing")
		}
	})
}

// The offsets of an answer's messages are shifted by what the answer says (5.x).
func TestOffsetDelta(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 5)
		w := newWire(tg)
		breakNext(w, topic, 0, func(_ *protocol.PullMessageRequestHeader, a *protocol.Command) []byte {
			out := *a
			out.ExtFields = append(out.ExtFields, protocol.ExtField{Key: "offsetDelta", Value: "7"})
			return field(&out, "nextBeginOffset", "12")
		})
		// The broker knows no offset 12, and its correction would take away what is not
		// consumed yet.
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.PullMessage {
				f.Delay = time.Second
			}
			return f
		})
		m := joinOver(t, tg, w, group, topic, nil)
		m.until("all", func() bool { return m.distinct() >= 5 })
		if got := m.order[queueOf(m, topic, 0)]; !slices.Equal(got[:5], fromTo(7, 12)) {
			t.Errorf("delivered %v, want 7 to 11", got)
		}
	})
}
