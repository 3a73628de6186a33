package remoting

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// MessageQuery looks for messages of a topic at one broker by their key, or by their
// unique id when Unique is set.
type MessageQuery struct {
	Topic, Key string
	Unique     bool
	Max        int       // 0: 64, which is also the most that a broker gives; of Unique, 32 always
	From, To   time.Time // when they were stored; zero: no bound
}

// maxQueried is how many messages a broker gives at most.
const maxQueried = 64

// QueryMessages asks one broker's index (code 12). None found is an empty list. A
// message that was stored within the last second may not be in the index yet. The
// index knows hashes only, so what it gives is looked at again: other messages of the
// same hash are left out, which is why fewer than Max need not be all.
func (c *Client) QueryMessages(ctx context.Context, addr, brokerName string, q *MessageQuery) ([]protocol.MessageExt, error) {
	h := protocol.QueryMessageRequestHeader{
		Topic: q.Topic, Key: q.Key, Unique: q.Unique, MaxNum: maxQueried, EndTimestamp: math.MaxInt64,
	}
	if q.Max > 0 {
		h.MaxNum = int32(min(q.Max, maxQueried))
	}
	if !q.From.IsZero() {
		h.BeginTimestamp = q.From.UnixMilli()
	}
	if !q.To.IsZero() {
		h.EndTimestamp = q.To.UnixMilli()
	}
	source := &protocol.MessageSource{BrokerName: brokerName, Topic: q.Topic}
	messages, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.QueryMessage, protocol.EncodeFields(&h), nil),
		func(body []byte) ([]protocol.MessageExt, error) { return protocol.AppendMessages(nil, body, source) })
	if _, none := refusedWith(err, protocol.QueryNotFound); none {
		return nil, nil
	}
	if err != nil {
		return nil, about(err, "messages of %s with key %s", q.Topic, q.Key)
	}
	return slices.DeleteFunc(messages, func(m protocol.MessageExt) bool { return !q.matches(&m) }), nil
}

func (q *MessageQuery) matches(m *protocol.MessageExt) bool {
	stored := m.Stored()
	if m.Topic() != q.Topic || stored.Before(q.From) || !q.To.IsZero() && stored.After(q.To) {
		return false
	}
	if q.Unique {
		return m.UniqueID() == q.Key
	}
	return slices.Contains(m.Keys(), q.Key) || m.UniqueID() == q.Key
}

// noMessage is in the remark by which brokers say that no message begins at a commit
// log offset; the code that goes with it, 1, stands for every other failure too.
const noMessage = "can not find message by the offset"

// ViewMessage asks one broker for the message at a commit log offset (code 33). It
// must be one that a message begins at: what a broker says to others is not defined.
func (c *Client) ViewMessage(ctx context.Context, addr, brokerName, topic string, commitLogOffset int64) (m protocol.MessageExt, found bool, err error) {
	h := protocol.ViewMessageRequestHeader{Offset: commitLogOffset, Topic: topic}
	source := &protocol.MessageSource{BrokerName: brokerName, Topic: topic}
	messages, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.ViewMessageByID, protocol.EncodeFields(&h), nil),
		func(body []byte) ([]protocol.MessageExt, error) { return protocol.AppendMessages(nil, body, source) })
	if ce, refused := refusedWith(err, protocol.SystemError); refused && strings.Contains(ce.Remark, noMessage) {
		return protocol.MessageExt{}, false, nil
	}
	if err != nil || len(messages) == 0 {
		return protocol.MessageExt{}, false, about(err, "message at %d of %s", commitLogOffset, brokerName)
	}
	return messages[0], true, nil
}
