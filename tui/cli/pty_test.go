package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// built is the program, built once when the first test needs it, in programDir,
// which TestMain removes.
var (
	programDir string
	built      = sync.OnceValues(buildProgram)
)

func buildProgram() (string, error) {
	dir, err := os.MkdirTemp("", "eyeq-test")
	if err != nil {
		return "", err
	}
	programDir = dir
	path := filepath.Join(dir, "eyeq")
	cmd := exec.Command("go", "build", "-o", path, "eyeq")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %s", err, out)
	}
	return path, nil
}

func theProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the real program on a terminal, not in short mode")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// crashing is the environment in which the test binary is the program, and panics
// on a goroutine beside the screen: see TestMain.
const crashing = "EYEQ_TEST_CRASH"

// runCrashing is the program of crashing.
func runCrashing() int {
	e := &env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, signals: make(chan os.Signal, 2), exit: os.Exit, now: time.Now,
	}
	crash := make(chan os.Signal, 1)
	signal.Notify(crash, crashSignal)
	e.beside = func() {
		<-crash
		panic("boom beside the screen")
	}
	return run(context.Background(), e, []string{"demo"})
}

// session is a program on a terminal of its own.
type session struct {
	cmd    *exec.Cmd
	tty    *os.File // our end
	out    *buffer
	before *term.State
	slave  *os.File
	read   chan struct{}
}

// onTerminal starts a program on a terminal that answers nothing.
func onTerminal(t *testing.T, path string, env []string, args ...string) *session {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo terminal: %v", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 36, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	s := &session{tty: master, slave: slave, out: newBuffer(), read: make(chan struct{})}
	if s.before, err = term.GetState(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(path, args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	ownTerminal(s.cmd)
	s.cmd.Env = append([]string{"TERM=xterm-256color", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + t.TempDir()}, env...)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.read)
		io.Copy(s.out, master) // ends with an error when the terminal is closed
	}()
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		slave.Close()
		master.Close()
		<-s.read
	})
	return s
}

func (s *session) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := s.tty.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// wait returns the exit status.
func (s *session) wait(t *testing.T) int {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if ee, ok := errors.AsType[*exec.ExitError](err); ok {
			return ee.ExitCode()
		}
		if err != nil {
			t.Fatal(err)
		}
		return 0
	case <-time.After(patience):
		s.cmd.Process.Signal(syscall.SIGQUIT)
		<-done
		t.Fatalf("it did not end within %v: %.2000q", patience, s.out)
		return 0
	}
}

// restored checks that the terminal is as it was: its modes, the main screen, the cursor.
func (s *session) restored(t *testing.T) {
	t.Helper()
	after, err := term.GetState(s.slave.Fd())
	if err != nil {
		t.Fatal(err)
	}
	if *after != *s.before {
		t.Errorf("the terminal's modes are not restored: %+v, were %+v", after, s.before)
	}
	const mark = "[all that came before was read]"
	if _, err := s.slave.WriteString(mark); err != nil {
		t.Fatal(err)
	}
	s.out.await(t, mark)
	out := s.out.String()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?7l": "\x1b[?7h", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?1003h": "\x1b[?1003l", "\x1b[?1002h": "\x1b[?1002l"} {
		if strings.LastIndex(out, on) > strings.LastIndex(out, off) {
			t.Errorf("%q was sent and not undone", on)
		}
	}
}

const firstScreen = "order-settle" // in the first picture of the demo

func TestDemoScreenComesFastAndLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	endings := map[string]struct {
		end    func(t *testing.T, s *session)
		status int
	}{
		"q":       {func(t *testing.T, s *session) { s.press(t, "q") }, 0},
		"ctrl-c":  {func(t *testing.T, s *session) { s.press(t, "\x03") }, 130},
		"SIGTERM": {func(t *testing.T, s *session) { s.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		"SIGINT":  {func(t *testing.T, s *session) { s.cmd.Process.Signal(syscall.SIGINT) }, 130},
	}
	for name, tt := range endings {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			s := onTerminal(t, path, nil, "demo")
			s.out.await(t, firstScreen)
			t.Logf("first screen after %v", time.Since(began).Round(time.Millisecond))
			if out := s.out.String(); strings.Contains(out, "\x1b]1") || strings.Contains(out, "\x1b[6n") {
				t.Errorf("it asked the terminal, which may not answer: %.500q", out)
			}
			s.out.await(t, "settle-1@demo") // allocation is there
			tt.end(t, s)
			if got := s.wait(t); got != tt.status {
				t.Errorf("status = %d, want %d: %.1000q", got, tt.status, s.out)
			}
			s.restored(t)
		})
	}
}

func TestPanicRestoresTheTerminalAndPrintsTheStack(t *testing.T) {
	theProgram(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := onTerminal(t, self, []string{crashing + "=1"})
	s.out.await(t, firstScreen)
	s.cmd.Process.Signal(crashSignal)
	if got := s.wait(t); got != statusFailed {
		t.Errorf("status = %d, want %d", got, statusFailed)
	}
	s.restored(t)
	out := s.out.String()
	after := out[strings.LastIndex(out, "\x1b[?1049l")+1:]
	for _, want := range []string{"this is a bug in eyeq: panic: boom beside the screen", "pty_test.go"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q after the screen: %.2000q", want, after)
		}
	}
}

func TestVersionOnASilentTerminalIsQuick(t *testing.T) {
	path := theProgram(t)
	for _, args := range [][]string{{"version"}, {"--help"}} {
		began := time.Now()
		s := onTerminal(t, path, nil, args...)
		if got := s.wait(t); got != 0 {
			t.Errorf("%v: status = %d", args, got)
		}
		s.out.await(t, "eyeq")
		if out := s.out.String(); strings.Contains(out, "\x1b") {
			t.Errorf("%v asked the terminal: %q", args, out)
		}
		t.Logf("%v took %v", args, time.Since(began).Round(time.Millisecond))
	}
}

// awaitConsumed waits until the members of a group have consumed n messages of a topic,
// by what they say themselves: what the screen shows first says nothing of it.
func awaitConsumed(t *testing.T, sb *sandbox.Sandbox, group, topic string, n int64) {
	t.Helper()
	h := protocol.ConsumerStatusRequestHeader{Topic: topic, Group: group}
	sandboxtest.AwaitWithin(t, patience, fmt.Sprintf("%d messages are consumed", n), func(ctx context.Context) bool {
		total := int64(0)
		for _, id := range sb.Members(group) {
			resp, err := sb.Relay(ctx, group, id, &protocol.Command{Code: int32(protocol.GetConsumerStatusFromClient), ExtFields: protocol.EncodeFields(&h)})
			if err != nil {
				return false
			}
			offsets, err := protocol.DecodeConsumerStatus(resp.Body)
			if err != nil {
				return false
			}
			for _, committed := range offsets {
				total += committed
			}
		}
		return total == n
	})
}

func TestMemberScreenLeavesTheGroup(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	put(t, sb, "orders", 20)
	s := onTerminal(t, path, nil, "consume", "--namesrv", namesrv, "-g", "g1", "-t", "orders", "--from", "first", "--client-id", "me@1")
	s.out.await(t, "me@1")
	s.out.await(t, "Queues")
	awaitConsumed(t, sb, "g1", "orders", 20)
	s.press(t, "\x03")
	if got := s.wait(t); got != 130 {
		t.Errorf("status = %d, want 130", got)
	}
	s.restored(t)
	s.out.await(t, "20 messages, 0 duplicates, 0 failed in")
	if m := sb.Members("g1"); len(m) != 0 {
		t.Errorf("members after the leave: %v", m)
	}
}

func TestClosedPipeOfTheProgram(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 500)
	cmd := exec.Command(path, consume(namesrv, "g")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 10)); err != nil { // head -1
		t.Fatal(err)
	}
	// All is printed or on its way, so that nothing more has to be written: that the
	// reader has gone must be seen all the same.
	r.Close()
	err = cmd.Wait()
	if ee, ok := errors.AsType[*exec.ExitError](err); !ok || ee.ExitCode() != statusFailed {
		t.Errorf("ended with %v, want status 1: %s", err, stderr.String())
	}
	if !strings.Contains(stderr.String(), "standard output was closed") {
		t.Errorf("stderr = %q", stderr.String())
	}
	if m := sb.Members("g"); len(m) != 0 {
		t.Errorf("members after the leave: %v", m)
	}
}

func TestTailOfAQuietTopicEndsWithItsReader(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	cmd := exec.Command(path, "tail", "orders", "--namesrv", namesrv)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	r.Close()
	err = cmd.Wait()
	if ee, ok := errors.AsType[*exec.ExitError](err); !ok || ee.ExitCode() != statusFailed {
		t.Errorf("ended with %v, want status 1", err)
	}
}

func TestProgramEndsInOrderAtSIGTERM(t *testing.T) {
	path := theProgram(t)
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	cmd := exec.Command(path, consume(namesrv, "g")...)
	out := newBuffer()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.await(t, "joins group g")
	cmd.Process.Signal(syscall.SIGTERM)
	err := cmd.Wait()
	if ee, ok := errors.AsType[*exec.ExitError](err); !ok || ee.ExitCode() != 143 {
		t.Errorf("ended with %v, want status 143", err)
	}
	out.await(t, `"kind":"summary"`)
	if m := sb.Members("g"); len(m) != 0 {
		t.Errorf("members after the leave: %v", m)
	}
}

// An operator decides about held messages of a sandbox on a terminal: one is
// acknowledged, two are refused, one is buried; what is left is not acknowledged.
func TestHoldOnATerminal(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 6)
	s := onTerminal(t, path, nil, "consume", "--namesrv", namesrv, "-g", "g1", "-t", "orders", "--from", "first", "--listener", "hold")
	s.out.await(t, "HOLDS 6")
	s.press(t, "\r")
	s.out.await(t, "Held messages")
	s.out.await(t, "1-6 of 6")
	s.press(t, "a")
	s.out.await(t, "ACKNOWLEDGE 1 held message")
	s.press(t, "\r")
	s.out.await(t, "HOLDS 5")
	s.out.await(t, "1-5 of 5")
	s.press(t, "  x") // marks two
	s.out.await(t, "REFUSE 2 held messages")
	s.press(t, "\t\x7f18\t\r") // at level 18 they come again in two hours
	s.out.await(t, "HOLDS 3")
	s.out.await(t, "1-3 of 3")
	s.press(t, "D")
	s.out.await(t, "DEAD LETTER 1 held message")
	s.press(t, "\t\r")
	s.out.await(t, "HOLDS 2")
	s.press(t, "\x03")
	if got := s.wait(t); got != 130 {
		t.Errorf("status = %d, want 130", got)
	}
	s.restored(t)
	s.out.await(t, "2 messages were held and not decided about")
	s.out.await(t, "4 messages, 0 duplicates, 3 failed in")
	if n, _, _, _ := sb.Offsets("g1", orders0); n != 4 {
		t.Errorf("committed %d, want 4: what is held is not acknowledged", n)
	}
	if _, _, _, end := sb.Offsets("g1", engine.MessageQueue{Topic: "%DLQ%g1", BrokerName: "broker-a"}); end != 1 {
		t.Errorf("%d dead letters, want 1", end)
	}
}

// The second ctrl-c on the screen leaves no command of exec behind either.
func TestExecEndsAtTheSecondCtrlC(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 1)
	pids := filepath.Join(t.TempDir(), "pids")
	s := onTerminal(t, path, nil, "consume", "--namesrv", namesrv, "-g", "g1", "-t", "orders", "--from", "first", "--exec", `sleep 300 & echo $$ $! > `+pids+`; echo begun; wait`)
	s.out.await(t, "REBAL")
	s.press(t, "!")
	s.out.await(t, "exec: begun")
	s.press(t, "\x03")
	s.press(t, "\x03")
	if got := s.wait(t); got != 130 {
		t.Errorf("status = %d, want 130", got)
	}
	s.restored(t)
	exits(t, pids)
	if n, _, _, _ := sb.Offsets("g1", orders0); n != 0 {
		t.Errorf("committed %d, want 0", n)
	}
}

// A ctrl-c that cannot do everything, since the broker is away, is a ctrl-c all the
// same, and what was left undone is said.
func TestInterruptWhileTheBrokerIsAway(t *testing.T) {
	t.Parallel()
	path := theProgram(t)
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 5)
	s := onTerminal(t, path, nil, "consume", "--namesrv", namesrv, "-g", "g1", "-t", "orders", "--from", "first")
	s.out.await(t, "REBAL")
	awaitConsumed(t, sb, "g1", "orders", 5)
	sb.StopBroker("broker-a")
	s.press(t, "\x03")
	if got := s.wait(t); got != 130 {
		t.Errorf("status = %d, want 130", got)
	}
	s.restored(t)
	out := s.out.String()
	if after := out[strings.LastIndex(out, "\x1b[?1049l")+1:]; !strings.Contains(after, "leave group g1: ") || !strings.Contains(after, "5 messages") {
		t.Errorf("after the screen stands %q", after)
	}
}

// Where no shell could wake the process, ctrl-z says so and does not stop it: this
// terminal's only program is its session's leader.
func TestSuspendWithoutAShell(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, theProgram(t), nil, "demo")
	s.out.await(t, firstScreen)
	s.press(t, "\x1a")
	s.out.await(t, "no shell here that could wake this process")
	s.press(t, "q")
	if got := s.wait(t); got != 0 {
		t.Errorf("status = %d", got)
	}
	s.restored(t)
}

// The terminal is asked to copy, by one sequence that it understands.
func TestCopyByTheTerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, theProgram(t), nil, "demo")
	s.out.await(t, "settle-1@demo")
	s.press(t, "y")
	s.out.await(t, "sent the queue's name")
	out := s.out.String()
	_, after, found := strings.Cut(out, "\x1b]52;c;")
	coded, _, ended := strings.Cut(after, "\a")
	text, err := base64.StdEncoding.DecodeString(coded)
	if !found || !ended || err != nil || !strings.Contains(string(text), "orders broker-") {
		t.Errorf("copied %q: %v", text, err)
	}
	s.press(t, "q")
	s.wait(t)
}

// A terminal that can only print lines gets lines, and is told why.
func TestADumbTerminalGetsLines(t *testing.T) {
	path := theProgram(t)
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	tests := map[string]struct {
		args   []string
		status int
		want   string
	}{
		"demo":   {[]string{"demo", "--for", "300ms"}, statusDone, "eyeq: TERM=dumb: this terminal cannot show the screen, so this prints as without a terminal"},
		"screen": {[]string{"--namesrv", deadAddress(t)}, statusUsage, "TERM=dumb says that this one cannot"},
		"watch":  {[]string{"topic", "list", "--watch=1h", "--namesrv", namesrv}, 130, "orders"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := onTerminal(t, path, []string{"TERM=dumb"}, tt.args...)
			s.out.await(t, tt.want)
			if tt.status == 130 {
				s.press(t, "\x03")
			}
			if got := s.wait(t); got != tt.status {
				t.Errorf("status = %d, want %d", got, tt.status)
			}
			s.restored(t) // all of the output has been read
			if out := s.out.String(); strings.Contains(out, "\x1b") {
				t.Errorf("it prints an escape sequence: %q", out)
			}
		})
	}
}
