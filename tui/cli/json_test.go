package cli

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

var testSource = &protocol.MessageSource{BrokerName: "broker-a"}

// makeMessage builds a stored message as a broker sends it.
func makeMessage(t testing.TB, r protocol.Record) *engine.Message {
	t.Helper()
	if r.Topic == "" {
		r.Topic = "orders"
	}
	if !r.BornHost.IsValid() {
		r.BornHost = netip.MustParseAddrPort("10.0.0.7:50732")
	}
	if !r.StoreHost.IsValid() {
		r.StoreHost = netip.MustParseAddrPort("127.0.0.1:10911")
	}
	if r.Born.IsZero() {
		r.Born = time.UnixMilli(1795966041871)
	}
	if r.Stored.IsZero() {
		r.Stored = time.UnixMilli(1795966041900)
	}
	record, err := protocol.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := protocol.AppendMessages(nil, record, testSource)
	if err != nil || len(messages) != 1 {
		t.Fatalf("AppendMessages = %d messages, %v", len(messages), err)
	}
	return &messages[0]
}

func encodeMessage(t testing.TB, m *engine.Message) map[string]any {
	t.Helper()
	var e messageEncoder
	return decodeLine(t, e.append(nil, m))
}

// decodeLine checks that b is one line of JSON and reads it.
func decodeLine(t testing.TB, b []byte) map[string]any {
	t.Helper()
	line, ok := strings.CutSuffix(string(b), "\n")
	if !ok || strings.ContainsAny(line, "\n\r\u2028\u2029\u0085") {
		t.Fatalf("not one line: %q", b)
	}
	if !utf8.ValidString(line) {
		t.Fatalf("not UTF-8: %q", b)
	}
	var out map[string]any
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&out); err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	return out
}

func TestMessageFieldsInOrder(t *testing.T) {
	m := makeMessage(t, protocol.Record{
		QueueID: 3, QueueOffset: 1234, CommitLogOffset: 0x585, Flag: 7, ReconsumeTimes: 2, SysFlag: protocol.SysFlagTransCommit,
		Body: []byte(`{"id": "ü"}`),
		Properties: []protocol.Property{
			{Name: "KEYS", Value: "k1  k2"}, {Name: "TAGS", Value: "paid"}, {Name: "UNIQ_KEY", Value: "OLD"},
			{Name: "UNIQ_KEY", Value: "7F0000010DFC1EB2C6F6000000000001"}, {Name: "quote", Value: "a\"b\\c\x03"},
		},
	})
	var e messageEncoder
	got := string(e.append(nil, m))
	want := `{"kind":"message","topic":"orders","broker":"broker-a","queue":3,"offset":1234,"commitlog_offset":1413,` +
		`"message_id":"7F0000010DFC1EB2C6F6000000000001","offset_message_id":"7F00000100002A9F0000000000000585",` +
		`"born":"2026-11-29T15:27:21.871Z","stored":"2026-11-29T15:27:21.900Z","born_host":"10.0.0.7:50732","store_host":"127.0.0.1:10911",` +
		`"tags":"paid","keys":["k1","k2"],"reconsume_times":2,"sys_flag":8,"flag":7,` +
		`"properties":{"KEYS":"k1  k2","TAGS":"paid","UNIQ_KEY":"7F0000010DFC1EB2C6F6000000000001","quote":"a\"b\\c\u0003"},` +
		`"body":"{\"id\": \"ü\"}","body_size":12}` + "\n"
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("message (-got +want):\n%s", diff)
	}
}

func TestMessageWithoutProperties(t *testing.T) {
	got := encodeMessage(t, makeMessage(t, protocol.Record{Body: []byte("x")}))
	if got["tags"] != nil {
		t.Errorf("tags = %v, want null", got["tags"])
	}
	if keys, ok := got["keys"].([]any); !ok || len(keys) != 0 {
		t.Errorf("keys = %v, want []", got["keys"])
	}
	if got["message_id"] != got["offset_message_id"] {
		t.Errorf("message_id = %v, want the offset id %v", got["message_id"], got["offset_message_id"])
	}
	if _, ok := got["original_topic"]; ok {
		t.Error("original_topic is there although it does not differ")
	}
}

func TestMessageOfRetryTopicNamesTheOriginal(t *testing.T) {
	got := encodeMessage(t, makeMessage(t, protocol.Record{
		Topic: "%RETRY%g", Properties: []protocol.Property{{Name: "RETRY_TOPIC", Value: "orders"}},
	}))
	if got["topic"] != "%RETRY%g" || got["original_topic"] != "orders" {
		t.Errorf("topic, original_topic = %v, %v", got["topic"], got["original_topic"])
	}
}

func TestMessageBodies(t *testing.T) {
	zlib, err := protocol.Compress(protocol.SysFlagZLIB, []byte("deflated"))
	if err != nil {
		t.Fatal(err)
	}
	binary := []byte{0, 0xff, 0xfe, 'a'}
	tests := map[string]struct {
		record           protocol.Record
		body, base64, in string // in: what body_error has to contain
		size             int
	}{
		"text":           {record: protocol.Record{Body: []byte("héllo\n\x1b[31m")}, body: "héllo\n\x1b[31m", size: 12},
		"empty":          {record: protocol.Record{}, body: "", size: 0},
		"not UTF-8":      {record: protocol.Record{Body: binary}, base64: base64.StdEncoding.EncodeToString(binary), size: 4},
		"compressed":     {record: protocol.Record{Body: zlib, SysFlag: protocol.SysFlagCompressed | protocol.SysFlagZLIB}, body: "deflated", size: 8},
		"not compressed": {record: protocol.Record{Body: []byte("plain"), SysFlag: protocol.SysFlagCompressed | protocol.SysFlagZLIB}, body: "plain", size: 5, in: "z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := encodeMessage(t, makeMessage(t, tt.record))
			if tt.base64 != "" {
				if got["body_base64"] != tt.base64 || got["body"] != nil {
					t.Errorf("body_base64, body = %v, %v, want %v, none", got["body_base64"], got["body"], tt.base64)
				}
			} else if got["body"] != tt.body {
				t.Errorf("body = %q, want %q", got["body"], tt.body)
			}
			if fmt.Sprint(got["body_size"]) != fmt.Sprint(tt.size) {
				t.Errorf("body_size = %v, want %d", got["body_size"], tt.size)
			}
			reason, has := got["body_error"].(string)
			if has != (tt.in != "") || !strings.Contains(reason, tt.in) {
				t.Errorf("body_error = %q, want one with %q", reason, tt.in)
			}
		})
	}
}

func TestTimeWithoutRoomIsNull(t *testing.T) {
	for _, at := range []time.Time{{}, time.UnixMilli(1 << 60), time.UnixMilli(-1 << 60)} {
		if got := string(appendJSONTime(nil, at)); got != "null" {
			t.Errorf("appendJSONTime(%v) = %s, want null", at, got)
		}
	}
}

func TestEventLine(t *testing.T) {
	at := time.UnixMilli(1795966041871)
	mq := engine.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: 3}
	tests := map[string]struct {
		event engine.Event
		want  string
	}{
		"queue": {engine.FlowBegin{At: engine.At{Time: at, MQ: mq}, Cause: core.FlowSpan, Limit: 2000, Value: 2001},
			`{"kind":"event","time":"2026-11-29T15:27:21.871Z","event":"flow_begin","group":"g","topic":"orders","broker":"broker-a","queue":3,"cause":"span","limit":2000,"value":2001}`},
		"group": {engine.NamesrvUnreachable{At: engine.At{Time: at}, Addrs: []string{"a<b:1"}, Error: "refused"},
			`{"kind":"event","time":"2026-11-29T15:27:21.871Z","event":"namesrv_unreachable","group":"g","addrs":["a<b:1"],"error":"refused"}`},
		"no fields": {engine.LockGained{At: engine.At{Time: at, MQ: mq}},
			`{"kind":"event","time":"2026-11-29T15:27:21.871Z","event":"lock_gained","group":"g","topic":"orders","broker":"broker-a","queue":3}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			line := appendEvent(nil, tt.event, "g")
			decodeLine(t, line)
			if diff := cmp.Diff(string(line), tt.want+"\n"); diff != "" {
				t.Errorf("event (-got +want):\n%s", diff)
			}
		})
	}
}

// FuzzJSONString holds that every string becomes one line of JSON that reads
// back as the string, with U+FFFD for what is not UTF-8.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\x1f\"\\/\n\r\t", "\u2028\u2029\u0085\u009b", "日本語 🙂", "\xff\xc0\x80a", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc2", "\x7f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := appendJSONString(nil, s)
		if again := appendJSONString(nil, []byte(s)); string(again) != string(out) {
			t.Fatalf("string and bytes differ: %q, %q", out, again)
		}
		for _, c := range string(out) {
			if c < 0x20 || c >= 0x7f && c < 0xA0 || c == '\u2028' || c == '\u2029' {
				t.Fatalf("%q holds %U", out, c)
			}
		}
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("read back %q, want %q", back, want)
		}
	})
}

// FuzzMessageJSON holds that any stored message becomes one line of JSON whose
// body reads back byte for byte.
func FuzzMessageJSON(f *testing.F) {
	f.Add([]byte("body"), "KEYS", "a b", int32(0))
	f.Add([]byte{0xff, 0}, "TAGS", "x\x7f\xc3", int32(1))
	f.Add([]byte("x"), "a\"b", "\u2028", int32(0x301))
	f.Fuzz(func(t *testing.T, body []byte, name, value string, sysFlag int32) {
		r := protocol.Record{Topic: "orders", Body: body, SysFlag: protocol.SysFlag(sysFlag) &^ (protocol.SysFlagBornHostV6 | protocol.SysFlagStoreHostV6),
			BornHost: netip.MustParseAddrPort("10.0.0.7:1"), StoreHost: netip.MustParseAddrPort("10.0.0.8:2"),
			Properties: []protocol.Property{{Name: name, Value: value}}}
		record, err := protocol.AppendRecord(nil, &r)
		if err != nil {
			t.Skip()
		}
		messages, err := protocol.AppendMessages(nil, record, testSource)
		if err != nil || len(messages) != 1 {
			t.Skip()
		}
		want, err := messages[0].Body()
		if err != nil {
			want = body
		}
		got := encodeMessage(t, &messages[0])
		back, isText := got["body"].(string)
		if !isText {
			raw, err := base64.StdEncoding.DecodeString(got["body_base64"].(string))
			if err != nil {
				t.Fatal(err)
			}
			back = string(raw)
		}
		if back != string(want) {
			t.Fatalf("body = %q, want %q", back, want)
		}
	})
}

func BenchmarkMessageJSON(b *testing.B) {
	m := makeMessage(b, protocol.Record{
		QueueID: 3, QueueOffset: 18_204_551, CommitLogOffset: 1 << 40,
		Body: []byte(strings.Repeat(`{"order":4711,"state":"paid"} `, 7)[:200]),
		Properties: []protocol.Property{
			{Name: "KEYS", Value: "order-4711"}, {Name: "UNIQ_KEY", Value: "7F0000010DFC1EB2C6F6000000000001"}, {Name: "CLUSTER", Value: "DefaultCluster"},
			{Name: "MSG_REGION", Value: "DefaultRegion"}, {Name: "WAIT", Value: "true"}, {Name: "TAGS", Value: "paid"}, {Name: "TRACE_ON", Value: "true"},
		},
	})
	var e messageEncoder
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.append(buf[:0], m)
	}
	b.SetBytes(int64(len(buf)))
}
