package engine

import (
	"testing"

	"eyeq/remoting/protocol"
)

// A batch whose queue was halted is passed over, not taken again and again
// until the queue has drained.
func TestPoolPassesOverHaltedBatches(t *testing.T) {
	p := newPool(&Engine{}, 1)
	halted, live := &queue{batchMax: 1}, &queue{batchMax: 1}
	for _, q := range []*queue{halted, live} {
		p.push(&batch{q: q, msgs: make([]protocol.MessageExt, 2)})
	}
	halted.halt.Store(true)
	if b := p.take(); b == nil || b.q != live {
		t.Fatalf("took %v, want the live queue's batch", b)
	}
	live.gen.Store(1) // reset meanwhile
	if b := p.take(); b != nil {
		t.Errorf("took %v of an older generation", b)
	}
	if p.idle != 1 {
		t.Errorf("idle workers = %d, want 1", p.idle)
	}
}
