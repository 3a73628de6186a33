package remoting

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
)

// tlsHandshake is the first byte of a connection that begins with TLS. A frame begins
// with the high byte of its length, which is 0 (TlsModeHandler).
const tlsHandshake = 0x16

var errTLSOnly = errors.New("only TLS is served here")

// sniffedConn is a server's connection that may speak TLS or not: its first byte
// decides. Servers write nothing before they have read a request.
type sniffedConn struct {
	net.Conn
	config *tls.Config
	only   bool
	inner  atomic.Pointer[net.Conn] // set by the first Read
}

func (c *sniffedConn) Read(p []byte) (int, error) {
	inner := c.inner.Load()
	if inner == nil {
		first := make([]byte, 1)
		if _, err := io.ReadFull(c.Conn, first); err != nil {
			return 0, err
		}
		begun := net.Conn(&prefixedConn{c.Conn, io.MultiReader(bytes.NewReader(first), c.Conn)})
		switch {
		case first[0] == tlsHandshake:
			begun = tls.Server(begun, c.config)
		case c.only:
			return 0, errTLSOnly
		}
		inner = &begun
		c.inner.Store(inner)
	}
	return (*inner).Read(p)
}

func (c *sniffedConn) Write(p []byte) (int, error) {
	if inner := c.inner.Load(); inner != nil {
		return (*inner).Write(p)
	}
	return c.Conn.Write(p)
}

// prefixedConn is a connection some of which was read already.
type prefixedConn struct {
	net.Conn
	r io.Reader
}

func (c *prefixedConn) Read(p []byte) (int, error) { return c.r.Read(p) }
