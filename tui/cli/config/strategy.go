package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// Strategy is an allocation strategy and what the configured ones need.
type Strategy struct {
	Name         string        // RocketMQ's
	Queues       []QueueChoice // of CONFIG
	Rooms        []string      // of MACHINE_ROOM
	VirtualNodes int           // of CONSISTENT_HASH
}

// DefaultStrategy is AVG.
func DefaultStrategy() Strategy {
	return Strategy{Name: core.AllocateAveragely.Name(), VirtualNodes: core.VirtualNodes}
}

// Needs reports whether the strategy, or the one inside of it, is name.
func (s *Strategy) Needs(name string) bool {
	return s.Name == name || s.Name == NearbyPrefix+name
}

// NearbyPrefix stands before the strategy that MACHINE_ROOM_NEARBY uses within a room.
const NearbyPrefix = "MACHINE_ROOM_NEARBY-"

// Build makes the strategy; queues are those of CONFIG.
func (s *Strategy) Build(queues []engine.MessageQueue) (core.Strategy, error) {
	return core.StrategyByName(s.Name, core.StrategySettings{
		Queues: queues, Rooms: s.Rooms, Resolver: core.RoomsByName(), VirtualNodes: s.VirtualNodes,
	})
}

// QueueChoice is queues of one broker as CONFIG is told them: [TOPIC=]BROKER:ID, or
// FROM-TO in the place of ID. Without a topic they are of each topic subscribed.
type QueueChoice struct {
	topic, Broker string
	From, To      int32
}

// MaxQueueID bounds the queues of a broker that a flag names.
const MaxQueueID = 65535

func parseQueueChoice(s string) (q QueueChoice, err error) {
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
	q.Broker = rest[:at]
	from, to, run := strings.Cut(rest[at+1:], "-")
	if !run {
		to = from
	}
	a, err1 := strconv.ParseUint(from, 10, 31)
	b, err2 := strconv.ParseUint(to, 10, 31)
	switch {
	case err1 != nil || err2 != nil || b < a:
		return q, bad
	case b > MaxQueueID:
		return q, fmt.Errorf("%q: no topic has so many queues, an id is at most %d", s, MaxQueueID)
	}
	q.From, q.To = int32(a), int32(b)
	return q, nil
}

// String writes it as it is given.
func (q QueueChoice) String() string {
	s := q.Broker + ":" + strconv.Itoa(int(q.From))
	if q.topic != "" {
		s = q.topic + "=" + s
	}
	if q.To > q.From {
		s += "-" + strconv.Itoa(int(q.To))
	}
	return s
}

// ParseQueueChoices reads several, separated by commas or given apart.
func ParseQueueChoices(texts []string) (all []QueueChoice, err error) {
	for _, s := range texts {
		q, err := parseQueueChoice(s)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// Expand gives the queues that choices name of the topics; a choice of another
// topic is an error, but for the group's retry topic.
func Expand(choices []QueueChoice, topics []engine.Subscription, group string) (all []engine.MessageQueue, err error) {
	seen := map[engine.MessageQueue]bool{}
	for _, q := range choices {
		found := false
		for _, t := range append(topics[:len(topics):len(topics)], engine.Subscription{Topic: protocol.RetryTopic(group)}) {
			if q.topic != t.Topic && (q.topic != "" || t.Topic == protocol.RetryTopic(group)) {
				continue
			}
			found = true
			for id := q.From; id <= q.To; id++ {
				mq := engine.MessageQueue{Topic: t.Topic, BrokerName: q.Broker, QueueID: id}
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

// CheckRooms refuses what is no machine room's name.
func CheckRooms(rooms []string) error {
	for _, r := range rooms {
		if r == "" || strings.ContainsAny(r, "@,") {
			return fmt.Errorf("%q: must be a machine room, what stands before the @ of a broker's name", r)
		}
	}
	return nil
}

const maxVirtualNodes = 1000

// CheckVirtualNodes refuses a number that CONSISTENT_HASH cannot use.
func CheckVirtualNodes(n int64) error {
	if n < 1 || n > maxVirtualNodes {
		return fmt.Errorf("must be 1 to %d", maxVirtualNodes)
	}
	return nil
}

// SplitList reads the values of a flag that is repeated or holds several, separated
// by commas.
func SplitList(values []string) (all []string) {
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

// Names reports whether a choice is one of mq.
func (q QueueChoice) Names(mq engine.MessageQueue) bool {
	return (q.topic == "" || q.topic == mq.Topic) && q.Broker == mq.BrokerName && q.From <= mq.QueueID && mq.QueueID <= q.To
}
