package inspect_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// manage plans and applies, and checks that planning alone changes nothing.
func (d *desk) manage(r inspect.ManageRequest) {
	d.t.Helper()
	p, err := d.PlanManage(d.t.Context(), r)
	if err == nil {
		err = p.Refused()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	again, err := d.PlanManage(d.t.Context(), r)
	if err != nil || !slices.Equal(again.Rows, p.Rows) {
		d.t.Fatalf("the plan changed something: %+v, then %+v (%v)", p.Rows, again.Rows, err)
	}
	p, err = d.ApplyManage(d.t.Context(), p)
	if err != nil {
		d.t.Fatalf("%s %s: %v, rows %+v", r.Action, r.Name, err, p.Rows)
	}
}

// refused checks that a request cannot be carried out, for a reason.
func (d *desk) refused(r inspect.ManageRequest, why string) {
	d.t.Helper()
	p, err := d.PlanManage(d.t.Context(), r)
	if err != nil || !strings.Contains(p.Why, why) {
		d.t.Errorf("%s %s: refused because of %q (%v), want %q", r.Action, r.Name, p.Why, err, why)
	}
}

// A topic and a group are made, found, refused a second time, and deleted without a trace.
func TestCreateAndDelete(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Group(t), tg.Group(t) // names that are swept if the test ends early
		create := inspect.ManageRequest{Action: inspect.CreateTopic, Name: topic, ReadQueues: 3, WriteQueues: 3, Perm: protocol.PermRead | protocol.PermWrite}
		if tg.Line == "4" {
			typed := create
			typed.Type = "FIFO"
			d.refused(typed, "no type")
		} else {
			create.Type = "FIFO"
		}
		d.manage(create)
		tg.AwaitRoute(t, topic, 3)
		d.refused(create, "is there already")
		detail, err := d.Topic(t.Context(), topic)
		if err != nil || detail.Row.Type != create.Type || len(detail.Queues) != 3 {
			t.Errorf("topic %+v, %v", detail.Row, err)
		}

		makeGroup := inspect.ManageRequest{Action: inspect.CreateGroup, Name: group, Config: []protocol.ConfigMember{{Name: "retryMaxTimes", Value: "5"}}}
		d.manage(makeGroup)
		d.refused(makeGroup, "is there already")
		g, err := d.Group(t.Context(), group)
		if err != nil || g.Configs[0].Fields["retryMaxTimes"] != "5" || g.Configs[0].Fields["consumeEnable"] != "true" {
			t.Errorf("group %+v, %v", g.Configs, err)
		}
		d.commit(group, 0, d.queues(topic)...)

		d.manage(inspect.ManageRequest{Action: inspect.DeleteGroup, Name: group})
		if _, err := d.Group(t.Context(), group); !isNotFound(err) {
			t.Errorf("the group after it was deleted: %v", err)
		}
		d.manage(inspect.ManageRequest{Action: inspect.DeleteTopic, Name: topic})
		if _, err := d.PlanManage(t.Context(), inspect.ManageRequest{Action: inspect.DeleteTopic, Name: topic}); !isNotFound(err) {
			t.Errorf("the topic after it was deleted: %v", err)
		}
	})
}

// A group of which offsets alone are left is in the list, so it can be deleted.
func TestDeleteWhatIsLeftOfAGroup(t *testing.T) {
	// A 5.x broker forgets a topic's offsets with the topic.
	sandboxtest.RunIn(t, sandboxtest.Line4, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		d.makeGroup(tg, group)
		d.commit(group, 0, d.queues(topic)...)
		client := tg.Client(t, nil)
		for _, addr := range tg.Masters(t) {
			request := &protocol.Command{Code: int32(protocol.DeleteSubscriptionGroup), ExtFields: protocol.ExtFields{{Key: "groupName", Value: group}}}
			if _, err := client.Invoke(t.Context(), addr, request); err != nil { // by a tool that leaves offsets alone
				t.Fatal(err)
			}
		}
		if err := client.DeleteTopic(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Group(t.Context(), group); err != nil {
			t.Fatalf("the offsets went with the topic: %v", err)
		}
		request := inspect.ManageRequest{Action: inspect.DeleteGroup, Name: group}
		if p, err := d.PlanManage(t.Context(), request); err != nil || p.Rows[0].Before != "offsets only" {
			t.Errorf("the plan: %+v, %v", p, err)
		}
		d.manage(request)
		if _, err := d.PlanManage(t.Context(), request); !isNotFound(err) {
			t.Errorf("the group after its offsets were deleted: %v", err)
		}
	})
}

func isNotFound(err error) bool {
	_, ok := err.(*inspect.NotFoundError)
	return ok
}

// A group with members would be made again at once, and what is RocketMQ's own is
// needed by the brokers.
func TestDeleteIsRefused(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		d.makeGroup(tg, group)
		newStub(t, tg, group, "192.0.2.1@one", 0, d.queues(topic), func(s *stub) { s.still = true })
		d.refused(inspect.ManageRequest{Action: inspect.DeleteGroup, Name: group}, "1 member online")
		d.refused(inspect.ManageRequest{Action: inspect.DeleteGroup, Name: "TOOLS_CONSUMER"}, "RocketMQ's own")
		d.refused(inspect.ManageRequest{Action: inspect.DeleteTopic, Name: "SCHEDULE_TOPIC_XXXX"}, "RocketMQ's own")
		if _, err := d.PlanManage(t.Context(), inspect.ManageRequest{Action: inspect.CreateTopic, Name: "x", Brokers: []string{"broker-z"}}); !isNotFound(err) {
			t.Errorf("a broker that is not there: %v", err)
		}
	})
}

// What goes with a group and cannot be counted is not told as nothing.
func TestDeleteSaysWhatIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("%DLQ%g", 1), sandboxtest.Topic("orders", 1))
		c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		d := &desk{Inspector: inspect.New(inspect.Options{Client: c}), t: t, client: c, saved: ""}
		sb.Put(sandbox.Message{Topic: "%DLQ%g", QueueID: 0, Body: []byte("x")})
		sb.SetFault(func(r sandbox.Request) sandbox.Fault {
			if r.Command.Code == int32(protocol.GetTopicStatsInfo) {
				return sandbox.Fault{Code: protocol.SystemError, Remark: "the disk is broken"}
			}
			return sandbox.Fault{}
		})
		for name, tt := range map[string]struct {
			r    inspect.ManageRequest
			want string
		}{
			"the dead letters stay": {inspect.ManageRequest{Action: inspect.DeleteGroup, Name: "g"}, "stays, with an unknown number of messages"},
			"the dead letters go":   {inspect.ManageRequest{Action: inspect.DeleteGroup, Name: "g", DeadLetters: true}, "an unknown number of dead letters are lost"},
		} {
			p, err := d.PlanManage(t.Context(), tt.r)
			if text := strings.Join(p.Notes, "\n"); err != nil || !strings.Contains(text, tt.want) {
				t.Errorf("%s: notes %q, %v; want %q", name, text, err, tt.want)
			}
		}
	})
}
