package engine_test

import (
	"context"
	"testing"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// One member gets every message of a topic once, and the committed offsets end
// at the queues' ends.
func TestOneMemberConsumesAll(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 500)
		m := join(t, tg, group, topic, nil)
		m.until("500 messages", func() bool { return m.distinct() == 500 })
		m.leave()
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
		checkCommitted(t, tg, group, topic)
	})
}

// checkCommitted checks that a group has committed every message of a topic.
func checkCommitted(t *testing.T, tg *sandboxtest.Target, group, topic string) {
	t.Helper()
	c := tg.Client(t, nil)
	route, err := c.Route(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, mq := range route.Queues {
		end, err := c.MaxOffset(t.Context(), mq)
		if err != nil {
			t.Fatal(err)
		}
		got, found, err := c.QueryConsumerOffset(t.Context(), group, mq)
		if err != nil || !found || got != end {
			t.Errorf("committed offset of %v = %d, %v, %v, want %d", mq, got, found, err, end)
		}
	}
}

// An orderly member gets each queue's messages in order, once.
func TestOrderlyKeepsOrder(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 400)
		m := join(t, tg, group, topic, nil, orderly)
		m.until("400 messages", func() bool { return m.distinct() == 400 })
		m.leave()
		checkOrder(t, m)
		if d := m.duplicates(); d != 0 {
			t.Errorf("duplicates = %d, want 0", d)
		}
		checkCommitted(t, tg, group, topic)
	})
}

func checkOrder(t *testing.T, members ...*member) {
	t.Helper()
	for _, m := range members {
		for mq, offsets := range m.order {
			for i := 1; i < len(offsets); i++ {
				if offsets[i] <= offsets[i-1] {
					t.Errorf("%v: offset %d came after %d", mq, offsets[i], offsets[i-1])
				}
			}
		}
	}
}

// A refused message comes again from the retry topic, with its original topic
// and one more try.
func TestRefusedMessageComesAgain(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 20)
		var m *member
		again := make(chan engine.Message, 1)
		m = join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			cc.DelayLevelWhenNextConsume = 1
			switch msg := &msgs[0]; {
			case msg.ReconsumeTimes() > 0:
				again <- *msg
			case msg.QueueOffset() == 3 && msg.QueueID() == 0:
				return engine.ReconsumeLater, nil
			}
			return engine.ConsumeSuccess, nil
		})
		m.until("21 deliveries", func() bool { return m.distinct() == 21 })
		msg := <-again
		if msg.OriginalTopic() != topic || msg.Topic() != protocol.RetryTopic(group) || msg.ReconsumeTimes() != 1 {
			t.Errorf("retried message: topic %s, original %s, reconsumed %d", msg.Topic(), msg.OriginalTopic(), msg.ReconsumeTimes())
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}
