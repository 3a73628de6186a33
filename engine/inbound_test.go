package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// relay sends a broker's request to a member and gives its answer.
func relay(t *testing.T, tg *sandboxtest.Target, m *member, group string, code protocol.RequestCode, fields protocol.ExtFields, body []byte) protocol.Command {
	t.Helper()
	resp, err := tg.Sandbox.Relay(t.Context(), group, m.ClientID(), &protocol.Command{Code: int32(code), ExtFields: fields, Body: body})
	if err != nil {
		t.Fatalf("%v: %v", code, err)
	}
	return resp
}

// runningInfo asks a member for its inside.
func runningInfo(t *testing.T, tg *sandboxtest.Target, m *member, group string, stack bool) protocol.ConsumerRunningInfo {
	t.Helper()
	h := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: m.ClientID(), JstackEnable: stack}
	resp := relay(t, tg, m, group, protocol.GetConsumerRunningInfo, protocol.EncodeFields(&h), nil)
	info, err := protocol.DecodeRunningInfo(resp.Body)
	if resp.Code != 0 || err != nil {
		t.Fatalf("307: code %d %s, %v", resp.Code, resp.Remark, err)
	}
	return info
}

// direct has a member consume a stored message directly, through its broker.
func direct(t *testing.T, tg *sandboxtest.Target, m *member, group string, mq engine.MessageQueue, offset int64) (protocol.ConsumeMessageDirectlyResult, error) {
	t.Helper()
	c := tg.Client(t, nil)
	addr := tg.Masters(t)[mq.BrokerName]
	res, err := c.Pull(t.Context(), addr, &protocol.PullMessageRequestHeader{ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: offset,
		MaxMsgNums: 1, SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName})
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := protocol.AppendMessages(nil, res.Body, &protocol.MessageSource{BrokerName: mq.BrokerName})
	if err != nil || len(msgs) != 1 {
		t.Fatalf("message at %d: %d of them, %v", offset, len(msgs), err)
	}
	h := protocol.ConsumeMessageDirectlyRequestHeader{ConsumerGroup: group, ClientID: m.ClientID(), MsgID: msgs[0].OffsetMessageID()}
	answer, err := c.Invoke(t.Context(), addr, &protocol.Command{Code: int32(protocol.ConsumeMessageDirectly), ExtFields: protocol.EncodeFields(&h)})
	if err != nil {
		return protocol.ConsumeMessageDirectlyResult{}, err
	}
	r, err := protocol.DecodeConsumeDirectlyResult(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, nil
}

// untilEvents waits for n events of type E in all.
func untilEvents[E engine.Event](m *member, n int) {
	m.t.Helper()
	m.until("there are so many events", func() bool {
		got := 0
		for _, e := range m.events {
			if _, ok := e.(E); ok {
				got++
			}
		}
		return got >= n
	})
}

// What a queue's owner says of it is in Java's terms: nothing is dated 1970, a
// queue that asks for no lock has one from the beginning on.
func TestRunningInfoOfConcurrentQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		began := time.Now()
		hang := make(chan struct{})
		m := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			select {
			case <-hang:
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		})
		mq := queueOf(m, topic, 0)
		awaitHeld(m, topic, 1)
		taken := runningInfo(t, tg, m, group, false).MQTable[mq]
		for what, ms := range map[string]int64{"lock": taken.LastLockTimestamp, "pull": taken.LastPullTimestamp, "consumption": taken.LastConsumeTimestamp} {
			if at := time.UnixMilli(ms); at.Before(began.Add(-time.Millisecond)) || at.After(time.Now()) {
				t.Errorf("last %s of a queue that was just taken: %v, want since %v", what, at, began)
			}
		}
		time.Sleep(time.Minute)
		tg.Produce(t, topic, 50)
		m.until("messages in listeners", func() bool { return m.distinct() == 20 && snapOf(m, mq).CachedCount == 50 })
		got := runningInfo(t, tg, m, group, false).MQTable[mq]
		if age := time.Since(time.UnixMilli(got.LastPullTimestamp)); age > 5*time.Second {
			t.Errorf("last pull %v ago", age)
		}
		got.LastPullTimestamp = 0
		want := protocol.ProcessQueueInfo{CachedMsgCount: 50, CachedMsgMaxOffset: 49, Locked: true,
			LastLockTimestamp: taken.LastLockTimestamp, LastConsumeTimestamp: taken.LastConsumeTimestamp}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with all threads in the listener (-want +got):\n%s", diff)
		}
		tg.Sandbox.Put(sandbox.Message{Topic: topic, Body: make([]byte, 3<<20+1)})
		m.until("a large one", func() bool { return snapOf(m, mq).CachedCount == 51 })
		if got := runningInfo(t, tg, m, group, false).MQTable[mq].CachedMsgSizeInMiB; got != 3 {
			t.Errorf("cached %d MiB, want 3", got)
		}
		close(hang)
		m.until("all settled", func() bool { return snapOf(m, mq).CommittedOffset == 51 })
		got = runningInfo(t, tg, m, group, false).MQTable[mq]
		if age := time.Since(time.UnixMilli(got.LastConsumeTimestamp)); got.CommitOffset != 51 || got.CachedMsgCount != 0 || age > 5*time.Second {
			t.Errorf("when all is consumed: %+v, last consumption %v ago", got, age)
		}
	})
}

// An orderly queue has its cache and its consuming part apart, its lock is the
// broker's, and one that is given away and still consumed counts its tries to go.
func TestRunningInfoOfOrderlyQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 20)
		hang := make(chan struct{})
		a := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() < 4 {
				return engine.ConsumeSuccess, nil
			}
			select {
			case <-hang:
			case <-ctx.Done():
			}
			return engine.ConsumeSuccess, nil
		}, orderly, func(o *engine.Options) { o.ConsumeMessageBatchMaxSize, o.ClientID = 4, "a@1" })
		awaitHeld(a, topic, 2)
		mq := queueOf(a, topic, 1) // the one that moves to b
		a.until("the second batch of each queue", func() bool { return a.distinct() == 16 })
		a.until("the first settled", func() bool { return snapOf(a, mq).CommittedOffset == 4 })
		got := runningInfo(t, tg, a, group, false).MQTable[mq]
		if age := time.Since(time.UnixMilli(got.LastLockTimestamp)); !got.Locked || age > 21*time.Second {
			t.Errorf("locked %v, %v ago", got.Locked, age)
		}
		want := protocol.ProcessQueueInfo{CommitOffset: 4, CachedMsgCount: 2, CachedMsgMinOffset: 8, CachedMsgMaxOffset: 9,
			TransactionMsgCount: 4, TransactionMsgMinOffset: 4, TransactionMsgMaxOffset: 7, Locked: true,
			LastLockTimestamp: got.LastLockTimestamp, LastPullTimestamp: got.LastPullTimestamp, LastConsumeTimestamp: got.LastConsumeTimestamp}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in the listener (-want +got):\n%s", diff)
		}

		b := join(t, tg, group, topic, nil, orderly, func(o *engine.Options) { o.ClientID = "b@1" })
		untilEvent(a, "it gives the queue away", func(e engine.QueueDropped) bool { return e.MQ == mq })
		b.until("it wants the queue", func() bool { return snapOf(b, mq).State == engine.QueueTaking })
		if _, has := runningInfo(t, tg, b, group, false).MQTable[mq]; has {
			t.Error("a queue whose lock is waited for is in the table")
		}
		if got := runningInfo(t, tg, a, group, false).MQTable[mq]; !got.Dropped || got.TryUnlockTimes != 1 {
			t.Errorf("given away, in the listener: %+v, want dropped, one try", got)
		}
		time.Sleep(41 * time.Second)
		if got := runningInfo(t, tg, a, group, false).MQTable[mq]; !got.Dropped || got.TryUnlockTimes != 3 {
			t.Errorf("41 s later: %+v, want dropped, three tries", got)
		}
		close(hang)
		b.until("the queue has moved", func() bool { return held(b, topic) == 1 })
		if got, has := runningInfo(t, tg, b, group, false).MQTable[mq]; !has || !got.Locked {
			t.Errorf("new owner: %+v, %v", got, has)
		}
	})
}

// A broadcasting orderly queue asks for no lock and says what Java's says.
func TestRunningInfoOfBroadcastQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, orderly, func(o *engine.Options) { o.MessageModel = protocol.Broadcasting })
		mq := queueOf(m, topic, 0)
		awaitHeld(m, topic, 1)
		info := runningInfo(t, tg, m, group, false)
		if got := info.MQTable[mq]; !got.Locked || got.LastLockTimestamp == 0 {
			t.Errorf("queue = %+v, want locked since it was taken", got)
		}
		if got := fmt.Sprintf("%d %s %s", len(info.SubscriptionSet), info.Properties["messageModel"], info.Properties["PROP_CONSUMEORDERLY"]); got != "1 BROADCASTING true" {
			t.Errorf("subscriptions, model, orderly = %s", got)
		}
	})
}

// What of a running info is not about queues.
func TestRunningInfoOfMember(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.ConsumeThreadMin, o.ConsumeThreadMax, o.PullThresholdForTopic = 3, 7, 900 })
		awaitHeld(m, topic, 1)
		awaitHeld(m, protocol.RetryTopic(group), 1)
		var asked atomic.Int32
		onFault(tg, func(code protocol.RequestCode, id string) (f sandbox.Fault) {
			if id == m.ClientID() && code == protocol.QueryConsumerOffset {
				asked.Add(1)
			}
			return f
		})
		info := runningInfo(t, tg, m, group, true)
		if asked.Load() != 0 {
			t.Errorf("%d offsets were asked for (trap T37)", asked.Load())
		}
		for name, want := range map[string]string{
			"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY", "PROP_CLIENT_VERSION": "V4_9_3", "PROP_CONSUMEORDERLY": "false", "PROP_THREADPOOL_CORE_SIZE": "3",
			"PROP_NAMESERVER_ADDR": tg.Namesrv[0] + ";", "consumeThreadMax": "7", "pullThresholdForTopic": "900", "consumerGroup": group, "language": "GO",
			"instanceName": m.ClientID()[strings.Index(m.ClientID(), "@")+1:], "clientIP": m.ClientID()[:strings.Index(m.ClientID(), "@")],
			"PROP_CONSUMER_START_TIMESTAMP": fmt.Sprint(m.Snapshot().Started.UnixMilli()),
			"consumeTimestamp":              m.Snapshot().Started.Add(-30 * time.Minute).Format("20060102150405"),
		} {
			if got := info.Properties[name]; got != want {
				t.Errorf("property %s = %q, want %q", name, got, want)
			}
		}
		var topics []string
		for _, s := range info.SubscriptionSet {
			topics = append(topics, s.Topic)
		}
		if want := fmt.Sprint([]string{"%RETRY%" + group, topic}); fmt.Sprint(topics) != want {
			t.Errorf("subscriptions %v, want %s, sorted", topics, want)
		}
		if info.UserConsumerInfo == nil || info.MQPopTable == nil || len(info.StatusTable) != 2 {
			t.Errorf("user info %v, pop table %v, statistics %v: want empty ones and two topics", info.UserConsumerInfo, info.MQPopTable, info.StatusTable)
		}
		if !strings.Contains(info.Jstack, "engine.(*coordinator).loop") || !strings.Contains(info.Jstack, "different stacks") {
			t.Errorf("stack answer: %.300s", info.Jstack)
		}
		if info := runningInfo(t, tg, m, group, false); info.Jstack != "" {
			t.Error("a stack that was not asked for")
		}
	})
}

// Statistics are those of the last samples, by the queue's own topic, as the
// reference windows them.
func TestRunningInfoStatistics(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		retry := protocol.RetryTopic(group)
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			time.Sleep(1500 * time.Microsecond)
			if msgs[0].QueueOffset() == 7 && msgs[0].ReconsumeTimes() == 0 {
				return engine.ReconsumeLater, nil
			}
			return engine.ConsumeSuccess, nil
		})
		awaitHeld(m, topic, 1)
		time.Sleep(5 * time.Second)
		tg.Produce(t, topic, 100)
		m.until("100 messages", func() bool { return m.distinct() == 100 })
		if got := runningInfo(t, tg, m, group, false).StatusTable[topic]; got != (protocol.ConsumeStatus{}) {
			t.Errorf("before the first sample: %+v, want zeros", got)
		}
		time.Sleep(10 * time.Second)
		got := runningInfo(t, tg, m, group, false).StatusTable[topic]
		if got.PullTPS != 10 || got.ConsumeOKTPS != 9.9 || got.ConsumeFailedTPS != 0.1 || got.ConsumeRT != 1.5 || got.ConsumeFailedMsgs != 0 {
			t.Errorf("after one sample: %+v, want 10 pulled, 9.9 and 0.1 consumed a second, in 1.5 ms, no failure of the hour yet", got)
		}
		m.until("the retry", func() bool { return m.distinct() == 101 })
		time.Sleep(10 * time.Minute)
		info := runningInfo(t, tg, m, group, false)
		if got := info.StatusTable[topic]; got != (protocol.ConsumeStatus{ConsumeRT: 1.5, ConsumeFailedMsgs: 1}) {
			t.Errorf("idle for ten minutes: %+v, want the hour's time and failure", got)
		}
		if got := info.StatusTable[retry]; got != (protocol.ConsumeStatus{ConsumeRT: 1.5}) {
			t.Errorf("retry topic: %+v, want the time of its own message", got)
		}
	})
}

// A filtered-out message is pulled, and not counted as pulled.
func TestPullTPSAfterFilter(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		m := join(t, tg, group, topic, nil, func(o *engine.Options) { o.Subscriptions[0].Expression = "AaAa" })
		awaitHeld(m, topic, 1)
		for _, tag := range []string{"AaAa", "BBBB", "AaBB"} { // one hash for all in Java
			tg.Sandbox.Put(sandbox.Message{Topic: topic, Body: []byte("x"), Properties: []protocol.Property{{Name: protocol.PropertyTags, Value: tag}}})
		}
		m.until("its message", func() bool { return m.distinct() == 1 })
		time.Sleep(11 * time.Second)
		if got := runningInfo(t, tg, m, group, false).StatusTable[topic]; got.PullTPS != 0.1 {
			t.Errorf("pulled %v a second, want 0.1", got.PullTPS)
		}
	})
}

// Each verdict has its name in the answer to 309; queue, offset and statistics
// know nothing of it, an event does.
func TestConsumeDirectly(t *testing.T) {
	type verdict struct {
		status engine.Status
		err    error
	}
	tests := map[string]struct {
		verdict
		manual             bool // no auto-commit
		concurrent, serial string
	}{
		"success":  {verdict: verdict{status: engine.ConsumeSuccess}, concurrent: "CR_SUCCESS", serial: "CR_SUCCESS"},
		"later":    {verdict: verdict{status: engine.ReconsumeLater}, concurrent: "CR_LATER", serial: "CR_LATER"},
		"suspend":  {verdict: verdict{status: engine.SuspendCurrentQueueAMoment}, concurrent: "CR_LATER", serial: "CR_LATER"},
		"commit":   {verdict: verdict{status: engine.Commit}, manual: true, concurrent: "CR_RETURN_NULL", serial: "CR_COMMIT"},
		"rollback": {verdict: verdict{status: engine.Rollback}, manual: true, concurrent: "CR_RETURN_NULL", serial: "CR_ROLLBACK"},
		"none":     {concurrent: "CR_RETURN_NULL", serial: "CR_RETURN_NULL"},
		"error":    {verdict: verdict{err: errors.New("no")}, concurrent: "CR_THROW_EXCEPTION", serial: "CR_THROW_EXCEPTION"},
		"abandon":  {verdict: verdict{status: engine.Abandon}, concurrent: "CR_LATER", serial: "CR_LATER"},
	}
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		for _, mode := range []change{func(*engine.Options) {}, orderly} {
			topic, group := tg.Topic(t, 1), tg.Group(t)
			tg.Produce(t, topic, 3)
			var now atomic.Pointer[verdict]
			var manual atomic.Bool
			m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
				if !cc.Direct {
					return engine.ConsumeSuccess, nil
				}
				if cc.MessageQueue.Topic != topic || cc.MessageQueue.BrokerName != "broker-a" || len(msgs) != 1 {
					t.Errorf("%d messages of %v", len(msgs), cc.MessageQueue)
				}
				cc.AutoCommit = !manual.Load()
				v := now.Load()
				return v.status, v.err
			}, mode)
			mq := queueOf(m, topic, 0)
			m.until("all consumed", func() bool { return m.distinct() == 3 && snapOf(m, mq).CommittedOffset == 3 })
			before := m.Snapshot().Totals
			serial := m.Snapshot().Orderly
			for name, tt := range tests {
				now.Store(&tt.verdict)
				manual.Store(tt.manual)
				got, err := direct(t, tg, m, group, mq, 1)
				want := protocol.ConsumeMessageDirectlyResult{Order: serial, AutoCommit: !serial || !tt.manual, ConsumeResult: tt.concurrent}
				if serial {
					want.ConsumeResult = tt.serial
				}
				switch name {
				case "error":
					want.Remark = "no"
				case "abandon":
					want.Remark = "this member takes no more messages"
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s, orderly %v: %v (-want +got):\n%s", name, serial, err, diff)
				}
			}
			untilEvents[engine.ConsumedDirectly](m, len(tests))
			ev := untilEvent[engine.ConsumedDirectly](m, "the first", nil)
			if n := count[engine.ConsumedDirectly](m, nil); n != len(tests) || ev.MQ != mq || ev.Offset != 1 || ev.MessageID == "" || ev.Address == "" {
				t.Errorf("%d events, the first %+v; want %d about %v at 1", n, ev, len(tests), mq)
			}
			after := m.Snapshot().Totals
			if after.Consumed != before.Consumed || after.Failed != before.Failed || snapOf(m, mq).CommittedOffset != 3 {
				t.Errorf("totals went from %+v to %+v, offset %d", before, after, snapOf(m, mq).CommittedOffset)
			}
			m.leave()
			if got, _, _, _ := tg.Sandbox.Offsets(group, mq); got != 3 {
				t.Errorf("committed offset = %d, want 3", got)
			}
		}
	})
}

// A retry and a dead letter that are consumed directly are handled under the
// topic they were sent to.
func TestConsumeDeadLetterDirectly(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		var originals atomic.Pointer[string]
		m := join(t, tg, group, topic, func(_ context.Context, msgs []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			if cc.Direct {
				s := msgs[0].Topic() + " of " + msgs[0].OriginalTopic()
				originals.Store(&s)
				return engine.ConsumeSuccess, nil
			}
			return engine.ReconsumeLater, nil
		}, func(o *engine.Options) { o.MaxReconsumeTimes = 1 })
		awaitHeld(m, topic, 1)
		tg.Produce(t, topic, 1)
		untilEvent(m, "it is dead", func(e engine.SentBack) bool { return e.Target == "dlq" })
		for _, where := range []string{protocol.RetryTopic(group), protocol.DLQTopic(group)} {
			r, err := direct(t, tg, m, group, engine.MessageQueue{Topic: where, BrokerName: "broker-a"}, 0)
			if err != nil || r.ConsumeResult != "CR_SUCCESS" {
				t.Errorf("%s: %+v, %v", where, r, err)
			}
			if got, want := *originals.Load(), where+" of "+topic; got != want {
				t.Errorf("the listener got a message in %s, want %s", got, want)
			}
		}
	})
}

// Direct consumption can be refused, is cut off before the broker's patience
// ends, and is answered once a listener that hangs lets go.
func TestConsumeDirectlyRefusedAndSlow(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		refusing := join(t, tg, group, topic, nil, func(o *engine.Options) { o.RefuseDirect, o.ClientID = true, "refuses@1" })
		mq := queueOf(refusing, topic, 0)
		refusing.until("the message", func() bool { return refusing.distinct() == 1 })
		if _, err := direct(t, tg, refusing, group, mq, 0); err == nil || !strings.Contains(err.Error(), "refuse_direct_consumption") {
			t.Errorf("refused: %v", err)
		}
		if refusing.duplicates() != 0 || count[engine.ConsumedDirectly](refusing, nil) != 0 {
			t.Error("the listener was called all the same")
		}
		refusing.leave()
		slow := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			if !cc.Direct {
				return engine.ConsumeSuccess, nil
			}
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}, func(o *engine.Options) { o.ClientID = "slow@1" })
		awaitHeld(slow, topic, 1)
		h := protocol.ConsumeMessageDirectlyRequestHeader{ConsumerGroup: group, ClientID: "slow@1"}
		body := tgMessage(t, tg, mq)
		resp := relay(t, tg, slow, group, protocol.ConsumeMessageDirectly, protocol.EncodeFields(&h), body)
		if r, err := protocol.DecodeConsumeDirectlyResult(resp.Body); err != nil || r.ConsumeResult != "CR_THROW_EXCEPTION" || r.SpentTimeMills != 9000 {
			t.Errorf("slow: %+v, %v", r, err)
		}
	})
}

// tgMessage is the first stored message of a queue as a broker holds it.
func tgMessage(t *testing.T, tg *sandboxtest.Target, mq engine.MessageQueue) []byte {
	t.Helper()
	res, err := tg.Client(t, nil).Pull(t.Context(), tg.Masters(t)[mq.BrokerName], &protocol.PullMessageRequestHeader{ConsumerGroup: "reader", Topic: mq.Topic,
		QueueID: mq.QueueID, MaxMsgNums: 1, SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName})
	if err != nil {
		t.Fatal(err)
	}
	return res.Body
}

// Who asks a member the wrong thing is told so.
func TestBadRequestsFromTheBroker(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		m := join(t, tg, group, topic, nil)
		mq := queueOf(m, topic, 0)
		m.until("the message", func() bool {
			return snapOf(m, mq).CommittedOffset == 1 && held(m, protocol.RetryTopic(group)) == 1
		})
		other := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: "other", ClientID: "x"}
		directly := protocol.ConsumeMessageDirectlyRequestHeader{ConsumerGroup: group}
		tests := map[string]struct {
			code   protocol.RequestCode
			fields protocol.ExtFields
			body   []byte
			want   protocol.ResponseCode
			remark string
		}{
			"307, another group":   {protocol.GetConsumerRunningInfo, protocol.EncodeFields(&other), nil, protocol.SystemError, "<other> does not exist"},
			"307, no header":       {protocol.GetConsumerRunningInfo, nil, nil, protocol.SystemError, "consumerGroup is missing"},
			"309, another group":   {protocol.ConsumeMessageDirectly, protocol.EncodeFields(&other), nil, protocol.SystemError, "<other> does not exist"},
			"309, no message":      {protocol.ConsumeMessageDirectly, protocol.EncodeFields(&directly), nil, protocol.SystemError, "0 messages"},
			"309, broken message":  {protocol.ConsumeMessageDirectly, protocol.EncodeFields(&directly), []byte("\x00\x00\x00\x09garbage"), protocol.SystemError, ""},
			"221, no header":       {protocol.GetConsumerStatusFromClient, nil, nil, protocol.SystemError, "group is missing"},
			"39, of the producers": {39, nil, nil, protocol.RequestCodeNotSupported, "39 not supported"},
			"326, of the repliers": {326, nil, nil, protocol.RequestCodeNotSupported, "326 not supported"},
		}
		for name, tt := range tests {
			resp := relay(t, tg, m, group, tt.code, tt.fields, tt.body)
			if protocol.ResponseCode(resp.Code) != tt.want || !strings.Contains(resp.Remark, tt.remark) {
				t.Errorf("%s: %v %q, want %v with %q", name, protocol.ResponseCode(resp.Code), resp.Remark, tt.want, tt.remark)
			}
		}
		// 221 knows no error for a group that is not here, and can be asked for all topics.
		for _, tt := range []struct {
			h    protocol.ConsumerStatusRequestHeader
			want protocol.OffsetTable
		}{
			{protocol.ConsumerStatusRequestHeader{Group: "other", Topic: topic}, protocol.OffsetTable{}},
			{protocol.ConsumerStatusRequestHeader{Group: group, Topic: "other"}, protocol.OffsetTable{}},
			{protocol.ConsumerStatusRequestHeader{Group: group, Topic: topic}, protocol.OffsetTable{mq: 1}},
			{protocol.ConsumerStatusRequestHeader{Group: group}, protocol.OffsetTable{mq: 1, {Topic: protocol.RetryTopic(group), BrokerName: "broker-a"}: 0}},
		} {
			resp := relay(t, tg, m, group, protocol.GetConsumerStatusFromClient, protocol.EncodeFields(&tt.h), nil)
			got, err := protocol.DecodeConsumerStatus(resp.Body)
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || resp.Code != 0 {
				t.Errorf("221 %+v: code %d, %v (-want +got):\n%s", tt.h, resp.Code, err, diff)
			}
		}
	})
}

// push sends a member a one-way reset as a 4.x broker does.
func push(t *testing.T, tg *sandboxtest.Target, m *member, header protocol.ResetOffsetRequestHeader, body []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	// The relay waits for an answer, which a reset has none of.
	_, _ = tg.Sandbox.Relay(ctx, header.Group, m.ClientID(), &protocol.Command{
		Code: int32(protocol.ResetConsumerClientOffset), Flag: protocol.FlagOneway, ExtFields: protocol.EncodeFields(&header), Body: body})
}

// A pushed reset obeys its header, leaves an operator's pause alone (trap T14),
// takes C++'s form of the table too, and the last of two that come together wins.
func TestPushedReset(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 2), tg.Group(t)
		tg.Produce(t, topic, 60)
		release := make(chan struct{})
		var hang atomic.Bool
		m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if hang.Load() && msgs[0].QueueID() == 0 {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return engine.ConsumeSuccess, nil
		})
		mq, paused := queueOf(m, topic, 0), queueOf(m, topic, 1)
		committed := func(mq engine.MessageQueue, offset int64) func() bool {
			return func() bool { return snapOf(m, mq).CommittedOffset == offset }
		}
		m.until("all consumed", func() bool { return committed(mq, 30)() && committed(paused, 30)() })
		if err := m.Pause(t.Context(), engine.PauseRequest{Queues: []engine.MessageQueue{paused}, By: "test"}); err != nil {
			t.Fatal(err)
		}
		h := protocol.ResetOffsetRequestHeader{Topic: "other", Group: group}
		push(t, tg, m, h, protocol.EncodeResetOffset(protocol.OffsetTable{mq: 1}))
		h.Group = "another group"
		push(t, tg, m, h, protocol.EncodeResetOffset(protocol.OffsetTable{mq: 1}))
		h = protocol.ResetOffsetRequestHeader{Topic: topic, Group: group}
		push(t, tg, m, h, []byte(`{"offsetTable":[`)) // broken
		push(t, tg, m, h, fmt.Appendf(nil, `{"offsetTable":[{"topic":"%s","brokerName":"broker-a","queueId":1,"offset":10}]}`, topic))
		end := untilEvent[engine.ResetEnd](m, "the reset in C++'s form", nil)
		if end.MQ != paused || end.To != 10 || !end.Verified {
			t.Errorf("reset_end = %+v, want queue 1 at 10", end)
		}
		time.Sleep(time.Minute)
		if q := snapOf(m, paused); q.Pause == nil || q.State != engine.QueuePaused || q.CommittedOffset != 10 || len(m.order[paused]) != 30 {
			t.Errorf("the paused queue: %v, offset %d, %d messages; want it paused at 10", q.State, q.CommittedOffset, len(m.order[paused]))
		}

		hang.Store(true)
		tg.Produce(t, topic, 2)
		m.until("a message in the listener", func() bool { return len(m.order[mq]) == 31 })
		push(t, tg, m, h, protocol.EncodeResetOffset(protocol.OffsetTable{mq: 20}))
		push(t, tg, m, h, protocol.EncodeResetOffset(protocol.OffsetTable{mq: 25}))
		push(t, tg, m, h, protocol.EncodeResetOffset(protocol.OffsetTable{mq: 28}))
		hang.Store(false)
		close(release)
		untilEvent(m, "the last reset", func(e engine.ResetEnd) bool { return e.MQ == mq && e.To == 28 && e.Verified })
		m.until("it goes on from there", committed(mq, 31))
		if n := count(m, func(e engine.ResetEnd) bool { return e.MQ == mq }); n != 2 {
			t.Errorf("%d resets of the queue, want 2: the first and the last", n)
		}
		m.leave()
		if got, _, _, _ := tg.Sandbox.Offsets(group, paused); got != 10 {
			t.Errorf("the paused queue is left at %d, want 10", got)
		}
	})
}

// A pushed reset of an orderly queue keeps its lock (trap T16), is written at
// once and not undone by a call that ends after it (trap T15); until that call
// ends nothing else is handed out.
func TestPushedResetOfOrderlyQueue(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 20)
		release := make(chan struct{})
		m := join(t, tg, group, topic, func(ctx context.Context, msgs []engine.Message, _ *engine.ConsumeContext) (engine.Status, error) {
			if msgs[0].QueueOffset() == 12 {
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return engine.ConsumeSuccess, nil
		}, orderly, func(o *engine.Options) { o.PersistInterval = 100 * time.Millisecond })
		mq := queueOf(m, topic, 0)
		m.until("a call that hangs", func() bool { return len(m.order[mq]) == 13 && snapOf(m, mq).CommittedOffset == 12 })
		began := time.Now()
		push(t, tg, m, protocol.ResetOffsetRequestHeader{Topic: topic, Group: group}, protocol.EncodeResetOffset(protocol.OffsetTable{mq: 5}))
		end := untilEvent[engine.ResetEnd](m, "the reset", nil)
		if took := end.Time.Sub(began); !end.Verified || took > 4*time.Second {
			t.Errorf("reset_end %+v after %v, want verified after the 3 s that a call is given", end, took)
		}
		time.Sleep(time.Minute)
		if got, _, _, _ := tg.Sandbox.Offsets(group, mq); got != 5 || len(m.order[mq]) != 13 {
			t.Errorf("offset %d, %d messages; want 5 and nothing handed out beside the call that hangs", got, len(m.order[mq]))
		}
		close(release)
		m.until("all from there on", func() bool { return len(m.order[mq]) == 13+15 })
		if got := m.order[mq][13]; got != 5 || tg.Sandbox.LockOwner(group, mq) != m.ClientID() {
			t.Errorf("first offset %d, lock of %q", got, tg.Sandbox.LockOwner(group, mq))
		}
		m.leave()
		checkCommitted(t, tg, group, topic)
	})
}

// A member that is leaving still answers, and one that is asked too much says so.
func TestAnswersWhileLeavingAndBusy(t *testing.T) {
	bubble(t, func(t *testing.T, tg *sandboxtest.Target) {
		topic, group := tg.Topic(t, 1), tg.Group(t)
		tg.Produce(t, topic, 1)
		hung := make(chan struct{}, 32)
		m := join(t, tg, group, topic, func(ctx context.Context, _ []engine.Message, cc *engine.ConsumeContext) (engine.Status, error) {
			if cc.Direct {
				hung <- struct{}{}
				<-ctx.Done()
			}
			return engine.ConsumeSuccess, nil
		}, func(o *engine.Options) { o.PersistInterval = time.Hour })
		mq := queueOf(m, topic, 0)
		m.until("the message", func() bool { return m.distinct() == 1 && snapOf(m, mq).CommittedOffset == 1 })
		body := tgMessage(t, tg, mq)
		h := protocol.ConsumeMessageDirectlyRequestHeader{ConsumerGroup: group, ClientID: m.ClientID()}
		for range 16 {
			go relayQuietly(t, tg, m, group, &protocol.Command{Code: int32(protocol.ConsumeMessageDirectly), ExtFields: protocol.EncodeFields(&h), Body: body})
		}
		for range 16 {
			<-hung
		}
		resp := relay(t, tg, m, group, protocol.ConsumeMessageDirectly, protocol.EncodeFields(&h), body)
		if resp.Code != int32(protocol.SystemError) || !strings.Contains(resp.Remark, "try again later") {
			t.Errorf("the seventeenth: code %d %q", resp.Code, resp.Remark)
		}
		time.Sleep(10 * time.Second) // their time is over

		onFault(tg, func(code protocol.RequestCode, _ string) (f sandbox.Fault) {
			if code == protocol.UpdateConsumerOffset {
				f.Delay = 2 * time.Second
			}
			return f
		})
		go m.leave()
		untilEvent(m, "it leaves", func(e engine.ShutdownStep) bool { return e.Step == "stop_workers" })
		if info := runningInfo(t, tg, m, group, false); info.Properties["consumerGroup"] != group {
			t.Errorf("while leaving: %v", info.Properties)
		}
	})
}

func relayQuietly(t *testing.T, tg *sandboxtest.Target, m *member, group string, req *protocol.Command) {
	_, _ = tg.Sandbox.Relay(t.Context(), group, m.ClientID(), req) // its listener takes all the time there is
}
