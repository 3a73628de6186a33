package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eyeq/engine/audit"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// groupOn makes a group that has committed 1 of 3 messages in each of two queues.
func groupOn(t *testing.T, opts ...sandboxtest.Option) (sb *sandbox.Sandbox, namesrv string) {
	t.Helper()
	sb, namesrv = serveSandbox(t, append(opts, sandboxtest.Topic("orders", 2))...)
	put(t, sb, "orders", 6)
	tg := &sandboxtest.Target{Namesrv: []string{namesrv}}
	client := tg.Client(t, nil)
	runs(t, []string{"group", "create", "audit", "--yes", "--namesrv", namesrv}).want(t, statusDone, "")
	for id := range int32(2) {
		mq := protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: id}
		if _, err := client.Route(t.Context(), "orders"); err != nil {
			t.Fatal(err)
		}
		if err := client.UpdateConsumerOffset(t.Context(), "audit", mq, 1); err != nil {
			t.Fatal(err)
		}
	}
	return sb, namesrv
}

// members are the names of an object's members.
func fieldNames(t *testing.T, text string) []string {
	t.Helper()
	var o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return sortedKeys(o)
}

func TestLockedIsOnlySaidOfOrderlyMembers(t *testing.T) {
	for orderly, want := range map[string]string{"true": "yes", "false": "", "": "yes"} {
		info := &protocol.ConsumerRunningInfo{Properties: map[string]string{"PROP_CONSUMEORDERLY": orderly}}
		if got := lockedText(info, true); got != want {
			t.Errorf("orderly %q: %q, want %q", orderly, got, want)
		}
		if got := lockedText(info, false); got != "" {
			t.Errorf("orderly %q without a lock: %q", orderly, got)
		}
	}
}

// The fields that scripts rely on are there, whatever else is.
func TestInspectFields(t *testing.T) {
	_, namesrv := groupOn(t)
	tests := map[string]struct {
		args string
		want string
		// inside names a member that is a list, whose first object has these fields.
		inside, fields string
	}{
		"group lag":     {"group lag audit", "group total_lag retry_lag dead_letters unknown_queues queues", "queues", "topic broker queue retry min_offset max_offset committed_offset lag inflight client_id last_consumed next_stored"},
		"group show":    {"group show audit", "group kind message_model members total_lag unknown_queues paused topics brokers subscriptions", "brokers", "broker config"},
		"group members": {"group members audit", "group consume_type message_model from_where members", "", ""},
		"topic show":    {"topic show orders", "topic type queues groups perm", "queues", "broker queue min_offset max_offset last_stored"},
		"broker show":   {"broker show broker-a", "broker id address version role reachable in_tps out_tps disk info config", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := runs(t, append(strings.Fields(tt.args), "--namesrv", namesrv, "-o", "json")).want(t, statusDone, "")
			wantFields(t, p.out.String(), tt.want)
			if tt.inside != "" {
				var o map[string]json.RawMessage
				var list []json.RawMessage
				if json.Unmarshal([]byte(p.out.String()), &o) != nil || json.Unmarshal(o[tt.inside], &list) != nil || len(list) == 0 {
					t.Fatalf("no %s in %s", tt.inside, p.out)
				}
				wantFields(t, string(list[0]), tt.fields)
			}
		})
	}
	for args, want := range map[string]string{
		"group list":  "group kind message_model members total_lag unknown_queues paused topics",
		"topic list":  "topic type perm stored",
		"broker list": "broker id address version role reachable in_tps out_tps disk",
	} {
		t.Run(args, func(t *testing.T) {
			p := runs(t, append(strings.Fields(args), "--namesrv", namesrv, "-o", "json")).want(t, statusDone, "")
			var list []json.RawMessage
			if json.Unmarshal([]byte(p.out.String()), &list) != nil || len(list) != 1 {
				t.Fatalf("want one object in %s", p.out)
			}
			wantFields(t, string(list[0]), want)
		})
	}
}

func wantFields(t *testing.T, text, want string) {
	t.Helper()
	got := fieldNames(t, text)
	for name := range strings.FieldsSeq(want) {
		if !slices.Contains(got, name) {
			t.Errorf("no field %s among %q", name, got)
		}
	}
}

// What is not known is null with its reason, and the sum says that something is missing.
func TestUnknownIsNull(t *testing.T) {
	sb, namesrv := groupOn(t, sandboxtest.Brokers("broker-a", "broker-b"))
	sb.SetFault(func(r sandbox.Request) sandbox.Fault {
		if r.Broker != "broker-b" {
			return sandbox.Fault{}
		}
		return sandbox.Fault{Code: protocol.NoPermission, Remark: "User:u has no permission to access Group:audit"}
	})
	l := readOf[lagJSON](t, namesrv, "group", "lag", "audit")
	var got []string
	for _, q := range l.Queues {
		got = append(got, fmt.Sprintf("%s/%d lag %s %.6s", q.Broker, q.Queue, numberOr(q.Lag, "null"), q.LagError))
	}
	want := []string{"broker-a/0 lag 2 ", "broker-a/1 lag 2 ", "broker-b/0 lag null denied", "broker-b/1 lag null denied"}
	if !slices.Equal(got, want) || *l.TotalLag != 4 || !strings.HasPrefix(l.TotalLagError, "denied") || l.UnknownQueues != 2 {
		t.Errorf("queues %q, total %s (%s), %d unknown; want %q, 4, denied, 2", got, numberOr(l.TotalLag, "null"), l.TotalLagError, l.UnknownQueues, want)
	}
}

// What is not there, or not allowed, is said on standard error with a status of its own,
// and standard output stays empty, also as JSON.
func TestInspectStatuses(t *testing.T) {
	t.Parallel()
	sb, namesrv := groupOn(t)
	dead := deadAddress(t)
	tests := map[string]struct {
		args   string
		status int
		stderr string
	}{
		"no such group":         {"group lag nobody", statusNotFound, `there is no group "nobody"`},
		"no such topic of it":   {"group lag audit -t payments", statusNotFound, `reads no topic "payments" (it reads orders)`},
		"no such member":        {"group members audit --client x", statusNotFound, `has no member "x"`},
		"no such topic":         {"topic show payments", statusNotFound, `there is no topic "payments"`},
		"no such broker":        {"broker show broker-z", statusNotFound, `there is no broker "broker-z"`},
		"no name":               {"group lag", statusUsage, "which group?"},
		"two names":             {"group show a b", statusUsage, "one argument too many"},
		"no such order":         {"group list --sort size", statusUsage, "must be name, lag"},
		"no such state":         {"group list --state sleepy", statusUsage, "must be online"},
		"names with an order":   {"group list --names --sort lag", statusUsage, "leave out"},
		"watched too often":     {"group lag audit --watch=1ms", statusUsage, "at least"},
		"no such format":        {"topic list -o yaml", statusUsage, "must be table or json"},
		"no such permission":    {"topic create x --perm Q --yes", statusUsage, "must be R, W or RW"},
		"too many queues":       {"topic create x --queues 9999 --yes", statusUsage, "--queues 9999: must be from 1 to"},
		"no read queues":        {"topic create x --read-queues 0 --yes", statusUsage, "--read-queues 0: must be from 1 to"},
		"no write queues":       {"topic create x --write-queues 0 --yes", statusUsage, "--write-queues 0: must be from 1 to"},
		"a slash in a name":     {"topic create a/b --yes", statusUsage, "letters, digits"},
		"there already":         {"topic create orders --yes", statusRefused, "is there already"},
		"not confirmed":         {"topic delete orders", statusRefused, "needs --yes"},
		"read only":             {"group delete audit --yes --read-only", statusRefused, "read-only"},
		"nobody at the address": {"group list --namesrv " + dead, statusUnreachable, "no name server answers"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := strings.Fields(tt.args)
			if !slices.Contains(args, "--namesrv") {
				args = append(args, "--namesrv", namesrv)
			}
			for _, args := range [][]string{args, append(slices.Clone(args), "-o", "json")} {
				if slices.Contains(args[:len(args)-2], "-o") {
					continue // it has a format
				}
				if p := runs(t, args).want(t, tt.status, tt.stderr); p.out.String() != "" {
					t.Errorf("%q: standard output %q, want none", args, p.out)
				}
			}
		})
	}
	t.Run("brokers refuse to tell", func(t *testing.T) {
		sb.SetFault(func(r sandbox.Request) sandbox.Fault {
			if r.Broker == "" {
				return sandbox.Fault{}
			}
			return sandbox.Fault{Code: protocol.NoPermission, Remark: "User:u has no permission to access Group:audit"}
		})
		runs(t, []string{"group", "lag", "audit", "--namesrv", namesrv}).want(t, statusFailed, "no permission")
	})
	t.Run("no broker answers", func(t *testing.T) {
		sb.SetFault(func(r sandbox.Request) sandbox.Fault { return sandbox.Fault{Cut: r.Broker != ""} })
		runs(t, []string{"group", "lag", "audit", "--namesrv", namesrv}).want(t, statusUnreachable, "whether there is a group audit is not known: no answer from broker-a")
	})
	t.Run("there is no broker", func(t *testing.T) {
		sb.StopBroker("broker-a")
		runs(t, []string{"group", "lag", "audit", "--namesrv", namesrv}).want(t, statusUnreachable, "no broker is registered")
	})
}

// What may be with a broker that refuses one question is not "not found", and the line
// says which question it was.
func TestRefusedIsNotNotFound(t *testing.T) {
	t.Parallel()
	sb, namesrv := groupOn(t, sandboxtest.Brokers("broker-a", "broker-b"))
	const moved = "C000020100002A9F0000000000000001" // an offset id of no broker that is there
	for args, refused := range map[string]protocol.RequestCode{
		"group lag nobody":               protocol.GetAllConsumerOffset,
		"group show nobody":              protocol.GetAllConsumerOffset,
		"group members nobody":           protocol.GetAllConsumerOffset,
		"group delete nobody --dry-run":  protocol.GetAllSubscriptionGroupConfig,
		"group lag audit -t payments":    protocol.GetConsumeStats,
		"group members audit --client x": protocol.GetConsumerConnectionList,
		"message get " + moved:           protocol.ViewMessageByID,
	} {
		t.Run(args, func(t *testing.T) {
			sb.SetFault(func(r sandbox.Request) sandbox.Fault {
				if r.Broker != "broker-b" || r.Command.Code != int32(refused) {
					return sandbox.Fault{}
				}
				return sandbox.Fault{Code: protocol.NoPermission, Remark: "User:u has no permission to access Cluster:DefaultCluster"}
			})
			for _, args := range [][]string{strings.Fields(args), append(strings.Fields(args), "-o", "json")} {
				if p := runs(t, append(args, "--namesrv", namesrv)).want(t, statusFailed, "no permission"); p.out.String() != "" {
					t.Errorf("%q: standard output %q, want none", args, p.out)
				}
			}
			sb.SetFault(nil)
			runs(t, append(strings.Fields(args), "--namesrv", namesrv)).want(t, statusNotFound, "")
		})
	}
}

// A change has two lines in the audit file, and --dry-run none.
func TestManageIsNoted(t *testing.T) {
	t.Parallel()
	_, namesrv := groupOn(t)
	state := t.TempDir()
	for _, args := range []string{"topic delete orders --dry-run", "topic delete orders --yes --reason cleanup"} {
		runs(t, append(strings.Fields(args), "--namesrv", namesrv), withEnv("XDG_STATE_HOME", state)).want(t, statusDone, "")
	}
	text, err := os.ReadFile(filepath.Join(state, "eyeq", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var phases []string
	for line := range strings.Lines(string(text)) {
		var l audit.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		phases = append(phases, strings.Join([]string{l.Phase, l.Command, l.Topic, l.Reason, l.Result, string(l.Wanted), string(l.After)}, "|"))
	}
	if want := []string{`begin|topic delete|orders|cleanup||{"broker-a":"nothing"}|null`, `end|topic delete|orders|cleanup|done|{"broker-a":"nothing"}|{"broker-a":"nothing"}`}; !slices.Equal(phases, want) {
		t.Errorf("audit lines %q, want %q", phases, want)
	}
}

// --watch asks again until it is ended, one JSON object a line, with the trend.
func TestWatch(t *testing.T) {
	t.Parallel()
	_, namesrv := groupOn(t)
	p := start(t, []string{"group", "lag", "audit", "--namesrv", namesrv, "-o", "json", "--watch=200ms"})
	awaitCount(t, p.out, `"trend"`, 3)
	p.signals <- os.Interrupt
	p.wait(t).want(t, 130, "")
	for _, line := range p.lines() {
		var l lagJSON
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Trend == nil || *l.TotalLag != 4 {
			t.Errorf("%v in %q", err, line)
		}
	}
}

// A shell completes the names of groups, topics and brokers, and leaves out RocketMQ's own.
func TestNamesAreCompleted(t *testing.T) {
	_, namesrv := groupOn(t)
	for args, want := range map[string]string{
		"group lag":         "audit",
		"topic show":        "orders",
		"broker show":       "broker-a",
		"group list --sort": "lag",
		"group lag -t":      "orders",
		"consume -g":        "audit",
		"tail":              "orders",
	} {
		t.Run(args, func(t *testing.T) {
			p := runs(t, append(append([]string{"__complete", "--namesrv", namesrv}, strings.Fields(args)...), "")).want(t, statusDone, "")
			if !slices.Contains(p.lines(), want) {
				t.Errorf("%q, want %s among them", p.lines(), want)
			}
		})
	}
}

// Times are in the zone that is asked for, and in JSON always UTC.
func TestTimesAreInTheZone(t *testing.T) {
	_, namesrv := groupOn(t)
	d := readOf[topicDetailJSON](t, namesrv, "topic", "show", "orders")
	at := time.Time(d.Queues[0].LastStored)
	if at.Location() != time.UTC || at.IsZero() {
		t.Fatalf("JSON has the time %v, want it in UTC", at)
	}
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	p := runs(t, []string{"topic", "show", "orders", "--namesrv", namesrv, "--tz", "Asia/Shanghai"}).want(t, statusDone, "")
	if want := at.In(zone).Format("2006-01-02 15:04:05.000+08:00"); !strings.Contains(p.out.String(), want) {
		t.Errorf("no %s in\n%s", want, p.out)
	}
}

// What only members say is unknown of a group that has none online, with the reason.
func TestUnknownHasItsReason(t *testing.T) {
	_, namesrv := groupOn(t)
	for _, args := range [][]string{
		{"group", "list", "--filter", "audit"}, {"group", "show", "audit"}, {"group", "lag", "audit"}, {"group", "members", "audit"},
	} {
		out := strings.TrimSpace(runs(t, append(args, "--namesrv", namesrv, "-o", "json")).want(t, statusDone, "").out.String())
		var o map[string]any
		if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimPrefix(out, "["), "]")), &o); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		for _, name := range []string{"kind", "message_model", "consume_type", "from_where"} {
			if value, said := o[name]; said && (value != nil || o[name+"_error"] != "no member is online, and only members say it") {
				t.Errorf("%v: %s is %v, because %v", args, name, value, o[name+"_error"])
			}
		}
	}
	pop := protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: -1}
	for _, q := range memberQueues(&protocol.ConsumerRunningInfo{
		MQTable:    map[protocol.MessageQueue]protocol.ProcessQueueInfo{{Topic: "orders", BrokerName: "broker-a"}: {CommitOffset: -1}},
		MQPopTable: map[protocol.MessageQueue]protocol.PopProcessQueueInfo{pop: {}},
	}) {
		if q.CommittedOffset != nil || q.CommittedError == "" {
			t.Errorf("queue %d: committed %v, because %q", q.Queue, q.CommittedOffset, q.CommittedError)
		}
	}
}

// A topic that is none of an application's own is called what it is.
func TestTopicOfRocketMQ(t *testing.T) {
	_, namesrv := serveSandbox(t, sandboxtest.Topic("RMQ_SYS_TRACE_TOPIC", 1), sandboxtest.Topic("%DLQ%audit", 1), sandboxtest.Topic("orders", 1))
	for topic, want := range map[string]string{
		"RMQ_SYS_TRACE_TOPIC": " a topic of RocketMQ itself\n", "%DLQ%audit": " dead letters of group audit\n", "orders": "",
	} {
		out := runs(t, []string{"topic", "show", topic, "--namesrv", namesrv}).want(t, statusDone, "").out.String()
		if !strings.Contains(out, want) || want == "" && strings.Contains(out, "\nis ") {
			t.Errorf("%s: no %q in\n%s", topic, want, out)
		}
	}
}

// Names that would move the cursor are shown as pictures, and JSON has the true ones.
func TestForeignNamesAreSafe(t *testing.T) {
	_, namesrv := groupOn(t)
	evil := "evil\x1b[2Jgroup"
	mq := protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a"}
	client := (&sandboxtest.Target{Namesrv: []string{namesrv}}).Client(t, nil)
	info, err := client.ClusterInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	addr := info.BrokerAddrTable[mq.BrokerName].BrokerAddrs[0]
	if err := client.UpdateGroupConfig(t.Context(), addr, protocol.NewGroupConfig(evil)); err != nil {
		t.Fatal(err)
	}
	p := runs(t, []string{"group", "list", "--namesrv", namesrv}).want(t, statusDone, "")
	if strings.ContainsRune(p.out.String(), 0x1b) || !strings.Contains(p.out.String(), "evil") {
		t.Errorf("table %q", p.out)
	}
	rows := readOf[[]groupRowJSON](t, namesrv, "group", "list")
	if !slices.ContainsFunc(rows, func(r groupRowJSON) bool { return r.Group == evil }) {
		t.Errorf("no %q in the JSON", evil)
	}
}
