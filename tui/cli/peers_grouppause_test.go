package cli

import (
	"fmt"
	"strings"
	"testing"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// consumerConfig is a group's configuration as mqadmin shows it, by field; of several
// brokers the last counts.
func (p *peers) consumerConfig(t *testing.T, namesrv, group string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.Lines(p.run(t, "admin", p.version, "getConsumerConfig", "-n", namesrv, "-g", group)) {
		if name, value, ok := strings.Cut(line, "="); ok {
			fields[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return fields
}

// A paused Java member consumes nothing of 100 new messages, a resumed one all 100; by
// mqadmin the group's other settings are as before.
func TestPeersGroupPause(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n = 100
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		admin := clientOf(t, tg.Namesrv...)
		config := protocol.NewGroupConfig(group)
		for name, value := range map[string]string{"retryMaxTimes": "5", "consumeBroadcastEnable": "true", "retryQueueNums": "2"} {
			if err := config.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		for _, addr := range tg.Masters(t) {
			if err := admin.UpdateGroupConfig(t.Context(), addr, config); err != nil {
				t.Fatal(err)
			}
		}
		before := p.consumerConfig(t, namesrv, group)
		if before["retryMaxTimes"] != "5" || before["consumeEnable"] != "true" || len(before) < 8 {
			t.Fatalf("mqadmin shows the configuration %v", before)
		}
		p.produce(t, namesrv, topic, n)
		java := p.startStoppable(t, namesrv, group, topic)
		awaitCount(t, java.out, `"seq":`, n)
		awaitAllCommitted(t, tg, group, topic, n)
		change := func(verb string) map[string]any {
			t.Helper()
			return object(t, startSlow(t, []string{"group", verb, group, "--namesrv", namesrv, "--yes", "-o", "json"}).want(t, statusDone, ""))
		}

		paused := change("pause")
		if paused["proved"] != true || !strings.Contains(fmt.Sprint(paused["proof"]), "no queue of") {
			t.Errorf("the proof of the pause: %v %v", paused["proved"], paused["proof"])
		}
		after := p.consumerConfig(t, namesrv, group)
		if after["consumeEnable"] != "false" {
			t.Errorf("mqadmin shows consumeEnable = %s", after["consumeEnable"])
		}
		after["consumeEnable"] = "true"
		if fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("paused, mqadmin shows %v, want %v", after, before)
		}
		p.produce(t, namesrv, topic, n)
		// A second look says what the members do now: the messages wait, nobody pulls.
		again := change("pause")
		if again["proved"] != true || !strings.Contains(fmt.Sprint(again["proof"]), "although messages wait in") {
			t.Errorf("with messages that wait: %v %v", again["proved"], again["proof"])
		}
		if got := strings.Count(java.out.String(), `"seq":`); got != n {
			t.Errorf("paused, the Java member consumed %d of %d new messages", got-n, n)
		}
		show := object(t, startSlow(t, []string{"group", "lag", group, "--namesrv", namesrv, "-o", "json"}).want(t, statusDone, ""))
		if show["paused"] != true || show["total_lag"] != jsonNumber("100") {
			t.Errorf("group lag: paused %v, lag %v", show["paused"], show["total_lag"])
		}

		resumed := change("resume")
		if resumed["proved"] != true || !strings.Contains(fmt.Sprint(resumed["proof"]), "members pull again") {
			t.Errorf("the proof of the resume: %v %v", resumed["proved"], resumed["proof"])
		}
		awaitCount(t, java.out, `"seq":`, 2*n)
		awaitAllCommitted(t, tg, group, topic, 2*n)
		if got := p.consumerConfig(t, namesrv, group); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Errorf("resumed, mqadmin shows %v, want %v", got, before)
		}
		wantOnceEach(t, java.out, 2*n)
	})
}

// wantOnceEach checks that n messages came, none of them twice.
func wantOnceEach(t *testing.T, out *buffer, n int) {
	t.Helper()
	seen := map[delivery]int{}
	for _, ds := range deliveriesOf(t, jsonLines(t, out.String()), func(m map[string]any) any { return m["seq"] }) {
		for _, d := range ds {
			seen[d]++
		}
	}
	for d, times := range seen {
		if times != 1 {
			t.Errorf("queue %d, offset %d: %d times", d.queue, d.offset, times)
		}
	}
	if len(seen) != n {
		t.Errorf("%d messages, want %d", len(seen), n)
	}
}
