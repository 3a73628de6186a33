package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// popMode is what the broker was told of a group that pops, in JSON.
func popMode(o map[string]any) string { return fmt.Sprint(o["request_modes"]) }

// Java members that let the broker allocate, which was told by mqadmin that they are to
// pop: they are a POP group with its share, the broker calls them pushed to, and several
// of them at a queue are no finding.
func TestPeersPopGroup(t *testing.T) {
	besideStockProgramsIn(t, sandboxtest.Real&sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n = 40
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		p.produce(t, namesrv, topic, n)
		for name, addr := range tg.Masters(t) {
			out := p.run(t, "admin", p.version, "setConsumeMode", "-n", namesrv, "-b", addr, "-t", topic, "-g", group, "-m", "POP", "-q", "2")
			if !strings.Contains(out, "success") {
				t.Fatalf("%s: %s", name, out)
			}
		}
		for _, instance := range []string{"one", "two"} {
			p.startConsumer(t, namesrv, group, topic, "100", instance, "0", "server")
		}
		ask := func(args ...string) map[string]any {
			t.Helper()
			return object(t, startSlow(t, append(args, "--namesrv", namesrv, "-o", "json")).want(t, statusDone, ""))
		}
		sandboxtest.Await(t, "two members that pop", func(context.Context) bool {
			popping := 0
			for _, m := range ask("group", "members", group)["members"].([]any) {
				if strings.Contains(fmt.Sprint(m.(map[string]any)["queues"]), "pop:true") {
					popping++
				}
			}
			return popping == 2
		})
		mode := fmt.Sprintf("[map[broker:broker-a mode:POP pop_share:2 topic:%s]]", topic)
		members := ask("group", "members", group)
		if popMode(members) != mode || members["consume_type"] != "CONSUME_PASSIVELY" {
			t.Errorf("members: modes %s, type %v", popMode(members), members["consume_type"])
		}
		for _, m := range members["members"].([]any) {
			if got, want := fmt.Sprint(m.(map[string]any)["assignments"]), fmt.Sprintf("map[broker:broker-a mode:POP queue:-1 topic:%s]", topic); !strings.Contains(got, want) {
				t.Errorf("the broker gives %s, want %s among it", got, want)
			}
		}
		if out := p.run(t, "admin", p.version, "consumerConnection", "-n", namesrv, "-g", group); !strings.Contains(out, "ConsumeType: CONSUME_PASSIVELY") {
			t.Errorf("mqadmin says of the members: %s", out)
		}
		show := ask("group", "show", group)
		if show["kind"] != "pop" || show["consume_type"] != "CONSUME_PASSIVELY" || popMode(show) != mode {
			t.Errorf("show: kind %v, type %v, modes %s", show["kind"], show["consume_type"], popMode(show))
		}
		list := startSlow(t, []string{"group", "list", "--namesrv", namesrv, "--filter", group}).want(t, statusDone, "").out.String()
		if !strings.Contains(list, "pop share 2") {
			t.Errorf("the list does not tell the share: %s", list)
		}
		sandboxtest.Await(t, "all popped and acknowledged", func(context.Context) bool {
			lag := ask("group", "lag", group)
			return lag["total_lag"] == jsonNumber("0") && fmt.Sprint(lag["pop"].(map[string]any)["unacked"]) == "0"
		})
		p.wantProgress(t, namesrv, group, topic, n)
		lag := startSlow(t, []string{"group", "lag", group, "--namesrv", namesrv}).want(t, statusDone, "").out.String()
		if strings.Contains(lag, "TWO OWNERS") || !strings.Contains(lag, "popped by ") || !strings.Contains(lag, "0 popped and not acknowledged, as the members say") {
			t.Errorf("group lag: %s", lag)
		}
	})
}

// pop takes messages of a topic and does not acknowledge them, as a client that dies.
func pop(t *testing.T, tg *sandboxtest.Target, addr, group, topic string, n int, invisible time.Duration) {
	t.Helper()
	fields := protocol.ExtFields{
		{Key: "consumerGroup", Value: group}, {Key: "topic", Value: topic}, {Key: "queueId", Value: "-1"}, {Key: "maxMsgNums", Value: strconv.Itoa(n)},
		{Key: "invisibleTime", Value: strconv.FormatInt(invisible.Milliseconds(), 10)}, {Key: "pollTime", Value: "1000"},
		{Key: "bornTime", Value: strconv.FormatInt(time.Now().UnixMilli(), 10)}, {Key: "initMode", Value: "0"},
	}
	answer, err := clientOf(t, tg.Namesrv...).Invoke(t.Context(), addr, &protocol.Command{Code: 200050, ExtFields: fields}) // POP_MESSAGE
	if err != nil || answer.Code != 0 {
		t.Fatalf("pop: %v %s, %v", answer.Code, answer.Remark, err)
	}
	if got := protocol.CountMessages(answer.Body); got != n {
		t.Fatalf("popped %d messages, want %d", got, n)
	}
}

// With the newer store of popped messages a broker commits where the last pop began. So
// long as nobody tells that the group pops its numbers are the broker's; what has come
// back by the retry topic is not counted twice, and what is in flight is not known.
func TestPopsThatAreNotAcknowledged(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		tg := own.Up(t, "pops", "popConsumerKVServiceEnable=true", "popConsumerKVServiceInit=true")
		if tg.Line != "5" {
			return // it has no POP
		}
		const n, popped, invisible = 40, 20, 20 * time.Second // long enough for a look at what is out
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 4), tg.Group(t)
		tg.Produce(t, topic, n)
		admin := clientOf(t, tg.Namesrv...)
		addr := slices.Collect(maps.Values(tg.Masters(t)))[0]
		if err := admin.UpdateGroupConfig(t.Context(), addr, protocol.NewGroupConfig(group)); err != nil {
			t.Fatal(err)
		}
		pop(t, tg, addr, group, topic, popped, invisible)
		lag := func() map[string]any {
			t.Helper()
			return object(t, startSlow(t, []string{"group", "lag", group, "--namesrv", namesrv, "-o", "json"}).want(t, statusDone, ""))
		}
		stats, err := admin.ConsumeStats(t.Context(), addr, group, topic)
		if err != nil {
			t.Fatal(err)
		}
		var waiting, handed int64
		for _, w := range stats.OffsetTable {
			waiting, handed = waiting+w.BrokerOffset-w.ConsumerOffset, handed+w.PullOffset-w.ConsumerOffset
		}
		before, untold := lag(), 0
		for _, q := range before["queues"].([]any) {
			q := q.(map[string]any)
			switch why, _ := q["inflight_error"].(string); {
			case q["inflight"] == nil && strings.Contains(why, "given out"):
				untold++
			case q["inflight"] != jsonNumber("0"):
				t.Errorf("queue %v: %v in flight, %q, although nobody is connected", q["queue"], q["inflight"], why)
			}
		}
		if untold == 0 {
			t.Error("what was popped is said not to be in flight")
		}
		if before["total_lag"] != jsonNumber(strconv.FormatInt(waiting, 10)) || handed != popped {
			t.Errorf("lag %v, by the broker %d with %d given out", before["total_lag"], waiting, handed)
		}
		sandboxtest.AwaitWithin(t, settleLimit, "the messages back in the retry topic", func(context.Context) bool {
			return lag()["retry_lag"] == jsonNumber(strconv.Itoa(popped))
		})
		after := lag()
		if after["total_lag"] != jsonNumber(strconv.Itoa(n-popped)) {
			t.Errorf("lag %v, and %v in the retry topic: want %d messages in all, each once", after["total_lag"], after["retry_lag"], n)
		}
		pops, _ := after["pop"].(map[string]any)
		if pops == nil || pops["unacked"] != nil || !strings.Contains(fmt.Sprint(pops["unacked_error"]), "no broker") {
			t.Errorf("what is popped: %v, want that nobody tells", after["pop"])
		}
		for _, q := range after["queues"].([]any) {
			if q := q.(map[string]any); q["pop"] == true && q["inflight"] != nil {
				t.Errorf("queue %v of %v has %v in flight, which nobody tells", q["queue"], q["topic"], q["inflight"])
			}
		}
	})
}
