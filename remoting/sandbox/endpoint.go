package sandbox

import (
	"context"
	"errors"
	"net"
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

// serve accepts on ln for a broker, or for the name server when b is nil.
func (l *loop) serve(b *broker, ln net.Listener) *endpoint {
	e := &endpoint{broker: b, inbox: l.inbox, ended: l.ended, closed: make(chan struct{})}
	server := &remoting.Server{Handler: e, OnClose: e.onClose}
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
	b.schedule.rearm()
}

// serveMemory opens the in-memory addresses: the broker's own and, for clients
// that read the TCP one in a route, that.
func (b *broker) serveMemory() {
	addrs := []string{b.memory}
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
	ln, err := net.Listen("tcp", b.tcp)
	if err != nil {
		b.loop.alarms.at(b.loop.now.Add(relistenAfter), b.serveTCP)
		return
	}
	b.endpoints = append(b.endpoints, b.loop.serve(b, ln))
}
