package live

import (
	"slices"
	"time"

	"eyeq/engine"
	"eyeq/engine/core"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
	"eyeq/tui/words"
)

// Scene is a snapshot behind the door: every text in it is safe to print. Queues
// have the same places in both, so that a row finds the queue's true name, which
// commands need.
type Scene struct {
	*engine.Snapshot                  // safe to print
	Raw              *engine.Snapshot // as the engine gave it
	Index            map[engine.MessageQueue]int
	letters          map[string]string // client id → letter, by the first topic that names it
	Short            words.Shortener
	topics           int         // that have queues
	Watch            *watchFacts // of a group that other processes consume; nil: an engine's
	Told             *toldFacts  // who holds what, by the members' word; nil: it is computed
	ToldWhy          string      // why the members have not said
}

// Queue finds a queue by its true name.
func (s *Scene) Queue(mq engine.MessageQueue) *engine.QueueSnapshot {
	if s == nil {
		return nil
	}
	i, ok := s.Index[mq]
	if !ok {
		return nil
	}
	return &s.Queues[i]
}

// pauseOf is the pause that holds a queue; whole is set when it is the consumer's.
// The engine shows the consumer's pause at its queues too.
func (s *Scene) pauseOf(q *engine.QueueSnapshot) (p *engine.PauseState, whole bool) {
	switch {
	case q.Pause == nil:
		return s.Pause, s.Pause != nil
	case s.Pause != nil && *q.Pause == *s.Pause:
		return s.Pause, true
	}
	return q.Pause, false
}

// PausedAlone reports whether a queue has a pause of its own.
func (s *Scene) PausedAlone(q *engine.QueueSnapshot) bool {
	p, whole := s.pauseOf(q)
	return p != nil && !whole
}

// IsBroadcast reports whether each member reads all queues for itself.
func IsBroadcast(s *Scene) bool { return s.Model == words.Broadcasting }

// LagOf is a queue's lag. While pulls fail nobody has said where the queue ends now:
// the last known end must not look like the present one.
func LagOf(q *engine.QueueSnapshot) (lag int64, ok bool) {
	if q.State == engine.QueueError {
		return 0, false
	}
	return q.Lag()
}

// AfterLeave says what becomes of so many own queues when this member leaves.
func (s *Scene) AfterLeave(own int) string {
	others, known := s.Others()
	switch {
	case own == 0:
		return "Leaving moves no queue."
	case IsBroadcast(s):
		return "Leaving stores their offsets; in broadcasting each member reads all queues for itself."
	case !known:
		return "Leaving stores their offsets and gives them to other members, where there are any: who is there is not known."
	case others == 0:
		return "Leaving stores their offsets. There is no other member: nobody reads them until one joins."
	}
	who := "the other member"
	if others > 1 {
		who = "the other " + words.Plural(others, "member")
	}
	return "Leaving stores their offsets and gives them to " + who + "."
}

// Held counts the messages that wait for the operator.
func (s *Scene) Held() (n int64) {
	for i := range s.Queues {
		n += s.Queues[i].Held
	}
	return n
}

// Others counts the other members of the group; known is false where a broker did not name
// those of a topic.
func (s *Scene) Others() (n int, known bool) {
	ids := map[string]bool{}
	known = true
	for i := range s.Topics {
		t := &s.Topics[i]
		if t.Missing == "" && !t.Retry && (t.MembersError != "" || len(t.Members) == 0) {
			known = false
		}
		for j := range t.Members {
			if m := &t.Members[j]; !m.Self {
				ids[m.ClientID] = true
			}
		}
	}
	return len(ids), known && len(s.Topics) > 0
}

// RedRows says what is wrong with queues of ours in their own rows; "" when nothing is.
func (s *Scene) RedRows() string {
	for _, state := range []engine.QueueState{engine.QueueError, engine.QueueUnlocked, engine.QueueSuspended} {
		n, detail := 0, ""
		for i := range s.Queues {
			if q := &s.Queues[i]; q.Own && q.State == state {
				n++
				if detail == "" {
					detail = q.Detail
				}
			}
		}
		if n > 0 {
			return words.Plural(n, "queue") + " " + state.String() + words.Because(Unrepeated(detail))
		}
	}
	return ""
}

// TrueMember is the client id of a member that is shown as id.
func (s *Scene) TrueMember(id string) string {
	for i := range s.Topics {
		for j := range s.Topics[i].Members {
			if s.Topics[i].Members[j].ClientID == id {
				return s.Raw.Topics[i].Members[j].ClientID
			}
		}
	}
	return ""
}

// toldFacts are what the scene of an own consumer knows of other members.
type toldFacts struct {
	holdings
	At      time.Time
	owners  [][]string // of each queue, in the snapshot's order; safe client ids
	finding []string   // "TWO OWNERS", "UNOWNED" or ""
}

// topic takes what is told of one topic, the nth of the snapshot.
func (f *toldFacts) topic(s *Scene, snapshot *engine.Snapshot, nth int, m *inspect.Members) {
	topic := s.Raw.Topics[nth].Topic
	var queues []engine.MessageQueue
	for i := range s.Raw.Queues {
		if q := &s.Raw.Queues[i]; q.Topic == topic {
			queues = append(queues, q.MessageQueue)
		}
	}
	a := m.Allocation(topic, queues, self(s.Raw, topic))
	for _, why := range a.Words {
		f.differ = append(f.differ, draw.SafeText(topic+": "+why))
	}
	f.doubled, f.unowned, f.unsure = f.doubled+len(a.Shared), f.unowned+len(a.Unowned), f.unsure+len(a.Unsure)
	held := map[string][]engine.MessageQueue{}
	for _, mq := range queues {
		i := s.Index[mq]
		f.owners[i] = cleanAll(a.Owners[mq])
		for _, id := range f.owners[i] {
			held[id] = append(held[id], snapshot.Queues[i].MessageQueue)
		}
		switch {
		case slices.ContainsFunc(a.Shared, func(x core.SharedQueue) bool { return x.Queue == mq }):
			f.finding[i] = "TWO OWNERS"
		case slices.Contains(a.Unowned, mq):
			f.finding[i] = "UNOWNED"
		}
		if q := &snapshot.Queues[i]; !q.Own {
			q.Owner = ""
			if len(f.owners[i]) > 0 {
				q.Owner = f.owners[i][0]
			}
		}
	}
	t := &snapshot.Topics[nth]
	t.Members = slices.Clone(t.Members)
	for i := range t.Members {
		x := &t.Members[i]
		if x.Self { // the engine knows better, and sooner
			continue
		}
		silent := slices.ContainsFunc(m.Members, func(y inspect.Member) bool { return draw.SafeText(y.ClientID) == x.ClientID && y.Info == nil })
		x.Queues, x.Unknown = held[x.ClientID], silent
	}
}

func cleanAll(texts []string) []string {
	texts = slices.Clone(texts)
	for i := range texts {
		clean(&texts[i])
	}
	return texts
}

// ownerLetter is the member a queue belongs to, in one letter where that is possible.
func (s *Scene) ownerLetter(q *engine.QueueSnapshot) string {
	if l, ok := s.letters[q.Owner]; ok {
		return l
	}
	return words.Unknown
}
