package cli

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A wrong key is told by status 1 and in the last line also where a busy broker did not
// look at the question that was to try it: any other that it refuses decides.
func TestDenialDecidesBehindABusyAnswer(t *testing.T) {
	t.Parallel()
	commands := map[string][]string{
		"group list":           {"group", "list"},
		"group list names":     {"group", "list", "--names"},
		"group show":           {"group", "show", "g"},
		"group members":        {"group", "members", "g"},
		"group stack":          {"group", "members", "g", "--client", "c", "--stack"},
		"group lag":            {"group", "lag", "g"},
		"group doctor":         {"group", "doctor", "g", "--samples", "1"},
		"group reset":          {"group", "reset", "g", "-t", "orders", "--to", "earliest", "--yes"},
		"group reset planned":  {"group", "reset", "g", "-t", "orders", "--to", "earliest", "--dry-run"},
		"group pause":          {"group", "pause", "g", "--yes"},
		"group pause planned":  {"group", "pause", "g", "--dry-run"},
		"group resume":         {"group", "resume", "g", "--yes"},
		"group clone":          {"group", "clone", "g", "h", "-t", "orders", "--yes"},
		"group create":         {"group", "create", "h", "--yes"},
		"group delete":         {"group", "delete", "g", "--yes"},
		"topic list":           {"topic", "list"},
		"topic list names":     {"topic", "list", "--names"},
		"topic show":           {"topic", "show", "orders"},
		"topic create":         {"topic", "create", "more", "--yes"},
		"topic delete":         {"topic", "delete", "orders", "--yes"},
		"broker list":          {"broker", "list"},
		"broker show":          {"broker", "show", "broker-a"},
		"message find":         {"message", "find", "-t", "orders", "--key", "k"},
		"message find in time": {"message", "find", "-t", "orders", "--from", "-1h"},
		"message get":          {"message", "get", "-t", "orders", "--queue", "broker-a:0", "--offset", "0"},
		"message track":        {"message", "track", "7F0000010DFC1EB2C6F6000000000001", "-t", "orders"},
		"message resend":       {"message", "resend", "-t", "%DLQ%g", "--all", "--yes"},
		"message consume":      {"message", "consume", "7F0000010DFC1EB2C6F6000000000001", "-t", "orders", "-g", "g", "--yes"},
		"tail":                 {"tail", "orders", "--from", "earliest", "--until", "now"},
		"send":                 {"send", "orders", "x"},
		"allocate":             {"allocate", "-g", "g", "-t", "orders"},
		"consume":              {"consume", "-g", "g", "-t", "orders", "--headless", "--max", "1", "-o", "none"},
	}
	for _, line := range []string{"5", "4"} {
		sb, ns := serveSandbox(t, sandboxtest.Line(line), sandboxtest.Topic("orders", 2), sandboxtest.Topic("%DLQ%g", 1), sandboxtest.With(func(o *sandbox.Options) {
			o.Users = map[string]string{"ops": theSecret}
		}))
		put(t, sb, "orders", 4)
		tried, busy := map[string]bool{}, atomic.Int64{}
		sb.SetFault(func(r sandbox.Request) sandbox.Fault {
			if r.Broker != "" && protocol.RequestCode(r.Command.Code) == protocol.GetBrokerRuntimeInfo && !tried[r.Remote] {
				tried[r.Remote] = true
				busy.Add(1)
				return sandbox.Fault{Code: protocol.SystemBusy, Remark: "[TIMEOUT_CLEAN_QUEUE]broker busy"}
			}
			return sandbox.Fault{}
		})
		for name, args := range commands {
			p := runs(t, slices.Concat(args, []string{"--namesrv", ns}), withEnv("EYEQ_ACCESS_KEY", "ops", "EYEQ_SECRET_KEY", "something else"))
			said := strings.Split(strings.TrimSpace(p.err.String()), "\n")
			if p.status != statusFailed || !strings.Contains(said[len(said)-1], "the secret key does not match the access key") {
				t.Errorf("%s on line %s: status %d, out %q, err %q", name, line, p.status, p.out, p.err)
			}
		}
		if busy.Load() == 0 {
			t.Errorf("line %s: nobody was asked", line)
		}
	}
}
