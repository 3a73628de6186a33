package cli

import (
	"context"
	"os"
	"syscall"
	"time"
)

// readerPoll is how often it is looked whether our reader has gone.
const readerPoll = 500 * time.Millisecond

// watchReader ends a run when the reader of standard output has gone, also while
// there is nothing to write: `eyeq consume | head -1` on a quiet topic would
// otherwise stay a member of its group.
func (e *env) watchReader(ctx context.Context, stop func(error)) {
	f, ok := e.stdout.(*os.File)
	if !ok {
		return
	}
	e.crew.start(func() {
		tick := time.NewTicker(readerPoll)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if readerGone(f) {
					stop(&outputError{Err: syscall.EPIPE})
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
}
