package core

import "eyeq/remoting/protocol"

// StartSource says where a queue's first offset comes from.
type StartSource uint8

// The sources.
const (
	StartStored StartSource = iota + 1
	StartMin                // offset 0; a larger minimum is repaired by the broker
	StartMax
	StartTimestamp
)

// String gives the name used in events.
func (s StartSource) String() string {
	return [...]string{"none", "store", "min", "max", "timestamp"}[s]
}

// StartFrom is computePullFromWhere (spec/consumer-rebalance.md 6): where a queue
// starts, given what the store said. A failed store read never gets here.
func StartFrom(where protocol.ConsumeFromWhere, found, retryTopic bool) StartSource { panic("todo") }
