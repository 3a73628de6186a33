package engine

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// pullReader takes the answers to one queue's pulls apart.
type pullReader struct {
	mq     MessageQueue
	source *protocol.MessageSource
	view   bool // messages keep the numbers of the queue they were stored in
}

// The names of what is a view of other queues (5.x).
const (
	lightTopicPrefix    = "%LMQ%"
	logicalBrokerPrefix = "__syslo__"
)

func newPullReader(mq MessageQueue, d *protocol.Decompressor) pullReader {
	return pullReader{mq: mq, source: &protocol.MessageSource{BrokerName: mq.BrokerName, Topic: mq.Topic, Decompressor: d},
		view: strings.HasPrefix(mq.Topic, lightTopicPrefix) || strings.HasPrefix(mq.BrokerName, logicalBrokerPrefix)}
}

// pullRead is an answer as it was read.
type pullRead struct {
	res         remoting.PullResult
	msgs        []protocol.MessageExt // with unreadable: those before the record
	first, last int64                 // offsets of msgs; first > last when there are none
	err         error                 // the broker's refusal, or what is wrong with the answer
	broken      bool                  // it breaks the protocol
	unreadable  bool                  // one of its records does
	news        bool                  // and was not told before
	upTo        bool                  // the messages before a record that was told
	batch       error                 // an inner batch that stays one message, and why
}

// read decodes the messages of an answer to a pull at asked: offsets shifted as
// the answer says, inner batches laid open, all of this queue.
func (r *pullReader) read(res remoting.PullResult, asked int64, addr string) pullRead {
	p := pullRead{res: res, last: -1}
	if res.Status != remoting.PullFound {
		return p
	}
	p.msgs, p.err = protocol.AppendMessages(make([]protocol.MessageExt, 0, guessMessages(res.Body)), res.Body, r.source)
	if d := res.OffsetDelta; d != 0 {
		for i := range p.msgs {
			p.msgs[i].ShiftQueueOffset(d)
		}
	}
	if p.err != nil {
		p.unreadable = true
		return p
	}
	return r.accept(p, asked, addr)
}

// accept lays inner batches open and looks whether the messages are of this queue.
func (r *pullReader) accept(p pullRead, asked int64, addr string) pullRead {
	whole := len(p.msgs)
	p.msgs, p.batch = protocol.UnwrapBatches(p.msgs) // one that cannot be read stays whole, as the reference has it
	if len(p.msgs) != whole {
		p.msgs = notBelow(p.msgs, asked) // an offset within a batch is answered with the whole batch
	}
	if len(p.msgs) == 0 {
		return p
	}
	if r.view {
		p.first, p.last = asked, asked
		return p
	}
	p.first, p.last, p.err = r.bounds(p.msgs, addr)
	p.broken = p.err != nil
	return p
}

// bounds are the smallest and largest offset of an answer's messages. A message
// of another queue makes the answer a broken one.
func (r *pullReader) bounds(msgs []protocol.MessageExt, addr string) (first, last int64, err error) {
	bad := func(format string, args ...any) (int64, int64, error) {
		return 0, -1, remoting.BadAnswer(protocol.PullMessage, addr, fmt.Errorf(format, args...))
	}
	if topic := msgs[0].Topic(); topic != r.mq.Topic {
		return bad("a message of topic %s", topic)
	}
	first, last = msgs[0].QueueOffset(), msgs[0].QueueOffset()
	for i := range msgs {
		if id := msgs[i].QueueID(); id != r.mq.QueueID {
			return bad("a message of queue %d", id)
		}
		o := msgs[i].QueueOffset()
		first, last = min(first, o), max(last, o)
	}
	return first, last, nil
}

// notBelow drops what lies before the offset that was asked for.
func notBelow(msgs []protocol.MessageExt, asked int64) []protocol.MessageExt {
	return slices.DeleteFunc(msgs, func(m protocol.MessageExt) bool { return m.QueueOffset() < asked })
}

// smallestRecord is a stored message without body, topic and properties.
const smallestRecord = 91

// guessMessages estimates how many messages a pull answer holds by the length of
// the first: counting them would touch the whole answer once more. A guess too
// low costs a second slice.
func guessMessages(body []byte) int {
	if len(body) < 4 {
		return 0
	}
	first := max(int(binary.BigEndian.Uint32(body)), smallestRecord)
	return len(body)/first + 1
}
