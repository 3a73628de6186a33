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
	copies := r.copiesOf(ctx, m, groups)
	tracks := make([]Track, len(groups))
	each(len(groups), groupsAtOnce, func(i int) {
		f := trackFacts{message: m, group: groups[i], answers: in.look(ctx, s, groups[i], false), copies: copies[groups[i]]}
		f.committed, f.found, f.commitErr = r.commitOf(ctx, groups[i], m)
		if last := f.copies.last(); last != nil && last.Topic() != protocol.DLQTopic(groups[i]) {
			at, found, _ := r.commitOf(ctx, groups[i], last)
			f.retried = found && at > last.QueueOffset()
		}
		f.members = in.merge(groups[i], f.answers)
		r.hearHolder(ctx, &f)
		tracks[i] = f.track()
	})
	return tracks, cmp.Or(ctx.Err(), unsure)
}

// commitOf is what a group has committed of a message's queue.
func (r *round) commitOf(ctx context.Context, group string, m *protocol.MessageExt) (offset int64, found bool, err error) {
	addr, err := r.survey.addrOf(m.BrokerName())
	if err != nil {
		return 0, false, err
	}
	offsets, err := r.committed(ctx, addr)
	offset, found = offsets.of(group, m.MessageQueue())
	return offset, found, err
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
	copies    groupCopies
	retried   bool // the group has committed its retry topic beyond the last copy there
	pop       bool
	pulled    Number // of the message's queue, as its broker or a second look at its holder says
}

// passed reports whether the committed offset is beyond the message.
func (f *trackFacts) passed() bool { return f.found && f.committed > f.message.QueueOffset() }

// track infers. What became of a message is told by its last copy among retries and dead
// letters, then by the committed offset, then by who holds its queue.
func (f *trackFacts) track() Track {
	t := Track{Group: f.group, Inferred: true, State: TrackUnknown, Passed: f.passed(), Committed: f.found}
	tagged, sql := f.subscription()
	if f.found && !t.Passed {
		t.Behind = f.message.QueueOffset() - f.committed + 1
	}
	online := len(f.members.Members) > 0
	switch {
	case f.copies.last() != nil:
		f.judgeCopy(&t)
	case !online && len(f.members.Problems) > 0:
		t.Why = f.members.Problems[0].Why
	case online && f.members.Model == protocol.Broadcasting:
		t.State = TrackBroadcasting
		t.note(f.broadcastText())
	case online && f.members.Kind == KindPull:
		t.State = TrackPull
		t.note(f.progress())
	case tagged != "":
		t.State = TrackFiltered
		t.note("its members subscribe to " + tagged + " now")
	case f.commitErr != nil:
		t.Why = ReasonOf(f.commitErr)
	case f.pop:
		f.judgePop(&t)
	case t.Passed:
		t.State = TrackConsumed
		t.note(f.progress())
	case !online:
		t.State = TrackOffline
		t.note(f.progress())
	default:
		f.judgeHolder(&t)
	}
	if !online && t.State != TrackOffline && t.State != TrackUnknown {
		t.note("no member is online")
	}
	if !f.found && f.commitErr == nil && t.Why.Kind == ReasonNone && (t.State == TrackNotYet || t.State == TrackOffline) {
		t.Why = Reason{ReasonNoCommit, "nothing is committed of its queue"}
	}
	if sql != "" && t.State != TrackDead && t.State != TrackRetry {
		t.note(fmt.Sprintf("the filter %s was not evaluated", sql))
	}
	for _, problem := range f.copies.unsearched {
		t.note(problem)
	}
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

func (f *trackFacts) progress() string {
	switch {
	case f.passed():
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
