package table

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// tmuxWidths are the widths that a real terminal gave.
func tmuxWidths(t *testing.T) func(r rune) int {
	f, err := os.Open("testdata/tmux-widths.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	widths := make(map[rune]int)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		var first, last rune
		var cells int
		if _, err := fmt.Sscanf(lines.Text(), "%X %X %d", &first, &last, &cells); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		for r := first; r <= last; r++ {
			widths[r] = cells
		}
	}
	return func(r rune) int {
		if n, ok := widths[r]; ok {
			return n
		}
		return 1
	}
}

// TestEveryCharacterHasItsRoom compares with a terminal that adds up characters (tmux)
// and with one that gives a width to clusters (x/ansi).
func TestEveryCharacterHasItsRoom(t *testing.T) {
	tmux := tmuxWidths(t)
	settled := 0
	for r := rune(' '); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) {
			if Settled(r) {
				t.Errorf("%U is settled and not graphic", r)
			}
			continue
		}
		text := string(r)
		sum, cluster := tmux(r), ansi.StringWidth(text)
		if isVowelJamo(r) || isFinalJamo(r) {
			cluster = 0 // SafeText lets it stand within a syllable only
		}
		if got, want := Room(r), max(sum, cluster); got < want {
			t.Errorf("%U gets %d cells, a terminal draws %d", r, got, want)
		}
		if !Settled(r) {
			continue
		}
		settled++
		if sum != cluster || sum != Room(r) {
			t.Errorf("%U is settled: tmux %d, x/ansi %d, room %d", r, sum, cluster, Room(r))
		}
		for _, pair := range []string{"a" + text, text + "a"} {
			if c, _ := ansi.FirstGraphemeCluster(pair, ansi.GraphemeWidth); c == pair {
				t.Errorf("%U is settled and joins in %q", r, pair)
			}
		}
	}
	if settled < 40_000 {
		t.Errorf("only %d characters are settled", settled)
	}
}

func TestWhatIsWrittenAsOneIsCutAsOne(t *testing.T) {
	for _, unit := range []string{"a\u0301", "\u0e01\u0e33", "का", "👍🏽", "\u1112\u1161\u11ab", "한\u11ab", "\uff76\uff9e"} {
		n := Width(unit)
		if got := Head("x"+unit+"y", n); got != "x" {
			t.Errorf("Head of %q: %q", "x"+unit+"y", got)
		}
		if got := Head("x"+unit+"y", n+1); got != "x"+unit {
			t.Errorf("Head of %q: %q", "x"+unit+"y", got)
		}
		if got := Tail("x"+unit+"y", 2); got != "y" {
			t.Errorf("Tail of %q: %q", "x"+unit+"y", got)
		}
	}
}
