package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// closeQueues leaves a topic two queues to read and four to write to, at every master, or
// another permission, and waits until the name servers say so.
func closeQueues(t *testing.T, tg *sandboxtest.Target, d *desk, topic string, read, perm int32) *remoting.TopicRoute {
	t.Helper()
	masters := tg.Masters(t)
	for _, addr := range masters {
		if err := d.client.CreateTopic(t.Context(), addr, &protocol.CreateTopicRequestHeader{
			Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: read, WriteQueueNums: 4, Perm: perm,
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := len(masters) * int(read)
	if perm&protocol.PermRead == 0 {
		want = 0
	}
	var route *remoting.TopicRoute
	sandboxtest.Await(t, fmt.Sprintf("a route of %s with %d queues to read", topic, want), func(ctx context.Context) bool {
		var err error
		route, _, err = d.client.RefreshRoute(ctx, topic)
		return err == nil && len(route.Queues) == want
	})
	return route
}

// Queues that are written to and cannot be read are in no lag: they are told beside it,
// with what lies there, wherever one asks for them.
func TestQueuesThatCannotBeRead(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 4), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 3*len(mqs))
		d.makeGroup(tg, group)
		route := closeQueues(t, tg, d, topic, 2, protocol.PermRead|protocol.PermWrite)
		d.commit(group, 3, route.Queues...)

		const why = "not readable: of its 4 queues there 2 can be read (readQueueNums)"
		l, err := d.Lag(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		if l.Lag != inspect.Exact(0) || len(l.Unreadable) != len(route.Queues) {
			t.Errorf("lag %+v, %d queues that cannot be read, want 0 and %d", l.Lag, len(l.Unreadable), len(route.Queues))
		}
		for i := range l.Unreadable {
			if u := &l.Unreadable[i]; u.QueueID < 2 || u.Min != inspect.Exact(0) || u.Max != inspect.Exact(3) || u.Why() != why {
				t.Errorf("%+v: %q", u, u.Why())
			}
		}
		if got, want := l.UnreadableTexts()[0], l.Unreadable[0].BrokerName+"/2-3 of "+topic+" "+why+"; 6 messages lie there, in no lag"; got != want {
			t.Errorf("it says %q, want %q", got, want)
		}

		detail, err := d.Topic(t.Context(), topic)
		if err != nil || len(detail.Queues) != len(mqs) {
			t.Fatalf("%d queues, %v, want %d", len(detail.Queues), err, len(mqs))
		}
		for _, q := range detail.Queues {
			if want := map[bool]string{true: why}[q.QueueID >= 2]; q.Closed != want {
				t.Errorf("queue %v: closed %q, want %q", q.MessageQueue, q.Closed, want)
			}
		}

		shut := l.Unreadable[0].MessageQueue
		_, err = d.Head(t.Context(), shut, 0)
		if closed, ok := errors.AsType[*inspect.ClosedQueueError](err); !ok || closed.Why != why {
			t.Errorf("its first message: %v, want that it cannot be read", err)
		}
		open := shut
		open.QueueID = 0
		none := shut
		none.QueueID = 4
		for _, mq := range []protocol.MessageQueue{open, none} {
			if got := inspect.WhyClosed(t.Context(), d.client, route, mq, false); got != "" {
				t.Errorf("%v: %q, want nothing", mq, got)
			}
		}
		if got := inspect.WhyClosed(t.Context(), d.client, route, shut, true); got != "" {
			t.Errorf("to send to %v: %q, want nothing", shut, got)
		}

		// Nor may a topic be read that is only to be written to; its brokers forbid nothing.
		route = closeQueues(t, tg, d, topic, 4, protocol.PermWrite)
		if got, want := inspect.WhyClosed(t.Context(), d.client, route, open, false), "not readable: the permission there is -W-"; got != want {
			t.Errorf("%v: %q, want %q", open, got, want)
		}
	})
}
