package engine

import (
	"context"
	"time"

	"eyeq/engine/core"
)

// PauseRequest stops the pulling of queues, or of the whole consumer when Queues
// is empty. What is cached is consumed to its end; the member keeps its share.
// A queue's pause survives a rebalance.
type PauseRequest struct {
	Queues      []MessageQueue
	By, Reason  string
	ResumeAfter time.Duration // zero: not by itself
}

// Pause applies the request. It waits for the coordinator, or for ctx.
func (e *Engine) Pause(ctx context.Context, r PauseRequest) error { panic("todo") }

// ResumeRequest ends pauses: of the named queues, or of the whole consumer (and
// each queue, when Queues is empty).
type ResumeRequest struct {
	Queues []MessageQueue
	By     string
}

// Resume applies the request.
func (e *Engine) Resume(ctx context.Context, r ResumeRequest) error { panic("todo") }

// ResetRequest moves the offsets of our own queues.
type ResetRequest struct {
	Queues     []MessageQueue
	Target     core.ResetTarget
	By, Reason string
	// Expect holds each queue's committed offset from the preview; a queue whose
	// offset has moved back or been reset by somebody else since is not touched.
	// Progress of our own consumption is no drift. Nil: no check.
	Expect map[MessageQueue]int64
}

// ResetRow is one queue of a preview or a result.
type ResetRow struct {
	MessageQueue
	MinOffset, MaxOffset int64
	Before, After        int64
	Effect               core.ResetEffect
	Count                int64     // messages replayed, skipped or gone
	FirstStored          time.Time // store time of the first message at After; zero: none or unknown
	// Verified: the broker was asked afterwards and holds After (results only).
	Verified bool
	// Err says why this queue was not or cannot be reset.
	Err error
}

// PreviewReset asks the brokers for bounds and target and returns what a reset
// would do. It changes nothing.
func (e *Engine) PreviewReset(ctx context.Context, r ResetRequest) ([]ResetRow, error) {
	panic("todo")
}

// ResetOffset resets queues that this engine holds: stop handing out, wait for
// running listeners (bounded), drop the cache, write the target to the store,
// read it back, pull from there. A row's Err says which queue was refused.
func (e *Engine) ResetOffset(ctx context.Context, r ResetRequest) ([]ResetRow, error) {
	panic("todo")
}

// HeldMessage is a message in a ProcessQueue and how far it has come.
type HeldMessage struct {
	Message *Message
	Stage   core.Stage
	Started time.Time // when its listener was called; zero: not yet
	Retries int       // local retries so far
}

// Held returns the first n messages of an own queue's cache, oldest first. It
// waits for the queue's goroutine, or for ctx.
func (e *Engine) Held(ctx context.Context, mq MessageQueue, n int) ([]HeldMessage, error) {
	panic("todo")
}
