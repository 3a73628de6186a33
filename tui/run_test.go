package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"eyeq/engine"
	"eyeq/tui/page"
)

// patience bounds waits for what takes a moment on a quiet machine: it ends a test that
// waits in vain, and a busy machine does not come near it.
const patience = 2 * time.Minute

// session is the real program on a pseudo terminal whose output an emulator reads:
// what a person would see, left-over cells and the alternate screen included.
type session struct {
	t       *testing.T
	ptmx    *os.File
	tty     *os.File
	mu      sync.Mutex   // guards vt and raw
	vt      *vt.Emulator // its Safe form hands cells out unguarded
	raw     []byte       // all of the output
	changed chan struct{}
	done    chan error
	over    bool
	before  string // terminal modes
	w, h    int
}

func startSession(t *testing.T, ctx context.Context, o page.Options, w, h int) *session {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal here: %v", err)
	}
	s := &session{t: t, ptmx: ptmx, tty: tty, vt: vt.NewEmulator(w, h), changed: make(chan struct{}, 1), done: make(chan error, 1), w: w, h: h}
	if err := pty.Setsize(ptmx, &pty.Winsize{Cols: uint16(w), Rows: uint16(h)}); err != nil {
		t.Fatal(err)
	}
	s.before = s.modes()
	var wg sync.WaitGroup
	wg.Go(s.read)
	o.Output, o.Location = tty, fixtureZone
	if o.Input == nil {
		o.Input = tty
	}
	if o.Now == nil {
		o.Now = func() time.Time { return fixtureNow }
	}
	ctx, stop := context.WithCancelCause(ctx)
	go func() { s.done <- Run(ctx, o) }()
	t.Cleanup(func() {
		if !s.over { // the test has failed: the terminal must not be closed under the program
			stop(errors.New("the test is over"))
			<-s.done
		}
		tty.Close()
		ptmx.Close()
		wg.Wait()
	})
	return s
}

// read feeds the emulator and tells that something came.
func (s *session) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.ptmx.Read(buf)
		if n > 0 {
			s.mu.Lock()
			s.vt.Write(buf[:n])
			s.raw = append(s.raw, buf[:n]...)
			s.mu.Unlock()
			select {
			case s.changed <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

func (s *session) modes() string {
	state, err := term.GetState(s.tty.Fd())
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%+v", *state)
}

func (s *session) press(keys string) {
	if _, err := io.WriteString(s.ptmx, keys); err != nil {
		s.t.Fatal(err)
	}
}

// screen is what the emulator shows.
func (s *session) screen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for y := range s.h {
		for x := 0; x < s.w; {
			c := s.vt.CellAt(x, y)
			if c == nil || c.Width == 0 {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += c.Width
		}
		b.WriteByte('\n')
	}
	return trimLines(strings.TrimSuffix(b.String(), "\n"))
}

// restored reports whether the alternate screen is left and the cursor shown.
func (s *session) restored() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.vt.IsAltScreen() && !s.vt.CursorHidden()
}

// wait waits until the screen shows text.
func (s *session) wait(text string) string {
	s.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		if screen := s.screen(); strings.Contains(screen, text) {
			return screen
		}
		select {
		case <-s.changed:
		case err := <-s.done:
			s.over = true
			s.t.Fatalf("the screen ended (%v) before it showed %q:\n%s", err, text, s.screen())
		case <-limit.C:
			s.t.Fatalf("waited for\n%s\nthe screen shows\n%s", text, s.screen())
		}
	}
}

// ended waits for Run and checks that the terminal is as it was.
func (s *session) ended() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		s.over = true
		if after := s.modes(); after != s.before {
			s.t.Errorf("terminal modes were not restored:\nbefore %s\nafter  %s", s.before, after)
		}
		limit := time.NewTimer(patience)
		defer limit.Stop()
		for !s.restored() {
			select {
			case <-s.changed:
			case <-limit.C:
				s.t.Error("the alternate screen was not left, or the cursor not shown")
				return err
			}
		}
		return err
	case <-time.After(patience):
		s.t.Fatalf("Run does not return:\n%s", s.screen())
		return nil
	}
}

func fixedEngine(s *engine.Snapshot) *fakeEngine {
	e := resetEngine()
	e.snapshot = func() *engine.Snapshot { return s }
	return e
}

func sessionOptions(e page.Engine) page.Options {
	o := defaultOptions()
	o.Engines = []page.NamedEngine{{Engine: e}}
	return o
}

// TestSessionOnATerminal goes through one session and compares what the emulator
// shows at the end with the frame that was meant.
func TestSessionOnATerminal(t *testing.T) {
	s := startSession(t, t.Context(), sessionOptions(fixedEngine(wideNames())), 120, 36)
	s.wait("▸ 杭州-订单-甲/3")
	s.press("jj")
	s.wait("▸ 杭州-订单-乙/2")
	s.press("?")
	s.wait("HELP") // the last line: an escape must not meet the next key in one read
	s.press("\x1b")
	s.wait("NORMAL")
	s.press("p")
	s.wait("only own queues can be paused here")
	s.press("kk")
	s.wait("▸ 杭州-订单-甲/3")
	s.press("R")
	s.wait("Apply (off)")
	s.wait("DIALOG")
	s.press("\x1b")
	s.wait("NORMAL")
	s.press("7")
	s.wait("nothing has happened yet")
	s.press("q")
	s.wait("Allocation")
	s.press("/甲/3\r")

	// The whole frame is waited for: the frames between two keys, and halves of one,
	// pass over the terminal as well.
	d := withSnapshot(t, 120, 36, wideNames())
	s.wait(trimLines(d.keys("jj", "p", "kk", "/").typing("甲/3").keys("enter").frame()))
	s.press("q")
	if err := s.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestAShrunkTerminalHasNoLeftOverCells(t *testing.T) {
	const windowChanged = syscall.Signal(28)
	s := startSession(t, t.Context(), sessionOptions(fixedEngine(fixture(0))), 120, 36)
	s.wait("NORMAL")
	for _, size := range [][2]int{{80, 24}, {58, 14}, {120, 36}} {
		s.w, s.h = size[0], size[1]
		s.mu.Lock()
		s.vt.Resize(s.w, s.h)
		s.mu.Unlock()
		if err := pty.Setsize(s.ptmx, &pty.Winsize{Cols: uint16(s.w), Rows: uint16(s.h)}); err != nil {
			t.Fatal(err)
		}
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Signal(windowChanged); err != nil {
			t.Skipf("no window signal here: %v", err)
		}
		want := trimLines(withSnapshot(t, s.w, s.h, fixture(0)).frame())
		s.wait(want)
	}
	s.press("q")
	if err := s.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestCtrlCRestoresTheTerminal(t *testing.T) {
	o := sessionOptions(fixedEngine(fixture(0)))
	left := make(chan error, 1)
	o.Member, o.Leave, o.Left = true, func() { left <- nil }, left
	s := startSession(t, t.Context(), o, 80, 24)
	s.wait("NORMAL")
	s.press("\x03")
	if err := s.ended(); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Run: %v, want ErrInterrupted", err)
	}
}

func TestASignalLeavesInOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := sessionOptions(fixedEngine(fixture(0)))
	left := make(chan error)
	begun := make(chan struct{}, 1)
	o.Leave, o.Left = func() { begun <- struct{}{} }, left
	s := startSession(t, ctx, o, 80, 24)
	s.wait("NORMAL")
	cancel()
	<-begun
	s.wait("leaving")
	left <- nil
	if err := s.ended(); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestTheCauseOfAFaultIsReturned(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	fault := errors.New("a worker panicked")
	s := startSession(t, ctx, sessionOptions(fixedEngine(fixture(0))), 80, 24)
	s.wait("NORMAL")
	cancel(fault)
	if err := s.ended(); !errors.Is(err, fault) {
		t.Errorf("Run: %v, want the cause", err)
	}
}

func TestAPanicRestoresTheTerminal(t *testing.T) {
	e := fixedEngine(fixture(0))
	calls := 0
	e.snapshot = func() *engine.Snapshot {
		if calls++; calls > 2 {
			panic("a fault in the screen")
		}
		return fixture(0)
	}
	o := sessionOptions(e)
	// No terminal as input: bubbletea 1.3.10 closes the poller of one while its read
	// loop still uses it, when it ends by a panic.
	in, out := io.Pipe()
	defer out.Close()
	o.Input = in
	s := startSession(t, t.Context(), o, 80, 24)
	if err := s.ended(); err == nil {
		t.Error("Run hides the panic")
	}
}

func TestRunRefusesBadOptions(t *testing.T) {
	if err := Run(t.Context(), page.Options{}); err == nil {
		t.Error("no engine is no error")
	}
	o := sessionOptions(&fakeEngine{})
	o.Keys = map[string]string{"pause": "R"}
	if err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "pause") || !strings.Contains(err.Error(), "reset") {
		t.Errorf("a clash of keys: %v", err)
	}
}
