package remoting_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// Every typed call against the sandbox and, where they are configured, real brokers.

func TestCallsInJSON(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) { testCalls(t, tg, protocol.SerializeJSON) })
}

func TestCallsInROCKETMQ(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) { testCalls(t, tg, protocol.SerializeRocketMQ) })
}

// conversation is the client, topic and group of one run.
type conversation struct {
	*remoting.Client
	target   *sandboxtest.Target
	notified chan protocol.Command // what brokers sent
	topic    string
	group    string
	queues   []protocol.MessageQueue
	mq       protocol.MessageQueue // the one that messages are sent to
	master   string                // its broker's
	sub      protocol.SubscriptionData
}

func testCalls(t *testing.T, tg *sandboxtest.Target, serialize protocol.SerializeType) {
	v := &conversation{target: tg, notified: make(chan protocol.Command, 16), topic: tg.Topic(t, 2), group: tg.Group(t)}
	var err error
	v.Client, err = remoting.NewClient(remoting.Options{
		CallTimeout: sandboxtest.Patience, Namesrv: tg.Namesrv, Dial: tg.Dial, Serialize: serialize,
		Handler: handlerFunc(func(_ *remoting.Conn, req protocol.Command) {
			select {
			case v.notified <- req:
			default:
			}
		}),
	})
	must(t, "NewClient", err)
	t.Cleanup(v.Close)
	route, err := v.Route(t.Context(), v.topic)
	must(t, "Route", err)
	if len(route.Queues) < 2 || !slices.Equal(route.Queues, route.PublishQueues) {
		t.Fatalf("Route = %+v, want two queues a broker", route)
	}
	v.mq = route.Queues[1]
	v.queues = slices.DeleteFunc(slices.Clone(route.Queues), func(q protocol.MessageQueue) bool { return q.BrokerName != v.mq.BrokerName })
	v.master, err = v.MasterOf(t.Context(), v.mq)
	must(t, "MasterOf", err)

	v.join(t)
	v.lock(t)
	first := v.send(t)
	v.offsets(t, first.total)
	v.pull(t, first)
	v.statistics(t, first.total)
	v.leave(t)
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// patiently repeats a request while the broker is too busy for it: one on a
// loaded machine refuses what waited 200 ms.
func patiently(t *testing.T, what string, call func() error) {
	t.Helper()
	eventually(t, what, func() bool {
		err := call()
		if isCode(err, protocol.SystemBusy) {
			return false
		}
		must(t, what, err)
		return true
	})
}

func (v *conversation) members(t *testing.T, want ...string) {
	t.Helper()
	ids, addr, err := v.ConsumerIDs(t.Context(), v.topic, v.group)
	if err != nil || !slices.Equal(ids, want) || addr == "" {
		t.Errorf("ConsumerIDs = %q from %q, %v, want %q", ids, addr, err, want)
	}
}

const clientID = "remoting-test@1"

func (v *conversation) join(t *testing.T) {
	v.members(t)
	var err error
	v.sub, err = protocol.NewSubscriptionData(v.topic, "*")
	must(t, "NewSubscriptionData", err)
	v.sub.SubVersion = time.Now().UnixMilli()
	for addr := range v.addrs() {
		version, err := v.Heartbeat(t.Context(), addr, &protocol.HeartbeatData{
			ClientID: clientID,
			ConsumerDataSet: []protocol.ConsumerData{{
				GroupName: v.group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
				ConsumeFromWhere: protocol.ConsumeFromFirstOffset, SubscriptionDataSet: []protocol.SubscriptionData{v.sub},
			}},
		})
		must(t, "Heartbeat", err)
		t.Logf("%s has version %d", addr, version)
		got := within(t, v.notified, "request 40")
		if got.Code != int32(protocol.NotifyConsumerIDsChanged) || !got.IsOneway() {
			t.Errorf("the broker sent %v, want a one-way NOTIFY_CONSUMER_IDS_CHANGED", protocol.RequestCode(got.Code))
		}
	}
	v.members(t, clientID)
}

// addrs are the addresses of all brokers of the topic.
func (v *conversation) addrs() map[string]bool {
	all := map[string]bool{}
	for _, addrs := range v.Brokers() {
		for _, addr := range addrs {
			all[addr] = true
		}
	}
	return all
}

func (v *conversation) lock(t *testing.T) {
	lock := func(id string) []protocol.MessageQueue {
		t.Helper()
		body := &protocol.LockBatchBody{ConsumerGroup: v.group, ClientID: id, MQSet: v.queues}
		granted, err := v.LockBatch(t.Context(), v.mq.BrokerName, body)
		must(t, "LockBatch", err)
		slices.SortFunc(granted, protocol.CompareMessageQueues)
		return granted
	}
	if got := lock(clientID); !slices.Equal(got, v.queues) {
		t.Errorf("LockBatch granted %v, want %v", got, v.queues)
	}
	if got := lock("another"); len(got) != 0 {
		t.Errorf("LockBatch granted another client %v, want none", got)
	}
	must(t, "UnlockBatch", v.UnlockBatch(t.Context(), v.mq.BrokerName, &protocol.LockBatchBody{
		ConsumerGroup: v.group, ClientID: clientID, MQSet: v.queues,
	}))
	if got := lock("another"); !slices.Equal(got, v.queues) {
		t.Errorf("LockBatch after the unlock granted %v, want %v", got, v.queues)
	}
}

// sentMessages is what send has sent.
type sentMessages struct {
	unique string // id of the first
	total  int64  // in the queue
}

func (v *conversation) send(t *testing.T) sentMessages {
	ids := remoting.NewUniqueIDs()
	s := sentMessages{unique: ids.Next(), total: 3}
	var sent remoting.SendResult
	patiently(t, "Send", func() (err error) {
		sent, err = v.Send(t.Context(), "remoting-producer", v.mq, &remoting.OutMessage{
			Topic: v.topic, Body: []byte("hello"),
			Properties: []protocol.Property{{Name: protocol.PropertyUniqKey, Value: s.unique}, {Name: protocol.PropertyTags, Value: "A"}},
		})
		return err
	})
	if sent.MessageQueue != v.mq || sent.QueueOffset != 0 || len(sent.OffsetMessageID) < 32 || sent.Warning != 0 {
		t.Errorf("Send = %+v", sent)
	}
	anywhere := v.mq
	anywhere.QueueID = -1
	patiently(t, "Send anywhere", func() (err error) {
		sent, err = v.Send(t.Context(), "remoting-producer", anywhere, &remoting.OutMessage{Body: []byte("anywhere")})
		return err
	})
	if sent.MessageQueue == v.mq {
		s.total++
	}
	patiently(t, "SendBatch", func() (err error) {
		sent, err = v.SendBatch(t.Context(), "remoting-producer", v.mq, []protocol.BatchItem{
			{Body: []byte("one"), Properties: []protocol.Property{{Name: protocol.PropertyUniqKey, Value: ids.Next()}}},
			{Body: []byte("two"), Properties: []protocol.Property{{Name: protocol.PropertyUniqKey, Value: ids.Next()}}},
		})
		return err
	})
	if strings.Count(sent.OffsetMessageID, ",") != 1 || sent.QueueOffset != s.total-2 {
		t.Errorf("SendBatch = %+v, want two ids from offset %d", sent, s.total-2)
	}
	v.target.AwaitOffset(t, v.mq, s.total)
	return s
}

func (v *conversation) offsets(t *testing.T, total int64) {
	ctx := t.Context()
	if got, err := v.MinOffset(ctx, v.mq); err != nil || got != 0 {
		t.Errorf("MinOffset = %d, %v, want 0", got, err)
	}
	if got, err := v.MaxOffset(ctx, v.mq); err != nil || got != total {
		t.Errorf("MaxOffset = %d, %v, want %d", got, err, total)
	}
	if got, err := v.SearchOffset(ctx, v.mq, time.Now().Add(-time.Hour)); err != nil || got != 0 {
		t.Errorf("SearchOffset before all = %d, %v, want 0", got, err)
	}
	want := total
	if v.target.Line == "4" {
		want-- // the nearest message
	}
	if got, err := v.SearchOffset(ctx, v.mq, time.Now().Add(time.Hour)); err != nil || got != want {
		t.Errorf("SearchOffset after all = %d, %v, want %d", got, err, want)
	}
	// 4.9 takes no commit for a commit of 0 while the queue's first message is in memory.
	if got, found, err := v.QueryConsumerOffset(ctx, v.group, v.mq); err != nil || found != (v.target.Line == "4") || got != 0 {
		t.Errorf("QueryConsumerOffset without a commit = %d %v %v", got, found, err)
	}
	must(t, "UpdateConsumerOffset", v.UpdateConsumerOffset(ctx, v.group, v.mq, 2))
	if got, found, err := v.QueryConsumerOffset(ctx, v.group, v.mq); err != nil || !found || got != 2 {
		t.Errorf("QueryConsumerOffset = %d %v %v, want 2", got, found, err)
	}
	must(t, "UpdateConsumerOffsetOneway", v.UpdateConsumerOffsetOneway(ctx, v.group, v.mq, 1))
	// A broker runs requests on several threads: a query may overtake a commit.
	eventually(t, "the one-way commit", func() bool {
		got, found, err := v.QueryConsumerOffset(ctx, v.group, v.mq)
		must(t, "QueryConsumerOffset", err)
		return found && got == 1
	})
}

// eventually waits for what a broker does without telling.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: not after a minute", what)
		}
	}
}

func (v *conversation) pull(t *testing.T, s sentMessages) {
	pull := func(want remoting.PullStatus, offset int64, flag protocol.PullSysFlag, expression string) remoting.PullResult {
		t.Helper()
		got, err := v.Pull(t.Context(), v.master, &protocol.PullMessageRequestHeader{
			ConsumerGroup: v.group, Topic: v.topic, QueueID: v.mq.QueueID, QueueOffset: offset, MaxMsgNums: 32, SysFlag: flag,
			SuspendTimeout: time.Second, Subscription: expression, SubVersion: v.sub.SubVersion, ExpressionType: protocol.ExpressionTAG,
			BrokerName: v.mq.BrokerName,
		})
		if err != nil || got.Status != want {
			t.Errorf("Pull at %d, flag %d = %v, %v, want %v", offset, flag, got.Status, err, want)
		}
		return got
	}
	got := pull(remoting.PullFound, 0, 0, "")
	messages, err := protocol.AppendMessages(nil, got.Body, &protocol.MessageSource{BrokerName: v.mq.BrokerName, Topic: v.topic})
	if err != nil || int64(len(messages)) != s.total || got.NextBeginOffset != s.total || got.MaxOffset != s.total {
		t.Fatalf("Pull = %d messages, %+v, %v", len(messages), got.PullMessageResponseHeader, err)
	}
	if m := &messages[0]; m.UniqueID() != s.unique || string(m.StoredBody()) != "hello" || m.Tags() != "A" {
		t.Errorf("the first message is %s %q", m.UniqueID(), m.StoredBody())
	}
	pull(remoting.PullNoNewMessage, s.total, 0, "")
	begin := time.Now()
	pull(remoting.PullNoNewMessage, s.total, protocol.PullSuspend, "")
	if took := time.Since(begin); took < time.Second {
		t.Errorf("a pull that may be held for 1 s was answered after %v", took)
	}
	if got := pull(remoting.PullOffsetIllegal, s.total+10, 0, ""); got.NextBeginOffset != s.total {
		t.Errorf("Pull beyond the end: next offset %d, want %d", got.NextBeginOffset, s.total)
	}
	pull(remoting.PullNoMatchedMessage, 0, protocol.PullSubscription, "Z")

	_, err = v.Pull(t.Context(), v.master, &protocol.PullMessageRequestHeader{ConsumerGroup: v.group + "-absent", Topic: v.topic, MaxMsgNums: 1})
	if !isCode(err, protocol.SubscriptionNotExist) || !remoting.Retryable(err) {
		t.Errorf("Pull without a heartbeat = %v, want SUBSCRIPTION_NOT_EXIST", err)
	}

	back := &protocol.ConsumerSendMsgBackRequestHeader{
		Offset: messages[0].CommitLogOffset(), Group: v.group, DelayLevel: 1, OriginMsgID: s.unique, OriginTopic: v.topic,
		MaxReconsumeTimes: 16, BrokerName: v.mq.BrokerName,
	}
	patiently(t, "SendBack", func() error { return v.SendBack(t.Context(), v.mq.BrokerName, back) })
	back.Offset = 1 << 60
	if err := v.SendBack(t.Context(), v.mq.BrokerName, back); !isCode(err, protocol.SystemError) {
		t.Errorf("SendBack of no message = %v, want SYSTEM_ERROR", err)
	}
}

func (v *conversation) statistics(t *testing.T, total int64) {
	stats, err := v.ConsumeStats(t.Context(), v.master, v.group, v.topic)
	if w := stats.OffsetTable[v.mq]; err != nil || w.BrokerOffset != total || w.ConsumerOffset != 1 {
		t.Errorf("ConsumeStats of %v = %+v, %v", v.mq, w, err)
	}
	topic, err := v.TopicStats(t.Context(), v.master, v.topic)
	if err != nil || topic[v.mq].MaxOffset != total {
		t.Errorf("TopicStats = %+v, %v", topic, err)
	}
	if _, err := v.TopicStats(t.Context(), v.master, v.topic+"-absent"); !isCode(err, protocol.TopicNotExist) {
		t.Errorf("TopicStats of an unknown topic = %v", err)
	}
	_, err = v.Route(t.Context(), v.topic+"-absent")
	if _, ok := errors.AsType[*remoting.NoRouteError](err); !ok {
		t.Errorf("Route of an unknown topic = %v", err)
	}
}

func (v *conversation) leave(t *testing.T) {
	for addr := range v.addrs() {
		must(t, "Unregister", v.Unregister(t.Context(), addr, protocol.UnregisterClientRequestHeader{ClientID: clientID, ConsumerGroup: v.group}))
	}
	v.members(t)
	must(t, "DeleteGroup", v.DeleteGroup(t.Context(), v.master, v.group))
	stats, err := v.ConsumeStats(t.Context(), v.master, v.group, v.topic)
	if w := stats.OffsetTable[v.mq]; err != nil || w.ConsumerOffset != 0 {
		t.Errorf("ConsumeStats after DeleteGroup = %+v, %v, want no commit", stats, err)
	}
}
