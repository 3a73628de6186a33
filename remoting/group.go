package remoting

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// Heartbeat announces a client to one broker address and returns the version
// that the broker's answer carries.
func (c *Client) Heartbeat(ctx context.Context, addr string, data *protocol.HeartbeatData) (version int32, err error) {
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.HeartBeat, nil, protocol.EncodeHeartbeatData(data)))
	if err != nil {
		return 0, fmt.Errorf("heartbeat of %s: %w", data.ClientID, err)
	}
	return answer.Version, nil
}

// CheckClientConfig asks one broker whether it takes a member's subscription: it
// refuses an SQL92 expression that does not compile (code 23), and any while its
// property filter is off (1).
func (c *Client) CheckClientConfig(ctx context.Context, addr, clientID, group string, s protocol.SubscriptionData) error {
	if _, err := c.Invoke(ctx, addr, newRequest(protocol.CheckClientConfig, nil, protocol.EncodeCheckClient(clientID, group, s))); err != nil {
		return fmt.Errorf("check the subscription of %s: %w", s.Topic, err)
	}
	return nil
}

// Unregister takes a client out of a group at one address.
func (c *Client) Unregister(ctx context.Context, addr string, h protocol.UnregisterClientRequestHeader) error {
	if _, err := c.Invoke(ctx, addr, newRequest(protocol.UnregisterClient, protocol.EncodeFields(&h), nil)); err != nil {
		return fmt.Errorf("unregister %s: %w", h.ClientID, err)
	}
	return nil
}

// ConsumerIDs asks a broker of the topic for the members of a group and says
// which address answered. A group without members is an empty list, no error.
// Several brokers are tried until one answers.
func (c *Client) ConsumerIDs(ctx context.Context, topic, group string) (ids []string, addr string, err error) {
	route, err := c.Route(ctx, topic)
	if route == nil {
		return nil, "", fmt.Errorf("members of %s: %w", group, err)
	}
	addrs := memberAddrs(route)
	if len(addrs) == 0 {
		return nil, "", fmt.Errorf("members of %s: the route of %s names no broker", group, topic)
	}
	// Those that cannot be reached come last: each would cost its time to fail.
	slices.SortStableFunc(addrs, func(a, b string) int { return rank(c.conns.failing(a)) - rank(c.conns.failing(b)) })
	ids, addr, failed := firstAnswer(ctx, addrs, func(ctx context.Context, addr string) ([]string, error) {
		return c.consumerIDs(ctx, addr, group)
	})
	if failed != nil {
		return nil, "", fmt.Errorf("members of %s: %w", group, failed)
	}
	return ids, addr, nil
}

func rank(last bool) int {
	if last {
		return 1
	}
	return 0
}

// memberAddrs is every address of a route, the masters first, both in random
// order: members report to all of them, so none shall get all the questions.
func memberAddrs(route *TopicRoute) []string {
	var masters, replicas []string
	for _, b := range route.Data.BrokerDatas {
		for _, id := range slices.Sorted(maps.Keys(b.BrokerAddrs)) {
			switch addr := b.BrokerAddrs[id]; {
			case addr == "":
			case id == MasterID:
				masters = append(masters, addr)
			default:
				replicas = append(replicas, addr)
			}
		}
	}
	for _, addrs := range [][]string{masters, replicas} {
		rand.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	}
	return append(masters, replicas...)
}

// noConsumer begins the remark by which brokers say that a group has no member:
// the code that goes with it, 1, stands for every other failure too.
const noConsumer = "no consumer for this group"

func (c *Client) consumerIDs(ctx context.Context, addr, group string) ([]string, error) {
	h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: group}
	answer, err := c.Invoke(ctx, c.vip(addr), newRequest(protocol.GetConsumerListByGroup, protocol.EncodeFields(&h), nil))
	if ce, ok := errors.AsType[*CodeError](err); ok && ce.Code == protocol.SystemError && strings.Contains(ce.Remark, noConsumer) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(answer.Body) == 0 {
		return nil, nil
	}
	ids, err := protocol.DecodeConsumerIDList(answer.Body)
	if err != nil {
		return nil, c.badAnswer(protocol.GetConsumerListByGroup, addr, err)
	}
	return ids, nil
}

// LockBatch asks the master of a broker name for queue locks and returns those granted.
func (c *Client) LockBatch(ctx context.Context, brokerName string, body *protocol.LockBatchBody) ([]protocol.MessageQueue, error) {
	addr, answer, err := c.askLock(ctx, protocol.LockBatchMQ, brokerName, body)
	if err != nil {
		return nil, fmt.Errorf("lock %d queues of %s on %s: %w", len(body.MQSet), body.ConsumerGroup, brokerName, err)
	}
	granted, err := protocol.DecodeLockOK(answer.Body)
	if err != nil {
		return nil, c.badAnswer(protocol.LockBatchMQ, addr, err)
	}
	return granted, nil
}

// UnlockBatch gives locks back and waits for the answer.
func (c *Client) UnlockBatch(ctx context.Context, brokerName string, body *protocol.LockBatchBody) error {
	if _, _, err := c.askLock(ctx, protocol.UnlockBatchMQ, brokerName, body); err != nil {
		return fmt.Errorf("unlock %d queues of %s on %s: %w", len(body.MQSet), body.ConsumerGroup, brokerName, err)
	}
	return nil
}

func (c *Client) askLock(ctx context.Context, code protocol.RequestCode, brokerName string, body *protocol.LockBatchBody) (addr string, answer protocol.Command, err error) {
	var topics []string
	for _, mq := range body.MQSet {
		topics = append(topics, mq.Topic)
	}
	addr, err = c.masterBy(ctx, brokerName, topics...)
	if err != nil {
		return "", protocol.Command{}, err
	}
	addr = c.vip(addr)
	answer, err = c.Invoke(ctx, addr, newRequest(code, nil, protocol.EncodeLockBatch(body)))
	return addr, answer, err
}

// SendBack asks the broker that holds a message to deliver it again later (code 36).
func (c *Client) SendBack(ctx context.Context, brokerName string, h *protocol.ConsumerSendMsgBackRequestHeader) error {
	addr, err := c.masterBy(ctx, brokerName, h.OriginTopic, protocol.RetryTopic(h.Group))
	if err == nil {
		_, err = c.Invoke(ctx, c.vip(addr), newRequest(protocol.ConsumerSendMsgBack, protocol.EncodeFields(h), nil))
	}
	if err != nil {
		return fmt.Errorf("send back the message at %d of %s for %s: %w", h.Offset, brokerName, h.Group, err)
	}
	return nil
}

// masterBy returns the master of a broker name; when it is unknown, the routes
// of the topics are refreshed, one after another, until one names it.
func (c *Client) masterBy(ctx context.Context, brokerName string, topics ...string) (string, error) {
	addr, ok := c.BrokerAddr(brokerName, MasterID)
	if ok {
		return addr, nil
	}
	none := &NoBrokerError{BrokerName: brokerName}
	err := error(none)
	for _, topic := range slices.Compact(topics) {
		if topic == "" {
			continue
		}
		addr, err = c.MasterOf(ctx, protocol.MessageQueue{Topic: topic, BrokerName: brokerName})
		if err == nil || ctx.Err() != nil {
			return addr, err
		}
	}
	if _, none.Master = c.replicaOf(brokerName); none.Master {
		return "", none // says more than that the last topic has no route
	}
	return "", err
}
