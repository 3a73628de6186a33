package protocol

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzDecodeCommand(f *testing.F) {
	for _, r := range recordedFrames(f) {
		f.Add(r.bytes[4:])
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		c, err := DecodeCommand(frame)
		if err != nil {
			return
		}
		again, err := AppendFrame(nil, &c, c.Serialize)
		if err != nil {
			t.Fatalf("encode %+v: %v", c, err)
		}
		got, err := DecodeCommand(again[4:])
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		if c.Serialize == SerializeJSON && int(c.Language) >= len(languageNames) {
			c.Language = LanguageOther // has no name to be written
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, make := range requestHeaders {
			_ = make().Parse(c.ExtFields)
		}
		for _, make := range responseHeaders {
			_ = make().Parse(c.ExtFields)
		}
	})
}

func FuzzDecodeMessages(f *testing.F) {
	for _, r := range recordedFrames(f) {
		if r.BodyKind == "messages" {
			f.Add(r.command(f).Body)
		}
	}
	v2 := testRecord()
	v2.MagicV2 = true
	f.Add(mustAppendRecord(f, nil, &v2))
	source := &MessageSource{BrokerName: "broker-a", Topic: "H3Main", Decompressor: new(Decompressor)}
	f.Fuzz(func(t *testing.T, body []byte) {
		messages, err := AppendMessages(nil, body, source)
		if n := CountMessages(body); n < len(messages) || err == nil && n != len(messages) {
			t.Errorf("%d messages, counted %d, %v", len(messages), n, err)
		}
		for i := range messages {
			m := &messages[i]
			_, _, _, _ = m.OriginalTopic(), m.MessageQueue(), m.MessageID(), m.Keys()
			_, _, _, _ = m.Tags(), m.StoredBody(), m.Flag(), m.BodyCRC()
			if m.SysFlag()&SysFlagCompressed == 0 {
				if _, err := m.Body(); err != nil {
					t.Errorf("body that is not compressed: %v", err)
				}
			} else {
				_, _ = source.Decompressor.Decompress(m.SysFlag(), m.StoredBody(), 1<<20)
			}
			want := m.Record()
			again, err := AppendMessages(nil, mustAppendRecord(t, nil, &want), source)
			if err != nil || len(again) != 1 {
				t.Fatalf("decode what was encoded: %d messages, %v", len(again), err)
			}
			got := again[0].Record()
			if got.TrailingSeparator = want.TrailingSeparator; len(want.Properties) == 0 {
				got.Properties = want.Properties // what holds no property is written as nothing
			}
			if diff := cmp.Diff(want, got, compareAddrPort); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}

func FuzzDecodeBatch(f *testing.F) {
	for _, r := range recordedFrames(f) {
		if r.BodyKind == "batch" {
			f.Add(r.command(f).Body)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		want, err := DecodeBatch(body)
		if err != nil {
			return
		}
		again, err := AppendBatch(nil, want)
		if err != nil && strings.Contains(err.Error(), "properties of 32768 bytes") {
			return // were there without their last separator
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBatch(again)
		if diff := cmp.Diff(properties(want), properties(got)); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// properties tells nil and empty lists not apart.
func properties(items []BatchItem) []BatchItem {
	for i := range items {
		if len(items[i].Properties) == 0 {
			items[i].Properties = nil
		}
	}
	return items
}

func FuzzDecodeProperties(f *testing.F) {
	for _, r := range recordedFrames(f) {
		if r.BodyKind != "messages" {
			continue
		}
		messages, err := AppendMessages(nil, r.command(f).Body, nil)
		if err != nil {
			f.Fatal(err)
		}
		for i := range messages {
			f.Add(messages[i].properties(), PropertyTags)
		}
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		last := map[string]string{}
		for _, p := range ParseProperties(text) {
			if p.Name == "" || p.Value == "" {
				t.Errorf("property %+v", p)
			}
			last[p.Name] = p.Value
		}
		for _, name := range slices.Concat([]string{name}, slices.Collect(maps.Keys(last))) {
			want, wantOK := last[name]
			if got, ok := findProperty(text, name); got != want || ok != wantOK {
				t.Errorf("findProperty(%q, %q) = %q, %t, want %q, %t", text, name, got, ok, want, wantOK)
			}
		}
	})
}

func FuzzDecodeLenient(f *testing.F) {
	for _, r := range recordedFrames(f) {
		if r.BodyKind == "json" {
			f.Add([]byte(r.BodyText))
		}
	}
	f.Add([]byte(`{a:'it''s',"b":'\'"',{x:{y:1}}:[-1.5e+3,true,null],0:{"$ref":"$"}}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		strict, err := strictJSON(src, nil)
		if err != nil {
			refused := strings.Contains(err.Error(), "nested deeper") || err == errReference
			if json.Valid(src) && !refused {
				t.Errorf("%q is JSON, but %v", src, err)
			}
			return
		}
		if len(strict) > 6*len(src) {
			t.Errorf("%d bytes became %d", len(src), len(strict))
		}
		var got, want any
		if err := json.Unmarshal(strict, &got); err != nil {
			if !bytes.Contains(src, []byte(`\`)) { // escapes are left to the standard decoder
				t.Errorf("%q became %q: %v", src, strict, err)
			}
			return
		}
		if json.Unmarshal(src, &want) == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %q", src, strict)
		}
	})
}

// families are the names of bodyRecoders in order, for FuzzDecodeBody's number.
var families = slices.Sorted(maps.Keys(bodyRecoders))

func FuzzDecodeBody(f *testing.F) {
	for _, r := range recordedFrames(f) {
		if family, ok := r.bodyFamily(); ok {
			f.Add(uint8(slices.Index(families, family)), []byte(r.BodyText))
		}
	}
	f.Add(uint8(slices.Index(families, "running info")), []byte(`{"properties":{}, "jstack":"a "b"`+"\n"+`" }`))
	f.Add(uint8(slices.Index(families, "reset")), []byte(`{"offsetTable":[[{"queueId":"1"},2],{"topic":"T","offset":3}]}`))
	f.Fuzz(func(t *testing.T, number uint8, body []byte) {
		family := families[int(number)%len(families)]
		checkStable(t, bodyRecoders[family], family, body)
	})
}

func FuzzDecodeLocalOffsets(f *testing.F) {
	f.Add(EncodeLocalOffsets(nil))
	f.Add(EncodeLocalOffsets(OffsetTable{queue0: 12, queue1: -1}))
	f.Fuzz(func(t *testing.T, file []byte) {
		checkStable(t, bodyRecoders["local offsets"], "local offsets", file)
	})
}

// checkStable demands that what was decoded and encoded is decoded to the same.
func checkStable(t *testing.T, recode recode, family string, body []byte) {
	t.Helper()
	first, err := recode(body)
	if err != nil {
		return
	}
	second, err := recode(first)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%s %q became %q and then %q, %v", family, body, first, second, err)
	}
}

func FuzzDecodeCompressed(f *testing.F) {
	for _, sysFlag := range compressionTypes {
		for _, body := range []string{"", "x", strings.Repeat("compress me ", 100)} {
			compressed, err := Compress(sysFlag, []byte(body))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(int32(sysFlag), compressed)
		}
	}
	d := new(Decompressor)
	const limit = 1 << 20
	f.Fuzz(func(t *testing.T, sysFlag int32, body []byte) {
		out, err := d.Decompress(SysFlag(sysFlag), body, limit)
		if len(out) > limit || err != nil && out != nil {
			t.Errorf("%d bytes with error %v", len(out), err)
		}
	})
}

func FuzzParseOffsetMessageID(f *testing.F) {
	f.Add("7F00000100002A9F0000000000000585")
	f.Add("20010DB800000000000000000000000100002A9F0000000000000001")
	f.Fuzz(func(t *testing.T, id string) {
		host, offset, err := ParseOffsetMessageID(id)
		if err == nil && OffsetMessageID(host, offset) != strings.ToUpper(id) {
			t.Errorf("%s is %v %d, which is %s", id, host, offset, OffsetMessageID(host, offset))
		}
	})
}
