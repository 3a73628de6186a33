package tui

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
)

var (
	pins    = regexp.MustCompile(`\x1b\[(\d*)G`)
	erasure = regexp.MustCompile(`^\x1b\[K( *\x1b\[\d*G)?`)
)

// unpinned is a row as it was laid out.
func unpinned(row string) string {
	return pins.ReplaceAllString(erasure.ReplaceAllString(row, ""), "")
}

// standing draws a pinned row of w cells as a terminal does that gives runs of text the
// widths of model, and says where each settled character stands.
func standing(t testing.TB, row string, w int, model func(string) int) []string {
	t.Helper()
	var stand []string
	x, run := 0, ""
	flush := func() {
		x += model(run)
		run = ""
	}
	for i := 0; i < len(row); {
		if row[i] == '\x1b' {
			flush()
			if at := pins.FindStringSubmatchIndex(row[i:]); at != nil && at[0] == 0 {
				n, _ := strconv.Atoi(row[i+at[2] : i+at[3]])
				if to := max(n-1, 0); to < x && to > 0 {
					t.Errorf("column %d is written over: the terminal stands at %d in %q", to, x, row)
				} else {
					x = to
				}
				i += at[1]
				continue
			}
			i += strings.IndexAny(row[i:], "mK") + 1
			continue
		}
		r, n := rune(row[i]), 1
		for _, c := range row[i:] {
			r, n = c, len(string(c))
			break
		}
		if table.Settled(r) {
			flush()
			if r != ' ' {
				stand = append(stand, fmt.Sprintf("%d %c", x, r))
			}
		}
		run += row[i : i+n]
		i += n
	}
	flush()
	if x > w {
		t.Errorf("a terminal draws %d cells of %d: %q", x, w, row)
	}
	return stand
}

// sumOfCharacters is the width in terminals that add up characters, as glibc counts them.
func sumOfCharacters(run string) int {
	n := 0
	for _, r := range run {
		jamo, _ := table.JamoJoins(0, r)
		switch {
		case jamo:
		case r >= 0x3248 && r <= 0x324f:
			n += 2
		case unicode.Is(unicode.Mc, r):
			n += max(ansi.StringWidthWc(string(r)), 1)
		default:
			n += ansi.StringWidthWc(string(r))
		}
	}
	return n
}

// checkPinned fails unless both models of width put every character of a row into the
// same cell, and the row has as many cells as bubbletea counts.
func checkPinned(t testing.TB, row string, w int) {
	t.Helper()
	sums, clusters := standing(t, row, w, sumOfCharacters), standing(t, row, w, ansi.StringWidth)
	if diff := cmp.Diff(sums, clusters); diff != "" {
		t.Errorf("terminals do not agree on %q (-sums +clusters):\n%s", row, diff)
	}
	if got := ansi.StringWidth(row); got != w {
		t.Errorf("bubbletea counts %d cells of %d in %q", got, w, row)
	}
}

// foreignTexts are those about whose width terminals differ, without characters that
// Unicode added or widened of late: what those take depends on the machine.
var foreignTexts = []string{
	"สวัสดี ทำงาน น้ำ \u0e01\u0e33", "ຄໍາ ນ້ຳ", "❤️ ☎️ 1️⃣ ⚠️", "👨‍👩‍👧‍👦 👩‍💻 🏳️‍🌈", "🇩🇪🇨🇳 🇩", "👍🏽 🧑🏿‍🚀", "\u1112\u1161\u11ab\u1100\u1173\u11af", "e\u0301a\u0308\u0323 \u0301", "مرحبا بالعالم שלום",
	"a\u200bb\u200dc\ufeffd", "①② ─ … “x” §", "हिन्दी में क्षत्रिय", "தமிழ் மொழி", "㉈㉉", "ｶﾞｷﾞ", "订单\u3099結算", "⭐ \u2b50\ufe0e",
}

func TestPinnedRowsStandInEveryTerminal(t *testing.T) {
	for _, text := range append([]string{"䷀ 𝌆 \U0001FAE8"}, foreignTexts...) {
		for _, w := range []int{7, 20, 40} {
			c := draw.NewCanvas(w, 2)
			c.Boxed(draw.ThinBox, draw.Style{Open: "\x1b[2m", Close: "\x1b[0m"}, draw.Styled(draw.Style{Open: "\x1b[1m", Close: "\x1b[0m"}, draw.SafeText(text)))
			c.Cell(draw.Style{}, draw.SafeText(text), w, true)
			c.End()
			laidOut := c.String()
			frame := pinned(laidOut, w)
			for i, row := range strings.Split(frame, "\n") {
				checkPinned(t, row, w)
				if got, want := unpinned(row), strings.Split(laidOut, "\n")[i]; got != want {
					t.Errorf("pinned %q, laid out %q", got, want)
				}
			}
		}
	}
	if plain := "│ 订单 → é ▸ ─┐"; pinned(plain, 20) != plain {
		t.Errorf("a row on which terminals agree is changed: %q", pinned(plain, 20))
	}
}

// TestRandomTextStandsInEveryTerminal draws texts of random characters, neighbours of one
// script as well as any, through the ways in which rows are made.
func TestRandomTextStandsInEveryTerminal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(12, 0))
	blocks := []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Devanagari, unicode.Bengali, unicode.Tamil, unicode.Malayalam, unicode.Myanmar, unicode.Khmer, unicode.Tibetan,
		unicode.Hangul, unicode.Arabic, unicode.Hebrew, unicode.Mongolian, unicode.Han, unicode.Latin, unicode.M, unicode.So, unicode.Sk, unicode.Cf, unicode.Lm, unicode.Regional_Indicator}
	pick := func(table *unicode.RangeTable) rune {
		if n := len(table.R16); n > 0 && (len(table.R32) == 0 || rnd.IntN(2) == 0) {
			r := table.R16[rnd.IntN(n)]
			return rune(r.Lo) + rune(r.Stride)*rune(rnd.IntN(int(r.Hi-r.Lo)/int(r.Stride)+1))
		}
		r := table.R32[rnd.IntN(len(table.R32))]
		return rune(r.Lo) + rune(r.Stride)*rune(rnd.IntN(int(r.Hi-r.Lo)/int(r.Stride)+1))
	}
	text := func() string {
		var b strings.Builder
		block := blocks[rnd.IntN(len(blocks))]
		for range rnd.IntN(30) {
			switch rnd.IntN(8) {
			case 0:
				b.WriteRune(rune(rnd.IntN(unicode.MaxRune)))
			case 1:
				b.WriteString([]string{"a", " ", "订", "\u200d", "\ufe0f", "\u0301", "\u0e33", "\U0001F3FD", "\t", "한"}[rnd.IntN(10)])
			case 2:
				block = blocks[rnd.IntN(len(blocks))]
			default:
				b.WriteRune(pick(block))
			}
		}
		return b.String()
	}
	columns := []table.Column{{Width: 6, Flex: 1, Max: 14}, {Width: 5, Right: true}, {Width: 8, Flex: 2}}
	for range 1000 {
		w := 12 + rnd.IntN(60)
		c := draw.NewCanvas(w, 4)
		layout := table.Fit(columns, w-2, w, 0)
		c.TableRow(&draw.Theme{}, &layout, columns, []table.Cell{{Text: draw.SafeText(text()), Name: true}, {Text: draw.SafeText(text())}, {Text: table.Tail(draw.SafeText(text()), rnd.IntN(9))}}, table.Look{Cursor: " ", Mark: " "})
		c.Top(draw.ThinBox, draw.Style{}, draw.Style{}, draw.SafeText(text()), draw.SafeText(text()))
		for _, part := range draw.WrapText(draw.SafeText(text()+text()), w) {
			c.Put(draw.Style{}, part)
			c.End()
		}
		f := page.NewField(text())
		c.Put(draw.Style{}, f.Text(&draw.Glyphs{Input: "▏"}, w, true))
		c.End()
		frame := pinned(c.String(), w)
		for row := range strings.SplitSeq(frame, "\n") {
			if got := table.Width(ansi.Strip(unpinned(row))); got != w {
				t.Fatalf("a row has %d cells of %d: %q", got, w, row)
			}
			checkPinned(t, row, w)
		}
		if t.Failed() {
			return
		}
	}
}
