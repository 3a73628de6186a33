package tui

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/remoting/protocol"
	"eyeq/tui/live"
	"eyeq/tui/page"
)

// delivered makes a delivered message of a record.
func delivered(t testing.TB, r protocol.Record) *engine.Message {
	t.Helper()
	r.BornHost, r.StoreHost = netip.MustParseAddrPort("10.0.9.7:1234"), netip.MustParseAddrPort("10.0.4.1:10911")
	raw, err := protocol.AppendRecord(nil, &r)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := protocol.AppendMessages(nil, raw, &protocol.MessageSource{BrokerName: "broker-a"})
	if err != nil || len(messages) != 1 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	return &messages[0]
}

func TestMessagesOfTheCacheAreMadeSafe(t *testing.T) {
	stored := fixtureNow.Add(-time.Minute)
	plain := protocol.Record{Topic: "orders-paid", QueueOffset: 18_204_551, Born: stored.Add(-13 * time.Millisecond), Stored: stored, ReconsumeTimes: 2,
		Body:       []byte("{\"note\":\"\x1b]52;c;aGk=\a\",\n\"名称\":\"退款\"}"),
		Properties: []protocol.Property{{Name: "UNIQ_KEY", Value: "0A0004\u202e"}, {Name: "TAGS", Value: "paid\x7f"}, {Name: "KEYS", Value: "o-1 o-2"}}}
	long := plain
	long.Body = []byte(strings.Repeat("x", 1<<20))
	broken := plain
	broken.SysFlag, broken.Body = protocol.SysFlagCompressed, []byte("no zlib")
	rows := live.HeldRows([]engine.HeldMessage{
		{Message: delivered(t, plain), Stage: core.StageTaken, Started: fixtureNow.Add(-2 * time.Second), Retries: 1},
		{Message: delivered(t, long), Stage: core.StageCached},
		{Message: delivered(t, broken), Stage: core.StageDone},
		{},
	}, nil)
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	r := rows[0]
	if r.ID != "0A0004‹U+202E›" || r.Tags != "paid␡" || r.Keys != "o-1 o-2" || r.Body != "{\"note\":\"␛]52;c;aGk=␇\",⏎\"名称\":\"退款\"}" {
		t.Errorf("the first: %+v", r)
	}
	if r.Offset != 18_204_551 || !r.Stored.Equal(stored) || r.Reconsumed != 2 || r.Retries != 1 {
		t.Errorf("the first: %+v", r)
	}
	if n := len(rows[1].Body); n > 8000 || rows[1].More == "" || rows[1].BodySize != 1<<20 {
		t.Errorf("of a long body %d bytes are kept, %q, size %d", n, rows[1].More, rows[1].BodySize)
	}
	if !strings.HasPrefix(rows[2].Body, "! body: ") {
		t.Errorf("a body that cannot be decompressed: %q", rows[2].Body)
	}
}

func TestQueueDetailShowsItsMessages(t *testing.T) {
	e := &fakeEngine{held: func(q engine.MessageQueue, n int) ([]engine.HeldMessage, error) {
		return []engine.HeldMessage{{Stage: core.StageTaken, Started: fixtureNow.Add(-2 * time.Second), Message: delivered(t, protocol.Record{
			Topic: q.Topic, QueueOffset: 18_204_551, Born: fixtureNow, Stored: fixtureNow, Body: []byte(`{"id":7781203}`)})}}, nil
	}}
	d := drive(t, 120, 36, defaultOptions(), e).keys("enter")
	d.see("18,204,551 running     2.0s").see(`{"id":7781203}`)
	d.keys("enter").see("Message at 18,204,551").see("stage   running, listener called").see("body    14 B").keys("esc", "z").miss("broker has").keys("q").see("Allocation")
}

// A queue view that is come back to goes on asking: its polls ended when it was left.
func TestQueueDetailPollsAgainWhenComeBackTo(t *testing.T) {
	asked := 0
	e := &fakeEngine{held: func(engine.MessageQueue, int) ([]engine.HeldMessage, error) {
		asked++
		return nil, nil
	}}
	o := defaultOptions()
	o.Inspect = fixtureCluster()
	for _, away := range []string{"findings order-settle", "stack order-settle c1", "log"} {
		d := drive(t, 120, 36, o, e).keys("enter")
		if d.a.shown != page.ViewQueue || asked == 0 {
			t.Fatalf("shown %v, asked %d times", d.a.shown, asked)
		}
		d.keys(":").typing(away).keys("enter")
		if d.a.shown == page.ViewQueue {
			t.Fatalf("%s leads nowhere:\n%s", away, d.frame())
		}
		asked = 0
		d.send(pollDueMsg{d.a.poll})
		if asked != 0 {
			t.Errorf("%s: the cache is read where nobody sees it", away)
		}
		if d.keys("q"); d.a.shown != page.ViewQueue || asked != 1 {
			t.Errorf("%s: back at %v, asked %d times, want once", away, d.a.shown, asked)
		}
		if d.send(pollDueMsg{d.a.poll}); asked != 2 {
			t.Errorf("%s: asked %d times, want it to go on", away, asked)
		}
	}
}

// What is listed was read before what is counted: nobody says "empty" below "6 cached".
func TestACacheThatFillsIsNotCalledEmpty(t *testing.T) {
	s := fixture(0)
	d := withSnapshot(t, 120, 36, s).keys("enter")
	d.send(live.HeldMsg{MQ: d.a.queue.MQ})
	d.see("cached ─").miss("the cache is empty").see("reading the cache …")
	for i := range s.Queues {
		s.Queues[i].CachedCount = 0
	}
	d = withSnapshot(t, 120, 36, s).keys("enter")
	d.send(live.HeldMsg{MQ: d.a.queue.MQ})
	d.see("the cache is empty")
}
