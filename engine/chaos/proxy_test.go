package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds waits for what takes a moment on a quiet machine.
const patience = time.Minute

// echoServer answers lines with themselves and counts its connections.
func echoServer(t *testing.T) (addr string, accepted chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	accepted = make(chan net.Conn, 16)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- c
			go io.Copy(c, c)
		}
	}()
	return l.Addr().String(), accepted
}

func dial(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.DialTimeout("tcp4", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

func say(t *testing.T, c net.Conn, r *bufio.Reader, line string) {
	t.Helper()
	if _, err := io.WriteString(c, line); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(patience))
	if got, err := r.ReadString('\n'); err != nil || got != line {
		t.Fatalf("answer to %q is %q, %v", line, got, err)
	}
}

func testProxy(t *testing.T, namesrv, broker string) *proxy {
	t.Helper()
	p, err := newProxy(namesrv, broker, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProxyCutResetsAndRefuses(t *testing.T) {
	addr, accepted := echoServer(t)
	p := testProxy(t, addr, addr)
	defer p.close()
	c, r := dial(t, p.broker.addr)
	say(t, c, r, "one\n")
	far := <-accepted
	p.cut()
	if _, err := r.ReadByte(); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the cut connection ends with %v, want a reset", err)
	}
	far.SetReadDeadline(time.Now().Add(patience))
	if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the broker's end has %v, want it closed too", err)
	}
	if _, err := net.DialTimeout("tcp4", p.broker.addr, patience); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a new connection: %v, want it refused", err)
	}
	if err := p.mend(); err != nil {
		t.Fatal(err)
	}
	c, r = dial(t, p.broker.addr)
	say(t, c, r, "two\n")
}

func TestProxyStallHoldsBytesBack(t *testing.T) {
	addr, _ := echoServer(t)
	p := testProxy(t, addr, addr)
	defer p.close()
	c, r := dial(t, p.broker.addr)
	say(t, c, r, "one\n")
	p.stall()
	if _, err := io.WriteString(c, "two\n"); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if b, err := r.ReadByte(); err == nil {
		t.Fatalf("%q came through a stalled connection", b)
	}
	p.flow()
	c.SetReadDeadline(time.Now().Add(patience))
	if got, err := r.ReadString('\n'); got != "two\n" {
		t.Errorf("after the stall came %q, %v, want what was sent during it", got, err)
	}
}

// A connection that was made and given up during a stall has never been one.
func TestProxyStallMakesNoConnections(t *testing.T) {
	addr, accepted := echoServer(t)
	p := testProxy(t, addr, addr)
	p.stall()
	gone, _ := dial(t, p.broker.addr)
	io.WriteString(gone, "gone\n")
	gone.Close()
	c, r := dial(t, p.broker.addr)
	if _, err := io.WriteString(c, "here\n"); err != nil {
		t.Fatal(err)
	}
	p.flow()
	c.SetReadDeadline(time.Now().Add(patience))
	if got, err := r.ReadString('\n'); got != "here\n" {
		t.Fatalf("after the stall came %q, %v, want what was sent during it", got, err)
	}
	p.close()
	if n := len(accepted); n != 1 {
		t.Errorf("%d connections reached the broker, want the one that was still there", n)
	}
}

func TestProxyGivesItsOwnBrokerAddress(t *testing.T) {
	broker := "127.0.0.1:23456"
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	body := `{"brokerAddrs":{0:"` + broker + `"},"again":"` + broker + `"}`
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
		frame = append(frame, body...)
		c.Write(frame[:20]) // a frame may come in pieces
		c.Write(frame[20:])
		c.Write(frame)
		io.Copy(io.Discard, c)
	}()
	p := testProxy(t, l.Addr().String(), broker)
	defer p.close()
	c, r := dial(t, p.namesrv.addr)
	c.SetReadDeadline(time.Now().Add(patience))
	for range 2 {
		frame := make([]byte, 4+len(body))
		if _, err := io.ReadFull(r, frame); err != nil {
			t.Fatal(err)
		}
		if got, want := string(frame[4:]), strings.ReplaceAll(body, broker, p.broker.addr); got != want {
			t.Errorf("answer = %s, want %s", got, want)
		}
	}
}

func TestProxyCloseEndsWhatIsStalled(t *testing.T) {
	addr, _ := echoServer(t)
	p := testProxy(t, addr, addr)
	c, r := dial(t, p.broker.addr)
	say(t, c, r, "one\n")
	p.stall()
	io.WriteString(c, "two\n")
	p.close() // hangs when a goroutine is left behind the gate
}

func TestProxyStaysShutWhileTheBrokerIsAway(t *testing.T) {
	addr, _ := echoServer(t)
	p, err := newProxy(addr, addr, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.close)
	p.cut()
	if err := p.mend(); err != nil {
		t.Fatal(err)
	}
	if _, err := net.DialTimeout("tcp4", p.broker.addr, patience); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the way to the broker: %v, want it refused", err)
	}
	dial(t, p.namesrv.addr)
	if err := p.broker.open(away); err != nil {
		t.Fatal(err)
	}
	c, r := dial(t, p.broker.addr)
	say(t, c, r, "two\n")
}
