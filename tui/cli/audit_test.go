package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// audited are the lines of an audit file.
func audited(t *testing.T, path string) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for line := range strings.Lines(string(text)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("audit line %q: %v", line, err)
		}
		lines = append(lines, m)
	}
	return lines
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSendIsAudited(t *testing.T) {
	_, ns := serveSandbox(t, sandboxtest.Topic("orders", 2))
	state := t.TempDir()
	env := withEnv("XDG_STATE_HOME", state, "SUDO_USER", "li")
	runs(t, []string{"send", "orders", "the-body", "-n", "3", "--namesrv", ns, "--dry-run"}, env).want(t, statusDone, "")
	path := filepath.Join(state, "eyeq", "audit.jsonl")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run left an audit file: %v", err)
	}
	runs(t, []string{"send", "orders", "the-body", "-n", "3", "--namesrv", ns}, env).want(t, statusDone, "")
	lines := audited(t, path)
	if len(lines) != 2 || lines[1]["operator"] != "li" || lines[1]["topic"] != "orders" || fmt.Sprint(lines[1]["after"]) != "map[body_size:8 messages:3]" {
		t.Errorf("lines %v", lines)
	}
	text, _ := os.ReadFile(path)
	if strings.Contains(string(text), "the-body") {
		t.Error("the audit file has the body")
	}
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o700))
	p := runs(t, []string{"send", "orders", "x", "--namesrv", ns}, env).want(t, statusFailed, "send: nothing was changed, because it cannot be noted in the audit file")
	if p.out.String() != "" {
		t.Errorf("sent all the same: %s", p.out)
	}
}
