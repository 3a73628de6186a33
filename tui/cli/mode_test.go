package cli

import (
	"os"
	"path/filepath"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// What each mode lets a command do where there is no terminal to ask on.
func TestModes(t *testing.T) {
	t.Parallel()
	sb, ns := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	runs(t, []string{"consume", "-g", "g", "-t", "orders", "--from", "first", "--headless", "--max", "3", "-o", "none", "--namesrv", ns}).want(t, statusDone, "")
	path := filepath.Join(t.TempDir(), "c.toml")
	cluster := func(name, lines string) string {
		return "[clusters." + name + "]\nnamesrv = [\"" + ns + "\"]\n" + lines + "\n"
	}
	text := cluster("plain", "") + cluster("prod", "production = true") + cluster("open", "mode = \"open\"") +
		cluster("prod-open", "production = true\nmode = \"open\"") + cluster("prod-confirm", "production = true\nmode = \"confirm\"") + cluster("ro", "mode = \"read-only\"")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	reset := []string{"group", "reset", "g", "-t", "orders", "--to", "earliest"}
	const asks, readOnly = "needs --yes", "is read-only"
	tests := map[string]struct {
		target             []string
		bare, yes, dry     int
		bareSays, yesSays  string
		sendStatus, reader int
	}{
		"a bare --namesrv": {[]string{"--namesrv", ns}, statusRefused, statusDone, statusDone, asks, "", statusDone, statusDone},
		"no mode":          {[]string{"--cluster", "plain"}, statusRefused, statusDone, statusDone, asks, "", statusDone, statusDone},
		"production":       {[]string{"--cluster", "prod"}, statusRefused, statusRefused, statusDone, readOnly, readOnly, statusRefused, statusDone},
		"prod, confirm":    {[]string{"--cluster", "prod-confirm"}, statusRefused, statusDone, statusDone, asks, "", statusDone, statusDone},
		"prod, open":       {[]string{"--cluster", "prod-open"}, statusRefused, statusDone, statusDone, asks, "", statusDone, statusDone},
		"read-only":        {[]string{"--cluster", "ro"}, statusRefused, statusRefused, statusDone, readOnly, readOnly, statusRefused, statusDone},
		"--read-only":      {[]string{"--cluster", "open", "--read-only"}, statusRefused, statusRefused, statusDone, readOnly, "flag --read-only", statusRefused, statusDone},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			on := func(args ...string) *program {
				return runs(t, append(append(args, "--config", path), tt.target...))
			}
			on(reset...).want(t, tt.bare, tt.bareSays)
			on(append(reset, "--yes")...).want(t, tt.yes, tt.yesSays)
			on(append(reset, "--dry-run")...).want(t, tt.dry, "")
			on("send", "orders", "x").want(t, tt.sendStatus, "")
			on("send", "orders", "x", "--dry-run").want(t, statusDone, "")
			on("group", "lag", "g").want(t, tt.reader, "")
		})
	}
}
