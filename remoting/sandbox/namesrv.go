package sandbox

import (
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// namesrv answers from what the brokers have: in one process nothing needs to be
// registered. A broker that is stopped is in no route, as when its connection to
// the name server breaks.
type namesrv struct {
	loop   *loop
	memory string
	tcp    string // once it listens there
	// hidden are topics that were deleted here although a broker has them; they
	// come back when the broker registers the next time.
	hidden map[string]time.Time
}

// registerPeriod is how often a broker registers its topics.
const registerPeriod = 30 * time.Second

func (n *namesrv) addr() string {
	if n.tcp != "" {
		return n.tcp
	}
	return n.memory
}

// registered notes that a broker has told of a topic.
func (n *namesrv) registered(topic string) { delete(n.hidden, topic) }

// handle answers one request. Lines differ: 5.3 refuses an unknown code, 4.9
// does not answer it at all.
func (n *namesrv) handle(c *call) answer {
	switch protocol.RequestCode(c.command.Code) {
	case protocol.GetRouteInfoByTopic:
		return n.handleRoute(c)
	case protocol.GetBrokerClusterInfo:
		return n.handleClusterInfo()
	case protocol.DeleteTopicInNamesrv:
		return n.handleDeleteTopic(c)
	case protocol.GetAllTopicListFromNamesrv, protocol.GetTopicsByCluster:
		return answer{body: encodeJSON(map[string]any{"topicList": n.topics()})}
	}
	if n.loop.four {
		return later
	}
	return notSupported(c)
}

// handleRoute answers 105: in strict JSON for those who ask for it or are at
// least 4.9.4, else with bare integer keys.
func (n *namesrv) handleRoute(c *call) answer {
	var h protocol.TopicRequestHeader
	_ = protocol.DecodeFields(c.command.ExtFields, &h) // without a topic it is the topic "", which nobody has
	data := n.route(h.Topic)
	if len(data.QueueDatas) == 0 {
		return refuse(protocol.TopicNotExist, "No topic route info in name server for the topic: "+h.Topic)
	}
	const version494 = 401
	asked, _ := c.command.ExtFields.Get("acceptStandardJsonOnly")
	return answer{body: protocol.EncodeTopicRouteData(&data, asked == "true" || c.command.Version >= version494)}
}

func (n *namesrv) route(topic string) protocol.TopicRouteData {
	var data protocol.TopicRouteData
	if n.hides(topic) {
		return data
	}
	for _, b := range n.loop.brokers {
		if b.master != nil {
			continue
		}
		if !b.up && b.slave != nil { // what is left is readable
			b = b.slave
		}
		t := b.topic(topic)
		if t == nil || !b.up {
			continue
		}
		data.BrokerDatas = append(data.BrokerDatas, b.data())
		data.QueueDatas = append(data.QueueDatas, protocol.QueueData{
			BrokerName: b.name, ReadQueueNums: t.read, WriteQueueNums: t.write, Perm: b.announced(t.perm),
		})
	}
	return data
}

// announced is a topic's permission as brokers register it: what they forbid themselves
// no topic permits.
func (b *broker) announced(perm int32) int32 {
	if own := b.loop.options.Permission; own&protocol.PermRead == 0 || own&protocol.PermWrite == 0 {
		return perm & own
	}
	return perm
}

// data is what is up of a broker name.
func (b *broker) data() protocol.BrokerData {
	addrs := map[int64]string{}
	for _, one := range []*broker{b, b.master, b.slave} {
		if one != nil && one.up {
			addrs[one.id] = one.addr()
		}
	}
	return protocol.BrokerData{Cluster: clusterName, BrokerName: b.name, BrokerAddrs: addrs}
}

func (n *namesrv) handleClusterInfo() answer {
	info := protocol.ClusterInfo{BrokerAddrTable: map[string]protocol.BrokerData{}, ClusterAddrTable: map[string][]string{}}
	for _, b := range n.loop.brokers {
		if b.up {
			if _, known := info.BrokerAddrTable[b.name]; !known {
				info.ClusterAddrTable[clusterName] = append(info.ClusterAddrTable[clusterName], b.name)
			}
			info.BrokerAddrTable[b.name] = b.data()
		}
	}
	return answer{body: protocol.EncodeClusterInfo(&info)}
}

// handleDeleteTopic hides a topic. It is gone for good only when the brokers
// have been asked to delete it before.
func (n *namesrv) handleDeleteTopic(c *call) answer {
	var h protocol.TopicRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	for _, b := range n.loop.brokers {
		if t := b.topic(h.Topic); t != nil {
			n.hidden[t.name] = n.loop.now.Add(registerPeriod)
		}
	}
	return answer{}
}

func (n *namesrv) hides(topic string) bool {
	until, ok := n.hidden[topic]
	return ok && n.loop.now.Before(until)
}

// topics are those of brokers that are up, sorted.
func (n *namesrv) topics() []string {
	names := []string{}
	for _, b := range n.loop.brokers {
		if !b.up {
			continue
		}
		for name := range b.topics {
			if !n.hides(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
