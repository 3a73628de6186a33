package protocol

import "time"

// PullSysFlag holds the bits of PullMessageRequestHeader.SysFlag.
type PullSysFlag int32

// The bits of a PullSysFlag.
const (
	PullCommitOffset PullSysFlag = 1 << iota
	PullSuspend
	PullSubscription
	PullClassFilter
	PullLite
)

// PullMessageRequestHeader asks for messages of one queue (code 11). What differs from
// request to request of a queue comes last, where PullRequestEncoder leaves it off.
type PullMessageRequestHeader struct {
	ConsumerGroup  string        `rmq:"consumerGroup"`
	Topic          string        `rmq:"topic"`
	QueueID        int32         `rmq:"queueId"`
	MaxMsgNums     int32         `rmq:"maxMsgNums"`
	SuspendTimeout time.Duration `rmq:"suspendTimeoutMillis,opt"` // whole milliseconds on the wire
	Subscription   string        `rmq:"subscription,opt"`
	SubVersion     int64         `rmq:"subVersion"`
	ExpressionType string        `rmq:"expressionType,opt"`
	MaxMsgBytes    int32         `rmq:"maxMsgBytes,omitzero"`
	BrokerName     string        `rmq:"bname,opt"`
	QueueOffset    int64         `rmq:"queueOffset"`
	CommitOffset   int64         `rmq:"commitOffset,opt"`
	SysFlag        PullSysFlag   `rmq:"sysFlag"`
}

// PullMessageResponseHeader comes with the answers to code 11 that a pull status
// goes with (0, 19, 20, 21); other answers may have none of its fields.
type PullMessageResponseHeader struct {
	SuggestWhichBrokerID int64 `rmq:"suggestWhichBrokerId"`
	NextBeginOffset      int64 `rmq:"nextBeginOffset"`
	MinOffset            int64 `rmq:"minOffset"`
	MaxOffset            int64 `rmq:"maxOffset"`
	OffsetDelta          int64 `rmq:"offsetDelta,omitzero"` // 5.x; 4.9 has none
}
