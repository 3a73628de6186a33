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
