package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// changed is a sandbox on TCP with a topic of two queues of ten messages, of which the
// group g has consumed six each.
type changed struct {
	sb      *sandbox.Sandbox
	namesrv string
	client  *remoting.Client
	mqs     []protocol.MessageQueue
	state   string // XDG_STATE_HOME
}

func newChanged(t *testing.T, line string) *changed {
	t.Helper()
	c := &changed{state: t.TempDir()}
	c.sb, c.namesrv = serveSandbox(t, sandboxtest.Line(line), sandboxtest.Topic("orders", 2))
	put(t, c.sb, "orders", 20)
	var err error
	if c.client, err = remoting.NewClient(remoting.Options{Namesrv: []string{c.namesrv}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)
	route, _, err := c.client.RefreshRoute(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	c.mqs = route.Queues
	c.makeGroup(t, "g")
	c.commit(t, "g", 6)
	return c
}

func (c *changed) makeGroup(t *testing.T, group string) {
	t.Helper()
	addr, err := c.client.MasterOf(t.Context(), c.mqs[0])
	if err == nil {
		err = c.client.UpdateGroupConfig(t.Context(), addr, protocol.NewGroupConfig(group))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (c *changed) commit(t *testing.T, group string, offset int64) {
	t.Helper()
	for _, mq := range c.mqs {
		if err := c.client.UpdateConsumerOffset(t.Context(), group, mq, offset); err != nil {
			t.Fatal(err)
		}
	}
}

// offsets are what the group has committed.
func (c *changed) offsets(t *testing.T, group string) string {
	t.Helper()
	var all []string
	for _, mq := range c.mqs {
		offset, found, err := c.client.QueryConsumerOffset(t.Context(), group, mq)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			offset = -1
		}
		all = append(all, fmt.Sprint(offset))
	}
	return strings.Join(all, " ")
}

// run runs a command of the group.
func (c *changed) run(t *testing.T, args ...string) *program {
	t.Helper()
	return runs(t, append([]string{"group", args[0], "--namesrv", c.namesrv}, args[1:]...), withEnv("XDG_STATE_HOME", c.state, "USER", "wang"))
}

// audited are the lines of the audit file.
func (c *changed) audited(t *testing.T) []map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.state, "eyeq", "audit.jsonl"))
	if err != nil {
		return nil
	}
	var all []map[string]any
	for line := range strings.Lines(string(text)) {
		all = append(all, decodeLine(t, []byte(line)))
	}
	return all
}

func object(t *testing.T, p *program) map[string]any {
	t.Helper()
	var o map[string]any
	d := json.NewDecoder(strings.NewReader(p.out.String()))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v in %q", err, p.out)
	}
	return o
}

// A reset is planned, refused without a yes, made, noted, and taken back.
func TestGroupReset(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"5", "4"} {
		t.Run("line "+line, func(t *testing.T) {
			c := newChanged(t, line)
			dry := c.run(t, "reset", "g", "--to", "latest", "--dry-run").want(t, statusDone, "")
			for _, want := range []string{"reset g to the end: SKIPS 8 messages in 2 queues", "how: commit", "SKIP 4", "end of queue", "2 queues, SKIP 8 in 2, lag 8 → 0"} {
				if !strings.Contains(dry.out.String(), want) {
					t.Errorf("the plan lacks %q:\n%s", want, dry.out)
				}
			}
			c.run(t, "reset", "g", "--to", "latest").want(t, statusRefused, "needs --yes")
			c.run(t, "reset", "g", "--to", "latest", "--yes", "--read-only").want(t, statusRefused, "read-only")
			if got := c.offsets(t, "g"); got != "6 6" || c.audited(t) != nil {
				t.Errorf("without a yes: offsets %s, audit %v", got, c.audited(t))
			}

			done := object(t, c.run(t, "reset", "g", "--to", "earliest", "--yes", "--reason", "bad batch", "-o", "json").want(t, statusDone, ""))
			if got := c.offsets(t, "g"); got != "0 0" {
				t.Errorf("offsets %s, want 0 0", got)
			}
			q := done["queues"].([]any)[1].(map[string]any)
			got := fmt.Sprintln(done["group"], done["dry_run"], done["method"], q["topic"], q["queue"], q["before"], q["after"], q["min_offset"], q["max_offset"], q["effect"], q["verified"])
			if want := fmt.Sprintln("g", false, "commit", "orders", 1, 6, 0, 0, 10, "replay", true); got != want {
				t.Errorf("JSON %s, want %s", got, want)
			}
			audit := c.audited(t)
			if len(audit) != 2 || audit[1]["result"] != "done" || audit[1]["reason"] != "bad batch" || audit[1]["operator"] != "wang" || audit[1]["command"] != "group reset" {
				t.Fatalf("audit %v", audit)
			}
			before := fmt.Sprint(audit[1]["before"].([]any)[0].(map[string]any)["offset"])
			after := fmt.Sprint(audit[1]["after"].([]any)[0].(map[string]any)["offset"])
			if before != "6" || after != "0" {
				t.Errorf("audit: before %s, after %s", before, after)
			}

			file := done["saved_to"].(string)
			if dir := filepath.Join(c.state, "eyeq", "offsets"); filepath.Dir(file) != dir {
				t.Errorf("saved to %s, want a file in %s", file, dir)
			}
			c.run(t, "reset", "g2", "--undo", file, "--yes").want(t, statusUsage, "offsets of group g, not of g2")
			saved, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			elsewhere := filepath.Join(t.TempDir(), "elsewhere.json")
			if err := os.WriteFile(elsewhere, []byte(strings.Replace(string(saved), c.namesrv, "prod", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			c.run(t, "reset", "g", "--undo", elsewhere, "--yes").want(t, statusUsage, "it was saved on prod")
			if got := c.offsets(t, "g"); got != "0 0" {
				t.Errorf("after the undo of another cluster's reset: offsets %s", got)
			}
			c.run(t, "reset", "g", "--to", "file:"+elsewhere, "--dry-run").want(t, statusDone, "")
			undone := c.run(t, "reset", "g", "--undo", file, "--yes").want(t, statusDone, "")
			if got := c.offsets(t, "g"); got != "6 6" || !strings.Contains(undone.out.String(), "2 of 2 queues verified") || !strings.Contains(undone.out.String(), ".json --namesrv "+c.namesrv+")") {
				t.Errorf("after the undo: offsets %s, %s", got, undone.out)
			}
			one := c.run(t, "reset", "g", "-t", "orders", "--queue", "broker-a:1", "--to", "offset:0", "--yes").want(t, statusDone, "")
			if got := c.offsets(t, "g"); got != "6 0" {
				t.Errorf("one queue to 0: offsets %s, %s", got, one.out)
			}
			c.run(t, "reset", "g", "--to", "shift:-2", "--yes").want(t, statusDone, "")
			if got := c.offsets(t, "g"); got != "4 0" {
				t.Errorf("a shift: offsets %s", got)
			}
		})
	}
}

// Wrong use, what is not there, and RocketMQ's own groups.
func TestGroupResetRefuses(t *testing.T) {
	c := newChanged(t, "5")
	c.makeGroup(t, "CID_RMQ_SYS_TRANS")
	c.commit(t, "CID_RMQ_SYS_TRANS", 3)
	text := filepath.Join(t.TempDir(), "text.json")
	if err := os.WriteFile(text, []byte(`{"kind":"else"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"no target":         {[]string{"g"}, statusUsage, "where to?"},
		"two targets":       {[]string{"g", "--to", "latest", "--undo", "f"}, statusUsage, "one of them"},
		"a bad target":      {[]string{"g", "--to", "yesterday"}, statusUsage, `"yesterday" is no target`},
		"a shift unsigned":  {[]string{"g", "--to", "shift:5"}, statusUsage, "shift:+N or shift:-N"},
		"a bad queue":       {[]string{"g", "--to", "latest", "--queue", "x"}, statusUsage, "--queue"},
		"no such file":      {[]string{"g", "--to", "file:/nowhere/f.json"}, statusUsage, "no such file"},
		"another file":      {[]string{"g", "--undo", text}, statusUsage, "no file of saved offsets"},
		"no such group":     {[]string{"nobody", "--to", "latest", "--yes"}, statusNotFound, `no group "nobody"`},
		"no such topic":     {[]string{"g", "--to", "latest", "-t", "none", "--yes"}, statusNotFound, `no topic "none"`},
		"no such queue":     {[]string{"g", "--to", "latest", "--queue", "broker-a:9", "--yes"}, statusNotFound, "broker-a/9"},
		"system, a yes":     {[]string{"CID_RMQ_SYS_TRANS", "--to", "latest", "--yes"}, statusRefused, "--system-group"},
		"system, other":     {[]string{"CID_RMQ_SYS_TRANS", "--to", "latest", "--yes", "--system-group", "g"}, statusRefused, "RocketMQ's own"},
		"nothing reachable": {[]string{"g", "--to", "latest", "--timeout", "1s", "--namesrv", deadAddress(t)}, statusUnreachable, "no name server answers"},
	} {
		t.Run(name, func(t *testing.T) { c.run(t, append([]string{"reset"}, tt.args...)...).want(t, tt.status, tt.says) })
	}
	if got := c.offsets(t, "CID_RMQ_SYS_TRANS"); got != "3 3" {
		t.Errorf("the system group's offsets are %s", got)
	}
	dry := c.run(t, "reset", "CID_RMQ_SYS_TRANS", "--to", "latest", "--dry-run").want(t, statusDone, "")
	if !strings.Contains(dry.out.String(), "! CID_RMQ_SYS_TRANS is one of RocketMQ's own groups") {
		t.Errorf("the plan of a system group: %s", dry.out)
	}
	c.run(t, "reset", "CID_RMQ_SYS_TRANS", "--to", "latest", "--yes", "--system-group", "CID_RMQ_SYS_TRANS").want(t, statusDone, "")
	if got := c.offsets(t, "CID_RMQ_SYS_TRANS"); got != "10 10" {
		t.Errorf("twice confirmed, and the offsets are %s", got)
	}
}

// A Z is UTC whatever --tz says, and both times are shown.
func TestGroupResetTimeZones(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 7, 22, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-07-21T23:28:00Z":      "2026-07-22 01:28:00.000+02:00 (2026-07-21T23:28:00.000Z)",
		"2026-07-21 23:28":          "2026-07-21 23:28:00.000+02:00 (2026-07-21T21:28:00.000Z)",
		"2026-07-21T23:28:00+08:00": "2026-07-21 17:28:00.000+02:00 (2026-07-21T15:28:00.000Z)",
		"-15m":                      "2026-07-22 01:45:00.000+02:00 (2026-07-21T23:45:00.000Z)",
	} {
		target, words, err := parseTarget(text, berlin, now)
		if err != nil || target.Kind != core.ResetTime || words != want {
			t.Errorf("%s: %q (%v), want %q", text, words, err, want)
		}
	}
}

// A lag that lacks queues is not told as the whole.
func TestResetJSONSaysWhatItsLagLacks(t *testing.T) {
	why := inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "no answer in time"}
	p := inspect.ResetPlan{Before: inspect.Exact(0).Plus(inspect.Unknown(why)), After: inspect.Exact(3)}
	text, err := marshal(resetJSONOf(&p, nil))
	if err != nil || !strings.Contains(string(text), `"lag_before":0,"lag_before_error":"unreachable: no answer in time","lag_after":3,`) {
		t.Errorf("%s, %v", text, err)
	}
}

// When the answer cannot be written, what was changed is not passed over.
func TestChangeWithoutAnAnswerIsNamed(t *testing.T) {
	c := newChanged(t, "5")
	for _, what := range [][]string{{"reset", "g", "--to", "earliest"}, {"pause", "g"}, {"create", "g2"}} {
		p := runs(t, append([]string{"group", what[0], "--namesrv", c.namesrv, "--yes"}, what[1:]...),
			withEnv("XDG_STATE_HOME", c.state), withStdout(&closingPipe{}))
		p.want(t, statusFailed, "standard output was closed; what was changed before that is noted in "+filepath.Join(c.state, "eyeq", "audit.jsonl"))
	}
	if got := c.offsets(t, "g"); got != "0 0" {
		t.Errorf("offsets %s, want 0 0", got)
	}
	runs(t, []string{"group", "reset", "g", "--namesrv", c.namesrv, "--to", "latest", "--dry-run"}, withStdout(&closingPipe{})).
		want(t, statusFailed, "standard output was closed\n")
}
