package cli

import (
	"io"
	"sync"
)

// lineWriter writes lines that several goroutines make to one stream. What was
// added while a write ran is written together by the next one, so that a writer
// that waits for its own lines costs a fraction of a system call. The first
// error is final: nothing is written after it.
type lineWriter struct {
	w    io.Writer
	wake chan struct{} // of capacity 1: there is something to do

	mu      sync.Mutex // guards pending, next, err and closed
	pending []byte
	next    *flush // the write that will take pending
	err     error
	closed  bool
}

// flush is one write; err may be read when done is closed.
type flush struct {
	done chan struct{}
	err  error
}

func newLineWriter(w io.Writer) *lineWriter {
	return &lineWriter{w: w, wake: make(chan struct{}, 1), next: &flush{done: make(chan struct{})}}
}

// add queues b, whole lines, and returns the write that will take them.
func (l *lineWriter) add(b []byte) *flush {
	l.mu.Lock()
	l.pending = append(l.pending, b...)
	f := l.next
	l.mu.Unlock()
	l.signal()
	return f
}

func (l *lineWriter) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// close makes run end when everything added before is written.
func (l *lineWriter) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.signal()
}

// run writes until close, or until the first error; after that it only answers
// with it. One goroutine runs it.
func (l *lineWriter) run() {
	var spare []byte
	for range l.wake {
		for {
			l.mu.Lock()
			b, f, err, closed := l.pending, l.next, l.err, l.closed
			if len(b) == 0 {
				l.mu.Unlock()
				if closed {
					return
				}
				break
			}
			l.pending, l.next = spare[:0], &flush{done: make(chan struct{})}
			l.mu.Unlock()

			if err == nil {
				_, err = l.w.Write(b)
			}
			f.err = err
			close(f.done)
			if spare = b; cap(b) > maxSpare {
				spare = nil
			}
			if err != nil {
				l.mu.Lock()
				l.err = err
				l.mu.Unlock()
			}
		}
	}
}

// maxSpare is the largest buffer kept between two writes.
const maxSpare = 1 << 20

// failure is the error that ended the writing, nil while there was none.
func (l *lineWriter) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
