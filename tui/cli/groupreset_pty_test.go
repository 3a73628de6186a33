package cli

import (
	"strings"
	"testing"
	"time"
)

// On a terminal the plan is shown and the group's name asked for; a yes is not enough,
// and one of RocketMQ's own groups is asked for twice.
func TestGroupResetAsksOnATerminal(t *testing.T) {
	t.Parallel()
	c := newChanged(t, "5")
	c.makeGroup(t, "CID_RMQ_SYS_TRANS")
	c.commit(t, "CID_RMQ_SYS_TRANS", 3)
	ask := func(group string, typed ...string) string {
		t.Helper()
		s := onTerminal(t, theProgram(t), []string{"EYEQ_NAMESRV=" + c.namesrv, "XDG_CONFIG_HOME=" + t.TempDir()}, "group", "reset", group, "--to", "latest")
		for i, line := range typed {
			awaitCount(t, s.out, "to go on: ", i+1)
			if _, err := s.tty.Write([]byte(line + "\r")); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() { ended <- s.cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatalf("not ended: %q", s.out)
		}
		s.slave.Close() // with the last end gone, reading stops behind the last byte
		<-s.read
		return s.out.String()
	}
	out := ask("g", "yes")
	if got := c.offsets(t, "g"); got != "6 6" || !strings.Contains(out, "SKIP 4") || !strings.Contains(out, "type g to go on") || !strings.Contains(out, "not confirmed") {
		t.Errorf("a yes: offsets %s, terminal %q", got, out)
	}
	ask("g", "g")
	if got := c.offsets(t, "g"); got != "10 10" {
		t.Errorf("the name: offsets %s", got)
	}
	ask("CID_RMQ_SYS_TRANS", "CID_RMQ_SYS_TRANS", "g")
	if got := c.offsets(t, "CID_RMQ_SYS_TRANS"); got != "3 3" {
		t.Errorf("a system group by one name: offsets %s", got)
	}
	out = ask("CID_RMQ_SYS_TRANS", "CID_RMQ_SYS_TRANS", "CID_RMQ_SYS_TRANS")
	if got := c.offsets(t, "CID_RMQ_SYS_TRANS"); got != "10 10" || !strings.Contains(out, "RocketMQ's own groups") {
		t.Errorf("a system group by two names: offsets %s, terminal %q", got, out)
	}
}
