package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
	"eyeq/tui/cli/config"
)

var orders0 = engine.MessageQueue{Topic: "orders", BrokerName: "broker-a"}

// exits waits until a process has ended: pid stands in a file.
func exits(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		limit := time.Now().Add(patience)
		for alive(pid) {
			if time.Now().After(limit) {
				if p, err := os.FindProcess(pid); err == nil {
					p.Kill()
				}
				t.Fatalf("process %d is still there", pid)
			}
			<-time.After(20 * time.Millisecond)
		}
	}
}

// alive reports whether a process runs; one that has ended and waits to be reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		p, err := os.FindProcess(pid)
		return err == nil && p.Signal(syscall.Signal(0)) == nil
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func committed(sb *sandbox.Sandbox) int64 {
	n, _, _, _ := sb.Offsets("g", orders0)
	return n
}

// A command that takes longer than --idle-exit is no idleness, and what waits behind it
// is consumed before the run ends.
func TestSlowCommandIsNotIdle(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	p := runs(t, consume(namesrv, "g", "--exec", "sleep 0.6", "--batch", "1", "--threads", "1", "--idle-exit", "300ms")).want(t, statusDone, "")
	if n := len(p.objects(t)["message"]); n != 3 || committed(sb) != 3 {
		t.Errorf("%d messages, committed %d, want 3", n, committed(sb))
	}
}

// The command gets the messages of a batch as JSON lines and what they are in its
// environment; exit status 0 acknowledges. Standard output has the messages only.
func TestExecGetsBatches(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 10)
	dir := t.TempDir()
	p := runs(t, consume(namesrv, "g", "--exec", `cat >> `+dir+`/in; echo "$EYEQ_GROUP $EYEQ_TOPIC $EYEQ_BROKER $EYEQ_QUEUE $EYEQ_OFFSET $EYEQ_COUNT $EYEQ_NAMESRV" >> `+dir+`/env; echo "got $EYEQ_COUNT"`,
		"--batch", "4", "--threads", "1", "--idle-exit", "800ms", "-o", "json")).want(t, statusDone, "exec orders broker-a/0 0: got 4")
	got := p.objects(t)
	if n := len(got["message"]); n != 10 || len(got) != 2 {
		t.Errorf("standard output: %d messages, kinds %d", n, len(got))
	}
	in, err := os.ReadFile(dir + "/in")
	if err != nil {
		t.Fatal(err)
	}
	var told []map[string]any
	for line := range strings.Lines(string(in)) {
		told = append(told, decodeLine(t, []byte(line)))
	}
	if diff := cmp.Diff(bodies(t, told), upTo(10)); diff != "" {
		t.Errorf("bodies on standard input (-got +want):\n%s", diff)
	}
	env, err := os.ReadFile(dir + "/env")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("g orders broker-a 0 0 4 %[1]s\ng orders broker-a 0 4 4 %[1]s\ng orders broker-a 0 8 2 %[1]s\n", namesrv)
	if diff := cmp.Diff(string(env), want); diff != "" {
		t.Errorf("environment (-got +want):\n%s", diff)
	}
	if n := committed(sb); n != 10 {
		t.Errorf("committed %d, want 10", n)
	}
}

// Any other exit status refuses the batch, and the event has the command's last words.
func TestExecFailureSendsBack(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	p := runs(t, consume(namesrv, "g", "--exec", `read line; case $line in *'"body":"2"'*) printf 'first\nno \033[31mstock\r\n' >&2; exit 3;; esac`,
		"--threads", "1", "--idle-exit", "800ms", "--events", "-o", "json")).want(t, statusDone, "exec orders broker-a/0 1: no ␛[31mstock")
	p.want(t, statusDone, "exec orders broker-a/0 1: (exit status 3: refused)")
	got := p.objects(t)
	if s := got["summary"][0]; fmt.Sprintf("%v %v", s["messages"], s["failed"]) != "3 1" {
		t.Errorf("summary = %v, want 3 messages, 1 failed", s)
	}
	var failed, back []map[string]any
	for _, ev := range got["event"] {
		switch ev["event"] {
		case "consume_failed":
			failed = append(failed, ev)
		case "sendback_ok":
			back = append(back, ev)
		}
	}
	if len(failed) != 1 || failed[0]["error"] != "exit status 3: no ␛[31mstock" {
		t.Errorf("consume_failed: %v", failed)
	}
	if len(back) != 1 || fmt.Sprint(back[0]["offset"]) != "1" {
		t.Errorf("sendback_ok: %v", back)
	}
	if n := committed(sb); n != 3 {
		t.Errorf("committed %d, want 3", n)
	}
	if strings.Contains(p.err.String(), "\x1b") {
		t.Errorf("standard error has an escape: %q", p.err)
	}
}

// A command that takes too long is killed with all that it has started.
func TestExecTimeoutKillsTheProcessGroup(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 1)
	pids := filepath.Join(t.TempDir(), "pids")
	p := runs(t, consume(namesrv, "g", "--exec", `sleep 300 & echo $$ $! > `+pids+`; wait`, "--exec-timeout", "5s", "--idle-exit", "1500ms", "--events")).want(t, statusDone, "exec orders broker-a/0 0: (the command took longer than 5s and was killed: refused)")
	exits(t, pids)
	if !strings.Contains(p.out.String(), "the command took longer than 5s and was killed") {
		t.Errorf("no event says it: %s", p.out)
	}
	if n := committed(sb); n != 1 {
		t.Errorf("committed %d: a batch that timed out is sent back", n)
	}
}

// What a command leaves running in its group ends with it, and does not hold its
// verdict up.
func TestExecLeavesNothingBehind(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 1)
	pids := filepath.Join(t.TempDir(), "pids")
	runs(t, consume(namesrv, "g", "--exec", `sleep 300 & echo $! > `+pids, "--max", "1")).want(t, statusDone, "")
	exits(t, pids)
	if n := committed(sb); n != 1 {
		t.Errorf("committed %d, want 1", n)
	}
}

// A leave waits for a running command; one that takes too long is killed, and its
// batch is neither acknowledged nor sent back.
func TestExecAndTheLeave(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		last      string
		committed int64
	}{"it ends": {"sleep 1", 1}, "it does not": {"sleep 300", 0}} {
		t.Run(name, func(t *testing.T) {
			sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
			put(t, sb, "orders", 1)
			pids := filepath.Join(t.TempDir(), "pids")
			p := start(t, consume(namesrv, "g", "--exec", `echo $$ > `+pids+`; echo begun; `+tt.last, "-o", "none", "--events"))
			p.err.await(t, "begun")
			began := time.Now()
			p.signals <- syscall.SIGTERM
			p.wait(t)
			t.Logf("left after %v", time.Since(began).Round(time.Millisecond))
			exits(t, pids)
			if n := committed(sb); n != tt.committed {
				t.Errorf("committed %d, want %d", n, tt.committed)
			}
			if strings.Contains(p.out.String(), "sendback_ok") {
				t.Errorf("it was sent back: %s", p.out)
			}
			if m := sb.Members("g"); len(m) != 0 {
				t.Errorf("members after the leave: %v", m)
			}
		})
	}
}

// The second ctrl-c waits for nobody, and leaves no command behind.
func TestExecEndsAtTheSecondSignal(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 2)
	pids := filepath.Join(t.TempDir(), "pids")
	p := start(t, consume(namesrv, "g", "--exec", `sleep 300 & echo $$ $! >> `+pids+`; echo begun $EYEQ_QUEUE; wait`, "-o", "none"))
	p.err.await(t, "begun 0")
	p.err.await(t, "begun 1")
	p.signals <- syscall.SIGINT
	p.signals <- syscall.SIGINT
	if status := <-p.exited; status != 130 {
		t.Errorf("status %d, want 130", status)
	}
	exits(t, pids) // before the orderly leave, which goes on in a test, has come so far
	if n := committed(sb); n != 0 {
		t.Errorf("committed %d, want 0", n)
	}
}

// Output without end is bounded, and input that nobody reads does no harm.
func TestExecBoundsAndUnreadInput(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	sb.Put(sandbox.Message{Topic: "orders", QueueID: 0, Body: make([]byte, 1<<20)})
	p := runs(t, consume(namesrv, "g", "--exec", `head -c 3000000 /dev/zero | tr '\0' x; yes | head -c 1000000`, "--max", "1", "-o", "none")).want(t, statusDone, "left out")
	if n := len(p.err.String()); n > 2*maxOutput {
		t.Errorf("%d bytes on standard error", n)
	}
	if n := committed(sb); n != 1 {
		t.Errorf("committed %d, want 1", n)
	}
}

func TestListenersThatDoNotGoTogether(t *testing.T) {
	for want, more := range map[string][]string{
		"--listener nack: must be ack, hold, fail or exec": {"--listener", "nack"},
		"--listener exec: which command? --exec CMD":       {"--listener", "exec"},
		`--exec "": give a value, or leave --exec out`:     {"--exec", ""},
		`--exec " \t": needs a command`:                    {"--exec", " \t"},
		"not with --listener ack":                          {"--exec", "true", "--listener", "ack"},
		"--exec-timeout 3s: there is no command":           {"--exec-timeout", "3s"},
		"--exec-timeout -3s: must be positive":             {"--exec", "true", "--exec-timeout", "-3s"},
		"on the screen, which takes a terminal":            {"--listener", "hold"},
	} {
		t.Run(want, func(t *testing.T) {
			runs(t, consume(deadAddress(t), "g", more...)).want(t, statusUsage, want)
		})
	}
}

func TestListenerOfTheConfiguration(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 2)
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	text := "[consumer]\nlistener = \"exec\"\nexec = \"cat >> " + dir + "/in\"\nexec_timeout = \"5s\"\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runs(t, consume(namesrv, "g", "--config", file, "--idle-exit", "500ms")).want(t, statusDone, "")
	if in, err := os.ReadFile(dir + "/in"); err != nil || strings.Count(string(in), "\n") != 2 {
		t.Errorf("the command got %q, %v", in, err)
	}
	put(t, sb, "orders", 1)
	runs(t, consume(namesrv, "g", "--config", file, "--listener", "ack", "--idle-exit", "500ms")).want(t, statusDone, "") // the flag wins
	if in, _ := os.ReadFile(dir + "/in"); strings.Count(string(in), "\n") != 2 {
		t.Errorf("the command was run all the same: %q", in)
	}
	for bad, want := range map[string]string{`listener = "nack"`: `must be "ack", "hold", "fail" or "exec"`, `exec_timeout = "-1s"`: "must be a duration", `exec_timeout = 3`: "must be a text"} {
		if err := os.WriteFile(file, []byte("[consumer]\n"+bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		runs(t, []string{"config", "check", "--config", file}).want(t, statusUsage, want)
	}
}

func TestListenerNamesAreCompleted(t *testing.T) {
	p := runs(t, []string{"__complete", "consume", "--listener", ""})
	for _, name := range config.Listeners {
		if !strings.Contains(p.out.String(), name+"\t") {
			t.Errorf("no %s in %q", name, p.out)
		}
	}
}

// The log has what an engineer looks for afterwards, by fixed keys, and not what
// comes a message at a time.
func TestLogFileTellsTheLifeOfAMember(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	file := filepath.Join(t.TempDir(), "eyeq.log")
	p := runs(t, consume(namesrv, "g", "--exec", "echo said by the command; false", "--log-file", file, "--idle-exit", "500ms", "--client-id", "me@1", "-o", "none")).want(t, statusDone, "")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"level=INFO msg=member version=", "level=INFO msg=consumer_state from=CREATE_JUST to=RUNNING",
		"msg=queue_added topic=orders broker=broker-a queue=0 next_offset=0 source=min", "msg=rebalance_end", "msg=shutdown_step number=3 step=unregister",
		"cluster=" + namesrv + " group=g client_id=me@1",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in the log:\n%s", want, text)
		}
	}
	for _, no := range []string{"consume_failed", "sendback_ok", "heartbeat_sent"} {
		if strings.Contains(string(text), no) {
			t.Errorf("%s is in the log:\n%s", no, text)
		}
	}
	if strings.Contains(p.err.String(), "level=") {
		t.Errorf("the log is on standard error too: %s", p.err)
	}
}
