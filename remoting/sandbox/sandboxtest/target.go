package sandboxtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox"
)

// The environment that names real clusters.
const (
	// clustersEnv holds entries like "5.3.3=127.0.0.1:9876,4.9.7=127.0.0.1:9877".
	clustersEnv = "EYEQ_TEST_NAMESRV"
	// requireEnv, when 1, turns the skip for want of a real cluster into a failure.
	requireEnv = "EYEQ_TEST_REQUIRE_BROKER"
)

// Target is a cluster that a behaviour test runs against.
type Target struct {
	Name    string   // "sandbox", "sandbox-4" (imitating 4.9), or a real broker's version
	Namesrv []string // for remoting.Options
	// Dial is for remoting.Options; nil is TCP.
	Dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	Line    string           // "4" or "5"
	Sandbox *sandbox.Sandbox // nil for a real cluster
	// Signer and TLS are for the clients of brokers with access control or TLS.
	Signer *protocol.Signer
	TLS    *tls.Config
	// VIPChannel is for the clients made from here on, as is Patience, for which those
	// with a handler wait for an answer of a real broker; zero is as long as members do.
	VIPChannel bool
	Patience   time.Duration

	admin *remoting.Client
}

// Patience is for how long tests wait for one answer of a real broker, which stands
// still now and then on a busy machine.
const Patience = 30 * time.Second

// Worlds are kinds of targets; & gives what two have in common.
type Worlds uint8

const (
	sandbox5 Worlds = 1 << iota
	sandbox4
	real5
	real4

	// Alone is for a body that looks at the whole process or changes it: no other test
	// runs beside its real half, where those of Run run beside each other.
	Alone

	Sandboxes = sandbox5 | sandbox4
	Real      = real5 | real4
	Line5     = sandbox5 | real5
	Line4     = sandbox4 | real4
)

// Run runs body over the sandbox of either line (inside a synctest bubble) and
// over each real cluster named by EYEQ_TEST_NAMESRV, as subtests. Inside a body
// t.Run is not allowed, and only the sandbox's time is free.
func Run(t *testing.T, body func(t *testing.T, target *Target)) {
	t.Helper()
	RunIn(t, Sandboxes|Real, body)
}

// RunSandbox is Run over the sandbox of either line only, for what real brokers are
// not made to do: faults, several brokers.
func RunSandbox(t *testing.T, body func(t *testing.T, target *Target), opts ...Option) {
	t.Helper()
	RunIn(t, Sandboxes, body, opts...)
}

// RunIn is Run over some kinds of targets only, for what the others do not have. Those
// get no subtest, so that none passes that has checked nothing.
func RunIn(t *testing.T, in Worlds, body func(t *testing.T, target *Target), opts ...Option) {
	t.Helper()
	if in&sandbox5 != 0 {
		runSandbox(t, "sandbox", "5", body, opts...)
	}
	if in&sandbox4 != 0 {
		runSandbox(t, "sandbox-4", "4", body, opts...)
	}
	if in&Real != 0 {
		runReal(t, in, body)
	}
}

func runReal(t *testing.T, in Worlds, body func(t *testing.T, target *Target)) {
	t.Helper()
	clusters := os.Getenv(clustersEnv)
	if clusters == "" {
		t.Run("real", func(t *testing.T) {
			reason := clustersEnv + " names no real cluster"
			if os.Getenv(requireEnv) == "1" {
				t.Fatal(reason)
			}
			t.Skip(reason)
		})
		return
	}
	if in&Alone == 0 {
		t.Parallel()
	}
	for entry := range strings.SplitSeq(clusters, ",") {
		version, addrs, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok || version == "" || addrs == "" {
			t.Fatalf("%s: entry %q, want VERSION=HOST:PORT", clustersEnv, entry)
		}
		line := version[:1]
		if line == "4" && in&real4 == 0 || line != "4" && in&real5 == 0 {
			continue
		}
		t.Run(version, func(t *testing.T) {
			if in&Alone == 0 {
				t.Parallel()
			}
			target := &Target{Name: version, Namesrv: strings.Split(addrs, ";"), Line: line}
			target.admin = target.Client(t, nil)
			target.sweep(t)
			body(t, target)
		})
	}
}

func runSandbox(t *testing.T, name, line string, body func(*testing.T, *Target), opts ...Option) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sb := Start(t, append(opts[:len(opts):len(opts)], Line(line))...)
			target := &Target{Name: name, Namesrv: []string{sb.NamesrvAddr()}, Dial: sb.Dial, Line: line, Sandbox: sb}
			target.admin = target.Client(t, nil)
			body(t, target)
		})
	})
}

// Client makes a client of the target that is closed at the end of the test; h
// gets the brokers' requests and may be nil.
func (tg *Target) Client(t testing.TB, h remoting.Handler) *remoting.Client {
	t.Helper()
	o := remoting.Options{Namesrv: tg.Namesrv, Dial: tg.Dial, Handler: h, VIPChannel: tg.VIPChannel, Signer: tg.Signer, TLS: tg.TLS}
	switch {
	case tg.Sandbox != nil || tg.Dial != nil:
	case h == nil: // a test that asks
		o.CallTimeout = Patience
	default:
		o.CallTimeout = tg.Patience
	}
	return newClient(t, o)
}

// Since reports whether the target's brokers are of this version, such as
// "5.4.0", or of a newer one. The sandbox imitates 5.3.3, or 4.9.7.
func (tg *Target) Since(version string) bool {
	name := tg.Name
	switch {
	case tg.Sandbox != nil && tg.Line == "4":
		name = "4.9.7"
	case tg.Sandbox != nil || tg.Dial != nil:
		name = "5.3.3"
	}
	return slices.Compare(numbers(name), numbers(version)) >= 0
}

// numbers are the parts of a version; what is no number counts as 0.
func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		all = append(all, n)
	}
	return all
}

// Masters are the addresses of the target's masters by broker name.
func (tg *Target) Masters(t testing.TB) map[string]string {
	t.Helper()
	masters, err := tg.masters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return masters
}

func (tg *Target) masters(ctx context.Context) (map[string]string, error) {
	info, err := tg.admin.ClusterInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster info: %w", err)
	}
	masters := map[string]string{}
	for name, b := range info.BrokerAddrTable {
		if addr, ok := b.BrokerAddrs[remoting.MasterID]; ok {
			masters[name] = addr
		}
	}
	return masters, nil
}

// Topic makes a topic of a unique name on every master, waits until it has a
// route, and deletes it at the end of the test.
func (tg *Target) Topic(t testing.TB, queues int32) string {
	t.Helper()
	topic := uniqueName(t)
	masters := tg.Masters(t)
	t.Cleanup(func() { tg.deleteTopics(t, topic) })
	for _, addr := range masters {
		h := &protocol.CreateTopicRequestHeader{
			Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: queues, WriteQueueNums: queues, Perm: protocol.PermRead | protocol.PermWrite,
		}
		if err := tg.admin.CreateTopic(t.Context(), addr, h); err != nil {
			t.Fatalf("create topic %s: %v", topic, err)
		}
	}
	tg.AwaitRoute(t, topic, len(masters)*int(queues))
	return topic
}

// Grow gives a topic more queues on every master, and waits until the name
// servers hand them out.
func (tg *Target) Grow(t testing.TB, topic string, queues int32) {
	t.Helper()
	masters := tg.Masters(t)
	for _, addr := range masters {
		h := &protocol.CreateTopicRequestHeader{
			Topic: topic, DefaultTopic: "TBW102", ReadQueueNums: queues, WriteQueueNums: queues, Perm: protocol.PermRead | protocol.PermWrite,
		}
		if err := tg.admin.CreateTopic(t.Context(), addr, h); err != nil {
			t.Fatalf("grow topic %s: %v", topic, err)
		}
	}
	tg.AwaitRoute(t, topic, len(masters)*int(queues))
}

// AwaitRoute waits until the name servers know the topic with at least so many
// readable queues. Topics that a broker makes by itself take a moment too.
func (tg *Target) AwaitRoute(t testing.TB, topic string, queues int) {
	t.Helper()
	var last string
	await(t, fmt.Sprintf("route of %s with %d queues", topic, queues), &last, func(ctx context.Context) bool {
		route, _, err := tg.admin.RefreshRoute(ctx, topic)
		if err != nil {
			last = err.Error()
			return false
		}
		last = fmt.Sprintf("%d queues", len(route.Queues))
		return len(route.Queues) >= queues
	})
}

// Group gives a unique group name; what the cluster knows under it, its retry
// and dead-letter topics included, is deleted at the end of the test.
func (tg *Target) Group(t testing.TB) string {
	t.Helper()
	group := uniqueName(t)
	t.Cleanup(func() {
		ctx, cancel := cleanupContext(t)
		defer cancel()
		masters, err := tg.masters(ctx)
		if err != nil {
			t.Errorf("delete group %s: %v", group, err)
		}
		for _, addr := range masters {
			if err := tg.admin.DeleteGroup(ctx, addr, group); err != nil {
				t.Errorf("delete group %s: %v", group, err)
			}
		}
		tg.deleteTopics(t, protocol.RetryTopic(group), protocol.DLQTopic(group))
	})
	return group
}

func (tg *Target) deleteTopics(t testing.TB, topics ...string) {
	ctx, cancel := cleanupContext(t)
	defer cancel()
	for _, topic := range topics {
		if err := tg.admin.DeleteTopic(ctx, topic); err != nil {
			t.Errorf("delete topic %s: %v", topic, err)
		}
	}
}

// cleanupContext is for cleanup functions, before which the test's own ends.
func cleanupContext(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
}

// producerGroup is whom Produce sends as.
const producerGroup = "eyeq-sandboxtest"

// batchSize is how many messages Produce sends in one request when there are many.
const batchSize = 64

// Produce sends n messages through the wire: message i has the body "message i",
// the key "key-i" and the properties given, and goes to the i-th queue of the
// topic in turn. More than batchSize of them go in batches. It returns when all
// of them can be pulled.
func (tg *Target) Produce(t testing.TB, topic string, n int, properties ...protocol.Property) {
	t.Helper()
	route, err := tg.admin.Route(t.Context(), topic)
	if err != nil {
		t.Fatalf("produce to %s: %v", topic, err)
	}
	queues := route.PublishQueues
	if len(queues) == 0 {
		t.Fatalf("produce to %s: no queue to write to", topic)
	}
	waiting := make([][]protocol.BatchItem, len(queues))
	ends := make(protocol.OffsetTable, len(queues))
	for i := range n {
		q := i % len(queues)
		waiting[q] = append(waiting[q], keyedMessage(i, properties))
		if n <= batchSize || len(waiting[q]) == batchSize {
			ends[queues[q]] = tg.send(t, queues[q], waiting[q])
			waiting[q] = nil
		}
	}
	for q, items := range waiting {
		if len(items) > 0 {
			ends[queues[q]] = tg.send(t, queues[q], items)
		}
	}
	for mq, end := range ends {
		tg.AwaitOffset(t, mq, end)
	}
}

// AwaitOffset waits until a queue's maximum offset is at least end: a real
// broker puts a stored message into its queue a moment after the send's answer.
func (tg *Target) AwaitOffset(t testing.TB, mq protocol.MessageQueue, end int64) {
	t.Helper()
	var last string
	what := fmt.Sprintf("maximum offset %d of %v", end, mq)
	await(t, what, &last, func(ctx context.Context) bool {
		got, err := tg.admin.MaxOffset(ctx, mq)
		last = fmt.Sprintf("%d (%v)", got, err)
		return err == nil && got >= end
	})
}

func keyedMessage(i int, properties []protocol.Property) protocol.BatchItem {
	own := []protocol.Property{{Name: protocol.PropertyKeys, Value: fmt.Sprintf("key-%d", i)}}
	return protocol.BatchItem{Body: fmt.Appendf(nil, "message %d", i), Properties: append(own, properties...)}
}

// send returns the queue offset after the last message.
func (tg *Target) send(t testing.TB, mq protocol.MessageQueue, items []protocol.BatchItem) int64 {
	t.Helper()
	r := Send(t, tg.admin, mq, items...)
	return r.QueueOffset + int64(len(items))
}

// Send sends one message, or several in one request, and fails the test if that
// fails; a broker that is too busy for the moment is asked again.
func Send(t testing.TB, c *remoting.Client, mq protocol.MessageQueue, items ...protocol.BatchItem) remoting.SendResult {
	t.Helper()
	var r remoting.SendResult
	err := AwaitNotBusy(t, fmt.Sprintf("send of %d messages to %v", len(items), mq), func(ctx context.Context) (err error) {
		if len(items) == 1 {
			m := &remoting.OutMessage{Topic: mq.Topic, Flag: items[0].Flag, Body: items[0].Body, Properties: items[0].Properties}
			r, err = c.Send(ctx, producerGroup, mq, m)
		} else {
			r, err = c.SendBatch(ctx, producerGroup, mq, items)
		}
		return err
	})
	if err != nil {
		t.Fatalf("send %d messages to %v: %v", len(items), mq, err)
	}
	return r
}

// SendInnerBatch stores messages as one record of a topic with the attribute
// queue.type=BatchCQ (5.x). That takes an id of the batch's own, as Java's producer gives
// it (MessageBatch): without it the broker stores them one by one.
func (tg *Target) SendInnerBatch(t testing.TB, c *remoting.Client, mq protocol.MessageQueue, id string, items ...protocol.BatchItem) {
	t.Helper()
	body, err := protocol.AppendBatch(nil, items)
	if err != nil {
		t.Fatal(err)
	}
	h := protocol.SendMessageRequestHeader{ProducerGroup: producerGroup, Topic: mq.Topic, DefaultTopic: "TBW102", DefaultTopicQueueNums: 1, QueueID: mq.QueueID,
		Born: time.Now(), Batch: true, BrokerName: mq.BrokerName, Properties: protocol.PropertyUniqKey + "\x01" + id + "\x02"}
	err = AwaitNotBusy(t, fmt.Sprintf("send of a batch to %v", mq), func(ctx context.Context) error {
		_, err := c.Invoke(ctx, tg.Masters(t)[mq.BrokerName], &protocol.Command{Code: int32(protocol.SendBatchMessage), ExtFields: h.FieldsV2(), Body: body})
		return err
	})
	if err != nil {
		t.Fatalf("send a batch to %v: %v", mq, err)
	}
}

// AwaitNotBusy makes a call again while the broker is too busy for it, and gives what
// came of it: one on a loaded machine refuses what waited 200 ms to be stored.
func AwaitNotBusy(t testing.TB, what string, call func(ctx context.Context) error) (err error) {
	t.Helper()
	var last string
	await(t, what, &last, func(ctx context.Context) bool {
		err = call(ctx)
		last = fmt.Sprint(err)
		ce, ok := errors.AsType[*remoting.CodeError](err)
		return !ok || ce.Code != protocol.SystemBusy
	})
	return err
}
