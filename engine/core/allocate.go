package core

import (
	"fmt"

	"eyeq/remoting/protocol"
)

// Strategy divides the queues of a topic among the members of a group (Java:
// AllocateMessageQueueStrategy). Queues and members come sorted. A client that is
// not among the members gets nothing. No queues, no members or an empty client
// id is an error: the allocation stays as it is.
type Strategy interface {
	Name() string
	Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error)
}

// The strategies (spec/consumer-rebalance.md 4).
var (
	AllocateAveragely         Strategy = strategyFunc{"AVG", nil}
	AllocateAveragelyByCircle Strategy = strategyFunc{"AVG_BY_CIRCLE", nil}
)

type strategyFunc struct {
	name string
	f    func(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue
}

func (s strategyFunc) Name() string { return s.name }

func (s strategyFunc) Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	panic("todo")
}

// StrategyByName finds a strategy by its option (avg, circle) or by RocketMQ's name.
func StrategyByName(name string) (Strategy, error) {
	switch name {
	case "avg", "AVG":
		return AllocateAveragely, nil
	case "circle", "AVG_BY_CIRCLE":
		return AllocateAveragelyByCircle, nil
	}
	return nil, fmt.Errorf("allocation strategy %q: must be avg or circle", name)
}
