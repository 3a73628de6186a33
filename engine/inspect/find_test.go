package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/engine/inspect"
	"eyeq/engine/inspect/message"
	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
	"eyeq/remoting/sandbox/sandboxtest"
)

// find asks and fails the test when that fails.
func (d *desk) find(r inspect.FindRequest) inspect.FindResult {
	d.t.Helper()
	got, err := d.Find(d.t.Context(), r)
	if err != nil {
		d.t.Fatalf("Find(%+v): %v", r, err)
	}
	for _, p := range got.Problems {
		d.t.Errorf("Find(%+v): %v", r, p)
	}
	return got
}

// awaitFound asks until so many are found: a broker's index is behind by a moment.
func (d *desk) awaitFound(r inspect.FindRequest, n int) (got inspect.FindResult) {
	d.t.Helper()
	sandboxtest.Await(d.t, fmt.Sprintf("%d messages in the index", n), func(ctx context.Context) (done bool) {
		got, done = d.foundNow(ctx, r)
		return done && len(got.Messages) >= n
	})
	return got
}

// foundNow asks once, of a broker that may be too busy to answer in time.
func (d *desk) foundNow(ctx context.Context, r inspect.FindRequest) (inspect.FindResult, bool) {
	got, err := d.Find(ctx, r)
	return got, err == nil && len(got.Problems) == 0
}

func bodiesOf(messages []protocol.MessageExt) (bodies []string) {
	for i := range messages {
		body, _ := message.Body(&messages[i])
		bodies = append(bodies, string(body))
	}
	return bodies
}

func property(name, value string) protocol.Property {
	return protocol.Property{Name: name, Value: value}
}

func TestFindByKey(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, other := tg.Topic(t, 4), tg.Topic(t, 1)
		tg.Produce(t, topic, 12, property(protocol.PropertyTags, "A"))
		tg.Produce(t, other, 1)
		mq := d.queues(topic)[0]
		sandboxtest.Send(t, d.client, mq, protocol.BatchItem{Body: []byte("more keys"), Properties: []protocol.Property{property(protocol.PropertyKeys, "first key-0 third")}})
		got := d.awaitFound(inspect.FindRequest{Topic: topic, Key: "key-0"}, 2)
		if want := []string{"message 0", "more keys"}; !slices.Equal(bodiesOf(got.Messages), want) || got.Truncated {
			t.Errorf("found %q, want %q", bodiesOf(got.Messages), want)
		}
		// Parts of keys and keys of other topics are not it.
		for _, key := range []string{"key", "key-99", "A"} {
			if got := d.find(inspect.FindRequest{Topic: topic, Key: key}); len(got.Messages) > 0 {
				t.Errorf("key %s: found %q", key, bodiesOf(got.Messages))
			}
		}
		first, second := got.Messages[0].Stored(), got.Messages[1].Stored()
		if !second.After(first) {
			return // the same millisecond
		}
		for name, tt := range map[string]struct {
			from, to time.Time
			want     []string
		}{
			"both ends belong to it": {first, second, []string{"message 0", "more keys"}},
			"up to before the last":  {first, second.Add(-time.Millisecond), []string{"message 0"}},
			"after the first":        {first.Add(time.Millisecond), time.Time{}, []string{"more keys"}},
			"before all":             {time.Time{}, first.Add(-time.Millisecond), nil},
		} {
			got := d.find(inspect.FindRequest{Topic: topic, Key: "key-0", From: tt.from, To: tt.to})
			if !slices.Equal(bodiesOf(got.Messages), tt.want) {
				t.Errorf("%s: found %q, want %q", name, bodiesOf(got.Messages), tt.want)
			}
		}
		if got := d.find(inspect.FindRequest{Topic: topic, Key: "key-0", Max: 1}); !got.Truncated || bodiesOf(got.Messages)[0] != "more keys" {
			t.Errorf("the newest one: %q, truncated %v", bodiesOf(got.Messages), got.Truncated)
		}
	})
}

// An offset id is resolved by who has its address now; where nobody has, by a record
// that calls itself so.
func TestFindByOffsetID(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 3)
		m, err := d.Head(t.Context(), d.queues(topic)[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		id := m.OffsetMessageID()
		for _, r := range []inspect.FindRequest{{OffsetID: id}, {OffsetID: strings.ToLower(id)}, {OffsetID: id, Topic: topic}} {
			if got := bodiesOf(d.find(r).Messages); !slices.Equal(got, []string{"message 1"}) {
				t.Errorf("%+v: found %q", r, got)
			}
		}
		moved := protocol.OffsetMessageID(netip.MustParseAddrPort("192.0.2.9:10911"), m.CommitLogOffset())
		beside := protocol.OffsetMessageID(m.StoreHost(), m.CommitLogOffset()+7)
		for name, tt := range map[string]struct{ id, want string }{
			"a broker that is gone": {moved, "no broker has the address 192.0.2.9:10911 now, and none has a message of this id"},
			"between two messages":  {beside, "has none at commit log offset"},
		} {
			_, err := d.Find(t.Context(), inspect.FindRequest{OffsetID: tt.id})
			if missing, ok := errors.AsType[*inspect.MessageNotFoundError](err); !ok || !strings.Contains(missing.Why, tt.want) {
				t.Errorf("%s: %v, want not found with %q", name, err, tt.want)
			}
		}
	})
}

// A broker's messages keep the address under which they were stored, so that their
// ids are found after it has moved.
func TestFindByOffsetIDAfterAMove(t *testing.T) {
	look := func(t *testing.T, tg *sandboxtest.Target, move func()) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 3)
		m, err := d.Head(t.Context(), d.queues(topic)[0], 1)
		if err != nil {
			t.Fatal(err)
		}
		before := tg.Masters(t)["broker-a"]
		move()
		sandboxtest.AwaitWithin(t, 2*time.Minute, "the broker at its new address", func(ctx context.Context) bool {
			info, err := d.client.ClusterInfo(ctx)
			addr := info.BrokerAddrTable["broker-a"].BrokerAddrs[remoting.MasterID]
			return err == nil && addr != "" && addr != before
		})
		if got := bodiesOf(newDesk(t, tg).find(inspect.FindRequest{OffsetID: m.OffsetMessageID()}).Messages); !slices.Equal(got, []string{"message 1"}) {
			t.Errorf("found %q, want the message", got)
		}
	}
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		look(t, tg, func() { tg.Sandbox.MoveBroker("broker-a") })
	})
	sandboxtest.OnOwnBrokers(t, func(t *testing.T, own *sandboxtest.OwnBrokers) {
		look(t, own.Up(t, "b"), func() {
			own.Kill(t, "b", "broker")
			own.Set(t, "b", "listenPort="+strconv.Itoa(sandboxtest.FreeBrokerPort(t)))
			own.Restart(t, "b", "broker")
		})
	})
}

// By its unique id a message is found with the copies that retries and dead letters
// are, whatever time the id may hold.
func TestFindByUniqueKey(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic, group := tg.Topic(t, 2), tg.Group(t)
		d.makeGroup(tg, group)
		const id = "01F8A9C0DE0000112233445566778899AA" // as 5.x clients make them
		mq := d.queues(topic)[1]
		sent := sandboxtest.Send(t, d.client, mq, protocol.BatchItem{Body: []byte("body"), Properties: []protocol.Property{property(protocol.PropertyUniqKey, id)}})
		d.awaitFound(inspect.FindRequest{Topic: topic, UniqueKey: id}, 1)
		d.commit(group, 0, mq)
		bury(t, d.client, group, mq, sent.QueueOffset)
		tg.AwaitRoute(t, protocol.DLQTopic(group), 1)
		d = newDesk(t, tg)
		got := d.awaitFound(inspect.FindRequest{Topic: topic, UniqueKey: id}, 2)
		var topics []string
		for i := range got.Messages {
			topics = append(topics, got.Messages[i].Topic())
		}
		if want := []string{topic, protocol.DLQTopic(group)}; !slices.Equal(topics, want) || !slices.Contains(got.Also, protocol.DLQTopic(group)) {
			t.Errorf("found in %q, searched also %q; want it in %q", topics, got.Also, want)
		}
		if got := d.find(inspect.FindRequest{Topic: topic, UniqueKey: strings.ToLower(id)}); len(got.Messages) > 0 {
			t.Errorf("ids differ by case: found %d", len(got.Messages))
		}
	})
}

// bury sends a message to the dead letters of a group, as a member that gives up does.
func bury(t *testing.T, c *remoting.Client, group string, mq protocol.MessageQueue, offset int64) {
	t.Helper()
	d := inspect.New(inspect.Options{Client: c})
	m, err := d.Head(t.Context(), mq, offset)
	if err != nil {
		t.Fatal(err)
	}
	err = sandboxtest.AwaitNotBusy(t, "a send-back", func(ctx context.Context) error {
		return c.SendBack(ctx, mq.BrokerName, &protocol.ConsumerSendMsgBackRequestHeader{
			Offset: m.CommitLogOffset(), Group: group, DelayLevel: -1, OriginMsgID: m.MessageID(), OriginTopic: mq.Topic, MaxReconsumeTimes: 16,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A span of time includes both its ends, comes in the order of storing, and is empty
// where nothing was stored.
func TestFindBySpan(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 4)
		tg.Produce(t, topic, 40)
		all := d.find(inspect.FindRequest{Topic: topic}).Messages
		if len(all) != 40 || !slices.IsSortedFunc(all, func(a, b protocol.MessageExt) int { return a.Stored().Compare(b.Stored()) }) {
			t.Fatalf("%d messages, want 40 in their order", len(all))
		}
		within := func(from, to time.Time) (n int) {
			for i := range all {
				if s := all[i].Stored(); !s.Before(from) && !s.After(to) {
					n++
				}
			}
			return n
		}
		for _, ends := range [][2]int{{0, 39}, {5, 20}, {39, 39}, {0, 0}} {
			from, to := all[ends[0]].Stored(), all[ends[1]].Stored()
			got := d.find(inspect.FindRequest{Topic: topic, From: from, To: to}).Messages
			if want := within(from, to); len(got) != want || want == 0 {
				t.Errorf("%v: %d messages, want %d", ends, len(got), want)
			}
		}
		last := all[39].Stored()
		for name, r := range map[string]inspect.FindRequest{
			"before": {Topic: topic, To: all[0].Stored().Add(-time.Millisecond)},
			"after":  {Topic: topic, From: last.Add(time.Millisecond)},
			"future": {Topic: topic, From: last.Add(time.Hour), To: last.Add(2 * time.Hour)},
		} {
			if got := d.find(r); len(got.Messages) > 0 || got.Truncated {
				t.Errorf("%s: %d messages", name, len(got.Messages))
			}
		}
		if got := d.find(inspect.FindRequest{Topic: topic, Max: 7}); len(got.Messages) != 7 || !got.Truncated || string(got.Messages[0].StoredBody()) != "message 0" {
			t.Errorf("the first 7: %q, truncated %v", bodiesOf(got.Messages), got.Truncated)
		}
	})
}

func TestFindByPlace(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 2)
		tg.Produce(t, topic, 2*3)
		mq := d.queues(topic)[0]
		if got := d.find(inspect.FindRequest{Queue: &mq, Offset: 2}); len(got.Messages) != 1 || got.Messages[0].QueueOffset() != 2 || got.Messages[0].MessageQueue() != mq {
			t.Errorf("found %q", bodiesOf(got.Messages))
		}
		for _, offset := range []int64{3, 4, 99, -1} {
			_, err := d.Head(t.Context(), mq, offset)
			if missing, ok := errors.AsType[*inspect.MessageNotFoundError](err); !ok || missing.Why != "the queue has 0 to 2" {
				t.Errorf("offset %d: %v, want not found", offset, err)
			}
		}
		mq.QueueID = 9
		if _, err := d.Head(t.Context(), mq, 0); !isType[*inspect.NotFoundError](err) {
			t.Errorf("no such queue: %v", err)
		}
		mq.BrokerName = "nobody"
		if _, err := d.Head(t.Context(), mq, 0); !isType[*remoting.NoBrokerError](err) {
			t.Errorf("no such broker: %v", err)
		}
	})
}

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func TestFindSaysWhatHasExpired(t *testing.T) {
	// Real brokers delete whole files only.
	sandboxtest.RunSandbox(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 6)
		mq := d.queues(topic)[0]
		tg.Sandbox.Truncate(mq, 4)
		_, err := d.Head(t.Context(), mq, 1)
		if err == nil || !strings.HasSuffix(err.Error(), "messages up to offset 3 have expired, the queue has 4 to 5") {
			t.Errorf("Head = %v", err)
		}
		if got := d.find(inspect.FindRequest{Topic: topic}); len(got.Messages) != 2 {
			t.Errorf("%d messages, want those that are left", len(got.Messages))
		}
	})
}

func TestFindRefuses(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		now := time.Now()
		for want, r := range map[string]inspect.FindRequest{
			"the topic is missing":   {Key: "k"},
			"one of them":            {Topic: topic, Key: "k", UniqueKey: "u"},
			"before it begins":       {Topic: topic, From: now, To: now.Add(-time.Second)},
			"not 32 or 56":           {OffsetID: "7F"},
			"is no offset id":        {OffsetID: strings.Repeat("F", 32)},
			"there is no topic nope": {Topic: "nope", Key: "k"},
			"no topic nope":          {Topic: "nope"},
			"topic nope":             {Topic: "nope", UniqueKey: "k"},
		} {
			if _, err := d.Find(t.Context(), r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Find(%+v) = %v, want %q", r, err, want)
			}
		}
	})
}

// A topic that can only be written is not empty: that it cannot be read is said.
func TestFindInAWriteOnlyTopic(t *testing.T) {
	sandboxtest.Run(t, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		tg.Produce(t, topic, 2)
		mq := d.queues(topic)[0]
		for _, addr := range tg.Masters(t) {
			h := &protocol.CreateTopicRequestHeader{Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermWrite}
			if err := d.client.CreateTopic(t.Context(), addr, h); err != nil {
				t.Fatal(err)
			}
		}
		sandboxtest.Await(t, "the permission in the route", func(ctx context.Context) bool {
			route, _, err := d.client.RefreshRoute(ctx, topic)
			return err == nil && len(route.Queues) == 0
		})
		got, err := newDesk(t, tg).Find(t.Context(), inspect.FindRequest{Topic: topic})
		if err != nil || len(got.Problems) != 1 || got.Problems[0].Why.Kind != inspect.ReasonDenied || !strings.Contains(got.Problems[0].Why.Text, "-W-") {
			t.Errorf("Find = %+v, %v, want the reason", got, err)
		}
		if _, err := d.Head(t.Context(), mq, 0); inspect.ReasonOf(err).Kind != inspect.ReasonDenied {
			t.Errorf("Head = %v, want a refusal", err)
		}
	})
}

// A broker that does not answer costs its own rows.
func TestFindBesideASilentBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandboxtest.Start(t, sandboxtest.Topic("t", 1), sandboxtest.Brokers("broker-a", "broker-b"))
		for _, name := range []string{"broker-a", "broker-a", "broker-b"} {
			sb.Put(sandbox.Message{Topic: "t", Broker: name, Body: []byte("x"), Properties: []protocol.Property{property(protocol.PropertyKeys, "k")}})
		}
		sb.SetFault(func(r sandbox.Request) sandbox.Fault { return sandbox.Fault{Drop: r.Broker == "broker-b"} })
		d := inspect.New(inspect.Options{Client: sandboxtest.Client(t, sb, nil), Timeout: 200 * time.Millisecond})
		for _, r := range []inspect.FindRequest{{Topic: "t"}, {Topic: "t", Key: "k"}} {
			got, err := d.Find(t.Context(), r)
			if err != nil || len(got.Messages) != 2 || len(got.Problems) == 0 || got.Problems[0].Where != "broker-b" {
				t.Errorf("Find(%+v) = %d messages, %v, %v", r, len(got.Messages), got.Problems, err)
			}
		}
	})
}

// What waits for its time is found by its unique id, with the time; when that has
// come, it is found where it went.
func TestFindDelayed(t *testing.T) {
	// The sandbox keeps what waits in no topic.
	sandboxtest.RunIn(t, sandboxtest.Real, func(t *testing.T, tg *sandboxtest.Target) {
		d := newDesk(t, tg)
		topic := tg.Topic(t, 1)
		mq := d.queues(topic)[0]
		// Long enough to be looked at while they wait, on a busy machine too.
		kinds := map[string]protocol.Property{"level": property(protocol.PropertyDelay, "3")} // 10 s
		if tg.Line != "4" {
			kinds["timer"] = property(protocol.PropertyTimerDelaySec, "10")
		}
		request := func(kind string) inspect.FindRequest {
			return inspect.FindRequest{Topic: topic, UniqueKey: "7F0000010DFC1EB2C6F60000" + map[string]string{"level": "0000000A", "timer": "0000000B"}[kind]}
		}
		for kind, delay := range kinds {
			r := request(kind)
			sandboxtest.Send(t, d.client, mq, protocol.BatchItem{Body: []byte(kind), Properties: []protocol.Property{property(protocol.PropertyUniqKey, r.UniqueKey), delay}})
			waiting := d.awaitFound(r, 1).Messages[0]
			delayed, ok := inspect.DelayOf(&waiting, []time.Duration{0, 0, 10 * time.Second}, inspect.Reason{})
			if in := delayed.Due.Sub(waiting.Stored()); !ok || !delayed.Parked || delayed.Topic != topic || in < 8*time.Second || in > 12*time.Second {
				t.Errorf("%s: %+v in %v, of %s", kind, delayed, in, waiting.Topic())
			}
		}
		for kind := range kinds {
			var got inspect.FindResult
			sandboxtest.Await(t, "the delivery", func(ctx context.Context) (done bool) {
				got, done = d.foundNow(ctx, request(kind))
				return done && len(got.Messages) > 0 && got.Messages[0].Topic() == topic
			})
			if delayed, ok := inspect.DelayOf(&got.Messages[0], nil, inspect.Reason{}); len(got.Messages) != 1 || !ok || delayed.Parked {
				t.Errorf("%s: %d messages, %+v, %v", kind, len(got.Messages), delayed, ok)
			}
		}
	})
}

// Brokers index no message of a batch in a topic with queues for batches (5.x): a key is
// not denied there. The offset id of a batch is that of all of its messages.
func TestFindInQueuesForBatches(t *testing.T) {
	sandboxtest.RunIn(t, sandboxtest.Real&sandboxtest.Line5, func(t *testing.T, tg *sandboxtest.Target) {
		topic := tg.Topic(t, 1) + "-b"
		c := tg.Client(t, nil)
		h := protocol.CreateTopicRequestHeader{Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: protocol.PermRead | protocol.PermWrite, Attributes: "+queue.type=BatchCQ"}
		for _, addr := range tg.Masters(t) {
			if err := c.CreateTopic(t.Context(), addr, &h); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _ = c.DeleteTopic(context.WithoutCancel(t.Context()), topic) })
		tg.AwaitRoute(t, topic, 1)
		d := newDesk(t, tg)
		mq := d.queues(topic)[0]
		item := func(key, id string) protocol.BatchItem {
			return protocol.BatchItem{Body: []byte(key), Properties: []protocol.Property{property(protocol.PropertyKeys, key), property(protocol.PropertyUniqKey, id)}}
		}
		tg.SendInnerBatch(t, c, mq, uniqueID(9), item("first", uniqueID(0)), item("second", uniqueID(1)), item("third", uniqueID(2)))
		sandboxtest.Send(t, d.client, mq, item("single", uniqueID(3)))
		tg.AwaitOffset(t, mq, 4)
		unindexed := func(r inspect.FindResult) bool {
			return slices.ContainsFunc(r.Problems, func(p inspect.Problem) bool { return p.Why.Kind == inspect.ReasonNotIndexed })
		}
		var single inspect.FindResult
		sandboxtest.Await(t, "the index of the single message", func(ctx context.Context) bool {
			var err error
			single, err = d.Find(ctx, inspect.FindRequest{Topic: topic, Key: "single"})
			return err == nil && len(single.Messages) == 1
		})
		if !unindexed(single) {
			t.Errorf("by the key of a single message: %+v does not say that others are not indexed", single.Problems)
		}
		for name, r := range map[string]inspect.FindRequest{"key": {Topic: topic, Key: "second"}, "unique id": {Topic: topic, UniqueKey: uniqueID(1)}} {
			got, err := d.Find(t.Context(), r)
			if err != nil || len(got.Messages) != 0 || !unindexed(got) {
				t.Errorf("by a %s in a batch: %d messages, %+v, %v", name, len(got.Messages), got.Problems, err)
			}
		}
		second, err := d.Head(t.Context(), mq, 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Find(t.Context(), inspect.FindRequest{OffsetID: second.OffsetMessageID()})
		if err != nil || len(got.Messages) != 3 {
			t.Fatalf("by the offset id of a batch: %d messages, %v, want its 3", len(got.Messages), err)
		}
		for i := range got.Messages {
			if m := &got.Messages[i]; m.QueueOffset() != int64(i) || m.UniqueID() != uniqueID(i) {
				t.Errorf("message %d of the batch: offset %d, id %s", i, m.QueueOffset(), m.UniqueID())
			}
		}
	})
}
