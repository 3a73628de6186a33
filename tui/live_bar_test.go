package tui

import (
	"testing"

	"eyeq/engine"
	"eyeq/engine/core"
)

// TestNumberAndBarAgree: the number beside a bar is zero when the bar is empty and
// only then, and it is what is in flight now, not the span that once hit the limit.
func TestNumberAndBarAgree(t *testing.T) {
	tests := map[string]struct {
		count, done, ahead int64
		want               string
	}{
		"empty":                       {0, 0, 0, "     0 ························"},
		"only the head":               {1, 0, 1, "     1 █·······················"},
		"the head and what is done":   {1, 1499, 1500, " 1,500 █▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒·····"},
		"with messages of other tags": {100, 100, 1200, " 1,200 █▒░░░░░░░░░░░░··········"},
		"released, still held by it":  {300, 0, 900, "   900 ████░░░░░░░·············"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := fixture(0)
			q := &s.Queues[3]
			q.CachedCount, q.CachedDone, q.NextOffset, q.Span = tt.count, tt.done, q.CommittedOffset+tt.ahead, 0
			q.Flow, q.FlowValue, q.FlowLimit = core.FlowSpan, 2001, 2000
			if tt.count == 0 {
				q.CachedMin, q.CachedMax = engine.Unknown, engine.Unknown
			}
			withSnapshot(t, 120, 36, s).see(tt.want).see("FLOW span").see("── in flight ──")
		})
	}
	withSnapshot(t, 120, 36, fixture(0)).see("bar: in flight, █ not done ▒ done, waiting")
}
