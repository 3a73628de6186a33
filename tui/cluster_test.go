package tui

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/page"
)

// fakeCluster is a Cluster of function fields; those left out answer nothing.
type fakeCluster struct {
	levels      []time.Duration
	levelsErr   error
	groups      func() (inspect.GroupList, error)
	groupRows   func(groups []string) []inspect.GroupRow
	group       func(group string) (inspect.GroupDetail, error)
	members     func(group string) (inspect.Members, error)
	lag         func(group string) (inspect.GroupLag, error)
	live        func(group string) (inspect.Live, error)
	doctor      func(group string) (inspect.Report, error)
	stack       func(client string) (inspect.Stack, error)
	topics      func() (inspect.TopicList, error)
	topicRows   func(topics []string) []inspect.TopicRow
	topic       func(topic string) (inspect.TopicDetail, error)
	brokers     func() (inspect.Brokers, error)
	planReset   func(r inspect.ResetRequest) (inspect.ResetPlan, error)
	applyReset  func(p inspect.ResetPlan) (inspect.ResetResult, error)
	planPause   func(r inspect.PauseRequest) (inspect.PausePlan, error)
	applyPause  func(p inspect.PausePlan) (inspect.PauseResult, error)
	planDirect  func(r inspect.DirectRequest) (inspect.DirectPlan, error)
	applyDirect func(p inspect.DirectPlan) (inspect.DirectResult, error)

	asked []string // the calls, in order
}

// call carries a call out, or answers nothing.
func call[A, R any](f *fakeCluster, what string, fn func(A) (R, error), arg A) (r R, err error) {
	f.asked = append(f.asked, what)
	if fn == nil {
		return r, nil
	}
	return fn(arg)
}

func (f *fakeCluster) Groups(context.Context) (inspect.GroupList, error) {
	f.asked = append(f.asked, "groups")
	if f.groups == nil {
		return inspect.GroupList{}, nil
	}
	return f.groups()
}

func (f *fakeCluster) GroupRows(_ context.Context, groups []string) []inspect.GroupRow {
	f.asked = append(f.asked, fmt.Sprintf("rows %d", len(groups)))
	if f.groupRows == nil {
		return nil
	}
	return f.groupRows(groups)
}

func (f *fakeCluster) Group(_ context.Context, group string) (inspect.GroupDetail, error) {
	return call(f, "group "+group, f.group, group)
}

func (f *fakeCluster) Members(_ context.Context, group string) (inspect.Members, error) {
	return call(f, "members "+group, f.members, group)
}

func (f *fakeCluster) Others(_ context.Context, group, self string) (inspect.Members, error) {
	m, err := call(f, "others "+group, f.members, group)
	m.Members = slices.DeleteFunc(slices.Clone(m.Members), func(x inspect.Member) bool { return x.ClientID == self })
	return m, err
}

func (f *fakeCluster) Lag(_ context.Context, group string) (inspect.GroupLag, error) {
	return call(f, "lag "+group, f.lag, group)
}

func (f *fakeCluster) Live(_ context.Context, group string) (inspect.Live, error) {
	return call(f, "live "+group, f.live, group)
}

func (f *fakeCluster) Doctor(_ context.Context, group string) (inspect.Report, error) {
	return call(f, "doctor "+group, f.doctor, group)
}

func (f *fakeCluster) Stack(_ context.Context, group, client string) (inspect.Stack, error) {
	return call(f, "stack "+group+" "+client, f.stack, client)
}

func (f *fakeCluster) Topics(context.Context) (inspect.TopicList, error) {
	f.asked = append(f.asked, "topics")
	if f.topics == nil {
		return inspect.TopicList{}, nil
	}
	return f.topics()
}

func (f *fakeCluster) TopicRows(_ context.Context, topics []string) []inspect.TopicRow {
	f.asked = append(f.asked, fmt.Sprintf("topic rows %d", len(topics)))
	if f.topicRows == nil {
		return nil
	}
	return f.topicRows(topics)
}

func (f *fakeCluster) Topic(_ context.Context, topic string) (inspect.TopicDetail, error) {
	return call(f, "topic "+topic, f.topic, topic)
}

func (f *fakeCluster) Brokers(context.Context) (inspect.Brokers, error) {
	f.asked = append(f.asked, "brokers")
	if f.brokers == nil {
		return inspect.Brokers{}, nil
	}
	return f.brokers()
}

func (f *fakeCluster) PlanReset(_ context.Context, r inspect.ResetRequest) (inspect.ResetPlan, error) {
	return call(f, "plan reset", f.planReset, r)
}

func (f *fakeCluster) ApplyReset(_ context.Context, p inspect.ResetPlan) (inspect.ResetResult, error) {
	return call(f, "apply reset", f.applyReset, p)
}

func (f *fakeCluster) PlanPause(_ context.Context, r inspect.PauseRequest) (inspect.PausePlan, error) {
	return call(f, "plan pause", f.planPause, r)
}

func (f *fakeCluster) ApplyPause(_ context.Context, p inspect.PausePlan) (inspect.PauseResult, error) {
	return call(f, "apply pause", f.applyPause, p)
}

func (f *fakeCluster) Head(context.Context, engine.MessageQueue, int64) (engine.Message, error) {
	return engine.Message{}, nil
}

func (f *fakeCluster) Find(context.Context, inspect.FindRequest) (inspect.FindResult, error) {
	return inspect.FindResult{}, nil
}

func (f *fakeCluster) Tracks(context.Context, *engine.Message) ([]inspect.Track, error) {
	f.asked = append(f.asked, "tracks")
	return nil, nil
}

func (f *fakeCluster) Levels(context.Context, string) ([]time.Duration, error) {
	f.asked = append(f.asked, "levels")
	return f.levels, f.levelsErr
}

func (f *fakeCluster) PlanResend(context.Context, string, []engine.Message) (inspect.ResendPlan, error) {
	return inspect.ResendPlan{}, nil
}

func (f *fakeCluster) PlanDirect(_ context.Context, r inspect.DirectRequest) (inspect.DirectPlan, error) {
	return call(f, "plan direct", f.planDirect, r)
}

func (f *fakeCluster) ApplyDirect(_ context.Context, p inspect.DirectPlan) (inspect.DirectResult, error) {
	return call(f, "apply direct", f.applyDirect, p)
}

func (f *fakeCluster) ApplyResend(_ context.Context, p inspect.ResendPlan) (inspect.ResendPlan, error) {
	f.asked = append(f.asked, "apply resend")
	return p, nil
}

// driveCluster starts a screen without engines on a cluster.
func driveCluster(t testing.TB, w, h int, o page.Options, f *fakeCluster) *driver {
	t.Helper()
	o.Inspect, o.Engines = f, []page.NamedEngine{}
	if o.Namesrv == nil {
		o.Namesrv = []string{"10.0.3.11:9876", "10.0.3.12:9876"}
	}
	return driveEmpty(t, w, h, o, nil)
}

// later lets time pass: the tick that comes then asks what is due.
func (d *driver) later(by time.Duration) *driver {
	d.now = d.now.Add(by)
	d.send(snapshotsMsg{next: true})
	return d
}

// fixtureCluster is a cluster in trouble.
func fixtureCluster() *fakeCluster {
	f := &fakeCluster{}
	f.groups = func() (inspect.GroupList, error) {
		l := inspect.GroupList{At: fixtureNow}
		for _, g := range fixtureGroups() {
			l.Groups = append(l.Groups, g.GroupName)
		}
		return l, nil
	}
	f.groupRows = func(groups []string) []inspect.GroupRow {
		rows := make([]inspect.GroupRow, len(groups))
		for i, name := range groups {
			for _, g := range fixtureGroups() {
				if g.Group == name {
					rows[i] = g
				}
			}
		}
		return rows
	}
	return f
}

func fixtureGroups() []inspect.GroupRow {
	row := func(name, state string, kind inspect.GroupKind, members, lag int64, topics ...string) inspect.GroupRow {
		r := inspect.GroupRow{GroupName: inspect.GroupName{Group: name, Configured: true}, State: state, Kind: kind, Model: 1,
			Members: inspect.Exact(members), Lag: inspect.Exact(lag), RetryLag: inspect.Exact(0), DeadLetters: inspect.Exact(0), Topics: topics}
		return r
	}
	timeout := inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "broker-c: i/o timeout after 3s"}
	settle := row("order-settle", "offline", inspect.KindUnknown, 0, 0, "orders-paid", "inventory-sync")
	settle.Lag, settle.RetryLag, settle.DeadLetters, settle.UnknownQueues = inspect.AtLeast(409_310, timeout), inspect.Exact(210), inspect.Exact(3), 8
	audit := row("audit-copy", "online", inspect.KindPush, 2, 312, "orders-paid")
	audit.ConsumeTPS = 1120
	stock := row("stock-sync", "online", inspect.KindPush, 3, 0, "inventory-sync")
	stock.Orderly, stock.ConsumeTPS = true, 44.2
	mail := row("mail-out", "online", inspect.KindPush, 1, 18, "mails")
	mail.Paused = inspect.Pause{Brokers: []string{"broker-a", "broker-b"}, Of: 2}
	half := row("bonus", "online", inspect.KindPush, 1, 51_000, "bonus")
	half.Paused = inspect.Pause{Brokers: []string{"broker-a"}, Of: 2}
	cache := row("price-cache", "broadcasting", inspect.KindPush, 4, 0, "prices")
	cache.Model, cache.Lag = 2, inspect.Unknown(inspect.Reason{Kind: inspect.ReasonBroadcasting})
	pop := row("push-notify", "online", inspect.KindPop, 2, 77, "notifications")
	denied := row("secrets", "denied", inspect.KindUnknown, 0, 0)
	no := inspect.Unknown(inspect.Reason{Kind: inspect.ReasonDenied, Text: "broker-a: no permission"})
	denied.Members, denied.Lag, denied.RetryLag, denied.DeadLetters = no, no, no, no
	denied.Problems = []inspect.Problem{{What: "offsets of group secrets", Where: "broker-a", Why: no.Why}}
	wide := row("订单结算-消费组", "online", inspect.KindPush, 1, 5, "订单")
	system := row("CID_RMQ_SYS_TRANS", "offline", inspect.KindUnknown, 0, 0)
	system.System = true
	return []inspect.GroupRow{system, audit, half, mail, settle, cache, pop, denied, stock, wide}
}

// fixtureLag is the lag of its group in trouble.
func fixtureLag() inspect.GroupLag {
	timeout := inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "i/o timeout after 3s"}
	l := inspect.GroupLag{Group: "order-settle", At: fixtureNow, State: "offline", Model: 1, Members: inspect.Exact(0), RetryLag: inspect.Exact(210),
		DeadLetters: inspect.Exact(3), Lag: inspect.AtLeast(109_310, timeout), UnknownTopics: []string{"inventory-sync"}, UnknownQueues: 1,
		Problems: []inspect.Problem{{What: "offsets of inventory-sync", Where: "broker-c", Why: timeout}}}
	add := func(q engine.MessageQueue, lo, committed, hi int64, late time.Duration, retry bool) *inspect.QueueLag {
		l.Queues = append(l.Queues, inspect.QueueLag{MessageQueue: q, Retry: retry, Min: inspect.Exact(lo), Max: inspect.Exact(hi), Committed: inspect.Exact(committed),
			Lag: inspect.Exact(hi - committed), LastConsumed: fixtureNow.Add(-6 * time.Minute), NextStored: fixtureNow.Add(-late)})
		return &l.Queues[len(l.Queues)-1]
	}
	add(mq("orders-paid", "broker-a", 1), 11_019_400, 18_199_020, 18_249_001, 6*time.Minute+4*time.Second, false)
	add(mq("orders-paid", "broker-a", 3), 11_020_000, 18_204_551, 18_263_880, 6*time.Minute+11*time.Second, false)
	q := add(mq("orders-paid", "broker-b", 0), 17_930_000, 17_899_800, 17_931_400, 26*time.Hour, false)
	q.Expired, q.Lag = 30_200, inspect.Exact(1_400)
	q = add(mq("orders-paid", "broker-b", 1), 0, 40, 12, 0, false)
	q.Lag, q.NextStored = inspect.Exact(-28), time.Time{}
	l.Ahead = 28
	q = add(mq("orders-paid", "broker-b", 2), 0, 0, 900, 0, false)
	q.Committed, q.Lag, q.NextStored = inspect.Unknown(inspect.Reason{Kind: inspect.ReasonNoCommit}), inspect.Exact(900), time.Time{}
	q = add(mq("orders-paid", "broker-c", 0), 0, 0, 0, 0, false)
	q.Min, q.Max, q.Committed, q.Lag, q.NextStored, q.LastConsumed = inspect.Unknown(timeout), inspect.Unknown(timeout), inspect.Unknown(timeout), inspect.Unknown(timeout), time.Time{}, time.Time{}
	add(mq("%RETRY%order-settle", "broker-a", 0), 0, 40_112, 40_322, 2*time.Minute+50*time.Second, true)
	return l
}

// onlineLag has members: one queue nobody holds, one that two hold.
func onlineLag() inspect.GroupLag {
	l := fixtureLag()
	l.State, l.Members, l.UnknownTopics, l.Problems = "online", inspect.Exact(2), nil, nil
	l.Queues[0].Owners, l.Queues[1].Owners = []string{memberA}, []string{memberA, memberB}
	l.Queues[3].Owners, l.Queues[4].Owners = []string{memberB}, []string{memberB}
	l.Queues[5].OwnersWhy = inspect.Reason{Kind: inspect.ReasonProxy, Text: memberC}
	l.Pause = inspect.Pause{Brokers: []string{"broker-a"}, Of: 3}
	return l
}

func fixtureDetail() inspect.GroupDetail {
	rows := fixtureGroups()
	d := inspect.GroupDetail{Row: rows[2]}
	d.Row.Group, d.Row.Versions = "bonus", []string{"V4_9_7", "V5_3_3"}
	fields := func(retry string) map[string]string {
		return map[string]string{"consumeEnable": "true", "retryMaxTimes": retry, "consumeFromMinEnable": "true", "brokerId": "0", "groupName": `"bonus"`}
	}
	d.Configs = []inspect.GroupConfig{{Broker: "broker-a", Addr: "10.0.4.1:10911", Fields: fields("16")}, {Broker: "broker-b", Addr: "10.0.4.2:10911", Fields: fields("3")},
		{Broker: "broker-c", Addr: "10.0.4.3:10911", Why: inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "i/o timeout"}}}
	d.Configs[0].Fields["consumeEnable"] = "false"
	d.Differences = []string{"retryMaxTimes", "consumeEnable"}
	d.Subscriptions = inspect.SubscriptionMatrix{Members: []string{memberA, memberB, memberC}, Unknown: map[string]inspect.Reason{memberC: {Kind: inspect.ReasonProxy}},
		Rows: []inspect.SubscriptionRow{
			{Topic: "bonus", Type: "TAG", Cells: []string{"paid", "paid||refund", ""}, Broker: "paid"},
			{Topic: "%RETRY%bonus", Type: "TAG", Cells: []string{"*", "*", ""}, Same: true, Broker: "*"}}}
	return d
}

func fixtureMembers() inspect.Members {
	m := inspect.Members{Group: "bonus", At: fixtureNow}
	m.Members = []inspect.Member{
		{ClientID: memberA, Addresses: []string{"10.0.4.21:50112"}, Language: "JAVA", Version: "V5_3_3", Brokers: []string{"broker-a", "broker-b"}},
		{ClientID: memberB, Addresses: []string{"10.0.4.22:50113", "10.0.4.29:40001"}, Language: "GO", Version: "V4_9_7", Brokers: []string{"broker-a"}, Missing: []string{"broker-b"},
			Why: inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "no answer in 3s"}},
		{ClientID: memberC, Addresses: []string{"10.0.4.23:50114"}, Language: "JAVA", Version: "V5_3_3", Why: inspect.Reason{Kind: inspect.ReasonProxy}}}
	return m
}

func fixtureBrokers() inspect.Brokers {
	b := inspect.Brokers{At: fixtureNow}
	up := func(name string, id int64, addr, role string) inspect.BrokerRow {
		return inspect.BrokerRow{Cluster: "DefaultCluster", Broker: name, ID: id, Address: addr, Version: "V5_3_3", Role: role, Reachable: true, RTT: 2 * time.Millisecond,
			InTPS: 1120, OutTPS: 4812, Disk: 0.47, PullWait: 3 * time.Millisecond, Started: fixtureNow.Add(-70 * time.Hour), ClockKnown: true,
			Limits: inspect.BrokerLimits{DiskTidy: 0.75, DiskClean: 0.85, DiskRefuse: 0.9, SendWait: 200 * time.Millisecond, PullWait: 5 * time.Second, PageCacheLock: time.Second, Behind: 256 << 20},
			Perm:   inspect.Exact(6), PutFailed: inspect.Exact(0), Info: map[string]string{"bootTimestamp": "1795746727000", "putTps": "1120 1118 1090"}}
	}
	a, slave, full := up("broker-a", 0, "10.0.4.1:10911", "MASTER"), up("broker-a", 1, "10.0.4.4:10911", "SLAVE"), up("broker-b", 0, "10.0.4.2:10911", "MASTER")
	full.Disk, full.Clock, full.SendWait = 0.91, -42*time.Second, 900*time.Millisecond
	slave.Perm, slave.Behind = inspect.Exact(4), inspect.Exact(3<<20)
	down := inspect.BrokerRow{Cluster: "DefaultCluster", Broker: "broker-c", Address: "10.0.4.3:10911", Disk: -1, Why: inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "connection refused"}}
	b.Brokers = []inspect.BrokerRow{a, slave, full, down}
	b.Namesrv = []inspect.NamesrvRow{{Address: "10.0.3.11:9876", Reachable: true, Current: true, RTT: time.Millisecond},
		{Address: "10.0.3.12:9876", Reachable: true, RTT: time.Millisecond, Differs: []string{"broker-c"}}}
	return b
}

func fixtureTopic() inspect.TopicDetail {
	d := inspect.TopicDetail{Row: inspect.TopicRow{TopicName: inspect.TopicName{Topic: "orders-paid"}, Type: "NORMAL", Queues: 3, Perm: "RW-", Stored: inspect.AtLeast(14_474_481, inspect.Reason{Kind: inspect.ReasonUnreachable}),
		LastStored: fixtureNow.Add(-2 * time.Second)}, Groups: []string{"audit-copy", "bonus", "order-settle"}, Attributes: map[string]string{"message.type": "NORMAL"},
		Paused: map[string]inspect.Pause{"audit-copy": {Brokers: []string{"broker-a"}, Of: 1}, "bonus": {Of: 1, Topics: map[string][]string{"inventory-sync": {"broker-a"}}},
			"order-settle": {Of: 1, Topics: map[string][]string{"orders-paid": {"broker-a"}}}}}
	for i := range 3 {
		q := inspect.TopicQueue{MessageQueue: mq("orders-paid", "broker-a", i), Min: inspect.Exact(11_018_002), Max: inspect.Exact(18_252_110 + int64(i)), Perm: 6,
			LastStored: fixtureNow.Add(-2 * time.Second), FirstStored: fixtureNow.Add(-70 * time.Hour)}
		if i == 2 {
			why := inspect.Reason{Kind: inspect.ReasonUnreachable, Text: "broker-a: i/o timeout"}
			q.Min, q.Max, q.LastStored, q.FirstStored = inspect.Unknown(why), inspect.Unknown(why), time.Time{}, time.Time{}
			d.Row.Problems = []inspect.Problem{{What: "offsets of orders-paid", Where: "broker-a", Why: why}}
		}
		d.Queues = append(d.Queues, q)
	}
	d.Route = []inspect.TopicRouteRow{{Broker: "broker-a", Addrs: map[int64]string{0: "10.0.4.1:10911", 1: "10.0.4.4:10911"}, Read: 3, Write: 3, Perm: 6}}
	return d
}

// fullCluster answers everything.
func fullCluster() *fakeCluster {
	f := fixtureCluster()
	f.lag = func(string) (inspect.GroupLag, error) { return fixtureLag(), nil }
	f.group = func(string) (inspect.GroupDetail, error) { return fixtureDetail(), nil }
	f.members = func(string) (inspect.Members, error) { return fixtureMembers(), nil }
	f.brokers = func() (inspect.Brokers, error) { return fixtureBrokers(), nil }
	f.topic = func(string) (inspect.TopicDetail, error) { return fixtureTopic(), nil }
	f.topics = func() (inspect.TopicList, error) {
		return inspect.TopicList{Topics: []inspect.TopicName{{Topic: "orders-paid"}, {Topic: "inventory-sync"}, {Topic: "订单"}, {Topic: "%RETRY%order-settle", Retry: true},
			{Topic: "%DLQ%order-settle", Dead: true}, {Topic: "SELF_TEST_TOPIC", System: true}}}, nil
	}
	f.topicRows = func(topics []string) []inspect.TopicRow {
		rows := make([]inspect.TopicRow, len(topics))
		for i, t := range topics {
			rows[i] = inspect.TopicRow{TopicName: inspect.TopicName{Topic: t}, Type: "NORMAL", Brokers: []string{"broker-a", "broker-b"}, Queues: 16, Perm: "RW-",
				Stored: inspect.Exact(14_474_481), LastStored: fixtureNow.Add(-2 * time.Second)}
		}
		return rows
	}
	f.planReset = func(r inspect.ResetRequest) (inspect.ResetPlan, error) { return fixturePlan(r), nil }
	f.applyReset = func(p inspect.ResetPlan) (inspect.ResetResult, error) { return fixtureResult(p), nil }
	f.planPause = func(r inspect.PauseRequest) (inspect.PausePlan, error) {
		return inspect.PausePlan{Request: r, At: fixtureNow, Brokers: []inspect.PauseRow{{Broker: "broker-a", Addr: "10.0.4.1:10911", Before: r.Resume, After: !r.Resume},
			{Broker: "broker-b", Addr: "10.0.4.2:10911", Before: r.Resume, After: !r.Resume}},
			Members: []inspect.MemberEffect{{ClientID: memberA, Language: "JAVA", Version: "V5_3_3", Effect: "finishes what it has cached, and is refused each pull", Obeys: true}}}, nil
	}
	f.applyPause = func(p inspect.PausePlan) (inspect.PauseResult, error) {
		r := inspect.PauseResult{Plan: p, Rows: p.Brokers, Proof: "no queue was pulled since 14:32:07, 8 of 8", Proved: true}
		for i := range r.Rows {
			r.Rows[i].Verified = true
		}
		return r, nil
	}
	return f
}

// fixturePlan is a preview with a queue of each kind.
func fixturePlan(r inspect.ResetRequest) inspect.ResetPlan {
	p := inspect.ResetPlan{Request: r, At: fixtureNow, Method: inspect.MethodCommit, Why: "the brokers are told the new offsets directly, since nobody is connected",
		Before: inspect.Exact(409_100), After: inspect.Exact(519_771)}
	for i := range 5 {
		row := inspect.ResetRow{MessageQueue: mq("orders-paid", "broker-a", i), Min: 11_018_002, Max: 18_252_110 + int64(i), Before: 18_201_977 + int64(i)*1000,
			After: 18_190_440 + int64(i)*1000, Effect: core.EffectReplay, Count: 11_537, FirstStored: fixtureNow.Add(-15 * time.Minute), ReadBack: -1, Method: inspect.MethodCommit}
		switch i {
		case 2:
			row.After, row.Effect, row.Count = row.Before+349, core.EffectSkip, 349
		case 3:
			row.Before, row.After, row.Effect, row.Count = 10_987_802, row.Min, core.EffectGone, 30_200
		case 4:
			row = inspect.ResetRow{MessageQueue: row.MessageQueue, Min: -1, Max: -1, Before: -1, After: -1, ReadBack: -1, Unknown: true, Why: "broker-a: no answer after 3s"}
		}
		if !slices.Contains(r.Exclude, row.MessageQueue) {
			p.Rows = append(p.Rows, row)
		}
	}
	return p
}

func fixtureResult(p inspect.ResetPlan) inspect.ResetResult {
	r := inspect.ResetResult{Plan: p, Rows: slices.Clone(p.Rows), SavedTo: "/home/wang/.local/state/eyeq/offsets/order-settle.json"}
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Tried, row.ReadBack, row.Verified = true, row.After, true
		if i == 1 {
			row.Verified, row.ReadBack, row.Error = false, row.Before, "the broker refuses: no permission"
			continue
		}
		r.Done++
	}
	return r
}
