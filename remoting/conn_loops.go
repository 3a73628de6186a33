package remoting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"eyeq/remoting/protocol"
)

// maxCoalesced ends the collecting of frames for one write.
const maxCoalesced = 64 << 10

// stampedReader notes when bytes arrive.
type stampedReader struct{ c *Conn }

func (r stampedReader) Read(p []byte) (int, error) {
	n, err := r.c.nc.Read(p)
	if n > 0 {
		r.c.lastRead.Store(int64(time.Since(r.c.born)))
	}
	return n, err
}

// readLoop is the read goroutine.
func (c *Conn) readLoop() {
	defer close(c.read)
	frames := newFrameReader(stampedReader{c})
	for {
		frame, err := frames.next()
		if large, ok := errors.AsType[*TooLargeError](err); ok {
			if err := c.onTooLarge(frames, large); err != nil {
				c.CloseAsync(err)
				return
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("by the other side: %w", err)
		}
		if err != nil {
			c.CloseAsync(err)
			return
		}
		cmd, err := protocol.DecodeCommand(frame)
		if err != nil {
			c.CloseAsync(fmt.Errorf("undecodable frame of %d bytes: %w", len(frame), err))
			return
		}
		if cmd.IsResponse() {
			if err := c.onAnswer(Reply{Opaque: cmd.Opaque, Command: cmd}); err != nil {
				c.CloseAsync(err)
				return
			}
			continue
		}
		c.onRequest(cmd)
	}
}

// onTooLarge ends the call whose answer is too large and passes the rest over. A
// request of that size is an error, as it is for brokers.
func (c *Conn) onTooLarge(frames *frameReader, large *TooLargeError) error {
	header, err := frames.peekHeader()
	if err != nil {
		return fmt.Errorf("frame of %d bytes: %w", large.Size, err)
	}
	cmd, err := protocol.DecodeCommand(header)
	if err != nil {
		return fmt.Errorf("undecodable frame of %d bytes: %w", large.Size, err)
	}
	if !cmd.IsResponse() {
		return fmt.Errorf("request (code %d) of %d bytes is over the limit of %d", cmd.Code, large.Size, protocol.MaxFrameLength)
	}
	if err := c.onAnswer(Reply{Opaque: cmd.Opaque, Command: cmd, Err: large}); err != nil {
		return err
	}
	return frames.passOver(large.Size)
}

// onAnswer drops the answer to a call that was given up. One to a call that never
// was is an error: somebody else's answers may follow.
func (c *Conn) onAnswer(r Reply) error {
	c.mu.Lock()
	replies := c.pending[r.Opaque]
	if replies == nil {
		never := r.Opaque < 0 || !c.wrapped && (r.Opaque == 0 || r.Opaque > c.opaque)
		c.mu.Unlock()
		if never {
			return fmt.Errorf("answer (code %d) to a call that was never made, number %d", r.Command.Code, r.Opaque)
		}
		return nil
	}
	delete(c.pending, r.Opaque)
	c.handing = r.Opaque
	c.mu.Unlock()

	r.At = c.LastRead()
	deliver(replies, r)

	c.mu.Lock()
	handed := c.handed
	c.handing, c.handed = none, nil
	c.mu.Unlock()
	if handed != nil {
		close(handed)
	}
	return nil
}

// deliver never waits: the one who began the call keeps a place free.
func deliver(replies chan<- Reply, r Reply) {
	select {
	case replies <- r:
	default:
		panic("remoting: no room for a reply in the channel given to Conn.Start")
	}
}

func (c *Conn) onRequest(cmd protocol.Command) {
	if c.handler != nil {
		c.handler.HandleRequest(c, cmd)
		return
	}
	// An error means that the connection has ended, which the loop notices itself.
	_ = c.Respond(&cmd, &protocol.Command{
		Code:     int32(protocol.RequestCodeNotSupported),
		Language: protocol.LanguageGo,
		Version:  protocol.Version,
		Remark:   fmt.Sprintf("request type %d not supported", cmd.Code),
	})
}

// enqueue hands a frame to the write goroutine. It waits only while the queue
// is full, and no longer than until cancelled, with errCancelled.
func (c *Conn) enqueue(cancelled <-chan struct{}, frame []byte) error {
	select {
	case c.writes <- frame:
		return nil
	default:
	}
	select {
	case c.writes <- frame:
		return nil
	case <-c.closing:
		return c.Err()
	case <-cancelled:
		return errCancelled
	}
}

// errCancelled ends a wait of enqueue; whoever has the context says why.
var errCancelled = errors.New("cancelled")

func (c *Conn) cancelError(ctx context.Context, err error) error {
	if err != errCancelled {
		return err
	}
	return fmt.Errorf("not sent, %d frames wait to be written: %w", len(c.writes), ctxError(ctx))
}

// writeLoop is the write goroutine.
func (c *Conn) writeLoop() {
	defer close(c.written)
	w := batchWriter{c: c, wrote: c.born}
	var idle <-chan time.Time
	if c.idleTimeout > 0 {
		timer := time.NewTimer(c.idleTimeout)
		defer timer.Stop()
		idle = timer.C
		w.idle = timer
	}
	for {
		select {
		case frame := <-c.writes:
			if err := w.write(frame); err != nil {
				c.CloseAsync(err)
				return
			}
		case <-idle:
			if w.idleFor() >= c.idleTimeout {
				c.CloseAsync(errIdle)
				return
			}
			w.idle.Reset(c.idleTimeout - w.idleFor())
		case <-c.closing:
			c.writeRest(&w)
			return
		}
	}
}

// writeRest writes what was queued before an orderly end.
func (c *Conn) writeRest(w *batchWriter) {
	c.mu.Lock()
	flush := c.flush
	c.mu.Unlock()
	for flush {
		select {
		case frame := <-c.writes:
			flush = w.write(frame) == nil
		default:
			return
		}
	}
}

// batchWriter is the state of the write goroutine.
type batchWriter struct {
	c        *Conn
	frames   [][]byte // of the write under way
	joined   []byte
	deadline time.Time
	wrote    time.Time // when the last write began
	idle     *time.Timer
}

// idleFor is for how long nothing has gone either way.
func (w *batchWriter) idleFor() time.Duration {
	return min(time.Since(w.wrote), time.Since(w.c.LastRead()))
}

// write writes frame, and in the same write what else is queued.
func (w *batchWriter) write(frame []byte) error {
	w.frames = append(w.frames[:0], frame)
	// Goroutines that were woken by the same read queue their frames first, so that
	// their requests share one write: 8 pulling queues then cost less than half the
	// CPU time, one costs the same (BenchmarkConnQueues, BenchmarkConnStart).
	runtime.Gosched()
	out := w.collect(frame)
	if err := w.extendDeadline(); err != nil {
		return err
	}
	if _, err := w.c.nc.Write(out); err != nil {
		return fmt.Errorf("write of %d bytes, limit %v: %w", len(out), w.c.writeTimeout, err)
	}
	w.giveBack()
	return nil
}

// collect returns frame alone, without a copy, or joined with those queued.
func (w *batchWriter) collect(frame []byte) []byte {
	out := frame
	for len(out) < maxCoalesced {
		select {
		case next := <-w.c.writes:
			if len(w.frames) == 1 {
				w.joined = append(w.joined[:0], frame...)
			}
			w.frames = append(w.frames, next)
			w.joined = append(w.joined, next...)
			out = w.joined
		default:
			return out
		}
	}
	return out
}

// extendDeadline lets a write take the write timeout, or up to a quarter less:
// setting a deadline is dear enough to be done only now and then.
func (w *batchWriter) extendDeadline() error {
	now := time.Now()
	w.wrote = now
	if w.deadline.Sub(now) > w.c.writeTimeout-w.c.writeTimeout/4 {
		return nil
	}
	w.deadline = now.Add(w.c.writeTimeout)
	return w.c.nc.SetWriteDeadline(w.deadline)
}

// giveBack keeps the buffers for later frames; large ones are dropped.
func (w *batchWriter) giveBack() {
	if cap(w.joined) > 2*maxCoalesced {
		w.joined = nil
	}
	c := w.c
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, frame := range w.frames {
		if cap(frame) <= maxCoalesced && len(c.spare) < writeQueue {
			c.spare = append(c.spare, frame)
		}
		w.frames[i] = nil
	}
}
