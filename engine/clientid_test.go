package engine

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Two processes that agree on address, pid and clock, as in two containers, have
// client ids of their own, and a given one is taken as it is.
func TestClientIDIsUniqueAStart(t *testing.T) {
	o := DefaultOptions()
	now := time.Unix(1_700_000_000, 0)
	seen := map[string]bool{}
	for range 100 {
		id := makeClientID(&o, now, rand.New(rand.NewPCG(rand.Uint64(), 0)))
		if address, rest, ok := strings.Cut(id, "@"); !ok || address != localIP() || !strings.Contains(rest, "#") {
			t.Fatalf("client id %q, want address@pid#nanoseconds", id)
		}
		seen[id] = true
	}
	if len(seen) < 99 { // of a million places two may fall together once
		t.Errorf("100 starts at one moment made %d client ids", len(seen))
	}
	o.ClientID = "mine"
	if id := makeClientID(&o, now, rand.New(rand.NewPCG(1, 0))); id != "mine" {
		t.Errorf("client id %q, want the given one", id)
	}
}
