package inspect

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"eyeq/remoting/protocol"
)

// Light queues (LMQ, 5.x brokers with enableLmq) are views of other queues, and their
// groups keep offsets apart: brokers list neither, name servers know no route to them, and
// a broker tells of any such name as if it were there. What is asked of one queue by its
// name is answered like that of any other.

// lightPrefix begins the names of light queues and of their groups.
const lightPrefix = "%LMQ%"

// IsLight reports whether a name is one of a light queue or its group.
func IsLight(name string) bool { return strings.HasPrefix(name, lightPrefix) }

// unlisted is why whether there is something light cannot be known.
var unlisted = Reason{ReasonUnsupported, "they are in no list"}

// oneOffset is why what a light group has committed in a queue is not known.
var oneOffset = Reason{ReasonUnsupported, "of a light group a broker keeps one offset for all queues of a topic"}

// lightCommit asks for what a light group has committed in the only one of queues. Brokers
// answer 0 also where nothing was.
func (v *groupView) lightCommit(ctx context.Context, addr string, mq protocol.MessageQueue, queues int) Number {
	if queues > 1 {
		return Unknown(oneOffset)
	}
	type answer struct {
		offset int64
		found  bool
	}
	a, err := ask(ctx, v.round.in, addr, func(ctx context.Context) (a answer, err error) {
		a.offset, a.found, err = v.round.in.client.QueryConsumerOffset(ctx, v.group, mq)
		return a, err
	})
	switch {
	case err != nil:
		return Unknown(ReasonOf(err))
	case !a.found || a.offset == 0:
		return Unknown(Reason{Kind: ReasonNoCommit})
	}
	return Exact(a.offset)
}

// offsetIn is a message's offset in a queue of topic: one that was got from a light queue
// has the number of the queue in which it is stored, and names its places in the others.
func offsetIn(topic string, m *protocol.MessageExt) int64 {
	if IsLight(topic) {
		names, _ := m.Property("INNER_MULTI_DISPATCH")
		places, _ := m.Property("INNER_MULTI_QUEUE_OFFSET")
		list := strings.Split(places, ",")
		if i := slices.Index(strings.Split(names, ","), topic); i >= 0 && i < len(list) {
			if offset, err := strconv.ParseInt(list[i], 10, 64); err == nil {
				return offset
			}
		}
	}
	return m.QueueOffset()
}
