package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"eyeq/tui/table"
)

type style = table.Style

// theme holds the styles of the whole screen. They use the terminal's own 16
// colours, so that the operator's light or dark palette stays in force. Every style
// has a word or a sign beside it: with NO_COLOR all of them are empty.
type theme struct {
	text, dim, bold   style
	good, warn, bad   style // states, always beside a word
	accent, title     style
	header, frame     style
	cursor, mark, key style
	mode, cluster     style
	spark, bar        style
}

// newTheme builds the styles on a renderer, whose colour profile decides what is
// left of them.
func newTheme(r *lipgloss.Renderer, clusterColor string) *theme {
	make := func(f func(lipgloss.Style) lipgloss.Style) style {
		return escapes(f(r.NewStyle()))
	}
	fg := func(color string) style {
		return make(func(s lipgloss.Style) lipgloss.Style { return s.Foreground(lipgloss.Color(color)) })
	}
	boldFg := func(color string) style {
		return make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true).Foreground(lipgloss.Color(color)) })
	}
	return &theme{
		dim:     make(func(s lipgloss.Style) lipgloss.Style { return s.Faint(true) }),
		bold:    make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) }),
		good:    fg("2"),
		warn:    fg("3"),
		bad:     boldFg("1"),
		accent:  fg("6"),
		title:   boldFg("6"),
		header:  make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true) }),
		frame:   make(func(s lipgloss.Style) lipgloss.Style { return s.Faint(true) }),
		cursor:  make(func(s lipgloss.Style) lipgloss.Style { return s.Reverse(true) }),
		mark:    boldFg("5"),
		key:     fg("6"),
		mode:    make(func(s lipgloss.Style) lipgloss.Style { return s.Bold(true).Reverse(true) }),
		cluster: boldFg(clusterANSI(clusterColor)),
		spark:   fg("6"),
		bar:     fg("6"),
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
func escapes(s lipgloss.Style) style {
	const probe = "x"
	before, after, found := strings.Cut(s.Render(probe), probe)
	if !found {
		return style{}
	}
	return style{Open: before, Close: after}
}

// glyphs are the characters of our own drawings.
type glyphs struct {
	ascii bool
	spark []string // from nothing to full
	parts []string // eighths of a bar's last cell
	full, done, gap, void,
	cursor, mark, up, down, enter, input string
}

func newGlyphs(ascii bool) glyphs {
	if ascii {
		return glyphs{
			ascii: true,
			spark: strings.Split(" .:-=+*#", ""), // no digits: they would read as the figures beside them
			parts: nil,
			full:  "#", done: "=", gap: ":", void: ".",
			cursor: ">", mark: "*", up: " ^", down: " v", enter: "enter", input: "_",
		}
	}
	return glyphs{
		spark: strings.Split("▁▂▃▄▅▆▇█", ""),
		parts: strings.Split("▏▎▍▌▋▊▉", ""),
		full:  "█", done: "▒", gap: "░", void: "·",
		cursor: "▸", mark: "●", up: "↑", down: "↓", enter: "⏎", input: "▏",
	}
}

// asciiChrome is what our own characters become on a terminal that has no others.
// Each is one cell wide and becomes one.
var asciiChrome = map[rune]byte{
	'╭': '+', '╮': '+', '╰': '+', '╯': '+', '─': '-', '│': '|', '├': '+', '┤': '+',
	'┏': '#', '┓': '#', '┗': '#', '┛': '#', '━': '=', '┃': '#',
	'█': '#', '▒': '=', '░': ':', '·': '.', '▏': '_', '▸': '>', '▾': 'v', '▹': '>', '●': '*', '○': 'o', '◌': 'o',
	'↑': '^', '↓': 'v', '→': '>', '←': '<', '–': '-', '—': '-', '−': '-', '×': 'x', '…': '~',
	'⏎': '$', '✓': '+', '✗': 'x', '≥': '>', '≤': '<', '≈': '~', 'µ': 'u', '•': '*',
	'‹': '<', '›': '>', '⌃': '^', '␛': '^', '“': '"', '”': '"', '‘': '\'', '’': '\'', 'Σ': 'S', '±': '+',
}

// toASCII turns a finished frame into ASCII: our own characters by the table,
// foreign ones into one question mark a cell.
func toASCII(frame string) string {
	b := make([]byte, 0, len(frame))
	for i := 0; i < len(frame); {
		if frame[i] < utf8.RuneSelf {
			b = append(b, frame[i])
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(frame[i:])
		if last := len(b) - 1; r == '→' && last >= 0 && b[last] == ' ' {
			b[last] = '-' // with the > of the table an arrow: > by itself is the cursor
		}
		if c, ok := asciiChrome[r]; ok {
			b = append(b, c)
			i += n
			continue
		}
		cluster, width := ansi.FirstGraphemeCluster(frame[i:], ansi.GraphemeWidth)
		for range width {
			b = append(b, '?')
		}
		i += max(len(cluster), 1)
	}
	return string(b)
}
