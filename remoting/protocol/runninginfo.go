package protocol

import (
	"bytes"
	"strings"
)

// ConsumerRunningInfo is the answer to 307.
type ConsumerRunningInfo struct {
	Properties      map[string]string         `json:"properties"`
	SubscriptionSet []SubscriptionData        `json:"subscriptionSet"`
	MQTable         ByQueue[ProcessQueueInfo] `json:"mqTable"`
	// MQPopTable is what a 5.x member consumes by POP; nil: it does not say.
	MQPopTable  ByQueue[PopProcessQueueInfo] `json:"mqPopTable,omitzero"`
	StatusTable map[string]ConsumeStatus     `json:"statusTable"`
	// UserConsumerInfo is the application's own; nil: the member does not say.
	UserConsumerInfo map[string]string `json:"userConsumerInfo,omitzero"`
	Jstack           string            `json:"jstack,omitzero"`
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
func EncodeRunningInfo(r *ConsumerRunningInfo) []byte { return encodeBody(r) }

// DecodeRunningInfo reads the answer to 307 as any client makes it. The Go
// client's jstack may hold quotes as they are; it is then cut off before the
// rest is read. The C++ client has a spelling of its own of "false".
func DecodeRunningInfo(body []byte) (ConsumerRunningInfo, error) {
	info, err := decodeRunningInfo(body)
	if info.Properties["PROP_CONSUMEORDERLY"] == "flase" {
		info.Properties["PROP_CONSUMEORDERLY"] = "false"
	}
	return info, err
}

func decodeRunningInfo(body []byte) (ConsumerRunningInfo, error) {
	info, err := decodeBody[ConsumerRunningInfo](body, "running info")
	if err == nil {
		return info, nil
	}
	rest, jstack, ok := cutJstack(body)
	if !ok {
		return ConsumerRunningInfo{}, err
	}
	info, restErr := decodeBody[ConsumerRunningInfo](rest, "running info")
	if restErr != nil {
		return ConsumerRunningInfo{}, err
	}
	info.Jstack = strings.ToValidUTF8(jstack, "\uFFFD") // as the JSON decoder has it
	return info, nil
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
