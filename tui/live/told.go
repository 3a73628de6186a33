package live

import (
	"slices"
	"strings"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/page"
	"eyeq/tui/words"
)

const (
	// ToldEvery is how often the members of an own consumer's group are asked what they
	// hold: each is asked once, through its broker.
	ToldEvery = 10 * time.Second
	// ToldSoonest is the least time between two such rounds, when the computed owners
	// have changed, or members have told of a queue that has no owner, or two.
	ToldSoonest = 2 * time.Second
)

// told asks the members of an own consumer's group what they hold. What the engine
// knows of others is computed by its own strategy, and another member may use another.
type told struct {
	page.Question[inspect.Members]
	Members  *inspect.Members               // nil: they have not answered
	Computed map[engine.MessageQueue]string // the owners when they were asked
}

// NewTold asks nobody before there is something to ask about.
func NewTold(s *engine.Snapshot) *told {
	return &told{Question: page.Question[inspect.Members]{Ask: page.AboutOneOf(page.Cluster.Others), Unsafe: true, Schedule: page.Schedule{Names: []string{s.Group, s.ClientID}, What: "what members hold", Every: ToldEvery, Steady: true}}}
}

// ComputedOwners are who the engine's strategy gives each queue to.
func ComputedOwners(s *engine.Snapshot) map[engine.MessageQueue]string {
	owners := make(map[engine.MessageQueue]string, len(s.Queues))
	for i := range s.Queues {
		owners[s.Queues[i].MessageQueue] = s.Queues[i].Owner
	}
	return owners
}

// Concerns reports whether there is anybody else to ask.
func (t *told) Concerns(s *engine.Snapshot) bool {
	return s.State == engine.Running && s.Model != words.Broadcasting &&
		slices.ContainsFunc(s.Topics, func(t engine.TopicSnapshot) bool { return len(t.Members) > 1 })
}

// self is what this process holds of a topic, which needs no broker to be asked.
func self(s *engine.Snapshot, topic string) core.Holder {
	h := core.Holder{ClientID: s.ClientID, Strategy: s.Strategy}
	for i := range s.Queues {
		switch q := &s.Queues[i]; {
		case q.Topic != topic || !q.Own || q.State == engine.QueueTaking:
		case q.State == engine.QueueDropping:
			h.Leaving = append(h.Leaving, q.MessageQueue)
		default:
			h.Holds = append(h.Holds, q.MessageQueue)
		}
	}
	return h
}

// holdings say who holds what by the members' own word, and whether that is as it should
// be. Texts are safe.
type holdings struct {
	doubled, unowned int // queues
	unsure           int // queues whose owner nobody tells
	mute             int // members that do not tell
	differ           []string
}

// Wrong is the worst that is not as it should be; "" when members agree.
func (h *holdings) Wrong() (text string, sev words.Severity) {
	switch {
	case h.doubled > 0 && h.unowned > 0:
		return words.Plural(h.doubled, "queue") + " with two owners, " + words.Grouped(int64(h.unowned)) + " with none", words.Failure
	case h.doubled > 0:
		return words.Plural(h.doubled, "queue") + " with two owners", words.Failure
	case h.unowned > 0:
		return words.Plural(h.unowned, "queue") + " unowned", words.Failure
	case len(h.differ) > 0:
		return "members disagree: " + strings.Join(h.differ, "; "), words.Warning
	case h.unsure > 0:
		return words.Plural(h.unsure, "queue") + " " + words.Unknown + ", " + words.Plural(h.mute, "member") + " silent", words.Warning
	}
	return "", words.Info
}

// Wrongs reports whether something is not as it should be.
func (h *holdings) Wrongs() bool {
	text, _ := h.Wrong()
	return text != ""
}

// tell changes the scene's owners from computed to told ones.
func (s *Scene) tell(m *inspect.Members, at time.Time) {
	f := &toldFacts{At: at, owners: make([][]string, len(s.Queues)), finding: make([]string, len(s.Queues))}
	for i := range m.Members {
		if m.Members[i].Info == nil {
			f.mute++
		}
	}
	snapshot := *s.Snapshot
	snapshot.Queues, snapshot.Topics = slices.Clone(snapshot.Queues), slices.Clone(snapshot.Topics)
	for i := range s.Raw.Topics {
		f.topic(s, &snapshot, i, m)
	}
	s.Snapshot, s.Told = &snapshot, f
}

// ownersFinding is what is wrong with the owners of a queue, by the members' word; "" when
// nothing is, or nobody was asked.
func (s *Scene) ownersFinding(n int) string {
	if s.Told == nil {
		return ""
	}
	return s.Told.finding[n]
}

// by says of the shown allocation whether members tell it or this process computes it.
func (s *Scene) by() string {
	switch {
	case s.Told == nil:
		return "computed by " + s.Strategy
	case s.Told.doubled+s.Told.unowned+len(s.Told.differ) > 0:
		return "not as " + s.Strategy + " gives"
	}
	return "held as " + s.Strategy + " gives"
}
