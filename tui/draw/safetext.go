package draw

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"eyeq/tui/table"
)

const (
	tabStop = 8
	// maxMarks bounds the combining marks on one character: more is an attack on
	// the renderer, not writing.
	maxMarks = 4
)

// SafeText makes one line of foreign text safe to print: control characters as
// pictures (ESC as ␛), newlines as ⏎, other invisible or direction-changing
// characters by their number (‹U+202E›), bytes that are no UTF-8 as ‹ff›, tabs as
// spaces to the next stop. Variation selectors are dropped, since terminals
// disagree about the width they give; vowels and finals of Hangul that form no syllable
// are shown by their number, since some terminals draw them into the cell before. Text
// without any of these comes back as it is.
func SafeText(s string) string {
	if IsSafe(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	column, marks := 0, maxMarks // a leading mark would sit on our own frame
	prev := rune(0)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece, width := "", 1
		shape := shapeOf(prev, r)
		switch {
		case r == utf8.RuneError && size == 1:
			piece = "‹" + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:] + "›"
			width = 4
		case r == '\t':
			width = tabStop - column%tabStop
			piece = "        "[:width]
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
			size = 2
			piece = "⏎"
		case r == '\n':
			piece = "⏎"
		case r < ' ':
			piece = string('␀' + r)
		case r == 0x7f:
			piece = "␡"
		case isSelector(r):
			i += size
			continue
		case shape == shapeMark && marks < maxMarks:
			b.WriteString(s[i : i+size])
			marks, prev = marks+1, r
			i += size
			continue
		case shape == shapeOwn:
			piece = s[i : i+size]
		default:
			piece = fmt.Sprintf("‹U+%04X›", r)
			width = utf8.RuneCountInString(piece)
			r = '›'
		}
		b.WriteString(piece)
		column += width
		marks, prev = 0, r
		i += size
	}
	return b.String()
}

// IsSafe reports whether SafeText would change nothing, without allocating.
func IsSafe(s string) bool {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f {
			return false
		}
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return true
	}
	marks, prev := maxMarks, rune(0)
	for i, r := range s {
		switch shape := shapeOf(prev, r); {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			return false
		case shape == shapeNone || isSelector(r):
			return false
		case shape == shapeMark:
			marks++
			if marks > maxMarks {
				return false
			}
		default:
			marks = 0
		}
		prev = r
	}
	return true
}

// shape is how a terminal shows a character.
type shape uint8

const (
	shapeNone shape = iota // not as itself, or nobody knows where
	shapeOwn               // by itself
	shapeMark              // with the character before it
)

// shapeOf says how r is shown after prev. unicode.IsGraphic leaves out controls, format
// characters (bidi, zero width), private and unassigned ones; line and paragraph
// separators and letters that are blank are left out here.
func shapeOf(prev, r rune) shape {
	switch {
	case !unicode.IsGraphic(r) || r == '\u2028' || r == '\u2029':
		return shapeNone
	case r < 0x300 || table.Settled(r):
		return shapeOwn
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return shapeNone
	case unicode.Is(unicode.M, r):
		return shapeMark
	}
	switch jamo, joined := table.JamoJoins(prev, r); {
	case joined:
		return shapeMark
	case jamo:
		return shapeNone
	}
	return shapeOwn
}

func isSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r >= 0x180b && r <= 0x180f
}

// SafeHead is SafeText of the beginning of a possibly huge text: what a line of
// width cells can show, and a little more. whole is false when text was left out.
func SafeHead(b []byte, width int) (s string, whole bool) {
	limit := max(width, 1) * utf8.UTFMax
	if len(b) <= limit {
		return SafeText(string(b)), true
	}
	for limit > 0 && !utf8.RuneStart(b[limit]) {
		limit--
	}
	return SafeText(string(b[:limit])), false
}
