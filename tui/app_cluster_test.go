package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"eyeq/engine/inspect"
	"eyeq/tui/page"
)

// clusters are two: prod-sh, which is shown, and dev. closed tells which were closed.
func clusters(closed *[]string) page.Options {
	o := defaultOptions()
	o.Clusters = []string{"dev", "prod-sh"}
	o.Close = func() { *closed = append(*closed, "prod-sh") }
	o.Switch = func(_ context.Context, name string) (page.Options, error) {
		dev := fullCluster()
		dev.groups = func() (inspect.GroupList, error) {
			return inspect.GroupList{Groups: []inspect.GroupName{{Group: "dev-group"}}}, nil
		}
		return page.Options{Cluster: name, Clusters: o.Clusters, Mode: "read-only", ModeWhy: "clusters.dev.mode", Inspect: dev,
			Close: func() { *closed = append(*closed, name) }}, nil
	}
	return o
}

func TestAnotherClusterIsShownOnTheSameScreen(t *testing.T) {
	var closed []string
	d := driveCluster(t, 120, 36, clusters(&closed), fullCluster()).see("prod-sh").keys("ctrl+t", "2", ":").typing("cluster dev").keys("enter")
	d.see("dev  READ-ONLY").see("dev-group").miss("order-settle").miss("prod-sh")
	if d.quit || len(closed) != 1 || closed[0] != "prod-sh" {
		t.Errorf("quit %v, closed %v: only what the old cluster asked through ends", d.quit, closed)
	}
	if d.a.env.Mode == 0 {
		t.Error("the operator's way to see times is forgotten")
	}
	d.keys(":", "up").see(":cluster dev").keys("esc", ":").typing("pause x").keys("enter").see("read-only (clusters.dev.mode)")
	d.keys(":").typing("cluster prod-sh").keys("enter").see("prod-sh").see("[4 Groups]")
}

func TestAClusterThatCannotBeOpenedCostsNothing(t *testing.T) {
	var closed []string
	o := clusters(&closed)
	o.Switch = func(context.Context, string) (page.Options, error) {
		return page.Options{}, errors.New("the secret key of cluster dev: \x1b]0;x\a no such file")
	}
	d := driveCluster(t, 80, 24, o, fullCluster()).keys("2", ":").typing("cluster dev").keys("enter")
	d.see("CANNOT GO to cluster dev").see("no such file").see("Stay on prod-sh").keys("enter").see("Lag  order-settle").miss("CANNOT")
	if len(closed) != 0 || len(d.a.dialogs) != 0 {
		t.Errorf("closed %v, %d dialogs", closed, len(d.a.dialogs))
	}
}

// Keys that are typed while the other cluster is asked must not reach it: only esc means
// something, and then its answer comes too late.
func TestWaitingForAClusterTakesTheKeys(t *testing.T) {
	var closed []string
	o := clusters(&closed)
	d := driveCluster(t, 120, 36, o, fullCluster())
	_, cmd := d.a.Update(keyMsg(":"))
	d.run(cmd)
	d.keys(":").typing("cluster dev")
	m, cmd := d.a.Update(keyMsg("enter"))
	d.a = m.(app)
	d.see("going to cluster dev").see("order-settle").keys("2", "R", "q").see("[4 Groups]").see("going to cluster dev")
	d.keys("f1").see("Keys") // something above it
	d.keys("esc", "esc").miss("going to")
	d.run(cmd)
	d.see("prod-sh").see("order-settle")
	if len(closed) != 1 || closed[0] != "dev" {
		t.Errorf("closed %v, want what nobody has come to", closed)
	}
}

func TestAnswersOfAnOldClusterAreDropped(t *testing.T) {
	c := page.NewCommands(t.Context())
	ask := func(c page.Commands, m tea.Msg) tea.Msg {
		return c.Within(time.Second, func(context.Context) tea.Msg { return m })()
	}
	answer, left := ask(c, page.AnswerMsg{}), ask(c, leftMsg{})
	if alive(answer) == nil {
		t.Fatal("an answer is dropped")
	}
	next := c.Renew()
	if m := alive(answer); m != nil {
		t.Errorf("%T of the old cluster is taken", m)
	}
	if alive(left) == nil {
		t.Error("that the engines have ended is told once only, and was dropped")
	}
	if alive(ask(next, page.AnswerMsg{})) == nil {
		t.Error("the new cluster's answers are dropped")
	}
}

// The terminal sees one alternate screen from the first cluster to the last, but where a
// program may ask for a passphrase: it has the terminal to itself.
func TestGoingToAClusterLeavesNoScreen(t *testing.T) {
	for name, asks := range map[string]bool{"quiet": false, "asking": true} {
		t.Run(name, func(t *testing.T) {
			var closed []string
			o := clusters(&closed)
			o.Inspect = fullCluster()
			o.Now = time.Now
			var s *session
			free := false
			inner := o.Switch
			o.Switch = func(ctx context.Context, name string) (page.Options, error) {
				free = s.modes() == s.before
				return inner(ctx, name)
			}
			o.Asks = func(string) bool { return asks }
			s = startSession(t, t.Context(), o, 120, 36)
			s.wait("order-settle")
			s.press(":")
			s.wait("COMMAND")
			s.press("cluster dev\r")
			s.wait("dev-group")
			s.mu.Lock()
			left := strings.Count(string(s.raw), "\x1b[?1049l")
			s.mu.Unlock()
			if want := map[bool]int{true: 1}[asks]; left != want || free != asks {
				t.Errorf("the alternate screen was left %d times, want %d; the terminal was free: %v", left, want, free)
			}
			s.press("q")
			if err := s.ended(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A command that is completed leads on to what may follow it, and what is no consumer of
// this process is not offered as one.
func TestCompletionLeadsOn(t *testing.T) {
	d := driveCluster(t, 120, 36, defaultOptions(), fullCluster()).keys(":").typing("li").keys("tab").see(":live ").see("audit-copy").keys("tab").miss(":live 1").see(":live ")
	if line := d.lines()[d.at(":live ")]; !strings.Contains(line, ":live audit-copy") && !strings.Contains(line, ":live order-settle") {
		t.Errorf("after the second tab: %q", line)
	}
}
