package remoting_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// handlerFunc is a Handler.
type handlerFunc func(c *remoting.Conn, req protocol.Command)

func (f handlerFunc) HandleRequest(c *remoting.Conn, req protocol.Command) { f(c, req) }

// echo answers each request with its own body and ext fields.
func echo(c *remoting.Conn, req protocol.Command) {
	c.Respond(&req, &protocol.Command{ExtFields: req.ExtFields, Body: req.Body})
}

// silent answers nothing.
func silent(*remoting.Conn, protocol.Command) {}

// memoryNet is a network of net.Pipe, for use in a synctest bubble. Its servers
// end with the test.
type memoryNet struct {
	mu        sync.Mutex
	listeners map[string]*memoryListener
	dials     map[string]int // how often an address was dialled
	hang      map[string]bool
}

func newMemoryNet() *memoryNet {
	return &memoryNet{listeners: map[string]*memoryListener{}, dials: map[string]int{}, hang: map[string]bool{}}
}

var errRefused = errors.New("connection refused")

// Dial is remoting.Options.Dial.
func (n *memoryNet) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n.mu.Lock()
	n.dials[addr]++
	ln, hang := n.listeners[addr], n.hang[addr]
	n.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if ln == nil {
		return nil, errRefused
	}
	client, server := net.Pipe()
	select {
	case ln.conns <- server:
		return client, nil
	case <-ln.closed:
		return nil, errRefused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Dialled is how often addr was dialled so far.
func (n *memoryNet) Dialled(addr string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials[addr]
}

// Hang lets dials to addr wait for their deadline.
func (n *memoryNet) Hang(addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hang[addr] = true
}

// Serve answers at addr with h until the test or the returned function ends it.
func (n *memoryNet) Serve(t *testing.T, addr string, h remoting.Handler) (stop func()) {
	t.Helper()
	ln := &memoryListener{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	n.listeners[addr] = ln
	n.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		s := remoting.Server{Handler: h}
		if err := s.Serve(ctx, ln); err != nil {
			t.Errorf("Serve(%s) = %v", addr, err)
		}
	})
	stop = func() {
		n.mu.Lock()
		if n.listeners[addr] == ln {
			delete(n.listeners, addr)
		}
		n.mu.Unlock()
		cancel()
		wg.Wait()
	}
	t.Cleanup(stop)
	return stop
}

type memoryListener struct {
	addr   string
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return memoryAddr(l.addr) }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

// newClient makes a client of n that is closed at the end of the test.
func (n *memoryNet) newClient(t *testing.T, o remoting.Options) *remoting.Client {
	t.Helper()
	if o.Namesrv == nil {
		o.Namesrv = []string{"ns:1"}
	}
	o.Dial = n.Dial
	c, err := remoting.NewClient(o)
	if err != nil {
		t.Fatalf("NewClient: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// pipe returns a Conn and the raw other end of it; both are closed with the test.
func pipe(t *testing.T, o remoting.ConnOptions) (*remoting.Conn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	c := remoting.NewConn(near, o)
	t.Cleanup(func() {
		far.Close()
		c.Close(nil)
	})
	return c, far
}

// connPair returns the two ends of a net.Pipe as Conns.
func connPair(t *testing.T, client, server remoting.ConnOptions) (*remoting.Conn, *remoting.Conn) {
	t.Helper()
	near, far := net.Pipe()
	c, s := remoting.NewConn(near, client), remoting.NewConn(far, server)
	t.Cleanup(func() {
		c.Close(nil)
		s.Close(nil)
	})
	return c, s
}

// request is a request with a body to tell it by.
func request(body string) *protocol.Command {
	return &protocol.Command{Code: int32(protocol.GetMaxOffset), Body: []byte(body)}
}

// encoded is the encode function that Conn.Start takes, for request(body).
func encoded(body string) func([]byte, int32) ([]byte, error) {
	return func(dst []byte, opaque int32) ([]byte, error) {
		req := request(body)
		req.Opaque = opaque
		return protocol.AppendFrame(dst, req, protocol.SerializeJSON)
	}
}

// within returns what ch gives, and fails when it takes unreasonably long.
func within[T any](t *testing.T, ch <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s: nothing after a minute", what)
	}
	panic("not reached")
}

// frameOf is a whole frame of a command.
func frameOf(t *testing.T, c *protocol.Command) []byte {
	t.Helper()
	frame, err := protocol.AppendFrame(nil, c, protocol.SerializeJSON)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// routeOf answers 105 for a topic on brokers of the given names, which listen at
// their own name, with n queues each.
func routeOf(n int32, brokers ...string) protocol.TopicRouteData {
	var d protocol.TopicRouteData
	for _, b := range brokers {
		d.BrokerDatas = append(d.BrokerDatas, protocol.BrokerData{
			Cluster: "c", BrokerName: b, BrokerAddrs: map[int64]string{0: b + ":1"},
		})
		d.QueueDatas = append(d.QueueDatas, protocol.QueueData{
			BrokerName: b, ReadQueueNums: n, WriteQueueNums: n, Perm: protocol.PermRead | protocol.PermWrite,
		})
	}
	return d
}

// namesrv is a scripted name server.
type namesrv struct {
	mu     sync.Mutex
	routes map[string]protocol.TopicRouteData
	asked  int
	last   protocol.Command
}

func (n *namesrv) set(topic string, d protocol.TopicRouteData) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.routes == nil {
		n.routes = map[string]protocol.TopicRouteData{}
	}
	n.routes[topic] = d
}

func (n *namesrv) remove(topic string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.routes, topic)
}

func (n *namesrv) questions() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked
}

func (n *namesrv) HandleRequest(c *remoting.Conn, req protocol.Command) {
	if req.Code != int32(protocol.GetRouteInfoByTopic) {
		c.Respond(&req, &protocol.Command{Code: int32(protocol.RequestCodeNotSupported)})
		return
	}
	var h protocol.TopicRequestHeader
	if err := protocol.DecodeFields(req.ExtFields, &h); err != nil {
		panic(err)
	}
	n.mu.Lock()
	n.asked++
	n.last = req
	d, ok := n.routes[h.Topic]
	n.mu.Unlock()
	if !ok {
		c.Respond(&req, &protocol.Command{Code: int32(protocol.TopicNotExist), Remark: fmt.Sprintf("No topic route info in name server for the topic: %s", h.Topic)})
		return
	}
	c.Respond(&req, &protocol.Command{Body: protocol.EncodeTopicRouteData(&d, true)})
}
