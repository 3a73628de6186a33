package inspect

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"eyeq/remoting/protocol"
)

// groupsAtOnce is how many rows are gathered at a time: each holds its answers until
// it is done, so this bounds the memory of a long list.
const groupsAtOnce = 32

// Groups gives the names of all groups that any broker knows: by configuration, by a
// retry topic or by offsets. Details are asked by GroupRows, for the rows that are seen.
func (in *Inspector) Groups(ctx context.Context) (GroupList, error) {
	s, err := in.sharedSurvey(ctx)
	if err != nil {
		return GroupList{At: in.now()}, err
	}
	list := GroupList{At: s.at, Problems: slices.Concat(s.problems, s.unproxied)}
	names := map[string]*GroupName{}
	name := func(group string) *GroupName {
		if names[group] == nil {
			names[group] = &GroupName{Group: group, System: isSystemGroup(group), Paused: s.pause(group)}
		}
		return names[group]
	}
	for group := range s.groups {
		name(group).Configured = true
	}
	r := in.round(s)
	committed := make([]commits, len(s.brokers))
	failed := make([]error, len(s.brokers))
	each(len(s.brokers), 0, func(i int) { committed[i], failed[i] = r.committed(ctx, s.brokers[i].addr) })
	for i, c := range committed {
		if failed[i] != nil {
			list.Problems = append(list.Problems, problem("groups with offsets", s.brokers[i].name, failed[i]))
		}
		for _, group := range c.groups() {
			name(group).Offsets = true
		}
	}
	pop := map[string]bool{}
	for _, topics := range s.pop {
		for _, topic := range topics {
			pop[topic] = true
		}
	}
	for topic := range s.topics {
		if group, ok := strings.CutPrefix(topic, protocol.RetryTopicPrefix); ok && !pop[topic] {
			name(group).RetryTopic = true
		}
	}
	for _, group := range slices.Sorted(maps.Keys(names)) {
		list.Groups = append(list.Groups, *names[group])
	}
	return list, nil
}

// GroupRows gives the details of groups, in their order.
func (in *Inspector) GroupRows(ctx context.Context, groups []string) []GroupRow {
	rows := make([]GroupRow, len(groups))
	s, err := in.survey(ctx)
	if err != nil {
		for i, group := range groups {
			rows[i] = GroupRow{GroupName: GroupName{Group: group}, At: in.now(), Problems: []Problem{problem("brokers", "the name servers", err)}}
			why := ReasonOf(err)
			rows[i].Lag, rows[i].RetryLag, rows[i].DeadLetters, rows[i].Members = Unknown(why), Unknown(why), Unknown(why), Unknown(why)
			rows[i].State, rows[i].Kind = why.Kind.String(), KindUnknown
		}
		return rows
	}
	r := in.round(s)
	each(len(groups), groupsAtOnce, func(i int) {
		v := r.view(ctx, groups[i])
		v.hearOne(ctx)
		rows[i] = v.row(v.lag(ctx))
	})
	return rows
}

// row makes the row of a group.
func (v *groupView) row(l GroupLag) GroupRow {
	s := v.round.survey
	row := GroupRow{
		GroupName: GroupName{
			Group: v.group, System: isSystemGroup(v.group), Paused: l.Pause,
			RetryTopic: s.topics[protocol.RetryTopic(v.group)], Offsets: v.hasOffsets(),
		},
		At: l.At, Kind: v.kind(), Model: l.Model, Members: l.Members, Lag: l.Lag, RetryLag: l.RetryLag,
		DeadLetters: l.DeadLetters, UnknownQueues: l.UnknownQueues, ConsumeTPS: l.ConsumeTPS, State: l.State, Problems: l.Problems,
		Type: v.members.Type, Modes: s.requestModes(v.group),
	}
	row.Configured = s.groups[v.group] != nil
	if known := s.groups[v.group]; known != nil {
		row.Orderly = known.orderly
	}
	for i := range v.members.Members {
		row.Versions = addOnce(row.Versions, v.members.Members[i].Version)
	}
	slices.Sort(row.Versions)
	for i := range v.queues {
		if !v.queues[i].Retry {
			row.Topics = addOnce(row.Topics, v.queues[i].Topic)
		}
	}
	for _, topic := range v.unread {
		if !isRetry(topic) {
			row.Topics = addOnce(row.Topics, topic)
		}
	}
	slices.Sort(row.Topics)
	return row
}

func (v *groupView) hasOffsets() bool {
	for i := range v.said {
		if len(v.said[i].stats.OffsetTable) > 0 {
			return true
		}
	}
	return false
}

// kind of a group whose members have not told is told by what the brokers were told, and
// by its retry topics: POP has a retry topic for each topic.
func (v *groupView) kind() GroupKind {
	pop := len(v.popRetries()) > 0 || v.round.survey.toldToPop(v.group, "")
	told := slices.ContainsFunc(v.members.Members, func(m Member) bool { return m.Info != nil })
	switch {
	case v.members.Kind == KindPush && !told && pop:
		return KindPop
	case v.members.Kind != KindUnknown:
		return v.members.Kind
	case v.proxied():
		return KindProxy
	case pop:
		return KindPop
	}
	return KindUnknown
}

// afterglow is for how long a broker goes on telling a rate of a group that has
// stopped: it is that of the last minute.
const afterglow = 90 * time.Second

// maxAlone bounds how many groups are remembered that are consumed by nobody known.
const maxAlone = 4096

// proxied reports whether somebody consumes for longer than a stopped member's rate
// lasts, although no broker knows a member: a 5.x proxy does it for others.
func (v *groupView) proxied() bool {
	alone := len(v.members.Members) == 0 && v.tps > 0
	for i := range v.said {
		alone = alone && v.said[i].offline() && v.said[i].broker.five()
	}
	in := v.round.in
	now := in.now()
	in.mu.Lock()
	defer in.mu.Unlock()
	if !alone {
		delete(in.alone, v.group)
		return false
	}
	since, ok := in.alone[v.group]
	if !ok && len(in.alone) < maxAlone {
		in.alone[v.group] = now
	}
	return ok && now.Sub(since) > afterglow
}

// The words for the state of a group.
const (
	StateOnline       = "online"
	StateOffline      = "offline"
	StatePaused       = "paused"
	StatePartlyPaused = "partly paused"
	StateBroadcasting = "broadcasting"
	StateProxy        = "behind a proxy"
	StateDenied       = "denied"
	StateUnreachable  = "unreachable"
	StateUnknown      = "unknown"
)

// States are all the words for the state of a group.
func States() []string {
	return []string{
		StateOnline, StateOffline, StatePaused, StatePartlyPaused, StateBroadcasting, StateProxy, StateDenied, StateUnreachable, StateUnknown,
	}
}

// state is the one word for the list. What keeps one from seeing comes first, then
// what keeps the group from consuming.
func (v *groupView) state(p Pause) string {
	members := v.memberCount()
	switch {
	case !members.Known && members.Why.Kind == ReasonDenied:
		return StateDenied
	case !members.Known && members.Why.Kind == ReasonUnreachable:
		return StateUnreachable
	case p.All():
		return StatePaused
	case p.Any():
		return StatePartlyPaused
	case !members.Known:
		return StateUnknown
	case v.members.Model == protocol.Broadcasting:
		return StateBroadcasting
	case v.members.proxied():
		return StateProxy
	case members.Value > 0:
		return StateOnline
	case v.proxied():
		return StateProxy
	case members.AtLeast: // nobody at those that answer
		return StateUnknown
	}
	return StateOffline
}

// Group gives everything about one group that is not about its queues.
func (in *Inspector) Group(ctx context.Context, group string) (GroupDetail, error) {
	v, err := in.open(ctx, group)
	if err != nil {
		return GroupDetail{}, err
	}
	v.hear(ctx)
	d := GroupDetail{Row: v.row(v.lag(ctx)), Subscriptions: v.subscriptions()}
	d.Row.Orderly = v.orderly()
	d.Configs = in.configs(ctx, v.round.survey, group, v.queues)
	d.Differences = configDifferences(d.Configs)
	return d, nil
}

// subscriptions lays what the members subscribe to side by side.
func (v *groupView) subscriptions() SubscriptionMatrix {
	m := SubscriptionMatrix{Agree: true, Unknown: map[string]Reason{}}
	held := map[string]protocol.SubscriptionData{} // by the brokers
	topics := map[string]bool{}
	for i := range v.said {
		for topic, s := range v.said[i].connections.SubscriptionTable {
			held[topic], topics[topic] = s, true
		}
	}
	cells := make([]map[string]protocol.SubscriptionData, len(v.members.Members))
	for i := range v.members.Members {
		member := &v.members.Members[i]
		m.Members = append(m.Members, member.ClientID)
		if member.Info == nil {
			m.Unknown[member.ClientID] = member.Why
			continue
		}
		cells[i] = map[string]protocol.SubscriptionData{}
		for _, s := range member.Info.SubscriptionSet {
			cells[i][s.Topic], topics[s.Topic] = s, true
		}
	}
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		row := SubscriptionRow{Topic: topic, Type: cmp.Or(held[topic].ExpressionType, protocol.ExpressionTAG), Same: true}
		row.Broker = expression(held, topic)
		first := -1 // of those that have said
		for i := range cells {
			row.Cells = append(row.Cells, expression(cells[i], topic))
			row.Types = append(row.Types, cells[i][topic].ExpressionType)
			switch {
			case cells[i] == nil:
			case first < 0:
				first = i
			default:
				a, reads := cells[first][topic]
				b, also := cells[i][topic]
				row.Same = row.Same && reads == also && a.SameFilter(&b)
			}
		}
		m.Agree = m.Agree && row.Same
		m.Rows = append(m.Rows, row)
	}
	return m
}

// expression is what is subscribed of a topic; "" when it is not.
func expression(subscriptions map[string]protocol.SubscriptionData, topic string) string {
	s, ok := subscriptions[topic]
	if !ok {
		return ""
	}
	return cmp.Or(s.SubString, "*")
}
