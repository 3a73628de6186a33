package sandbox

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// How members that let the broker allocate get a topic's messages, by pulling or by
// POP, and which queues it gives them (400, 401, 402), as 5.3 does it; 4.9 knows
// nothing of this. The mode only says how the members are to ask: POP itself is not
// imitated.

// modeOf names a topic and the group that reads it.
type modeOf struct{ topic, group string }

func (b *broker) handleSetMode(c *call) answer {
	m, err := protocol.DecodeRequestMode(c.command.Body)
	if err != nil {
		return malformed(err)
	}
	if strings.HasPrefix(m.Topic, protocol.RetryTopicPrefix) {
		return refuse(protocol.NoPermission, "retry topic is not allowed to set mode")
	}
	m.Topic, m.Group, m.Mode = strings.Clone(m.Topic), strings.Clone(m.Group), strings.Clone(m.Mode)
	b.modes[modeOf{m.Topic, m.Group}] = m
	return answer{}
}

func (b *broker) handleModes() answer {
	return answer{body: protocol.EncodeRequestModes(slices.Collect(maps.Values(b.modes)))}
}

// handleAssignment gives a member its share of a topic's queues, of all brokers. By
// POP it has besides those of so many members behind it, or all.
func (b *broker) handleAssignment(c *call) answer {
	q, err := protocol.DecodeAssignmentQuestion(c.command.Body)
	if err != nil {
		return malformed(err)
	}
	queues := b.loop.readable(q.Topic)
	if len(queues) == 0 || q.Strategy != "AVG" {
		return answer{body: protocol.EncodeAssignment(&protocol.Assignment{})}
	}
	var members []string
	if g := b.groups[q.Group]; g != nil {
		members = slices.Sorted(slices.Values(g.clientIDs()))
	}
	mode := b.modes[modeOf{q.Topic, q.Group}]
	pop := mode.Mode == protocol.ModePop
	var given []protocol.MessageQueue
	at := slices.Index(members, q.ClientID)
	switch {
	case q.Model == protocol.Broadcasting && !pop:
		given = queues
	case pop && (mode.Share <= 0 || int(mode.Share) >= len(members)-1):
		for _, mq := range queues {
			all := protocol.MessageQueue{Topic: mq.Topic, BrokerName: mq.BrokerName, QueueID: -1}
			if !slices.Contains(given, all) {
				given = append(given, all)
			}
		}
	case at >= 0:
		given = average(queues, at, len(members))
		for i := range mode.Share {
			if pop {
				given = append(given, average(queues, (at+int(i)+1)%len(members), len(members))...)
			}
		}
	}
	a := protocol.Assignment{Known: true}
	for _, mq := range given {
		a.Queues = append(a.Queues, protocol.Assigned{Queue: mq, Mode: cmp.Or(mode.Mode, protocol.ModePull)})
	}
	return answer{body: protocol.EncodeAssignment(&a)}
}

// readable are the queues of a topic that can be read, in order.
func (l *loop) readable(topic string) (queues []protocol.MessageQueue) {
	for _, b := range l.brokers {
		if t := b.topics[topic]; t != nil && b.master == nil {
			for id := range t.read {
				queues = append(queues, protocol.MessageQueue{Topic: topic, BrokerName: b.name, QueueID: id})
			}
		}
	}
	slices.SortFunc(queues, protocol.CompareMessageQueues)
	return queues
}

// average is the share of the nth of so many members: the first ones have one more.
func average(queues []protocol.MessageQueue, nth, members int) []protocol.MessageQueue {
	each, rest := len(queues)/members, len(queues)%members
	first := nth*each + min(nth, rest)
	if nth < rest {
		each++
	}
	return slices.Clone(queues[first : first+each])
}
