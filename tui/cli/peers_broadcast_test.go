package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"eyeq/remoting/sandbox/sandboxtest"
)

// A stock Java broadcasting member and ours replace each other on one offset file:
// each reads what the other wrote, and begins where it stopped (G32).
func TestPeersBroadcastFile(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		dir := t.TempDir()
		p.java = []string{"-Drocketmq.client.localOffsetStoreDir=" + dir}
		reader := map[delivery]string{}
		note := func(who string, want int, messages []map[string]any, seqOf func(map[string]any) any) {
			t.Helper()
			if len(messages) != want {
				t.Errorf("%s read %d messages, want %d", who, len(messages), want)
			}
			for _, ds := range deliveriesOf(t, messages, seqOf) {
				for _, d := range ds {
					if before := reader[d]; before != "" {
						t.Errorf("%s read %v, which %s had read", who, d, before)
					}
					reader[d] = who
				}
			}
		}
		java := func(want int) {
			t.Helper()
			out, stop := p.startEnding(t, namesrv, group, topic, "broadcast", "0", "shared")
			awaitCount(t, out, `"reconsume":`, want)
			stop()
			note("the Java member", want, jsonLines(t, out.String()), func(m map[string]any) any { return m["seq"] })
		}
		p.produce(t, namesrv, topic, 40)
		java(40)
		files, err := filepath.Glob(filepath.Join(dir, "*@shared", group, "offsets.json"))
		if err != nil || len(files) != 1 {
			t.Fatalf("offset files %v, %v, want the Java member's", files, err)
		}
		clientID := filepath.Base(filepath.Dir(filepath.Dir(files[0])))
		ours := func(want int) {
			t.Helper()
			run := startLeaving(t, []string{
				"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first", "--broadcast",
				"--offset-dir", dir, "--client-id", clientID, "--headless", "-o", "json", "--idle-exit", map[bool]string{true: "3s", false: "10s"}[want == 0],
			})
			awaitCount(t, run.out, `"kind":"summary"`, 1)
			note("our member", want, run.wait(t).want(t, statusDone, "").objects(t)["message"], propertySeq)
		}
		ours(0)
		p.produce(t, namesrv, topic, 12)
		ours(12)
		p.produce(t, namesrv, topic, 8)
		java(8)
		ours(0)
	})
}
