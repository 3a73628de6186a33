package engine_test

import (
	"context"
	"net"
	"sync"

	"eyeq/remoting/sandbox/sandboxtest"
)

// cable is the network between a client and a cluster, which can be cut: then
// connections carry nothing either way, without a word, and dials hang. Those
// that were open at a cut stay dead after it, as when the peer has restarted.
type cable struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu    sync.Mutex
	down  chan struct{} // nil: whole; closed at the end of the cut
	conns []*cableConn
	dials map[string]int
}

// plug lays a cable before a target's network.
func plug(tg *sandboxtest.Target) (*cable, *sandboxtest.Target) {
	c := &cable{dial: tg.Dial, dials: map[string]int{}}
	if c.dial == nil {
		c.dial = (&net.Dialer{}).DialContext
	}
	behind := *tg
	behind.Dial = c.Dial
	return c, &behind
}

func (c *cable) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	c.mu.Lock()
	c.dials[addr]++
	down := c.down
	c.mu.Unlock()
	if down != nil {
		<-ctx.Done() // a lost SYN
		return nil, ctx.Err()
	}
	nc, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	cc := &cableConn{Conn: nc, dead: make(chan struct{}), closed: make(chan struct{})}
	c.mu.Lock()
	c.conns = append(c.conns, cc)
	c.mu.Unlock()
	return cc, nil
}

func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = make(chan struct{})
	for _, cc := range c.conns {
		close(cc.dead)
	}
	c.conns = nil
}

func (c *cable) restore() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.down)
	c.down = nil
}

// cableConn is a connection until the cut; then its reads wait until it is closed
// and its writes go nowhere.
type cableConn struct {
	net.Conn
	dead, closed chan struct{}
	once         sync.Once
}

func (c *cableConn) isDead() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

func (c *cableConn) Read(p []byte) (int, error) {
	type read struct {
		n   int
		err error
	}
	got := make(chan read, 1)
	buf := make([]byte, len(p))
	go func() {
		n, err := c.Conn.Read(buf)
		got <- read{n, err}
	}()
	select {
	case r := <-got:
		if !c.isDead() {
			return copy(p, buf[:r.n]), r.err
		}
	case <-c.dead:
	}
	<-c.closed
	return 0, net.ErrClosed
}

func (c *cableConn) Write(p []byte) (int, error) {
	if c.isDead() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

func (c *cableConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
