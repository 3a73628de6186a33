package cli

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// admin runs the stock mqadmin and gives what it prints.
func (p *peers) admin(t *testing.T, command, namesrv string, args ...string) string {
	t.Helper()
	return p.run(t, append([]string{"admin", p.version, command, "-n", namesrv}, args...)...)
}

// pair is a group with a Java and an eyeq member, and who has which queues.
type pair struct {
	topic, group string
	namesrv      string
	admin        *remoting.Client
	ours         *program
	java         *buffer // what the Java member prints
	oursID       string
	javaID       string
	shares       map[string][]protocol.MessageQueue
}

// startPair starts both members and waits until each has half of the queues.
func startPair(t *testing.T, tg *sandboxtest.Target, p *peers, mode string) *pair {
	t.Helper()
	const queues = 4
	x := &pair{namesrv: strings.Join(tg.Namesrv, ";"), oursID: "192.0.2.7@eyeq-beside-java", admin: clientOf(t, tg.Namesrv...)}
	x.topic, x.group = tg.Topic(t, queues), tg.Group(t)
	x.java = p.startMember(t, x.namesrv, x.group, x.topic, mode)
	args := []string{"consume", "--namesrv", x.namesrv, "-g", x.group, "-t", x.topic, "--from", "first",
		"--headless", "-o", "json", "--events", "--client-id", x.oursID}
	if mode == "orderly" {
		args = append(args, "--orderly")
	}
	x.ours = startLeaving(t, args)
	sandboxtest.Await(t, "two members with two queues each", func(ctx context.Context) bool {
		x.shares = sharesOf(ctx, x.admin, x.topic, x.group)
		for id, mqs := range x.shares {
			if len(mqs) != queues/2 {
				return false
			}
			if id != x.oursID {
				x.javaID = id
			}
		}
		return len(x.shares) == 2 && x.shares[x.oursID] != nil
	})
	return x
}

// consume sends messages and waits until all are committed and both members' statistics tell of them.
func (x *pair) consume(t *testing.T, p *peers, n int) {
	t.Helper()
	p.produce(t, x.namesrv, x.topic, n)
	awaitCount(t, x.ours.out, `"kind":"message"`, n/2)
	awaitCount(t, x.java, `"seq":`, n/2)
	all := slices.Concat(slices.Collect(maps.Values(x.shares))...)
	t.Cleanup(func() {
		if t.Failed() {
			for id, mqs := range x.shares {
				for _, mq := range mqs {
					committed, _, err := x.admin.QueryConsumerOffset(context.WithoutCancel(t.Context()), x.group, mq)
					t.Logf("%s has %v, committed %d, %v", id, mq, committed, err)
				}
			}
		}
	})
	sandboxtest.Await(t, "the commits", func(ctx context.Context) bool { // every five seconds
		return committedIn(ctx, x.admin, x.group, all) == int64(n)
	})
	sandboxtest.Await(t, "a sample of their statistics", func(ctx context.Context) bool { // every ten
		for _, id := range []string{x.oursID, x.javaID} {
			info, err := infoOf(ctx, x.admin, x.topic, x.group, id)
			if s := info.StatusTable[x.topic]; err != nil || s.ConsumeOKTPS == 0 || s.PullTPS == 0 {
				return false
			}
		}
		return true
	})
}

// infoOf asks a member through its broker, as mqadmin does.
func infoOf(ctx context.Context, admin *remoting.Client, topic, group, id string) (protocol.ConsumerRunningInfo, error) {
	_, addr, err := admin.ConsumerIDs(ctx, topic, group)
	if err != nil {
		return protocol.ConsumerRunningInfo{}, err
	}
	h := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: id}
	answer, err := admin.Invoke(ctx, addr, &protocol.Command{Code: int32(protocol.GetConsumerRunningInfo), ExtFields: protocol.EncodeFields(&h)})
	if err != nil {
		return protocol.ConsumerRunningInfo{}, err
	}
	return protocol.DecodeRunningInfo(answer.Body)
}

var sectionTitle = regexp.MustCompile(`^#(Consumer [^#]+|User Consume Info)#$`)

// sectionsOf are the parts of what `consumerStatus -i` prints, without the
// lines that name columns.
func sectionsOf(out string) map[string][]string {
	parts, title := map[string][]string{}, ""
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if m := sectionTitle.FindStringSubmatch(line); m != nil {
			title = m[1]
			parts[title] = []string{}
		} else if line != "" && !strings.HasPrefix(line, "#Topic") {
			parts[title] = append(parts[title], line)
		}
	}
	return parts
}

func propertiesIn(lines []string) map[string]string {
	all := map[string]string{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all
}

// itsOwn are the properties that each member fills in differently.
var itsOwn = map[string]bool{
	"language": true, "clientIP": true, "instanceName": true, "PROP_CLIENT_VERSION": true, "PROP_CONSUMER_START_TIMESTAMP": true,
	"consumeTimestamp": true, "messageListener": true, "offsetStore": true, "defaultMQPushConsumerImpl": true, "allocateMessageQueueStrategy": true,
	"clientCallbackExecutorThreads":      true,
	"concurrentHeartbeatThreadPoolSize":  true, // 5.5
	"enableConcurrentHeartbeat":          true, // ours always are
	"consumeMessageBatchMaxSize":         true, // the printing listener takes 32
	"awaitTerminationMillisWhenShutdown": true, // T10 of docs/conformance
	"log":                                true, // a Java object
}

// What mqadmin prints of an eyeq member has everything that it prints of the
// Java member beside it, in the same words.
func TestMqadminConsumerStatus(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		x := startPair(t, tg, p, "concurrent")
		x.consume(t, p, 400)

		// Rates are of a minute, and come to nothing after it.
		ours, java := x.statusOf(t, p, x.oursID), x.statusOf(t, p, x.javaID)
		whole := p.admin(t, "consumerStatus", x.namesrv, "-g", x.group)
		for _, want := range []string{x.oursID + " ", x.javaID + " ", "V4_9_3", "Same subscription in the same group of consumer", "Rebalance OK"} {
			if !strings.Contains(whole, want) {
				t.Errorf("consumerStatus: no %q in\n%s", want, whole)
			}
		}
		if got, want := sortedKeys(ours), sortedKeys(java); !slices.Equal(got, want) {
			t.Errorf("sections %q, want the Java member's %q", got, want)
		}
		compareProperties(t, propertiesIn(ours["Consumer Properties"]), propertiesIn(java["Consumer Properties"]))
		if got, want := ours["Consumer Subscription"], java["Consumer Subscription"]; !slices.Equal(got, want) || len(want) != 2 {
			t.Errorf("subscriptions %q, want the Java member's %q", got, want)
		}
		x.checkQueues(t, ours, java)
		stack := strings.Join(ours["Consumer jstack"], "\n")
		if !strings.Contains(stack, "engine.(*coordinator).loop") || len(java["Consumer jstack"]) == 0 {
			t.Errorf("stack answer: %.300s", stack)
		}
		x.checkConnections(t, p.admin(t, "consumerConnection", x.namesrv, "-g", x.group))
		x.checkProgress(t, p.admin(t, "consumerProgress", x.namesrv, "-g", x.group, "-s", "true"))
	})
}

func compareProperties(t *testing.T, ours, java map[string]string) {
	t.Helper()
	if len(java) < 30 {
		t.Fatalf("only %d properties of the Java member: %v", len(java), java)
	}
	for name, want := range java {
		got, has := ours[name]
		switch {
		case !has && name != "log":
			t.Errorf("no property %s, which is %q at the Java member", name, want)
		case !itsOwn[name] && got != want:
			t.Errorf("property %s = %q, want the Java member's %q", name, got, want)
		case itsOwn[name] && name != "log" && got == "":
			t.Errorf("property %s is empty, %q at the Java member", name, want)
		}
	}
	for _, name := range []string{"PROP_CONSUMER_START_TIMESTAMP", "PROP_THREADPOOL_CORE_SIZE"} {
		if _, err := strconv.ParseInt(ours[name], 10, 64); err != nil {
			t.Errorf("property %s = %q, which Java parses: %v", name, ours[name], err)
		}
	}
}

var queueInfo = regexp.MustCompile(`^(\S+) +(\S+) +(\d+) +ProcessQueueInfo \[(.*)\]$`)

// checkQueues looks at each queue's line of both members: the same fields, each
// queue once, and what it says true.
func (x *pair) checkQueues(t *testing.T, ours, java map[string][]string) {
	t.Helper()
	fields := func(text string) (names []string, values map[string]string) {
		values = map[string]string{}
		for one := range strings.SplitSeq(text, ", ") {
			name, value, _ := strings.Cut(one, "=")
			names, values[name] = append(names, name), value
		}
		return names, values
	}
	var want []string
	seen, oursSeen := map[string]int{}, 0
	for i, lines := range [][]string{java["Consumer MQ Detail"], ours["Consumer MQ Detail"]} {
		for _, line := range lines {
			m := queueInfo.FindStringSubmatch(line)
			if m == nil {
				t.Errorf("a queue's line: %q", line)
				continue
			}
			seen[m[1]+"/"+m[3]]++
			names, values := fields(m[4])
			if i == 0 {
				want = names
				continue
			}
			oursSeen++
			if !slices.Equal(names, want) {
				t.Errorf("a queue has the fields %q, want the Java member's %q", names, want)
			}
			stamp := time.Now().Format("2006")
			for _, name := range []string{"lastLockTimestamp", "lastPullTimestamp", "lastConsumeTimestamp"} {
				if !strings.HasPrefix(values[name], stamp) {
					t.Errorf("%s: %s = %s, want a time of this year", line, name, values[name])
				}
			}
			if m[1] == x.topic && (values["commitOffset"] != "100" || values["locked"] != "true" || values["droped"] != "false" || values["cachedMsgCount"] != "0") {
				t.Errorf("%s: want 100 committed, locked, not dropped, nothing cached", line)
			}
		}
	}
	delete(seen, "%RETRY%"+x.group+"/0") // the Java member looks for a new topic every 30 s
	for id := range 4 {
		if seen[fmt.Sprintf("%s/%d", x.topic, id)] != 1 {
			t.Errorf("queue %d is in %d lists, want one", id, seen[fmt.Sprintf("%s/%d", x.topic, id)])
		}
	}
	if len(seen) != 4 || oursSeen < 2 {
		t.Errorf("queues in both lists: %v, want the topic's four", seen)
	}
}

// statusOf is what mqadmin shows of one member, whose statistics are looked at.
func (x *pair) statusOf(t *testing.T, p *peers, id string) map[string][]string {
	t.Helper()
	parts := sectionsOf(p.admin(t, "consumerStatus", x.namesrv, "-g", x.group, "-i", id, "-s"))
	info, err := infoOf(t.Context(), x.admin, x.topic, x.group, id)
	if err != nil {
		t.Fatal(err)
	}
	after := info.StatusTable[x.topic]
	x.checkRates(t, parts["Consumer RT&TPS"], after.PullTPS > 0 && after.ConsumeOKTPS > 0)
	return parts
}

// checkRates looks at the statistics of one member. Where it still told of rates after
// mqadmin, mqadmin has seen them too: nothing was consumed between.
func (x *pair) checkRates(t *testing.T, lines []string, still bool) {
	t.Helper()
	topics := map[string][]string{}
	for _, line := range lines {
		f := strings.Fields(line)
		topics[f[0]] = f[1:]
	}
	f := topics[x.topic] // pull RT, pull TPS, consume RT, OK TPS, failed TPS, failed in the hour
	if len(topics) != 2 || topics["%RETRY%"+x.group] == nil || len(f) != 6 {
		t.Fatalf("statistics %q, want the topic and its retry topic", lines)
	}
	for i, name := range []string{"pull RT", "pull TPS", "consume RT", "OK TPS"} {
		if v, err := strconv.ParseFloat(f[i], 64); err != nil || v < 0 || v == 0 && i%2 == 1 && still || i%2 == 1 && v > 30 {
			t.Errorf("%s = %s for 200 messages within a minute (%v)", name, f[i], f)
		}
	}
	if f[4] != "0.00" || f[5] != "0" {
		t.Errorf("failures %v, want none", f[4:])
	}
}

func (x *pair) checkConnections(t *testing.T, out string) {
	t.Helper()
	lines := map[string][]string{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 0 {
			lines[f[0]] = f
		}
	}
	ours, java := lines[x.oursID], lines[x.javaID]
	if len(ours) != 4 || len(java) != 4 || ours[2] != "GO" || ours[3] != "V4_9_3" || java[2] != "JAVA" || !strings.Contains(ours[1], ":") {
		t.Errorf("connections %q and %q in\n%s", ours, java, out)
	}
	for _, want := range []string{"ConsumeType: CONSUME_PASSIVELY", "MessageModel: CLUSTERING", "ConsumeFromWhere: CONSUME_FROM_FIRST_OFFSET"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if s := strings.Join(lines[x.topic], " "); s != x.topic+" *" {
		t.Errorf("subscription %q in\n%s", s, out)
	}
}

// checkProgress looks for the client that mqadmin names for each queue.
func (x *pair) checkProgress(t *testing.T, out string) {
	t.Helper()
	owner := map[string]string{}
	for id, mqs := range x.shares {
		host, _, _ := strings.Cut(id, "@")
		for _, mq := range mqs {
			owner[fmt.Sprint(mq.QueueID)] = host
		}
	}
	n := 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line) // topic, broker, queue, broker offset, consumer offset, client, difference, …
		if len(f) < 7 || f[0] != x.topic {
			continue
		}
		n++
		if f[5] != owner[f[2]] || f[3] != "100" || f[4] != "100" || f[6] != "0" {
			t.Errorf("progress %q, want all 100 consumed by %s", f, owner[f[2]])
		}
	}
	if n != 4 {
		t.Errorf("progress of %d queues, want 4:\n%s", n, out)
	}
}

// mqadmin finds nothing wrong with an orderly group of both kinds either: its
// locks are held, and fresh.
func TestMqadminConsumerStatusOrderly(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		x := startPair(t, tg, p, "orderly")
		x.consume(t, p, 400)
		whole := p.admin(t, "consumerStatus", x.namesrv, "-g", x.group)
		for _, want := range []string{x.oursID + " ", x.javaID + " ", "Same subscription in the same group of consumer", "Rebalance OK"} {
			if !strings.Contains(whole, want) {
				t.Errorf("consumerStatus: no %q in\n%s", want, whole)
			}
		}
		ours := sectionsOf(p.admin(t, "consumerStatus", x.namesrv, "-g", x.group, "-i", x.oursID))
		java := sectionsOf(p.admin(t, "consumerStatus", x.namesrv, "-g", x.group, "-i", x.javaID))
		compareProperties(t, propertiesIn(ours["Consumer Properties"]), propertiesIn(java["Consumer Properties"]))
		x.checkQueues(t, ours, java)
		if got := propertiesIn(ours["Consumer Properties"])["PROP_CONSUMEORDERLY"]; got != "true" {
			t.Errorf("PROP_CONSUMEORDERLY = %q", got)
		}
		sandboxtest.Await(t, "its locks, renewed every 20 s", func(ctx context.Context) bool {
			info, err := infoOf(ctx, x.admin, x.topic, x.group, x.oursID)
			if err != nil {
				return false
			}
			for _, q := range info.MQTable {
				if !q.Locked || time.Since(time.UnixMilli(q.LastLockTimestamp)) > 25*time.Second {
					return false
				}
			}
			return len(info.MQTable) >= 2
		})
	})
}

// A reset by time reaches an eyeq member on either line: pushed by 4.9, with the
// next pull by 5.x. It consumes again from there, and commits.
func TestMqadminResetOffsetByTime(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n = 40
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 2), tg.Group(t)
		began := time.Now()
		tg.Produce(t, topic, n)
		run := startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first", "--headless", "-o", "json", "--events"})
		awaitCount(t, run.out, `"kind":"message"`, n)
		admin := clientOf(t, tg.Namesrv...)
		all := []protocol.MessageQueue{{Topic: topic, BrokerName: "broker-a"}, {Topic: topic, BrokerName: "broker-a", QueueID: 1}}
		sandboxtest.Await(t, "the commits", func(ctx context.Context) bool { return committedIn(ctx, admin, group, all) == n })
		p.admin(t, "resetOffsetByTime", namesrv, "-g", group, "-t", topic, "-s", strconv.FormatInt(began.Add(-time.Second).UnixMilli(), 10))
		awaitCount(t, run.out, `"event":"reset_end"`, 2)
		awaitCount(t, run.out, `"kind":"message"`, 2*n)
		run.signals <- syscall.SIGINT
		got := run.wait(t).want(t, 130, "").objects(t)
		times := map[delivery]int{}
		for _, m := range got["message"] {
			times[delivery{integer(t, m["queue"]), integer(t, m["offset"])}]++
		}
		for from, n := range times {
			if n != 2 {
				t.Errorf("the message at %v came %d times, want twice", from, n)
			}
		}
		for _, e := range got["event"] {
			if e["event"] == "reset_end" && (e["by"] != "broker" || e["verified"] != true || fmt.Sprint(e["to"]) != "0") {
				t.Errorf("reset_end %v, want by the broker to 0, verified", e)
			}
		}
		if got := committedIn(t.Context(), admin, group, all); got != n || len(times) != n {
			t.Errorf("%d messages are committed, of %d that came, want %d", got, len(times), n)
		}
	})
}

// A group that gets another's offsets goes on from there.
func TestMqadminCloneGroupOffset(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const n, more = 20, 6
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, source, clone := tg.Topic(t, 2), tg.Group(t), tg.Group(t)
		consume := func(group string, max int) map[string][]map[string]any {
			return startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first",
				"--headless", "-o", "json", "--max", strconv.Itoa(max)}).wait(t).want(t, statusDone, "").objects(t)
		}
		tg.Produce(t, topic, n)
		consume(source, n)
		p.admin(t, "updateSubGroup", namesrv, "-c", "DefaultCluster", "-g", clone) // 5.x wants to know it
		awaitRetryTopic(t, namesrv, source)
		out := p.admin(t, "cloneGroupOffset", namesrv, "-s", source, "-d", clone, "-t", topic, "-o", "false")
		if !strings.Contains(out, "clone group offset success") {
			t.Fatalf("cloneGroupOffset says %q", out)
		}
		tg.Produce(t, topic, more)
		for _, m := range consume(clone, more)["message"] {
			if integer(t, m["offset"]) < n/2 {
				t.Errorf("the message at %v/%v came, which the cloned offset has passed", m["queue"], m["offset"])
			}
		}
	})
}

// directArgs are how a version's mqadmin has a client consume one message.
func (p *peers) directArgs(topic, group, client, id string) []string {
	args := []string{"-i", id, "-g", group, "-d", client}
	if !strings.HasPrefix(p.version, "4.") {
		args = append(args, "-t", topic)
	}
	return args
}

var directResult = regexp.MustCompile(`ConsumeMessageDirectlyResult \[(.*), spentTimeMills=\d+\]`)

// A message that mqadmin has consumed directly gives the same answer at both
// members, is printed by ours, and told as an event. A dead letter is handled
// under the topic it was sent to.
func TestMqadminConsumeDirectly(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		x := startPair(t, tg, p, "concurrent")
		tg.Produce(t, x.topic, 1)
		tg.AwaitOffset(t, anyStored(t, x), 1)
		stored := messageAt(t, x.admin, x.group, anyStored(t, x))
		results := map[string]string{}
		for _, id := range []string{x.oursID, x.javaID} {
			out := p.admin(t, "queryMsgById", x.namesrv, p.directArgs(x.topic, x.group, id, stored.OffsetMessageID())...)
			if m := directResult.FindStringSubmatch(out); m != nil {
				results[id] = m[1]
			}
		}
		const want = "order=false, autoCommit=true, consumeResult=CR_SUCCESS, remark=null"
		if results[x.oursID] != want || results[x.javaID] != want {
			t.Errorf("results %q, want %q twice", results, want)
		}
		for _, id := range []string{x.oursID, x.javaID} { // as message consume has it done
			ran := runs(t, []string{"message", "consume", stored.OffsetMessageID(), "-g", x.group, "--client", id, "--yes", "-o", "json", "--namesrv", x.namesrv}).want(t, statusDone, "")
			if !strings.Contains(ran.out.String(), `"consumed":true,"result":"CR_SUCCESS","remark":null`) {
				t.Errorf("%s: %s", id, ran.out)
			}
		}
		awaitCount(t, x.ours.out, `"event":"consumed_directly"`, 2)
		x.ours.signals <- syscall.SIGINT
		got := x.ours.wait(t).want(t, 130, "").objects(t)
		if m := got["message"]; len(m) < 1 || m[len(m)-1]["message_id"] != stored.MessageID() {
			t.Errorf("messages %v, want the one that was consumed directly", m)
		}

		dead := startLeaving(t, []string{"consume", "--namesrv", x.namesrv, "-g", x.group, "-t", x.topic, "--from", "first", "--listener", "fail",
			"--max-reconsume", "0", "--headless", "-o", "json", "--events", "--client-id", x.oursID})
		dlq := protocol.DLQTopic(x.group)
		sandboxtest.Await(t, "both members again", func(ctx context.Context) bool {
			return len(sharesOf(ctx, x.admin, x.topic, x.group)[x.oursID]) == 2
		})
		tg.Produce(t, x.topic, 8)
		awaitCount(t, dead.out, `"target":"dlq"`, 4) // those of its two queues
		tg.AwaitRoute(t, dlq, 1)
		letters := protocol.MessageQueue{Topic: dlq, BrokerName: "broker-a"}
		tg.AwaitOffset(t, letters, 4)
		letter := messageAt(t, x.admin, x.group, letters)
		out := p.admin(t, "queryMsgById", x.namesrv, p.directArgs(dlq, x.group, x.oursID, letter.OffsetMessageID())...)
		if m := directResult.FindStringSubmatch(out); m == nil || m[1] != "order=false, autoCommit=true, consumeResult=CR_LATER, remark=null" {
			t.Errorf("a dead letter at a listener that refuses: %q", out)
		}
		awaitCount(t, dead.out, `"event":"consumed_directly"`, 1)
		dead.signals <- syscall.SIGINT
		got = dead.wait(t).want(t, 130, "").objects(t)
		last := got["message"][len(got["message"])-1]
		if last["topic"] != dlq || last["original_topic"] != x.topic {
			t.Errorf("the dead letter came as %v of %v, want as %s of %s", last["topic"], last["original_topic"], dlq, x.topic)
		}
	})
}

// anyStored is a queue of the pair's topic that holds a message.
func anyStored(t *testing.T, x *pair) protocol.MessageQueue {
	t.Helper()
	for _, mqs := range x.shares {
		for _, mq := range mqs {
			if storedIn(t.Context(), x.admin, []protocol.MessageQueue{mq}) > 0 {
				return mq
			}
		}
	}
	t.Fatal("no message is stored")
	return protocol.MessageQueue{}
}

// messageAt is the first message of a queue.
func messageAt(t *testing.T, admin *remoting.Client, group string, mq protocol.MessageQueue) *protocol.MessageExt {
	t.Helper()
	addr, err := admin.MasterOf(t.Context(), mq)
	if err != nil {
		t.Fatal(err)
	}
	res, err := admin.Pull(t.Context(), addr, &protocol.PullMessageRequestHeader{ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, MaxMsgNums: 1,
		SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG, BrokerName: mq.BrokerName})
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := protocol.AppendMessages(nil, res.Body, &protocol.MessageSource{BrokerName: mq.BrokerName})
	if err != nil || len(msgs) == 0 {
		t.Fatalf("first message of %v: %d, %v", mq, len(msgs), err)
	}
	return &msgs[0]
}

// A broker's POP mode is for clients that leave the rebalance to it: a member of
// ours goes on pulling, as a Java one with clientRebalance does. 4.9 has no such mode.
func TestMqadminSetConsumeModePop(t *testing.T) {
	besideStockProgramsIn(t, sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, group := tg.Topic(t, 2), tg.Group(t)
		p.admin(t, "setConsumeMode", namesrv, "-c", "DefaultCluster", "-t", topic, "-g", group, "-m", "POP", "-q", "2")
		tg.Produce(t, topic, 30)
		run := startLeaving(t, []string{"consume", "--namesrv", namesrv, "-g", group, "-t", topic, "--from", "first", "--headless", "-o", "json", "--max", "30"})
		if got := run.wait(t).want(t, statusDone, "").objects(t); len(got["message"]) != 30 || fmt.Sprint(got["summary"][0]["duplicates"]) != "0" {
			t.Errorf("%d messages, summary %v; want 30 and no duplicate", len(got["message"]), got["summary"])
		}
	})
}
