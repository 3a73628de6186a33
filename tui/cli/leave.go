package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"eyeq/engine"
	"eyeq/tui/draw"
)

// execute runs the command; a panic in it comes back as the error.
func (e *env) execute(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	e.command, err = root.ExecuteContextC(ctx)
	if err != nil && !e.entered && !isType[*usageError](err) {
		err = &usageError{Err: err} // what cobra itself refuses
	}
	return err
}

// report says on standard error what went wrong and gives the exit status.
func (e *env) report(err, cause error) int {
	status := exitStatus(err, cause)
	for _, one := range []error{cause, err} {
		if p, ok := errors.AsType[*panicError](one); ok {
			fmt.Fprintf(e.stderr, "eyeq: this is a bug in eyeq: %v\n\n%s", p, p.stack)
			return status
		}
	}
	if err == nil || isType[*signalError](err) && !isType[*interruptedError](err) || errors.Is(err, context.Canceled) && cause != nil {
		return status
	}
	name := "eyeq"
	if e.command != nil {
		name = e.command.CommandPath()
	}
	text := cutText(oneLine(reasonText(err)))
	if todo := advice(err); todo != "" {
		text += "; " + todo
	}
	fmt.Fprintf(e.stderr, "%s: %s\n", name, draw.SafeText(text)) // it may hold a broker's words
	if u, ok := errors.AsType[*usageError](err); ok && u.Hint != "" {
		fmt.Fprintln(e.stderr, u.Hint)
	} else if ok || isType[*engine.ConfigError](err) {
		fmt.Fprintf(e.stderr, "See '%s --help'.\n", name)
	}
	return status
}

// maxErrorText is how much of an error is told: a key or a name in it may be huge.
const maxErrorText = 8 << 10

// cutText leaves out the middle of a text that is too long to be read: what is wrong
// stands at its end.
func cutText(s string) string {
	if len(s) <= maxErrorText {
		return s
	}
	head, tail := s[:maxErrorText/2], s[len(s)-maxErrorText/2:]
	return strings.ToValidUTF8(head, "") + " … " + strings.ToValidUTF8(tail, "")
}

// oneLine keeps an error that holds several lines (joined ones) on one.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// watchSignals ends ctx at the first signal and the program at the second, or when
// the command has not ended long after an orderly leave must have: then a reader of
// our output is stuck. It returns when the command has finished.
func (e *env) watchSignals(ctx context.Context, cancel context.CancelCauseFunc, finished <-chan struct{}) {
	var first *signalError
	var late <-chan time.Time
	for {
		select {
		case s := <-e.signals:
			if first == nil {
				first = &signalError{s}
				late = time.After(leaveLimit + 2*stuckLimit)
				if ctx.Err() == nil {
					cancel(first)
					continue
				}
			}
		case <-late:
		case <-finished:
			return
		}
		e.restoreTerminal()
		e.exitNow(first.status())
		return
	}
}

// exitNow ends the program without waiting for anything that goes on. That a change
// was under way is noted.
func (e *env) exitNow(status int) {
	e.commands.end()
	e.changes.Interrupt()
	e.exit(status)
}

// leaveContext gives the context that bounds an orderly leave: it ends
// leaveLimit after ctx has ended. cancel frees it.
func leaveContext(ctx context.Context) (leaveCtx context.Context, cancel func()) {
	leaveCtx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(leaveLimit, func() { end(errLeaveLimit) })
		context.AfterFunc(leaveCtx, func() { t.Stop() })
	})
	return leaveCtx, func() { stop(); end(nil) }
}

var errLeaveLimit = fmt.Errorf("the leave took longer than %v", leaveLimit)

// saveTerminal notes the terminal's modes so that a hard end can restore them.
func (e *env) saveTerminal() {
	if f, ok := terminalOf(e.stdin); ok {
		if s, err := term.GetState(f.Fd()); err == nil {
			e.modes.Store(s)
		}
	}
}

// restoreTerminal undoes what the screen did, for an end that cannot wait for it.
func (e *env) restoreTerminal() {
	s := e.modes.Load()
	f, ok := terminalOf(e.stdin)
	if s == nil || !ok {
		return
	}
	term.Restore(f.Fd(), s) // best effort: the program ends now
	if out, ok := terminalOf(e.stdout); ok {
		io.WriteString(out, "\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[?1049l\x1b[0m")
	}
}

// terminalOf returns stream as a file when it is a terminal.
func terminalOf(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return nil, false
	}
	return f, true
}

const leaveLimit = 5 * time.Second // bounds an orderly leave

const stuckLimit = time.Second // how long the end of a run waits for a reader of our output
