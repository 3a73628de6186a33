package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// endpoint is one address that is served: a name server's or a broker's, in
// memory or on TCP. It ends when its broker is stopped.
type endpoint struct {
	broker *broker // nil: the name server
	inbox  chan<- arrival
	ended  <-chan struct{} // the sandbox's end
	down   bool            // owned by the loop
	stop   context.CancelCauseFunc
	closed chan struct{} // closed when nothing of it runs any more
}

// begin serves the in-memory addresses.
func (l *loop) begin() {
	l.serve(nil, l.network.listen(l.namesrv.memory))
	for _, b := range l.brokers {
		b.start()
	}
}

// listenTCP serves everything on TCP too.
func (l *loop) listenTCP(namesrvAddr, brokerAddr string) (string, string, error) {
	if l.namesrv.tcp != "" {
		return "", "", fmt.Errorf("the sandbox listens on %s already", l.namesrv.tcp)
	}
	host, _, err := net.SplitHostPort(brokerAddr)
	if err != nil {
		return "", "", fmt.Errorf("broker address %q: %w", brokerAddr, err)
	}
	addrs := []string{namesrvAddr, brokerAddr}
	for range l.brokers[1:] {
		addrs = append(addrs, net.JoinHostPort(host, "0"))
	}
	listeners := make([]net.Listener, 0, len(addrs))
	for _, addr := range addrs {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			for _, open := range listeners {
				open.Close()
			}
			return "", "", fmt.Errorf("listen on %s: %w", addr, err)
		}
		listeners = append(listeners, ln)
	}
	l.namesrv.tcp = announced(listeners[0].Addr())
	l.serve(nil, listeners[0])
	l.network.alias(l.namesrv.memory, l.namesrv.tcp)
	for i, b := range l.brokers {
		ln := listeners[i+1]
		b.listen, b.tcp = ln.Addr().String(), announced(ln.Addr())
		if host := l.options.AnnounceHost; host != "" {
			_, port, _ := net.SplitHostPort(b.tcp)
			b.tcp = net.JoinHostPort(host, port)
		}
		b.host = netip.MustParseAddrPort(b.tcp)
		l.network.alias(b.memory, b.tcp)
		if !b.up {
			ln.Close() // its start will open it again
			continue
		}
		b.endpoints = append(b.endpoints, l.serve(b, ln))
	}
	return l.namesrv.tcp, l.brokers[0].tcp, nil
}

// announced is the address under which a listener can be reached from this
// machine: all interfaces are announced as the loopback one.
func announced(a net.Addr) string {
	addr := netip.MustParseAddrPort(a.String())
	if ip := addr.Addr().Unmap(); ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(int(addr.Port())))
	}
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()).String()
}

// serve accepts on ln for a broker, or for the name server when b is nil.
func (l *loop) serve(b *broker, ln net.Listener) *endpoint {
	e := &endpoint{broker: b, inbox: l.inbox, ended: l.ended, closed: make(chan struct{})}
	server := &remoting.Server{Handler: e, OnClose: e.onClose, TLS: l.options.TLS, TLSOnly: l.options.TLSOnly}
	e.stop = l.spawn(func(ctx context.Context) {
		defer close(e.closed)
		_ = server.Serve(ctx, ln) // a listener that fails has nobody to tell; clients see it
	})
	return e
}

// HandleRequest runs on a connection's read goroutine.
func (e *endpoint) HandleRequest(c *remoting.Conn, req protocol.Command) {
	e.deliver(arrival{endpoint: e, conn: c, command: req})
}

func (e *endpoint) onClose(c *remoting.Conn, _ error) {
	e.deliver(arrival{endpoint: e, conn: c, closed: true})
}

func (e *endpoint) deliver(a arrival) {
	select {
	case e.inbox <- a:
	case <-e.ended:
	}
}

var errStopped = errors.New("broker stopped")

// stop ends a broker as a kill does and returns what its endpoints still run.
func (b *broker) stop() []*endpoint {
	stopped := b.endpoints
	b.endpoints = nil
	for _, e := range stopped {
		e.down = true
		e.stop(errStopped)
	}
	for _, g := range b.groups {
		g.restart()
	}
	for _, p := range b.loop.peers {
		if p.broker == b {
			b.loop.forget(p)
		}
	}
	b.up = false
	return stopped
}

// relistenAfter is the pause between attempts to have a TCP port back.
const relistenAfter = 100 * time.Millisecond

// start lets a broker serve at its addresses.
func (b *broker) start() {
	if b.up {
		return
	}
	b.up = true
	b.serveMemory()
	if b.tcp != "" {
		b.serveTCP()
	}
	switch {
	case b.master != nil:
		b.catchUp()
	case b.slave != nil:
		b.slave.catchUp()
	}
	if b.schedule != nil {
		b.schedule.rearm()
	}
}

// serveMemory opens the in-memory addresses: the broker's own and, for clients
// that read the TCP one in a route, that.
func (b *broker) serveMemory() {
	addrs := []string{b.memory, vipAddr(b.memory)}
	if b.tcp != "" {
		addrs = append(addrs, b.tcp)
	}
	b.endpoints = append(b.endpoints, b.loop.serve(b, b.loop.network.listen(addrs...)))
}

// serveTCP takes the port again that the broker had; another process may hold it
// for the moment.
func (b *broker) serveTCP() {
	if !b.up {
		return
	}
	ln, err := net.Listen("tcp", b.listen)
	if err != nil {
		b.loop.alarms.at(b.loop.now.Add(relistenAfter), b.serveTCP)
		return
	}
	b.endpoints = append(b.endpoints, b.loop.serve(b, ln))
}
