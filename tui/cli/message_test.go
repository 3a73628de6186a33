package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

func named(name, value string) protocol.Property { return protocol.Property{Name: name, Value: value} }

// list decodes standard output as one array of objects.
func (p *program) list(t *testing.T) (all []map[string]any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(p.out.String()))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v in %q", err, p.out)
	}
	return all
}

func TestMessageGetAndFind(t *testing.T) {
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 2))
	const id = "7F0000010DFC1EB2C6F6000000000001"
	sb.Put(sandbox.Message{Topic: "orders", QueueID: 1, Body: []byte(`{"a":1.50,"b":["x"]}`), Properties: []protocol.Property{
		named("KEYS", "k1 k2"), named("TAGS", "A"), named("UNIQ_KEY", id), named("shop", "x=y")}})
	sb.Put(sandbox.Message{Topic: "orders", QueueID: 0, Body: []byte("two"), Properties: []protocol.Property{named("KEYS", "k2")}})
	ask := func(args ...string) []string {
		return append([]string{"message"}, append(args, "--namesrv", namesrv)...)
	}

	got := runs(t, ask("find", "-t", "orders", "--key", "k2", "-o", "json")).want(t, statusDone, "").list(t)
	if len(got) != 2 || got[0]["message_id"] != id || got[0]["body"] != `{"a":1.50,"b":["x"]}` || got[1]["body"] != "two" {
		t.Fatalf("found %v", got)
	}
	offsetID := fmt.Sprint(got[0]["offset_message_id"])
	for name, args := range map[string][]string{
		"unique id": {id, "-t", "orders"}, "offset id": {offsetID}, "offset id with topic": {offsetID, "-t", "orders"},
		"place": {"-t", "orders", "--queue", "broker-a:1", "--offset", "0"},
	} {
		one := runs(t, ask(append([]string{"get", "-o", "json"}, args...)...)).want(t, statusDone, "").objects(t)["message"]
		if len(one) != 1 || one[0]["offset_message_id"] != offsetID {
			t.Errorf("get by %s: %v", name, one)
		}
	}
	if p := runs(t, ask("get", offsetID, "-o", "raw")).want(t, statusDone, ""); p.out.String() != `{"a":1.50,"b":["x"]}` {
		t.Errorf("raw = %q, want the body and nothing else", p.out)
	}
	text := runs(t, ask("get", offsetID)).want(t, statusDone, "").out.String()
	for _, want := range []string{"orders broker-a/1 offset 0", id, "property           shop = x=y", "json, 20 bytes\n{\n  \"a\": 1.50,\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if p := runs(t, ask("find", "-t", "orders")).want(t, statusDone, ""); strings.Count(p.out.String(), "\n") != 2 {
		t.Errorf("all of the topic: %s", p.out)
	}
	if p := runs(t, ask("find", "-t", "orders", "-n", "1")).want(t, statusDone, "there are more of orders"); strings.Count(p.out.String(), "\n") != 1 {
		t.Errorf("one of the topic: %s", p.out)
	}
	sb.Put(sandbox.Message{Topic: "orders", QueueID: 0, Body: []byte("again"), Properties: []protocol.Property{named("UNIQ_KEY", id)}})
	p := runs(t, ask("get", id, "-t", "orders")).want(t, statusDone, "this id has 1 message more; to list")
	_, command, _ := strings.Cut(strings.TrimSpace(p.err.String()), "to list them all: eyeq ")
	if p := runs(t, strings.Fields(command)).want(t, statusDone, ""); strings.Count(p.out.String(), "\n") != 2 {
		t.Errorf("%q lists\n%s", command, p.out)
	}
}

// What clients trace into a topic of their own is found there, and an answer that there is
// nothing says where it was looked for.
func TestMessageTraceSaysItsTopic(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1), sandboxtest.Topic("own-traces", 1))
	const id = "7F0000010DFC1EB2C6F6000000000001"
	record := strings.Join([]string{"Pub", "1795966590000", "DefaultRegion", "producers", "orders", id, "A", "k1", "127.0.0.1:10911", "5", "12", "0", "7F000001", "true"}, "\x01") + "\x02"
	sb.Put(sandbox.Message{Topic: "own-traces", Body: []byte(record), Properties: []protocol.Property{{Name: protocol.PropertyKeys, Value: id}}})
	ask := func(args ...string) []string {
		return append([]string{"message", "track", id, "--namesrv", namesrv}, args...)
	}
	runs(t, ask("--trace")).want(t, statusNotFound, "tracing is not on: there is no topic RMQ_SYS_TRACE_TOPIC (")
	if rows := runs(t, ask("--trace-topic", "own-traces", "-o", "json")).want(t, statusDone, "").list(t); len(rows) != 1 || rows[0]["group"] != "producers" {
		t.Errorf("traces = %v", rows)
	}
	sb.CreateTopic("RMQ_SYS_TRACE_TOPIC", 1)
	runs(t, ask("--trace")).want(t, statusDone, "nothing is traced of "+id+" in RMQ_SYS_TRACE_TOPIC; where clients trace into a topic of their own, --trace-topic names it")
	runs(t, ask("--trace-topic", "nope")).want(t, statusNotFound, `there is no topic "nope"`)
}

func TestMessageNotFoundAndWrongUse(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	put(t, sb, "orders", 3)
	const unknown = "7F0000010DFC1EB2C6F6000000000001"
	for _, tt := range []struct {
		args   string
		status int
		stderr string
	}{
		{"get " + unknown, statusUsage, "A unique id is looked for with its topic: -t TOPIC."},
		{"get " + unknown + " -t orders", statusNotFound, "there is no message " + unknown + " in orders"},
		{"get 7F00000100002A9F0000000000000E44", statusNotFound, "there is no message 7F00000100002A9F0000000000000E44: no broker has the address 127.0.0.1:10911 now"},
		{"get -t orders --queue broker-a:0 --offset 9", statusNotFound, "there is no message orders broker-a/0 offset 9: the queue has 0 to 2"},
		{"get -t orders --queue broker-a:9 --offset 0", statusNotFound, `there is no queue to read from "orders broker-a/9"`},
		{"get -t orders --queue broker-x:0 --offset 0", statusUnreachable, "no address known for broker broker-x"},
		{"get -t orders --queue broker-a:0", statusUsage, "all of them"},
		{"get", statusUsage, "which message?"},
		{"get x y", statusUsage, `"y" is one argument too many`},
		{"get x -t orders", statusNotFound, "there is no message x in orders"},
		{"get x", statusUsage, "has 1 characters"},
		{"get -o yaml x", statusUsage, "-o yaml"},
		{"find -t nope --key k", statusNotFound, `there is no topic "nope"`},
		{"find -t nope", statusNotFound, `there is no topic "nope"`},
		{"find", statusUsage, "which topic? -t TOPIC"},
		{"find -t orders --key k --unique-key u", statusUsage, "one of them"},
		{"find -t orders --key k", statusNotFound, "there is no message of orders with key k"},
		{"find -t orders --from -1h --until -2h", statusUsage, "lies before --from"},
		{"find -t orders --until earliest", statusUsage, "nothing was stored before"},
		{"find -t orders --from yesterday", statusUsage, "is no time"},
		{"find -t orders -n 0", statusUsage, "must be positive"},
		{"find -t orders --from 2001-01-01 --until 2001-01-02", statusDone, "there is no message of orders between 2001-01-01 and 2001-01-02"},
		{"track " + unknown + " -t orders", statusNotFound, "there is no message"},
		{"track " + unknown + " --trace", statusNotFound, "tracing is not on"},
		{"resend --all", statusUsage, "which dead letters? -t '%DLQ%GROUP'"},
		{"resend x -t orders", statusUsage, "must be the dead-letter topic of a group"},
		{"resend -t %DLQ%g", statusUsage, "which dead letters?"},
		{"resend x --all -t %DLQ%g", statusUsage, "which dead letters?"},
		{"resend --all -t %DLQ%g --dry-run", statusNotFound, `there are no dead letters of group g`},
		{"resend --all -t %DLQ%g --read-only", statusRefused, "read-only"},
		{"nothing", statusUsage, `there is no command "nothing"`},
	} {
		args := append([]string{"message"}, strings.Fields(tt.args)...)
		p := runs(t, append(args, "--namesrv", namesrv)).want(t, tt.status, tt.stderr)
		if p.out.String() != "" {
			t.Errorf("%s: standard output %q", tt.args, p.out)
		}
	}
	runs(t, []string{"message", "find", "-t", "orders", "--namesrv", deadAddress(t)}).want(t, statusUnreachable, "no name server answers")
}

// hostile are bodies, keys and property values that are out to harm a terminal.
var hostile = []string{
	"\x1b]0;title\x07\x1b]52;c;QQ==\x07\x1b[31mred\x1b[0m", "\x1b[?1003l\x1b(B\x1b[1;24r", "\u009b31m\u0090q\u009c", "\x9b31m\xff\xfe",
	"\u202eabc\u2066", "a\r\b\v\f\x00\x7f\u2028\u2029", strings.Repeat("e\u0301\u0301\u0301\u0301\u0301\u0301", 50), "[YELLOW] to [GREEN] [[x]]", "订单-99 👨‍👩‍👧‍👦 \U0001FAE1⭐",
}

// safeOutput fails when anything but printable text and newlines would reach a terminal.
func safeOutput(t *testing.T, what, out string) {
	t.Helper()
	for i, r := range out {
		if r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xFFFD || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029) {
			t.Errorf("%s: %U at %d of %.200q", what, r, i, out)
			return
		}
	}
}

// Whatever a message holds, text never harms a terminal, and JSON and raw are exact
// .
func TestMessageHostile(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	for i, text := range hostile {
		key := strings.ReplaceAll(text, " ", "_")
		sb.Put(sandbox.Message{Topic: "orders", Body: []byte(text), Properties: []protocol.Property{
			named("KEYS", key), named("TAGS", key), named("p"+key, text), named("UNIQ_KEY", fmt.Sprintf("id-%d-%s", i, key))}})
	}
	ask := func(args ...string) *program {
		return runs(t, append(args, "--namesrv", namesrv)).want(t, statusDone, "")
	}
	for _, format := range []string{"text", "hex"} {
		safeOutput(t, "find -o "+format, ask("message", "find", "-t", "orders", "-o", format).out.String())
		safeOutput(t, "tail -o "+format, ask("tail", "orders", "--from", "earliest", "--until", "now", "-o", format).out.String())
	}
	all := ask("message", "find", "-t", "orders", "-o", "json").list(t)
	for i, text := range hostile {
		place := []string{"message", "get", "-t", "orders", "--queue", "broker-a:0", "--offset", fmt.Sprint(i)}
		safeOutput(t, "get", ask(place...).out.String())
		safeOutput(t, "get -o hex", ask(append(place, "-o", "hex")...).out.String())
		if raw := ask(append(place, "-o", "raw")...).out.String(); raw != text {
			t.Errorf("raw body %d = %q, want %q", i, raw, text)
		}
		if i != 3 && all[i]["body"] != text || i == 3 && all[i]["body_base64"] != "mzMxbf/+" {
			t.Errorf("body %d = %v, want %q", i, all[i]["body"], text)
		}
	}
	if p := runs(t, []string{"message", "find", "-t", "orders", "--key", "\x1b[31m", "--namesrv", namesrv}).want(t, statusNotFound, "with key ␛[31m"); true {
		safeOutput(t, "an error", p.err.String())
	}
}

// Huge messages are cut where people read and whole where programs do.
func TestMessageHuge(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	body := []byte(`{"a":"` + strings.Repeat("\x1b[31m字", 400_000) + `"}`)
	var noise []protocol.Property
	for i := range 2500 {
		noise = append(noise, named(fmt.Sprintf("p%d", i), "\x1b]0"))
	}
	sb.Put(sandbox.Message{Topic: "orders", Body: body, Properties: noise})
	place := []string{"message", "get", "-t", "orders", "--queue", "broker-a:0", "--offset", "0", "--namesrv", namesrv}
	p := runs(t, place).want(t, statusDone, "")
	safeOutput(t, "get", p.out.String())
	if n := p.out.b.Len(); n > 2<<20 || !strings.Contains(p.out.String(), " more properties: -o json has them all") || !strings.Contains(p.out.String(), "the rest is left out") {
		t.Errorf("text of %d bytes: %.300q", n, p.out)
	}
	if p := runs(t, append(place, "-o", "raw")).want(t, statusDone, ""); p.out.String() != string(body) {
		t.Errorf("raw: %d bytes, want %d", p.out.b.Len(), len(body))
	}
	line := runs(t, []string{"tail", "orders", "--namesrv", namesrv, "--from", "earliest", "--until", "now"}).want(t, statusDone, "").out.String()
	safeOutput(t, "tail", line)
	if len(line) > 1<<20 || !strings.Contains(line, fmt.Sprintf("… ‹%d B›", len(body))) {
		t.Errorf("tail: a line of %d bytes", len(line))
	}
	one := runs(t, append(place, "-o", "json")).want(t, statusDone, "").objects(t)["message"][0]
	if fmt.Sprint(one["body_size"]) != fmt.Sprint(len(body)) || len(one["properties"].(map[string]any)) < 2500 {
		t.Errorf("json: %v bytes, %d properties", one["body_size"], len(one["properties"].(map[string]any)))
	}
}

// buried puts n dead letters of a group into a sandbox that is served, with the
// group's retry topic.
func buried(t *testing.T, sb *sandbox.Sandbox, group string, n int) {
	t.Helper()
	sb.CreateTopic(protocol.DLQTopic(group), 1)
	sb.CreateTopic(protocol.RetryTopic(group), 1)
	for i := range n {
		sb.Put(sandbox.Message{Topic: protocol.DLQTopic(group), Body: fmt.Appendf(nil, "dead %d", i), Properties: []protocol.Property{
			named("UNIQ_KEY", fmt.Sprintf("ID%d", i)), named("RETRY_TOPIC", "orders"), named("ORIGIN_MESSAGE_ID", "X"), named("DELAY", "0"), named("KEYS", "k")}})
	}
}

func TestMessageResend(t *testing.T) {
	t.Parallel()
	sb, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	buried(t, sb, "billing", 70)
	client, err := remoting.NewClient(remoting.Options{Namesrv: []string{namesrv}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Route(t.Context(), "%RETRY%billing"); err != nil {
		t.Fatal(err)
	}
	addr, err := client.MasterOf(t.Context(), engine.MessageQueue{Topic: "%RETRY%billing", BrokerName: "broker-a"})
	if err == nil {
		err = client.UpdateGroupConfig(t.Context(), addr, protocol.NewGroupConfig("billing"))
	}
	if err != nil {
		t.Fatal(err)
	}
	sent := func() int64 {
		t.Helper()
		_, _, _, end := sb.Offsets("billing", engine.MessageQueue{Topic: "%RETRY%billing", BrokerName: "broker-a"})
		return end
	}
	state := t.TempDir()
	ask := func(status int, stderr string, args ...string) *program {
		t.Helper()
		return runs(t, append([]string{"message", "resend", "-t", "%DLQ%billing", "--namesrv", namesrv, "-o", "json"}, args...), withEnv("XDG_STATE_HOME", state)).want(t, status, stderr)
	}
	type row struct {
		SentBefore    *string `json:"sent_before"`
		OriginalTopic string  `json:"original_topic"`

		Skipped, Sent, Verified bool
	}
	type result struct {
		DryRun   bool `json:"dry_run"`
		Messages []row
	}
	decode := func(p *program) (r result) {
		t.Helper()
		if err := json.Unmarshal([]byte(p.out.String()), &r); err != nil {
			t.Fatalf("%v in %q", err, p.out)
		}
		return r
	}
	if r := decode(ask(statusDone, "", "ID3", "--dry-run")); !r.DryRun || len(r.Messages) != 1 || r.Messages[0].Sent || r.Messages[0].OriginalTopic != "orders" || sent() != 0 {
		t.Errorf("dry run = %+v, %d sent", r, sent())
	}
	if r := decode(ask(statusDone, "", "--all", "--dry-run")); len(r.Messages) != 70 || sent() != 0 {
		t.Errorf("dry run of all: %d messages, %d sent", len(r.Messages), sent())
	}
	ask(statusRefused, "needs --yes", "ID3")
	ask(statusRefused, "read-only", "ID3", "--yes", "--read-only")
	ask(statusNotFound, "there is no message ID99", "ID3", "ID99", "--yes")
	if _, err := os.Stat(filepath.Join(state, "eyeq", "audit.jsonl")); err == nil || sent() != 0 {
		t.Errorf("refused, but noted (%v) or sent (%d)", err, sent())
	}
	if r := decode(ask(statusDone, "", "ID3", "ID4", "ID3", "--yes", "--reason", "fixed")); len(r.Messages) != 2 || !r.Messages[1].Sent || !r.Messages[1].Verified || sent() != 2 {
		t.Errorf("two of them: %+v, %d sent", r, sent())
	}
	// What was sent is not sent again, unless that is asked for.
	if r := decode(ask(statusDone, "1 dead letter left out", "ID3", "--yes")); !r.Messages[0].Skipped || r.Messages[0].Sent || sent() != 2 {
		t.Errorf("again: %+v, %d sent", r, sent())
	}
	r := decode(ask(statusDone, "2 dead letters left out", "--all", "--yes"))
	if len(r.Messages) != 70 || sent() != 70 || r.Messages[3].SentBefore == nil || !r.Messages[3].Skipped || r.Messages[5].SentBefore != nil {
		t.Errorf("all of them: %d messages, %d sent, %+v", len(r.Messages), sent(), r.Messages[3])
	}
	r = decode(ask(statusDone, "", "--all", "--again", "--yes"))
	if len(r.Messages) != 70 || sent() != 140 || r.Messages[3].Skipped {
		t.Errorf("all of them again: %d messages, %d sent, %+v", len(r.Messages), sent(), r.Messages[3])
	}
	// Two: begin, one part, end. Seventy: three parts, and no line of all. A part has a line
	// of those that are sent next, and one of what became of them.
	var phases []string
	named, announced := map[any]bool{}, map[any]bool{}
	lines := audited(t, filepath.Join(state, "eyeq", "audit.jsonl"))
	for _, l := range lines {
		phases = append(phases, fmt.Sprint(l["phase"]))
		if l["phase"] != "part" || l["id"] != lines[len(lines)-1]["id"] {
			continue
		}
		if next, ok := l["wanted"].([]any); ok {
			for _, r := range next {
				announced[r.(map[string]any)["message_id"]] = true
			}
			if l["after"] != nil {
				t.Errorf("a line has both: %v", l)
			}
			continue
		}
		rows := l["after"].([]any)
		if len(rows) > resendPage {
			t.Errorf("a line of %d messages", len(rows))
		}
		for _, r := range rows {
			if r := r.(map[string]any); r["sent"] == true && r["verified"] == true && r["new_offset_message_id"] != nil {
				named[r["message_id"]] = true
			}
		}
	}
	if got := strings.Join(phases, " "); got != "begin part part end begin part end begin part part part part part part end begin part part part part part part end" || len(named) != 70 || len(announced) != 70 {
		t.Errorf("the audit file has %s, and names %d of the last 70, %d before they were sent", got, len(named), len(announced))
	}
	end, first := lines[len(lines)-1], lines[3]
	if got := fmt.Sprint(end["result"], " ", end["after"]); got != "done map[dead_letters:70 not_known:0 not_sent:0 sent:70 skipped:0 verified:70]" || first["reason"] != "fixed" || first["command"] != "message resend" {
		t.Errorf("the end says %s; the first end %v", got, first)
	}
	text := runs(t, []string{"message", "resend", "-t", "%DLQ%billing", "--namesrv", namesrv, "ID5", "--dry-run"}).want(t, statusDone, "nobody of the group is online").out.String()
	if !strings.Contains(text, "would be left out; a copy was sent before, at ") {
		t.Errorf("text = %s", text)
	}
	// Whether there are copies is asked for; that nobody tells is not that there are none.
	sb.SetFault(func(r sandbox.Request) sandbox.Fault {
		if protocol.RequestCode(r.Command.Code) == protocol.QueryMessage {
			return sandbox.Fault{Code: protocol.SystemError, Remark: "not now"}
		}
		return sandbox.Fault{}
	})
	const unknown = "messages of %RETRY%billing from broker-a: failed: not now"
	text = runs(t, []string{"message", "resend", "-t", "%DLQ%billing", "--namesrv", namesrv, "--all", "--dry-run"}).want(t, statusDone, "").out.String()
	if !strings.Contains(text, "would be sent back; whether a copy was sent before is not known: "+unknown) {
		t.Errorf("text = %s", text)
	}
	if got := ask(statusDone, "", "--all", "--dry-run").out.String(); !strings.Contains(got, `"sent_before":null,"sent_before_error":"`+unknown+`"`) {
		t.Errorf("JSON = %s", got)
	}
}

// Brokers that fall silent before anything is sent are a cluster that cannot be reached.
func TestMessageResendToASilentBroker(t *testing.T) {
	for name, code := range map[string]protocol.RequestCode{"how many there are": protocol.GetTopicStatsInfo, "which they are": protocol.PullMessage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sb, namesrv := serveSandbox(t)
			dead := protocol.DLQTopic("billing")
			sb.CreateTopic(dead, 1)
			sb.CreateTopic(protocol.RetryTopic("billing"), 1)
			sb.Put(sandbox.Message{Topic: dead, Body: []byte("dead"), Properties: []protocol.Property{named("RETRY_TOPIC", "orders"), named("UNIQ_KEY", "ID1")}})
			sb.SetFault(func(r sandbox.Request) sandbox.Fault {
				return sandbox.Fault{Drop: protocol.RequestCode(r.Command.Code) == code}
			})
			for _, how := range []string{"--yes", "--dry-run"} {
				p := runs(t, []string{"message", "resend", "-t", dead, "--all", how, "--timeout", "500ms", "--namesrv", namesrv}, withEnv("XDG_STATE_HOME", t.TempDir())).want(t, statusUnreachable, "no answer in time")
				if _, _, _, end := sb.Offsets("billing", engine.MessageQueue{Topic: protocol.RetryTopic("billing"), BrokerName: "broker-a"}); end != 0 {
					t.Errorf("%s: %d were sent, and it says %s", how, end, p.err)
				}
			}
		})
	}
}

// A resend that the plan refuses sends nothing and ends as refused, also as a dry run.
func TestMessageResendThatIsRefused(t *testing.T) {
	sb, namesrv := serveSandbox(t)
	sb.CreateTopic(protocol.DLQTopic("gone"), 1)
	sb.Put(sandbox.Message{Topic: protocol.DLQTopic("gone"), Body: []byte("dead"), Properties: []protocol.Property{named("RETRY_TOPIC", "orders")}})
	for _, how := range []string{"--yes", "--dry-run"} {
		runs(t, []string{"message", "resend", "-t", "%DLQ%gone", "--all", how, "--namesrv", namesrv}, withEnv("XDG_STATE_HOME", t.TempDir())).
			want(t, statusRefused, "group gone has no retry topic")
	}
}

// Words that are the same everywhere are completed without a cluster.
func TestFlagCompletion(t *testing.T) {
	for flags, want := range map[string]string{"consume --strategy": "consistent-hash\n", "allocate --strategy": "circle\n", "consume --from": "first\n", "tail --charset": "shift_jis\n"} {
		p := runs(t, append(append([]string{"__complete"}, strings.Fields(flags)...), "")).want(t, statusDone, "")
		if !strings.Contains(p.out.String(), want) {
			t.Errorf("%s completes to %q", flags, p.out)
		}
	}
}

// Topics are completed where one is asked for.
func TestMessageCompletion(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("orders", 1))
	for _, args := range [][]string{{"tail"}, {"message", "find", "-t"}, {"message", "get", "x", "--topic"}} {
		p := runs(t, append(append([]string{"__complete", "--namesrv", namesrv}, args...), "ord")).want(t, statusDone, "")
		if !strings.Contains(p.out.String(), "orders\n") {
			t.Errorf("%v completes to %q", args, p.out)
		}
	}
}

// What brokers do not index is not said to be absent.
func TestNotIndexedIsNotAbsent(t *testing.T) {
	problems := []inspect.Problem{{What: "messages in batches of b", Where: "broker-a", Why: inspect.Reason{Kind: inspect.ReasonNotIndexed, Text: "because"}}}
	err := notAmong("there is no message of b with key k", problems)
	want := "there is no message of b with key k in the index of broker-a, but messages in batches of b are not indexed: because"
	if err.Error() != want || exitStatus(err, nil) != statusFailed {
		t.Errorf("%v (status %d), want %q (%d)", err, exitStatus(err, nil), want, statusFailed)
	}
}
