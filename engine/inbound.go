package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Inbound receives the brokers' requests of one client (40, 220, 221, 307, 309)
// and hands them to its engine. It exists before the client, which needs it as
// Handler, and serves one engine.
type Inbound struct{ engine atomic.Pointer[Engine] }

// NewInbound makes the handler to be given to remoting.NewClient and to New.
func NewInbound() *Inbound { return &Inbound{} }

// HandleRequest answers or passes on one request. It returns soon: what takes
// time happens on a goroutine of the engine.
func (i *Inbound) HandleRequest(conn *remoting.Conn, req protocol.Command) {
	e := i.engine.Load()
	if e == nil {
		_ = conn.Respond(&req, fail("no consumer runs here"))
		return
	}
	switch protocol.RequestCode(req.Code) {
	case protocol.NotifyConsumerIDsChanged:
		e.events.publish(MembersChanged{At{Time: time.Now()}, conn.RemoteAddr()})
		e.inbox.put(wakeUp{"members"})
	case protocol.ResetConsumerClientOffset:
		e.onReset(conn, &req)
	case protocol.GetConsumerStatusFromClient:
		e.respond(conn, &req, e.onStatus)
	case protocol.GetConsumerRunningInfo:
		e.inbox.put(inboundWork{func(ctx context.Context) {
			e.refreshQueues(ctx)
			e.respond(conn, &req, e.onRunningInfo)
		}})
	case protocol.ConsumeMessageDirectly:
		e.inbox.put(inboundWork{func(ctx context.Context) {
			e.respond(conn, &req, func(req *protocol.Command) ([]byte, error) { return e.onConsumeDirectly(ctx, req) })
		}})
	default:
		_ = conn.Respond(&req, &protocol.Command{Code: int32(protocol.RequestCodeNotSupported),
			Remark: fmt.Sprintf("request type %d not supported", req.Code)})
	}
}

func fail(remark string) *protocol.Command {
	return &protocol.Command{Code: int32(protocol.SystemError), Remark: remark}
}

// respond answers with what f says and tells of it as an event.
func (e *Engine) respond(conn *remoting.Conn, req *protocol.Command, f func(*protocol.Command) ([]byte, error)) {
	body, err := f(req)
	resp, result := &protocol.Command{Code: int32(protocol.Success), Body: body}, "SUCCESS"
	if err != nil {
		resp, result = fail(err.Error()), err.Error()
	}
	e.events.publish(AdminRequest{At{Time: time.Now()}, req.Code, conn.RemoteAddr(), result})
	_ = conn.Respond(req, resp) // a connection that is gone needs no answer
}

// inboundWork runs something on a goroutine of the engine.
type inboundWork struct{ f func(ctx context.Context) }

func (w inboundWork) apply(ctx context.Context, c *coordinator) {
	c.e.start(func() { w.f(ctx) })
}

// onReset obeys request 220, the reset of 4.x brokers.
func (e *Engine) onReset(conn *remoting.Conn, req *protocol.Command) {
	var h protocol.ResetOffsetRequestHeader
	table, err := protocol.OffsetTable(nil), h.Parse(req.ExtFields)
	if err == nil {
		table, err = protocol.DecodeResetOffset(req.Body)
	}
	result := "SUCCESS"
	switch {
	case err != nil:
		result = err.Error()
	case h.Group != e.o.Group:
		result = "no consumer of group " + h.Group + " runs here"
	default:
		e.inbox.put(brokerReset{table})
	}
	e.events.publish(AdminRequest{At{Time: time.Now()}, req.Code, conn.RemoteAddr(), result})
}

// brokerReset resets those queues of a table that are ours; others are somebody else's.
type brokerReset struct{ table protocol.OffsetTable }

func (b brokerReset) apply(_ context.Context, c *coordinator) {
	for mq, offset := range b.table {
		if q := c.queues[mq]; q != nil && offset >= 0 {
			q.inbox.put(resetQueue{row: ResetRow{MessageQueue: mq, After: offset}, by: "broker", expect: Unknown})
		}
	}
}

// onStatus answers 221: the committed offsets in memory.
func (e *Engine) onStatus(req *protocol.Command) ([]byte, error) {
	var h protocol.ConsumerStatusRequestHeader
	if err := h.Parse(req.ExtFields); err != nil {
		return nil, err
	}
	table := protocol.OffsetTable{}
	if h.Group == e.o.Group {
		for _, q := range e.base.Load().own {
			if o := q.memory.Load(); o != Unknown && (h.Topic == "" || h.Topic == q.mq.Topic) {
				table[q.mq] = o
			}
		}
	}
	return protocol.EncodeConsumerStatus(table), nil
}

// onRunningInfo answers 307 from what is published; it asks nobody (trap T37).
func (e *Engine) onRunningInfo(req *protocol.Command) ([]byte, error) {
	var h protocol.ConsumerRunningInfoRequestHeader
	if err := h.Parse(req.ExtFields); err != nil {
		return nil, err
	}
	if h.ConsumerGroup != e.o.Group {
		return nil, errors.New("the consumer group <" + h.ConsumerGroup + "> does not exist in this client")
	}
	info := protocol.ConsumerRunningInfo{
		Properties: e.properties(), SubscriptionSet: e.subs,
		MQTable: map[MessageQueue]protocol.ProcessQueueInfo{}, StatusTable: map[string]protocol.ConsumeStatus{},
	}
	for _, q := range e.base.Load().own {
		info.MQTable[q.mq] = processQueueInfo(q.snap.Load(), !e.o.Orderly)
	}
	e.eachStats(func(topic string, s *topicStats) { info.StatusTable[topic] = s.status() })
	if h.JstackEnable {
		buf := make([]byte, 1<<20)
		info.Jstack = string(buf[:runtime.Stack(buf, true)])
	}
	return protocol.EncodeRunningInfo(&info), nil
}

// processQueueInfo puts a queue in Java's terms.
func processQueueInfo(s *QueueSnapshot, concurrent bool) protocol.ProcessQueueInfo {
	zero := func(v int64) int64 { return max(v, 0) }
	unix := func(t time.Time) int64 {
		if t.IsZero() {
			return 0
		}
		return t.UnixMilli()
	}
	info := protocol.ProcessQueueInfo{
		CommitOffset: zero(s.CommittedOffset), CachedMsgCount: int32(s.CachedCount - s.Consuming),
		CachedMsgSizeInMiB:      int32(s.BodyBytes >> 20),
		TransactionMsgMinOffset: zero(s.ConsumingMin), TransactionMsgMaxOffset: zero(s.ConsumingMax), TransactionMsgCount: int32(s.Consuming),
		Locked: s.Locked || concurrent, LastLockTimestamp: unix(s.LockedAt), Dropped: s.State == QueueDropping,
		LastPullTimestamp: unix(s.LastPull), LastConsumeTimestamp: unix(s.LastConsume),
	}
	if info.CachedMsgCount > 0 { // Java's cache is what is not in the consuming part
		info.CachedMsgMinOffset, info.CachedMsgMaxOffset = s.CachedMax-s.Span, s.CachedMax
	}
	return info
}

func (t *topicStats) status() protocol.ConsumeStatus {
	rt := t.wConsumeRT.Minute()
	if rt.Sum == 0 {
		rt = t.wConsumeRT.Hour()
	}
	return protocol.ConsumeStatus{
		PullRT: t.wPullRT.Minute().Avg, PullTPS: t.wPulled.Minute().TPS, ConsumeRT: rt.Avg,
		ConsumeOKTPS: t.wOK.Minute().TPS, ConsumeFailedTPS: t.wFailed.Minute().TPS, ConsumeFailedMsgs: t.wFailed.Hour().Sum,
	}
}

// refreshLimit bounds the wait for the queues' own goroutines, which answer at once.
const refreshLimit = time.Second

// refreshQueues lets each queue publish a snapshot of now.
func (e *Engine) refreshQueues(ctx context.Context) {
	own := e.base.Load().own
	done := make(chan struct{}, len(own))
	for _, q := range own {
		q.inbox.put(refresh{done})
	}
	limit := time.NewTimer(refreshLimit)
	defer limit.Stop()
	for _, q := range own {
		select {
		case <-done:
		case <-q.gone:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// properties are what admin tools read in a running info, by Java's names.
func (e *Engine) properties() map[string]string {
	o := &e.o
	addrs, _ := e.d.Client.Namesrv()
	p := map[string]string{
		"PROP_NAMESERVER_ADDR":          strings.Join(addrs, ";") + ";",
		"PROP_THREADPOOL_CORE_SIZE":     strconv.Itoa(o.ConsumeThreadMin),
		"PROP_CONSUMEORDERLY":           strconv.FormatBool(o.Orderly),
		"PROP_CONSUME_TYPE":             protocol.ConsumePassively.String(),
		"PROP_CLIENT_VERSION":           "V4_9_3",
		"PROP_CONSUMER_START_TIMESTAMP": strconv.FormatInt(e.base.Load().started.UnixMilli(), 10),
		"consumerGroup":                 o.Group,
		"messageModel":                  o.MessageModel.String(),
		"consumeFromWhere":              o.ConsumeFromWhere.String(),
		"allocateMessageQueueStrategy":  o.Strategy.Name(),
		"consumeThreadMin":              strconv.Itoa(o.ConsumeThreadMin),
		"consumeThreadMax":              strconv.Itoa(o.ConsumeThreadMax),
		"consumeConcurrentlyMaxSpan":    strconv.FormatInt(o.ConsumeConcurrentlyMaxSpan, 10),
		"pullThresholdForQueue":         strconv.FormatInt(o.PullThresholdForQueue, 10),
		"pullThresholdSizeForQueue":     strconv.FormatInt(o.PullThresholdSizeForQueue, 10),
		"pullThresholdForTopic":         strconv.FormatInt(o.PullThresholdForTopic, 10),
		"pullThresholdSizeForTopic":     strconv.FormatInt(o.PullThresholdSizeForTopic, 10),
		"pullInterval":                  strconv.FormatInt(o.PullInterval.Milliseconds(), 10),
		"consumeMessageBatchMaxSize":    strconv.Itoa(o.ConsumeMessageBatchMaxSize),
		"pullBatchSize":                 strconv.Itoa(o.PullBatchSize),
		"maxReconsumeTimes":             strconv.Itoa(int(o.MaxReconsumeTimes)),
		"suspendCurrentQueueTimeMillis": strconv.FormatInt(o.SuspendCurrentQueueTime.Milliseconds(), 10),
		"consumeTimeout":                strconv.FormatInt(int64(o.ConsumeTimeout/time.Minute), 10),
		"clientIP":                      strings.SplitN(e.clientID, "@", 2)[0],
		"language":                      "GO",
	}
	return p
}

// directLimit is how long a directly consumed message may take; the broker waits 10 s.
const directLimit = 10 * time.Second

// onConsumeDirectly answers 309: the listener gets the one message, beside
// queues, offsets and statistics.
func (e *Engine) onConsumeDirectly(ctx context.Context, req *protocol.Command) ([]byte, error) {
	var h protocol.ConsumeMessageDirectlyRequestHeader
	if err := h.Parse(req.ExtFields); err != nil {
		return nil, err
	}
	if h.ConsumerGroup != e.o.Group {
		return nil, errors.New("the consumer group <" + h.ConsumerGroup + "> does not exist in this client")
	}
	msgs, err := protocol.AppendMessages(nil, req.Body, &protocol.MessageSource{BrokerName: h.BrokerName})
	if err != nil {
		return nil, err
	}
	if len(msgs) != 1 {
		return nil, fmt.Errorf("%d messages in the request, not one", len(msgs))
	}
	ctx, cancel := context.WithTimeout(ctx, directLimit)
	defer cancel()
	cc := ConsumeContext{MessageQueue: msgs[0].MessageQueue(), AutoCommit: true}
	began := time.Now()
	status, cerr := e.d.Listener.Consume(ctx, msgs, &cc)
	r := protocol.ConsumeMessageDirectlyResult{Order: e.o.Orderly, AutoCommit: cc.AutoCommit, SpentTimeMills: time.Since(began).Milliseconds()}
	switch {
	case cerr != nil:
		r.ConsumeResult, r.Remark = "CR_THROW_EXCEPTION", cerr.Error()
	case status == ConsumeSuccess:
		r.ConsumeResult = "CR_SUCCESS"
	case status == ReconsumeLater, status == SuspendCurrentQueueAMoment:
		r.ConsumeResult = "CR_LATER"
	case status == Commit:
		r.ConsumeResult = "CR_COMMIT"
	case status == Rollback:
		r.ConsumeResult = "CR_ROLLBACK"
	default:
		r.ConsumeResult = "CR_RETURN_NULL"
	}
	return protocol.EncodeConsumeDirectlyResult(&r), nil
}
