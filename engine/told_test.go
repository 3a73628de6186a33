package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// What happens when a second member takes queues of an orderly group is told by
// the first: who said so, what was dropped, that a long call delays it, the unlock,
// that it is gone, and the renewal of what is left.
func TestGivingAwayIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 4), tg.Group(t)
		busy := engine.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 3}
		var called atomic.Bool
		a := join(t, tg, group, topic, func(_ context.Context, ms []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if ms[0].MessageQueue() == busy && !called.Swap(true) {
				time.Sleep(3 * time.Second)
			}
			return engine.ConsumeSuccess, nil
		}, orderly, named("a"))
		awaitHeld(a, topic, 4)
		tg.Produce(t, topic, 4)
		a.until("the long call", called.Load)
		b := join(t, tg, group, topic, nil, orderly, named("b"))
		awaitHeld(b, topic, 2)

		if ev := untilEvent[engine.MembersChanged](a, "who said it", nil); ev.Address == "" {
			t.Errorf("members_changed = %+v", ev)
		}
		if ev := about[engine.QueueDropped](a, busy); ev.Cause != "unassigned" || ev.Cached != 1 || ev.CommittedOffset != 0 {
			t.Errorf("queue_dropped = %+v", ev)
		}
		if ev := about[engine.QueueRemovalDelayed](a, busy); ev.Cause != "busy" || ev.TryUnlockTimes != 1 || ev.WaitedMS < 500 || ev.WaitedMS > 600 {
			t.Errorf("queue_removal_delayed = %+v", ev)
		}
		if ev := about[engine.QueueRemoved](a, busy); !ev.Unlocked || ev.DurationMS < 1000 {
			t.Errorf("queue_removed = %+v", ev)
		}
		if ev := about[engine.OffsetForgotten](a, busy); ev.Cause != "removed" {
			t.Errorf("offset_forgotten = %+v", ev)
		}
		name := topic + " " + busy.Short()
		untilEvent(a, "the unlock", func(e engine.UnlockSent) bool {
			return e.Broker == "broker-a" && !e.Oneway && slices.Contains(e.Queues, name)
		})
		time.Sleep(45 * time.Second)
		if n := count(a, func(e engine.LockRenewed) bool {
			return e.Broker == "broker-a" && e.AgeMS >= 19_000 && e.AgeMS <= 21_000
		}); n < 2 {
			t.Errorf("the renewal was told %d times in 45 s", n)
		}
	})
}

// An offset that cannot be saved is told once, shown since when, and forgotten
// when a save succeeds; one that a broker has corrected is told when it is durable.
func TestOffsetsThatCannotBeSavedAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		m := join(t, tg, group, topic, nil)
		awaitHeld(m, topic, 1)
		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.UpdateConsumerOffset {
				f.Code, f.Remark = protocol.SystemError, "the disk is full"
			}
			return f
		})
		tg.Produce(t, topic, 5)
		ev := about[engine.OffsetPersistFailed](m, mq)
		if ev.Offset != 5 || !strings.Contains(ev.Error, "the disk is full") {
			t.Errorf("offset_persist_failed = %+v", ev)
		}
		time.Sleep(30 * time.Second)
		if n := count[engine.OffsetPersistFailed](m, nil); n != 1 {
			t.Errorf("told %d times, want once", n)
		}
		s := m.Snapshot()
		if !strings.Contains(s.PersistError, "the disk is full") || s.PersistErrorSince.Sub(ev.Time).Abs() > time.Second {
			t.Errorf("shown as %q since %v, want since %v", s.PersistError, s.PersistErrorSince, ev.Time)
		}
		tg.Sandbox.SetFault(nil)
		time.Sleep(10 * time.Second)
		if s := m.Snapshot(); s.PersistError != "" || !s.PersistErrorSince.IsZero() {
			t.Errorf("still shown as %q since %v", s.PersistError, s.PersistErrorSince)
		}

		if err := m.Pause(t.Context(), engine.PauseRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		tg.Produce(t, topic, 20)
		tg.Sandbox.Truncate(mq, 15)
		if err := m.Resume(t.Context(), engine.ResumeRequest{By: "test"}); err != nil {
			t.Fatal(err)
		}
		illegal := about[engine.OffsetIllegal](m, mq)
		fixed := about[engine.OffsetFixed](m, mq)
		if fixed.Offset != illegal.Corrected || fixed.Time.Before(illegal.Time) {
			t.Errorf("offset_illegal = %+v, offset_fixed = %+v", illegal, fixed)
		}
		if stored, _, err := m.client.QueryConsumerOffset(t.Context(), group, mq); err != nil || stored < fixed.Offset {
			t.Errorf("the broker holds %d, %v, want %d at least", stored, err, fixed.Offset)
		}
	})
}

// A member that is given queues asks their old owner for its offsets again and
// again: one question a second is told.
func TestQuestionsForOffsetsAreToldOnceASecond(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, named("me"))
		awaitHeld(m, topic, 1)
		fields := protocol.EncodeFields(&protocol.ConsumerStatusRequestHeader{Topic: topic, Group: group})
		const times = 120 // 2.4 s
		for range times {
			if _, err := tg.Sandbox.Relay(t.Context(), group, "me", &protocol.Command{Code: int32(protocol.GetConsumerStatusFromClient), ExtFields: fields}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		m.leave()
		told := 0
		for _, e := range m.told() {
			if a, ok := e.(engine.AdminRequest); ok && a.Code == int32(protocol.GetConsumerStatusFromClient) {
				told++
			}
		}
		if told != 3 {
			t.Errorf("%d questions were told %d times, want 3", times, told)
		}
	})
}

// Whoever asks a member through a broker is told of, with what was answered.
func TestQuestionsAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, named("me"))
		awaitHeld(m, topic, 1)
		ask := func(code protocol.RequestCode, fields protocol.ExtFields) {
			t.Helper()
			if _, err := tg.Sandbox.Relay(t.Context(), group, "me", &protocol.Command{Code: int32(code), ExtFields: fields}); err != nil {
				t.Fatal(err)
			}
		}
		ask(protocol.GetConsumerStatusFromClient, protocol.EncodeFields(&protocol.ConsumerStatusRequestHeader{Topic: topic, Group: group}))
		ask(protocol.GetConsumerRunningInfo, protocol.EncodeFields(&protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: "me"}))
		ask(protocol.GetConsumerRunningInfo, protocol.EncodeFields(&protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: "another", ClientID: "me"}))
		tg.Sandbox.NotifyReset(group, topic, protocol.OffsetTable{{Topic: topic, BrokerName: "broker-a"}: 0})
		for code, want := range map[protocol.RequestCode]string{
			protocol.GetConsumerStatusFromClient: "SUCCESS", protocol.GetConsumerRunningInfo: "another", protocol.ResetConsumerClientOffset: "SUCCESS",
		} {
			untilEvent(m, code.String(), func(e engine.AdminRequest) bool {
				return e.Code == int32(code) && e.Address != "" && strings.Contains(e.Result, want)
			})
		}
	})
}
