package tui

import (
	"eyeq/tui/pages"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// at is the line of the screen that has text in it.
func (d *driver) at(text string) int {
	d.t.Helper()
	for y, l := range d.lines() {
		if strings.Contains(l, text) {
			return y
		}
	}
	d.t.Errorf("no %q on the screen:\n%s", text, d.frame())
	return 0
}

func (d *driver) wheel(x, y int) *driver {
	d.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress})
	return d
}

func (d *driver) click(x, y int) *driver {
	d.send(tea.MouseMsg{X: x, Y: y, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	return d
}

// What lies under the pointer moves: the message of a tail, not its list.
func TestTheWheelMovesWhatIsUnderIt(t *testing.T) {
	for name, size := range map[string][2]int{"beside": {120, 36}, "below": {80, 24}} {
		t.Run(name, func(t *testing.T) {
			d, _ := tailing(t, size[0], size[1], defaultOptions(), "orders-paid", nil, tailFixture(t))
			d.keys("g", "m")
			key, y := d.tail().Current().Key, d.at("─ Message ")
			d.wheel(size[0]-5, y+3)
			if got := d.tail(); got.Top != wheelRows || got.Current().Key != key {
				t.Errorf("over the message: scrolled to %d at message %s, want %d at %s", got.Top, got.Current().Key, wheelRows, key)
			}
			d.wheel(5, d.at("─ Messages ")+3)
			if got := d.tail(); got.Top != 0 || got.Current().Key == key {
				t.Errorf("over the list: scrolled to %d at message %s", got.Top, got.Current().Key)
			}
			d.keys("enter").wheel(5, size[1]/2)
			if got := d.tail(); got.Top != wheelRows {
				t.Errorf("over a zoomed message: scrolled to %d, want %d", got.Top, wheelRows)
			}
		})
	}
	d, _ := stacking(t, 80, 24, defaultOptions(), tells)
	d.keys("T", "m").wheel(5, d.at("Stack of")+2).see("4-15 of ").see("Stack of 20 threads").wheel(5, d.at("Threads of")+2).see("Stack of 1 thread ")
	d = examining(t, 60, 16, fixtureReport(), nil).keys("m")
	before := d.at("Evidence")
	d.wheel(5, before+2)
	if v := d.a.page().(pages.DoctorView); v.Top != wheelRows || v.List.Cursor() != 0 {
		t.Errorf("over the evidence: scrolled to %d at finding %d", v.Top, v.List.Cursor())
	}
	d = driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys("d", "m")
	d.wheel(5, d.at("─ Configuration")+2)
	if v := d.a.page().(pages.GroupView); v.Panes.Focus != pages.GroupConfig || v.Panes.List[pages.GroupConfig].List.Cursor() != wheelRows || v.Panes.List[pages.GroupMembers].List.Cursor() != 0 {
		t.Errorf("over a pane: the focus is on %d", v.Panes.Focus)
	}
}

// A click selects on every page, as the mouse says when it is turned on.
func TestAClickSelectsOnEveryPage(t *testing.T) {
	pages := map[string]struct{ keys, text string }{
		"groups":        {"", "audit-copy"},
		"lag":           {"2", "broker-a/1"},
		"topics":        {"5", "订单"},
		"topic":         {"5 enter", "broker-a/1"},
		"group":         {"d", memberC},
		"another pane":  {"d", "retryMaxTimes"},
		"the only pane": {"d tab tab z", "retryMaxTimes"},
		"brokers":       {"6", "broker-b"},
		"name servers":  {"6", "10.0.3.12:9876"},
	}
	for name, p := range pages {
		t.Run(name, func(t *testing.T) {
			for _, size := range sizes[1:] {
				d := driveCluster(t, size[0], size[1], defaultOptions(), fullCluster()).keys(strings.Fields(p.keys)...).keys("m")
				if size[1] == 24 && strings.HasSuffix(name, "pane") && name != "the only pane" {
					continue // it is not on the screen
				}
				d.click(5, d.at(p.text))
				if line := d.lines()[d.at(p.text)]; !strings.Contains(line, "▸") {
					t.Errorf("%dx%d: the line clicked on is %q:\n%s", size[0], size[1], line, d.frame())
				}
			}
		})
	}
}

// A click on a tab shows its view, wherever the width has put it.
func TestAClickOnATabShowsItsView(t *testing.T) {
	for _, w := range []int{60, 80, 120, 200} {
		d := driveCluster(t, w, 36, defaultOptions(), fullCluster()).keys("m")
		for _, tab := range [][2]string{{"5", "Topics"}, {"7", "Events"}, {"6", "Brokers"}, {"4", "Groups"}} {
			line := d.lines()[1]
			at := strings.Index(line, tab[0]) // of a narrow screen's tabs only the key is seen
			d.click(at, 1)
			if line := d.lines()[1]; !strings.Contains(line, "["+tab[0]+" "+tab[1]+"]") {
				t.Errorf("at %d columns a click on %s shows %q", w, tab[1], line)
			}
		}
		before := d.frame()
		if d.click(w-1, 1); d.frame() != before {
			t.Errorf("at %d columns a click beside the tabs does something:\n%s", w, d.frame())
		}
	}
}
