package cli

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// stoppable is a Java member that a test ends when it likes.
type stoppable struct {
	out  *buffer
	stop func()
}

// startStoppable is startMember with a stop, which returns when the process has ended.
func (p *peers) startStoppable(t *testing.T, namesrv, group, topic string, more ...string) *stoppable {
	t.Helper()
	out, stderr := newBuffer(), newBuffer()
	cmd := exec.Command(p.script, append([]string{"java", p.version, "Consume", namesrv, group, topic, "concurrent", memberLife}, more...)...)
	cmd.Stdout, cmd.Stderr = out, stderr
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	s := &stoppable{out: out, stop: func() {
		if !ended {
			ended = true
			killGroup(cmd)
			cmd.Wait()
		}
	}}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() {
			t.Logf("the Java member's standard error: %q", stderr)
		}
	})
	awaitCount(t, out, `"started":true`, 1)
	return s
}

// progress is what mqadmin says is consumed of each queue of a topic.
func (p *peers) progress(t *testing.T, namesrv, group, topic string) map[int]int64 {
	t.Helper()
	awaitRetryTopic(t, namesrv, group)
	out := p.run(t, "admin", p.version, "consumerProgress", "-n", namesrv, "-g", group)
	offsets := map[int]int64{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 6 && f[0] == topic { // topic, broker, queue, broker offset, consumer offset, …
			offsets[int(integer(t, f[2]))] = integer(t, f[4])
		}
	}
	return offsets
}

// awaitOffline waits until no broker knows a member of the group.
func awaitOffline(t *testing.T, tg *sandboxtest.Target, group string) {
	t.Helper()
	admin := clientOf(t, tg.Namesrv...)
	for _, addr := range tg.Masters(t) {
		sandboxtest.Await(t, "the group offline", func(ctx context.Context) bool {
			c, err := admin.Connections(ctx, addr, group)
			return err != nil || len(c.ConnectionSet) == 0
		})
	}
}

// awaitAllCommitted waits until a group has committed n messages of a topic.
func awaitAllCommitted(t *testing.T, tg *sandboxtest.Target, group, topic string, n int64) []protocol.MessageQueue {
	t.Helper()
	admin := clientOf(t, tg.Namesrv...)
	route, _, err := admin.RefreshRoute(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Await(t, "all committed", func(ctx context.Context) bool { return committedIn(ctx, admin, group, route.Queues) == n })
	return route.Queues
}

// A reset of a running Java group, of one of its queues, and of the stopped group: the
// offsets are those asked for, by mqadmin too, and the Java member consumes from there.
func TestPeersGroupReset(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n, queues, each = 200, 4, 50
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, queues), tg.Group(t)
		p.produce(t, namesrv, topic, n)
		java := p.startStoppable(t, namesrv, group, topic)
		awaitCount(t, java.out, `"seq":`, n)
		mqs := awaitAllCommitted(t, tg, group, topic, n)
		reset := func(status int, says string, args ...string) *program {
			t.Helper()
			return startSlow(t, append([]string{"group", "reset", group, "--namesrv", namesrv, "-t", topic, "-o", "json"}, args...)).want(t, status, says)
		}

		dry := object(t, reset(statusDone, "", "--to", "earliest", "--dry-run"))
		if dry["method"] != map[string]string{"4": "push", "5": "server"}[tg.Line] || dry["lag_after"] != jsonNumber(strconv.Itoa(n)) {
			t.Errorf("plan: method %v, lag after %v", dry["method"], dry["lag_after"])
		}
		reset(statusRefused, "needs --yes", "--to", "earliest")
		if got := p.progress(t, namesrv, group, topic); fmt.Sprint(got) != fmt.Sprint(map[int]int64{0: each, 1: each, 2: each, 3: each}) {
			t.Errorf("after a dry run and a refusal mqadmin sees %v", got)
		}

		done := object(t, reset(statusDone, "", "--to", "earliest", "--yes"))
		for _, one := range done["queues"].([]any) {
			q := one.(map[string]any)
			if q["verified"] != true || q["before"] != jsonNumber("50") || q["after"] != jsonNumber("0") || q["effect"] != "replay" || q["client_id"] == nil {
				t.Errorf("queue %v", q)
			}
		}
		awaitCount(t, java.out, `"seq":`, 2*n)
		awaitAllCommitted(t, tg, group, topic, n)
		checkAgain(t, java.out, 2, func(int64, int64) bool { return true })

		one := mqs[2].BrokerName + ":2"
		if tg.Line == "4" {
			reset(statusRefused, "stop the group's members", "--queue", one, "--to", "offset:0", "--yes")
		} else {
			reset(statusDone, "", "--queue", one, "--to", "offset:0", "--yes")
			awaitCount(t, java.out, `"seq":`, 2*n+each)
			awaitAllCommitted(t, tg, group, topic, n)
			checkAgain(t, java.out, 3, func(queue, _ int64) bool { return queue == 2 })
		}

		java.stop()
		awaitOffline(t, tg, group)
		reset(statusDone, "", "--to", "offset:10", "--yes")
		reset(statusDone, "", "--queue", one, "--to", "offset:0", "--yes")
		if got := p.progress(t, namesrv, group, topic); fmt.Sprint(got) != fmt.Sprint(map[int]int64{0: 10, 1: 10, 2: 0, 3: 10}) {
			t.Errorf("after the resets of the stopped group mqadmin sees %v", got)
		}
		again := p.startStoppable(t, namesrv, group, topic)
		awaitCount(t, again.out, `"seq":`, n-30)
		awaitAllCommitted(t, tg, group, topic, n)
		checkAgain(t, again.out, 1, func(queue, offset int64) bool { return queue == 2 || offset >= 10 })
		if got := strings.Count(again.out.String(), `"seq":`); got != n-30 {
			t.Errorf("the member that started again consumed %d messages, want %d", got, n-30)
		}
	})
}

// checkAgain checks that a Java member has had each message of some kind times times.
func checkAgain(t *testing.T, out *buffer, times int, meant func(queue, offset int64) bool) {
	t.Helper()
	count := map[delivery]int{}
	for _, ds := range deliveriesOf(t, jsonLines(t, out.String()), func(m map[string]any) any { return m["seq"] }) {
		for _, d := range ds {
			count[d]++
		}
	}
	for queue := range int64(4) {
		for offset := range int64(50) {
			if meant(queue, offset) && count[delivery{queue, offset}] != times {
				t.Errorf("queue %d, offset %d: %d times, want %d", queue, offset, count[delivery{queue, offset}], times)
			}
		}
	}
}

// startSlow runs a command line that may take a minute.
func startSlow(t *testing.T, args []string) *program {
	t.Helper()
	p := start(t, slices.Concat(args, []string{"--timeout", "40s"}))
	awaitEnd(t, p)
	return p
}

// awaitEnd waits for a program's end for as long as a stock program may take.
func awaitEnd(t *testing.T, p *program) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), toolLimit)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		t.Fatalf("the program has not ended within %v: stdout %q, stderr %q", toolLimit, p.out, p.err)
	}
}
