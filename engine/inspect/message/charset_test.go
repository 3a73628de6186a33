package message

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// The bytes are those of the charsets' own tables.
func TestCharsets(t *testing.T) {
	for name, tt := range map[string]struct{ name, bytes, text string }{
		"gb18030":            {"gb18030", "\xcd\xcb\xbf\xee", "退款"},
		"gb18030 four bytes": {"GB18030", "\x94\x39\xfc\x36", "\U0001f600"},
		"alias":              {"gb2312", "\xcd\xcb\xbf\xee", "退款"},
		"big5":               {"big5", "\xa4\xa4\xa4\xe5", "中文"},
		"shift_jis":          {" sjis ", "\x93\xfa\x96\x7b", "日本"},
		"euc-jp":             {"EUC-JP", "\xc6\xfc\xcb\xdc", "日本"},
		"euc-kr":             {"euc-kr", "\xc7\xd1\xb1\xb9", "한국"},
		"latin1":             {"latin1", "caf\xe9 \x80", "café €"},
		"windows-1251":       {"windows-1251", "\xcc\xe8\xf0", "Мир"},
		"utf-16be with mark": {"utf-16be", "\xfe\xff\x00H\x00i", "Hi"},
		"utf-16le":           {"utf-16", "H\x00i\x00", "Hi"},
		"utf-16, other mark": {"utf-16", "\xfe\xff\x4e\x2d", "中"},
		"utf-8":              {"UTF8", "退款", "退款"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseCharset(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			if d := Decode(bodyOf(t, tt.bytes), "", c); d.Text != tt.text || d.Decoder != DecoderText || d.Failed != "" || d.Size != len(tt.bytes) || d.Charset != c {
				t.Errorf("%v: %+v, want %q", c, d, tt.text)
			}
			m, err := Filter{Grep: "^" + tt.text + "$", Charset: c}.Compile()
			if err != nil {
				t.Fatal(err)
			}
			if !m.Match(t.Context(), bodyOf(t, tt.bytes)) {
				t.Errorf("%v: %q is not found", c, tt.text)
			}
		})
	}
}

// A true U+FFFD is a character like any other: only places that are none of the
// charset's count as bad.
func TestCharsetCountsBadPlacesOnly(t *testing.T) {
	for name, tt := range map[string]struct {
		charset     Charset
		bytes, text string
		bad         int
	}{
		"gb18030":           {"gb18030", "a\x84\x31\xa4\x37b", "a\ufffdb", 0},
		"gb18030, both":     {"gb18030", "\x84\x31\xa4\x37\xff\xcd\xcb\x94\x39\xfc\x36\xff", "\ufffd\ufffd退\U0001f600\ufffd", 2},
		"gb18030, cut":      {"gb18030", "\x84\x31\xa4", "\ufffd1\ufffd", 2},
		"gb18030, across":   {"gb18030", "\x84\x84\x31\xa4\x37", "", -1},
		"utf-16le":          {"utf-16le", "\xfd\xffa\x00", "\ufffda", 0},
		"utf-16be, mark":    {"utf-16le", "\xfe\xff\xff\xfd\x00a", "\ufffda", 0},
		"utf-16le, odd":     {"utf-16le", "\xfd\xffa", "\ufffd\ufffd", 1},
		"utf-16le, half":    {"utf-16le", "\x00\xd8a\x00", "\ufffda", 1},
		"utf-16le, beyond":  {"utf-16le", "\x3d\xd8\x00\xde\xfd\xff", "\U0001f600\ufffd", 0},
		"gbk has it not":    {"gbk", "\x84\x31\xa4\x37", "", -1},
		"euc-kr":            {"euc-kr", "\xff\xfd", "", -1},
		"windows-1252 none": {"windows-1252", "\xff\xfd", "ÿý", 0},
	} {
		text, bad := tt.charset.Text([]byte(tt.bytes))
		want := tt.bad
		if want < 0 { // what the decoder makes of it, all of it bad
			tt.text, want = string(text), strings.Count(string(text), "\ufffd")
		}
		if string(text) != tt.text || bad != want {
			t.Errorf("%s: %q with %d bad places, want %q with %d", name, text, bad, tt.text, want)
		}
	}
}

func TestCharsetNames(t *testing.T) {
	for _, name := range Charsets() {
		if c, err := ParseCharset(name); err != nil || c.String() != name {
			t.Errorf("%s is %q, %v", name, c, err)
		}
	}
	for _, name := range []string{"", "klingon", "replacement", "x-user-defined", "utf-7"} {
		if c, err := ParseCharset(name); err == nil || !strings.Contains(err.Error(), "gb18030") {
			t.Errorf("%q is %q, %v", name, c, err)
		}
	}
}

func TestDecodeInACharset(t *testing.T) {
	const json = "{\"a\":\"\xcd\xcb\"}"
	for name, tt := range map[string]struct {
		body, decoder string
		want          Decoded // without Size
	}{
		"json":       {json, "", Decoded{Decoder: "json", Charset: "gbk", Text: "{\n  \"a\": \"退\"\n}"}},
		"hex":        {json, "hex", Decoded{Decoder: "hex", Text: hex.Dump([]byte(json))}},
		"cut":        {"a\xcd", "", Decoded{Decoder: "text", Charset: "gbk", Text: "a\ufffd", Failed: "one place is no gbk, shown as \ufffd"}},
		"two":        {"\xff\xff", "json", Decoded{Decoder: "text", Charset: "gbk", Text: "\ufffd\ufffd", Failed: "2 places are no gbk, shown as \ufffd; no JSON: invalid character 'ï' looking for beginning of value at byte 0"}},
		"not a text": {"\x00\x01\x02", "", Decoded{Decoder: "hex", Text: hex.Dump([]byte{0, 1, 2}), Failed: "no text in gbk: mostly control characters"}},
		"nothing":    {"", "", Decoded{Decoder: "text", Charset: "gbk"}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want.Size = len(tt.body)
			if got := Decode(bodyOf(t, tt.body), tt.decoder, "gbk"); got != tt.want {
				t.Errorf("%+v\nwant %+v", got, tt.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // a busy machine takes longer than a program may
		m, err := Filter{JQ: `.a == "退"`, Charset: "gbk"}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if !m.Match(t.Context(), bodyOf(t, json)) {
			t.Errorf("jq does not see the text: %+v", m.Counts())
		}
	})
	if !slices.Contains(Charsets(), "gbk") {
		t.Error("gbk is not offered")
	}
}
