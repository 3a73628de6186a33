package sandbox_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The index gives the newest messages, oldest first: 64 by a key, 32 by an id.
func TestMessagesAreFoundByKeyAndID(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		var items []protocol.BatchItem
		for i := range 70 {
			properties := []protocol.Property{
				{Name: protocol.PropertyKeys, Value: fmt.Sprintf("all own-%d", i)},
				{Name: protocol.PropertyUniqKey, Value: fmt.Sprintf("ID%d", i/60)},
			}
			items = append(items, protocol.BatchItem{Body: fmt.Append(nil, i), Properties: properties})
		}
		begun := time.Now()
		for _, item := range items {
			sandboxtest.Send(t, f.c, f.mq, item)
		}
		query := func(q remoting.MessageQuery) []protocol.MessageExt {
			t.Helper()
			q.Topic = f.topic
			messages, err := f.c.QueryMessages(t.Context(), f.addr, f.mq.BrokerName, &q)
			if err != nil {
				t.Fatal(err)
			}
			return messages
		}
		sandboxtest.Await(t, "the index has the last message", func(context.Context) bool { return len(query(remoting.MessageQuery{Key: "own-69"})) > 0 })
		check := func(what string, q remoting.MessageQuery, first, n int) {
			t.Helper()
			var want []string
			for i := range n {
				want = append(want, fmt.Sprint(first+i))
			}
			wantSameText(t, what, bodies(t, query(q)), want)
		}
		check("every message's key", remoting.MessageQuery{Key: "all"}, 6, 64)
		check("the newest five", remoting.MessageQuery{Key: "all", Max: 5}, 65, 5)
		check("one key of two", remoting.MessageQuery{Key: "own-7"}, 7, 1)
		check("both keys at once", remoting.MessageQuery{Key: "all own-7"}, 0, 0)
		check("nobody's key", remoting.MessageQuery{Key: "own-70"}, 0, 0)
		check("the id as a key", remoting.MessageQuery{Key: "ID0"}, 0, 60)
		check("the id", remoting.MessageQuery{Key: "ID0", Unique: true}, 28, 32)
		check("the id, and no more than three", remoting.MessageQuery{Key: "ID0", Unique: true, Max: 3}, 28, 32)
		check("a key as id", remoting.MessageQuery{Key: "own-7", Unique: true}, 0, 0)
		check("until before", remoting.MessageQuery{Key: "all", To: begun.Add(-time.Hour)}, 0, 0)
		check("from later", remoting.MessageQuery{Key: "all", From: begun.Add(time.Hour)}, 0, 0)
		check("since then", remoting.MessageQuery{Key: "own-69", From: begun.Add(-time.Minute), To: begun.Add(time.Hour)}, 69, 1)

		m := query(remoting.MessageQuery{Key: "own-7"})[0]
		same, found, err := f.c.ViewMessage(t.Context(), f.addr, f.mq.BrokerName, f.topic, m.CommitLogOffset())
		if err != nil || !found || same.QueueOffset() != 7 || same.MessageQueue() != f.mq {
			t.Errorf("view: got %v of %v, %v, %v", same.QueueOffset(), same.MessageQueue(), found, err)
		}
		if _, found, err = f.c.ViewMessage(t.Context(), f.addr, f.mq.BrokerName, f.topic, 1<<40); err != nil || found {
			t.Errorf("view beyond the end: got %v, %v", found, err)
		}
	})
}
