package protocol

import (
	"cmp"
	"strconv"
	"unicode/utf16"
)

// MessageQueue names one queue of a topic on one broker. It is comparable and is
// the one key type for queues in the whole program (Java: MessageQueue).
type MessageQueue struct {
	Topic      string `json:"topic"`
	BrokerName string `json:"brokerName"`
	QueueID    int32  `json:"queueId"`
}

// String gives the queue as people write it: "topic broker-a/3".
func (q MessageQueue) String() string { return q.Topic + " " + q.Short() }

// Short gives the queue without its topic: "broker-a/3".
func (q MessageQueue) Short() string {
	return q.BrokerName + "/" + strconv.Itoa(int(q.QueueID))
}

// CompareMessageQueues orders queues as every member of a group must see them:
// topic, broker name (both in UTF-16 code unit order, as Java compares
// strings), then queue id as a number. Suitable for slices.SortFunc.
func CompareMessageQueues(a, b MessageQueue) int {
	if c := CompareUTF16(a.Topic, b.Topic); c != 0 {
		return c
	}
	if c := CompareUTF16(a.BrokerName, b.BrokerName); c != 0 {
		return c
	}
	return cmp.Compare(a.QueueID, b.QueueID)
}

// CompareUTF16 compares two strings by UTF-16 code units, as Java's
// String.compareTo does. It differs from byte order only beyond the basic
// multilingual plane.
func CompareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] >= 0x80 || b[i] >= 0x80 {
			return compareUnits(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		}
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func compareUnits(a, b []uint16) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

const (
	// RetryTopicPrefix begins the name of a group's retry topic.
	RetryTopicPrefix = "%RETRY%"
	// DLQTopicPrefix begins the name of a group's dead-letter topic.
	DLQTopicPrefix = "%DLQ%"
)

// RetryTopic is the topic to which the messages of a group are sent back.
func RetryTopic(group string) string { return RetryTopicPrefix + group }

// DLQTopic is the topic of a group's dead letters.
func DLQTopic(group string) string { return DLQTopicPrefix + group }
