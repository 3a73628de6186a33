package remoting_test

import (
	"testing"
	"testing/synctest"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Many commits go out together; those that a broker refuses or does not answer
// are named, and the others are stored.
func TestUpdateConsumerOffsets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Line("4"), sandboxtest.Topic("orders", 200))
		c := sandboxtest.Client(t, sb, nil)
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.UpdateConsumerOffsetRequestHeader
			if protocol.RequestCode(r.Command.Code) != protocol.UpdateConsumerOffset || h.Parse(r.Command.ExtFields) != nil {
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
