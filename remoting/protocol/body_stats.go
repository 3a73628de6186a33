package protocol

// ConsumeStats is the answer to 208.
type ConsumeStats struct {
	ConsumeTPS  float64                `json:"consumeTps"`
	OffsetTable ByQueue[OffsetWrapper] `json:"offsetTable"`
}

// OffsetWrapper is one queue of ConsumeStats. A queue without commit shows a
// ConsumerOffset of 0.
type OffsetWrapper struct {
	BrokerOffset   int64 `json:"brokerOffset"`
	ConsumerOffset int64 `json:"consumerOffset"`
	LastTimestamp  int64 `json:"lastTimestamp"` // store time of the last consumed message, ms; 0: unknown
	PullOffset     int64 `json:"pullOffset"`    // 5.x
}

// EncodeConsumeStats writes the answer to 208 as 5.x does; 4.9 has no pullOffset.
func EncodeConsumeStats(s *ConsumeStats) []byte { return encodeBody(s) }

// DecodeConsumeStats reads the answer to 208.
func DecodeConsumeStats(body []byte) (ConsumeStats, error) {
	return decodeBody[ConsumeStats](body, "consume stats")
}

// TopicStats is the answer to 202.
type TopicStats map[MessageQueue]TopicOffset

// TopicOffset is one queue of TopicStats.
type TopicOffset struct {
	MinOffset           int64 `json:"minOffset"`
	MaxOffset           int64 `json:"maxOffset"`
	LastUpdateTimestamp int64 `json:"lastUpdateTimestamp"`
}

// topicStats is TopicStats as brokers write it.
type topicStats struct {
	OffsetTable ByQueue[TopicOffset] `json:"offsetTable"`
}

// EncodeTopicStats writes the answer to 202 as 4.9 does; 5.x adds a rate.
func EncodeTopicStats(s TopicStats) []byte {
	return encodeBody(topicStats{ByQueue[TopicOffset](s)})
}

// DecodeTopicStats reads the answer to 202.
func DecodeTopicStats(body []byte) (TopicStats, error) {
	w, err := decodeBody[topicStats](body, "topic stats")
	return TopicStats(w.OffsetTable), err
}

// ConsumeMessageDirectlyResult is the answer to 309.
type ConsumeMessageDirectlyResult struct {
	Order          bool   `json:"order"`
	AutoCommit     bool   `json:"autoCommit"`
	ConsumeResult  string `json:"consumeResult"` // CR_SUCCESS, CR_LATER, CR_ROLLBACK, CR_COMMIT, CR_THROW_EXCEPTION, CR_RETURN_NULL
	Remark         string `json:"remark,omitzero"`
	SpentTimeMills int64  `json:"spentTimeMills"`
}

// EncodeConsumeDirectlyResult writes the answer to 309.
func EncodeConsumeDirectlyResult(r *ConsumeMessageDirectlyResult) []byte { return encodeBody(r) }

// DecodeConsumeDirectlyResult reads the answer to 309.
func DecodeConsumeDirectlyResult(body []byte) (ConsumeMessageDirectlyResult, error) {
	return decodeBody[ConsumeMessageDirectlyResult](body, "direct consumption")
}
