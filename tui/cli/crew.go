package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// panicError is the panic of a goroutine, on its way to the end of the program.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// crew starts the goroutines of a run and waits for them.
type crew struct {
	wg     sync.WaitGroup
	cancel context.CancelCauseFunc
}

// start runs f on a goroutine. A panic in it ends the crew's context with the
// panic as the cause; nothing goes on after it.
func (c *crew) start(f func()) {
	c.wg.Go(func() {
		defer c.caught()
		f()
	})
}

// caught is deferred: it turns a panic into the cause that ends the context.
func (c *crew) caught() {
	if v := recover(); v != nil {
		c.cancel(&panicError{v, debug.Stack()})
	}
}

// wait returns when all goroutines have ended.
func (c *crew) wait() { c.wg.Wait() }

// waitFor is wait that gives up: a goroutine may be stuck in a write to our
// output, and then the program has to end without it.
func (c *crew) waitFor(limit time.Duration) {
	done := make(chan struct{})
	go func() { defer close(done); c.wg.Wait() }()
	waitFor(done, limit)
}

// waitFor waits for done, at most for limit.
func waitFor(done <-chan struct{}, limit time.Duration) {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}
