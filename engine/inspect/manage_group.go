package inspect

import (
	"context"
	"slices"

	"eyeq/remoting/protocol"
)

// planGroup says what making or deleting a group would do at each broker of the plan.
func (in *Inspector) planGroup(ctx context.Context, s *survey, p *ManagePlan) error {
	name := p.Request.Name
	if isSystemGroup(name) {
		p.refuse("%s is one of RocketMQ's own groups: brokers make and need it", name)
		return nil
	}
	if len(s.problems) > 0 {
		p.refuse("not all brokers have told their groups (%v): nothing can be said for sure", s.problems[0])
	}
	known := s.groups[name]
	for i := range p.Rows {
		row := &p.Rows[i]
		if known != nil && slices.Contains(known.brokers, row.Broker) {
			row.Before = "configured"
		}
	}
	if p.Request.Action == CreateGroup {
		for i := range p.Rows {
			row := &p.Rows[i]
			row.After = "configured"
			if row.Before != "" {
				p.refuse("group %s is there already, at %s", name, row.Broker)
			}
		}
		return nil
	}
	v := in.round(s).view(ctx, name)
	if !s.knows(name) && len(v.members.Members) == 0 && len(v.queues) == 0 && len(v.errs) == 0 {
		return in.planOffsets(ctx, s, p)
	}
	if n := len(v.members.Members); n > 0 {
		p.refuse("group %s has %s online, which would make it again at once: stop them first", name, Plural(n, "member"))
	}
	if len(v.errs) > 0 {
		p.refuse("it is not known whether members are online (%v)", v.errs[0])
	}
	v.countPops()
	p.groupLosses(s, v.lag(ctx))
	return nil
}

// groupLosses notes what goes with a group, and which of its topics do.
func (p *ManagePlan) groupLosses(s *survey, l GroupLag) {
	name := p.Request.Name
	if l.Lag != Exact(0) {
		p.note("its offsets go with it: %s messages wait for it", howMany(l.Lag))
	} else {
		p.note("its offsets go with it")
	}
	if topic := protocol.RetryTopic(name); s.topics[topic] {
		p.Topics = append(p.Topics, topic)
		if l.RetryLag != Exact(0) {
			p.note("%s messages that wait to be tried again are lost", howMany(l.RetryLag))
		}
	}
	if topic := protocol.DLQTopic(name); s.topics[topic] {
		if p.Request.DeadLetters {
			p.Topics = append(p.Topics, topic)
			p.note("%s dead letters are lost", howMany(l.DeadLetters))
		} else {
			p.note("its dead-letter topic stays, with %s messages", howMany(l.DeadLetters))
		}
	}
}

// offsetsOnly is what a broker has of a group without a configuration: offsets in
// topics that are gone.
const offsetsOnly = "offsets only"

// planOffsets plans to delete what brokers have kept of a group that is gone.
func (in *Inspector) planOffsets(ctx context.Context, s *survey, p *ManagePlan) error {
	name, round := p.Request.Name, in.round(s)
	plain, broadcast := false, false
	for i := range p.Rows {
		row := &p.Rows[i]
		c, err := round.committed(ctx, row.Addr)
		if err != nil {
			p.refuse("%s does not say what offsets it keeps (%v)", row.Broker, ReasonOf(err))
			return nil
		}
		if len(c.all[name]) > 0 {
			row.Before, plain = offsetsOnly, true
		}
		broadcast = broadcast || len(c.all[name+broadcastMark]) > 0
	}
	switch {
	case plain:
		p.note("it has no configuration and no topic any more: its offsets are deleted")
	case broadcast:
		p.refuse("all that is left of group %s is how far broadcasting members were: the broker has no request that takes it away, and it does no harm", name)
	default:
		return missing("group", name, s.problems...)
	}
	return nil
}
