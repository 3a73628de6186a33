package remoting_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// pullRequest is a request frame like that of a pull, with its opaque patched in.
func pullRequestFrame(tb testing.TB) []byte {
	h := protocol.PullMessageRequestHeader{
		ConsumerGroup: "bench-group", Topic: "orders", QueueID: 3, QueueOffset: 1_000_000, MaxMsgNums: 32,
		SysFlag: protocol.PullSuspend, SuspendTimeout: 15 * time.Second, ExpressionType: protocol.ExpressionTAG, BrokerName: "broker-a",
	}
	req := protocol.Command{Code: int32(protocol.PullMessage), Language: protocol.LanguageGo, Version: protocol.Version, ExtFields: protocol.EncodeFields(&h)}
	frame, err := protocol.AppendFrame(nil, &req, protocol.SerializeRocketMQ)
	if err != nil {
		tb.Fatal(err)
	}
	return frame
}

// opaqueAt is the place of the opaque in a frame with a ROCKETMQ header.
const opaqueAt = 4 + 4 + 2 + 1 + 2

// echoServer answers each frame with the same answer, its opaque apart. It is as
// cheap as can be, so that what is measured is the other end.
func echoServer(nc net.Conn, answer []byte, frameLen int) {
	in := make([]byte, 64<<10)
	out := make([]byte, 0, 64*len(answer))
	have := 0
	for {
		n, err := nc.Read(in[have:])
		if err != nil {
			return
		}
		have += n
		out = out[:0]
		at := 0
		for ; have-at >= frameLen; at += frameLen {
			out = append(out, answer...)
			copy(out[len(out)-len(answer)+opaqueAt:], in[at+opaqueAt:at+opaqueAt+4])
		}
		copy(in, in[at:have])
		have -= at
		if _, err := nc.Write(out); err != nil {
			return
		}
	}
}

func benchAnswer(tb testing.TB, size int) []byte {
	h := protocol.PullMessageResponseHeader{NextBeginOffset: 1_000_032, MaxOffset: 2_000_000}
	cmd := protocol.Command{Flag: protocol.FlagResponse, Version: 407, ExtFields: protocol.EncodeFields(&h), Body: make([]byte, size)}
	frame, err := protocol.AppendFrame(nil, &cmd, protocol.SerializeRocketMQ)
	if err != nil {
		tb.Fatal(err)
	}
	return frame
}

func loopback(tb testing.TB) (client, server net.Conn) {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer ln.Close()
	client, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	server, err = ln.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func reportCPU(b *testing.B, begin time.Duration) {
	b.ReportMetric(float64(cpu()-begin)/float64(b.N), "cpu-ns/op")
}

var benchSizes = []int{128, 8 << 10, 32 << 10, 256 << 10}

// withOpaque encodes a copy of a frame under each call's own opaque.
func withOpaque(frame []byte) func(dst []byte, opaque int32) ([]byte, error) {
	return func(dst []byte, opaque int32) ([]byte, error) {
		at := len(dst)
		dst = append(dst, frame...)
		binary.BigEndian.PutUint32(dst[at+opaqueAt:], uint32(opaque))
		return dst, nil
	}
}

// BenchmarkConnStart is a round trip of Start and Reply over loopback TCP, with
// a number of calls pending as a member with that many queues has.
func BenchmarkConnStart(b *testing.B) {
	for _, size := range benchSizes {
		for _, pending := range []int{1, 8} {
			b.Run(fmt.Sprintf("answer=%d/pending=%d", size, pending), func(b *testing.B) {
				request, answer := pullRequestFrame(b), benchAnswer(b, size)
				client, server := loopback(b)
				go echoServer(server, answer, len(request))
				conn := remoting.NewConn(client, remoting.ConnOptions{})
				defer conn.Close(nil)
				encode := withOpaque(request)
				replies := make(chan remoting.Reply, pending)
				for range pending - 1 {
					if _, err := conn.Start(encode, replies); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportAllocs()
				begin := cpu()
				for b.Loop() {
					if _, err := conn.Start(encode, replies); err != nil {
						b.Fatal(err)
					}
					if r := <-replies; r.Err != nil || len(r.Command.Body) != size {
						b.Fatal(r.Err, len(r.Command.Body))
					}
				}
				reportCPU(b, begin)
			})
		}
	}
}

// BenchmarkRawSocket is the same exchange without a Conn: what BenchmarkConnStart
// can at best reach. It keeps each answer in a buffer of its own, as Conn does.
func BenchmarkRawSocket(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("answer=%d", size), func(b *testing.B) {
			request, answer := pullRequestFrame(b), benchAnswer(b, size)
			client, server := loopback(b)
			go echoServer(server, answer, len(request))
			b.ReportAllocs()
			begin := cpu()
			for b.Loop() {
				if _, err := client.Write(request); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(client, make([]byte, len(answer))); err != nil {
					b.Fatal(err)
				}
			}
			reportCPU(b, begin)
		})
	}
}

// BenchmarkConnQueues is the round trip from several goroutines at once, each
// with one call outstanding, as the queues of a member pull.
func BenchmarkConnQueues(b *testing.B) {
	for _, size := range []int{128, 32 << 10} {
		for _, queues := range []int{2, 8, 32} {
			b.Run(fmt.Sprintf("answer=%d/queues=%d", size, queues), func(b *testing.B) {
				request, answer := pullRequestFrame(b), benchAnswer(b, size)
				client, server := loopback(b)
				go echoServer(server, answer, len(request))
				conn := remoting.NewConn(client, remoting.ConnOptions{})
				defer conn.Close(nil)
				encode := withOpaque(request)
				b.ReportAllocs()
				b.SetParallelism(queues / runtime.GOMAXPROCS(0))
				begin := cpu()
				b.RunParallel(func(pb *testing.PB) {
					replies := make(chan remoting.Reply, 1)
					for pb.Next() {
						if _, err := conn.Start(encode, replies); err != nil {
							b.Error(err)
							return
						}
						if r := <-replies; r.Err != nil || len(r.Command.Body) != size {
							b.Error(r.Err, len(r.Command.Body))
							return
						}
					}
				})
				reportCPU(b, begin)
			})
		}
	}
}
