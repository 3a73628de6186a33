package tui

import (
	"testing"
	"time"
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
	d.now = d.now.Add(noteFor + time.Second)
	d.keys("j").miss("a stopped member")
}
