package inspect

import (
	"cmp"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// owners are the client ids of those that say to hold a queue, in the order of the
// members.
type owners map[protocol.MessageQueue][]string

// owners gives who says to hold which queue, and has not given it away already.
func (m *Members) owners() owners {
	o := owners{}
	for i := range m.Members {
		if info := m.Members[i].Info; info != nil {
			for mq := range holds(info) {
				o[mq] = append(o[mq], m.Members[i].ClientID)
			}
		}
		for mq := range m.Members[i].Held {
			o[mq] = append(o[mq], m.Members[i].ClientID)
		}
	}
	return o
}

// of are the owners of a queue. By POP a member holds all queues of a broker at once,
// which it names by the number -1.
func (o owners) of(mq protocol.MessageQueue) []string {
	all := mq
	all.QueueID = -1
	return slices.Concat(o[mq], o[all])
}

// holds are the queues that a member consumes, by pull or by POP.
func holds(info *protocol.ConsumerRunningInfo) map[protocol.MessageQueue]struct{} {
	held := make(map[protocol.MessageQueue]struct{}, len(info.MQTable)+len(info.MQPopTable))
	for mq, q := range info.MQTable {
		if !q.Dropped {
			held[mq] = struct{}{}
		}
	}
	for mq, q := range info.MQPopTable {
		if !q.Dropped {
			held[mq] = struct{}{}
		}
	}
	return held
}

// hold is what a member says of a queue that it holds by pull, and has not given away.
type hold struct {
	member *Member
	info   protocol.ProcessQueueInfo
	told   time.Time // the latest that the member tells of
}

// holders gives who holds each queue by pull: of several, who pulled last is first.
func (m *Members) holders() map[protocol.MessageQueue][]hold {
	by := map[protocol.MessageQueue][]hold{}
	for i := range m.Members {
		if m.Members[i].Info == nil {
			continue
		}
		told := latestTold(m.Members[i].Info)
		for mq, q := range m.Members[i].Info.MQTable {
			if !q.Dropped {
				by[mq] = append(by[mq], hold{&m.Members[i], q, told})
			}
		}
	}
	for _, held := range by {
		slices.SortStableFunc(held, func(a, b hold) int { return cmp.Compare(b.info.LastPullTimestamp, a.info.LastPullTimestamp) })
	}
	return by
}

// own says who holds each queue, and why that is not known for sure.
func (v *groupView) own() {
	var silent Reason
	for i := range v.members.Members {
		if m := &v.members.Members[i]; m.Info == nil {
			silent = Reason{m.Why.Kind, notReported(m)}
		}
	}
	if len(v.members.Members) == 0 {
		silent = Reason{Kind: ReasonOffline}
	}
	o := v.members.owners()
	for i := range v.queues {
		q := &v.queues[i]
		q.Owners, q.OwnersWhy = o.of(q.MessageQueue), silent
	}
}

// notReported says that a member has not told what it holds. What clients of other
// languages than Java tell differs, so they are named.
func notReported(m *Member) string {
	if m.Language == "" || m.Language == "JAVA" {
		return m.ClientID + " has not said what it holds"
	}
	return "not reported by " + m.Language + " client " + m.ClientID
}
