package draw

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"eyeq/tui/table"
)

// Style is how text looks: what a table draws its cells with.
type Style = table.Style

// Theme holds the styles of the whole screen. They use the terminal's own 16
// colours, so that the operator's light or dark palette stays in force. Every style
// has a word or a sign beside it: with NO_COLOR all of them are empty.
type Theme struct {
	Text, Dim, Bold   Style
	Good, Warn, Bad   Style // states, always beside a word
	Accent, Title     Style
	Header, Frame     Style
	Cursor, Mark, Key Style
	Mode, Cluster     Style
	Spark, Bar        Style
}

// NewTheme builds the styles on a renderer, whose colour profile decides what is
// left of them.
func NewTheme(r *lipgloss.Renderer, clusterColor string) *Theme {
	make := func(f func(lipgloss.Style) lipgloss.Style) Style {
		return escapes(f(r.NewStyle()))
	}
	fg := func(color string) Style {
		return make(func(s lipgloss.Style) lipgloss.Style { return s.Foreground(lipgloss.Color(color)) })
	}
	boldFg := func(color string) Style {
		return make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true).Foreground(lipgloss.Color(color)) })
	}
	return &Theme{
		Dim:     make(func(s lipgloss.Style) lipgloss.Style { return s.Faint(true) }),
		Bold:    make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) }),
		Good:    fg("2"),
		Warn:    fg("3"),
		Bad:     boldFg("1"),
		Accent:  fg("6"),
		Title:   boldFg("6"),
		Header:  make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) }),
		Frame:   make(func(s lipgloss.Style) lipgloss.Style { return s.Faint(true) }),
		Cursor:  make(func(s lipgloss.Style) lipgloss.Style { return s.Reverse(true) }),
		Mark:    boldFg("5"),
		Key:     fg("6"),
		Mode:    make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true).Reverse(true) }),
		Cluster: boldFg(clusterANSI(clusterColor)),
		Spark:   fg("6"),
		Bar:     fg("6"),
	}
}

func clusterANSI(name string) string {
	switch name {
	case "red":
		return "1"
	case "yellow":
		return "3"
	case "blue":
		return "4"
	case "magenta":
		return "5"
	case "cyan":
		return "6"
	}
	return "2"
}

// escapes takes a style apart: what the renderer puts before and after a text. A
// call of Style.Render costs microseconds, two appends do not.
func escapes(s lipgloss.Style) Style {
	const probe = "x"
	before, after, found := strings.Cut(s.Render(probe), probe)
	if !found {
		return Style{}
	}
	return Style{Open: before, Close: after}
}

// Glyphs are the characters of our own drawings.
type Glyphs struct {
	ascii bool
	spark []string // from nothing to full
	parts []string // eighths of a bar's last cell
	Full, Done, gap, Void,
	Cursor, Mark, Up, Down, Enter, Input string
}

// NewGlyphs are the signs of a terminal that shows Unicode, or ASCII only.
func NewGlyphs(ascii bool) Glyphs {
	if ascii {
		return Glyphs{
			ascii: true,
			spark: strings.Split(" .:-=+*#", ""), // no digits: they would read as the figures beside them
			parts: nil,
			Full:  "#", Done: "=", gap: ":", Void: ".",
			Cursor: ">", Mark: "*", Up: " ^", Down: " v", Enter: "enter", Input: "_",
		}
	}
	return Glyphs{
		spark: strings.Split("▁▂▃▄▅▆▇█", ""),
		parts: strings.Split("▏▎▍▌▋▊▉", ""),
		Full:  "█", Done: "▒", gap: "░", Void: "·",
		Cursor: "▸", Mark: "●", Up: "↑", Down: "↓", Enter: "⏎", Input: "▏",
	}
}

// asciiChrome is what our own characters become on a terminal that has no others.
// Each is one cell wide and becomes one.
var asciiChrome = map[rune]byte{
	'╭': '+', '╮': '+', '╰': '+', '╯': '+', '─': '-', '│': '|', '├': '+', '┤': '+',
	'┏': '#', '┓': '#', '┗': '#', '┛': '#', '━': '=', '┃': '#',
	'█': '#', '▒': '=', '░': ':', '·': '.', '▏': '_', '▸': '>', '▾': 'v', '▹': '>', '●': '*', '○': 'o', '◌': 'o',
	'↑': '^', '↓': 'v', '→': '-', '←': '<', '–': '-', '—': '-', '−': '-', '×': 'x', '…': '~',
	'⏎': '$', '✓': '+', '✗': 'x', '≈': '~', 'µ': 'u', '•': '*',
	'‹': '<', '›': '>', '⌃': '^', '␛': '^', '“': '"', '”': '"', '‘': '\'', '’': '\'', 'Σ': 'S',
}

// asciiPairs are those of our characters that one of ASCII would make say something else:
// "≥ 12" is not "> 12", and > by itself is the cursor. They take the blank beside them.
var asciiPairs = map[rune]string{'≥': ">=", '≤': "<=", '≠': "!=", '±': "+-", '→': "->", '…': ".."}

// takesNext reports whether the pair for r takes the blank after it, for the one before
// sets it off from other text: "lag ≥ 12" is "lag >=12", "1 → 2" is "1-> 2".
func takesNext(r rune) bool { return r == '≥' || r == '≤' || r == '≠' }

// ToASCII turns a finished frame into ASCII: our own characters by the tables,
// foreign ones into one question mark a cell.
func ToASCII(frame string) string {
	b := make([]byte, 0, len(frame))
	for i := 0; i < len(frame); {
		if frame[i] < utf8.RuneSelf {
			b = append(b, frame[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(frame[i:])
		if pair, ok := asciiPairs[r]; ok {
			if takesNext(r) && i+n < len(frame) && frame[i+n] == ' ' {
				b = append(b, pair...)
				i += n + 1
				continue
			}
			if last := len(b) - 1; last >= 0 && b[last] == ' ' {
				b = append(b[:last], pair...)
				i += n
				continue
			}
		}
		if c, ok := asciiChrome[r]; ok {
			b = append(b, c)
			i += n
			continue
		}
		for range table.Room(r) {
			b = append(b, '?')
		}
		i += n
	}
	return string(b)
}
