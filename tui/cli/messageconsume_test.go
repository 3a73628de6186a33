package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A member's listener is called once with a message that it has consumed before, or
// that it refuses: what it says is told, and no offset moves.
func TestMessageConsume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		listener string
		status   int
		stderr   string
		result   string
	}{
		"it takes it":    {"ack", statusDone, "", "CR_SUCCESS"},
		"it refuses it":  {"fail", statusFailed, "was given the message: its listener wants it later", "CR_LATER"},
		"nobody answers": {"ack", statusFailed, "not known whether its listener has the message", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
			put(t, sb, "orders", 1, named("UNIQ_KEY", "ID1"))
			state := t.TempDir()
			member := start(t, []string{"consume", "-g", "billing", "-t", "orders", "--from", "last", "--headless", "-o", "json", "--events", "--listener", tt.listener, "--client-id", "c1", "--namesrv", namesrv})
			member.out.await(t, `"event":"queue_added"`)
			ask := func(status int, stderr string, args ...string) (j directJSON) {
				t.Helper()
				p := runs(t, append([]string{"message", "consume", "ID1", "-t", "orders", "-g", "billing", "-o", "json", "--namesrv", namesrv}, args...), withEnv("XDG_STATE_HOME", state)).want(t, status, stderr)
				if p.out.String() != "" {
					must(t, json.Unmarshal([]byte(p.out.String()), &j))
				}
				return j
			}
			if j := ask(statusDone, "", "--dry-run"); !j.DryRun || *j.ClientID != "c1" || *j.Sent || len(j.Notes) != 1 {
				t.Errorf("dry run %+v", j)
			}
			ask(statusRefused, "needs --yes")
			ask(statusRefused, "read-only", "--yes", "--read-only")
			ask(statusRefused, "group billing has no member c2 online", "--yes", "--client", "c2")
			unwritable := filepath.Join(t.TempDir(), "file")
			must(t, os.WriteFile(unwritable, nil, 0o600))
			p := runs(t, []string{"message", "consume", "ID1", "-t", "orders", "-g", "billing", "--yes", "--namesrv", namesrv}, withEnv("XDG_STATE_HOME", unwritable)).
				want(t, statusFailed, "nothing was changed, because it cannot be noted")
			if p.out.String() != "" {
				t.Errorf("a listener that was not called is said to answer: %q", p.out)
			}
			if _, err := os.Stat(filepath.Join(state, "eyeq", "audit.jsonl")); err == nil {
				t.Error("what was refused is noted")
			}
			before, _, _, _ := sb.Offsets("billing", protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a"})
			if tt.result == "" {
				sb.SetFault(func(r sandbox.Request) sandbox.Fault {
					asked := protocol.RequestCode(r.Command.Code) == protocol.ConsumeMessageDirectly
					return sandbox.Fault{Cut: asked, Lose: asked}
				})
			}
			j := ask(tt.status, tt.stderr, "--yes", "--reason", "a trial")
			if tt.result == "" && (j.Sent != nil || j.Result != nil) || tt.result != "" && (!*j.Sent || *j.Result != tt.result || *j.Consumed != (tt.status == statusDone)) {
				t.Errorf("answer %+v", j)
			}
			if after, _, _, _ := sb.Offsets("billing", protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a"}); after != before {
				t.Errorf("committed %d, %d before", after, before)
			}
			sb.SetFault(nil)
			member.signals <- os.Interrupt
			member.wait(t)
			lines := audited(t, filepath.Join(state, "eyeq", "audit.jsonl"))
			after := fmt.Sprint(lines[len(lines)-1]["after"])
			if len(lines) != 2 || lines[0]["command"] != "message consume" || lines[1]["reason"] != "a trial" || !strings.Contains(after, tt.result) {
				t.Errorf("audit %v", lines)
			}
		})
	}
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	runs(t, []string{"message", "consume", "ID1", "-t", "orders", "--namesrv", namesrv}).want(t, statusUsage, "which group?")
	runs(t, []string{"message", "consume", "-g", "g", "--namesrv", namesrv}).want(t, statusUsage, "which message?")
	runs(t, []string{"message", "consume", "ID1", "-g", "g", "--yes", "--namesrv", namesrv}).want(t, statusUsage, "-t TOPIC")
	runs(t, []string{"message", "consume", "ID1", "-t", "orders", "-g", "g", "--yes", "--namesrv", namesrv}).want(t, statusNotFound, "there is no message ID1 in orders")
}
