package inspect

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// said is what one broker says of a group.
type said struct {
	broker      broker
	connections protocol.ConsumerConnection
	connErr     error // *remoting.CodeError ConsumerNotOnline: it knows no member
	stats       protocol.ConsumeStats
	statsErr    error
	// With the first broker's: the clients behind proxies of the whole cluster, and why
	// these may not be all.
	proxied   []heartbeat
	unproxied []Problem
}

// offline reports whether the broker says that no member is connected.
func (s *said) offline() bool {
	if s.connErr == nil {
		return len(s.connections.ConnectionSet) == 0
	}
	return ReasonOf(s.connErr).Kind == ReasonOffline
}

// look asks all brokers about a group. A member may be connected to some of them
// only, and a group's offsets are at each broker those of its own queues.
func (in *Inspector) look(ctx context.Context, s *survey, group string, stats bool) []said {
	answers := make([]said, len(s.brokers))
	if len(answers) > 0 {
		answers[0].proxied, answers[0].unproxied = s.proxied[group], s.unproxied
	}
	each(2*len(s.brokers), 0, func(i int) {
		a, addr := &answers[i/2], s.brokers[i/2].addr
		if i%2 == 0 {
			a.broker = s.brokers[i/2]
			a.connections, a.connErr = ask(ctx, in, addr, func(ctx context.Context) (protocol.ConsumerConnection, error) {
				return in.client.Connections(ctx, addr, group)
			})
		} else if stats {
			a.stats, a.statsErr = ask(ctx, in, addr, func(ctx context.Context) (protocol.ConsumeStats, error) {
				return in.client.ConsumeStats(ctx, addr, group, "")
			})
		}
	})
	return answers
}

// Members gives the members of a group with what each says of itself (307). One
// that does not answer has the reason in its row.
func (in *Inspector) Members(ctx context.Context, group string) (Members, error) {
	return in.members(ctx, group, false)
}

// MembersWithStacks is Members with the stacks of their threads, which are long and
// cost the members something.
func (in *Inspector) MembersWithStacks(ctx context.Context, group string) (Members, error) {
	return in.members(ctx, group, true)
}

// Others is Members without one, who needs no broker to ask itself.
func (in *Inspector) Others(ctx context.Context, group, self string) (Members, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return Members{Group: group, At: in.now()}, err
	}
	answers := in.look(ctx, s, group, false)
	m := in.merge(group, answers)
	m.Members = slices.DeleteFunc(m.Members, func(x Member) bool { return x.ClientID == self })
	in.askMembers(ctx, &m, answers, false)
	return m, nil
}

func (in *Inspector) members(ctx context.Context, group string, stacks bool) (Members, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return Members{Group: group, At: in.now()}, err
	}
	answers := in.look(ctx, s, group, false)
	m := in.merge(group, answers)
	if len(m.Members) == 0 && !s.knows(group) {
		if err := in.round(s).absent(ctx, group, m.Problems); err != nil {
			return m, err
		}
	}
	in.askMembers(ctx, &m, answers, stacks)
	in.askAssignments(ctx, &m, answers)
	m.Modes = s.requestModes(group)
	return m, nil
}

// merge makes one list of what the brokers say.
func (in *Inspector) merge(group string, answers []said) Members {
	m := Members{Group: group, At: in.now()}
	byID := map[string]*Member{}
	var known []string // brokers that know any member
	for i := range answers {
		a := &answers[i]
		m.Problems = append(m.Problems, a.unproxied...)
		if a.connErr != nil {
			if !a.offline() {
				m.Problems = append(m.Problems, problem("members of "+group, a.broker.name, a.connErr))
			}
			continue
		}
		c := &a.connections
		if len(c.ConnectionSet) > 0 {
			known = append(known, a.broker.name)
			m.Type, m.Model, m.From = cmp.Or(m.Type, c.ConsumeType), cmp.Or(m.Model, c.MessageModel), cmp.Or(m.From, c.ConsumeFromWhere)
		}
		for _, one := range c.ConnectionSet {
			member := byID[one.ClientID]
			if member == nil {
				member = &Member{ClientID: one.ClientID, Language: one.Language, Version: protocol.VersionText(one.Version)}
				byID[one.ClientID] = member
			}
			member.within(&a.broker)
			member.Brokers = addOnce(member.Brokers, a.broker.name)
			member.Addresses = addOnce(member.Addresses, one.ClientAddr)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		member := byID[id]
		member.Addresses = processes(member, answers)
		for _, name := range known {
			if !slices.Contains(member.Brokers, name) && member.Why.Kind != ReasonProxy {
				member.Missing = append(member.Missing, name)
			}
		}
		m.Members = append(m.Members, *member)
	}
	for i := range answers {
		for _, b := range answers[i].proxied {
			if byID[b.ClientID] == nil {
				m.Members = append(m.Members, b.member())
				m.Type, m.Model, m.From = cmp.Or(m.Type, b.Consume), cmp.Or(m.Model, b.Model), cmp.Or(m.From, b.From)
			}
		}
	}
	slices.SortStableFunc(m.Members, func(a, b Member) int { return strings.Compare(a.ClientID, b.ClientID) })
	m.Kind = kindOf(m.Type, len(m.Members))
	if m.proxied() {
		m.Kind = KindProxy
	}
	return m
}

// processes are the addresses from which a client id is connected. One process has
// a connection a broker, each from a port of its own, so a second process shows
// only by another host, or by two connections at one broker.
func processes(m *Member, answers []said) []string {
	var most []string
	hosts := map[string]string{}
	for i := range answers {
		var here []string
		for _, c := range answers[i].connections.ConnectionSet {
			if c.ClientID == m.ClientID {
				here = addOnce(here, c.ClientAddr)
				host := hostOf(c.ClientAddr)
				if hosts[host] == "" {
					hosts[host] = c.ClientAddr
				}
			}
		}
		if len(here) > len(most) {
			most = here
		}
	}
	for host, addr := range hosts {
		if !slices.ContainsFunc(most, func(a string) bool { return hostOf(a) == host }) {
			most = append(most, addr)
		}
	}
	slices.Sort(most)
	return most
}

// hostOf is an address without its port.
func hostOf(addr string) string {
	if at := strings.LastIndexByte(addr, ':'); at >= 0 {
		return addr[:at]
	}
	return addr
}

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func kindOf(t protocol.ConsumeType, members int) GroupKind {
	switch {
	case members == 0:
		return KindUnknown
	case t == protocol.ConsumePassively:
		return KindPush
	case t == protocol.ConsumeActively:
		return KindPull
	case t == protocol.ConsumePop:
		return KindPop
	}
	return KindUnknown
}

// askMembers asks each member for its running info through a broker that knows it,
// and where that fails by no fault of the member's through the next.
func (in *Inspector) askMembers(ctx context.Context, m *Members, answers []said, stacks bool) {
	addrs := map[string]string{}
	for i := range answers {
		addrs[answers[i].broker.name] = answers[i].broker.addr
	}
	each(len(m.Members), 0, func(i int) {
		member := &m.Members[i]
		if member.Why.Kind == ReasonProxy {
			return // the question would cost its whole time
		}
		defer func() { in.askStatus(ctx, m.Group, member, answers) }()
		for _, name := range member.Brokers {
			addr := addrs[name]
			info, err := askMember(ctx, in, addr, func(ctx context.Context) (protocol.ConsumerRunningInfo, error) {
				return in.client.RunningInfo(ctx, addr, m.Group, member.ClientID, stacks)
			})
			if err == nil {
				member.Info, member.InfoAt, member.Why = &info, in.now(), Reason{}
				return
			}
			member.Why = memberReason(err)
			if member.Why.Kind == ReasonUnreachable && !unreachable(err) {
				return // it is the member that is silent, and would be so again
			}
		}
	})
	if m.Kind == KindPush && m.pops() {
		m.Kind = KindPop
	}
}

// pops reports whether members get their messages by POP, as far as they have told.
// Those whose broker was told to give them messages so (setConsumeMode) still call
// themselves pushed to.
func (m *Members) pops() bool {
	pops := false
	for i := range m.Members {
		info := m.Members[i].Info
		if info == nil {
			continue
		}
		for mq := range info.MQTable {
			if !isRetry(mq.Topic) {
				return false
			}
		}
		pops = pops || len(info.MQPopTable) > 0
	}
	return pops
}

// memberReason says why a member has not told about itself.
func memberReason(err error) Reason {
	why := ReasonOf(err)
	e, ok := errors.AsType[*remoting.CodeError](err)
	switch {
	case !ok:
		if why.Kind == ReasonUnreachable && !unreachable(err) {
			why.Text = "the member does not answer"
		}
	case e.Code == protocol.ConsumeMsgTimeout:
		why.Text = "the member does not answer"
	case e.Code == protocol.SystemError && strings.Contains(e.Remark, "not online"):
		why.Kind = ReasonOffline
	case e.Code == protocol.SystemError && strings.Contains(e.Remark, "too low"):
		why.Kind = ReasonUnsupported // the broker does not relay to so old a client
	}
	return why
}

// askStatus asks a member that lives and has not given its running info which queues it
// reads (223). That of a Java client has both or none; of one that is silent brokers
// would wait longer than anybody does here.
func (in *Inspector) askStatus(ctx context.Context, group string, member *Member, answers []said) {
	if member.Info != nil || member.Language == "JAVA" || member.Why.Kind != ReasonBadAnswer && member.Why.Kind != ReasonFailed {
		return
	}
	type place struct{ addr, topic string }
	var places []place
	for i := range answers {
		if a := &answers[i]; slices.Contains(member.Brokers, a.broker.name) {
			for topic := range a.connections.SubscriptionTable {
				places = append(places, place{a.broker.addr, topic})
			}
		}
	}
	held := make([]protocol.OffsetTable, len(places))
	each(len(places), 0, func(i int) {
		p := places[i]
		held[i], _ = askMember(ctx, in, p.addr, func(ctx context.Context) (protocol.OffsetTable, error) {
			offsets, _, err := in.client.MemberOffsets(ctx, p.addr, group, p.topic, member.ClientID)
			return offsets, err // why it has no running info is told already
		})
	})
	for i := range held {
		for mq, offset := range held[i] {
			if member.Held == nil {
				member.Held = map[protocol.MessageQueue]int64{}
			}
			member.Held[mq] = offset
		}
	}
}
