package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/tui/cli/config"
)

// The exit statuses (docs/scripting.md).
const (
	statusDone        = 0
	statusFailed      = 1
	statusUsage       = 2
	statusNotFound    = 3
	statusRefused     = 4
	statusUnreachable = 5
	statusFindings    = 6
)

// usageError is a wrong use of a command; Hint says what to do instead.
type usageError struct {
	Err  error
	Hint string
}

func (e *usageError) Error() string { return e.Err.Error() }
func (e *usageError) Unwrap() error { return e.Err }

func usagef(format string, args ...any) error {
	return &usageError{Err: fmt.Errorf(format, args...)}
}

// notFoundError says that what a command was asked about does not exist. Where that is a
// topic, a group or a broker, kind and name say which: guide tells what there is.
type notFoundError struct {
	What       string
	kind, name string
}

func (e *notFoundError) Error() string { return e.What }

// refusedError is a change that was not allowed or not confirmed.
type refusedError struct{ Why string }

func (e *refusedError) Error() string { return e.Why }

// unreachableError adds what the operator can do to a cluster that does not answer.
type unreachableError struct{ Err error }

func (e *unreachableError) Error() string {
	return e.Err.Error() + " (check --namesrv, --cluster or NAMESRV_ADDR)"
}
func (e *unreachableError) Unwrap() error { return e.Err }

// silentError says that some brokers did not answer, so that nothing can be said. It is
// not the name servers' fault: unreachableError would send the operator there.
type silentError struct{ What string }

func (e *silentError) Error() string {
	return e.What + " (where an address that brokers announce is no good from here, address_map in the configuration gives the one to dial)"
}

// deniedError says that the brokers refuse to tell: asking again will not help.
type deniedError struct{ What string }

func (e *deniedError) Error() string { return e.What }

// keysError says that no broker that answers takes our keys.
type keysError struct{ err error }

func (e *keysError) Error() string { return reasonText(e.err) }

// Unwrap gives a broker's refusal.
func (e *keysError) Unwrap() error { return e.err }

// reasonText is an error's text, with what an operator understands in the place of
// Go's words for a time that is up.
func reasonText(err error) string {
	return strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), "no answer in time")
}

// hopeless is why no name server will be reached however long one tries; else nil.
func hopeless(err error) error {
	if te, ok := errors.AsType[*remoting.TLSError](err); ok && !remoting.Retryable(err) {
		return te
	}
	return nil
}

// firstContact is why the name servers were not reached before the time was up:
// err, unless it says no more than that, then last, the reason of the try before.
func firstContact(err, last error, namesrv []string, limit time.Duration) error {
	if te := hopeless(err); te != nil {
		return te
	}
	switch {
	case isType[*remoting.UnreachableError](err):
		return &unreachableError{err}
	case !errors.Is(err, context.DeadlineExceeded):
		return err
	case last != nil:
		return &unreachableError{last}
	}
	return &unreachableError{fmt.Errorf("no name server answers: none of %s within %v", strings.Join(namesrv, ";"), limit)}
}

// outputError says that standard output can no longer be written.
type outputError struct {
	Err   error
	Noted string // the audit file, when something was changed before
}

func (e *outputError) Error() string {
	text := "standard output was closed"
	if !errors.Is(e.Err, syscall.EPIPE) {
		text = fmt.Sprintf("write standard output: %v", e.Err)
	}
	if e.Noted != "" {
		text += "; what was changed before that is noted in " + e.Noted
	}
	return text
}
func (e *outputError) Unwrap() error { return e.Err }

// signalError is the cause that a signal gives to the root context.
type signalError struct{ Signal os.Signal }

func (e *signalError) Error() string { return e.Signal.String() }

// status is the shell's convention for a program ended by a signal.
func (e *signalError) status() int {
	if s, ok := e.Signal.(syscall.Signal); ok {
		return 128 + int(s)
	}
	return statusFailed
}

// interruptedError is a ctrl-c whose orderly leave could not do everything: the
// status is ctrl-c's, and what was left undone is said.
type interruptedError struct {
	signal *signalError
	err    error
}

func (e *interruptedError) Error() string   { return e.err.Error() }
func (e *interruptedError) Unwrap() []error { return []error{e.signal, e.err} }

// exitStatus is the one place where errors become exit statuses. cause is why
// the root context ended, nil while it lives.
func exitStatus(err, cause error) int {
	if _, ok := errors.AsType[*panicError](cause); ok {
		return statusFailed
	}
	if _, ok := errors.AsType[*panicError](err); ok {
		return statusFailed
	}
	if s, ok := errors.AsType[*signalError](cause); ok {
		return s.status()
	}
	if s, ok := errors.AsType[*signalError](err); ok { // ctrl-c was a key of the screen
		return s.status()
	}
	if err == nil {
		return statusDone
	}
	if _, ok := errors.AsType[*outputError](err); ok {
		return statusFailed
	}
	if isType[*usageError](err) || isType[*config.Error](err) || isType[*engine.ConfigError](err) {
		return statusUsage
	}
	if refused, ok := errors.AsType[*engine.FilterRefusedError](err); ok {
		if refused.BadExpression() {
			return statusUsage
		}
		return statusFailed
	}
	if isType[*notFoundError](err) || isType[*remoting.NoRouteError](err) {
		return statusNotFound
	}
	if isType[*refusedError](err) {
		return statusRefused
	}
	if isType[*findingsError](err) {
		return statusFindings
	}
	if ce, ok := errors.AsType[*remoting.CodeError](err); ok {
		if ce.Code == protocol.TopicNotExist {
			return statusNotFound
		}
		return statusFailed
	}
	if isType[*remoting.TLSError](err) || isType[*unreachableError](err) || isType[*silentError](err) || isType[*remoting.UnreachableError](err) || isType[*remoting.NoBrokerError](err) ||
		isType[*net.OpError](err) || errors.Is(err, remoting.ErrClosed) || errors.Is(err, context.DeadlineExceeded) {
		return statusUnreachable
	}
	return statusFailed
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// findingsError is how doctor ends when something is wrong: what was found stands on
// standard output already.
type findingsError struct {
	group string
	n     int
}

func (e *findingsError) Error() string {
	return fmt.Sprintf("group %s: %s", e.group, inspect.Plural(e.n, "finding"))
}
