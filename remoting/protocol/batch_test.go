package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An inner batch to be unwrapped becomes its items, each at the batch's offset
// plus its number; one that cannot be read stays one message.
func TestUnwrapBatches(t *testing.T) {
	items := []BatchItem{{Flag: 3, Body: []byte("a"), Properties: []Property{{"TAGS", "x"}}}, {Body: []byte("bc")}, {Body: []byte("d")}}
	batch, err := AppendBatch(nil, items)
	if err != nil {
		t.Fatal(err)
	}
	record := func(offset int64, flag SysFlag, body []byte) []byte {
		b, err := AppendRecord(nil, &Record{Topic: "H1", QueueID: 2, QueueOffset: offset, SysFlag: flag, Body: body})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	messages := func(records ...[]byte) []MessageExt {
		ms, err := AppendMessages(nil, bytes.Join(records, nil), &MessageSource{BrokerName: "b"})
		if err != nil {
			t.Fatal(err)
		}
		return ms
	}
	plain := messages(record(4, 0, []byte("p")), record(5, SysFlagInnerBatch, batch))
	if got, err := UnwrapBatches(plain); err != nil || len(got) != 2 || &got[0] != &plain[0] {
		t.Errorf("nothing to unwrap: %d messages, %v, want the same two", len(got), err)
	}
	got, err := UnwrapBatches(messages(record(4, 0, []byte("p")), record(5, SysFlagInnerBatch|SysFlagNeedUnwrap, batch), record(8, 0, []byte("q"))))
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for i := range got {
		m := &got[i]
		text = append(text, fmt.Sprintf("%v %d %s %q %d %d", m.MessageQueue(), m.QueueOffset(), m.StoredBody(), m.Tags(), m.Flag(), m.SysFlag()))
	}
	want := []string{`H1 b/2 4 p "" 0 0`, `H1 b/2 5 a "x" 3 0`, `H1 b/2 6 bc "" 0 0`, `H1 b/2 7 d "" 0 0`, `H1 b/2 8 q "" 0 0`}
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("unwrapped (-want +got):\n%s", diff)
	}
	got, err = UnwrapBatches(messages(record(5, SysFlagInnerBatch|SysFlagNeedUnwrap, []byte("no batch")), record(6, 0, nil)))
	if err == nil || !strings.Contains(err.Error(), "inner batch at offset 5") || len(got) != 2 {
		t.Errorf("broken batch: %d messages, %v, want both and an error", len(got), err)
	}
}

func TestDecodeRecordedBatches(t *testing.T) {
	count := 0
	for _, f := range recordedFrames(t) {
		if f.BodyKind != "batch" {
			continue
		}
		c := f.command(t)
		items, err := DecodeBatch(c.Body)
		if err != nil || len(items) != len(f.Messages) {
			t.Errorf("%s: %d items, %v, want %d", f.File, len(items), err, len(f.Messages))
			continue
		}
		for i, it := range items {
			want := &f.Messages[i]
			properties := map[string]string{}
			for _, p := range it.Properties {
				properties[p.Name] = p.Value
			}
			if it.Flag != want.Flag || sha256Hex(it.Body) != want.BodySHA256 || !maps.Equal(properties, want.Properties) {
				t.Errorf("%s: item %d is %+v, want %+v", f.File, i, it, want)
			}
			count++
		}
		// The 4.9 Java client alone ends properties without a separator.
		if !bytes.HasSuffix(c.Body, []byte{propertySeparator}) {
			continue
		}
		if again, err := AppendBatch(nil, items); err != nil || !bytes.Equal(again, c.Body) {
			t.Errorf("%s: encoded again, %v:\n got %q\nwant %q", f.File, err, again, c.Body)
		}
	}
	if count < 18 {
		t.Errorf("%d items compared, want 18 and more", count)
	}
}

func TestBatchRoundTrip(t *testing.T) {
	want := []BatchItem{
		{Flag: -1, Body: []byte("one"), Properties: []Property{{"a", "b"}}},
		{Body: []byte{}},
	}
	body, err := AppendBatch(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeBatch(body)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	long := []BatchItem{want[0], {Properties: []Property{{"a", strings.Repeat("v", 40000)}}}}
	if got, err := AppendBatch([]byte("before"), long); err == nil || string(got) != "before" {
		t.Errorf("properties of 40 kB: %d bytes, error %v", len(got), err)
	}
}

func TestDecodeBatchRefuses(t *testing.T) {
	good, err := AppendBatch(nil, []BatchItem{{Body: []byte("one"), Properties: []Property{{"a", "b"}}}})
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]func(b []byte) []byte{
		"cut":               func(b []byte) []byte { return b[:len(b)-1] },
		"size 0":            func(b []byte) []byte { binary.BigEndian.PutUint32(b, 0); return b },
		"size negative":     func(b []byte) []byte { binary.BigEndian.PutUint32(b, 1<<31); return b },
		"body negative":     func(b []byte) []byte { binary.BigEndian.PutUint32(b[16:], 1<<31); return b },
		"body too long":     func(b []byte) []byte { binary.BigEndian.PutUint32(b[16:], 100); return b },
		"properties beyond": func(b []byte) []byte { binary.BigEndian.PutUint16(b[23:], 100); return b },
		"text after":        func(b []byte) []byte { return append(b, 1) },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			if items, err := DecodeBatch(spoil(bytes.Clone(good))); err == nil {
				t.Errorf("decoded %+v, want an error", items)
			}
		})
	}
}
