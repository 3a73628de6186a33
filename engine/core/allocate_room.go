package core

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// roomStrategy is MACHINE_ROOM (docs/conformance/rebalance.md 4.4).
type roomStrategy struct{ rooms []string }

// AllocateByMachineRoom divides the queues of brokers called ROOM@NAME whose room
// is one of rooms; the others are left to members that have theirs.
func AllocateByMachineRoom(rooms []string) Strategy { return roomStrategy{slices.Clone(rooms)} }

func (s roomStrategy) Name() string { return "MACHINE_ROOM" }

func (s roomStrategy) Allocate(_, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	index, err := checkAllocate(clientID, queues, members)
	if index < 0 {
		return nil, err
	}
	var kept []protocol.MessageQueue
	for _, mq := range queues {
		if s.reads(mq.BrokerName) {
			kept = append(kept, mq)
		}
	}
	each, rest := len(kept)/len(members), len(kept)%len(members)
	mine := slices.Clone(kept[index*each : (index+1)*each])
	if index < rest {
		mine = append(mine, kept[each*len(members)+index])
	}
	return mine, nil
}

// reads reports whether a broker's name is ROOM@NAME with one of the rooms. As
// Java splits it, an @ at the end does not count.
func (s roomStrategy) reads(broker string) bool {
	room, name, ok := strings.Cut(strings.TrimRight(broker, "@"), "@")
	return ok && !strings.Contains(name, "@") && slices.Contains(s.rooms, room)
}

// MachineRoomResolver says in which machine room a broker and a client are; ""
// means that it cannot tell.
type MachineRoomResolver struct {
	Broker func(mq protocol.MessageQueue) string
	Client func(clientID string) string
}

// RoomsByName finds the room in the name: of the broker room1@broker-a and the
// client ids room1@member-1 and room1-member-1 it is room1.
func RoomsByName() MachineRoomResolver {
	return MachineRoomResolver{
		Broker: func(mq protocol.MessageQueue) string { return before(mq.BrokerName, "@") },
		Client: func(clientID string) string {
			if strings.Contains(clientID, "@") {
				return before(clientID, "@")
			}
			return before(clientID, "-")
		},
	}
}

func before(s, sep string) string {
	room, _, ok := strings.Cut(s, sep)
	if !ok {
		return ""
	}
	return room
}

// nearbyStrategy is MACHINE_ROOM_NEARBY (docs/conformance/rebalance.md 4.5).
type nearbyStrategy struct {
	inner    Strategy
	resolver MachineRoomResolver
}

// AllocateMachineRoomNearby divides the queues of each machine room among the
// members in it, by inner, and those of a room without members among all. A queue
// or member without a room is an error.
func AllocateMachineRoomNearby(inner Strategy, r MachineRoomResolver) (Strategy, error) {
	switch {
	case inner == nil:
		return nil, fmt.Errorf("strategy %s: needs an inner strategy", nearbyName)
	case r.Broker == nil || r.Client == nil:
		return nil, fmt.Errorf("strategy %s: needs a resolver of machine rooms", nearbyName)
	}
	return nearbyStrategy{inner, r}, nil
}

func (s nearbyStrategy) Name() string { return nearbyName + "-" + s.inner.Name() }

func (s nearbyStrategy) Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	if index, err := checkAllocate(clientID, queues, members); index < 0 {
		return nil, err
	}
	rooms, err := s.rooms(queues, members)
	if err != nil {
		return nil, err
	}
	own := s.resolver.Client(clientID)
	var mine []protocol.MessageQueue
	for _, r := range rooms {
		if len(r.queues) == 0 || len(r.members) > 0 && r.name != own {
			continue
		}
		among := r.members
		if len(among) == 0 {
			among = members
		}
		share, err := s.inner.Allocate(group, clientID, r.queues, among)
		if err != nil {
			return nil, err
		}
		if r.name == own { // comes first, as in Java
			share = append(share, mine...)
			mine = nil
		}
		mine = append(mine, share...)
	}
	return mine, nil
}

func (s nearbyStrategy) allocateAll(group string, queues []protocol.MessageQueue, members []string) (map[string][]protocol.MessageQueue, error) {
	if err := checkLists(queues, members); err != nil {
		return nil, err
	}
	rooms, err := s.rooms(queues, members)
	if err != nil {
		return nil, err
	}
	// First the rooms that have members, so that a member's own comes first.
	slices.SortStableFunc(rooms, func(a, b room) int { return min(len(b.members), 1) - min(len(a.members), 1) })
	shares := make(map[string][]protocol.MessageQueue, len(members))
	for _, r := range rooms {
		if len(r.queues) == 0 {
			continue
		}
		among := r.members
		if len(among) == 0 {
			among = members
		}
		part, err := AllocateAll(s.inner, group, r.queues[0].Topic, "", r.queues, among)
		if err != nil {
			return nil, err
		}
		for m, share := range part {
			shares[m] = append(shares[m], share...)
		}
	}
	return shares, nil
}

// room is what is in one machine room.
type room struct {
	name    string
	queues  []protocol.MessageQueue
	members []string
}

// rooms groups queues and members, sorted by name as Java's TreeMap does.
func (s nearbyStrategy) rooms(queues []protocol.MessageQueue, members []string) ([]room, error) {
	byName := map[string]*room{}
	enter := func(name string) *room {
		if byName[name] == nil {
			byName[name] = &room{name: name}
		}
		return byName[name]
	}
	for _, mq := range queues {
		name := s.resolver.Broker(mq)
		if name == "" {
			return nil, fmt.Errorf("no machine room in the name of broker %q", mq.BrokerName)
		}
		r := enter(name)
		r.queues = append(r.queues, mq)
	}
	for _, m := range members {
		name := s.resolver.Client(m)
		if name == "" {
			return nil, fmt.Errorf("no machine room in the client id %q", m)
		}
		r := enter(name)
		r.members = append(r.members, m)
	}
	rooms := make([]room, 0, len(byName))
	for _, r := range byName {
		rooms = append(rooms, *r)
	}
	slices.SortFunc(rooms, func(a, b room) int { return protocol.CompareUTF16(a.name, b.name) })
	return rooms, nil
}
