package remoting_test

import (
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The first commit of a topic is answered before the others go out: a broker may
// lose one of several first commits that come at once.
func TestUpdateConsumerOffsetsBeginsWithOneATopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Line("4"), sandboxtest.Topic("orders", 8), sandboxtest.Topic("refunds", 8))
		c := sandboxtest.Client(t, sb, nil)
		var arrived []time.Duration
		began := time.Now()
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.UpdateConsumerOffset {
				arrived = append(arrived, time.Since(began))
				f.Delay = time.Second
			}
			return f
		})
		offsets := map[protocol.MessageQueue]int64{}
		for id := range int32(8) {
			offsets[protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: id}] = 1
			offsets[protocol.MessageQueue{Topic: "refunds", BrokerName: "broker-a", QueueID: id}] = 1
		}
		if failed := c.UpdateConsumerOffsets(t.Context(), "g", offsets); failed != nil {
			t.Errorf("failed = %v", failed)
		}
		if len(arrived) != 16 || arrived[1] >= time.Second || arrived[2] < time.Second {
			t.Errorf("commits arrived after %v, want two at once and the others a second later", arrived)
		}
	})
}

// Many commits go out together; those that a broker refuses or does not answer
// are named, and the others are stored.
func TestUpdateConsumerOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Line("4"), sandboxtest.Topic("orders", 200))
		c := sandboxtest.Client(t, sb, nil)
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.UpdateConsumerOffsetRequestHeader
			if protocol.RequestCode(r.Command.Code) != protocol.UpdateConsumerOffset || protocol.DecodeFields(r.Command.ExtFields, &h) != nil {
				return f
			}
			switch h.QueueID {
			case 7:
				f.Code, f.Remark = protocol.SystemError, "by the test"
			case 150:
				f.Drop = true
			}
			return f
		})
		offsets := map[protocol.MessageQueue]int64{}
		for id := range int32(200) {
			offsets[protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: id}] = int64(id) + 1
		}
		offsets[protocol.MessageQueue{Topic: "orders", BrokerName: "nowhere"}] = 1
		failed := c.UpdateConsumerOffsets(t.Context(), "g", offsets)
		if len(failed) != 3 {
			t.Errorf("failed = %v, want queues 7 and 150 and the unknown broker's", failed)
		}
		for mq, want := range offsets {
			if mq.BrokerName == "nowhere" {
				continue
			}
			got, found, _, _ := sb.Offsets("g", mq)
			refused := mq.QueueID == 7 || mq.QueueID == 150
			if found == refused || found && got != want || (failed[mq] != nil) != refused {
				t.Errorf("%v: stored %d, %v, error %v, want %d", mq, got, found, failed[mq], want)
			}
		}
	})
}
