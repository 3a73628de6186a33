package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// createTopic makes or widens a topic on every master.
func createTopic(t *testing.T, tg *sandboxtest.Target, topic string, queues int32) {
	t.Helper()
	c := tg.Client(t, nil)
	for _, addr := range tg.Masters(t) {
		h := &protocol.CreateTopicRequestHeader{Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: queues, WriteQueueNums: queues,
			Perm: protocol.PermRead | protocol.PermWrite}
		if err := c.CreateTopic(t.Context(), addr, h); err != nil {
			t.Fatal(err)
		}
	}
}

// Queues that are added to a topic while it is consumed are taken and consumed
// within a route's age and a pass.
func TestQueuesAddedToATopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		brokers := len(tg.Masters(t))
		awaitHeld(m, topic, 4*brokers)
		createTopic(t, tg, topic, 8)
		began := time.Now()
		untilEvent(m, "the route is another", func(e engine.RouteChanged) bool { return e.Topic == topic && e.ReadQueues == 8*brokers })
		awaitHeld(m, topic, 8*brokers)
		if took := time.Since(began); tooLong(tg, took, remoting.RouteMaxAge+25*time.Second) {
			t.Errorf("the new queues were taken after %v", took)
		}
		tg.AwaitRoute(t, topic, 8*brokers)
		tg.Produce(t, topic, 80)
		m.until("the messages of all queues", func() bool { return m.distinct() == 80 })
		mq := queueOf(m, topic, 7)
		if len(m.order[mq]) == 0 {
			t.Errorf("nothing came from %v", mq)
		}
	})
}

// A broker that is added to a cluster is found, and its queues are consumed
// without a restart.
func TestBrokerAdded(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		sb := sandboxtest.Start(t, sandboxtest.Line(tg.Line), sandboxtest.Brokers("broker-a", "broker-b"))
		two := &sandboxtest.Target{Name: tg.Name, Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: tg.Line, Sandbox: sb}
		sb.StopBroker("broker-b")
		sb.CreateTopic("orders", 4)
		m := join(t, two, "g", "orders", nil)
		awaitHeld(m, "orders", 4)
		sb.StartBroker("broker-b")
		sb.CreateTopic("orders", 4)
		awaitHeld(m, "orders", 8)
		for id := range int32(4) {
			for range 5 {
				sb.Put(sandbox.Message{Topic: "orders", Broker: "broker-b", QueueID: id, Body: []byte("x")})
			}
		}
		m.until("its messages", func() bool { return m.distinct() == 20 })
	})
}

// A member list that cannot be had, or is empty, or names others only, leaves the
// allocation as it is; the second list in a row without this client is believed
// (trap T40).
func TestBadMemberListsChangeNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		fault sandbox.Fault
		cause string
		drops bool
	}{
		"error":      {sandbox.Fault{Code: protocol.SystemError, Remark: "broken"}, "no members", false},
		"no answer":  {sandbox.Fault{Drop: true}, "no members", false},
		"empty list": {sandbox.Fault{Code: protocol.SystemError, Remark: "no consumer for this group, g"}, "self missing", false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 4), tg.Group(t)
				m := join(t, tg, group, topic, nil)
				awaitHeld(m, topic, 4)
				onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault {
					if code == protocol.GetConsumerListByGroup {
						return tt.fault
					}
					return sandbox.Fault{}
				})
				skipped := untilEvent(m, "the pass is given up", func(e engine.RebalanceSkipped) bool { return e.Topic == topic })
				if skipped.Cause != tt.cause || skipped.Error == "" {
					t.Errorf("rebalance_skipped %+v, want cause %q", skipped, tt.cause)
				}
				time.Sleep(time.Minute)
				tg.Produce(t, topic, 40)
				m.until("all messages", func() bool { return m.distinct() == 40 })
				tg.Sandbox.SetFault(nil)
				time.Sleep(time.Minute)
				if n := count[engine.QueueDropped](m, nil); n != 0 || held(m, topic) != 4 {
					t.Errorf("%d queues were dropped, %d are held", n, held(m, topic))
				}
			})
		})
	}
}

// A broker that lists others only is asked again after a heartbeat; a second list
// without this client is believed, and its queues are given away.
func TestSelfMissingTwiceIsBelieved(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		addr := tg.Masters(t)["broker-a"]
		c := tg.Client(t, nil)
		m := join(t, tg, group, topic, nil, named("m@1"))
		awaitHeld(m, topic, 4)
		// Its heartbeats do not arrive any more, and it is taken out of the group.
		onFault(tg, func(code protocol.RequestCode, client string) sandbox.Fault {
			return sandbox.Fault{Drop: code == protocol.HeartBeat && client == "m@1"}
		})
		other := &protocol.HeartbeatData{ClientID: "other@1", ConsumerDataSet: []protocol.ConsumerData{{GroupName: group,
			ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromFirstOffset}}}
		if _, err := c.Heartbeat(t.Context(), addr, other); err != nil {
			t.Fatal(err)
		}
		if err := m.client.Unregister(t.Context(), addr, protocol.UnregisterClientRequestHeader{ClientID: "m@1", ConsumerGroup: group}); err != nil {
			t.Fatal(err)
		}
		untilEvent(m, "it is told", func(e engine.RebalanceSkipped) bool { return e.Cause == "self missing" })
		if n := count[engine.QueueDropped](m, nil); n != 0 {
			t.Errorf("%d queues were dropped by the first list", n)
		}
		awaitHeld(m, topic, 0)
		tg.Sandbox.SetFault(nil)
		awaitHeld(m, topic, 2) // the other one keeps its share
	})
}

// The triggers of a pass and their timing (docs/conformance/rebalance.md 1).
func TestRebalanceTriggers(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		m := join(t, tg, group, topic, nil, named("m@1"))
		awaitHeld(m, topic, 4)
		time.Sleep(5 * time.Second)
		passes := func(trigger string) int {
			return count(m, func(e engine.RebalanceBegin) bool { return e.Trigger == trigger })
		}
		if n := passes("start") + passes("members"); n == 0 {
			t.Error("no pass at the start")
		}
		before := passes("periodic")
		time.Sleep(61 * time.Second)
		if n := passes("periodic") - before; n < 2 || n > 4 {
			t.Errorf("%d periodic passes in 61 s, want one in 20 s", n)
		}
		begun := time.Now()
		other := join(t, tg, group, topic, nil, named("n@1"))
		awaitHeld(m, topic, 2)
		if took := time.Since(begun); took > 500*time.Millisecond {
			t.Errorf("members changed: shared after %v", took)
		}
		untilEvent(m, "a pass for the new member", func(e engine.RebalanceBegin) bool { return e.Trigger == "members" && !e.Time.Before(begun) })
		other.leave()
		awaitHeld(m, topic, 4)
		if err := m.Pause(t.Context(), engine.PauseRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		spins := count[engine.RebalanceBegin](m, nil)
		time.Sleep(30 * time.Second)
		if n := count[engine.RebalanceBegin](m, nil) - spins; n > 3 { // trap T13
			t.Errorf("%d passes in 30 s while paused", n)
		}
		if err := m.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		m.until("a pass for the resume", func() bool {
			return slices.ContainsFunc(m.events, func(e engine.Event) bool {
				b, ok := e.(engine.RebalanceBegin)
				return ok && b.Trigger == "resume"
			})
		})
	})
}

// A pass that could not balance is repeated after a second, and then more slowly.
func TestUnbalancedPassIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault {
			if code == protocol.GetConsumerListByGroup {
				return sandbox.Fault{Code: protocol.SystemError, Remark: "broken"}
			}
			return sandbox.Fault{}
		})
		m := join(t, tg, group, topic, nil)
		time.Sleep(30 * time.Second)
		var at []time.Time
		m.mu.Lock()
		m.collect()
		for _, e := range m.events {
			if b, ok := e.(engine.RebalanceBegin); ok && b.Trigger == "retry" {
				at = append(at, b.Time)
			}
		}
		m.mu.Unlock()
		if len(at) < 3 || len(at) > 6 {
			t.Fatalf("%d repeated passes in 30 s", len(at))
		}
		for i, want := range []time.Duration{2 * time.Second, 4 * time.Second} {
			if got := at[i+1].Sub(at[i]); got < want || got > want+500*time.Millisecond {
				t.Errorf("pass %d came after %v, want %v", i+1, got, want)
			}
		}
		tg.Sandbox.SetFault(nil)
		awaitHeld(m, topic, 4)
	})
}

// With several brokers the members are asked for again a second after a broker
// has said that they changed: another may not have known (trap T39).
func TestMembersAreAskedForAgain(t *testing.T) {
	for name, brokers := range map[string][]string{"one broker": {"broker-a"}, "two brokers": {"broker-a", "broker-b"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				sb := sandboxtest.Start(t, sandboxtest.Line(tg.Line), sandboxtest.Brokers(brokers...), sandboxtest.Topic("orders", 4))
				own := &sandboxtest.Target{Name: tg.Name, Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: tg.Line, Sandbox: sb}
				a := join(t, own, "g", "orders", nil)
				awaitHeld(a, "orders", 4*len(brokers))
				time.Sleep(3 * time.Second)
				before := count(a, func(e engine.RebalanceBegin) bool { return e.Trigger == "recheck" })
				b := join(t, own, "g", "orders", nil)
				awaitHeld(b, "orders", 2*len(brokers))
				time.Sleep(5 * time.Second)
				got := count(a, func(e engine.RebalanceBegin) bool { return e.Trigger == "recheck" }) - before
				if want := len(brokers) > 1; (got > 0) != want || got > 2 {
					t.Errorf("%d passes to look again, want some: %v", got, want)
				}
				topic := untilEvent(b, "the allocation", func(e engine.RebalanceTopic) bool { return e.Topic == "orders" && len(e.Members) == 2 })
				if topic.MembersFrom == "" || topic.Members[topic.SelfIndex] != b.ClientID() {
					t.Errorf("rebalance_topic %+v, want who named the members and this client's place", topic)
				}
			})
		})
	}
}

// subscriptionWatch notes which subscription versions a broker has heard of, and
// the pulls that come with a later one.
type subscriptionWatch struct {
	mu    sync.Mutex // guards what follows
	heard map[string]int64
	early []string
	pulls map[string][]int64 // versions by topic and queue
}

func (w *subscriptionWatch) see(r sandbox.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch protocol.RequestCode(r.Command.Code) {
	case protocol.HeartBeat:
		if d, err := protocol.DecodeHeartbeatData(r.Command.Body); err == nil {
			for _, c := range d.ConsumerDataSet {
				for _, s := range c.SubscriptionDataSet {
					w.heard[d.ClientID+s.Topic] = max(w.heard[d.ClientID+s.Topic], s.SubVersion)
				}
			}
		}
	case protocol.PullMessage:
		var h protocol.PullMessageRequestHeader
		if protocol.DecodeFields(r.Command.ExtFields, &h) != nil {
			return
		}
		if h.SubVersion > w.heard[r.ClientID+h.Topic] {
			w.early = append(w.early, fmt.Sprintf("%s/%d version %d", h.Topic, h.QueueID, h.SubVersion))
		}
		key := fmt.Sprintf("%s %s/%d", r.ClientID, h.Topic, h.QueueID)
		w.pulls[key] = append(w.pulls[key], h.SubVersion)
	}
}

// An assignment change gives the subscription a later version, which the broker
// hears of before anything is pulled by it, also when a heartbeat is under way at
// that moment (traps T33 and T34).
func TestSubVersionIsToldBeforePulls(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		w := &subscriptionWatch{heard: map[string]int64{}, pulls: map[string][]int64{}}
		tg.Sandbox.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			w.see(r)
			if protocol.RequestCode(r.Command.Code) == protocol.HeartBeat {
				f.Delay = 700 * time.Millisecond
			}
			return f
		})
		a := join(t, tg, group, topic, nil, named("a@1"))
		awaitHeld(a, topic, 4)
		time.Sleep(2 * time.Second)
		first := untilEvent(a, "the change", func(e engine.AssignmentChanged) bool { return e.Topic == topic && len(e.Queues) == 4 })
		b := join(t, tg, group, topic, nil, named("b@1"))
		awaitHeld(b, topic, 2)
		awaitHeld(a, topic, 2)
		second := untilEvent(a, "the other change", func(e engine.AssignmentChanged) bool { return e.Topic == topic && len(e.Queues) == 2 })
		tg.Produce(t, topic, 400)
		a.until("its half", func() bool { return a.distinct() == 200 })
		time.Sleep(2 * time.Second)
		if second.SubVersion <= first.SubVersion {
			t.Errorf("versions %d, then %d", first.SubVersion, second.SubVersion)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.early) > 0 {
			t.Errorf("pulls by a subscription that the broker had not heard of: %v", w.early)
		}
		if got := w.pulls[fmt.Sprintf("a@1 %s/0", topic)]; len(got) == 0 || got[len(got)-1] != second.SubVersion {
			t.Errorf("the kept queue is pulled by versions %v, want %d at last", got, second.SubVersion)
		}
		if n := count(a, func(e engine.PullError) bool { return e.Code != 0 }); n > 0 {
			t.Errorf("%d pulls were refused", n)
		}
	})
}

// Thresholds a topic are divided by the queues of that topic (trap T32), and each
// change of the assignment divides anew.
func TestThresholdsOfATopic(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		one, two, group := tg.Topic(t, 4), tg.Topic(t, 2), tg.Group(t)
		m := join(t, tg, group, one, nil, named("a@1"), func(o *engine.Options) {
			o.Subscriptions = append(o.Subscriptions, engine.Subscription{Topic: two})
			o.PullThresholdForTopic, o.PullThresholdSizeForTopic = 1000, 10
		})
		awaitHeld(m, one, 4)
		for topic, want := range map[string][2]int64{one: {250, 2}, two: {500, 5}} {
			e := untilEvent(m, "thresholds", func(e engine.AssignmentChanged) bool { return e.Topic == topic })
			if got := [2]int64{e.LimitCount, e.LimitSizeMiB}; got != want || e.OldLimitCount != 1000 && e.OldLimitCount != 250 && e.OldLimitCount == want[0] {
				t.Errorf("%s: thresholds %v, want %v (%+v)", topic, got, want, e)
			}
		}
		join(t, tg, group, one, nil, named("b@1"), func(o *engine.Options) {
			o.Subscriptions = append(o.Subscriptions, engine.Subscription{Topic: two})
		})
		e := untilEvent(m, "other thresholds", func(e engine.AssignmentChanged) bool { return e.Topic == one && len(e.Queues) == 2 })
		if e.LimitCount != 500 || e.OldLimitCount != 250 || e.LimitSizeMiB != 5 {
			t.Errorf("assignment_changed %+v, want 250 → 500 messages and 5 MiB", e)
		}
		// What the threshold is for: a queue stops at it.
		release := make(chan struct{})
		topic := tg.Topic(t, 2)
		tg.Produce(t, topic, 600)
		s := join(t, tg, tg.Group(t), topic, func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		}, func(o *engine.Options) { o.PullThresholdForTopic = 100 })
		flow := untilEvent[engine.FlowBegin](s, "flow control", nil)
		if flow.Limit != 50 {
			t.Errorf("flow control at %d messages, want 50", flow.Limit)
		}
		close(release)
	})
}

// A topic that is subscribed to while the engine runs is consumed at once, and one
// that is given up is given away with its offset and its lock (trap T08).
func TestSubscribeWhileRunning(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			one, two, group := tg.Topic(t, 2), tg.Topic(t, 2), tg.Group(t)
			m := join(t, tg, group, one, nil, mode)
			mq := queueOf(m, one, 0)
			awaitHeld(m, one, 2*len(tg.Masters(t)))
			began := time.Now()
			if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: two}); err != nil {
				t.Fatal(err)
			}
			tg.Produce(t, two, 20)
			m.until("the other topic's messages", func() bool { return m.distinct() == 20 })
			if took := time.Since(began); tooLong(tg, took, 10*time.Second) {
				t.Errorf("the other topic came after %v", took)
			}
			tg.Produce(t, one, 20)
			m.until("the first one's", func() bool { return m.distinct() == 40 })
			if err := m.UnsubscribeTopic(t.Context(), one); err != nil {
				t.Fatal(err)
			}
			dropped := about[engine.QueueDropped](m, mq)
			if dropped.Cause != "unsubscribed" {
				t.Errorf("queue_dropped %+v, want unsubscribed", dropped)
			}
			about[engine.QueueRemoved](m, mq)
			awaitHeld(m, one, 0)
			c := tg.Client(t, nil)
			if got, _, err := c.QueryConsumerOffset(t.Context(), group, mq); err != nil || got != int64(len(m.order[mq])) {
				t.Errorf("committed = %d, %v, want %d", got, err, len(m.order[mq]))
			}
			granted, err := c.LockBatch(t.Context(), mq.BrokerName, lockBody(group, "next@1", mq))
			if err != nil || len(granted) != 1 {
				t.Errorf("the next owner is not granted the lock: %v, %v", granted, err)
			}
			giveBack(t, c, group, mq, "next@1")
			if err := m.UnsubscribeTopic(t.Context(), one); err == nil {
				t.Error("a topic was given up twice")
			}
			if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: "no good name"}); err == nil {
				t.Error("a bad topic was subscribed to")
			}
			if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: one}); err != nil {
				t.Fatal(err)
			}
			awaitHeld(m, one, 2*len(tg.Masters(t)))
			tg.Produce(t, one, 20)
			m.until("what came since", func() bool { return m.distinct() == 60 })
			m.leave()
			if d := m.duplicates(); d != 0 {
				t.Errorf("%d duplicates", d)
			}
			checkCommitted(t, tg, group, one)
		}
	})
}

// An expression that is replaced while the engine runs filters what is pulled
// from then on.
func TestReplaceExpressionWhileRunning(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.Subscriptions[0].Expression = "A" })
		mq := queueOf(m, topic, 0)
		tag := func(s string) protocol.Property { return protocol.Property{Name: protocol.PropertyTags, Value: s} }
		awaitHeld(m, topic, 1)
		tg.Produce(t, topic, 5, tag("A"))
		tg.Produce(t, topic, 5, tag("B"))
		m.until("A's", func() bool { return m.distinct() == 5 })
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: topic, Expression: "B"}); err != nil {
			t.Fatal(err)
		}
		// The broker takes the new expression with the heartbeat that follows at once. One
		// with the old may have been under way.
		c, addr := tg.Client(t, nil), tg.Masters(t)[mq.BrokerName]
		sandboxtest.Await(t, "the new expression at the broker", func(ctx context.Context) bool {
			all, err := c.Connections(ctx, addr, group)
			return err == nil && all.SubscriptionTable[topic].SubString == "B"
		})
		tg.Produce(t, topic, 5, tag("A"))
		tg.Produce(t, topic, 5, tag("B"))
		m.until("B's", func() bool { return m.seen[at{mq, 19}] > 0 })
		m.leave()
		if m.seen[at{mq, 10}] > 0 {
			t.Error("a message of the old expression came")
		}
	})
}

// A broker answers by a new expression as soon as it has the heartbeat; what it lets
// through is taken, though its answer to the heartbeat is still on its way, and what it
// let through by the old one is not.
func TestReplacedExpressionTakesAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.Subscriptions[0].Expression = "A" })
		mq := queueOf(m, topic, 0)
		tag := func(s string) protocol.Property { return protocol.Property{Name: protocol.PropertyTags, Value: s} }
		awaitHeld(m, topic, 1)
		tg.Produce(t, topic, 1, tag("A"))
		m.until("the A", func() bool { return m.distinct() == 1 })
		heard := make(chan struct{}, 1)
		onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault {
			if code != protocol.HeartBeat {
				return sandbox.Fault{}
			}
			select {
			case heard <- struct{}{}:
			default:
			}
			return sandbox.Fault{Delay: time.Second}
		})
		if err := m.SubscribeTopic(t.Context(), engine.Subscription{Topic: topic, Expression: "B"}); err != nil {
			t.Fatal(err)
		}
		<-heard
		tg.Produce(t, topic, 1, tag("A"))
		tg.Produce(t, topic, 1, tag("B"))
		m.until("the B", func() bool { return m.seen[at{mq, 2}] > 0 })
		m.leave()
		if m.seen[at{mq, 1}] > 0 {
			t.Error("a message of the old expression came")
		}
	})
}

// Two clients of one id are seen and told by both, and it is told when one is
// gone (trap T41).
func TestSharedClientIDIsTold(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		fast := func(o *engine.Options) { o.RebalanceInterval = 2 * time.Second }
		a := join(t, tg, group, topic, nil, named("same@1"), fast)
		awaitHeld(a, topic, 4*len(tg.Masters(t)))
		b := join(t, tg, group, topic, nil, named("same@1"), fast)
		for _, m := range []*member{a, b} {
			told := untilEvent[engine.ClientIDShared](m, "the other is seen", nil)
			if told.ClientID != "same@1" || len(told.Addresses) != 1 || told.Broker == "" {
				t.Errorf("client_id_shared %+v", told)
			}
		}
		b.leave()
		alone := untilEvent[engine.ClientIDAlone](a, "the other is gone", nil)
		if alone.DurationMS < 5000 {
			t.Errorf("client_id_alone %+v", alone)
		}
		if n := count[engine.ClientIDShared](a, nil); n != 1 {
			t.Errorf("told %d times", n)
		}
	})
}

// A shared client id is told some seconds after it was seen, not with the next
// periodic pass.
func TestSharedClientIDIsToldSoon(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		a := join(t, tg, group, topic, nil, named("same@1"))
		awaitHeld(a, topic, 4)
		began := time.Now()
		join(t, tg, group, topic, nil, named("same@1"))
		told := untilEvent[engine.ClientIDShared](a, "the other is seen", nil)
		if took := told.Time.Sub(began); took > 8*time.Second {
			t.Errorf("told after %v", took)
		}
	})
}

// A member that lost its connection for a moment is not told to share its id with
// its own earlier connection.
func TestReconnectIsNoSharedClientID(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		var cut atomic.Bool
		onFault(tg, func(code protocol.RequestCode, client string) sandbox.Fault {
			return sandbox.Fault{Cut: client == "m@1" && cut.CompareAndSwap(true, false)}
		})
		m := join(t, tg, group, topic, nil, named("m@1"))
		awaitHeld(m, topic, 4)
		for range 5 {
			cut.Store(true)
			time.Sleep(30 * time.Second)
		}
		if n := count[engine.ClientIDShared](m, nil); n != 0 {
			t.Errorf("told %d times that the client id is shared", n)
		}
		awaitHeld(m, topic, 4)
	})
}

// lingering is a connection whose end the other side does not see: the network has kept it,
// and takes what is sent to it.
type lingering struct {
	net.Conn
	closed, drained atomic.Bool
}

func (l *lingering) Close() error {
	l.closed.Store(true)
	return l.SetReadDeadline(time.Unix(1, 0))
}

func (l *lingering) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.closed.Load() && l.drained.CompareAndSwap(false, true) {
		l.SetReadDeadline(time.Time{})
		go io.Copy(io.Discard, l.Conn) // until the test ends
	}
	return n, err
}

// A broker that has not missed an earlier connection of this process, as after it was
// frozen, names its client id twice. Java's members share the queues as if there were one
// more; what they leave is read by this member, and nobody is told of another process.
func TestAnEarlierConnectionReadsItsShareToo(t *testing.T) {
	for name, others := range map[string][]string{"alone": nil, "between others": {"a@1", "z@1"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
				topic, group := tg.Topic(t, 8), tg.Group(t)
				var mu sync.Mutex // guards conns
				var conns []net.Conn
				t.Cleanup(func() { // after the member has left
					for _, c := range conns {
						c.Close()
					}
				})
				kept := *tg
				kept.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
					c, err := tg.Dial(ctx, network, addr)
					if err != nil {
						return nil, err
					}
					mu.Lock()
					defer mu.Unlock()
					conns = append(conns, c)
					return &lingering{Conn: c}, nil
				}
				m := join(t, &kept, group, topic, nil, named("m@1"))
				var rest []*member
				for _, id := range others {
					rest = append(rest, join(t, tg, group, topic, nil, named(id)))
				}
				held := func() (all []engine.MessageQueue) {
					for _, o := range append(rest, m) {
						all = append(all, heldBy(o, topic)...)
					}
					return all
				}
				m.until("all queues are read", func() bool { return len(held()) == 8 })
				before := len(heldBy(m, topic))
				m.client.DropConn(tg.Masters(t)["broker-a"], errors.New("the network is gone"))
				time.Sleep(90 * time.Second) // some passes, of all members
				if ids, _, err := m.client.ConsumerIDs(t.Context(), topic, group); err != nil || len(ids) != 2+len(others) {
					t.Fatalf("the broker names %q, %v", ids, err)
				}
				all := held()
				slices.SortFunc(all, protocol.CompareMessageQueues)
				if n := len(slices.Compact(slices.Clone(all))); n != 8 || len(all) != 8 {
					t.Errorf("read are %v, want each of 8 queues once; this member has %d, before it had %d", all, len(heldBy(m, topic)), before)
				}
				if n := count[engine.ClientIDShared](m, nil); n != 0 {
					t.Errorf("told %d times that the client id is shared", n)
				}
			})
		})
	}
}

// An orderly queue that is given back while it is being given away, since a call
// runs, is taken anew when the call has ended, not two minutes later (trap T05).
func TestQueueGivenBackWhileBusy(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		tg.Produce(t, topic, 5)
		var o calls
		long := func(o *engine.Options) { o.AwaitTermination = time.Minute }
		a := join(t, tg, group, topic, o.around(takes(10*time.Second)), orderly, named("z@1"), long)
		a.until("a call", func() bool { return a.distinct() == 1 })
		b := join(t, tg, group, topic, o.around(takes(10*time.Second)), orderly, named("a@1"), long)
		about[engine.QueueDropped](a, mq)
		time.Sleep(time.Second)
		b.leave()
		began := time.Now()
		a.until("the next call", func() bool { return a.distinct() == 2 })
		if took := time.Since(began); took > 12*time.Second {
			t.Errorf("it goes on after %v, the call ended within 9 s", took)
		}
		a.until("all", func() bool { return a.distinct() == 5 })
		if d := a.duplicates(); d != 0 || o.most.Load() > 1 {
			t.Errorf("%d duplicates, %d calls at once", d, o.most.Load())
		}
	})
}

// A topic that nobody may read any more keeps its queues: the strategies refuse an
// empty list, and the allocation stays.
func TestUnreadableTopicKeepsItsQueues(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 4)
		c := tg.Client(t, nil)
		perm := func(perm int32) {
			h := &protocol.CreateTopicRequestHeader{Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 4, WriteQueueNums: 4, Perm: perm}
			if err := c.CreateTopic(t.Context(), tg.Masters(t)["broker-a"], h); err != nil {
				t.Fatal(err)
			}
		}
		perm(protocol.PermWrite)
		skipped := untilEvent(m, "the pass is given up", func(e engine.RebalanceSkipped) bool { return e.Topic == topic })
		if skipped.Cause != "strategy error" {
			t.Errorf("rebalance_skipped %+v", skipped)
		}
		if n := count[engine.QueueDropped](m, nil); n != 0 {
			t.Errorf("%d queues were dropped", n)
		}
		perm(protocol.PermRead | protocol.PermWrite)
		time.Sleep(time.Minute)
		tg.Produce(t, topic, 8)
		m.until("it is read again", func() bool { return m.distinct() == 8 })
	})
}

// While a third member comes and goes, and a question for the members fails now and
// then, nothing is lost and each change is told.
func TestThirdMemberComesAndGoes(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		a, b := join(t, tg, group, topic, nil), join(t, tg, group, topic, nil)
		brokers := len(tg.Masters(t))
		awaitHeld(a, topic, 4*brokers)
		awaitHeld(b, topic, 4*brokers)
		if tg.Sandbox != nil {
			var n atomic.Int32
			onFault(tg, func(code protocol.RequestCode, _ string) sandbox.Fault {
				return sandbox.Fault{Drop: code == protocol.GetConsumerListByGroup && n.Add(1)%7 == 0}
			})
		}
		all := []*member{a, b}
		total := func() (n int) {
			seen := map[at]bool{}
			for _, m := range all {
				m.mu.Lock()
				for k := range m.seen {
					seen[k] = true
				}
				m.mu.Unlock()
			}
			return len(seen)
		}
		sent := 0
		for range 10 {
			third := join(t, tg, group, topic, nil)
			tg.Produce(t, topic, 80)
			sent += 80
			third.until("it has some", func() bool { return held(third, topic) > 0 })
			tg.Produce(t, topic, 80)
			sent += 80
			third.leave()
			all = append(all, third)
		}
		sandboxtest.Await(t, "all messages", func(context.Context) bool { return total() == sent })
		untilEvent(a, "one that left is told", func(e engine.RebalanceTopic) bool { return e.Topic == topic && len(e.Left) > 0 })
		untilEvent(a, "one that joined is told", func(e engine.RebalanceTopic) bool {
			return e.Topic == topic && len(e.Joined) > 0 && len(e.Members) == 3
		})
	})
}

// The same with real brokers, and one of two that is killed and comes back:
// its queues have their owners again and drain, and no member holds a queue of the
// other.
func TestRealBrokerIsAddedAndRestarts(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		tg := own.Up(t, "a")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		slow := func(o *engine.Options) { o.RebalanceInterval = 5 * time.Second }
		a := join(t, tg, group, topic, nil, named("a@1"), slow)
		awaitHeld(a, topic, 4)
		own.Broker(t, "b", tg.Namesrv[0], "brokerName=broker-b")
		createTopic(t, tg, topic, 4)
		awaitHeld(a, topic, 8)
		tg.AwaitRoute(t, topic, 8)
		tg.Produce(t, topic, 40)
		a.until("the messages of both", func() bool { return a.distinct() == 40 })
		b := join(t, tg, group, topic, nil, named("b@1"), slow)
		awaitHeld(a, topic, 4)
		awaitHeld(b, topic, 4)

		own.Kill(t, "b", "broker")
		untilEvent(a, "it is missed", func(e engine.BrokerOffline) bool { return e.Broker == "broker-b" })
		own.Restart(t, "b", "broker")
		for _, m := range []*member{a, b} {
			untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.Broker == "broker-b" && e.DurationMS > 0 })
		}
		awaitHeld(a, topic, 4)
		awaitHeld(b, topic, 4)
		tg.AwaitRoute(t, topic, 8)
		tg.Produce(t, topic, 80)
		a.until("all of them", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return a.distinct()+b.distinct() >= 120
		})
		a.leave()
		b.leave()
		if d := a.duplicates() + b.duplicates(); d > 0 {
			t.Logf("%d messages came twice: a broker that is killed forgets the last commits", d)
		}
	})
}

// A broker that was restarted knows the first member that comes back before the
// others: their queues stay where they are until they are back too.
func TestBrokerRestartMovesNoQueues(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 6), tg.Group(t)
		var all []*member
		for _, id := range []string{"a@1", "b@1", "c@1"} {
			all = append(all, join(t, tg, group, topic, nil, named(id)))
		}
		for _, m := range all {
			awaitHeld(m, topic, 2)
		}
		tg.Produce(t, topic, 60)
		time.Sleep(10 * time.Second)
		// The third one's heartbeat comes two seconds after the broker is back.
		var back atomic.Int64
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if protocol.RequestCode(r.Command.Code) != protocol.HeartBeat || back.Load() == 0 || time.Since(time.Unix(0, back.Load())) > 2*time.Second {
				return sandbox.Fault{}
			}
			d, err := protocol.DecodeHeartbeatData(r.Command.Body)
			return sandbox.Fault{Cut: err == nil && d.ClientID == "c@1"}
		})
		moved := func() (n int) {
			for _, m := range all {
				n += count[engine.QueueAdded](m, nil) + count[engine.QueueDropped](m, nil)
			}
			return n
		}
		before := moved()
		tg.Sandbox.StopBroker("broker-a")
		for _, m := range all {
			untilEvent[engine.BrokerOffline](m, "the broker is missed", nil)
		}
		back.Store(time.Now().UnixNano())
		tg.Sandbox.StartBroker("broker-a")
		for _, m := range all {
			untilEvent(m, "it is back", func(e engine.BrokerOnline) bool { return e.DurationMS > 0 })
		}
		time.Sleep(30 * time.Second)
		if n := moved() - before; n != 0 {
			t.Errorf("%d queues were taken or given away by a restart", n)
		}
		tg.Produce(t, topic, 60)
		total := func() (n int) {
			for _, m := range all {
				m.mu.Lock()
				n += len(m.seen)
				m.mu.Unlock()
			}
			return n
		}
		all[0].until("all messages", func() bool { all[0].mu.Unlock(); defer all[0].mu.Lock(); return total() == 120 })
		// One that does not come back is given up a moment later.
		all[2].leave()
		awaitHeld(all[0], topic, 3)
	})
}
