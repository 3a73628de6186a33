package remoting

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// RouteMaxAge is how old a cached route may be (Java: pollNameServerInterval).
const RouteMaxAge = 30 * time.Second

// maxRouteQueues bounds the queues of one topic: their numbers come from the
// wire and each queue is allocated.
const maxRouteQueues = 1 << 16

// TopicRoute is where a topic lives. It is immutable and shared.
type TopicRoute struct {
	Topic   string
	Data    protocol.TopicRouteData // brokers and queues sorted by broker name
	Fetched time.Time
	// Queues are those with read permission, sorted by CompareMessageQueues; none of a
	// static topic (Data.Static), whose queues this client does not follow.
	Queues []protocol.MessageQueue
	// PublishQueues are those with write permission and a live master, or what an
	// order configuration names instead, sorted.
	PublishQueues []protocol.MessageQueue
}

// newTopicRoute takes over data and sorts it.
func newTopicRoute(topic string, data protocol.TopicRouteData, fetched time.Time) (*TopicRoute, error) {
	slices.SortFunc(data.BrokerDatas, func(a, b protocol.BrokerData) int {
		return protocol.CompareUTF16(a.BrokerName, b.BrokerName)
	})
	slices.SortFunc(data.QueueDatas, func(a, b protocol.QueueData) int {
		return protocol.CompareUTF16(a.BrokerName, b.BrokerName)
	})
	r := &TopicRoute{Topic: topic, Data: data, Fetched: fetched}
	if data.Static() {
		return r, nil
	}
	var err error
	for _, q := range data.QueueDatas {
		if q.Perm&protocol.PermRead != 0 {
			r.Queues, err = appendQueues(r.Queues, topic, q.BrokerName, q.ReadQueueNums)
		}
		if err == nil && q.Perm&protocol.PermWrite != 0 && r.hasMaster(q.BrokerName) {
			r.PublishQueues, err = appendQueues(r.PublishQueues, topic, q.BrokerName, q.WriteQueueNums)
		}
		if err != nil {
			return nil, err
		}
	}
	if data.OrderTopicConf != "" {
		if r.PublishQueues, err = orderedQueues(topic, data.OrderTopicConf); err != nil {
			return nil, err
		}
	}
	r.Queues = sortedSet(r.Queues)
	r.PublishQueues = sortedSet(r.PublishQueues)
	return r, nil
}

// StaticWhy says why a static topic has no queues here; "" for any other topic.
func (r *TopicRoute) StaticWhy() string {
	if !r.Data.Static() {
		return ""
	}
	return r.Topic + " is a static topic: its queues are spread over brokers by a mapping that eyeq does not follow"
}

// ClosedWhy says why no queue of a topic that has some may be read: neither its own
// permission nor its brokers', of which a route tells the common part, lets anybody. ""
// when some may be, or it has none.
func (r *TopicRoute) ClosedWhy() string {
	var names []string
	for _, q := range r.Data.QueueDatas {
		if q.Perm&protocol.PermRead != 0 || r.Data.Static() {
			return ""
		}
		names = append(names, q.BrokerName)
	}
	if len(names) == 0 {
		return ""
	}
	return "pulls are forbidden on " + strings.Join(names, ", ") + ", by the permission of the topic or of the broker"
}

// orderedQueues reads an order configuration, broker:number;broker:number.
func orderedQueues(topic, conf string) (queues []protocol.MessageQueue, err error) {
	for part := range strings.SplitSeq(conf, ";") {
		name, number, _ := strings.Cut(part, ":")
		n, err := strconv.ParseInt(number, 10, 32)
		if err == nil {
			queues, err = appendQueues(queues, topic, name, int32(n))
		}
		if err != nil {
			return nil, fmt.Errorf("route of %s: order configuration %q: %w", topic, conf, err)
		}
	}
	return queues, nil
}

func appendQueues(queues []protocol.MessageQueue, topic, brokerName string, n int32) ([]protocol.MessageQueue, error) {
	if n < 0 || len(queues)+int(n) > maxRouteQueues {
		return nil, fmt.Errorf("route of %s: %d queues on %s, more than %d in all", topic, n, brokerName, maxRouteQueues)
	}
	queues = slices.Grow(queues, int(n))
	for id := range n {
		queues = append(queues, protocol.MessageQueue{Topic: topic, BrokerName: brokerName, QueueID: id})
	}
	return queues, nil
}

// sortedSet drops what is there twice: Java keeps the queues in a set.
func sortedSet(queues []protocol.MessageQueue) []protocol.MessageQueue {
	slices.SortFunc(queues, protocol.CompareMessageQueues)
	return slices.Compact(queues)
}

func (r *TopicRoute) hasMaster(brokerName string) bool {
	return slices.ContainsFunc(r.Data.BrokerDatas, func(b protocol.BrokerData) bool {
		return b.BrokerName == brokerName && b.BrokerAddrs[MasterID] != ""
	})
}

// differs reports whether queues or broker addresses do; order has no say, since
// both are sorted.
func (r *TopicRoute) differs(old *TopicRoute) bool {
	return old == nil || !slices.Equal(r.Queues, old.Queues) || !slices.Equal(r.PublishQueues, old.PublishQueues) ||
		!slices.EqualFunc(r.Data.BrokerDatas, old.Data.BrokerDatas, func(a, b protocol.BrokerData) bool {
			return a.Cluster == b.Cluster && a.BrokerName == b.BrokerName && maps.Equal(a.BrokerAddrs, b.BrokerAddrs)
		})
}

// Route returns the topic's route, at most RouteMaxAge old. A topic that no name
// server knows is a *NoRouteError. When the name servers cannot be reached but
// an older route is known, that is returned together with the error. A route that
// nobody has asked for within RouteKept is forgotten when another one comes, and the
// addresses of brokers with it that no other known route names.
func (c *Client) Route(ctx context.Context, topic string) (*TopicRoute, error) {
	if r := c.routes.get(topic); r != nil && time.Since(r.Fetched) <= RouteMaxAge {
		return r, nil
	}
	r, _, err := c.RefreshRoute(ctx, topic)
	return r, err
}

// RefreshRoute asks the name servers now; changed reports whether queues or
// broker addresses differ from what was cached. Concurrent callers for the same
// topic share one request and its result. With an error it returns what Route
// does.
func (c *Client) RefreshRoute(ctx context.Context, topic string) (route *TopicRoute, changed bool, err error) {
	// The request serves all who come meanwhile, so it does not end with the
	// first of them: the time a name server may take bounds it.
	shared := context.WithoutCancel(ctx)
	f, err := c.routes.fly(topic, func() (*TopicRoute, error) { return c.fetchRoute(shared, topic) })
	if err != nil {
		return c.routes.get(topic), false, fmt.Errorf("route of %s: %w", topic, err)
	}
	select {
	case <-f.done:
		return f.route, f.changed, f.err
	case <-ctx.Done():
		return c.routes.get(topic), false, fmt.Errorf("route of %s: %w", topic, ctxError(ctx))
	}
}

func (c *Client) fetchRoute(ctx context.Context, topic string) (*TopicRoute, error) {
	h := protocol.TopicRequestHeader{Topic: topic}
	fields := append(protocol.EncodeFields(&h), protocol.ExtField{Key: "acceptStandardJsonOnly", Value: "true"})
	answer, err := c.askRoute(ctx, newRequest(protocol.GetRouteInfoByTopic, fields, nil), c.routes.get(topic) != nil)
	if isTopicNotExist(err) {
		return nil, &NoRouteError{Topic: topic}
	}
	if err != nil {
		return nil, fmt.Errorf("route of %s: %w", topic, err)
	}
	data, err := protocol.DecodeTopicRouteData(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("route of %s: %w", topic, err)
	}
	return newTopicRoute(topic, data, time.Now())
}

// MasterID is the broker id of a master.
const MasterID = 0

// BrokerAddr returns the address of exactly this broker id, from the routes
// known so far.
func (c *Client) BrokerAddr(brokerName string, brokerID int64) (addr string, ok bool) {
	addr = c.routes.addrs(brokerName)[brokerID]
	return addr, addr != ""
}

// BrokerAddrs are the addresses of a broker name by broker id, from the routes
// known so far.
func (c *Client) BrokerAddrs(brokerName string) map[int64]string {
	return maps.Clone(c.routes.addrs(brokerName))
}

// PullAddr chooses where to pull from: the suggested id, else the next one, else
// any (docs/conformance/client.md 4.5).
func (c *Client) PullAddr(brokerName string, suggested int64) (addr string, brokerID int64, ok bool) {
	return pullAddr(c.routes.addrs(brokerName), suggested)
}

// pullAddr takes the lowest id where the Java client takes any: the master, when there is one.
func pullAddr(addrs map[int64]string, suggested int64) (addr string, brokerID int64, ok bool) {
	if addr := addrs[suggested]; addr != "" {
		return addr, suggested, true
	}
	if addr := addrs[suggested+1]; suggested != MasterID && addr != "" {
		return addr, suggested + 1, true
	}
	for _, id := range slices.Sorted(maps.Keys(addrs)) {
		if addrs[id] != "" {
			return addrs[id], id, true
		}
	}
	return "", 0, false
}

// Brokers returns every broker address that occurs in a known route.
func (c *Client) Brokers() map[string]map[int64]string {
	all := c.routes.allAddrs()
	for name, addrs := range all {
		all[name] = maps.Clone(addrs)
	}
	return all
}

// MasterOf returns the master of mq's broker, refreshing the route of mq's topic
// when it is unknown. *NoBrokerError when there is none.
func (c *Client) MasterOf(ctx context.Context, mq protocol.MessageQueue) (string, error) {
	if addr, ok := c.BrokerAddr(mq.BrokerName, MasterID); ok {
		return addr, nil
	}
	if _, _, err := c.RefreshRoute(ctx, mq.Topic); err != nil {
		return "", fmt.Errorf("master of %s: %w", mq.BrokerName, err)
	}
	if addr, ok := c.BrokerAddr(mq.BrokerName, MasterID); ok {
		return addr, nil
	}
	_, slaves := c.replicaOf(mq.BrokerName)
	return "", &NoBrokerError{BrokerName: mq.BrokerName, Master: slaves}
}

// replicaOf is the slave with the lowest id of a broker name.
func (c *Client) replicaOf(brokerName string) (addr string, ok bool) {
	addr, _, ok = pullAddr(c.routes.addrs(brokerName), MasterID)
	return addr, ok
}

// vip is the address of a broker's other listener, when VIPChannel wants it: it
// serves neither pulls nor heartbeats, so they cannot keep other requests waiting.
func (c *Client) vip(addr string) string {
	if !c.vipChannel {
		return addr
	}
	host, port, err := net.SplitHostPort(addr)
	n, perr := strconv.Atoi(port)
	if err != nil || perr != nil || n <= 2 {
		return addr
	}
	return net.JoinHostPort(host, strconv.Itoa(n-2))
}
