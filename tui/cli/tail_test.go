package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func TestTailReadsWithoutCommitting(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 4))
	put(t, sb, "orders", 100)
	p := runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now", "-o", "json"}).want(t, statusDone, "")
	got := p.objects(t)["message"]
	if diff := cmp.Diff(bodies(t, got), upTo(100)); diff != "" {
		t.Errorf("bodies (-got +want):\n%s", diff)
	}
	for i := 1; i < len(got); i++ {
		if fmt.Sprint(got[i-1]["stored"]) > fmt.Sprint(got[i]["stored"]) {
			t.Errorf("message %d was stored after its successor: %v, %v", i-1, got[i-1]["stored"], got[i]["stored"])
		}
	}
	for q := range int32(4) {
		mq := engine.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: q}
		if committed, found, _, _ := sb.Offsets(engine.ToolsGroup, mq); found {
			t.Errorf("an offset was committed for %v: %d", mq, committed)
		}
	}
	if m := sb.Members(engine.ToolsGroup); len(m) != 0 {
		t.Errorf("members = %v, want none", m)
	}
}

func TestTailFollowsUntilItIsEnough(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	put(t, sb, "orders", 5)
	p := start(t, []string{"tail", "orders", "--namesrv", namesrv, "-n", "3", "-o", "raw"})
	// From the latest on: what is there already is not read. A message is put each
	// moment until the reader has its three.
	for i := 0; ; i++ {
		select {
		case <-p.done:
			if lines := p.lines(); len(lines) != 3 || !strings.HasPrefix(lines[0], "new-") {
				t.Errorf("lines = %q, want three new ones", lines)
			}
			p.want(t, statusDone, "")
			return
		case <-time.After(20 * time.Millisecond):
			putOne(sb, "orders", fmt.Sprintf("new-%d", i))
		}
	}
}

func TestTailEndsAtASignal(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	p := start(t, []string{"tail", "orders", "--namesrv", namesrv})
	p.signals <- syscall.SIGTERM
	p.wait(t).want(t, 143, "")
}

func TestTailFilters(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 2, protocol.Property{Name: "TAGS", Value: "Aa"}, protocol.Property{Name: "KEYS", Value: "k1 k2"})
	put(t, sb, "orders", 1, protocol.Property{Name: "TAGS", Value: "BB"}, protocol.Property{Name: "shop", Value: "x=y"}) // same hash code as Aa
	tests := map[string]struct {
		flags []string
		want  int
	}{
		"all":              {nil, 3},
		"tag":              {[]string{"--tag", "Aa"}, 2},
		"tags":             {[]string{"--tag", "Aa||BB"}, 3},
		"any tag":          {[]string{"--tag", "*"}, 3},
		"key":              {[]string{"--key", "k2"}, 2},
		"part of a key":    {[]string{"--key", "k"}, 0},
		"property":         {[]string{"--property", "shop=x=y"}, 1},
		"property of none": {[]string{"--property", "shop=z"}, 0},
		"grep":             {[]string{"--grep", "^2$"}, 1},
		"two":              {[]string{"--grep", "1", "--tag", "BB"}, 1},
		"number":           {[]string{"-n", "2"}, 2},
		"offset":           {[]string{"--from", "offset:1", "--until", "offset:1"}, 1},
		"beyond":           {[]string{"--from", "offset:99"}, 0},
		"time":             {[]string{"--from", "-1h"}, 3},
		"time to come":     {[]string{"--from", "2099-01-01T00:00:00Z"}, 0},
		"until long ago":   {[]string{"--until", "2000-01-01"}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := []string{"tail", "orders", "--namesrv", namesrv, "-o", "json"}
			joined := strings.Join(tt.flags, " ")
			if !strings.Contains(joined, "--from") {
				args = append(args, "--from", "earliest")
			}
			if !strings.Contains(joined, "--until") {
				args = append(args, "--follow=false")
			}
			p := runs(t, append(args, tt.flags...)).want(t, statusDone, "")
			if got := strings.Count(p.out.String(), "\n"); got != tt.want {
				t.Errorf("%d messages, want %d: %s", got, tt.want, p.out)
			}
		})
	}
}

func TestTailJQAndCounts(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	for _, body := range []string{`{"amount":1299,"cur":"CNY"}`, `{"amount":5,"cur":"CNY"}`, `{"amount":2000,"cur":"USD"}`, "no json", `{"amount":[],"cur":{}}`, `{"amount":3000,"cur":"CNY"}`} {
		putOne(sb, "orders", body)
	}
	tests := map[string]struct {
		flags  []string
		lines  int
		counts string
	}{
		"all":       {nil, 6, "6 seen, 6 matched, 6 kept, 0 dropped\n"},
		"jq":        {[]string{"--jq", `.amount > 1000 and .cur == "CNY"`}, 2, "6 seen, 2 matched, 2 kept, 0 dropped; the jq program failed on 1, first on orders broker-a/0 at offset 3: the body is not JSON\n"},
		"jq fails":  {[]string{"--jq", `.cur.x`}, 0, "6 seen, 0 matched, 0 kept, 0 dropped; the jq program failed on 5, first on orders broker-a/0 at offset 0: expected an object but got: string (\"CNY\")\n"},
		"number":    {[]string{"-n", "2"}, 2, "6 seen, 6 matched, 2 kept, 4 dropped\n"},
		"jq number": {[]string{"--jq", ".amount", "--grep", "CNY", "-n", "1"}, 1, "6 seen, 3 matched, 1 kept, 2 dropped\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now", "-o", "raw"}, tt.flags...)
			p := runs(t, args).want(t, statusDone, "")
			if got := strings.Count(p.out.String(), "\n"); got != tt.lines || p.err.String() != "eyeq: "+tt.counts {
				t.Errorf("%d lines, want %d; stderr %q, want %q", got, tt.lines, p.err, tt.counts)
			}
		})
	}
	for flag, want := range map[string]string{
		"--jq=.a )":    `--jq: ")" is not expected at character 4 of ".a )"`,
		"--grep=(":     "--grep: error parsing regexp",
		"--property=x": `--property "x": must be K=V`,
	} {
		runs(t, []string{"tail", "orders", "--namesrv", namesrv, flag}).want(t, statusUsage, want)
	}
	runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--property", "a=1", "--property", "a=2"}).
		want(t, statusUsage, `--property a is given as "1" and as "2": no message has both`)
}

// wantFormats runs a command with each value of -o, for which args end, and wants the
// end of what it prints.
func wantFormats(t *testing.T, args []string, formats map[string]string) {
	t.Helper()
	for format, want := range formats {
		if p := runs(t, append(args, format)).want(t, statusDone, ""); !strings.HasSuffix(p.out.String(), want) {
			t.Errorf("%s = %q, want it to end with %q", format, p.out, want)
		}
	}
}

func TestTailFormats(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	putOne(sb, "orders", "a\nb  \x1b")
	args := []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now", "-o"}
	wantFormats(t, args, map[string]string{
		"text": "orders broker-a/0  0  a⏎b  ␛\n",
		"raw":  "a\nb  \x1b\n",
		"hex":  "  orders broker-a/0  0  6 B\n00000000  61 0a 62 20 20 1b                                 |a.b  .|\n",
		"json": `"body":"a\nb  \u001b","body_size":6}` + "\n",
	})
}

// --charset is for what is read: the bytes themselves are not touched.
func TestTailCharset(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	putOne(sb, "orders", "\xcd\xcb\xbf\xee")
	args := []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now", "--charset", "GBK", "--grep", "退", "-o"}
	wantFormats(t, args, map[string]string{
		"text": "orders broker-a/0  0  退款\n",
		"raw":  "\xcd\xcb\xbf\xee\n",
		"hex":  "4 B\n00000000  cd cb bf ee                                       |....|\n",
		"json": `"body_base64":"zcu/7g==","body_size":4}` + "\n",
	})
	place := []string{"-t", "orders", "--namesrv", namesrv, "--charset", "gbk"}
	if p := runs(t, append([]string{"message", "get", "--queue", "broker-a:0", "--offset", "0"}, place...)).want(t, statusDone, ""); !strings.HasSuffix(p.out.String(), "text in gbk, 4 bytes\n退款\n") {
		t.Errorf("message get: %q", p.out)
	}
	if p := runs(t, append([]string{"message", "find"}, place...)).want(t, statusDone, ""); !strings.HasSuffix(p.out.String(), "  退款\n") {
		t.Errorf("message find: %q", p.out)
	}
	runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--charset", "klingon"}).want(t, statusUsage, `"klingon" is no charset that is known`)
}

// A broker that does not filter by SQL92 ends the tail, with its reason, before anything is read.
func TestTailSQLIsRefused(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 2)
	p := runs(t, []string{"tail", "orders", "--sql", "a > 1", "--from", "earliest", "--namesrv", namesrv}).
		want(t, statusFailed, "set enablePropertyFilter=true at this broker, or filter by tags")
	if p.out.String() != "" || !strings.Contains(p.err.String(), `refuses the SQL92 expression "a > 1" of topic orders`) {
		t.Errorf("%q, %q", p.out, p.err)
	}
}

func TestTailNotFound(t *testing.T) {
	t.Parallel()
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 3), sandboxtest.Brokers("broker-a", "broker-b"))
	runs(t, []string{"tail", "nope", "--namesrv", namesrv}).want(t, statusNotFound, "topic nope does not exist")
	for _, args := range [][]string{{"tail", "%DLQ%g"}, {"topic", "show", "%DLQ%g"}, {"message", "find", "-t", "%DLQ%g", "--from", "-1h"}, {"message", "resend", "-t", "%DLQ%g", "--all", "--yes"}} {
		runs(t, append(args, "--namesrv", namesrv)).want(t, statusNotFound, "there are no dead letters of group g")
	}
	runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--queue", "broker-a:7"}).
		want(t, statusNotFound, "topic orders has no queue broker-a:7: it has broker-a:0-2, broker-b:0-2")
	runs(t, []string{"tail", "orders", "--namesrv", deadAddress(t)}).want(t, statusUnreachable, "no name server answers")
}

func TestTailOneQueue(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 3))
	put(t, sb, "orders", 9)
	p := runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now", "--queue", "broker-a:1", "--queue", "broker-a/1", "-o", "json"})
	got := p.want(t, statusDone, "").objects(t)["message"]
	for _, m := range got {
		if fmt.Sprint(m["queue"]) != "1" {
			t.Errorf("a message of queue %v", m["queue"])
		}
	}
	if len(got) != 3 {
		t.Errorf("%d messages, want 3", len(got))
	}
}

func TestTailSaysWhatHasExpired(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 10)
	mq := engine.MessageQueue{Topic: "orders", BrokerName: "broker-a"}
	sb.Truncate(mq, 4)
	p := runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--from", "offset:1", "--until", "now", "-o", "raw"}).want(t, statusDone, "")
	if got := strings.Join(p.lines(), " "); got != "5 6 7 8 9 10" {
		t.Errorf("read %q, want what is left", got)
	}
}

func TestTailClosedPipe(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest"}, withStdout(&closingPipe{})).
		want(t, statusFailed, "eyeq tail: standard output was closed")
}

// sandboxTailer reads the queues of "t" in a sandbox; got collects "queue@second",
// the time its messages were stored.
func sandboxTailer(t *testing.T, sb *sandbox.Sandbox, n int32, from position, until *position) (tl *tailer, got *[]string) {
	t.Helper()
	got = new([]string)
	tl = &tailer{
		client: sandboxtest.Client(t, sb, nil), timeout: 3 * time.Second, topic: "t",
		expression: "*", from: from, until: until, giveUp: 3 * time.Second, now: time.Now,
		keep:  func(context.Context, *engine.Message) *sieve { return &sieve{} },
		pause: func() error { return nil }, notice: func(string) {},
		unread: func(engine.MessageQueue, int64, string) error { return nil },
		emit: func(m *keptMessage) (bool, error) {
			*got = append(*got, fmt.Sprintf("%d@%d", m.QueueID(), m.Stored().Unix()-epoch))
			return true, nil
		},
	}
	route, err := tl.client.Route(t.Context(), "t") // as topicRoute does
	if err != nil {
		t.Fatal(err)
	}
	tl.queues = route.Queues
	if len(tl.queues) != int(n) {
		t.Fatalf("%d queues, want %d", len(tl.queues), n)
	}
	return tl, got
}

// epoch is when the clock of a bubble begins.
const epoch = 946684800

// storeAt stores one message a second of a bubble's clock, or as many as are
// named for it: stored[s] are the queues.
func storeAt(t *testing.T, sb *sandbox.Sandbox, stored map[int64][]int32, until int64) {
	t.Helper()
	for s := time.Now().Unix() - epoch; s <= until; s++ {
		for _, q := range stored[s] {
			if sb.Put(sandbox.Message{Topic: "t", QueueID: q, Body: []byte("x")}) < 0 {
				t.Error("a message was not stored")
			}
		}
		time.Sleep(time.Second)
	}
}

func TestTailMergesInStoreOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 4))
		stored := map[int64][]int32{1: {0}, 2: {1}, 3: {3}, 4: {0}, 5: {1, 1}, 7: {0}}
		want := []string{"0@1", "1@2", "3@3", "0@4", "1@5", "1@5", "0@7"}
		for i := range int64(100) {
			stored[10+3*i], stored[11+3*i] = []int32{0}, []int32{1}
			want = append(want, fmt.Sprintf("0@%d", 10+3*i), fmt.Sprintf("1@%d", 11+3*i))
		}
		storeAt(t, sb, stored, 320)
		tl, got := sandboxTailer(t, sb, 4, position{kind: posEarliest}, &position{kind: posLatest})
		if err := tl.run(t.Context(), &crew{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*got, want); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
	})
}

// TestTailTimeSearch holds that the first message stored at the time is read on
// both broker lines, also when a batch shares its time.
func TestTailTimeSearch(t *testing.T) {
	for _, line := range []string{"4", "5"} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1), sandboxtest.Line(line))
			storeAt(t, sb, map[int64][]int32{1: {0}, 2: {0}, 5: make([]int32, 40), 9: {0}}, 20)
			for _, tt := range []struct {
				from, until int64
				want        int
			}{{5, 99, 41}, {3, 99, 41}, {9, 99, 1}, {10, 99, 0}, {0, 99, 43}, {5, 5, 40}, {3, 4, 0}, {0, 8, 42}} {
				until := position{kind: posTime, time: time.Unix(epoch+tt.until, 0)}
				if tt.until == 99 {
					until = position{kind: posLatest}
				}
				tl, got := sandboxTailer(t, sb, 1, position{kind: posTime, time: time.Unix(epoch+tt.from, 0)}, &until)
				if err := tl.run(t.Context(), &crew{}); err != nil {
					t.Fatal(err)
				}
				if len(*got) != tt.want {
					t.Errorf("line %s: from %d until %d: %d messages, want %d", line, tt.from, tt.until, len(*got), tt.want)
				}
			}
		})
	}
}

func TestTailUntilATimeToComeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 2))
		began := time.Now()
		tl, got := sandboxTailer(t, sb, 2, position{kind: posLatest}, &position{kind: posTime, time: began.Add(40 * time.Second)})
		go storeAt(t, sb, map[int64][]int32{30: {0}, 39: {1}, 41: {0}}, 42)
		if err := tl.run(t.Context(), &crew{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 40*time.Second || took > 42*time.Second {
			t.Errorf("took %v, want 40 s", took)
		}
		if diff := cmp.Diff(*got, []string{"0@30", "1@39"}); diff != "" {
			t.Errorf("messages (-got +want):\n%s", diff)
		}
		time.Sleep(5 * time.Second)
	})
}

func TestTailSlowQueueHoldsUpForAWhileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 2))
		storeAt(t, sb, map[int64][]int32{1: {1}, 5: {0}, 6: {0}}, 7)
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if h := pullOf(r); h != nil && h.QueueID == 1 {
				f.Delay = tailPatience + time.Second
			}
			return f
		})
		tl, got := sandboxTailer(t, sb, 2, position{kind: posEarliest}, &position{kind: posLatest})
		if err := tl.run(t.Context(), &crew{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*got, []string{"0@5", "0@6", "1@1"}); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
	})
}

// A broker that never answers holds up the messages of another by tailPatience and no
// more, however often these come.
func TestTailSilentBrokerBesideABusyOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1), sandboxtest.Brokers("broker-a", "broker-b"))
		tl, _ := sandboxTailer(t, sb, 2, position{kind: posLatest}, nil)
		sb.SetFault(func(r sandbox.Request) sandbox.Fault { return sandbox.Fault{Drop: r.Broker == "broker-b"} })
		printed := 0
		tl.emit = func(m *keptMessage) (bool, error) {
			printed++
			if held := time.Since(m.Stored()); held > tailPatience+time.Millisecond {
				t.Errorf("message %d is printed %v after it was stored, want at most %v", printed, held, tailPatience)
			}
			return printed < 20, nil
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var producer sync.WaitGroup
		producer.Go(func() {
			often := time.NewTicker(250 * time.Millisecond)
			defer often.Stop()
			for {
				select {
				case <-often.C:
					sb.Put(sandbox.Message{Topic: "t", Broker: "broker-a", Body: []byte("x")})
				case <-ctx.Done():
					return
				}
			}
		})
		if err := tl.run(ctx, &crew{}); err != nil || printed < 20 {
			t.Errorf("run = %v after %d messages, want 20", err, printed)
		}
		stop()
		producer.Wait()
	})
}

// pullOf is the header of a pull; nil of another request.
func pullOf(r sandbox.Request) *protocol.PullMessageRequestHeader {
	var h protocol.PullMessageRequestHeader
	if protocol.RequestCode(r.Command.Code) != protocol.PullMessage || protocol.DecodeFields(r.Command.ExtFields, &h) != nil {
		return nil
	}
	return &h
}

func TestTailFailingQueue(t *testing.T) {
	refuse := func(sb *sandbox.Sandbox, code protocol.ResponseCode) *atomic.Int32 {
		var pulls atomic.Int32
		sb.SetFault(func(r sandbox.Request) (f sandbox.Fault) {
			if pullOf(r) != nil {
				pulls.Add(1)
				f.Code = code
			}
			return f
		})
		return &pulls
	}
	t.Run("for good", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
			tl, _ := sandboxTailer(t, sb, 1, position{kind: posEarliest}, nil)
			pulls := refuse(sb, protocol.NoPermission)
			err := tl.run(t.Context(), &crew{})
			if ce, ok := errors.AsType[*remoting.CodeError](err); !ok || ce.Code != protocol.NoPermission || pulls.Load() != 1 {
				t.Errorf("run = %v after %d pulls, want the refusal at once", err, pulls.Load())
			}
		})
	})
	t.Run("for too long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
			tl, _ := sandboxTailer(t, sb, 1, position{kind: posEarliest}, &position{kind: posTime, time: time.Now().Add(time.Hour)})
			refuse(sb, protocol.SystemBusy)
			began := time.Now()
			err := tl.run(t.Context(), &crew{})
			if ce, ok := errors.AsType[*remoting.CodeError](err); !ok || ce.Code != protocol.SystemBusy {
				t.Errorf("run = %v, want the error after giving up", err)
			}
			if took := time.Since(began); took < 3*time.Second || took > 10*time.Second {
				t.Errorf("gave up after %v, want some 3 s", took)
			}
		})
	})
	t.Run("for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
			storeAt(t, sb, map[int64][]int32{1: {0}}, 2)
			tl, got := sandboxTailer(t, sb, 1, position{kind: posEarliest}, &position{kind: posLatest})
			var notices []string
			tl.notice = func(s string) { notices = append(notices, s) }
			refuse(sb, protocol.SystemBusy)
			go func() {
				time.Sleep(1500 * time.Millisecond)
				sb.SetFault(nil)
			}()
			if err := tl.run(t.Context(), &crew{}); err != nil || len(*got) != 1 {
				t.Errorf("run = %v, %v, want one message", err, *got)
			}
			if len(notices) != 2 || !strings.HasSuffix(notices[0], "; trying again") || notices[1] != "t broker-a/0 can be read again" {
				t.Errorf("notices = %q", notices)
			}
		})
	})
}

// A tail that follows reads the queues that its topic gets later, from their
// beginning; one of named queues does not.
func TestTailFollowsNewQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		tl, got := sandboxTailer(t, sb, 1, position{kind: posLatest}, nil)
		tl.grows = true
		var notices []string
		tl.notice = func(s string) { notices = append(notices, s) }
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			storeAt(t, sb, map[int64][]int32{1: {0}}, 4)
			sb.CreateTopic("t", 3)
			storeAt(t, sb, map[int64][]int32{6: {1, 2}, 45: {2}}, 60)
			cancel()
		}()
		if err := tl.run(ctx, &crew{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*got, []string{"0@1", "1@6", "2@6", "2@45"}); diff != "" {
			t.Errorf("messages (-got +want):\n%s", diff)
		}
		if len(notices) != 2 || notices[1] != "t broker-a/2 was added to the topic: reading it too" {
			t.Errorf("notices = %q", notices)
		}
	})
}

func TestTailOutputCounts(t *testing.T) {
	var b bytes.Buffer
	o := &tailOutput{format: "raw", w: bufio.NewWriter(&b), left: 2}
	m := &keptMessage{Message: *makeMessage(t, protocol.Record{Body: []byte("x")})}
	if more, _ := o.emit(m); !more {
		t.Error("ends after one of two")
	}
	if more, _ := o.emit(m); more {
		t.Error("goes on after two of two")
	}
}

// TestTailSaysWhyNothingComes holds that positions which leave nothing to read, or
// lie outside a queue, are told; the answer is empty, not wrong.
func TestTailSaysWhyNothingComes(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("t", 1))
	put(t, sb, "t", 3)
	tests := map[string]struct {
		from, until string
		lines       int
		stderr      string
	}{
		"latest until now":        {"latest", "now", 0, "nothing is read: --from latest does not lie before --until now"},
		"latest until earlier":    {"latest", "-10m", 0, "nothing is read: --from latest does not lie before --until -10m"},
		"until earliest":          {"offset:1", "earliest", 0, "nothing is read: --from offset:1 does not"},
		"future until now":        {"2100-01-01", "now", 0, "nothing is read: --from 2100-01-01 does not"},
		"from beyond the end":     {"offset:9", "now", 0, "t broker-a/0: --from offset:9 is beyond the end, the next message will have 3: beginning there"},
		"until beyond the end":    {"earliest", "offset:9", 3, "t broker-a/0: --until offset:9 is beyond the end, the next message will have 3: ending there"},
		"the end itself is there": {"offset:2", "offset:2", 1, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := runs(t, []string{"tail", "t", "--namesrv", namesrv, "--from", tt.from, "--until", tt.until}).want(t, statusDone, tt.stderr)
			if n := strings.Count(p.out.String(), "\n"); n != tt.lines {
				t.Errorf("%d lines, want %d: %s", n, tt.lines, p.out)
			}
			counts := fmt.Sprintf("eyeq: %[1]d seen, %[1]d matched, %[1]d kept, 0 dropped\n", tt.lines)
			if got := p.err.String(); !strings.HasSuffix(got, counts) || tt.stderr == "" && got != counts {
				t.Errorf("stderr = %q, want it to end with %q", got, counts)
			}
		})
	}
}

func TestTailThatFollowsSaysHowItEnds(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("t", 4))
	p := start(t, []string{"tail", "t", "--namesrv", namesrv})
	p.err.await(t, "eyeq: reading 4 queues of t from latest; ctrl-c ends\n")
	p.signals <- os.Interrupt
	p.wait(t).want(t, 130, "")
}

// breakingConn breaks the record whose body is "BROKEN" in each frame that is read.
type breakingConn struct {
	net.Conn
	out []byte
}

func (c *breakingConn) Read(p []byte) (int, error) {
	for len(c.out) == 0 {
		var length [4]byte
		if _, err := io.ReadFull(c.Conn, length[:]); err != nil {
			return 0, err
		}
		frame := append(length[:], make([]byte, binary.BigEndian.Uint32(length[:]))...)
		if _, err := io.ReadFull(c.Conn, frame[4:]); err != nil {
			return 0, err
		}
		if at := bytes.Index(frame, []byte("BROKEN")); at > 0 {
			frame[at-88+4] ^= 0xff // the magic of its record
		}
		c.out = frame
	}
	n := copy(p, c.out)
	c.out = c.out[n:]
	return n, nil
}

// A record that cannot be read is told, in JSON as a row of its own; the reading
// goes on behind it, and the run has failed in the end.
func TestTailGoesOnBehindAnUnreadableRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1))
		for _, body := range []string{"one", "BROKEN", "three"} {
			sb.Put(sandbox.Message{Topic: "t", Body: []byte(body)})
		}
		tl, _ := sandboxTailer(t, sb, 1, position{kind: posEarliest}, &position{kind: posLatest})
		client, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := sb.Dial(ctx, network, addr)
			return &breakingConn{Conn: c}, err
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, err := client.Route(t.Context(), "t"); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		out := &tailOutput{format: "json", w: bufio.NewWriter(&b), location: time.UTC}
		tl.client, tl.emit, tl.pause, tl.unread = client, out.emit, out.flush, out.unread
		var notices []string
		tl.notice = func(s string) { notices = append(notices, s) }
		if err := tl.run(t.Context(), &crew{}); err == nil || err.Error() != "1 record could not be read, see above" || exitStatus(err, nil) != statusFailed {
			t.Errorf("run = %v, want a failure that counts the record", err)
		}
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[0], `"body":"one"`) || !strings.Contains(lines[2], `"body":"three"`) ||
			!strings.HasPrefix(lines[1], `{"kind":"unreadable","topic":"t","broker":"broker-a","queue":0,"offset":1,"error":"message at byte 0 of`) {
			t.Errorf("output = %q", lines)
		}
		if len(notices) != 1 || !strings.HasPrefix(notices[0], "t broker-a/0: the record at offset 1 cannot be read: ") {
			t.Errorf("notices = %q", notices)
		}
	})
}

// A program that takes all of its time on each message ends the run with what to do, after
// some seconds of the half hour that ten thousand messages would take.
func TestTailGivesAnEndlessProgramUp(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 10_000)
	began := time.Now()
	p := runs(t, []string{"tail", "orders", "--from", "earliest", "--until", "now", "--jq", "[range(1e8)]|length", "--namesrv", namesrv, "-o", "json"}).
		want(t, statusFailed, "eyeq tail: --jq: the program was given up: it took longer than 200ms on 20 messages in a row; make it cheaper, or leave messages out before it")
	if took := time.Since(began); took > time.Minute || p.out.String() != "" {
		t.Errorf("it took %v and printed %q", took, p.out)
	}
}
