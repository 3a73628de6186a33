package inspect

import (
	"context"

	"eyeq/engine/core"
	"eyeq/remoting/protocol"
)

// askAssignments asks the brokers which queues they give to those members that have
// said that they let the broker allocate. Any broker that knows the member knows all
// queues of a topic; members ask one too.
func (in *Inspector) askAssignments(ctx context.Context, m *Members, answers []said) {
	addrs := map[string]string{}
	for i := range answers {
		addrs[answers[i].broker.name] = answers[i].broker.addr
	}
	each(len(m.Members), 0, func(i int) {
		member := &m.Members[i]
		if member.Info == nil || member.Info.Properties["clientRebalance"] != "false" || len(member.Brokers) == 0 {
			return
		}
		addr := addrs[member.Brokers[0]]
		member.Assigned = []protocol.Assigned{}
		for _, s := range member.Info.SubscriptionSet {
			q := protocol.AssignmentQuestion{
				Topic: s.Topic, Group: m.Group, ClientID: member.ClientID, Model: m.Model,
				Strategy: core.StrategyOf(member.Info.Properties["allocateMessageQueueStrategy"]),
			}
			a, err := ask(ctx, in, addr, func(ctx context.Context) (protocol.Assignment, error) { return in.client.Assignment(ctx, addr, &q) })
			switch {
			case err != nil:
				member.AssignedWhy = ReasonOf(err)
			case !a.Known:
				member.AssignedWhy = Reason{ReasonNotFound, "the broker knows no topic " + s.Topic + ", or no strategy " + q.Strategy}
			}
			member.Assigned = append(member.Assigned, a.Queues...)
		}
	})
}
