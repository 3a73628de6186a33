package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// shown is the built program on a terminal, whose cells can be read.
type shown struct {
	*session
	vt  *vt.Emulator
	fed int // bytes of the output that vt has
}

// showProgram starts the program; its state is in state.
func showProgram(t *testing.T, state string, args ...string) *shown {
	t.Helper()
	s := &shown{session: onTerminal(t, theProgram(t), []string{"XDG_STATE_HOME=" + state, "USER=tester"}, args...), vt: vt.NewEmulator(120, 36)}
	go io.Copy(io.Discard, s.vt) // what the terminal answers
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", s.text())
		}
		s.vt.Close()
	})
	s.see(t, "[4 Groups]", " read ") // it reads keys
	return s
}

// text is what the terminal shows.
func (s *shown) text() string {
	out := s.out.String()
	io.WriteString(s.vt, out[s.fed:])
	s.fed = len(out)
	return cellsOf(s.vt)
}

// see waits until the terminal shows all of want at once, and gives what it shows.
func (s *shown) see(t *testing.T, want ...string) string {
	t.Helper()
	limit := time.NewTimer(toolLimit)
	defer limit.Stop()
	for {
		text, missing := s.text(), ""
		for _, w := range want {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return text
		}
		select {
		case <-s.out.changed:
		case <-limit.C:
			t.Fatalf("no %q on the screen within %v", missing, toolLimit)
		}
	}
}

// leave quits, and checks that the terminal is as it was.
func (s *shown) leave(t *testing.T) {
	t.Helper()
	s.press(t, ":q\r")
	if got := s.wait(t); got != statusDone {
		t.Errorf("status = %d", got)
	}
	s.restored(t)
}
