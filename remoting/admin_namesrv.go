package remoting

import (
	"context"

	"eyeq/remoting/protocol"
)

// TopicNames asks the name servers for the names of all topics (code 206).
func (c *Client) TopicNames(ctx context.Context) ([]string, error) {
	answer, addr, err := c.askAnyNamesrv(ctx, newRequest(protocol.GetAllTopicListFromNamesrv, nil, nil))
	if err != nil {
		return nil, about(err, "topic names")
	}
	return topicNames(answer, protocol.GetAllTopicListFromNamesrv, addr)
}

// TopicNamesOf asks for the names of the topics that a cluster's brokers have (code 224).
func (c *Client) TopicNamesOf(ctx context.Context, cluster string) ([]string, error) {
	h := protocol.ClusterRequestHeader{Cluster: cluster}
	answer, addr, err := c.askAnyNamesrv(ctx, newRequest(protocol.GetTopicsByCluster, protocol.EncodeFields(&h), nil))
	if err != nil {
		return nil, about(err, "topic names of cluster %s", cluster)
	}
	return topicNames(answer, protocol.GetTopicsByCluster, addr)
}

func topicNames(answer protocol.Command, code protocol.RequestCode, addr string) ([]string, error) {
	names, err := protocol.DecodeTopicList(answer.Body)
	if err != nil {
		return nil, BadAnswer(code, addr, err)
	}
	return names, nil
}

// ClusterInfoFrom asks this one name server for all brokers (code 106): another may
// say otherwise. It need not be one of the client's own. What is no name server is a
// *NotNamesrvError.
func (c *Client) ClusterInfoFrom(ctx context.Context, namesrv string) (protocol.ClusterInfo, error) {
	answer, err := c.tryNamesrv(ctx, namesrv, newRequest(protocol.GetBrokerClusterInfo, nil, nil))
	if err != nil {
		return protocol.ClusterInfo{}, about(c.orNotNamesrv(ctx, err), "cluster info from %s", namesrv)
	}
	info, err := protocol.DecodeClusterInfo(answer.Body)
	if err != nil {
		return protocol.ClusterInfo{}, BadAnswer(protocol.GetBrokerClusterInfo, namesrv, err)
	}
	return info, nil
}

// TopicNamesFrom is TopicNames of this one name server.
func (c *Client) TopicNamesFrom(ctx context.Context, namesrv string) ([]string, error) {
	answer, err := c.tryNamesrv(ctx, namesrv, newRequest(protocol.GetAllTopicListFromNamesrv, nil, nil))
	if err != nil {
		return nil, about(err, "topic names from %s", namesrv)
	}
	return topicNames(answer, protocol.GetAllTopicListFromNamesrv, namesrv)
}

// RouteFrom asks this one name server for a topic's route (code 105) and leaves the
// client's own table of routes as it is. It does not know the topic: a *CodeError
// with TopicNotExist.
func (c *Client) RouteFrom(ctx context.Context, namesrv, topic string) (protocol.TopicRouteData, error) {
	h := protocol.TopicRequestHeader{Topic: topic}
	answer, err := c.tryNamesrv(ctx, namesrv, newRequest(protocol.GetRouteInfoByTopic, protocol.EncodeFields(&h), nil))
	if err != nil {
		return protocol.TopicRouteData{}, about(err, "route of %s from %s", topic, namesrv)
	}
	data, err := protocol.DecodeTopicRouteData(answer.Body)
	if err != nil {
		return protocol.TopicRouteData{}, BadAnswer(protocol.GetRouteInfoByTopic, namesrv, err)
	}
	return data, nil
}
