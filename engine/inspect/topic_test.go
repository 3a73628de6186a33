package inspect_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A topic's queues, and the groups that consume it, of which the topic itself is none
// .
func TestTopicAndItsGroups(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, stopped, online := tg.Topic(t, 2), tg.Group(t), tg.Group(t)
		tg.Produce(t, topic, 5) // 3 in the first queue, 2 in the second
		mqs := d.queues(topic)
		d.makeGroup(tg, stopped)
		d.makeGroup(tg, online)
		d.commit(stopped, 1, mqs[0])
		newStub(t, tg, online, "192.0.2.1@one", 0, mqs, func(s *stub) { s.still = true })
		detail, err := d.Topic(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range detail.Queues {
			q := &detail.Queues[i]
			got = append(got, fmt.Sprintf("%d: %s to %s", q.QueueID, numberText(q.Min), numberText(q.Max)))
			first, _, err := headOf(t.Context(), d.client, q.MessageQueue, 0)
			if err != nil || !q.FirstStored.Equal(first) {
				t.Errorf("queue %d: first stored %v, want %v (%v)", q.QueueID, q.FirstStored, first, err)
			}
			last, _, err := headOf(t.Context(), d.client, q.MessageQueue, q.Max.Value-1)
			if err != nil || !q.LastStored.Equal(last) {
				t.Errorf("queue %d: last stored %v, want %v (%v)", q.QueueID, q.LastStored, last, err)
			}
		}
		wantTexts(t, "queues", got, "0: 0 to 3", "1: 0 to 2")
		want := []string{stopped, online}
		slices.Sort(want)
		if !slices.Equal(detail.Groups, want) {
			t.Errorf("groups %q, want %q", detail.Groups, want)
		}
		kind := map[string]string{"4": "", "5": "NORMAL"}[tg.Line]
		if r := detail.Row; r.Queues != 2 || r.Perm != "RW-" || r.Stored != inspect.Exact(5) || r.Type != kind || r.System || r.Problems != nil {
			t.Errorf("row %+v", r)
		}
		many := slices.Repeat([]string{topic}, 20) // asked for by whole tables
		for _, r := range d.TopicRows(t.Context(), many) {
			if r.Stored != inspect.Exact(5) || r.Type != kind {
				t.Fatalf("row %+v, want 5 stored", r)
			}
		}
	})
}

// Of a topic's groups it is said which are kept from it, and for another topic only.
func TestTopicSaysWhichGroupsArePaused(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, paused, running, partly := tg.Topic(t, 1), tg.Group(t), tg.Group(t), tg.Group(t)
		for _, group := range []string{paused, running, partly} {
			d.makeGroup(tg, group)
			d.commit(group, 0, d.queues(topic)...)
		}
		d.pause(inspect.PauseRequest{Group: paused})
		if tg.Line == "5" {
			d.pause(inspect.PauseRequest{Group: partly, Topic: topic})
		}
		detail, err := d.Topic(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if p := detail.Paused[paused]; !p.All() {
			t.Errorf("pause of the paused group: %+v", p)
		}
		if p, ok := detail.Paused[running]; ok {
			t.Errorf("pause of a running group: %+v", p)
		}
		if p, want := detail.Paused[partly], tg.Line == "5"; p.All() || (len(p.Topics[topic]) > 0) != want {
			t.Errorf("pause of a group of one topic: %+v, want one: %v", p, want)
		}
	})
}

// Dead letters are counted apart from the backlog, also those that may not be read.
func TestDeadLettersAreCounted(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, _, group := faultySandbox(t, tg)
		dead := protocol.DLQTopic(group)
		tg.Sandbox.CreateTopic(dead, 1)
		for range 3 {
			tg.Sandbox.Put(sandbox.Message{Topic: dead, Body: []byte("x")})
		}
		for _, addr := range tg.Masters(t) {
			err := d.client.CreateTopic(t.Context(), addr, &protocol.CreateTopicRequestHeader{
				Topic: dead, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermWrite,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		row := d.GroupRows(t.Context(), []string{group})[0]
		if numberText(row.DeadLetters) != "3" || row.Lag != inspect.Exact(8) {
			t.Errorf("dead letters %s, lag %s; want 3 and 8", numberText(row.DeadLetters), numberText(row.Lag))
		}
		detail, err := d.Topic(t.Context(), dead)
		if err != nil || detail.Row.Perm != "-W-" || detail.Row.Queues != 0 || numberText(detail.Row.Stored) != "3" {
			t.Errorf("row %+v, %v; want it writable only, with 3 messages", detail.Row, err)
		}
	})
}

// Every broker address is asked, and one that is down has its reason.
func TestBrokers(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		all, err := d.Brokers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all.Brokers) == 0 || len(all.Namesrv) != len(tg.Namesrv) {
			t.Fatalf("%+v", all)
		}
		for _, b := range all.Brokers {
			if b.Address != tg.Masters(t)[b.Broker] || b.ID != 0 || !b.Reachable || b.Version == "" || b.Clock != 0 {
				t.Errorf("%+v", b)
			}
			if tg.Sandbox == nil && (b.Disk <= 0 || b.Disk >= 1 || b.Started.IsZero() || !b.ClockKnown || b.Version != "V"+underscored(tg.Name)) {
				t.Errorf("%+v", b)
			}
		}
		if n := all.Namesrv[0]; !n.Reachable || !n.Current || n.Differs != nil {
			t.Errorf("%+v", n)
		}
	})
}

func underscored(version string) string {
	return fmt.Sprintf("%c_%c_%c", version[0], version[2], version[4])
}

func TestBrokerThatIsDownHasItsReason(t *testing.T) {
	bothLines(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Drop: r.Broker == "broker-b"}
		})
		began := time.Now()
		all, err := d.Brokers(t.Context())
		if err != nil || time.Since(began) > d.Timeout() {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		if a, b := all.Brokers[0], all.Brokers[1]; !a.Reachable || b.Reachable || b.Why.Kind != inspect.ReasonUnreachable || b.Broker != "broker-b" {
			t.Errorf("%+v, want broker-b unreachable alone", all.Brokers)
		}
	})
}
