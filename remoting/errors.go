package remoting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"eyeq/remoting/protocol"
)

// ErrClosed is what pending and later calls on a closed Conn or Client return,
// wrapped with the cause.
var ErrClosed = errors.New("connection closed")

// CodeError is an answer other than success.
type CodeError struct {
	Request protocol.RequestCode
	Code    protocol.ResponseCode
	Remark  string
	Addr    string
}

// maxRemark bounds what is kept of a broker's words: its longest ones name a class, a
// line and a message. What is longer would drown all else that is shown.
const maxRemark = 2 << 10

// newCodeError is what addr answered to a request, its words cut to maxRemark.
func newCodeError(request protocol.RequestCode, addr string, answer *protocol.Command) *CodeError {
	remark := answer.Remark
	if len(remark) > maxRemark {
		cut := maxRemark
		for cut > maxRemark-utf8.UTFMax && !utf8.RuneStart(remark[cut]) {
			cut--
		}
		remark = fmt.Sprintf("%s… (%d bytes)", remark[:cut], len(remark))
	}
	return &CodeError{Request: request, Code: protocol.ResponseCode(answer.Code), Remark: remark, Addr: addr}
}

// Error names the request, the address, the code and the broker's own words; a
// refusal by access control is told in ours.
func (e *CodeError) Error() string {
	if d, denied := e.Denial(); denied {
		return fmt.Sprintf("%v to %s: %v", e.Request, e.Addr, d)
	}
	return fmt.Sprintf("%v to %s answered %v: %s", e.Request, e.Addr, e.Code, e.Remark)
}

// BadAnswerError is an answer that breaks the protocol: fields are missing or
// cannot be. The connection it came on is closed, so it may pass by itself.
type BadAnswerError struct {
	Request protocol.RequestCode
	Addr    string
	Err     error
}

func (e *BadAnswerError) Error() string {
	return fmt.Sprintf("answer to %v from %s breaks the protocol: %v", e.Request, e.Addr, e.Err)
}

// Unwrap gives what is wrong with it.
func (e *BadAnswerError) Unwrap() error { return e.Err }

// badAnswer makes a *BadAnswerError and closes the connection to addr: what else
// comes on it is in doubt. An admin's questions do not come here, since a newer
// broker's tables must not cost a consumer its pulls.
func (c *Client) badAnswer(request protocol.RequestCode, addr string, err error) error {
	broken := BadAnswer(request, addr, err)
	c.conns.drop(addr, broken)
	return broken
}

// BadAnswer makes a *BadAnswerError; who makes one of an answer read by himself
// closes the connection.
func BadAnswer(request protocol.RequestCode, addr string, err error) error {
	return &BadAnswerError{request, addr, err}
}

// TooLargeError says that an answer is larger than frames may be. It was passed over,
// and the connection goes on; asked again, the answer would be as large.
type TooLargeError struct{ Size int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("answer of %d bytes is over the limit of %d", e.Size, protocol.MaxFrameLength)
}

// NoRouteError says that no name server knows the topic.
type NoRouteError struct{ Topic string }

func (e *NoRouteError) Error() string { return "topic " + e.Topic + " has no route" }

// NoBrokerError says that no address is known for a broker name; with Master,
// that its master has none, while slaves may have.
type NoBrokerError struct {
	BrokerName string
	Master     bool
}

func (e *NoBrokerError) Error() string {
	if e.Master {
		return "no name server knows a master of " + e.BrokerName
	}
	return "no address known for broker " + e.BrokerName
}

// UnreachableError says that none of the name servers answered; Err has each one's reason.
type UnreachableError struct {
	Addrs []string
	Err   error
}

func (e *UnreachableError) Error() string { return fmt.Sprintf("no name server answers: %v", e.Err) }

// Unwrap gives the reasons.
func (e *UnreachableError) Unwrap() error { return e.Err }

// retryable reports whether one of the name servers may answer later.
func (e *UnreachableError) retryable() bool {
	all, ok := e.Err.(reasons)
	return !ok || len(all) == 0 || slices.ContainsFunc(all, Retryable)
}

// NotNamesrvError says that what was given as a name server is none: it answers, and
// does not know what every name server is asked. A proxy's remoting port serves members
// and producers as a name server and a broker at once, and tells of no brokers, topics
// and groups.
type NotNamesrvError struct {
	Addr  string
	Proxy bool  // otherwise a broker
	Err   error // its answer
}

func (e *NotNamesrvError) Error() string {
	if e.Proxy {
		return e.Addr + " is the remoting port of a proxy: it serves members and producers, and tells of no brokers, topics and groups"
	}
	return e.Addr + " is a broker, not a name server"
}

// Unwrap gives the answer.
func (e *NotNamesrvError) Unwrap() error { return e.Err }

// DialError says that no connection could be made to an address, or not before its
// caller's time was up: then nothing was sent. During the back-off after a failed dial it
// is returned again without a new attempt.
type DialError struct {
	Addr string
	Err  error
}

func (e *DialError) Error() string { return fmt.Sprintf("connect to %s: %v", e.Addr, e.Err) }

// Unwrap gives the reason.
func (e *DialError) Unwrap() error { return e.Err }

// closedError is why a connection ended. It is ErrClosed and its cause at once.
type closedError struct {
	addr  string
	cause error
}

func (e *closedError) Error() string {
	return fmt.Sprintf("connection to %s closed: %v", e.addr, e.cause)
}

func (e *closedError) Unwrap() []error { return []error{ErrClosed, e.cause} }

// The causes of an ending that has no other.
var (
	errOrderly      = errors.New("by this side")
	errClientClosed = errors.New("the client was closed")
	errServerEnded  = errors.New("the server ended")
	errIdle         = errors.New("idle for too long")
	errResolveAgain = errors.New("its name is resolved again")
	errHalfOpen     = errors.New("half open: a call timed out and nothing has arrived since it was sent")
)

// reasons is several errors on one line, where errors.Join takes a line each.
type reasons []error

func (r reasons) Error() string {
	texts := make([]string, len(r))
	for i, err := range r {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

func (r reasons) Unwrap() []error { return r }

// ctxError is why ctx ended: its error, and the cause where one was given.
func ctxError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// Retryable reports whether an error may pass by itself: a closed connection, a
// timeout, a refused dial, a busy or flow-controlled broker, a broker without
// an address, a heartbeat not yet seen. A wrong request, a missing permission or
// a missing topic is not, nor is a call that its caller cancelled or a client
// that was closed.
func Retryable(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, errClientClosed) {
		return false
	}
	if e, ok := errors.AsType[*UnreachableError](err); ok {
		return e.retryable()
	}
	if _, ok := errors.AsType[*TLSError](err); ok {
		return false
	}
	if e, ok := errors.AsType[*CodeError](err); ok {
		return retryableCode(e.Code)
	}
	if _, ok := errors.AsType[*NoRouteError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*net.AddrError](err); ok {
		return false // "host" without ":port" stays wrong
	}
	if _, ok := errors.AsType[*DialError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*NoBrokerError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*BadAnswerError](err); ok {
		return true
	}
	return errors.Is(err, ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

func retryableCode(code protocol.ResponseCode) bool {
	switch code {
	case protocol.SystemBusy, protocol.FlowControl, protocol.ServiceNotAvailable, protocol.GoAway, protocol.ConsumeMsgTimeout,
		protocol.SubscriptionNotExist, protocol.SubscriptionNotLatest, protocol.FilterDataNotExist, protocol.FilterDataNotLatest:
		return true
	}
	return false
}
