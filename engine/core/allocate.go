package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// Strategy divides the queues of a topic among the members of a group (Java:
// AllocateMessageQueueStrategy). Queues and members come sorted. A client that is
// not among the members gets nothing. No queues, no members or an empty client
// id is an error: the allocation stays as it is. Name is what Java calls it.
type Strategy interface {
	Name() string
	Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error)
}

// The strategies that need nothing else (docs/conformance/rebalance.md 4).
var (
	AllocateAveragely         Strategy = indexStrategy{"AVG", averagely}
	AllocateAveragelyByCircle Strategy = indexStrategy{"AVG_BY_CIRCLE", byCircle}
)

// everyone is a strategy that finds the shares of all members with less work than
// one by one.
type everyone interface {
	allocateAll(group string, queues []protocol.MessageQueue, members []string) (map[string][]protocol.MessageQueue, error)
}

// AllocateAll gives the shares of all members of a topic's queues, or, of a
// strategy by which nobody can know another's share (see KnowsOthers), only that
// of self. What a strategy gives of other topics is left out: the pass over one
// topic must not take the queues of another, which it would never give back.
func AllocateAll(s Strategy, group, topic, self string, queues []protocol.MessageQueue, members []string) (map[string][]protocol.MessageQueue, error) {
	if all, ok := s.(everyone); ok && KnowsOthers(s) {
		return all.allocateAll(group, queues, members)
	}
	asked := members
	if !KnowsOthers(s) {
		asked = []string{self}
	}
	shares := make(map[string][]protocol.MessageQueue, len(asked))
	for _, m := range asked {
		share, err := s.Allocate(group, m, queues, members)
		if err != nil {
			return nil, err
		}
		shares[m] = slices.DeleteFunc(share, func(mq protocol.MessageQueue) bool { return mq.Topic != topic })
	}
	return shares, nil
}

// KnowsOthers reports whether a member can tell by s what the others get. By
// CONFIG it cannot: each has a list of its own.
func KnowsOthers(s Strategy) bool {
	switch s := s.(type) {
	case configStrategy:
		return false
	case nearbyStrategy:
		return KnowsOthers(s.inner)
	}
	return true
}

// checkAllocate applies the check that all strategies but CONFIG begin with. It
// gives the client's place among the members, -1 when it is none of them.
func checkAllocate(clientID string, queues []protocol.MessageQueue, members []string) (index int, err error) {
	if clientID == "" {
		return -1, errors.New("no client id to allocate queues to")
	}
	if err := checkLists(queues, members); err != nil {
		return -1, err
	}
	return slices.Index(members, clientID), nil
}

func checkLists(queues []protocol.MessageQueue, members []string) error {
	switch {
	case len(queues) == 0:
		return errors.New("no queues to allocate")
	case len(members) == 0:
		return errors.New("no members to allocate queues to")
	}
	return nil
}

// indexStrategy gives a member what lies at certain places of the list of queues.
type indexStrategy struct {
	name string
	f    func(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue
}

func (s indexStrategy) Name() string { return s.name }

func (s indexStrategy) Allocate(_, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	index, err := checkAllocate(clientID, queues, members)
	if index < 0 {
		return nil, err
	}
	return s.f(index, len(members), queues), nil
}

// averagely gives each member a run of neighbours; the first members get one
// more where it does not divide (docs/conformance/rebalance.md 4.1).
func averagely(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue {
	size, rest := len(queues)/members, len(queues)%members
	start := index*size + min(index, rest)
	if index < rest {
		size++
	}
	return slices.Clone(queues[start : start+size])
}

// byCircle deals the queues out one by one (docs/conformance/rebalance.md 4.2).
func byCircle(index, members int, queues []protocol.MessageQueue) []protocol.MessageQueue {
	var mine []protocol.MessageQueue
	for p := index; p < len(queues); p += members {
		mine = append(mine, queues[p])
	}
	return mine
}

// configStrategy is CONFIG (docs/conformance/rebalance.md 4.3).
type configStrategy struct{ queues []protocol.MessageQueue }

// AllocateByConfig gives always the configured queues, whatever the topic and its
// members: nothing checks that each queue is in exactly one member's list.
func AllocateByConfig(queues []protocol.MessageQueue) Strategy {
	return configStrategy{slices.Clone(queues)}
}

func (s configStrategy) Name() string { return "CONFIG" }

func (s configStrategy) Allocate(string, string, []protocol.MessageQueue, []string) ([]protocol.MessageQueue, error) {
	return slices.Clone(s.queues), nil
}

// StrategySettings are what the configured strategies need; each takes its own.
type StrategySettings struct {
	Queues       []protocol.MessageQueue // CONFIG
	Rooms        []string                // MACHINE_ROOM
	Resolver     MachineRoomResolver     // MACHINE_ROOM_NEARBY
	VirtualNodes int                     // CONSISTENT_HASH
}

const nearbyName = "MACHINE_ROOM_NEARBY"

// strategyNames are the words of the command line, and RocketMQ's names.
var strategyNames = [...][2]string{
	{"avg", "AVG"}, {"circle", "AVG_BY_CIRCLE"}, {"config", "CONFIG"}, {"machine-room", "MACHINE_ROOM"},
	{"machine-room-nearby", nearbyName}, {"consistent-hash", "CONSISTENT_HASH"},
}

// StrategyName gives RocketMQ's name of a strategy that is called by it or by its
// word (avg, circle, …). An inner strategy stands behind that of
// machine-room-nearby: machine-room-nearby-circle; without one it is avg.
func StrategyName(word string) (string, error) {
	if inner, ok := cutAny(word, "machine-room-nearby-", nearbyName+"-"); ok {
		name, err := StrategyName(inner)
		if err != nil || strings.HasPrefix(name, nearbyName) {
			return "", fmt.Errorf("allocation strategy %q: behind machine-room-nearby- must stand avg, circle, config, machine-room or consistent-hash", word)
		}
		return nearbyName + "-" + name, nil
	}
	for _, n := range strategyNames {
		if word == n[0] || word == n[1] {
			if n[1] == nearbyName {
				return nearbyName + "-AVG", nil
			}
			return n[1], nil
		}
	}
	return "", fmt.Errorf("allocation strategy %q: must be avg, circle, config, machine-room, machine-room-nearby or consistent-hash", word)
}

// StrategyByName makes the strategy with a name that StrategyName understands.
func StrategyByName(word string, s StrategySettings) (Strategy, error) {
	name, err := StrategyName(word)
	if err != nil {
		return nil, err
	}
	if inner, ok := strings.CutPrefix(name, nearbyName+"-"); ok {
		in, err := StrategyByName(inner, s)
		if err != nil {
			return nil, err
		}
		return AllocateMachineRoomNearby(in, s.Resolver)
	}
	switch name {
	case "AVG_BY_CIRCLE":
		return AllocateAveragelyByCircle, nil
	case "CONFIG":
		return AllocateByConfig(s.Queues), nil
	case "MACHINE_ROOM":
		return AllocateByMachineRoom(s.Rooms), nil
	case "CONSISTENT_HASH":
		return AllocateByConsistentHash(s.VirtualNodes, nil)
	}
	return AllocateAveragely, nil
}

func cutAny(s string, prefixes ...string) (rest string, ok bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return s, false
}
