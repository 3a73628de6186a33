package remoting

import (
	"context"
	"fmt"
	"strings"

	"eyeq/remoting/protocol"
)

// MemberOffsets asks a member of a group, through the broker at addr, for the
// offsets that it holds of a topic's queues (code 223): a queue that it has given
// away is not among them. online is false when the broker knows no such member,
// or could not get an answer from it: only the broker knows which.
func (c *Client) MemberOffsets(ctx context.Context, addr, group, topic, clientID string) (offsets protocol.OffsetTable, online bool, err error) {
	h := protocol.MembersStatusRequestHeader{Topic: topic, Group: group, ClientID: clientID}
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.GetConsumerStatusOfMembers, protocol.EncodeFields(&h), nil))
	if err != nil {
		return nil, false, fmt.Errorf("offsets held by %s: %w", clientID, err)
	}
	tables, err := protocol.DecodeMembersStatus(answer.Body)
	if err != nil {
		return nil, false, BadAnswer(protocol.GetConsumerStatusOfMembers, addr, err)
	}
	offsets, online = tables[clientID]
	return offsets, online, nil
}

// Connections asks one broker for the members of a group with the address that
// each is connected from (code 203).
func (c *Client) Connections(ctx context.Context, addr, group string) (protocol.ConsumerConnection, error) {
	h := protocol.ConsumerGroupRequestHeader{ConsumerGroup: group}
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.GetConsumerConnectionList, protocol.EncodeFields(&h), nil))
	if err != nil {
		return protocol.ConsumerConnection{}, fmt.Errorf("members of %s: %w", group, err)
	}
	connections, err := protocol.DecodeConsumerConnection(answer.Body)
	if err != nil {
		return protocol.ConsumerConnection{}, BadAnswer(protocol.GetConsumerConnectionList, addr, err)
	}
	return connections, nil
}

// RunningInfo asks a member of a group, through a broker that it is connected to,
// how it is inside (code 307); with jstack it also says what its threads do, which a
// Java member takes long for. The broker knows no such member: a *CodeError with
// SystemError; the member does not answer: one with ConsumeMsgTimeout, after 10 s.
func (c *Client) RunningInfo(ctx context.Context, addr, group, clientID string, jstack bool) (protocol.ConsumerRunningInfo, error) {
	h := protocol.ConsumerRunningInfoRequestHeader{ConsumerGroup: group, ClientID: clientID, JstackEnable: jstack}
	what := "running info of " + clientID
	answer, err := c.invoke(ctx, addr, newRequest(protocol.GetConsumerRunningInfo, protocol.EncodeFields(&h), nil), relayLimit)
	if err != nil {
		return protocol.ConsumerRunningInfo{}, about(err, "%s", what)
	}
	info, err := protocol.DecodeRunningInfo(answer.Body)
	switch {
	case err != nil && len(answer.Body) == 0 && answer.Remark != "":
		// The Go client of 2.1 says success and has nothing: it cannot write its rates
		// as JSON for as long as one of them is 0/0.
		err = BadAnswer(protocol.GetConsumerRunningInfo, addr, fmt.Errorf("there is none in it, the member says: %s", answer.Remark))
	case err != nil:
		err = BadAnswer(protocol.GetConsumerRunningInfo, addr, err)
	}
	return info, about(err, "%s", what)
}

// ConsumeDirectly has a member's listener called once with the message of an offset
// id (code 309), through the broker that stores it; no offset moves.
func (c *Client) ConsumeDirectly(ctx context.Context, addr string, h *protocol.ConsumeMessageDirectlyRequestHeader) (protocol.ConsumeMessageDirectlyResult, error) {
	result, err := ask(ctx, c, addr, relayLimit, newRequest(protocol.ConsumeMessageDirectly, protocol.EncodeFields(h), nil), protocol.DecodeConsumeDirectlyResult)
	return result, about(err, "have %s consume %s", h.ClientID, h.MsgID)
}

// noProducer is in the remark by which brokers say that a group has no producer.
const noProducer = "the producer group["

// ProducerConnections asks one broker for the producers of a group (code 204); none
// is an empty list.
func (c *Client) ProducerConnections(ctx context.Context, addr, producerGroup string) ([]protocol.Connection, error) {
	h := protocol.ProducerGroupRequestHeader{ProducerGroup: producerGroup}
	connections, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.GetProducerConnectionList, protocol.EncodeFields(&h), nil), protocol.DecodeProducerConnection)
	if ce, refused := refusedWith(err, protocol.SystemError); refused && strings.Contains(ce.Remark, noProducer) {
		return nil, nil
	}
	return connections, about(err, "producers of %s", producerGroup)
}
