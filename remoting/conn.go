package remoting

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"eyeq/remoting/protocol"
)

// Handler gets the requests that arrive on a connection. HandleRequest runs on
// the connection's read goroutine, so it must return soon and must not call
// Invoke on the same connection; it may answer later, from any goroutine, by
// Conn.Respond.
type Handler interface {
	HandleRequest(c *Conn, req protocol.Command)
}

// ConnWatcher may be implemented by a Client's Handler to learn of the connections
// that the Client makes and loses: brokers know a member by its connection. Both
// calls must return soon.
type ConnWatcher interface {
	Connected(addr string)
	Disconnected(addr string)
}

// ConnOptions are a connection's settings; the zero value is usable.
type ConnOptions struct {
	// Handler gets inbound requests; nil answers "not supported".
	Handler Handler
	// Serialize is the header encoding of the requests sent.
	Serialize protocol.SerializeType
	// Signer signs the requests sent; nil signs none. Requests that are encoded by the
	// caller of Start are signed by him: see Client.PullRequestEncoder.
	Signer *protocol.Signer
	// WriteTimeout bounds the writing of one frame; zero is 10 s.
	WriteTimeout time.Duration
	// IdleTimeout ends a connection on which nothing has gone either way for so
	// long; zero never does.
	IdleTimeout time.Duration
}

const (
	defaultWriteTimeout = 10 * time.Second
	// flushTimeout bounds how long an orderly end waits for what is queued.
	flushTimeout = time.Second
	// writeQueue is how many frames may wait to be written.
	writeQueue = 256
)

// Conn is one socket, either end of it. Its read goroutine hands answers to the
// calls that wait for them and requests to the Handler; its write goroutine
// writes what is queued, several frames in one write where it can. Any goroutine
// may use it.
//
// A framing error, an undecodable header or a failed write closes the
// connection; an answer over the limit fails its own call only, with a
// *TooLargeError. Closing fails every pending call at once with an error that wraps
// ErrClosed and the cause.
type Conn struct {
	nc           net.Conn
	addr         string // for errors: the address that was dialled, else the other end's
	remote       string
	local        string
	handler      Handler
	serialize    protocol.SerializeType
	signer       *protocol.Signer
	writeTimeout time.Duration
	idleTimeout  time.Duration
	ended        func(*Conn) // called last, after done is closed; may be nil

	born     time.Time
	lastRead atomic.Int64 // a Duration since born, which keeps the monotonic clock

	writes  chan []byte   // encoded frames
	closing chan struct{} // closed when the ending begins
	written chan struct{} // closed when the write goroutine has ended
	read    chan struct{} // closed when the read goroutine has ended
	done    chan struct{} // closed when all has ended

	mu      sync.Mutex // guards what follows
	pending map[int32]chan<- Reply
	opaque  int32         // of the last call
	wrapped bool          // the numbers have begun again
	handing int32         // the call whose reply the read goroutine is sending, or none
	handed  chan struct{} // closed after that, when a Cancel waits for it
	spare   [][]byte      // buffers that have been written
	err     error         // why it ended; set once
	flush   bool          // whether the write goroutine writes what is queued before it ends
}

// none stands for no call: opaques begin at 0.
const none = -1

// NewConn takes over nc and starts the two goroutines.
func NewConn(nc net.Conn, o ConnOptions) *Conn {
	return newConn(nc, o, nc.RemoteAddr().String(), nil)
}

// newConn also takes the address for errors and a function that is called, on a
// goroutine of its own, after the connection has ended.
func newConn(nc net.Conn, o ConnOptions, addr string, ended func(*Conn)) *Conn {
	c := &Conn{
		nc:           nc,
		addr:         addr,
		remote:       nc.RemoteAddr().String(),
		local:        nc.LocalAddr().String(),
		handler:      o.Handler,
		serialize:    o.Serialize,
		signer:       o.Signer,
		writeTimeout: o.WriteTimeout,
		idleTimeout:  o.IdleTimeout,
		ended:        ended,
		born:         time.Now(),
		writes:       make(chan []byte, writeQueue),
		closing:      make(chan struct{}),
		written:      make(chan struct{}),
		read:         make(chan struct{}),
		done:         make(chan struct{}),
		pending:      map[int32]chan<- Reply{},
		handing:      none,
	}
	if c.writeTimeout <= 0 {
		c.writeTimeout = defaultWriteTimeout
	}
	go c.readLoop()
	go c.writeLoop()
	return c
}

// Invoke sends req and waits for its answer, whatever its code, or for ctx. It
// sets the opaque, language and version of the request that is sent; req itself
// is not changed.
func (c *Conn) Invoke(ctx context.Context, req *protocol.Command) (protocol.Command, error) {
	if ctx.Err() != nil {
		return protocol.Command{}, c.callError(req, ctxError(ctx))
	}
	replies := make(chan Reply, 1)
	opaque, err := c.start(c.encoder(req, 0), replies, ctx.Done())
	if err != nil {
		return protocol.Command{}, c.callError(req, c.cancelError(ctx, err))
	}
	var r Reply
	select {
	case r = <-replies:
	case <-ctx.Done():
		if c.Cancel(opaque) {
			return protocol.Command{}, c.callError(req, fmt.Errorf("no answer: %w", ctxError(ctx)))
		}
		r = <-replies
	}
	if r.Err != nil {
		return protocol.Command{}, c.callError(req, r.Err)
	}
	return r.Command, nil
}

// InvokeOneway queues req, marked as one-way, and returns when it is queued; a
// request lost afterwards is not noticed. An orderly Close still writes it.
func (c *Conn) InvokeOneway(ctx context.Context, req *protocol.Command) error {
	if ctx.Err() != nil {
		return c.callError(req, ctxError(ctx))
	}
	opaque, buf, err := c.register(nil)
	if err != nil {
		return c.callError(req, err)
	}
	frame, err := c.encoder(req, protocol.FlagOneway)(buf, opaque)
	if err != nil {
		return c.callError(req, err)
	}
	if err := c.enqueue(ctx.Done(), frame); err != nil {
		return c.callError(req, c.cancelError(ctx, err))
	}
	return nil
}

// encoder encodes req as a request of ours.
func (c *Conn) encoder(req *protocol.Command, flag int32) func([]byte, int32) ([]byte, error) {
	return func(dst []byte, opaque int32) ([]byte, error) {
		r := *req
		r.Opaque, r.Flag = opaque, flag
		r.Language, r.Version = protocol.LanguageGo, protocol.Version
		if c.signer != nil {
			r.ExtFields = c.signer.Sign(r.ExtFields, r.Body)
		}
		return protocol.AppendFrame(dst, &r, c.serialize)
	}
}

// callError says which request it was, and where to unless err says it.
func (c *Conn) callError(req *protocol.Command, err error) error {
	return fmt.Errorf("%v to %s: %w", protocol.RequestCode(req.Code), c.addr, err)
}

// Reply ends one call that was begun by Start.
type Reply struct {
	Opaque  int32
	Command protocol.Command // when Err is nil
	Err     error
	At      time.Time // when the answer was read
}

// Start begins a call without waiting: encode appends the request's frame with
// the opaque it is given, and the answer (or the connection's end) is sent to
// replies, which must have room for it: one free place for each call begun and
// not ended. Start returns before the frame is on the wire; it waits only while
// the queue of frames to be written is full. When it returns an error, nothing
// is sent to replies.
func (c *Conn) Start(encode func(dst []byte, opaque int32) ([]byte, error), replies chan<- Reply) (opaque int32, err error) {
	return c.start(encode, replies, nil)
}

// start is Start; cancelled ends the wait for the queue, with errCancelled.
func (c *Conn) start(encode func([]byte, int32) ([]byte, error), replies chan<- Reply, cancelled <-chan struct{}) (int32, error) {
	opaque, buf, err := c.register(replies)
	if err != nil {
		return 0, err
	}
	frame, err := encode(buf, opaque)
	if err == nil {
		err = c.enqueue(cancelled, frame)
	}
	// A connection that ends after register has answered this call already:
	// Cancel then finds nothing, and the reply tells the caller.
	if err != nil && c.Cancel(opaque) {
		return 0, err
	}
	return opaque, nil
}

// register takes an opaque, a buffer to encode into and, unless replies is nil,
// a place in the table. 31 bits of opaque last for hours at a rate no connection
// reaches, and no call is pending so long, so a number is free when it comes round.
func (c *Conn) register(replies chan<- Reply) (opaque int32, buf []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	if c.opaque++; c.opaque < 0 {
		c.opaque, c.wrapped = 0, true
	}
	if replies != nil {
		c.pending[c.opaque] = replies
	}
	return c.opaque, c.takeSpare(), nil
}

// takeSpare is called with mu held.
func (c *Conn) takeSpare() []byte {
	if len(c.spare) == 0 {
		return nil
	}
	buf := c.spare[len(c.spare)-1]
	c.spare = c.spare[:len(c.spare)-1]
	return buf[:0]
}

// Cancel gives up a call begun by Start. It reports whether the call was still
// pending; if so, nothing will be sent to its channel. If not, the reply is
// there already.
func (c *Conn) Cancel(opaque int32) bool {
	c.mu.Lock()
	_, pending := c.pending[opaque]
	delete(c.pending, opaque)
	// A call that has left the table may not have its reply yet: the read
	// goroutine took it out and was then overtaken by this one, or the connection
	// ends and end has not come to it. The wait is for a send that never blocks.
	var sent <-chan struct{}
	switch {
	case pending:
	case c.handing == opaque:
		if c.handed == nil {
			c.handed = make(chan struct{})
		}
		sent = c.handed
	case c.err != nil:
		sent = c.closing
	}
	c.mu.Unlock()
	if sent != nil {
		<-sent
	}
	return pending
}

// Respond answers req with resp, in req's header encoding. It sets the opaque
// and the flag, nothing else. For a one-way request it does nothing. It returns
// when the frame is queued.
func (c *Conn) Respond(req *protocol.Command, resp *protocol.Command) error {
	if req.IsOneway() {
		return nil
	}
	c.mu.Lock()
	buf, err := c.takeSpare(), c.err
	c.mu.Unlock()
	if err == nil {
		r := *resp
		r.Opaque, r.Flag = req.Opaque, protocol.FlagResponse
		buf, err = protocol.AppendFrame(buf, &r, req.Serialize)
	}
	if err == nil {
		err = c.enqueue(nil, buf)
	}
	if err != nil {
		return fmt.Errorf("answer to %v from %s: %w", protocol.RequestCode(req.Code), c.addr, err)
	}
	return nil
}

// Close closes the connection with a cause (nil: orderly) and waits for both
// goroutines. Pending calls fail at once; an orderly end first writes what is
// queued, for at most a second. It must not be called from the Handler;
// CloseAsync may be.
func (c *Conn) Close(cause error) {
	c.CloseAsync(cause)
	<-c.done
}

// CloseAsync begins the closing and returns at once.
func (c *Conn) CloseAsync(cause error) {
	if cause == nil {
		c.end(errOrderly, true)
		return
	}
	c.end(cause, false)
}

// end fails the pending calls and lets the rest happen on a goroutine that
// lasts as long as the closing. The first cause is the one that counts.
func (c *Conn) end(cause error, flush bool) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = &closedError{addr: c.addr, cause: cause}
	c.flush = flush
	pending := c.pending
	c.pending = nil
	c.mu.Unlock()

	// Replies before closing: who learns of the end by a full queue, in Start,
	// finds the reply there.
	now := time.Now()
	for opaque, replies := range pending {
		deliver(replies, Reply{Opaque: opaque, Err: c.err, At: now})
	}
	close(c.closing)
	go c.finish(flush)
}

// finish closes the socket, which ends both goroutines, and waits for them.
func (c *Conn) finish(flush bool) {
	if flush {
		limit := time.NewTimer(flushTimeout)
		select {
		case <-c.written:
		case <-limit.C:
		}
		limit.Stop()
	}
	c.nc.Close() // its error says nothing that anybody could act on
	<-c.written
	<-c.read
	close(c.done)
	if c.ended != nil {
		c.ended(c)
	}
}

// Done is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err is why the connection ended; nil while it lives.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// RemoteAddr is the other end's address as text.
func (c *Conn) RemoteAddr() string { return c.remote }

// LocalAddr is this end's address as text.
func (c *Conn) LocalAddr() string { return c.local }

// LastRead is when bytes last arrived; before the first, when the connection was made.
func (c *Conn) LastRead() time.Time {
	return c.born.Add(time.Duration(c.lastRead.Load()))
}
