package inspect_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// claim is what a change says of one place, beside what is true there.
type claim struct {
	place    string
	done     bool   // it is said to be as it was to be
	why      string // otherwise
	original bool   // it is as before
	wanted   bool   // it is as it was to be
}

// change is one that is planned: it is carried out, and claims holds its result against
// what is true once the faults are over.
type change func(ctx context.Context) (claims func() []claim, err error)

// interruptedHere is the operator's ctrl-c while a request is answered.
const interruptedHere = "interrupted"

// stepFaults are what can happen to a request, and to all behind it.
var stepFaults = map[string]struct {
	fault sandbox.Fault
	stays bool // for the rest of the change, at that server
}{
	"cut after":       {sandbox.Fault{Cut: true, Lose: true}, false},
	"answer lost":     {sandbox.Fault{Lose: true}, false},
	"killed":          {sandbox.Fault{Cut: true}, true},
	"frozen":          {sandbox.Fault{Drop: true}, true},
	interruptedHere:   {sandbox.Fault{}, false},
	"frozen after it": {sandbox.Fault{Lose: true}, true},
}

// changes are what is tried, each on a sandbox of its own.
var changes = map[string]func(t *testing.T, tg *sandboxtest.Target, d *desk) change{
	"reset of a stopped group": func(t *testing.T, tg *sandboxtest.Target, d *desk) change { return resetChange(t, tg, d, false) },
	"reset of a running group": func(t *testing.T, tg *sandboxtest.Target, d *desk) change { return resetChange(t, tg, d, true) },
	"pause":                    func(t *testing.T, tg *sandboxtest.Target, d *desk) change { return pauseChange(t, tg, d, false) },
	"resume":                   func(t *testing.T, tg *sandboxtest.Target, d *desk) change { return pauseChange(t, tg, d, true) },
	"clone":                    cloneChange,
	"resend":                   resendChange,
	"create group": func(t *testing.T, tg *sandboxtest.Target, d *desk) change {
		return manageChange(t, tg, d, inspect.CreateGroup)
	},
	"delete group": func(t *testing.T, tg *sandboxtest.Target, d *desk) change {
		return manageChange(t, tg, d, inspect.DeleteGroup)
	},
	"create topic": func(t *testing.T, tg *sandboxtest.Target, d *desk) change {
		return manageChange(t, tg, d, inspect.CreateTopic)
	},
	"delete topic": func(t *testing.T, tg *sandboxtest.Target, d *desk) change {
		return manageChange(t, tg, d, inspect.DeleteTopic)
	},
}

func resetChange(t *testing.T, tg *sandboxtest.Target, d *desk, online bool) change {
	group, mqs := d.consumed(tg, 1, 20, 20)
	if online {
		newStub(t, tg, group, "c1", 20, mqs, heeding)
	}
	p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}})
	return func(ctx context.Context) (func() []claim, error) {
		res, err := d.ApplyReset(ctx, p)
		return func() []claim {
			var all []claim
			for _, row := range res.Rows {
				at, _, _, _ := tg.Sandbox.Offsets(group, row.MessageQueue)
				all = append(all, claim{place: row.Short(), done: row.Verified, why: row.Error + "|" + row.Obeyed + "|" + row.Lost, original: at == 20, wanted: at < 20})
			}
			return all
		}, err
	}
}

func pauseChange(t *testing.T, tg *sandboxtest.Target, d *desk, resume bool) change {
	topic, group := tg.Topic(t, 1), tg.Group(t)
	mqs := d.queues(topic)
	d.makeGroup(tg, group)
	d.commit(group, 0, mqs...)
	if resume {
		d.pause(inspect.PauseRequest{Group: group})
	}
	p, err := d.PlanPause(t.Context(), inspect.PauseRequest{Group: group, Resume: resume})
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context) (func() []claim, error) {
		res, err := d.ApplyPause(ctx, p)
		return func() []claim {
			var all []claim
			for _, row := range res.Rows {
				enabled := d.memberTexts(row.Addr, group)["consumeEnable"] == "true"
				all = append(all, claim{place: row.Broker, done: row.Verified, why: row.Error, original: enabled != resume, wanted: enabled == resume})
			}
			return all
		}, err
	}
}

func cloneChange(t *testing.T, tg *sandboxtest.Target, d *desk) change {
	topic, source, target := tg.Topic(t, 1), tg.Group(t), tg.Group(t)
	mqs := d.queues(topic)
	tg.Produce(t, topic, 20*len(mqs))
	d.makeGroup(tg, source)
	d.makeGroup(tg, target)
	d.commit(source, 7, mqs...)
	d.commit(target, 3, mqs...)
	p := d.planClone(inspect.CloneRequest{Source: source, Target: target, Topic: topic})
	return func(ctx context.Context) (func() []claim, error) {
		res, err := d.ApplyClone(ctx, p)
		return func() []claim {
			var all []claim
			for _, row := range res.Rows {
				at, _, _, _ := tg.Sandbox.Offsets(target, row.MessageQueue)
				all = append(all, claim{place: row.Short(), done: row.State == inspect.CloneConfirmed, why: string(row.State) + "|" + row.Error, original: at == 3, wanted: at == 7})
			}
			return all
		}, err
	}
}

func resendChange(t *testing.T, tg *sandboxtest.Target, d *desk) change {
	group := tg.Group(t)
	d.makeGroup(tg, group)
	tg.Sandbox.CreateTopic(protocol.DLQTopic(group), 1)
	tg.Sandbox.CreateTopic(protocol.RetryTopic(group), 1)
	for i := range 3 {
		tg.Sandbox.Put(sandbox.Message{Topic: protocol.DLQTopic(group), Broker: "broker-b", Body: []byte("dead"), Properties: []protocol.Property{
			property("UNIQ_KEY", fmt.Sprint("ID", i)), property("RETRY_TOPIC", "orders"), property("ORIGIN_MESSAGE_ID", "X")}})
	}
	dead := d.find(inspect.FindRequest{Topic: protocol.DLQTopic(group)}).Messages
	p, err := d.PlanResend(t.Context(), group, dead)
	if err != nil || p.Why != "" || len(p.Rows) != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	return func(ctx context.Context) (func() []claim, error) {
		res, err := d.ApplyResend(ctx, p)
		return func() []claim {
			var all []claim
			d := newDesk(t, tg) // which nobody owes an answer
			for _, row := range res.Rows {
				n := len(d.find(inspect.FindRequest{Topic: protocol.RetryTopic(group), UniqueKey: row.ID}).Messages)
				all = append(all, claim{place: row.ID, done: row.Verified, why: row.Error, original: n == 0, wanted: n == 1})
			}
			return all
		}, err
	}
}

func manageChange(t *testing.T, tg *sandboxtest.Target, d *desk, action inspect.ManageAction) change {
	name := "made"
	group := action == inspect.CreateGroup || action == inspect.DeleteGroup
	switch action {
	case inspect.DeleteGroup:
		name = tg.Group(t)
		topic := tg.Topic(t, 1)
		d.makeGroup(tg, name)
		d.commit(name, 0, d.queues(topic)...)
	case inspect.DeleteTopic:
		name = tg.Topic(t, 1)
	}
	p, err := d.PlanManage(t.Context(), inspect.ManageRequest{Action: action, Name: name, ReadQueues: 1, WriteQueues: 1, Perm: 6})
	if err != nil || p.Why != "" {
		t.Fatal(err, p.Why)
	}
	return func(ctx context.Context) (func() []claim, error) {
		res, err := d.ApplyManage(ctx, p)
		return func() []claim {
			var all []claim
			for _, row := range res.Rows {
				there := false
				if group {
					configs, err := d.client.GroupConfigs(t.Context(), row.Addr)
					_, there = configs.Groups[name]
					if err != nil {
						t.Fatal(err)
					}
				} else {
					stats, err := d.client.TopicStats(t.Context(), row.Addr, name)
					there = err == nil && len(stats) > 0
				}
				create := action == inspect.CreateGroup || action == inspect.CreateTopic
				all = append(all, claim{place: row.Broker, done: row.Verified, why: row.Error, original: there != create, wanted: there == create})
			}
			return all
		}, err
	}
}

// place is a request of a change: a code at a server, and which one of them.
type place struct {
	server string // "" is the name server
	code   protocol.RequestCode
	nth    int
}

// faultAt strikes one request of the inspector, and with stays all behind it at that
// server. It counts what it sees; members' requests pass.
type faultAt struct {
	place
	fault  sandbox.Fault
	stays  bool
	struck bool
	end    func() // called when it strikes; nil: nothing is
	seen   map[place]int
}

func (f *faultAt) hook(r sandbox.Request) sandbox.Fault {
	if r.ClientID != "" {
		return sandbox.Fault{}
	}
	at := place{server: r.Broker, code: protocol.RequestCode(r.Command.Code), nth: 0}
	f.seen[at]++
	at.nth = f.seen[at]
	if f.struck && f.stays && r.Broker == f.server || at == f.place {
		f.struck = true
		if f.end != nil {
			f.end()
		}
		return f.fault
	}
	return sandbox.Fault{}
}

// unsureWords are how a change says that it does not know, or was kept from it.
var unsureWords = []string{"not known", "cannot be read back", "could not be read back", "not done yet, and perhaps later", "not written yet, and perhaps later",
	"not asked again so soon", "not tried", "NOT TRIED", "it is not seen to be gone", "not changed", "cannot be read", "not applied by", "is committed"}

// undoneWords are how a change says that nothing was done at a place.
var undoneWords = []string{"not sent", "NOT TRIED", "not tried", "not changed", "refused"}

func anyOf(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// Whatever request of a change is lost, delayed or never answered, and whatever server
// goes with it: the change ends in time, what it calls done is done, what it calls not
// done is not, and what it cannot know it calls not known. One lost answer alone is made
// good by reading back.
func TestChangesAtEveryStep(t *testing.T) {
	for name, prepare := range changes {
		for _, line := range []string{"4", "5"} {
			t.Run(name+" on "+line, func(t *testing.T) {
				t.Parallel()
				var places []place
				tryAt(t, line, prepare, func(f *faultAt) {}, func(t *testing.T, f *faultAt, err error, took time.Duration, claims []claim) {
					for at, n := range f.seen {
						if at.nth = 1; at.code != protocol.PullMessage {
							places = append(places, at)
						}
						if n > 1 {
							at.nth = n
							places = append(places, at)
						}
					}
					if err != nil || slices.ContainsFunc(claims, func(c claim) bool { return !c.done || !c.wanted }) {
						t.Errorf("without a fault: %v, %+v", err, claims)
					}
				})
				for _, at := range places {
					for kind, f := range stepFaults {
						tryAt(t, line, prepare, func(to *faultAt) {
							to.place, to.fault, to.stays = at, f.fault, f.stays
							if kind != interruptedHere {
								to.end = nil
							}
						},
							func(t *testing.T, f *faultAt, err error, took time.Duration, claims []claim) {
								judgeClaims(t, fmt.Sprintf("%s, %d. %v at %q", kind, at.nth, at.code, at.server), err, took, claims)
								write := slices.Contains([]protocol.RequestCode{protocol.UpdateConsumerOffset, protocol.UpdateAndCreateSubscriptionGroup, protocol.UpdateAndCreateTopic, protocol.DeleteSubscriptionGroup, protocol.InvokeBrokerToResetOffset}, at.code)
								if kind == "answer lost" && write && f.struck && slices.ContainsFunc(claims, func(c claim) bool { return !c.done }) {
									t.Errorf("an answer lost, %v at %q: %v, %+v; want it read back", at.code, at.server, err, claims)
								}
							})
					}
				}
			})
		}
	}
}

// tryAt makes a change on a sandbox of its own, with one fault.
func tryAt(t *testing.T, line string, prepare func(*testing.T, *sandboxtest.Target, *desk) change, arm func(*faultAt), judge func(*testing.T, *faultAt, error, time.Duration, []claim)) {
	worlds := sandboxtest.Sandboxes & sandboxtest.Line5
	if line == "4" {
		worlds = sandboxtest.Sandboxes & sandboxtest.Line4
	}
	sandboxtest.RunIn(t, worlds, func(t *testing.T, tg *sandboxtest.Target) {
		c := prepare(t, tg, newDesk(t, tg))
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		f := &faultAt{seen: map[place]int{}, end: interrupt}
		arm(f)
		tg.Sandbox.SetFault(f.hook)
		began := time.Now()
		claims, err := c(ctx)
		took := time.Since(began)
		tg.Sandbox.SetFault(nil)
		judge(t, f, err, took, claims())
	}, sandboxtest.Brokers("broker-a", "broker-b"))
}

// changeLimit bounds a change among faults: members are watched for 35 s, and a broker
// that has fallen silent is asked a few times for 3 s.
const changeLimit = 60 * time.Second

func judgeClaims(t *testing.T, fault string, err error, took time.Duration, claims []claim) {
	t.Helper()
	if took > changeLimit {
		t.Errorf("%s: it took %v", fault, took)
	}
	for _, c := range claims {
		switch {
		case c.done && !c.wanted && !strings.Contains(c.why, "consumed them again"):
			t.Errorf("%s: %s is called done (%s), and is not", fault, c.place, c.why)
		case !c.done && anyOf(c.why, undoneWords) && !c.original:
			t.Errorf("%s: %s is called not done (%s), and is", fault, c.place, c.why)
		case !c.done && err == nil && !anyOf(c.why, unsureWords):
			t.Errorf("%s: %s is not done, because %q: that says neither why nor what is known", fault, c.place, c.why)
		case !c.done && err != nil && c.why == "" && !c.original && !anyOf(err.Error(), unsureWords):
			t.Errorf("%s: %s is changed, and the error is %q", fault, c.place, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "nothing was changed") && slices.ContainsFunc(claims, func(c claim) bool { return !c.original }) {
		t.Errorf("%s: %v, but %+v", fault, err, claims)
	}
}
