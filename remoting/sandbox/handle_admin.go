package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// Administration of topics, and what else a broker is asked. Both lines do the
// same, but for the requests that only 5.3 knows (343, 345, 351, 352, 353, 400 to 402) and
// 17 and 215, which refuse a bad topic name with 29 or 1.

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
	case protocol.GetBrokerConfig:
		return b.handleBrokerConfig()
	case protocol.DeleteSubscriptionGroup:
		return b.handleDeleteGroup(c)
	case protocol.UpdateAndCreateSubscriptionGroup:
		return b.handleUpdateGroup(c)
	case protocol.GetAllSubscriptionGroupConfig:
		return b.handleGroupConfigs()
	case protocol.GetConsumerConnectionList:
		return b.handleConsumerConnection(c)
	case protocol.GetProducerConnectionList:
		return b.handleProducerConnection(c)
	case protocol.GetBrokerConsumeStats:
		return b.handleBrokerConsumeStats(c)
	case protocol.QueryConsumeTimeSpan:
		return b.handleTimeSpan(c)
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
	case protocol.GetTopicConfig, protocol.GetSubscriptionGroupConfig, protocol.UpdateAndGetGroupForbidden,
		protocol.QueryTopicsByConsumer, protocol.QuerySubscriptionByConsumer,
		protocol.QueryAssignment, protocol.SetMessageRequestMode, protocol.GetAllMessageRequestMode:
		if !b.loop.four {
			return b.handleAdmin5(code, c)
		}
	}
	return notSupported(c)
}

// handleAdmin5 answers what 4.9 does not know.
func (b *broker) handleAdmin5(code protocol.RequestCode, c *call) answer {
	switch code {
	case protocol.GetTopicConfig:
		return b.handleTopicConfig(c)
	case protocol.GetSubscriptionGroupConfig:
		return b.handleGroupConfig(c)
	case protocol.UpdateAndGetGroupForbidden:
		return b.handleForbidden(c)
	case protocol.QueryTopicsByConsumer:
		return b.handleTopicsOfGroup(c)
	case protocol.QueryAssignment:
		return b.handleAssignment(c)
	case protocol.SetMessageRequestMode:
		return b.handleSetMode(c)
	case protocol.GetAllMessageRequestMode:
		return b.handleModes()
	}
	return b.handleSubscriptionOf(c)
}

func (b *broker) handleTopicConfig(c *call) answer {
	var h protocol.TopicRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	t := b.topic(h.Topic)
	if t == nil {
		return refuse(protocol.TopicNotExist, "No topic in this broker. topic: "+h.Topic)
	}
	config := b.topicConfig(t)
	return answer{body: protocol.EncodeTopicConfig(&config)}
}

func (b *broker) handleCreateTopic(c *call) answer {
	var h protocol.CreateTopicRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
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
	var attributes map[string]string
	if t != nil {
		attributes = maps.Clone(t.attributes)
	}
	if !b.loop.four {
		var err error
		if attributes, err = changeAttributes(attributes, h.Attributes); err != nil {
			return malformed(err)
		}
	}
	if t == nil {
		t = b.makeTopic(h.Topic, h.ReadQueueNums, h.Perm)
	}
	t.resize(h.ReadQueueNums, h.WriteQueueNums)
	t.perm, t.order, t.attributes = h.Perm, h.Order, attributes
	b.loop.namesrv.registered(t.name)
	return answer{}
}

// messageTypes are what the attribute message.type may be.
var messageTypes = []string{"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"}

// changeAttributes applies a list of changes, of which it knows the message type.
func changeAttributes(attributes map[string]string, changes string) (map[string]string, error) {
	for change := range strings.SplitSeq(changes, ",") {
		if change == "" {
			continue
		}
		name, value, _ := strings.Cut(change[1:], "=")
		switch {
		case change[0] != '+' && change[0] != '-':
			return nil, errors.New("java.lang.RuntimeException: add/alter attribute format is wrong: " + change)
		case name != protocol.MessageTypeAttribute:
			return nil, errors.New("java.lang.RuntimeException: unsupported key: " + name)
		case change[0] == '-':
			delete(attributes, name)
			continue
		case !slices.Contains(messageTypes, value):
			return nil, errors.New("java.lang.RuntimeException: value is not in set: " + value)
		}
		if attributes == nil {
			attributes = map[string]string{}
		}
		attributes[name] = value
	}
	return attributes, nil
}

func (b *broker) handleDeleteTopic(c *call) answer {
	var h protocol.TopicRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
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
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
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

func (b *broker) topicConfig(t *topic) protocol.TopicConfig {
	config := protocol.TopicConfig{
		TopicName: t.name, ReadQueueNums: t.read, WriteQueueNums: t.write, Perm: t.perm, Order: t.order,
	}
	if !b.loop.four {
		config.Attributes = maps.Clone(t.attributes)
		if config.Attributes == nil {
			config.Attributes = map[string]string{}
		}
	}
	return config
}

func (b *broker) handleTopicConfigs() answer {
	table := make(map[string]protocol.TopicConfig, len(b.topics))
	for name, t := range b.topics {
		table[name] = b.topicConfig(t)
	}
	return answer{body: protocol.EncodeTopicConfigs(table)}
}

func (b *broker) handleDeleteGroup(c *call) answer {
	var h protocol.GroupNameRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
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
