package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// startWriter runs a lineWriter until the test ends it.
func startWriter(t *testing.T, l *lineWriter) (end func()) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(l.run)
	end = sync.OnceFunc(func() { l.close(); wg.Wait() })
	t.Cleanup(end)
	return end
}

func TestLineWriterWritesEachLineOnce(t *testing.T) {
	var out bytes.Buffer
	l := newLineWriter(&out)
	end := startWriter(t, l)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for j := range 50 {
				f := l.add(fmt.Appendf(nil, "%d.%d\n", i, j))
				if <-f.done; f.err != nil {
					t.Error(f.err)
				}
			}
		})
	}
	wg.Wait()
	end()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	seen := map[string]bool{}
	for _, line := range lines {
		seen[line] = true
	}
	if len(lines) != 1000 || len(seen) != 1000 {
		t.Errorf("%d lines, %d different, want 1000 of each", len(lines), len(seen))
	}
}

// gate is a writer that waits, then fails.
type gate struct {
	open  chan struct{}
	calls int
}

func (g *gate) Write(p []byte) (int, error) {
	g.calls++
	<-g.open
	return 0, errors.New("gone")
}

func TestLineWriterFirstErrorIsFinal(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	l := newLineWriter(g)
	end := startWriter(t, l)
	first, _ := l.add([]byte("a\n")), 0
	close(g.open)
	if <-first.done; first.err == nil {
		t.Error("the first line was written")
	}
	second := l.add([]byte("b\n"))
	if <-second.done; second.err == nil {
		t.Error("a line was written after the error")
	}
	end()
	if g.calls != 1 || l.failure() == nil {
		t.Errorf("%d writes, failure %v; want 1 and an error", g.calls, l.failure())
	}
}
