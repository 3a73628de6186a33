package remoting

import (
	"context"

	"eyeq/remoting/protocol"
)

// AllOffsets asks one broker for every committed offset that it has (code 43). What
// is not there was never committed, where code 14 may say 0.
func (c *Client) AllOffsets(ctx context.Context, addr string) (protocol.AllOffsets, error) {
	all, err := ask(ctx, c, addr, max(c.callTimeout, tableLimit), newRequest(protocol.GetAllConsumerOffset, nil, nil), protocol.DecodeAllOffsets)
	return all, about(err, "all offsets")
}

// BrokerConsumeStats asks one broker for the progress of all groups (code 317). The
// broker goes through every group, topic and queue: it is no question for a busy one
// with thousands of groups.
func (c *Client) BrokerConsumeStats(ctx context.Context, addr string) (protocol.BrokerConsumeStats, error) {
	var h protocol.BrokerConsumeStatsRequestHeader
	stats, err := ask(ctx, c, addr, max(c.callTimeout, tableLimit), newRequest(protocol.GetBrokerConsumeStats, protocol.EncodeFields(&h), nil), protocol.DecodeBrokerConsumeStats)
	return stats, about(err, "progress of all groups")
}

// QueueTimeSpans asks one broker when a topic's messages were stored and up to when a
// group has consumed them (code 303).
func (c *Client) QueueTimeSpans(ctx context.Context, addr, topic, group string) ([]protocol.QueueTimeSpan, error) {
	h := protocol.GroupRequestHeader{Group: group, Topic: topic}
	spans, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.QueryConsumeTimeSpan, protocol.EncodeFields(&h), nil), protocol.DecodeTimeSpans)
	return spans, about(err, "time spans of %s in %s", group, topic)
}

// ResetOffsets asks one master to reset a group (code 222) and returns where each of
// its queues is to go. A 4.9 master tells the members and changes nothing itself; a
// 5.x one changes its own table and tells whoever pulls next.
func (c *Client) ResetOffsets(ctx context.Context, addr string, h *protocol.InvokeResetOffsetRequestHeader) (protocol.OffsetTable, error) {
	targets, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.InvokeBrokerToResetOffset, h.Fields(), nil), protocol.DecodeResetOffset)
	return targets, about(err, "reset %s in %s", h.Group, h.Topic)
}

// CloneOffsets copies a group's committed offsets of a topic to another group at one
// master (code 314). The answer says nothing of what was copied.
func (c *Client) CloneOffsets(ctx context.Context, addr string, h *protocol.CloneGroupOffsetRequestHeader) error {
	_, err := c.Invoke(ctx, addr, newRequest(protocol.CloneGroupOffset, protocol.EncodeFields(h), nil))
	return about(err, "clone %s to %s in %s", h.SrcGroup, h.DestGroup, h.Topic)
}
