package inspect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// desk is an inspector of a target with what tests of changes need.
type desk struct {
	*inspect.Inspector
	t      *testing.T
	client *remoting.Client
	saved  string
}

func newDesk(t *testing.T, tg *sandboxtest.Target) *desk {
	t.Helper()
	tg.Patience = sandboxtest.Patience
	o := inspect.Options{Client: tg.Client(t, nil), SaveDir: filepath.Join(t.TempDir(), "offsets"), Cluster: tg.Name}
	if tg.Sandbox == nil && tg.Dial == nil {
		o.Timeout = sandboxtest.Patience
	}
	return &desk{Inspector: inspect.New(o), t: t, client: o.Client, saved: o.SaveDir}
}

// queues are a topic's queues on all brokers.
func (d *desk) queues(topic string) []protocol.MessageQueue {
	d.t.Helper()
	route, _, err := d.client.RefreshRoute(d.t.Context(), topic)
	if err != nil {
		d.t.Fatal(err)
	}
	return route.Queues
}

// makeGroup gives a group a configuration, which 5.x wants before any commit.
func (d *desk) makeGroup(tg *sandboxtest.Target, group string) {
	d.t.Helper()
	for _, addr := range tg.Masters(d.t) {
		if err := d.client.UpdateGroupConfig(d.t.Context(), addr, protocol.NewGroupConfig(group)); err != nil {
			d.t.Fatal(err)
		}
	}
}

// commit commits one offset in each of some queues.
func (d *desk) commit(group string, offset int64, mqs ...protocol.MessageQueue) {
	d.t.Helper()
	offsets := map[protocol.MessageQueue]int64{}
	for _, mq := range mqs {
		offsets[mq] = offset
	}
	for mq, err := range d.client.UpdateConsumerOffsets(d.t.Context(), group, offsets) {
		d.t.Fatalf("%v: %v", mq, err)
	}
}

// consumed makes a topic of so many queues a broker, so many messages in each, and a group
// that has committed an offset in all of them.
func (d *desk) consumed(tg *sandboxtest.Target, queues int32, messages int, committed int64) (group string, mqs []protocol.MessageQueue) {
	d.t.Helper()
	topic, group := tg.Topic(d.t, queues), tg.Group(d.t)
	mqs = d.queues(topic)
	tg.Produce(d.t, topic, messages*len(mqs))
	d.makeGroup(tg, group)
	d.commit(group, committed, mqs...)
	return group, mqs
}

// wantCommitted checks what is committed.
func (d *desk) wantCommitted(group string, want map[protocol.MessageQueue]int64) {
	d.t.Helper()
	for mq, offset := range want {
		got, found, err := d.client.QueryConsumerOffset(d.t.Context(), group, mq)
		if err != nil || !found || got != offset {
			d.t.Errorf("%v: committed %d (%v, %v), want %d", mq, got, found, err, offset)
		}
	}
}

func (d *desk) plan(r inspect.ResetRequest) inspect.ResetPlan {
	d.t.Helper()
	p, err := d.PlanReset(d.t.Context(), r)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func (d *desk) apply(p inspect.ResetPlan) inspect.ResetResult {
	d.t.Helper()
	res, err := d.ApplyReset(d.t.Context(), p)
	if err == nil {
		err = res.Failed()
	}
	if err != nil {
		d.t.Fatalf("%v, rows %+v", err, rowText(res.Rows))
	}
	return res
}

// rowText shows all of a row: by itself it prints as its queue.
func rowText(row any) string {
	text, err := json.Marshal(row)
	return fmt.Sprint(string(text), err)
}

// all gives every queue one value.
func all(mqs []protocol.MessageQueue, offset int64) map[protocol.MessageQueue]int64 {
	want := map[protocol.MessageQueue]int64{}
	for _, mq := range mqs {
		want[mq] = offset
	}
	return want
}

// A stopped group is reset back and forward, all of it, a topic or one queue, to 0
// too; a plan writes nothing, and a saved file takes a reset back.
func TestResetStopped(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 3), tg.Group(t)
		mqs := d.queues(topic)
		n := int64(10 * len(mqs))
		tg.Produce(t, topic, int(n))
		d.makeGroup(tg, group)
		d.commit(group, 4, mqs...)

		latest := inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetLatest}}
		p := d.plan(latest)
		if p.Online || p.Method != inspect.MethodCommit || len(p.Rows) != len(mqs) || p.Before.Value != 6*int64(len(mqs)) || p.After != inspect.Exact(0) {
			t.Errorf("plan: online %v, %s, %d rows, lag %+v to %+v", p.Online, p.Method, len(p.Rows), p.Before, p.After)
		}
		for i, row := range p.Rows {
			if row.Before != 4 || row.After != 10 || row.Min != 0 || row.Max != 10 || row.Effect != core.EffectSkip || row.Count != 6 || !row.FirstStored.IsZero() || row.Unknown {
				t.Errorf("row %d: %s", i, rowText(row))
			}
		}
		d.wantCommitted(group, all(mqs, 4))

		forward := d.apply(p)
		d.wantCommitted(group, all(mqs, 10))
		if forward.Done != len(mqs) || forward.Rows[0].ReadBack != 10 {
			t.Errorf("result: %d done, first row %+v", forward.Done, rowText(forward.Rows[0]))
		}

		// Back, one queue only, to 0 and to 5: the others stay.
		for _, to := range []int64{0, 5} {
			one := inspect.ResetRequest{Group: group, Topics: []string{topic}, Queues: mqs[1:2], Target: core.ResetTarget{Kind: core.ResetOffset, Offset: to}}
			p = d.plan(one)
			if len(p.Rows) != 1 || p.Rows[0].After != to || p.Rows[0].FirstStored.IsZero() {
				t.Errorf("plan of one queue: %s", rowText(p.Rows))
			}
			d.apply(p)
			want := all(mqs, 10)
			want[mqs[1]] = to
			d.wantCommitted(group, want)
		}

		saved, err := inspect.ReadSaved(forward.SavedTo)
		if err != nil || saved.Group != group || saved.Cluster != tg.Name || len(saved.Queues) != len(mqs) {
			t.Fatalf("saved offsets: %+v, %v", saved, err)
		}
		d.apply(d.plan(inspect.ResetRequest{Group: group, Exact: saved.Exact()}))
		d.wantCommitted(group, all(mqs, 4))
	})
}

// The retry topic is reset with the topics that are named, when that is asked for.
func TestResetTopicAndRetry(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		d.makeGroup(tg, group)
		tg.Produce(t, topic, len(d.queues(topic)))
		d.commit(group, 0, d.queues(topic)...)
		d.makeRetryTopic(tg, group)
		r := inspect.ResetRequest{Group: group, Topics: []string{topic}, Target: core.ResetTarget{Kind: core.ResetLatest}}
		without := len(d.plan(r).Rows)
		r.Retry = true
		if got, want := len(d.plan(r).Rows), without+len(tg.Masters(t)); got != want {
			t.Errorf("with the retry topic %d queues are planned, want %d", got, want)
		}
	})
}

// Nothing is written when somebody else has moved an offset since the plan.
func TestResetDrift(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 2, 10, 4)
		p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		d.commit(group, 5, mqs[0])
		_, err := d.ApplyReset(t.Context(), p)
		if drift, ok := errors.AsType[*inspect.DriftError](err); !ok || len(drift.What) != 1 {
			t.Errorf("error %v, want the drift of one queue", err)
		}
		want := all(mqs, 4)
		want[mqs[0]] = 5
		d.wantCommitted(group, want)
		if files, _ := filepath.Glob(d.saved + "/*"); len(files) > 0 {
			t.Errorf("files %q were saved for a reset that was not made", files)
		}
	})
}

// A reset by time finds the first message at that time, within a batch of one store
// time too, and the end for a later one.
func TestResetTime(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 1), tg.Group(t)
		mq := d.queues(topic)[0]
		batch := make([]protocol.BatchItem, 32)
		for i := range batch {
			batch[i].Body = []byte{'a' + byte(i)}
		}
		pause := func() {
			wait := time.NewTimer(20 * time.Millisecond) // so that store times differ
			<-wait.C
		}
		for range 5 {
			sandboxtest.Send(t, d.client, mq, protocol.BatchItem{Body: []byte("x")})
		}
		pause()
		sandboxtest.Send(t, d.client, mq, batch...)
		pause()
		sandboxtest.Send(t, d.client, mq, protocol.BatchItem{Body: []byte("y")})
		tg.AwaitOffset(t, mq, 38)
		d.makeGroup(tg, group)
		d.commit(group, 38, mq)

		at := func(offset int64) time.Time {
			p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetOffset, Offset: offset}})
			return p.Rows[0].FirstStored
		}
		batchAt, lastAt := at(20), at(37)
		if !at(5).Equal(batchAt) || !at(36).Equal(batchAt) || !at(4).Before(batchAt) || !lastAt.After(batchAt) {
			t.Fatalf("the batch was stored at %v to %v, the last message at %v", at(5), at(36), lastAt)
		}
		for name, tt := range map[string]struct {
			to   time.Time
			want int64
		}{
			"the time of the batch": {batchAt, 5}, "before it": {batchAt.Add(-time.Millisecond), 5}, "after it": {batchAt.Add(time.Millisecond), 37},
			"the last message": {lastAt, 37}, "later": {lastAt.Add(time.Hour), 38}, "long ago": {lastAt.Add(-time.Hour), 0},
		} {
			p := d.plan(inspect.ResetRequest{Group: group, Target: core.ResetTarget{Kind: core.ResetTime, Time: tt.to}})
			if got := p.Rows[0].After; got != tt.want {
				t.Errorf("%s: offset %d, want %d", name, got, tt.want)
			}
		}
	})
}

// What does not exist is said, and a group that has never committed can be given
// offsets.
func TestResetUnknown(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 5*len(mqs))
		earliest := core.ResetTarget{Kind: core.ResetEarliest}
		_, err := d.PlanReset(t.Context(), inspect.ResetRequest{Group: group, Topics: []string{topic}, Target: earliest})
		if nf, ok := errors.AsType[*inspect.NotFoundError](err); !ok || nf.Kind != "group" {
			t.Errorf("a group that nobody knows: %v", err)
		}
		d.makeGroup(tg, group)
		if _, err := d.PlanReset(t.Context(), inspect.ResetRequest{Group: group, Target: earliest}); err == nil {
			t.Error("a group without any topic was planned to be reset")
		}
		_, err = d.PlanReset(t.Context(), inspect.ResetRequest{Group: group, Topics: []string{topic + "-none"}, Target: earliest})
		if nf, ok := errors.AsType[*inspect.NotFoundError](err); !ok || nf.Kind != "topic" {
			t.Errorf("a topic that is not there: %v", err)
		}
		_, err = d.PlanReset(t.Context(), inspect.ResetRequest{Group: group, Topics: []string{topic}, Target: earliest,
			Queues: []protocol.MessageQueue{{BrokerName: mqs[0].BrokerName, QueueID: 77}}})
		if nf, ok := errors.AsType[*inspect.NotFoundError](err); !ok || nf.Kind != "queue" {
			t.Errorf("a queue that is not there: %v", err)
		}
		p := d.plan(inspect.ResetRequest{Group: group, Topics: []string{topic}, Target: core.ResetTarget{Kind: core.ResetOffset, Offset: 3}})
		for _, row := range p.Rows {
			if row.Before != -1 || row.After != 3 || row.Effect != core.EffectSkip {
				t.Errorf("a queue without offset: %s", rowText(row))
			}
		}
		d.apply(p)
		d.wantCommitted(group, all(mqs, 3))
	})
}

// A queue from which everything has expired is empty, and goes to its end whatever the
// target: no backlog appears that is not there. What has expired is GONE.
func TestResetExpired(t *testing.T) {
	// Nothing expires at a real broker while a test can wait.
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		mqs := d.queues(topic)
		tg.Produce(t, topic, 2*48)
		tg.Sandbox.Truncate(mqs[0], 48)
		tg.Sandbox.Truncate(mqs[1], 30)
		d.makeGroup(tg, group)
		d.commit(group, 48, mqs[0])
		d.commit(group, 10, mqs[1])
		for _, target := range []core.ResetTarget{
			{Kind: core.ResetEarliest}, {Kind: core.ResetLatest}, {Kind: core.ResetTime, Time: time.Now().Add(-time.Hour)},
			{Kind: core.ResetOffset}, {Kind: core.ResetShift, Offset: -20},
		} {
			p := d.plan(inspect.ResetRequest{Group: group, Target: target})
			if row := p.Rows[0]; row.Min != 48 || row.Max != 48 || row.After != 48 || row.Effect != core.EffectNone {
				t.Errorf("%v: an empty queue: %s", target.Kind, rowText(row))
			}
			if row := p.Rows[1]; target.Kind == core.ResetEarliest && (row.After != 30 || row.Effect != core.EffectGone || row.Count != 20) {
				t.Errorf("a queue whose first messages have expired: %s", rowText(row))
			}
		}
	})
}

// Queues of a broker that does not answer stop a reset until they are left out by name.
func TestResetUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Brokers("broker-a", "broker-b"), sandboxtest.Topic("orders", 1))
		c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		d := &desk{Inspector: inspect.New(inspect.Options{Client: c}), t: t, client: c, saved: ""}
		mqs := d.queues("orders")
		info, err := c.ClusterInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range info.BrokerAddrTable {
			if err := c.UpdateGroupConfig(t.Context(), b.BrokerAddrs[0], protocol.NewGroupConfig("g")); err != nil {
				t.Fatal(err)
			}
		}
		for range 5 {
			sb.Put(sandbox.Message{Topic: "orders", QueueID: -1, Body: []byte("x")}, sandbox.Message{Topic: "orders", QueueID: -1, Body: []byte("y")})
		}
		d.commit("g", 2, mqs...)
		silent := func(on bool) {
			sb.SetFault(func(r sandbox.Request) sandbox.Fault { return sandbox.Fault{Drop: on && r.Broker == "broker-b"} })
		}
		silent(true)
		r := inspect.ResetRequest{Group: "g", Topics: []string{"orders"}, Target: core.ResetTarget{Kind: core.ResetEarliest}}
		p := d.plan(r)
		if len(p.Rows) != 2 || p.Rows[0].Unknown || !p.Rows[1].Unknown || !p.After.AtLeast {
			t.Errorf("plan %s, lag %+v", rowText(p.Rows), p.After)
		}
		_, err = d.ApplyReset(t.Context(), p)
		if np, ok := errors.AsType[*inspect.NotPossibleError](err); !ok || !strings.Contains(np.Why, "1 of 2 queues could not be read") || !strings.Contains(np.Why, "broker-b") {
			t.Errorf("error %v", err)
		}
		d.wantCommitted("g", map[protocol.MessageQueue]int64{mqs[0]: 2})
		r.Exclude = []protocol.MessageQueue{{BrokerName: "broker-b"}}
		d.apply(d.plan(r))
		silent(false)
		d.wantCommitted("g", map[protocol.MessageQueue]int64{mqs[0]: 0, mqs[1]: 2})
	})
}

// A 5.x broker that does not say how it resets is not asked to while members read the
// topic: one that tells its members would send all queues to the time of the request.
func TestResetOfABrokerThatHidesItsSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("orders", 2))
		c, err := remoting.NewClient(remoting.Options{Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		d := &desk{Inspector: inspect.New(inspect.Options{Client: c}), t: t, client: c, saved: ""}
		mqs := d.queues("orders")
		sb.Put(sandbox.Message{Topic: "orders", QueueID: 0, Body: []byte("x")}, sandbox.Message{Topic: "orders", QueueID: 1, Body: []byte("y")})
		info, err := c.ClusterInfo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		addr := info.BrokerAddrTable["broker-a"].BrokerAddrs[0]
		if err := c.UpdateGroupConfig(t.Context(), addr, protocol.NewGroupConfig("g")); err != nil {
			t.Fatal(err)
		}
		d.commit("g", 1, mqs...)
		sub, err := protocol.NewSubscriptionData("orders", "*")
		if err != nil {
			t.Fatal(err)
		}
		beat := protocol.HeartbeatData{ClientID: "a", ConsumerDataSet: []protocol.ConsumerData{{GroupName: "g", ConsumeType: protocol.ConsumePassively,
			MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromLastOffset, SubscriptionDataSet: []protocol.SubscriptionData{sub}}}}
		if _, err := c.Heartbeat(t.Context(), addr, &beat); err != nil {
			t.Fatal(err)
		}
		r := inspect.ResetRequest{Group: "g", Topics: []string{"orders"}, Queues: mqs[:1], Target: core.ResetTarget{Kind: core.ResetEarliest}}
		if p := d.plan(r); p.Method != inspect.MethodServer {
			t.Fatalf("a broker that shows its settings: %s", p.Method)
		}
		sb.SetFault(func(r sandbox.Request) sandbox.Fault {
			return sandbox.Fault{Drop: r.Command.Code == int32(protocol.GetBrokerConfig)}
		})
		p := d.plan(r)
		if !p.Rows[0].Unknown || !strings.Contains(p.Rows[0].Why, "settings") || p.Refused() == nil {
			t.Errorf("planned %s by %q", rowText(p.Rows), p.Method)
		}
	})
}

// A slave takes offsets while its master is away, and loses them when the master is back:
// a reset is refused, and why is said.
func TestResetWhileTheMasterIsAway(t *testing.T) {
	sandboxtest.RunWithSlave(t, func(t *testing.T, tg *sandboxtest.Target, pair *sandboxtest.Pair) {
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 1, 10, 5)
		pair.AwaitSlave(t, group, mqs[0], 10)
		pair.Kill(t)
		defer pair.Revive(t)
		p, err := d.PlanReset(t.Context(), inspect.ResetRequest{Group: group, Topics: []string{mqs[0].Topic}, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		if err != nil {
			t.Fatal(err)
		}
		if want := "its master is away, and what its slave is given meanwhile"; len(p.Rows) == 0 || !p.Rows[0].Unknown || !strings.HasPrefix(p.Rows[0].Why, want) {
			t.Errorf("rows %+v; want that %s", p.Rows, want)
		}
		if p.Refused() == nil {
			t.Error("the plan is not refused")
		}
	})
}

// The same on brokers of 5.x with a slave that acts as the master: the name server then
// announces the slave as the master in routes, and the reset is refused all the same.
func TestResetWhileASlaveActsAsTheMaster(t *testing.T) {
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		acts := []string{"brokerName=broker-a", "enableSlaveActingMaster=true"}
		tg := own.Up(t, "master", append(acts, "brokerRole=ASYNC_MASTER")...)
		if tg.Line != "5" {
			return // no slave of 4.x acts as one
		}
		own.Run(t, "admin", tg.Name, "updateNamesrvConfig", "-n", tg.Namesrv[0], "-k", "supportActingMaster", "-v", "true")
		slave := own.Broker(t, "slave", tg.Namesrv[0], append(acts, "brokerRole=SLAVE", "brokerId=1")...)
		d := newDesk(t, tg)
		group, mqs := d.consumed(tg, 1, 10, 5)
		// The slave would get to know both from its master within ten seconds.
		if err := d.client.UpdateGroupConfig(t.Context(), slave, protocol.NewGroupConfig(group)); err != nil {
			t.Fatal(err)
		}
		h := protocol.CreateTopicRequestHeader{Topic: mqs[0].Topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermRead | protocol.PermWrite}
		if err := d.client.CreateTopic(t.Context(), slave, &h); err != nil {
			t.Fatal(err)
		}
		own.Kill(t, "master", "broker")
		defer func() { // what the test made is deleted at the master
			own.Restart(t, "master", "broker")
			tg.AwaitRoute(t, mqs[0].Topic, 1)
		}()
		sandboxtest.Await(t, "a route by which the slave is the master", func(ctx context.Context) bool {
			route, _, err := d.client.RefreshRoute(ctx, mqs[0].Topic)
			return err == nil && len(route.Data.BrokerDatas) == 1 && route.Data.BrokerDatas[0].BrokerAddrs[remoting.MasterID] == slave
		})
		d.Inspector = inspect.New(inspect.Options{Client: d.client, Timeout: sandboxtest.Patience, SaveDir: t.TempDir(), Cluster: tg.Name})
		p, err := d.PlanReset(t.Context(), inspect.ResetRequest{Group: group, Topics: []string{mqs[0].Topic}, Target: core.ResetTarget{Kind: core.ResetEarliest}})
		if err != nil {
			t.Fatal(err)
		}
		if want := "its master is away, and what its slave is given meanwhile, also one that acts as the master"; len(p.Rows) == 0 || !p.Rows[0].Unknown || !strings.HasPrefix(p.Rows[0].Why, want) || p.Refused() == nil {
			t.Errorf("rows %+v, refused with %v; want that %s", p.Rows, p.Refused(), want)
		}
	})
}
