package inspect

import (
	"fmt"
	"unicode/utf8"
)

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
