package inspect

import (
	"fmt"

	"eyeq/remoting/protocol"
)

// judgeUnreadable finds queues that are written to and that nobody can read: their
// messages are in no lag. Those of a broker that forbids all reading are told with it.
func judgeUnreadable(v *visit) {
	type part struct{ topic, broker string }
	var order []part
	of := map[part][]UnreadableQueue{}
	for _, u := range v.last.Lag.Unreadable {
		p := part{u.Topic, u.BrokerName}
		if v.readForbidden(u.BrokerName) || u.Perm&(protocol.PermRead|protocol.PermWrite) == 0 {
			continue
		}
		if of[p] == nil {
			order = append(order, p)
		}
		of[p] = append(of[p], u)
	}
	for _, p := range order {
		list := of[p]
		var queues []protocol.MessageQueue
		messages := Exact(0)
		for i, u := range list {
			queues = append(queues, u.MessageQueue)
			n := Unknown(u.Max.Why)
			if u.Min.Known && u.Max.Known {
				n = Exact(u.Max.Value - u.Min.Value)
			}
			if i == 0 {
				messages = n
			} else {
				messages = messages.Plus(n)
			}
		}
		severity, u := SeverityWarning, &list[0]
		if messages.Known && messages.Value > 0 {
			severity = SeverityCritical
		}
		next := fmt.Sprintf("Let all be read that is written to: mqadmin updateTopic -b <broker's address> -t %s -r %d -w %d -p 6. Members take the queues over within half a minute.",
			ShellWord(p.topic), max(u.Read, u.Write), u.Write)
		line := fmt.Sprintf("the topic has %s to read and %d to write to there: what is sent to the others is read by nobody", Plural(int64(u.Read), "queue"), u.Write)
		if u.Perm&protocol.PermRead == 0 {
			line = "the topic's permission there is " + PermText(u.Perm) + ": nobody may pull, and what is sent there is read by nobody"
		}
		v.find(CodeQueuesUnreadable, severity, fmt.Sprintf("%s of %s cannot be read: %s there", named(queues), p.topic, lie(messages)), next,
			"not readable: "+runs(queues), line, "these messages are in no lag")
	}
}

// lie says how many messages are where nobody reads them.
func lie(n Number) string {
	switch {
	case n == Exact(0):
		return "no message is"
	case n == Exact(1):
		return "1 message lies"
	}
	return howMany(n) + " messages lie"
}

// readForbidden reports whether a broker itself forbids to pull.
func (v *visit) readForbidden(broker string) bool {
	for i := range v.f.Brokers.Brokers {
		if b := &v.f.Brokers.Brokers[i]; b.Broker == broker && b.ID == 0 {
			return b.mayNot(protocol.PermRead)
		}
	}
	return false
}
