package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// TopicRouteData says where a topic lives (answer to 105).
type TopicRouteData struct {
	OrderTopicConf string       `json:"orderTopicConf,omitempty"`
	BrokerDatas    []BrokerData `json:"brokerDatas"`
	QueueDatas     []QueueData  `json:"queueDatas"`
	// Mapping tells, by broker name, of the queues of a static topic (5.x); empty for
	// any other topic.
	Mapping map[string]QueueMapping `json:"topicQueueMappingByBroker,omitempty"`
}

// Static reports whether the topic is a static one: its clients see queues that are
// chained together of queues of several brokers, whose offsets differ from those of the
// queues in QueueDatas.
func (d *TopicRouteData) Static() bool { return len(d.Mapping) > 0 }

// QueueMapping is a broker's part of a static topic.
type QueueMapping struct {
	TotalQueues int32           `json:"totalQueues"` // that clients see
	Epoch       int64           `json:"epoch"`
	Leads       map[int32]int32 `json:"currIdMap"` // the broker's own queue by the queue that clients see
}

// BrokerData is one broker name with the addresses of its members: 0 is the master.
type BrokerData struct {
	Cluster     string           `json:"cluster"`
	BrokerName  string           `json:"brokerName"`
	BrokerAddrs map[int64]string `json:"brokerAddrs"`
}

// QueueData says how many queues of a topic a broker name has.
type QueueData struct {
	BrokerName     string `json:"brokerName"`
	ReadQueueNums  int32  `json:"readQueueNums"`
	WriteQueueNums int32  `json:"writeQueueNums"`
	Perm           int32  `json:"perm"`
	TopicSysFlag   int32  `json:"topicSysFlag"`
}

// Bits of QueueData.Perm.
const (
	PermWrite = 1 << 1
	PermRead  = 1 << 2
)

// EncodeTopicRouteData writes the answer to 105. The strict form, which a client
// of version V4_9_4 on or one that asks for it gets, is JSON in ASCII; the other
// has integer keys.
func EncodeTopicRouteData(d *TopicRouteData, strict bool) []byte {
	w := routeWriter{text: appendString, strict: strict}
	if strict {
		w.text = appendASCIIString
	}
	o := beginObject(nil)
	o.name("brokerDatas")
	o.dst = appendArray(o.dst, d.BrokerDatas, w.broker)
	o.name("filterServerTable")
	o.dst = append(o.dst, "{}"...)
	if d.OrderTopicConf != "" {
		o.name("orderTopicConf")
		o.dst = w.text(o.dst, d.OrderTopicConf)
	}
	o.name("queueDatas")
	o.dst = appendArray(o.dst, d.QueueDatas, w.queue)
	if d.Static() {
		o.name("topicQueueMappingByBroker")
		mappings := beginObject(o.dst)
		for _, name := range slices.Sorted(maps.Keys(d.Mapping)) {
			mappings.textName(name)
			mappings.dst = w.mapping(mappings.dst, name, d.Mapping[name])
		}
		o.dst = mappings.end()
	}
	return o.end()
}

func (w *routeWriter) mapping(dst []byte, broker string, m QueueMapping) []byte {
	o := beginObject(dst)
	o.name("bname")
	o.dst = w.text(o.dst, broker)
	o.name("currIdMap")
	leads := beginObject(o.dst)
	for _, id := range slices.Sorted(maps.Keys(m.Leads)) {
		if key := strconv.Itoa(int(id)); w.strict {
			leads.name(key)
		} else {
			leads.bareName(key)
		}
		leads.dst = strconv.AppendInt(leads.dst, int64(m.Leads[id]), 10)
	}
	o.dst = leads.end()
	o.number("epoch", m.Epoch)
	o.number("totalQueues", int64(m.TotalQueues))
	return o.end()
}

type routeWriter struct {
	text   func(dst []byte, s string) []byte
	strict bool
}

func (w *routeWriter) broker(dst []byte, b BrokerData) []byte {
	o := beginObject(dst)
	o.name("brokerAddrs")
	addrs := beginObject(o.dst)
	for _, id := range slices.Sorted(maps.Keys(b.BrokerAddrs)) {
		if key := strconv.FormatInt(id, 10); w.strict {
			addrs.name(key)
		} else {
			addrs.bareName(key)
		}
		addrs.dst = w.text(addrs.dst, b.BrokerAddrs[id])
	}
	o.dst = addrs.end()
	o.name("brokerName")
	o.dst = w.text(o.dst, b.BrokerName)
	o.name("cluster")
	o.dst = w.text(o.dst, b.Cluster)
	return o.end()
}

func (w *routeWriter) queue(dst []byte, q QueueData) []byte {
	o := beginObject(dst)
	o.name("brokerName")
	o.dst = w.text(o.dst, q.BrokerName)
	o.number("perm", int64(q.Perm))
	o.number("readQueueNums", int64(q.ReadQueueNums))
	o.number("topicSysFlag", int64(q.TopicSysFlag))
	o.number("writeQueueNums", int64(q.WriteQueueNums))
	return o.end()
}

// DecodeTopicRouteData reads either form of an answer to 105.
func DecodeTopicRouteData(body []byte) (TopicRouteData, error) {
	var d TopicRouteData
	if err := decodeLenient(body, &d); err != nil {
		return TopicRouteData{}, fmt.Errorf("decode topic route: %w", err)
	}
	for i := range d.BrokerDatas {
		d.BrokerDatas[i].dialable()
	}
	return d, nil
}

// ClusterInfo is the answer to 106.
type ClusterInfo struct {
	BrokerAddrTable  map[string]BrokerData `json:"brokerAddrTable"`
	ClusterAddrTable map[string][]string   `json:"clusterAddrTable"`
}

// EncodeClusterInfo writes the answer to 106, which has integer keys always.
func EncodeClusterInfo(c *ClusterInfo) []byte {
	w := routeWriter{text: appendString}
	o := beginObject(nil)
	o.name("brokerAddrTable")
	brokers := beginObject(o.dst)
	for _, name := range slices.Sorted(maps.Keys(c.BrokerAddrTable)) {
		brokers.textName(name)
		brokers.dst = w.broker(brokers.dst, c.BrokerAddrTable[name])
	}
	o.dst = brokers.end()
	o.name("clusterAddrTable")
	clusters := beginObject(o.dst)
	for _, name := range slices.Sorted(maps.Keys(c.ClusterAddrTable)) {
		clusters.textName(name)
		clusters.dst = appendArray(clusters.dst, c.ClusterAddrTable[name], appendString)
	}
	o.dst = clusters.end()
	return o.end()
}

// DecodeClusterInfo reads an answer to 106.
func DecodeClusterInfo(body []byte) (ClusterInfo, error) {
	var c ClusterInfo
	if err := decodeLenient(body, &c); err != nil {
		return ClusterInfo{}, fmt.Errorf("decode cluster info: %w", err)
	}
	for _, b := range c.BrokerAddrTable {
		b.dialable()
	}
	return c, nil
}
