package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// members asks for the member list; the code of a refusal instead when empty.
func (f *fixture) members() string {
	f.t.Helper()
	h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: f.group}
	cmd, err := f.invoke(protocol.GetConsumerListByGroup, protocol.EncodeFields(&h), nil)
	if code := codeOf(f.t, err); code != protocol.Success {
		return code.String()
	}
	ids, err := protocol.DecodeConsumerIDList(cmd.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Sort(ids)
	return fmt.Sprint(ids)
}

func TestMembersAreNotifiedOfChanges(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		nobody := protocol.SystemError.String()
		wantSameText(t, "members before", f.members(), nobody)

		a, b := f.member("a"), f.member("b")
		a.join(1, map[string]string{f.topic: "*"})
		a.wantNotice("own join")
		wantSameText(t, "members after a joined", f.members(), "[a]")
		tg.AwaitRoute(t, protocol.RetryTopic(f.group), 1) // the heartbeat makes it

		b.join(1, map[string]string{f.topic: "*"})
		a.wantNotice("b joins")
		b.wantNotice("b joins")
		wantSameText(t, "members after b joined", f.members(), "[a b]")

		b.join(1, map[string]string{f.topic: "*"})
		a.wantQuiet("same heartbeat again")
		b.join(2, map[string]string{f.topic: "A"})
		a.wantQuiet("same topics, another expression")
		b.join(3, map[string]string{f.topic: "A", f.topic + "-more": "*"})
		a.wantNotice("b has one topic more")
		a.join(4, map[string]string{f.topic: "A"})
		b.wantNotice("a has one topic less")

		for len(a.notices) > 0 {
			<-a.notices
		}
		if err := b.c.Unregister(t.Context(), f.addr, protocol.UnregisterClientRequestHeader{ClientID: "b", ConsumerGroup: f.group}); err != nil {
			t.Fatal(err)
		}
		a.wantNotice("b unregisters")
		wantSameText(t, "members after b left", f.members(), "[a]")

		b.join(5, map[string]string{f.topic: "A"})
		a.wantNotice("b is back")
		b.c.Close()
		a.wantNotice("b's connection ends")
		// The notice may be a late one of what was before.
		sandboxtest.Await(t, "members without b", func(context.Context) bool { return f.members() == "[a]" })
		if err := a.c.Unregister(t.Context(), f.addr, protocol.UnregisterClientRequestHeader{ClientID: "a", ConsumerGroup: f.group}); err != nil {
			t.Fatal(err)
		}
		wantSameText(t, "members at the end", f.members(), nobody)
	})
}

// 4.9 tells them all the same.
func TestBroadcastingMembersAreNotNotified(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		a, b := f.member("a"), f.member("b")
		for _, m := range []*member{a, b} {
			s, err := protocol.NewSubscriptionData(f.topic, "*")
			if err != nil {
				t.Fatal(err)
			}
			m.beat(protocol.ConsumerData{
				GroupName: f.group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Broadcasting,
				ConsumeFromWhere: protocol.ConsumeFromLastOffset, SubscriptionDataSet: []protocol.SubscriptionData{s},
			})
		}
		if tg.Line == "4" {
			a.wantNotice("broadcasting on 4.9")
			return
		}
		a.wantQuiet("broadcasting")
	})
}

func TestSubscriptionIsReplacedByALaterOneOnly(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		connection := func() (protocol.ConsumerConnection, error) {
			h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: f.group}
			cmd, err := f.invoke(protocol.GetConsumerConnectionList, protocol.EncodeFields(&h), nil)
			if err != nil {
				return protocol.ConsumerConnection{}, err
			}
			return protocol.DecodeConsumerConnection(cmd.Body)
		}
		_, err := connection()
		f.wantCode("connections of a group without members", err, protocol.ConsumerNotOnline)
		check := func(what, want string) {
			t.Helper()
			c, err := connection()
			if err != nil {
				t.Fatal(err)
			}
			s := c.SubscriptionTable[f.topic]
			got := fmt.Sprint(len(c.ConnectionSet), c.ConsumeType, c.MessageModel, c.ConsumeFromWhere, " ", s.SubString, s.SubVersion, s.TagsSet, s.CodeSet)
			if got != want {
				t.Errorf("%s: got %s, want %s", what, got, want)
			}
		}
		m := f.member("a")
		const kind = "1 CONSUME_PASSIVELY CLUSTERING CONSUME_FROM_FIRST_OFFSET "
		m.join(10, map[string]string{f.topic: "TagA"})
		check("first", kind+"TagA10 [TagA] [2598919]")
		m.join(10, map[string]string{f.topic: "TagB"})
		check("same version", kind+"TagA10 [TagA] [2598919]")
		m.join(9, map[string]string{f.topic: "TagB"})
		check("older version", kind+"TagA10 [TagA] [2598919]")
		m.join(11, map[string]string{f.topic: "TagB"})
		check("later version", kind+"TagB11 [TagB] [2598920]")

		c, err := connection()
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ConnectionSet[0]; got.ClientID != "a" || got.ClientAddr == "" || got.Language != "GO" || got.Version != protocol.Version {
			t.Errorf("connection: got %+v", got)
		}
	})
}

func TestHeartbeatBodies(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		_, err := f.invoke(protocol.HeartBeat, nil, nil)
		f.wantCode("empty body", err, protocol.SystemError)
		_, err = f.invoke(protocol.HeartBeat, nil, []byte(`{"clientID":"x"}`))
		f.wantCode("client id alone", err, protocol.Success)
		_, err = f.invoke(protocol.HeartBeat, nil, []byte(`{"clientID":"x"} trailing`))
		f.wantCode("trailing text", err, protocol.SystemError)
	})
}

func TestLocks(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		other := f.mq
		other.QueueID = 1 - f.mq.QueueID
		lock := func(group, clientID string, queues ...protocol.MessageQueue) string {
			t.Helper()
			held, err := f.c.LockBatch(t.Context(), f.mq.BrokerName, &protocol.LockBatchBody{ConsumerGroup: group, ClientID: clientID, MQSet: queues})
			if err != nil {
				t.Fatal(err)
			}
			ids := []int32{}
			for _, mq := range held {
				if mq.Topic != f.topic || mq.BrokerName != f.mq.BrokerName {
					t.Errorf("locked %v", mq)
				}
				ids = append(ids, mq.QueueID)
			}
			slices.Sort(ids)
			return fmt.Sprint(ids)
		}
		unlock := func(clientID string, queues ...protocol.MessageQueue) {
			t.Helper()
			if err := f.c.UnlockBatch(t.Context(), f.mq.BrokerName, &protocol.LockBatchBody{ConsumerGroup: f.group, ClientID: clientID, MQSet: queues}); err != nil {
				t.Fatal(err)
			}
		}
		mine, both := fmt.Sprint([]int32{f.mq.QueueID}), "[0 1]"
		wantSameText(t, "a locks one", lock(f.group, "a", f.mq), mine)
		wantSameText(t, "a renews", lock(f.group, "a", f.mq), mine)
		wantSameText(t, "b asks for both", lock(f.group, "b", f.mq, other), fmt.Sprint([]int32{other.QueueID}))
		wantSameText(t, "another group", lock(f.group+"-other", "b", f.mq, other), both)
		unlock("b", f.mq)
		wantSameText(t, "b asks after having unlocked what it does not hold", lock(f.group, "b", f.mq), "[]")
		unlock("a", f.mq)
		wantSameText(t, "b asks after a has unlocked", lock(f.group, "b", f.mq), mine)
		wantSameText(t, "a asks for both", lock(f.group, "a", f.mq, other), "[]")
	})
}

func TestCheckClientConfig(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		_, err := f.invoke(protocol.CheckClientConfig, nil, []byte(`{}`))
		f.wantCode("empty object", err, protocol.Success)
		_, err = f.invoke(protocol.CheckClientConfig, nil, fmt.Appendf(nil,
			`{"clientId":"a","group":%q,"subscriptionData":{"topic":%q,"subString":"TagA","expressionType":"TAG"}}`, f.group, f.topic))
		f.wantCode("tag expression", err, protocol.Success)
	})
}

func TestUnknownRequestIsRefused(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		_, err := f.invoke(29999, nil, nil)
		f.wantCode("code 29999", err, protocol.RequestCodeNotSupported)
	})
}
