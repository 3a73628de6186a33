package inspect

import (
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// maxEvidence is how many lines of evidence of one kind a finding has.
const maxEvidence = 10

// eyeq writes a command for Next, to be pasted: it names the cluster. Names are foreign
// text, and one may hold what a shell would act upon.
func (v *visit) eyeq(format string, args ...any) string {
	for i, arg := range args {
		if name, ok := arg.(string); ok {
			args[i] = ShellWord(name)
		}
	}
	return "eyeq " + fmt.Sprintf(format, args...) + v.f.TargetFlags
}

// ShellWord makes one word of s for a shell.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// capped cuts a list of lines and says how many are left out.
func capped(lines []string) []string {
	if len(lines) <= maxEvidence {
		return lines
	}
	return append(slices.Clone(lines[:maxEvidence]), fmt.Sprintf("and %d more", len(lines)-maxEvidence))
}

// runs writes queues of one topic in short: "broker-a/0-3,7 broker-b/1".
func runs(queues []protocol.MessageQueue) string {
	queues = slices.Clone(queues)
	slices.SortFunc(queues, protocol.CompareMessageQueues)
	var b strings.Builder
	for i := 0; i < len(queues); {
		first, last := queues[i], queues[i]
		for i++; i < len(queues) && queues[i].BrokerName == first.BrokerName && queues[i].QueueID == last.QueueID+1; i++ {
			last = queues[i]
		}
		switch {
		case b.Len() == 0:
			fmt.Fprintf(&b, "%s/%d", first.BrokerName, first.QueueID)
		case strings.Contains(b.String()[strings.LastIndexByte(b.String(), ' ')+1:], first.BrokerName+"/"):
			fmt.Fprintf(&b, ",%d", first.QueueID)
		default:
			fmt.Fprintf(&b, " %s/%d", first.BrokerName, first.QueueID)
		}
		if last != first {
			fmt.Fprintf(&b, "-%d", last.QueueID)
		}
	}
	return b.String()
}

// byTopic divides queues, topics in order.
func byTopic(queues []protocol.MessageQueue) (topics []string, of map[string][]protocol.MessageQueue) {
	of = map[string][]protocol.MessageQueue{}
	for _, mq := range queues {
		if of[mq.Topic] == nil {
			topics = append(topics, mq.Topic)
		}
		of[mq.Topic] = append(of[mq.Topic], mq)
	}
	slices.Sort(topics)
	return topics, of
}

// named is the queue when it is one, else how many there are.
func named(queues []protocol.MessageQueue) string {
	if len(queues) == 1 {
		return "queue " + queues[0].Short()
	}
	return Plural(len(queues), "queue")
}

// verb is the verb that goes with named.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// joined joins names, at most six.
func joined(names []string) string {
	const most = 6
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
}
