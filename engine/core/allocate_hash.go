package core

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"eyeq/remoting/protocol"
)

// VirtualNodes is how many nodes each member has on the ring of CONSISTENT_HASH
// unless told otherwise.
const VirtualNodes = 10

// hashStrategy is CONSISTENT_HASH (docs/conformance/rebalance.md 4.6).
type hashStrategy struct {
	virtualNodes int
	hash         func(key string) int64
}

// AllocateByConsistentHash gives a queue to the next of virtualNodes nodes that
// each member has on a ring: few queues move when a member comes or goes. A nil
// hash is Java's. With 0 nodes nobody gets anything.
func AllocateByConsistentHash(virtualNodes int, hash func(key string) int64) (Strategy, error) {
	if virtualNodes < 0 {
		return nil, fmt.Errorf("strategy CONSISTENT_HASH: %d virtual nodes: must not be negative", virtualNodes)
	}
	if hash == nil {
		hash = md5Hash
	}
	return hashStrategy{virtualNodes, hash}, nil
}

func (s hashStrategy) Name() string { return "CONSISTENT_HASH" }

func (s hashStrategy) Allocate(group, clientID string, queues []protocol.MessageQueue, members []string) ([]protocol.MessageQueue, error) {
	if index, err := checkAllocate(clientID, queues, members); index < 0 {
		return nil, err
	}
	shares, err := s.allocateAll(group, queues, members)
	return shares[clientID], err
}

func (s hashStrategy) allocateAll(_ string, queues []protocol.MessageQueue, members []string) (map[string][]protocol.MessageQueue, error) {
	if err := checkLists(queues, members); err != nil {
		return nil, err
	}
	shares := make(map[string][]protocol.MessageQueue, len(members))
	ring := s.ring(members)
	if len(ring) == 0 {
		return shares, nil
	}
	for _, mq := range queues {
		at := s.hash(queueKey(mq))
		i := sort.Search(len(ring), func(i int) bool { return ring[i].at >= at }) % len(ring)
		shares[ring[i].member] = append(shares[ring[i].member], mq)
	}
	return shares, nil
}

// node is a place on the ring.
type node struct {
	at     int64
	member string
}

// ring gives the nodes in order. Of nodes with one hash the last one counts. A
// member that is named twice has twice the nodes: Java goes on counting.
func (s hashStrategy) ring(members []string) []node {
	nodes := make([]node, 0, len(members)*s.virtualNodes)
	replicas := make(map[string]int, len(members))
	for _, m := range members {
		for range s.virtualNodes {
			nodes = append(nodes, node{s.hash(m + "-" + strconv.Itoa(replicas[m])), m})
			replicas[m]++
		}
	}
	slices.Reverse(nodes)
	slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(nodes, func(a, b node) bool { return a.at == b.at })
}

// queueKey is a queue as Java prints it.
func queueKey(mq protocol.MessageQueue) string {
	return "MessageQueue [topic=" + mq.Topic + ", brokerName=" + mq.BrokerName + ", queueId=" + strconv.Itoa(int(mq.QueueID)) + "]"
}

func md5Hash(key string) int64 {
	sum := md5.Sum([]byte(key))
	return int64(binary.BigEndian.Uint32(sum[:]))
}
