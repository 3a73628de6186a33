package engine

import (
	"context"
	"fmt"
)

// OffsetStore keeps a group's offsets durable. Package store has the two kinds.
// The engine calls both from several goroutines at once, but
// never two Saves for one broker.
type OffsetStore interface {
	// Load returns the stored offset of a queue; found is false only when the store
	// is sure that there is none.
	Load(ctx context.Context, mq MessageQueue) (offset int64, found bool, err error)
	// Save stores offsets and returns when they are durable (trap T11: what is only
	// on its way can be lost unnoticed). It tries every queue and returns those that
	// failed with the reason; nil when none did.
	Save(ctx context.Context, offsets map[MessageQueue]int64) map[MessageQueue]error
}

// load asks the store; an offset below 0 is none that could be pulled from.
func (e *Engine) load(ctx context.Context, mq MessageQueue) (offset int64, found bool, err error) {
	offset, found, err = e.d.Store.Load(ctx, mq)
	if err == nil && found && offset < 0 {
		return 0, false, fmt.Errorf("the store holds offset %d of %v", offset, mq)
	}
	return offset, found, err
}
