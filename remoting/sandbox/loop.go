package sandbox

import (
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// loop is the state of the sandbox; one goroutine, in run, owns all of it.
type loop struct {
	options Options // with the defaults filled in
	four    bool    // imitate 4.9
	begun   time.Time
	now     time.Time // of what is being handled
	alarms  *alarms
	network *network
	namesrv *namesrv
	brokers []*broker // the masters, then their slaves
	moved   int       // addresses given out by MoveBroker
	peers   map[*remoting.Conn]*peer
	fault   func(Request) Fault

	uniqueIDs *remoting.UniqueIDs

	inbox chan arrival
	calls chan func(*loop)
	// spawn starts a goroutine that Close waits for; its context ends with the
	// sandbox or by the function returned.
	spawn func(func(context.Context)) context.CancelCauseFunc
	ended <-chan struct{} // closed when the sandbox ends
}

func newLoop(o Options, n *network) *loop {
	now := time.Now()
	l := &loop{
		options: o, four: o.Line == "4", now: now, begun: now, alarms: newAlarms(), network: n,
		peers: map[*remoting.Conn]*peer{}, uniqueIDs: remoting.NewUniqueIDs(),
		inbox: make(chan arrival, 64), calls: make(chan func(*loop)),
	}
	l.namesrv = &namesrv{loop: l, memory: net.JoinHostPort(namesrvHost, strconv.Itoa(namesrvPort)), hidden: map[string]time.Time{}}
	for i, name := range o.Brokers {
		l.brokers = append(l.brokers, newBroker(l, name, brokerAddr(brokerHost0+i)))
	}
	for _, b := range l.brokers[:len(o.Brokers)] {
		if o.Slaves {
			l.brokers = append(l.brokers, newSlave(b, brokerAddr(brokerHost0+len(l.brokers))))
		}
	}
	return l
}

// arrival is a request, or the end of a connection.
type arrival struct {
	endpoint *endpoint
	conn     *remoting.Conn
	command  protocol.Command
	closed   bool
}

// run owns every field of l until ctx ends.
func (l *loop) run(ctx context.Context) {
	defer l.alarms.timer.Stop()
	for {
		select {
		case a := <-l.inbox:
			l.now = time.Now()
			l.admit(a)
		case f := <-l.calls:
			l.now = time.Now()
			f(l)
		case <-l.alarms.timer.C:
			l.now = time.Now()
			l.alarms.ring(l.now)
		case <-ctx.Done():
			return
		}
		for _, b := range l.brokers {
			b.releaseArrived()
		}
	}
}

// admit passes a request through the fault hook to its handler.
func (l *loop) admit(a arrival) {
	p := l.peers[a.conn]
	switch {
	case a.closed:
		if p != nil {
			l.forget(p)
		}
		return
	case a.endpoint.down || p != nil && p.mute:
		return // read before its broker was stopped, or lost on the way to one that vanished
	case p == nil:
		p = l.newPeer(a.endpoint, a.conn)
	}
	p.language, p.version = a.command.Language, a.command.Version
	c := &call{peer: p, command: a.command}
	if l.fault == nil || l.strike(c, a.endpoint) {
		l.dispatch(c)
	}
}

// dispatch has a request handled and answers it, unless the handler will.
func (l *loop) dispatch(c *call) {
	var a answer
	if c.peer.broker == nil {
		a = l.namesrv.handle(c)
	} else if refused, ok := l.authenticate(&c.command); !ok {
		a = refused
	} else {
		a = c.peer.broker.handle(c)
	}
	if !a.later {
		l.reply(c, a)
	}
}

// forget drops what a connection that has ended left behind.
func (l *loop) forget(p *peer) {
	delete(l.peers, p.conn)
	for h := range p.holds {
		h.queue.holds = slices.DeleteFunc(h.queue.holds, func(other *hold) bool { return other == h })
	}
	if p.broker != nil {
		p.broker.disconnected(p)
	}
}

// call is one request on its way.
type call struct {
	peer    *peer
	command protocol.Command
	delay   time.Duration // of the answer
	lose    bool          // the answer
	held    bool          // it has been in a queue's holds
}

// answer is what a handler says.
type answer struct {
	code   protocol.ResponseCode
	remark string
	fields protocol.ExtFields
	body   []byte
	parts  [][]byte          // a body in pieces
	later  bool              // the handler keeps the call and answers it itself
	as     *protocol.Command // the answer of a member, passed on as it is
}

var later = answer{later: true}

// refuse is an answer without success.
func refuse(code protocol.ResponseCode, remark string) answer {
	return answer{code: code, remark: remark}
}

// reply sends an answer, at once or after the delay that a fault wants.
func (l *loop) reply(c *call, a answer) {
	if c.lose || c.command.IsOneway() {
		return
	}
	if c.delay > 0 {
		delay := c.delay
		c.delay = 0
		l.alarms.at(l.now.Add(delay), func() { l.reply(c, a) })
		return
	}
	o := outgoing{
		request: &protocol.Command{Code: c.command.Code, Opaque: c.command.Opaque, Serialize: c.command.Serialize},
		command: protocol.Command{
			Code: int32(a.code), Remark: a.remark, ExtFields: a.fields, Body: a.body,
			Language: protocol.LanguageJava, Version: l.version(),
		},
		parts: a.parts,
	}
	if a.as != nil {
		o.command = *a.as
	}
	if !l.four {
		o.request.Serialize = protocol.SerializeJSON // 5.3 answers in JSON whatever it was asked in
	}
	c.peer.push(o)
}

// version is the number that the imitated broker sends in its frames.
func (l *loop) version() int32 {
	if l.four {
		return 407 // V4_9_7
	}
	return 479 // V5_3_3
}

// invalid is the code for an argument that a broker refuses.
func (l *loop) invalid() protocol.ResponseCode {
	if l.four {
		return protocol.SystemError
	}
	return protocol.InvalidParameter
}

// broker finds a master by name; "" is the first.
func (l *loop) broker(name string) *broker {
	for _, b := range l.brokers {
		if name == "" || b.name == name {
			return b
		}
	}
	return nil
}
