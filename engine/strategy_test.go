package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// withStrategy has a member divide by s under a client id.
func withStrategy(s core.Strategy, clientID string) change {
	return func(o *engine.Options) { o.Strategy, o.ClientID = s, clientID }
}

// heldBy lists the queues of a topic that a member holds, sorted.
func heldBy(m *member, topic string) (mqs []engine.MessageQueue) {
	for _, q := range m.Snapshot().Queues {
		if q.Own && q.Topic == topic && q.State != engine.QueueTaking && q.State != engine.QueueDropping {
			mqs = append(mqs, q.MessageQueue)
		}
	}
	return mqs
}

// By CONFIG each member has its own list, in every topic the part that is of the
// topic, and says of the others that it does not know.
func TestStrategyConfig(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		queue := func(topic string, id int32) engine.MessageQueue {
			return engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg), QueueID: id}
		}
		retry := queue(protocol.RetryTopic(group), 0)
		var failed atomic.Bool
		once := func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].MessageQueue() != retry && failed.CompareAndSwap(false, true) {
				return engine.ReconsumeLater, nil
			}
			return engine.ConsumeSuccess, nil
		}
		a := join(t, tg, group, topic, once, withStrategy(core.AllocateByConfig([]engine.MessageQueue{queue(topic, 2), queue(topic, 0), retry}), "a@1"))
		b := join(t, tg, group, topic, nil, withStrategy(core.AllocateByConfig([]engine.MessageQueue{queue(topic, 1), queue(topic, 3)}), "b@1"))
		awaitHeld(a, topic, 2)
		awaitHeld(b, topic, 2)
		awaitHeld(a, retry.Topic, 1)
		tg.Produce(t, topic, 80)
		b.until("its half", func() bool { return b.distinct() == 40 })
		a.until("its half, and what was sent back", func() bool { return a.distinct() == 41 })
		if n := held(b, retry.Topic); n != 0 {
			t.Errorf("b holds %d queues of the retry topic, which its list does not name", n)
		}
		untilEvent(a, "both members", func(e engine.RebalanceTopic) bool { return e.Strategy == "CONFIG" && len(e.Members) == 2 })
		s := a.Snapshot()
		for _, top := range s.Topics {
			for _, m := range top.Members {
				if m.Unknown == m.Self || m.Unknown && m.Queues != nil {
					t.Errorf("%s: member %s: unknown %v, queues %v", top.Topic, m.ClientID, m.Unknown, m.Queues)
				}
			}
		}
		for _, q := range s.Queues {
			if want := map[bool]string{true: "a@1"}[q.Own]; q.Owner != want {
				t.Errorf("the owner of %v is %q, want %q", q.MessageQueue, q.Owner, want)
			}
		}
		a.leave()
		b.leave()
		checkOnce(t, a, b)
	})
}

// brokerOf is the name of the target's only broker.
func brokerOf(t *testing.T, tg *sandboxtest.Target) string {
	t.Helper()
	for name := range tg.Masters(t) {
		return name
	}
	t.Fatal("the target has no broker")
	return ""
}

// Members divide by CONSISTENT_HASH as the core says, and what one leaves goes to
// the others while theirs stay.
func TestStrategyConsistentHash(t *testing.T) {
	s, err := core.AllocateByConsistentHash(core.VirtualNodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 16), tg.Group(t)
		var members []*member
		var all []engine.MessageQueue
		for id := range int32(16) {
			all = append(all, engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg), QueueID: id})
		}
		ids := []string{"10.0.0.1@1", "10.0.0.1@2", "10.0.0.2@3"}
		for _, id := range ids {
			members = append(members, join(t, tg, group, topic, nil, withStrategy(s, id)))
		}
		wantShares := func(members []*member, ids []string) {
			t.Helper()
			shares, err := core.AllocateAll(s, group, topic, "", all, ids)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range members {
				m.until("the share of the ring", func() bool { return slices.Equal(heldBy(m, topic), shares[ids[i]]) })
			}
		}
		wantShares(members, ids)
		members[1].leave()
		wantShares([]*member{members[0], members[2]}, []string{ids[0], ids[2]})
	})
}

// Each member reads the brokers of its own machine room, and all share a room
// where nobody is.
func TestStrategyMachineRoomNearby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Brokers("A@broker", "B@broker", "C@broker"), sandboxtest.Topic("orders", 4))
		tg := &sandboxtest.Target{Sandbox: sb, Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial}
		s, err := core.AllocateMachineRoomNearby(core.AllocateAveragely, core.RoomsByName())
		if err != nil {
			t.Fatal(err)
		}
		a := join(t, tg, "g", "orders", nil, withStrategy(s, "A@1"))
		b := join(t, tg, "g", "orders", nil, withStrategy(s, "B@1"))
		names := func(m *member) string {
			var all []string
			for _, mq := range heldBy(m, "orders") {
				all = append(all, mq.Short())
			}
			return strings.Join(all, " ")
		}
		a.until("room A and half of room C", func() bool { return names(a) == "A@broker/0 A@broker/1 A@broker/2 A@broker/3 C@broker/0 C@broker/1" })
		b.until("room B and half of room C", func() bool { return names(b) == "B@broker/0 B@broker/1 B@broker/2 B@broker/3 C@broker/2 C@broker/3" })
		untilEvent(a, "Java's name of it", func(e engine.RebalanceTopic) bool { return e.Strategy == "MACHINE_ROOM_NEARBY-AVG" })

		// A member without a room stops the dividing, and what is held stays.
		c := join(t, tg, "g", "orders", nil, withStrategy(s, "nowhere"))
		skipped := untilEvent(c, "the strategy refuses", func(e engine.RebalanceSkipped) bool { return e.Topic == "orders" && e.Cause == "strategy error" })
		if !strings.Contains(skipped.Error, `no machine room in the client id "nowhere"`) {
			t.Errorf("the event says %q", skipped.Error)
		}
		time.Sleep(time.Minute)
		if got := held(a, "orders"); got != 6 {
			t.Errorf("a holds %d queues, want its 6", got)
		}
		if got := held(c, "orders"); got != 0 {
			t.Errorf("the member without a room holds %d queues", got)
		}
	})
}

// A client id that two processes have counts twice, as a broker names it and Java's
// members see it: both take the first half, and the second has no reader.
func TestClientIDOfTwo(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 8), tg.Group(t)
		same := withStrategy(core.AllocateAveragely, "same@1")
		a := join(t, tg, group, topic, nil, same)
		awaitHeld(a, topic, 8)
		b := join(t, tg, group, topic, nil, same)
		firstHalf := func(m *member) bool {
			mqs := heldBy(m, topic)
			return len(mqs) == 4 && mqs[3].QueueID == 3
		}
		b.until("the first half", func() bool { return firstHalf(b) })
		a.until("the first half", func() bool { return firstHalf(a) })
		if n := len(a.Snapshot().Topics[0].Members); n != 1 {
			t.Errorf("%d members, want one: it has one name", n)
		}
	})
}

// Queues that do not divide go to the first members in each topic: over
// three topics of five queues they have 9 and 6, as Java's.
func TestRemainderOfEachTopicGoesToTheFirst(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		group := tg.Group(t)
		topics := []string{tg.Topic(t, 5), tg.Topic(t, 5), tg.Topic(t, 5)}
		three := func(id string) change {
			return func(o *engine.Options) {
				o.ClientID, o.Subscriptions = id, nil
				for _, topic := range topics {
					o.Subscriptions = append(o.Subscriptions, engine.Subscription{Topic: topic})
				}
			}
		}
		a := join(t, tg, group, "", nil, three("10.0.0.1@1"))
		b := join(t, tg, group, "", nil, three("10.0.0.1@2"))
		for _, topic := range topics {
			awaitHeld(b, topic, 2)
			awaitHeld(a, topic, 3)
		}
		a.until("shares of 9 and 6", func() bool {
			total := map[string]int{}
			for _, top := range a.Snapshot().Topics {
				for _, m := range top.Members {
					if !top.Retry {
						total[m.ClientID] += len(m.Queues)
					}
				}
			}
			return total["10.0.0.1@1"] == 9 && total["10.0.0.1@2"] == 6
		})
	})
}
