package tui

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"eyeq/engine"
)

// The events that the door is tried with are all there are.
func TestAllEventsAreTried(t *testing.T) {
	tried := map[string]bool{}
	for _, e := range allEvents(engine.At{}) {
		tried[e.EventName()] = true
	}
	files, err := filepath.Glob("../engine/*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`EventName\(\) string +\{ return "([a-z_]+)" \}`)
	found := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllSubmatch(text, -1) {
			found++
			if !tried[string(m[1])] {
				t.Errorf("allEvents has no %s", m[1])
			}
		}
	}
	if found < len(tried) {
		t.Errorf("%d events in the engine, %d are tried", found, len(tried))
	}
}
