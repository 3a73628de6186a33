package sandbox_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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

// bubble runs body over a sandbox in a bubble; its goroutines must all be gone
// at the end, or the bubble reports a deadlock.
func bubble(t *testing.T, body func(t *testing.T, f *fixture), opts ...sandboxtest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, append([]sandboxtest.Option{sandboxtest.Topic("orders", 4)}, opts...)...)
		f := &fixture{
			Target: &sandboxtest.Target{Name: "sandbox", Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: "5", Sandbox: sb},
			t:      t, c: sandboxtest.Client(t, sb, nil), topic: "orders", group: "g",
		}
		route, err := f.c.Route(t.Context(), f.topic)
		if err != nil {
			t.Fatal(err)
		}
		f.mq = route.Queues[0]
		f.addr, _ = f.c.BrokerAddr(f.mq.BrokerName, remoting.MasterID)
		body(t, f)
	})
}

func (f *fixture) put(n int, queueID int32) int64 {
	f.t.Helper()
	messages := make([]sandbox.Message, n)
	for i := range messages {
		messages[i] = sandbox.Message{Topic: f.topic, QueueID: queueID, Body: fmt.Appendf(nil, "message %d", i)}
	}
	return f.Sandbox.Put(messages...)
}

func TestOptionsAreChecked(t *testing.T) {
	tests := map[string]sandbox.Options{
		"line":          {Line: "6"},
		"no queues":     {Topics: map[string]int32{"t": 0}},
		"empty broker":  {Brokers: []string{""}},
		"broker twice":  {Brokers: []string{"a", "a"}},
		"many brokers":  {Brokers: strings.Split(strings.Repeat("x,", 101), ",")},
		"endless topic": {Topics: map[string]int32{"t": 1 << 30}},
	}
	for name, o := range tests {
		t.Run(name, func(t *testing.T) {
			if s, err := sandbox.Start(t.Context(), o); err == nil {
				s.Close()
				t.Error("got no error")
			}
		})
	}
}

func TestMemberExpiresAfter120Seconds(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		a, b := f.member("a"), f.member("b")
		a.join(1, map[string]string{f.topic: "*"})
		b.join(1, map[string]string{f.topic: "*"})
		time.Sleep(100 * time.Second)
		b.join(2, map[string]string{f.topic: "*"})
		for len(b.notices) > 0 {
			<-b.notices
		}
		time.Sleep(19 * time.Second)
		wantSameText(t, "members after 119 s", f.Sandbox.Members("g"), "[a b]")
		time.Sleep(2 * time.Second)
		wantSameText(t, "members after 121 s", f.Sandbox.Members("g"), "[b]")
		b.wantNotice("a is gone")
		conn, err := a.c.Conn(t.Context(), f.addr)
		if err == nil && conn.Err() == nil {
			a.join(3, map[string]string{f.topic: "*"}) // it has dialled anew
		}
		wantSameText(t, "members after a's return", f.Sandbox.Members("g"), "[a b]")
	})
}

func TestLockExpiresAfter60Seconds(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		lock := func(clientID string) int {
			t.Helper()
			held, err := f.c.LockBatch(t.Context(), f.mq.BrokerName, &protocol.LockBatchBody{ConsumerGroup: "g", ClientID: clientID, MQSet: []protocol.MessageQueue{f.mq}})
			if err != nil {
				t.Fatal(err)
			}
			return len(held)
		}
		wantSameText(t, "a", lock("a"), 1)
		time.Sleep(40 * time.Second)
		wantSameText(t, "a renews", lock("a"), 1)
		time.Sleep(60 * time.Second)
		wantSameText(t, "b after 60 s", lock("b"), 0)
		wantSameText(t, "owner", f.Sandbox.LockOwner("g", f.mq), "a")
		time.Sleep(time.Millisecond)
		wantSameText(t, "owner later", f.Sandbox.LockOwner("g", f.mq), "")
		wantSameText(t, "b later", lock("b"), 1)
		wantSameText(t, "owner at the end", f.Sandbox.LockOwner("g", f.mq), "b")
	})
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	bubble(t, func(t *testing.T, f *fixture) {
		body := []byte(strings.Repeat("x", 1000))
		const n = 5000
		for range n / 100 {
			messages := make([]sandbox.Message, 100)
			for i := range messages {
				messages[i] = sandbox.Message{Topic: f.topic, QueueID: 0, Body: body}
			}
			f.Sandbox.Put(messages...)
		}
		_, _, lowest, highest := f.Sandbox.Offsets("g", f.mq)
		if highest != n || lowest < n-limit/1000 || lowest > n-limit/2000 {
			t.Errorf("got offsets %d to %d, want about the last %d of %d", lowest, highest, limit/1200, n)
		}
		cmd, r := f.pull(f.header(0))
		if cmd.Code != int32(protocol.PullOffsetMoved) || cmd.Remark != "OFFSET_TOO_SMALL" || r.NextBeginOffset != lowest {
			t.Errorf("pull at 0: got %v %s, next %d, want %d", protocol.ResponseCode(cmd.Code), cmd.Remark, r.NextBeginOffset, lowest)
		}
		if _, r := f.pull(f.header(lowest)); len(f.messages(r)) != 32 || f.messages(r)[0].QueueOffset() != lowest {
			t.Errorf("pull at the minimum: got %d messages", len(f.messages(r)))
		}
		wantSameText(t, "query without commit", f.queryOffset(), protocol.QueryNotFound)
	}, sandboxtest.With(func(o *sandbox.Options) { o.MaxBytes = limit }))
}

func TestTruncate(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		f.put(10, 0)
		f.Sandbox.Truncate(f.mq, 4)
		if _, _, lowest, highest := f.Sandbox.Offsets("g", f.mq); lowest != 4 || highest != 10 {
			t.Errorf("got offsets %d to %d, want 4 to 10", lowest, highest)
		}
		f.Sandbox.Truncate(f.mq, 2)
		f.Sandbox.Truncate(f.mq, 100)
		if _, _, lowest, highest := f.Sandbox.Offsets("g", f.mq); lowest != 10 || highest != 10 {
			t.Errorf("got offsets %d to %d, want 10 to 10", lowest, highest)
		}
		if cmd, r := f.pull(f.header(9)); cmd.Code != int32(protocol.PullOffsetMoved) || r.NextBeginOffset != 10 {
			t.Errorf("pull at 9: got %v, next %d", protocol.ResponseCode(cmd.Code), r.NextBeginOffset)
		}
		if cmd, _ := f.pull(f.header(10)); cmd.Code != int32(protocol.PullNotFound) {
			t.Errorf("pull at 10: got %v", protocol.ResponseCode(cmd.Code))
		}
	})
}

func TestPut(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		for what, m := range map[string]sandbox.Message{
			"topic":  {Topic: "none"},
			"broker": {Topic: f.topic, Broker: "none"},
			"queue":  {Topic: f.topic, QueueID: 4},
		} {
			if got := f.Sandbox.Put(m); got != -1 {
				t.Errorf("unknown %s: got offset %d, want -1", what, got)
			}
		}
		if got := f.put(8, -1); got != 1 {
			t.Errorf("8 messages by turns over 4 queues: got offset %d, want 1", got)
		}
		got := f.Sandbox.Put(sandbox.Message{Topic: f.topic, Body: []byte("late"), Properties: []protocol.Property{{Name: protocol.PropertyDelay, Value: "3"}}})
		if _, _, _, highest := f.Sandbox.Offsets("g", f.mq); got != 0 || highest != 2 {
			t.Errorf("delayed message: got offset %d, queue's end %d, want 0, 2", got, highest)
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if _, _, _, highest := f.Sandbox.Offsets("g", f.mq); highest != 3 {
			t.Errorf("after 10 s: got queue's end %d, want 3", highest)
		}
	})
}

func TestAutoCreateTopics(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		h := f.sendHeader()
		h.Topic, h.DefaultTopic, h.DefaultTopicQueueNums = "new", "TBW102", 4
		if _, err := f.sendRaw(h, "x"); err != nil {
			t.Fatal(err)
		}
		route, err := f.c.Route(t.Context(), "new")
		if err != nil || len(route.Queues) != 4 {
			t.Errorf("got route %+v, %v", route, err)
		}
	}, sandboxtest.With(func(o *sandbox.Options) { o.AutoCreateTopics = true }))
}

func TestSeveralBrokers(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		route, err := f.c.Route(t.Context(), f.topic)
		if err != nil {
			t.Fatal(err)
		}
		if len(route.Queues) != 8 || len(route.Data.BrokerDatas) != 2 {
			t.Errorf("got %d queues on %d brokers", len(route.Queues), len(route.Data.BrokerDatas))
		}
		mq := protocol.MessageQueue{Topic: f.topic, BrokerName: "b", QueueID: 3}
		f.Sandbox.Put(sandbox.Message{Topic: f.topic, Broker: "b", QueueID: 3, Body: []byte("x")})
		if got, err := f.c.MaxOffset(t.Context(), mq); got != 1 || err != nil {
			t.Errorf("%v: got end %d, %v, want 1", mq, got, err)
		}
		mq.BrokerName = "a"
		if got, err := f.c.MaxOffset(t.Context(), mq); got != 0 || err != nil {
			t.Errorf("%v: got end %d, %v, want 0", mq, got, err)
		}
	}, sandboxtest.Brokers("a", "b"))
}

func TestBrokerStopsAndStarts(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		a := f.member("a")
		a.join(1, map[string]string{f.topic: "*"})
		f.put(3, 0)
		if err := f.c.UpdateConsumerOffset(t.Context(), "g", f.mq, 2); err != nil {
			t.Fatal(err)
		}
		if _, err := f.c.LockBatch(t.Context(), f.mq.BrokerName, &protocol.LockBatchBody{ConsumerGroup: "g", ClientID: "a", MQSet: []protocol.MessageQueue{f.mq}}); err != nil {
			t.Fatal(err)
		}
		f.Sandbox.Put(sandbox.Message{Topic: f.topic, Body: []byte("late"), Properties: []protocol.Property{{Name: protocol.PropertyDelay, Value: "1"}}})
		answer := f.begin(f.held(3, "*", time.Minute))
		synctest.Wait()

		f.Sandbox.StopBroker("broker-a")
		if got := <-answer; !errors.Is(got.err, remoting.ErrClosed) {
			t.Errorf("held pull: got %v, want %v", got.err, remoting.ErrClosed)
		}
		if _, err := f.c.MaxOffset(t.Context(), f.mq); err == nil || !remoting.Retryable(err) {
			t.Errorf("stopped broker: got %v", err)
		}
		if _, _, err := f.c.RefreshRoute(t.Context(), f.topic); err == nil {
			t.Error("stopped broker: it is in the route")
		}
		wantSameText(t, "members", f.Sandbox.Members("g"), "[]")
		wantSameText(t, "lock", f.Sandbox.LockOwner("g", f.mq), "")
		time.Sleep(10 * time.Second)
		if _, _, _, highest := f.Sandbox.Offsets("g", f.mq); highest != 3 {
			t.Errorf("stopped broker: got end %d, want 3: it delivers nothing", highest)
		}

		f.Sandbox.StartBroker("broker-a")
		f.Sandbox.StartBroker("broker-a") // running already
		synctest.Wait()
		if committed, found, lowest, highest := f.Sandbox.Offsets("g", f.mq); committed != 2 || !found || lowest != 0 || highest != 4 {
			t.Errorf("started again: got committed %d (%v), %d to %d", committed, found, lowest, highest)
		}
		if _, _, err := f.c.RefreshRoute(t.Context(), f.topic); err != nil {
			t.Error(err)
		}
		if _, r := f.pull(f.header(0)); len(f.messages(r)) != 4 {
			t.Errorf("started again: got %d messages, want 4", len(f.messages(r)))
		}
		a.join(2, map[string]string{f.topic: "*"})
		wantSameText(t, "members", f.Sandbox.Members("g"), "[a]")
	})
}

func TestRelayAndNotifyReset(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		resets := make(notices, 4)
		client := f.Target.Client(t, replier{func(req protocol.Command) (protocol.Command, bool) {
			if req.IsOneway() {
				resets <- req
				return protocol.Command{}, false
			}
			return protocol.Command{Remark: "from a"}, true
		}})
		(&member{f: f, id: "a", c: client}).join(1, map[string]string{f.topic: "*"})
		<-resets // 40
		got, err := f.Sandbox.Relay(t.Context(), "g", "a", &protocol.Command{Code: int32(protocol.GetConsumerStatusFromClient)})
		if err != nil || got.Remark != "from a" {
			t.Errorf("relay: got %+v, %v", got, err)
		}
		if _, err := f.Sandbox.Relay(t.Context(), "g", "b", &protocol.Command{}); err == nil {
			t.Error("relay to nobody: got no error")
		}
		f.Sandbox.NotifyReset("g", f.topic, protocol.OffsetTable{f.mq: 5, {Topic: f.topic, BrokerName: "other", QueueID: 1}: 6})
		cmd := <-resets
		table, err := protocol.DecodeResetOffset(cmd.Body)
		if cmd.Code != int32(protocol.ResetConsumerClientOffset) || err != nil || len(table) != 1 || table[f.mq] != 5 {
			t.Errorf("reset: got %v %v, %v", protocol.RequestCode(cmd.Code), table, err)
		}
	})
}

func TestTCP(t *testing.T) {
	sb := sandboxtest.Start(t, sandboxtest.Topic("orders", 2), sandboxtest.Brokers("a", "b"))
	memory := sandboxtest.Client(t, sb, nil)
	if _, err := memory.Route(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	namesrv, broker, err := sb.ListenTCP("127.0.0.1:0", fmt.Sprint(":", lastingPort(t))) // all interfaces are announced as this machine
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := sb.ListenTCP("127.0.0.1:0", "127.0.0.1:0"); err == nil {
		t.Error("listening twice: got no error")
	}
	if sb.NamesrvAddr() != namesrv {
		t.Errorf("got name server %s, want %s", sb.NamesrvAddr(), namesrv)
	}
	for name, c := range map[string]*remoting.Client{"TCP": tcpClient(t, namesrv), "memory": memory, "memory, TCP address": sandboxtest.Client(t, sb, nil)} {
		route, _, err := c.RefreshRoute(t.Context(), "orders")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if addr, _ := c.BrokerAddr("a", remoting.MasterID); addr != broker || len(route.Queues) != 4 {
			t.Errorf("%s: got broker %s with %d queues, want %s", name, addr, len(route.Queues), broker)
		}
		for _, mq := range route.Queues {
			r := sandboxtest.Send(t, c, mq, protocol.BatchItem{Body: []byte("x")})
			host, _, err := protocol.ParseOffsetMessageID(r.OffsetMessageID)
			if addr, _ := c.BrokerAddr(mq.BrokerName, remoting.MasterID); err != nil || host.String() != addr {
				t.Errorf("%s: got id of %v, want %s", name, host, addr)
			}
		}
	}
	sb.StopBroker("a")
	if conn, err := net.Dial("tcp", broker); err == nil {
		conn.Close()
		t.Error("stopped broker: it accepts")
	}
	sb.StartBroker("a")
	c := tcpClient(t, namesrv)
	if got, err := c.MaxOffset(t.Context(), protocol.MessageQueue{Topic: "orders", BrokerName: "a", QueueID: 1}); got != 3 || err != nil {
		t.Errorf("started again: got end %d, %v, want 3", got, err)
	}
}

// lastingPort is a free port that nobody is given who asks for any: it stays free
// while its listener is away.
func lastingPort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 15000 + rand.IntN(5000) // below what Linux gives to sockets that ask for any
		ln, err := net.Listen("tcp", fmt.Sprint(":", port))
		if err != nil {
			continue
		}
		ln.Close()
		return port
	}
	t.Fatal("no free port in a hundred tries")
	return 0
}

func tcpClient(t *testing.T, namesrv string) *remoting.Client {
	t.Helper()
	c, err := remoting.NewClient(remoting.Options{Namesrv: []string{namesrv}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Everything ends with Close: calls under way fail, methods return nothing, and
// the bubble would not end if a goroutine were left.
func TestCloseEndsEverything(t *testing.T) {
	for name, end := range map[string]func(*sandbox.Sandbox, context.CancelFunc){
		"close":   func(s *sandbox.Sandbox, _ context.CancelFunc) { s.Close() },
		"context": func(s *sandbox.Sandbox, cancel context.CancelFunc) { cancel(); s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				sb, err := sandbox.Start(ctx, sandbox.Options{Topics: map[string]int32{"orders": 1}})
				if err != nil {
					t.Fatal(err)
				}
				c := sandboxtest.Client(t, sb, nil)
				mq := protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a"}
				route, err := c.Route(t.Context(), "orders")
				if err != nil || !slices.Contains(route.Queues, mq) {
					t.Fatalf("got %v, %v", route, err)
				}
				f := &fixture{t: t, c: c, topic: "orders", group: "g", mq: mq}
				f.addr, _ = c.BrokerAddr("broker-a", remoting.MasterID)
				answer := f.begin(f.held(0, "*", time.Hour))
				synctest.Wait()
				end(sb, cancel)
				if got := <-answer; got.err == nil {
					t.Errorf("held pull: got %v", protocol.ResponseCode(got.Code))
				}
				if sb.Put(sandbox.Message{Topic: "orders"}) != -1 || sb.Members("g") != nil || sb.NamesrvAddr() != "" {
					t.Error("the sandbox still answers")
				}
				if _, _, err := sb.ListenTCP("127.0.0.1:0", "127.0.0.1:0"); !errors.Is(err, sandbox.ErrClosed) {
					t.Errorf("listen: got %v", err)
				}
				if _, err := sb.Dial(t.Context(), "tcp", f.addr); err == nil {
					t.Error("it can be dialled")
				}
				sb.Close()
			})
		})
	}
}

// On a real clock time goes on while the loop works, which no bubble shows.
func TestAlarmsOnARealClock(t *testing.T) {
	sb := sandboxtest.Start(t, sandboxtest.Topic("orders", 1))
	f := &fixture{
		Target: &sandboxtest.Target{Sandbox: sb}, t: t, c: sandboxtest.Client(t, sb, nil), topic: "orders", group: "g",
		mq: protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a"},
	}
	if _, err := f.c.Route(t.Context(), f.topic); err != nil {
		t.Fatal(err)
	}
	f.addr, _ = f.c.BrokerAddr("broker-a", remoting.MasterID)
	const n = 200
	for range n {
		sb.Put(sandbox.Message{Topic: "orders", Body: []byte("x"), Properties: []protocol.Property{{Name: protocol.PropertyDelay, Value: "1"}}})
		f.pull(f.held(0, "*", time.Millisecond))
	}
	for queueOffset := int64(0); queueOffset < n; {
		cmd, r := f.pull(f.held(queueOffset, "*", 5*time.Second))
		if cmd.Code != int32(protocol.Success) {
			t.Fatalf("pull at %d: got %v %s", queueOffset, protocol.ResponseCode(cmd.Code), cmd.Remark)
		}
		queueOffset = r.NextBeginOffset
	}
}

// 5.3 answers a binary header in JSON, 4.9 in kind.
func TestBinaryHeaders(t *testing.T) {
	for line, want := range map[string]protocol.SerializeType{"4": protocol.SerializeRocketMQ, "5": protocol.SerializeJSON} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := sandboxtest.Start(t, sandboxtest.Topic("orders", 1), sandboxtest.Line(line))
				c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Serialize: protocol.SerializeRocketMQ})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if _, err := c.Route(t.Context(), "orders"); err != nil {
					t.Fatal(err)
				}
				addr, _ := c.BrokerAddr("broker-a", remoting.MasterID)
				h := protocol.QueueOffsetRequestHeader{Topic: "orders"}
				cmd, err := c.Invoke(t.Context(), addr, &protocol.Command{Code: int32(protocol.GetMaxOffset), ExtFields: protocol.EncodeFields(&h)})
				if err != nil || cmd.Serialize != want {
					t.Errorf("got encoding %d, %v, want %d", cmd.Serialize, err, want)
				}
				if cmd.Language != protocol.LanguageJava || cmd.Version != map[string]int32{"4": 407, "5": 479}[line] {
					t.Errorf("got language %v, version %d", cmd.Language, cmd.Version)
				}
			})
		})
	}
}

// A client that reads nothing is cut off; the others do not notice it.
func TestUnreadAnswersDoNotBlock(t *testing.T) {
	bubble(t, func(t *testing.T, f *fixture) {
		f.put(2000, 0)
		nc, err := f.Sandbox.Dial(t.Context(), "tcp", f.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		h := f.header(0)
		frame, err := protocol.AppendFrame(nil, &protocol.Command{Code: int32(protocol.PullMessage), ExtFields: protocol.EncodeFields(&h)}, protocol.SerializeJSON)
		if err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			if _, err := nc.Write(frame); err != nil {
				t.Fatal(err)
			}
		}
		if _, r := f.pull(h); len(f.messages(r)) != 32 {
			t.Errorf("another client: got %d messages", len(f.messages(r)))
		}
		time.Sleep(time.Minute)
		if _, err := nc.Write(frame); err == nil {
			t.Error("the connection is still open after a minute")
		}
	})
}

// Nobody can take the sandbox down with a request.
func TestHostileRequests(t *testing.T) {
	for _, line := range []string{"4", "5"} {
		bubble(t, func(t *testing.T, f *fixture) {
			// A body that looks like a record of negative size from the inside.
			inner := make([]byte, 64)
			r := f.send("first")
			first := f.pullOne(f.mq, 0, time.Second)
			at := first.CommitLogOffset() + int64(first.StoreSize()) + 88
			binary.BigEndian.PutUint32(inner, 1<<31+5)
			binary.BigEndian.PutUint64(inner[28:], uint64(at))
			f.send(string(inner))
			second := f.pullOne(f.mq, r.QueueOffset+1, time.Second)
			if got := second.CommitLogOffset() + 88; got != at || string(second.StoredBody()) != string(inner) {
				t.Fatalf("the body is at %d, want %d", got, at)
			}
			_, err := f.invoke(protocol.ViewMessageByID, protocol.ExtFields{{Key: "offset", Value: fmt.Sprint(at)}}, nil)
			f.wantCode("view of a body", err, protocol.SystemError)

			extremes := []string{"-9223372036854775808", "9223372036854775807", "-2147483648", "2147483647", "-1", "0", "x", ""}
			names := strings.Fields(`consumerGroup topic queueId queueOffset maxMsgNums sysFlag commitOffset suspendTimeoutMillis
				subVersion timestamp offset group delayLevel maxReconsumeTimes a b c d e f g h i j k l m maxNum beginTimestamp
				endTimestamp readQueueNums writeQueueNums perm defaultTopic topicFilterType topicSysFlag isForce clientId msgId`)
			for code := int32(10); code < 400; code++ {
				for _, value := range extremes {
					var fields protocol.ExtFields
					for _, name := range names {
						switch name {
						case "topic", "b":
							fields = append(fields, protocol.ExtField{Key: name, Value: f.topic})
						default:
							fields = append(fields, protocol.ExtField{Key: name, Value: value})
						}
					}
					req := &protocol.Command{Code: code, ExtFields: fields, Body: []byte(`{"groupName":"g","retryQueueNums":2147483647}`)}
					if err := f.c.InvokeOneway(t.Context(), f.addr, req); err != nil {
						t.Fatal(err)
					}
				}
			}
			f.c.Invoke(t.Context(), f.addr, &protocol.Command{Code: 1}) // after all of them
			f.Sandbox.CreateTopic(f.topic, 4)
			if got := f.Sandbox.Put(sandbox.Message{Topic: f.topic, QueueID: 0, Body: []byte("x")}); got < 0 {
				t.Errorf("put: got offset %d", got)
			}
		}, sandboxtest.Line(line))
	}
}

// The rate of a group (208) is what it pulled, by the second.
func TestConsumeTPS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("T", 1))
		for range 20 {
			sb.Put(sandbox.Message{Topic: "T", Body: []byte("x")})
		}
		c := sandboxtest.Client(t, sb, nil)
		mq := protocol.MessageQueue{Topic: "T", BrokerName: "broker-a"}
		addr, err := c.MasterOf(t.Context(), mq)
		if err != nil {
			t.Fatal(err)
		}
		for offset := int64(0); offset < 20; offset += 8 {
			pullAt(t, c, addr, "g", mq, offset)
		}
		time.Sleep(10 * time.Second)
		for range 2 { // and the same to who asks at once
			if s, err := c.ConsumeStats(t.Context(), addr, "g", ""); err != nil || s.ConsumeTPS != 2 {
				t.Errorf("ConsumeTPS = %v, %v, want 2", s.ConsumeTPS, err)
			}
		}
	})
}
