package inspect_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// memberTexts are the members of a group's configuration at one broker.
func (d *desk) memberTexts(addr, group string) map[string]string {
	d.t.Helper()
	all, err := d.client.GroupConfigs(d.t.Context(), addr)
	if err != nil {
		d.t.Fatal(err)
	}
	texts := map[string]string{}
	for _, m := range all.Groups[group].Members() {
		texts[m.Name] = m.Value
	}
	return texts
}

func (d *desk) pause(r inspect.PauseRequest) inspect.PauseResult {
	d.t.Helper()
	p, err := d.PlanPause(d.t.Context(), r)
	if err != nil {
		d.t.Fatal(err)
	}
	res, err := d.ApplyPause(d.t.Context(), p)
	if err == nil {
		err = res.Failed()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return res
}

// A pause changes one member of the configuration and no other, whatever they are
// ; pulling stops, and goes on after the resume.
func TestPause(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 60*len(mqs))
		config := protocol.NewGroupConfig(group)
		for name, value := range map[string]string{"retryMaxTimes": "5", "consumeBroadcastEnable": "true", "retryQueueNums": "2", "notifyConsumerIdsChangedEnable": "true"} {
			if err := config.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		masters := tg.Masters(t)
		before := map[string]map[string]string{}
		for name, addr := range masters {
			if err := d.client.UpdateGroupConfig(t.Context(), addr, config); err != nil {
				t.Fatal(err)
			}
			before[name] = d.memberTexts(addr, group)
		}
		d.commit(group, 0, mqs...)
		s := newStub(t, tg, group, "c1", 0, mqs, heeding)

		p, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group})
		if err != nil || p.Why != "" || len(p.Brokers) != len(masters) || p.Brokers[0].Before || !p.Brokers[0].After || len(p.Members) != 1 || p.Members[0].ClientID != "c1" {
			t.Errorf("plan %+v, %v", p, err)
		}
		for name, addr := range masters {
			if got := d.memberTexts(addr, group); got["consumeEnable"] != "true" {
				t.Errorf("the plan alone left %v at %s", got, name)
			}
		}
		paused := d.pause(inspect.PauseRequest{Group: group})
		if !paused.Proved || !strings.Contains(paused.Proof, "no queue of 2 was pulled for 3s, although messages wait in 2") {
			t.Errorf("proof of the pause: %v %q", paused.Proved, paused.Proof)
		}
		for name, addr := range masters {
			got := d.memberTexts(addr, group)
			if got["consumeEnable"] != "false" {
				t.Errorf("%s: paused, and consumeEnable is %s", name, got["consumeEnable"])
			}
			got["consumeEnable"] = "true"
			for field, value := range before[name] {
				if got[field] != value {
					t.Errorf("%s: %s was %s and is %s", name, field, value, got[field])
				}
			}
			if len(got) != len(before[name]) {
				t.Errorf("%s: members %v, want %v", name, got, before[name])
			}
		}
		s.mu.Lock()
		refused := s.refused
		s.mu.Unlock()
		if refused == 0 {
			t.Error("no pull was refused")
		}

		resumed := d.pause(inspect.PauseRequest{Group: group, Resume: true})
		if !resumed.Proved || !strings.Contains(resumed.Proof, "pull again: 2 of 2 queues") {
			t.Errorf("proof of the resume: %v %q", resumed.Proved, resumed.Proof)
		}
		for name, addr := range masters {
			got := d.memberTexts(addr, group)
			for field, value := range before[name] {
				if got[field] != value {
					t.Errorf("%s: after the resume %s was %s and is %s", name, field, value, got[field])
				}
			}
		}
	})
}

// One topic of a group is paused on 5.x, and refused on 4.9.
func TestPauseTopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 2, 60, 0)
		topic := mqs[0].Topic
		newStub(t, tg, group, "c1", 0, mqs, heeding)
		r := inspect.PauseRequest{Group: group, Topic: topic}
		if tg.Line == "4" {
			p, err := d.PlanPause(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.ApplyPause(t.Context(), p)
			if np, ok := errors.AsType[*inspect.NotPossibleError](err); !ok || !strings.Contains(np.Why, "pause the whole group") {
				t.Errorf("error %v", err)
			}
			return
		}
		if res := d.pause(r); !res.Proved {
			t.Errorf("proof of the pause: %q", res.Proof)
		}
		list, err := d.Groups(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		shown := false
		for _, g := range list.Groups {
			shown = shown || g.Group == group && len(g.Paused.Topics[topic]) == len(tg.Masters(t))
		}
		if !shown {
			t.Error("the list of groups does not show the paused topic")
		}
		r.Resume = true
		if res := d.pause(r); !res.Proved {
			t.Errorf("proof of the resume: %q", res.Proof)
		}
	})
}

// A group without members is paused all the same, and that there is nobody to prove it
// by is said. What changed since the plan is not overwritten.
func TestPauseStopped(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		if _, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group}); err == nil {
			t.Error("a group that nobody knows was planned to be paused")
		}
		d.makeGroup(tg, group)
		stale, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group})
		if err != nil {
			t.Fatal(err)
		}
		if res := d.pause(inspect.PauseRequest{Group: group}); res.Proved || !strings.Contains(res.Proof, "nobody to prove it by") {
			t.Errorf("proof of a group without members: %v %q", res.Proved, res.Proof)
		}
		res, err := d.ApplyPause(t.Context(), stale)
		if err != nil || res.Failed() == nil || !strings.Contains(res.Rows[0].Error, "no longer as planned") {
			t.Errorf("a plan that is out of date: %v, rows %+v", err, res.Rows)
		}
	})
}

// A pause whose answer is lost is read back; where that is not possible either, it is
// not called refused, and what is seen at other brokers proves nothing about this one.
func TestPauseUnanswered(t *testing.T) {
	tests := map[string]struct {
		away     bool // from then on
		verified bool
		words    string
	}{
		"the answer is lost": {false, true, ""},
		"the broker is lost": {true, false, "not known whether it was written: "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
				d := newDesk(t, tg)
				topic, group := tg.Topic(t, 2), tg.Group(t)
				mqs := d.queues(topic)
				d.makeGroup(tg, group)
				newStub(t, tg, group, "c1", 0, mqs)
				p, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group})
				if err != nil {
					t.Fatal(err)
				}
				away := false
				tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
					write := r.Broker == "broker-b" && protocol.RequestCode(r.Command.Code) == protocol.UpdateAndCreateSubscriptionGroup
					away = away || tt.away && write
					return sandbox.Fault{Lose: write, Drop: away && r.Broker == "broker-b"}
				})
				res, err := d.ApplyPause(t.Context(), p)
				tg.Sandbox.SetFault(nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range res.Rows {
					want := row.Broker != "broker-b" || tt.verified
					if row.Verified != want || !want && !strings.HasPrefix(row.Error, tt.words) {
						t.Errorf("row %+v", row)
					}
				}
				if says := strings.Contains(res.Proof, "which says nothing about broker-b"); says == tt.verified || says && res.Proved {
					t.Errorf("proof %q, proved %v", res.Proof, res.Proved)
				}
			}, sandboxtest.Brokers("broker-a", "broker-b"))
		})
	}
}

// A pause that access control refuses says so once.
func TestPauseRefused(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group := tg.Group(t)
		d.makeGroup(tg, group)
		p, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group})
		if err != nil {
			t.Fatal(err)
		}
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			if protocol.RequestCode(r.Command.Code) != protocol.UpdateAndCreateSubscriptionGroup {
				return sandbox.Fault{}
			}
			return sandbox.Fault{Code: protocol.NoPermission, Remark: "User:ops has no permission to access Group:g from 127.0.0.1, no matched policies."}
		})
		res, err := d.ApplyPause(t.Context(), p)
		tg.Sandbox.SetFault(nil)
		if err != nil {
			t.Fatal(err)
		}
		if text := res.Rows[0].Error; !strings.HasPrefix(text, "refused: ") || strings.Contains(text, "denied") || strings.Count(text, "no permission") != 2 {
			t.Errorf("it says %q", text)
		}
	})
}

// That it could not be asked who is connected, or what members do, is not that nobody is.
func TestPauseThatCannotBeWatched(t *testing.T) {
	for name, code := range map[string]protocol.RequestCode{
		"the brokers":       protocol.GetBrokerClusterInfo,
		"the members":       protocol.GetConsumerConnectionList,
		"what members hold": protocol.GetConsumerRunningInfo,
		"how far they are":  protocol.GetConsumeStats,
	} {
		t.Run(name, func(t *testing.T) {
			bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
				d := newDesk(t, tg)
				group, mqs := d.consumed(tg, 1, 60, 0)
				newStub(t, tg, group, "c1", 0, mqs)
				p, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(13 * time.Second) // what is known of the cluster is old then
				tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
					if protocol.RequestCode(r.Command.Code) == code {
						return sandbox.Fault{Code: protocol.SystemError, Remark: "not now"}
					}
					return sandbox.Fault{}
				})
				res, err := d.ApplyPause(t.Context(), p)
				tg.Sandbox.SetFault(nil)
				if want := "it is not known what members do, the brokers' configurations say it: failed: not now"; err != nil || res.Proved || res.Proof != want {
					t.Errorf("%v, proved %v, %q; want %q", err, res.Proved, res.Proof, want)
				}
			})
		})
	}
}
