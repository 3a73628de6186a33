package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"eyeq/engine"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
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
		if committed, found, _, _ := sb.Offsets(tailGroup, mq); found {
			t.Errorf("an offset was committed for %v: %d", mq, committed)
		}
	}
	if m := sb.Members(tailGroup); len(m) != 0 {
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

func TestTailFormats(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	putOne(sb, "orders", "a\nb\x1b")
	args := []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now", "-o"}
	for format, want := range map[string]string{
		"text": "orders broker-a/0  0  a⏎b␛\n",
		"raw":  "a\nb\x1b\n",
		"hex":  "4 B\n00000000  61 0a 62 1b                                       |a.b.|\n",
		"json": `"body":"a\nb\u001b","body_size":4}` + "\n",
	} {
		if p := runs(t, append(args, format)).want(t, statusDone, ""); !strings.HasSuffix(p.out.String(), want) {
			t.Errorf("%s = %q, want it to end with %q", format, p.out, want)
		}
	}
}

func TestTailNotFound(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 3), sandboxtest.Brokers("broker-a", "broker-b"))
	runs(t, []string{"tail", "nope", "--namesrv", namesrv}).want(t, statusNotFound, "topic nope does not exist")
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

// fakeQueues is a queueReader over lists of store times, in seconds.
type fakeQueues struct {
	stored  map[int32][]int64
	nearest bool // search as 4.9 does
	fail    map[int32]error
	hang    map[int32]chan struct{}
	pulls   atomic.Int64
}

func (f *fakeQueues) bounds(_ context.Context, mq engine.MessageQueue) (lo, hi int64, err error) {
	return 0, int64(len(f.stored[mq.QueueID])), nil
}

func (f *fakeQueues) at(_ context.Context, mq engine.MessageQueue, t time.Time) (int64, error) {
	list := f.stored[mq.QueueID]
	last := int64(0)
	for i, s := range list {
		if s >= t.Unix() && !f.nearest {
			return int64(i), nil
		}
		if s <= t.Unix() {
			last = int64(i) // 4.9: the last of those with that time
		}
	}
	if f.nearest {
		return last, nil
	}
	return int64(len(list)), nil
}

func (f *fakeQueues) pull(ctx context.Context, mq engine.MessageQueue, offset int64, _ string, hold time.Duration) (remoting.PullResult, error) {
	f.pulls.Add(1)
	if err := f.fail[mq.QueueID]; err != nil {
		return remoting.PullResult{}, err
	}
	if c := f.hang[mq.QueueID]; c != nil {
		select {
		case <-c:
		case <-ctx.Done():
			return remoting.PullResult{}, ctx.Err()
		}
	}
	list := f.stored[mq.QueueID]
	r := remoting.PullResult{Status: remoting.PullFound}
	r.MaxOffset = int64(len(list))
	for r.NextBeginOffset = offset; r.NextBeginOffset < int64(len(list)) && r.NextBeginOffset < offset+tailBatch; r.NextBeginOffset++ {
		var err error
		r.Body, err = protocol.AppendRecord(r.Body, &protocol.Record{
			Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: r.NextBeginOffset, Stored: time.Unix(list[r.NextBeginOffset], 0), Born: time.Unix(1, 0),
			BornHost: netip.MustParseAddrPort("1.1.1.1:1"), StoreHost: netip.MustParseAddrPort("1.1.1.1:1"),
		})
		if err != nil {
			return r, err
		}
	}
	if len(r.Body) == 0 {
		r.Status = remoting.PullNoNewMessage
		if hold > 0 {
			t := time.NewTimer(hold)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
				return r, ctx.Err()
			}
		}
	}
	return r, nil
}

// fakeTailer reads n queues of f; got collects "queue@time".
func fakeTailer(f *fakeQueues, n int32, from position, until *position) (t *tailer, got *[]string) {
	got = new([]string)
	t = &tailer{
		reader: f, expression: "*", from: from, until: until, giveUp: 3 * time.Second, now: time.Now,
		keep:  func(*engine.Message) bool { return true },
		pause: func() error { return nil }, notice: func(string) {},
		emit: func(m *engine.Message) (bool, error) {
			*got = append(*got, fmt.Sprintf("%d@%d", m.QueueID(), m.Stored().Unix()))
			return true, nil
		},
	}
	for q := range n {
		t.queues = append(t.queues, engine.MessageQueue{Topic: "t", BrokerName: "b", QueueID: q})
	}
	return t, got
}

func TestTailMergesInStoreOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeQueues{stored: map[int32][]int64{0: {1, 4, 7}, 1: {2, 5, 5}, 2: {}, 3: {3}}}
		for i := range int64(100) {
			f.stored[0] = append(f.stored[0], 10+3*i)
			f.stored[1] = append(f.stored[1], 11+3*i)
		}
		tl, got := fakeTailer(f, 4, position{kind: posEarliest}, &position{kind: posLatest})
		if err := tl.run(t.Context(), &crew{}); err != nil {
			t.Fatal(err)
		}
		want := []string{"0@1", "1@2", "3@3", "0@4", "1@5", "1@5", "0@7"}
		for i := range int64(100) {
			want = append(want, fmt.Sprintf("0@%d", 10+3*i), fmt.Sprintf("1@%d", 11+3*i))
		}
		if diff := cmp.Diff(*got, want); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
	})
}

// TestTailTimeSearch holds that the first message stored at the time is read on
// both broker lines, also when a batch shares its time.
func TestTailTimeSearch(t *testing.T) {
	stored := []int64{1, 2}
	for range 40 {
		stored = append(stored, 5)
	}
	stored = append(stored, 9)
	for _, nearest := range []bool{false, true} {
		for _, tt := range []struct{ from, until, want int64 }{{5, 99, 41}, {3, 99, 41}, {9, 99, 1}, {10, 99, 0}, {0, 99, 43}, {5, 5, 40}, {3, 4, 0}, {0, 8, 42}} {
			synctest.Test(t, func(t *testing.T) {
				tl, got := fakeTailer(&fakeQueues{stored: map[int32][]int64{0: stored}, nearest: nearest}, 1,
					position{kind: posTime, time: time.Unix(tt.from, 0)}, &position{kind: posTime, time: time.Unix(tt.until, 0)})
				if err := tl.run(t.Context(), &crew{}); err != nil {
					t.Fatal(err)
				}
				if n := int64(len(*got)); n != tt.want {
					t.Errorf("nearest %v: from %d until %d: %d messages, want %d", nearest, tt.from, tt.until, n, tt.want)
				}
			})
		}
	}
}

func TestTailUntilATimeToComeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		tl, _ := fakeTailer(&fakeQueues{}, 2, position{kind: posLatest}, &position{kind: posTime, time: began.Add(40 * time.Second)})
		if err := tl.run(t.Context(), &crew{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 40*time.Second || took > 42*time.Second {
			t.Errorf("took %v, want 40 s", took)
		}
	})
}

func TestTailSlowQueueHoldsUpForAWhileOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		f := &fakeQueues{stored: map[int32][]int64{0: {5, 6}, 1: {1}}, hang: map[int32]chan struct{}{1: hang}}
		tl, got := fakeTailer(f, 2, position{kind: posEarliest}, &position{kind: posLatest})
		go func() {
			time.Sleep(tailPatience + time.Second)
			synctest.Wait()
			close(hang)
		}()
		if err := tl.run(t.Context(), &crew{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(*got, []string{"0@5", "0@6", "1@1"}); diff != "" {
			t.Errorf("order (-got +want):\n%s", diff)
		}
	})
}

func TestTailFailingQueue(t *testing.T) {
	refused := &remoting.NoBrokerError{BrokerName: "b"}
	denied := &remoting.CodeError{Code: protocol.NoPermission}
	if !remoting.Retryable(refused) {
		refused = nil
	}
	synctest.Test(t, func(t *testing.T) {
		f := &fakeQueues{stored: map[int32][]int64{0: {1}}, fail: map[int32]error{0: denied}}
		tl, _ := fakeTailer(f, 1, position{kind: posEarliest}, nil)
		if err := tl.run(t.Context(), &crew{}); !errors.Is(err, denied) || f.pulls.Load() != 1 {
			t.Errorf("run = %v after %d pulls, want the refusal at once", err, f.pulls.Load())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := &fakeQueues{stored: map[int32][]int64{0: {1}}, fail: map[int32]error{0: remoting.ErrClosed}}
		tl, _ := fakeTailer(f, 1, position{kind: posEarliest}, &position{kind: posLatest})
		began := time.Now()
		if err := tl.run(t.Context(), &crew{}); !errors.Is(err, remoting.ErrClosed) {
			t.Errorf("run = %v, want the error after giving up", err)
		}
		if took := time.Since(began); took < 3*time.Second || took > 10*time.Second {
			t.Errorf("gave up after %v, want some 3 s", took)
		}
	})
}

func TestTailOutputCounts(t *testing.T) {
	var b bytes.Buffer
	o := &tailOutput{format: "raw", w: bufio.NewWriter(&b), left: 2}
	m := makeMessage(t, protocol.Record{Body: []byte("x")})
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
			if tt.stderr == "" && p.err.String() != "" {
				t.Errorf("stderr = %q, want nothing", p.err)
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
