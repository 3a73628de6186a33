package remoting

import (
	"context"
	"fmt"

	"eyeq/remoting/protocol"
)

// MemberOffsets asks a member of a group, through the broker at addr, for the
// offsets that it holds of a topic's queues (code 223): a queue that it has given
// away is not among them. online is false when the broker knows no such member,
// or could not get an answer from it: only the broker knows which.
func (c *Client) MemberOffsets(ctx context.Context, addr, group, topic, clientID string) (offsets protocol.OffsetTable, online bool, err error) {
	h := protocol.MembersStatusRequestHeader{Topic: topic, Group: group, ClientID: clientID}
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.GetConsumerStatusOfMembers, h.Fields(), nil))
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
	answer, err := c.Invoke(ctx, addr, newRequest(protocol.GetConsumerConnectionList, h.Fields(), nil))
	if err != nil {
		return protocol.ConsumerConnection{}, fmt.Errorf("members of %s: %w", group, err)
	}
	connections, err := protocol.DecodeConsumerConnection(answer.Body)
	if err != nil {
		return protocol.ConsumerConnection{}, BadAnswer(protocol.GetConsumerConnectionList, addr, err)
	}
	return connections, nil
}
