package remoting

import (
	"context"
	"errors"
	"slices"

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
// last, until one answers. None: *UnreachableError. An answer other than Success
// is an answer: a *CodeError, as with Invoke.
func (c *Client) InvokeNamesrv(ctx context.Context, req *protocol.Command) (protocol.Command, error) {
	addrs := c.namesrvInOrder()
	var failed reasons
	for i, addr := range addrs {
		answer, err := c.tryNamesrv(ctx, addr, req, len(addrs)-i)
		_, refused := errors.AsType[*CodeError](err)
		if err == nil || refused {
			c.current.Store(&addr)
			return answer, err
		}
		failed = append(failed, err)
		if ctx.Err() != nil {
			return protocol.Command{}, &UnreachableError{Addrs: addrs[:i+1], Err: failed}
		}
	}
	return protocol.Command{}, &UnreachableError{Addrs: addrs, Err: failed}
}

// tryNamesrv asks one name server. A connection may have ended just as it was
// used (a name server closes one that was idle for 120 s), so that is tried once
// more, by a new connection.
func (c *Client) tryNamesrv(ctx context.Context, addr string, req *protocol.Command, left int) (protocol.Command, error) {
	ctx, cancel := share(ctx, left, c.callTimeout)
	defer cancel()
	answer, err := c.Invoke(ctx, addr, req)
	if errors.Is(err, ErrClosed) && !errors.Is(err, errClientClosed) {
		answer, err = c.Invoke(ctx, addr, req)
	}
	return answer, err
}

func (c *Client) namesrvInOrder() []string {
	addrs, current := c.Namesrv()
	if i := slices.Index(addrs, current); i > 0 {
		addrs = slices.Concat(addrs[i:], addrs[:i])
	}
	return addrs
}
