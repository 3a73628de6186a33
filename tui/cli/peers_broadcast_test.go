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
	besideStockProgramsAtLength(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		dir := t.TempDir()
		p.java = []string{"-Drocketmq.client.localOffsetStoreDir=" + dir}
		java := func(want int) {
			t.Helper()
			out := p.run(t, "java", p.version, "Consume", namesrv, group, topic, "broadcast", "30", "0", "shared")
			if got := strings.Count(out, `"reconsume":`); got != want {
				t.Errorf("the Java member read %d messages, want %d: %s", got, want, out)
			}
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
			if got := len(run.wait(t).want(t, statusDone, "").objects(t)["message"]); got != want {
				t.Errorf("our member read %d messages, want %d", got, want)
			}
		}
		ours(0)
		p.produce(t, namesrv, topic, 12)
		ours(12)
		p.produce(t, namesrv, topic, 8)
		java(8)
		ours(0)
	})
}
