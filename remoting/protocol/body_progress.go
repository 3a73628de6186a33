package protocol

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// AllOffsets is the answer to 43: every committed offset of a broker, by group,
// topic and queue id.
type AllOffsets map[string]map[string]map[int32]int64

// EncodeAllOffsets writes the answer to 43, with integer keys as brokers do.
func EncodeAllOffsets(all AllOffsets) []byte {
	byKey := map[string]map[int32]int64{}
	for group, topics := range all {
		for topic, queues := range topics {
			byKey[topic+"@"+group] = queues
		}
	}
	o := beginObject(nil)
	o.name("offsetTable")
	o.dst = appendTable(o.dst, byKey, func(dst []byte, queues map[int32]int64) []byte {
		table := beginObject(dst)
		for _, id := range slices.Sorted(maps.Keys(queues)) {
			table.bareName(strconv.Itoa(int(id)))
			table.dst = appendInt(table.dst, queues[id])
		}
		return table.end()
	})
	return o.end()
}

// DecodeAllOffsets reads the answer to 43.
func DecodeAllOffsets(body []byte) (AllOffsets, error) {
	var w struct {
		OffsetTable map[string]map[int32]int64 `json:"offsetTable"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode all offsets: %w", err)
	}
	all := AllOffsets{}
	for key, queues := range w.OffsetTable {
		topic, group := cutOffsetKey(key)
		topics := all[group]
		if topics == nil {
			topics = map[string]map[int32]int64{}
			all[group] = topics
		}
		topics[topic] = queues
	}
	return all, nil
}

// cutOffsetKey takes TOPIC@GROUP apart. No topic has an @ but the retry topic of a
// group that has one.
func cutOffsetKey(key string) (topic, group string) {
	if rest, retry := strings.CutPrefix(key, RetryTopicPrefix); retry {
		if half := len(rest) / 2; len(rest)%2 == 1 && rest[half] == '@' && rest[:half] == rest[half+1:] {
			return key[:len(RetryTopicPrefix)+half], rest[:half]
		}
	}
	topic, group, _ = strings.Cut(key, "@")
	return topic, group
}

// BrokerConsumeStats is the answer to 317: the progress of every group at one
// broker. TotalInflightDiff (5.x) may be negative.
type BrokerConsumeStats struct {
	BrokerAddr                   string
	Groups                       map[string][]ConsumeStats // a ConsumeStats for each topic
	TotalDiff, TotalInflightDiff int64
}

// EncodeBrokerConsumeStats writes the answer to 317 as 5.x does.
func EncodeBrokerConsumeStats(s *BrokerConsumeStats) []byte {
	o := beginObject(nil)
	o.text("brokerAddr", s.BrokerAddr)
	o.name("consumeStatsList")
	o.dst = appendArray(o.dst, slices.Sorted(maps.Keys(s.Groups)), func(dst []byte, group string) []byte {
		one := beginObject(dst)
		one.textName(group)
		one.dst = appendArray(one.dst, s.Groups[group], func(dst []byte, c ConsumeStats) []byte { return appendConsumeStats(dst, &c) })
		return one.end()
	})
	o.number("totalDiff", s.TotalDiff)
	o.number("totalInflightDiff", s.TotalInflightDiff)
	return o.end()
}

// DecodeBrokerConsumeStats reads the answer to 317.
func DecodeBrokerConsumeStats(body []byte) (BrokerConsumeStats, error) {
	var w struct {
		BrokerAddr        string                          `json:"brokerAddr"`
		ConsumeStatsList  []map[string][]consumeStatsJSON `json:"consumeStatsList"`
		TotalDiff         int64                           `json:"totalDiff"`
		TotalInflightDiff int64                           `json:"totalInflightDiff"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return BrokerConsumeStats{}, fmt.Errorf("decode the progress of all groups: %w", err)
	}
	s := BrokerConsumeStats{
		BrokerAddr: w.BrokerAddr, Groups: make(map[string][]ConsumeStats, len(w.ConsumeStatsList)),
		TotalDiff: w.TotalDiff, TotalInflightDiff: w.TotalInflightDiff,
	}
	for _, one := range w.ConsumeStatsList {
		for group, list := range one {
			stats := s.Groups[group]
			for _, c := range list {
				stats = append(stats, ConsumeStats{ConsumeTPS: c.ConsumeTPS, OffsetTable: c.OffsetTable})
			}
			s.Groups[group] = stats
		}
	}
	return s, nil
}

// QueueTimeSpan is one queue in the answer to 303. Times are milliseconds.
type QueueTimeSpan struct {
	MessageQueue MessageQueue `json:"messageQueue"`
	MinTimestamp int64        `json:"minTimeStamp"` // when the oldest message was stored
	MaxTimestamp int64        `json:"maxTimeStamp"` // and the newest
	// ConsumeTimestamp is when the last consumed message was stored.
	ConsumeTimestamp int64 `json:"consumeTimeStamp"`
	// DelayTime is how long the next message has waited; 0 when there is none, and
	// longer than since 1970 when the broker cannot read it.
	DelayTime int64 `json:"delayTime"`
}

// EncodeTimeSpans writes the answer to 303.
func EncodeTimeSpans(spans []QueueTimeSpan) []byte {
	o := beginObject(nil)
	o.name("consumeTimeSpanSet")
	o.dst = appendArray(o.dst, spans, func(dst []byte, s QueueTimeSpan) []byte {
		q := beginObject(dst)
		q.number("consumeTimeStamp", s.ConsumeTimestamp)
		q.number("delayTime", s.DelayTime)
		q.number("maxTimeStamp", s.MaxTimestamp)
		q.name("messageQueue")
		q.dst = appendQueue(q.dst, s.MessageQueue)
		q.number("minTimeStamp", s.MinTimestamp)
		return q.end()
	})
	return o.end()
}

// DecodeTimeSpans reads the answer to 303.
func DecodeTimeSpans(body []byte) ([]QueueTimeSpan, error) {
	var w struct {
		ConsumeTimeSpanSet []QueueTimeSpan `json:"consumeTimeSpanSet"`
	}
	if err := decodeLenient(body, &w); err != nil {
		return nil, fmt.Errorf("decode time spans: %w", err)
	}
	return w.ConsumeTimeSpanSet, nil
}
