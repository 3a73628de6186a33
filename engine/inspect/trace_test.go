package inspect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Records of a trace as both Java lines write them.
func TestParseTrace(t *testing.T) {
	const id = "7F0000010DFC1EB2C6F6000000000001"
	rec := func(fields ...string) string {
		text := ""
		for i, f := range fields {
			if i > 0 {
				text += "\x01"
			}
			text += f
		}
		return text + "\x02"
	}
	body := rec("Pub", "1795966590000", "DefaultRegion", "p-group", "orders", id, "A", "k1 k2", "127.0.0.1:10911", "5", "12", "0", "7F000001", "true") +
		rec("SubAfter", "req-1", id, "31", "false", "k1", "1", "1795966590200", "c-group") +
		rec("SubBefore", "1795966590100", "DefaultRegion", "c-group", "req-1", id, "2", "k1") +
		rec("SubBefore", "1795966590100", "DefaultRegion", "c-group", "req-2", "another", "0", "") +
		rec("SubAfter", "req-1", id, "31", "true", "k1", "0") + // 4.9 without the last two
		rec("Recall", "x") + "rest"
	at := func(ms int64) time.Time { return time.UnixMilli(1795966590000 + ms) }
	want := []TraceRow{
		{Kind: "Pub", At: at(0), Group: "p-group", Client: "c", Cost: 12 * time.Millisecond, Success: true, Detail: "sent to orders, stored by 127.0.0.1:10911"},
		{Kind: "SubAfter", At: at(200), Group: "c-group", Client: "c", Cost: 31 * time.Millisecond, Attempt: 3, Detail: "the listener returned"},
		{Kind: "SubBefore", At: at(100), Group: "c-group", Client: "c", Success: true, Attempt: 3, Detail: "given to the listener"},
		{Kind: "SubAfter", At: at(131), Group: "c-group", Client: "c", Cost: 31 * time.Millisecond, Success: true, Attempt: 3, Detail: "the listener returned"},
	}
	for _, by := range []string{id, "k1"} {
		got := parseTrace(body, by, "c")
		joinTrace(got)
		if diff := cmp.Diff(got, want, cmpopts.IgnoreUnexported(TraceRow{})); diff != "" {
			t.Errorf("by %s (-got +want):\n%s", by, diff)
		}
	}
	if got := parseTrace(body, "k", "c"); len(got) > 0 {
		t.Errorf("part of a key: %+v", got)
	}
}

// Whatever lies in a trace topic, reading it neither fails nor grows.
func FuzzParseTrace(f *testing.F) {
	f.Add("Pub\x01\x01\x01\x01\x01id\x02SubAfter\x01\x01id", "id")
	f.Fuzz(func(t *testing.T, body, id string) {
		rows := parseTrace(body, id, "")
		if len(rows) > len(body) {
			t.Errorf("%d rows of %d bytes", len(rows), len(body))
		}
		joinTrace(rows)
	})
}
