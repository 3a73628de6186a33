package engine_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// wire stands between a member's client and the cluster: it sees each request and
// may change each answer. It works over the sandbox and over real brokers.
type wire struct {
	dialer func(ctx context.Context, network, addr string) (net.Conn, error)

	mu      sync.Mutex // guards what follows
	closed  int
	request func(req *protocol.Command)
	other   func(req *protocol.Command) (frame []byte)
	answer  func(req, answer *protocol.Command) (frame []byte)
}

func newWire(tg *sandboxtest.Target) *wire {
	w := &wire{dialer: tg.Dial}
	if w.dialer == nil {
		w.dialer = (&net.Dialer{}).DialContext
	}
	return w
}

// joinOver is join with a client whose connections go through w.
func joinOver(t testing.TB, tg *sandboxtest.Target, w *wire, group, topic string, listen engine.ListenerFunc, changes ...change) *member {
	t.Helper()
	over := *tg
	over.Dial = w.dial
	return join(t, &over, group, topic, listen, changes...)
}

// onRequest installs what sees each request; it must not wait.
func (w *wire) onRequest(f func(req *protocol.Command)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.request = f
}

// instead installs what may give another frame in a request's place; nil leaves it.
func (w *wire) instead(f func(req *protocol.Command) (frame []byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.other = f
}

// onAnswer installs what sees each answer with its request and may give another
// frame in its place, its length included; nil leaves the answer as it is.
func (w *wire) onAnswer(f func(req, answer *protocol.Command) (frame []byte)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = f
}

func (w *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := w.dialer(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &wireConn{Conn: c, w: w, asked: map[int32]protocol.Command{}}, nil
}

// drops is how many connections the member has closed.
func (w *wire) drops() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

// wireConn is one connection. One goroutine reads and one writes.
type wireConn struct {
	net.Conn
	w    *wire
	out  []byte // read from the cluster, not yet by the client
	half []byte // of a request not yet complete

	mu    sync.Mutex // guards asked
	asked map[int32]protocol.Command

	closing sync.Once
}

func (c *wireConn) Close() error {
	c.closing.Do(func() {
		c.w.mu.Lock()
		defer c.w.mu.Unlock()
		c.w.closed++
	})
	return c.Conn.Close()
}

func (c *wireConn) Write(p []byte) (int, error) {
	c.half = append(c.half, p...)
	for len(c.half) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(c.half))
		if len(c.half) < n {
			break
		}
		frame := c.half[:n]
		if cmd, err := protocol.DecodeCommand(append([]byte(nil), frame[4:]...)); err == nil && !cmd.IsResponse() {
			c.mu.Lock()
			c.asked[cmd.Opaque] = cmd
			c.mu.Unlock()
			c.w.mu.Lock()
			f, other := c.w.request, c.w.other
			c.w.mu.Unlock()
			if f != nil {
				f(&cmd)
			}
			if other != nil {
				if instead := other(&cmd); instead != nil {
					frame = instead
				}
			}
		}
		if _, err := c.Conn.Write(frame); err != nil {
			return 0, err
		}
		c.half = c.half[n:]
	}
	return len(p), nil
}

func (c *wireConn) Read(p []byte) (int, error) {
	for len(c.out) == 0 {
		var length [4]byte
		if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
			return 0, err
		}
		frame := make([]byte, 4+binary.BigEndian.Uint32(length[:]))
		copy(frame, length[:])
		if _, err := io.ReadFull(c.Conn, frame[4:]); err != nil {
			return 0, err
		}
		c.out = c.twist(frame)
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
}

func (c *wireConn) twist(frame []byte) []byte {
	cmd, err := protocol.DecodeCommand(append([]byte(nil), frame[4:]...))
	if err != nil || !cmd.IsResponse() {
		return frame
	}
	c.mu.Lock()
	req, ok := c.asked[cmd.Opaque]
	delete(c.asked, cmd.Opaque)
	c.mu.Unlock()
	c.w.mu.Lock()
	f := c.w.answer
	c.w.mu.Unlock()
	if !ok || f == nil {
		return frame
	}
	if other := f(&req, &cmd); other != nil {
		return other
	}
	return frame
}

// framed encodes an answer.
func framed(cmd protocol.Command) []byte {
	frame, err := protocol.AppendFrame(nil, &cmd, protocol.SerializeJSON)
	if err != nil {
		panic(err)
	}
	return frame
}
