package cli

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
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
