package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// --sql filters at the broker, by any property; what it leaves out is committed. tail does
// it too, without a group that the broker knows.
func TestPeersConsumeSQL(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 2), tg.Group(t)
		for _, shop := range []string{"x", "y"} {
			tg.Produce(t, topic, 10, protocol.Property{Name: "shop", Value: shop})
		}
		config := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(config, []byte("[consumer]\nsql = \"shop = 'x'\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			args []string
			want int
		}{
			{[]string{"-t", topic, "--sql", "shop = 'y' AND KEYS <> 'key-3'"}, 9},
			{[]string{"-t", topic, "--config", config}, 10},
			{[]string{"-t", topic + ":*", "--config", config}, 20},
		} {
			g := group
			if tt.want != 9 {
				g = tg.Group(t)
			}
			run := startLeaving(t, append([]string{"consume", "--namesrv", namesrv, "-g", g, "--from", "first", "--headless", "-o", "json"}, tt.args...))
			awaitAllCommitted(t, tg, g, topic, 20)
			run.signals <- syscall.SIGTERM
			if got := run.wait(t).want(t, 143, "").objects(t); len(got["message"]) != tt.want {
				t.Errorf("%v: %d messages, want %d", tt.args, len(got["message"]), tt.want)
			}
		}
		p.wantProgress(t, namesrv, group, topic, 20)
		tail := []string{"tail", topic, "--namesrv", namesrv, "--from", "earliest", "--until", "now", "-o", "json", "--sql"}
		if got := runs(t, append(tail, "shop = 'y' AND KEYS <> 'key-3'")).want(t, statusDone, "").objects(t)["message"]; len(got) != 9 {
			t.Errorf("tail: %d messages, want 9", len(got))
		}
		runs(t, append(tail, "shop = = 'y'")).want(t, statusUsage, `refuses the SQL92 expression "shop = = 'y'" of topic `+topic)
		runs(t, []string{"consume", "--namesrv", namesrv, "-g", tg.Group(t), "-t", topic, "--headless", "--sql", "shop = = 'y'"}).
			want(t, statusUsage, `refuses the SQL92 expression "shop = = 'y'" of topic `+topic)
	})
}

// A broker without its property filter ends the start, with what to do about it.
func TestPeersPropertyFilterOff(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, _ *sandboxtest.Target, p *peers) {
		namesrv := p.up(t, t.TempDir(), "enablePropertyFilter=false")
		p.produce(t, namesrv, "orders", 4)
		run := runs(t, []string{"consume", "--namesrv", namesrv, "-g", "g", "-t", "orders", "--from", "first", "--headless", "--sql", "a > 5"}).
			want(t, statusFailed, "set enablePropertyFilter=true at this broker, or filter by tags")
		if s := run.err.String(); !strings.Contains(s, "group g was not joined: broker broker-a (127.0.0.1:") || !strings.Contains(s, "does not support consumer to filter message by SQL92") {
			t.Errorf("standard error = %q", s)
		}
		c := clientOf(t, namesrv)
		route, err := c.Route(t.Context(), "orders")
		if err != nil {
			t.Fatal(err)
		}
		run = startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", "g", "-t", "orders:A", "--from", "first", "--headless", "-o", "json"})
		sandboxtest.Await(t, "the commits", func(ctx context.Context) bool { return committedIn(ctx, c, "g", route.Queues) == 4 })
		run.signals <- syscall.SIGTERM
		if got := run.wait(t).want(t, 143, "").objects(t); len(got["message"]) != 2 {
			t.Errorf("%d messages by tag, want 2", len(got["message"]))
		}
	})
}
