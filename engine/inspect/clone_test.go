package inspect_test

import (
	"errors"
	"strings"
	"testing"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func (d *desk) planClone(r inspect.CloneRequest) inspect.ClonePlan {
	d.t.Helper()
	p, err := d.PlanClone(d.t.Context(), r)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

// Offsets of one topic are copied to another group, queue by queue, each read back;
// queues without an offset are left as they are, and a reset that waits for a pull does
// not keep the copy away.
func TestClone(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, source, target := tg.Topic(t, 4), tg.Group(t), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 20*len(mqs))
		d.makeGroup(tg, source)
		r := inspect.CloneRequest{Source: source, Target: target, Topic: topic}
		d.commit(source, 7, mqs[0], mqs[1], mqs[2])
		if _, err := d.PlanClone(t.Context(), r); err == nil || !strings.Contains(err.Error(), "create it first") {
			t.Errorf("a clone to a group that is not there: %v", err)
		}
		d.makeGroup(tg, target)
		d.commit(target, 12, mqs[1])
		d.apply(d.plan(inspect.ResetRequest{Group: target, Topics: []string{topic}, Queues: mqs[2:3], Target: core.ResetTarget{Kind: core.ResetLatest}}))
		if tg.Line == "5" { // arm a reset that waits for a pull
			for _, addr := range tg.Masters(t) {
				_, err := d.client.ResetOffsets(t.Context(), addr, &protocol.InvokeResetOffsetRequestHeader{
					Topic: topic, Group: target, IsForce: true, Queue: &protocol.ResetQueue{ID: mqs[2].QueueID, Offset: 20}})
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		p := d.planClone(r)
		var got []string
		for _, row := range p.Rows[:4] {
			got = append(got, row.Effect.String())
		}
		if p.Online || p.Rows[0].Before != -1 || p.Rows[0].After != 7 || p.Rows[1].Before != 12 || p.Rows[3].After != -1 ||
			strings.Join(got, " ") != "skip replay replay none" {
			t.Errorf("plan: online %v, effects %q, rows %s", p.Online, got, rowText(p.Rows))
		}
		res, err := d.ApplyClone(t.Context(), p)
		if err != nil || res.Failed() != nil || res.Confirmed != 3 || res.Rows[3].State != inspect.CloneNothing {
			t.Fatalf("%v, %v, rows %s", err, res.Failed(), rowText(res.Rows))
		}
		d.wantCommitted(target, all(mqs[:3], 7))
		d.wantCommitted(source, all(mqs[:3], 7))
		saved, err := inspect.ReadSaved(res.SavedTo)
		if exact := saved.Exact(); err != nil || saved.Group != target || exact[mqs[1]] != 12 || len(exact) != 2 {
			t.Errorf("saved %+v, %v", saved, err)
		}
		d.commit(target, 8, mqs[0])
		if _, err := d.ApplyClone(t.Context(), p); err == nil || !strings.Contains(err.Error(), "no longer as planned") {
			t.Errorf("a plan that is out of date: %v", err)
		}
	})
}

// At the first doubt a clone stops, and says of each queue whether it is confirmed,
// unknown or not tried.
func TestCloneDoubt(t *testing.T) {
	// A real broker answers every commit.
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, source, target := tg.Topic(t, 3), tg.Group(t), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 20*len(mqs))
		d.makeGroup(tg, source)
		d.makeGroup(tg, target)
		d.commit(source, 7, mqs...)
		p := d.planClone(inspect.CloneRequest{Source: source, Target: target, Topic: topic})
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			id, _ := r.Command.ExtFields.Get("queueId")
			commit := r.Command.Code == int32(protocol.UpdateConsumerOffset)
			return sandbox.Fault{Lose: commit && id == "0", Drop: commit && id == "1"} // one is read back, one was never done
		})
		res, err := d.ApplyClone(t.Context(), p)
		var got []inspect.CloneState
		for _, row := range res.Rows {
			got = append(got, row.State)
		}
		want := []inspect.CloneState{inspect.CloneConfirmed, inspect.CloneUnknown, inspect.CloneNotTried}
		if err != nil || len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || res.Confirmed != 1 {
			t.Errorf("%v, states %q, want %q", err, got, want)
		}
		if err := res.Failed(); err == nil || !strings.Contains(err.Error(), "2 of 3 queues are not confirmed") || !strings.Contains(err.Error(), "not tried") {
			t.Errorf("error %v", err)
		}
	})
}

// Members of the target overwrite a copy: that is said before, and seen after.
func TestCloneOnline(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, source, target := tg.Topic(t, 1), tg.Group(t), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 20*len(mqs))
		d.makeGroup(tg, source)
		d.makeGroup(tg, target)
		d.commit(source, 3, mqs...)
		d.commit(target, 20, mqs...)
		newStub(t, tg, target, "c1", 20, mqs)
		p := d.planClone(inspect.CloneRequest{Source: source, Target: target, Topic: topic})
		if !p.Online {
			t.Error("the plan does not say that members of the target are connected")
		}
		res, err := d.ApplyClone(t.Context(), p)
		// The member, which commits once a second, may do so before the copy is read back.
		seen := []string{"overwritten by a member: 20", "20 is committed, 3 was written"}
		if err != nil || res.Rows[0].State != inspect.CloneUnknown || !anyOf(res.Rows[0].Error, seen) {
			t.Errorf("%v, rows %s", err, rowText(res.Rows))
		}
		if _, ok := errors.AsType[*inspect.NotPossibleError](p.Refused()); ok {
			t.Error("a target with members is refused")
		}
	})
}
