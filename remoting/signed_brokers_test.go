package remoting_test

import (
	"context"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// TestEveryCallIsSigned makes every kind of call to brokers that check signatures:
// whatever a call comes to, it is not the signature that it fails by.
func TestEveryCallIsSigned(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		target := own.UpWithAccessControl(t, "acl")
		c := target.Client(t, nil)
		mq := protocol.MessageQueue{Topic: sandboxtest.ReadableTopic, BrokerName: "broker-a"}
		addr := target.Masters(t)["broker-a"]
		const group = "signed-group"
		heartbeat := &protocol.HeartbeatData{ClientID: "me@signed", ConsumerDataSet: []protocol.ConsumerData{{
			GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
			SubscriptionDataSet: []protocol.SubscriptionData{{Topic: mq.Topic, SubString: "*", ExpressionType: protocol.ExpressionTAG}},
		}}, ProducerDataSet: []protocol.ProducerData{{GroupName: "p"}}}
		m := &remoting.OutMessage{Body: []byte("body 值"), Properties: []protocol.Property{{Name: protocol.PropertyKeys, Value: "k-值"}, {Name: protocol.PropertyUniqKey, Value: "0A00000100002A9F0000000000000001"}}}
		if _, err := c.Send(t.Context(), "p", mq, m); err != nil {
			t.Fatal(err)
		}
		lock := &protocol.LockBatchBody{ConsumerGroup: group, ClientID: "me@signed", MQSet: []protocol.MessageQueue{mq}}
		calls := []struct {
			name string
			call func(ctx context.Context) error
		}{
			{"heartbeat", func(ctx context.Context) error { _, err := c.Heartbeat(ctx, addr, heartbeat); return err }},
			{"send batch", func(ctx context.Context) error {
				_, err := c.SendBatch(ctx, "p", mq, []protocol.BatchItem{{Body: []byte("1")}, {Body: []byte("2")}})
				return err
			}},
			{"pull", func(ctx context.Context) error {
				_, err := c.Pull(ctx, addr, &protocol.PullMessageRequestHeader{ConsumerGroup: group, Topic: mq.Topic, MaxMsgNums: 1,
					SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName})
				return err
			}},
			{"check config", func(ctx context.Context) error {
				return c.CheckClientConfig(ctx, addr, "me@signed", group, heartbeat.ConsumerDataSet[0].SubscriptionDataSet[0])
			}},
			{"members", func(ctx context.Context) error { _, _, err := c.ConsumerIDs(ctx, mq.Topic, group); return err }},
			{"connections", func(ctx context.Context) error { _, err := c.Connections(ctx, addr, group); return err }},
			{"lock", func(ctx context.Context) error { _, err := c.LockBatch(ctx, "broker-a", lock); return err }},
			{"unlock", func(ctx context.Context) error { return c.UnlockBatch(ctx, "broker-a", lock) }},
			{"commit", func(ctx context.Context) error { return c.UpdateConsumerOffset(ctx, group, mq, 1) }},
			{"commits", func(ctx context.Context) error {
				return c.UpdateConsumerOffsets(ctx, group, map[protocol.MessageQueue]int64{mq: 1})[mq]
			}},
			{"committed", func(ctx context.Context) error { _, _, err := c.QueryConsumerOffset(ctx, group, mq); return err }},
			{"max", func(ctx context.Context) error { _, err := c.MaxOffset(ctx, mq); return err }},
			{"min", func(ctx context.Context) error { _, err := c.MinOffset(ctx, mq); return err }},
			{"search", func(ctx context.Context) error { _, err := c.SearchOffset(ctx, mq, time.Now()); return err }},
			{"consume stats", func(ctx context.Context) error { _, err := c.ConsumeStats(ctx, addr, group, ""); return err }},
			{"topic stats", func(ctx context.Context) error { _, err := c.TopicStats(ctx, addr, mq.Topic); return err }},
			{"runtime", func(ctx context.Context) error { _, err := c.RuntimeInfo(ctx, addr); return err }},
			{"configuration", func(ctx context.Context) error { _, err := c.BrokerConfig(ctx, addr); return err }},
			{"topics", func(ctx context.Context) error { _, err := c.TopicConfigs(ctx, addr); return err }},
			{"groups", func(ctx context.Context) error { _, err := c.GroupConfigs(ctx, addr); return err }},
			{"groups of topic", func(ctx context.Context) error { _, err := c.GroupsOfTopic(ctx, addr, mq.Topic); return err }},
			{"all offsets", func(ctx context.Context) error { _, err := c.AllOffsets(ctx, addr); return err }},
			{"all stats", func(ctx context.Context) error { _, err := c.BrokerConsumeStats(ctx, addr); return err }},
			{"time spans", func(ctx context.Context) error { _, err := c.QueueTimeSpans(ctx, addr, mq.Topic, group); return err }},
			{"producers", func(ctx context.Context) error { _, err := c.ProducerConnections(ctx, addr, "p"); return err }},
			{"running info", func(ctx context.Context) error {
				_, err := c.RunningInfo(ctx, addr, group, "nobody", false)
				return err
			}},
			{"by key", func(ctx context.Context) error {
				_, err := c.QueryMessages(ctx, addr, "broker-a", &remoting.MessageQuery{Topic: mq.Topic, Key: "k-值"})
				return err
			}},
			{"by unique key", func(ctx context.Context) error {
				_, err := c.QueryMessages(ctx, addr, "broker-a", &remoting.MessageQuery{Topic: mq.Topic, Key: "0A00000100002A9F0000000000000001", Unique: true})
				return err
			}},
			{"view", func(ctx context.Context) error {
				_, _, err := c.ViewMessage(ctx, addr, "broker-a", mq.Topic, 0)
				return err
			}},
			{"send back", func(ctx context.Context) error {
				return c.SendBack(ctx, "broker-a", &protocol.ConsumerSendMsgBackRequestHeader{Group: group, DelayLevel: 1, OriginTopic: mq.Topic, MaxReconsumeTimes: 16})
			}},
			{"reset", func(ctx context.Context) error {
				_, err := c.ResetOffsets(ctx, addr, &protocol.InvokeResetOffsetRequestHeader{Topic: mq.Topic, Group: group})
				return err
			}},
			{"clone", func(ctx context.Context) error {
				return c.CloneOffsets(ctx, addr, &protocol.CloneGroupOffsetRequestHeader{SrcGroup: group, DestGroup: "other", Topic: mq.Topic})
			}},
			{"unregister", func(ctx context.Context) error {
				return c.Unregister(ctx, addr, protocol.UnregisterClientRequestHeader{ClientID: "me@signed", ConsumerGroup: group})
			}},
			{"delete group", func(ctx context.Context) error { return c.DeleteGroup(ctx, addr, group) }},
			{"delete topic", func(ctx context.Context) error { return c.DeleteTopic(ctx, mq.Topic) }},
		}
		for _, call := range calls {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := call.call(ctx)
			cancel()
			if d, denied := remoting.AccessDenied(err); denied {
				t.Errorf("%s: %v (%+v)", call.name, err, d)
			}
			t.Logf("%s: %v", call.name, err)
		}
	})
}
