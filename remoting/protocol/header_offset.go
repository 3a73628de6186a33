package protocol

import "time"

// QueueOffsetRequestHeader serves codes 30 and 31 (max and min offset).
type QueueOffsetRequestHeader struct {
	Topic      string `rmq:"topic"`
	QueueID    int32  `rmq:"queueId"`
	BrokerName string `rmq:"bname,opt"`
}

// SearchOffsetRequestHeader asks for an offset by store time (code 29).
type SearchOffsetRequestHeader struct {
	Topic        string    `rmq:"topic"`
	QueueID      int32     `rmq:"queueId"`
	Timestamp    time.Time `rmq:"timestamp"`
	BoundaryType string    `rmq:"boundaryType,opt"` // 5.x: lower, upper; empty: not sent
	BrokerName   string    `rmq:"bname,opt"`
}

// OffsetResponseHeader answers codes 14, 29, 30 and 31.
type OffsetResponseHeader struct {
	Offset int64 `rmq:"offset"`
}

// QueryConsumerOffsetRequestHeader asks for a committed offset (code 14).
type QueryConsumerOffsetRequestHeader struct {
	ConsumerGroup string `rmq:"consumerGroup"`
	Topic         string `rmq:"topic"`
	QueueID       int32  `rmq:"queueId"`
	// SetZeroIfNotFound is always sent; 4.9 ignores it.
	SetZeroIfNotFound bool   `rmq:"setZeroIfNotFound,opt"`
	BrokerName        string `rmq:"bname,opt"`
}

// UpdateConsumerOffsetRequestHeader commits an offset (code 15).
type UpdateConsumerOffsetRequestHeader struct {
	ConsumerGroup string `rmq:"consumerGroup"`
	Topic         string `rmq:"topic"`
	QueueID       int32  `rmq:"queueId"`
	CommitOffset  int64  `rmq:"commitOffset"`
	BrokerName    string `rmq:"bname,opt"`
}
