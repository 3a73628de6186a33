package remoting

import (
	"context"

	"eyeq/remoting/protocol"
)

// RuntimeInfo asks one broker how it is (code 28), in its own words and names.
func (c *Client) RuntimeInfo(ctx context.Context, addr string) (map[string]string, error) {
	info, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.GetBrokerRuntimeInfo, nil, nil), protocol.DecodeRuntimeInfo)
	return info, about(err, "runtime info")
}

// BrokerConfig asks one broker for its configuration (code 26).
func (c *Client) BrokerConfig(ctx context.Context, addr string) (map[string]string, error) {
	config, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.GetBrokerConfig, nil, nil),
		func(body []byte) (map[string]string, error) { return protocol.DecodeConfig(body), nil })
	return config, about(err, "configuration of the broker")
}

// TopicConfigs asks one broker for the configurations of all topics (code 21).
func (c *Client) TopicConfigs(ctx context.Context, addr string) (map[string]protocol.TopicConfig, error) {
	configs, err := ask(ctx, c, addr, max(c.callTimeout, tableLimit), newRequest(protocol.GetAllTopicConfig, nil, nil), protocol.DecodeTopicConfigs)
	return configs, about(err, "configurations of all topics")
}

// TopicConfig asks one 5.x broker for one topic's configuration (code 351).
func (c *Client) TopicConfig(ctx context.Context, addr, topic string) (protocol.TopicConfig, error) {
	h := protocol.TopicRequestHeader{Topic: topic}
	config, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.GetTopicConfig, protocol.EncodeFields(&h), nil), protocol.DecodeTopicConfig)
	return config, about(err, "configuration of topic %s", topic)
}
