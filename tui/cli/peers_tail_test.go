package cli

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// tail reads what the stock producer has sent, in the order in which it was
// stored, follows queues that the topic gets later, and leaves nothing behind:
// no member, no offset.
func TestPeersTail(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic := tg.Topic(t, 4)
		p.produce(t, namesrv, topic, 200)
		tail := func(more ...string) []map[string]any {
			t.Helper()
			return runs(t, append([]string{"tail", topic, "--namesrv", namesrv, "-o", "json"}, more...)).want(t, statusDone, "").objects(t)["message"]
		}
		all := tail("--from", "earliest", "--until", "now")
		wantOnce(t, deliveriesOf(t, all, propertySeq), 200)
		for i := 1; i < len(all); i++ {
			if fmt.Sprint(all[i-1]["stored"]) > fmt.Sprint(all[i]["stored"]) {
				t.Errorf("message %d was stored after its successor: %v, %v", i-1, all[i-1]["stored"], all[i]["stored"])
			}
		}
		middle := fmt.Sprint(all[120]["stored"])
		later := 0
		for _, m := range all {
			if fmt.Sprint(m["stored"]) >= middle {
				later++
			}
		}
		for name, tt := range map[string]struct {
			got  []map[string]any
			want int
		}{
			"tag":     {tail("--from", "-1h", "--until", "now", "--tag", "B"), 100},
			"time":    {tail("--from", middle, "--until", "now"), later},
			"offsets": {tail("--from", "offset:10", "--until", "offset:19"), 40},
			"queue":   {tail("--from", "earliest", "--until", "now", "--queue", fmt.Sprint(all[0]["broker"])+":2"), 50},
			"future":  {tail("--from", "2099-01-01T00:00:00Z", "--until", "now"), 0},
		} {
			if len(tt.got) != tt.want {
				t.Errorf("%s: %d messages, want %d", name, len(tt.got), tt.want)
			}
		}

		run := startLeaving(t, []string{"tail", topic, "--namesrv", namesrv, "-o", "raw"})
		run.err.await(t, "reading 4 queues of "+topic)
		tg.Grow(t, topic, 6)
		c := clientOf(t, tg.Namesrv...)
		mq := engine.MessageQueue{Topic: topic, BrokerName: fmt.Sprint(all[0]["broker"]), QueueID: 5}
		if _, err := c.Route(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		sandboxtest.Send(t, c, mq, protocol.BatchItem{Body: []byte("in a new queue")})
		awaitCount(t, run.out, "in a new queue", 1)
		run.err.await(t, fmt.Sprintf("%v was added to the topic: reading it too", mq))
		run.signals <- syscall.SIGTERM
		run.wait(t).want(t, 143, "")

		if ids, _, err := c.ConsumerIDs(t.Context(), topic, engine.ToolsGroup); err != nil || len(ids) > 0 {
			t.Errorf("members = %v, %v", ids, err)
		}
		for id := range int32(4) {
			mq.QueueID = id
			// (A 4.x broker says 0 of a group without offset while the topic is young.)
			if got, _, err := c.QueryConsumerOffset(t.Context(), engine.ToolsGroup, mq); err != nil || got != 0 {
				t.Errorf("an offset is stored for %v: %v, %v", mq, got, err)
			}
		}
	})
}
