package sandbox

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Options configure a Sandbox; the zero value is usable.
type Options struct {
	// Line is the broker line to imitate where they differ: "5" (default) or "4".
	Line string
	// Topics to make at start: name → number of queues.
	Topics map[string]int32
	// Brokers are the broker names; nil is {"broker-a"}. Each has the same topics.
	Brokers []string
	// Slaves gives each broker a slave with the id 1.
	Slaves bool
	// SlaveReadBehind is from how many bytes behind the end of the log on pulls are
	// sent to the slave; zero is never. (Brokers count in parts of their memory:
	// accessMessageInMemoryMaxRatio.)
	SlaveReadBehind int64
	// MaxBytes bounds the stored messages; zero is 256 MiB.
	MaxBytes int64
	// AutoCreateTopics makes an unknown topic at the first send, as TBW102 does.
	AutoCreateTopics bool
	// Users are secret keys by access key: brokers then want every request signed by
	// one of them. Nil: nothing is checked.
	Users map[string]string
	// TLS has every address speak TLS to clients that begin so; others are served
	// without, or with TLSOnly not at all, as tls.server.mode=enforcing does. Nil:
	// TLS is not understood.
	TLS     *tls.Config
	TLSOnly bool
	// AnnounceHost is announced in the place of the host on which brokers listen on TCP
	// (brokerIP1), an IP address; "" is that host.
	AnnounceHost string
	// Permission is what brokers let clients do (brokerPermission); zero is
	// protocol.PermRead|protocol.PermWrite.
	Permission int32
	// DelayLevels are the brokers' delay levels (messageDelayLevel); "" is
	// protocol.StandardDelayLevels.
	DelayLevels string
	// MaxPullMessages and MaxPullBytes bound one pull answer; zero is 32 and 256 KiB.
	MaxPullMessages int
	MaxPullBytes    int
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() (Options, error) {
	if o.Line == "" {
		o.Line = "5"
	}
	if o.Line != "4" && o.Line != "5" {
		return o, fmt.Errorf("sandbox line %q is neither 4 nor 5", o.Line)
	}
	if h := o.AnnounceHost; h != "" {
		if _, err := netip.ParseAddr(h); err != nil {
			return o, fmt.Errorf("sandbox announces the host %q, which is no IP address", h)
		}
	}
	if len(o.Brokers) == 0 {
		o.Brokers = []string{"broker-a"}
	}
	if len(o.Brokers) > maxBrokers {
		return o, fmt.Errorf("%d brokers in the sandbox, at most %d", len(o.Brokers), maxBrokers)
	}
	for i, name := range o.Brokers {
		if name == "" || slices.Contains(o.Brokers[:i], name) {
			return o, fmt.Errorf("broker name %q is empty or there twice", name)
		}
	}
	for name, n := range o.Topics {
		if n < 1 || n > maxQueues {
			return o, fmt.Errorf("topic %s with %d queues, want 1 to %d", name, n, maxQueues)
		}
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 256 << 20
	}
	if o.Permission == 0 {
		o.Permission = protocol.PermRead | protocol.PermWrite
	}
	if o.DelayLevels == "" {
		o.DelayLevels = protocol.StandardDelayLevels
	}
	if protocol.ParseDelayLevels(o.DelayLevels) == nil {
		return o, fmt.Errorf("delay levels %q, want such as %q", o.DelayLevels, protocol.StandardDelayLevels)
	}
	if o.MaxPullMessages <= 0 {
		o.MaxPullMessages = 32
	}
	if o.MaxPullBytes <= 0 {
		o.MaxPullBytes = 256 << 10
	}
	return o, nil
}

const (
	maxBrokers = 100
	maxQueues  = 10000
)

// Sandbox is a running name server and one or more brokers. Its methods may be
// called from any goroutine; after its end they do nothing and return zero
// values.
type Sandbox struct {
	calls   chan<- func(*loop)
	cancel  context.CancelCauseFunc
	ended   <-chan struct{}
	network *network
	wg      sync.WaitGroup
}

// ErrClosed is the cause with which a closed sandbox ends its connections.
var ErrClosed = errors.New("sandbox closed")

// Start runs a sandbox on the in-memory network until ctx ends or Close is
// called. It may also be served on TCP: ListenTCP.
func Start(ctx context.Context, o Options) (*Sandbox, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	s := &Sandbox{cancel: cancel, ended: ctx.Done(), network: &network{}}
	l := newLoop(o, s.network)
	l.ended, s.calls = ctx.Done(), l.calls
	l.spawn = func(f func(context.Context)) context.CancelCauseFunc {
		ctx, cancel := context.WithCancelCause(ctx)
		s.wg.Go(func() {
			defer cancel(nil)
			f(ctx)
		})
		return cancel
	}
	l.begin()
	s.wg.Go(func() { l.run(ctx) })
	return s, nil
}

// ListenTCP serves the name server and the first broker on these addresses too
// (port 0 chooses one; further brokers listen on chosen ports of the same host),
// and announces the TCP addresses in routes from then on. It returns the
// addresses in use.
func (s *Sandbox) ListenTCP(namesrv, broker string) (namesrvAddr, brokerAddr string, err error) {
	err = ErrClosed
	s.do(func(l *loop) { namesrvAddr, brokerAddr, err = l.listenTCP(namesrv, broker) })
	return namesrvAddr, brokerAddr, err
}

// Close ends every connection and goroutine and waits for them.
func (s *Sandbox) Close() {
	s.cancel(ErrClosed)
	s.wg.Wait()
}

// NamesrvAddr is the address to give a client: an in-memory one, or TCP after ListenTCP.
func (s *Sandbox) NamesrvAddr() string {
	var addr string
	s.do(func(l *loop) { addr = l.namesrv.addr() })
	return addr
}

// Dial opens an in-memory connection; it is remoting.Options.Dial for a client
// of this sandbox. It also knows the addresses given out by ListenTCP.
func (s *Sandbox) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	return s.network.dial(ctx, addr)
}

// do runs f on the loop's goroutine and waits for it. After the end it does nothing.
func (s *Sandbox) do(f func(*loop)) {
	done := make(chan struct{})
	select {
	case s.calls <- func(l *loop) { defer close(done); f(l) }:
		<-done
	case <-s.ended:
	}
}

// CreateTopic makes a topic with n queues on every broker, or grows it.
func (s *Sandbox) CreateTopic(topic string, n int32) {
	s.do(func(l *loop) {
		for _, b := range l.brokers {
			t := b.topic(topic)
			if t == nil {
				b.makeTopic(topic, n, permReadWrite)
				continue
			}
			t.resize(max(t.read, n), max(t.write, n))
		}
	})
}

// Message is one message to be put without a connection.
type Message struct {
	Topic      string
	Broker     string // "" is the first
	QueueID    int32  // -1: the queues by turns
	Body       []byte
	Properties []protocol.Property
}

// Put stores messages as a producer's send would and returns the offset of the
// last one in its queue; -1 when that was refused. A refused message (no such
// topic, broker or queue, too large) is left out.
func (s *Sandbox) Put(messages ...Message) int64 {
	queueOffset := int64(-1)
	s.do(func(l *loop) {
		for i := range messages {
			queueOffset = l.put(&messages[i])
		}
	})
	return queueOffset
}

func (l *loop) put(m *Message) int64 {
	b := l.broker(m.Broker)
	if b == nil {
		return -1
	}
	t, refused := b.sendTopic(m.Topic, defaultTopicName, defaultTopicQueues)
	if t == nil || refused.code != protocol.Success {
		return -1
	}
	queueID, ok := t.writable(m.QueueID)
	if !ok {
		return -1
	}
	stored, err := b.storeSent(&protocol.Record{
		Topic: t.name, QueueID: queueID, Body: m.Body, Properties: m.Properties, Born: l.now, BornHost: b.host,
	})
	if err != nil {
		return -1
	}
	return stored.queueOffset
}

// Offsets tells what the broker holds for a group and queue.
func (s *Sandbox) Offsets(group string, mq protocol.MessageQueue) (committed int64, found bool, min, max int64) {
	s.do(func(l *loop) {
		b := l.broker(mq.BrokerName)
		if b == nil {
			return
		}
		if g := b.groups[group]; g != nil {
			committed, found = g.offset(mq.Topic, mq.QueueID)
		}
		min, max = b.bounds(mq.Topic, mq.QueueID)
	})
	return committed, found, min, max
}

// LoseOffsets has a broker forget a group's committed offsets, as a kill does with
// those that were not written to its disk.
func (s *Sandbox) LoseOffsets(broker, group string) {
	s.do(func(l *loop) {
		if b := l.broker(broker); b != nil && b.groups[group] != nil {
			clear(b.groups[group].offsets)
		}
	})
}

// Members lists the client ids of a group, sorted.
func (s *Sandbox) Members(group string) []string {
	var ids []string
	s.do(func(l *loop) {
		for _, b := range l.brokers {
			if g := b.groups[group]; g != nil {
				ids = append(ids, g.clientIDs()...)
			}
		}
	})
	slices.Sort(ids)
	return slices.Compact(ids)
}

// LockOwner tells who holds a queue's lock; "" when nobody does.
func (s *Sandbox) LockOwner(group string, mq protocol.MessageQueue) string {
	var owner string
	s.do(func(l *loop) {
		if b := l.broker(mq.BrokerName); b != nil && b.groups[group] != nil {
			owner = b.groups[group].lockOwner(mq, l.now)
		}
	})
	return owner
}

// Truncate drops a queue's messages below min, as expiry does.
func (s *Sandbox) Truncate(mq protocol.MessageQueue, min int64) {
	s.do(func(l *loop) {
		if b := l.broker(mq.BrokerName); b != nil {
			b.truncate(mq.Topic, mq.QueueID, min)
		}
	})
}

// SetFault installs the hook that every request passes; nil removes it. The hook
// runs on the sandbox's goroutine and must not call the Sandbox.
func (s *Sandbox) SetFault(hook func(Request) Fault) {
	s.do(func(l *loop) { l.fault = hook })
}

// StopBroker closes a broker's connections and refuses new ones until
// StartBroker; its messages and offsets stay, members and locks do not, as
// after a kill and restart. The name server drops it from the routes.
func (s *Sandbox) StopBroker(name string) { s.stop(func(l *loop) *broker { return l.broker(name) }) }

func (s *Sandbox) stop(which func(*loop) *broker) {
	var stopped []*endpoint
	s.do(func(l *loop) {
		if b := which(l); b != nil {
			stopped = b.stop()
		}
	})
	for _, e := range stopped {
		<-e.closed
	}
}

// StartBroker lets a stopped broker serve again.
func (s *Sandbox) StartBroker(name string) {
	s.do(func(l *loop) {
		if b := l.broker(name); b != nil {
			b.start()
		}
	})
}

// NotifyReset sends request 220 to the members of a group, as a 4.9 broker does:
// each broker sends the offsets of its own queues.
func (s *Sandbox) NotifyReset(group, topic string, offsets protocol.OffsetTable) {
	s.do(func(l *loop) {
		for _, b := range l.brokers {
			if b.master == nil {
				b.notifyReset(group, topic, offsets)
			}
		}
	})
}

// Relay sends a request (221, 307, 309) to a member and waits for its answer.
func (s *Sandbox) Relay(ctx context.Context, group, clientID string, req *protocol.Command) (protocol.Command, error) {
	var conn *remoting.Conn
	s.do(func(l *loop) {
		for _, b := range l.brokers {
			if m := b.member(group, clientID); m != nil {
				conn = m.peer.conn
				return
			}
		}
	})
	if conn == nil {
		return protocol.Command{}, fmt.Errorf("no member %s in group %s", clientID, group)
	}
	return conn.Invoke(ctx, req)
}
