package protocol

import (
	"bytes"
	"encoding/binary"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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
