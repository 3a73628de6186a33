package cli

import (
	"fmt"
	"strings"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A pause is planned, refused without a yes, made, noted, shown, and taken back.
func TestGroupPause(t *testing.T) {
	for _, line := range []string{"5", "4"} {
		t.Run("line "+line, func(t *testing.T) {
			c := newChanged(t, line)
			paused := func() bool {
				t.Helper()
				return object(t, c.run(t, "show", "g", "-o", "json").want(t, statusDone, ""))["paused"].(bool)
			}
			dry := c.run(t, "pause", "g", "--dry-run").want(t, statusDone, "")
			if !strings.Contains(dry.out.String(), "pausing group g\n") || !strings.Contains(dry.out.String(), "consuming  paused") || !strings.Contains(dry.out.String(), "no member is connected") {
				t.Errorf("the plan: %s", dry.out)
			}
			c.run(t, "pause", "g").want(t, statusRefused, "needs --yes")
			c.run(t, "pause", "g", "--yes", "--read-only").want(t, statusRefused, "read-only")
			c.run(t, "pause", "nobody", "--yes").want(t, statusNotFound, `no group "nobody"`)
			c.run(t, "pause", "g", "-t", "none", "--yes").want(t, statusNotFound, `no topic "none"`)
			if paused() || c.audited(t) != nil {
				t.Errorf("without a yes: paused %v, audit %v", paused(), c.audited(t))
			}
			done := object(t, c.run(t, "pause", "g", "--yes", "--reason", "bad batch", "-o", "json").want(t, statusDone, ""))
			b := done["brokers"].([]any)[0].(map[string]any)
			got := fmt.Sprintln(done["action"], b["broker"], b["paused_before"], b["paused_after"], b["verified"], b["changed_otherwise"], done["proved"])
			if want := fmt.Sprintln("pause", "broker-a", false, true, true, []any{}, false); got != want || !paused() {
				t.Errorf("JSON %s, want %s; paused %v", got, want, paused())
			}
			audit := c.audited(t)
			if len(audit) != 2 || audit[1]["command"] != "group pause" || fmt.Sprint(audit[1]["before"], audit[1]["after"]) != "map[broker-a:false] map[broker-a:true]" {
				t.Errorf("audit %v", audit)
			}
			if resumed := c.run(t, "resume", "g", "--yes").want(t, statusDone, ""); paused() || !strings.Contains(resumed.out.String(), "nobody to prove it by") {
				t.Errorf("resumed: %s", resumed.out)
			}
			topic := c.run(t, "pause", "g", "-t", "orders", "--yes")
			if line == "4" {
				topic.want(t, statusRefused, "pause the whole group")
				return
			}
			topic.want(t, statusDone, "")
			c.run(t, "resume", "g", "-t", "orders", "--yes").want(t, statusDone, "")
		})
	}
}

// A broker that cannot be reached is told in the plan, and a pause in part is not called done.
func TestGroupPauseInPart(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Brokers("broker-a", "broker-b"), sandboxtest.Topic("orders", 1))
	run := func(args ...string) *program { return runs(t, append(args, "--namesrv", namesrv, "--timeout", "3s")) }
	run("consume", "-g", "g", "-t", "orders", "--headless", "--idle-exit", "300ms").want(t, statusDone, "")
	sb.SetFault(func(r sandbox.Request) sandbox.Fault { return sandbox.Fault{Cut: r.Broker == "broker-b"} })
	dry := run("group", "pause", "g", "--dry-run").want(t, statusDone, "")
	if !strings.Contains(dry.out.String(), "cannot be read: unreachable") {
		t.Errorf("the plan: %s", dry.out)
	}
	done := run("group", "pause", "g", "--yes").want(t, statusFailed, "the group is paused at 1 of 2 brokers only; broker-b: ")
	if !strings.Contains(done.out.String(), "consuming  paused") {
		t.Errorf("the result: %s", done.out)
	}
}

// A cluster without a broker that is alive is no cluster without the group.
func TestGroupChangesNeedABroker(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	sb.StopBroker("broker-a")
	for _, args := range [][]string{{"reset", "g", "--to", "latest"}, {"pause", "g"}, {"clone", "g", "h", "-t", "orders"}} {
		runs(t, append([]string{"group"}, append(args, "--dry-run", "--namesrv", namesrv)...)).want(t, statusUnreachable, "no broker is registered")
	}
}

// Offsets are copied to a group that is there.
func TestGroupClone(t *testing.T) {
	c := newChanged(t, "5")
	c.run(t, "clone", "g").want(t, statusUsage, "from which group to which?")
	c.run(t, "clone", "g", "h").want(t, statusUsage, "which topic?")
	c.run(t, "clone", "g", "h", "-t", "orders", "--yes").want(t, statusRefused, "create it first")
	c.makeGroup(t, "h")
	dry := c.run(t, "clone", "g", "h", "-t", "orders", "--dry-run").want(t, statusDone, "")
	if !strings.Contains(dry.out.String(), "SKIP 6") {
		t.Errorf("the plan: %s", dry.out)
	}
	c.run(t, "clone", "g", "h", "-t", "orders").want(t, statusRefused, "needs --yes")
	if got := c.offsets(t, "h"); got != "-1 -1" {
		t.Errorf("without a yes the offsets are %s", got)
	}
	done := object(t, c.run(t, "clone", "g", "h", "-t", "orders", "--yes", "-o", "json").want(t, statusDone, ""))
	q := done["queues"].([]any)[1].(map[string]any)
	if got := fmt.Sprintln(q["queue"], q["before"], q["after"], q["state"], q["verified"], done["saved_to"] != nil); got != fmt.Sprintln(1, nil, 6, "CONFIRMED", true, true) || c.offsets(t, "h") != "6 6" {
		t.Errorf("JSON %s, offsets %s", got, c.offsets(t, "h"))
	}
}

// What a broker refuses is not told in the audit file as if it were known how it is.
func TestAuditOfARefusedDeletion(t *testing.T) {
	c := newChanged(t, "5")
	c.sb.SetFault(func(r sandbox.Request) sandbox.Fault {
		if r.Command.Code == int32(protocol.DeleteTopicInBroker) {
			return sandbox.Fault{Code: protocol.SystemError, Remark: "no"}
		}
		return sandbox.Fault{}
	})
	p := runs(t, []string{"topic", "delete", "orders", "--yes", "--namesrv", c.namesrv}, withEnv("XDG_STATE_HOME", c.state))
	p.want(t, statusFailed, "it is not seen to be gone")
	audit := c.audited(t)
	if len(audit) != 2 || audit[1]["result"] != "failed" || fmt.Sprint(audit[1]["after"]) != "map[broker-a:<nil>]" {
		t.Errorf("audit %v", audit)
	}
	runs(t, []string{"tail", "orders", "--from", "earliest", "--until", "now", "--namesrv", c.namesrv}).want(t, statusDone, "")
}
