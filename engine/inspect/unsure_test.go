package inspect_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// refuse has a broker refuse one request as access control does.
func refuse(tg *sandboxtest.Target, broker string, code protocol.RequestCode) {
	tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
		if r.Broker == broker && r.Command.Code == int32(code) {
			return sandbox.Fault{Code: protocol.NoPermission, Remark: "User:ops has no permission to access Cluster:DefaultCluster from 127.0.0.1, no matched policies."}
		}
		return sandbox.Fault{}
	})
}

func wantUnsure(t *testing.T, what string, err error, says ...string) {
	t.Helper()
	unsure, ok := errors.AsType[*inspect.UnsureError](err)
	if !ok {
		t.Errorf("%s: %v, want that it is not known", what, err)
		return
	}
	for _, text := range append(says, "is not known: ", "broker", "denied") {
		if !strings.Contains(unsure.Error(), text) {
			t.Errorf("%s: %q does not say %q", what, unsure, text)
		}
	}
	if why := inspect.ReasonOf(err); why.Kind != inspect.ReasonDenied {
		t.Errorf("%s: the reason is %v", what, why)
	}
}

// What nobody who answers has may be with those who refuse the question: then it is not
// known whether it is there, which is no "not found".
func TestARefusedQuestionIsNoAnswer(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 2)
		tg.Produce(t, topic, 2)
		m, err := d.Head(t.Context(), d.queues(topic)[0], 0)
		if err != nil {
			t.Fatal(err)
		}
		elsewhere := strings.Replace(m.OffsetMessageID(), m.OffsetMessageID()[:16], "C0000201"+"00002A9F", 1) // no broker's address
		questions := map[string]struct {
			code protocol.RequestCode
			what string
			ask  func(ctx context.Context) error
		}{
			"members":          {protocol.GetAllConsumerOffset, "whether there is a group nobody", func(ctx context.Context) error { return second(d.Members(ctx, "nobody")) }},
			"lag":              {protocol.GetAllConsumerOffset, "whether there is a group nobody", func(ctx context.Context) error { return second(d.Lag(ctx, "nobody")) }},
			"group":            {protocol.GetAllConsumerOffset, "whether there is a group nobody", func(ctx context.Context) error { return second(d.Group(ctx, "nobody")) }},
			"live":             {protocol.GetAllConsumerOffset, "whether there is a group nobody", func(ctx context.Context) error { return second(d.Live(ctx, "nobody")) }},
			"lag, no stats":    {protocol.GetConsumeStats, "whether there is a group nobody", func(ctx context.Context) error { return second(d.Lag(ctx, "nobody")) }},
			"no configuration": {protocol.GetAllSubscriptionGroupConfig, "whether there is a group nobody", func(ctx context.Context) error { return second(d.Members(ctx, "nobody")) }},
			"to delete": {protocol.GetAllSubscriptionGroupConfig, "whether there is a group nobody", func(ctx context.Context) error {
				return second(d.PlanManage(ctx, inspect.ManageRequest{Action: inspect.DeleteGroup, Name: "nobody"}))
			}},
			"a message to hand over": {protocol.GetAllSubscriptionGroupConfig, "whether there is a group nobody", func(ctx context.Context) error {
				return second(d.PlanDirect(ctx, inspect.DirectRequest{Group: "nobody", Message: m}))
			}},
			"a stack":           {protocol.GetConsumerConnectionList, "whether there is a member c1 of group nobody", func(ctx context.Context) error { return second(d.Stack(ctx, "nobody", "c1")) }},
			"a message":         {protocol.ViewMessageByID, "whether there is a message " + elsewhere, func(ctx context.Context) error { return second(d.Find(ctx, inspect.FindRequest{OffsetID: elsewhere})) }},
			"groups of a topic": {protocol.QueryTopicConsumeByWho, "whether other groups consume " + topic, func(ctx context.Context) error { return second(d.Tracks(ctx, &m)) }},
		}
		for name, q := range questions {
			refuse(tg, "broker-b", q.code)
			time.Sleep(13 * time.Second) // what was asked a moment ago would serve
			wantUnsure(t, name, q.ask(t.Context()), q.what)
			tg.Sandbox.SetFault(nil)
			time.Sleep(13 * time.Second)
			if err := q.ask(t.Context()); name != "groups of a topic" && !isNotFound(err) && !isType[*inspect.MessageNotFoundError](err) {
				t.Errorf("%s, when all answer: %v, want not found", name, err)
			}
		}
	})
}

// A question that waits for its turn behind others of this program says so: the broker
// may be well, and was not even dialled.
func TestAQuestionThatWaitsForItsTurn(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, client := tg.Topic(t, 2), tg.Client(t, nil)
		in := inspect.New(inspect.Options{Client: client, Parallel: 1, Timeout: 10 * time.Second})
		if _, err := in.Topic(t.Context(), topic); err != nil { // it knows what there is
			t.Fatal(err)
		}
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Drop: r.Broker == "broker-b" && r.Command.Code == int32(protocol.GetTopicStatsInfo)}
		})
		first, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		done := make(chan struct{})
		go func() { defer close(done); in.TopicRows(first, []string{topic}) }()
		time.Sleep(time.Second)
		ctx, stop := context.WithTimeout(t.Context(), time.Second) // the client gives up the first one later
		defer stop()
		row := in.TopicRows(ctx, []string{topic})[0]
		<-done
		addr := tg.Masters(t)["broker-b"]
		want := "not asked in time: 1 question of this program waited at " + addr + " already, and it puts no more at once"
		if why := row.Stored.Why; why.Kind != inspect.ReasonUnreachable || why.Text != want {
			t.Errorf("the reason is %v, want %q", why, want)
		}
	})
}
