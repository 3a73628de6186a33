package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// Administration of topics and groups, and what a broker tells of itself. Both
// lines do the same, but for the requests that only 5.3 knows (351, 352, 353)
// and 17 and 215, which refuse a bad topic name with 29 or 1.

// handleAdmin answers what broker.handle has left.
func (b *broker) handleAdmin(c *call) answer {
	switch code := protocol.RequestCode(c.command.Code); code {
	case protocol.UpdateAndCreateTopic:
		return b.handleCreateTopic(c)
	case protocol.DeleteTopicInBroker:
		return b.handleDeleteTopic(c)
	case protocol.GetTopicStatsInfo:
		return b.handleTopicStats(c)
	case protocol.GetAllTopicConfig:
		return b.handleTopicConfigs()
	case protocol.GetBrokerRuntimeInfo:
		return b.handleRuntimeInfo()
	case protocol.DeleteSubscriptionGroup:
		return b.handleDeleteGroup(c)
	case protocol.UpdateAndCreateSubscriptionGroup:
		return b.handleUpdateGroup(c)
	case protocol.GetAllSubscriptionGroupConfig:
		return b.handleGroupConfigs()
	case protocol.GetConsumerConnectionList:
		return b.handleConsumerConnection(c)
	case protocol.GetConsumeStats:
		return b.handleConsumeStats(c)
	case protocol.GetAllConsumerOffset:
		return b.handleAllOffsets()
	case protocol.InvokeBrokerToResetOffset:
		return b.handleResetOffset(c)
	case protocol.QueryTopicConsumeByWho:
		return b.handleWhoConsumes(c)
	case protocol.CloneGroupOffset:
		return b.handleCloneOffset(c)
	case protocol.GetTopicConfig, protocol.GetSubscriptionGroupConfig, protocol.UpdateAndGetGroupForbidden:
		if !b.loop.four {
			return b.handleAdmin5(code, c)
		}
	}
	return notSupported(c)
}

// handleAdmin5 answers what 4.9 does not know.
func (b *broker) handleAdmin5(code protocol.RequestCode, c *call) answer {
	f := c.command.ExtFields
	topic, _ := f.Get("topic")
	group, _ := f.Get("group")
	switch code {
	case protocol.GetTopicConfig:
		if t := b.topic(topic); t != nil {
			return answer{body: encodeJSON(b.topicConfig(t))}
		}
		return noTopic(topic)
	case protocol.GetSubscriptionGroupConfig:
		return answer{body: encodeJSON(b.useGroup(group).configJSON())}
	}
	g := b.useGroup(group)
	if text, ok := f.Get("readable"); ok {
		delete(g.unreadable, topic)
		if text == "false" {
			g.unreadable[strings.Clone(topic)] = true
		}
	}
	return answer{body: encodeJSON(map[string]any{"group": group, "topic": topic, "readable": !g.unreadable[topic]})}
}

func (b *broker) handleCreateTopic(c *call) answer {
	var h protocol.CreateTopicRequestHeader
	if err := h.Parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	switch {
	case b.master != nil && b.loop.four:
		return refuse(protocol.SystemError, "Can't modify topic or subscription group from slave broker, please execute it from master broker.")
	case len(h.Topic) > maxTopicLength || !validTopic(h.Topic) || h.Topic == scheduleTopic:
		return refuse(b.loop.invalid(), fmt.Sprintf("the topic name [%s] is not allowed", h.Topic))
	case h.ReadQueueNums < 0 || h.WriteQueueNums < 0 || max(h.ReadQueueNums, h.WriteQueueNums) > maxQueues:
		return refuse(b.loop.invalid(), fmt.Sprintf("%d read and %d write queues, at most %d", h.ReadQueueNums, h.WriteQueueNums, maxQueues))
	}
	t := b.topic(h.Topic)
	if t == nil {
		t = b.makeTopic(h.Topic, h.ReadQueueNums, h.Perm)
	}
	t.resize(h.ReadQueueNums, h.WriteQueueNums)
	t.perm, t.order = h.Perm, h.Order
	b.loop.namesrv.registered(t.name)
	return answer{}
}

func (b *broker) handleDeleteTopic(c *call) answer {
	var h protocol.TopicRequestHeader
	if err := h.Parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	if h.Topic == scheduleTopic {
		return refuse(b.loop.invalid(), "the topic["+h.Topic+"] is conflict with system topic.")
	}
	b.deleteTopic(h.Topic)
	return answer{}
}

func (b *broker) handleTopicStats(c *call) answer {
	var h protocol.TopicRequestHeader
	if err := h.Parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	t := b.topic(h.Topic)
	if t == nil {
		return refuse(protocol.TopicNotExist, "topic["+h.Topic+"] not exist")
	}
	stats := protocol.TopicStats{}
	for _, q := range t.queues {
		q.trim(b.log.minOffset())
		stats[b.messageQueue(q)] = protocol.TopicOffset{
			MinOffset: q.minOffset(), MaxOffset: q.maxOffset(), LastUpdateTimestamp: q.storedAt(q.maxOffset() - 1),
		}
	}
	return answer{body: protocol.EncodeTopicStats(stats)}
}

func (b *broker) messageQueue(q *queue) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: q.topic.name, BrokerName: b.name, QueueID: q.id}
}

func (b *broker) topicConfig(t *topic) map[string]any {
	config := map[string]any{
		"topicName": t.name, "readQueueNums": t.read, "writeQueueNums": t.write, "perm": t.perm,
		"order": t.order, "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0,
	}
	if !b.loop.four {
		config["attributes"] = map[string]string{}
	}
	return config
}

func (b *broker) handleTopicConfigs() answer {
	table := map[string]any{}
	for name, t := range b.topics {
		table[name] = b.topicConfig(t)
	}
	return answer{body: encodeJSON(map[string]any{"dataVersion": dataVersion, "topicConfigTable": table})}
}

// dataVersion stands where a broker counts the changes of a table.
var dataVersion = map[string]any{"counter": 1, "stateVersion": 0, "timestamp": 0}

func (b *broker) handleDeleteGroup(c *call) answer {
	var h protocol.GroupNameRequestHeader
	if err := h.Parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	g := b.groups[h.GroupName]
	if g == nil {
		return answer{}
	}
	g.config = groupConfig{}
	clear(g.unreadable)
	name := "cleanOffset"
	if b.loop.four {
		name = "removeOffset"
	}
	if clean, _ := c.command.ExtFields.Get(name); clean == "true" {
		clear(g.offsets)
		clear(g.pulled)
		clear(g.resets)
	}
	return answer{}
}

// handleUpdateGroup takes a group's configuration; what the body leaves out goes
// back to its default.
func (b *broker) handleUpdateGroup(c *call) answer {
	d := defaultGroupConfig
	body := struct {
		GroupName                      string `json:"groupName"`
		ConsumeEnable                  *bool  `json:"consumeEnable"`
		ConsumeBroadcastEnable         *bool  `json:"consumeBroadcastEnable"`
		NotifyConsumerIDsChangedEnable *bool  `json:"notifyConsumerIdsChangedEnable"`
		RetryQueueNums                 *int32 `json:"retryQueueNums"`
		RetryMaxTimes                  *int32 `json:"retryMaxTimes"`
	}{
		ConsumeEnable: &d.consumeEnable, ConsumeBroadcastEnable: &d.broadcast, NotifyConsumerIDsChangedEnable: &d.notify,
		RetryQueueNums: &d.retryQueueNums, RetryMaxTimes: &d.retryMaxTimes,
	}
	if err := decodeJSON(c.command.Body, &body); err != nil {
		return malformed(err)
	}
	if body.GroupName == "" {
		return refuse(protocol.SystemError, "java.lang.NullPointerException")
	}
	d.retryQueueNums = min(d.retryQueueNums, maxQueues)
	b.ensureGroup(body.GroupName).config = d
	return answer{}
}

func (b *broker) handleGroupConfigs() answer {
	table, forbidden := map[string]any{}, map[string]any{}
	for name, g := range b.groups {
		if g.config.exists {
			table[name] = g.configJSON()
		}
		if len(g.unreadable) > 0 {
			topics := map[string]int{}
			for topic := range g.unreadable {
				topics[topic] = protocol.PermRead
			}
			forbidden[name] = topics
		}
	}
	body := map[string]any{"dataVersion": dataVersion, "subscriptionGroupTable": table}
	if !b.loop.four {
		body["forbiddenTable"] = forbidden
	}
	return answer{body: encodeJSON(body)}
}

// configJSON is the group's SubscriptionGroupConfig.
func (g *group) configJSON() map[string]any {
	config := map[string]any{
		"groupName": g.name, "consumeEnable": g.config.consumeEnable, "consumeBroadcastEnable": g.config.broadcast,
		"consumeFromMinEnable": true, "notifyConsumerIdsChangedEnable": g.config.notify, "brokerId": 0,
		"retryQueueNums": g.config.retryQueueNums, "retryMaxTimes": g.config.retryMaxTimes, "whichBrokerWhenConsumeSlowly": 1,
	}
	if !g.broker.loop.four {
		maps.Copy(config, map[string]any{
			"attributes": map[string]string{}, "consumeMessageOrderly": false, "consumeTimeoutMinute": 15,
			"groupRetryPolicy": map[string]string{"type": "CUSTOMIZED"}, "groupSysFlag": 0,
		})
	}
	return config
}

// handleWhoConsumes answers 300: groups that are online on the topic or have
// committed there.
func (b *broker) handleWhoConsumes(c *call) answer {
	topic, _ := c.command.ExtFields.Get("topic")
	names := []string{}
	for name, g := range b.groups {
		if g.subscriptions[topic] != nil || slices.Contains(g.committedTopics(), topic) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return answer{body: encodeJSON(map[string]any{"groupList": names})}
}

// encodeJSON is for bodies that are strict JSON.
func encodeJSON(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain maps, texts and numbers cannot fail
	}
	return body
}

func decodeJSON(body []byte, v any) error {
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("com.alibaba.fastjson.JSONException: %w", err)
	}
	return nil
}
