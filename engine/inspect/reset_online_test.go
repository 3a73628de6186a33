package inspect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A group with members is reset the way that its broker line has: the members go to
// the target, and that is seen.
func TestResetOnline(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 2, 50, 50)
		newStub(t, tg, group, "c1", 50, mqs, heeding)

		p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		method := inspect.MethodServer
		if tg.Line == "4" {
			method = inspect.MethodPush
		}
		if !p.Online || p.Method != method || len(p.Members) != 1 || !p.Members[0].Obeys || p.Rows[0].Owner != "c1" {
			t.Errorf("plan: online %v, %s, members %+v, first row %+v", p.Online, p.Method, p.Members, rowText(p.Rows[0]))
		}
		res := d.apply(p)
		for _, row := range res.Rows {
			if !row.Verified || row.Before != 50 || row.After != 0 || row.ReadBack >= 50 || row.Obeyed != "goes on from there" {
				t.Errorf("row %s", rowText(row))
			}
		}
	})
}

// Where the members are told at once, as on 4.x, they drop their queues though the group is
// paused, and get nothing before it is resumed.
func TestResetWhilePausedTellsMembersAtOnce(t *testing.T) {
	sandboxtest.RunIn(t, sandboxtest.Line4, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 2, 50, 50)
		newStub(t, tg, group, "c1", 50, mqs, heeding)
		r := inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}}
		const words = "after the group is resumed"
		if p := d.plan(r); strings.Contains(p.Why, words) || strings.Contains(p.Members[0].Effect, words) {
			t.Errorf("plan of a group that is not paused: %s; member %+v", p.Why, p.Members[0])
		}
		d.pause(inspect.PauseRequest{Group: group})
		if p := d.plan(r); !strings.Contains(p.Why, words) || p.Members[0].Effect != "drops its queues now, and goes on from there "+words {
			t.Errorf("plan: %s; member %+v", p.Why, p.Members[0])
		}
	})
}

// In a paused group no member is let in to hear of it: the plan says when it will be, and
// nobody is watched for what cannot come. The place stays until then.
func TestResetWhilePaused(t *testing.T) {
	sandboxtest.RunIn(t, sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 2, 50, 50)
		s := newStub(t, tg, group, "c1", 50, mqs, heeding)
		d.pause(inspect.PauseRequest{Group: group})

		const words = "moves at its first pull after the group is resumed"
		p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		if p.Members[0].Effect != words || !strings.Contains(p.Why, "after the group is resumed") {
			t.Errorf("plan: %s; member %+v", p.Why, p.Members[0])
		}
		asked := s.askedForInfo()
		res := d.apply(p)
		for _, row := range res.Rows {
			if !row.Verified || row.ReadBack != 0 || row.Obeyed != words {
				t.Errorf("row %s", rowText(row))
			}
		}
		if n := s.askedForInfo() - asked; n > 0 {
			t.Errorf("a member that is not let in was asked %d times: it was watched", n)
		}
		d.pause(inspect.PauseRequest{Group: group, Resume: true})
		sandboxtest.Await(t, "the member at the target", func(context.Context) bool {
			for _, at := range s.positions() {
				if at >= 50 {
					return false
				}
			}
			return true
		})
	})
}

// A member that goes on committing its old place is named, and the queue is not called
// done.
func TestResetNotHeeded(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 1, 50, 50)
		newStub(t, tg, group, "deaf", 50, mqs)

		p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		res, err := d.ApplyReset(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		words := "overwritten by deaf at "
		if tg.Line == "4" {
			words = "not applied by deaf: it still commits 50"
		}
		for _, row := range res.Rows {
			if row.Verified || !strings.HasPrefix(row.Obeyed, words) || row.ReadBack != 50 {
				t.Errorf("row %+v, want %q", rowText(row), words)
			}
		}
		if err := res.Failed(); err == nil || !strings.Contains(err.Error(), "deaf") || res.Done != 0 {
			t.Errorf("%d done, error %v", res.Done, err)
		}
		saved, err := inspect.ReadSaved(res.SavedTo)
		if err != nil || saved.Exact()[mqs[0]] != 50 {
			t.Errorf("saved %+v, %v", saved, err)
		}
	})
}

// What 4.9 cannot do while members are connected is refused with the way out, and done
// on 5.x: one queue, an offset, a shift.
func TestResetOnlineOneQueue(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 2, 20, 20)
		newStub(t, tg, group, "c1", 20, mqs, heeding)
		requests := map[string]inspect.ResetRequest{
			"one queue": {Group: group, Queues: mqs[:1], Target: core.ResetTarget{Kind: core.ResetEarliest}},
			"an offset": {Group: group, Target: core.ResetTarget{Kind: core.ResetOffset, Offset: 3}},
			"a shift":   {Group: group, Target: core.ResetTarget{Kind: core.ResetShift, Offset: -2}},
			"a file":    {Group: group, Exact: all(mqs, 7)},
		}
		if tg.Line == "4" {
			for name, r := range requests {
				p := d.plan(r)
				_, err := d.ApplyReset(t.Context(), p)
				if np, ok := errors.AsType[*inspect.NotPossibleError](err); !ok || p.Method != inspect.MethodNone || !strings.Contains(np.Why, "stop the group's members") {
					t.Errorf("%s: %s, error %v", name, p.Method, err)
				}
			}
			d.wantCommitted(group, all(mqs, 20))
			return
		}
		res := d.apply(d.plan(requests["one queue"]))
		if len(res.Rows) != 1 || !res.Rows[0].Verified || res.Rows[0].After != 0 {
			t.Errorf("one queue: %s", rowText(res.Rows))
		}
		d.wantCommitted(group, map[protocol.MessageQueue]int64{mqs[1]: 20})
	})
}

// A queue whose commit is at the target has a member that is further, and would commit
// that a moment later: it goes back too.
func TestResetOnlineBehindItsMember(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 50)
		d.makeGroup(tg, group)
		d.commit(group, 0, mqs...)
		begins := make(chan struct{})
		s := newStub(t, tg, group, "c1", 50, mqs, heeding, func(s *stub) { s.begins = begins })
		p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		close(begins) // the plan has seen the commit that is behind
		if row := p.Rows[0]; row.Before != 0 || row.After != 0 {
			t.Fatalf("planned %s, want 0 to 0", rowText(row))
		}
		res := d.apply(p)
		wait := time.NewTimer(5 * stubTick)
		<-wait.C
		if row := res.Rows[0]; !row.Verified || s.positions()[mqs[0]] >= 50 {
			t.Errorf("row %s, and the member is at %d", rowText(row), s.positions()[mqs[0]])
		}
	})
}

// A 4.9 broker resets nothing of a topic as long as one of its queues has no commit:
// those get one first.
func TestResetOnlineUncommitted(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 3), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 20*len(mqs))
		d.makeGroup(tg, group)
		d.commit(group, 5, mqs[0])
		newStub(t, tg, group, "c1", 5, mqs[:1], heeding)
		res := d.apply(d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetLatest}}))
		for _, row := range res.Rows {
			if !row.Verified || row.After != 20 {
				t.Errorf("row %s", rowText(row))
			}
		}
		d.wantCommitted(group, all(mqs, 20))
	})
}

// A 4.9 broker sends members to the message nearest to a time: the plan says where
// that is, and never skips.
func TestResetOnlineTime(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := d.queues(topic)[0]
		batch := make([]protocol.BatchItem, 32)
		for i := range batch {
			batch[i].Body = []byte{'a' + byte(i)}
		}
		sandboxtest.Send(t, d.client, mq, batch...)
		wait := time.NewTimer(50 * time.Millisecond) // between two store times
		<-wait.C
		sandboxtest.Send(t, d.client, mq, batch...)
		tg.AwaitOffset(t, mq, 64)
		d.makeGroup(tg, group)
		d.commit(group, 64, mq)
		at := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetOffset, Offset: 32}}).Rows[0].FirstStored
		newStub(t, tg, group, "c1", 64, []protocol.MessageQueue{mq}, heeding)

		later := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetTime, Time: at.Add(time.Hour)}})
		if later.Rows[0].After != 64 || later.Rows[0].Effect != core.EffectNone {
			t.Errorf("a time beyond the end: %+v", rowText(later.Rows[0]))
		}
		p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetTime, Time: at}})
		if p.Rows[0].After != 32 {
			t.Errorf("the time of the second batch: %+v", rowText(p.Rows[0]))
		}
		res := d.apply(p)
		if row := res.Rows[0]; row.After != 32 || !row.Verified {
			t.Errorf("row %s", rowText(row))
		}
	})
}

// planForStill plans to reset a group of one member, which does not move, from the end of
// a new topic to its beginning.
func planForStill(t *testing.T, tg *sandboxtest.Target, queues int32) (*desk, inspect.ResetPlan, []protocol.MessageQueue, *stub) {
	t.Helper()
	d := newDesk(t, tg)
	group, mqs := d.consumed(tg, queues, 20, 20)
	s := newStub(t, tg, group, "c1", 20, mqs, func(s *stub) { s.still = true })
	return d, d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}}), mqs, s
}

// Who has seen enough ends the watch: what was written stays, and is told.
func TestResetWatchEnds(t *testing.T) {
	// On 4.9 a member that does not move leaves nothing to be read back.
	sandboxtest.RunIn(t, sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target) {
		d, p, mqs, s := planForStill(t, tg, 1)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		s.whenAsked(s.askedForInfo()+2, end) // the watch asks every two seconds
		res, err := d.ApplyReset(ctx, p)
		if err != nil || res.Rows[0].Obeyed != "has not pulled yet: moves at its next pull" || !res.Rows[0].Verified {
			t.Errorf("%v, row %s", err, rowText(res.Rows[0]))
		}
		d.wantCommitted(p.Request.Group, all(mqs, 0))
	})
}

// A broker that is lost while members are watched is named, with what was seen last:
// nothing is said about its members, nor called done.
func TestResetBrokerLost(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, p, _, _ := planForStill(t, tg, 4)
		lose := time.AfterFunc(3*time.Second, func() { tg.Sandbox.StopBroker("broker-b") })
		defer lose.Stop()
		res, err := d.ApplyReset(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range res.Rows {
			lost := row.BrokerName == "broker-b"
			if lost != (row.Lost != "") || lost && (row.Verified || !strings.HasPrefix(row.Obeyed, "not known: ") || row.ReadBack < 0) {
				t.Errorf("row %s, lost %q, obeyed %q", rowText(row), row.Lost, row.Obeyed)
			}
		}
		if text := res.Failed().Error(); !strings.Contains(text, "are not known to be where they were to go") || !strings.Contains(text, "broker-b: 4 queues: the broker was lost after the reset was sent: ") {
			t.Errorf("it ends with %q", text)
		}
	}, sandboxtest.Brokers("broker-a", "broker-b"))
}
