package inspect

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// Tracks tells what each group that consumes a message's topic did with it, sorted by
// group. All of it is inferred: from the offset that the group has committed, from what
// its members subscribe to now, and from copies among its retries and dead letters. An
// *UnsureError beside them says that not all brokers have named their groups.
func (in *Inspector) Tracks(ctx context.Context, m *protocol.MessageExt) ([]Track, error) {
	s, err := in.survey(ctx)
	if err != nil {
		return nil, err
	}
	r := in.round(s)
	if group, dead := strings.CutPrefix(m.Topic(), protocol.DLQTopicPrefix); dead {
		return []Track{{Group: group, State: TrackDead, Inferred: true, Detail: fmt.Sprintf("given up at attempt %d", m.ReconsumeTimes())}}, nil
	}
	route, err := r.route(ctx, m.Topic())
	if route == nil {
		if isType[*remoting.NoRouteError](err) {
			err = missing("topic", m.Topic())
		}
		return nil, err
	}
	groups, why := r.groupsOf(ctx, m.Topic(), route)
	var unsure error
	if why.Kind != ReasonNone {
		unsure = &UnsureError{"whether other groups consume " + m.Topic(), []Problem{{"groups of " + m.Topic(), "its brokers", why}}}
		if len(groups) == 0 {
			return nil, unsure
		}
	}
	var offsets commits
	addr, commitErr := s.addrOf(m.BrokerName())
	if commitErr == nil {
		offsets, commitErr = r.committed(ctx, addr)
	}
	retries := r.retriesOf(ctx, m, groups)
	tracks := make([]Track, len(groups))
	each(len(groups), groupsAtOnce, func(i int) {
		f := trackFacts{message: m, group: groups[i], answers: in.look(ctx, s, groups[i], false), commitErr: commitErr, copies: retries}
		f.committed, f.found = offsets.of(groups[i], m.MessageQueue())
		f.members = in.merge(groups[i], f.answers)
		tracks[i] = f.track()
	})
	return tracks, cmp.Or(ctx.Err(), unsure)
}

// retriesOf looks for the copies of a message among the retries and dead letters of
// groups, by its unique id: a copy keeps it.
func (r *round) retriesOf(ctx context.Context, m *protocol.MessageExt, groups []string) copiesOf {
	c := copiesOf{byTopic: map[string][]protocol.MessageExt{}, why: map[string]Reason{}}
	id := m.UniqueID()
	if id == "" || isRetry(m.Topic()) {
		return c
	}
	var topics []string
	for _, group := range groups {
		for _, topic := range []string{protocol.RetryTopic(group), protocol.DLQTopic(group)} {
			if r.survey.topics[topic] {
				topics = append(topics, topic)
			}
		}
	}
	found, _, problems := r.query(ctx, r.everywhere(topics...), remoting.MessageQuery{Key: id, Unique: true})
	for _, copied := range found {
		c.byTopic[copied.Topic()] = append(c.byTopic[copied.Topic()], copied)
	}
	if len(topics) > 0 {
		c.parked, _ = r.parked(ctx, id)
	}
	for _, p := range problems {
		c.why[strings.TrimPrefix(p.What, "messages of ")] = p.Why
	}
	return c
}

// copiesOf are a message's copies by the topic they lie in, and those that wait for
// their time.
type copiesOf struct {
	byTopic map[string][]protocol.MessageExt
	parked  []protocol.MessageExt
	why     map[string]Reason // topics that could not be asked
}

// trackFacts is what a Track is inferred from.
type trackFacts struct {
	message   *protocol.MessageExt
	group     string
	answers   []said
	members   Members
	committed int64
	found     bool
	commitErr error
	copies    copiesOf
}

// track infers.
func (f *trackFacts) track() Track {
	t := Track{Group: f.group, Inferred: true, State: TrackUnknown}
	tagged, sql := f.subscription()
	passed := f.found && f.committed > f.message.QueueOffset()
	if f.found && !passed {
		t.Behind = f.message.QueueOffset() - f.committed + 1
	}
	online := len(f.members.Members) > 0
	switch {
	case !online && len(f.members.Problems) > 0:
		t.Why = f.members.Problems[0].Why
	case !online:
		t.State = TrackOffline
		t.note(f.progress(passed))
	case f.members.Model == protocol.Broadcasting:
		t.State = TrackBroadcasting
		t.note("each member keeps its own offset")
	case f.members.Kind == KindPull:
		t.State = TrackPull
		t.note(f.progress(passed))
	case tagged != "":
		t.State = TrackFiltered
		t.note("its members subscribe to " + tagged + " now")
	case f.commitErr != nil:
		t.Why = ReasonOf(f.commitErr)
	case passed:
		t.State = TrackConsumed
		t.note("the committed offset passed it")
	case !f.found:
		t.State, t.Why = TrackNotYet, Reason{ReasonNoCommit, "nothing is committed of its queue"}
	default:
		t.State = TrackNotYet
		t.note(f.progress(passed))
	}
	if sql != "" {
		t.note(fmt.Sprintf("the filter %s was not evaluated", sql))
	}
	f.noteCopies(&t)
	return t
}

// note adds a remark.
func (t *Track) note(text string) {
	switch {
	case text == "":
	case t.Detail == "":
		t.Detail = text
	default:
		t.Detail += "; " + text
	}
}

func (f *trackFacts) progress(passed bool) string {
	switch {
	case passed:
		return "the committed offset passed it"
	case f.found && f.committed == f.message.QueueOffset():
		return "it is the next one"
	case f.found:
		return Plurals(f.message.QueueOffset()-f.committed, "message waits before it", "messages wait before it")
	}
	return ""
}

// subscription tells the tags that leave the message out, and a filter by SQL.
func (f *trackFacts) subscription() (tags, sql string) {
	for i := range f.answers {
		s, ok := f.answers[i].connections.SubscriptionTable[f.message.Topic()]
		switch {
		case !ok:
		case s.ExpressionType == protocol.ExpressionSQL92:
			return "", s.SubString
		default:
			parsed, err := protocol.NewSubscriptionData(s.Topic, s.SubString)
			if err == nil && len(parsed.TagsSet) > 0 && !slices.Contains(parsed.TagsSet, f.message.Tags()) {
				return s.SubString, ""
			}
			return "", ""
		}
	}
	return "", ""
}

// noteCopies tells of retries and dead letters.
func (f *trackFacts) noteCopies(t *Track) {
	retry, dlq := protocol.RetryTopic(f.group), protocol.DLQTopic(f.group)
	var attempt int32
	for i := range f.copies.byTopic[retry] {
		attempt = max(attempt, f.copies.byTopic[retry][i].ReconsumeTimes())
	}
	if attempt > 0 {
		t.note(fmt.Sprintf("in the retry topic, attempt %d", attempt))
	}
	for i := range f.copies.parked {
		m := &f.copies.parked[i]
		if d, ok := DelayOf(m, nil); ok && d.Topic == retry {
			t.note(fmt.Sprintf("attempt %d is due at %s", m.ReconsumeTimes(), d.Due.UTC().Format("2006-01-02T15:04:05Z")))
		}
	}
	if len(f.copies.byTopic[dlq]) > 0 {
		t.note("in the dead letters")
	}
	for _, topic := range []string{retry, dlq} {
		if why, failed := f.copies.why[topic]; failed {
			t.note(fmt.Sprintf("%s could not be searched: %v", topic, why))
		}
	}
}
