package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// peers runs the stock programs of one RocketMQ version: mqadmin, and the Java
// producer and consumer of .ci/peers.
type peers struct {
	script  string // .ci/cluster
	version string
	java    []string // more options of the JVMs that run and startEnding start
}

// toolLimit bounds what a stock program that ends by itself may take, JVM start
// and a busy machine included.
const toolLimit = 3 * time.Minute

// memberLife is for how many seconds a stock member runs: its test ends it, long before.
const memberLife = "900"

// besideStockPrograms runs body beside each real cluster, at once: most of the time it
// waits for the programs.
func besideStockPrograms(t *testing.T, body func(t *testing.T, tg *sandboxtest.Target, p *peers)) {
	t.Helper()
	besideStockProgramsIn(t, sandboxtest.Real, body)
}

// besideStockProgramsIn is that for some of the clusters; no other program reaches the
// sandbox's network in memory.
func besideStockProgramsIn(t *testing.T, in sandboxtest.Worlds, body func(t *testing.T, tg *sandboxtest.Target, p *peers)) {
	t.Helper()
	for _, name := range []string{"EYEQ_TEST_CLUSTER", "EYEQ_TEST_NAMESRV"} {
		if os.Getenv(name) != "" {
			continue
		}
		reason := name + " is not set: it takes a real cluster and the script that runs stock programs"
		if os.Getenv("EYEQ_TEST_REQUIRE_BROKER") == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	sandboxtest.RunIn(t, in&sandboxtest.Real, func(t *testing.T, tg *sandboxtest.Target) {
		script, err := filepath.Abs(os.Getenv("EYEQ_TEST_CLUSTER"))
		if err != nil {
			t.Fatal(err)
		}
		body(t, tg, &peers{script: script, version: tg.Name})
	})
}

// run runs a command of the script to its end and gives its standard output.
func (p *peers) run(t *testing.T, args ...string) string {
	t.Helper()
	return p.runWithin(t, toolLimit, args...)
}

func (p *peers) runWithin(t *testing.T, limit time.Duration, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit) // cleanups run it too
	defer cancel()
	cmd := exec.CommandContext(ctx, p.script, args...)
	cmd.Dir = t.TempDir() // mqadmin leaves files where it runs
	cmd.Env = p.environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v, stdout %q, stderr %q", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}

func (p *peers) environ() []string {
	return append(os.Environ(), "RMQ_JAVA_OPTS="+strings.Join(append([]string{os.Getenv("RMQ_JAVA_OPTS")}, p.java...), " "))
}

// startEnding starts a Java member, which lives for as long as the test takes, or until
// it is stopped: it then leaves in order.
func (p *peers) startEnding(t *testing.T, namesrv, group, topic, mode string, more ...string) (out *buffer, stop func()) {
	t.Helper()
	out = newBuffer()
	cmd := exec.Command(p.script, append([]string{"java", p.version, "Consume", namesrv, group, topic, mode, memberLife}, more...)...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, p.environ()
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		stopGroup(cmd)
		cmd.Wait()
	}
	t.Cleanup(func() {
		killGroup(cmd) // the group: a compiler may still run
		cmd.Wait()
	})
	awaitCount(t, out, `"started":true`, 1)
	return out, stop
}

// produce sends n messages with the stock producer: bodies of 100 bytes that
// begin with a number from 0 on, keys k-NUMBER, tags A and B by turns. It returns when
// all of them can be pulled.
func (p *peers) produce(t *testing.T, namesrv, topic string, n int, more ...string) {
	t.Helper()
	c := clientOf(t, strings.Split(namesrv, ";")...)
	before := storedOf(t.Context(), c, topic)
	p.send(t, namesrv, topic, n, more...)
	awaitStored(t, c, topic, max(before, 0)+int64(n))
}

// send is produce that returns when the brokers have taken all messages.
func (p *peers) send(t *testing.T, namesrv, topic string, n int, more ...string) {
	t.Helper()
	out := p.run(t, append([]string{"java", p.version, "Produce", namesrv, topic, strconv.Itoa(n), "100"}, more...)...)
	if want := fmt.Sprintf(`{"sent":%d}`, n); !strings.Contains(out, want) {
		t.Fatalf("the stock producer says %q, want %s", out, want)
	}
}

// clientOf is a client of a cluster that waits longer for busy brokers than others do.
func clientOf(t *testing.T, namesrv ...string) *remoting.Client {
	t.Helper()
	c, err := remoting.NewClient(remoting.Options{Namesrv: namesrv, CallTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// awaitStored waits until n messages of a topic can be pulled: a broker puts what it
// has stored into its queue a moment after its answer.
func awaitStored(t *testing.T, c *remoting.Client, topic string, n int64) {
	t.Helper()
	sandboxtest.Await(t, fmt.Sprintf("%d messages in the queues of %s", n, topic), func(ctx context.Context) bool { return storedOf(ctx, c, topic) >= n })
}

// storedOf is how many messages were ever stored in a topic, -1 when that is not known.
func storedOf(ctx context.Context, c *remoting.Client, topic string) int64 {
	route, _, err := c.RefreshRoute(ctx, topic)
	if err != nil {
		return -1
	}
	return storedIn(ctx, c, route.Queues)
}

// awaitRetryTopic waits until the name servers know a group's retry topic, through which
// mqadmin finds the group's brokers: a 5.x broker registers it a moment after the first
// member has come.
func awaitRetryTopic(t *testing.T, namesrv, group string) {
	t.Helper()
	c := clientOf(t, strings.Split(namesrv, ";")...)
	sandboxtest.Await(t, "the route of "+protocol.RetryTopic(group), func(ctx context.Context) bool {
		_, _, err := c.RefreshRoute(ctx, protocol.RetryTopic(group))
		return err == nil
	})
}

// wantProgress checks that mqadmin finds n messages in the topic, all consumed.
func (p *peers) wantProgress(t *testing.T, namesrv, group, topic string, n int64) {
	t.Helper()
	awaitRetryTopic(t, namesrv, group)
	out := p.run(t, "admin", p.version, "consumerProgress", "-n", namesrv, "-g", group)
	var stored, consumed int64
	for line := range strings.Lines(out) {
		f := strings.Fields(line) // topic, broker, queue, broker offset, consumer offset, difference, …
		if len(f) < 6 || f[0] != topic {
			continue
		}
		stored += integer(t, f[3])
		consumed += integer(t, f[4])
	}
	if stored != n || consumed != n || !strings.Contains(out, "Diff Total: 0\n") {
		t.Errorf("mqadmin sees %d of %d messages consumed, want %d of %d and a difference of 0:\n%s", consumed, stored, n, n, out)
	}
}

func integer(t *testing.T, v any) int64 {
	t.Helper()
	n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// startConsumer starts a stock Java member, which runs until the end of the test,
// and returns its output when it has started. more are further arguments.
func (p *peers) startConsumer(t *testing.T, namesrv, group, topic string, more ...string) *buffer {
	t.Helper()
	return p.startMember(t, namesrv, group, topic, "concurrent", more...)
}

// startMember is startConsumer of a mode: concurrent, orderly or broadcast.
func (p *peers) startMember(t *testing.T, namesrv, group, topic, mode string, more ...string) *buffer {
	t.Helper()
	out, stderr := newBuffer(), newBuffer()
	cmd := exec.Command(p.script, append([]string{"java", p.version, "Consume", namesrv, group, topic, mode, memberLife}, more...)...)
	cmd.Stdout, cmd.Stderr = out, stderr
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killGroup(cmd) // the group: a compiler may still run
		cmd.Wait()
		if t.Failed() {
			t.Logf("the Java member's standard error: %q", stderr)
		}
	})
	awaitCount(t, out, `"started":true`, 1)
	return out
}

// awaitCount waits until the text contains want n times.
func awaitCount(t *testing.T, b *buffer, want string, n int) {
	t.Helper()
	limit := time.NewTimer(toolLimit)
	defer limit.Stop()
	for {
		got := strings.Count(b.String(), want)
		if got >= n {
			return
		}
		select {
		case <-b.changed:
		case <-limit.C:
			t.Fatalf("%d times %q within %v, want %d", got, want, toolLimit, n)
		}
	}
}

// startLeaving starts a command line that leaves when the test ends early.
func startLeaving(t *testing.T, args []string, opts ...programOption) *program {
	t.Helper()
	p := start(t, args, opts...)
	t.Cleanup(func() {
		select {
		case p.signals <- syscall.SIGTERM:
		default:
		}
	})
	return p
}

// delivery is where a message was printed from.
type delivery struct{ queue, offset int64 }

// deliveriesOf groups printed messages by the stock producer's number.
func deliveriesOf(t *testing.T, messages []map[string]any, seqOf func(map[string]any) any) map[int][]delivery {
	t.Helper()
	all := map[int][]delivery{}
	for _, m := range messages {
		seq := int(integer(t, seqOf(m)))
		all[seq] = append(all[seq], delivery{integer(t, m["queue"]), integer(t, m["offset"])})
	}
	return all
}

func propertySeq(m map[string]any) any {
	properties, _ := m["properties"].(map[string]any)
	return properties["seq"]
}

// wantOnce checks that each of n messages was delivered exactly once.
func wantOnce(t *testing.T, got map[int][]delivery, n int) {
	t.Helper()
	for seq := range n {
		if len(got[seq]) != 1 {
			t.Errorf("message %d was delivered %d times: %v", seq, len(got[seq]), got[seq])
		}
	}
	if len(got) != n {
		t.Errorf("%d different messages, want %d", len(got), n)
	}
}

func TestPeersStockProducer(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n = 2000
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 8), tg.Group(t)
		p.produce(t, namesrv, topic, n)
		run := startLeaving(t, []string{
			"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first",
			"--headless", "-o", "json", "--max", strconv.Itoa(n), "--idle-exit", "30s",
		})
		awaitCount(t, run.out, `"kind":"summary"`, 1)
		got := run.wait(t).want(t, statusDone, "").objects(t)

		wantOnce(t, deliveriesOf(t, got["message"], propertySeq), n)
		for _, m := range got["message"] {
			checkProduced(t, topic, m)
			if t.Failed() {
				break // the others would say the same
			}
		}
		if s := got["summary"][0]; fmt.Sprintf("%v %v %v", s["messages"], s["duplicates"], s["failed"]) != "2000 0 0" {
			t.Errorf("summary = %v, want 2000 messages, 0 duplicates, 0 failed", s)
		}
		p.wantProgress(t, namesrv, group, topic, n)
	})
}

// checkProduced compares a printed message with what the stock producer sends
// under its number.
func checkProduced(t *testing.T, topic string, m map[string]any) {
	t.Helper()
	seq := fmt.Sprint(propertySeq(m))
	tag := "A"
	if strings.ContainsAny(seq[len(seq)-1:], "13579") {
		tag = "B"
	}
	got := fmt.Sprintln(m["topic"], m["tags"], m["keys"], m["body_size"], m["reconsume_times"])
	if want := fmt.Sprintln(topic, tag, []string{"k-" + seq}, 100, 0); got != want {
		t.Errorf("message %s: topic, tags, keys, size and reconsume times are %q, want %q", seq, got, want)
	}
	if !strings.HasPrefix(fmt.Sprint(m["body"]), seq+" ") {
		t.Errorf("message %s: body %q, want it to begin with the number", seq, m["body"])
	}
	if properties, _ := m["properties"].(map[string]any); m["message_id"] != properties["UNIQ_KEY"] {
		t.Errorf("message %s: id %v, want the producer's %v", seq, m["message_id"], properties["UNIQ_KEY"])
	}
}

func TestPeersJavaMember(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n, queues = 2000, 8
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, queues), tg.Group(t)
		admin := clientOf(t, tg.Namesrv...)
		java := p.startConsumer(t, namesrv, group, topic)
		ours := startLeaving(t, []string{
			"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first",
			"--headless", "-o", "json", "--client-id", "eyeq-beside-java",
		})
		// A client's answer to the broker is what tells that it has taken its share;
		// messages that come while queues change hands may come twice.
		shares := map[string][]protocol.MessageQueue{}
		sandboxtest.Await(t, "two members with four queues each", func(ctx context.Context) bool {
			shares = sharesOf(ctx, admin, topic, group)
			for _, mqs := range shares {
				if len(mqs) != queues/2 {
					return false
				}
			}
			return len(shares) == 2 && shares["eyeq-beside-java"] != nil
		})
		all := slices.Concat(slices.Collect(maps.Values(shares))...)
		p.produce(t, namesrv, topic, n)
		half := storedIn(t.Context(), admin, shares["eyeq-beside-java"])
		awaitCount(t, ours.out, `"kind":"message"`, int(half))
		awaitCount(t, java, `"seq":`, int(n-half))
		ours.signals <- syscall.SIGINT
		got := ours.wait(t).want(t, 130, "").objects(t)

		// The Java member goes on behind what ours has committed.
		sandboxtest.Await(t, "the Java member with all queues", func(ctx context.Context) bool {
			shares := sharesOf(ctx, admin, topic, group)
			for _, mqs := range shares {
				return len(shares) == 1 && len(mqs) == queues
			}
			return false
		})
		sandboxtest.Await(t, "the Java member's commit", func(ctx context.Context) bool { // every five seconds
			return committedIn(ctx, admin, group, all) == n
		})
		p.wantProgress(t, namesrv, group, topic, n)

		printed := deliveriesOf(t, got["message"], propertySeq)
		theirs := deliveriesOf(t, jsonLines(t, java.String()), func(m map[string]any) any { return m["seq"] })
		if a, b := queuesOf(printed), queuesOf(theirs); len(a) != queues/2 || len(b) != queues/2 {
			t.Errorf("messages came from the queues %v, and to the Java member from %v, want four each", a, b)
		}
		for seq, ds := range theirs {
			printed[seq] = append(printed[seq], ds...)
		}
		wantOnce(t, printed, n)
	})
}

// sharesOf asks the broker for the group's members and, through it, each member
// for its queues of the topic. A member that does not answer has none.
func sharesOf(ctx context.Context, admin *remoting.Client, topic, group string) map[string][]protocol.MessageQueue {
	shares := map[string][]protocol.MessageQueue{}
	ids, addr, err := admin.ConsumerIDs(ctx, topic, group)
	if err != nil {
		return shares
	}
	for _, id := range ids {
		shares[id] = nil
		h := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: id}
		answer, err := admin.Invoke(ctx, addr, &protocol.Command{Code: int32(protocol.GetConsumerRunningInfo), ExtFields: protocol.EncodeFields(&h)})
		if err != nil {
			continue
		}
		info, err := protocol.DecodeRunningInfo(answer.Body)
		if err != nil {
			continue
		}
		for mq := range info.MQTable {
			if mq.Topic == topic {
				shares[id] = append(shares[id], mq)
			}
		}
	}
	return shares
}

// storedIn is how many messages were ever stored in some queues, -1 if a queue
// does not tell.
func storedIn(ctx context.Context, admin *remoting.Client, mqs []protocol.MessageQueue) int64 {
	var sum int64
	for _, mq := range mqs {
		end, err := admin.MaxOffset(ctx, mq)
		if err != nil {
			return -1
		}
		sum += end
	}
	return sum
}

// committedIn is how many messages of some queues a group has consumed.
func committedIn(ctx context.Context, admin *remoting.Client, group string, mqs []protocol.MessageQueue) int64 {
	var sum int64
	for _, mq := range mqs {
		committed, _, err := admin.QueryConsumerOffset(ctx, group, mq)
		if err != nil {
			return -1
		}
		sum += committed
	}
	return sum
}

// jsonLines are the lines of a text as JSON.
func jsonLines(t *testing.T, text string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(text) {
		if m := decodeLine(t, []byte(line)); m["seq"] != nil {
			all = append(all, m)
		}
	}
	return all
}

// queuesOf are the queues that messages came from, sorted.
func queuesOf(all map[int][]delivery) []int64 {
	seen := map[int64]bool{}
	for _, ds := range all {
		for _, d := range ds {
			seen[d.queue] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// The reader of TestPeersBrokerKilled takes linesAtOnce lines in slowPace, from
// the start on until the broker is back. What the run has cached at the kill,
// cachedInQueue messages of each of four queues, then lasts for two minutes:
// longer than a broker's start, so that --idle-exit does not end the run before.
const (
	killedAfter   = 500 // printed messages
	cachedInQueue = 3000
	linesAtOnce   = 20
	slowPace      = 200 * time.Millisecond
)

func TestPeersBrokerKilled(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, _ *sandboxtest.Target, p *peers) {
		const n, topic, group = 20_000, "orders", "g"
		dir := t.TempDir()
		namesrv := p.up(t, dir)
		p.produce(t, namesrv, topic, n, "0", "batch")
		k := &killing{peers: p, dir: dir, pace: time.NewTicker(slowPace)}
		defer k.pace.Stop()
		run, out := startReadSlowly(t, []string{
			"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first", "--headless", "-o", "json", "--events",
			"--pull-threshold", strconv.Itoa(cachedInQueue), "--max-span", strconv.Itoa(cachedInQueue), "--idle-exit", "10s",
		})
		for lines := bufio.NewScanner(out); lines.Scan(); {
			k.line(t, decodeLine(t, []byte(lines.Text()+"\n")))
		}
		run.wait(t).want(t, statusDone, "")

		got := deliveriesOf(t, k.messages, propertySeq)
		for seq := range n {
			if len(got[seq]) == 0 {
				t.Errorf("message %d was lost", seq)
			}
		}
		if !k.offline || !k.online {
			t.Errorf("broker_offline came: %v, and broker_online after it: %v", k.offline, k.online)
		}
		if k.before >= n {
			t.Error("all messages came before the broker was back: it was not killed in the middle")
		}
		p.wantProgress(t, namesrv, group, topic, n)
	})
}

// brokerLimit bounds the start of a cluster, which waits for those that others start.
const brokerLimit = 5 * time.Minute

// up starts a cluster that is killed at the end of the test and gives its name
// server; more goes to broker.conf.
func (p *peers) up(t *testing.T, dir string, more ...string) string {
	t.Helper()
	t.Cleanup(func() { p.run(t, "kill", dir) })
	for line := range strings.Lines(p.runWithin(t, brokerLimit, append([]string{"up", p.version, dir}, more...)...)) {
		if addr, ok := strings.CutPrefix(strings.TrimSpace(line), "namesrv="); ok {
			return addr
		}
	}
	t.Fatal("the cluster has not told its name server")
	return ""
}

// startReadSlowly starts a command line whose output goes through a pipe without
// a buffer: the program is as slow as its reader.
func startReadSlowly(t *testing.T, args []string) (*program, io.Reader) {
	t.Helper()
	r, w := io.Pipe()
	run := startLeaving(t, args, withStdout(w))
	limit := time.AfterFunc(brokerLimit, func() { r.CloseWithError(errors.New("the test's limit is over")) })
	t.Cleanup(func() {
		limit.Stop()
		r.Close()
	})
	go func() {
		<-run.done
		w.Close()
	}()
	return run, r
}

// killing is the reader of a run during which it kills the broker and starts it
// again.
type killing struct {
	peers    *peers
	dir      string
	pace     *time.Ticker
	messages []map[string]any

	offline, online bool // broker_offline came, and broker_online after it
	failedBeats     int  // between them
	before          int  // messages that came before the broker was back
}

// line takes one line of the run.
func (k *killing) line(t *testing.T, o map[string]any) {
	t.Helper()
	switch {
	case o["kind"] == "message":
		k.messages = append(k.messages, o)
		if len(k.messages) == killedAfter {
			k.peers.run(t, "kill", k.dir, "broker")
		}
		if !k.online && len(k.messages)%linesAtOnce == 0 {
			<-k.pace.C
		}
	case o["event"] == "broker_offline":
		k.offline = true
	case o["event"] == "broker_online" && k.offline:
		k.online, k.before = true, len(k.messages)
	case o["event"] == "heartbeat_sent" && k.offline && !k.online:
		// One a second: with the third the broker has been away for a few.
		if k.failedBeats++; k.failedBeats == 3 {
			k.startAgain(t)
		}
	}
}

// startAgain starts the broker beside the reading.
func (k *killing) startAgain(t *testing.T) {
	t.Helper()
	cmd := exec.Command(k.peers.script, "start", k.dir, "broker")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the cluster is killed
		if err := cmd.Wait(); err != nil {
			t.Errorf("start the broker again: %v", err)
		}
	})
}

// A command that refuses each message once gets each of them again from the
// group's retry topic, and then all are consumed.
func TestPeersExecRefuses(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n = 6
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 2), tg.Group(t)
		p.produce(t, namesrv, topic, n)
		run := startLeaving(t, []string{
			"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first", "--threads", "2",
			"--exec", `grep -q '"reconsume_times":0,' && { echo not yet; exit 4; }; true`,
		})
		awaitCount(t, run.out, `"message"`, 2*n)
		run.signals <- syscall.SIGTERM
		run.wait(t).want(t, 143, "not yet")
		got := run.objects(t)
		for seq, all := range deliveriesOf(t, got["message"], propertySeq) {
			if len(all) != 2 {
				t.Errorf("message %d was delivered %d times, want twice", seq, len(all))
			}
		}
		if s := got["summary"][0]; fmt.Sprintf("%v %v %v", s["messages"], s["failed"], s["duplicates"]) != "12 6 0" {
			t.Errorf("summary = %v, want 12 messages, 6 failed, no duplicate", s)
		}
		p.wantProgress(t, namesrv, group, topic, n)
	})
}
