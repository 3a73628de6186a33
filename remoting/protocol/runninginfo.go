package protocol

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ConsumerRunningInfo is the answer to 307.
type ConsumerRunningInfo struct {
	Properties      map[string]string
	SubscriptionSet []SubscriptionData
	MQTable         map[MessageQueue]ProcessQueueInfo
	// MQPopTable is what a 5.x member consumes by POP; nil: it does not say.
	MQPopTable  map[MessageQueue]PopProcessQueueInfo
	StatusTable map[string]ConsumeStatus
	// UserConsumerInfo is the application's own; nil: the member does not say.
	UserConsumerInfo map[string]string
	Jstack           string
}

// ProcessQueueInfo is the inside of one queue as its owner reports it. Times are
// milliseconds since 1970; 0: the member gives none, or what is no time.
type ProcessQueueInfo struct {
	CommitOffset            int64 `json:"commitOffset"`
	CachedMsgMinOffset      int64 `json:"cachedMsgMinOffset"`
	CachedMsgMaxOffset      int64 `json:"cachedMsgMaxOffset"`
	CachedMsgCount          int32 `json:"cachedMsgCount"`
	CachedMsgSizeInMiB      int32 `json:"cachedMsgSizeInMiB"`
	TransactionMsgMinOffset int64 `json:"transactionMsgMinOffset"`
	TransactionMsgMaxOffset int64 `json:"transactionMsgMaxOffset"`
	TransactionMsgCount     int32 `json:"transactionMsgCount"`
	Locked                  bool  `json:"locked"`
	TryUnlockTimes          int64 `json:"tryUnlockTimes"`
	LastLockTimestamp       int64 `json:"lastLockTimestamp" as:"time"`
	Dropped                 bool  `json:"droped" also:"dropped"` // Java has one p, Go two
	LastPullTimestamp       int64 `json:"lastPullTimestamp" as:"time"`
	LastConsumeTimestamp    int64 `json:"lastConsumeTimestamp" as:"time"`
}

// PopProcessQueueInfo is the inside of one queue that is consumed by POP.
type PopProcessQueueInfo struct {
	WaitAckCount     int32 `json:"waitAckCount"`
	Dropped          bool  `json:"droped" also:"dropped"` // Java has one p, Go two
	LastPopTimestamp int64 `json:"lastPopTimestamp" as:"time"`
}

// ConsumeStatus is one topic's rates in ConsumerRunningInfo.
type ConsumeStatus struct {
	PullRT            float64 `json:"pullRT"`
	PullTPS           float64 `json:"pullTPS"`
	ConsumeRT         float64 `json:"consumeRT"`
	ConsumeOKTPS      float64 `json:"consumeOKTPS"`
	ConsumeFailedTPS  float64 `json:"consumeFailedTPS"`
	ConsumeFailedMsgs int64   `json:"consumeFailedMsgs"`
}

// EncodeRunningInfo writes the answer to 307 as a Java client does: of 4.9 without,
// of 5.x with the tables that may be nil.
func EncodeRunningInfo(r *ConsumerRunningInfo) []byte {
	o := beginObject(nil)
	if r.Jstack != "" {
		o.text("jstack", r.Jstack)
	}
	if r.MQPopTable != nil {
		o.name("mqPopTable")
		queues := beginObject(o.dst)
		for _, mq := range sortedQueues[PopProcessQueueInfo](r.MQPopTable) {
			queues.queueName(mq)
			queues.dst = appendPopProcessQueueInfo(queues.dst, r.MQPopTable[mq])
		}
		o.dst = queues.end()
	}
	o.name("mqTable")
	queues := beginObject(o.dst)
	for _, mq := range sortedQueues[ProcessQueueInfo](r.MQTable) {
		queues.queueName(mq)
		queues.dst = appendProcessQueueInfo(queues.dst, r.MQTable[mq])
	}
	o.dst = queues.end()
	o.name("properties")
	o.dst = appendTexts(o.dst, r.Properties)
	o.name("statusTable")
	topics := beginObject(o.dst)
	for _, topic := range slices.Sorted(maps.Keys(r.StatusTable)) {
		topics.textName(topic)
		topics.dst = appendConsumeStatus(topics.dst, r.StatusTable[topic])
	}
	o.dst = topics.end()
	o.name("subscriptionSet")
	o.dst = appendArray(o.dst, r.SubscriptionSet, appendSubscription)
	if r.UserConsumerInfo != nil {
		o.name("userConsumerInfo")
		o.dst = appendTexts(o.dst, r.UserConsumerInfo)
	}
	return o.end()
}

func appendTexts(dst []byte, texts map[string]string) []byte {
	o := beginObject(dst)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		o.textName(name)
		o.dst = appendString(o.dst, texts[name])
	}
	return o.end()
}

func appendPopProcessQueueInfo(dst []byte, q PopProcessQueueInfo) []byte {
	o := beginObject(dst)
	o.bool("droped", q.Dropped)
	o.number("lastPopTimestamp", q.LastPopTimestamp)
	o.number("waitAckCount", int64(q.WaitAckCount))
	return o.end()
}

func appendProcessQueueInfo(dst []byte, q ProcessQueueInfo) []byte {
	o := beginObject(dst)
	o.number("cachedMsgCount", int64(q.CachedMsgCount))
	o.number("cachedMsgMaxOffset", q.CachedMsgMaxOffset)
	o.number("cachedMsgMinOffset", q.CachedMsgMinOffset)
	o.number("cachedMsgSizeInMiB", int64(q.CachedMsgSizeInMiB))
	o.number("commitOffset", q.CommitOffset)
	o.bool("droped", q.Dropped)
	o.number("lastConsumeTimestamp", q.LastConsumeTimestamp)
	o.number("lastLockTimestamp", q.LastLockTimestamp)
	o.number("lastPullTimestamp", q.LastPullTimestamp)
	o.bool("locked", q.Locked)
	o.number("transactionMsgCount", int64(q.TransactionMsgCount))
	o.number("transactionMsgMaxOffset", q.TransactionMsgMaxOffset)
	o.number("transactionMsgMinOffset", q.TransactionMsgMinOffset)
	o.number("tryUnlockTimes", q.TryUnlockTimes)
	return o.end()
}

func appendConsumeStatus(dst []byte, s ConsumeStatus) []byte {
	o := beginObject(dst)
	o.number("consumeFailedMsgs", s.ConsumeFailedMsgs)
	o.double("consumeFailedTPS", s.ConsumeFailedTPS)
	o.double("consumeOKTPS", s.ConsumeOKTPS)
	o.double("consumeRT", s.ConsumeRT)
	o.double("pullRT", s.PullRT)
	o.double("pullTPS", s.PullTPS)
	return o.end()
}

// runningInfoJSON is ConsumerRunningInfo in the forms that peers may send.
type runningInfoJSON struct {
	Jstack           string                        `json:"jstack"`
	MQPopTable       queueMap[PopProcessQueueInfo] `json:"mqPopTable"`
	MQTable          queueMap[ProcessQueueInfo]    `json:"mqTable"`
	Properties       map[string]string             `json:"properties"`
	StatusTable      map[string]ConsumeStatus      `json:"statusTable"`
	SubscriptionSet  []SubscriptionData            `json:"subscriptionSet"`
	UserConsumerInfo map[string]string             `json:"userConsumerInfo"`
}

// DecodeRunningInfo reads the answer to 307 as any client makes it. The Go
// client's jstack may hold quotes as they are; it is then cut off before the
// rest is read.
func DecodeRunningInfo(body []byte) (ConsumerRunningInfo, error) {
	var w runningInfoJSON
	err := decodeLenient(body, &w)
	if err != nil {
		rest, jstack, ok := cutJstack(body)
		if !ok {
			return ConsumerRunningInfo{}, fmt.Errorf("decode running info: %w", err)
		}
		w = runningInfoJSON{}
		if decodeLenient(rest, &w) != nil {
			return ConsumerRunningInfo{}, fmt.Errorf("decode running info: %w", err)
		}
		w.Jstack = strings.ToValidUTF8(jstack, "\uFFFD") // as the JSON decoder has it
	}
	return ConsumerRunningInfo{
		Properties:       w.Properties,
		SubscriptionSet:  w.SubscriptionSet,
		MQTable:          w.MQTable,
		MQPopTable:       w.MQPopTable,
		StatusTable:      w.StatusTable,
		UserConsumerInfo: w.UserConsumerInfo,
		Jstack:           w.Jstack,
	}, nil
}

// cutJstack takes body apart at its jstack member, which must be the last one.
// The name with its quotes cannot stand inside a string that is escaped.
func cutJstack(body []byte) (rest []byte, jstack string, ok bool) {
	before, after, ok := bytes.Cut(body, []byte(`"jstack"`))
	if !ok {
		return nil, "", false
	}
	after, ok = bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(":"))
	if !ok {
		return nil, "", false
	}
	after, ok = bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte(`"`))
	if !ok {
		return nil, "", false
	}
	after, ok = bytes.CutSuffix(bytes.TrimRight(after, " \t\r\n"), []byte("}"))
	if !ok {
		return nil, "", false
	}
	after, ok = bytes.CutSuffix(bytes.TrimRight(after, " \t\r\n"), []byte(`"`))
	if !ok {
		return nil, "", false
	}
	before = bytes.TrimSuffix(bytes.TrimRight(before, " \t\r\n"), []byte(","))
	return append(bytes.Clone(before), '}'), string(after), true
}
