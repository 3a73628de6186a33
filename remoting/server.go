package remoting

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Server accepts connections and gives each the same Handler.
type Server struct {
	Handler Handler
	// TLS serves clients that begin with TLS so, and the others without, or with
	// TLSOnly not at all. Nil: TLS is not understood.
	TLS     *tls.Config
	TLSOnly bool
	// OnClose, when set, is called after a connection has ended, on a goroutine of its own.
	OnClose func(c *Conn, cause error)
}

// acceptPause is the wait after an accept that failed for want of a resource.
const acceptPause = 50 * time.Millisecond

// Serve accepts on ln until ctx ends, then closes ln and every connection and
// waits for their goroutines. It returns nil after ctx has ended.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	conns := serverConns{live: map[*Conn]struct{}{}}
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	err := s.accept(ctx, ln, &conns)
	stop()
	ln.Close() // a second time after ctx ended, which does no harm
	conns.close()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *Server) accept(ctx context.Context, ln net.Listener, conns *serverConns) error {
	for {
		nc, err := ln.Accept()
		switch {
		case err == nil:
			conns.begin(s, nc)
		case ctx.Err() != nil:
			return nil
		case !outOfResources(err):
			return fmt.Errorf("accept on %v: %w", ln.Addr(), err)
		default:
			pause := time.NewTimer(acceptPause)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
			}
		}
	}
}

// outOfResources reports whether accepting may work again later.
func outOfResources(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ECONNABORTED)
}

// serverConns are the connections of one Serve.
type serverConns struct {
	running sync.WaitGroup

	mu   sync.Mutex // guards live
	live map[*Conn]struct{}
}

// begin is called by the goroutine of Serve only.
func (l *serverConns) begin(s *Server, nc net.Conn) {
	l.running.Add(1)
	if s.TLS != nil {
		nc = &sniffedConn{Conn: nc, config: s.TLS, only: s.TLSOnly}
	}
	c := newConn(nc, ConnOptions{Handler: s.Handler}, nc.RemoteAddr().String(), func(c *Conn) {
		defer l.running.Done()
		l.forget(c)
		if s.OnClose != nil {
			s.OnClose(c, c.Err())
		}
	})
	l.mu.Lock()
	l.live[c] = struct{}{}
	l.mu.Unlock()
	select {
	case <-c.Done():
		l.forget(c) // it may have ended, and been forgotten, before it was stored
	default:
	}
}

func (l *serverConns) forget(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.live, c)
}

// close is called by the goroutine of Serve after the last begin.
func (l *serverConns) close() {
	l.mu.Lock()
	live := slices.Collect(maps.Keys(l.live))
	l.mu.Unlock()
	for _, c := range live {
		c.end(errServerEnded, true)
	}
	l.running.Wait()
}
