package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestRoutes(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 3)
		route := func(topic string, fields ...protocol.ExtField) (protocol.Command, error) {
			fields = append(fields, protocol.ExtField{Key: "topic", Value: topic})
			return f.c.InvokeNamesrv(t.Context(), &protocol.Command{Code: int32(protocol.GetRouteInfoByTopic), ExtFields: fields})
		}
		_, err := route(f.topic + "-none")
		f.wantCode("unknown topic", err, protocol.TopicNotExist)
		quirky, err := route(f.topic)
		if err != nil {
			t.Fatal(err)
		}
		strict, err := route(f.topic, protocol.ExtField{Key: "acceptStandardJsonOnly", Value: "true"})
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid(quirky.Body) || !json.Valid(strict.Body) {
			t.Errorf("got %s and, asked for strict JSON, %s", quirky.Body, strict.Body)
		}
		for _, body := range [][]byte{quirky.Body, strict.Body} {
			data, err := protocol.DecodeTopicRouteData(body)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(data.QueueDatas, func(q protocol.QueueData) bool { return q.BrokerName == f.mq.BrokerName })
			if i < 0 || data.QueueDatas[i].ReadQueueNums != 3 || data.QueueDatas[i].WriteQueueNums != 3 || data.QueueDatas[i].Perm != 6 {
				t.Errorf("got queues %+v", data.QueueDatas)
			}
		}
		if !slices.Contains(f.topics(), f.topic) {
			t.Errorf("topic list lacks %s", f.topic)
		}
		info, err := f.c.ClusterInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if info.BrokerAddrTable[f.mq.BrokerName].BrokerAddrs[0] != f.addr || !slices.Contains(info.ClusterAddrTable["DefaultCluster"], f.mq.BrokerName) {
			t.Errorf("got cluster info %+v", info)
		}
	})
}

func (f *fixture) topics() []string {
	f.t.Helper()
	cmd, err := f.c.InvokeNamesrv(f.t.Context(), &protocol.Command{Code: 206})
	if err != nil {
		f.t.Fatal(err)
	}
	var body struct{ TopicList []string }
	if err := json.Unmarshal(cmd.Body, &body); err != nil {
		f.t.Fatal(err)
	}
	return body.TopicList
}

func TestTopicPermissionsAndDeletion(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.send("one")
		f.pullOne(f.mq, 0, time.Second)
		create := func(topic string, perm int32) error {
			return f.c.CreateTopic(t.Context(), f.addr, &protocol.CreateTopicRequestHeader{
				Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: perm,
			})
		}
		if err := create(f.topic, protocol.PermWrite); err != nil {
			t.Fatal(err)
		}
		if cmd, _ := f.pull(f.header(0)); cmd.Code != int32(protocol.NoPermission) {
			t.Errorf("write-only topic: got %v", protocol.ResponseCode(cmd.Code))
		}
		if err := create(f.topic, protocol.PermRead); err != nil {
			t.Fatal(err)
		}
		if _, err := f.sendRaw(f.sendHeader(), "two"); err != nil {
			t.Errorf("read-only topic: %v", err)
		}
		f.pullOne(f.mq, 1, time.Second)
		f.wantCode("illegal name", create("no blanks", 6), f.invalid())
		f.wantCode("empty name", create("", 6), f.invalid())

		if err := f.c.UpdateConsumerOffset(t.Context(), f.group, f.mq, 1); err != nil {
			t.Fatal(err)
		}
		if err := f.c.DeleteTopic(t.Context(), f.topic); err != nil {
			t.Fatal(err)
		}
		if cmd, _ := f.pull(f.header(0)); cmd.Code != int32(protocol.TopicNotExist) {
			t.Errorf("deleted topic: got %v", protocol.ResponseCode(cmd.Code))
		}
		_, _, err := f.c.RefreshRoute(t.Context(), f.topic)
		if err == nil {
			t.Error("deleted topic: it has a route")
		}
	})
}

func TestGroupConfiguration(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		config := func(text string) {
			t.Helper()
			_, err := f.invoke(200, nil, []byte(strings.ReplaceAll(text, "GROUP", f.group)))
			f.wantCode("update "+text, err, protocol.Success)
		}
		config(`{"groupName":"GROUP","consumeEnable":false,"retryMaxTimes":5}`)
		cmd, _ := f.pull(f.header(0))
		if cmd.Code != int32(protocol.NoPermission) || cmd.Remark != "subscription group no permission, "+f.group {
			t.Errorf("disabled group: got %v %s", protocol.ResponseCode(cmd.Code), cmd.Remark)
		}
		forbidden, ok := cmd.ExtFields.Get("forbiddenType")
		if want := map[string]string{"5": "2"}[tg.Line]; forbidden != want {
			t.Errorf("disabled group: got forbiddenType %q (%v), want %q", forbidden, ok, want)
		}
		if got := f.groupConfig(); got.ConsumeEnable || got.RetryMaxTimes != 5 || got.RetryQueueNums != 1 {
			t.Errorf("got configuration %+v", got)
		}
		config(`{"groupName":"GROUP"}`) // what is absent goes back to its default
		if cmd, _ := f.pull(f.header(0)); cmd.Code != int32(protocol.PullNotFound) {
			t.Errorf("enabled group: got %v", protocol.ResponseCode(cmd.Code))
		}
		if got := f.groupConfig(); !got.ConsumeEnable || got.RetryMaxTimes != 16 {
			t.Errorf("got configuration %+v", got)
		}
		_, err := f.invoke(200, nil, []byte(`{}`))
		nameless := protocol.SystemError
		if tg.Since("5.4.0") {
			nameless = protocol.InvalidParameter
		}
		f.wantCode("configuration without a name", err, nameless)

		// One topic of the group: only 5.3, and only pulls by the heartbeats' subscription.
		f.member("a").join(1, map[string]string{f.topic: "*"})
		_, err = f.invoke(353, protocol.ExtFields{{Key: "group", Value: f.group}, {Key: "topic", Value: f.topic}, {Key: "readable", Value: "false"}}, nil)
		if tg.Line == "4" {
			f.wantCode("forbid a topic", err, protocol.RequestCodeNotSupported)
			return
		}
		f.wantCode("forbid a topic", err, protocol.Success)
		h := f.header(0)
		if cmd, _ := f.pull(h); cmd.Code != int32(protocol.PullNotFound) {
			t.Errorf("forbidden topic, own subscription: got %v", protocol.ResponseCode(cmd.Code))
		}
		h.SysFlag = 0
		cmd, _ = f.pull(h)
		if forbidden, _ := cmd.ExtFields.Get("forbiddenType"); cmd.Code != int32(protocol.NoPermission) || forbidden != "5" {
			t.Errorf("forbidden topic: got %v, type %q", protocol.ResponseCode(cmd.Code), forbidden)
		}
	})
}

type groupConfig struct {
	ConsumeEnable                 bool
	RetryMaxTimes, RetryQueueNums int
}

func (f *fixture) groupConfig() groupConfig {
	f.t.Helper()
	cmd, err := f.invoke(201, nil, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	var body struct{ SubscriptionGroupTable map[string]groupConfig }
	if err := json.Unmarshal(cmd.Body, &body); err != nil {
		f.t.Fatal(err)
	}
	return body.SubscriptionGroupTable[f.group]
}

func TestGroupIsMadeByTheFirstUseAndDeleted(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		none := groupConfig{}
		if got := f.groupConfig(); got != none {
			t.Errorf("before: got configuration %+v", got)
		}
		f.pull(f.header(0))
		if got := f.groupConfig(); got == none {
			t.Error("after a pull: no configuration")
		}
		if err := f.c.UpdateConsumerOffset(t.Context(), f.group, f.mq, 7); err != nil {
			t.Fatal(err)
		}
		if err := f.c.DeleteGroup(t.Context(), f.addr, f.group); err != nil {
			t.Fatal(err)
		}
		if got := f.groupConfig(); got != none {
			t.Errorf("after deletion: got configuration %+v", got)
		}
		if got := f.queryOffset(); got == "7" {
			t.Error("after deletion: the committed offset is still there")
		}
	})
}

func TestWhoConsumesAndClone(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 5)
		f.pull(f.header(0))
		if err := f.c.UpdateConsumerOffset(t.Context(), f.group, f.mq, 4); err != nil {
			t.Fatal(err)
		}
		groups, err := f.c.GroupsOfTopic(t.Context(), f.addr, f.topic)
		if err != nil {
			t.Fatal(err)
		}
		wantSameText(t, "groups of the topic", groups, []string{f.group})

		other := tg.Group(t)
		clone := func(topic string) {
			t.Helper()
			err := f.c.CloneOffsets(t.Context(), f.addr, &protocol.CloneGroupOffsetRequestHeader{
				SrcGroup: f.group, DestGroup: other, Topic: topic, Offline: true,
			})
			f.wantCode("clone", err, protocol.Success)
		}
		clone("")
		if got, _, err := f.c.QueryConsumerOffset(t.Context(), other, f.mq); got != 0 || err != nil {
			t.Errorf("clone without a topic: got %d, %v", got, err)
		}
		clone(f.topic)
		if got, _, err := f.c.QueryConsumerOffset(t.Context(), other, f.mq); got != 4 || err != nil {
			t.Errorf("clone: got %d, %v, want 4", got, err)
		}
		all, err := f.c.AllOffsets(t.Context(), f.addr)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]map[int32]int64{f.topic: {f.mq.QueueID: 4}}
		wantSameText(t, "all offsets of the group", all[f.group], want)
		wantSameText(t, "all offsets of the copy", all[other], want)
	})
}

// reset sends 222 for the whole topic, or one queue of it, and gives the targets.
func (f *fixture) reset(timestamp int64, force bool, queue *protocol.ResetQueue) (protocol.OffsetTable, error) {
	f.t.Helper()
	return f.c.ResetOffsets(f.t.Context(), f.addr, &protocol.InvokeResetOffsetRequestHeader{
		Topic: f.topic, Group: f.group, Timestamp: timestamp, IsForce: force, Queue: queue,
	})
}

func TestReset(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		if tg.Line == "4" {
			resetByMembers(t, tg)
			return
		}
		resetByBroker(t, tg)
	})
}

// 5.3 resets by itself: the offset is set at once, commits are ignored until the
// next pull, which is told the new offset.
func resetByBroker(t *testing.T, tg *sandboxtest.Target) {
	f := newFixture(t, tg, 1)
	tg.Produce(t, f.topic, 10)
	_, err := f.reset(-1, true, nil)
	f.wantCode("unknown group", err, protocol.SubscriptionGroupNotExist)
	m := f.member("a")
	m.join(1, map[string]string{f.topic: "*"})
	m.wantNotice("own join")
	if err := f.c.UpdateConsumerOffset(t.Context(), f.group, f.mq, 3); err != nil {
		t.Fatal(err)
	}
	table, err := f.reset(-1, true, nil)
	if err != nil || len(table) != 1 || table[f.mq] != 10 {
		t.Fatalf("reset to the end: got %v, %v", table, err)
	}
	wantSameText(t, "committed at once", f.queryOffset(), "10")
	h := protocol.UpdateConsumerOffsetRequestHeader{ConsumerGroup: f.group, Topic: f.topic, QueueID: f.mq.QueueID, CommitOffset: 5}
	cmd, err := f.invoke(protocol.UpdateConsumerOffset, protocol.EncodeFields(&h), nil)
	if err != nil || cmd.Remark != "Offset has been previously reset" {
		t.Errorf("commit: got %q, %v", cmd.Remark, err)
	}
	wantSameText(t, "after the ignored commit", f.queryOffset(), "10")
	pulled, r := f.pull(f.header(3))
	if pulled.Code != int32(protocol.PullOffsetMoved) || pulled.Remark != "OFFSET_RESET" || r.NextBeginOffset != 10 {
		t.Errorf("next pull: got %v %s, next %d", protocol.ResponseCode(pulled.Code), pulled.Remark, r.NextBeginOffset)
	}
	if pulled, r = f.pull(f.header(3)); pulled.Code != 0 || len(f.messages(r)) != 7 {
		t.Errorf("pull after that: got %v %s", protocol.ResponseCode(pulled.Code), pulled.Remark)
	}
	table, err = f.reset(0, true, &protocol.ResetQueue{Offset: 6})
	if err != nil || table[f.mq] != 6 {
		t.Errorf("reset of a queue to an offset: got %v, %v", table, err)
	}
	_, err = f.reset(0, true, &protocol.ResetQueue{Offset: 600})
	f.wantCode("offset out of range", err, protocol.SystemError)
	table, err = f.reset(0, true, &protocol.ResetQueue{Offset: -1})
	if err != nil || table[f.mq] != 0 {
		t.Errorf("reset of a queue to a time: got %v, %v", table, err)
	}
	m.wantQuiet("the broker resets by itself")
}

// 4.9 tells the members, and changes nothing itself.
func resetByMembers(t *testing.T, tg *sandboxtest.Target) {
	f := newFixture(t, tg, 1)
	tg.Produce(t, f.topic, 10)
	_, err := f.reset(-1, true, nil)
	f.wantCode("group without commit", err, protocol.SystemError)
	if err := f.c.UpdateConsumerOffset(t.Context(), f.group, f.mq, 3); err != nil {
		t.Fatal(err)
	}
	_, err = f.reset(-1, true, nil)
	f.wantCode("group not online", err, protocol.ConsumerNotOnline)
	m := f.member("a")
	m.join(1, map[string]string{f.topic: "*"})
	m.wantNotice("own join")
	check := func(what string, timestamp int64, force bool, want int64) {
		t.Helper()
		table, err := f.reset(timestamp, force, nil)
		if err != nil || table[f.mq] != want {
			t.Errorf("%s: got %v, %v, want %d", what, table, err, want)
		}
		cmd, ok := m.notices.receive(10 * time.Second)
		if !ok {
			t.Fatalf("%s: the member is not told", what)
		}
		var h protocol.ResetOffsetRequestHeader
		if err := protocol.DecodeFields(cmd.ExtFields, &h); err != nil || h.Topic != f.topic || h.Group != f.group || !cmd.IsOneway() {
			t.Errorf("%s: got %v %v, %v", what, protocol.RequestCode(cmd.Code), cmd.ExtFields, err)
		}
		told, err := protocol.DecodeResetOffset(cmd.Body)
		if err != nil || told[f.mq] != want {
			t.Errorf("%s: member got %v, %v", what, told, err)
		}
	}
	check("to the end", -1, true, 10)
	check("to the end, only back", -1, false, 3)
	check("to a future time", time.Now().Add(time.Hour).UnixMilli(), true, 9)
	check("to the beginning", 0, true, 0)
	wantSameText(t, "committed", f.queryOffset(), "3")
}

// replier answers relayed requests.
type replier struct {
	answer func(protocol.Command) (protocol.Command, bool)
}

func (r replier) HandleRequest(c *remoting.Conn, req protocol.Command) {
	if resp, ok := r.answer(req); ok {
		_ = c.Respond(&req, &resp)
	}
}

func TestRelays(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.send("one")
		m := f.pullOne(f.mq, 0, time.Second)
		table := protocol.OffsetTable{f.mq: 7}
		client := tg.Client(t, replier{func(req protocol.Command) (protocol.Command, bool) {
			switch protocol.RequestCode(req.Code) {
			case protocol.GetConsumerRunningInfo:
				return protocol.Command{Remark: "as I say", Body: []byte(`{"any":"thing"}`)}, true
			case protocol.GetConsumerStatusFromClient:
				return protocol.Command{Body: protocol.EncodeConsumerStatus(table)}, true
			case protocol.ConsumeMessageDirectly:
				name, _ := req.ExtFields.Get("brokerName")
				return protocol.Command{Code: 1, Remark: name, Body: req.Body}, true
			}
			return protocol.Command{}, false
		}})
		a := &member{f: f, id: "a", c: client}
		info := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: f.group, ClientID: "a"}
		_, err := f.invoke(protocol.GetConsumerRunningInfo, protocol.EncodeFields(&info), nil)
		f.wantCode("running info of nobody", err, protocol.SystemError)
		a.join(1, map[string]string{f.topic: "*"})
		cmd, err := f.invoke(protocol.GetConsumerRunningInfo, protocol.EncodeFields(&info), nil)
		if err != nil || string(cmd.Body) != `{"any":"thing"}` || cmd.Remark != "as I say" {
			t.Errorf("running info: got %q, %s, %v", cmd.Remark, cmd.Body, err)
		}

		typed, err := f.c.RunningInfo(t.Context(), f.addr, f.group, "a", true)
		if err != nil || len(typed.MQTable) != 0 {
			t.Errorf("running info, decoded: got %+v, %v", typed, err)
		}

		direct := protocol.ConsumeMessageDirectlyRequestHeader{ConsumerGroup: f.group, ClientID: "a", MsgID: m.OffsetMessageID()}
		cmd, err = f.invoke(protocol.ConsumeMessageDirectly, protocol.EncodeFields(&direct), nil)
		f.wantCode("consume directly", err, protocol.SystemError) // the member's own answer
		if got := messagesOf(t, cmd.Body, ""); cmd.Remark != f.mq.BrokerName || len(got) != 1 || got[0].CommitLogOffset() != m.CommitLogOffset() {
			t.Errorf("consume directly: got %q with %d messages", cmd.Remark, len(got))
		}

		cmd, err = f.invoke(223, protocol.ExtFields{{Key: "topic", Value: f.topic}, {Key: "group", Value: f.group}}, nil)
		want := fmt.Sprintf(`{"consumerTable":{"a":{{"brokerName":"%s","queueId":0,"topic":"%s"}:7}},"messageQueueTable":{}}`, f.mq.BrokerName, f.topic)
		if err != nil || string(cmd.Body) != want {
			t.Errorf("consumer status: got %s, %v, want %s", cmd.Body, err, want)
		}
		if held, online, err := f.c.MemberOffsets(t.Context(), f.addr, f.group, f.topic, "a"); err != nil || !online || !maps.Equal(held, table) {
			t.Errorf("offsets held by a: got %v, %v, %v, want %v", held, online, err, table)
		}
		if held, online, err := f.c.MemberOffsets(t.Context(), f.addr, f.group, f.topic, "b"); err != nil || online {
			t.Errorf("offsets held by somebody else: got %v, %v, %v, want none", held, online, err)
		}
	})
}

// A member that does not answer costs the caller ten seconds.
func TestRelayTimesOut(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.member("a").join(1, map[string]string{f.topic: "*"})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		conn, err := f.c.Conn(ctx, f.addr)
		if err != nil {
			t.Fatal(err)
		}
		info := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: f.group, ClientID: "a"}
		begun := time.Now()
		cmd, err := conn.Invoke(ctx, &protocol.Command{Code: int32(protocol.GetConsumerRunningInfo), ExtFields: protocol.EncodeFields(&info)})
		if took := time.Since(begun); err != nil || cmd.Code != int32(protocol.ConsumeMsgTimeout) || took < 9*time.Second {
			t.Errorf("got %v %s, %v after %v", protocol.ResponseCode(cmd.Code), cmd.Remark, err, took)
		}
	})
}
