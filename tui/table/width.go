package table

import (
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Terminals do not agree how wide a text is. Some (tmux, xterm) add up the widths of its
// characters, others give each grapheme cluster the width of its first character: a Thai
// "\u0e01\u0e33" takes two cells in the first and one in the second. They do not know the
// same version of Unicode either. So a text gets the room that the widest of them needs,
// and who draws a row says after such a text where the next character stands (Settled).

// Room is how many cells to keep for a character: the most that any model of width
// gives it. Since no model gives a cluster more than its characters together, the rooms
// of a text can be added up, wherever it is cut.
func Room(r rune) int {
	switch n := settledWidth(r); {
	case n > 0:
		return n
	case r < ' ' || unicode.In(r, unicode.Mn, unicode.Me) || isVowelJamo(r) || isFinalJamo(r):
		return 0
	case r >= 0x3248 && r <= 0x324f: // a number in a black square: wide in glibc
		return 2
	}
	var b [utf8.UTFMax]byte
	text := string(utf8.AppendRune(b[:0], r))
	return max(ansi.StringWidth(text), ansi.StringWidthWc(text), 1)
}

// Settled reports whether all terminals give r the same width, whatever stands beside
// it. It says no when in doubt.
func Settled(r rune) bool { return settledWidth(r) > 0 }

// settledWidth is the width on which all terminals agree, 0 where they might not. No
// character here joins a cluster but as its first, none can be shown as an emoji, and
// all have been in Unicode for long.
func settledWidth(r rune) int {
	switch {
	case r < 0x7f:
		if r >= ' ' {
			return 1
		}
	case r < 0x370:
		if r >= 0xa0 && r < 0x300 && r != 0xa9 && r != 0xad && r != 0xae {
			return 1
		}
	case r < 0x483, r >= 0x48a && r < 0x530: // Greek, Cyrillic
		if unicode.IsGraphic(r) {
			return 1
		}
	case r >= 0x2010 && r <= 0x2027, r >= 0x2030 && r <= 0x203a, // dashes, quotes, …
		r >= 0x2190 && r <= 0x2193, // arrows
		r >= 0x2200 && r <= 0x22ff, // mathematical operators
		r >= 0x2400 && r <= 0x2426, // pictures of controls
		r >= 0x2500 && r <= 0x259f, // frames and blocks
		r == '⏎', r == '▸', r == '▹', r == '▾', r == '○', r == '◌', r == '●', r == '✓', r == '✗', r == utf8.RuneError:
		return 1
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, // kana
		r >= 0x3001 && r <= 0x3003, r >= 0x3008 && r <= 0x3011, // 、。「」
		r >= 0x3400 && r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, // ideographs
		r >= 0xac00 && r <= 0xd7a3, // Hangul syllables
		r >= 0xff01 && r <= 0xff60: // full-width forms
		return 2
	}
	return 0
}

// first gives the length and the room of what text begins with and is written as one.
func first(text string) (size, room int) {
	if text[0] < utf8.RuneSelf && (len(text) == 1 || text[1] < utf8.RuneSelf) {
		return 1, Room(rune(text[0]))
	}
	r, size := utf8.DecodeRuneInString(text)
	room = Room(r)
	for size < len(text) {
		next, n := utf8.DecodeRuneInString(text[size:])
		if !joins(next) {
			break
		}
		size, room = size+n, room+Room(next)
	}
	return size, room
}

// joins reports whether r belongs to the character before it: marks, vowel signs that
// stand beside their letter, vowels and finals of Hangul, skin tones.
func joins(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r == 0xe33, r == 0xeb3, r == 0xff9e, r == 0xff9f, r >= 0x1f3fb && r <= 0x1f3ff, isVowelJamo(r), isFinalJamo(r):
		return true
	}
	return !Settled(r) && unicode.Is(unicode.M, r)
}

// JamoJoins reports whether r is a vowel or a final of Hangul that forms a syllable with
// prev. One that does not has no width in some terminals and a cell of its own in others.
func JamoJoins(prev, r rune) (jamo, joined bool) {
	switch {
	case isVowelJamo(r):
		return true, isLeadJamo(prev) || isVowelJamo(prev) || isSyllable(prev) && (prev-0xac00)%28 == 0
	case isFinalJamo(r):
		return true, isVowelJamo(prev) || isFinalJamo(prev) || isSyllable(prev)
	}
	return false, false
}

func isLeadJamo(r rune) bool  { return r >= 0x1100 && r <= 0x115e || r >= 0xa960 && r <= 0xa97c }
func isVowelJamo(r rune) bool { return r >= 0x1160 && r <= 0x11a7 || r >= 0xd7b0 && r <= 0xd7c6 }
func isFinalJamo(r rune) bool { return r >= 0x11a8 && r <= 0x11ff || r >= 0xd7cb && r <= 0xd7fb }
func isSyllable(r rune) bool  { return r >= 0xac00 && r <= 0xd7a3 }
