package inspect

import (
	"slices"
	"strconv"
	"time"

	"eyeq/remoting/protocol"
)

// visited is the moment of the second look of a case.
var visited = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)

// healthy are the facts of a group without a fault: two Java members share four
// queues and the retry queue by AVG, all is consumed, and messages come in.
func healthy() *Facts {
	f := &Facts{Group: "g"}
	for i := range 2 {
		at := visited.Add(time.Duration(i-1) * doctorInterval)
		l := Live{Group: "g", At: at}
		l.Members = Members{Group: "g", At: at, Kind: KindPush, Type: protocol.ConsumePassively, Model: protocol.Clustering}
		l.Lag = GroupLag{Group: "g", At: at, State: StateOnline, Model: protocol.Clustering, Pause: Pause{Of: 1}, Members: Exact(2), Lag: Exact(0), RetryLag: Exact(0), DeadLetters: Exact(0)}
		for id := range int32(4) {
			l.Lag.Queues = append(l.Lag.Queues, lagQueue("orders", id, 0, 1000+int64(i)*60, 1000+int64(i)*60, at))
		}
		l.Lag.Queues = append(l.Lag.Queues, lagQueue("%RETRY%g", 0, 0, 0, 0, at))
		l.Members.Members = []Member{
			javaMember("a", at, mqOf("orders", 0), mqOf("orders", 1), mqOf("%RETRY%g", 0)),
			javaMember("b", at, mqOf("orders", 2), mqOf("orders", 3)),
		}
		f.Samples = append(f.Samples, l)
	}
	f.Detail.Subscriptions = SubscriptionMatrix{
		Members: []string{"a", "b"}, Agree: true,
		Rows: []SubscriptionRow{{Topic: "orders", Type: "TAG", Cells: []string{"*", "*"}, Same: true, Broker: "*"}},
	}
	f.Brokers = Brokers{
		Brokers: []BrokerRow{{Broker: "broker-a", Address: "10.0.0.1:10911", Reachable: true, RTT: time.Millisecond, Disk: 0.4, ClockKnown: true,
			Limits: limitsOfBroker(nil), Perm: Exact(6), PutFailed: Exact(3)}},
		Namesrv: []NamesrvRow{{Address: "10.0.0.9:9876", Reachable: true}},
	}
	f.BrokersLater = Brokers{At: visited, Brokers: slices.Clone(f.Brokers.Brokers)}
	f.Brokers.At = visited.Add(-doctorInterval)
	return f
}

// brokers changes the brokers they are at both looks at them.
func brokers(f *Facts, edit func(i int, b *BrokerRow)) {
	for i, all := range []*Brokers{&f.Brokers, &f.BrokersLater} {
		for k := range all.Brokers {
			edit(i, &all.Brokers[k])
		}
	}
}

// slave adds one to a broker.
func slave(f *Facts, edit func(b *BrokerRow)) {
	b := f.Brokers.Brokers[0]
	b.ID, b.Address, b.Role, b.Behind = 1, "10.0.0.2:10911", "SLAVE", Exact(4096)
	edit(&b)
	f.Brokers.Brokers = append(f.Brokers.Brokers, b)
}

// unread adds queues to a topic that are written to and not read.
func unread(f *Facts, perm int32, messages ...int64) {
	lag(f, func(_ int, l *GroupLag) {
		for i, n := range messages {
			u := UnreadableQueue{MessageQueue: mqOf("orders", 4+int32(i)), Min: Exact(0), Max: Exact(n), Read: 4, Write: 4 + int32(len(messages)), Perm: perm}
			l.Unreadable = append(l.Unreadable, u)
		}
	})
}

func mqOf(topic string, id int32) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: id}
}

func lagQueue(topic string, id int32, minOffset, committed, maxOffset int64, at time.Time) QueueLag {
	return QueueLag{
		MessageQueue: mqOf(topic, id), Retry: isRetry(topic), Min: Exact(minOffset), Max: Exact(maxOffset), Committed: Exact(committed),
		Lag: Exact(maxOffset - committed),
	}
}

// javaMember is a member that has run for an hour and pulled three seconds ago.
func javaMember(id string, at time.Time, queues ...protocol.MessageQueue) Member {
	info := &protocol.ConsumerRunningInfo{
		Properties: map[string]string{
			"PROP_CONSUMER_START_TIMESTAMP": strconv.FormatInt(visited.Add(-time.Hour).UnixMilli(), 10), "PROP_CONSUMEORDERLY": "false",
			"messageModel": "CLUSTERING", "consumeThreadMin": "20", "consumeThreadMax": "20", "consumeMessageBatchMaxSize": "1", "pullBatchSize": "32",
			"consumeFromWhere": "CONSUME_FROM_LAST_OFFSET", "pullThresholdForQueue": "1000", "pullThresholdForTopic": "-1", "pullThresholdSizeForQueue": "100",
			"consumeConcurrentlyMaxSpan": "2000", "consumeTimeout": "15", "persistConsumerOffsetInterval": "5000",
			"allocateMessageQueueStrategy": "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@" + id,
		},
		SubscriptionSet: []protocol.SubscriptionData{{Topic: "%RETRY%g", SubString: "*"}, {Topic: "orders", SubString: "*"}},
		MQTable:         map[protocol.MessageQueue]protocol.ProcessQueueInfo{},
		StatusTable:     map[string]protocol.ConsumeStatus{"orders": {ConsumeRT: 5, ConsumeOKTPS: 10}},
	}
	for _, mq := range queues {
		commit := int64(0)
		if !isRetry(mq.Topic) {
			commit = 1060 + 10*int64(at.Sub(visited)/time.Second)
		}
		info.MQTable[mq] = protocol.ProcessQueueInfo{
			CommitOffset: commit, Locked: true, LastLockTimestamp: visited.Add(-time.Hour).UnixMilli(),
			LastPullTimestamp: at.Add(-3 * time.Second).UnixMilli(), LastConsumeTimestamp: at.Add(-3 * time.Second).UnixMilli(),
		}
	}
	return Member{ClientID: id, Addresses: []string{"10.0.1." + id + ":40000"}, Language: "JAVA", Version: "V5_3_3", Brokers: []string{"broker-a"}, Info: info, InfoAt: at}
}

// The edits by which cases differ from the healthy group. Each changes all samples,
// told its number.

func lagRow(f *Facts, topic string, id int32, edit func(i int, q *QueueLag)) {
	for i := range f.Samples {
		l := &f.Samples[i].Lag
		for k := range l.Queues {
			if q := &l.Queues[k]; q.MessageQueue == mqOf(topic, id) {
				edit(i, q)
				q.Lag = Unknown(q.Max.Why)
				if q.Max.Known {
					from := q.Min.Value
					if q.Committed.Known {
						from = max(q.Committed.Value, from)
						q.Expired = max(q.Min.Value-q.Committed.Value, 0)
					}
					q.Lag = Exact(q.Max.Value - from)
				}
			}
		}
		l.Lag, l.UnknownQueues, l.Ahead = sum(l.Queues, false)
		l.RetryLag, _, _ = sum(l.Queues, true)
	}
}

func member(f *Facts, id string, edit func(i int, m *Member)) {
	for i := range f.Samples {
		for k := range f.Samples[i].Members.Members {
			if m := &f.Samples[i].Members.Members[k]; m.ClientID == id {
				edit(i, m)
			}
		}
	}
}

func held(f *Facts, id string, mq protocol.MessageQueue, edit func(i int, q *protocol.ProcessQueueInfo)) {
	member(f, id, func(i int, m *Member) {
		q := m.Info.MQTable[mq]
		edit(i, &q)
		m.Info.MQTable[mq] = q
	})
}

func everyMember(f *Facts, edit func(i int, m *Member)) {
	member(f, "a", edit)
	member(f, "b", edit)
}

func lag(f *Facts, edit func(i int, l *GroupLag)) {
	for i := range f.Samples {
		edit(i, &f.Samples[i].Lag)
	}
}

// lose takes a queue from a member at all looks.
func lose(f *Facts, id string, mq protocol.MessageQueue) {
	member(f, id, func(_ int, m *Member) { delete(m.Info.MQTable, mq) })
}

// backlog gives a queue messages that wait, of which some are consumed.
func backlog(f *Facts, id int32, stored time.Duration) {
	lagRow(f, "orders", id, func(i int, q *QueueLag) {
		q.Max, q.Committed, q.NextStored = Exact(6000+100*int64(i)), Exact(1000+10*int64(i)), visited.Add(-stored)
	})
}

// still has a queue with a backlog stand at offset 1000.
func still(f *Facts, id int32, edit func(i int, q *protocol.ProcessQueueInfo)) {
	lagRow(f, "orders", id, func(i int, q *QueueLag) { q.Max, q.Committed = Exact(6000+100*int64(i)), Exact(1000) })
	held(f, map[int32]string{0: "a", 1: "a", 2: "b", 3: "b"}[id], mqOf("orders", id), func(i int, q *protocol.ProcessQueueInfo) {
		q.CommitOffset, q.CachedMsgCount, q.CachedMsgMinOffset, q.CachedMsgMaxOffset = 1000, 8, 1000, 1007
		edit(i, q)
	})
}

func longAgo(_ int, q *protocol.ProcessQueueInfo) {
	q.LastConsumeTimestamp = visited.Add(-4 * time.Minute).UnixMilli()
}

func fresh(i int, q *protocol.ProcessQueueInfo) {
	q.LastConsumeTimestamp = visited.Add(time.Duration(i-1)*doctorInterval - time.Second).UnixMilli()
}

func orderly(f *Facts) {
	everyMember(f, func(i int, m *Member) {
		m.Info.Properties["PROP_CONSUMEORDERLY"] = "true"
		for mq, q := range m.Info.MQTable {
			q.LastLockTimestamp = visited.Add(-8 * time.Second).UnixMilli()
			m.Info.MQTable[mq] = q
		}
	})
}

// shiftClock sets the clock by which a member tells times.
func shiftClock(f *Facts, id string, by time.Duration) {
	member(f, id, func(_ int, m *Member) {
		for mq, q := range m.Info.MQTable {
			q.LastPullTimestamp += by.Milliseconds()
			q.LastConsumeTimestamp += by.Milliseconds()
			q.LastLockTimestamp += by.Milliseconds()
			m.Info.MQTable[mq] = q
		}
		ms, _ := strconv.ParseInt(m.Info.Properties["PROP_CONSUMER_START_TIMESTAMP"], 10, 64)
		m.Info.Properties["PROP_CONSUMER_START_TIMESTAMP"] = strconv.FormatInt(ms+by.Milliseconds(), 10)
	})
}
