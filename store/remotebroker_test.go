package store

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestRemoteBrokerRoundTrip(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, target *sandboxtest.Target) {
		topic, group := target.Topic(t, 4), target.Group(t)
		client := target.Client(t, nil)
		s := NewRemoteBroker(client, group)
		join(t, client, group, slices.Collect(maps.Values(target.Masters(t)))...)
		target.Produce(t, topic, 40)
		route, err := client.Route(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		offsets := map[protocol.MessageQueue]int64{}
		for i, mq := range route.Queues {
			offsets[mq] = int64(1 + i%9)
		}
		if failed := s.Save(t.Context(), offsets); failed != nil {
			t.Fatalf("Save = %v", failed)
		}
		for mq, want := range offsets {
			if got, found, err := s.Load(t.Context(), mq); err != nil || !found || got != want {
				t.Errorf("Load(%v) = %d, %v, %v, want %d", mq, got, found, err, want)
			}
		}
	})
}

// join makes the group known, as a member's first heartbeat does: a 5.x broker
// refuses the commits of a group it does not know.
func join(t *testing.T, client *remoting.Client, group string, addrs ...string) {
	t.Helper()
	data := &protocol.HeartbeatData{ClientID: "test", ConsumerDataSet: []protocol.ConsumerData{{
		GroupName: group, ConsumeType: protocol.ConsumePassively,
		MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromLastOffset,
	}}}
	for _, addr := range addrs {
		if _, err := client.Heartbeat(t.Context(), addr, data); err != nil {
			t.Fatal(err)
		}
	}
}

// inBubble runs body with a sandbox of two brokers and a topic of eight queues on each.
func inBubble(t *testing.T, body func(t *testing.T, sb *sandbox.Sandbox, s *RemoteBroker)) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Brokers("broker-a", "broker-b"), sandboxtest.Topic("orders", 8))
		client := sandboxtest.Client(t, sb, nil)
		route, err := client.Route(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range route.Data.BrokerDatas {
			join(t, client, "g", b.BrokerAddrs[remoting.MasterID])
		}
		body(t, sb, NewRemoteBroker(client, "g"))
	})
}

func on(broker string, id int32) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: "orders", BrokerName: broker, QueueID: id}
}

// Trap T02: only code 22 is "no offset"; taking any other error for it would
// send the group to the end of the queue.
func TestRemoteBrokerLoadBelievesOnlyNotFound(t *testing.T) {
	inBubble(t, func(t *testing.T, sb *sandbox.Sandbox, s *RemoteBroker) {
		for _, tt := range []struct {
			code    protocol.ResponseCode
			wantErr bool
		}{
			{protocol.QueryNotFound, false},
			{protocol.SystemError, true},
			{protocol.SystemBusy, true},
			{protocol.NoPermission, true},
			{protocol.TopicNotExist, true},
			{protocol.SubscriptionGroupNotExist, true},
		} {
			sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
				if protocol.RequestCode(r.Command.Code) == protocol.QueryConsumerOffset {
					f.Code, f.Remark = tt.code, "by the test"
				}
				return f
			})
			_, found, err := s.Load(t.Context(), on("broker-a", 0))
			if found || (err != nil) != tt.wantErr {
				t.Errorf("Load with code %d: found %v, error %v, want error %v", tt.code, found, err, tt.wantErr)
			}
		}
	})
}

// A refused queue fails for itself, the others are saved.
func TestRemoteBrokerSaveTriesEveryQueue(t *testing.T) {
	inBubble(t, func(t *testing.T, sb *sandbox.Sandbox, s *RemoteBroker) {
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			var h protocol.UpdateConsumerOffsetRequestHeader
			if protocol.RequestCode(r.Command.Code) == protocol.UpdateConsumerOffset && protocol.DecodeFields(r.Command.ExtFields, &h) == nil && h.QueueID == 3 {
				f.Code, f.Remark = protocol.SystemError, "by the test"
			}
			return f
		})
		offsets := map[protocol.MessageQueue]int64{}
		for id := range int32(8) {
			offsets[on("broker-a", id)], offsets[on("broker-b", id)] = 10+int64(id), 20+int64(id)
		}
		failed := s.Save(t.Context(), offsets)
		if len(failed) != 2 || failed[on("broker-a", 3)] == nil || failed[on("broker-b", 3)] == nil {
			t.Errorf("Save failed for %v, want queue 3 of both brokers", failed)
		}
		if err := failed[on("broker-a", 3)]; err != nil && !strings.Contains(err.Error(), "by the test") {
			t.Errorf("error %q does not give the broker's reason", err)
		}
		for mq, want := range offsets {
			got, found, _, _ := sb.Offsets("g", mq)
			if wantFound := mq.QueueID != 3; found != wantFound || found && got != want {
				t.Errorf("%v: stored %d, %v, want %d, %v", mq, got, found, want, wantFound)
			}
		}
	})
}

// A slow broker delays only its own queues: all of them together take as long as
// two, the first of the topic and then the others.
func TestRemoteBrokerSaveIsParallel(t *testing.T) {
	inBubble(t, func(t *testing.T, sb *sandbox.Sandbox, s *RemoteBroker) {
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if protocol.RequestCode(r.Command.Code) == protocol.UpdateConsumerOffset {
				f.Delay = time.Second
			}
			return f
		})
		offsets := map[protocol.MessageQueue]int64{}
		for id := range int32(8) {
			offsets[on("broker-a", id)], offsets[on("broker-b", id)] = 1, 1
		}
		begun := time.Now()
		if failed := s.Save(t.Context(), offsets); failed != nil {
			t.Errorf("Save = %v", failed)
		}
		if took := time.Since(begun); took > 2500*time.Millisecond {
			t.Errorf("Save took %v, want about two seconds", took)
		}
	})
}

func TestRemoteBrokerSaveWithADeadBroker(t *testing.T) {
	inBubble(t, func(t *testing.T, sb *sandbox.Sandbox, s *RemoteBroker) {
		sb.StopBroker("broker-b")
		synctest.Wait() // until the client has seen its connection end
		offsets := map[protocol.MessageQueue]int64{}
		for id := range int32(8) {
			offsets[on("broker-a", id)], offsets[on("broker-b", id)] = 5, 5
		}
		failed := s.Save(t.Context(), offsets)
		for mq := range offsets {
			if (failed[mq] != nil) != (mq.BrokerName == "broker-b") {
				t.Errorf("%v: error %v", mq, failed[mq])
			}
		}
		if got, found, _, _ := sb.Offsets("g", on("broker-a", 7)); !found || got != 5 {
			t.Errorf("the living broker stored %d, %v, want 5", got, found)
		}
	})
}
