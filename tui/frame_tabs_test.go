package tui

import (
	"strings"
	"testing"
)

// A view without a number stands behind those with one, and is named whole however
// narrow the screen is.
func TestTabsKeepTheirPlaces(t *testing.T) {
	const numbered = "  1 Live   2 Lag   4 Groups   5 Topics   6 Brokers   7 Events  ["
	views := map[string]struct{ keys, word string }{
		"group":    {"4 d", "Group"},
		"topic":    {"5 enter", "Topic"},
		"findings": {"4 f", "Findings"},
		"stack":    {"4 d T", "Stack"},
		"log":      {"!", "Log"},
	}
	for name, v := range views {
		t.Run(name, func(t *testing.T) {
			for _, w := range []int{60, 70, 80, 100, 200} {
				d, _ := stacking(t, w, 36, defaultOptions(), tells)
				line := d.keys(strings.Fields(v.keys)...).lines()[1]
				if !strings.Contains(line, "["+v.word+"]") {
					t.Errorf("at %d columns the tabs are %q, want %s among them", w, line, v.word)
				}
				if w >= 100 && !strings.HasPrefix(line, numbered+v.word) {
					t.Errorf("at %d columns the tabs are %q, want %s last", w, line, v.word)
				}
			}
		})
	}
}
