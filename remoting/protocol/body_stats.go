package protocol

import "fmt"

// ConsumeStats is the answer to 208.
type ConsumeStats struct {
	ConsumeTPS  float64
	OffsetTable map[MessageQueue]OffsetWrapper
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
func EncodeConsumeStats(s *ConsumeStats) []byte { return appendConsumeStats(nil, s) }

func appendConsumeStats(dst []byte, s *ConsumeStats) []byte {
	o := beginObject(dst)
	o.double("consumeTps", s.ConsumeTPS)
	o.name("offsetTable")
	table := beginObject(o.dst)
	for _, mq := range sortedQueues[OffsetWrapper](s.OffsetTable) {
		w := s.OffsetTable[mq]
		table.queueName(mq)
		q := beginObject(table.dst)
		q.number("brokerOffset", w.BrokerOffset)
		q.number("consumerOffset", w.ConsumerOffset)
		q.number("lastTimestamp", w.LastTimestamp)
		q.number("pullOffset", w.PullOffset)
		table.dst = q.end()
	}
	o.dst = table.end()
	return o.end()
}

// consumeStatsJSON is ConsumeStats as brokers write it.
type consumeStatsJSON struct {
	ConsumeTPS  float64                 `json:"consumeTps"`
	OffsetTable queueMap[OffsetWrapper] `json:"offsetTable"`
}

// DecodeConsumeStats reads the answer to 208.
func DecodeConsumeStats(body []byte) (ConsumeStats, error) {
	var w consumeStatsJSON
	if err := decodeLenient(body, &w); err != nil {
		return ConsumeStats{}, fmt.Errorf("decode consume stats: %w", err)
	}
	return ConsumeStats{ConsumeTPS: w.ConsumeTPS, OffsetTable: w.OffsetTable}, nil
}

// TopicStats is the answer to 202.
type TopicStats map[MessageQueue]TopicOffset

// TopicOffset is one queue of TopicStats.
type TopicOffset struct {
	MinOffset           int64 `json:"minOffset"`
	MaxOffset           int64 `json:"maxOffset"`
	LastUpdateTimestamp int64 `json:"lastUpdateTimestamp"`
}

// EncodeTopicStats writes the answer to 202 as 4.9 does; 5.x adds a rate.
func EncodeTopicStats(s TopicStats) []byte {
	o := beginObject(nil)
	o.name("offsetTable")
	table := beginObject(o.dst)
	for _, mq := range sortedQueues[TopicOffset](s) {
		t := s[mq]
		table.queueName(mq)
		q := beginObject(table.dst)
		q.number("lastUpdateTimestamp", t.LastUpdateTimestamp)
		q.number("maxOffset", t.MaxOffset)
		q.number("minOffset", t.MinOffset)
		table.dst = q.end()
	}
	o.dst = table.end()
	return o.end()
}

// DecodeTopicStats reads the answer to 202.
func DecodeTopicStats(body []byte) (TopicStats, error) {
	var w struct {
		OffsetTable queueMap[TopicOffset] `json:"offsetTable"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode topic stats: %w", err)
	}
	return TopicStats(w.OffsetTable), nil
}

// ConsumeMessageDirectlyResult is the answer to 309.
type ConsumeMessageDirectlyResult struct {
	Order          bool   `json:"order"`
	AutoCommit     bool   `json:"autoCommit"`
	ConsumeResult  string `json:"consumeResult"` // CR_SUCCESS, CR_LATER, CR_ROLLBACK, CR_COMMIT, CR_THROW_EXCEPTION, CR_RETURN_NULL
	Remark         string `json:"remark,omitempty"`
	SpentTimeMills int64  `json:"spentTimeMills"`
}

// EncodeConsumeDirectlyResult writes the answer to 309.
func EncodeConsumeDirectlyResult(r *ConsumeMessageDirectlyResult) []byte {
	o := beginObject(nil)
	o.bool("autoCommit", r.AutoCommit)
	o.text("consumeResult", r.ConsumeResult)
	o.bool("order", r.Order)
	if r.Remark != "" {
		o.text("remark", r.Remark)
	}
	o.number("spentTimeMills", r.SpentTimeMills)
	return o.end()
}

// DecodeConsumeDirectlyResult reads the answer to 309.
func DecodeConsumeDirectlyResult(body []byte) (ConsumeMessageDirectlyResult, error) {
	var r ConsumeMessageDirectlyResult
	if err := decodeLenient(body, &r); err != nil {
		return ConsumeMessageDirectlyResult{}, fmt.Errorf("decode direct consumption: %w", err)
	}
	return r, nil
}
