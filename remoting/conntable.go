package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"
)

// idleLimit is when a connection that nobody uses is closed, as the Java client
// does (clientChannelMaxIdleTimeSeconds): to brokers that have moved, for one.
const idleLimit = 120 * time.Second

// The back-off after failed dials.
const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
)

// keptLocals is how many of our own addresses are remembered of the connections to one
// address: a broker misses a connection within two minutes.
const keptLocals = 32

// maxCutOff is how many TLS handshakes in a row may be cut off by a server that has
// spoken TLS before. With the back-off between them that is some twenty seconds, in which
// one that only goes down is gone, or there again.
const maxCutOff = 10

// connTable keeps one connection an address. A dial runs on a goroutine of its
// own, for all who want the address: a caller that leaves does not end it for
// the others, so it has a deadline of its own and is ended by close only.
type connTable struct {
	dialRaw     func(ctx context.Context, network, addr string) (net.Conn, error)
	tls         *tls.Config // nil: none
	dialTimeout time.Duration
	options     ConnOptions
	log         *slog.Logger
	running     sync.WaitGroup // dials and connections; none is added once closed is set

	mu        sync.Mutex // guards what follows
	closed    bool
	endpoints map[string]*endpoint
	locals    map[string][]string // addresses, and our own of the last connections to them, the newest last
	spoken    map[string]int      // addresses with which TLS was spoken once, and the handshakes cut off in a row since
}

// endpoint is what is known of an address. Its fields are guarded by the table's mutex.
type endpoint struct {
	conn     *Conn    // nil when there is none; may have ended
	dialling *dialled // nil when none is under way
	failures int      // dials failed in a row
	retryAt  time.Time
	err      error // why the last dial failed
}

// dialled is one dial; conn and err are set before done is closed.
type dialled struct {
	cancel context.CancelFunc
	done   chan struct{}
	conn   *Conn
	err    error
}

func newConnTable(o Options) *connTable {
	return &connTable{
		dialRaw:     o.Dial,
		tls:         o.TLS,
		dialTimeout: o.DialTimeout,
		options:     ConnOptions{Handler: o.Handler, Serialize: o.Serialize, Signer: o.Signer, IdleTimeout: idleLimit},
		log:         o.Log,
		endpoints:   map[string]*endpoint{},
		locals:      map[string][]string{},
		spoken:      map[string]int{},
	}
}

// get returns the live connection to addr or waits for the dial to it.
func (t *connTable) get(ctx context.Context, addr string) (*Conn, error) {
	for {
		conn, dial, err := t.lookup(ctx, addr)
		switch {
		case err != nil:
			return nil, err
		case dial != nil:
			return dial.wait(ctx, addr)
		case conn.Err() == nil:
			return conn, nil
		}
		t.forget(addr, conn)
	}
}

// lookup returns the connection in the table, or the dial under way, which it
// begins if need be, or why there is neither.
func (t *connTable) lookup(ctx context.Context, addr string) (*Conn, *dialled, error) {
	if ctx.Err() != nil {
		return nil, nil, &DialError{Addr: addr, Err: ctxError(ctx)}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, &closedError{addr: addr, cause: errClientClosed}
	}
	ep := t.endpoints[addr]
	if ep == nil {
		ep = &endpoint{}
		t.endpoints[addr] = ep
	}
	switch {
	case ep.conn != nil:
		return ep.conn, nil, nil
	case ep.dialling != nil:
		return nil, ep.dialling, nil
	case time.Now().Before(ep.retryAt):
		return nil, nil, ep.err
	}
	dialCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.dialTimeout)
	d := &dialled{cancel: cancel, done: make(chan struct{})}
	ep.dialling = d
	t.running.Go(func() { t.run(dialCtx, addr, d) })
	return nil, d, nil
}

// dial opens a connection, with TLS where that is asked for.
func (t *connTable) dial(ctx context.Context, addr string) (net.Conn, error) {
	nc, err := t.dialRaw(ctx, "tcp", addr)
	if t.tls == nil {
		return nc, err
	}
	t.mu.Lock()
	_, spoken := t.spoken[addr]
	t.mu.Unlock()
	if err == nil {
		nc, err = secure(ctx, nc, addr, t.tls, spoken)
	}
	if spoken {
		err = t.cutOff(addr, err)
	}
	return nc, err
}

// cutOff counts the handshakes that were cut off in a row at an address that has spoken
// TLS before, and says after maxCutOff of them that it does so no more. A dial that ended
// otherwise, be it refused by a server that starts again, ends the row.
func (t *connTable) cutOff(addr string, err error) error {
	cut, ok := errors.AsType[*cutOffError](err)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ok {
		t.spoken[addr] = 0
		return err
	}
	t.spoken[addr]++
	if n := t.spoken[addr]; n >= maxCutOff {
		return &TLSError{addr, TLSNoMore, cut.err}
	}
	return err
}

// run dials and tells those who wait.
func (t *connTable) run(ctx context.Context, addr string, d *dialled) {
	defer d.cancel()
	defer close(d.done)
	nc, err := t.dial(ctx, addr)
	if err == nil {
		t.running.Add(1)
		d.conn = newConn(nc, t.options, addr, func(c *Conn) { t.onEnd(addr, c) })
	}
	d.err = t.settle(addr, d.conn, err)
	if d.err != nil && d.conn != nil {
		d.conn.CloseAsync(errClientClosed)
		d.conn = nil
	}
	t.log.Debug("dialled", "addr", addr, "err", d.err)
	if w, ok := t.options.Handler.(ConnWatcher); ok && d.err == nil {
		w.Connected(addr)
	}
}

// settle records how a dial ended and returns what its callers are told.
func (t *connTable) settle(addr string, conn *Conn, err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return &closedError{addr: addr, cause: errClientClosed}
	}
	ep := t.endpoints[addr]
	ep.dialling = nil
	if err != nil {
		ep.err = &DialError{Addr: addr, Err: err}
		ep.retryAt = time.Now().Add(backoff(ep.failures))
		ep.failures++
		return ep.err
	}
	ep.conn, ep.failures, ep.err = conn, 0, nil
	t.locals[addr] = append(t.locals[addr], conn.LocalAddr())
	if n := len(t.locals[addr]); n > keptLocals {
		t.locals[addr] = t.locals[addr][n-keptLocals:]
	}
	if t.tls != nil {
		t.spoken[addr] = 0
	}
	return nil
}

// localsOf are our own addresses of the last connections to addr, the newest last.
func (t *connTable) localsOf(addr string) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.locals[addr])
}

// backoff is the wait after one more failure than the given number.
func backoff(failures int) time.Duration {
	if failures > 10 {
		return maxBackoff
	}
	return min(firstBackoff<<failures, maxBackoff)
}

func (d *dialled) wait(ctx context.Context, addr string) (*Conn, error) {
	select {
	case <-d.done:
		return d.conn, d.err
	case <-ctx.Done():
		return nil, &DialError{Addr: addr, Err: ctxError(ctx)}
	}
}

// forget takes an ended connection out of the table, unless another has its place.
func (t *connTable) forget(addr string, conn *Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ep := t.endpoints[addr]; ep != nil && ep.conn == conn {
		delete(t.endpoints, addr)
	}
}

// drop closes the connection to addr, if there is one.
func (t *connTable) drop(addr string, cause error) bool {
	t.mu.Lock()
	var conn *Conn
	if ep := t.endpoints[addr]; ep != nil && ep.conn != nil {
		conn = ep.conn
		delete(t.endpoints, addr)
	}
	t.mu.Unlock()
	if conn == nil {
		return false
	}
	conn.CloseAsync(cause)
	return true
}

// failing reports whether the last dial to addr has failed.
func (t *connTable) failing(addr string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ep := t.endpoints[addr]
	return ep != nil && ep.err != nil
}

// onEnd is called on the last goroutine of a connection. One that ends before
// settle has stored it is found dead, and forgotten, by the next get.
func (t *connTable) onEnd(addr string, conn *Conn) {
	t.forget(addr, conn)
	t.log.Debug("connection ended", "addr", addr, "err", conn.Err())
	if w, ok := t.options.Handler.(ConnWatcher); ok {
		w.Disconnected(addr)
	}
	t.running.Done()
}

// close ends dials and connections and waits for them.
func (t *connTable) close() {
	t.mu.Lock()
	t.closed = true
	endpoints := t.endpoints
	t.endpoints = map[string]*endpoint{}
	t.mu.Unlock()
	for _, ep := range endpoints {
		// Nobody else changes them now: with closed set, lookup, settle and
		// forget keep away from the endpoints that were in the table.
		if ep.dialling != nil {
			ep.dialling.cancel()
		}
		if ep.conn != nil {
			ep.conn.end(errClientClosed, true)
		}
	}
	t.running.Wait()
}
