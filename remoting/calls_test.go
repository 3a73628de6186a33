package remoting_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"

	"github.com/google/go-cmp/cmp"
)

// broker answers each request code with a function and notes what it got.
type broker struct {
	got    []protocol.Command
	answer map[protocol.RequestCode]func(req protocol.Command) *protocol.Command
}

func (b *broker) HandleRequest(c *remoting.Conn, req protocol.Command) {
	b.got = append(b.got, req)
	answer := b.answer[protocol.RequestCode(req.Code)]
	if answer == nil {
		c.Respond(&req, &protocol.Command{Code: int32(protocol.RequestCodeNotSupported)})
		return
	}
	if resp := answer(req); resp != nil {
		c.Respond(&req, resp)
	}
}

// always answers the same.
func always(resp protocol.Command) func(protocol.Command) *protocol.Command {
	return func(protocol.Command) *protocol.Command { return &resp }
}

func refuse(code protocol.ResponseCode, remark string) func(protocol.Command) *protocol.Command {
	return always(protocol.Command{Code: int32(code), Remark: remark})
}

// withBroker runs body in a bubble with a client, a name server and one broker
// "b" that has topic T with two queues.
func withBroker(t *testing.T, body func(t *testing.T, b *broker, c *remoting.Client)) {
	withRoutes(t, func(t *testing.T, n *memoryNet, ns *namesrv, c *remoting.Client) {
		b := &broker{answer: map[protocol.RequestCode]func(protocol.Command) *protocol.Command{}}
		ns.set("T", routeOf(2, "b"))
		n.Serve(t, "b:1", b)
		body(t, b, c)
	})
}

var queueT1 = protocol.MessageQueue{Topic: "T", BrokerName: "b", QueueID: 1}

func isCode(err error, code protocol.ResponseCode) bool {
	ce, ok := errors.AsType[*remoting.CodeError](err)
	return ok && ce.Code == code
}

func TestQueryConsumerOffset(t *testing.T) {
	withBroker(t, func(t *testing.T, b *broker, c *remoting.Client) {
		for _, tt := range []struct {
			name   string
			answer protocol.Command
			offset int64
			found  bool
			code   protocol.ResponseCode // of the error
		}{
			{name: "found", answer: protocol.Command{ExtFields: protocol.ExtFields{{Key: "offset", Value: "17"}}}, offset: 17, found: true},
			{name: "zero is found", answer: protocol.Command{ExtFields: protocol.ExtFields{{Key: "offset", Value: "0"}}}, found: true},
			{name: "none", answer: protocol.Command{Code: int32(protocol.QueryNotFound), Remark: "Not found"}},
			{name: "only code 22 is none", answer: protocol.Command{Code: int32(protocol.SystemError), Remark: "Not found"}, code: protocol.SystemError},
		} {
			b.answer[protocol.QueryConsumerOffset] = always(tt.answer)
			offset, found, err := c.QueryConsumerOffset(t.Context(), "g", queueT1)
			if offset != tt.offset || found != tt.found || isCode(err, tt.code) != (tt.code != 0) || (err != nil) != (tt.code != 0) {
				t.Errorf("%s: %d %v %v", tt.name, offset, found, err)
			}
		}
		if v, _ := b.got[0].ExtFields.Get("setZeroIfNotFound"); v != "false" {
			t.Errorf("ext fields %v: want setZeroIfNotFound=false", b.got[0].ExtFields)
		}
		b.answer[protocol.QueryConsumerOffset] = always(protocol.Command{})
		_, _, err := c.QueryConsumerOffset(t.Context(), "g", queueT1)
		if err == nil || !strings.Contains(err.Error(), "b:1") || !strings.Contains(err.Error(), "T b/1") {
			t.Errorf("an answer without offset: %v, want an error that names queue and address", err)
		}
	})
}

func TestPullStatuses(t *testing.T) {
	fields := protocol.EncodeFields(&protocol.PullMessageResponseHeader{SuggestWhichBrokerID: 1, NextBeginOffset: 2, MinOffset: 3, MaxOffset: 4})
	tests := map[string]struct {
		code   protocol.ResponseCode
		fields protocol.ExtFields
		want   remoting.PullStatus // 0: an error
	}{
		"found":          {protocol.Success, fields, remoting.PullFound},
		"no new":         {protocol.PullNotFound, fields, remoting.PullNoNewMessage},
		"no matched":     {protocol.PullRetryImmediately, fields, remoting.PullNoMatchedMessage},
		"offset illegal": {protocol.PullOffsetMoved, fields, remoting.PullOffsetIllegal},
		"no heartbeat":   {protocol.SubscriptionNotExist, nil, 0},
		"busy":           {protocol.SystemBusy, fields, 0},
		"broken header":  {protocol.Success, fields[:2], 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			withBroker(t, func(t *testing.T, b *broker, c *remoting.Client) {
				b.answer[protocol.PullMessage] = always(protocol.Command{Code: int32(tt.code), ExtFields: tt.fields, Remark: "r", Body: []byte("body")})
				got, err := c.Pull(t.Context(), "b:1", &protocol.PullMessageRequestHeader{ConsumerGroup: "g", Topic: "T"})
				if tt.want == 0 {
					if tt.fields == nil && !isCode(err, tt.code) || err == nil {
						t.Errorf("Pull = %+v, %v, want an error", got, err)
					}
					return
				}
				want := remoting.PullResult{
					Status: tt.want, Remark: "r", Body: []byte("body"),
					PullMessageResponseHeader: protocol.PullMessageResponseHeader{SuggestWhichBrokerID: 1, NextBeginOffset: 2, MinOffset: 3, MaxOffset: 4},
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("Pull: %v (-want +got):\n%s", err, diff)
				}
			})
		})
	}
}

// An answer that breaks the protocol costs its connection; the next call dials anew.
func TestBrokenAnswerDropsItsConnection(t *testing.T) {
	mq := protocol.MessageQueue{Topic: "T", BrokerName: "b"}
	calls := map[string]func(t *testing.T, c *remoting.Client) error{
		"pull": func(t *testing.T, c *remoting.Client) error {
			_, err := c.Pull(t.Context(), "b:1", &protocol.PullMessageRequestHeader{ConsumerGroup: "g", Topic: "T"})
			return err
		},
		"offset": func(t *testing.T, c *remoting.Client) error {
			_, _, err := c.QueryConsumerOffset(t.Context(), "g", mq)
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			withBroker(t, func(t *testing.T, b *broker, c *remoting.Client) {
				b.answer[protocol.PullMessage] = always(protocol.Command{})
				b.answer[protocol.QueryConsumerOffset] = always(protocol.Command{})
				conn, err := c.Conn(t.Context(), "b:1")
				if err != nil {
					t.Fatal(err)
				}
				broken, ok := errors.AsType[*remoting.BadAnswerError](call(t, c))
				if !ok || broken.Addr != "b:1" {
					t.Fatalf("error %v, want a broken answer from b:1", broken)
				}
				<-conn.Done()
				if !errors.Is(conn.Err(), broken) {
					t.Errorf("the connection ended by %v, want by the answer", conn.Err())
				}
				if next, err := c.Conn(t.Context(), "b:1"); err != nil || next == conn {
					t.Errorf("the next connection: %v, want another one", err)
				}
			})
		})
	}
}

// A suspended pull may take longer than other calls, but not for ever.
func TestPullMayBeHeld(t *testing.T) {
	withRoutes(t, func(t *testing.T, n *memoryNet, _ *namesrv, c *remoting.Client) {
		n.Serve(t, "b:1", handlerFunc(silent))
		begin := time.Now()
		h := protocol.PullMessageRequestHeader{SysFlag: protocol.PullSuspend, SuspendTimeout: 15 * time.Second}
		if _, err := c.Pull(t.Context(), "b:1", &h); !remoting.Retryable(err) || time.Since(begin) != 30*time.Second {
			t.Errorf("Pull = %v after %v, want a timeout after 30s", err, time.Since(begin))
		}
		begin = time.Now()
		h.SysFlag = 0
		if _, err := c.Pull(t.Context(), "b:1", &h); !remoting.Retryable(err) || time.Since(begin) != 3*time.Second {
			t.Errorf("Pull = %v after %v, want a timeout after 3s", err, time.Since(begin))
		}
	})
}

func TestConsumerIDs(t *testing.T) {
	list := always(protocol.Command{Body: protocol.EncodeConsumerIDList([]string{"1@a", "2@b"})})
	none := refuse(protocol.SystemError, "no consumer for this group, g")
	broken := refuse(protocol.SystemError, "java.lang.NullPointerException")
	tests := map[string]struct {
		b1, b2 func(protocol.Command) *protocol.Command // nil: does not listen
		ids    []string
		addrs  []string // that may answer; none: an error
	}{
		"both answer":                {list, list, []string{"1@a", "2@b"}, []string{"b1:1", "b2:1"}},
		"one is down":                {nil, list, []string{"1@a", "2@b"}, []string{"b2:1"}},
		"one is broken":              {list, broken, []string{"1@a", "2@b"}, []string{"b1:1"}},
		"nobody is in the group":     {none, none, nil, []string{"b1:1", "b2:1"}},
		"one is down, other knows 0": {nil, none, nil, []string{"b2:1"}},
		"none answers":               {nil, broken, nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			withRoutes(t, func(t *testing.T, n *memoryNet, ns *namesrv, c *remoting.Client) {
				ns.set("T", routeOf(1, "b1", "b2"))
				for addr, answer := range map[string]func(protocol.Command) *protocol.Command{"b1:1": tt.b1, "b2:1": tt.b2} {
					if answer != nil {
						n.Serve(t, addr, &broker{answer: map[protocol.RequestCode]func(protocol.Command) *protocol.Command{
							protocol.GetConsumerListByGroup: answer,
						}})
					}
				}
				ids, addr, err := c.ConsumerIDs(t.Context(), "T", "g")
				if tt.addrs == nil {
					if err == nil || !strings.Contains(err.Error(), "b1:1") || !strings.Contains(err.Error(), "b2:1") {
						t.Errorf("ConsumerIDs = %v %q %v, want an error that names both", ids, addr, err)
					}
					return
				}
				if err != nil || !slices.Equal(ids, tt.ids) || !slices.Contains(tt.addrs, addr) {
					t.Errorf("ConsumerIDs = %v %q %v, want %v from one of %v", ids, addr, err, tt.ids, tt.addrs)
				}
			})
		})
	}
}

func TestSend(t *testing.T) {
	withBroker(t, func(t *testing.T, b *broker, c *remoting.Client) {
		stored := protocol.EncodeFields(&protocol.SendMessageResponseHeader{MsgID: "ID", QueueID: 1, QueueOffset: 9, TransactionID: "tx"})
		m := &remoting.OutMessage{
			Flag: 5, SysFlag: protocol.SysFlagCompressed, Body: []byte("body"), ReconsumeTimes: 2, MaxReconsumeTimes: 16,
			Properties: []protocol.Property{{Name: "KEYS", Value: "k"}, {Name: "TAGS", Value: "t"}},
		}
		for code, want := range map[protocol.ResponseCode]bool{
			protocol.Success: true, protocol.FlushDiskTimeout: true, protocol.SlaveNotAvailable: true, protocol.FlushSlaveTimeout: true,
			protocol.MessageIllegal: false,
		} {
			b.answer[protocol.SendMessageV2] = always(protocol.Command{Code: int32(code), ExtFields: stored})
			got, err := c.Send(t.Context(), "pg", protocol.MessageQueue{Topic: "T", BrokerName: "b", QueueID: -1}, m)
			if !want {
				if !isCode(err, code) {
					t.Errorf("Send = %v, want code %v", err, code)
				}
				continue
			}
			result := remoting.SendResult{MessageQueue: queueT1, QueueOffset: 9, OffsetMessageID: "ID", TransactionID: "tx", Warning: code}
			if err != nil || got != result {
				t.Errorf("Send = %+v, %v, want %+v", got, err, result)
			}
		}
		var h protocol.SendMessageRequestHeader
		req := b.got[0]
		if err := h.ParseV2(req.ExtFields); err != nil {
			t.Fatal(err)
		}
		want := protocol.SendMessageRequestHeader{
			ProducerGroup: "pg", Topic: "T", DefaultTopic: "TBW102", DefaultTopicQueueNums: 4, QueueID: -1,
			SysFlag: protocol.SysFlagCompressed, Born: h.Born, Flag: 5, Properties: "KEYS\x01k\x02TAGS\x01t",
			ReconsumeTimes: 2, MaxReconsumeTimes: 16, BrokerName: "b",
		}
		if diff := cmp.Diff(want, h); diff != "" || string(req.Body) != "body" || h.Born.IsZero() {
			t.Errorf("header (-want +got):\n%s", diff)
		}
	})
}

func TestSendToTopicThatBrokerWillMake(t *testing.T) {
	withRoutes(t, func(t *testing.T, n *memoryNet, ns *namesrv, c *remoting.Client) {
		ns.set("TBW102", routeOf(8, "b"))
		n.Serve(t, "b:1", &broker{answer: map[protocol.RequestCode]func(protocol.Command) *protocol.Command{
			protocol.SendBatchMessage: always(protocol.Command{ExtFields: protocol.EncodeFields(&protocol.SendMessageResponseHeader{MsgID: "a,b"})}),
		}})
		mq := protocol.MessageQueue{Topic: "new", BrokerName: "b"}
		got, err := c.SendBatch(t.Context(), "pg", mq, []protocol.BatchItem{{Body: []byte("1")}, {Body: []byte("2")}})
		if err != nil || got.OffsetMessageID != "a,b" || got.MessageQueue != mq {
			t.Errorf("SendBatch = %+v, %v", got, err)
		}
		mq.BrokerName = "other"
		if _, err := c.SendBatch(t.Context(), "pg", mq, nil); !isNoBroker(err, "other") {
			t.Errorf("SendBatch to an unknown broker = %v", err)
		}
	})
}

// Calls of a broker by name know its topics' routes or ask for them.
func TestCallsByBrokerName(t *testing.T) {
	body := &protocol.LockBatchBody{ConsumerGroup: "g", ClientID: "c", MQSet: []protocol.MessageQueue{queueT1}}
	back := &protocol.ConsumerSendMsgBackRequestHeader{Group: "g", Offset: 77, OriginTopic: "unknown", DelayLevel: 3}
	withRoutes(t, func(t *testing.T, n *memoryNet, ns *namesrv, c *remoting.Client) {
		if _, err := c.LockBatch(t.Context(), "b", body); err == nil {
			t.Error("LockBatch of an unknown broker succeeded")
		}
		ns.set("T", routeOf(2, "b"))
		ns.set(protocol.RetryTopic("g"), routeOf(1, "r"))
		b := &broker{answer: map[protocol.RequestCode]func(protocol.Command) *protocol.Command{
			protocol.LockBatchMQ:         always(protocol.Command{Body: protocol.EncodeLockOK(body.MQSet)}),
			protocol.UnlockBatchMQ:       always(protocol.Command{}),
			protocol.ConsumerSendMsgBack: always(protocol.Command{}),
		}}
		n.Serve(t, "b:1", b)
		n.Serve(t, "r:1", b)
		granted, err := c.LockBatch(t.Context(), "b", body)
		if err != nil || !slices.Equal(granted, body.MQSet) {
			t.Errorf("LockBatch = %v, %v", granted, err)
		}
		if err := c.UnlockBatch(t.Context(), "b", body); err != nil {
			t.Errorf("UnlockBatch = %v", err)
		}
		// Only the route of the retry topic names the broker of this message.
		if err := c.SendBack(t.Context(), "r", back); err != nil {
			t.Errorf("SendBack = %v", err)
		}
		if err := c.SendBack(t.Context(), "nowhere", back); !isNoBroker(err, "nowhere") {
			t.Errorf("SendBack to an unknown broker = %v", err)
		}
	})
}

// Name servers hide what they are told to forget, whoever asks: they are asked only
// when no broker has the topic any more.
func TestDeleteTopicAsksAllAndTellsWhoFailed(t *testing.T) {
	info := protocol.ClusterInfo{BrokerAddrTable: map[string]protocol.BrokerData{
		"a": {BrokerName: "a", BrokerAddrs: map[int64]string{0: "a:1"}},
		"b": {BrokerName: "b", BrokerAddrs: map[int64]string{0: "b:1", 1: "b:2"}},
		"c": {BrokerName: "c", BrokerAddrs: map[int64]string{0: "c:1"}},
	}}
	answers := map[protocol.RequestCode]func(protocol.Command) *protocol.Command{
		protocol.GetBrokerClusterInfo: always(protocol.Command{Body: protocol.EncodeClusterInfo(&info)}),
		protocol.DeleteTopicInBroker:  always(protocol.Command{}),
		protocol.DeleteTopicInNamesrv: always(protocol.Command{}),
	}
	for name, tt := range map[string]struct {
		fails string // this server
		asked []string
	}{
		"all do it":             {"", []string{"a:1", "b:1", "c:1", "n1:1", "n2:1"}},
		"a broker fails":        {"b:1", []string{"a:1", "b:1", "c:1"}},
		"a name server refuses": {"n2:1", []string{"a:1", "b:1", "c:1", "n1:1", "n2:1"}},
	} {
		t.Run(name, func(t *testing.T) {
			withRoutes(t, func(t *testing.T, n *memoryNet, _ *namesrv, _ *remoting.Client) {
				servers := map[string]*broker{}
				for _, addr := range []string{"n1:1", "n2:1", "a:1", "b:1", "c:1"} {
					servers[addr] = &broker{answer: maps.Clone(answers)}
					if addr == tt.fails {
						delete(servers[addr].answer, protocol.DeleteTopicInBroker)
						delete(servers[addr].answer, protocol.DeleteTopicInNamesrv)
					}
					n.Serve(t, addr, servers[addr])
				}
				c := n.newClient(t, remoting.Options{Namesrv: []string{"n1:1", "n2:1"}})
				err := c.DeleteTopic(t.Context(), "T")
				if failed := isCode(err, protocol.RequestCodeNotSupported) && strings.Contains(err.Error(), tt.fails) && !strings.Contains(err.Error(), "c:1"); failed != (tt.fails != "") {
					t.Errorf("DeleteTopic = %v, want the failure of %q only", err, tt.fails)
				}
				var asked []string
				for addr, b := range servers {
					if len(b.got) > 0 && b.got[len(b.got)-1].Code != int32(protocol.GetBrokerClusterInfo) {
						asked = append(asked, addr)
					}
				}
				if slices.Sort(asked); !slices.Equal(asked, tt.asked) {
					t.Errorf("asked to delete: %q, want %q", asked, tt.asked)
				}
			})
		})
	}
}

func TestSimpleCalls(t *testing.T) {
	withBroker(t, func(t *testing.T, b *broker, c *remoting.Client) {
		ctx := t.Context()
		offset := always(protocol.Command{ExtFields: protocol.EncodeFields(&protocol.OffsetResponseHeader{Offset: 12})})
		b.answer[protocol.GetMaxOffset], b.answer[protocol.GetMinOffset], b.answer[protocol.SearchOffsetByTimestamp] = offset, offset, offset
		for name, call := range map[string]func() (int64, error){
			"MaxOffset":    func() (int64, error) { return c.MaxOffset(ctx, queueT1) },
			"MinOffset":    func() (int64, error) { return c.MinOffset(ctx, queueT1) },
			"SearchOffset": func() (int64, error) { return c.SearchOffset(ctx, queueT1, time.Now()) },
		} {
			if got, err := call(); got != 12 || err != nil {
				t.Errorf("%s = %d, %v, want 12", name, got, err)
			}
		}
		stats := protocol.ConsumeStats{OffsetTable: map[protocol.MessageQueue]protocol.OffsetWrapper{queueT1: {BrokerOffset: 3}}}
		topic := protocol.TopicStats{queueT1: {MaxOffset: 4}}
		b.answer[protocol.GetConsumeStats] = always(protocol.Command{Body: protocol.EncodeConsumeStats(&stats)})
		b.answer[protocol.GetTopicStatsInfo] = always(protocol.Command{Body: protocol.EncodeTopicStats(topic)})
		b.answer[protocol.HeartBeat] = always(protocol.Command{Version: 407})
		if got, err := c.ConsumeStats(ctx, "b:1", "g", ""); err != nil || !cmp.Equal(got, stats) {
			t.Errorf("ConsumeStats = %+v, %v", got, err)
		}
		if got, err := c.TopicStats(ctx, "b:1", "T"); err != nil || !cmp.Equal(got, topic) {
			t.Errorf("TopicStats = %+v, %v", got, err)
		}
		if got, err := c.Heartbeat(ctx, "b:1", &protocol.HeartbeatData{ClientID: "c"}); err != nil || got != 407 {
			t.Errorf("Heartbeat = %d, %v, want version 407", got, err)
		}
		for _, code := range []protocol.RequestCode{
			protocol.UpdateConsumerOffset, protocol.UnregisterClient, protocol.UpdateAndCreateTopic, protocol.DeleteSubscriptionGroup,
		} {
			b.answer[code] = always(protocol.Command{})
			for range 2 {
				errs := map[protocol.RequestCode]error{
					protocol.UpdateConsumerOffset:    c.UpdateConsumerOffset(ctx, "g", queueT1, 5),
					protocol.UnregisterClient:        c.Unregister(ctx, "b:1", protocol.UnregisterClientRequestHeader{ClientID: "c"}),
					protocol.UpdateAndCreateTopic:    c.CreateTopic(ctx, "b:1", &protocol.CreateTopicRequestHeader{Topic: "T"}),
					protocol.DeleteSubscriptionGroup: c.DeleteGroup(ctx, "b:1", "g"),
				}
				refused := b.answer[code](protocol.Command{}).Code != 0
				if isCode(errs[code], protocol.NoPermission) != refused || (errs[code] != nil) != refused {
					t.Errorf("%v: %v, want refused %v", code, errs[code], refused)
				}
				b.answer[code] = refuse(protocol.NoPermission, "no")
			}
		}
	})
}
