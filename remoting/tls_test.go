package remoting_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// secureSandbox serves TLS on real sockets: on a pipe, which holds nothing, two ends
// that both have something to say wait for each other.
func secureSandbox(t *testing.T, server *tls.Config, only bool) *sandbox.Sandbox {
	t.Helper()
	sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1), sandboxtest.With(func(o *sandbox.Options) { o.TLS, o.TLSOnly = server, only }))
	if _, _, err := sb.ListenTCP("127.0.0.1:0", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	return sb
}

func secureClient(t *testing.T, sb *sandbox.Sandbox, config *tls.Config) *remoting.Client {
	t.Helper()
	c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, TLS: config, CallTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// sandboxHosts are what the certificates of these sandboxes are for.
var sandboxHosts = []string{"127.0.0.1", "ns.example"}

func TestTLS(t *testing.T) {
	ours, other := sandboxtest.NewAuthority(t, "Our CA"), sandboxtest.NewAuthority(t, "Other CA")
	hour := time.Now().Add(time.Hour)
	good := &tls.Config{Certificates: []tls.Certificate{ours.Issue(t, hour, sandboxHosts...)}}
	mutual := &tls.Config{Certificates: good.Certificates, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.Pool}
	mutual12 := mutual.Clone() // which has no words for a certificate that is missing
	mutual12.MaxVersion = tls.VersionTLS12
	trust := func(a *sandboxtest.Authority) *tls.Config { return &tls.Config{RootCAs: a.Pool} }
	tests := map[string]struct {
		server *tls.Config
		only   bool
		client *tls.Config
		fault  remoting.TLSFault
		says   string // "": it works
	}{
		"right CA":              {server: good, client: trust(ours)},
		"right CA, TLS only":    {server: good, only: true, client: trust(ours)},
		"no TLS where allowed":  {server: good},
		"another name given":    {server: good, client: &tls.Config{RootCAs: ours.Pool, ServerName: "ns.example"}},
		"wrong CA":              {server: good, client: trust(other), fault: remoting.TLSUnknownCA, says: "signed by nobody we trust (CN=Our CA)"},
		"wrong name":            {server: good, client: &tls.Config{RootCAs: ours.Pool, ServerName: "mq.example"}, fault: remoting.TLSWrongName, says: "is for ns.example, 127.0.0.1, not for mq.example"},
		"no name":               {server: &tls.Config{Certificates: []tls.Certificate{ours.Issue(t, hour)}}, client: trust(ours), fault: remoting.TLSNoName, says: "names no server"},
		"expired":               {server: &tls.Config{Certificates: []tls.Certificate{ours.Issue(t, time.Now().Add(-time.Minute), sandboxHosts...)}}, client: trust(ours), fault: remoting.TLSExpired, says: "expired at 20"},
		"wrong CA, not checked": {server: good, client: &tls.Config{InsecureSkipVerify: true}},
		"plain server":          {client: trust(ours), fault: remoting.TLSNotSpoken, says: "does not speak TLS there"},
		"plain client":          {server: good, only: true, fault: remoting.TLSOnly, says: "speaks TLS only"},
		"client certificate":    {server: mutual, client: &tls.Config{RootCAs: ours.Pool, Certificates: []tls.Certificate{ours.Issue(t, hour)}}},
		"no client certificate": {server: mutual, client: trust(ours), fault: remoting.TLSWantsCert, says: "wants a certificate of ours"},
		"none, with TLS 1.2":    {server: mutual12, client: trust(ours), fault: remoting.TLSWantsCert, says: "wants a certificate of ours"},
		"its CA is not known":   {server: mutual, client: &tls.Config{RootCAs: ours.Pool, Certificates: []tls.Certificate{other.Issue(t, hour)}}, fault: remoting.TLSWantsCert, says: "wants a certificate of ours"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := secureClient(t, secureSandbox(t, tt.server, tt.only), tt.client)
			route, err := c.Route(t.Context(), "t")
			if tt.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				if _, err := c.MaxOffset(t.Context(), route.Queues[0]); err != nil {
					t.Errorf("the broker: %v", err)
				}
				return
			}
			te, ok := errors.AsType[*remoting.TLSError](err)
			if !ok || te.Fault != tt.fault || !strings.Contains(te.Error(), tt.says) {
				t.Fatalf("error %v, want fault %d and %q", err, tt.fault, tt.says)
			}
			if remoting.Retryable(err) {
				t.Errorf("%v counts as passing by itself", err)
			}
		})
	}
}

// TestTLSKeepsLargeFrames: frames span many TLS records in both directions.
func TestTLSKeepsLargeFrames(t *testing.T) {
	ca := sandboxtest.NewAuthority(t, "CA")
	sb := secureSandbox(t, &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, time.Now().Add(time.Hour), sandboxHosts...)}}, true)
	c := secureClient(t, sb, &tls.Config{RootCAs: ca.Pool})
	body := []byte(strings.Repeat("0123456789abcdef", 1<<16))
	mq := protocol.MessageQueue{Topic: "t", BrokerName: "broker-a"}
	if _, err := c.Send(t.Context(), "p", mq, &remoting.OutMessage{Body: body}); err != nil {
		t.Fatal(err)
	}
	addr, err := c.MasterOf(t.Context(), mq)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Pull(t.Context(), addr, &protocol.PullMessageRequestHeader{ConsumerGroup: "g", Topic: "t", MaxMsgNums: 1,
		SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG})
	if err != nil || !strings.Contains(string(r.Body), string(body)) {
		t.Errorf("pulled %d bytes, %v, want the body of %d", len(r.Body), err, len(body))
	}
}

// TestTLSDialLimit: a server that accepts and says nothing costs the dial's time, not more.
func TestTLSDialLimit(t *testing.T) {
	mute := func(ctx context.Context, _, _ string) (net.Conn, error) {
		near, far := net.Pipe()
		context.AfterFunc(t.Context(), func() { far.Close() })
		go func() { // reads and never answers
			buf := make([]byte, 1<<10)
			for {
				if _, err := far.Read(buf); err != nil {
					return
				}
			}
		}()
		return near, nil
	}
	c, err := remoting.NewClient(remoting.Options{Namesrv: []string{"a:1"}, Dial: mute, TLS: &tls.Config{}, DialTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Route(t.Context(), "t"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want a deadline", err)
	}
}

// TestTLSHandshakeCutOff: a server that goes down during a handshake is tried again, when
// it has spoken TLS before; one that never has is said not to speak it.
func TestTLSHandshakeCutOff(t *testing.T) {
	ca := sandboxtest.NewAuthority(t, "CA")
	sb := secureSandbox(t, &tls.Config{Certificates: []tls.Certificate{ca.Issue(t, time.Now().Add(time.Hour), sandboxHosts...)}}, true)
	var down atomic.Bool
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		if !down.Load() {
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}
		near, far := net.Pipe()
		go func() {
			far.Read(make([]byte, 1<<16)) // it takes the greeting, and is gone
			far.Close()
		}()
		return near, nil
	}
	client := func() *remoting.Client {
		c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, TLS: &tls.Config{RootCAs: ca.Pool}, Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	known, stranger := client(), client()
	addr := sb.NamesrvAddr()
	if _, err := known.Conn(t.Context(), addr); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	known.DropConn(addr, io.EOF)
	_, err := known.Conn(t.Context(), addr)
	if _, fault := errors.AsType[*remoting.TLSError](err); fault || !remoting.Retryable(err) || !strings.Contains(err.Error(), "handshake was cut off") {
		t.Errorf("error %v, want one that may pass", err)
	}
	_, err = stranger.Conn(t.Context(), addr)
	if te, ok := errors.AsType[*remoting.TLSError](err); !ok || te.Fault != remoting.TLSNotSpoken {
		t.Errorf("error %v, want it not to speak TLS", err)
	}
	down.Store(false)
	sandboxtest.Await(t, "the server to be tried again", func(ctx context.Context) bool {
		_, err := known.Conn(ctx, addr)
		return err == nil
	})
}

// TestTLSSwitchedOff: a server that has spoken TLS and cuts off each handshake since is
// not tried for ever as one that goes down: after some it is said to speak it no more,
// until it does.
func TestTLSSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := sandboxtest.NewAuthority(t, "CA")
		// On a pipe, which holds nothing, both ends of TLS 1.3 would speak at once.
		server := &tls.Config{MaxVersion: tls.VersionTLS12, Certificates: []tls.Certificate{ca.Issue(t, time.Now().Add(time.Hour), "a")}}
		const on, off, refusing = 0, 1, 2
		var mode atomic.Int32
		var begun atomic.Int32 // handshakes
		dial := func(context.Context, string, string) (net.Conn, error) {
			if mode.Load() == refusing {
				return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
			}
			begun.Add(1)
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				if mode.Load() == off {
					far.Read(make([]byte, 1<<16)) // it takes the greeting, and is gone
					return
				}
				io.Copy(io.Discard, tls.Server(far, server))
			}()
			return near, nil
		}
		c, err := remoting.NewClient(remoting.Options{Namesrv: []string{"a:1"}, TLS: &tls.Config{RootCAs: ca.Pool}, Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		connect := func() error {
			time.Sleep(6 * time.Second) // longer than any back-off
			_, err := c.Conn(t.Context(), "a:1")
			return err
		}
		if err := connect(); err != nil {
			t.Fatal(err)
		}
		mode.Store(off)
		c.DropConn("a:1", io.EOF)
		begun.Store(0)
		await := func(limit int32) error {
			for {
				err := connect()
				if !remoting.Retryable(err) || begun.Load() >= limit {
					return err
				}
			}
		}
		err = await(100)
		te, ok := errors.AsType[*remoting.TLSError](err)
		if !ok || te.Fault != remoting.TLSNoMore || !strings.Contains(err.Error(), "has answered with TLS before and does not now: the last 10 handshakes were cut off") || begun.Load() != 10 {
			t.Fatalf("after %d handshakes: %v", begun.Load(), err)
		}
		if err := connect(); remoting.Retryable(err) {
			t.Errorf("one more: %v, want the same", err)
		}
		mode.Store(on)
		if err := connect(); err != nil {
			t.Errorf("switched on again: %v", err)
		}
		// One that is away in between is a server that starts again: the row begins anew.
		mode.Store(off)
		c.DropConn("a:1", io.EOF)
		begun.Store(0)
		if err := await(9); !remoting.Retryable(err) {
			t.Fatalf("after %d handshakes: %v", begun.Load(), err)
		}
		mode.Store(refusing)
		if err := connect(); !remoting.Retryable(err) {
			t.Fatal(err)
		}
		mode.Store(off)
		begun.Store(0)
		if err := await(9); !remoting.Retryable(err) {
			t.Errorf("after it was away and %d handshakes: %v", begun.Load(), err)
		}
	})
}
