package tui

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine/inspect/message"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
	"eyeq/tui/table"
)

// tmuxPane is the screen of this process on the terminal of a tmux of its own.
type tmuxPane struct {
	t       *testing.T
	socket  string
	changed chan struct{} // tmux has drawn something
	done    chan error
}

// inTmux runs the screen in a tmux of w × h cells.
func inTmux(t *testing.T, o page.Options, w, h int) *tmuxPane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux here")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "conf")
	if err := os.WriteFile(config, []byte("set -g status off\nset -g set-clipboard on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &tmuxPane{t: t, socket: filepath.Join(dir, "socket"), changed: make(chan struct{}, 1), done: make(chan error, 1)}
	p.tmux("-u", "-f", config, "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "sleep 600")
	control := p.command("-C", "attach", "-f", "ignore-size")
	events, err := control.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := control.StdinPipe() // it ends with its input
	if err != nil {
		t.Fatal(err)
	}
	if err := control.Start(); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for lines := bufio.NewReader(events); ; {
			if _, err := lines.ReadString('\n'); err != nil {
				return
			}
			select {
			case p.changed <- struct{}{}:
			default:
			}
		}
	})
	tty, err := os.OpenFile(strings.TrimSpace(p.tmux("display", "-p", "#{pane_tty}")), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	o.Input, o.Output, o.Location, o.Now = tty, tty, fixtureZone, func() time.Time { return fixtureNow }
	ctx, stop := context.WithCancel(t.Context())
	go func() { p.done <- Run(ctx, o); close(p.done) }()
	t.Cleanup(func() {
		stop()
		<-p.done
		p.wraps("01")
		p.tmux("kill-server")
		stdin.Close()
		wg.Wait()
		control.Wait()
		tty.Close()
	})
	return p
}

func (p *tmuxPane) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "LC_ALL=C.UTF-8")
	return cmd
}

func (p *tmuxPane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.command(args...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// wraps checks whether the pane shows the alternate screen, and wraps rows.
func (p *tmuxPane) wraps(want string) {
	p.t.Helper()
	if got := strings.TrimSpace(p.tmux("display", "-p", "#{alternate_on}#{wrap_flag}")); got != want {
		p.t.Errorf("alternate screen and automatic wrapping are %s, want %s", got, want)
	}
}

// foreignTail is a tail with foreignTexts in every place of its messages.
func foreignTail(t testing.TB) *page.TailBatch {
	b := &page.TailBatch{}
	for i := range 3 * len(foreignTexts) {
		text := foreignTexts[i%len(foreignTexts)]
		b.Messages = append(b.Messages, tailRecord(t, func(r *protocol.Record) {
			r.QueueOffset = int64(i)
			r.Properties[1].Value, r.Properties[2].Value, r.Properties[3].Value = text, text, text
			r.Body = []byte(`{"name":"` + text + `","x":"` + strings.Repeat(text+" ", i%5) + `"}`)
		}))
	}
	b.Seen, b.Matched = int64(len(b.Messages)), int64(len(b.Messages))
	return b
}

// once is a tail that has one batch.
type once struct{ b *page.TailBatch }

func (o *once) Next(ctx context.Context) (b page.TailBatch, err error) {
	if o.b == nil {
		<-ctx.Done()
		return b, ctx.Err()
	}
	b, o.b = *o.b, nil
	return b, nil
}
func (o *once) SetFilter(int, message.Filter) error { return nil }
func (o *once) Close()                              {}

// standings says where each settled character of a frame stands, where model gives the
// widths of runs.
func standings(t testing.TB, frame string, w int, model func(string) int) [][]string {
	var rows [][]string
	for line := range strings.SplitSeq(frame, "\n") {
		rows = append(rows, standing(t, line, w, model))
	}
	return rows
}

// standings says where each settled character stands in the emulator.
func (s *session) standings() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([][]string, s.h)
	for y := range rows {
		for x := range s.w {
			c := s.vt.CellAt(x, y)
			if c == nil {
				continue
			}
			for _, r := range c.Content {
				if r != ' ' && table.Settled(r) {
					rows[y] = append(rows[y], fmt.Sprintf("%d %c", x, r))
				}
			}
		}
	}
	return rows
}

// TestForeignTextInTerminals scrolls through texts about whose width terminals differ, away,
// back and on, and compares the place of each character with what was laid out.
func TestForeignTextInTerminals(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		w, h := size[0], size[1]
		options := func() page.Options {
			o := defaultOptions()
			o.Inspect, o.Engines = fixtureCluster(), []page.NamedEngine{}
			o.OpenTail = func(context.Context, page.TailRequest) (page.Tail, error) { return &once{foreignTail(t)}, nil }
			return o
		}
		// scroll goes through the tail and has each frame waited for.
		scroll := func(t *testing.T, press func(keys string), shown func() [][]string, changed <-chan struct{}) {
			await := func(right func(rows [][]string) bool, wrong func(rows [][]string) string) {
				t.Helper()
				limit := time.NewTimer(patience)
				defer limit.Stop()
				for {
					rows := shown()
					if right(rows) {
						return
					}
					select {
					case <-changed:
					case <-limit.C:
						t.Fatal(wrong(rows))
					}
				}
			}
			await(func(rows [][]string) bool { return strings.Contains(fmt.Sprint(rows), "1 ✗ 3 1 5 o 6 f 8 9") },
				func(rows [][]string) string { return fmt.Sprintf("no list of 9 groups: %v", rows) })
			press(":tail orders-paid\r")
			d, _ := tailing(t, w, h, defaultOptions(), "orders-paid", nil, foreignTail(t))
			see := func() {
				t.Helper()
				want := standings(t, d.frame(), w, table.Width)
				cut := func(rows [][]string) [][]string { // what name servers there are comes when it comes
					rows[0] = rows[0][:min(len("eyeq*prod-sh"), len(rows[0]))]
					return rows
				}
				want = cut(want)
				await(func(rows [][]string) bool { return cmp.Equal(want, cut(rows)) }, func(rows [][]string) string { return "(-want +got):\n" + cmp.Diff(want, cut(rows)) })
			}
			see()
			for _, keys := range []string{"g", "\x04", "jjj", "JJ", "G", "kkk", "g", "\x0c", "j"} {
				press(keys)
				for _, k := range keys {
					switch k {
					case '\x04':
						d.keys("ctrl+d")
					case '\x0c':
						d.keys("ctrl+l")
					default:
						d.keys(string(k))
					}
				}
				see()
			}
		}
		t.Run(fmt.Sprintf("x/vt %dx%d", w, h), func(t *testing.T) {
			s := startSession(t, t.Context(), options(), w, h)
			scroll(t, s.press, s.standings, s.changed)
		})
		t.Run(fmt.Sprintf("tmux %dx%d", w, h), func(t *testing.T) {
			p := inTmux(t, options(), w, h)
			scroll(t, func(keys string) { p.tmux("send-keys", "-l", keys) }, func() [][]string {
				return standings(t, strings.TrimRight(p.tmux("capture-pane", "-p"), "\n"), w, sumOfCharacters)
			}, p.changed)
			p.wraps("10")
		})
	}
}

// TestTmuxTakesWhatIsCopied: with its defaults tmux passes nothing through to the terminal,
// so what is copied is sent to itself as well.
func TestTmuxTakesWhatIsCopied(t *testing.T) {
	o := sessionOptions(fixedEngine(fixture(0)))
	o.Multiplexer = "tmux"
	p := inTmux(t, o, 120, 36)
	await := func(want string, shown func() string) {
		t.Helper()
		limit := time.NewTimer(patience)
		defer limit.Stop()
		for text := shown(); !strings.Contains(text, want); text = shown() {
			select {
			case <-p.changed:
			case <-limit.C:
				t.Fatalf("no %q in %q", want, text)
			}
		}
	}
	screen := func() string { return p.tmux("capture-pane", "-p") }
	await("NORMAL", screen)
	p.tmux("send-keys", "-l", "y")
	await("sent the queue's name, 22 B, to tmux, which passes it on with set-clipboard on", screen)
	await("orders-paid broker-a/3", func() string { return p.tmux("list-buffers", "-F", "#{buffer_sample}") })
}
