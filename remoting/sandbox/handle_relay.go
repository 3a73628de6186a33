package sandbox

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eyeq/remoting/protocol"
)

// Requests that a broker passes on to a member: 307 and 309, and 223, which asks
// members with 221. Both lines do the same; 5.3 pushes no 220 by itself, which
// NotifyReset does all the same.

const (
	relayTimeout  = 10 * time.Second // of 307 and 309
	statusTimeout = 5 * time.Second  // of each 221

	// version318 is V3_1_8_SNAPSHOT: older clients do not answer 307 and 309.
	version318 = 62
)

func (b *broker) handleRunningInfo(c *call) answer {
	var h protocol.ConsumerRunningInfoRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	return b.relay(c, h.ConsumerGroup, h.ClientID, protocol.Command{Code: c.command.Code, ExtFields: c.command.ExtFields})
}

// handleConsumeDirectly adds the broker name and, as the body, the message.
func (b *broker) handleConsumeDirectly(c *call) answer {
	var h protocol.ConsumeMessageDirectlyRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &h); err != nil {
		return malformed(err)
	}
	_, at, err := protocol.ParseOffsetMessageID(h.MsgID)
	if err != nil {
		return malformed(err)
	}
	_, bytes, err := b.log.lookup(at)
	if err != nil {
		return malformed(err)
	}
	fields := slices.DeleteFunc(slices.Clone(c.command.ExtFields), func(f protocol.ExtField) bool { return f.Key == "brokerName" })
	fields = append(fields, protocol.ExtField{Key: "brokerName", Value: b.name})
	if _, named := fields.Get("topic"); named && !b.loop.four {
		fields = append(fields, protocol.ExtField{Key: "topicSysFlag", Value: "0"}, protocol.ExtField{Key: "groupSysFlag", Value: "0"})
	}
	return b.relay(c, h.ConsumerGroup, h.ClientID, protocol.Command{Code: c.command.Code, ExtFields: fields, Body: bytes})
}

// relay asks a member and passes its answer on as it is.
func (b *broker) relay(c *call, group, clientID string, req protocol.Command) answer {
	m := b.member(group, clientID)
	if m == nil {
		return refuse(protocol.SystemError, fmt.Sprintf("The Consumer <%s> <%s> not online", group, clientID))
	}
	if m.version < version318 {
		return refuse(protocol.SystemError, fmt.Sprintf("The Consumer <%s> Version <%d> too low to finish, please upgrade it to V3_1_8_SNAPSHOT", clientID, m.version))
	}
	b.ask(m, relayTimeout, req, func(got protocol.Command, err error) {
		if err != nil {
			b.loop.reply(c, refuse(protocol.ConsumeMsgTimeout, fmt.Sprintf("consumer <%s> <%s> Timeout: %v", group, clientID, err)))
			return
		}
		b.loop.reply(c, answer{as: &got})
	})
	return later
}

// ask sends req to a member on a goroutine of its own and calls then on the
// loop's, unless the sandbox ends.
func (b *broker) ask(m *member, timeout time.Duration, req protocol.Command, then func(protocol.Command, error)) {
	conn, calls := m.peer.conn, b.loop.calls
	b.loop.spawn(func(ctx context.Context) {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		got, err := conn.Invoke(limited, &req)
		select {
		case calls <- func(*loop) { then(got, err) }:
		case <-ctx.Done():
		}
	})
}

// handleConsumerStatus asks the members, one after the other, for the offsets
// that they hold; clientAddr is a client id and names one of them.
func (b *broker) handleConsumerStatus(c *call) answer {
	var ask protocol.MembersStatusRequestHeader
	if err := protocol.DecodeFields(c.command.ExtFields, &ask); err != nil {
		return malformed(err)
	}
	g := b.groups[ask.Group]
	if g == nil || len(g.members) == 0 {
		return refuse(protocol.SystemError, "java.lang.NullPointerException")
	}
	s := &statusRound{broker: b, call: c, tables: map[string]protocol.OffsetTable{}}
	h := protocol.ConsumerStatusRequestHeader{Topic: ask.Topic, Group: ask.Group}
	s.request = protocol.Command{Code: int32(protocol.GetConsumerStatusFromClient), ExtFields: protocol.EncodeFields(&h)}
	for _, m := range g.members {
		if ask.ClientID == "" || ask.ClientID == m.clientID {
			s.left = append(s.left, m)
		}
	}
	s.next()
	return later
}

// statusRound is one 223 on its way through the members.
type statusRound struct {
	broker  *broker
	call    *call
	request protocol.Command
	left    []*member
	tables  map[string]protocol.OffsetTable
}

func (s *statusRound) next() {
	if len(s.left) == 0 {
		s.broker.loop.reply(s.call, answer{body: encodeConsumerStatuses(s.tables)})
		return
	}
	m := s.left[0]
	s.left = s.left[1:]
	s.broker.ask(m, statusTimeout, s.request, func(got protocol.Command, err error) {
		if err == nil && got.Code == int32(protocol.Success) {
			if table, err := protocol.DecodeConsumerStatus(got.Body); err == nil {
				s.tables[m.clientID] = table
			}
		}
		s.next()
	})
}

// notifyReset pushes the offsets of this broker's queues to a group's members.
func (b *broker) notifyReset(group, topic string, offsets protocol.OffsetTable) {
	g := b.groups[group]
	if g == nil {
		return
	}
	own := protocol.OffsetTable{}
	for mq, offset := range offsets {
		if mq.BrokerName == b.name {
			own[mq] = offset
		}
	}
	if len(own) == 0 {
		return
	}
	h := protocol.ResetOffsetRequestHeader{Topic: topic, Group: group, Timestamp: b.loop.now.UnixMilli()}
	for _, m := range g.members {
		m.peer.push(outgoing{command: protocol.Command{
			Code: int32(protocol.ResetConsumerClientOffset), ExtFields: protocol.EncodeFields(&h), Body: protocol.EncodeResetOffset(own),
		}})
	}
}
