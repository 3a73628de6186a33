package remoting

import (
	"context"

	"eyeq/remoting/protocol"
)

// GroupConfigs asks one broker for the configurations of all groups (code 201).
func (c *Client) GroupConfigs(ctx context.Context, addr string) (protocol.GroupConfigs, error) {
	configs, err := ask(ctx, c, addr, max(c.callTimeout, tableLimit), newRequest(protocol.GetAllSubscriptionGroupConfig, nil, nil), protocol.DecodeGroupConfigs)
	return configs, about(err, "configurations of all groups")
}

// GroupConfig asks one 5.x broker for one group's configuration (code 352). A broker
// that makes groups by itself makes this one when it does not know it: GroupConfigs
// asks without leaving anything behind.
func (c *Client) GroupConfig(ctx context.Context, addr, group string) (protocol.GroupConfig, error) {
	h := protocol.GroupRequestHeader{Group: group}
	config, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.GetSubscriptionGroupConfig, protocol.EncodeFields(&h), nil),
		func(body []byte) (protocol.GroupConfig, error) { return protocol.ParseGroupConfig(string(body)) })
	return config, about(err, "configuration of %s", group)
}

// UpdateGroupConfig writes a group's configuration to one master (code 200). Members
// that it lacks go back to their defaults, so it begins with what was read there.
func (c *Client) UpdateGroupConfig(ctx context.Context, addr string, config protocol.GroupConfig) error {
	_, err := c.Invoke(ctx, addr, newRequest(protocol.UpdateAndCreateSubscriptionGroup, nil, []byte(config.Update())))
	return about(err, "configuration of %s", config.GroupName())
}

// ForbidTopic says whether a group may pull a topic by its members' subscription
// (code 353, 5.x), and returns what the broker says then.
func (c *Client) ForbidTopic(ctx context.Context, addr, group, topic string, forbid bool) (forbidden bool, err error) {
	readable := !forbid
	h := protocol.GroupForbiddenRequestHeader{Group: group, Topic: topic, Readable: &readable}
	state, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.UpdateAndGetGroupForbidden, protocol.EncodeFields(&h), nil), protocol.DecodeGroupForbidden)
	if err != nil {
		return false, about(err, "whether %s may read %s", group, topic)
	}
	return !state.Readable, nil
}

// GroupsOfTopic asks one broker who consumes a topic (code 300): groups that are
// online there or have committed offsets. A 5.3 broker names the topic itself instead
// of a group that is online and has committed nothing.
func (c *Client) GroupsOfTopic(ctx context.Context, addr, topic string) ([]string, error) {
	h := protocol.TopicRequestHeader{Topic: topic}
	groups, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.QueryTopicConsumeByWho, protocol.EncodeFields(&h), nil), protocol.DecodeGroupList)
	return groups, about(err, "groups of topic %s", topic)
}

// TopicsOfGroup asks one 5.x broker for the topics that a group has committed
// offsets of (code 343).
func (c *Client) TopicsOfGroup(ctx context.Context, addr, group string) ([]string, error) {
	h := protocol.GroupRequestHeader{Group: group}
	topics, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.QueryTopicsByConsumer, protocol.EncodeFields(&h), nil), protocol.DecodeTopicList)
	return topics, about(err, "topics of %s", group)
}

// SubscriptionOf asks one 5.x broker what a group's members subscribe to of a topic
// (code 345); nil is nothing, as of a group that is offline.
func (c *Client) SubscriptionOf(ctx context.Context, addr, group, topic string) (*protocol.SubscriptionData, error) {
	h := protocol.GroupRequestHeader{Group: group, Topic: topic}
	s, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.QuerySubscriptionByConsumer, protocol.EncodeFields(&h), nil), protocol.DecodeSubscriptionOfGroup)
	return s.Subscription, about(err, "subscription of %s to %s", group, topic)
}
