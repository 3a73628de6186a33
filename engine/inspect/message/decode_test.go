package message

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/protocol"
)

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		body, decoder string
		want          Decoded // without Size
	}{
		"json":               {`{"b":1.50,"a":[1,{"x":[]}],"s":"a{\"[,:"}`, "", Decoded{Decoder: "json", Text: "{\n  \"b\": 1.50,\n  \"a\": [\n    1,\n    {\n      \"x\": []\n    }\n  ],\n  \"s\": \"a{\\\"[,:\"\n}"}},
		"json with blanks":   {" [ 1 , { } ]\n", "", Decoded{Decoder: "json", Text: "[\n  1,\n  {}\n]"}},
		"empty object":       {"{}", "auto", Decoded{Decoder: "json", Text: "{}"}},
		"bare number":        {"42", "", Decoded{Decoder: "text", Text: "42"}},
		"bare number asked":  {"42", "json", Decoded{Decoder: "json", Text: "42"}},
		"broken json":        {`{"a":}`, "", Decoded{Decoder: "text", Text: `{"a":}`}},
		"broken json asked":  {`{"a":}`, "json", Decoded{Decoder: "text", Text: `{"a":}`, Failed: "no JSON: invalid character '}' looking for beginning of value at byte 5"}},
		"cut json asked":     {`{"a":`, "json", Decoded{Decoder: "text", Text: `{"a":`, Failed: "no JSON: unexpected end of JSON input at byte 4"}},
		"two values asked":   {`{} {}`, "json", Decoded{Decoder: "text", Text: `{} {}`, Failed: "no JSON: invalid character '{' after top-level value at byte 3"}},
		"text":               {"退款\n\x1b[31m", "", Decoded{Decoder: "text", Text: "退款\n\x1b[31m"}},
		"text of json":       {"{}", "text", Decoded{Decoder: "text", Text: "{}"}},
		"nothing":            {"", "", Decoded{Decoder: "text"}},
		"no utf-8":           {"a\xff", "", Decoded{Decoder: "hex", Text: hex.Dump([]byte("a\xff"))}},
		"no utf-8, text":     {"a\xff", "text", Decoded{Decoder: "hex", Text: hex.Dump([]byte("a\xff")), Failed: "no UTF-8 text: byte 0xff at 1"}},
		"no utf-8, json":     {"\xff", "json", Decoded{Decoder: "hex", Text: hex.Dump([]byte("\xff")), Failed: "no JSON: invalid character 'ÿ' looking for beginning of value at byte 0"}},
		"controls":           {"\x00\x01\x02abc", "", Decoded{Decoder: "hex", Text: hex.Dump([]byte("\x00\x01\x02abc"))}},
		"hex":                {"{}", "hex", Decoded{Decoder: "hex", Text: hex.Dump([]byte("{}"))}},
		"unknown decoder":    {"x", "avro", Decoded{Decoder: "text", Text: "x", Failed: `there is no decoder "avro"`}},
		"bad bytes in json":  {"{\"a\":\"\xff\"}", "", Decoded{Decoder: "hex", Text: hex.Dump([]byte("{\"a\":\"\xff\"}"))}},
		"asked all the same": {"{\"a\":\"\xff\"}", "json", Decoded{Decoder: "json", Text: "{\n  \"a\": \"\xff\"\n}"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.want.Size = len(tt.body)
			if got := Decode(bodyOf(t, tt.body), tt.decoder, ""); got != tt.want {
				t.Errorf("Decode = %+v\nwant     %+v", got, tt.want)
			}
		})
	}
}

// Compressed bodies of every type are readable; one that is not what its flag says
// is shown as it is stored, and that is said.
func TestDecodeCompressed(t *testing.T) {
	plain := []byte(`{"a":"` + strings.Repeat("x", 10000) + `"}`)
	for name, kind := range map[string]protocol.SysFlag{"old zlib": 0, "zlib": protocol.SysFlagZLIB, "lz4": protocol.SysFlagLZ4, "zstd": protocol.SysFlagZSTD} {
		stored, err := protocol.Compress(kind, plain)
		if err != nil {
			t.Fatal(err)
		}
		d := Decode(compressedOf(t, kind, stored), "", "")
		if d.Decoder != DecoderJSON || d.Size != len(plain) || d.Failed != "" || !strings.Contains(d.Text, "xxx") {
			t.Errorf("%s: %.80v", name, d)
		}
		if d := Decode(compressedOf(t, kind, plain), "", ""); d.Decoder != DecoderJSON || d.Size != len(plain) || !strings.HasPrefix(d.Failed, "shown as it is stored: inflate 10008 bytes of ") {
			t.Errorf("%s that is plain: %.120v", name, d)
		}
		if d := Decode(compressedOf(t, kind, stored[:20]), "", ""); d.Size != 20 || !strings.HasPrefix(d.Failed, "shown as it is stored: inflate 20 bytes of ") {
			t.Errorf("%s cut off: %+v", name, d)
		}
	}
	if d := Decode(compressedOf(t, 0x400, []byte("x")), "json", ""); d.Text != "x" || d.Failed != "shown as it is stored: unknown compression type 0x400; no JSON: invalid character 'x' looking for beginning of value at byte 0" {
		t.Errorf("unknown type: %+v", d)
	}
}

// A body of 4 MiB, whatever is in it, gives a text of bounded size, soon.
func TestDecodeHugeBodies(t *testing.T) {
	const size = 4 << 20
	random := make([]byte, size)
	for i := range random {
		random[i] = byte(i*i>>7 ^ i)
	}
	deep := strings.Repeat("[", 9990)
	bodies := map[string]string{
		"text":        strings.Repeat("wide字 ", size/8),
		"bytes":       string(random),
		"long string": `{"a":"` + strings.Repeat("字", size/3) + `"}`,
		"array":       "[" + strings.Repeat("1,", size/2) + "1]",
		"deep":        deep + strings.Repeat("1,", size/2) + "1" + strings.Repeat("]", 9990),
		"too deep":    strings.Repeat("[", size),
		"blanks":      "{" + strings.Repeat(" ", size) + "}",
	}
	for name, body := range bodies {
		for _, decoder := range Decoders() {
			began := time.Now()
			d := Decode(bodyOf(t, body), decoder, "")
			if len(d.Text) > maxShown || d.Size != len(body) {
				t.Errorf("%s, %s: %d characters of %d bytes", name, decoder, len(d.Text), d.Size)
			}
			if cut := name != "blanks" || d.Decoder != DecoderJSON; d.Cut != cut {
				t.Errorf("%s, %s as %s: cut = %v", name, decoder, d.Decoder, d.Cut)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("%s, %s took %v", name, decoder, took)
			}
		}
	}
}

// What indentJSON lays out is the same value.
func FuzzIndentJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}],"c":"\\\""}`, `[[],{},[[]]]`, `"x"`, ` 1 `, `{"a":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		text, cut := indentJSON(body, 1<<20)
		if cut {
			return
		}
		var got, want bytes.Buffer
		if err := json.Compact(&got, []byte(text)); err != nil {
			t.Fatalf("%q became %q: %v", body, text, err)
		}
		if err := json.Compact(&want, body); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%q became %q", body, text)
		}
	})
}
