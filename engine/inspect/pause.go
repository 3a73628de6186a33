package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// enableField is the member of a group's configuration that lets it consume.
const enableField = "consumeEnable"

// PlanPause says what a pause, or a resume, would do at each broker, and to whom. It
// writes nothing. A broker that cannot be asked has its Error in its row.
func (in *Inspector) PlanPause(ctx context.Context, r PauseRequest) (PausePlan, error) {
	p := PausePlan{Request: r, At: in.now(), System: isSystemGroup(r.Group)}
	s, err := in.freshSurvey(ctx)
	if err != nil {
		return p, err
	}
	if r.Topic != "" {
		if _, _, err := in.client.RefreshRoute(ctx, r.Topic); isType[*remoting.NoRouteError](err) {
			return p, missing("topic", r.Topic)
		}
	}
	p.Brokers = make([]PauseRow, len(s.brokers))
	var said []said
	each(len(s.brokers)+1, 0, func(i int) {
		if i == len(s.brokers) {
			said = in.look(ctx, s, r.Group, false)
			return
		}
		p.Brokers[i] = in.planPauseAt(ctx, &s.brokers[i], &r)
	})
	if err := ctx.Err(); err != nil {
		return p, err
	}
	known := slices.ContainsFunc(p.Brokers, func(row PauseRow) bool { return row.config != "" })
	members := in.merge(r.Group, said)
	if !known {
		asked := !slices.ContainsFunc(p.Brokers, func(row PauseRow) bool { return row.Error != "" && !row.Missing })
		if asked && !s.knows(r.Group) && len(members.Members) == 0 {
			if err := in.round(s).absent(ctx, r.Group, members.Problems); err != nil {
				return p, err
			}
		}
		p.Why = "no broker that answers has a configuration of the group: there is nothing to " + p.verb()
	}
	if r.Topic != "" {
		for i := range s.brokers {
			if b := &s.brokers[i]; b.version != "" && !b.five() {
				p.Why = fmt.Sprintf("one topic of a group can be %sd on 5.x brokers only, and %s is %s: %s the whole group", p.verb(), b.name, b.version, p.verb())
			}
		}
	}
	for i := range members.Members {
		p.Members = append(p.Members, pauseEffect(&members.Members[i], &r))
	}
	return p, nil
}

// verb is what is done: "pause" or "resume".
func (p *PausePlan) verb() string {
	if p.Request.Resume {
		return "resume"
	}
	return "pause"
}

// planPauseAt reads one broker.
func (in *Inspector) planPauseAt(ctx context.Context, b *broker, r *PauseRequest) PauseRow {
	row := PauseRow{Broker: b.name, Addr: b.addr, After: !r.Resume}
	if b.id != remoting.MasterID {
		row.Error = "it has no master, and a slave takes no configuration"
		return row
	}
	state, err := in.pauseState(ctx, b.addr, r)
	switch {
	case err != nil:
		row.Error = "its configuration of the group cannot be read: " + ReasonOf(err).String()
	case !state.configured:
		row.Missing = true
		row.Error = "it has no configuration of the group, and makes one when a member comes"
	default:
		row.config, row.Before = state.config.String(), state.paused
	}
	return row
}

// pauseState is a group's configuration at one broker.
type pauseState struct {
	configured bool
	config     protocol.GroupConfig
	paused     bool // the group, or the topic of the request
}

// pauseState asks for the whole table (201): the question about one group (352) makes
// a group that the broker does not know.
func (in *Inspector) pauseState(ctx context.Context, addr string, r *PauseRequest) (pauseState, error) {
	all, err := askTable(ctx, in, addr, func(ctx context.Context) (protocol.GroupConfigs, error) {
		return in.client.GroupConfigs(ctx, addr)
	})
	if err != nil {
		return pauseState{}, err
	}
	config, ok := all.Groups[r.Group]
	// A view of the answer: it must not keep the whole table alive.
	if config, err = protocol.ParseGroupConfig(strings.Clone(config.String())); err != nil {
		return pauseState{}, err
	}
	st := pauseState{configured: ok, config: config}
	if r.Topic != "" {
		st.paused = all.Forbidden[r.Group][r.Topic]&protocol.PermRead != 0
	} else if enabled, ok := config.Bool(enableField); ok {
		st.paused = !enabled
	}
	return st, nil
}

// pauseEffect says what a pause means for one member.
func pauseEffect(m *Member, r *PauseRequest) MemberEffect {
	e := MemberEffect{ClientID: m.ClientID, Language: m.Language, Version: m.Version, Obeys: true}
	switch {
	case m.Why.Kind == ReasonProxy && r.Resume:
		e.Effect = "gets messages again from its proxy, within seconds"
	case m.Why.Kind == ReasonProxy:
		e.Effect = "finishes what it has, and gets no more from its proxy"
	case r.Resume:
		e.Effect = "gets messages again with its next pull, within a second or two"
	case m.Language == "JAVA":
		e.Effect = "stays connected with its queues, finishes what it has cached, and is refused each pull: which its log shows as an error each second for each queue"
	default:
		e.Effect = "stays connected with its queues, finishes what it has cached, and is refused each pull"
	}
	return e
}

// Refused says why a plan cannot be carried out; nil when it can.
func (p *PausePlan) Refused() error {
	if p.Why != "" {
		return &NotPossibleError{p.Why}
	}
	return nil
}

// sameMembers compares two configurations member by member, all but one, and names
// those that differ.
func sameMembers(before, after protocol.GroupConfig, but string) []string {
	a, b := map[string]string{}, map[string]string{}
	for _, m := range before.Members() {
		a[m.Name] = m.Value
	}
	for _, m := range after.Members() {
		b[m.Name] = m.Value
	}
	delete(a, but)
	delete(b, but)
	differ := fieldDifferences(a, b)
	slices.Sort(differ)
	return differ
}
