package inspect_test

import (
	"errors"
	"strings"
	"testing"

	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Light queues and their groups are in no list: that one is not found there does not say
// that there is none.
func TestWhatIsLightIsNotKnownToBeMissing(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d, topic := newDesk(t, tg), tg.Topic(t, 1)
		const light = "%LMQ%car-7"
		_, lagErr := d.Lag(t.Context(), light)
		_, topicErr := d.Topic(t.Context(), light)
		_, resetErr := d.PlanReset(t.Context(), inspect.ResetRequest{Group: light, Topics: []string{topic}})
		_, findErr := d.Find(t.Context(), inspect.FindRequest{Topic: light, Key: "k"})
		for what, err := range map[string]error{"lag": lagErr, "topic": topicErr, "reset": resetErr, "find": findErr} {
			if unsure := (*inspect.UnsureError)(nil); !errors.As(err, &unsure) || !strings.Contains(err.Error(), light+" is not known") {
				t.Errorf("%s: %v, want that it is not known", what, err)
			}
		}
		d.refused(inspect.ManageRequest{Action: inspect.CreateTopic, Name: light, ReadQueues: 1, WriteQueues: 1, Perm: protocol.PermRead}, "light queue")
		d.refused(inspect.ManageRequest{Action: inspect.DeleteTopic, Name: light}, "light queue")
	})
}

// Brokers keep the offsets of a light group apart from those that they tell of groups: each
// queue is asked for. They keep one a topic, so of several queues none is known.
func TestCommitsOfALightGroup(t *testing.T) {
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		tg.Sandbox.SetFault(func(r sandbox.Request) sandbox.Fault { // as 5.3.3, which knows no queue of it
			if protocol.RequestCode(r.Command.Code) == protocol.GetConsumeStats {
				return sandbox.Fault{Code: protocol.TopicNotExist}
			}
			return sandbox.Fault{}
		})
		for queues, group := range map[int32]string{1: "%LMQ%car-7", 2: "%LMQ%car-8"} {
			topic := tg.Topic(t, queues)
			d.makeGroup(tg, group)
			tg.Produce(t, topic, 3*int(queues))
			d.commit(group, 2, d.queues(topic)...)
			newStub(t, tg, group, "192.0.2.1@"+group, 0, d.queues(topic), func(s *stub) { s.still = true })
			l, err := d.Lag(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			n := int32(0)
			for i := range l.Queues {
				q := &l.Queues[i]
				if q.Topic != topic {
					continue
				}
				n++
				if queues == 1 && (q.Committed != inspect.Exact(2) || q.Lag != inspect.Exact(1)) {
					t.Errorf("%v: committed %+v, lag %+v, want 2 and 1", q.MessageQueue, q.Committed, q.Lag)
				}
				if queues > 1 && (q.Committed.Known || q.Lag.Known || q.Lag.Why.Kind != inspect.ReasonUnsupported) {
					t.Errorf("%v: committed %+v, lag %+v, want that they are not known", q.MessageQueue, q.Committed, q.Lag)
				}
			}
			if n != queues {
				t.Errorf("%s: %d queues, want %d", group, n, queues)
			}
		}
	})
}
