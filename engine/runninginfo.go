package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// onRunningInfo answers 307 from what is published; it asks nobody (trap T37).
func (e *Engine) onRunningInfo(ctx context.Context, req *protocol.Command) ([]byte, error) {
	var h protocol.ConsumerRunningInfoRequestHeader
	if err := protocol.DecodeFields(req.ExtFields, &h); err != nil {
		return nil, err
	}
	if err := e.notHere(h.ConsumerGroup); err != nil {
		return nil, err
	}
	e.refreshQueues(ctx)
	b := e.base.Load()
	info := protocol.ConsumerRunningInfo{
		Properties: e.properties(b), SubscriptionSet: slices.Clone(e.subscriptions()),
		MQTable: map[MessageQueue]protocol.ProcessQueueInfo{}, MQPopTable: map[MessageQueue]protocol.PopProcessQueueInfo{},
		StatusTable: map[string]protocol.ConsumeStatus{}, UserConsumerInfo: map[string]string{},
	}
	slices.SortFunc(info.SubscriptionSet, func(a, b protocol.SubscriptionData) int {
		return protocol.CompareUTF16(a.Topic+"@"+a.SubString, b.Topic+"@"+b.SubString)
	})
	now := time.Now()
	for _, q := range b.own {
		// A queue whose lock or offset is still waited for is not in Java's table: its
		// old owner says that it has it.
		if s := q.snap.Load(); s.State != QueueTaking {
			info.MQTable[q.mq] = e.processQueueInfo(s, now)
		}
	}
	e.eachStats(func(topic string, s *topicStats) { info.StatusTable[topic] = s.rates() })
	if h.JstackEnable {
		info.Jstack = stacks()
	}
	return protocol.EncodeRunningInfo(&info), nil
}

// processQueueInfo puts a queue in Java's terms.
func (e *Engine) processQueueInfo(s *QueueSnapshot, now time.Time) protocol.ProcessQueueInfo {
	zero := func(v int64) int64 { return max(v, 0) }
	// What has not happened yet has happened when the queue was taken, as in Java: a
	// time of 0 reads as a queue that has not moved for half a century.
	since := func(t time.Time) int64 {
		if t.Before(s.TakenAt) {
			t = s.TakenAt
		}
		return t.UnixMilli()
	}
	info := protocol.ProcessQueueInfo{
		CommitOffset: zero(s.CommittedOffset), CachedMsgCount: int32(s.CachedCount - s.Consuming),
		CachedMsgSizeInMiB:      int32(s.BodyBytes >> 20),
		TransactionMsgMinOffset: zero(s.ConsumingMin), TransactionMsgMaxOffset: zero(s.ConsumingMax), TransactionMsgCount: int32(s.Consuming),
		Locked: s.Locked, LastLockTimestamp: since(s.LockedAt), Dropped: s.State == QueueDropping,
		LastPullTimestamp: since(s.LastPull), LastConsumeTimestamp: since(s.LastConsume),
	}
	if !e.o.Orderly || e.o.MessageModel == protocol.Broadcasting {
		// No lock is asked for: Java says that there is one, from the beginning on.
		info.Locked, info.LastLockTimestamp = true, s.TakenAt.UnixMilli()
	} else if info.Dropped && s.Consuming > 0 {
		// It waits for its listener. Java tries anew in each rebalance and counts.
		info.TryUnlockTimes = 1 + int64(now.Sub(s.StateSince)/e.o.RebalanceInterval)
	}
	if info.CachedMsgCount > 0 { // Java's cache is what is not in the consuming part
		info.CachedMsgMinOffset, info.CachedMsgMaxOffset = s.CachedMax-s.Span, s.CachedMax
	}
	return info
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

// javaTimestamp is how Java writes consumeTimestamp.
const javaTimestamp = "20060102150405"

// properties are what admin tools read in a running info: the fields of a Java
// consumer (those of 5.x, which has all of 4.9's) by their names, and the PROP_
// keys. Those that have no meaning here say what is true of this engine.
func (e *Engine) properties(b *base) map[string]string {
	o := &e.o
	addrs, _ := e.d.Client.Namesrv()
	ip, instance, named := strings.Cut(e.clientID, "@")
	if !named || o.ClientID != "" {
		ip, instance = localIP(), e.clientID
	}
	from := o.ConsumeTimestamp
	if from.IsZero() { // Java: half an hour before the object was made
		from = b.started.Add(-30 * time.Minute)
	}
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return map[string]string{
		"PROP_NAMESERVER_ADDR":          strings.Join(addrs, ";") + ";",
		"PROP_THREADPOOL_CORE_SIZE":     strconv.Itoa(o.ConsumeThreadMin),
		"PROP_CONSUMEORDERLY":           strconv.FormatBool(o.Orderly),
		"PROP_CONSUME_TYPE":             protocol.ConsumePassively.String(),
		"PROP_CLIENT_VERSION":           protocol.VersionName,
		"PROP_CONSUMER_START_TIMESTAMP": number(b.started.UnixMilli()),

		"consumerGroup":                 o.Group,
		"messageModel":                  o.MessageModel.String(),
		"consumeFromWhere":              o.ConsumeFromWhere.String(),
		"consumeTimestamp":              from.Format(javaTimestamp),
		"allocateMessageQueueStrategy":  o.Strategy.Name(),
		"subscription":                  "{}", // Java's old map; the subscriptions have a table of their own
		"messageListener":               objectText(e.d.Listener),
		"offsetStore":                   objectText(e.d.Store),
		"defaultMQPushConsumerImpl":     objectText(e),
		"consumeThreadMin":              strconv.Itoa(o.ConsumeThreadMin),
		"consumeThreadMax":              strconv.Itoa(o.ConsumeThreadMax),
		"adjustThreadPoolNumsThreshold": "100000",
		"consumeConcurrentlyMaxSpan":    number(o.ConsumeConcurrentlyMaxSpan),
		"pullThresholdForQueue":         number(o.PullThresholdForQueue),
		"pullThresholdSizeForQueue":     number(o.PullThresholdSizeForQueue),
		"pullThresholdForTopic":         number(o.PullThresholdForTopic),
		"pullThresholdSizeForTopic":     number(o.PullThresholdSizeForTopic),
		"pullInterval":                  millis(o.PullInterval),
		"consumeMessageBatchMaxSize":    strconv.Itoa(o.ConsumeMessageBatchMaxSize),
		"pullBatchSize":                 strconv.Itoa(o.PullBatchSize),
		"pullBatchSizeInBytes":          number(int64(pullBatchBytes(o.PullBatchSize))),
		"postSubscriptionWhenPull":      "false",
		"maxReconsumeTimes":             number(int64(o.MaxReconsumeTimes)),
		"suspendCurrentQueueTimeMillis": millis(o.SuspendCurrentQueueTime),
		"consumeTimeout":                number(int64(o.ConsumeTimeout / time.Minute)),

		"awaitTerminationMillisWhenShutdown":  millis(o.AwaitTermination),
		"persistConsumerOffsetInterval":       millis(o.PersistInterval),
		"heartbeatBrokerInterval":             millis(o.HeartbeatInterval),
		"pollNameServerInterval":              millis(remoting.RouteMaxAge),
		"pullTimeDelayMillsWhenException":     "1000",
		"mqClientApiTimeout":                  millis(callTimeout),
		"namesrvAddr":                         strings.Join(addrs, ";"),
		"namespaceInitialized":                "true",
		"clientIP":                            ip,
		"instanceName":                        instance,
		"language":                            protocol.LanguageGo.String(),
		"clientCallbackExecutorThreads":       strconv.Itoa(runtime.GOMAXPROCS(0)),
		"accessChannel":                       "LOCAL",
		"clientRebalance":                     "true",
		"popInvisibleTime":                    "60000",
		"popBatchNums":                        "32",
		"popThresholdForQueue":                "96",
		"decodeReadBody":                      "true",
		"decodeDecompressBody":                "true",
		"enableHeartbeatChannelEventListener": "true",
		"enableConcurrentHeartbeat":           "true", // this and the next two are of 5.5
		"concurrentHeartbeatThreadPoolSize":   strconv.Itoa(runtime.GOMAXPROCS(0)),
		"maxPageSizeInGetMetadata":            "2000",
		"enableStreamRequestType":             "false",
		"enableTrace":                         "false",
		"traceMsgBatchNum":                    "10",
		"unitMode":                            "false",
		"useHeartbeatV2":                      "false",
		"useTLS":                              "false",
		"vipChannelEnabled":                   strconv.FormatBool(e.d.Client.VIPChannel()),
		"sendLatencyEnable":                   "false",
		"startDetectorEnable":                 "false",
		"detectInterval":                      "2000",
		"detectTimeout":                       "200",
		"socksProxyConfig":                    "{}",
	}
}

// objectText names an object as far as it is anybody's business.
func objectText(v any) string {
	if s, ok := v.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", v)
}
