package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// queueText is what is known of a queue's lag, in one line.
func queueText(q *inspect.QueueLag) string {
	return fmt.Sprintf("%d: min %s, committed %s, max %s, lag %s, expired %d", q.QueueID, numberText(q.Min), numberText(q.Committed), numberText(q.Max), numberText(q.Lag), q.Expired)
}

func numberText(n inspect.Number) string {
	switch {
	case !n.Known:
		return n.Why.Kind.String()
	case n.AtLeast:
		return fmt.Sprintf("≥%d", n.Value)
	}
	return fmt.Sprint(n.Value)
}

func queueTexts(l *inspect.GroupLag, topic string) []string {
	var texts []string
	for i := range l.Queues {
		if l.Queues[i].Topic == topic {
			texts = append(texts, queueText(&l.Queues[i]))
		}
	}
	return texts
}

func wantTexts(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// Nothing committed, 0 committed, some, and more than there is are different; what is
// ahead hides nothing of what waits.
func TestLagOfAStoppedGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, 4*5)
		mqs := d.queues(topic)
		d.makeGroup(tg, group)
		d.commit(group, 0, mqs[1])
		d.commit(group, 3, mqs[2])
		d.commit(group, 12, mqs[3])
		if _, _, err := headAs(t.Context(), d.client, group, mqs[2], 3); err != nil { // 5.x keeps the place behind it
			t.Fatal(err)
		}
		l, err := d.LagExact(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		wantTexts(t, "queues", queueTexts(&l, topic),
			"0: min 0, committed no commit, max 5, lag 5, expired 0",
			"1: min 0, committed 0, max 5, lag 5, expired 0",
			"2: min 0, committed 3, max 5, lag 2, expired 0",
			"3: min 0, committed 12, max 5, lag -7, expired 0")
		if l.State != inspect.StateOffline || l.Lag != inspect.Exact(12) || l.Ahead != 7 || l.UnknownQueues != 0 || l.Members != inspect.Exact(0) {
			t.Errorf("state %s, lag %+v, ahead %d, %d unknown, members %+v; want offline, 12, 7, 0, 0", l.State, l.Lag, l.Ahead, l.UnknownQueues, l.Members)
		}
		if len(l.Problems) > 0 {
			t.Errorf("problems: %v", l.Problems)
		}
		// The time of the next message is that of the message itself.
		for i, offset := range []int64{0, 0, 3} {
			q := &l.Queues[i]
			m, found, err := headOf(t.Context(), d.client, q.MessageQueue, offset)
			if err != nil || !found || !q.NextStored.Equal(m) {
				t.Errorf("queue %d: next stored %v, want %v (%v, %v)", i, q.NextStored, m, found, err)
			}
			given := tg.Line == "5" && i == 2
			if q.Inflight.Known == given || q.Inflight.Value != 0 || given && q.Inflight.Why.Kind != inspect.ReasonOffline {
				t.Errorf("queue %d: %+v in flight, although nobody is connected", i, q.Inflight)
			}
			if q.Owners != nil || q.OwnersWhy.Kind != inspect.ReasonOffline {
				t.Errorf("queue %d: owners %v, %v; want none, offline", i, q.Owners, q.OwnersWhy)
			}
		}
		if q := &l.Queues[3]; !q.NextStored.IsZero() {
			t.Errorf("queue 3 is ahead, but its next message was stored at %v", q.NextStored)
		}
		// Lag gives about the same without reading messages.
		asked := time.Now()
		quick, err := d.Lag(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		late := time.Since(asked) // brokers tell ages
		for i := range 3 {
			if diff := quick.Queues[i].NextStored.Sub(l.Queues[i].NextStored).Abs(); diff > 2*time.Second+late {
				t.Errorf("queue %d: next stored %v, want about %v", i, quick.Queues[i].NextStored, l.Queues[i].NextStored)
			}
		}
	})
}

// headOf reads when the message at an offset was stored.
func headOf(ctx context.Context, c *remoting.Client, mq protocol.MessageQueue, offset int64) (time.Time, bool, error) {
	return headAs(ctx, c, "TOOLS_CONSUMER", mq, offset)
}

// headAs is headOf by a pull of a group.
func headAs(ctx context.Context, c *remoting.Client, group string, mq protocol.MessageQueue, offset int64) (time.Time, bool, error) {
	addr, err := c.MasterOf(ctx, mq)
	if err != nil {
		return time.Time{}, false, err
	}
	r, err := c.Pull(ctx, addr, &protocol.PullMessageRequestHeader{
		ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset, MaxMsgNums: 1,
		SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName,
	})
	if err != nil || r.Status != remoting.PullFound {
		return time.Time{}, false, err
	}
	messages, err := protocol.AppendMessages(nil, r.Body, &protocol.MessageSource{BrokerName: mq.BrokerName, Topic: mq.Topic})
	if err != nil || len(messages) == 0 {
		return time.Time{}, false, err
	}
	return messages[0].Stored(), true, nil
}

// A group that nobody has heard of is not an empty one, and asking about it makes
// nothing: the question about one group's configuration would.
func TestUnknownGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		for range 2 {
			for name, err := range map[string]error{
				"lag": second(d.Lag(t.Context(), group)), "group": second(d.Group(t.Context(), group)),
				"members": second(d.Members(t.Context(), group)), "live": second(d.Live(t.Context(), group)),
			} {
				if _, ok := err.(*inspect.NotFoundError); !ok {
					t.Errorf("%s: %v, want that there is no such group", name, err)
				}
			}
		}
		if _, ok := second(d.Topic(t.Context(), group)).(*inspect.NotFoundError); !ok {
			t.Errorf("topic: not said that there is none")
		}
		list, err := d.Groups(t.Context())
		if err != nil || slices.ContainsFunc(list.Groups, func(g inspect.GroupName) bool { return g.Group == group }) {
			t.Errorf("the group is there after it was asked about (%v)", err)
		}
	})
}

// A group of which only offsets of a topic that is gone are left is in the list, and
// is there too for whoever asks for it by name.
func TestGroupOfAGoneTopic(t *testing.T) {
	// A 5.x broker takes no offset of a topic that is not there.
	sandboxtest.RunIn(t, sandboxtest.Line4, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		for _, addr := range tg.Masters(t) {
			h := protocol.UpdateConsumerOffsetRequestHeader{ConsumerGroup: group, Topic: group + "-gone", CommitOffset: 5}
			if _, err := d.client.Invoke(t.Context(), addr, &protocol.Command{Code: int32(protocol.UpdateConsumerOffset), ExtFields: protocol.EncodeFields(&h)}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := d.Groups(t.Context())
		if err != nil || !slices.ContainsFunc(list.Groups, func(g inspect.GroupName) bool { return g.Group == group && g.Offsets }) {
			t.Errorf("the group is not in the list (%v)", err)
		}
		for name, err := range map[string]error{
			"lag": second(d.Lag(t.Context(), group)), "group": second(d.Group(t.Context(), group)),
			"members": second(d.Members(t.Context(), group)), "live": second(d.Live(t.Context(), group)),
		} {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// A group is known by a configuration, by offsets or by a retry topic, and paused
// where its configuration says so. That nobody is online hides none.
func TestGroupsAreFoundByAnyTrace(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, configured, paused := tg.Topic(t, 2), tg.Group(t), tg.Group(t)
		d.makeGroup(tg, configured)
		c := protocol.NewGroupConfig(paused)
		c.SetBool("consumeEnable", false)
		for _, addr := range tg.Masters(t) {
			if err := d.client.UpdateGroupConfig(t.Context(), addr, c); err != nil {
				t.Fatal(err)
			}
		}
		d.commit(configured, 0, d.queues(topic)...)
		list, err := d.Groups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		byName := map[string]inspect.GroupName{}
		for _, g := range list.Groups {
			byName[g.Group] = g
		}
		if g := byName[configured]; !g.Configured || !g.Offsets || g.System || g.Paused.Any() {
			t.Errorf("%+v, want configured, with offsets, not paused", g)
		}
		if g := byName[paused]; !g.Configured || g.Offsets || !g.Paused.All() {
			t.Errorf("%+v, want configured, without offsets, paused", g)
		}
		if tg.Sandbox == nil && !byName["TOOLS_CONSUMER"].System {
			t.Errorf("TOOLS_CONSUMER is not marked as RocketMQ's own: %+v", byName["TOOLS_CONSUMER"])
		}
		rows := d.GroupRows(t.Context(), []string{paused, configured})
		if rows[0].Group != paused || rows[0].State != inspect.StatePaused || rows[1].State != inspect.StateOffline || !slices.Equal(rows[1].Topics, []string{topic}) {
			t.Errorf("rows %+v", rows)
		}
		detail, err := d.Group(t.Context(), paused)
		if err != nil || detail.Configs[0].Fields["consumeEnable"] != "false" || detail.Configs[0].Fields["retryMaxTimes"] != "16" || detail.Differences != nil {
			t.Errorf("detail %+v, %v", detail, err)
		}
	})
}

// A broker that has none of a group's queues needs no configuration of it: clients send
// their heartbeats, which make one, only where their topics are.
func TestConfigurationIsNeededWhereQueuesAre(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, group := newDesk(t, tg), tg.Group(t)
		narrow, wide := tg.Group(t), tg.Topic(t, 2)
		d.manage(inspect.ManageRequest{Action: inspect.CreateTopic, Name: narrow, ReadQueues: 2, WriteQueues: 2, Perm: protocol.PermRead | protocol.PermWrite, Brokers: []string{"broker-a"}})
		if err := d.client.UpdateGroupConfig(t.Context(), tg.Masters(t)["broker-a"], protocol.NewGroupConfig(group)); err != nil {
			t.Fatal(err)
		}
		d.commit(group, 0, d.queues(narrow)...)
		differs := func(step string, want ...string) {
			t.Helper()
			detail, err := d.Group(t.Context(), group)
			if err != nil || !slices.Equal(detail.Differences, want) {
				t.Errorf("%s: brokers differ in %v, %v, want %v", step, detail.Differences, err, want)
			}
			report, err := d.DoctorWith(t.Context(), group, inspect.DoctorOptions{Samples: 1})
			found := slices.ContainsFunc(report.Findings, func(f inspect.Finding) bool { return f.Code == inspect.CodeConfigDiffers })
			if err != nil || found != (want != nil) {
				t.Errorf("%s: findings %+v, %v, want %s: %v", step, report.Findings, err, inspect.CodeConfigDiffers, want != nil)
			}
		}
		differs("no queue at broker-b")
		at := slices.IndexFunc(d.queues(wide), func(mq protocol.MessageQueue) bool { return mq.BrokerName == "broker-a" })
		d.commit(group, 0, d.queues(wide)[at])
		differs("two queues at broker-b", "groupName")
	})
}

// A group need not have a retry topic, as when it has only just come online: its brokers
// are found all the same.
func TestGroupWithoutARetryTopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		newStub(t, tg, group, "192.0.2.1@new", 0, d.queues(topic), func(s *stub) { s.still, s.model = true, protocol.Broadcasting })
		tg.AwaitRoute(t, protocol.RetryTopic(group), 1) // the heartbeat makes it; what the name server hears later would stay
		if err := d.client.DeleteTopic(t.Context(), protocol.RetryTopic(group)); err != nil {
			t.Fatal(err)
		}
		m, err := d.Members(t.Context(), group)
		if err != nil || len(m.Members) != 1 || m.Problems != nil {
			t.Errorf("members %+v, %v, want one", m, err)
		}
		l, err := d.Lag(t.Context(), group)
		if err != nil || l.Members != inspect.Exact(1) || len(l.Queues) != 2 || l.Problems != nil {
			t.Errorf("lag %+v, %v, want the two queues of one member", l, err)
		}
	})
}

// Members that get messages by POP say that they are pushed to; what they hold tells.
func TestPopMembersAreNotPush(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		newStub(t, tg, group, "192.0.2.1@pop", 0, d.queues(topic), func(s *stub) { s.still, s.pop = true, true })
		m, err := d.Members(t.Context(), group)
		if err != nil || m.Kind != inspect.KindPop || len(m.Members) != 1 {
			t.Errorf("members %+v, %v, want one by POP", m, err)
		}
		detail, err := d.Group(t.Context(), group)
		if err != nil || detail.Row.Kind != inspect.KindPop {
			t.Errorf("kind %s, %v, want pop", detail.Row.Kind, err)
		}
		l, err := d.Lag(t.Context(), group)
		for i := range l.Queues {
			if q := &l.Queues[i]; q.Topic == topic && !slices.Equal(q.Owners, []string{"192.0.2.1@pop"}) {
				t.Errorf("queue %v: owners %v, %v, want the one that holds all queues", q.MessageQueue, q.Owners, q.OwnersWhy)
			}
		}
		if err != nil || len(l.Queues) < 4 {
			t.Errorf("%d queues, %v", len(l.Queues), err)
		}
	})
}

// Members are asked through the brokers, and a queue's owner is who says to hold it.
func TestMembersAndOwners(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 4), tg.Group(t)
		mqs := d.queues(topic)
		still := func(s *stub) { s.still = true }
		newStub(t, tg, group, "192.0.2.1@one", 0, mqs[:2], still)
		newStub(t, tg, group, "192.0.2.1@two", 0, mqs[1:3], still)
		var m inspect.Members
		sandboxtest.Await(t, "two members that tell", func(ctx context.Context) bool {
			var err error
			m, err = d.Members(ctx, group)
			return err == nil && len(m.Members) == 2 && m.Members[0].Info != nil && m.Members[1].Info != nil
		})
		if m.Kind != inspect.KindPush || m.Model != protocol.Clustering || m.From != protocol.ConsumeFromFirstOffset || m.Problems != nil {
			t.Errorf("members %+v", m)
		}
		if one := m.Members[0]; one.ClientID != "192.0.2.1@one" || len(one.Addresses) != 1 || one.Version != "V4_9_3" || one.Missing != nil {
			t.Errorf("member %+v", one)
		}
		live, err := d.Live(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range live.Queues {
			q := &live.Queues[i]
			if !q.Retry {
				got = append(got, fmt.Sprintf("%d: %v, info %v, %v", q.QueueID, q.Owners, q.Info != nil, q.OwnersWhy.Kind))
			}
		}
		wantTexts(t, "owners", got,
			"0: [192.0.2.1@one], info true, ", "1: [192.0.2.1@one 192.0.2.1@two], info true, ", "2: [192.0.2.1@two], info true, ", "3: [], info false, ")
		if live.Lag.State != inspect.StateOnline || live.Lag.Members != inspect.Exact(2) {
			t.Errorf("state %s with %+v members, want online with 2", live.Lag.State, live.Lag.Members)
		}
	})
}

// faultySandbox has a group on two brokers.
func faultySandbox(t *testing.T, tg *sandboxtest.Target) (d *desk, topic, group string) {
	t.Helper()
	d = newDesk(t, tg)
	topic, group = tg.Topic(t, 2), tg.Group(t)
	d.makeGroup(tg, group)
	mqs := d.queues(topic)
	tg.Produce(t, topic, 3*len(mqs))
	d.commit(group, 1, mqs...)
	return d, topic, group
}

// bothLines runs body in a bubble with a sandbox of two brokers.
func bothLines(t *testing.T, body func(t *testing.T, tg *sandboxtest.Target)) {
	t.Helper()
	sandboxtest.RunSandbox(t, body, sandboxtest.Brokers("broker-a", "broker-b"))
}

// A frozen broker costs its own rows and the deadline of one question, however many
// groups are asked for, and is unknown, not 0.
func TestFrozenBrokerCostsItsOwnRows(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault { return sandbox.Fault{Drop: r.Broker == "broker-b"} })
		began := time.Now()
		l, err := d.Lag(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		wantTexts(t, "queues", queueTexts(&l, topic),
			"0: min 0, committed 1, max 3, lag 2, expired 0",
			"1: min 0, committed 1, max 3, lag 2, expired 0",
			"0: min unreachable, committed unreachable, max unreachable, lag unreachable, expired 0",
			"1: min unreachable, committed unreachable, max unreachable, lag unreachable, expired 0")
		if numberText(l.Lag) != "≥4" || l.UnknownQueues != 2 || numberText(l.Members) != "≥0" || l.State != inspect.StateUnknown {
			t.Errorf("lag %s with %d unknown queues, members %s, state %s", numberText(l.Lag), l.UnknownQueues, numberText(l.Members), l.State)
		}
		many := slices.Repeat([]string{group}, 50)
		rows := d.GroupRows(t.Context(), many)
		if took := time.Since(began); took > 2*d.Timeout() {
			t.Errorf("it took %v for all of 50 groups, more than twice the %v of one question", took, d.Timeout())
		}
		for _, r := range rows {
			if numberText(r.Lag) != "≥4" || len(r.Problems) == 0 || r.Problems[0].Where != "broker-b" {
				t.Fatalf("row %+v", r)
			}
		}
		// It is asked again once it answers.
		tg.Sandbox.SetFault(nil)
		time.Sleep(2 * d.Timeout())
		if l, err = d.Lag(t.Context(), group); err != nil || l.Lag != inspect.Exact(8) || l.Problems != nil {
			t.Errorf("lag %+v, problems %v, %v; want 8", l.Lag, l.Problems, err)
		}
	})
}

// A broker that refuses for want of a right is denied, which is no number, and
// a deaf member costs its own row.
func TestDeniedAndDeaf(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		mqs := d.queues(topic)
		still := func(s *stub) { s.still = true }
		newStub(t, tg, group, "192.0.2.1@deaf", 0, mqs[:2], still)
		newStub(t, tg, group, "192.0.2.1@fine", 0, mqs[2:], still)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			id, _ := r.Command.ExtFields.Get("clientId")
			return sandbox.Fault{Drop: protocol.RequestCode(r.Command.Code) == protocol.GetConsumerRunningInfo && id == "192.0.2.1@deaf"}
		})
		began := time.Now()
		l, err := d.Lag(t.Context(), group)
		if took := time.Since(began); err != nil || took > 2*d.Timeout() {
			t.Fatalf("%v after %v", err, took)
		}
		if q := l.Queues[0]; q.Owners != nil || q.OwnersWhy.Kind != inspect.ReasonUnreachable || !strings.Contains(q.OwnersWhy.Text, "@deaf") {
			t.Errorf("queue of the deaf member: %v, %v", q.Owners, q.OwnersWhy)
		}
		if q := l.Queues[2]; !slices.Equal(q.Owners, []string{"192.0.2.1@fine"}) || q.Lag != inspect.Exact(2) {
			t.Errorf("queue of the other member: %v, %v", q.Owners, q.Lag)
		}

		denied := sandbox.Fault{Code: protocol.NoPermission, Remark: "User:u1 has no permission to access Group:g from 127.0.0.1, no matched policies."}
		if tg.Line == "4" {
			denied = sandbox.Fault{Code: protocol.SystemError, Remark: "org.apache.rocketmq.acl.common.AclException: No acl config for u1, org.apache.rocketmq.acl.plain.X"}
		}
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if r.Broker == "" {
				return sandbox.Fault{}
			}
			return denied
		})
		row := d.GroupRows(t.Context(), []string{group})[0]
		if row.State != inspect.StateDenied || row.Lag.Known || row.Lag.Why.Kind != inspect.ReasonDenied || row.Members.Known {
			t.Errorf("row %+v, want it denied", row)
		}
		tg.Sandbox.SetFault(nil)
	})
}

// A group whose members all read everything keeps its offsets to itself: what brokers
// have of it is no lag.
func TestBroadcastingHasNoLagAtTheBroker(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		newStub(t, tg, group, "192.0.2.1@all", 0, d.queues(topic), func(s *stub) { s.still, s.model = true, protocol.Broadcasting })
		l, err := d.Lag(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		if l.State != inspect.StateBroadcasting || numberText(l.Lag) != "broadcasting" || numberText(l.RetryLag) != "0" {
			t.Errorf("state %s, lag %s, retry %s", l.State, numberText(l.Lag), numberText(l.RetryLag))
		}
		for i := range l.Queues {
			if q := &l.Queues[i]; numberText(q.Committed) != "broadcasting" || numberText(q.Lag) != "broadcasting" || q.Max != inspect.Exact(3) {
				t.Errorf("%s", queueText(q))
			}
		}
	})
}

// Messages that have expired before they were read are told apart, and are no lag.
func TestExpiredMessagesAreNoLag(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		mq := d.queues(topic)[0]
		tg.Sandbox.Truncate(mq, 2)
		l, err := d.LagExact(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := queueText(&l.Queues[0]), "0: min 2, committed 1, max 3, lag 1, expired 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if at, _, err := headOf(t.Context(), d.client, mq, 2); err != nil || !l.Queues[0].NextStored.Equal(at) {
			t.Errorf("next stored %v, want %v (%v)", l.Queues[0].NextStored, at, err)
		}
	})
}

// Retry topics of POP are called by group and topic: they are backlog of their group,
// and no groups of their own.
func TestPopRetryTopicsAreNoGroups(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, _, group := faultySandbox(t, tg)
		retry := protocol.RetryTopic(group + "_orders") // names are at most 127 long
		tg.Sandbox.CreateTopic("orders", 1)
		tg.Sandbox.CreateTopic(retry, 1)
		tg.Sandbox.Put(sandbox.Message{Topic: retry, Body: []byte("x")}, sandbox.Message{Topic: retry, Body: []byte("y")})
		list, err := d.Groups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range list.Groups {
			if g.Group != group && strings.HasPrefix(g.Group, group) {
				t.Errorf("%s is listed as a group", g.Group)
			}
		}
		row := d.GroupRows(t.Context(), []string{group})[0]
		if row.Kind != inspect.KindPop || numberText(row.RetryLag) != "2" || row.Lag != inspect.Exact(8) {
			t.Errorf("kind %s, lag %s, retry %s; want pop, 8, 2", row.Kind, numberText(row.Lag), numberText(row.RetryLag))
		}
	})
}

// Of a long list only the rows that are asked for are asked about, and what they have
// in common once.
func TestRowsAskForThemselvesOnly(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, _ := faultySandbox(t, tg)
		mqs := d.queues(topic)
		var groups []string
		for i := range 100 {
			group := fmt.Sprintf("many-%03d", i)
			d.makeGroup(tg, group)
			d.commit(group, 2, mqs...)
			groups = append(groups, group)
		}
		if _, err := d.Groups(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked := map[protocol.RequestCode]int{}
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault { // on the sandbox's one goroutine
			asked[protocol.RequestCode(r.Command.Code)]++
			return sandbox.Fault{}
		})
		for _, row := range d.GroupRows(t.Context(), groups[:20]) {
			if row.Lag != inspect.Exact(4) || row.Problems != nil {
				t.Fatalf("row %+v, want a lag of 4", row)
			}
		}
		tg.Sandbox.SetFault(nil)
		want := map[protocol.RequestCode]int{
			protocol.GetConsumerConnectionList: 40, protocol.GetConsumeStats: 40, // each group at both brokers
			protocol.GetTopicStatsInfo: 2, // the topic at both
		}
		for code, n := range want {
			if asked[code] != n {
				t.Errorf("%v was asked %d times, want %d; all: %v", code, asked[code], n, asked)
			}
		}
		total := 0
		for _, n := range asked {
			total += n
		}
		if total > 90 {
			t.Errorf("%d questions for 20 rows: %v", total, asked)
		}
	})
}

// Members that write the same tags otherwise subscribe to the same.
func TestEqualFiltersAgree(t *testing.T) {
	for filters, same := range map[[2]string]bool{{"TagA||TagB", "TagB || TagA"}: true, {"TagA||TagB", "TagA"}: false, {"*", "TagA"}: false} {
		bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
			d, topic, group := faultySandbox(t, tg)
			mqs := d.queues(topic)
			for i, filter := range filters {
				newStub(t, tg, group, fmt.Sprintf("192.0.2.1@%d", i), 1, mqs[2*i:2*i+2], func(s *stub) { s.filter = filter })
			}
			r, err := d.Doctor(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(r.Findings, func(f inspect.Finding) bool { return f.Code == inspect.CodeSubscriptionsDiffer })
			if found == same {
				t.Errorf("%q: found to differ: %v", filters, found)
			}
		})
	}
}
