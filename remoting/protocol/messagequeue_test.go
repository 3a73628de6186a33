package protocol

import (
	"slices"
	"testing"
)

// The order of the Java client, which compares UTF-16 units: a character beyond
// the basic multilingual plane comes before U+FF01, unlike in UTF-8.
func TestCompareMessageQueues(t *testing.T) {
	want := []MessageQueue{
		{"", "", 0},
		{"A", "b", 1},
		{"A", "b", 2},
		{"A", "b", 10},
		{"A", "bb\uFF01", 0},
		{"A", "b\U0001F680", 0},
		{"A", "b\uFF01", 0},
		{"AA", "a", 0},
		{"a", "a", 0},
		{"é", "a", 0},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, CompareMessageQueues)
	if !slices.Equal(got, want) {
		t.Errorf("sorted as %v, want %v", got, want)
	}
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "b", -1}, {"ab", "a", 1}, {"\U0001F680", "\uFF01", -1}, {"x\uFF01", "x\U0001F680", 1},
		{"é", "z", 1}, {"é", "é", 0}, {"é", "éa", -1},
	}
	for _, tt := range tests {
		if got := CompareUTF16(tt.a, tt.b); got != tt.want {
			t.Errorf("CompareUTF16(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestMessageQueueString(t *testing.T) {
	mq := MessageQueue{Topic: RetryTopic("G"), BrokerName: "broker-a", QueueID: 3}
	if got := mq.String(); got != "%RETRY%G broker-a/3" {
		t.Errorf("queue is %q", got)
	}
	if got := DLQTopic("G"); got != "%DLQ%G" {
		t.Errorf("dead-letter topic is %q", got)
	}
}
