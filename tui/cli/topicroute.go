package cli

import (
	"context"
	"fmt"
	"strings"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// followed refuses a topic whose queues are not those of its route.
func followed(route *remoting.TopicRoute) error {
	if why := route.StaticWhy(); why != "" {
		return &refusedError{why}
	}
	return nil
}

// noTopic says that no name server knows a topic. Those of dead letters and of retries
// are made when they are needed: that one is missing is no fault.
func noTopic(topic string) *notFoundError {
	if group, ok := strings.CutPrefix(topic, protocol.DLQTopicPrefix); ok {
		return &notFoundError{What: fmt.Sprintf("there are no dead letters of group %s: its brokers make %s with the first one", group, topic), kind: "group", name: group}
	}
	if group, ok := strings.CutPrefix(topic, protocol.RetryTopicPrefix); ok {
		return &notFoundError{What: fmt.Sprintf("there are no retries of group %s: its brokers make %s when a first member joins", group, topic), kind: "group", name: group}
	}
	if inspect.IsLight(topic) {
		return &notFoundError{What: fmt.Sprintf("no name server knows a route to %s: light queues have none, 'message get' reads one by --queue and --offset", topic)}
	}
	return &notFoundError{What: fmt.Sprintf("topic %s does not exist: no name server knows it", topic), kind: "topic", name: topic}
}

// topicRoute asks for a topic that must exist, and whose queues are those of its route.
func (e *env) topicRoute(ctx context.Context, client *remoting.Client, topic string) (*remoting.TopicRoute, error) {
	ctx, cancel := context.WithTimeout(ctx, e.flags.timeout)
	defer cancel()
	route, _, err := client.RefreshRoute(ctx, topic)
	if isType[*remoting.NoRouteError](err) {
		return nil, noTopic(topic)
	}
	if err != nil {
		addrs, _ := client.Namesrv()
		return nil, firstContact(err, nil, addrs, e.flags.timeout)
	}
	return route, followed(route)
}
