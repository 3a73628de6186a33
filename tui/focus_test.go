package tui

import (
	"strings"
	"testing"
)

// TestFocusIsASign: which pane takes the keys is seen without colours, and moves with tab.
func TestFocusIsASign(t *testing.T) {
	tests := map[string]struct {
		open  func(t *testing.T, w, h int) *driver
		panes []string
	}{
		"live": {
			func(t *testing.T, w, h int) *driver { return drive(t, w, h, defaultOptions(), nil) },
			[]string{"Queues", "", "Alloc"},
		},
		"group": {
			func(t *testing.T, w, h int) *driver {
				return driveCluster(t, w, h, defaultOptions(), fullCluster()).keys("d")
			},
			[]string{"Members", "Subscriptions", "Configuration"},
		},
		"topic": {
			func(t *testing.T, w, h int) *driver {
				return driveCluster(t, w, h, defaultOptions(), fullCluster()).keys("5", "enter")
			},
			[]string{"Queues", "Groups that read it", "Route"},
		},
		"brokers": {
			func(t *testing.T, w, h int) *driver {
				return driveCluster(t, w, h, defaultOptions(), fullCluster()).keys("6")
			},
			[]string{"Brokers", "Name servers"},
		},
	}
	for name, test := range tests {
		for _, size := range [][2]int{{80, 24}, {120, 36}} {
			d := test.open(t, size[0], size[1])
			for i, title := range test.panes {
				if title == "" { // the feed: a line at 80 cells, a box at 120
					title = map[bool]string{true: "Flow control & events", false: "events ─"}[size[0] > 100]
				}
				frame := d.frame()
				if n := strings.Count(frame, "▸ "+title); n != 1 {
					t.Errorf("%s at %dx%d, tab %d: %d signs at %q:\n%s", name, size[0], size[1], i, n, title, frame)
				}
				for _, other := range test.panes {
					if other != "" && other != title && strings.Contains(frame, "╭▸ "+other) {
						t.Errorf("%s at %dx%d, tab %d: a sign at %q too", name, size[0], size[1], i, other)
					}
				}
				d.keys("tab")
			}
		}
	}
}

// A pane that is alone needs none.
func TestFocusAloneIsNoSign(t *testing.T) {
	drive(t, 120, 36, defaultOptions(), nil).keys("z").see("╭─ Queues")
	driveCluster(t, 120, 36, defaultOptions(), fullCluster()).see("╭─ Groups").keys("d", "z").see("╭─ Members")
}
