package sandbox

import (
	"context"
	"errors"
	"net/netip"
	"sync"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// peer is one connection. The loop owns its fields; out it shares with the
// goroutine that sends.
type peer struct {
	conn     *remoting.Conn
	broker   *broker // nil at the name server
	host     netip.AddrPort
	clientID string // of the last heartbeat
	language protocol.LanguageCode
	version  int32
	holds    map[*hold]struct{}
	mute     bool // nothing goes either way any more
	out      outbox
}

// newPeer starts the goroutine that sends what the loop answers.
func (l *loop) newPeer(e *endpoint, c *remoting.Conn) *peer {
	p := &peer{conn: c, broker: e.broker, holds: map[*hold]struct{}{}, out: outbox{wake: make(chan struct{}, 1)}}
	p.host, _ = netip.ParseAddrPort(c.RemoteAddr()) // a zero host is stored as 0.0.0.0
	l.peers[c] = p
	l.spawn(p.send)
	return p
}

// send hands what is in the outbox to the connection until that ends. The loop
// cannot do so itself: a full connection would make it wait.
func (p *peer) send(ctx context.Context) {
	for {
		select {
		case <-p.out.wake:
			for _, o := range p.out.take() {
				if err := p.sendOne(ctx, &o); err != nil {
					p.conn.CloseAsync(err) // it has ended already, unless the frame was at fault
					return
				}
			}
		case <-p.conn.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

func (p *peer) sendOne(ctx context.Context, o *outgoing) error {
	if o.request == nil {
		return p.conn.InvokeOneway(ctx, &o.command)
	}
	if len(o.parts) > 0 {
		o.command.Body = join(o.parts)
	}
	return p.conn.Respond(o.request, &o.command)
}

func join(parts [][]byte) []byte {
	var n int
	for _, p := range parts {
		n += len(p)
	}
	body := make([]byte, 0, n)
	for _, p := range parts {
		body = append(body, p...)
	}
	return body
}

// maxUnsent bounds what may wait for one connection.
const maxUnsent = 128 << 20

var errUnread = errors.New("too many answers are not read")

// push queues o; a peer that reads nothing is cut off.
func (p *peer) push(o outgoing) {
	if p.mute {
		return
	}
	if !p.out.push(o) {
		p.conn.CloseAsync(errUnread)
	}
}

// outgoing is an answer, or a one-way request when request is nil.
type outgoing struct {
	request *protocol.Command // as much of it as Respond needs
	command protocol.Command
	parts   [][]byte // the body in pieces, joined by the sender
}

// outbox is what waits to be sent, behind a leaf mutex.
type outbox struct {
	wake chan struct{} // capacity 1

	mu    sync.Mutex
	queue []outgoing // guarded by mu
	bytes int        // guarded by mu
}

// push reports whether there was room.
func (b *outbox) push(o outgoing) bool {
	size := len(o.command.Body)
	for _, p := range o.parts {
		size += len(p)
	}
	b.mu.Lock()
	ok := b.bytes+size <= maxUnsent
	if ok {
		b.queue = append(b.queue, o)
		b.bytes += size
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return ok
}

// take empties the outbox.
func (b *outbox) take() []outgoing {
	b.mu.Lock()
	defer b.mu.Unlock()
	queue := b.queue
	b.queue, b.bytes = nil, 0
	return queue
}
