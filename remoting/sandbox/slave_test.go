package sandbox_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// pullAt pulls once from an address, with a filter of its own.
func pullAt(t *testing.T, c *remoting.Client, addr, group string, mq protocol.MessageQueue, offset int64) remoting.PullResult {
	t.Helper()
	r, err := c.Pull(t.Context(), addr, &protocol.PullMessageRequestHeader{
		ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset, MaxMsgNums: 8,
		SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
	})
	if err != nil {
		t.Fatalf("pull %v at %d from %s: %v", mq, offset, addr, err)
	}
	return r
}

// What a slave does and does not do, and what the name server says of a broker
// whose master is gone.
func TestSlave(t *testing.T) {
	sandboxtest.RunWithSlave(t, func(t *testing.T, tg *sandboxtest.Target, pair *sandboxtest.Pair) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		c := tg.Client(t, nil)
		mq := protocol.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		master, slave := pair.Addrs(t)
		for _, addr := range []string{master, slave} { // a 5.x broker wants to know the group before it takes its offsets
			if _, err := c.Heartbeat(t.Context(), addr, heartbeat(group)); err != nil {
				t.Fatal(err)
			}
		}
		tg.Produce(t, topic, 40)
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 5); err != nil {
			t.Fatal(err)
		}
		pair.AwaitSlave(t, group, mq, 40)

		for _, from := range []string{master, slave} {
			if r := pullAt(t, c, from, group, mq, 0); r.Status != remoting.PullFound || r.SuggestWhichBrokerID != 1 {
				t.Errorf("pull of old messages from %s: %v, next from %d; want found, and the slave", from, r.Status, r.SuggestWhichBrokerID)
			}
			if r := pullAt(t, c, from, group, mq, 40); r.Status != remoting.PullNoNewMessage || r.SuggestWhichBrokerID != 0 {
				t.Errorf("pull at the end from %s: %v, next from %d; want nothing new, and the master", from, r.Status, r.SuggestWhichBrokerID)
			}
		}
		// An offset beyond the end is illegal at the master; a slave may only be behind.
		if r := pullAt(t, c, master, group, mq, 77); r.Status != remoting.PullOffsetIllegal || r.NextBeginOffset != 40 {
			t.Errorf("pull beyond the end from the master: %v, next %d", r.Status, r.NextBeginOffset)
		}
		if r := pullAt(t, c, slave, group, mq, 77); r.Status != remoting.PullNoMatchedMessage || r.NextBeginOffset != 77 || r.SuggestWhichBrokerID != 0 {
			t.Errorf("pull beyond the end from the slave: %v, next %d from %d, want nothing moved and the master", r.Status, r.NextBeginOffset, r.SuggestWhichBrokerID)
		}

		// It takes no message.
		h := protocol.SendMessageRequestHeader{ProducerGroup: "p", Topic: topic, DefaultTopic: "TBW102", DefaultTopicQueueNums: 1, Born: time.Now()}
		_, err := c.Invoke(t.Context(), slave, &protocol.Command{Code: int32(protocol.SendMessageV2), ExtFields: h.FieldsV2(), Body: []byte("x")})
		want := protocol.SystemBusy
		if tg.Line == "4" {
			want = protocol.ServiceNotAvailable
		}
		if ce, ok := errors.AsType[*remoting.CodeError](err); !ok || ce.Code != want {
			t.Errorf("a message sent to the slave: %v, want %v", err, want)
		}

		// It has the master's offsets. A 5.5.0 slave never does: the table that its
		// master sends (43) has numbers for names, and its JSON library refuses them.
		if tg.Name != "5.5.0" {
			awaitOffsetAt(t, c, slave, group, mq, 5)
		}

		pair.Kill(t)
		sandboxtest.Await(t, "a route without the master", func(ctx context.Context) bool {
			_, _, err := c.RefreshRoute(ctx, topic)
			_, known := c.BrokerAddr("broker-a", remoting.MasterID)
			return err == nil && !known
		})
		route, err := c.Route(t.Context(), topic)
		if err != nil || len(route.Queues) != 1 || len(route.PublishQueues) != 0 {
			t.Errorf("route = %+v, %v, want one queue to read and none to write", route, err)
		}
		if addr, id, ok := c.PullAddr("broker-a", 0); addr != slave || id != 1 || !ok {
			t.Errorf("PullAddr = %q %d %v, want the slave", addr, id, ok)
		}
		if r := pullAt(t, c, slave, group, mq, 20); r.Status != remoting.PullFound {
			t.Errorf("pull from the slave alone: %v", r.Status)
		}
		if err := c.UpdateConsumerOffset(t.Context(), group, mq, 9); err != nil {
			t.Errorf("commit without a master: %v, want it at the slave", err)
		}
		if got := offsetAt(t, c, slave, group, mq); got != 9 {
			t.Errorf("the slave holds %d, want 9", got)
		}
		if _, err := c.MaxOffset(t.Context(), mq); err == nil {
			t.Error("the end of the queue was asked of a slave")
		}
		pair.Revive(t)
		sandboxtest.Await(t, "the master in the route again", func(ctx context.Context) bool {
			_, _, err := c.RefreshRoute(ctx, topic)
			_, known := c.BrokerAddr("broker-a", remoting.MasterID)
			return err == nil && known
		})
		if tg.Sandbox != nil || tg.Line == "4" { // a real 5.x slave copies once a minute: too long for each run
			awaitOffsetAt(t, c, slave, group, mq, 5) // what was committed at the slave is forgotten
		}
	})
}

func heartbeat(group string) *protocol.HeartbeatData {
	return &protocol.HeartbeatData{ClientID: "c@1", ConsumerDataSet: []protocol.ConsumerData{{
		GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
	}}}
}

func offsetAt(t *testing.T, c *remoting.Client, addr, group string, mq protocol.MessageQueue) int64 {
	t.Helper()
	offset, err := askOffsetAt(t.Context(), c, addr, group, mq)
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

func askOffsetAt(ctx context.Context, c *remoting.Client, addr, group string, mq protocol.MessageQueue) (int64, error) {
	h := protocol.QueryConsumerOffsetRequestHeader{ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, BrokerName: mq.BrokerName}
	answer, err := c.Invoke(ctx, addr, &protocol.Command{Code: int32(protocol.QueryConsumerOffset), ExtFields: protocol.EncodeFields(&h)})
	if err != nil {
		return 0, err
	}
	var r protocol.OffsetResponseHeader
	return r.Offset, errors.Join(protocol.DecodeFields(answer.ExtFields, &r))
}

func awaitOffsetAt(t *testing.T, c *remoting.Client, addr, group string, mq protocol.MessageQueue, want int64) {
	t.Helper()
	sandboxtest.AwaitWithin(t, 2*time.Minute, "the offset at "+addr, func(ctx context.Context) bool {
		got, err := askOffsetAt(ctx, c, addr, group, mq)
		return err == nil && got == want
	})
}

// A broker that vanishes answers neither on its connections nor a dial, and comes
// back elsewhere.
func TestVanishAndMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1))
		c := sandboxtest.Client(t, sb, nil)
		mq := protocol.MessageQueue{Topic: "T", BrokerName: "broker-a"}
		if _, err := c.MaxOffset(t.Context(), mq); err != nil {
			t.Fatal(err)
		}
		old, _ := c.BrokerAddr("broker-a", 0)
		sb.VanishBroker("broker-a")
		for range 2 { // by the connection there is, and by a new one
			begin := time.Now()
			if _, err := c.MaxOffset(t.Context(), mq); !remoting.Retryable(err) || time.Since(begin) != 3*time.Second {
				t.Errorf("MaxOffset = %v after %v, want a timeout of 3 s", err, time.Since(begin))
			}
		}
		moved := sb.MoveBroker("broker-a")
		if _, changed, err := c.RefreshRoute(t.Context(), "T"); err != nil || !changed {
			t.Errorf("RefreshRoute = %v, %v, want a change", changed, err)
		}
		if _, err := c.MaxOffset(t.Context(), mq); err != nil {
			t.Errorf("MaxOffset at the new address = %v", err)
		}
		if addr, _ := c.BrokerAddr("broker-a", 0); addr != moved || addr == old {
			t.Errorf("the broker is at %s, moved from %s to %s", addr, old, moved)
		}
	})
}
