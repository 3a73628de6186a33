package tui

import (
	"testing"
	"time"

	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/page"
	"eyeq/tui/table"
)

func TestASCIITrendsAreNoFigures(t *testing.T) {
	o := defaultOptions()
	o.ASCII = true
	drive(t, 120, 36, o, nil).see(" [").see("#] ").see("lag v ").miss("lagv")
}

func TestAnAnswerToAKeyPasses(t *testing.T) {
	o := defaultOptions()
	o.Member = true
	d := drive(t, 120, 36, o, nil).keys("ctrl+z").see("a stopped member")
	d.now = d.now.Add(page.NoteFor + time.Second)
	d.keys("j").miss("a stopped member")
}

// A sign that ASCII does not have keeps what it says, and the frame its width.
func TestASCIISignsSayTheSame(t *testing.T) {
	for text, want := range map[string]string{
		"lag ≥ 409,310 · 1": "lag >=409,310 . 1", " ≥409": ">=409", "≤ 3": "<=3", "a ≠ b": "a !=b", "shift ±N": "shift+-N", "reading … 61": "reading.. 61", "order-se…│": "order-se~|",
		"takes ≈ 5m": "takes ~ 5m", "x≥y": "x?y", "\x1b[1m≥ 2\x1b[0m": "\x1b[1m>=2\x1b[0m",
	} {
		if got := draw.ToASCII(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		} else if table.Width(text) != table.Width(got) {
			t.Errorf("%q becomes %q, which is not as wide", text, got)
		}
	}
}

// An arrow is none of the cursors before the rows, on a terminal that has ASCII only.
func TestASCIIArrowsAreNoCursors(t *testing.T) {
	for text, want := range map[string]string{
		"▸ running → stopping": "> running-> stopping", " → stop it": "-> stop it", "commit→newest": "commit-newest", "订 → 2": "??-> 2",
	} {
		if got := draw.ToASCII(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	o := defaultOptions()
	o.ASCII = true
	f := fixtureCluster()
	f.doctor = func(string) (inspect.Report, error) { return fixtureReport(), nil }
	driveCluster(t, 120, 36, o, f).keys(":").typing("findings order-settle").keys("enter").see("-> look at the stack").miss(" > look").see("|>xcritical")
}
