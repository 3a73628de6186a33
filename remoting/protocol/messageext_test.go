package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// compareAddrPort lets cmp see addresses, whose fields are hidden.
var compareAddrPort = cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })

func TestMessageExtStaysSmall(t *testing.T) {
	if size := unsafe.Sizeof(MessageExt{}); size > 80 {
		t.Errorf("MessageExt has %d bytes, want 80 at most: a queue keeps a thousand of them", size)
	}
}

func TestDecodeRecordedMessages(t *testing.T) {
	decompressor := new(Decompressor)
	count := 0
	for _, f := range recordedFrames(t) {
		if f.BodyKind != "messages" {
			continue
		}
		c := f.command(t)
		source := &MessageSource{BrokerName: "broker-a", Topic: *f.Messages[0].Topic, Decompressor: decompressor}
		messages, err := AppendMessages(nil, c.Body, source)
		if err != nil {
			t.Errorf("%s: %v", f.File, err)
		}
		if len(messages) != len(f.Messages) || CountMessages(c.Body) != len(f.Messages) {
			t.Errorf("%s: %d messages, counted %d, want %d", f.File, len(messages), CountMessages(c.Body), len(f.Messages))
			continue
		}
		for i := range messages {
			t.Run(fmt.Sprintf("%s/%d", f.File, i), func(t *testing.T) { checkMessage(t, &messages[i], &f.Messages[i]) })
			count++
		}
	}
	if count < 25 {
		t.Errorf("%d messages compared, want 25 and more", count)
	}
}

// checkMessage compares m with what the Java library read.
func checkMessage(t *testing.T, m *MessageExt, want *recordedMessage) {
	t.Helper()
	body, err := m.Body()
	if err != nil {
		t.Errorf("body: %v", err)
	}
	got := recordedMessage{
		Topic:            new(m.Topic()),
		Flag:             m.Flag(),
		QueueID:          m.QueueID(),
		QueueOffset:      m.QueueOffset(),
		PhysicalOffset:   m.CommitLogOffset(),
		BornTimestamp:    m.Born().UnixMilli(),
		StoreTimestamp:   m.Stored().UnixMilli(),
		BornHost:         "/" + m.BornHost().String(),
		StoreHost:        "/" + m.StoreHost().String(),
		SysFlag:          want.SysFlag, // a matter of the Java version
		ReconsumeTimes:   m.ReconsumeTimes(),
		PreparedOffset:   m.PreparedOffset(),
		BodyCRC:          m.BodyCRC(),
		StoreSize:        m.StoreSize(),
		MsgID:            m.MessageID(),
		OffsetMsgID:      m.OffsetMessageID(),
		Tags:             optional(m.Tags()),
		Keys:             optional(strings.Join(m.Keys(), " ")),
		BodyLen:          len(body),
		BodySHA256:       sha256Hex(body),
		BodyText:         want.BodyText,
		StoredSysFlag:    int32(m.SysFlag()),
		StoredBodyLen:    len(m.StoredBody()),
		StoredBodySHA256: sha256Hex(m.StoredBody()),
		Properties:       maps.Collect(m.Properties),
	}
	if diff := cmp.Diff(*want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	if want.BodyText != nil && string(body) != *want.BodyText {
		t.Errorf("body %q, want %q", body, *want.BodyText)
	}
	if crc := ComputeBodyCRC(m.StoredBody()); crc != m.BodyCRC() {
		t.Errorf("checksum %d, want %d", crc, m.BodyCRC())
	}
	for name, value := range want.Properties {
		if got, ok := m.Property(name); !ok || got != value {
			t.Errorf("property %s = %q, %t, want %q", name, got, ok, value)
		}
	}
	wantOriginal := *want.Topic
	if retry, ok := want.Properties["RETRY_TOPIC"]; ok {
		wantOriginal = retry
	}
	if got := m.OriginalTopic(); got != wantOriginal {
		t.Errorf("original topic %q, want %q", got, wantOriginal)
	}
	if got, want := m.MessageQueue(), (MessageQueue{Topic: *want.Topic, BrokerName: "broker-a", QueueID: want.QueueID}); got != want {
		t.Errorf("queue %v, want %v", got, want)
	}
	r := m.Record()
	written, err := AppendRecord(nil, &r)
	if err != nil || !bytes.Equal(written, m.record) {
		t.Errorf("record written again, %v:\n got %q\nwant %q", err, written, m.record)
	}
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// testRecord is a record with every field set.
func testRecord() Record {
	return Record{
		BodyCRC: 77, QueueID: 3, Flag: 9, QueueOffset: 1 << 40, CommitLogOffset: 1 << 41,
		SysFlag: SysFlagTransCommit, Born: time.UnixMilli(1_700_000_000_123), BornHost: netip.MustParseAddrPort("192.0.2.1:4321"),
		Stored: time.UnixMilli(1_700_000_000_456), StoreHost: netip.MustParseAddrPort("192.0.2.2:10911"),
		ReconsumeTimes: 2, PreparedOffset: 1 << 42, Body: []byte("body"), Topic: "T",
		Properties:        []Property{{"UNIQ_KEY", "first"}, {"KEYS", "a b"}, {"UNIQ_KEY", "last"}},
		TrailingSeparator: true,
	}
}

func mustAppendRecord(t testing.TB, dst []byte, r *Record) []byte {
	t.Helper()
	b, err := AppendRecord(dst, r)
	if err != nil {
		t.Fatalf("AppendRecord: %v", err)
	}
	return b
}

// Hosts and batches are told by their own bits.
func TestRecordRoundTrip(t *testing.T) {
	v6 := netip.MustParseAddrPort("[2001:db8::1]:10911")
	tests := map[string]func(*Record){
		"v1, IPv4":             func(*Record) {},
		"v2":                   func(r *Record) { r.MagicV2 = true },
		"v2, long topic":       func(r *Record) { r.MagicV2, r.Topic = true, strings.Repeat("t", 300) },
		"v1, longest topic":    func(r *Record) { r.Topic = strings.Repeat("t", 127) },
		"born host IPv6":       func(r *Record) { r.BornHost, r.SysFlag = v6, r.SysFlag|SysFlagBornHostV6 },
		"store host IPv6":      func(r *Record) { r.StoreHost, r.SysFlag = v6, r.SysFlag|SysFlagStoreHostV6 },
		"both IPv6, v2":        func(r *Record) { r.MagicV2, r.BornHost, r.StoreHost, r.SysFlag = true, v6, v6, 0x30 },
		"mapped IPv4 is IPv6":  func(r *Record) { r.BornHost, r.SysFlag = netip.MustParseAddrPort("[::ffff:192.0.2.1]:1"), 0x10 },
		"no properties":        func(r *Record) { r.Properties, r.TrailingSeparator = nil, false },
		"no last separator":    func(r *Record) { r.TrailingSeparator = false },
		"empty body and topic": func(r *Record) { r.Body, r.Topic = []byte{}, "" },
		"no times":             func(r *Record) { r.Born, r.Stored = time.Time{}, time.Time{} },
		"inner batch":          func(r *Record) { r.SysFlag |= SysFlagInnerBatch },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			want := testRecord()
			change(&want)
			messages, err := AppendMessages(nil, mustAppendRecord(t, nil, &want), nil)
			if err != nil || len(messages) != 1 {
				t.Fatalf("%d messages, %v", len(messages), err)
			}
			if diff := cmp.Diff(want, messages[0].Record(), compareAddrPort); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendRecordSetsHostBits(t *testing.T) {
	r := testRecord()
	r.SysFlag = SysFlagBornHostV6
	r.StoreHost = netip.MustParseAddrPort("[2001:db8::1]:10911")
	messages, err := AppendMessages(nil, mustAppendRecord(t, nil, &r), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := messages[0].SysFlag(); got != SysFlagStoreHostV6 {
		t.Errorf("sysFlag %#x, want the store host's bit only", got)
	}
}

func TestAppendRecordRefuses(t *testing.T) {
	tests := map[string]func(*Record){
		"v1 topic over 127":      func(r *Record) { r.Topic = strings.Repeat("t", 128) },
		"v2 topic over 32767":    func(r *Record) { r.MagicV2, r.Topic = true, strings.Repeat("t", 32768) },
		"properties over 32 KiB": func(r *Record) { r.Properties = []Property{{"a", strings.Repeat("v", 32766)}} },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			r := testRecord()
			change(&r)
			if got, err := AppendRecord([]byte("before"), &r); err == nil || string(got) != "before" {
				t.Errorf("got %d bytes and error %v, want the 6 before and an error", len(got), err)
			}
		})
	}
}

func TestAppendMessagesRefuses(t *testing.T) {
	good := func() []byte { r := testRecord(); return mustAppendRecord(t, nil, &r) }
	put32 := func(at int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint32(b[at:], v); return b }
	}
	const bodyLengthAt = bornHostAt + hostV4 + 8 + hostV4 + 12
	const topicLengthAt = bodyLengthAt + 4 + len("body")
	tests := map[string]func([]byte) []byte{
		"cut in the middle":           func(b []byte) []byte { return b[:len(b)-1] },
		"cut in its length":           func(b []byte) []byte { return b[:3] },
		"length 0":                    put32(0, 0),
		"length negative":             put32(0, 1<<31),
		"length beyond the answer":    put32(0, 1<<20),
		"end-of-file filler":          put32(4, 0xCBD43194),
		"unknown magic":               put32(4, 0xDAA320A8),
		"hosts longer than record":    func(b []byte) []byte { b = put32(sysFlagAt, 0x30)(put32(0, 91)(b[:91])); return b },
		"body negative":               put32(bodyLengthAt, 1<<31),
		"body beyond the record":      put32(bodyLengthAt, 1<<16),
		"body takes the topic too":    func(b []byte) []byte { return put32(bodyLengthAt, uint32(len(b)-bodyLengthAt-4))(b) },
		"topic negative":              func(b []byte) []byte { b[topicLengthAt] = 0x80; return b },
		"topic beyond the record":     func(b []byte) []byte { b[topicLengthAt] = 0x7F; return b },
		"properties negative":         func(b []byte) []byte { b[topicLengthAt+2] = 0x80; return b },
		"properties beyond record":    func(b []byte) []byte { b[topicLengthAt+2] = 0x7F; return b },
		"v2 topic length of one byte": func(b []byte) []byte { return put32(bodyLengthAt, uint32(len(b)-bodyLengthAt-5))(put32(4, magicV2)(b)) },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			body := append(good(), spoil(good())...)
			first := len(good())
			messages, err := AppendMessages(nil, body, nil)
			if err == nil || len(messages) != 1 {
				t.Fatalf("%d messages, error %v, want the first and an error", len(messages), err)
			}
			if want := fmt.Sprintf("at byte %d ", first); !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		})
	}
}

// A newer broker may append to a record: its length counts, not what is known.
func TestAppendMessagesStepsByLength(t *testing.T) {
	r := testRecord()
	one := append(mustAppendRecord(t, nil, &r), "appended"...)
	binary.BigEndian.PutUint32(one, uint32(len(one)))
	messages, err := AppendMessages(nil, slices.Concat(one, one), nil)
	if err != nil || len(messages) != 2 {
		t.Fatalf("%d messages, %v, want 2", len(messages), err)
	}
	if diff := cmp.Diff(r, messages[1].Record(), compareAddrPort); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
}

func TestRepeatedPropertyTakesTheLast(t *testing.T) {
	r := testRecord()
	messages, err := AppendMessages(nil, mustAppendRecord(t, nil, &r), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &messages[0]
	if m.UniqueID() != "last" || m.MessageID() != "last" {
		t.Errorf("unique id %q, message id %q, want last", m.UniqueID(), m.MessageID())
	}
	if got := ParseProperties(m.properties()); len(got) != 3 {
		t.Errorf("%d properties, want all three", len(got))
	}
}

func TestMessageIDWithoutUniqueID(t *testing.T) {
	r := testRecord()
	r.Properties, r.TrailingSeparator = nil, false
	messages, err := AppendMessages(nil, mustAppendRecord(t, nil, &r), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &messages[0]
	if got, want := m.MessageID(), OffsetMessageID(r.StoreHost, r.CommitLogOffset); got != want || m.UniqueID() != "" {
		t.Errorf("message id %s, unique id %q, want %s and none", got, m.UniqueID(), want)
	}
	if m.BrokerName() != "" || m.Tags() != "" || len(m.Keys()) != 0 {
		t.Errorf("broker %q, tags %q, keys %q, want none", m.BrokerName(), m.Tags(), m.Keys())
	}
}

// A dead letter shows the topic it came from, other messages their own whatever
// their properties say.
func TestOriginalTopic(t *testing.T) {
	for topic, want := range map[string]string{RetryTopic("G"): "orders", DLQTopic("G"): "orders", "H1": "H1"} {
		r := testRecord()
		r.Topic, r.Properties = topic, []Property{{PropertyRetryTopic, "orders"}}
		messages, err := AppendMessages(nil, mustAppendRecord(t, nil, &r), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := messages[0].OriginalTopic(); got != want {
			t.Errorf("original topic of %s is %s, want %s", topic, got, want)
		}
	}
}

// A view must neither copy the frame nor keep it alive where it need not.
func TestMessagesAreViews(t *testing.T) {
	r := testRecord()
	body := mustAppendRecord(t, nil, &r)
	source := &MessageSource{BrokerName: "b", Topic: "T"}
	dst := make([]MessageExt, 0, 1)
	var m *MessageExt
	if allocs := testing.AllocsPerRun(100, func() {
		messages, err := AppendMessages(dst, body, source)
		if err != nil {
			t.Fatal(err)
		}
		m = &messages[0]
		_, _ = m.Body()
		_ = m.MessageQueue()
		_ = m.Tags()
		_, _ = m.BornHost(), m.Stored()
	}); allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
	if unsafe.StringData(m.Topic()) != unsafe.StringData(source.Topic) {
		t.Error("the topic is not the source's")
	}
	stored := m.StoredBody()
	if &stored[0] != &body[m.bodyAt] || cap(stored) != len(stored) {
		t.Error("the body is not a view, or has room to write into the frame")
	}
}

func TestOffsetMessageID(t *testing.T) {
	tests := map[string]struct {
		host   string
		offset int64
		want   string
	}{
		"IPv4": {"127.0.0.1:10911", 0x585, "7F00000100002A9F0000000000000585"},
		"IPv6": {"[2001:db8::1]:10911", 1, "20010DB800000000000000000000000100002A9F0000000000000001"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			host := netip.MustParseAddrPort(tt.host)
			if got := OffsetMessageID(host, tt.offset); got != tt.want {
				t.Errorf("id %s, want %s", got, tt.want)
			}
			gotHost, gotOffset, err := ParseOffsetMessageID(tt.want)
			if gotHost != host || gotOffset != tt.offset || err != nil {
				t.Errorf("parsed %v %d %v, want %v %d", gotHost, gotOffset, err, host, tt.offset)
			}
		})
	}
}

func TestParseOffsetMessageIDRefuses(t *testing.T) {
	tests := map[string]string{
		"unique id":          "7F0000010DFC1EB2C6F6000000000001",
		"unique id, IPv6":    "FD00000000000000000000000000000213B75FFD2B27939593EF0000",
		"port 0":             "7F000001000000000000000000000585",
		"negative offset":    "7F00000100002A9FFFFFFFFFFFFFFFFF",
		"not hex":            "7F00000100002A9F00000000000005ZZ",
		"another length":     "7F00000100002A9F",
		"empty":              "",
		"two bytes a letter": strings.Repeat("é", 16),
	}
	for name, id := range tests {
		t.Run(name, func(t *testing.T) {
			if host, offset, err := ParseOffsetMessageID(id); err == nil {
				t.Errorf("parsed as %v %d, want an error", host, offset)
			}
		})
	}
}

// A topic length of more than 127 in the old record is no negative one.
func TestTopicLengthIsUnsigned(t *testing.T) {
	topic := strings.Repeat("t", 0x90)
	long, err := AppendRecord(nil, &Record{MagicV2: true, Topic: topic, Body: []byte("body")})
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(long, []byte{0, 0x90, 't'})
	record := append(long[:at:at], long[at+1:]...)
	binary.BigEndian.PutUint32(record, uint32(len(record)))
	binary.BigEndian.PutUint32(record[4:], magicV1)
	messages, err := AppendMessages(nil, record, nil)
	if err != nil || len(messages) != 1 || messages[0].Topic() != topic || string(messages[0].StoredBody()) != "body" {
		t.Errorf("%d messages, %v", len(messages), err)
	}
}
