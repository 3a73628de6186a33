package sandbox

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"eyeq/remoting/protocol"
)

// Configurations: of groups (200, 201, 352, 353) and of the broker (26). A broker
// keeps of a group's configuration what it knows; 5.3 knows more members than 4.9,
// and takes changes of attributes only, of which it knows none.

// groupConfig is the group's configuration (Java: SubscriptionGroupConfig).
type groupConfig struct {
	exists           bool // made by hand or by the first use
	consumeEnable    bool
	consumeFromMin   bool
	broadcast        bool
	notify           bool
	retryQueueNums   int32
	retryMaxTimes    int32
	brokerID         int64
	whichBrokerSlow  int64
	consumeOrderly   bool // 5.x, as is the rest
	timeoutMinute    int64
	groupSysFlag     int64
	groupRetryPolicy json.RawMessage
}

var defaultGroupConfig = groupConfig{
	exists: true, consumeEnable: true, consumeFromMin: true, broadcast: true, notify: true, retryQueueNums: 1, retryMaxTimes: 16,
	whichBrokerSlow: 1, timeoutMinute: 15, groupRetryPolicy: json.RawMessage(`{"type":"CUSTOMIZED"}`),
}

// readGroupConfig takes what the body of 200 has; the rest has its defaults.
func readGroupConfig(text protocol.GroupConfig) groupConfig {
	d := defaultGroupConfig
	for name, to := range map[string]*bool{
		"consumeEnable": &d.consumeEnable, "consumeFromMinEnable": &d.consumeFromMin, "consumeBroadcastEnable": &d.broadcast,
		"notifyConsumerIdsChangedEnable": &d.notify, "consumeMessageOrderly": &d.consumeOrderly,
	} {
		if value, ok := text.Bool(name); ok {
			*to = value
		}
	}
	for name, to := range map[string]*int32{"retryQueueNums": &d.retryQueueNums, "retryMaxTimes": &d.retryMaxTimes} {
		if value, ok := text.Int(name); ok {
			*to = int32(value)
		}
	}
	for name, to := range map[string]*int64{
		"brokerId": &d.brokerID, "whichBrokerWhenConsumeSlowly": &d.whichBrokerSlow,
		"consumeTimeoutMinute": &d.timeoutMinute, "groupSysFlag": &d.groupSysFlag,
	} {
		if value, ok := text.Int(name); ok {
			*to = value
		}
	}
	if value, ok := text.Get("groupRetryPolicy"); ok && json.Valid([]byte(value)) {
		d.groupRetryPolicy = json.RawMessage(value)
	}
	d.retryQueueNums = min(d.retryQueueNums, maxQueues)
	return d
}

// configText is the group's configuration as the broker writes it.
func (g *group) configText() protocol.GroupConfig {
	c := &g.config
	config := map[string]any{
		"groupName": g.name, "consumeEnable": c.consumeEnable, "consumeBroadcastEnable": c.broadcast,
		"consumeFromMinEnable": c.consumeFromMin, "notifyConsumerIdsChangedEnable": c.notify, "brokerId": c.brokerID,
		"retryQueueNums": c.retryQueueNums, "retryMaxTimes": c.retryMaxTimes, "whichBrokerWhenConsumeSlowly": c.whichBrokerSlow,
	}
	if !g.broker.loop.four {
		maps.Copy(config, map[string]any{
			"attributes": map[string]string{}, "consumeMessageOrderly": c.consumeOrderly, "consumeTimeoutMinute": c.timeoutMinute,
			"groupRetryPolicy": c.groupRetryPolicy, "groupSysFlag": c.groupSysFlag,
		})
	}
	text, err := protocol.ParseGroupConfig(string(encodeJSON(config)))
	if err != nil {
		panic(err) // it was made just now
	}
	return text
}

func (b *broker) handleUpdateGroup(c *call) answer {
	text, err := protocol.ParseGroupConfig(string(c.command.Body))
	if err != nil {
		return malformed(err)
	}
	name := text.GroupName()
	if name == "" {
		return refuse(protocol.SystemError, "java.lang.NullPointerException")
	}
	if refused := b.checkAttributes(text); refused.code != protocol.Success {
		return refused
	}
	b.ensureGroup(name).config = readGroupConfig(text)
	return answer{}
}

// checkAttributes refuses what 5.3 refuses: names without a sign, and unknown ones.
func (b *broker) checkAttributes(text protocol.GroupConfig) answer {
	value, ok := text.Get("attributes")
	if !ok || b.loop.four {
		return answer{}
	}
	attributes := map[string]string{}
	if err := decodeJSON([]byte(value), &attributes); err != nil {
		return malformed(err)
	}
	for name := range attributes {
		if name == "" || !strings.ContainsRune("+-", rune(name[0])) {
			return refuse(protocol.SystemError, "java.lang.RuntimeException: kv string format wrong.")
		}
		return refuse(protocol.SystemError, "java.lang.RuntimeException: unsupported key: "+name[1:])
	}
	return answer{}
}

func (b *broker) handleGroupConfigs() answer {
	configs := protocol.GroupConfigs{Groups: map[string]protocol.GroupConfig{}}
	if !b.loop.four {
		configs.Forbidden = map[string]map[string]int32{}
	}
	for name, g := range b.groups {
		if g.config.exists {
			configs.Groups[name] = g.configText()
		}
		if len(g.unreadable) > 0 {
			topics := map[string]int32{}
			for topic := range g.unreadable {
				topics[topic] = protocol.PermRead
			}
			configs.Forbidden[name] = topics
		}
	}
	return answer{body: protocol.EncodeGroupConfigs(&configs)}
}

// handleGroupConfig makes the group that it is asked for.
func (b *broker) handleGroupConfig(c *call) answer {
	var h protocol.GroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	return answer{body: []byte(b.useGroup(h.Group).configText().String())}
}

// handleForbidden keeps a group from a topic, be either known or not, and makes no
// group of it.
func (b *broker) handleForbidden(c *call) answer {
	var h protocol.GroupForbiddenRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	state := protocol.GroupForbidden{Group: h.Group, Topic: h.Topic, Readable: true}
	if h.Readable != nil {
		g := b.ensureGroup(h.Group)
		delete(g.unreadable, h.Topic)
		if !*h.Readable {
			g.unreadable[strings.Clone(h.Topic)] = true
		}
	}
	if g := b.groups[h.Group]; g != nil {
		state.Readable = !g.unreadable[h.Topic]
	}
	return answer{body: protocol.EncodeGroupForbidden(&state)}
}

// handleBrokerConfig answers 26 with the entries that the tools look at.
func (b *broker) handleBrokerConfig() answer {
	role := "ASYNC_MASTER"
	if b.master != nil {
		role = "SLAVE"
	}
	config := map[string]string{
		"brokerName": b.name, "brokerClusterName": clusterName, "brokerId": strconv.FormatInt(b.id, 10), "brokerRole": role,
		"listenPort": strconv.Itoa(int(b.host.Port())), "brokerIP1": b.host.Addr().String(), "brokerPermission": strconv.Itoa(int(b.loop.options.Permission)),
		"autoCreateTopicEnable":       strconv.FormatBool(b.loop.options.AutoCreateTopics),
		"autoCreateSubscriptionGroup": "true", "enablePropertyFilter": "false",
		"maxMessageSize": "4194304", "fileReservedTime": "72", "deleteWhen": "04", "defaultQueryMaxNum": strconv.Itoa(maxUniqueHits),
		"messageDelayLevel": b.loop.options.DelayLevels, "msgTraceTopicName": "RMQ_SYS_TRACE_TOPIC",
	}
	if !b.loop.four {
		config["useServerSideResetOffset"] = "true"
	}
	return answer{
		fields: protocol.ExtFields{{Key: "version", Value: `{"counter":0,"stateVersion":0,"timestamp":0}`}},
		body:   protocol.EncodeConfig(config),
	}
}
