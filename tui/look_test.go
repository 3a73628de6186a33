package tui

import (
	"strings"
	"testing"

	"eyeq/tui/table"
)

func TestRenderGivesExactlyTheSizeAskedFor(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 36}, {100, 30}, {80, 24}, {60, 16}, {58, 14}, {20, 3}, {1, 1}} {
		frame := Render(fixtures(40), fixtureEvents(), Options{Cluster: "prod-sh", Mode: "confirm", Location: fixtureZone}, size[0], size[1])
		lines := strings.Split(frame, "\n")
		if len(lines) != size[1] {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		for i, l := range lines {
			if w := table.Width(l); w > size[0] {
				t.Errorf("%v: line %d is %d cells wide: %q", size, i+1, w, l)
			}
		}
	}
}
