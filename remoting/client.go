package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"eyeq/remoting/protocol"
)

// Options configure a Client.
type Options struct {
	// Namesrv lists the name servers as host:port; host names are resolved at
	// each dial.
	Namesrv []string
	// Dial opens a connection; nil is a net.Dialer. Tests give the sandbox's.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Handler gets the brokers' requests (40, 220, 221, 307, 309).
	Handler Handler
	// Serialize is the header encoding of requests.
	Serialize protocol.SerializeType
	// TLS is used for every connection; an empty ServerName is the host of each
	// address. Nil: connections are not encrypted.
	TLS *tls.Config
	// Signer signs every request, to name servers too; nil signs none.
	Signer *protocol.Signer
	// VIPChannel sends to a broker's port − 2 what the Java client's
	// vipChannelEnabled does (docs/conformance/client.md 4.6): member lists, offsets, locks,
	// send-backs.
	VIPChannel bool
	// DialTimeout and CallTimeout bound what has no earlier deadline; zero is 3 s each.
	DialTimeout, CallTimeout time.Duration
	// Log gets what only we care for; nil discards.
	Log *slog.Logger
}

const (
	defaultDialTimeout = 3 * time.Second
	defaultCallTimeout = 3 * time.Second
	// halfOpenSilence is how long a timed-out call must have waited on a silent
	// connection to condemn it: a caller that gives a few milliseconds learns
	// nothing, and the broker would drop the client's groups with the connection.
	// A shorter CallTimeout counts too.
	halfOpenSilence = time.Second
)

// Client keeps one connection an address, the routes of topics and the
// addresses of brokers. Any goroutine may use it. Dialling happens outside
// locks: one dead address delays nobody else. After a failed dial an address is
// not tried again before a back-off (100 ms doubling to 5 s); calls meanwhile
// fail at once with the last reason.
type Client struct {
	namesrv     []string
	current     atomic.Pointer[string]    // the name server that answered last
	resolved    atomic.Pointer[time.Time] // when host names were last resolved anew
	callTimeout time.Duration
	vipChannel  bool
	signer      *protocol.Signer
	conns       *connTable
	routes      *routeTable
}

// NewClient checks the options; it does not dial.
func NewClient(o Options) (*Client, error) {
	if len(o.Namesrv) == 0 {
		return nil, errors.New("no name server given")
	}
	for _, addr := range o.Namesrv {
		if addr == "" {
			return nil, fmt.Errorf("empty name server address in %q", o.Namesrv)
		}
		if o.Dial != nil {
			continue // what an address looks like is the dialler's affair
		}
		if _, _, err := net.SplitHostPort(addr); err != nil {
			return nil, fmt.Errorf("name server %q: want host:port: %w", addr, err)
		}
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if o.DialTimeout <= 0 {
		o.DialTimeout = defaultDialTimeout
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = defaultCallTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{
		namesrv:     slices.Clone(o.Namesrv),
		callTimeout: o.CallTimeout,
		vipChannel:  o.VIPChannel,
		signer:      o.Signer,
		conns:       newConnTable(o),
		routes:      newRouteTable(),
	}, nil
}

// PullRequestEncoder makes the encoder of one queue's pulls for Conn.Start, which
// signs them where the client signs.
func (c *Client) PullRequestEncoder(h protocol.PullMessageRequestHeader) *protocol.PullRequestEncoder {
	return protocol.NewPullRequestEncoder(h, c.signer)
}

// VIPChannel reports whether Options.VIPChannel is on.
func (c *Client) VIPChannel() bool { return c.vipChannel }

// Close closes every connection and waits for their goroutines. What was queued
// to be sent is written first, for at most a second. It must not be called from
// the Handler.
func (c *Client) Close() {
	c.routes.close()
	c.conns.close() // ends the calls that the route requests wait for
	c.routes.flying.Wait()
}

// Conn returns the live connection to addr, dialling if need be. Concurrent
// callers share one dial.
func (c *Client) Conn(ctx context.Context, addr string) (*Conn, error) {
	return c.conns.get(ctx, addr)
}

// LocalAddrs are this process's own addresses of its last connections to addr, the newest
// last: by them a broker's list of connections tells an earlier one of ours, which it has
// not missed yet, from another process.
func (c *Client) LocalAddrs(addr string) []string { return c.conns.localsOf(addr) }

// DropConn closes the connection to addr, if there is one: what came on it cannot
// be trusted. The next call dials anew.
func (c *Client) DropConn(addr string, cause error) { c.conns.drop(addr, cause) }

// Invoke calls addr and waits; an answer other than Success is a *CodeError
// along with the answer. A call that times out on a connection that has been
// silent since it was sent closes that connection: it is half open. (A call that
// was given less than a second, and less than CallTimeout, proves nothing.)
func (c *Client) Invoke(ctx context.Context, addr string, req *protocol.Command) (protocol.Command, error) {
	return c.invoke(ctx, addr, req, c.callTimeout)
}

// invoke is Invoke with another limit than CallTimeout.
func (c *Client) invoke(ctx context.Context, addr string, req *protocol.Command, limit time.Duration) (protocol.Command, error) {
	answer, err := c.exchange(ctx, addr, req, limit)
	if err != nil {
		return answer, err
	}
	if protocol.ResponseCode(answer.Code) != protocol.Success {
		return answer, newCodeError(protocol.RequestCode(req.Code), addr, &answer)
	}
	return answer, nil
}

// exchange sends req and returns the answer, whatever its code.
func (c *Client) exchange(ctx context.Context, addr string, req *protocol.Command, limit time.Duration) (protocol.Command, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := c.conns.get(ctx, addr)
	if err != nil {
		return protocol.Command{}, fmt.Errorf("%v: %w", protocol.RequestCode(req.Code), err)
	}
	sent := time.Now()
	answer, err := conn.Invoke(ctx, req)
	if errors.Is(err, errIdle) && ctx.Err() == nil {
		// It ended by itself just now, so nobody has seen the request.
		if conn, err = c.conns.get(ctx, addr); err == nil {
			answer, err = conn.Invoke(ctx, req)
		}
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !relayed(protocol.RequestCode(req.Code)) {
		c.closeHalfOpen(conn, sent)
	}
	return answer, err
}

// relayed reports whether a broker asks somebody else before it answers: its silence
// proves nothing about the connection, on which others may be waiting.
func relayed(code protocol.RequestCode) bool {
	switch code {
	case protocol.GetConsumerRunningInfo, protocol.ConsumeMessageDirectly, protocol.GetConsumerStatusOfMembers:
		return true
	}
	return false
}

// closeHalfOpen is called after a timeout.
func (c *Client) closeHalfOpen(conn *Conn, sent time.Time) {
	if time.Since(sent) >= min(halfOpenSilence, c.callTimeout) && !conn.LastRead().After(sent) {
		conn.CloseAsync(errHalfOpen)
	}
}

// InvokeOneway sends a request that is not answered.
func (c *Client) InvokeOneway(ctx context.Context, addr string, req *protocol.Command) error {
	ctx, cancel := context.WithTimeout(ctx, c.callTimeout)
	defer cancel()
	conn, err := c.conns.get(ctx, addr)
	if err != nil {
		return fmt.Errorf("%v: %w", protocol.RequestCode(req.Code), err)
	}
	return conn.InvokeOneway(ctx, req)
}

// newRequest makes a request with a custom header and a body, either of which
// may be nil.
func newRequest(code protocol.RequestCode, fields protocol.ExtFields, body []byte) *protocol.Command {
	return &protocol.Command{Code: int32(code), ExtFields: fields, Body: body}
}
