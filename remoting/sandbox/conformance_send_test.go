package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// sendHeader is a plain send to the fixture's queue.
func (f *fixture) sendHeader() protocol.SendMessageRequestHeader {
	return protocol.SendMessageRequestHeader{
		ProducerGroup: "eyeq-conformance", Topic: f.topic, DefaultTopic: "none", DefaultTopicQueueNums: 4,
		QueueID: f.mq.QueueID, Born: time.Now(),
	}
}

func (f *fixture) sendRaw(h protocol.SendMessageRequestHeader, body string) (protocol.SendMessageResponseHeader, error) {
	f.t.Helper()
	cmd, err := f.store(protocol.SendMessageV2, h.FieldsV2(), []byte(body))
	if err != nil {
		return protocol.SendMessageResponseHeader{}, err
	}
	var r protocol.SendMessageResponseHeader
	return r, protocol.DecodeFields(cmd.ExtFields, &r)
}

// store is invoke for what is to be stored, which a real broker refuses for the moment
// when it had to wait 200 ms.
func (f *fixture) store(code protocol.RequestCode, fields protocol.ExtFields, body []byte) (cmd protocol.Command, err error) {
	f.t.Helper()
	sandboxtest.AwaitNotBusy(f.t, code.String(), func(context.Context) error {
		cmd, err = f.invoke(code, fields, body)
		return err
	})
	return cmd, err
}

// sendBack sends back as members do.
func (f *fixture) sendBack(h *protocol.ConsumerSendMsgBackRequestHeader) error {
	f.t.Helper()
	return sandboxtest.AwaitNotBusy(f.t, "a send-back", func(ctx context.Context) error { return f.c.SendBack(ctx, f.mq.BrokerName, h) })
}

// propertiesOf are a message's properties, those left out whose value differs
// from message to message.
func propertiesOf(m *protocol.MessageExt) string {
	var out []string
	for name, value := range m.Properties {
		switch name {
		case protocol.PropertyUniqKey, protocol.PropertyOriginMessageID:
			value = "some"
		}
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestSendStoresWhatWasSent(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		born := time.UnixMilli(time.Now().Add(-time.Minute).UnixMilli())
		h := f.sendHeader()
		h.Born, h.Flag, h.Properties = born, 77, "KEYS\x01k1 k2\x02TAGS\x01TagA\x02WAIT\x01true\x02own\x01value\x02"
		r, err := f.sendRaw(h, "hello")
		if err != nil {
			t.Fatal(err)
		}
		m := f.pullOne(f.mq, 0, time.Second)
		if r.QueueID != f.mq.QueueID || r.QueueOffset != 0 || r.MsgID != m.OffsetMessageID() {
			t.Errorf("got answer %+v, want id %s", r, m.OffsetMessageID())
		}
		want := "CLUSTER=DefaultCluster KEYS=k1 k2 TAGS=TagA own=value"
		if tg.Line == "5" {
			want = "CLUSTER=DefaultCluster KEYS=k1 k2 MSG_REGION=DefaultRegion TAGS=TagA TRACE_ON=true UNIQ_KEY=some WAIT=true own=value"
			if r.TransactionID != m.UniqueID() {
				t.Errorf("got transaction id %q, want %q", r.TransactionID, m.UniqueID())
			}
		}
		wantSameText(t, "properties", propertiesOf(&m), want)
		if body, err := m.Body(); string(body) != "hello" || err != nil || m.Flag() != 77 || !m.Born().Equal(born) || m.ReconsumeTimes() != 0 {
			t.Errorf("got body %q (%v), flag %d, born %v, reconsumed %d", body, err, m.Flag(), m.Born(), m.ReconsumeTimes())
		}
		if m.BodyCRC() != protocol.ComputeBodyCRC([]byte("hello")) || m.SysFlag() != 0 {
			t.Errorf("got CRC %d, system flag %#x", m.BodyCRC(), m.SysFlag())
		}

		// The long names of code 10 do the same; queue -1 leaves the choice.
		h.QueueID = -1
		cmd, err := f.store(protocol.SendMessage, protocol.EncodeFields(&h), []byte("again"))
		if err != nil {
			t.Fatal(err)
		}
		var second protocol.SendMessageResponseHeader
		if err := protocol.DecodeFields(cmd.ExtFields, &second); err != nil || second.QueueID != 0 || second.QueueOffset != 1 {
			t.Errorf("second send: got %+v, %v", second, err)
		}
	})
}

func TestSendIsRefused(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		check := func(what, body string, want protocol.ResponseCode, change func(*protocol.SendMessageRequestHeader)) {
			t.Helper()
			h := f.sendHeader()
			change(&h)
			_, err := f.sendRaw(h, body)
			f.wantCode(what, err, want)
		}
		empty := protocol.SystemError
		if tg.Line == "4" {
			empty = protocol.Success
		}
		check("unknown topic", "x", protocol.TopicNotExist, func(h *protocol.SendMessageRequestHeader) { h.Topic += "-none" })
		check("queue id too large", "x", f.invalid(), func(h *protocol.SendMessageRequestHeader) { h.QueueID = 2 })
		check("illegal topic name", "x", f.invalid(), func(h *protocol.SendMessageRequestHeader) { h.Topic = "no blanks" })
		check("long topic name", "x", f.invalid(), func(h *protocol.SendMessageRequestHeader) { h.Topic = strings.Repeat("t", 128) })
		check("schedule topic", "x", protocol.NoPermission, func(h *protocol.SendMessageRequestHeader) { h.Topic = "SCHEDULE_TOPIC_XXXX" })
		check("large body", strings.Repeat("x", 4<<20+1), protocol.MessageIllegal, func(*protocol.SendMessageRequestHeader) {})
		check("empty body", "", empty, func(*protocol.SendMessageRequestHeader) {})
	})
}

func TestSendBatch(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		var items []protocol.BatchItem
		for i := range 3 {
			items = append(items, protocol.BatchItem{
				Flag: int32(i), Body: fmt.Appendf(nil, "item %d", i),
				Properties: []protocol.Property{{Name: protocol.PropertyKeys, Value: fmt.Sprintf("k%d", i)}, {Name: "p", Value: "inner"}},
			})
		}
		f.send("before")
		body, err := protocol.AppendBatch(nil, items)
		if err != nil {
			t.Fatal(err)
		}
		h := f.sendHeader()
		h.Batch, h.Properties = true, "p\x01outer\x02"
		cmd, err := f.store(protocol.SendBatchMessage, h.FieldsV2(), body)
		if err != nil {
			t.Fatal(err)
		}
		var r protocol.SendMessageResponseHeader
		if err := protocol.DecodeFields(cmd.ExtFields, &r); err != nil {
			t.Fatal(err)
		}
		tg.AwaitOffset(t, f.mq, 4)
		_, got := f.pull(f.header(1))
		messages := f.messages(got)
		wantSameText(t, "bodies", bodies(t, messages), "[item 0 item 1 item 2]")
		var ids []string
		wins := "outer"
		if tg.Since("5.4.0") { // stores nothing of the request's properties, its own CLUSTER and MSG_REGION included
			wins = "inner"
		}
		for i := range messages {
			m := &messages[i]
			ids = append(ids, m.OffsetMessageID())
			if p, _ := m.Property("p"); m.QueueOffset() != int64(i+1) || m.Flag() != int32(i) || fmt.Sprint(m.Keys()) != fmt.Sprintf("[k%d]", i) || p != wins {
				t.Errorf("item %d: got offset %d, flag %d, keys %v, p %q", i, m.QueueOffset(), m.Flag(), m.Keys(), p)
			}
		}
		if r.QueueOffset != 1 || r.MsgID != strings.Join(ids, ",") {
			t.Errorf("got answer %+v, want ids %v", r, ids)
		}
	})
}

func TestDelayedMessage(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		r := f.send("late", protocol.Property{Name: protocol.PropertyDelay, Value: "1"}, tag("TagA"))
		m := f.pullOne(f.mq, 0, 10*time.Second)
		// It is born when it was sent, and stored in its queue when it is delivered.
		if waited := m.Stored().Sub(m.Born()); waited < 900*time.Millisecond || tg.Sandbox != nil && waited > 1100*time.Millisecond {
			t.Errorf("delivered after %v, want 1 s", waited)
		}
		if m.OffsetMessageID() == r.OffsetMessageID {
			t.Errorf("got id %s, which is that of the one that waited", m.OffsetMessageID())
		}
		want := fmt.Sprintf("CLUSTER=DefaultCluster DELAY=1 REAL_QID=0 REAL_TOPIC=%s TAGS=TagA", f.topic)
		if tg.Line == "5" {
			want = fmt.Sprintf("CLUSTER=DefaultCluster DELAY=1 MSG_REGION=DefaultRegion REAL_QID=0 REAL_TOPIC=%s TAGS=TagA TRACE_ON=true UNIQ_KEY=some", f.topic)
		}
		wantSameText(t, "properties", propertiesOf(&m), want)
		h := f.header(0)
		h.Subscription = "TagA"
		if _, got := f.pull(h); len(f.messages(got)) != 1 {
			t.Errorf("pull by its tag: got %s", got.Remark)
		}
	})
}

func TestFindMessages(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		unique := fmt.Sprintf("7F0000010DFC1EB2C6F6%012d", time.Now().UnixNano()%1e12)
		f.send("one", protocol.Property{Name: protocol.PropertyKeys, Value: "a b"}, protocol.Property{Name: protocol.PropertyUniqKey, Value: unique})
		f.send("two", protocol.Property{Name: protocol.PropertyKeys, Value: "b"})
		m := f.pullOne(f.mq, 0, time.Second)
		f.pullOne(f.mq, 1, time.Second)

		view := func(offset int64) (protocol.Command, error) {
			return f.invoke(protocol.ViewMessageByID, protocol.ExtFields{{Key: "offset", Value: fmt.Sprint(offset)}}, nil)
		}
		cmd, err := view(m.CommitLogOffset())
		if err != nil {
			t.Fatal(err)
		}
		wantSameText(t, "by commit log offset", bodies(t, messagesOf(t, cmd.Body, "")), "[one]")
		_, err = view(m.CommitLogOffset() + 1<<40)
		f.wantCode("commit log offset beyond the end", err, protocol.SystemError)

		query := func(key string, uniqueKey bool) string {
			t.Helper()
			fields := protocol.ExtFields{
				{Key: "topic", Value: f.topic}, {Key: "key", Value: key}, {Key: "maxNum", Value: "64"},
				{Key: "beginTimestamp", Value: "0"}, {Key: "endTimestamp", Value: fmt.Sprint(time.Now().Add(time.Hour).UnixMilli())},
			}
			if uniqueKey {
				fields = append(fields, protocol.ExtField{Key: "_UNIQUE_KEY_QUERY", Value: "true"})
			}
			cmd, err := f.invoke(protocol.QueryMessage, fields, nil)
			if code := codeOf(t, err); code != protocol.Success {
				return code.String()
			}
			found := bodies(t, messagesOf(t, cmd.Body, ""))
			slices.Sort(found)
			return fmt.Sprint(found)
		}
		// A real broker's index is a moment behind.
		sandboxtest.Await(t, "both messages by key b", func(context.Context) bool { return query("b", false) == "[one two]" })
		wantSameText(t, "by key a", query("a", false), "[one]")
		wantSameText(t, "by unknown key", query("none", false), protocol.QueryNotFound)
		wantSameText(t, "by unique id", query(unique, true), "[one]")
		wantSameText(t, "by unknown unique id", query(unique[:31]+"x", true), protocol.QueryNotFound)
	})
}

// retry is the queue of the group's retry or dead-letter topic.
func (f *fixture) retryQueue(topic string) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: topic, BrokerName: f.mq.BrokerName}
}

func TestSendBackGoesThroughTheRetryTopicToTheDeadLetters(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.send("poison", tag("TagA"), protocol.Property{Name: protocol.PropertyKeys, Value: "k"})
		first := f.pullOne(f.mq, 0, time.Second)
		back := func(m *protocol.MessageExt, level int32) {
			t.Helper()
			err := f.sendBack(&protocol.ConsumerSendMsgBackRequestHeader{
				Offset: m.CommitLogOffset(), Group: f.group, DelayLevel: level, OriginMsgID: m.MessageID(), OriginTopic: f.topic, MaxReconsumeTimes: 2,
			})
			if err != nil {
				t.Fatalf("send back: %v", err)
			}
		}
		five := ""
		if tg.Line == "5" {
			five = "MSG_REGION=DefaultRegion "
		}
		check := func(what string, m *protocol.MessageExt, times int32, delay, real string) {
			t.Helper()
			want := fmt.Sprintf("CLUSTER=DefaultCluster DELAY=%s KEYS=k %sORIGIN_MESSAGE_ID=some %sRETRY_TOPIC=%s TAGS=TagA ", delay, five, real, f.topic)
			if tg.Line == "5" {
				want += "TRACE_ON=true UNIQ_KEY=some "
			}
			wantSameText(t, what+": properties", propertiesOf(m), want+"WAIT=false")
			if origin, _ := m.Property(protocol.PropertyOriginMessageID); origin != first.OffsetMessageID() {
				t.Errorf("%s: got origin %s, want %s", what, origin, first.OffsetMessageID())
			}
			if body, _ := m.Body(); m.ReconsumeTimes() != times || string(body) != "poison" || !m.Born().Equal(first.Born()) {
				t.Errorf("%s: got reconsumed %d, body %q, born %v", what, m.ReconsumeTimes(), body, m.Born())
			}
			if m.OriginalTopic() != f.topic || m.MessageID() != first.MessageID() && tg.Line == "5" {
				t.Errorf("%s: got original topic %s, id %s", what, m.OriginalTopic(), m.MessageID())
			}
		}
		retryTopic, deadTopic := protocol.RetryTopic(f.group), protocol.DLQTopic(f.group)
		real := fmt.Sprintf("REAL_QID=0 REAL_TOPIC=%s ", retryTopic)
		back(&first, 1)
		second := f.pullOne(f.retryQueue(retryTopic), 0, 10*time.Second)
		check("first retry", &second, 1, "1", real)
		back(&second, 1)
		third := f.pullOne(f.retryQueue(retryTopic), 1, 10*time.Second)
		check("second retry", &third, 2, "1", real)
		back(&third, 1) // its times are used up
		tg.AwaitRoute(t, deadTopic, 1)
		dead := f.pullOne(f.retryQueue(deadTopic), 0, 10*time.Second)
		check("dead letter", &dead, 3, "0", real)

		back(&first, -1)
		dead = f.pullOne(f.retryQueue(deadTopic), 1, 10*time.Second)
		check("dead at once", &dead, 1, "0", "")
		err := f.sendBack(&protocol.ConsumerSendMsgBackRequestHeader{Offset: 1 << 50, Group: f.group})
		f.wantCode("commit log offset beyond the end", err, protocol.SystemError)
	})
}

// Level 0 means 3 and one more with each time.
func TestSendBackLevel0(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.send("slow")
		m := f.pullOne(f.mq, 0, time.Second)
		sent := time.Now()
		err := f.sendBack(&protocol.ConsumerSendMsgBackRequestHeader{Offset: m.CommitLogOffset(), Group: f.group, MaxReconsumeTimes: 16})
		if err != nil {
			t.Fatal(err)
		}
		tg.AwaitRoute(t, protocol.RetryTopic(f.group), 1)
		m = f.pullOne(f.retryQueue(protocol.RetryTopic(f.group)), 0, 15*time.Second)
		if waited := m.Stored().Sub(sent); waited < 9500*time.Millisecond || waited >= 30*time.Second || tg.Sandbox != nil && waited > 11*time.Second {
			t.Errorf("came back after %v, want 10 s, which is level 3; level 4 is 30 s", waited)
		}
	})
}

// A client whose send-back failed sends the message to the retry topic itself.
func TestSendToTheRetryTopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		retry, dead := f.retryQueue(protocol.RetryTopic(f.group)), f.retryQueue(protocol.DLQTopic(f.group))
		ends := protocol.OffsetTable{}
		// send says where the message arrives, and gives it from there.
		send := func(times int32, to protocol.MessageQueue) protocol.MessageExt {
			t.Helper()
			h := f.sendHeader()
			h.Topic, h.QueueID, h.ReconsumeTimes, h.MaxReconsumeTimes = retry.Topic, 0, times, 2
			h.Properties = "DELAY\x011\x02"
			if _, err := f.sendRaw(h, fmt.Sprint("times ", times)); err != nil {
				t.Fatal(err)
			}
			ends[to]++
			tg.AwaitOffset(t, to, ends[to])
			m := f.pullOne(to, ends[to]-1, time.Second)
			if body, _ := m.Body(); string(body) != fmt.Sprint("times ", times) || m.ReconsumeTimes() != times {
				t.Errorf("in %v: got body %q, reconsumed %d", to, body, m.ReconsumeTimes())
			}
			return m
		}
		four := tg.Line == "4"
		send(1, retry)
		if four {
			send(2, dead)
		} else {
			send(2, retry)
		}
		letter := send(3, dead)
		// 4.9 leaves the level that the client set, so that a dead letter is delayed.
		want := "-1"
		if four {
			want = "1"
		}
		if delay, _ := letter.Property(protocol.PropertyDelay); delay != want {
			t.Errorf("dead letter: got DELAY=%q, want %s", delay, want)
		}
		// On 5.3 a group that holds a lock is an orderly one, which has given the
		// message up when it sends it.
		held, err := f.c.LockBatch(t.Context(), f.mq.BrokerName, &protocol.LockBatchBody{ConsumerGroup: f.group, ClientID: "a", MQSet: []protocol.MessageQueue{f.mq}})
		if err != nil || len(held) != 1 {
			t.Fatalf("lock: got %v, %v", held, err)
		}
		if four {
			send(1, retry)
		} else {
			send(1, dead)
		}
	})
}
