package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// maxJSONDepth bounds nesting; RocketMQ's own documents stay under ten.
const maxJSONDepth = 64

var errJSONEnd = errors.New("text ends inside a JSON value")

// scanner reads what RocketMQ's JSON library reads: JSON, and single quotes and
// unquoted names beside it.
type scanner struct {
	src []byte
	at  int
}

// view makes a string of b without copying; b must not change afterwards.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (s *scanner) space() {
	for s.at < len(s.src) {
		switch s.src[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

// peek passes over blanks and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.src) && s.src[s.at] > ' ' {
		return s.src[s.at] // machines write no blanks
	}
	s.space()
	if s.at == len(s.src) {
		return 0
	}
	return s.src[s.at]
}

// end refuses anything but blanks from here on.
func (s *scanner) end() error {
	if s.peek(); s.at < len(s.src) {
		return fmt.Errorf("text after the JSON value at byte %d", s.at)
	}
	return nil
}

func (s *scanner) unexpected(want string) error {
	if s.at >= len(s.src) {
		return errJSONEnd
	}
	return fmt.Errorf("%q at byte %d where %s is expected", s.src[s.at], s.at, want)
}

// quoted returns the inside of the string that begins here.
func (s *scanner) quoted() (raw []byte, escaped bool, err error) {
	quote, start := s.src[s.at], s.at+1
	for i := start; i < len(s.src); i++ {
		switch s.src[i] {
		case quote:
			s.at = i + 1
			return s.src[start:i], escaped, nil
		case '\\':
			escaped = true
			i++
		}
	}
	return nil, false, errJSONEnd
}

// text returns the string that begins here, as a view where it has no escapes.
func (s *scanner) text() (string, error) {
	start := s.at
	raw, escaped, err := s.quoted()
	if err != nil || !escaped {
		return view(raw), err
	}
	t, err := unescape(raw)
	if err != nil {
		return "", fmt.Errorf("string at byte %d: %w", start, err)
	}
	return t, nil
}

// word returns the run of letters, digits, '_', '$', '.', '+' and '-' here: a
// number, a literal or an unquoted name; nil if there is none.
func (s *scanner) word() []byte {
	start := s.at
	for s.at < len(s.src) && isWord(s.src[s.at]) {
		s.at++
	}
	return s.src[start:s.at]
}

func isWord(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' ||
		c == '_' || c == '$' || c == '.' || c == '-' || c == '+'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLiteral(word []byte) bool {
	switch string(word) {
	case "true", "false", "null":
		return true
	}
	return false
}

// isNumber is JSON's grammar of numbers, which Java writes too.
func isNumber(w []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(w) && isDigit(w[n]) {
			n++
		}
		w = w[n:]
		return n > 0
	}
	if len(w) > 0 && w[0] == '-' {
		w = w[1:]
	}
	if len(w) > 1 && w[0] == '0' && isDigit(w[1]) || !digits() {
		return false
	}
	if len(w) > 0 && w[0] == '.' {
		if w = w[1:]; !digits() {
			return false
		}
	}
	if len(w) > 0 && (w[0] == 'e' || w[0] == 'E') {
		if w = w[1:]; len(w) > 0 && (w[0] == '+' || w[0] == '-') {
			w = w[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(w) == 0
}

// balanced returns the object or array that begins here as it stands. It looks
// at brackets and strings only.
func (s *scanner) balanced() ([]byte, error) {
	var closing [maxJSONDepth]byte
	start, depth := s.at, 0
	for s.at < len(s.src) {
		switch c := s.src[s.at]; c {
		case '"', '\'':
			if _, _, err := s.quoted(); err != nil {
				return nil, err
			}
			continue
		case '{', '[':
			if depth == maxJSONDepth {
				return nil, fmt.Errorf("JSON nested deeper than %d at byte %d", maxJSONDepth, s.at)
			}
			closing[depth] = c + 2 // in ASCII the closing bracket is two further
			depth++
		case '}', ']':
			depth--
			if closing[depth] != c {
				return nil, s.unexpected("'" + string(rune(closing[depth])) + "'")
			}
			if depth == 0 {
				s.at++
				return s.src[start:s.at], nil
			}
		}
		s.at++
	}
	return nil, errJSONEnd
}

// scalarOrRaw returns the value that begins here as text: a string's content, a
// number or literal as written, an object or array as it stands.
func (s *scanner) scalarOrRaw() (text string, null bool, err error) {
	switch c := s.peek(); c {
	case '"', '\'':
		text, err = s.text()
		return text, false, err
	case '{', '[':
		raw, err := s.balanced()
		return view(raw), false, err
	default:
		start := s.at
		word := s.word()
		if !isLiteral(word) && !isNumber(word) {
			s.at = start
			return "", false, s.unexpected("a value")
		}
		return view(word), string(word) == "null", nil
	}
}

// memberName reads a name, quoted or not, and its colon.
func (s *scanner) memberName() (string, error) {
	var name string
	if c := s.peek(); c == '"' || c == '\'' {
		var err error
		if name, err = s.text(); err != nil {
			return "", err
		}
	} else if name = view(s.word()); name == "" {
		return "", s.unexpected("a name")
	}
	if s.peek() != ':' {
		return "", s.unexpected("':'")
	}
	s.at++
	return name, nil
}

// comma reads a comma or the closing bracket; more says which.
func (s *scanner) comma(closing byte) (more bool, err error) {
	switch s.peek() {
	case ',':
		s.at++
		return true, nil
	case closing:
		s.at++
		return false, nil
	}
	return false, s.unexpected("',' or '" + string(rune(closing)) + "'")
}

// unescape resolves the escapes of raw, the inside of a string.
func unescape(raw []byte) (string, error) {
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			b.WriteByte(raw[i])
			continue
		}
		i++ // quoted has seen to it that a byte follows
		switch raw[i] {
		case '"', '\\', '/', '\'':
			b.WriteByte(raw[i])
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r, ok := hexRune(raw, i+1)
			if !ok {
				return "", errors.New(`\u without four hex digits`)
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+2 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
					low, ok = hexRune(raw, i+3)
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					i += 6
				}
			}
			b.WriteRune(r)
		default:
			return "", fmt.Errorf("unknown escape %q", raw[i])
		}
	}
	return b.String(), nil
}

func hexRune(raw []byte, at int) (rune, bool) {
	if at+4 > len(raw) {
		return 0, false
	}
	n, err := strconv.ParseUint(view(raw[at:at+4]), 16, 16)
	return rune(n), err == nil
}
