package sandbox_test

import (
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The member gets the message with the question, and its verdict comes back; no
// offset moves.
func TestAMemberConsumesDirectly(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.send("one")
		m := f.pullOne(f.mq, 0, time.Second)
		want := protocol.ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: "CR_LATER", SpentTimeMills: 7, Remark: "no \"thanks\""}
		asked := make(notices, 1)
		client := tg.Client(t, replier{func(req protocol.Command) (protocol.Command, bool) {
			if protocol.RequestCode(req.Code) != protocol.ConsumeMessageDirectly {
				return protocol.Command{}, false
			}
			asked.HandleRequest(nil, req)
			return protocol.Command{Body: protocol.EncodeConsumeDirectlyResult(&want)}, true
		}})
		(&member{f: f, id: "a", c: client}).join(1, map[string]string{f.topic: "*"})
		got, err := f.c.ConsumeDirectly(t.Context(), f.addr, &protocol.ConsumeMessageDirectlyRequestHeader{
			ConsumerGroup: f.group, ClientID: "a", MsgID: m.OffsetMessageID(),
		})
		if err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
		req, _ := asked.receive(time.Second)
		wantSameText(t, "message", bodies(t, messagesOf(t, req.Body, "")), "[one]")
		all, err := f.c.AllOffsets(t.Context(), f.addr)
		if err != nil || len(all[f.group]) != 0 {
			t.Errorf("offsets: got %v, %v", all[f.group], err)
		}
		_, err = f.c.ConsumeDirectly(t.Context(), f.addr, &protocol.ConsumeMessageDirectlyRequestHeader{
			ConsumerGroup: f.group, ClientID: "nobody", MsgID: m.OffsetMessageID(),
		})
		f.wantCode("a member that nobody knows", err, protocol.SystemError)
	})
}

// Without cleanOffset the offsets outlive the group, and meet whoever makes it again.
func TestADeletedGroupMayKeepItsOffsets(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.pull(f.header(0))
		f.commit(f.group, 7)
		if _, err := f.invoke(protocol.DeleteSubscriptionGroup, protocol.ExtFields{{Key: "groupName", Value: f.group}}, nil); err != nil {
			t.Fatal(err)
		}
		offsets := func() map[string]map[int32]int64 {
			t.Helper()
			all, err := f.c.AllOffsets(t.Context(), f.addr)
			if err != nil {
				t.Fatal(err)
			}
			return all[f.group]
		}
		wantSameText(t, "deleted without its offsets", offsets(), map[string]map[int32]int64{f.topic: {f.mq.QueueID: 7}})
		if err := f.c.DeleteGroup(t.Context(), f.addr, f.group); err != nil {
			t.Fatal(err)
		}
		if got := offsets(); len(got) != 0 {
			t.Errorf("deleted with its offsets: got %v", got)
		}
	})
}
