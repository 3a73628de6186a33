package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
)

// fakeCluster is a Cluster of function fields; those left out answer nothing.
type fakeCluster struct {
	groups     func() (inspect.GroupList, error)
	groupRows  func(groups []string) []inspect.GroupRow
	group      func(group string) (inspect.GroupDetail, error)
	members    func(group string) (inspect.Members, error)
	lag        func(group string) (inspect.GroupLag, error)
	live       func(group string) (inspect.Live, error)
	doctor     func(group string) (inspect.Report, error)
	topics     func() (inspect.TopicList, error)
	topicRows  func(topics []string) []inspect.TopicRow
	topic      func(topic string) (inspect.TopicDetail, error)
	brokers    func() (inspect.Brokers, error)
	planReset  func(r inspect.ResetRequest) (inspect.ResetPlan, error)
	applyReset func(p inspect.ResetPlan) (inspect.ResetResult, error)
	planPause  func(r inspect.PauseRequest) (inspect.PausePlan, error)
	applyPause func(p inspect.PausePlan) (inspect.PauseResult, error)

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

func (f *fakeCluster) Lag(_ context.Context, group string) (inspect.GroupLag, error) {
	return call(f, "lag "+group, f.lag, group)
}

func (f *fakeCluster) Live(_ context.Context, group string) (inspect.Live, error) {
	return call(f, "live "+group, f.live, group)
}

func (f *fakeCluster) Doctor(_ context.Context, group string) (inspect.Report, error) {
	return call(f, "doctor "+group, f.doctor, group)
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

func (f *fakeCluster) PlanResend(context.Context, string, []engine.Message) (inspect.ResendPlan, error) {
	return inspect.ResendPlan{}, nil
}

func (f *fakeCluster) ApplyResend(_ context.Context, p inspect.ResendPlan) (inspect.ResendPlan, error) {
	f.asked = append(f.asked, "apply resend")
	return p, nil
}

// driveCluster starts a screen without engines on a cluster.
func driveCluster(t testing.TB, w, h int, o Options, f *fakeCluster) *driver {
	t.Helper()
	o.Inspect, o.Engines = f, []NamedEngine{}
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

// fixtureCluster is a cluster in trouble: what screens.md 5b shows, and more.
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
