package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/vt"

	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui"
	"eyeq/tui/page"
)

// watchedScreen is the screen on a cluster, read by a terminal's emulator.
type watchedScreen struct {
	mu   sync.Mutex // guards vt
	vt   *vt.Emulator
	keys *io.PipeWriter
}

func (s *watchedScreen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.Write(p)
}

// text is what the terminal shows.
func (s *watchedScreen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cellsOf(s.vt)
}

// cellsOf is what a terminal shows, line by line.
func cellsOf(vt *vt.Emulator) string {
	var b strings.Builder
	for y := range vt.Height() {
		for x := 0; x < vt.Width(); {
			c := vt.CellAt(x, y)
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
	return b.String()
}

// row is the line of the queue table about a queue; "" when there is none.
func (s *watchedScreen) row(mq protocol.MessageQueue) string {
	for line := range strings.Lines(s.text()) {
		if f := strings.Fields(strings.Trim(line, "│▸ \n")); len(f) > 2 && f[0] == mq.Short() {
			return line
		}
	}
	return ""
}

// watchOn shows a group live until the test ends.
func watchOn(t *testing.T, tg *sandboxtest.Target, group string) *watchedScreen {
	t.Helper()
	in, keys := io.Pipe()
	s := &watchedScreen{vt: vt.NewEmulator(80, 24), keys: keys}
	go io.Copy(io.Discard, s.vt) // what the terminal answers
	ctx, leave := context.WithCancel(t.Context())
	client := tg.Client(t, nil)
	ended := make(chan error, 1)
	go func() {
		ended <- tui.Run(ctx, page.Options{Inspect: inspect.New(inspect.Options{Client: client}), Cluster: tg.Name, Mode: "read-only", Input: in, Output: s})
	}()
	t.Cleanup(func() {
		if t.Failed() { // before it leaves, which empties the screen
			t.Logf("the screen:\n%s", s.text())
		}
		leave()
		keys.Close()
		<-ended
		s.vt.Close()
	})
	for _, k := range ":live " + group + "\r" {
		if _, err := io.WriteString(keys, string(k)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// insideOf is what a member says of its queues; nil when it does not.
func insideOf(ctx context.Context, admin *remoting.Client, addr, group, id string) map[protocol.MessageQueue]protocol.ProcessQueueInfo {
	info, err := admin.RunningInfo(ctx, addr, group, id, false)
	if err != nil {
		return nil
	}
	return info.MQTable
}

// withCommas writes a number as the screen does.
func withCommas(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// A slow Java member shows its real cached count and span in the live view, which limit
// stops it, and killing it moves its queues on the screen soon after the group's own
// change.
func TestPeersLiveViewOfJavaMembers(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const queues, n = 4, 6000 // more than the 1,000 that a member caches of a queue
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, queues), tg.Group(t)
		p.produce(t, namesrv, topic, n)
		const stuck = "600000" // its listener does not return, so the figures stand still
		p.startStoppable(t, namesrv, group, topic, stuck, "one")
		two := p.startStoppable(t, namesrv, group, topic, stuck, "two")
		admin := clientOf(t, tg.Namesrv...)
		var addr string
		for _, addr = range tg.Masters(t) {
		}
		var ids []string
		sandboxtest.AwaitWithin(t, settleLimit, "two members with two queues each", func(ctx context.Context) bool {
			c, err := admin.Connections(ctx, addr, group)
			if err != nil || len(c.ConnectionSet) != 2 {
				return false
			}
			ids = []string{c.ConnectionSet[0].ClientID, c.ConnectionSet[1].ClientID}
			for _, id := range ids { // the first to come held all four
				held, full := 0, 0
				for mq, q := range insideOf(ctx, admin, addr, group, id) {
					if mq.Topic != topic {
						continue
					}
					held++
					if q.CachedMsgCount > 1000 {
						full++
					}
				}
				if held != queues/2 || full != held {
					return false
				}
			}
			return true
		})
		s := watchOn(t, tg, group)
		for _, id := range ids {
			for mq, q := range insideOf(t.Context(), admin, addr, group, id) {
				if mq.Topic != topic {
					continue
				}
				cached, flight := withCommas(int64(q.CachedMsgCount)), withCommas(q.CachedMsgMaxOffset+1-q.CommitOffset)
				sandboxtest.Await(t, fmt.Sprintf("%s with %s in flight and %s cached", mq.Short(), flight, cached), func(context.Context) bool {
					f := strings.Fields(strings.Trim(strings.Replace(s.row(mq), "≥ ", "", 1), "│▸ \n")) // its name, its owner, in flight, the bar, cached, …
					return len(f) > 4 && f[2] == flight && f[4] == cached
				})
			}
		}
		sandboxtest.Await(t, "which limit stops the queues", func(context.Context) bool {
			text := s.text()
			return strings.Contains(text, "flow 4/5 (cnt 4)") && strings.Contains(text, "> limit 1,000")
		})
		// Nothing finishes, and that outweighs how well the members agree.
		sandboxtest.AwaitWithin(t, toolLimit, "the word that the commits stand", func(context.Context) bool {
			return strings.Contains(s.text(), "✗ 4 commits standing still")
		})

		two.stop()
		rest := ids[0]
		if strings.HasSuffix(rest, "two") {
			rest = ids[1]
		}
		sandboxtest.AwaitWithin(t, toolLimit, "all queues with the other member", func(ctx context.Context) bool {
			held := 0
			for mq := range insideOf(ctx, admin, addr, group, rest) {
				if mq.Topic == topic {
					held++
				}
			}
			return held == queues
		})
		sandboxtest.Await(t, "its queues moved on the screen", func(context.Context) bool {
			text := s.text()
			return strings.Contains(text, "AVG 4q/1m")
		})
		s.keys.Write([]byte("7"))
		sandboxtest.Await(t, "the moves among the events", func(context.Context) bool {
			text := s.text()
			return strings.Contains(text, "MEMBER") && strings.Contains(text, "left") && strings.Contains(text, "REBAL")
		})
	})
}
