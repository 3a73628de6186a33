package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// groupCopies are the copies of a message that brokers made for one group: in its topics of
// retries and dead letters, and those that wait until they are due there.
type groupCopies struct {
	messages   []protocol.MessageExt // as they were stored
	delays     map[int64]Delay       // of those that wait, by their place in the log
	unsearched []string              // topics that could not be searched, and why
}

// last is the copy that was stored last; nil: there is none.
func (c *groupCopies) last() *protocol.MessageExt {
	if len(c.messages) == 0 {
		return nil
	}
	return &c.messages[len(c.messages)-1]
}

// copiesOf looks for the copies of a message among the retries and dead letters of
// groups, by its unique id: a copy keeps it. Of a message that is a retry itself only what
// was stored later counts.
func (r *round) copiesOf(ctx context.Context, m *protocol.MessageExt, groups []string) map[string]groupCopies {
	copies := map[string]groupCopies{}
	id := m.UniqueID()
	if id == "" {
		return copies
	}
	owner := map[string]string{}
	var topics []string
	for _, group := range groups {
		for _, topic := range append([]string{protocol.RetryTopic(group), protocol.DLQTopic(group)}, r.survey.pop[group]...) {
			if r.survey.topics[topic] {
				owner[topic] = group
				topics = append(topics, topic)
			}
		}
	}
	if len(topics) == 0 {
		return copies
	}
	found, _, problems := r.query(ctx, r.everywhere(topics...), remoting.MessageQuery{Key: id, Unique: true})
	waiting, more := r.parked(ctx, id)
	for i := range waiting {
		found = append(found, waiting[i].message)
	}
	slices.SortStableFunc(found, compareStored)
	for i := range found {
		copied := &found[i]
		topic := copied.Topic()
		delay, parked := parkedOf(waiting, copied)
		if parked {
			topic = delay.Topic
		}
		group, ours := owner[topic]
		if !ours || compareStored(*copied, *m) <= 0 {
			continue
		}
		c := copies[group]
		c.messages = append(c.messages, *copied)
		if parked {
			if c.delays == nil {
				c.delays = map[int64]Delay{}
			}
			c.delays[copied.CommitLogOffset()] = delay
		}
		copies[group] = c
	}
	for _, p := range append(problems, more...) {
		topic := strings.TrimPrefix(p.What, "messages of ")
		for _, group := range owner {
			if of, ours := owner[topic]; ours && of != group {
				continue // where copies wait until they are due is nobody's: there may be some of each
			}
			c := copies[group]
			c.unsearched = addOnce(c.unsearched, fmt.Sprintf("%s could not be searched: %v", topic, p.Why))
			copies[group] = c
		}
	}
	return copies
}

// judgeCopy infers from the last copy: the group has refused the message before it, and
// what it does with the copy counts now.
func (f *trackFacts) judgeCopy(t *Track) {
	last := f.copies.last()
	delay, parked := f.copies.delays[last.CommitLogOffset()]
	attempt := fmt.Sprintf("attempt %d", last.ReconsumeTimes())
	switch {
	case last.Topic() == protocol.DLQTopic(f.group):
		t.State = TrackDead
		t.note("in the dead letters")
	case parked && delay.Due.IsZero():
		t.State = TrackRetry
		t.note(attempt + " waits, when it is due is not known: " + delay.Why.String())
	case parked:
		t.State = TrackRetry
		t.note(fmt.Sprintf("%s is due at %s", attempt, delay.Due.UTC().Format("2006-01-02T15:04:05Z")))
	case f.retried:
		t.State = TrackConsumed
		t.note("its copy in the retry topic, " + attempt + ", was passed by the committed offset")
	default:
		t.State = TrackRetry
		t.note("in the retry topic, " + attempt)
	}
	if last.Topic() == protocol.DLQTopic(f.group) {
		return
	}
	dead := func(m protocol.MessageExt) bool { return m.Topic() == protocol.DLQTopic(f.group) }
	if slices.ContainsFunc(f.copies.messages, dead) {
		t.note("sent back from the dead letters")
	}
}
