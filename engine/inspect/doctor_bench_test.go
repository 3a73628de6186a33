package inspect

import (
	"fmt"
	"testing"
	"time"

	"eyeq/remoting/protocol"
)

// crowded are the facts of a group of many members and queues, all of them throttled
// and behind, so that every rule has something to look up.
func crowded(members, queues int) Facts {
	f := Facts{Group: "g"}
	for i := range 2 {
		at := visited.Add(time.Duration(i-1) * doctorInterval)
		l := Live{Group: "g", At: at}
		l.Members = Members{Group: "g", At: at, Kind: KindPush, Type: protocol.ConsumePassively, Model: protocol.Clustering}
		l.Lag = GroupLag{Group: "g", At: at, State: StateOnline, Model: protocol.Clustering, Members: Exact(int64(members)), Lag: Exact(0), RetryLag: Exact(0), DeadLetters: Exact(0)}
		hold := make([][]protocol.MessageQueue, members)
		for id := range queues {
			q := lagQueue("orders", int32(id), 0, 1000, 6000, at)
			q.NextStored = visited.Add(-time.Hour)
			l.Lag.Queues = append(l.Lag.Queues, q)
			hold[id*members/queues] = append(hold[id*members/queues], q.MessageQueue)
		}
		for m := range members {
			one := javaMember(fmt.Sprintf("member-%05d", m), at, hold[m]...)
			for mq, q := range one.Info.MQTable {
				q.CommitOffset, q.CachedMsgCount, q.CachedMsgMinOffset, q.CachedMsgMaxOffset = 1000, 1001, 1000, 5990
				q.LastPullTimestamp = at.Add(-time.Hour).UnixMilli()
				one.Info.MQTable[mq] = q
			}
			l.Members.Members = append(l.Members.Members, one)
		}
		f.Samples = append(f.Samples, l)
	}
	return f
}

func BenchmarkJudge(b *testing.B) {
	for _, size := range []struct{ members, queues int }{{200, 256}, {1000, 4096}} {
		f := crowded(size.members, size.queues)
		b.Run(fmt.Sprintf("%d members %d queues", size.members, size.queues), func(b *testing.B) {
			found := 0
			for b.Loop() {
				found = len(Judge(f).Findings)
			}
			if found == 0 {
				b.Fatal("nothing found")
			}
		})
	}
}
