package remoting

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// TLSFault says why a TLS connection was not made or not kept.
type TLSFault uint8

// The faults.
const (
	TLSOther       TLSFault = iota
	TLSNotSpoken            // the other end does not speak TLS
	TLSUnknownCA            // its certificate is signed by nobody we trust
	TLSWrongName            // its certificate is for other names
	TLSNoName               // its certificate is for no name, as RocketMQ's built-in one
	TLSExpired              // its certificate is not valid at this time
	TLSWantsCert            // it wants a certificate of ours
	TLSRefusedOurs          // it does not take our certificate
	TLSOnly                 // it speaks nothing but TLS, and we did not
	TLSNoMore               // it has spoken TLS before, and cuts off handshakes since
)

// TLSError is a connection that failed for reasons of TLS. It does not pass by
// trying again, unless somebody changes how the servers are set up.
type TLSError struct {
	Addr  string
	Fault TLSFault
	Err   error
}

func (e *TLSError) Error() string {
	what := e.Err.Error()
	switch e.Fault {
	case TLSNotSpoken:
		what = "the server does not speak TLS there"
	case TLSUnknownCA:
		what = "the server's certificate is signed by nobody we trust" + issuer(e.Err)
	case TLSWrongName:
		what = wrongName(e.Err)
	case TLSNoName:
		what = "the server's certificate names no server, as RocketMQ's built-in one for tests"
	case TLSExpired:
		what = validity(e.Err)
	case TLSWantsCert:
		what = "the server wants a certificate of ours"
	case TLSRefusedOurs:
		what = "the server does not take our certificate (" + strings.TrimPrefix(what, "remote error: ") + ")"
	case TLSOnly:
		what = "the server speaks TLS only"
	case TLSNoMore:
		what = fmt.Sprintf("the server has answered with TLS before and does not now: the last %d handshakes were cut off", maxCutOff)
	}
	return fmt.Sprintf("TLS with %s: %s", e.Addr, what)
}

// Unwrap gives the reason in the words of the library.
func (e *TLSError) Unwrap() error { return e.Err }

func issuer(err error) string {
	if u, ok := errors.AsType[x509.UnknownAuthorityError](err); ok && u.Cert != nil {
		if name := u.Cert.Issuer.String(); name != "" {
			return " (" + name + ")"
		}
	}
	return ""
}

func wrongName(err error) string {
	h, ok := errors.AsType[x509.HostnameError](err)
	if !ok || h.Certificate == nil {
		return "the server's certificate is for another name"
	}
	names := slices.Clone(h.Certificate.DNSNames)
	for _, ip := range h.Certificate.IPAddresses {
		names = append(names, ip.String())
	}
	return fmt.Sprintf("the server's certificate is for %s, not for %s", strings.Join(names, ", "), h.Host)
}

func validity(err error) string {
	c, ok := errors.AsType[x509.CertificateInvalidError](err)
	if !ok || c.Cert == nil {
		return "the server's certificate is not valid at this time"
	}
	if now := time.Now(); now.Before(c.Cert.NotBefore) {
		return "the server's certificate is valid from " + c.Cert.NotBefore.UTC().Format(time.RFC3339) + " on only, by this machine's clock"
	}
	return "the server's certificate expired at " + c.Cert.NotAfter.UTC().Format(time.RFC3339)
}

// tlsFault finds out what kind of failure it is; wanted says that the other end has
// asked for a certificate and we had none. ok is false for one that is none of TLS, such
// as a cut connection.
func tlsFault(err error, wanted bool) (fault TLSFault, ok bool) {
	if _, is := errors.AsType[tls.RecordHeaderError](err); is {
		return TLSNotSpoken, true
	}
	if _, is := errors.AsType[x509.UnknownAuthorityError](err); is {
		return TLSUnknownCA, true
	}
	if h, is := errors.AsType[x509.HostnameError](err); is {
		if h.Certificate != nil && len(h.Certificate.DNSNames)+len(h.Certificate.IPAddresses) == 0 {
			return TLSNoName, true
		}
		return TLSWrongName, true
	}
	if c, is := errors.AsType[x509.CertificateInvalidError](err); is && c.Reason == x509.Expired {
		return TLSExpired, true
	}
	if op, is := errors.AsType[*net.OpError](err); is && op.Op == "remote error" {
		// The library does not export what the other end complains about, but its text.
		switch text := op.Err.Error(); {
		case strings.Contains(text, "certificate required"):
			return TLSWantsCert, true
		case wanted && (strings.Contains(text, "certificate") || strings.Contains(text, "handshake failure")):
			// Java calls none a bad one, and in TLS 1.2 there are no words for it.
			return TLSWantsCert, true
		case strings.Contains(text, "certificate"):
			return TLSRefusedOurs, true
		}
		return TLSOther, true
	}
	if op, is := errors.AsType[*net.OpError](err); is && op.Op == "local error" {
		return TLSOther, true
	}
	if _, is := errors.AsType[*tls.CertificateVerificationError](err); is {
		return TLSOther, true
	}
	return TLSOther, false
}

// secure makes a TLS connection of nc; it closes nc when that fails. spoken says that
// the address has spoken TLS before.
func secure(ctx context.Context, nc net.Conn, addr string, config *tls.Config, spoken bool) (net.Conn, error) {
	config = config.Clone()
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			host = addr
		}
		config.ServerName = host
	}
	wanted := false
	if len(config.Certificates) == 0 {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			wanted = true
			return &tls.Certificate{}, nil // none, as without this function
		}
	}
	t := tls.Client(nc, config)
	err := t.HandshakeContext(ctx)
	if err == nil {
		return &tlsConn{Conn: t, addr: addr, wanted: wanted, refused: make(chan struct{})}, nil
	}
	nc.Close()
	fault, ok := tlsFault(err, wanted)
	switch {
	case ok:
	case ctx.Err() != nil:
		return nil, ctxError(ctx)
	case errors.Is(err, io.EOF), isReset(err):
		// A server with TLS switched off closes a connection that begins so, but so does
		// one that goes down just now, or a tunnel whose other end does.
		if spoken {
			return nil, &cutOffError{err}
		}
		fault = TLSNotSpoken
	default:
		return nil, err
	}
	return nil, &TLSError{addr, fault, err}
}

// cutOffError is a handshake that the other end did not finish.
type cutOffError struct{ err error }

func (e *cutOffError) Error() string { return "the TLS handshake was cut off: " + e.err.Error() }

// Unwrap gives how it ended.
func (e *cutOffError) Unwrap() error { return e.err }

// isReset reports whether the other end broke a connection off.
func isReset(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "read"
}

// tlsConn is a TLS connection whose end does not wait for the other side, and whose
// errors say what they are.
type tlsConn struct {
	*tls.Conn
	addr    string
	wanted  bool          // a certificate of ours, and we had none
	refused chan struct{} // closed when refusal is set
	refusal error         // what the other end complained about, set by the one who reads
}

// Read tells apart what the other end says of our certificate, which with TLS 1.3 it
// does after the handshake only.
func (c *tlsConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		if fault, ok := tlsFault(err, c.wanted); ok && c.refusal == nil {
			c.refusal = &TLSError{c.addr, fault, err}
			close(c.refused)
		}
		err = cmp.Or(c.refusal, err)
	}
	return n, err
}

// complaintWait is how long a failed write waits for the reason to be read.
const complaintWait = 100 * time.Millisecond

// Write fails when the other end has complained and closed; that complaint is then on
// its way to the reader, and says more than a broken pipe.
func (c *tlsConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil {
		return n, nil
	}
	limit := time.NewTimer(complaintWait)
	defer limit.Stop()
	select {
	case <-c.refused:
		return n, c.refusal
	case <-limit.C:
		return n, err
	}
}

// Close closes the socket at once: what was written is on its way, and a frame that
// is cut off is known by its length, so nobody needs the notice of the end, for which
// a dead peer would be waited for.
func (c *tlsConn) Close() error { return c.NetConn().Close() }

// SpeaksTLS asks an address whether it would speak TLS, to explain why it closed a
// connection without. Nothing but the beginning of a handshake is sent.
func (c *Client) SpeaksTLS(ctx context.Context, addr string) bool {
	nc, err := c.conns.dialRaw(ctx, "tcp", addr)
	if err != nil {
		return false
	}
	defer nc.Close()
	// Nothing is entrusted to this connection, so its certificate does not matter.
	return tls.Client(nc, &tls.Config{InsecureSkipVerify: true}).HandshakeContext(ctx) == nil
}
