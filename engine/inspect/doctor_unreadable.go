package inspect

import (
	"fmt"

	"eyeq/remoting/protocol"
)

// judgeUnreadable finds queues that are written to and that nobody can read: their
// messages are in no lag. Those of a broker that forbids all reading are told with it.
func judgeUnreadable(v *visit) {
	for _, p := range closedParts(v.last.Lag.Unreadable) {
		u := &p.queues[0]
		if v.readForbidden(u.BrokerName) || u.Perm&(protocol.PermRead|protocol.PermWrite) == 0 {
			continue
		}
		severity := SeverityWarning
		if p.messages.Known && p.messages.Value > 0 {
			severity = SeverityCritical
		}
		next := fmt.Sprintf("Let all be read that is written to: mqadmin updateTopic -b <broker's address> -t %s -r %d -w %d -p 6. Members take the queues over within half a minute.",
			ShellWord(u.Topic), max(u.Read, u.Write), u.Write)
		line := fmt.Sprintf("the topic has %s to read and %d to write to there: what is sent to the others is read by nobody", Plural(int64(u.Read), "queue"), u.Write)
		if u.Perm&protocol.PermRead == 0 {
			line = "the topic's permission there is " + PermText(u.Perm) + ": nobody may pull, and what is sent there is read by nobody"
		}
		v.find(CodeQueuesUnreadable, severity, fmt.Sprintf("%s of %s cannot be read: %s there", named(p.names()), u.Topic, lie(p.messages)), next,
			"not readable: "+runs(p.names()), line, "these messages are in no lag")
	}
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
