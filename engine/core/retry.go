package core

import (
	"math/rand/v2"
	"time"
)

// SplitAck tells how many messages at the head of a batch of n are done: the
// rest failed. ackIndex is the listener's, success its verdict
// (spec/consumer-concurrent.md 4).
func SplitAck(success bool, ackIndex, n int) (done int) { panic("todo") }

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
// verdict, failed when that verdict is to retry.
func ClassifyReturn(hasStatus, threw, failed bool, rt, timeout time.Duration) ReturnType {
	panic("todo")
}

// LocalRetryDelay is when messages whose send-back failed are handed out again.
const LocalRetryDelay = 5 * time.Second

// EffectiveMaxReconsume turns -1 into the model's default: 16, or without limit when orderly.
func EffectiveMaxReconsume(maxReconsumeTimes int32, orderly bool) int32 { panic("todo") }

// FallbackDelayLevel is the delay level of the fallback message that takes the
// place of a failed send-back, keeping the listener's intent (trap T24): asked is
// DelayLevelWhenNextConsume. dlq is set when it must go to the dead letters.
func FallbackDelayLevel(asked, reconsumeTimes, maxReconsumeTimes int32) (level int32, dlq bool) {
	panic("todo")
}

// SuspendTime clamps an orderly pause to 10 ms … 30 s; zero or negative is the option's.
func SuspendTime(asked, option time.Duration) time.Duration { panic("todo") }

// Backoff gives the pause before the n-th try (from 0) of something that fails:
// base doubling up to limit, with a quarter of jitter from rnd.
func Backoff(n int, base, limit time.Duration, rnd *rand.Rand) time.Duration { panic("todo") }
