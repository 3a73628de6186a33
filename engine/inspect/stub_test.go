package inspect_test

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
	"eyeq/remoting/sandbox/sandboxtest"
)

// stub is a member of a group that pulls and commits by itself, one message of each
// queue a tick. One that heeds a reset goes where it is told to; one that does not goes
// on as if nothing had happened.
type stub struct {
	t      *testing.T
	client *remoting.Client
	group  string
	id     string
	heeds  bool
	still  bool                       // it holds its queues and pulls nothing
	says   *protocol.ProcessQueueInfo // of each of its queues; nil: what is so
	begins chan struct{}              // it pulls once this is closed; nil: at once
	pop    bool                       // it says that brokers give it messages
	filter string                     // what it subscribes by; "" is all
	model  protocol.MessageModel
	jstack string
	// properties are what it says of its settings.
	properties           map[string]string
	subscribed           []protocol.SubscriptionData
	infoless, statusless bool // it answers 307 without running info, 221 not at all

	mu       sync.Mutex // guards what follows
	position map[protocol.MessageQueue]int64
	consumed map[protocol.MessageQueue]time.Time
	refused  int // pulls
	stacks   int // it was asked for
	infos    int // as are its running infos
	at       int // the count at which reached is called
	reached  func()
}

const stubTick = time.Second

// newStub joins a group with queues of one topic, at their offset, and goes on until
// the end of the test.
func newStub(t *testing.T, tg *sandboxtest.Target, group, id string, offset int64, mqs []protocol.MessageQueue, how ...func(*stub)) *stub {
	t.Helper()
	s := &stub{t: t, group: group, id: id, position: map[protocol.MessageQueue]int64{}, consumed: map[protocol.MessageQueue]time.Time{}}
	for _, h := range how {
		h(s)
	}
	for _, mq := range mqs {
		s.position[mq], s.consumed[mq] = offset, time.Now().Add(-time.Minute)
	}
	s.client = tg.Client(t, s)
	sub, err := protocol.NewSubscriptionData(mqs[0].Topic, cmp.Or(s.filter, "*"))
	if err != nil {
		t.Fatal(err)
	}
	sub.SubVersion = 1
	s.subscribed = []protocol.SubscriptionData{sub}
	for _, addr := range tg.Masters(t) {
		_, err := s.client.Heartbeat(t.Context(), addr, &protocol.HeartbeatData{ClientID: id, ConsumerDataSet: []protocol.ConsumerData{{
			GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: cmp.Or(s.model, protocol.Clustering),
			ConsumeFromWhere: protocol.ConsumeFromFirstOffset, SubscriptionDataSet: []protocol.SubscriptionData{sub},
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return s
}

func heeding(s *stub) { s.heeds = true }

func (s *stub) run(ctx context.Context) {
	if s.begins != nil {
		select {
		case <-s.begins:
		case <-ctx.Done():
			return
		}
	}
	tick := time.NewTicker(stubTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for mq := range s.positions() {
				s.step(ctx, mq)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *stub) positions() map[protocol.MessageQueue]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[protocol.MessageQueue]int64{}
	for mq, offset := range s.position {
		all[mq] = offset
	}
	return all
}

// step pulls one message of a queue, and commits.
func (s *stub) step(ctx context.Context, mq protocol.MessageQueue) {
	if s.still {
		return
	}
	addr, err := s.client.MasterOf(ctx, mq)
	if err != nil {
		return // the test ends
	}
	was := s.positions()[mq]
	at := was
	res, err := s.client.Pull(ctx, addr, &protocol.PullMessageRequestHeader{
		ConsumerGroup: s.group, Topic: mq.Topic, QueueID: mq.QueueID, QueueOffset: at, MaxMsgNums: 1, SubVersion: 1, BrokerName: mq.BrokerName,
	})
	s.mu.Lock()
	switch {
	case err != nil:
		s.refused++
	case res.Status == remoting.PullFound:
		at++
		s.consumed[mq] = time.Now()
	case res.Status == remoting.PullOffsetIllegal && s.heeds:
		at = res.NextBeginOffset
		s.consumed[mq] = time.Now()
	}
	if s.position[mq] != was { // told to go elsewhere meanwhile
		at = s.position[mq]
	}
	s.position[mq] = at
	s.mu.Unlock()
	if err == nil {
		_ = s.client.UpdateConsumerOffset(ctx, s.group, mq, at) // shows in what the test looks for
	}
}

// HandleRequest answers 307, and heeds 220 or not.
func (s *stub) HandleRequest(c *remoting.Conn, req protocol.Command) {
	switch protocol.RequestCode(req.Code) {
	case protocol.GetConsumerStatusFromClient:
		if s.statusless {
			return
		}
		topic, _ := req.ExtFields.Get("topic")
		table := protocol.OffsetTable{}
		for mq, at := range s.positions() {
			if mq.Topic == topic {
				table[mq] = at
			}
		}
		_ = c.Respond(&req, &protocol.Command{Body: protocol.EncodeConsumerStatus(table)}) // a test that ends
	case protocol.GetConsumerRunningInfo:
		s.countInfo()
		if s.infoless { // as rocketmq-client-go 2.1.2 does
			_ = c.Respond(&req, &protocol.Command{Remark: "json marshal error: json: unsupported value: NaN"})
			return
		}
		info := protocol.ConsumerRunningInfo{MQTable: map[protocol.MessageQueue]protocol.ProcessQueueInfo{}, Properties: s.properties, SubscriptionSet: s.subscribed}
		for mq, at := range s.positions() {
			if s.pop {
				if info.MQPopTable == nil {
					info.MQPopTable = map[protocol.MessageQueue]protocol.PopProcessQueueInfo{}
				}
				mq.QueueID = -1
				info.MQPopTable[mq] = protocol.PopProcessQueueInfo{WaitAckCount: 3}
				continue
			}
			if s.says != nil {
				info.MQTable[mq] = *s.says
				continue
			}
			info.MQTable[mq] = protocol.ProcessQueueInfo{CommitOffset: at, LastPullTimestamp: time.Now().UnixMilli(), LastConsumeTimestamp: s.lastConsumed(mq).UnixMilli()}
		}
		if stack, _ := req.ExtFields.Get("jstackEnable"); stack == "true" {
			s.mu.Lock()
			s.stacks++
			s.mu.Unlock()
			info.Jstack = s.jstack
		}
		_ = c.Respond(&req, &protocol.Command{Body: protocol.EncodeRunningInfo(&info)}) // a test that ends
	case protocol.ResetConsumerClientOffset:
		table, err := protocol.DecodeResetOffset(req.Body)
		if err != nil || !s.heeds {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for mq, to := range table {
			s.position[mq], s.consumed[mq] = to, time.Now()
		}
	}
}

// askedForInfo tells how often it was asked for its running info.
func (s *stub) askedForInfo() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.infos
}

// whenAsked has f called when it was asked that often.
func (s *stub) whenAsked(times int, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.reached = times, f
}

func (s *stub) countInfo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.infos++; s.reached != nil && s.infos == s.at {
		s.reached()
	}
}

func (s *stub) askedForStack() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stacks
}

func (s *stub) lastConsumed(mq protocol.MessageQueue) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.consumed[mq]
}
