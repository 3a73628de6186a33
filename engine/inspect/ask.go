package inspect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// door bounds the questions at one address. One that has let a question run out of
// time, or that took as long to be found unreachable, is closed for as long again: each
// question behind it would cost that time, and hold up what others have answered long ago.
type door struct {
	addr           string
	slots, relayed chan struct{} // of the broker's own questions, and of its members'
	silent         error         // why it is closed
	since          time.Time     // when it closed last
}

func (in *Inspector) door(addr string) *door {
	in.mu.Lock()
	defer in.mu.Unlock()
	d := in.doors[addr]
	if d == nil {
		d = &door{addr: addr, slots: make(chan struct{}, in.parallel), relayed: make(chan struct{}, in.parallel)}
		in.doors[addr] = d
	}
	return d
}

// notAskedError says that a question was not put, because of what came of one before.
type notAskedError struct{ err error }

func (e *notAskedError) Error() string { return "not asked again so soon: " + e.err.Error() }

// Unwrap gives what came of the question before.
func (e *notAskedError) Unwrap() error { return e.err }

// reopen has the next question put in any case.
func (in *Inspector) reopen(addr string) {
	d := in.door(addr)
	in.mu.Lock()
	defer in.mu.Unlock()
	d.silent = nil
}

// probeShare is the part of its time that a question gets at an address which has let
// the last one run out of time: whoever waits for all answers waits for this one.
const probeShare = 4

// limit is how long a question may take at d, or why none is asked now.
func (in *Inspector) limit(d *door, usual time.Duration) (time.Duration, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case d.silent == nil:
		return usual, nil
	case in.now().Sub(d.since) < in.timeout:
		return 0, &notAskedError{d.silent}
	}
	return in.timeout / probeShare, nil
}

// note keeps what an answer, or its absence, says about an address.
func (in *Inspector) note(d *door, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if isType[*notAskedError](err) {
		return
	}
	if !outOfTime(err) && !isType[*slowFailure](err) {
		d.silent = nil
	} else if d.silent == nil || in.now().Sub(d.since) >= in.timeout {
		d.silent, d.since = err, in.now()
	}
}

// noteKeys keeps what a broker's answer says about our keys: whatever it answers else,
// it has taken them, unless it has looked at nothing, for want of time or by a fault.
func (in *Inspector) noteKeys(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	d, denied := remoting.AccessDenied(err)
	switch {
	case denied:
		in.refusals++
		if d.OfKeys() {
			in.refused = err
			return
		}
		in.taken = true
	case err == nil:
		in.taken = true
	default:
		e, ok := errors.AsType[*remoting.CodeError](err)
		in.taken = in.taken || ok && e.Code != protocol.SystemBusy && e.Code != protocol.SystemError
	}
}

// ask puts one question to a broker, with a deadline of its own.
func ask[T any](ctx context.Context, in *Inspector, addr string, question func(ctx context.Context) (T, error)) (T, error) {
	return askWithin(ctx, in, addr, in.timeout, question)
}

func askWithin[T any](ctx context.Context, in *Inspector, addr string, limit time.Duration, question func(ctx context.Context) (T, error)) (T, error) {
	d := in.door(addr)
	answer, err := askAt(ctx, in, d, d.slots, limit, question)
	if ctx.Err() == nil {
		in.note(d, err)
		in.noteKeys(err)
	}
	return answer, err
}

// askKeyless is ask for a name server, which looks at no keys.
func askKeyless[T any](ctx context.Context, in *Inspector, addr string, question func(ctx context.Context) (T, error)) (T, error) {
	d := in.door(addr)
	answer, err := askAt(ctx, in, d, d.slots, in.timeout, question)
	if ctx.Err() == nil {
		in.note(d, err)
	}
	return answer, err
}

// queuedError says that a question was not put: as many as may wait at an address had
// been put before it, and none was answered while it had time.
type queuedError struct {
	door  *door
	slots chan struct{}
	err   error
}

func (e *queuedError) Error() string {
	what := Plural(cap(e.slots), "question") + " of this program"
	if e.slots == e.door.relayed {
		what += " to members"
	}
	return fmt.Sprintf("not asked in time: %s waited at %s already, and it puts no more at once", what, e.door.addr)
}

// Unwrap gives how its time ended.
func (e *queuedError) Unwrap() error { return e.err }

// slowFailure is a connection that took long not to be made: to an address that routers
// swallow, or whose neighbours look for it in vain.
type slowFailure struct{ error }

// Unwrap gives the failure.
func (e *slowFailure) Unwrap() error { return e.error }

// askMember puts a question to a member through the broker at addr. That a member
// does not answer says nothing about the broker, so it has slots of its own there.
func askMember[T any](ctx context.Context, in *Inspector, addr string, question func(ctx context.Context) (T, error)) (T, error) {
	d := in.door(addr)
	return askAt(ctx, in, d, d.relayed, in.timeout, question)
}

func askAt[T any](ctx context.Context, in *Inspector, d *door, slots chan struct{}, usual time.Duration, question func(ctx context.Context) (T, error)) (answer T, err error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return answer, &queuedError{d, slots, ctx.Err()}
	}
	defer func() { <-slots }()
	limit, err := in.limit(d, usual)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	begun := in.now()
	answer, err = question(ctx)
	if isType[*remoting.DialError](err) && in.now().Sub(begun) >= in.timeout/probeShare {
		err = &slowFailure{err}
	}
	return answer, err
}

// each calls f for 0 … n−1 on goroutines and waits. The doors bound what they do; f
// itself may run n times at once, or at most limit times where limit is not 0.
func each(n, limit int, f func(i int)) {
	var wg sync.WaitGroup
	if limit <= 0 || limit >= n {
		for i := range n {
			wg.Go(func() { f(i) })
		}
		wg.Wait()
		return
	}
	next := make(chan int)
	for range limit {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// ReasonOf says in our words why a question was not answered.
func ReasonOf(err error) Reason {
	if err == nil {
		return Reason{}
	}
	if denial, denied := remoting.AccessDenied(err); denied {
		return Reason{ReasonDenied, denial.String()}
	}
	if e, ok := errors.AsType[*remoting.CodeError](err); ok {
		return Reason{codeReason(e), e.Remark}
	}
	if _, ok := errors.AsType[*remoting.BadAnswerError](err); ok {
		return Reason{ReasonBadAnswer, err.Error()}
	}
	if e, ok := errors.AsType[*remoting.NoRouteError](err); ok {
		return Reason{ReasonNotFound, e.Error()}
	}
	if e, ok := errors.AsType[*ClosedQueueError](err); ok {
		return Reason{e.Kind, e.Error()}
	}
	if e, ok := errors.AsType[*NotFoundError](err); ok {
		return Reason{ReasonNotFound, e.Error()}
	}
	if e, ok := errors.AsType[*UnsureError](err); ok {
		return Reason{e.Problems[0].Why.Kind, e.Error()}
	}
	if e, ok := errors.AsType[*queuedError](err); ok {
		return Reason{ReasonUnreachable, e.Error()}
	}
	if outOfTime(err) {
		if e, ok := errors.AsType[*remoting.DialError](err); ok {
			return Reason{ReasonUnreachable, "no connection to " + e.Addr + " in time"}
		}
		return Reason{ReasonUnreachable, "no answer in time"}
	}
	if e, ok := errors.AsType[*remoting.DialError](err); ok {
		return Reason{ReasonUnreachable, e.Error()} // which question was the first to fail does not matter
	}
	if unreachable(err) {
		return Reason{ReasonUnreachable, err.Error()}
	}
	return Reason{ReasonFailed, err.Error()}
}

// outOfTime reports whether a question's time was up. A dial may say so in either of two
// ways, by chance.
func outOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

func codeReason(e *remoting.CodeError) ReasonKind {
	switch e.Code {
	case protocol.NoPermission:
		return ReasonDenied
	case protocol.ConsumerNotOnline:
		return ReasonOffline
	case protocol.RequestCodeNotSupported:
		return ReasonUnsupported
	case protocol.TopicNotExist, protocol.SubscriptionGroupNotExist:
		return ReasonNotFound
	case protocol.ConsumeMsgTimeout:
		return ReasonUnreachable
	}
	return ReasonFailed
}

func unreachable(err error) bool {
	for _, is := range []bool{
		isType[*remoting.UnreachableError](err), isType[*remoting.DialError](err), isType[*remoting.NoBrokerError](err), isType[*queuedError](err),
		isType[*net.OpError](err), errors.Is(err, remoting.ErrClosed), errors.Is(err, ErrNoBroker),
	} {
		if is {
			return true
		}
	}
	return false
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// problem makes one of an error.
func problem(what, where string, err error) Problem { return Problem{what, where, ReasonOf(err)} }

// memo asks each question once for all who want the answer, for the length of a call.
type memo[K comparable, V any] struct {
	mu    sync.Mutex // guards cells
	cells map[K]*memoCell[V]
}

type memoCell[V any] struct {
	done chan struct{}
	v    V
	err  error
}

// get gives the answer for k; the first to come asks.
func (m *memo[K, V]) get(ctx context.Context, k K, question func() (V, error)) (V, error) {
	m.mu.Lock()
	c := m.cells[k]
	first := c == nil
	if first {
		c = &memoCell[V]{done: make(chan struct{})}
		if m.cells == nil {
			m.cells = map[K]*memoCell[V]{}
		}
		m.cells[k] = c
	}
	m.mu.Unlock()
	if first {
		c.v, c.err = question()
		close(c.done)
		return c.v, c.err
	}
	select {
	case <-c.done:
		return c.v, c.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}
