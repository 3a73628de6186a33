package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// goldens are the command lines whose output is held, by the file that holds them.
// A line that begins with "! " runs until its first answer is there and is ended then by
// a signal. The line "AUDIT" stands for the audit file that the lines before it have written.
var goldens = map[string][]string{
	"broker-list": forms("broker list", "broker list --name-servers", "! broker list --watch",
		"broker list extra", "broker list -o csv", "broker list --watch=1ms"),
	"broker-show": forms("broker show broker-a", "broker show", "broker show broker-z"),
	"topic-list": forms("topic list", "topic list --names", "topic list --sort stored", "topic list --retry", "topic list --filter ORD", "! topic list --watch",
		"topic list --sort size", "topic list --filter nothing"),
	"topic-show": forms("topic show orders", "topic show empty", "! topic show orders --watch", "topic show", "topic show payments"),
	"topic-create": forms("topic create fresh --queues 2 --dry-run", "topic create orders --dry-run", "topic create fresh", "topic create a/b --dry-run",
		"topic create fresh --perm Q --dry-run", "topic create fresh --queues 0 --dry-run", "topic create fresh --type LIFO --dry-run", "topic create fresh --dry-run --read-only",
		"topic create fresh --broker broker-z --dry-run"),
	"topic-delete": forms("topic delete orders --dry-run", "topic delete orders", "topic delete payments --dry-run", "topic delete"),
	"group-list": forms("group list", "group list --names", "group list --sort lag", "group list --state offline", "group list --filter AUD", "group list --min-lag 5",
		"! group list --watch", "group list --sort size", "group list --state sleepy", "group list --names --sort lag"),
	"group-show": forms("group show audit", "group show online", "! group show audit --watch", "group show", "group show nobody", "group show a b"),
	"group-lag": forms("group lag audit", "group lag audit --sort lag", "group lag audit --waiting", "group lag online", "group lag audit -t orders", "! group lag audit --watch",
		"group lag", "group lag nobody", "group lag audit -t payments", "group lag audit --sort size"),
	"group-members": forms("group members audit", "group members online", "group members online --client c1", "! group members audit --watch",
		"group members", "group members nobody", "group members audit --client x"),
	"group-doctor": forms("group doctor audit --samples 1", "group doctor online --samples 1",
		"group doctor", "group doctor nobody --samples 1", "group doctor audit --samples 0"),
	"group-reset": forms("group reset audit --to earliest --dry-run", "group reset audit --to latest --dry-run", "group reset audit --to offset:2 -t orders --queue broker-a:1 --dry-run",
		"group reset audit --to latest", "group reset audit --dry-run", "group reset audit --to yesterdayish --dry-run", "group reset nobody --to latest --dry-run",
		"group reset audit --to latest -t payments --dry-run", "group reset audit --to latest --queue broker-a --dry-run", "group reset audit --to latest --dry-run --read-only"),
	"group-pause":  forms("group pause audit --dry-run", "group pause audit", "group pause nobody --dry-run", "group pause", "group pause audit --read-only"),
	"group-resume": forms("group resume audit --dry-run", "group resume audit", "group resume nobody --dry-run", "group resume"),
	"group-clone": forms("group clone audit other -t orders --dry-run", "group clone audit other -t orders", "group clone audit", "group clone audit other --dry-run",
		"group clone nobody other -t orders --dry-run", "group clone audit audit -t orders --dry-run"),
	"group-create": forms("group create fresh --dry-run", "group create fresh --paused --retry-max 3 --dry-run", "group create audit --dry-run", "group create fresh", "group create a/b --dry-run"),
	"group-delete": forms("group delete audit --dry-run", "group delete audit", "group delete online --dry-run", "group delete nobody --dry-run"),
	"message-get": forms("message get ID1 -t orders", "message get --queue broker-a:1 --offset 1 -t orders", "message get ID1 -t orders --charset gb18030", "message get ID1 -t orders --charset klingon",
		"message get", "message get ID1", "message get NONE -t orders", "message get --queue broker-a:1 --offset 99 -t orders", "message get --queue broker-a --offset 1 -t orders"),
	"message-find": forms("message find -t orders --key k", "message find -t orders --unique-key ID1", "message find -t orders --from 1999-12-31T00:00:00Z --until now",
		"message find -t orders", "message find --key k", "message find -t payments --key k", "message find -t orders --key none", "message find -t orders --from soon"),
	"message-track": forms("message track ID1 -t orders", "message track ID1 -t orders --trace", "message track", "message track ID1", "message track NONE -t orders"),
	"message-resend": forms("message resend -t %DLQ%audit --all --dry-run", "message resend -t %DLQ%audit --all", "message resend -t %DLQ%audit",
		"message resend -t orders --all --dry-run", "message resend -t %DLQ%nobody --all --dry-run"),
	"message-consume": forms("message consume ID1 -t orders -g online --dry-run", "message consume ID1 -t orders -g online", "message consume",
		"message consume ID1 -t orders --dry-run", "message consume ID1 -t orders -g audit --dry-run", "message consume ID1 -t orders -g online --client x --dry-run"),
	"allocate": forms("allocate --members a,b,c --queues 4", "allocate --members a,b --queues 4 --join c", "allocate --members a,b --queues 4 --leave b --strategy AVG",
		"allocate --members a,b --queues 4 --strategy circle", "allocate -g online -t empty", "allocate --queues 4", "allocate --members a", "allocate --members a --queues 4 --strategy best"),
	"send": forms("send orders body --queue broker-a:0 --dry-run", "send orders", "send", "send payments body --queue broker-a:0 --dry-run",
		"send orders body --delay-level 99 --dry-run", "send orders body --queue broker-a --dry-run", "send orders body --read-only"),
	"tail": forms("tail orders --from earliest --until now --plain", "tail orders --from earliest --until now --key k --plain", "tail orders --from earliest -n 1 --queue broker-a:1 --plain",
		"tail", "tail payments --until now", "tail orders --jq {{ --until now", "tail orders --grep ( --until now", "tail orders --from soon"),
	"config":  forms("config show", "config check", "config init", "config show extra"),
	"eyeq":    forms("grup", "grup list", "group lst", "topic list --nope", "topic list --tz Mars", "topic list --timeout 0s", "topic list --timeout 5", "consume", "consume -g online", "demo extra", "sandbox extra", "completion", "completion tcsh"),
	"version": forms("version", "version extra", "version -o xml"),
	// What was carried out on groups without members, and what the audit file says of it.
	"changed": {"topic create fresh --queues 2 --yes", "topic create newer --yes --reason why -o json", "topic delete fresh --yes", "topic delete newer --yes -o json",
		"group create fresh --yes", "group create newer --paused --yes -o json", "group delete fresh --yes", "group delete newer --yes -o json",
		"group pause other --yes", "group resume other --yes -o json", "group reset audit --to earliest -t orders --yes", "group reset audit --to latest -t orders --yes -o json",
		"group clone audit other -t orders --yes", "message resend -t %DLQ%audit --all --yes", "AUDIT"},
}

// noteOrigin is what a line of the audit file says of the change and the process.
var noteOrigin = regexp.MustCompile(`"id":"[0-9a-f]{16}",("phase":"[a-z]*","operator":"tester",)"host":"[^"]*","pid":[0-9]+`)

// forms are the command lines, each also with -o json unless it names a format.
func forms(lines ...string) (all []string) {
	for _, l := range lines {
		all = append(all, l)
		if !strings.Contains(l, " -o ") {
			all = append(all, l+" -o json")
		}
	}
	return all
}

// TestGolden holds what each command prints, as a table and as JSON, with its status and
// what it says on standard error: one file a command. The commands ask a sandbox over TCP
// in a bubble, whose clock stands still: a goroutine that waits for a socket keeps it so.
func TestGolden(t *testing.T) {
	for name, lines := range goldens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			synctest.Test(t, func(t *testing.T) { compareGolden(t, name, newGoldenScene(t, home).print(t, lines)) })
		})
	}
}

// goldenScene is what the commands of TestGolden are about.
type goldenScene struct {
	namesrv string
	home    string
	fixed   *strings.Replacer // what differs from run to run becomes what is as long and always the same
}

// newGoldenScene has a group that is offline and behind, with dead letters, and one with
// a member that holds the queue of an empty topic.
func newGoldenScene(t *testing.T, home string) *goldenScene {
	sb := sandboxtest.Start(t, sandboxtest.Topic("orders", 2), sandboxtest.Topic("empty", 1))
	namesrv, broker, err := sb.ListenTCP("127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &goldenScene{namesrv: namesrv, home: home}
	for i := range 6 {
		sb.Put(sandbox.Message{
			Topic: "orders", QueueID: int32(i % 2), Body: fmt.Appendf(nil, `{"id":%d}`, i),
			Properties: []protocol.Property{named("KEYS", "k"), named("TAGS", "paid"), named("UNIQ_KEY", fmt.Sprintf("ID%d", i))},
		})
	}
	for _, group := range []string{"audit", "other", "online"} {
		runs(t, []string{"group", "create", group, "--yes", "--namesrv", namesrv}, withEnv("XDG_STATE_HOME", t.TempDir())).want(t, statusDone, "")
	}
	client := (&sandboxtest.Target{Namesrv: []string{namesrv}}).Client(t, nil)
	if _, err := client.Route(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	for id := range int32(2) {
		must(t, client.UpdateConsumerOffset(t.Context(), "audit", protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: id}, 1))
	}
	buried(t, sb, "audit", 2)
	member := start(t, []string{"consume", "-g", "online", "-t", "empty", "--headless", "-o", "json", "--events", "--client-id", "c1", "--namesrv", namesrv})
	t.Cleanup(func() { member.signals <- os.Interrupt })
	member.out.await(t, `"event":"queue_added"`)
	g.fixed = g.fix(t, broker)
	return g
}

// fix gives what is the same in every run and as long to what is not: ports, as numbers
// and in the ids of messages, the folder, and what was built.
func (g *goldenScene) fix(t *testing.T, broker string) *strings.Replacer {
	_, text, err := net.SplitHostPort(broker)
	must(t, err)
	port, err := strconv.Atoi(text)
	must(t, err)
	member := readOf[membersJSON](t, g.namesrv, "group", "members", "online").Members[0].Address
	return strings.NewReplacer(
		g.namesrv, "127.0.0.1:19876", strings.ReplaceAll(g.namesrv, ":", "-"), "127.0.0.1-19876", broker, "127.0.0.1:20911", member, "127.0.0.1:30000", g.home, "HOME",
		fmt.Sprintf("7F000001%08X", port), "7F000001000051AF", "listenPort                   "+text, "listenPort                   20911", `"listenPort":"`+text, `"listenPort":"20911`,
		versionText(), "eyeq VERSION", fmt.Sprintf(`"version":%q`, versionOf().Version), `"version":"VERSION"`,
		fmt.Sprintf(`"go":%q,"os":%q,"arch":%q`, runtime.Version(), runtime.GOOS, runtime.GOARCH), `"go":"GO","os":"OS","arch":"ARCH"`,
	)
}

// print runs the command lines and gives what each says.
func (g *goldenScene) print(t *testing.T, lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if line == "AUDIT" {
			text, err := os.ReadFile(filepath.Join(g.home, "eyeq", "audit.jsonl"))
			must(t, err)
			fmt.Fprintf(&b, "audit.jsonl\n%s", noteOrigin.ReplaceAllString(g.fixed.Replace(string(text)), `"id":"ID",$1"host":"HOST","pid":1`))
			continue
		}
		shown, watched := strings.CutPrefix(line, "! ")
		args := append(strings.Fields(shown), "--tz", "UTC")
		if strings.Contains(line, "--tz") {
			args = args[:len(args)-2]
		}
		p := start(t, args, withEnv("EYEQ_NAMESRV", g.namesrv, "XDG_STATE_HOME", g.home, "USER", "tester", "XDG_CONFIG_HOME", filepath.Join(g.home, "config")))
		if watched {
			n := 2 // the line of the time, then the table in one piece
			if strings.HasSuffix(line, " json") {
				n = 1
			}
			for strings.Count(p.out.String(), "\n") < n {
				<-p.out.changed
			}
			p.signals <- syscall.SIGTERM
		}
		p.wait(t)
		fmt.Fprintf(&b, "$ eyeq %s\n%s", shown, g.fixed.Replace(p.out.String()))
		if text := p.err.String(); text != "" {
			fmt.Fprintf(&b, "-- standard error\n%s", g.fixed.Replace(text))
		}
		fmt.Fprintf(&b, "-- status %d\n\n", p.status)
	}
	return b.String()
}

func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update and read it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}
