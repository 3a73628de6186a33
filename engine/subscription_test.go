package engine_test

import (
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Another member of the group that does not subscribe to our topic has the broker
// forget our subscription: that is told by its code, a heartbeat repairs it, and it
// is not taken for "no message".
func TestSubscriptionForgottenByTheBroker(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, other, group := tg.Topic(t, 1), tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: brokerOf(t, tg)}
		m := join(t, tg, group, topic, nil, named("m@1"))
		awaitHeld(m, topic, 1)
		tg.Produce(t, topic, 5)
		m.until("the first ones", func() bool { return m.distinct() == 5 })
		c := tg.Client(t, nil)
		addr := tg.Masters(t)[mq.BrokerName]
		sub, err := protocol.NewSubscriptionData(other, "*")
		if err != nil {
			t.Fatal(err)
		}
		sub.SubVersion = time.Now().UnixMilli()
		rival := &protocol.HeartbeatData{ClientID: "rival@1", ConsumerDataSet: []protocol.ConsumerData{{GroupName: group,
			ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
			SubscriptionDataSet: []protocol.SubscriptionData{sub}}}}
		began := time.Now()
		told := func() bool {
			for _, e := range m.events {
				if x, ok := e.(engine.PullError); ok && x.Code == int32(protocol.SubscriptionNotExist) {
					return true
				}
			}
			return false
		}
		// The rival's heartbeat and ours take turns; sooner or later a pull falls between.
		beats := 0
		for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); beats++ {
			if _, err := c.Heartbeat(t.Context(), addr, rival); err != nil {
				t.Fatal(err)
			}
			tg.Produce(t, topic, 1)
			m.mu.Lock()
			done := told()
			m.mu.Unlock()
			if done {
				break
			}
			<-time.After(50 * time.Millisecond)
		}
		failed := untilEvent(m, "it is told", func(e engine.PullError) bool { return e.Code == int32(protocol.SubscriptionNotExist) })
		if failed.Error == "" || failed.DelayMS < 1000 {
			t.Errorf("pull_error %+v, want a pause of 1 s", failed)
		}
		if err := c.Unregister(t.Context(), addr, protocol.UnregisterClientRequestHeader{ClientID: "rival@1", ConsumerGroup: group}); err != nil {
			t.Fatal(err)
		}
		tg.Produce(t, topic, 5)
		m.until("everything came", func() bool { return m.distinct() >= 10+beats })
		if n := count(m, func(e engine.HeartbeatSent) bool { return e.Time.After(began) }); n == 0 {
			t.Error("no heartbeat was sent")
		}
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("%d duplicates", d)
		}
	})
}
