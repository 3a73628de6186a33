package cli

import (
	"os"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// The allocations that engine/core is held to are those of this version too.
func TestPeersAllocate(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, _ *sandboxtest.Target, p *peers) {
		want, err := os.ReadFile("../../engine/core/testdata/allocate.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if got := p.run(t, "java", p.version, "Allocate", "1", "300"); got != string(want) {
			t.Errorf("the strategies of %s give other shares than the recorded ones: %d bytes, want %d", p.version, len(got), len(want))
		}
	})
}
