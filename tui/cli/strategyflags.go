package cli

import (
	"fmt"
	"strings"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

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
func (f *strategyFlags) choose(s config.Strategy) (config.Strategy, error) {
	var err error
	if f.changed("strategy") {
		if s.Name, err = core.StrategyName(f.strategy); err != nil {
			return s, usagef("--strategy: %v", err)
		}
	}
	if f.changed("machine-rooms") {
		s.Rooms = config.SplitList(f.rooms)
		if err := config.CheckRooms(s.Rooms); err != nil {
			return s, usagef("--machine-rooms: %v", err)
		}
	}
	if f.changed("virtual-nodes") {
		s.VirtualNodes = f.virtualNodes
		if err := config.CheckVirtualNodes(int64(f.virtualNodes)); err != nil {
			return s, usagef("--virtual-nodes %d: %v", f.virtualNodes, err)
		}
	}
	return s, nil
}

// useless refuses a flag that the chosen strategy does not read.
func (f *strategyFlags) useless(s *config.Strategy) error {
	for _, one := range []struct{ flag, of, word string }{
		{"queues", "CONFIG", "config"}, {"machine-rooms", "MACHINE_ROOM", "machine-room"}, {"virtual-nodes", "CONSISTENT_HASH", "consistent-hash"},
	} {
		if f.changed(one.flag) && !s.Needs(one.of) {
			return usagef("--%s is for --strategy %s; the strategy is %s", one.flag, one.word, s.Name)
		}
	}
	return nil
}

// allocation makes the strategy of a member. What it lacks is said in the words of
// who chose it.
func (f *consumeFlags) allocation(c *config.Config, o *engine.Options) (core.Strategy, error) {
	s, err := f.strategy.choose(c.Strategy)
	if err != nil {
		return nil, err
	}
	if err := f.strategy.useless(&s); err != nil {
		return nil, err
	}
	chosen := "--strategy " + f.strategy.strategy
	if !f.changed("strategy") {
		chosen = "allocate_message_queue_strategy = " + config.QuoteTOML(s.Name)
		if line, ok := strings.CutPrefix(string(c.OriginOf("consumer.allocate_message_queue_strategy")), "file:"); ok {
			chosen = c.Path + ":" + line + ": consumer." + chosen
		}
	}
	from := "--queues"
	if f.changed("queues") {
		if s.Queues, err = config.ParseQueueChoices(config.SplitList(f.strategy.queues)); err != nil {
			return nil, usagef("--queues %v", err)
		}
	} else if line, ok := strings.CutPrefix(string(c.OriginOf("consumer.message_queue_list")), "file:"); ok {
		from = c.Path + ":" + line + ": consumer.message_queue_list:"
	}
	switch {
	case s.Needs("CONFIG") && len(s.Queues) == 0:
		return nil, usagef("%s needs this member's queues: --queues BROKER:ID,… (or message_queue_list in the configuration)", chosen)
	case s.Needs("MACHINE_ROOM") && len(s.Rooms) == 0:
		return nil, usagef("%s needs the machine rooms to read from: --machine-rooms ROOM,… (or consumeridcs in the configuration)", chosen)
	case strings.HasPrefix(s.Name, config.NearbyPrefix) && core.RoomsByName().Client(o.ClientID) == "":
		return nil, usagef("%s needs to know this member's machine room: --client-id ROOM@NAME, as in a broker's name", chosen)
	}
	var queues []engine.MessageQueue
	if s.Needs("CONFIG") {
		if queues, err = config.Expand(s.Queues, o.Subscriptions, o.Group); err != nil {
			return nil, usagef("%s %v", from, err)
		}
	}
	return s.Build(queues)
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
