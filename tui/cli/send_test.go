package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func putOne(sb *sandbox.Sandbox, topic, body string) {
	sb.Put(sandbox.Message{Topic: topic, QueueID: -1, Body: []byte(body)})
}

// read gives the bodies that a topic holds.
func read(t *testing.T, namesrv, topic string) []map[string]any {
	t.Helper()
	return runs(t, []string{"tail", topic, "--namesrv", namesrv, "--from", "earliest", "--until", "now", "-o", "json"}).
		want(t, statusDone, "").objects(t)["message"]
}

func TestSendThenRead(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	p := runs(t, []string{"send", "orders", `{"id":1}`, "--namesrv", namesrv, "--tag", "paid", "--key", "k1 k2", "--property", "shop=a=b", "-n", "4", "-o", "json"}).want(t, statusDone, "")
	sent := p.objects(t)["sent"]
	if len(sent) != 4 {
		t.Fatalf("%d lines, want 4: %s", len(sent), p.out)
	}
	queues := map[string]bool{}
	for _, s := range sent {
		queues[fmt.Sprint(s["queue"])] = true
	}
	if len(queues) != 4 {
		t.Errorf("sent to queues %v, want each of four", queues)
	}
	got := read(t, namesrv, "orders")
	if len(got) != 4 {
		t.Fatalf("%d messages, want 4", len(got))
	}
	ids := map[any]bool{}
	for _, m := range got {
		ids[m["message_id"]] = true
		p := m["properties"].(map[string]any)
		if m["body"] != `{"id":1}` || m["tags"] != "paid" || p["shop"] != "a=b" || cmp.Diff(m["keys"], []any{"k1", "k2"}) != "" {
			t.Errorf("message = %v", m)
		}
	}
	for _, s := range sent {
		if !ids[s["message_id"]] {
			t.Errorf("message id %v was reported, stored are %v", s["message_id"], ids)
		}
	}
	text := runs(t, []string{"send", "orders", "x", "--namesrv", namesrv, "--queue", "broker-a:2"}).want(t, statusDone, "")
	if !strings.HasPrefix(text.out.String(), "orders broker-a/2  offset 1  ") {
		t.Errorf("text = %q", text.out)
	}
}

// TestSendDelayedClaimsNoPlace holds that the place of the parked copy is not
// given for the message's.
func TestSendDelayedClaimsNoPlace(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	base := []string{"send", "orders", "x", "--namesrv", namesrv, "--queue", "broker-a:1"}
	for name, args := range map[string][]string{"flag": {"--delay-level", "3"}, "property": {"--property", "DELAY=3"}} {
		t.Run(name, func(t *testing.T) {
			p := runs(t, slices.Concat(base, args, []string{"-o", "json"})).want(t, statusDone, "")
			sent := p.objects(t)["sent"]
			if len(sent) != 1 {
				t.Fatalf("stdout = %q, want one line", p.out)
			}
			if s := sent[0]; s["offset"] != nil || s["offset_message_id"] != nil || fmt.Sprint(s["queue"]) != "1" || s["offset_error"] != delayedOffset {
				t.Errorf("line = %v, want queue 1 and no offset", s)
			}
			text := runs(t, slices.Concat(base, args)).want(t, statusDone, "")
			if want := "orders broker-a/1  " + delayedOffset + "  "; !strings.HasPrefix(text.out.String(), want) {
				t.Errorf("text = %q, want %q", text.out, want)
			}
		})
	}
}

func TestSendDryRunIsNoSentMessage(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	p := runs(t, []string{"send", "orders", "x", "--namesrv", namesrv, "--dry-run", "-o", "json"}).want(t, statusDone, "")
	if got, want := p.out.String(), `{"kind":"dry_run","topic":"orders","broker":"broker-a","queue":0}`+"\n"; got != want {
		t.Errorf("stdout = %q, want %q", got, want)
	}
}

// A run begins at any queue, else the first one would get all that is sent one by one.
func TestSendBeginsAtAnyQueue(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	begun := map[string]bool{}
	for range 64 {
		lines := strings.Split(runs(t, []string{"send", "orders", "x", "-n", "5", "--namesrv", namesrv, "--dry-run"}).want(t, statusDone, "").out.String(), "\n")
		begun[lines[0]] = true
		if again := map[string]bool{lines[0]: true, lines[1]: true, lines[2]: true, lines[3]: true}; len(again) != 4 || lines[4] != lines[0] {
			t.Fatalf("sent to %q, want each of four by turns", lines)
		}
	}
	if len(begun) < 2 {
		t.Errorf("64 runs began at %v, want several", begun)
	}
}

func TestSendBodies(t *testing.T) {
	t.Parallel()
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	base := []string{"send", "orders", "--namesrv", namesrv}
	runs(t, append(base, "@"+file)).want(t, statusDone, "")
	runs(t, append(base, "-"), withStdin(strings.NewReader("from stdin"))).want(t, statusDone, "")
	runs(t, base, withStdin(strings.NewReader("piped"))).want(t, statusDone, "")
	runs(t, append(base, "@"+file+"x")).want(t, statusFailed, "no such file")
	runs(t, append(base, "@"+endless(t))).want(t, statusUsage, "no broker takes that")
	runs(t, append(base, "")).want(t, statusUsage, "the body is empty")
	runs(t, append(base, "")).want(t, statusUsage, "5.x brokers refuse that")
	var got []string
	for _, m := range read(t, namesrv, "orders") {
		got = append(got, fmt.Sprint(m["body"]))
	}
	if diff := cmp.Diff(got, []string{"from a file\n", "from stdin", "piped"}); diff != "" {
		t.Errorf("bodies (-got +want):\n%s", diff)
	}
}

// endless is a file of more bytes than a machine has memory; it takes no room.
func endless(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "endless")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<42); err != nil {
		t.Skipf("no sparse file of 4 TiB here: %v", err)
	}
	return path
}

func TestSendRefusals(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1), sandboxtest.With(func(o *sandbox.Options) { o.AutoCreateTopics = true }))
	base := []string{"--namesrv", namesrv}
	runs(t, append(base, "send", "orders", "x", "--read-only")).want(t, statusRefused, "sending is refused")
	runs(t, append(base, "send", "nope", "x")).want(t, statusNotFound,
		"send makes none by itself; create it first: eyeq topic create nope --namesrv "+namesrv+"; 'eyeq topic list --namesrv "+namesrv+"' shows which there are\n")
	runs(t, append(base, "send", "orders", "x", "--queue", "broker-a:9")).want(t, statusNotFound, "has no queue broker-a:9")
	runs(t, []string{"send", "orders", "x", "--namesrv", deadAddress(t)}).want(t, statusUnreachable, "no name server answers")
	if p := runs(t, append(base, "send", "orders", "x", "--dry-run")).want(t, statusDone, ""); p.out.String() != "would send to orders broker-a/0\n" {
		t.Errorf("dry run = %q", p.out)
	}
	if got := read(t, namesrv, "orders"); len(got) != 0 {
		t.Errorf("%d messages were sent", len(got))
	}
	sb.SetFault(func(r sandbox.Request) sandbox.Fault {
		return sandbox.Fault{Drop: protocol.RequestCode(r.Command.Code) == protocol.SendMessageV2}
	})
	runs(t, append(base, "send", "orders", "x", "--timeout", "300ms")).want(t, statusUnreachable, "send to orders broker-a/0")
}

func TestSandboxServes(t *testing.T) {
	p := start(t, []string{"sandbox", "--namesrv-port", "0", "--broker-port", "0"})
	p.err.await(t, "eyeq: try: eyeq --namesrv 127.0.0.1:")
	namesrv := strings.TrimPrefix(p.lines()[0], "name server ")
	runs(t, []string{"send", sandboxTopic, "x", "--namesrv", namesrv}).want(t, statusDone, "")
	if got := read(t, namesrv, sandboxTopic); len(got) != 1 {
		t.Errorf("%d messages, want one", len(got))
	}
	// Its port is taken.
	_, port, _ := strings.Cut(namesrv, ":")
	runs(t, []string{"sandbox", "--namesrv-port", port, "--broker-port", "0"}).want(t, statusFailed, "address already in use")
	p.signals <- os.Interrupt
	p.wait(t).want(t, 130, "")
}
