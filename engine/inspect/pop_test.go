package inspect_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// fiveLine is bothLines for what 5.x alone knows.
func fiveLine(t *testing.T, body func(t *testing.T, tg *sandboxtest.Target)) {
	t.Helper()
	sandboxtest.RunIn(t, sandboxtest.Line5&sandboxtest.Sandboxes, body, sandboxtest.Brokers("broker-a", "broker-b"))
}

// tellToPop tells all brokers that a group gets a topic by POP.
func (d *desk) tellToPop(tg *sandboxtest.Target, topic, group string, share int32) {
	d.t.Helper()
	for _, addr := range tg.Masters(d.t) {
		if err := d.client.SetRequestMode(d.t.Context(), addr, &protocol.RequestMode{Topic: topic, Group: group, Mode: protocol.ModePop, Share: share}); err != nil {
			d.t.Fatal(err)
		}
	}
}

// A group that brokers were told to have pop is of that kind with its share, in the list
// as well; several members of a queue are no finding then.
func TestGroupsByPop(t *testing.T) {
	fiveLine(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		d.tellToPop(tg, topic, group, 2)
		row := d.GroupRows(t.Context(), []string{group})[0]
		if row.Kind != inspect.KindPop || inspect.PopShare(row.Modes) != "share 2" || len(row.Modes) != 2 {
			t.Errorf("offline: kind %s, %v", row.Kind, row.Modes)
		}
		ids := []string{"192.0.2.1@a", "192.0.2.1@b"}
		for _, id := range ids {
			newStub(t, tg, group, id, 0, d.queues(topic), func(s *stub) {
				s.still, s.pop, s.properties = true, true, map[string]string{"clientRebalance": "false", "allocateMessageQueueStrategy": "AVG"}
			})
		}
		row = d.GroupRows(t.Context(), []string{group})[0]
		if row.Kind != inspect.KindPop || row.Type != protocol.ConsumePassively {
			t.Errorf("online: kind %s, type %s; want pop, as brokers say pushed to", row.Kind, row.Type)
		}
		l, err := d.Live(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Queues {
			q := &l.Queues[i]
			if q.Topic == topic && (!q.Pop || !slices.Equal(q.Owners, ids) || q.Inflight.Known || q.Popped == nil || q.Expected != "") {
				t.Errorf("queue %v: popped %v by %v, in flight %v, due to %q", q.MessageQueue, q.Pop, q.Owners, q.Inflight, q.Expected)
			}
		}
		for _, lt := range l.Topics {
			if lt.Topic == topic && (!lt.Pop || lt.Strategy != "" || lt.Differ != nil) {
				t.Errorf("topic %+v, want no strategy of who holds what", lt)
			}
		}
		if p := l.Lag.Pop; p == nil || p.Unacked != inspect.Exact(12) || !slices.Equal(p.Topics, []string{topic}) { // three a broker and member
			t.Errorf("popped: %+v", p)
		}
		m, err := d.Members(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Members {
			got := fmt.Sprintf("%v%v", m.Members[i].Assigned, m.Members[i].AssignedWhy)
			if want := fmt.Sprintf("[{%s broker-a/-1 POP} {%s broker-b/-1 POP}]", topic, topic); got != want {
				t.Errorf("%s is given %s, want %s", ids[i], got, want)
			}
		}
	})
}

// Members that allocate themselves pull, whatever brokers were told.
func TestToldToPopButPulling(t *testing.T) {
	fiveLine(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		d.tellToPop(tg, topic, group, -1)
		newStub(t, tg, group, "192.0.2.1@a", 0, d.queues(topic), func(s *stub) { s.still = true })
		row := d.GroupRows(t.Context(), []string{group})[0]
		if row.Kind != inspect.KindPush || inspect.PopShare(row.Modes) != "share all" {
			t.Errorf("kind %s, %v; want push", row.Kind, row.Modes)
		}
		l, err := d.Lag(t.Context(), group)
		if err != nil || l.Pop == nil || l.Pop.Topics != nil || slices.ContainsFunc(l.Queues, func(q inspect.QueueLag) bool { return q.Pop }) {
			t.Errorf("popped %+v, %v; want a mode that nobody heeds", l.Pop, err)
		}
		m, err := d.Members(t.Context(), group)
		if err != nil || m.Members[0].Assigned != nil {
			t.Errorf("asked what brokers give to a member that does not ask: %v, %v", m.Members[0].Assigned, err)
		}
	})
}

// The newer store of popped messages commits where the last pop began: what was popped
// there waits no more, be it acknowledged or in the retry topic.
func TestPoppedQueuesCountFromTheEndOfThePop(t *testing.T) {
	fiveLine(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic, group := faultySandbox(t, tg)
		for _, mq := range d.queues(topic) {
			addr, err := d.client.MasterOf(t.Context(), mq)
			if err != nil {
				t.Fatal(err)
			}
			// As a pop that ended at 2 leaves it: the pull offset is there, the commit at 1.
			if _, err := d.client.Pull(t.Context(), addr, &protocol.PullMessageRequestHeader{
				ConsumerGroup: group, Topic: topic, QueueID: mq.QueueID, QueueOffset: 1, MaxMsgNums: 1, BrokerName: mq.BrokerName,
				SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG,
			}); err != nil {
				t.Fatal(err)
			}
		}
		l, err := d.Lag(t.Context(), group)
		if err != nil || l.Lag != inspect.Exact(8) || l.Queues[0].Inflight.Why.Kind != inspect.ReasonOffline {
			t.Errorf("pulled: lag %v, in flight %v, %v; want 8, and that what was given out is not known to be in flight", l.Lag, l.Queues[0].Inflight, err)
		}
		d.tellToPop(tg, topic, group, 0)
		time.Sleep(13 * time.Second) // what brokers were told is read anew then
		l, err = d.Lag(t.Context(), group)
		if err != nil || l.Lag != inspect.Exact(4) || l.Queues[0].Inflight.Known || l.Pop == nil || l.Pop.Unacked.Known {
			t.Errorf("popped: lag %v, in flight %v, %+v, %v; want 4, and nothing known of what is in flight", l.Lag, l.Queues[0].Inflight, l.Pop, err)
		}
	})
}
