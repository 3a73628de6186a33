package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting/protocol"
)

// RequestMode is how one broker of the 5.x line was told to have a group's members get
// a topic's messages (402). Members obey that let the broker allocate.
type RequestMode struct {
	Topic, Broker string
	Pop           bool // by POP; else they pull
	// Share is for POP the number of other members whose queues a member pops besides
	// its own; up to zero, or from the number of other members on, of all.
	Share int32
}

// String gives "POP share 2", "POP share all" or "PULL".
func (m RequestMode) String() string {
	switch {
	case !m.Pop:
		return protocol.ModePull
	case m.Share <= 0:
		return protocol.ModePop + " share all"
	}
	return fmt.Sprintf("%s share %d", protocol.ModePop, m.Share)
}

// PopShare is the share that all modes by POP agree on, in words: "share 2"; "" where
// there is none, or they differ.
func PopShare(modes []RequestMode) string {
	share := ""
	for _, m := range modes {
		text := m.String()[len(protocol.ModePop):]
		switch {
		case !m.Pop:
		case share != "" && share != text[1:]:
			return ""
		default:
			share = text[1:]
		}
	}
	return share
}

// PopLag is what is known of messages that a group gets by POP.
type PopLag struct {
	Modes  []RequestMode // by topic and broker, as brokers were told
	Topics []string      // whose messages members pop, sorted
	// Unacked is how many messages were popped and are not acknowledged, so that nobody
	// else gets them until their time is over: by the word of the members alone, since
	// no broker tells it. What a member had that is gone is not among them.
	Unacked Number
}

// unackedWhy is why a queue's number of popped messages is not known. Brokers keep what
// is popped apart from offsets, and the two stores that they have for it commit another
// offset: the one where the last pop ended, the other where it began.
var unackedWhy = Reason{ReasonUnsupported, "by POP no broker tells what is popped and not acknowledged"}

// addModes keeps what one broker was told.
func (s *survey) addModes(brokerName string, modes []protocol.RequestMode) {
	for _, m := range modes {
		s.modes[m.Group] = append(s.modes[m.Group], RequestMode{Topic: m.Topic, Broker: brokerName, Pop: m.Mode == protocol.ModePop, Share: m.Share})
	}
}

// requestModes are those of a group, by topic and broker.
func (s *survey) requestModes(group string) []RequestMode {
	return slices.SortedFunc(slices.Values(s.modes[group]), func(a, b RequestMode) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker))
	})
}

// toldToPop reports whether a broker was told that the group gets a topic by POP; ""
// is any topic.
func (s *survey) toldToPop(group, topic string) bool {
	return slices.ContainsFunc(s.modes[group], func(m RequestMode) bool { return m.Pop && (topic == "" || m.Topic == topic) })
}

// popRetries are the topics that the group has a retry topic by POP of. Name servers
// learn of a new one within half a minute; offsets of it are there at once.
func (v *groupView) popRetries() map[string]bool {
	of := map[string]bool{}
	add := func(retry string) {
		rest, ok := strings.CutPrefix(retry, protocol.RetryTopic(v.group))
		if ok && rest != "" && (rest[0] == '_' || rest[0] == '+') {
			of[rest[1:]] = true
		}
	}
	for _, topic := range v.round.survey.pop[v.group] {
		add(topic)
	}
	for i := range v.said {
		for mq := range v.said[i].stats.OffsetTable {
			add(mq.Topic)
		}
	}
	return of
}

// hearOne is hear for a row of a list: it asks one member, and that only where it alone
// tells whether the members of a group pop. Members that allocate themselves pull,
// whatever the broker was told.
func (v *groupView) hearOne(ctx context.Context) {
	if v.members.Kind == KindPush && v.round.survey.toldToPop(v.group, "") {
		one := v.members
		one.Members = slices.Clone(v.members.Members[:1])
		v.round.in.askMembers(ctx, &one, v.said, false)
		v.members.Members[0], v.members.Kind = one.Members[0], one.Kind
	}
	v.countPops()
}

// popped reports whether members get a topic's messages by POP: by their own word, and
// where they have none by what brokers were told, or have kept for retries.
func (v *groupView) popped(topic string, retries map[string]bool) bool {
	s := v.round.survey
	switch {
	case topic == protocol.RetryTopic(v.group):
		return false
	case v.members.Type == protocol.ConsumePop, strings.HasPrefix(topic, protocol.RetryTopic(v.group)):
		return true
	}
	told, obeys := false, false
	for i := range v.members.Members {
		info := v.members.Members[i].Info
		if info == nil {
			continue
		}
		told, obeys = true, obeys || info.Properties["clientRebalance"] == "false"
		for mq := range info.MQPopTable {
			if mq.Topic == topic {
				return true
			}
		}
		for mq := range info.MQTable {
			if mq.Topic == topic {
				return false
			}
		}
	}
	if told {
		return obeys && s.toldToPop(v.group, topic)
	}
	return s.toldToPop(v.group, topic) || retries[topic]
}

// countPops counts anew the queues that are popped: what waits there is what nobody has
// popped yet. The committed offset may be behind it by what was popped last, be that
// done, under way, or gone to the retry topic.
func (v *groupView) countPops() {
	popped, retries := map[string]bool{}, v.popRetries()
	for i := range v.queues {
		q := &v.queues[i]
		is, seen := popped[q.Topic]
		if !seen {
			is = v.popped(q.Topic, retries)
			popped[q.Topic] = is
		}
		if q.Pop = is; !is {
			continue
		}
		q.Inflight = Unknown(unackedWhy)
		if q.Lag.Known && q.Committed.Known && q.Pulled.Known && q.Pulled.Value > max(q.Committed.Value, q.Min.Value) {
			q.Lag, q.Expired = Exact(max(q.Max.Value-q.Pulled.Value, 0)), 0
		}
	}
}

// popLag sums up what is known besides queues; nil where nothing is popped.
func (v *groupView) popLag() *PopLag {
	p := PopLag{Modes: v.round.survey.requestModes(v.group)}
	for i := range v.queues {
		if q := &v.queues[i]; q.Pop && !q.Retry {
			p.Topics = addOnce(p.Topics, q.Topic)
		}
	}
	if len(p.Topics) == 0 && !slices.ContainsFunc(p.Modes, func(m RequestMode) bool { return m.Pop }) {
		return nil
	}
	var why Reason
	told := 0
	for i := range v.members.Members {
		m := &v.members.Members[i]
		if m.Info == nil {
			why = m.Why
			continue
		}
		told++
		for _, q := range m.Info.MQPopTable {
			p.Unacked.Value += int64(q.WaitAckCount)
		}
	}
	switch {
	case len(v.members.Members) == 0:
		p.Unacked = Unknown(Reason{ReasonOffline, "no member tells what it has popped, and no broker does"})
	case told == 0:
		p.Unacked = Unknown(why)
	case told < len(v.members.Members):
		p.Unacked = AtLeast(p.Unacked.Value, why)
	default:
		p.Unacked.Known = true
	}
	return &p
}
