package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// strategyChoice is an allocation strategy and what the configured ones need.
type strategyChoice struct {
	name         string        // RocketMQ's
	queues       []queueChoice // of CONFIG
	rooms        []string      // of MACHINE_ROOM
	virtualNodes int           // of CONSISTENT_HASH
}

func defaultStrategy() strategyChoice {
	return strategyChoice{name: core.AllocateAveragely.Name(), virtualNodes: core.VirtualNodes}
}

// needs reports whether the strategy, or the one inside of it, is name.
func (s *strategyChoice) needs(name string) bool {
	return s.name == name || s.name == nearbyPrefix+name
}

const nearbyPrefix = "MACHINE_ROOM_NEARBY-"

// build makes the strategy; queues are those of CONFIG.
func (s *strategyChoice) build(queues []engine.MessageQueue) (core.Strategy, error) {
	return core.StrategyByName(s.name, core.StrategySettings{
		Queues: queues, Rooms: s.rooms, Resolver: core.RoomsByName(), VirtualNodes: s.virtualNodes,
	})
}

// queueChoice is queues of one broker as CONFIG is told them: [TOPIC=]BROKER:ID, or
// FROM-TO in the place of ID. Without a topic they are of each topic subscribed.
type queueChoice struct {
	topic, broker string
	from, to      int32
}

// maxQueueID bounds the queues of a broker that a flag names.
const maxQueueID = 65535

func parseQueueChoice(s string) (q queueChoice, err error) {
	bad := fmt.Errorf("%q: must be [TOPIC=]BROKER:ID or [TOPIC=]BROKER:FROM-TO, such as broker-a:0-3", s)
	rest := s
	if topic, after, ok := strings.Cut(s, "="); ok {
		if topic == "" {
			return q, bad
		}
		q.topic, rest = topic, after
	}
	at := strings.LastIndexAny(rest, ":/")
	if at <= 0 {
		return q, bad
	}
	q.broker = rest[:at]
	from, to, run := strings.Cut(rest[at+1:], "-")
	if !run {
		to = from
	}
	a, err1 := strconv.ParseUint(from, 10, 31)
	b, err2 := strconv.ParseUint(to, 10, 31)
	switch {
	case err1 != nil || err2 != nil || b < a:
		return q, bad
	case b > maxQueueID:
		return q, fmt.Errorf("%q: no topic has so many queues, an id is at most %d", s, maxQueueID)
	}
	q.from, q.to = int32(a), int32(b)
	return q, nil
}

func (q queueChoice) String() string {
	s := q.broker + ":" + strconv.Itoa(int(q.from))
	if q.topic != "" {
		s = q.topic + "=" + s
	}
	if q.to > q.from {
		s += "-" + strconv.Itoa(int(q.to))
	}
	return s
}

func parseQueueChoices(texts []string) (all []queueChoice, err error) {
	for _, s := range texts {
		q, err := parseQueueChoice(s)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// expand gives the queues that choices name of the topics; a choice of another
// topic is an error, but for the group's retry topic.
func expand(choices []queueChoice, topics []engine.Subscription, group string) (all []engine.MessageQueue, err error) {
	seen := map[engine.MessageQueue]bool{}
	for _, q := range choices {
		found := false
		for _, t := range append(topics[:len(topics):len(topics)], engine.Subscription{Topic: protocol.RetryTopic(group)}) {
			if q.topic != t.Topic && (q.topic != "" || t.Topic == protocol.RetryTopic(group)) {
				continue
			}
			found = true
			for id := q.from; id <= q.to; id++ {
				mq := engine.MessageQueue{Topic: t.Topic, BrokerName: q.broker, QueueID: id}
				if seen[mq] {
					return nil, fmt.Errorf("%v: queue %v is named twice", q, mq)
				}
				seen[mq] = true
				all = append(all, mq)
			}
		}
		if !found {
			return nil, fmt.Errorf("%v: topic %s is not subscribed: give -t %[2]s too, or leave it out", q, q.topic)
		}
	}
	return all, nil
}

// checkRooms refuses what is no machine room's name.
func checkRooms(rooms []string) error {
	for _, r := range rooms {
		if r == "" || strings.ContainsAny(r, "@,") {
			return fmt.Errorf("%q: must be a machine room, what stands before the @ of a broker's name", r)
		}
	}
	return nil
}

const maxVirtualNodes = 1000

func checkVirtualNodes(n int64) error {
	if n < 1 || n > maxVirtualNodes {
		return fmt.Errorf("must be 1 to %d", maxVirtualNodes)
	}
	return nil
}

// splitList reads the values of a flag that is repeated or holds several, separated
// by commas.
func splitList(values []string) (all []string) {
	for _, v := range values {
		for one := range strings.SplitSeq(v, ",") {
			all = append(all, strings.TrimSpace(one))
		}
	}
	return all
}

// textList reads a list of texts of the configuration.
func textList(raw any, example string) ([]string, error) {
	list, ok := raw.([]any)
	if !ok {
		return nil, errors.New("must be a list such as " + example)
	}
	texts := make([]string, 0, len(list))
	for _, one := range list {
		s, ok := one.(string)
		if !ok {
			return nil, errors.New("must hold texts, such as " + example)
		}
		texts = append(texts, s)
	}
	return texts, nil
}

// names reports whether a choice is one of mq.
func (q queueChoice) names(mq engine.MessageQueue) bool {
	return (q.topic == "" || q.topic == mq.Topic) && q.broker == mq.BrokerName && q.from <= mq.QueueID && mq.QueueID <= q.to
}
