package tui

import (
	"fmt"
	"math"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
)

// The fixture: group order-settle with three members
// on two brokers, one queue held by its span, one by its count, one paused.

var (
	fixtureZone = time.FixedZone("", 8*3600)
	fixtureNow  = time.Date(2026, 11, 29, 14, 32, 7, 0, fixtureZone)
)

const (
	memberA = "10.0.4.21@7181#1"
	memberB = "10.0.4.22@6023#1"
	memberC = "10.0.4.23@9912#1"
)

func mq(topic, broker string, id int) engine.MessageQueue {
	return engine.MessageQueue{Topic: topic, BrokerName: broker, QueueID: int32(id)}
}

func ownQueue(q engine.MessageQueue, committed, lag, count, done int64) engine.QueueSnapshot {
	s := otherQueue(q, memberA, committed, lag)
	s.Own, s.State = true, engine.QueueRun
	s.CachedCount, s.CachedDone, s.InProcess = count, done, min(count, 4)
	s.CachedMin, s.CachedMax, s.Span = engine.Unknown, engine.Unknown, 0
	if count > 0 {
		s.CachedMin, s.CachedMax, s.Span = committed, committed+count+done-1, count+done-1
		s.HeadStored = fixtureNow.Add(-4*time.Minute - 12*time.Second)
		s.HeadStarted = fixtureNow.Add(-2 * time.Second)
		s.HeadMessageID = "0A000415000078D9F3C1"
	}
	s.CachedBytes, s.BodyBytes = count*4600, count*4200
	s.NextOffset = committed + count + done
	s.PersistedOffset, s.PersistedAt = committed-200, fixtureNow.Add(-2*time.Second)
	s.LastPull, s.LastConsume = fixtureNow.Add(-100*time.Millisecond), fixtureNow.Add(-100*time.Millisecond)
	s.PullRTT, s.LastStatus = 12*time.Millisecond, "FOUND"
	s.Pulled, s.Consumed, s.Failed, s.SentBack = 100_000, 99_000, 120, 18
	s.Generation = 1
	return s
}

func otherQueue(q engine.MessageQueue, owner string, committed, lag int64) engine.QueueSnapshot {
	return engine.QueueSnapshot{
		MessageQueue: q, Owner: owner, State: engine.QueueOther, StateSince: fixtureNow.Add(-40 * time.Second),
		MinOffset: 11_000_000, MaxOffset: committed + lag, OffsetsAt: fixtureNow.Add(-time.Second), CommittedOffset: committed,
		PersistedOffset: engine.Unknown, NextOffset: engine.Unknown, CachedMin: engine.Unknown, CachedMax: engine.Unknown,
		LastConsumedStored: fixtureNow.Add(-time.Minute),
	}
}

// fixture is the group at a moment; back is how many seconds before fixtureNow.
func fixture(back int) *engine.Snapshot {
	const topic = "orders-paid"
	at := fixtureNow.Add(-time.Duration(back) * time.Second)
	t := 1000 - float64(back)
	s := &engine.Snapshot{
		At: at, Started: fixtureNow.Add(-time.Hour), State: engine.Running, Group: "order-settle", ClientID: memberA,
		Model: 1, From: 1, Strategy: "AVG",
		Namesrv: []string{"10.0.3.11:9876", "10.0.3.12:9876"}, NamesrvCurrent: "10.0.3.11:9876",
		Brokers: []engine.BrokerSnapshot{
			{Name: "broker-a", Address: "10.0.4.1:10911", Version: 491, Connected: true, LastHeartbeat: at.Add(-11 * time.Second), RTT: 2 * time.Millisecond},
			{Name: "broker-b", Address: "10.0.4.2:10911", Version: 491, Connected: true, LastHeartbeat: at.Add(-11 * time.Second), RTT: 2 * time.Millisecond},
		},
		RebalanceSeq: 41, LastRebalance: at.Add(-12 * time.Second), NextRebalance: at.Add(8 * time.Second),
		LastPersist: at.Add(-2 * time.Second), PersistEvery: 5 * time.Second,
		Limits: core.Limits{Count: 1000, SizeMiB: 100, Span: 2000}, Threads: 20, ThreadsBusy: 20,
	}
	wave := func(base, swing, period float64) uint64 {
		return uint64(base*t + swing*period*math.Sin(t/period))
	}
	s.Totals = engine.Totals{
		Pulled: wave(4812, 900, 4), Consumed: wave(4655, 900, 5), Failed: wave(18, 6, 3), Pulls: wave(150, 10, 4),
		FlowCount: wave(28.1, 12, 4), FlowSpan: wave(3.1, 1, 5),
	}
	for i := range s.Totals.RT {
		s.Totals.RT[i] = uint64(t * 4655 * math.Exp(-math.Abs(float64(i)-6)/1.5) / 4)
	}
	drift := int64(back) * 157 / 6
	a, b := "broker-a", "broker-b"
	type q = engine.QueueSnapshot
	queues := []q{
		ownQueue(mq(topic, a, 0), 18_201_977, 10_002, 377, 60),
		ownQueue(mq(topic, a, 1), 18_199_020, 22_907, 1001, 0),
		ownQueue(mq(topic, a, 2), 18_210_030, 7_310, 341, 0),
		ownQueue(mq(topic, a, 3), 18_204_551, 31_220, 612, 1390),
		ownQueue(mq(topic, a, 4), 18_188_400, 9_771, 0, 0),
		ownQueue(mq(topic, a, 5), 18_207_700, 2_118, 2, 0),
		otherQueue(mq(topic, a, 6), memberB, 18_203_118, 1_944),
		otherQueue(mq(topic, a, 7), memberB, 18_206_004, 1_802),
		otherQueue(mq(topic, b, 0), memberB, 17_900_556, 1_401),
		otherQueue(mq(topic, b, 1), memberB, 17_899_312, 1_333),
		otherQueue(mq(topic, b, 2), memberB, 17_880_114, 20_015),
		otherQueue(mq(topic, b, 3), memberC, 17_905_008, 1_290),
		otherQueue(mq(topic, b, 4), memberC, 17_912_001, 14_330),
		otherQueue(mq(topic, b, 5), memberC, 17_912_450, 1_006),
		otherQueue(mq(topic, b, 6), memberC, 17_914_001, 973),
		otherQueue(mq(topic, b, 7), memberC, 17_917_200, 990),
	}
	for i := range queues {
		if queues[i].Own {
			queues[i].MaxOffset -= drift
		}
	}
	queues[1].State, queues[1].Detail = engine.QueueFlow, "count 1,001 > 1,000"
	queues[1].Flow, queues[1].FlowLimit, queues[1].FlowValue, queues[1].FlowTimes, queues[1].FlowSince = core.FlowCount, 1000, 1001, 281, fixtureNow.Add(-10*time.Second)
	queues[3].State, queues[3].Detail = engine.QueueFlow, "span 2,001 > 2,000"
	queues[3].Flow, queues[3].FlowLimit, queues[3].FlowValue, queues[3].FlowTimes, queues[3].FlowSince = core.FlowSpan, 2000, 2001, 31, fixtureNow.Add(-10*time.Second)
	queues[4].State = engine.QueuePaused
	queues[4].Pause = &engine.PauseState{By: "wang@ops01", Reason: "bad batch 7781", Since: fixtureNow.Add(-47 * time.Second), ResumeAt: fixtureNow.Add(8*time.Minute + 20*time.Second)}
	queues[4].LastConsume, queues[4].LastPull = fixtureNow.Add(-9800*time.Millisecond), fixtureNow.Add(-9800*time.Millisecond)
	s.Queues = queues
	members := []engine.MemberSnapshot{
		{ClientID: memberA, Self: true, Since: s.Started, Held: 6},
		{ClientID: memberB, Since: s.Started},
		{ClientID: memberC, Since: fixtureNow.Add(-12 * time.Second)},
	}
	for i := range queues {
		for j := range members {
			if members[j].ClientID == queues[i].Owner {
				members[j].Queues = append(members[j].Queues, queues[i].MessageQueue)
			}
		}
	}
	s.Topics = []engine.TopicSnapshot{{Topic: topic, Expression: "paid||refund", Members: members, MembersFrom: "10.0.4.1:10911",
		MembersAt: at.Add(-12 * time.Second), Queues: 16, Brokers: []string{a, b}}}
	return s
}

// fixtures are the last n seconds, oldest first.
func fixtures(n int) []*engine.Snapshot {
	var list []*engine.Snapshot
	for back := n - 1; back >= 0; back-- {
		list = append(list, fixture(back))
	}
	return list
}

func at(back time.Duration, q engine.MessageQueue) engine.At {
	return engine.At{Time: fixtureNow.Add(-back), MQ: q}
}

// fixtureEvents are the events of the picture and some more.
func fixtureEvents() []engine.Event {
	const topic = "orders-paid"
	a := "broker-a"
	return []engine.Event{
		engine.ConsumerState{At: at(time.Hour, engine.MessageQueue{}), From: "CREATE_JUST", To: "RUNNING"},
		engine.HeartbeatSent{At: at(71*time.Second, engine.MessageQueue{}), Address: "10.0.4.1:10911", RTTMS: 2.1},
		engine.Pause{At: at(47*time.Second, mq(topic, a, 4)), By: "wang@ops01", Reason: "bad batch 7781", ResumeAfterMS: 567_000},
		engine.HeartbeatSent{At: at(41*time.Second, engine.MessageQueue{}), Address: "10.0.4.1:10911", RTTMS: 2.4},
		engine.RebalanceBegin{At: at(12*time.Second, engine.MessageQueue{}), Seq: 41, Trigger: "members"},
		engine.RebalanceTopic{At: at(11990*time.Millisecond, engine.MessageQueue{}), Topic: topic, Strategy: "AVG", Queues: 16,
			Members: []string{memberA, memberB, memberC}, Joined: []string{memberC}, Mine: []string{"broker-a/0", "broker-a/1", "broker-a/2", "broker-a/3", "broker-a/4", "broker-a/5"}},
		engine.QueueDropped{At: at(11980*time.Millisecond, mq(topic, a, 6)), Cause: "unassigned", Cached: 12, CommittedOffset: 18_203_118},
		engine.QueueDropped{At: at(11980*time.Millisecond, mq(topic, a, 7)), Cause: "unassigned", Cached: 3, CommittedOffset: 18_206_004},
		engine.RebalanceEnd{At: at(11950*time.Millisecond, engine.MessageQueue{}), Seq: 41, Trigger: "members", Topics: []string{topic}, Kept: 6, Dropped: 2, Balanced: true, DurationMS: 38},
		engine.FlowBegin{At: at(10*time.Second, mq(topic, a, 3)), Cause: core.FlowSpan, Limit: 2000, Value: 2001},
		engine.FlowBegin{At: at(9900*time.Millisecond, mq(topic, a, 1)), Cause: core.FlowCount, Limit: 1000, Value: 1001},
		engine.ConsumeFailed{At: at(5*time.Second, mq(topic, a, 0)), Count: 1, First: 18_201_900, ReturnType: "FAILED", Error: "order 7781203: payment service says 503", RTMS: 41.2},
		engine.SentBack{At: at(4990*time.Millisecond, mq(topic, a, 0)), Offset: 18_201_900, MessageID: "0A000415000078D9F3C1", DelayLevel: 3, DueMS: new(int64(10_000)), ReconsumeTimes: 0, Target: "retry"},
	}
}

// manyQueues is a snapshot with n queues, a third of them ours.
func manyQueues(n int) *engine.Snapshot {
	s := fixture(0)
	s.Queues = nil
	for i := range s.Topics[0].Members {
		s.Topics[0].Members[i].Queues = nil
	}
	perBroker := max(n/10, 1)
	for i := range n {
		q := mq("orders-paid", fmt.Sprintf("broker-%02d", i/perBroker), i%perBroker)
		m := i * 3 / n
		if m == 0 {
			s.Queues = append(s.Queues, ownQueue(q, int64(18_000_000+i*977), int64(i*37%5000), int64(i%900), int64(i%90)))
		} else {
			s.Queues = append(s.Queues, otherQueue(q, s.Topics[0].Members[m].ClientID, int64(18_000_000+i*977), int64(i*37%5000)))
		}
		s.Topics[0].Members[m].Queues = append(s.Topics[0].Members[m].Queues, q)
	}
	s.Topics[0].Queues = n
	s.Topics[0].Members[0].Held = len(s.Topics[0].Members[0].Queues)
	return s
}
