package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// config is the group's configuration at the first master.
func (f *fixture) config() protocol.GroupConfig {
	f.t.Helper()
	configs, err := f.c.GroupConfigs(f.t.Context(), f.addr)
	if err != nil {
		f.t.Fatal(err)
	}
	config, ok := configs.Groups[f.group]
	if !ok {
		f.t.Fatalf("no configuration of %s", f.group)
	}
	return config
}

// One member is changed, and every byte of the others stays, though none of them has
// its default.
func TestOneMemberOfAGroupIsChanged(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		text := `{"brokerId":2,"consumeBroadcastEnable":false,"consumeEnable":true,"consumeFromMinEnable":false,"groupName":"GROUP",` +
			`"notifyConsumerIdsChangedEnable":false,"retryMaxTimes":3,"retryQueueNums":2,"whichBrokerWhenConsumeSlowly":3}`
		if tg.Line == "5" {
			text = `{"attributes":{},"brokerId":2,"consumeBroadcastEnable":false,"consumeEnable":true,"consumeFromMinEnable":false,` +
				`"consumeMessageOrderly":true,"consumeTimeoutMinute":30,"groupName":"GROUP",` +
				`"groupRetryPolicy":{"exponentialRetryPolicy":{"initial":5000,"max":7200000,"multiplier":2},"type":"EXPONENTIAL"},"groupSysFlag":4,` +
				`"notifyConsumerIdsChangedEnable":false,"retryMaxTimes":3,"retryQueueNums":2,"whichBrokerWhenConsumeSlowly":3}`
		}
		want, err := protocol.ParseGroupConfig(strings.ReplaceAll(text, "GROUP", f.group))
		if err != nil {
			t.Fatal(err)
		}
		sent := want
		if err := sent.Set("nobodyKnowsThis", `[1.50]`); err != nil {
			t.Fatal(err)
		}
		if err := f.c.UpdateGroupConfig(t.Context(), f.addr, sent); err != nil {
			t.Fatal(err)
		}
		wantSameText(t, "as written", f.config(), want)
		paused := f.config()
		paused.SetBool("consumeEnable", false)
		if err := f.c.UpdateGroupConfig(t.Context(), f.addr, paused); err != nil {
			t.Fatal(err)
		}
		got := f.config()
		if enabled, ok := got.Bool("consumeEnable"); !ok || enabled {
			t.Errorf("consumeEnable is %v, %v", enabled, ok)
		}
		got.SetBool("consumeEnable", true)
		wantSameText(t, "all others", got, want)
		if tg.Line == "5" {
			one, err := f.c.GroupConfig(t.Context(), f.addr, f.group)
			if err != nil {
				t.Fatal(err)
			}
			wantSameText(t, "asked for alone", one, f.config())
		}
	})
}

// 5.3 takes changes of attributes only, which is why a configuration that has some
// is written back without them.
func TestAttributesOfAGroup(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		f.pull(f.header(0)) // makes the group
		want := protocol.Success
		if tg.Line == "5" {
			want = protocol.SystemError
		}
		for _, attributes := range []string{`{"k":"v"}`, `{"+k":"v"}`} {
			_, err := f.invoke(protocol.UpdateAndCreateSubscriptionGroup, nil,
				fmt.Appendf(nil, `{"groupName":%q,"attributes":%s}`, f.group, attributes))
			f.wantCode("attributes "+attributes, err, want)
		}
		config := f.config()
		if err := config.Set("attributes", `{"k":"v"}`); err != nil {
			t.Fatal(err)
		}
		if err := f.c.UpdateGroupConfig(t.Context(), f.addr, config); err != nil {
			t.Errorf("written back with attributes: %v", err)
		}
	})
}

func TestATopicOfAGroupIsForbidden(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		forbidden, err := f.c.ForbidTopic(t.Context(), f.addr, f.group, f.topic, true)
		if tg.Line == "4" {
			f.wantCode("forbid a topic", err, protocol.RequestCodeNotSupported)
			return
		}
		if err != nil || !forbidden {
			t.Errorf("forbid: got %v, %v", forbidden, err)
		}
		configs, err := f.c.GroupConfigs(t.Context(), f.addr)
		if err != nil {
			t.Fatal(err)
		}
		_, made := configs.Groups[f.group]
		if perm := configs.Forbidden[f.group][f.topic]; perm != protocol.PermRead || made {
			t.Errorf("forbidden: got %d, the group was made: %v", perm, made)
		}
		forbidden, err = f.c.ForbidTopic(t.Context(), f.addr, f.group, f.topic, false)
		if err != nil || forbidden {
			t.Errorf("allow: got %v, %v", forbidden, err)
		}
		configs, err = f.c.GroupConfigs(t.Context(), f.addr)
		if err != nil || len(configs.Forbidden[f.group]) != 0 {
			t.Errorf("allowed: got %v, %v", configs.Forbidden[f.group], err)
		}
	})
}

func TestTopicConfigurations(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 3)
		all, err := f.c.TopicConfigs(t.Context(), f.addr)
		if err != nil {
			t.Fatal(err)
		}
		got := all[f.topic]
		if (got.Attributes == nil) != (tg.Line == "4") {
			t.Errorf("got attributes %v", got.Attributes)
		}
		got.Attributes = nil
		want := protocol.TopicConfig{TopicName: f.topic, ReadQueueNums: 3, WriteQueueNums: 3, Perm: 6}
		wantSameText(t, "configuration", got, want)
		one, err := f.c.TopicConfig(t.Context(), f.addr, f.topic)
		_, none := f.c.TopicConfig(t.Context(), f.addr, f.topic+"-none")
		if tg.Line == "4" {
			f.wantCode("one topic", err, protocol.RequestCodeNotSupported)
			return
		}
		f.wantCode("unknown topic", none, protocol.TopicNotExist)
		one.Attributes = nil
		wantSameText(t, "asked for alone", one, want)
	})
}

// A change of a topic's queues keeps its attributes.
func TestAttributesOfATopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		change := func(queues int32, attributes string) error {
			return f.c.CreateTopic(t.Context(), f.addr, &protocol.CreateTopicRequestHeader{
				Topic: f.topic, DefaultTopic: "TBW102", ReadQueueNums: queues, WriteQueueNums: queues, Perm: 6, Attributes: attributes,
			})
		}
		check := func(what, want string) {
			t.Helper()
			all, err := f.c.TopicConfigs(t.Context(), f.addr)
			if err != nil {
				t.Fatal(err)
			}
			if tg.Line == "4" {
				want = "map[]"
			}
			wantSameText(t, what, all[f.topic].Attributes, want)
		}
		f.wantCode("add", change(1, "+message.type=FIFO"), protocol.Success)
		check("added", "map[message.type:FIFO]")
		f.wantCode("grow", change(2, ""), protocol.Success)
		check("grown", "map[message.type:FIFO]")
		refused := protocol.SystemError
		if tg.Line == "4" {
			refused = protocol.Success
		}
		f.wantCode("without a sign", change(2, "message.type=DELAY"), refused)
		f.wantCode("unknown name", change(2, "+no.such.thing=1"), refused)
		f.wantCode("unknown value", change(2, "+message.type=SLOW"), refused)
		check("after what was refused", "map[message.type:FIFO]")
		f.wantCode("delete", change(2, "-message.type"), protocol.Success)
		check("deleted", "map[]")
	})
}

func TestBrokerTellsOfItself(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 1)
		tg.Produce(t, f.topic, 1)
		config, err := f.c.BrokerConfig(t.Context(), f.addr)
		if err != nil {
			t.Fatal(err)
		}
		if config["brokerName"] != f.mq.BrokerName || config["brokerId"] != "0" || config["autoCreateSubscriptionGroup"] != "true" {
			t.Errorf("got configuration %v", config)
		}
		for _, name := range []string{"brokerRole", "fileReservedTime", "messageDelayLevel", "maxMessageSize", "msgTraceTopicName", "enablePropertyFilter", "brokerPermission"} {
			if config[name] == "" {
				t.Errorf("configuration lacks %s", name)
			}
		}
		if got, want := config["useServerSideResetOffset"], map[string]string{"5": "true"}[tg.Line]; got != want {
			t.Errorf("useServerSideResetOffset is %q, want %q", got, want)
		}
		info, err := f.c.RuntimeInfo(t.Context(), f.addr)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{
			"brokerVersionDesc", "bootTimestamp", "putTps", "getTransferredTps", "commitLogDiskRatio", "consumeQueueDiskRatio",
			"commitLogMinOffset", "commitLogMaxOffset", "pullThreadPoolQueueHeadWaitTimeMills", "sendThreadPoolQueueHeadWaitTimeMills",
			"msgPutTotalTodayNow", "dispatchBehindBytes", "pageCacheLockTimeMills", "earliestMessageTimeStamp", "runtime",
		}
		if tg.Line == "4" {
			names[slices.Index(names, "getTransferredTps")] = "getTransferedTps"
		}
		for _, name := range names {
			if info[name] == "" {
				t.Errorf("runtime info lacks %s", name)
			}
		}
	})
}

func TestNameServersAreAskedOneByOne(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		f := newFixture(t, tg, 2)
		for _, addr := range tg.Namesrv {
			info, err := f.c.ClusterInfoFrom(t.Context(), addr)
			if err != nil || info.BrokerAddrTable[f.mq.BrokerName].BrokerAddrs[0] != f.addr {
				t.Errorf("cluster info from %s: got %v, %v", addr, info, err)
			}
			names, err := f.c.TopicNamesFrom(t.Context(), addr)
			if err != nil || !slices.Contains(names, f.topic) {
				t.Errorf("topic names from %s: got %q, %v", addr, names, err)
			}
			route, err := f.c.RouteFrom(t.Context(), addr, f.topic)
			if err != nil || len(route.QueueDatas) == 0 || route.QueueDatas[0].ReadQueueNums != 2 {
				t.Errorf("route from %s: got %v, %v", addr, route, err)
			}
			_, err = f.c.RouteFrom(t.Context(), addr, f.topic+"-none")
			f.wantCode("route of an unknown topic", err, protocol.TopicNotExist)
		}
		names, err := f.c.TopicNames(t.Context())
		if err != nil || !slices.Contains(names, f.topic) {
			t.Errorf("topic names: got %q, %v", names, err)
		}
		names, err = f.c.TopicNamesOf(t.Context(), "DefaultCluster")
		if err != nil || !slices.Contains(names, f.topic) {
			t.Errorf("topic names of the cluster: got %q, %v", names, err)
		}
	})
}
