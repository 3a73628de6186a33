package tui

import (
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
)

// The lag of a queue that is popped is not what is committed of it.
func TestDetailsOfAPoppedQueue(t *testing.T) {
	e := &env{}
	e.o.Location = time.UTC
	v := newLagView(e, "g")
	mq := engine.MessageQueue{Topic: "orders", BrokerName: "broker-a"}
	v.take(lagAnswer{inspect.GroupLag{Queues: []inspect.QueueLag{{MessageQueue: mq}}}, inspect.GroupLag{Queues: []inspect.QueueLag{{MessageQueue: mq, Pop: true, Lag: inspect.Exact(4)}}}})
	text := v.describe(lagKey{"orders", mq, true}).(textRequest)
	if all := strings.Join(text.lines, "\n"); !strings.Contains(all, "4   = what nobody has popped yet") || strings.Contains(all, "max −") {
		t.Errorf("details\n%s", all)
	}
}
