package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"eyeq/remoting/protocol"
)

// heartbeatTopic is where the proxies of a cluster tell each other of their clients,
// all of them every 30 s: brokers know none of these, and proxies pass no question on.
const heartbeatTopic = "DefaultHeartBeatSyncerTopic"

// A client that was not told of for proxiedFor is gone, as proxies have it. maxHeartbeats
// bounds what is read of a queue.
const (
	proxiedFor    = 2 * time.Minute
	maxHeartbeats = 2000
)

// heartbeat is what a proxy tells of a client: JSON, with more JSON in its text.
type heartbeat struct {
	Type     string                    `json:"heartbeatType"` // REGISTER, UNREGISTER
	Group    string                    `json:"group"`
	ClientID string                    `json:"clientId"`
	Proxy    string                    `json:"localProxyId"`
	Language string                    `json:"language"`
	Version  int32                     `json:"version"`
	Consume  protocol.ConsumeType      `json:"consumeType"`
	Model    protocol.MessageModel     `json:"messageModel"`
	From     protocol.ConsumeFromWhere `json:"consumeFromWhere"`
	Channel  string                    `json:"channelData"`
	Reads    []struct {
		Topic string `json:"topic"`
	} `json:"subscriptionDataSet"`
	stored time.Time
}

// channel is where a client comes from and which proxy it is at.
type channel struct {
	Remote string `json:"remoteAddress"`
	Local  string `json:"localAddress"`
}

// readProxied gives the clients behind proxies by group, as the proxies told last. Where
// there is no proxy there is no such topic, and nothing is asked.
func (in *Inspector) readProxied(ctx context.Context, s *survey) map[string][]heartbeat {
	if !s.topics[heartbeatTopic] {
		return nil
	}
	route, err := in.round(s).route(ctx, heartbeatTopic)
	if err != nil {
		s.unproxied = append(s.unproxied, problem("clients of proxies", "the name servers", err))
		return nil
	}
	var mu sync.Mutex // guards beats and what is missing
	var beats []heartbeat
	each(len(route.Queues), 0, func(i int) {
		mq := route.Queues[i]
		read, whole, err := in.heartbeats(ctx, s, mq)
		mu.Lock()
		defer mu.Unlock()
		beats = append(beats, read...)
		switch {
		case err != nil:
			s.unproxied = append(s.unproxied, problem("clients of proxies", mq.BrokerName, err))
		case !whole:
			s.unproxied = append(s.unproxied, Problem{"clients of proxies", mq.BrokerName, Reason{ReasonFailed,
				fmt.Sprintf("more than %d heartbeats in queue %d in %v, so only the last were read: there may be more clients", maxHeartbeats, mq.QueueID, proxiedFor)}})
		}
	})
	return foldHeartbeats(beats)
}

// heartbeats reads what one queue has of the last minutes.
func (in *Inspector) heartbeats(ctx context.Context, s *survey, mq protocol.MessageQueue) (beats []heartbeat, whole bool, err error) {
	addr, err := s.addrOf(mq.BrokerName)
	if err != nil {
		return nil, false, err
	}
	since := in.brokerNow(addr).Add(-proxiedFor) // a clock of ours that is ahead would leave none
	from, err := ask(ctx, in, addr, func(ctx context.Context) (int64, error) {
		return in.client.SearchOffset(ctx, mq, since)
	})
	if err != nil {
		return nil, false, err
	}
	whole = true
	p, err := in.page(ctx, addr, mq, from, pageSize)
	if err == nil && p.max-from > maxHeartbeats {
		whole = false
		p, err = in.page(ctx, addr, mq, p.max-maxHeartbeats, pageSize)
	}
	for err == nil && len(p.messages) > 0 && len(beats) < maxHeartbeats {
		for i := range p.messages {
			m := &p.messages[i]
			body, broken := m.Body()
			b := heartbeat{stored: m.Stored()}
			if broken == nil && json.Unmarshal(body, &b) == nil && b.Group != "" && b.ClientID != "" && !b.stored.Before(since) {
				beats = append(beats, b)
			}
		}
		if p.next >= p.max {
			break
		}
		p, err = in.page(ctx, addr, mq, p.next, pageSize)
	}
	return beats, whole, err
}

// foldHeartbeats keeps the last word of each proxy about each client. One that has gone
// from one proxy to another is told to be gone by the first, which may say so later than
// the other says that it has come.
func foldHeartbeats(beats []heartbeat) map[string][]heartbeat {
	slices.SortStableFunc(beats, func(a, b heartbeat) int { return b.stored.Compare(a.stored) })
	type client struct{ group, id string }
	type word struct {
		client
		proxy string
	}
	groups, kept, heard := map[string][]heartbeat{}, map[client]bool{}, map[word]bool{}
	for _, b := range beats {
		c := client{b.Group, b.ClientID}
		w := word{c, b.Proxy}
		if heard[w] {
			continue
		}
		heard[w] = true
		if b.Type == "REGISTER" && !kept[c] {
			kept[c] = true
			groups[b.Group] = append(groups[b.Group], b)
		}
	}
	return groups
}

// reads reports whether a client behind a proxy subscribes to the topic.
func (s *said) reads(topic string) bool {
	for _, b := range s.proxied {
		for _, r := range b.Reads {
			if r.Topic == topic {
				return true
			}
		}
	}
	return false
}

// member makes a member of the group of what a proxy tells.
func (b *heartbeat) member() Member {
	var c channel
	_ = json.Unmarshal([]byte(b.Channel), &c) // what is not in it is not known
	m := Member{ClientID: b.ClientID, Language: b.Language, Version: protocol.VersionText(b.Version), Proxy: c.Local, Why: Reason{Kind: ReasonProxy}}
	if c.Local != "" {
		m.Why.Text = "connected by the proxy " + c.Local + ", which passes no question on to it"
	}
	if c.Remote != "" {
		m.Addresses = []string{c.Remote}
	}
	return m
}

// rpcClient is the form of the ids of clients that speak gRPC: host, process, a count of
// its clients and a time in base 36. Those of remoting clients have no such parts.
var rpcClient = regexp.MustCompile(`^[^@]+@[0-9]+@[0-9]+@[0-9a-z]+$`)

// within marks a client of a proxy that runs inside a broker (proxy mode LOCAL). The broker
// knows it as a member of its own and answers no question about it, since gRPC clients
// cannot be asked; another broker does not know it, and need not.
func (m *Member) within(b *broker) {
	if m.Proxy != "" || !b.five() || !rpcClient.MatchString(m.ClientID) {
		return
	}
	m.Proxy = b.name
	m.Why = Reason{ReasonProxy, "connected by the proxy inside " + b.name + ", which passes no question on to it"}
}

// proxied reports whether all members are connected by a proxy.
func (m *Members) proxied() bool {
	return len(m.Members) > 0 && !slices.ContainsFunc(m.Members, func(one Member) bool { return one.Why.Kind != ReasonProxy })
}
