package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// proxy is a member's way to the cluster: a door to the name server and one to
// the broker, whose address it puts into the name server's answers in place of
// the true one. So what happens to it happens to one member, and every version
// of RocketMQ can be put behind it.
type proxy struct {
	namesrv, broker *door
}

func newProxy(namesrv, broker string, brokerAway bool) (*proxy, error) {
	p := &proxy{}
	var err error
	if p.broker, err = openDoor(broker, len(broker), nil); err != nil {
		return nil, err
	}
	rewrite := func(frame []byte) { swap(frame, []byte(broker), []byte(p.broker.addr)) }
	if p.namesrv, err = openDoor(namesrv, 0, rewrite); err != nil {
		p.broker.close()
		return nil, err
	}
	if brokerAway {
		p.broker.shut(away)
	}
	return p, nil
}

// swap puts one text in place of another of the same length.
func swap(b, from, to []byte) {
	for {
		i := bytes.Index(b, from)
		if i < 0 {
			return
		}
		copy(b[i:], to)
		b = b[i+len(from):]
	}
}

// cut resets the connections and refuses new ones until mend.
func (p *proxy) cut()        { p.namesrv.shut(cut); p.broker.shut(cut) }
func (p *proxy) mend() error { return errors.Join(p.namesrv.open(cut), p.broker.open(cut)) }

// stall lets nothing through until flow.
func (p *proxy) stall() { p.namesrv.gate.close(); p.broker.gate.close() }
func (p *proxy) flow()  { p.namesrv.gate.open(); p.broker.gate.open() }

// close ends it and waits for its goroutines.
func (p *proxy) close() { p.namesrv.close(); p.broker.close() }

// why a door is shut. It opens when no reason is left.
type why uint8

const (
	cut  why = 1 << iota // the member is cut off
	away                 // there is nobody behind it
)

// door passes connections on to one address.
type door struct {
	addr, target string
	rewrite      func(frame []byte) // of what comes back; nil passes bytes on as they are
	gate         gate
	ended        chan struct{} // closed by close
	wg           sync.WaitGroup

	mu       sync.Mutex   // guards the rest
	listener net.Listener // nil while shut
	reasons  why
	conns    map[net.Conn]bool
}

// Doors are outside the range that systems take the ports of outgoing
// connections from: one that is shut has to find its port free later.
const lowestPort, highestPort = 20000, 32000

// openDoor listens on a free port; width, if not 0, is how long the address must be.
func openDoor(target string, width int, rewrite func([]byte)) (*door, error) {
	d := &door{target: target, rewrite: rewrite, ended: make(chan struct{}), conns: map[net.Conn]bool{}}
	var err error
	for range 100 {
		d.addr = "127.0.0.1:" + strconv.Itoa(lowestPort+rand.IntN(highestPort-lowestPort))
		if width != 0 && len(d.addr) != width {
			return nil, fmt.Errorf("the broker's address %s must be as long as %s", target, d.addr)
		}
		if err = d.open(0); err == nil {
			return d, nil
		}
	}
	return nil, fmt.Errorf("no port for a proxy: %w", err)
}

// open takes a reason to be shut away.
func (d *door) open(reason why) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reasons &^= reason; d.reasons != 0 || d.listener != nil {
		return nil
	}
	l, err := net.Listen("tcp4", d.addr)
	if err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	d.listener = l
	d.wg.Go(func() { d.accept(l) })
	return nil
}

// shut resets all connections and accepts no more.
func (d *door) shut(reason why) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reasons |= reason
	if d.listener != nil {
		d.listener.Close()
		d.listener = nil
	}
	for c := range d.conns { // all of them first: the end of one makes pass close the other
		c.(*net.TCPConn).SetLinger(0)
	}
	for c := range d.conns {
		c.Close()
	}
}

func (d *door) close() {
	close(d.ended)
	d.shut(away)
	d.wg.Wait()
}

// keep notes a connection for shut; false when the door has been shut meanwhile.
func (d *door) keep(l net.Listener, c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != l {
		return false
	}
	d.conns[c] = true
	return true
}

func (d *door) drop(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c)
	c.Close()
}

func (d *door) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // shut
		}
		d.wg.Go(func() { d.pass(l, c) })
	}
}

// dialLimit is for connections within this machine.
const dialLimit = 3 * time.Second

// pass carries one connection until either end closes it.
func (d *door) pass(l net.Listener, c net.Conn) {
	defer c.Close()
	if !d.keep(l, c) {
		return
	}
	defer d.drop(c)
	first, ok := d.knock(c)
	if !ok {
		return
	}
	t, err := net.DialTimeout("tcp4", d.target, dialLimit)
	if err != nil || !d.keep(l, t) {
		return
	}
	defer d.drop(t)
	if _, err := t.Write(first); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		defer c.Close()
		defer t.Close()
		if d.rewrite != nil {
			d.carryFrames(c, t)
			return
		}
		d.carry(c, t)
	})
	d.carry(t, c)
	c.Close()
	t.Close()
	back.Wait()
}

// knock waits for the gate, and gives what has come meanwhile. A connection that its
// member has given up by then never was one: a network that carries nothing makes none,
// so the broker must not hear what was said on it. One that was made during a stall
// may be accepted behind it, so each is looked at.
func (d *door) knock(c net.Conn) (first []byte, ok bool) {
	if !d.gate.wait(d.ended) {
		return nil, false
	}
	buf := make([]byte, 64<<10)
	for len(first) < maxFrame {
		n, err := readNow(c.(*net.TCPConn), buf)
		if err != nil {
			return nil, false
		}
		if n == 0 {
			return first, true
		}
		first = append(first, buf[:n]...)
	}
	return nil, false
}

func (d *door) carry(to io.Writer, from io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !d.gate.wait(d.ended) {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// maxFrame bounds a name server's answer.
const maxFrame = 16 << 20

// carryFrames carries whole frames, each of which rewrite may change in place.
func (d *door) carryFrames(to io.Writer, from io.Reader) {
	for {
		frame := make([]byte, 4)
		if _, err := io.ReadFull(from, frame); err != nil {
			return
		}
		n := binary.BigEndian.Uint32(frame)
		if n > maxFrame {
			return
		}
		frame = append(frame, make([]byte, n)...)
		if _, err := io.ReadFull(from, frame[4:]); err != nil {
			return
		}
		d.rewrite(frame[4:])
		if !d.gate.wait(d.ended) {
			return
		}
		if _, err := to.Write(frame); err != nil {
			return
		}
	}
}

// gate holds up those who wait for it while it is closed. The zero value is open.
type gate struct {
	mu     sync.Mutex    // guards closed
	closed chan struct{} // nil when open; closed by open
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed == nil {
		g.closed = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		close(g.closed)
		g.closed = nil
	}
}

// wait returns true when the gate is open, false when ended was closed first.
func (g *gate) wait(ended <-chan struct{}) bool {
	g.mu.Lock()
	closed := g.closed
	g.mu.Unlock()
	if closed == nil {
		return true
	}
	select {
	case <-closed:
		return true
	case <-ended:
		return false
	}
}
