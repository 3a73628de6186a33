package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func tagged(name string) protocol.Property {
	return protocol.Property{Name: protocol.PropertyTags, Value: name}
}

// subscribed is a member's one subscription, of tags.
func subscribed(expression string) change {
	return func(o *engine.Options) { o.Subscriptions[0].Expression = expression }
}

func bySQL(expression string) change {
	return func(o *engine.Options) {
		o.Subscriptions[0].Expression, o.Subscriptions[0].ExpressionType = expression, protocol.ExpressionSQL92
	}
}

// awaitCommit waits until the member has committed in memory up to an offset of
// its first queue of the topic.
func awaitCommit(m *member, topic string, offset int64) {
	m.t.Helper()
	mq := queueOf(m, topic, 0)
	m.until(fmt.Sprintf("%d is committed", offset), func() bool { return snapOf(m, mq).CommittedOffset == offset })
}

// tagsOf collects the tags that are delivered.
func tagsOf(into *notes) engine.ListenerFunc {
	return func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
		for i := range msgs {
			into.add(strings.Clone(msgs[i].Tags()))
		}
		return engine.ConsumeSuccess, nil
	}
}

// The broker compares the hash codes of tags only, as Java computes them, and the
// member the tags themselves: one with the same code is not delivered, a tag in
// another script or of many letters is.
func TestTagFilter(t *testing.T) {
	long := strings.Repeat("LongTag-", 6)[:40] // its code overflows 32 bits, and is negative
	if protocol.TagsCode(long) >= 0 {
		t.Fatalf("TagsCode(%s) = %d, want a negative one", long, protocol.TagsCode(long))
	}
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, tt := range []struct {
			expression string
			want       []string
		}{
			{"Aa", []string{"Aa"}},
			{"BB||C", []string{"BB", "C"}},
			{" Aa || BB || none ", []string{"Aa", "BB"}},
			{"é", []string{"é"}},
			{"中文||🙂", []string{"中文", "🙂"}},
			{long, []string{long}},
			{"*", []string{"", "Aa", "BB", "C", long, "é", "中文", "🙂"}},
			{"none", nil},
		} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			for _, tag := range []string{"Aa", "BB", "C", "é", "中文", "🙂", long} {
				tg.Produce(t, topic, 1, tagged(tag))
			}
			tg.Produce(t, topic, 1)
			var got notes
			m := join(t, tg, group, topic, tagsOf(&got), subscribed(tt.expression))
			awaitCommit(m, topic, 8)
			m.leave()
			slices.Sort(tt.want)
			if g := slices.Sorted(slices.Values(got.all())); !slices.Equal(g, tt.want) {
				t.Errorf("%s: got the tags %q, want %q", tt.expression, g, tt.want)
			}
			checkCommitted(t, tg, group, topic)
		}
	})
}

// The committed offset moves over what the filter leaves out, with nothing
// delivered: at the broker (NO_MATCHED), and at the member, whose answers are
// FOUND with messages of another tag that has the same code (trap T20).
func TestCommitMovesOverFilteredMessages(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, tag := range []string{"other", "BB"} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			tg.Produce(t, topic, 1000, tagged(tag))
			m := join(t, tg, group, topic, nil, subscribed("Aa"))
			awaitCommit(m, topic, 1000)
			m.until("it is told", func() bool { return len(m.events) > 0 && lastCorrected(m) == 1000 })
			m.leave()
			if m.distinct() != 0 {
				t.Errorf("%d messages of %s were delivered", m.distinct(), tag)
			}
			checkCommitted(t, tg, group, topic)
		}
	})
}

// lastCorrected is the offset told last by a tags_corrected. Called under mu.
func lastCorrected(m *member) (offset int64) {
	for _, e := range m.events {
		if c, ok := e.(engine.TagsCorrected); ok {
			offset = c.Offset
		}
	}
	return offset
}

// It does not move while a message before the filtered stretch is in work: only
// with an empty cache is everything before the next offset done.
func TestCommitWaitsForMessagesBeforeFilteredOnes(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1, tagged("Aa"))
		tg.Produce(t, topic, 100, tagged("BB"))
		tg.Produce(t, topic, 100, tagged("other"))
		release := make(chan struct{})
		m := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		}, subscribed("Aa"))
		mq := queueOf(m, topic, 0)
		m.until("all are scanned", func() bool { q := snapOf(m, mq); return q.NextOffset == 201 && q.CachedCount == 1 })
		if got := snapOf(m, mq).CommittedOffset; got != 0 {
			t.Errorf("committed %d while the first message is in work, want 0", got)
		}
		close(release)
		m.until("the first is done", func() bool { return snapOf(m, mq).CommittedOffset > 0 })
		tg.Produce(t, topic, 10, tagged("BB")) // ends the pull that the broker holds
		awaitCommit(m, topic, 211)
	})
}

// A filter hook takes messages away after the check of tags; the offset moves over them.
func TestFilterHook(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 20, tagged("Aa"))
		tg.Produce(t, topic, 20, tagged("BB"))
		var wrongTags, calls atomic.Int32
		odd := engine.FilterHook{Name: "odd", Filter: func(c *engine.FilterContext) error {
			calls.Add(1)
			kept := c.Messages[:0]
			for _, m := range c.Messages {
				if m.Tags() != "Aa" || c.ConsumerGroup != group || c.MessageQueue.Topic != topic {
					wrongTags.Add(1)
				}
				if m.QueueOffset()%2 == 1 {
					kept = append(kept, m)
				}
			}
			c.Messages = kept
			return nil
		}}
		failing := engine.FilterHook{Name: "failing", Filter: func(c *engine.FilterContext) error {
			c.Messages = slices.DeleteFunc(c.Messages, func(m engine.Message) bool { return m.QueueOffset() < 10 })
			return errors.New("no")
		}}
		m := join(t, tg, group, topic, nil, subscribed("Aa"), func(o *engine.Options) { o.FilterHooks = []engine.FilterHook{odd, failing} })
		m.until("what both leave", func() bool { return m.distinct() == 5 })
		tg.Produce(t, topic, 1, tagged("BB"))
		awaitCommit(m, topic, 41)
		m.leave()
		if got := m.order[queueOf(m, topic, 0)]; len(got) != 5 || slices.Min(got) != 11 {
			t.Errorf("delivered %v, want the odd ones from 11 on", got)
		}
		if wrongTags.Load() > 0 || calls.Load() == 0 {
			t.Errorf("%d calls of the hook, %d messages it should not have seen", calls.Load(), wrongTags.Load())
		}
		checkCommitted(t, tg, group, topic)
	})
}

// An SQL92 expression is evaluated by the brokers. One that does not have its
// property filter on, or that finds the expression wrong, ends the start before
// the group is joined.
func TestSQL92(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		if tg.Sandbox != nil { // its brokers are as their default is: without property filter
			err := refusedStart(t, tg, group, topic, "a > 5")
			if err.BadExpression() || !strings.Contains(err.Error(), "set enablePropertyFilter=true at this broker") {
				t.Errorf("refusal = %v", err)
			}
			return
		}
		for i := range 10 {
			tg.Produce(t, topic, 1, protocol.Property{Name: "a", Value: fmt.Sprint(i)}, tagged([]string{"x", "y"}[i%2]))
		}
		for expression, want := range map[string][]int64{
			"a > 5":                      {6, 7, 8, 9},
			"a BETWEEN 2 AND 4":          {2, 3, 4},
			"a > 3 AND TAGS = 'x'":       {4, 6, 8},
			"a IS NULL OR TAGS IN ('z')": nil,
		} {
			group := tg.Group(t)
			m := join(t, tg, group, topic, nil, bySQL(expression))
			awaitCommit(m, topic, 10)
			m.leave()
			mq := queueOf(m, topic, 0)
			got := m.order[mq]
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: got the offsets %v, want %v", expression, got, want)
			}
			checkCommitted(t, tg, group, topic)
		}
		err := refusedStart(t, tg, group, topic, "a > > 5")
		if !err.BadExpression() || !strings.Contains(err.Error(), "correct the expression") || !strings.Contains(err.Error(), `"a > > 5"`) {
			t.Errorf("refusal = %v", err)
		}
	})
}

// refusedStart runs a member whose start must fail, and checks that it never was
// in the group.
func refusedStart(t *testing.T, tg *sandboxtest.Target, group, topic, expression string) *engine.FilterRefusedError {
	t.Helper()
	o := engine.DefaultOptions()
	o.Group, o.Subscriptions = group, []engine.Subscription{{Topic: topic, Expression: expression, ExpressionType: protocol.ExpressionSQL92}}
	in := engine.NewInbound()
	client := tg.Client(t, in)
	e, err := engine.New(o, engine.Deps{Client: client, Inbound: in, Store: brokerStore{client, group},
		Listener: engine.ListenerFunc(func(context.Context, []engine.Message, *engine.ConsumeContext) (engine.Status, error) {
			return engine.ConsumeSuccess, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Run(t.Context(), t.Context())
	refused, ok := errors.AsType[*engine.FilterRefusedError](err)
	if !ok {
		t.Fatalf("Run = %v, want a refusal", err)
	}
	if s := e.Snapshot(); s.State != engine.ShutdownAlready || !strings.Contains(s.StateCause, "refuses the SQL92 expression") {
		t.Errorf("state %v, cause %q", s.State, s.StateCause)
	}
	if ids, _, err := client.ConsumerIDs(t.Context(), topic, group); err != nil || len(ids) > 0 {
		t.Errorf("members = %v, %v, want none", ids, err)
	}
	return refused
}

// A broker that cannot be asked is no refusal: the member starts, and its pulls tell.
func TestSQL92CheckUnanswered(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			f.Drop = code == protocol.CheckClientConfig
			return f
		})
		m := join(t, tg, group, topic, nil, bySQL("a > 5"))
		e := untilEvent[engine.PullError](m, "the pull is refused", nil)
		if e.Code != int32(protocol.SystemError) || !strings.Contains(e.Error, "filter message by SQL92") {
			t.Errorf("pull_error = %+v", e)
		}
	})
}

// A broker older than 4.1.0 does not know the question, nor the filter.
func TestSQL92OldBroker(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.CheckClientConfig {
				f.Code, f.Remark = protocol.RequestCodeNotSupported, " request type 46 not supported"
			}
			return f
		})
		if err := refusedStart(t, tg, group, topic, "a > 5"); !strings.Contains(err.Error(), "the broker is older than 4.1.0 and filters by tags only") {
			t.Errorf("refusal = %v", err)
		}
	})
}

// A subscription must make sense before anything is sent.
func TestSubscriptionIsChecked(t *testing.T) {
	for name, s := range map[string]engine.Subscription{
		"separators only": {Topic: "t", Expression: "||"},
		"empty SQL":       {Topic: "t", Expression: " ", ExpressionType: protocol.ExpressionSQL92},
		"unknown type":    {Topic: "t", Expression: "a", ExpressionType: "XPATH"},
	} {
		o := engine.DefaultOptions()
		o.Group, o.Subscriptions = "g", []engine.Subscription{s}
		if ce, ok := errors.AsType[*engine.ConfigError](o.Validate()); !ok || ce.Property != "subscription" {
			t.Errorf("%s: Validate = %v, want the subscription refused", name, o.Validate())
		}
	}
}

// With PostSubscriptionWhenPull the pull carries the expression, and a broker
// that has forgotten the group's heartbeat serves it all the same.
func TestPostSubscriptionWhenPull(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 10, tagged("A"))
		tg.Produce(t, topic, 10, tagged("B"))
		w := newWire(tg)
		var carried atomic.Int32
		w.onRequest(func(req *protocol.Command) {
			var h protocol.PullMessageRequestHeader
			if protocol.RequestCode(req.Code) != protocol.PullMessage || protocol.DecodeFields(req.ExtFields, &h) != nil || h.Topic != topic {
				return
			}
			if h.SysFlag == protocol.PullSuspend|protocol.PullSubscription && h.Subscription == "A" && h.ExpressionType == protocol.ExpressionTAG {
				carried.Add(1)
			}
		})
		m := joinOver(t, tg, w, group, topic, nil, subscribed("A"), func(o *engine.Options) { o.PostSubscriptionWhenPull = true })
		m.until("10 messages", func() bool { return m.distinct() == 10 })
		if carried.Load() == 0 {
			t.Error("no pull carried the subscription")
		}
		other := tg.Client(t, nil) // another member overwrites what the heartbeat said
		for _, addr := range tg.Masters(t) {
			if _, err := other.Heartbeat(t.Context(), addr, strangerOf(group, topic)); err != nil {
				t.Fatal(err)
			}
		}
		tg.Produce(t, topic, 10, tagged("A"))
		m.until("10 more", func() bool { return m.distinct() == 20 })
	})
}

// strangerOf is a member of the group that reads the topic by another tag.
func strangerOf(group, topic string) *protocol.HeartbeatData {
	s, _ := protocol.NewSubscriptionData(topic, "B")
	s.SubVersion = 1 << 50
	return &protocol.HeartbeatData{ClientID: "stranger@1", ConsumerDataSet: []protocol.ConsumerData{{
		GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
		ConsumeFromWhere: protocol.ConsumeFromFirstOffset, SubscriptionDataSet: []protocol.SubscriptionData{s},
	}}}
}
