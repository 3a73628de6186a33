package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"eyeq/engine"
)

// demoInBubble runs the demo without a screen on a fake clock. The bubble ends only
// when every goroutine has: a leak of the demo, the engines or the sandbox fails
// the test.
func demoInBubble(t *testing.T, check func(t *testing.T, p *program), args ...string) {
	t.Helper()
	home := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		p := &program{out: newBuffer(), err: newBuffer()}
		e := &env{
			stdin: strings.NewReader(""), stdout: p.out, stderr: p.err,
			signals: make(chan os.Signal, 2), now: time.Now,
			exit: func(int) { t.Error("exit was called") },
		}
		e.getenv = func(k string) string {
			if strings.HasPrefix(k, "XDG_") {
				return home
			}
			return ""
		}
		p.status = run(context.WithoutCancel(t.Context()), e, append([]string{"demo"}, args...))
		check(t, p)
	})
}

func TestDemoShowsEverythingWithinSixSeconds(t *testing.T) {
	t.Parallel()
	demoInBubble(t, func(t *testing.T, p *program) {
		p.want(t, statusDone, "")
		causes, names := map[string]int{}, map[string]int{}
		for _, ev := range p.objects(t)["event"] {
			name := fmt.Sprint(ev["event"])
			names[name]++
			if name == "flow_begin" {
				causes[fmt.Sprint(ev["cause"])]++
			}
		}
		for _, cause := range []string{"count", "span"} {
			if causes[cause] == 0 {
				t.Errorf("no flow control by %s within 6 s; begun: %v", cause, causes)
			}
		}
		for name, want := range map[string]int{"queue_added": 12, "queue_dropped": 4, "rebalance_topic": 3, "flow_end": 1, "sendback_ok": 3, "consume_failed": 3} {
			if names[name] < want {
				t.Errorf("%d events %s within 6 s, want at least %d", names[name], name, want)
			}
		}
		for _, bad := range []string{"pull_error", "broker_offline", "offset_persist_failed", "sendback_failed", "message_undecodable", "offset_illegal"} {
			if names[bad] > 0 {
				t.Errorf("%d events %s", names[bad], bad)
			}
		}
	}, "--for", "6s", "-o", "json")
}

func TestDemoRunsThroughItsPeriods(t *testing.T) {
	t.Parallel()
	demoInBubble(t, func(t *testing.T, p *program) {
		p.want(t, statusDone, "")
		joined, left := map[string]int{}, map[string]int{}
		for _, ev := range p.objects(t)["event"] {
			if ev["event"] != "rebalance_topic" || ev["topic"] != "orders" {
				continue
			}
			for _, id := range list(ev["joined"]) {
				joined[id]++
			}
			for _, id := range list(ev["left"]) {
				left[id]++
			}
		}
		for _, id := range []string{"settle-2@demo", "settle-3@demo"} {
			if joined[id] < 2 || left[id] < 2 {
				t.Errorf("%s joined %d times and left %d times in 70 s, want 2 of each", id, joined[id], left[id])
			}
		}
	}, "--for", "70s", "-o", "json")
}

func list(v any) (texts []string) {
	all, _ := v.([]any)
	for _, one := range all {
		texts = append(texts, fmt.Sprint(one))
	}
	return texts
}

func TestDemoEndsWithAPicture(t *testing.T) {
	t.Parallel()
	demoInBubble(t, func(t *testing.T, p *program) {
		p.want(t, statusDone, "")
		lines := p.lines()
		if len(lines) < pictureHeight+20 {
			t.Fatalf("%d lines: %s", len(lines), p.out)
		}
		if !strings.Contains(lines[0], "  group ") {
			t.Errorf("the first event names no group: %s", lines[0])
		}
		picture := lines[len(lines)-pictureHeight:]
		for i, line := range picture {
			if n := utf8.RuneCountInString(line); n > pictureWidth {
				t.Errorf("line %d of the picture has %d cells", i, n)
			}
		}
		text := strings.Join(picture, "\n")
		for _, want := range []string{"order-settle", "settle-1@demo  (this)", "settle-3@demo", "SANDBOX", "broker-a/1", "FLOW"} {
			if !strings.Contains(text, want) {
				t.Errorf("the picture shows no %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "SHUTDOWN") {
			t.Errorf("the picture is of the leave:\n%s", text)
		}
	}, "--plain", "--for", "10s")
}

func TestDemoScenarioIsWhole(t *testing.T) {
	s := demoScenario()
	ids := map[string]bool{}
	for _, m := range s.members {
		if ids[m.clientID] {
			t.Errorf("client id %s twice", m.clientID)
		}
		ids[m.clientID] = true
		if err := m.o.Validate(); err != nil {
			t.Errorf("options of %s: %v", m.clientID, err)
		}
		for _, sub := range m.o.Subscriptions {
			if s.topics[sub.Topic] == 0 {
				t.Errorf("%s subscribes %s, which is not made", m.clientID, sub.Topic)
			}
		}
	}
	perSecond := 0.0
	for _, l := range s.loads {
		if s.topics[l.topic] == 0 || l.queue >= s.topics[l.topic] || len(l.tags) == 0 {
			t.Errorf("load %+v has no queue or no tag", l)
		}
		perSecond += float64(l.count) / l.every.Seconds()
	}
	if perSecond < 100 || perSecond > 500 {
		t.Errorf("%.0f messages a second, want some hundred", perSecond)
	}
	var at time.Duration
	in := map[string]bool{}
	for _, turn := range s.turns {
		if turn.at < at || turn.at >= s.period || !ids[turn.clientID] || in[turn.clientID] == turn.join {
			t.Errorf("turn %+v is out of order", turn)
		}
		at, in[turn.clientID] = turn.at, turn.join
	}
	for id, here := range in {
		if here {
			t.Errorf("%s does not leave before the period ends", id)
		}
	}
}

func TestDemoWrongUse(t *testing.T) {
	runs(t, []string{"demo", "--for", "-1s"}).want(t, statusUsage, "--for -1s: must not be negative")
	runs(t, []string{"demo", "-o", "none"}).want(t, statusUsage, "-o none: must be text or json")
}

// A listener that is still busy when the demo ends is no error: nobody gets its messages.
func TestDemoEndsOnBusyListeners(t *testing.T) {
	d := &demo{env: &env{logs: newLogs(io.Discard)}}
	d.failed(fmt.Errorf("leave group settle: %w", &engine.StillRunningError{Calls: []engine.RunningCall{{First: 7, Last: 7}}}))
	if d.err != nil {
		t.Errorf("the demo ends with %v", d.err)
	}
	other := errors.New("no sandbox")
	d.failed(other)
	d.failed(errors.New("later"))
	if d.err != other {
		t.Errorf("the demo ends with %v, want the first error of another kind", d.err)
	}
}
