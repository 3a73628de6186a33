package inspect

import (
	"context"
	"fmt"
	"slices"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Why says in a few words why the queue cannot be read.
func (u *UnreadableQueue) Why() string {
	return unreadable(u.QueueID, u.Read, u.Write, u.Perm)
}

// unreadable says why a queue cannot be read, of a topic that has so many queues to read
// and to write to at its broker; "" when it can.
func unreadable(id, read, write, perm int32) string {
	switch {
	case perm&protocol.PermRead == 0:
		return "not readable: the permission there is " + PermText(perm)
	case id >= read:
		return fmt.Sprintf("not readable: of its %s there %d can be read (readQueueNums)", Plural(int64(max(write, id+1)), "queue"), read)
	}
	return ""
}

// unwritable is unreadable for sending.
func unwritable(id, read, write, perm int32) string {
	switch {
	case perm&protocol.PermWrite == 0:
		return "not writable: the permission there is " + PermText(perm)
	case id >= write:
		return fmt.Sprintf("not writable: of its %s there %d can be written to (writeQueueNums)", Plural(int64(max(read, id+1)), "queue"), write)
	}
	return ""
}

// closedPart are the queues of one topic at one broker that nobody can read, with the
// messages that lie there.
type closedPart struct {
	queues   []UnreadableQueue
	messages Number
}

func closedParts(list []UnreadableQueue) (parts []closedPart) {
	for _, u := range list {
		n := Unknown(u.Max.Why)
		if u.Min.Known && u.Max.Known {
			n = Exact(u.Max.Value - u.Min.Value)
		}
		if i := len(parts) - 1; i >= 0 && parts[i].queues[0].Topic == u.Topic && parts[i].queues[0].BrokerName == u.BrokerName {
			parts[i].queues, parts[i].messages = append(parts[i].queues, u), parts[i].messages.Plus(n)
			continue
		}
		parts = append(parts, closedPart{[]UnreadableQueue{u}, n})
	}
	return parts
}

func (p *closedPart) names() []protocol.MessageQueue {
	names := make([]protocol.MessageQueue, len(p.queues))
	for i := range p.queues {
		names[i] = p.queues[i].MessageQueue
	}
	return names
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

// UnreadableTexts say which of a group's queues nobody can read, why, and how many messages
// lie there: a line for each topic and broker.
func (l *GroupLag) UnreadableTexts() (texts []string) {
	for _, p := range closedParts(l.Unreadable) {
		u := &p.queues[len(p.queues)-1]
		texts = append(texts, fmt.Sprintf("%s of %s %s; %s there, in no lag", runs(p.names()), u.Topic, u.Why(), lie(p.messages)))
	}
	return texts
}

// ClosedQueueError says that a queue is there and cannot be read.
type ClosedQueueError struct {
	Queue protocol.MessageQueue
	Why   string     // "not readable: …"
	Kind  ReasonKind // of the broker's refusal
}

// Error says which queue, and why.
func (e *ClosedQueueError) Error() string { return fmt.Sprintf("queue %v is %s", e.Queue, e.Why) }

// WhyClosed says why a queue that the topic has at its broker cannot be pulled from, or
// with write sent to. A broker whose topic forbids it is asked whether that is its own
// setting, of all its topics. "" when nothing forbids it, or there is no such queue.
func WhyClosed(ctx context.Context, c *remoting.Client, route *remoting.TopicRoute, mq protocol.MessageQueue, write bool) string {
	at := slices.IndexFunc(route.Data.QueueDatas, func(d protocol.QueueData) bool { return d.BrokerName == mq.BrokerName })
	if at < 0 || route.Data.Static() {
		return ""
	}
	d := &route.Data.QueueDatas[at]
	if mq.QueueID < 0 || mq.QueueID >= max(d.ReadQueueNums, d.WriteQueueNums) {
		return ""
	}
	why, perm, word := unreadable(mq.QueueID, d.ReadQueueNums, d.WriteQueueNums, d.Perm), int32(protocol.PermRead), "readable"
	if write {
		why, perm, word = unwritable(mq.QueueID, d.ReadQueueNums, d.WriteQueueNums, d.Perm), int32(protocol.PermWrite), "writable"
	}
	var master string
	for i := range route.Data.BrokerDatas {
		if b := &route.Data.BrokerDatas[i]; b.BrokerName == mq.BrokerName {
			master = b.BrokerAddrs[remoting.MasterID]
		}
	}
	switch {
	case master == "" && write && why == "":
		return "not writable: " + mq.BrokerName + " has no master"
	case master == "" || d.Perm&perm != 0:
		return why
	}
	settings, err := c.BrokerConfig(ctx, master)
	if own := numberOf(settings, "brokerPermission"); err == nil && own.Known && own.Value&int64(perm) == 0 {
		return fmt.Sprintf("not %s: the broker forbids it for all topics (brokerPermission=%d)", word, own.Value)
	}
	return why
}
