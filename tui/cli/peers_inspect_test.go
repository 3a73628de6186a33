package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// stock is one Java group, as the commands and mqadmin show it.
type stock struct {
	p       *peers
	namesrv string
	topic   string
	group   string
}

// start is startEnding of a member of the group.
func (s *stock) start(t *testing.T, mode string) (out *buffer, stop func()) {
	t.Helper()
	return s.p.startEnding(t, s.namesrv, s.group, s.topic, mode)
}

// readOf runs a command about the cluster and reads the object that it prints.
func readOf[T any](t *testing.T, namesrv string, args ...string) (v T) {
	t.Helper()
	p := runs(t, append(args, "--namesrv", namesrv, "-o", "json", "--timeout", "40s")).want(t, statusDone, "")
	if err := json.Unmarshal([]byte(p.out.String()), &v); err != nil {
		t.Fatalf("%s: %v in %q", strings.Join(args, " "), err, p.out)
	}
	return v
}

// fieldsOf are the lines of a table that mqadmin prints, taken apart, by what stands
// in their first three columns (topic, broker, queue).
func fieldsOf(out string, first func(string) bool) map[string][]string {
	rows := map[string][]string{}
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 3 && first(f[0]) {
			rows[strings.Join(f[:3], " ")] = f[3:]
		}
	}
	return rows
}

// numberOr is a number as mqadmin prints it, or what it prints for none.
func numberOr(n *int64, none string) string {
	if n == nil {
		return none
	}
	return strconv.FormatInt(*n, 10)
}

// compareLag compares `group lag` with consumerProgress, queue by queue.
func (s *stock) compareLag(t *testing.T, wantLag int64) lagJSON {
	t.Helper()
	l := readOf[lagJSON](t, s.namesrv, "group", "lag", s.group)
	out := s.p.admin(t, "consumerProgress", s.namesrv, "-g", s.group, "-s", "true")
	theirs := fieldsOf(out, func(first string) bool { return first == s.topic || first == protocol.RetryTopic(s.group) })
	if len(theirs) < 4 {
		t.Errorf("mqadmin tells of %d queues:\n%s", len(theirs), out)
	}
	for _, q := range l.Queues {
		key := fmt.Sprintf("%s %s %d", q.Topic, q.Broker, q.Queue)
		f, ok := theirs[key]
		delete(theirs, key)
		if !ok && q.CommittedOffset == nil {
			continue // of a topic on which the group has committed nothing mqadmin is silent
		}
		if !ok {
			t.Errorf("mqadmin has no %s:\n%s", key, out)
			continue
		}
		// Where nothing is committed mqadmin shows 0; we say that there is nothing.
		got := []string{numberOr(q.MaxOffset, "?"), numberOr(q.CommittedOffset, "0"), clientIP(q.ClientID), numberOr(q.Lag, "?")}
		if s.p.version[0] == '5' {
			inflight := numberOr(q.Inflight, "?")
			if q.ClientID == nil && inflight == "?" && len(f) > 4 { // mqadmin counts what members had taken that have gone
				inflight = f[4]
			}
			got = append(got, inflight)
		}
		last := "N/A"
		if at := time.Time(q.LastConsumed); !at.IsZero() {
			last = at.Local().Format(time.DateTime)
		}
		got = append(got, strings.Fields(last)...)
		if !slices.Equal(got, f) {
			t.Errorf("%s: %q, mqadmin says %q", key, got, f)
		}
	}
	if len(theirs) > 0 {
		t.Errorf("queues that mqadmin alone tells of: %v", theirs)
	}
	// mqadmin adds the retry topic to the total; here both are empty of retries.
	if total := regexp.MustCompile(`Diff Total: (-?\d+)`).FindStringSubmatch(out); total == nil || total[1] != numberOr(l.TotalLag, "?") || *l.TotalLag != wantLag || *l.RetryLag != 0 {
		t.Errorf("total lag %s, retry lag %s, want %d and 0; mqadmin says %v", numberOr(l.TotalLag, "?"), numberOr(l.RetryLag, "?"), wantLag, total)
	}
	return l
}

// clientIP is the part of a client id that mqadmin shows.
func clientIP(id *string) string {
	if id == nil {
		return "N/A"
	}
	ip, _, _ := strings.Cut(*id, "@")
	return ip
}

// UnmarshalJSON lets tests read what the commands print.
func (t *timeJSON) UnmarshalJSON(b []byte) error { return (*time.Time)(t).UnmarshalJSON(b) }

// compareMembers compares `group members` with consumerConnection and consumerStatus.
func (s *stock) compareMembers(t *testing.T) membersJSON {
	t.Helper()
	m := readOf[membersJSON](t, s.namesrv, "group", "members", s.group)
	out := s.p.admin(t, "consumerConnection", s.namesrv, "-g", s.group)
	if len(m.Members) != 1 || m.Members[0].QueuesError != "" {
		t.Fatalf("members %+v, want one that answers", m)
	}
	one := m.Members[0]
	for _, want := range []string{
		strings.Join([]string{one.ClientID, one.Address, one.Language, one.Version}, " "),
		"ConsumeType: " + *m.ConsumeType, "MessageModel: " + *m.MessageModel, "ConsumeFromWhere: " + *m.FromWhere,
	} {
		if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return strings.Join(strings.Fields(line), " ") == want }) {
			t.Errorf("mqadmin does not say %q:\n%s", want, out)
		}
	}
	for _, sub := range one.Subscriptions {
		if !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool { return slices.Equal(strings.Fields(line), []string{sub.Topic, sub.Expression}) }) {
			t.Errorf("mqadmin knows no subscription to %s: %s:\n%s", sub.Topic, sub.Expression, out)
		}
	}
	status := sectionsOf(s.p.admin(t, "consumerStatus", s.namesrv, "-g", s.group, "-i", one.ClientID))
	theirs := map[string]string{}
	for _, line := range status["Consumer MQ Detail"] {
		if q := queueInfo.FindStringSubmatch(line); q != nil {
			theirs[strings.Join(q[1:4], " ")] = q[4]
		}
	}
	if len(theirs) != len(one.Queues) || len(theirs) < 4 {
		t.Errorf("%d queues, mqadmin says %d", len(one.Queues), len(theirs))
	}
	for _, q := range one.Queues {
		text := theirs[fmt.Sprintf("%s %s %d", q.Topic, q.Broker, q.Queue)]
		for _, want := range []string{
			"commitOffset=" + numberOr(q.CommittedOffset, "-1"), "cachedMsgCount=" + numberOr(q.CachedCount, "?"), "cachedMsgSizeInMiB=" + numberOr(q.CachedMiB, "?"),
			"cachedMsgMinOffset=" + numberOr(q.CachedMin, "0"), "cachedMsgMaxOffset=" + numberOr(q.CachedMax, "0"),
			fmt.Sprintf("locked=%v", q.Locked), fmt.Sprintf("droped=%v", q.Dropped),
		} {
			if !strings.Contains(text, want) {
				t.Errorf("queue %s/%d: mqadmin does not say %s but %q", q.Topic, q.Queue, want, text)
			}
		}
	}
	return m
}

// compareConfig compares `group show` with getConsumerConfig, field by field.
func (s *stock) compareConfig(t *testing.T) {
	t.Helper()
	d := readOf[groupDetailJSON](t, s.namesrv, "group", "show", s.group)
	out := s.p.admin(t, "getConsumerConfig", s.namesrv, "-g", s.group)
	compared := 0
	for line := range strings.Lines(out) {
		name, want, ok := strings.Cut(line, "=")
		name, want = strings.TrimSpace(name), strings.TrimSpace(want)
		if !ok || name == "" || name == "groupRetryPolicy" || name == "subscriptionDataSet" { // Java's own words for an object and a set
			continue
		}
		want = strings.TrimSpace(strings.TrimPrefix(want, "="))
		got := strings.Trim(string(d.Brokers[0].Config[name]), `"`)
		if got != want {
			t.Errorf("%s = %q, mqadmin says %q", name, got, want)
		}
		compared++
	}
	if compared < 8 || len(d.Differences) > 0 || d.Brokers[0].Broker != "broker-a" {
		t.Errorf("%d fields compared, differences %v:\n%s", compared, d.Differences, out)
	}
}

// compareTopic compares `topic show` with topicStatus.
func (s *stock) compareTopic(t *testing.T) {
	t.Helper()
	d := readOf[topicDetailJSON](t, s.namesrv, "topic", "show", s.topic)
	out := s.p.admin(t, "topicStatus", s.namesrv, "-t", s.topic)
	rows := 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.HasPrefix(f[0], "#") || strings.HasPrefix(line, "Topic Put") {
			continue
		}
		rows++
		i := slices.IndexFunc(d.Queues, func(q topicQueueJSON) bool { return q.Broker == f[0] && fmt.Sprint(q.Queue) == f[1] })
		if i < 0 {
			t.Errorf("no queue %s/%s", f[0], f[1])
			continue
		}
		q := d.Queues[i]
		got := []string{numberOr(q.MinOffset, "?"), numberOr(q.MaxOffset, "?")}
		if at := time.Time(q.LastStored); !at.IsZero() {
			got = append(got, strings.Fields(at.Local().Format("2006-01-02 15:04:05,000"))...)
		}
		if !slices.Equal(got, f[2:]) {
			t.Errorf("queue %s/%s: %q, mqadmin says %q", f[0], f[1], got, f[2:])
		}
	}
	if rows != len(d.Queues) || rows != 4 {
		t.Errorf("%d queues, mqadmin says %d:\n%s", len(d.Queues), rows, out)
	}
}

// compareBrokers compares `broker list` with clusterList.
func compareBrokers(t *testing.T, p *peers, namesrv string) {
	t.Helper()
	brokers := readOf[[]brokerJSON](t, namesrv, "broker", "list")
	out := p.admin(t, "clusterList", namesrv)
	rows := 0
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 8 || strings.HasPrefix(f[0], "#") {
			continue
		}
		rows++
		i := slices.IndexFunc(brokers, func(b brokerJSON) bool { return b.Broker == f[1] && fmt.Sprint(b.ID) == f[2] })
		if i < 0 {
			t.Errorf("no broker %s:%s", f[1], f[2])
			continue
		}
		b := brokers[i]
		if got := []string{b.Cluster, b.Address, *b.Version}; !slices.Equal(got, []string{f[0], f[3], f[4]}) || !b.Reachable || b.Role == "" {
			t.Errorf("broker %q, mqadmin says %q", got, f)
		}
	}
	if rows != len(brokers) || rows == 0 {
		t.Errorf("%d brokers, mqadmin says %d:\n%s", len(brokers), rows, out)
	}
}

// What the commands say of Java groups is what mqadmin says, field by field: of a
// concurrent, an orderly, a broadcasting and a stopped group.
func TestInspectAgreesWithMqadmin(t *testing.T) {
	besideStockPrograms(t, func(t *testing.T, tg *sandboxtest.Target, p *peers) {
		const messages = 40
		namesrv := strings.Join(tg.Namesrv, ";")
		topic, admin := tg.Topic(t, 4), clientOf(t, tg.Namesrv...)
		of := func() *stock { return &stock{p, namesrv, topic, tg.Group(t)} }
		concurrent, orderly, broadcast, stopped := of(), of(), of(), of()
		out, _ := concurrent.start(t, "concurrent")
		outOrderly, _ := orderly.start(t, "orderly")
		outBroadcast, _ := broadcast.start(t, "broadcast")
		outStopped, stop := stopped.start(t, "concurrent")
		p.produce(t, namesrv, topic, messages)
		for _, o := range []*buffer{out, outOrderly, outBroadcast, outStopped} {
			awaitCount(t, o, `"seq":`, messages)
		}
		stop()
		p.produce(t, namesrv, topic, messages)
		for _, o := range []*buffer{out, outOrderly, outBroadcast} {
			awaitCount(t, o, `"seq":`, 2*messages)
		}
		for _, s := range []*stock{concurrent, orderly} {
			s.awaitCommitted(t, admin, 2*messages)
		}

		for _, s := range []*stock{concurrent, orderly} {
			// A member takes the queue of the retry topic when the name server tells of it, and
			// commits there, though it is empty, with its next commit. Before that brokers list
			// no such queue: what is asked of them in between would see both.
			sandboxtest.AwaitWithin(t, settleLimit, "the commits of the member's five queues", func(context.Context) bool {
				l := readOf[lagJSON](t, namesrv, "group", "lag", s.group)
				return len(l.Queues) == 5 && !slices.ContainsFunc(l.Queues, func(q queueLagJSON) bool { return q.CommittedOffset == nil })
			})
			l := s.compareLag(t, 0)
			m := s.compareMembers(t)
			if owner := l.ClientIDOf(topic); l.State != "online" || owner == nil || *owner != m.Members[0].ClientID {
				t.Errorf("state %s, owner of the first queue not %s: %+v", l.State, m.Members[0].ClientID, l.Queues)
			}
			s.compareConfig(t)
		}
		l := stopped.compareLag(t, messages)
		for _, q := range l.Queues {
			if next := time.Time(q.NextStored); (*q.Lag > 0) == next.IsZero() || q.ClientID != nil {
				t.Errorf("queue %s/%d of the stopped group: lag %d, next stored %v, owner %v", q.Topic, q.Queue, *q.Lag, next, q.ClientID)
			}
		}
		if l.State != "offline" {
			t.Errorf("the stopped group is %s", l.State)
		}
		stopped.compareConfig(t)

		broadcast.compareMembers(t)
		// mqadmin ends with an exception (5.3.3) or without a word (4.9.7): the offsets
		// are with the member. What it would count as lag if there were commits left is none.
		if out := p.admin(t, "consumerProgress", namesrv, "-g", broadcast.group); strings.Contains(out, topic) {
			t.Errorf("mqadmin knows progress of a broadcasting group:\n%s", out)
		}
		if l := readOf[lagJSON](t, namesrv, "group", "lag", broadcast.group); l.State != "broadcasting" || l.TotalLag != nil || l.TotalLagError != "broadcasting" || len(l.Queues) != 4 {
			t.Errorf("broadcasting group: %+v", l)
		}
		concurrent.compareTopic(t)
		compareBrokers(t, p, namesrv)

		var rows []string
		for _, r := range readOf[[]groupRowJSON](t, namesrv, "group", "list") {
			for _, s := range []*stock{concurrent, orderly, broadcast, stopped} {
				if r.Group == s.group {
					rows = append(rows, fmt.Sprintf("%s %s %s %v", r.State, numberOr(r.Members, "?"), numberOr(r.TotalLag, "?"), slices.Equal(r.Topics, []string{topic})))
				}
			}
		}
		slices.Sort(rows)
		if want := []string{"broadcasting 1 ? true", "offline 0 40 true", "online 1 0 true", "online 1 0 true"}; !slices.Equal(rows, want) {
			t.Errorf("group list %q, want %q", rows, want)
		}
	})
}

// ClientIDOf is who holds the topic's first queue.
func (l *lagJSON) ClientIDOf(topic string) *string {
	for i := range l.Queues {
		if l.Queues[i].Topic == topic {
			return l.Queues[i].ClientID
		}
	}
	return nil
}

// awaitCommitted waits until the group has committed n messages of the topic.
func (s *stock) awaitCommitted(t *testing.T, admin *remoting.Client, n int64) {
	t.Helper()
	route, err := admin.Route(t.Context(), s.topic)
	if err != nil {
		t.Fatal(err)
	}
	sandboxtest.Await(t, "the commits of "+s.group, func(ctx context.Context) bool { // every five seconds
		return committedIn(ctx, admin, s.group, route.Queues) == n
	})
}
