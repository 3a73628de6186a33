package core

import (
	"fmt"
	"slices"

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
	AllocateAveragely         Strategy = strategyFunc{"AVG", averagely}
	AllocateAveragelyByCircle Strategy = strategyFunc{"AVG_BY_CIRCLE", byCircle}
)

type strategyFunc struct {
	name string
	f    func(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue
}

func (s strategyFunc) Name() string { return s.name }

func (s strategyFunc) Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	switch {
	case clientID == "":
		return nil, fmt.Errorf("allocate queues of group %s: no client id", group)
	case len(queues) == 0:
		return nil, fmt.Errorf("allocate queues of group %s: no queues", group)
	case len(members) == 0:
		return nil, fmt.Errorf("allocate queues of group %s: no members", group)
	}
	index := slices.Index(members, clientID)
	if index < 0 {
		return nil, nil
	}
	return s.f(index, len(members), queues), nil
}

// averagely gives each member a run of neighbours; the first members get one
// more where it does not divide (spec/consumer-rebalance.md 4.1).
func averagely(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue {
	size, rest := len(queues)/members, len(queues)%members
	start := index*size + min(index, rest)
	if index < rest {
		size++
	}
	return slices.Clone(queues[start : start+size])
}

// byCircle deals the queues out one by one (spec/consumer-rebalance.md 4.2).
func byCircle(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue {
	var mine []protocol.MessageQueue
	for p := index; p < len(queues); p += members {
		mine = append(mine, queues[p])
	}
	return mine
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
