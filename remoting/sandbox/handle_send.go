package sandbox

import (
	"fmt"
	"net/netip"
	"strings"

	"eyeq/remoting/protocol"
)

// Sending (10, 310, 320) and sending back (36). Lines differ: 5.3 wants a body
// and adds a unique id, a region and a trace flag; an illegal argument is 29
// there and 1 on 4.9; a message re-sent to a retry topic is dead on 4.9 when its
// times reach the limit, on 5.3 when they exceed it or the group holds any lock.
// Transactions, timers and inner batches are not imitated.

const maxTopicLength = 127

func (b *broker) handleSend(c *call) answer {
	h := protocol.SendMessageRequestHeader{MaxReconsumeTimes: -1}
	parse := h.ParseV2
	if protocol.RequestCode(c.command.Code) == protocol.SendMessage {
		parse = h.Parse
	}
	if err := parse(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	if h.Batch {
		return b.sendBatch(c, &h)
	}
	t, refused := b.admitSend(&h, c.command.Body)
	if t == nil {
		return refused
	}
	queueID, ok := t.writable(h.QueueID)
	if !ok {
		return b.noQueue(t, h.QueueID)
	}
	r := b.recordOf(&h, c.peer.host)
	r.Topic, r.QueueID, r.Body, r.Properties = t.name, queueID, c.command.Body, protocol.ParseProperties(h.Properties)
	b.divertDead(&h, &r)
	at, err := b.storeSent(&r)
	if err != nil {
		return malformed(err)
	}
	return b.sent(protocol.SendMessageResponseHeader{
		MsgID:         protocol.OffsetMessageID(b.host, at.commitLogOffset),
		QueueID:       queueID,
		QueueOffset:   at.queueOffset,
		TransactionID: property(&r, protocol.PropertyUniqKey),
	})
}

func (b *broker) handleSendBatch(c *call) answer {
	var h protocol.SendMessageRequestHeader
	if err := h.ParseV2(c.command.ExtFields); err != nil {
		return malformed(err)
	}
	return b.sendBatch(c, &h)
}

// sendBatch stores each item with its own properties followed by the request's,
// which therefore win where both have one.
func (b *broker) sendBatch(c *call, h *protocol.SendMessageRequestHeader) answer {
	t, refused := b.admitSend(h, c.command.Body)
	if t == nil {
		return refused
	}
	if strings.HasPrefix(t.name, protocol.RetryTopicPrefix) {
		return refuse(protocol.MessageIllegal, "batch request does not support retry group "+t.name)
	}
	queueID, ok := t.writable(h.QueueID)
	if !ok {
		return b.noQueue(t, h.QueueID)
	}
	items, err := protocol.DecodeBatch(c.command.Body)
	if err != nil {
		return refuse(protocol.MessageIllegal, err.Error())
	}
	outer := protocol.ParseProperties(h.Properties)
	resp := protocol.SendMessageResponseHeader{QueueID: queueID}
	ids := make([]string, 0, len(items))
	for i := range items {
		r := b.recordOf(h, c.peer.host)
		r.Topic, r.QueueID, r.Flag, r.Body = t.name, queueID, items[i].Flag, items[i].Body
		r.Properties = append(items[i].Properties, outer...)
		at, err := b.storeSent(&r)
		if err != nil {
			return malformed(err)
		}
		if i == 0 {
			resp.QueueOffset, resp.TransactionID = at.queueOffset, property(&r, protocol.PropertyUniqKey)
		}
		ids = append(ids, protocol.OffsetMessageID(b.host, at.commitLogOffset))
	}
	resp.MsgID = strings.Join(ids, ",")
	return b.sent(resp)
}

// recordOf takes over what a send's header says of every message.
func (b *broker) recordOf(h *protocol.SendMessageRequestHeader, host netip.AddrPort) protocol.Record {
	return protocol.Record{Flag: h.Flag, SysFlag: h.SysFlag, Born: h.Born, BornHost: host, ReconsumeTimes: h.ReconsumeTimes}
}

// sent is the answer to what has been stored.
func (b *broker) sent(h protocol.SendMessageResponseHeader) answer {
	if b.loop.four {
		h.TransactionID = ""
	}
	fields := append(protocol.EncodeFields(&h), protocol.ExtField{Key: "MSG_REGION", Value: region}, protocol.ExtField{Key: "TRACE_ON", Value: "true"})
	return answer{fields: fields}
}

// admitSend checks a send and finds its topic; without one it says why not.
func (b *broker) admitSend(h *protocol.SendMessageRequestHeader, body []byte) (*topic, answer) {
	switch {
	case len(body) == 0 && !b.loop.four:
		return nil, refuse(protocol.SystemError, "java.lang.NullPointerException")
	case len(body) > maxBody:
		return nil, refuse(protocol.MessageIllegal, fmt.Sprintf("message body size exceeds the limit, body %d, limit %d", len(body), maxBody))
	case len(h.Properties) > maxProperties:
		return nil, refuse(protocol.MessageIllegal, fmt.Sprintf("message properties size exceeds the limit, %d, limit %d", len(h.Properties), maxProperties))
	}
	if refused := b.readOnly(); refused.code != protocol.Success {
		return nil, refused
	}
	return b.sendTopic(h.Topic, h.DefaultTopic, h.DefaultTopicQueueNums)
}

// readOnly refuses what a broker may not store by its own permission.
func (b *broker) readOnly() (refused answer) {
	if b.loop.options.Permission&protocol.PermWrite == 0 {
		refused = refuse(protocol.NoPermission, fmt.Sprintf("the broker[%s] sending message is forbidden", b.host.Addr()))
	}
	return refused
}

// sendTopic finds a topic to send to, and makes it where a broker would: any
// topic after TBW102 when topics may be made so, a retry topic always.
func (b *broker) sendTopic(name, defaultTopic string, queues int32) (*topic, answer) {
	switch {
	case len(name) > maxTopicLength:
		return nil, refuse(b.loop.invalid(), fmt.Sprintf("The specified topic is longer than topic max length %d.", maxTopicLength))
	case !validTopic(name):
		return nil, refuse(b.loop.invalid(), fmt.Sprintf("The specified topic[%s] contains illegal characters, allowing only ^[%%|a-zA-Z0-9_-]+$", name))
	case name == scheduleTopic:
		return nil, refuse(protocol.NoPermission, fmt.Sprintf("Sending message to topic[%s] is forbidden.", name))
	}
	if t := b.topic(name); t != nil {
		return t, answer{}
	}
	if d := b.topic(defaultTopic); d != nil && d.perm&permInherit != 0 {
		return b.makeTopic(name, min(max(queues, 1), d.write), permReadWrite), answer{}
	}
	if strings.HasPrefix(name, protocol.RetryTopicPrefix) {
		return b.makeTopic(name, 1, permReadWrite), answer{}
	}
	return nil, noTopic(name)
}

func validTopic(name string) bool {
	const allowed = "%|_-"
	for _, c := range []byte(name) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && strings.IndexByte(allowed, c) < 0 {
			return false
		}
	}
	return name != ""
}

// writable is the queue to write to: the one asked for, or the next in turn when
// the sender leaves the choice. A broker does not look at the write permission.
func (t *topic) writable(queueID int32) (int32, bool) {
	if queueID < 0 {
		return t.nextQueue(), true
	}
	return queueID, int(queueID) < len(t.queues)
}

func (b *broker) noQueue(t *topic, queueID int32) answer {
	return refuse(b.loop.invalid(), fmt.Sprintf("request queueId[%d] is illegal, topic:[%s] readQueueNums:[%d] writeQueueNums:[%d]", queueID, t.name, t.read, t.write))
}

// divertDead sends a message that was sent to a retry topic too often to the
// group's dead letters instead.
func (b *broker) divertDead(h *protocol.SendMessageRequestHeader, r *protocol.Record) {
	name, retry := strings.CutPrefix(r.Topic, protocol.RetryTopicPrefix)
	if !retry {
		return
	}
	g := b.useGroup(name)
	limit := g.config.retryMaxTimes
	if h.MaxReconsumeTimes >= 0 {
		limit = h.MaxReconsumeTimes
	}
	dead := h.ReconsumeTimes > limit || g.anyLock(b.loop.now)
	if b.loop.four {
		dead = h.ReconsumeTimes >= limit
	}
	if !dead {
		return
	}
	r.Topic, r.QueueID = b.deadLetters(g).name, 0
	if !b.loop.four { // 4.9 leaves the client's level, so that the dead letter is delayed
		setProperty(r, protocol.PropertyDelay, "-1")
	}
}

func (b *broker) deadLetters(g *group) *topic { return b.ensureTopic(protocol.DLQTopic(g.name), 1) }

// handleSendBack stores a consumed message again: in the retry topic after a
// delay, or among the dead letters. Both lines do the same.
func (b *broker) handleSendBack(c *call) answer {
	h := protocol.ConsumerSendMsgBackRequestHeader{MaxReconsumeTimes: -1}
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	if refused := b.readOnly(); refused.code != protocol.Success {
		return refused
	}
	g := b.useGroup(h.Group)
	t := b.ensureRetryTopic(g)
	if g.config.retryQueueNums <= 0 || t == nil {
		return answer{} // a group that does not retry loses it, and is not told
	}
	r, _, err := b.log.lookup(h.Offset)
	if err != nil {
		return refuse(protocol.SystemError, fmt.Sprintf("look message by offset failed, %d", h.Offset))
	}
	limit := g.config.retryMaxTimes
	if h.MaxReconsumeTimes >= 0 {
		limit = h.MaxReconsumeTimes
	}
	if property(&r, protocol.PropertyRetryTopic) == "" {
		setProperty(&r, protocol.PropertyRetryTopic, r.Topic)
	}
	if property(&r, protocol.PropertyOriginMessageID) == "" {
		setProperty(&r, protocol.PropertyOriginMessageID, protocol.OffsetMessageID(r.StoreHost, r.CommitLogOffset))
	}
	setProperty(&r, protocol.PropertyWait, "false")
	if r.ReconsumeTimes >= limit || h.DelayLevel < 0 {
		r.Topic, r.QueueID = b.deadLetters(g).name, 0
		setProperty(&r, protocol.PropertyDelay, "0")
	} else {
		level := h.DelayLevel
		if level == 0 {
			level = 3 + r.ReconsumeTimes
		}
		r.Topic, r.QueueID = t.name, t.nextQueue()
		setProperty(&r, protocol.PropertyDelay, fmt.Sprint(level))
	}
	r.ReconsumeTimes++
	if _, err := b.storeOrPark(&r); err != nil {
		return malformed(err)
	}
	return answer{}
}
