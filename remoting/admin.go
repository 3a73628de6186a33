package remoting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"eyeq/remoting/protocol"
)

// ConsumeStats asks one broker for a group's offsets (code 208); topic may be empty.
func (c *Client) ConsumeStats(ctx context.Context, addr, group, topic string) (protocol.ConsumeStats, error) {
	h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: group, Topic: topic}
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.GetConsumeStats, protocol.EncodeFields(&h), nil))
	if err != nil {
		return protocol.ConsumeStats{}, fmt.Errorf("offsets of %s: %w", group, err)
	}
	stats, err := protocol.DecodeConsumeStats(answer.Body)
	if err != nil {
		return protocol.ConsumeStats{}, BadAnswer(protocol.GetConsumeStats, addr, err)
	}
	return stats, nil
}

// TopicStats asks one broker for a topic's offsets (code 202).
func (c *Client) TopicStats(ctx context.Context, addr, topic string) (protocol.TopicStats, error) {
	h := protocol.TopicRequestHeader{Topic: topic}
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.GetTopicStatsInfo, protocol.EncodeFields(&h), nil))
	if err != nil {
		return nil, fmt.Errorf("offsets of topic %s: %w", topic, err)
	}
	stats, err := protocol.DecodeTopicStats(answer.Body)
	if err != nil {
		return nil, BadAnswer(protocol.GetTopicStatsInfo, addr, err)
	}
	return stats, nil
}

// ClusterInfo asks a name server for all brokers (code 106). What is no name server is
// a *NotNamesrvError.
func (c *Client) ClusterInfo(ctx context.Context) (protocol.ClusterInfo, error) {
	answer, err := c.InvokeNamesrv(ctx, newRequest(protocol.GetBrokerClusterInfo, nil, nil))
	if err != nil {
		return protocol.ClusterInfo{}, fmt.Errorf("cluster info: %w", c.orNotNamesrv(ctx, err))
	}
	info, err := protocol.DecodeClusterInfo(answer.Body)
	if err != nil {
		return protocol.ClusterInfo{}, fmt.Errorf("cluster info: %w", err)
	}
	return info, nil
}

// anyTopic is one that every broker has.
const anyTopic = "TBW102"

// orNotNamesrv tells the answer of what is no name server apart from other errors of
// code 106. A broker does not know the question for a route either.
func (c *Client) orNotNamesrv(ctx context.Context, err error) error {
	unknown := func(err error) (*CodeError, bool) {
		ce, ok := errors.AsType[*CodeError](err)
		return ce, ok && ce.Code == protocol.RequestCodeNotSupported
	}
	ce, ok := unknown(err)
	if !ok {
		return err
	}
	_, routeErr := c.RouteFrom(ctx, ce.Addr, anyTopic)
	if _, answered := errors.AsType[*CodeError](routeErr); routeErr != nil && !answered {
		return err
	}
	_, broker := unknown(routeErr)
	return &NotNamesrvError{Addr: ce.Addr, Proxy: !broker, Err: err}
}

// CreateTopic makes or changes a topic on one master.
func (c *Client) CreateTopic(ctx context.Context, addr string, h *protocol.CreateTopicRequestHeader) error {
	if _, err := c.Invoke(ctx, addr, newRequest(protocol.UpdateAndCreateTopic, protocol.EncodeFields(h), nil)); err != nil {
		return fmt.Errorf("create topic %s: %w", h.Topic, err)
	}
	return nil
}

// DeleteTopic deletes a topic on every master of cluster info, and then on the name
// servers. A broker that fails does not spare the others, and the error names all
// that did; but then the name servers are left alone. They check no rights, and
// those of 4.x announce what they were told to forget only when a broker's
// configuration changes, so that a deletion that the brokers refused would still
// take the topic away from everybody.
func (c *Client) DeleteTopic(ctx context.Context, topic string) error {
	info, err := c.ClusterInfo(ctx)
	if err != nil {
		return fmt.Errorf("delete topic %s: %w", topic, err)
	}
	h := protocol.TopicRequestHeader{Topic: topic}
	var failed reasons
	// The brokers first: one that still has the topic would announce it again.
	for _, name := range slices.Sorted(maps.Keys(info.BrokerAddrTable)) {
		addr := info.BrokerAddrTable[name].BrokerAddrs[MasterID]
		if addr == "" {
			failed = append(failed, &NoBrokerError{BrokerName: name})
			continue
		}
		if _, err := c.Invoke(ctx, addr, newRequest(protocol.DeleteTopicInBroker, protocol.EncodeFields(&h), nil)); err != nil {
			failed = append(failed, err)
		}
	}
	if failed != nil {
		return fmt.Errorf("delete topic %s (the name servers still announce it): %w", topic, failed)
	}
	for _, addr := range c.namesrv {
		if _, err := c.Invoke(ctx, addr, newRequest(protocol.DeleteTopicInNamesrv, protocol.EncodeFields(&h), nil)); err != nil {
			failed = append(failed, err)
		}
	}
	if failed != nil {
		return fmt.Errorf("delete topic %s: %w", topic, failed)
	}
	return nil
}

// DeleteGroup deletes a group's configuration and offsets on one broker.
func (c *Client) DeleteGroup(ctx context.Context, addr, group string) error {
	h := protocol.GroupNameRequestHeader{GroupName: group}
	if _, err := c.Invoke(ctx, addr, newRequest(protocol.DeleteSubscriptionGroup, protocol.EncodeFields(&h), nil)); err != nil {
		return fmt.Errorf("delete group %s: %w", group, err)
	}
	return nil
}
