package sandbox

import (
	"slices"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// Who consumes what (300, 343, 345) and who produces (204). Lines differ: 5.3 has
// 343 and 345, and names the topic itself in 300 when a group is online there.

// handleWhoConsumes answers 300: groups that are online on the topic or have
// committed there.
func (b *broker) handleWhoConsumes(c *call) answer {
	var h protocol.TopicRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	names := []string{}
	for name, g := range b.groups {
		if g.subscriptions[h.Topic] != nil {
			if !b.loop.four {
				name = h.Topic
			}
			names = append(names, name)
		}
		if slices.Contains(g.committedTopics(), h.Topic) {
			names = append(names, g.name)
		}
	}
	slices.Sort(names)
	return answer{body: protocol.EncodeGroupList(slices.Compact(names))}
}

func (b *broker) handleTopicsOfGroup(c *call) answer {
	var h protocol.GroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	var topics []string
	if g := b.groups[h.Group]; g != nil {
		topics = g.committedTopics()
	}
	return answer{body: protocol.EncodeTopicList(topics)}
}

// handleSubscriptionOf answers 345: what the members subscribe to, or what a pull
// has brought with it.
func (b *broker) handleSubscriptionOf(c *call) answer {
	var h protocol.GroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	body := protocol.SubscriptionOfGroup{Group: h.Group, Topic: h.Topic}
	if g := b.groups[h.Group]; g != nil {
		body.Subscription = g.subscriptions[h.Topic]
		if body.Subscription == nil {
			body.Subscription = g.brought[h.Topic]
		}
	}
	return answer{body: protocol.EncodeSubscriptionOfGroup(&body)}
}

// producer is one client's place in a producer group, known by its connection.
type producer struct {
	peer     *peer
	clientID string
	beat     time.Time
}

// beatProducer takes in a heartbeat.
func (b *broker) beatProducer(group string, p *peer, clientID string) {
	for i, one := range b.producers[group] {
		if one.peer == p {
			b.producers[group][i].beat = b.loop.now
			return
		}
	}
	group = strings.Clone(group)
	b.producers[group] = append(b.producers[group], producer{p, strings.Clone(clientID), b.loop.now})
}

// removeProducer takes a connection out of one producer group, or out of all of
// them when group is "".
func (b *broker) removeProducer(group string, p *peer) {
	for name, list := range b.producers {
		if group != "" && name != group {
			continue
		}
		list = slices.DeleteFunc(list, func(one producer) bool { return one.peer == p })
		if b.producers[name] = list; len(list) == 0 {
			delete(b.producers, name)
		}
	}
}

func (b *broker) handleProducerConnection(c *call) answer {
	var h protocol.ProducerGroupRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	var connections []protocol.Connection
	for _, one := range b.producers[h.ProducerGroup] {
		if b.loop.now.Sub(one.beat) <= memberExpiry {
			connections = append(connections, protocol.Connection{
				ClientID: one.clientID, ClientAddr: one.peer.conn.RemoteAddr(), Language: one.peer.language.String(), Version: one.peer.version,
			})
		}
	}
	if len(connections) == 0 {
		return refuse(protocol.SystemError, "the producer group["+h.ProducerGroup+"] not exist")
	}
	return answer{body: protocol.EncodeProducerConnection(connections)}
}
