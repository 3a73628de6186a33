package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// patience bounds waits for what takes a second on a quiet machine: it ends a test whose
// program hangs, and a busy machine does not come near it.
const patience = 2 * time.Minute

// buffer is a bytes.Buffer for several goroutines that can be waited on.
type buffer struct {
	mu      sync.Mutex
	b       bytes.Buffer
	changed chan struct{}
}

func newBuffer() *buffer { return &buffer{changed: make(chan struct{}, 1)} }

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// await waits until the text contains want.
func (b *buffer) await(t *testing.T, want string) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !strings.Contains(b.String(), want) {
		select {
		case <-b.changed:
		case <-limit.C:
			t.Fatalf("no %q within %v in %q", want, patience, b.String())
		}
	}
}

// program is one command line that runs in this process.
type program struct {
	out, err *buffer
	signals  chan os.Signal
	exited   chan int // of env.exit: the end at once
	done     chan struct{}
	status   int
}

// option changes the env of a program.
type programOption func(e *env)

func withEnv(pairs ...string) programOption {
	return func(e *env) {
		set := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			set[pairs[i]] = pairs[i+1]
		}
		before := e.getenv
		e.getenv = func(k string) string {
			if v, ok := set[k]; ok {
				return v
			}
			return before(k)
		}
	}
}

func withStdin(r io.Reader) programOption { return func(e *env) { e.stdin = r } }

func withStdout(w io.Writer) programOption { return func(e *env) { e.stdout = w } }

// start begins a command line; the test waits for its end.
func start(t *testing.T, args []string, opts ...programOption) *program {
	t.Helper()
	p := &program{out: newBuffer(), err: newBuffer(), signals: make(chan os.Signal, 2), exited: make(chan int, 1), done: make(chan struct{})}
	dirs := map[string]string{"XDG_CONFIG_HOME": t.TempDir(), "XDG_STATE_HOME": t.TempDir()}
	e := &env{
		stdin: strings.NewReader(""), stdout: p.out, stderr: p.err,
		getenv: func(k string) string { return dirs[k] }, signals: p.signals, now: time.Now,
		exit: func(status int) { p.exited <- status },
	}
	for _, o := range opts {
		o(e)
	}
	go func() {
		defer close(p.done)
		p.status = run(context.WithoutCancel(t.Context()), e, args)
	}()
	t.Cleanup(func() { p.wait(t) })
	return p
}

// wait returns when the program has ended.
func (p *program) wait(t *testing.T) *program {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("the program has not ended: stdout %q, stderr %q", p.out, p.err)
	}
	return p
}

// runs runs a command line to its end.
func runs(t *testing.T, args []string, opts ...programOption) *program {
	t.Helper()
	return start(t, args, opts...).wait(t)
}

// want checks the exit status and that standard error contains a text.
func (p *program) want(t *testing.T, status int, stderr string) *program {
	t.Helper()
	if p.status != status {
		t.Errorf("status = %d, want %d; stdout %q, stderr %q", p.status, status, p.out, p.err)
	}
	if !strings.Contains(p.err.String(), stderr) {
		t.Errorf("stderr = %q, want it to contain %q", p.err, stderr)
	}
	return p
}

// lines are the lines of standard output.
func (p *program) lines() []string {
	return strings.Split(strings.TrimSuffix(p.out.String(), "\n"), "\n")
}

// objects are the lines of standard output as JSON, by kind.
func (p *program) objects(t *testing.T) map[string][]map[string]any {
	t.Helper()
	byKind := map[string][]map[string]any{}
	if p.out.String() == "" {
		return byKind
	}
	for _, line := range p.lines() {
		o := decodeLine(t, []byte(line+"\n"))
		kind := fmt.Sprint(o["kind"])
		byKind[kind] = append(byKind[kind], o)
	}
	return byKind
}

// serveSandbox runs a sandbox on TCP and gives its name server's address.
func serveSandbox(t *testing.T, opts ...sandboxtest.Option) (*sandbox.Sandbox, string) {
	t.Helper()
	sb := sandboxtest.Start(t, opts...)
	namesrv, _, err := sb.ListenTCP("127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return sb, namesrv
}

// put stores n messages "1" … "n" in the queues of a topic by turns.
func put(t *testing.T, sb *sandbox.Sandbox, topic string, n int, properties ...protocol.Property) {
	t.Helper()
	for i := range n {
		sb.Put(sandbox.Message{Topic: topic, QueueID: -1, Body: fmt.Appendf(nil, "%d", i+1), Properties: properties})
	}
}

// deadAddress is an address at which nobody listens, and nobody can until the test is
// over: this end of a connection has it.
func deadAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

// silentAddress is an address that takes connections and never answers.
func silentAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln.Addr().String()
}

func jsonNumber(s string) json.Number { return json.Number(s) }

// contextThatEnds is a context with its end.
func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
