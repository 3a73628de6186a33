package core

import (
	"math"
	"time"
)

const (
	defaultMaxReconsume = 16 // concurrent (docs/conformance/properties.md 3)
	firstRetryLevel     = 3  // the delay level of the first retry: 10 s
)

// SplitAck tells how many messages at the head of a batch of n are done: the
// rest failed. ackIndex is the listener's, success its verdict
// (docs/conformance/concurrent.md 4).
func SplitAck(success bool, ackIndex, n int) (done int) {
	switch {
	case !success || ackIndex < 0:
		return 0
	case ackIndex >= n:
		return n
	}
	return ackIndex + 1
}

// ReturnType is the label of a listener call (Java: ConsumeReturnType).
type ReturnType uint8

// The labels.
const (
	ReturnSuccess ReturnType = iota + 1
	ReturnTimeout
	ReturnException
	ReturnNull
	ReturnFailed
)

// String gives RocketMQ's name.
func (r ReturnType) String() string {
	return [...]string{"", "SUCCESS", "TIME_OUT", "EXCEPTION", "RETURNNULL", "FAILED"}[r]
}

// ClassifyReturn gives the label: hasStatus is false when the listener gave no
// verdict, failed when that verdict is to retry. It is a label only: what happens
// to the messages follows from the verdict (trap T49).
func ClassifyReturn(hasStatus, threw, failed bool, rt, timeout time.Duration) ReturnType {
	switch {
	case !hasStatus && threw:
		return ReturnException
	case !hasStatus:
		return ReturnNull
	case rt >= timeout:
		return ReturnTimeout
	case failed:
		return ReturnFailed
	}
	return ReturnSuccess
}

// LocalRetryDelay is when messages whose send-back failed are handed out again.
const LocalRetryDelay = 5 * time.Second

// EffectiveMaxReconsume turns -1 into the model's default: 16, or without limit when orderly.
func EffectiveMaxReconsume(maxReconsumeTimes int32, orderly bool) int32 {
	switch {
	case maxReconsumeTimes >= 0:
		return maxReconsumeTimes
	case orderly:
		return math.MaxInt32
	}
	return defaultMaxReconsume
}

// FallbackDelayLevel is the delay level of the fallback message that takes the
// place of a failed send-back, keeping the listener's intent (trap T24): asked is
// DelayLevelWhenNextConsume. dlq is set when it must go to the dead letters; level
// is 0 then. maxReconsumeTimes may be -1.
func FallbackDelayLevel(asked, reconsumeTimes, maxReconsumeTimes int32) (level int32, dlq bool) {
	switch {
	case asked < 0 || reconsumeTimes >= EffectiveMaxReconsume(maxReconsumeTimes, false):
		return 0, true
	}
	// The number comes from the wire: RetryLevel bounds it, so that it cannot overflow.
	return RetryLevel(asked, reconsumeTimes), false
}

// RetryLevel is the delay level that a broker applies to a message that is sent
// back: asked, or by its own rule, the higher the more often it was tried.
func RetryLevel(asked, reconsumeTimes int32) int32 {
	if asked > 0 {
		return asked
	}
	return firstRetryLevel + min(max(reconsumeTimes, 0), math.MaxInt16)
}

// LevelDelay is the delay of a level on a broker with these levels, from 1 on; a level
// beyond the last counts as that, as it does there.
func LevelDelay(level int32, levels []time.Duration) time.Duration {
	if level <= 0 || len(levels) == 0 {
		return 0
	}
	return levels[min(int(level), len(levels))-1]
}

// SuspendTime clamps an orderly pause to 10 ms … 30 s; zero or negative is the option's.
func SuspendTime(asked, option time.Duration) time.Duration {
	if asked <= 0 {
		asked = option
	}
	return min(max(asked, 10*time.Millisecond), 30*time.Second)
}
