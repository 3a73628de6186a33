package sandbox_test

import (
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A group that may not consume: pulls are refused, one that is held with the next
// message; everything else of a member goes on. With the permission back, pulls are
// answered again.
func TestAPausedGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		m := f.member("a")
		m.join(1, map[string]string{f.topic: "*"})
		f.send("one")
		tg.AwaitOffset(t, f.mq, 1)
		h := f.header(1)
		h.SysFlag, h.SuspendTimeout = protocol.PullSuspend, 30*time.Second
		held := f.begin(h)
		letPass(time.Second)
		config := f.config()
		config.SetBool("consumeEnable", false)
		if err := f.c.UpdateGroupConfig(t.Context(), f.addr, config); err != nil {
			t.Fatal(err)
		}
		letPass(300 * time.Millisecond)
		select {
		case a := <-held:
			t.Errorf("the held pull was answered by the pause: %v %s, %v", a.Code, a.Remark, a.err)
		default:
		}
		f.send("two")
		if a := <-held; a.err != nil || a.Code != int32(protocol.NoPermission) {
			t.Errorf("held pull: got %v %s, %v", protocol.ResponseCode(a.Code), a.Remark, a.err)
		}
		tg.AwaitOffset(t, f.mq, 2)
		next := f.header(0)
		next.SysFlag = 0
		if cmd, _ := f.pull(next); cmd.Code != int32(protocol.NoPermission) {
			t.Errorf("next pull: got %v %s", protocol.ResponseCode(cmd.Code), cmd.Remark)
		}

		m.join(1, map[string]string{f.topic: "*"})
		wantSameText(t, "members", f.members(), "[a]")
		f.commit(f.group, 1)
		wantSameText(t, "committed", f.queryOffset(), "1")
		locked, err := f.c.LockBatch(t.Context(), f.mq.BrokerName, &protocol.LockBatchBody{ConsumerGroup: f.group, ClientID: "a", MQSet: []protocol.MessageQueue{f.mq}})
		if err != nil || len(locked) != 1 {
			t.Errorf("lock: got %v, %v", locked, err)
		}

		config = f.config()
		config.SetBool("consumeEnable", true)
		if err := f.c.UpdateGroupConfig(t.Context(), f.addr, config); err != nil {
			t.Fatal(err)
		}
		if cmd, r := f.pull(next); cmd.Code != 0 || len(f.messages(r)) != 2 {
			t.Errorf("after the pause: got %v %s", protocol.ResponseCode(cmd.Code), cmd.Remark)
		}
	})
}
