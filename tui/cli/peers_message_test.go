package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/sandbox/sandboxtest"
)

// mqadmin prints a message as lines "Name:   value".
var adminLine = regexp.MustCompile(`(?m)^([A-Z][A-Za-z ]+):\s+(.*)$`)

func adminMessage(t *testing.T, out string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for _, m := range adminLine.FindAllStringSubmatch(out, -1) {
		if fields[m[1]] == "" { // of several messages the first
			fields[m[1]] = strings.TrimSpace(m[2])
		}
	}
	if fields["Queue Offset"] == "" {
		t.Fatalf("mqadmin shows no message:\n%s", out)
	}
	return fields
}

// adminTime reads mqadmin's local time.
func adminTime(t *testing.T, text string) string {
	t.Helper()
	at, err := time.ParseInLocation("2006-01-02 15:04:05,000", text, time.Local)
	if err != nil {
		t.Fatal(err)
	}
	return inspect.JSONTime(at)
}

// viewByID is mqadmin's view of a message by its offset id; 5.x wants the topic too.
func (p *peers) viewByID(t *testing.T, tg *sandboxtest.Target, topic, id string) string {
	t.Helper()
	args := []string{"-i", id}
	if tg.Line != "4" {
		args = append(args, "-t", topic)
	}
	return p.admin(t, "queryMsgById", strings.Join(tg.Namesrv, ";"), args...)
}

// compareWithAdmin holds a message of ours against mqadmin's.
func compareWithAdmin(t *testing.T, ours map[string]any, admin map[string]string) {
	t.Helper()
	keys := []string{}
	for _, k := range ours["keys"].([]any) {
		keys = append(keys, fmt.Sprint(k))
	}
	var properties []string
	for name, value := range ours["properties"].(map[string]any) {
		properties = append(properties, fmt.Sprintf("%s=%v", name, value))
	}
	theirs := slices.DeleteFunc(strings.Split(strings.Trim(admin["Properties"], "{}"), ", "), func(p string) bool {
		return strings.HasPrefix(p, "MIN_OFFSET=") || strings.HasPrefix(p, "MAX_OFFSET=") // the Java client adds them
	})
	slices.Sort(properties)
	slices.Sort(theirs)
	if admin["System Flag"] != fmt.Sprint(ours["sys_flag"]) {
		// The Java client clears the compressed bit of a body that it has inflated.
		flag := integer(t, ours["sys_flag"])
		if fmt.Sprint(flag&^1) != admin["System Flag"] || flag&1 == 0 {
			t.Errorf("sys_flag %d, mqadmin says %s", flag, admin["System Flag"])
		}
	}
	if id := admin["OffsetID"]; id != "" && id != ours["offset_message_id"] { // not every command shows it
		t.Errorf("offset id %v, mqadmin says %s", ours["offset_message_id"], id)
	}
	for name, pair := range map[string][2]string{
		"topic":      {fmt.Sprint(ours["topic"]), admin["Topic"]},
		"tags":       {fmt.Sprintf("[%v]", ours["tags"]), admin["Tags"]},
		"keys":       {"[" + strings.Join(keys, " ") + "]", admin["Keys"]},
		"queue":      {fmt.Sprint(ours["queue"]), admin["Queue ID"]},
		"offset":     {fmt.Sprint(ours["offset"]), admin["Queue Offset"]},
		"log offset": {fmt.Sprint(ours["commitlog_offset"]), admin["CommitLog Offset"]},
		"attempts":   {fmt.Sprint(ours["reconsume_times"]), admin["Reconsume Times"]},
		"born":       {fmt.Sprint(ours["born"]), adminTime(t, admin["Born Timestamp"])},
		"stored":     {fmt.Sprint(ours["stored"]), adminTime(t, admin["Store Timestamp"])},
		"born host":  {fmt.Sprint(ours["born_host"]), admin["Born Host"]},
		"store host": {fmt.Sprint(ours["store_host"]), admin["Store Host"]},
		"properties": {strings.Join(properties, ", "), strings.Join(theirs, ", ")},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s = %s, mqadmin says %s", name, pair[0], pair[1])
		}
	}
}

// What get and find tell of messages of the stock producer, single, in batches and
// compressed, is what mqadmin tells of them.
func TestPeersMessages(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		p.java = append(p.java, "-Djava.io.tmpdir="+t.TempDir()) // mqadmin leaves bodies there
		namesrv := strings.Join(tg.Namesrv, ";")
		topic := tg.Topic(t, 2)
		p.produce(t, namesrv, topic, 4)
		p.produce(t, namesrv, topic, 3, "50", "batch")
		if out := p.run(t, "java", p.version, "Produce", namesrv, topic, "1", "10000", "100"); !strings.Contains(out, `{"sent":1}`) {
			t.Fatal(out)
		}
		ask := func(args ...string) *program {
			t.Helper()
			return runs(t, append(append([]string{"message"}, args...), "--namesrv", namesrv, "-o", "json"))
		}
		var big, single, batch map[string]any
		sandboxtest.Await(t, "the index of the messages", func(context.Context) bool {
			for key, m := range map[string]*map[string]any{"k-100": &big, "k-1": &single, "k-51": &batch} {
				found := ask("find", "-t", topic, "--key", key)
				if found.status != statusDone {
					return false
				}
				*m = found.list(t)[0]
			}
			return true
		})
		if n := len(ask("find", "-t", topic).want(t, statusDone, "").list(t)); n != 8 {
			t.Errorf("%d messages of the topic, want 8", n)
		}
		if body := fmt.Sprint(big["body"]); !strings.HasPrefix(body, "100 ") || len(body) != 10000 || integer(t, big["sys_flag"])&1 == 0 {
			t.Errorf("the compressed one: %.20s…, %d bytes, sys_flag %v", body, len(body), big["sys_flag"])
		}
		gbk := filepath.Join(t.TempDir(), "body")
		if err := os.WriteFile(gbk, []byte("\xcd\xcb\xbf\xee"), 0o600); err != nil {
			t.Fatal(err)
		}
		runs(t, []string{"send", topic, "@" + gbk, "--tag", "gbk", "--namesrv", namesrv}).want(t, statusDone, "")
		awaitStored(t, clientOf(t, tg.Namesrv...), topic, 9)
		if read := runs(t, []string{"tail", topic, "--namesrv", namesrv, "--from", "earliest", "--until", "now", "--charset", "gb2312", "--grep", "退款"}).want(t, statusDone, ""); !strings.HasSuffix(read.out.String(), "  退款\n") {
			t.Errorf("in GBK: %q", read.out)
		}
		for _, m := range []map[string]any{big, single, batch} {
			id, offsetID := fmt.Sprint(m["message_id"]), fmt.Sprint(m["offset_message_id"])
			compareWithAdmin(t, m, adminMessage(t, p.viewByID(t, tg, topic, offsetID)))
			byID := ask("get", offsetID).want(t, statusDone, "").objects(t)["message"][0]
			byPlace := ask("get", "-t", topic, "--queue", fmt.Sprintf("%v:%v", m["broker"], m["queue"]), "--offset", fmt.Sprint(m["offset"])).want(t, statusDone, "").objects(t)["message"][0]
			for _, same := range []map[string]any{byID, byPlace} {
				if !maps.EqualFunc(same, m, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
					t.Errorf("%v, want %v", same, m)
				}
			}
			// A batch of the 5.3.3 producer has one id for all of its messages.
			found := ask("find", "-t", topic, "--unique-key", id).want(t, statusDone, "").list(t)
			if !slices.ContainsFunc(found, func(f map[string]any) bool { return f["offset_message_id"] == offsetID }) {
				t.Errorf("by unique id %s: %v", id, found)
			}
		}
		compareWithAdmin(t, single, adminMessage(t, p.admin(t, "queryMsgByUniqueKey", namesrv, "-t", topic, "-i", fmt.Sprint(single["message_id"]))))
		compareWithAdmin(t, big, adminMessage(t, p.admin(t, "queryMsgByOffset", namesrv, "-t", topic, "-b", fmt.Sprint(big["broker"]), "-i", fmt.Sprint(big["queue"]), "-o", fmt.Sprint(big["offset"]))))
		// Message id, queue, offset; since 5.5 the key in its index stands behind them.
		byKey := p.admin(t, "queryMsgByKey", namesrv, "-t", topic, "-k", "k-51")
		if row := strings.Fields(byKey[strings.LastIndex(strings.TrimSpace(byKey), "\n")+1:]); len(row) < 3 || row[0] != batch["message_id"] || row[1] != fmt.Sprint(batch["queue"]) || row[2] != fmt.Sprint(batch["offset"]) {
			t.Errorf("mqadmin finds %q by its key, we %v", row, batch)
		}
	})
}

// What track infers of groups, online and not, is what mqadmin infers; where ours says
// more than NOT_CONSUME_YET or UNKNOWN, the test says so.
func TestPeersMessageTrack(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		p.java = append(p.java, "-Djava.io.tmpdir="+t.TempDir())
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, online := tg.Topic(t, 1), tg.Group(t)
		java := p.startConsumer(t, namesrv, online, topic)
		p.produce(t, namesrv, topic, 4)
		awaitCount(t, java, `"seq":`, 4)
		c := clientOf(t, tg.Namesrv...)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		if _, err := c.Route(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		sandboxtest.Await(t, "the commit", func(ctx context.Context) bool {
			got, _, err := c.QueryConsumerOffset(ctx, online, mq)
			return err == nil && got == 4
		})
		m := messageAt(t, c, engine.ToolsGroup, mq)
		out := p.viewByID(t, tg, topic, m.OffsetMessageID())
		if want := fmt.Sprintf("consumerGroup=%s, trackType=CONSUMED,", online); !strings.Contains(out, want) {
			t.Errorf("mqadmin does not say %q:\n%s", want, out)
		}
		var tracks []trackJSON
		got := runs(t, []string{"message", "track", m.MessageID(), "-t", topic, "--namesrv", namesrv, "-o", "json"}).want(t, statusDone, "").out.String()
		if err := json.Unmarshal([]byte(got), &tracks); err != nil || len(tracks) != 1 {
			t.Fatalf("tracks = %s, %v", got, err) // a 5.3.3 broker would have named the topic too
		}
		if tr := tracks[0]; tr.Group != online || tr.State != "consumed" || !tr.Inferred || tr.Behind != 0 {
			t.Errorf("track = %+v", tr)
		}
		trace := []string{"message", "track", m.MessageID(), "--trace", "--namesrv", namesrv}
		if _, err := c.Route(t.Context(), "RMQ_SYS_TRACE_TOPIC"); err != nil {
			runs(t, trace).want(t, statusNotFound, "tracing is not on")
		} else {
			runs(t, trace).want(t, statusDone, "nothing is traced of "+m.MessageID())
		}
	})
}

// Behind a message that blocks its queue mqadmin says NOT_CONSUME_YET of all; we say which
// of them the member has finished, and which message blocks.
func TestPeersMessageTrackBehindABlockedHead(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 1), tg.Group(t)
		java := p.launch(t, "Stuck", namesrv, group, topic, "concurrent", "stuck")
		awaitCount(t, java.out, `"started"`, 1)
		send := func(n, key string) {
			runs(t, []string{"send", topic, "x", "-n", n, "--key", key, "--namesrv", namesrv}).want(t, statusDone, "")
		}
		send("1", "before")
		send("1", "stuck")
		send("40", "behind")
		awaitCount(t, java.out, `"stuck":1`, 1)
		c := clientOf(t, tg.Namesrv...)
		mq := engine.MessageQueue{Topic: topic, BrokerName: "broker-a"}
		if _, err := c.Route(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		id := func(offset int64, field string) string {
			got := runs(t, []string{"message", "get", "-t", topic, "--queue", "broker-a:0", "--offset", fmt.Sprint(offset), "--namesrv", namesrv, "-o", "json"}).want(t, statusDone, "")
			return fmt.Sprint(got.objects(t)["message"][0][field])
		}
		track := func(offset int64) trackJSON {
			var tracks []trackJSON
			got := runs(t, []string{"message", "track", id(offset, "offset_message_id"), "-t", topic, "--namesrv", namesrv, "-o", "json"}).want(t, statusDone, "").out.String()
			if err := json.Unmarshal([]byte(got), &tracks); err != nil || len(tracks) != 1 {
				t.Fatalf("tracks = %s, %v", got, err)
			}
			return tracks[0]
		}
		sandboxtest.Await(t, "the commit of the message before", func(ctx context.Context) bool {
			got, _, err := c.QueryConsumerOffset(ctx, group, mq)
			return err == nil && got == 1
		})
		for offset, want := range map[int64]string{0: "consumed", 1: "fetched", 20: "consumed, not committed", 41: "consumed, not committed"} {
			if got := track(offset); got.State != want || got.Passed == nil || *got.Passed != (offset == 0) {
				t.Errorf("offset %d: %+v, want %q", offset, got, want)
			}
		}
		if out, want := p.viewByID(t, tg, topic, id(20, "offset_message_id")), fmt.Sprintf("consumerGroup=%s, trackType=NOT_CONSUME_YET,", group); !strings.Contains(out, want) {
			t.Errorf("mqadmin does not say %q:\n%s", want, out)
		}
	})
}

// A tail of 500 messages prints 500 lines and leaves neither a group nor an offset.
func TestPeersTailLeavesNothing(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic := tg.Topic(t, 4)
		p.produce(t, namesrv, topic, 500)
		c := clientOf(t, tg.Namesrv...)
		groups := func() (names []string) {
			for _, addr := range tg.Masters(t) {
				configs, err := c.GroupConfigs(t.Context(), addr)
				if err != nil {
					t.Fatal(err)
				}
				offsets, err := c.AllOffsets(t.Context(), addr)
				if err != nil {
					t.Fatal(err)
				}
				for group := range configs.Groups {
					if !strings.Contains(group, "-Test") { // of the tests beside this one
						names = append(names, group)
					}
				}
				for group, topics := range offsets {
					if topics[topic] != nil {
						t.Errorf("%s has an offset of the topic", group)
					}
				}
			}
			return names
		}
		before := groups()
		run := runs(t, []string{"tail", topic, "--from", "earliest", "--until", "now", "--namesrv", namesrv}).want(t, statusDone, "500 seen, 500 matched, 500 kept, 0 dropped")
		if n := strings.Count(run.out.String(), "\n"); n != 500 {
			t.Errorf("%d lines, want 500", n)
		}
		for _, group := range groups() {
			if !slices.Contains(before, group) && strings.Contains(strings.ToLower(group), "eyeq") {
				t.Errorf("group %s was not there before", group)
			}
		}
		stats := p.admin(t, "statsAll", namesrv, "-t", topic)
		if !strings.Contains(stats, topic) || !strings.Contains(stats, "NO_CONSUMER") {
			t.Errorf("mqadmin knows of a consumer:\n%s", stats)
		}
	})
}
