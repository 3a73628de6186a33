package tui

import (
	"fmt"
	"testing"
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/remoting/protocol"
	"eyeq/tui/page"
)

// fixtureLive is the group of the fixture as brokers and three Java members tell it:
// the same queues, owners and caches.
func fixtureLive(back int) inspect.Live {
	s := fixture(back)
	for i := range s.Queues {
		q := &s.Queues[i]
		q.CommittedOffset -= int64(back) * 290
		q.MaxOffset -= int64(back) * 300
		q.CachedMin -= int64(back) * 290
		q.CachedMax -= int64(back) * 290
	}
	l := inspect.Live{Group: s.Group, At: s.At}
	l.Members = inspect.Members{Group: s.Group, At: s.At, Kind: inspect.KindPush, Type: 2, Model: 1, From: 1}
	infos := map[string]*protocol.ConsumerRunningInfo{}
	for i, id := range []string{memberA, memberB, memberC} {
		infos[id] = &protocol.ConsumerRunningInfo{Properties: map[string]string{"pullThresholdForQueue": "1000", "pullThresholdSizeForQueue": "100",
			"consumeConcurrentlyMaxSpan": "2000", "consumeThreadMin": "20", "consumeThreadMax": "20"}, MQTable: map[engine.MessageQueue]protocol.ProcessQueueInfo{},
			StatusTable: map[string]protocol.ConsumeStatus{"orders-paid": {PullRT: 3.1, PullTPS: 1604 - float64(back*7%40), ConsumeRT: 3 + 19*float64(i), ConsumeOKTPS: 1552, ConsumeFailedTPS: 6}}}
		l.Members.Members = append(l.Members.Members, inspect.Member{ClientID: id, Addresses: []string{fmt.Sprintf("10.0.4.2%d:5190%d", i+1, i)}, Language: "JAVA", Version: "V5_3_3",
			Brokers: []string{"broker-a", "broker-b"}, Info: infos[id], InfoAt: s.At})
	}
	l.Lag = inspect.GroupLag{Group: s.Group, At: s.At, State: "online", Model: 1, Members: inspect.Exact(3), RetryLag: inspect.Exact(210), DeadLetters: inspect.Exact(3)}
	l.Topics = []inspect.LiveTopic{{Topic: "orders-paid", Expression: "paid||refund", Queues: 16, Brokers: []string{"broker-a", "broker-b"}, Strategy: "AVG", Expected: map[string][]engine.MessageQueue{}}}
	for i := range s.Queues {
		q := &s.Queues[i]
		x := inspect.LiveQueue{Owner: q.Owner, Expected: q.Owner, InfoAt: s.At, QueueLag: inspect.QueueLag{MessageQueue: q.MessageQueue,
			Min: inspect.Exact(q.MinOffset), Max: inspect.Exact(q.MaxOffset), Committed: inspect.Exact(q.CommittedOffset), Pulled: inspect.Exact(q.CommittedOffset + q.CachedCount),
			Lag: inspect.Exact(q.MaxOffset - q.CommittedOffset), Inflight: inspect.Exact(q.CachedCount), LastConsumed: s.At.Add(-time.Minute),
			NextStored: s.At.Add(-4*time.Minute - 12*time.Second), ExpiresAt: s.At.Add(47 * time.Hour), Owners: []string{q.Owner}}}
		info := protocol.ProcessQueueInfo{CommitOffset: q.CommittedOffset, CachedMsgCount: int32(q.CachedCount), CachedMsgSizeInMiB: int32(q.CachedCount * 4600 >> 20),
			LastPullTimestamp: s.At.Add(-100 * time.Millisecond).UnixMilli(), LastConsumeTimestamp: s.At.Add(-100 * time.Millisecond).UnixMilli()}
		if q.CachedCount > 0 {
			info.CachedMsgMinOffset, info.CachedMsgMaxOffset = q.CachedMin, q.CachedMax
		} else if q.Owner != memberA {
			info.CachedMsgCount, info.CachedMsgMinOffset, info.CachedMsgMaxOffset = int32(10+i), q.CommittedOffset, q.CommittedOffset+int64(9+i)
		}
		x.Info, x.Limits = &info, l.Members.Members[0].Limits()
		infos[q.Owner].MQTable[q.MessageQueue] = info
		l.Topics[0].Expected[q.Owner] = append(l.Topics[0].Expected[q.Owner], q.MessageQueue)
		l.Queues = append(l.Queues, x)
		l.Lag.Queues = append(l.Lag.Queues, x.QueueLag)
	}
	return l
}

// give hands the queues of one member to another, "" to nobody.
func give(l *inspect.Live, from, to string) {
	for i := range l.Queues {
		q := &l.Queues[i]
		if q.Owner != from {
			continue
		}
		q.Owner, q.Owners = to, nil
		if to != "" {
			q.Owners = []string{to}
		} else {
			q.Info = nil
		}
	}
	delete(l.Topics[0].Expected, from)
}

// leave takes a member away.
func leave(l *inspect.Live, id string) {
	var kept []inspect.Member
	for _, m := range l.Members.Members {
		if m.ClientID != id {
			kept = append(kept, m)
		}
	}
	l.Members.Members = kept
	l.Lag.Members = inspect.Exact(int64(len(kept)))
}

// silence makes a member tell nothing.
func silence(l *inspect.Live, id string, why inspect.Reason) {
	for i := range l.Members.Members {
		if m := &l.Members.Members[i]; m.ClientID == id {
			m.Info, m.Why = nil, why
		}
	}
	for i := range l.Queues {
		if q := &l.Queues[i]; q.Owner == id {
			q.Owner, q.Owners, q.Info, q.OwnersWhy = "", nil, nil, why
		}
	}
}

// watching starts a screen on the watched group and shows it the pictures, two seconds
// apart.
func watching(t testing.TB, w, h int, o page.Options, lives ...inspect.Live) *driver {
	t.Helper()
	n := 0
	f := fixtureCluster()
	f.live = func(string) (inspect.Live, error) {
		n++
		return lives[min(n, len(lives))-1], nil
	}
	d := driveCluster(t, w, h, o, f)
	d.now = lives[0].At
	d.keys(":").typing("live order-settle").keys("enter")
	for i := range lives {
		if i > 0 {
			d.later(lives[i].At.Sub(lives[i-1].At))
		}
	}
	return d
}

// lives are the pictures of the last seconds, two seconds apart.
func lives(n int) []inspect.Live {
	var list []inspect.Live
	for back := 2 * (n - 1); back >= 0; back -= 2 {
		list = append(list, fixtureLive(back))
	}
	return list
}

var orderlyLimits = func(l *inspect.Live) {
	l.Orderly = true
	for i := range l.Queues {
		q := &l.Queues[i]
		q.Orderly = true
		info := *q.Info
		info.Locked, info.LastLockTimestamp = i != 3, l.At.Add(-time.Duration(i*3)*time.Second).UnixMilli()
		q.Info = &info
	}
}

// popLives are two pictures of the group when its members pop: in the second a member is
// gone, which moves no queue.
func popLives() []inspect.Live {
	list := lives(2)
	for i := range list {
		l := &list[i]
		l.Members.Kind = inspect.KindPop
		l.Lag.Pop = &inspect.PopLag{Topics: []string{"orders-paid"}, Unacked: inspect.Exact(224)}
		for _, b := range l.Topics[0].Brokers {
			l.Lag.Pop.Modes = append(l.Lag.Pop.Modes, inspect.RequestMode{Topic: "orders-paid", Broker: b, Pop: true, Share: 2})
		}
		l.Topics[0].Pop, l.Topics[0].Strategy, l.Topics[0].Expected = true, "", nil
		owners := []string{memberA, memberB, memberC}
		if i == 1 {
			leave(l, memberC)
			owners = owners[:2]
		}
		for j := range l.Queues {
			q := &l.Queues[j]
			q.Pop, q.Owner, q.Expected, q.Owners, q.Info = true, owners[0], "", owners, nil
			q.Inflight = inspect.Unknown(inspect.Reason{Kind: inspect.ReasonUnsupported, Text: "no broker tells"})
			q.Popped = &protocol.PopProcessQueueInfo{WaitAckCount: 112, LastPopTimestamp: l.At.Add(-2 * time.Second).UnixMilli()}
		}
	}
	return list
}
