package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eyeq/engine/audit"
	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// operated is a group with a Java member, operated from the screen of the built program.
type operated struct {
	tg           *sandboxtest.Target
	p            *peers
	namesrv      string
	topic, group string
	admin        *remoting.Client
	java         *stoppable
	mqs          []protocol.MessageQueue
	state        string // the program's folder of state
	screen       *shown
	n            int // messages of the topic
	handed       int // messages that the Java member got
}

const screenQueues, screenEach = 4, 25

// An operator changes a Java group from the screen of the built program: reset, pause,
// resume, dead letters sent back, reset when it is stopped. The Java member and mqadmin
// say what came of it; each change has its two lines in the audit file.
func TestPeersOperateFromTheScreen(t *testing.T) {
	theProgram(t)
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		x := startOperated(t, tg, p)
		x.refusedReadOnly(t)
		x.screen = showProgram(t, x.state, "--namesrv", x.namesrv)
		x.resetRunning(t)
		x.saveView(t)
		x.pauseAndResume(t)
		x.sendBack(t)
		x.java.stop()
		awaitOffline(t, tg, x.group)
		x.resetStopped(t)
		x.screen.leave(t)
		x.checkAudit(t)
	})
}

func startOperated(t *testing.T, tg *sandboxtest.Target, p *peers) *operated {
	t.Helper()
	const n = screenQueues * screenEach
	x := &operated{tg: tg, p: p, namesrv: strings.Join(tg.Namesrv, ";"), topic: tg.Topic(t, screenQueues), group: tg.Group(t),
		admin: clientOf(t, tg.Namesrv...), state: t.TempDir(), n: n, handed: n}
	config := protocol.NewGroupConfig(x.group)
	for name, value := range map[string]string{"retryMaxTimes": "5", "consumeBroadcastEnable": "true"} {
		if err := config.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, addr := range tg.Masters(t) {
		if err := x.admin.UpdateGroupConfig(t.Context(), addr, config); err != nil {
			t.Fatal(err)
		}
	}
	p.produce(t, x.namesrv, x.topic, n)
	x.java = p.startStoppable(t, x.namesrv, x.group, x.topic)
	awaitCount(t, x.java.out, `"seq":`, n)
	x.mqs = awaitAllCommitted(t, tg, x.group, x.topic, n)
	return x
}

// configs are the group's configurations as the brokers keep them, byte for byte.
func (x *operated) configs(t *testing.T) string {
	t.Helper()
	var all []string
	for name, addr := range x.tg.Masters(t) {
		configs, err := x.admin.GroupConfigs(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name+" "+configs.Groups[x.group].String())
	}
	return strings.Join(all, "\n")
}

// lag shows the group's Lag page, read.
func (x *operated) lag(t *testing.T, s *shown) {
	t.Helper()
	s.press(t, ":lag "+x.group+"\r")
	s.see(t, "Lag  ", "share", "queues read")
}

// wantProgress checks what mqadmin says is committed of each queue.
func (x *operated) wantProgress(t *testing.T, when string, want map[int]int64) {
	t.Helper()
	if got := x.p.progress(t, x.namesrv, x.group, x.topic); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s mqadmin sees %v, want %v", when, got, want)
	}
}

// refusedReadOnly tries each change under --read-only: the screen says the word, and
// nothing is changed or noted.
func (x *operated) refusedReadOnly(t *testing.T) {
	t.Helper()
	before := x.configs(t)
	s := showProgram(t, x.state, "--read-only", "--namesrv", x.namesrv)
	x.lag(t, s)
	for what, keys := range map[string]string{"reset": "R", "pause": ":pause\r", "resume": ":resume\r"} {
		s.press(t, keys)
		s.see(t, what+": cluster ", "is read-only (flag --read-only), nothing sent")
	}
	s.press(t, ":tail "+x.topic+" @earliest\r")
	s.see(t, "kept 100")
	s.press(t, "R")
	s.see(t, "resend", "is read-only (flag --read-only)")
	s.leave(t)
	if after := x.configs(t); after != before {
		t.Errorf("read-only, the configuration went from %s to %s", before, after)
	}
	if text, err := os.ReadFile(filepath.Join(x.state, "eyeq", "audit.jsonl")); err == nil {
		t.Errorf("read-only, there are lines in the audit file: %s", text)
	}
}

// resetRunning resets all to the earliest while the Java member runs.
func (x *operated) resetRunning(t *testing.T) {
	t.Helper()
	s := x.screen
	x.lag(t, s)
	s.press(t, "R")
	s.see(t, "RESET OFFSETS — preview", "choose where to")
	s.press(t, "\t\thhhh") // To: from a shift by 0 to earliest
	s.see(t, "(•)earliest", "1 member online", fmt.Sprintf("replay %d", x.n))
	s.press(t, "\t\tfrom the screen\t"+x.group)
	s.see(t, "Apply writes the offsets of 4 queues")
	s.press(t, "\t\r")
	s.see(t, "RESET OFFSETS — result", "4 of 4 verified")
	x.handed += x.n
	awaitCount(t, x.java.out, `"seq":`, x.handed)
	awaitAllCommitted(t, x.tg, x.group, x.topic, int64(x.n))
	s.press(t, "\r")
}

// saveView saves the live view of the group twice, and compares the files with what the
// brokers say.
func (x *operated) saveView(t *testing.T) {
	t.Helper()
	s := x.screen
	s.press(t, ":live "+x.group+"\r")
	s.see(t, "1 member has what it should")
	dir := t.TempDir()
	save := func(name string) []byte {
		t.Helper()
		s.press(t, "o")
		s.see(t, "save to", ".csv or .json, ")
		path := filepath.Join(dir, name)
		s.press(t, "\x15"+path+"\r") // over the name that is proposed
		s.see(t, "saved ", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var objects []map[string]any
	if err := json.Unmarshal(save("view.json"), &objects); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(strings.NewReader(string(save("view.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range objects {
		if o["topic"] == x.topic {
			got[fmt.Sprint("json ", o["queue"])] = fmt.Sprint(o["broker"], o["committed_offset"], o["max_offset"], o["lag"])
		}
	}
	for _, r := range records[1:] {
		row := map[string]string{}
		for i, column := range records[0] {
			row[column] = r[i]
		}
		if row["topic"] == x.topic {
			got["csv "+row["queue"]] = fmt.Sprint(row["broker"], " ", row["committed_offset"], " ", row["max_offset"], " ", row["lag"])
		}
	}
	want := map[string]string{}
	for _, mq := range x.mqs {
		want[fmt.Sprint("json ", mq.QueueID)] = fmt.Sprint(mq.BrokerName, float64(screenEach), float64(screenEach), float64(0))
		want[fmt.Sprint("csv ", mq.QueueID)] = fmt.Sprint(mq.BrokerName, " ", screenEach, " ", screenEach, " ", 0)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("saved %v, want %v", got, want)
	}
}

// pulls tells when the member last tried to pull each queue.
func (x *operated) pulls(ctx context.Context) map[protocol.MessageQueue]int64 {
	last := map[protocol.MessageQueue]int64{}
	ids, addr, err := x.admin.ConsumerIDs(ctx, x.topic, x.group)
	if err != nil || len(ids) != 1 {
		return last
	}
	for mq, q := range insideOf(ctx, x.admin, addr, x.group, ids[0]) {
		if mq.Topic == x.topic {
			last[mq] = q.LastPullTimestamp
		}
	}
	return last
}

// awaitRefusedPulls waits until the member has tried to pull each queue twice since: the
// first of them was answered then.
func (x *operated) awaitRefusedPulls(t *testing.T) {
	t.Helper()
	for range 2 {
		since := time.Now().UnixMilli()
		sandboxtest.Await(t, "a pull of each queue", func(ctx context.Context) bool {
			after := 0
			for _, at := range x.pulls(ctx) {
				if at > since {
					after++
				}
			}
			return after == screenQueues
		})
	}
}

// change pauses or resumes from the Lag page.
func (x *operated) change(t *testing.T, verb, effect, proof string) {
	t.Helper()
	s := x.screen
	x.lag(t, s)
	s.press(t, ":"+verb+"\r")
	s.see(t, strings.ToUpper(verb)+" THE GROUP ", x.group[len(x.group)-12:], effect, "1 member:")
	s.press(t, "\tfrom the screen\t"+x.group+"\t\r")
	s.see(t, strings.ToUpper(verb)+" THE GROUP ", "✓ "+verb+"d, read back; all other fields as before", proof)
	s.press(t, "\r")
}

// pauseAndResume: nothing of 100 new messages is consumed while paused, all of them are
// after; the rest of the configuration is as before byte for byte.
func (x *operated) pauseAndResume(t *testing.T) {
	t.Helper()
	const more = 100
	before := x.configs(t)
	x.change(t, "pause", "consuming  → paused", "no queue of")
	paused := x.configs(t)
	if want := strings.ReplaceAll(before, `"consumeEnable":true`, `"consumeEnable":false`); paused != want || paused == before {
		t.Errorf("paused, the brokers have\n%s\nwant\n%s", paused, want)
	}
	if got := x.p.consumerConfig(t, x.namesrv, x.group)["consumeEnable"]; got != "false" {
		t.Errorf("mqadmin shows consumeEnable = %s", got)
	}
	x.p.produce(t, x.namesrv, x.topic, more)
	x.n += more
	x.awaitRefusedPulls(t)
	if got := strings.Count(x.java.out.String(), `"seq":`); got != x.handed {
		t.Errorf("paused, the Java member consumed %d of %d new messages", got-x.handed, more)
	}
	x.change(t, "resume", "paused     → consuming", "members pull again")
	x.handed += more
	awaitCount(t, x.java.out, `"seq":`, x.handed)
	awaitAllCommitted(t, x.tg, x.group, x.topic, int64(x.n))
	if after := x.configs(t); after != before {
		t.Errorf("resumed, the brokers have\n%s\nwant\n%s", after, before)
	}
}

// sendBack sends one dead letter and then two marked ones back to the Java member.
func (x *operated) sendBack(t *testing.T) {
	t.Helper()
	in := inspect.New(inspect.Options{Client: x.admin})
	mq := x.mqs[0]
	for offset := range int64(3) {
		m, err := in.Head(t.Context(), mq, offset)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.admin.SendBack(t.Context(), mq.BrokerName, &protocol.ConsumerSendMsgBackRequestHeader{
			Offset: m.CommitLogOffset(), Group: x.group, DelayLevel: -1, OriginMsgID: m.MessageID(), OriginTopic: mq.Topic, MaxReconsumeTimes: 16,
		}); err != nil {
			t.Fatal(err)
		}
	}
	dead := protocol.DLQTopic(x.group)
	x.tg.AwaitRoute(t, dead, 1)
	s := x.screen
	s.press(t, ":tail "+dead+" @earliest\r")
	s.see(t, "kept 3")
	resend := func(keys string, n int) {
		t.Helper()
		what := map[bool]string{true: "1 dead letter", false: fmt.Sprintf("%d dead letters", n)}[n == 1]
		s.press(t, keys+"R")
		s.see(t, "SEND dead letters back", what+" of "+x.group)
		s.press(t, "\tfrom the screen\t"+x.group+"\t\r")
		s.see(t, "SENT BACK", fmt.Sprintf("%d of %s sent back", n, what))
		x.handed += n
		awaitCount(t, x.java.out, `"seq":`, x.handed)
		s.press(t, "\r")
	}
	resend("g", 1)
	resend("jvjv", 2)
	times := map[string]int{}
	for _, m := range jsonLines(t, x.java.out.String()) {
		times[fmt.Sprint(m["seq"])]++
	}
	four := 0
	for _, n := range times {
		if n == 4 { // consumed, again after the reset, a number of both productions, and sent back
			four++
		}
	}
	if four != 3 {
		t.Errorf("%d messages came once more, want 3: %v", four, times)
	}
}

// resetStopped resets all queues of the stopped group to offset 10.
func (x *operated) resetStopped(t *testing.T) {
	t.Helper()
	s := x.screen
	x.lag(t, s)
	s.press(t, "R")
	s.see(t, "RESET OFFSETS — preview", "no member that reads the topic is connected")
	s.press(t, "\t\th\t\x1510\t") // To: an offset
	s.see(t, "(•)offset", fmt.Sprintf("replay %d", x.n-screenQueues*10))
	s.press(t, "\tfrom the screen\t"+x.group)
	s.see(t, "Apply writes the offsets of 4 queues")
	s.press(t, "\t\r")
	s.see(t, "RESET OFFSETS — result", "4 of 4 verified")
	x.wantProgress(t, "after the reset of the stopped group", map[int]int64{0: 10, 1: 10, 2: 10, 3: 10})
	s.press(t, "\r")
}

// checkAudit holds the audit file against what was done.
func (x *operated) checkAudit(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(x.state, "eyeq", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var l audit.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if l.Group != x.group || l.Operator != "tester" || l.Reason != "from the screen" {
			t.Errorf("line %s", line)
		}
		got = append(got, strings.TrimSpace(l.Command+" "+l.Phase+" "+l.Result))
	}
	var want []string
	for _, command := range []string{"group reset", "group pause", "group resume", "message resend", "message resend", "group reset"} {
		want = append(want, command+" begin")
		if command == "message resend" {
			want = append(want, command+" part", command+" part") // before and after
		}
		want = append(want, command+" end done")
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the audit file has %q, want %q", got, want)
	}
}
