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
	StartRemembered // this member's own progress, which a broker that died has lost
)

// String gives the name used in events.
func (s StartSource) String() string {
	return [...]string{"none", "store", "min", "max", "timestamp", "memory"}[s]
}

// StartFrom is computePullFromWhere (docs/conformance/rebalance.md 6): where a queue
// starts, given what the store said. A failed store read never gets here.
// A retry topic starts at its beginning, since each of its messages was meant for
// this group; only with a timestamp Java starts it at its end, and so do we.
func StartFrom(where protocol.ConsumeFromWhere, found, retryTopic bool) StartSource {
	if found {
		return StartStored
	}
	switch where {
	case protocol.ConsumeFromFirstOffset:
		return StartMin
	case protocol.ConsumeFromTimestamp:
		if retryTopic {
			return StartMax
		}
		return StartTimestamp
	}
	// ConsumeFromLastOffset, and what Java has deprecated.
	if retryTopic {
		return StartMin
	}
	return StartMax
}
