package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// NotPossibleError is a change that cannot be made in this way: Why says so, and the
// way out.
type NotPossibleError struct{ Why string }

func (e *NotPossibleError) Error() string { return e.Why }

// DriftError says what is no longer as a plan found it. Nothing was changed.
type DriftError struct{ What []string }

// unanswered reports whether what was asked for may have been done although the answer
// is missing.
func unanswered(err error) bool {
	return !isType[*remoting.DialError](err) && !isType[*notAskedError](err) && !isType[*queuedError](err) &&
		(errors.Is(err, remoting.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}

// interrupted reports whether a request was not sent, because the operator has ended the
// change.
func interrupted(err error) bool {
	return (isType[*remoting.DialError](err) || isType[*queuedError](err)) && errors.Is(err, context.Canceled)
}

// maxDrifts is how many differences an error names.
const maxDrifts = 5

func (e *DriftError) Error() string {
	what := e.What
	more := ""
	if len(what) > maxDrifts {
		what, more = what[:maxDrifts], fmt.Sprintf(" and %d more", len(e.What)-maxDrifts)
	}
	return "nothing was changed, since it is no longer as planned: " + strings.Join(what, "; ") + more + ": plan it again"
}

// standing is what all brokers say of a group right before a change: unlike what a
// screen shows, nothing of it is older than the call.
type standing struct {
	group   string
	survey  *survey
	said    []said
	offsets []brokerOffsets // by broker, as in said
	members Members
}

// brokerOffsets are a group's committed offsets at one broker, by topic and queue.
type brokerOffsets struct {
	topics map[string]map[int32]int64
	err    error
}

// standing asks all brokers about a group. One that nobody knows is a *NotFoundError.
func (in *Inspector) standing(ctx context.Context, group string) (*standing, error) {
	s, err := in.freshSurvey(ctx)
	if err != nil {
		return nil, err
	}
	st := &standing{group: group, survey: s, offsets: make([]brokerOffsets, len(s.brokers))}
	each(len(s.brokers)+1, 0, func(i int) {
		if i == len(s.brokers) {
			st.said = in.look(ctx, s, group, false)
			return
		}
		addr := s.brokers[i].addr
		all, err := askTable(ctx, in, addr, func(ctx context.Context) (protocol.AllOffsets, error) {
			return in.client.AllOffsets(ctx, addr)
		})
		st.offsets[i] = brokerOffsets{all[group], err}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st.members = in.merge(group, st.said)
	if !s.knows(group) && len(st.members.Members) == 0 && !st.uncertain() && len(st.topics()) == 0 {
		return nil, missing("group", group)
	}
	return st, nil
}

// uncertain reports whether some broker has not told all about the group.
func (st *standing) uncertain() bool {
	return len(st.survey.problems) > 0 || len(st.members.Problems) > 0 ||
		slices.ContainsFunc(st.offsets, func(o brokerOffsets) bool { return o.err != nil })
}

// problems are what could not be learned of the group.
func (st *standing) problems() []Problem {
	all := slices.Clone(st.members.Problems)
	for i, o := range st.offsets {
		if o.err != nil {
			all = append(all, problem("offsets of "+st.group, st.survey.brokers[i].name, o.err))
		}
	}
	return all
}

// topics are those that the group has committed offsets of, or that its members
// subscribe to, without the retry topics.
func (st *standing) topics() []string {
	found := map[string]bool{}
	for _, o := range st.offsets {
		for topic := range o.topics {
			found[topic] = true
		}
	}
	for i := range st.said {
		for topic := range st.said[i].connections.SubscriptionTable {
			found[topic] = true
		}
	}
	maps.DeleteFunc(found, func(topic string, _ bool) bool { return isRetry(topic) })
	return slices.Sorted(maps.Keys(found))
}

// follows reports whether connected members subscribe to a topic.
func (st *standing) follows(topic string) bool {
	return slices.ContainsFunc(st.said, func(a said) bool {
		_, ok := a.connections.SubscriptionTable[topic]
		return ok && len(a.connections.ConnectionSet) > 0 || a.reads(topic)
	})
}

// at finds a broker; nil when no name server knows it.
func (st *standing) at(name string) (*said, *brokerOffsets) {
	for i := range st.said {
		if st.said[i].broker.name == name {
			return &st.said[i], &st.offsets[i]
		}
	}
	return nil, nil
}

// storedFrom tells when the first message at or after an offset was stored. It pulls
// one message and commits nothing. Unlike storeTime it remembers nothing: a topic may
// have been deleted and made anew, and what is changed here is not to depend on that.
func (in *Inspector) storedFrom(ctx context.Context, addr string, mq protocol.MessageQueue, offset int64) (time.Time, error) {
	res, err := in.pull(ctx, addr, mq, offset, 1)
	if err != nil {
		return time.Time{}, err
	}
	if res.Status != remoting.PullFound {
		return time.Time{}, fmt.Errorf("no message at %d of %v: %v", offset, mq, res.Status)
	}
	msgs, err := protocol.AppendMessages(nil, res.Body, &protocol.MessageSource{BrokerName: mq.BrokerName})
	if len(msgs) > 0 {
		return msgs[0].Stored(), nil
	}
	return time.Time{}, fmt.Errorf("message at %d of %v cannot be read: %w", offset, mq, err)
}
