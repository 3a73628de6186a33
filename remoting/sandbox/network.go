package sandbox

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// The in-memory addresses are of the documentation network, so that a client
// which was not given Sandbox.Dial reaches nothing instead of a real broker.
const (
	namesrvHost = "192.0.2.1"
	namesrvPort = 9876
	brokerNet   = "192.0.2."
	brokerHost0 = 11 // the first broker is 192.0.2.11, the rest goes on from there
	brokerPort  = 10911
	clientHost  = "198.51.100.200"
)

// brokerAddr is the address of a broker in memory.
func brokerAddr(host int) string {
	return net.JoinHostPort(brokerNet+strconv.Itoa(host), strconv.Itoa(brokerPort))
}

// vipAddr is the address of a broker's second listener, for requests other than
// pulls and heartbeats. Here it is the same as the first.
func vipAddr(addr string) string {
	host, _, _ := strings.Cut(addr, ":")
	return net.JoinHostPort(host, strconv.Itoa(brokerPort-2))
}

// network joins dialled connections to listeners by address, all in memory: its
// connections are net.Pipes, whose waiting a synctest bubble understands.
type network struct {
	mu        sync.Mutex
	listeners map[string]*listener // guarded by mu
	dark      map[string]bool      // guarded by mu; addresses that do not even refuse
	dialled   int                  // guarded by mu; numbers the clients' ports
}

// darken has dials to an address wait in vain.
func (n *network) darken(addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dark == nil {
		n.dark = map[string]bool{}
	}
	n.dark[addr] = true
}

// listen opens an address and its aliases; the last one to open an address has it.
func (n *network) listen(addrs ...string) *listener {
	ln := &listener{addr: memAddr(addrs[0]), accepted: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	for _, a := range addrs {
		n.listeners[a] = ln
	}
	return ln
}

// alias makes what listens on addr reachable at another address too.
func (n *network) alias(addr, other string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ln := n.listeners[addr]; ln != nil {
		n.listeners[other] = ln
	}
}

// dial waits until the listener at addr accepts, closes or ctx ends.
func (n *network) dial(ctx context.Context, addr string) (net.Conn, error) {
	n.mu.Lock()
	ln, dark := n.listeners[addr], n.dark[addr]
	n.dialled++
	port := 1024 + n.dialled%(1<<16-1024)
	n.mu.Unlock()
	if dark {
		<-ctx.Done()
		return nil, fmt.Errorf("dial %s: %w", addr, context.Cause(ctx))
	}
	if ln == nil {
		return nil, refused(addr)
	}
	local := memAddr(net.JoinHostPort(clientHost, strconv.Itoa(port)))
	near, far := net.Pipe()
	select {
	case ln.accepted <- &memConn{Conn: far, local: ln.addr, remote: local}:
		return &memConn{Conn: near, local: local, remote: memAddr(addr)}, nil
	case <-ln.closed:
		return nil, refused(addr)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s: %w", addr, context.Cause(ctx))
	}
}

// refused is what dialling a port that nobody listens on gives.
func refused(addr string) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: memAddr(addr), Err: syscall.ECONNREFUSED}
}

// listener is one address of a network.
type listener struct {
	addr     memAddr
	accepted chan net.Conn
	once     sync.Once
	closed   chan struct{} // closed by Close
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, fmt.Errorf("accept at %s: %w", l.addr, net.ErrClosed)
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

// memAddr is a host and port of a network.
type memAddr string

func (memAddr) Network() string  { return "tcp" }
func (a memAddr) String() string { return string(a) }

// memConn is one end of a pipe under the addresses that its peers see.
type memConn struct {
	net.Conn
	local, remote memAddr
}

func (c *memConn) LocalAddr() net.Addr  { return c.local }
func (c *memConn) RemoteAddr() net.Addr { return c.remote }
