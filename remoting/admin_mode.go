package remoting

import (
	"context"

	"eyeq/remoting/protocol"
)

// RequestModes asks one 5.x broker how the members of groups are to get the messages
// of topics (code 402), where it was told: the others pull.
func (c *Client) RequestModes(ctx context.Context, addr string) ([]protocol.RequestMode, error) {
	modes, err := ask(ctx, c, addr, max(c.callTimeout, tableLimit), newRequest(protocol.GetAllMessageRequestMode, nil, nil), protocol.DecodeRequestModes)
	return modes, about(err, "message request modes")
}

// SetRequestMode tells one 5.x broker how the members of a group are to get a topic's
// messages (code 401).
func (c *Client) SetRequestMode(ctx context.Context, addr string, m *protocol.RequestMode) error {
	_, err := c.Invoke(ctx, addr, newRequest(protocol.SetMessageRequestMode, nil, protocol.EncodeRequestMode(m)))
	return about(err, "message request mode of %s for %s", m.Topic, m.Group)
}

// Assignment asks one 5.x broker which queues of a topic it gives to a member that
// lets it allocate (code 400). It answers about any client id.
func (c *Client) Assignment(ctx context.Context, addr string, q *protocol.AssignmentQuestion) (protocol.Assignment, error) {
	a, err := ask(ctx, c, addr, c.callTimeout, newRequest(protocol.QueryAssignment, nil, protocol.EncodeAssignmentQuestion(q)), protocol.DecodeAssignment)
	return a, about(err, "assignment of %s to %s", q.Topic, q.ClientID)
}
