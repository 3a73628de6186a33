package sandbox_test

import (
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Of a source that is online, a topic that its members do not subscribe to is copied
// only with offline, which names what the caller thinks of the source. Nothing tells
// the caller.
func TestCloneOfASourceThatIsOnline(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		other := tg.Topic(t, 1)
		tg.Produce(t, f.topic, 5)
		f.member("a").join(1, map[string]string{other: "*"})
		f.commit(f.group, 4)
		clone := func(offline bool) map[string]map[int32]int64 {
			t.Helper()
			target := tg.Group(t)
			err := f.c.CloneOffsets(t.Context(), f.addr, &protocol.CloneGroupOffsetRequestHeader{
				SrcGroup: f.group, DestGroup: target, Topic: f.topic, Offline: offline,
			})
			if err != nil {
				t.Fatal(err)
			}
			all, err := f.c.AllOffsets(t.Context(), f.addr)
			if err != nil {
				t.Fatal(err)
			}
			return all[target]
		}
		wantSameText(t, "not subscribed to", clone(false), map[string]map[int32]int64{})
		wantSameText(t, "not subscribed to, as of an offline one", clone(true), map[string]map[int32]int64{f.topic: {f.mq.QueueID: 4}})
	})
}

// One queue without a commit, and 4.9 resets none; 5.3 resets all.
func TestResetOfAGroupThatHasNotCommittedEverywhere(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		tg.Produce(t, f.topic, 10)
		f.member("a").join(1, map[string]string{f.topic: "*"})
		f.commit(f.group, 1)
		targets, err := f.reset(-1, true, nil)
		if tg.Line == "4" {
			f.wantCode("one of two queues committed", err, protocol.SystemError)
			wantSameText(t, "committed", f.queryOffset(), "1")
			return
		}
		if err != nil || len(targets) != 2 || targets[f.mq] != 5 {
			t.Errorf("got %v, %v", targets, err)
		}
		wantSameText(t, "committed", f.queryOffset(), "5")
	})
}
