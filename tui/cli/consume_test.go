package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// consume is the beginning of a headless command line.
func consume(namesrv, group string, more ...string) []string {
	return append([]string{"consume", "--namesrv", namesrv, "-g", group, "-t", "orders", "--from", "first"}, more...)
}

// bodies are the bodies of messages as numbers, sorted.
func bodies(t *testing.T, messages []map[string]any) []int {
	t.Helper()
	var all []int
	for _, m := range messages {
		n, err := strconv.Atoi(fmt.Sprint(m["body"]))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i + 1
	}
	return all
}

func TestConsumePrintsEachMessageAndTheSummaryLast(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	put(t, sb, "orders", 100)
	p := runs(t, consume(namesrv, "g", "--idle-exit", "500ms", "--client-id", "me")).want(t, statusDone, "me joins group g")
	got := p.objects(t)
	if diff := cmp.Diff(bodies(t, got["message"]), upTo(100)); diff != "" {
		t.Errorf("bodies (-got +want):\n%s", diff)
	}
	if len(got["event"]) != 0 {
		t.Errorf("%d events without --events", len(got["event"]))
	}
	lines := p.lines()
	last := decodeLine(t, []byte(lines[len(lines)-1]+"\n"))
	seconds := last["seconds"]
	delete(last, "seconds")
	want := map[string]any{"kind": "summary", "messages": jsonNumber("100"), "duplicates": jsonNumber("0"), "failed": jsonNumber("0"), "group": "g", "client_id": "me"}
	if diff := cmp.Diff(last, want); diff != "" || seconds == nil {
		t.Errorf("summary (-got +want), seconds %v:\n%s", seconds, diff)
	}
	if members := sb.Members("g"); len(members) != 0 {
		t.Errorf("members after the leave: %v", members)
	}
	total := int64(0)
	for q := range int32(4) {
		committed, _, _, _ := sb.Offsets("g", engine.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: q})
		total += committed
	}
	if total != 100 {
		t.Errorf("committed %d messages, want 100", total)
	}
}

func TestConsumeMaxIsExact(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]string{"one thread": nil, "many threads": {"--threads", "8"}} {
		t.Run(name, func(t *testing.T) {
			sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
			put(t, sb, "orders", 50)
			var all []int
			for range 2 {
				p := runs(t, consume(namesrv, "g", append(more, "--max", "10")...)).want(t, statusDone, "")
				got := p.objects(t)
				if n := len(got["message"]); n != 10 {
					t.Errorf("%d messages, want 10", n)
				}
				if n := fmt.Sprint(got["summary"][0]["messages"]); n != "10" {
					t.Errorf("the summary says %s messages, want 10", n)
				}
				all = append(all, bodies(t, got["message"])...)
			}
			rest := runs(t, consume(namesrv, "g", "--idle-exit", "500ms")).want(t, statusDone, "").objects(t)
			all = append(all, bodies(t, rest["message"])...)
			slices.Sort(all)
			if distinct := slices.Compact(slices.Clone(all)); !slices.Equal(distinct, upTo(50)) {
				t.Errorf("after all %d different messages, want each of 50", len(distinct))
			}
			if len(all) != 50 && more == nil {
				t.Errorf("%d deliveries of 50 messages: one thread must not deliver any twice", len(all))
			}
			for _, m := range rest["message"] {
				if m["topic"] != "orders" {
					t.Errorf("a message was sent back: %v", m)
				}
			}
		})
	}
}

// --from is a rule for a group without offsets; that it is not used is said once.
func TestConsumeSaysThatFromIsNotUsed(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 6)
	said := "--from first is not used: group g has committed offsets, and goes on there (orders broker-a/"
	if p := runs(t, consume(namesrv, "g", "--max", "6")).want(t, statusDone, ""); strings.Contains(p.err.String(), "not used") {
		t.Errorf("a new group: %s", p.err)
	}
	for _, events := range []string{"--events=false", "--events"} {
		put(t, sb, "orders", 2)
		if p := runs(t, consume(namesrv, "g", "--max", "2", events)).want(t, statusDone, said); strings.Count(p.err.String(), "not used") != 1 {
			t.Errorf("%s: %s", events, p.err)
		}
	}
}

func TestConsumeFailSendsBack(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	p := runs(t, consume(namesrv, "g", "--listener", "fail", "--idle-exit", "800ms", "--events")).want(t, statusDone, "")
	got := p.objects(t)
	if s := got["summary"][0]; fmt.Sprintf("%v %v", s["messages"], s["failed"]) != "3 3" {
		t.Errorf("summary = %v, want 3 messages, 3 failed", s)
	}
	names := map[string]int{}
	for _, ev := range got["event"] {
		names[fmt.Sprint(ev["event"])]++
		if ev["group"] != "g" || ev["time"] == nil {
			t.Errorf("event without group or time: %v", ev)
		}
	}
	if n := names["consume_begin"] + names["consume_end"]; n != 0 {
		t.Errorf("%d events of calls without --call-events", n)
	}
	for name, want := range map[string]int{"sendback_ok": 3, "queue_added": 1, "shutdown_step": 1, "consumer_state": 1} {
		if names[name] < want {
			t.Errorf("%d events %s, want at least %d; there are %v", names[name], name, want, names)
		}
	}
}

// Events of calls stand beside what was consumed, when they are asked for.
func TestConsumeCallEvents(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	got := runs(t, consume(namesrv, "g", "--idle-exit", "500ms", "--events", "--call-events", "--batch", "1")).want(t, statusDone, "").objects(t)
	begun := map[string]bool{}
	for _, ev := range got["event"] {
		switch first := fmt.Sprint(ev["first_offset"]); ev["event"] {
		case "consume_begin":
			begun[first] = true
		case "consume_end":
			if !begun[first] || ev["status"] != "CONSUME_SUCCESS" || ev["return_type"] != "SUCCESS" || fmt.Sprint(ev["ack_index"]) != "0" || ev["rt_ms"] == nil {
				t.Errorf("consume_end: %v", ev)
			}
			delete(begun, first)
			begun["ended "+first] = true
		}
	}
	if len(begun) != 3 || !begun["ended 2"] {
		t.Errorf("calls: %v, want three that ended", begun)
	}
}

func TestConsumeFormats(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 2, protocol.Property{Name: "TAGS", Value: "p\x1b[31m"}, protocol.Property{Name: "KEYS", Value: "k1 k2"})
	text := runs(t, consume(namesrv, "g1", "--idle-exit", "300ms", "-o", "text", "--tz", "Asia/Shanghai")).want(t, statusDone, "")
	lines := text.lines()
	if len(lines) != 3 || !strings.Contains(lines[0], "orders broker-a/0  0  [p␛[31m]  k1 k2  1") || !strings.HasPrefix(lines[2], "2 messages, 0 duplicates, 0 failed in ") {
		t.Errorf("text:\n%s", text.out)
	}
	none := runs(t, consume(namesrv, "g2", "--idle-exit", "300ms", "-o", "none")).want(t, statusDone, "")
	if got := none.objects(t); len(none.lines()) != 1 || fmt.Sprint(got["summary"][0]["messages"]) != "2" {
		t.Errorf("none:\n%s", none.out)
	}
	plain := runs(t, consume(namesrv, "g3", "--idle-exit", "300ms", "--plain")).want(t, statusDone, "")
	for _, want := range []string{"queue_added", "[p␛[31m]", "2 messages,"} {
		if !strings.Contains(plain.out.String(), want) {
			t.Errorf("plain shows no %q:\n%s", want, plain.out)
		}
	}
}

func TestConsumeTagsAndOrderly(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 5, protocol.Property{Name: "TAGS", Value: "a"})
	put(t, sb, "orders", 5, protocol.Property{Name: "TAGS", Value: "b"})
	p := runs(t, []string{"consume", "--namesrv", namesrv, "-g", "g", "-t", "orders:b||c", "--from", "first", "--orderly", "--idle-exit", "1s"})
	got := p.want(t, statusDone, "").objects(t)["message"]
	if len(got) != 5 || got[0]["tags"] != "b" || got[0]["body"] != "1" || got[4]["body"] != "5" {
		t.Errorf("messages = %v, want the five of tag b in order", got)
	}
}

func TestConsumeBroadcastKeepsOffsetsInAFile(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 6)
	dir := t.TempDir()
	args := consume(namesrv, "g", "--broadcast", "--offset-dir", dir, "--client-id", "c1", "--idle-exit", "500ms")
	if n := len(runs(t, args).want(t, statusDone, "").objects(t)["message"]); n != 6 {
		t.Errorf("%d messages, want 6", n)
	}
	if n := len(runs(t, args).want(t, statusDone, "").objects(t)["message"]); n != 0 {
		t.Errorf("%d messages the second time, want none", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "c1", "g", "offsets.json")); err != nil {
		t.Errorf("the offsets file: %v", err)
	}
}

func TestConsumeWaitsForATopic(t *testing.T) {
	sb, namesrv := serveSandbox(t)
	p := start(t, consume(namesrv, "g", "--max", "1"))
	p.err.await(t, "topic orders does not exist (yet): waiting for it")
	p.err.await(t, "joins group g")
	p.signals <- syscall.SIGINT // that it then consumes is the engine's test: it asks every 20 s
	p.wait(t).want(t, 130, "")
	_ = sb
}

func TestConsumeUnreachableGivesUpAtTheStart(t *testing.T) {
	t.Parallel()
	p := runs(t, consume(deadAddress(t), "g", "--timeout", "600ms")).want(t, statusUnreachable, "no name server answers")
	if p.out.String() != "" {
		t.Errorf("stdout = %q, want nothing", p.out)
	}
	if !strings.Contains(p.err.String(), "trying for 600ms") || strings.Count(p.err.String(), "\n") != 2 {
		t.Errorf("stderr = %q", p.err)
	}
}

func TestConsumeIsRefusedReadOnly(t *testing.T) {
	runs(t, consume("127.0.0.1:1", "g", "--read-only")).want(t, statusRefused, "is refused: 127.0.0.1:1 is read-only (flag --read-only)")
}

func TestConsumeLeavesInOrderAtTheFirstSignal(t *testing.T) {
	for signal, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
			put(t, sb, "orders", 4)
			p := start(t, consume(namesrv, "g"))
			p.out.await(t, `"body":"4"`)
			p.signals <- signal
			p.wait(t).want(t, status, "")
			if got := p.objects(t); len(got["summary"]) != 1 {
				t.Errorf("no summary: %s", p.out)
			}
			if m := sb.Members("g"); len(m) != 0 {
				t.Errorf("members after the leave: %v", m)
			}
			select {
			case s := <-p.exited:
				t.Errorf("exit(%d) was called", s)
			default:
			}
		})
	}
}

// stuckWriter never returns from its second write on, until released.
type stuckWriter struct{ release chan struct{} }

func (w *stuckWriter) Write(p []byte) (int, error) {
	<-w.release
	return 0, io.ErrClosedPipe
}

func TestConsumeEndsAtOnceAtTheSecondSignal(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 4)
	w := &stuckWriter{make(chan struct{})}
	p := start(t, consume(namesrv, "g"), withStdout(w))
	p.err.await(t, "joins group g")
	p.signals <- syscall.SIGINT
	p.signals <- syscall.SIGINT
	if got := <-p.exited; got != 130 {
		t.Errorf("exit(%d), want 130", got)
	}
	close(w.release)
	p.wait(t)
}

func TestConsumeEndsInTimeAlthoughItsReaderIsStuck(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 4)
	w := &stuckWriter{make(chan struct{})}
	defer close(w.release)
	p := start(t, consume(namesrv, "g"), withStdout(w))
	p.err.await(t, "joins group g")
	p.signals <- syscall.SIGTERM
	p.wait(t).want(t, 143, "") // its reader is stuck until the test is over
	if m := sb.Members("g"); len(m) != 0 {
		t.Errorf("members after the leave: %v", m)
	}
}

// closingPipe takes some lines, then fails as a closed pipe does.
type closingPipe struct{ left int }

func (w *closingPipe) Write(p []byte) (n int, err error) {
	for line := range bytes.Lines(p) { // one write may carry many
		if w.left == 0 {
			return n, syscall.EPIPE
		}
		w.left--
		n += len(line)
	}
	return n, nil
}

func TestConsumeLeavesWhenThePipeIsClosed(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 40)
	runs(t, consume(namesrv, "g"), withStdout(&closingPipe{left: 1})).want(t, statusFailed, "standard output was closed; left the group in order")
	if m := sb.Members("g"); len(m) != 0 {
		t.Errorf("members after the leave: %v", m)
	}
	// What was not printed is delivered to the next member, and not as a retry.
	rest := runs(t, consume(namesrv, "g", "--idle-exit", "500ms")).want(t, statusDone, "").objects(t)
	if n := len(rest["message"]); n < 20 {
		t.Errorf("%d messages for the next member, want most of 40", n)
	}
	for _, m := range rest["message"] {
		if m["topic"] != "orders" {
			t.Errorf("a message was sent back: %v", m)
		}
	}
}

func TestConsumeCountsDuplicates(t *testing.T) {
	l := newPrintListener(nil, nil, engine.ConsumeSuccess)
	m := makeMessage(t, protocol.Record{QueueID: 1, QueueOffset: 7})
	for range 3 {
		if s, err := l.Consume(t.Context(), []engine.Message{*m}, &engine.ConsumeContext{MessageQueue: m.MessageQueue()}); s != engine.ConsumeSuccess || err != nil {
			t.Fatalf("Consume = %v, %v", s, err)
		}
	}
	if got := l.duplicates.Load(); got != 2 {
		t.Errorf("duplicates = %d, want 2", got)
	}
}

func TestConsumeUnwrittenIsNotAcknowledged(t *testing.T) {
	var stopped error
	out := newLineWriter(&closingPipe{})
	startWriter(t, out)
	p := &printer{format: "json"}
	l := newPrintListener(out, p.message, engine.ConsumeSuccess)
	ended, end := contextThatEnds(t)
	l.stop = func(err error) { stopped = err; end() }
	m := makeMessage(t, protocol.Record{})
	status, err := l.Consume(ended, []engine.Message{*m}, &engine.ConsumeContext{})
	if status != engine.Abandon || err != nil || !errors.Is(stopped, syscall.EPIPE) {
		t.Errorf("Consume = %v, %v and the run ended with %v; want the message abandoned and EPIPE", status, err, stopped)
	}
}

// BenchmarkPrint is what a message costs a listener, its line written included.
func BenchmarkPrint(b *testing.B) {
	out := newLineWriter(io.Discard)
	done := make(chan struct{})
	go func() { defer close(done); out.run() }()
	p := &printer{format: "json"}
	l := newPrintListener(out, p.message, engine.ConsumeSuccess)
	m := makeMessage(b, protocol.Record{Body: []byte(strings.Repeat("x", 200)), Properties: []protocol.Property{{Name: "UNIQ_KEY", Value: "7F0000010DFC1EB2C6F6000000000001"}}})
	cc := &engine.ConsumeContext{MessageQueue: m.MessageQueue()}
	b.SetParallelism(10)
	b.RunParallel(func(pb *testing.PB) {
		messages := []engine.Message{*m}
		for pb.Next() {
			if s, err := l.Consume(b.Context(), messages, cc); s != engine.ConsumeSuccess {
				b.Error(err)
			}
		}
	})
	out.close()
	<-done
}
