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

// strategyFlags are the flags of a strategy; they lie over the configuration's.
type strategyFlags struct {
	strategy     string
	queues       []string
	rooms        []string
	virtualNodes int
	changed      func(name string) bool
}

// choose lays the flags over what the configuration says. A flag of another
// strategy than the chosen one is refused: it would do nothing.
func (f *strategyFlags) choose(s strategyChoice) (strategyChoice, error) {
	var err error
	if f.changed("strategy") {
		if s.name, err = core.StrategyName(f.strategy); err != nil {
			return s, usagef("--strategy: %v", err)
		}
	}
	if f.changed("machine-rooms") {
		s.rooms = splitList(f.rooms)
		if err := checkRooms(s.rooms); err != nil {
			return s, usagef("--machine-rooms: %v", err)
		}
	}
	if f.changed("virtual-nodes") {
		s.virtualNodes = f.virtualNodes
		if err := checkVirtualNodes(int64(f.virtualNodes)); err != nil {
			return s, usagef("--virtual-nodes %d: %v", f.virtualNodes, err)
		}
	}
	return s, nil
}

// useless refuses a flag that the chosen strategy does not read.
func (f *strategyFlags) useless(s *strategyChoice) error {
	for _, one := range []struct{ flag, of, word string }{
		{"queues", "CONFIG", "config"}, {"machine-rooms", "MACHINE_ROOM", "machine-room"}, {"virtual-nodes", "CONSISTENT_HASH", "consistent-hash"},
	} {
		if f.changed(one.flag) && !s.needs(one.of) {
			return usagef("--%s is for --strategy %s; the strategy is %s", one.flag, one.word, s.name)
		}
	}
	return nil
}

// allocation makes the strategy of a member. What it lacks is said in the words of
// who chose it.
func (f *consumeFlags) allocation(c *config, o *engine.Options) (core.Strategy, error) {
	s, err := f.strategy.choose(c.strategy)
	if err != nil {
		return nil, err
	}
	if err := f.strategy.useless(&s); err != nil {
		return nil, err
	}
	chosen := "--strategy " + f.strategy.strategy
	if !f.changed("strategy") {
		chosen = "allocate_message_queue_strategy = " + quoteTOML(s.name)
		if line, ok := strings.CutPrefix(string(c.originOf("consumer.allocate_message_queue_strategy")), "file:"); ok {
			chosen = c.path + ":" + line + ": consumer." + chosen
		}
	}
	from := "--queues"
	if f.changed("queues") {
		if s.queues, err = parseQueueChoices(splitList(f.strategy.queues)); err != nil {
			return nil, usagef("--queues %v", err)
		}
	} else if line, ok := strings.CutPrefix(string(c.originOf("consumer.message_queue_list")), "file:"); ok {
		from = c.path + ":" + line + ": consumer.message_queue_list:"
	}
	switch {
	case s.needs("CONFIG") && len(s.queues) == 0:
		return nil, usagef("%s needs this member's queues: --queues BROKER:ID,… (or message_queue_list in the configuration)", chosen)
	case s.needs("MACHINE_ROOM") && len(s.rooms) == 0:
		return nil, usagef("%s needs the machine rooms to read from: --machine-rooms ROOM,… (or consumeridcs in the configuration)", chosen)
	case strings.HasPrefix(s.name, nearbyPrefix) && core.RoomsByName().Client(o.ClientID) == "":
		return nil, usagef("%s needs to know this member's machine room: --client-id ROOM@NAME, as in a broker's name", chosen)
	}
	var queues []engine.MessageQueue
	if s.needs("CONFIG") {
		if queues, err = expand(s.queues, o.Subscriptions, o.Group); err != nil {
			return nil, usagef("%s %v", from, err)
		}
	}
	return s.build(queues)
}

// retryLeftOut tells that nobody reads what is sent back when this member's own
// list holds no queue of the retry topic. It is "" when there is nothing to tell.
func retryLeftOut(o *engine.Options) string {
	if core.KnowsOthers(o.Strategy) || o.MessageModel == protocol.Broadcasting {
		return ""
	}
	retry := protocol.RetryTopic(o.Group)
	list, err := o.Strategy.Allocate(o.Group, o.ClientID, nil, nil)
	if err != nil {
		return "" // inside of MACHINE_ROOM_NEARBY it is not asked without queues
	}
	for _, mq := range list {
		if mq.Topic == retry {
			return ""
		}
	}
	return fmt.Sprintf("--queues names no queue of %s: messages that are sent back wait until a member reads it (add '%[1]s=BROKER:0')", retry)
}
