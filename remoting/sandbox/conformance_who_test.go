package sandbox_test

import (
	"slices"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A group that is online and has committed nothing: 5.3 names the topic in its place.
func TestGroupsOfATopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		check := func(what string, want ...string) {
			t.Helper()
			got, err := f.c.GroupsOfTopic(t.Context(), f.addr, f.topic)
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: got %q, %v, want %q", what, got, err, want)
			}
		}
		tg.Produce(t, f.topic, 1)
		check("nobody")
		f.member("a").join(1, map[string]string{f.topic: "*"})
		phantom := tg.Line == "5" && !tg.Since("5.5.0")
		if phantom {
			check("online", f.topic)
		} else {
			check("online", f.group)
		}
		f.commit(f.group, 1)
		want := []string{f.group}
		if phantom {
			want = append(want, f.topic)
			slices.Sort(want)
		}
		check("online and committed", want...)
	})
}

func (f *fixture) commit(group string, offset int64) {
	f.t.Helper()
	if err := f.c.UpdateConsumerOffset(f.t.Context(), group, f.mq, offset); err != nil {
		f.t.Fatal(err)
	}
}

func TestTopicsAndSubscriptionsOfAGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		_, err := f.c.TopicsOfGroup(t.Context(), f.addr, f.group)
		if tg.Line == "4" {
			f.wantCode("topics of a group", err, protocol.RequestCodeNotSupported)
			_, err = f.c.SubscriptionOf(t.Context(), f.addr, f.group, f.topic)
			f.wantCode("subscription of a group", err, protocol.RequestCodeNotSupported)
			return
		}
		topics := func(what string, want ...string) {
			t.Helper()
			got, err := f.c.TopicsOfGroup(t.Context(), f.addr, f.group)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("topics, %s: got %q, %v, want %q", what, got, err, want)
			}
		}
		subscription := func(what, topic, want string) {
			t.Helper()
			s, err := f.c.SubscriptionOf(t.Context(), f.addr, f.group, topic)
			got := "none"
			if s != nil {
				got = s.SubString
			}
			if err != nil || got != want {
				t.Errorf("subscription, %s: got %s, %v, want %s", what, got, err, want)
			}
		}
		topics("unknown group")
		subscription("unknown group", f.topic, "none")
		f.member("a").join(1, map[string]string{f.topic: "TagA"})
		topics("online without commit")
		subscription("online", f.topic, "TagA")
		subscription("of another topic", f.topic+"-none", "none")
		f.commit(f.group, 1)
		topics("committed", f.topic)
	})
}

func TestProducersOfAGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		producers := func(what string, want ...string) {
			t.Helper()
			got, err := f.c.ProducerConnections(t.Context(), f.addr, f.group)
			var ids []string
			for _, c := range got {
				ids = append(ids, c.ClientID)
				if c.ClientAddr == "" || c.Language != "GO" || c.Version != protocol.Version {
					t.Errorf("%s: got %+v", what, c)
				}
			}
			if slices.Sort(ids); err != nil || !slices.Equal(ids, want) {
				t.Errorf("%s: got %q, %v, want %q", what, ids, err, want)
			}
		}
		producers("nobody")
		a, b := f.member("a"), f.member("b")
		for _, m := range []*member{a, b, a} {
			_, err := m.c.Heartbeat(t.Context(), f.addr, &protocol.HeartbeatData{ClientID: m.id, ProducerDataSet: []protocol.ProducerData{{GroupName: f.group}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		producers("two", "a", "b")
		if err := b.c.Unregister(t.Context(), f.addr, protocol.UnregisterClientRequestHeader{ClientID: "b", ProducerGroup: f.group}); err != nil {
			t.Fatal(err)
		}
		producers("one has left", "a")
		if err := a.c.Unregister(t.Context(), f.addr, protocol.UnregisterClientRequestHeader{ClientID: "a", ProducerGroup: f.group}); err != nil {
			t.Fatal(err)
		}
		producers("all have left")
	})
}

// What an inspector asks must not leave anything behind: brokers make groups and
// topics of many requests that only seem to ask.
func TestReadingMakesNothing(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		ctx, absent := t.Context(), f.topic+"-absent"
		tg.Produce(t, f.topic, 1)
		_, _ = f.c.ConsumeStats(ctx, f.addr, f.group, "")
		_, _ = f.c.ConsumeStats(ctx, f.addr, f.group, f.topic)
		_, _ = f.c.Connections(ctx, f.addr, f.group)
		_, _ = f.c.QueueTimeSpans(ctx, f.addr, f.topic, f.group)
		_, _ = f.c.TopicsOfGroup(ctx, f.addr, f.group)
		_, _ = f.c.SubscriptionOf(ctx, f.addr, f.group, f.topic)
		_, _ = f.c.GroupsOfTopic(ctx, f.addr, f.topic)
		_, _ = f.c.BrokerConsumeStats(ctx, f.addr)
		_, _ = f.c.RunningInfo(ctx, f.addr, f.group, "a", false)
		_, _, _ = f.c.MemberOffsets(ctx, f.addr, f.group, f.topic, "a")
		_, _, _ = f.c.QueryConsumerOffset(ctx, f.group, f.mq)
		_, _ = f.c.ProducerConnections(ctx, f.addr, f.group)
		_, _ = f.c.TopicStats(ctx, f.addr, absent)
		_, _ = f.c.TopicConfig(ctx, f.addr, absent)
		_, _, _ = f.c.ViewMessage(ctx, f.addr, f.mq.BrokerName, f.topic, 0)
		absentQueue := protocol.MessageQueue{Topic: absent, BrokerName: f.mq.BrokerName}
		_, _ = f.c.MaxOffset(ctx, absentQueue)
		configs, err := f.c.GroupConfigs(ctx, f.addr)
		if err != nil {
			t.Fatal(err)
		}
		if config, made := configs.Groups[f.group]; made {
			t.Errorf("a group was made: %v", config)
		}
		offsets, err := f.c.AllOffsets(ctx, f.addr)
		if err != nil || len(offsets[f.group]) != 0 {
			t.Errorf("offsets were made: %v, %v", offsets[f.group], err)
		}
		topics, err := f.c.TopicConfigs(ctx, f.addr)
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range []string{absent, protocol.RetryTopic(f.group), protocol.DLQTopic(f.group)} {
			if _, made := topics[topic]; made {
				t.Errorf("topic %s was made", topic)
			}
		}
		// The one that does make it, which is why it is not to be asked for that.
		_, err = f.c.GroupConfig(ctx, f.addr, f.group)
		configs, again := f.c.GroupConfigs(ctx, f.addr)
		if again != nil {
			t.Fatal(again)
		}
		if _, made := configs.Groups[f.group]; made != (tg.Line == "5") {
			t.Errorf("352 (%v): made %v", err, made)
		}
	})
}
