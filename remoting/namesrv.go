package remoting

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// Namesrv is the list of name servers and the one that answered last ("" before
// the first answer).
func (c *Client) Namesrv() (addrs []string, current string) {
	if p := c.current.Load(); p != nil {
		current = *p
	}
	return slices.Clone(c.namesrv), current
}

// InvokeNamesrv asks the name servers, beginning with the one that answered
// last, until one answers; one that takes longer than headStart is given up on
// only when another has answered. None: *UnreachableError. An answer other than
// Success is an answer: a *CodeError, as with Invoke.
func (c *Client) InvokeNamesrv(ctx context.Context, req *protocol.Command) (protocol.Command, error) {
	answer, _, err := c.askAnyNamesrv(ctx, req)
	return answer, err
}

// askAnyNamesrv is InvokeNamesrv that tells who answered.
func (c *Client) askAnyNamesrv(ctx context.Context, req *protocol.Command) (answer protocol.Command, addr string, err error) {
	answer, addr, err = c.askNamesrv(ctx, c.namesrvInOrder(), req)
	if addr != "" {
		c.current.Store(&addr)
	}
	return answer, addr, err
}

// askNamesrv asks these name servers and tells which one answered; "" is none.
func (c *Client) askNamesrv(ctx context.Context, addrs []string, req *protocol.Command) (answer protocol.Command, addr string, err error) {
	type said struct {
		answer protocol.Command
		code   error // a *CodeError or *TooLargeError, which are answers too
	}
	s, addr, failed := firstAnswer(ctx, addrs, func(ctx context.Context, addr string) (said, error) {
		answer, err := c.tryNamesrv(ctx, addr, req)
		_, refused := errors.AsType[*CodeError](err)
		_, tooLarge := errors.AsType[*TooLargeError](err)
		if refused || tooLarge {
			return said{answer, err}, nil
		}
		return said{answer: answer}, err
	})
	if failed != nil {
		return protocol.Command{}, "", &UnreachableError{Addrs: addrs, Err: failed}
	}
	return s.answer, addr, s.code
}

// tryNamesrv asks one name server. A connection may have ended just as it was
// used (a name server closes one that was idle for 120 s), so that is tried once
// more, by a new connection.
func (c *Client) tryNamesrv(ctx context.Context, addr string, req *protocol.Command) (protocol.Command, error) {
	answer, err := c.Invoke(ctx, addr, req)
	if errors.Is(err, ErrClosed) && !errors.Is(err, errClientClosed) {
		answer, err = c.Invoke(ctx, addr, req)
	}
	if errors.Is(err, ErrClosed) && c.wantsTLS(ctx, addr) {
		err = &TLSError{addr, TLSOnly, err}
	}
	return answer, err
}

// wantsTLS reports whether a server that closes our connections would speak TLS. It
// asks while no name server has answered yet: afterwards it is another reason.
func (c *Client) wantsTLS(ctx context.Context, addr string) bool {
	if c.conns.tls != nil || c.current.Load() != nil || ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, c.callTimeout)
	defer cancel()
	return c.SpeaksTLS(ctx, addr)
}

func (c *Client) namesrvInOrder() []string {
	addrs, current := c.Namesrv()
	if i := slices.Index(addrs, current); i > 0 {
		addrs = slices.Concat(addrs[i:], addrs[:i])
	}
	return addrs
}

// askRoute asks the name servers for a route. That one of them does not know the
// topic means little: it may be one that brokers do not register at any more. So
// the others are asked too; the one that knows it is asked first from then on.
// For a topic that had a route (known), host names are resolved anew before the
// answer is believed: a connection lasts when its name has moved to another server.
func (c *Client) askRoute(ctx context.Context, req *protocol.Command, known bool) (protocol.Command, error) {
	answer, err := c.InvokeNamesrv(ctx, req)
	if isTopicNotExist(err) && len(c.namesrv) > 1 {
		if found, addr, ok := c.firstToKnow(ctx, c.namesrvInOrder()[1:], req); ok {
			c.current.Store(&addr)
			return found, nil
		}
	}
	if isTopicNotExist(err) && known && c.dropNamed() {
		return c.askRoute(ctx, req, false)
	}
	return answer, err
}

func isTopicNotExist(err error) bool {
	ce, ok := errors.AsType[*CodeError](err)
	return ok && ce.Code == protocol.TopicNotExist
}

// firstToKnow is the first of several name servers that answers with Success.
func (c *Client) firstToKnow(ctx context.Context, addrs []string, req *protocol.Command) (answer protocol.Command, addr string, ok bool) {
	answer, addr, err := firstAnswer(ctx, addrs, func(ctx context.Context, addr string) (protocol.Command, error) {
		return c.tryNamesrv(ctx, addr, req)
	})
	return answer, addr, err == nil
}

// resolveAgain is how often at most host names of name servers are resolved anew
// because a topic has vanished: it may as well have been deleted.
const resolveAgain = 10 * time.Second

// dropNamed closes the connections to name servers that are given by host name,
// so that the next dial resolves them again. It reports whether there were any.
func (c *Client) dropNamed() (dropped bool) {
	now, last := time.Now(), c.resolved.Load()
	if last != nil && now.Sub(*last) < resolveAgain || !c.resolved.CompareAndSwap(last, &now) {
		return false
	}
	for _, addr := range c.namesrv {
		host, _, err := net.SplitHostPort(addr)
		if err != nil || net.ParseIP(host) != nil {
			continue
		}
		dropped = c.conns.drop(addr, errResolveAgain) || dropped
	}
	return dropped
}

// headStart is how long one of several addresses may take before the next one is
// asked beside it: one that is cut off answers nothing for as long as it may take.
const headStart = 500 * time.Millisecond

// firstAnswer asks addresses in their order until one answers: the next one when
// the last has failed, or beside it after headStart. It returns the address that
// answered, or with failed each one's reason.
func firstAnswer[T any](ctx context.Context, addrs []string, ask func(ctx context.Context, addr string) (T, error)) (answer T, addr string, failed error) {
	type reply struct {
		i      int
		answer T
		err    error
	}
	replies := make(chan reply, len(addrs)) // room for all: nobody waits when the first has won
	ctx, cancel := context.WithCancel(ctx)
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	asked, waiting := 0, 0
	next := func() {
		i := asked
		asked, waiting = asked+1, waiting+1
		timer.Reset(headStart)
		go func() {
			answer, err := ask(ctx, addrs[i])
			replies <- reply{i, answer, err}
		}()
	}
	defer func() {
		cancel()
		for ; waiting > 0; waiting-- {
			<-replies
		}
	}()
	why := make(reasons, len(addrs))
	next()
	for waiting > 0 {
		more := timer.C
		if asked == len(addrs) {
			more = nil
		}
		select {
		case r := <-replies:
			waiting--
			if r.err == nil {
				return r.answer, addrs[r.i], nil
			}
			why[r.i] = r.err
			if asked < len(addrs) && ctx.Err() == nil {
				next()
			}
		case <-more:
			next()
		}
	}
	return answer, "", slices.DeleteFunc(why, func(err error) bool { return err == nil })
}
