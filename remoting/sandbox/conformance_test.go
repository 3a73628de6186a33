package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// The tests of these files run one body for each imitated behaviour over the
// sandbox of both lines and over the real brokers that are configured, so that
// what the sandbox imitates is what brokers do.

// fixture is a client, a topic on every master and a group, and the first
// master's first queue, with which most behaviours are shown.
type fixture struct {
	*sandboxtest.Target
	t     *testing.T
	c     *remoting.Client
	topic string
	group string
	mq    protocol.MessageQueue
	addr  string
}

func newFixture(t *testing.T, tg *sandboxtest.Target, queues int32) *fixture {
	t.Helper()
	tg.Patience = sandboxtest.Patience
	f := &fixture{Target: tg, t: t, c: tg.Client(t, nil), topic: tg.Topic(t, queues), group: tg.Group(t)}
	route, err := f.c.Route(t.Context(), f.topic)
	if err != nil {
		t.Fatal(err)
	}
	f.mq = route.Queues[0]
	f.addr, _ = f.c.BrokerAddr(f.mq.BrokerName, remoting.MasterID)
	return f
}

// invalid is the code for a refused argument.
func (f *fixture) invalid() protocol.ResponseCode {
	if f.Line == "4" {
		return protocol.SystemError
	}
	return protocol.InvalidParameter
}

// codeOf is the answer's code, whatever it was wrapped in.
func codeOf(t *testing.T, err error) protocol.ResponseCode {
	t.Helper()
	if err == nil {
		return protocol.Success
	}
	ce, ok := errors.AsType[*remoting.CodeError](err)
	if !ok {
		t.Fatalf("got error %v, want an answer", err)
	}
	return ce.Code
}

func (f *fixture) wantCode(what string, err error, want protocol.ResponseCode) {
	f.t.Helper()
	if got := codeOf(f.t, err); got != want {
		f.t.Errorf("%s: got code %v (%v), want %v", what, got, err, want)
	}
}

// header is a pull of the first queue with its own subscription.
func (f *fixture) header(queueOffset int64) protocol.PullMessageRequestHeader {
	return protocol.PullMessageRequestHeader{
		ConsumerGroup: f.group, Topic: f.topic, QueueID: f.mq.QueueID, QueueOffset: queueOffset, MaxMsgNums: 32,
		SysFlag: protocol.PullSubscription, Subscription: "*", ExpressionType: protocol.ExpressionTAG,
	}
}

// pull gives the answer, be it a pull status or a refusal.
func (f *fixture) pull(h protocol.PullMessageRequestHeader) (protocol.Command, remoting.PullResult) {
	f.t.Helper()
	a := f.ask(h)
	if a.err != nil {
		f.t.Fatal(a.err)
	}
	r, err := remoting.ParsePullReply(&a.Command, f.addr)
	if err != nil && codeOf(f.t, err) == protocol.Success {
		f.t.Fatal(err)
	}
	return a.Command, r
}

// pullAnswer is what ask has got.
type pullAnswer struct {
	protocol.Command
	err error
}

// ask is pull for any goroutine. A broker looks at the pulls it holds now and then
// only, so an answer may come late.
func (f *fixture) ask(h protocol.PullMessageRequestHeader) pullAnswer {
	ctx, cancel := context.WithTimeout(f.t.Context(), h.SuspendTimeout+time.Minute)
	defer cancel()
	conn, err := f.c.Conn(ctx, f.addr)
	if err != nil {
		return pullAnswer{err: err}
	}
	cmd, err := conn.Invoke(ctx, &protocol.Command{Code: int32(protocol.PullMessage), ExtFields: protocol.EncodeFields(&h)})
	return pullAnswer{cmd, err}
}

// begin asks on a goroutine of its own.
func (f *fixture) begin(h protocol.PullMessageRequestHeader) <-chan pullAnswer {
	answers := make(chan pullAnswer, 1)
	go func() { answers <- f.ask(h) }()
	return answers
}

func (f *fixture) messages(r remoting.PullResult) []protocol.MessageExt {
	f.t.Helper()
	return messagesOf(f.t, r.Body, f.mq.BrokerName)
}

func messagesOf(t *testing.T, body []byte, brokerName string) []protocol.MessageExt {
	t.Helper()
	messages, err := protocol.AppendMessages(nil, body, &protocol.MessageSource{BrokerName: brokerName})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// pullOne waits for the message at a queue offset. A broker holds each question for
// it so long, and is asked again when it is late.
func (f *fixture) pullOne(mq protocol.MessageQueue, queueOffset int64, held time.Duration) protocol.MessageExt {
	f.t.Helper()
	h := f.header(queueOffset)
	h.Topic, h.QueueID, h.MaxMsgNums = mq.Topic, mq.QueueID, 1
	h.SysFlag |= protocol.PullSuspend
	h.SuspendTimeout = held
	var messages []protocol.MessageExt
	sandboxtest.Await(f.t, fmt.Sprintf("the message at %d of %v", queueOffset, mq), func(ctx context.Context) bool {
		r, err := f.c.Pull(ctx, f.addr, &h)
		if err != nil {
			f.t.Fatalf("pull %v at %d: %v", mq, queueOffset, err)
		}
		messages = f.messages(r)
		return r.Status != remoting.PullNoNewMessage
	})
	if len(messages) != 1 {
		f.t.Fatalf("pull %v at %d: got %d messages, want 1", mq, queueOffset, len(messages))
	}
	return messages[0]
}

// notices is a handler that keeps what the broker sends.
type notices chan protocol.Command

func (n notices) HandleRequest(_ *remoting.Conn, req protocol.Command) {
	select {
	case n <- req:
	default:
	}
}

// receive waits for the next one, at most that long.
func (n notices) receive(wait time.Duration) (protocol.Command, bool) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	select {
	case cmd := <-n:
		return cmd, true
	case <-limit.C:
		return protocol.Command{}, false
	}
}

// member is a client that sends heartbeats.
type member struct {
	f       *fixture
	id      string
	c       *remoting.Client
	notices notices
}

func (f *fixture) member(id string) *member {
	n := make(notices, 16)
	return &member{f: f, id: id, c: f.Target.Client(f.t, n), notices: n}
}

// join sends a heartbeat for the fixture's group with TAG expressions by topic.
func (m *member) join(subVersion int64, subscriptions map[string]string) {
	m.f.t.Helper()
	data := protocol.ConsumerData{
		GroupName: m.f.group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
		ConsumeFromWhere: protocol.ConsumeFromFirstOffset,
	}
	for topic, expression := range subscriptions {
		s, err := protocol.NewSubscriptionData(topic, expression)
		if err != nil {
			m.f.t.Fatal(err)
		}
		s.SubVersion = subVersion
		data.SubscriptionDataSet = append(data.SubscriptionDataSet, s)
	}
	m.beat(data)
}

func (m *member) beat(data protocol.ConsumerData) {
	m.f.t.Helper()
	_, err := m.c.Heartbeat(m.f.t.Context(), m.f.addr, &protocol.HeartbeatData{ClientID: m.id, ConsumerDataSet: []protocol.ConsumerData{data}})
	if err != nil {
		m.f.t.Fatalf("heartbeat of %s: %v", m.id, err)
	}
}

// wantNotice waits for 40.
func (m *member) wantNotice(why string) {
	m.f.t.Helper()
	cmd, ok := m.notices.receive(10 * time.Second)
	if !ok {
		m.f.t.Errorf("%s: member %s got no notice", why, m.id)
		return
	}
	var h protocol.ConsumerGroupRequestHeader
	err := protocol.DecodeFields(cmd.ExtFields, &h)
	if cmd.Code != int32(protocol.NotifyConsumerIDsChanged) || !cmd.IsOneway() || err != nil || h.ConsumerGroup != m.f.group {
		m.f.t.Errorf("%s: member %s got %v %v", why, m.id, protocol.RequestCode(cmd.Code), cmd.ExtFields)
	}
}

// wantQuiet checks that no notice comes.
func (m *member) wantQuiet(why string) {
	m.f.t.Helper()
	if cmd, ok := m.notices.receive(500 * time.Millisecond); ok {
		m.f.t.Errorf("%s: member %s got %v", why, m.id, protocol.RequestCode(cmd.Code))
	}
}

// send sends one message to the fixture's queue.
func (f *fixture) send(body string, properties ...protocol.Property) remoting.SendResult {
	f.t.Helper()
	return sandboxtest.Send(f.t, f.c, f.mq, protocol.BatchItem{Body: []byte(body), Properties: properties})
}

// letPass gives a real broker the time to take a pull in hand, which nothing
// tells, or sets messages apart in time.
func letPass(d time.Duration) { <-time.After(d) }

func tag(name string) protocol.Property {
	return protocol.Property{Name: protocol.PropertyTags, Value: name}
}

func bodies(t *testing.T, messages []protocol.MessageExt) []string {
	t.Helper()
	var out []string
	for i := range messages {
		body, err := messages[i].Body()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(body))
	}
	return out
}

// wantSameText compares lists by their text.
func wantSameText(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}
