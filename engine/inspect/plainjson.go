package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// MarshalPlain is json.Marshal and a newline, with the escapes of PlainJSON in the place of
// those for web pages.
func MarshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return PlainJSON(b.Bytes()), err
}

// PlainJSON escapes in a JSON text what JSON lets stand and a terminal obeys: DEL and
// C1 controls, and what breaks a line or turns the direction of reading. The text
// stands for the same value as before.
func PlainJSON(text []byte) []byte {
	var out []byte
	start := 0
	for i := 0; i < len(text); {
		if text[i] < 0x7F {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if Obeyed(r) {
			out = fmt.Appendf(append(out, text[start:i]...), `\u%04x`, r)
			start = i + size
		}
		i += size
	}
	if start == 0 {
		return text
	}
	return append(out, text[start:]...)
}

// Obeyed reports whether terminals act upon a character that JSON writes as itself.
func Obeyed(r rune) bool {
	switch {
	case r < 0xA0:
		return r >= 0x7F
	case r < '\u200E':
		return r == '\u061C'
	}
	return r <= '\u200F' || r >= '\u2028' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

// JSONTime is a time as scripts get it: RFC 3339 with milliseconds, in UTC.
func JSONTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
