package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// A broker that its operator has set to read-only, or keeps from being pulled, is named by
// whatever fails for it, and by the list of brokers.
func TestBrokerPermissionIsNamed(t *testing.T) {
	for perm, tt := range map[int32]struct{ text, trouble string }{
		protocol.PermRead:  {"R--", "read-only (brokerPermission=4)"},
		protocol.PermWrite: {"-W-", "pulls forbidden (brokerPermission=2)"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2), sandboxtest.With(func(o *sandbox.Options) { o.Permission = perm }))
			put(t, sb, "orders", 2)
			run := func(args ...string) *program { return runs(t, append(args, "--namesrv", namesrv)) }

			var brokers []brokerJSON
			if err := json.Unmarshal([]byte(run("broker", "list", "-o", "json").want(t, statusDone, "").out.String()), &brokers); err != nil {
				t.Fatal(err)
			}
			if b := brokers[0]; b.Perm == nil || *b.Perm != tt.text || !slices.Equal(b.Troubles, []string{tt.trouble}) {
				t.Errorf("broker list: perm %v, troubles %q, want %s, %q", b.Perm, b.Troubles, tt.text, tt.trouble)
			}
			list := run("broker", "list").want(t, statusDone, "").out.String()
			if line := strings.Split(list, "\n")[1]; !strings.HasSuffix(line, "  "+tt.trouble) || !strings.Contains(line, " "+tt.text+" ") {
				t.Errorf("broker list: %q, want %s and %q at the end", line, tt.text, tt.trouble)
			}

			if perm == protocol.PermRead {
				const says = "at broker-a: not writable: the broker forbids it for all topics (brokerPermission=4)"
				run("send", "orders", "x").want(t, statusNotFound, "topic orders has no queue that can be written; "+says)
				run("send", "orders", "x", "--queue", "broker-a:1").want(t, statusNotFound, says)
				run("tail", "orders", "--from", "earliest", "--until", "now").want(t, statusDone, "")
				return
			}
			const says = "not readable: the broker forbids it for all topics (brokerPermission=2)"
			run("tail", "orders").want(t, statusNotFound, "topic orders has no readable queue; at broker-a: "+says)
			run("message", "get", "-t", "orders", "--queue", "broker-a:0", "--offset", "0").want(t, statusNotFound, "queue orders broker-a/0 is "+says)
			run("send", "orders", "x").want(t, statusDone, "")
		})
	}
}

// A queue that is written to and cannot be read is there: that it is not readable is said
// wherever it is asked for.
func TestQueueThatCannotBeReadIsNamed(t *testing.T) {
	sb, namesrv := serveSandbox(t)
	run := func(args ...string) *program { return runs(t, append(args, "--namesrv", namesrv)) }
	run("topic", "create", "orders", "--queues", "4", "--read-queues", "2", "--yes").want(t, statusDone, "")
	put(t, sb, "orders", 8)

	const why = "not readable: of its 4 queues there 2 can be read (readQueueNums)"
	run("tail", "orders", "--queue", "broker-a:3").want(t, statusNotFound, "queue broker-a:3 of topic orders is "+why+"; what is left: broker-a:0-1")
	run("tail", "orders", "--queue", "broker-a:4").want(t, statusNotFound, "topic orders has no queue broker-a:4: it has broker-a:0-1")
	run("message", "get", "-t", "orders", "--queue", "broker-a:3", "--offset", "0").want(t, statusNotFound, "queue orders broker-a/3 is "+why)
	show := run("topic", "show", "orders").want(t, statusDone, "").out.String()
	if n := strings.Count(show, why); n != 2 {
		t.Errorf("topic show says so %d times, want 2:\n%s", n, show)
	}

	run("consume", "-g", "audit", "-t", "orders", "--from", "first", "--max", "4", "-o", "none").want(t, statusDone, "")
	lag := run("group", "lag", "audit").want(t, statusDone, "").out.String()
	if want := "broker-a/2-3 of orders " + why + "; 4 messages lie there, in no lag\n"; !strings.Contains(lag, want) {
		t.Errorf("group lag: no %q in\n%s", want, lag)
	}
	r, status := examine(t, namesrv, "audit", "--interval", "1s")
	if want := []string{"critical queues_unreadable"}; !slices.Equal(r.codes(), want) || status != statusFindings {
		t.Errorf("status %d, findings %q, want %q\n%s", status, r.codes(), want, r.text())
	}
}
