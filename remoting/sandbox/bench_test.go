package sandbox_test

import (
	"fmt"
	"testing"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func benchMessages(n int) []sandbox.Message {
	messages := make([]sandbox.Message, n)
	for i := range messages {
		messages[i] = sandbox.Message{
			Topic: "orders", QueueID: -1, Body: make([]byte, 200),
			Properties: []protocol.Property{{Name: protocol.PropertyKeys, Value: fmt.Sprint("key-", i)}, {Name: protocol.PropertyTags, Value: "TagA"}},
		}
	}
	return messages
}

// BenchmarkPut stores 1,000 messages at once.
func BenchmarkPut(b *testing.B) {
	sb := sandboxtest.Start(b, sandboxtest.Topic("orders", 8))
	messages := benchMessages(1000)
	b.ReportAllocs()
	for b.Loop() {
		sb.Put(messages...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/message")
}

// BenchmarkPull pulls 32 messages of 200 bytes.
func BenchmarkPull(b *testing.B) {
	for _, tcp := range []bool{false, true} {
		b.Run(fmt.Sprintf("tcp=%v", tcp), func(b *testing.B) {
			sb := sandboxtest.Start(b, sandboxtest.Topic("orders", 1))
			o := remoting.Options{Dial: sb.Dial}
			if tcp {
				if _, _, err := sb.ListenTCP("127.0.0.1:0", "127.0.0.1:0"); err != nil {
					b.Fatal(err)
				}
				o.Dial = nil
			}
			o.Namesrv = []string{sb.NamesrvAddr()}
			c, err := remoting.NewClient(o)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			if _, err := c.Route(b.Context(), "orders"); err != nil {
				b.Fatal(err)
			}
			addr, _ := c.BrokerAddr("broker-a", remoting.MasterID)
			sb.Put(benchMessages(10_000)...)
			h := protocol.PullMessageRequestHeader{
				ConsumerGroup: "g", Topic: "orders", MaxMsgNums: 32, SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: "TAG",
			}
			b.ReportAllocs()
			for b.Loop() {
				h.QueueOffset = (h.QueueOffset + 32) % 9_000
				r, err := c.Pull(b.Context(), addr, &h)
				if err != nil || r.Status != remoting.PullFound {
					b.Fatal(r.Status, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/message")
		})
	}
}

// BenchmarkSend sends one message and waits.
func BenchmarkSend(b *testing.B) {
	sb := sandboxtest.Start(b, sandboxtest.Topic("orders", 8))
	c := sandboxtest.Client(b, sb, nil)
	route, err := c.Route(b.Context(), "orders")
	if err != nil {
		b.Fatal(err)
	}
	m := &remoting.OutMessage{Topic: "orders", Body: make([]byte, 200)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Send(b.Context(), "p", route.Queues[0], m); err != nil {
			b.Fatal(err)
		}
	}
}
