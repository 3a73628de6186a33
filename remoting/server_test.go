package remoting_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

func TestServerEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := &memoryListener{addr: "s:1", conns: make(chan net.Conn), closed: make(chan struct{})}
		ended := make(chan error, 2)
		s := remoting.Server{
			Handler: handlerFunc(echo),
			OnClose: func(_ *remoting.Conn, cause error) { ended <- cause },
		}
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		go func() { served <- s.Serve(ctx, ln) }()
		var conns []*remoting.Conn
		for range 2 {
			client, server := net.Pipe()
			ln.conns <- server
			conns = append(conns, remoting.NewConn(client, remoting.ConnOptions{}))
		}
		for _, c := range conns {
			if _, err := c.Invoke(t.Context(), request("x")); err != nil {
				t.Fatal(err)
			}
		}
		conns[0].Close(nil)
		if cause := <-ended; !errors.Is(cause, io.EOF) {
			t.Errorf("OnClose got %v, want EOF", cause)
		}
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v, want nil after its context ended", err)
		}
		if len(ended) != 1 {
			t.Error("Serve returned before OnClose had been called")
		}
		<-conns[1].Done()
	})
}

// An answer that was given before the end is written.
func TestServerFlushesAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemoryNet()
		var stop func()
		stop = n.Serve(t, "s:1", handlerFunc(func(c *remoting.Conn, req protocol.Command) {
			echo(c, req)
			go stop()
		}))
		c := n.newClient(t, remoting.Options{})
		if _, err := c.Invoke(t.Context(), "s:1", request("x")); err != nil {
			t.Errorf("Invoke = %v", err)
		}
		synctest.Wait()
	})
}

type failingListener struct {
	memoryListener
	err error
}

func (l *failingListener) Accept() (net.Conn, error) { return nil, l.err }

func TestServerReturnsAcceptError(t *testing.T) {
	want := errors.New("out of order")
	ln := &failingListener{memoryListener{addr: "s:1", closed: make(chan struct{})}, want}
	if err := (&remoting.Server{}).Serve(t.Context(), ln); !errors.Is(err, want) {
		t.Errorf("Serve = %v, want %v", err, want)
	}
}

func TestServerOnTCP(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- (&remoting.Server{Handler: handlerFunc(echo)}).Serve(ctx, ln) }()
	addr := ln.Addr().String()
	c, err := remoting.NewClient(remoting.Options{Namesrv: []string{addr}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got, err := c.Invoke(ctx, addr, request("x")); err != nil || string(got.Body) != "x" {
		t.Errorf("Invoke = %q, %v", got.Body, err)
	}
	conn, err := c.Conn(ctx, addr)
	if err != nil {
		t.Fatal(err)
	}
	if conn.RemoteAddr() != addr || conn.LocalAddr() == addr {
		t.Errorf("addresses %s → %s, want → %s", conn.LocalAddr(), conn.RemoteAddr(), addr)
	}
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
	<-conn.Done()
	if _, err := c.Invoke(t.Context(), addr, request("x")); err == nil {
		t.Error("the listener still accepts")
	}
}
