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

// brokerConsumeStats is BrokerConsumeStats as brokers write it.
type brokerConsumeStats struct {
	BrokerAddr        string                      `json:"brokerAddr"`
	ConsumeStatsList  []map[string][]ConsumeStats `json:"consumeStatsList"`
	TotalDiff         int64                       `json:"totalDiff"`
	TotalInflightDiff int64                       `json:"totalInflightDiff"`
}

// EncodeBrokerConsumeStats writes the answer to 317 as 5.x does.
func EncodeBrokerConsumeStats(s *BrokerConsumeStats) []byte {
	w := brokerConsumeStats{BrokerAddr: s.BrokerAddr, TotalDiff: s.TotalDiff, TotalInflightDiff: s.TotalInflightDiff}
	for _, group := range slices.Sorted(maps.Keys(s.Groups)) {
		w.ConsumeStatsList = append(w.ConsumeStatsList, map[string][]ConsumeStats{group: s.Groups[group]})
	}
	return encodeBody(w)
}

// DecodeBrokerConsumeStats reads the answer to 317.
func DecodeBrokerConsumeStats(body []byte) (BrokerConsumeStats, error) {
	w, err := decodeBody[brokerConsumeStats](body, "the progress of all groups")
	if err != nil {
		return BrokerConsumeStats{}, err
	}
	s := BrokerConsumeStats{
		BrokerAddr: w.BrokerAddr, Groups: make(map[string][]ConsumeStats, len(w.ConsumeStatsList)),
		TotalDiff: w.TotalDiff, TotalInflightDiff: w.TotalInflightDiff,
	}
	for _, one := range w.ConsumeStatsList {
		for group, list := range one {
			s.Groups[group] = append(s.Groups[group], list...)
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

// timeSpans is the answer to 303.
type timeSpans struct {
	ConsumeTimeSpanSet []QueueTimeSpan `json:"consumeTimeSpanSet"`
}

// EncodeTimeSpans writes the answer to 303.
func EncodeTimeSpans(spans []QueueTimeSpan) []byte { return encodeBody(timeSpans{spans}) }

// DecodeTimeSpans reads the answer to 303.
func DecodeTimeSpans(body []byte) ([]QueueTimeSpan, error) {
	w, err := decodeBody[timeSpans](body, "time spans")
	return w.ConsumeTimeSpanSet, err
}
