package tui

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eyeq/tui/table"
)

// pinned makes the rows of a frame of w cells the same on every terminal. After a text to
// which terminals give different widths it says in which column the next character
// stands: layout has kept room for the widest, and where a terminal draws less a blank is
// left. Rows without such a text, nearly all, stay as they are.
//
// What was in such a row before has to be erased first, since not every cell of it is
// written. bubbletea erases to the right of a row that it takes to be short, which would
// hit the last cell here: it is given blanks to count, and they are written over.
func pinned(frame string, w int) string {
	if isSettled(frame) {
		return frame
	}
	b := make([]byte, 0, len(frame)+len(frame)/8+64)
	for line := range strings.SplitSeq(frame, "\n") {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		if isSettled(line) {
			b = append(b, line...)
			continue
		}
		row := pinnedRow(line)
		b = append(b, ansi.EraseLineRight...)
		if short := w - ansi.StringWidth(row); short > 0 {
			b = append(table.AppendSpaces(b, short), ansi.CursorHorizontalAbsolute(1)...)
		}
		b = append(b, row...)
	}
	return string(b)
}

// isSettled reports whether all terminals give text the same width.
func isSettled(text string) bool {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if !table.Settled(r) {
			return false
		}
		i += n
	}
	return true
}

func pinnedRow(line string) string {
	b := make([]byte, 0, len(line)+len(line)/4)
	x, open := 0, false // the cells before the next character; whether the terminal may stand elsewhere
	for i := 0; i < len(line); {
		if line[i] == '\x1b' { // a colour
			n := max(strings.IndexByte(line[i:], 'm')+1, 1)
			b = append(b, line[i:i+n]...)
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(line[i:])
		settled := table.Settled(r)
		if settled && open {
			b = append(b, "\x1b["...)
			b = append(strconv.AppendInt(b, int64(x+1), 10), 'G')
		}
		b = append(b, line[i:i+n]...)
		x, open = x+table.Room(r), !settled
		i += n
	}
	return string(b)
}
