package cli

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// wantBodies checks that the messages are n, and that each body is the one of which
// its producer wrote the sum beside it.
func wantBodies(t *testing.T, where string, messages []map[string]any, n int) {
	t.Helper()
	if len(messages) != n {
		t.Errorf("%s: %d messages, want %d", where, len(messages), n)
	}
	for _, m := range messages {
		body := []byte(fmt.Sprint(m["body"]))
		if b64, ok := m["body_base64"].(string); ok {
			body, _ = base64.StdEncoding.DecodeString(b64)
		}
		sum := m["properties"].(map[string]any)["sha256"]
		if got := fmt.Sprintf("%x", sha256.Sum256(body)); got != sum || m["body_error"] != nil {
			t.Errorf("%s, %v: %v bytes are not what was sent: %v", where, m["keys"], m["body_size"], m["body_error"])
		}
	}
}

// Bodies of every length and of four kinds of text, by each compressor of the stock
// producer, are read wherever messages are.
func TestPeersBodies(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 1), tg.Group(t)
		var specs []string
		for _, kind := range []string{"json", "repeat", "words", "noise"} {
			for _, size := range []int{1, 100, 4095, 4500, 20_000, 131_072, 131_073, 1 << 20, 4<<20 - 4096} { // a broker takes 4 MiB with all around the body
				specs = append(specs, fmt.Sprintf("%s:%d", kind, size))
			}
		}
		n := 3 * len(specs)
		if out := p.run(t, "java", p.version, "Bodies", namesrv, topic, strings.Join(specs, ",")); !strings.Contains(out, fmt.Sprintf(`{"sent":%d}`, n)) {
			t.Fatalf("the stock producer says %q", out)
		}
		awaitStored(t, clientOf(t, tg.Namesrv...), topic, int64(n))
		run := func(args ...string) *program {
			t.Helper()
			return runs(t, append(args, "--namesrv", namesrv, "-o", "json"))
		}
		all := run("tail", topic, "--from", "earliest", "--until", "now").want(t, statusDone, "").objects(t)["message"]
		wantBodies(t, "tail", all, n)
		wantBodies(t, "message find", run("message", "find", "-t", topic, "-n", "1000").want(t, statusDone, "").list(t), n)
		for _, m := range all {
			if m["keys"].([]any)[0] != "zstd-json-1048576" {
				continue
			}
			wantBodies(t, "message get", run("message", "get", fmt.Sprint(m["offset_message_id"])).want(t, statusDone, "").objects(t)["message"], 1)
			raw := runs(t, []string{"message", "get", fmt.Sprint(m["offset_message_id"]), "--namesrv", namesrv, "-o", "raw"}).want(t, statusDone, "").out.String()
			if raw != m["body"] {
				t.Errorf("message get -o raw: %d bytes", len(raw))
			}
			run("message", "track", fmt.Sprint(m["message_id"]), "-t", topic).want(t, statusDone, "")
		}
		told := filepath.Join(t.TempDir(), "told")
		consumed := run("consume", "-g", group, "-t", topic, "--from", "first", "--max", fmt.Sprint(n), "--max-reconsume", "0", "--threads", "1", "--exec", "cat >>"+told+`; exit 1`)
		wantBodies(t, "consume", consumed.objects(t)["message"], n)
		lines, err := os.ReadFile(told)
		if err != nil {
			t.Fatal(err)
		}
		var handed []map[string]any
		for line := range strings.Lines(string(lines)) {
			handed = append(handed, decodeLine(t, []byte(line)))
		}
		wantBodies(t, "consume --exec", handed, n)
		dead := "%DLQ%" + group
		wantBodies(t, "dead letters", run("tail", dead, "--from", "earliest", "--until", "now").want(t, statusDone, "").objects(t)["message"], n)
		run("message", "resend", "-t", dead, "--all", "--yes").want(t, statusDone, "")
		wantBodies(t, "what was sent back", run("consume", "-g", group, "-t", topic, "--max", fmt.Sprint(n)).want(t, statusDone, "").objects(t)["message"], n)
	})
}
